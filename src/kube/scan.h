/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A look at JSON texts without reading them into values: what an API server sends is mostly thrown away.
 * It finds where values begin and end and trusts their insides, which the parser judges when they are read. */
#ifndef SL_KUBE_SCAN_H
#define SL_KUBE_SCAN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sl_span {
    const char *at; /* NULL: absent */
    size_t len;
};

/* The end of the value that begins at `at` (blanks before it are skipped), or NULL. */
const char *sl_scan_skip(const char *at, const char *end);
const char *sl_scan_blank(const char *at, const char *end); /* the first that is none */

/* The members of a map, the items of a list, one a call: start with *cursor = 0. A key comes without its quotes,
 * as it is written. False at the end and when the text is no such value. */
bool sl_scan_member(struct sl_span map, size_t *cursor, struct sl_span *key, struct sl_span *value);
bool sl_scan_item(struct sl_span list, size_t *cursor, struct sl_span *item);
/* Is that all that the list has? So it is for null. False: what follows is no item. */
bool sl_scan_is_end(struct sl_span list, size_t cursor);
/* The value of a member; absent when there is none. */
struct sl_span sl_scan_find(struct sl_span map, const char *key);

bool sl_span_is(struct sl_span s, const char *text);
/* What is between the quotes of a text value; absent when it is none. Escapes stay. */
struct sl_span sl_span_text(struct sl_span value);
/* A decimal number; 0 when it is none or does not fit. */
uint64_t sl_span_number(struct sl_span s);
#endif
