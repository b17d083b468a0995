/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The list in metadata.managedFields: its entries, and the sets of fields in them. Lists are not changed once made, unless
 * they are given as `struct sl_json **`. */
#ifndef SL_API_MANAGERS_H
#define SL_API_MANAGERS_H
#include "api/json/json.h"

#define SL_MANAGERS_UPDATING_MAX 10u /* then the oldest become one */

/* Which entry: who applies is the same in every version. */
struct sl_manager_key {
    const char *name, *api_version;
    bool status, scale, applies; /* status, scale: by that subresource */
};

bool sl_managers_valid(const struct sl_json *list);
struct sl_json *sl_managers_set_new(const struct sl_json *list, const struct sl_manager_key *key);
/* All fields of all entries but that one, and `set`. */
struct sl_json *sl_managers_union_new(const struct sl_json *list, const struct sl_manager_key *but,
                                      struct sl_json *set);
/* The same entries without two sets of fields; that one stays as it is. */
struct sl_json *sl_managers_without_new(const struct sl_json *list, const struct sl_json *set,
                                        const struct sl_json *removed,
                                        const struct sl_manager_key *but);
/* {manager, field} for each field of `set` that another entry than that one has. */
struct sl_json *sl_managers_conflicts_new(const struct sl_json *list, const struct sl_json *set,
                                          const struct sl_manager_key *but);
/* Adds fields to an entry, which is made when there is none; nothing when the set is empty. */
void sl_managers_add(struct sl_json **list, const struct sl_manager_key *key, struct sl_json *set,
                     int64_t now_ms);
/* An entry gets exactly this set. */
void sl_managers_put(struct sl_json **list, const struct sl_manager_key *key, struct sl_json *set,
                     int64_t now_ms);
/* Entries without fields go, too many become fewer, and all are in order. */
void sl_managers_settle(struct sl_json **list);
#endif
