/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Hash map from text to a pointer or number. Keys are copied. Iteration is in insertion order
 * (removals leave holes that are skipped), so everything built on it is deterministic. */
#ifndef SL_BASE_MAP_H
#define SL_BASE_MAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

union sl_map_value {
    void *pointer;
    uint64_t number;
};
struct sl_map; /* opaque */
struct sl_map *sl_map_new(void);
void sl_map_free(struct sl_map *m);
/* The same, and every value's pointer is handed over first, in the order of iteration. */
void sl_map_free_with(struct sl_map *m, void (*free_value)(void *value));
bool sl_map_get(const struct sl_map *m, const char *key, union sl_map_value *value);
void *sl_map_find(const struct sl_map *m, const char *key); /* its pointer; NULL = not there */
void sl_map_put(struct sl_map *m, const char *key, union sl_map_value value);
bool sl_map_remove(struct sl_map *m, const char *key,
                   union sl_map_value *old); /* old may be NULL */
size_t sl_map_count(const struct sl_map *m);
/* for (struct sl_map_item e = {0}; sl_map_each(m, &e);) ... e.key, e.value. Removing the entry at hand is allowed. */
struct sl_map_item {
    const char *key;
    union sl_map_value value;
    size_t at;
};
bool sl_map_each(const struct sl_map *m, struct sl_map_item *e);
/* The same with three variables: start with *cursor = 0; false at the end. */
bool sl_map_next(const struct sl_map *m, size_t *cursor, const char **key,
                 union sl_map_value *value);
/* The most slots that a look-up goes through: small, whatever the keys are. */
size_t sl_map_longest(const struct sl_map *m);
#endif
