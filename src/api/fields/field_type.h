/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How a field merges, as Kubernetes' list types and map types have it: by the schema tables, and where these say nothing
 * by lists.def. */
#ifndef SL_API_FIELD_TYPE_H
#define SL_API_FIELD_TYPE_H
#include "api/objects/schema.h"

/* Values are taken or left as a whole (atomic), or by their members or items. */
enum sl_merge_type { SL_MERGE_ATOMIC, SL_MERGE_MAP, SL_MERGE_LIST_MAP, SL_MERGE_LIST_SET };

/* A field of an object: what its schema says of it, if anything. */
struct sl_field_at {
    enum sl_kind kind;
    const struct sl_node *node; /* NULL: no table names it */
    const char *name;           /* lent; "" of the object itself, and of items */
};
struct sl_field_at sl_field_root(enum sl_kind kind);
struct sl_field_at sl_field_member(const struct sl_field_at *at, const char *name);
struct sl_field_at sl_field_item(const struct sl_field_at *at);
/* Are the members of this map fields of a type, and not keys that users choose? */
bool sl_field_is_struct(const struct sl_field_at *at);
enum sl_merge_type sl_field_merges(const struct sl_field_at *at, const struct sl_json *value);
/* Quantities are equal when they mean the same. */
bool sl_field_equal(const struct sl_field_at *at, const struct sl_json *a, const struct sl_json *b);

/* Where the items of a list that merges are, by their path elements (k:{"name":"x"}, v:"x"): free with sl_map_free. NULL:
 * items lack a key, or two have the same; such a list is atomic. */
struct sl_map *sl_field_items_new(const struct sl_field_at *at, const struct sl_json *list);
/* The path element of one item; false: it has none. */
bool sl_field_element(const struct sl_field_at *at, const struct sl_json *item, struct sl_buf *out);
#endif
