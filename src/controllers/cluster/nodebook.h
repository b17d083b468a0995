/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The nodes that are known, by name: whether they take pods, and which, kept from the watch. */
#ifndef SL_CONTROLLERS_NODEBOOK_H
#define SL_CONTROLLERS_NODEBOOK_H
#include "api/objects/object.h"

struct sl_node_row {
    char *name;
    struct sl_json *labels, *allocatable;
    struct sl_json *taints; /* with that of a cordon */
    bool ready;
    int64_t since_ms; /* when `ready` became what it is, as far as is known */
};
struct sl_nodebook;
struct sl_nodebook *sl_nodebook_new(void);
void sl_nodebook_free(struct sl_nodebook *b);
const struct sl_node_row *sl_nodebook_observe(struct sl_nodebook *b, const struct sl_json *node,
                                              int64_t now_ms);
void sl_nodebook_forget(struct sl_nodebook *b, const char *name);
const struct sl_node_row *sl_nodebook_find(const struct sl_nodebook *b, const char *name);
/* In the order in which they came: *cursor = 0 first; NULL at the end. */
const struct sl_node_row *sl_nodebook_next(const struct sl_nodebook *b, size_t *cursor);

/* Do these tolerations (a list) tolerate every taint that keeps new pods away? With `execute` only
 * those count that drive running pods away too. */
bool sl_node_tolerated(const struct sl_node_row *node, const struct sl_json *tolerations,
                       bool execute);
/* Is it there, ready, and tolerated? `node` may be NULL. */
bool sl_node_takes(const struct sl_node_row *node, const struct sl_json *tolerations);
/* Has it all these labels? `selector` may be NULL. */
bool sl_node_matches(const struct sl_node_row *node, const struct sl_json *selector);
#endif
