/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is kept of an object that an API server sends: what Sluice reads, as text. The tables are in
 * reduce.def. A list that Sluice writes is kept whole, because a merge patch replaces lists whole;
 * and templates that are copied into other objects are kept whole, because the copies would lack
 * what was left out. */
#ifndef SL_KUBE_REDUCE_H
#define SL_KUBE_REDUCE_H
#include "api/json/json.h"
#include "api/objects/kinds.h"
#include "kube/scan.h"

#define SL_ITEM_KEY_SIZE 320u /* namespace/name */
#define SL_ITEM_UID_SIZE 64u

/* One object as it came, reduced. Zero-initialise, use again and again, sl_item_fini. */
struct sl_item {
    enum sl_kind kind;
    bool all_jobs; /* the caller says so: Jobs are kept whole without a mark of Kueue's too */
    char key[SL_ITEM_KEY_SIZE];
    char uid[SL_ITEM_UID_SIZE];
    uint64_t version; /* its resourceVersion */
    struct sl_buf text;
    struct sl_json *object; /* read from `text` when it is asked for */
};
/* BAD_REQUEST: no JSON map, or one without a name and a resourceVersion that is a number. */
enum sl_code sl_item_reduce(struct sl_item *item, enum sl_kind kind, struct sl_span source,
                            struct sl_error *e);
/* Lent, good until the item is used again; NULL when the text cannot be read. */
struct sl_json *sl_item_object(struct sl_item *item);
/* An object from such a text, the caller's; NULL when that is malformed, or not of the form of its kind. */
struct sl_json *sl_item_read(enum sl_kind kind, const char *text, size_t len, struct sl_error *e);
void sl_item_fini(struct sl_item *item);
#endif
