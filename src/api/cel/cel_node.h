/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An expression as a tree, and its tokens. Inside src/api/cel only. */
#ifndef SL_API_CEL_NODE_H
#define SL_API_CEL_NODE_H
#include "api/cel/cel.h"
#include <stddef.h>
#include <stdint.h>

#define SL_CEL_DEPTH_MAX 100u /* nodes inside each other */

enum sl_cel_op {
    SL_CEL_NULL,
    SL_CEL_BOOL,
    SL_CEL_INT,
    SL_CEL_TEXT,
    SL_CEL_LIST,
    SL_CEL_NAME,
    SL_CEL_MEMBER, /* first.text */
    SL_CEL_ITEM,   /* first[second] */
    SL_CEL_HAS,    /* has(first.text) */
    SL_CEL_CALL,   /* text(...); method: first.text(...) */
    SL_CEL_BIND,   /* cel.bind(text, first, second) */
    SL_CEL_NOT,
    SL_CEL_MINUS,
    SL_CEL_AND, /* of two or more */
    SL_CEL_OR,
    SL_CEL_CHOICE, /* first ? second : third */
    SL_CEL_EQUAL,
    SL_CEL_UNEQUAL,
    SL_CEL_LESS,
    SL_CEL_LESS_EQUAL,
    SL_CEL_MORE,
    SL_CEL_MORE_EQUAL,
    SL_CEL_IN,
    /* of rules alone: */
    SL_CEL_REAL,
    SL_CEL_MAP,  /* key, value, key, value, ... */
    SL_CEL_PLUS, /* this one and the next four: first and second */
    SL_CEL_LESS_BY,
    SL_CEL_TIMES,
    SL_CEL_OVER,
    SL_CEL_REST,
    SL_CEL_LOOP, /* first.macro(text, second[, third]); number: which, of enum sl_cel_loop */
    SL_CEL_OTHER /* what is not evaluated: text says what */
};

enum sl_cel_loop {
    SL_CEL_ALL,
    SL_CEL_EXISTS,
    SL_CEL_EXISTS_ONE,
    SL_CEL_FILTER,
    SL_CEL_EACH, /* map */
};

struct sl_cel_node {
    enum sl_cel_op op;
    bool method;
    unsigned depth;
    int64_t number; /* of INT and BOOL */
    double real;
    char *text; /* owned; NULL where there is none */
    struct sl_cel_node *first, *last, *next;
};

struct sl_cel {
    struct sl_cel_node *root;
    char *foreign; /* the first thing that is not evaluated; NULL: none */
    bool asks_old; /* a rule: it says oldSelf */
};

void sl_cel_node_free(struct sl_cel_node *n);

enum sl_cel_kind {
    SL_CEL_END,
    SL_CEL_WORD,     /* an identifier, or a keyword */
    SL_CEL_DIGITS,   /* a whole number */
    SL_CEL_STRING,   /* decoded in `decoded` */
    SL_CEL_SIGN,     /* an operator or bracket, the longest that fits */
    SL_CEL_UNREAD,   /* a literal that is not evaluated: `what` says which */
    SL_CEL_FRACTION, /* a number with a fraction */
    SL_CEL_MALFORMED /* `what` says why */
};
struct sl_cel_token {
    enum sl_cel_kind kind;
    const char *at;
    size_t len;
    uint64_t digits;
    const char *what;
    char *decoded; /* the caller frees it */
};
/* The token at *at, which moves behind it. */
struct sl_cel_token sl_cel_next(const char **at);
#endif
