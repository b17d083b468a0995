/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Nodes, Topologies and Pods for the little world of world.h. */
#ifndef SL_TESTS_ENGINE_CLUSTER_H
#define SL_TESTS_ENGINE_CLUSTER_H
#include "engine/records/names.h"
#include "engine/records/world.h"
#include "engine/state.h"
#include "kernel/topology/topology.h"
#include "policy/topology/trees.h"
#include "world.h"

/* Block, rack, host. */
static inline void cluster_add_topology(struct world *w, const char *name)
{
    char text[512];
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"levels\":[{\"nodeLabel\":\"block\"},"
        "{\"nodeLabel\":\"rack\"},{\"nodeLabel\":\"kubernetes.io/hostname\"}]}}",
        name);
    world_add(w, SL_KIND_TOPOLOGY, text);
}

/* `more` is spliced into the spec of a ready node. */
static inline struct sl_json *cluster_new_node(const char *name, const char *block,
                                               const char *rack, const char *cpu, const char *more)
{
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"block\":\"%s\",\"rack\":\"%s\","
                   "\"kubernetes.io/hostname\":\"%s\"}},\"spec\":{%s},\"status\":{\"allocatable\":{"
                   "\"cpu\":\"%s\",\"memory\":\"1Gi\",\"pods\":\"10\"},\"conditions\":[{\"type\":"
                   "\"Ready\",\"status\":\"True\"}]}}",
                   name, block, rack, name, more, cpu);
    return world_parse(text);
}

static inline void cluster_put_node(struct world *w, const char *name, const char *block,
                                    const char *rack, const char *cpu, const char *more)
{
    struct sl_error e = {0};
    if (world_put(w, SL_KIND_NODE, cluster_new_node(name, block, rack, cpu, more), &e) !=
        SL_CODE_OK) {
        fail_msg("%s: %s", e.text, e.cause_count > 0 ? e.causes[0].text : "");
    }
}

static inline void cluster_put_pod(struct world *w, const char *name, const char *node,
                                   const char *cpu, const char *phase)
{
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"team\",\"name\":\"%s\"},\"spec\":{\"nodeName\":"
                   "\"%s\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":"
                   "\"%s\"}}}]},\"status\":{\"phase\":\"%s\"}}",
                   name, node, cpu, phase);
    world_add(w, SL_KIND_POD, text);
}

/* Flavor "tas" of Topology "topo" (block, rack, host), in queue "cq" with `cpu` of it. */
static inline void cluster_add_basics(struct world *w, const char *flavor_spec, const char *cpu)
{
    cluster_add_topology(w, "topo");
    world_add_flavor(w, "tas", flavor_spec);
    world_add_cluster_queue(w, "cq", "tas", cpu, "");
    world_add_local_queue(w, "team", "lq", "cq");
    sl_engine_synced(w->engine, w->now_ms);
}

static inline sl_tree_id cluster_tree(struct world *w, const char *flavor)
{
    return sl_intern_find(w->engine->names, SL_INTERN_FLAVOR, flavor);
}

/* The site of a host in the first tree that has it. */
static inline sl_site_id cluster_find_host(const struct sl_engine *g, const char *host)
{
    sl_site_id site = SL_NO_ID;
    for (sl_tree_id tree = 0; site == SL_NO_ID && tree < g->flavor_cap; tree++) {
        site = sl_names_find_host_in(g, tree, host);
    }
    return site;
}

static inline sl_measure_id cluster_take_measure(struct sl_engine *g, const char *resource,
                                                 int64_t now_ms)
{
    return sl_sites_measure(g, sl_name_take(g, SL_INTERN_RESOURCE, resource, now_ms), now_ms);
}

/* The tree in text: values in order, children in brackets, hosts with their free cpu. */
static inline void cluster_print_below(struct world *w, sl_domain_id domain, struct sl_buf *out)
{
    for (; domain != SL_NO_ID; domain = sl_trees_next(domain)) {
        sl_site_id site = sl_domain_site(domain);
        sl_buf_print(out, "%s%s", out->len == 0 || out->data[out->len - 1] == '[' ? "" : " ",
                     sl_names_value(w->engine, domain));
        if (site != SL_NO_ID) {
            sl_buf_print(out, "=%lld", (long long)sl_site_capacity_of(site, 1));
        } else {
            sl_buf_text(out, "[");
            cluster_print_below(w, sl_trees_first_child(domain), out);
            sl_buf_text(out, "]");
        }
    }
}

static inline void cluster_expect(struct world *w, const char *flavor, const char *text)
{
    struct sl_buf out = {0};
    cluster_print_below(w, sl_trees_first_top(cluster_tree(w, flavor)), &out);
    assert_string_equal(out.len == 0 ? "" : out.data, text);
    sl_buf_fini(&out);
}
#endif
