/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Of which type an expression is, found before anything is evaluated. Inside src/api/cel only. */
#ifndef SL_API_CEL_CHECK_H
#define SL_API_CEL_CHECK_H
#include "api/cel/cel_node.h"

enum sl_cel_static {
    SL_CEL_OF_ANY, /* known when it is evaluated */
    SL_CEL_OF_NULL,
    SL_CEL_OF_BOOL,
    SL_CEL_OF_INT,
    SL_CEL_OF_REAL,
    SL_CEL_OF_TEXT,
    SL_CEL_OF_LIST,
    SL_CEL_OF_MAP,
    SL_CEL_OF_OBJECT,
    SL_CEL_OF_QUANTITY,
    SL_CEL_OF_VERSION,
    SL_CEL_OF_TYPE
};

struct sl_cel_sort {
    enum sl_cel_static type, item; /* item: of lists and maps */
    const struct sl_json *schema, *item_schema;
};

struct sl_cel_name {
    const char *name;
    struct sl_cel_sort sort;
    const struct sl_cel_name *outer;
};

struct sl_cel_checker {
    const struct sl_json *schema; /* of self and oldSelf */
    const struct sl_cel_name *names;
    bool asks_old;
    struct sl_buf *wrong; /* the first reason; empty: nothing is wrong */
};
struct sl_cel_sort sl_cel_sort_of(struct sl_cel_checker *c, const struct sl_cel_node *n);
struct sl_cel_sort sl_cel_sort_of_call(struct sl_cel_checker *c, const struct sl_cel_node *n);
struct sl_cel_sort sl_cel_sort_plain(enum sl_cel_static type);
/* Of a list or map. */
struct sl_cel_sort sl_cel_sort_of_item(struct sl_cel_checker *c, const struct sl_cel_sort *of);
/* Could a value of the one be one of the other? */
bool sl_cel_sorts_meet(enum sl_cel_static a, enum sl_cel_static b);
const char *sl_cel_sort_name(enum sl_cel_static type);
struct sl_cel_sort sl_cel_refuse(struct sl_cel_checker *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#endif
