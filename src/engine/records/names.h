/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The topology's numbers by name, and back: for assignments, messages and status. Texts are lent
 * until the next object is observed. Owns nothing (world.h does). */
#ifndef SL_ENGINE_NAMES_H
#define SL_ENGINE_NAMES_H
#include "kernel/topology/topology.h"
#include <stdint.h>

struct sl_engine;

/* The value of kubernetes.io/hostname of a site that is a node; "" for a site of several nodes. */
const char *sl_names_host(const struct sl_engine *g, sl_site_id site);
/* The site of that host name in a tree: where flavors do not share hosts each tree has its own.
 * SL_NO_ID = not known. */
sl_site_id sl_names_find_host_in(const struct sl_engine *g, sl_tree_id tree, const char *host);

/* A tree's levels from the top: how many (0 = no such tree, or its Topology is missing) and their
 * label keys ("" beyond). The Topology that the flavor names; "" = it names none. */
uint32_t sl_names_level_count(const struct sl_engine *g, sl_tree_id tree);
const char *sl_names_level(const struct sl_engine *g, sl_tree_id tree, uint32_t depth);
const char *sl_names_topology(const struct sl_engine *g, sl_tree_id tree);
/* The label key of a level by its number (sl_level_id of policy/topology/trees.h). */
const char *sl_names_level_key(const struct sl_engine *g, uint32_t level);

/* The value of a domain at its own level ("" = not known); its ancestors: sl_domain_above. */
const char *sl_names_value(const struct sl_engine *g, sl_domain_id domain);
/* The bottom domain with these values: `count` of them, for the tree's levels from the top, or a
 * host name alone where the tree ends at nodes. SL_NO_ID = there is none. */
sl_domain_id sl_names_find_domain(const struct sl_engine *g, sl_tree_id tree,
                                  const char *const *values, uint32_t count);
/* The same, opened when there is none: a workload has pods on a node that was deleted. It holds
 * nothing. SL_NO_ID = there is no such tree. Settle what was taken once the workload is assigned to
 * it (or is not): such a domain is closed with the last workload on it. */
sl_domain_id sl_names_take_domain(struct sl_engine *g, sl_tree_id tree, const char *const *values,
                                  uint32_t count, int64_t now_ms);
void sl_names_settle_domains(struct sl_engine *g, const sl_domain_id *domains, uint32_t count,
                             int64_t now_ms);

/* Measures are resources: SL_MEASURE_PODS is "pods". */
const char *sl_names_measure(const struct sl_engine *g, sl_measure_id measure);

/* A taint as kubectl prints it: "key=value:effect"; by its number (verdict - SL_VERDICT_TAINT). */
const char *sl_names_taint(const struct sl_engine *g, uint32_t taint);
#endif
