/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An expression while it is read. Inside src/api/cel only. */
#ifndef SL_API_CEL_TREE_H
#define SL_API_CEL_TREE_H
#include "api/cel/cel_node.h"

struct sl_cel_parser {
    const char *start, *at;
    struct sl_cel_token t; /* the one at hand */
    unsigned depth;
    bool rules;        /* what rules evaluate is kept; else it is foreign */
    const char *wrong; /* NULL: nothing yet */
    size_t wrong_at;
    char *foreign; /* the first, owned */
};
/* A whole text; NULL and INVALID with the reason: it is no CEL. */
struct sl_cel *sl_cel_read_new(const char *text, bool rules, struct sl_error *e);
/* The first reason counts. */
void sl_cel_fail(struct sl_cel_parser *p, const char *wrong);
struct sl_cel_node *sl_cel_make(enum sl_cel_op op);
void sl_cel_add(struct sl_cel_parser *p, struct sl_cel_node *n, struct sl_cel_node *child);
/* With one child or two. */
struct sl_cel_node *sl_cel_make_of(struct sl_cel_parser *p, enum sl_cel_op op,
                                   struct sl_cel_node *first, struct sl_cel_node *second);
/* A node in place of what is not evaluated. */
struct sl_cel_node *sl_cel_give_up(struct sl_cel_parser *p, struct sl_cel_node *n, const char *what,
                                   const char *name);
/* What a call with all its arguments becomes: a macro, a function that is known, or foreign. */
struct sl_cel_node *sl_cel_finish_call(struct sl_cel_parser *p, struct sl_cel_node *call);
#endif
