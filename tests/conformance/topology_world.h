/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The topology of a case of suite topology, in the core: one tree with its nodes, what is free on
 * them, and where a workload stands whose nodes have failed. */
#ifndef CONFORMANCE_TOPOLOGY_WORLD_H
#define CONFORMANCE_TOPOLOGY_WORLD_H
#include "conformance.h"
#include "policy/placement/placement.h"

#define CONF_NODES_MAX 512u
#define CONF_LEVELS_MAX SL_DEPTHS_MAX

struct conf_node {
    const struct sl_json *object;
    const char *values[CONF_LEVELS_MAX];
    sl_site_id site;
    sl_domain_id domain; /* the bottom one */
};
struct conf_tree {
    const struct sl_json *input;
    uint32_t level_count;
    const char *levels[CONF_LEVELS_MAX];
    bool to_nodes;
    uint32_t node_count;
    struct conf_node nodes[CONF_NODES_MAX]; /* in the order of their values */
    uint32_t measure_count;
    const char *measures[SL_MEASURES_MAX];
    uint32_t taint_count;
    char taints[SL_TAINTS_MAX][256];
};
enum { CONF_TREE = 1, CONF_WORKLOAD = 1, CONF_OLD = 2 };

void conf_tree_open(struct conf_tree *t, const struct conf_case *c);
/* The workload of the input stands where its status says; nodes that are not ready go. */
void conf_tree_settle(struct conf_tree *t, const struct conf_case *c);
/* CONF_OLD stands where the slice before has its pods, which take nothing of a node, since the recorded snapshot does not
 * count them. False = there is none, or not all of its places are there any more. */
bool conf_tree_place_old(const struct conf_tree *t);
sl_measure_id conf_measure(struct conf_tree *t, const char *resource);
/* Requests {resource: amount} of one pod. */
uint32_t conf_requests(struct conf_tree *t, const struct sl_json *amounts,
                       struct sl_measure_amount *out);
/* Which nodes the pods may run on; a mask of that number. */
void conf_mask(struct conf_tree *t, sl_mask_id mask, const struct sl_json *pod_spec);
/* The node by its host name or values; NULL = none. */
const struct conf_node *conf_node_of(const struct conf_tree *t, sl_domain_id domain);
const struct conf_node *conf_node_named(const struct conf_tree *t, const char *const *values,
                                        uint32_t count);
sl_level_id conf_level(const struct conf_tree *t, const char *key);
#endif
