/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the engine knows of the cluster beside quotas: nodes, what runs on them, Topologies, and the
 * trees of domains that both make for each ResourceFlavor. Kubernetes' Nodes are called nodes
 * here, as a node is one of the quota forest. Shared by world.c, nodes.c, pods.c, areas.c,
 * trees_in.c, sites.c, masks_in.c and names.c only. */
#ifndef SL_ENGINE_WORLD_H
#define SL_ENGINE_WORLD_H
#include "base/map.h"
#include "engine/records/amounts.h"
#include "engine/state.h"
#include "kernel/topology/topology.h"
#include "policy/topology/masks.h"
#include "policy/topology/trees.h"

#define SL_HOST_LABEL "kubernetes.io/hostname"

struct sl_node_entry {
    char *name;
    bool exists; /* its Node object was seen; else only pods name it */
    bool usable; /* ready, and not cordoned */
    struct sl_json *labels;
    struct sl_json *taints;
    struct sl_amounts allocatable;
    struct sl_amounts taken; /* by pods that no topology workload owns */
    uint32_t pod_count;
    uint32_t domain_count;
    uint32_t domain_cap;
    sl_domain_id *domains; /* bottom ones, one in each tree that it is in */
};

/* A place of the core: a host, whose trees share it, or a bottom domain of several nodes. */
struct sl_site_entry {
    char *key;                  /* in the map of hosts; NULL: no host */
    uint32_t host_at;           /* the host's name is what the key ends with */
    uint32_t area_count;        /* domains that end here, relics included */
    struct sl_node_entry *node; /* of a host: the node whose labels and taints count; NULL = none */
    struct sl_amounts free;     /* sum of what its members have and do not need for other pods */
    uint32_t next_free;
};

/* Domains of one parent, in the order of their values. */
struct sl_siblings {
    uint32_t count;
    uint32_t cap;
    sl_domain_id *items;
};

/* The name of a domain. The core knows more of it, but only for as long as it is open there. */
struct sl_area {
    sl_tree_id tree;
    sl_domain_id parent; /* SL_NO_ID = at the top; of a free number: the next free one */
    sl_site_id site;     /* SL_NO_ID = no bottom one */
    char *value;         /* NULL: the number is free */
    uint32_t node_count;
    struct sl_siblings children;
};

enum sl_tree_news {
    SL_TREE_MORE = 1, /* workloads that wait may fit now */
    SL_TREE_LESS = 2  /* heads that wait for what they count on look again, and may let go */
};

/* The topology of a ResourceFlavor, by its id. */
struct sl_tree_entry {
    char *topology;                          /* that the flavor names; NULL = none */
    const struct sl_topology_levels *levels; /* that the core has; NULL: it has none */
    unsigned news;                           /* enum sl_tree_news */
    struct sl_json *node_labels;             /* of the flavor */
    uint32_t tolerance;
    struct sl_siblings tops;
};

struct sl_mask_entry {
    bool used;
    uint32_t constraint; /* constraints.h */
    uint32_t tolerance;
};

struct sl_topology_levels {
    struct sl_tree_levels of;
    bool ends_at_nodes;
};

struct sl_world {
    struct sl_map *nodes;      /* name -> struct sl_node_entry * */
    struct sl_map *pods;       /* "ns/name" -> struct sl_pod_use * (pods.c) */
    struct sl_map *topologies; /* name -> struct sl_topology_levels * */
    struct sl_map *hosts;      /* key of a site (sites.c) -> its number */
    struct sl_map *checks;     /* AdmissionCheck -> enum sl_check_way (checks_in.c) */
    uint32_t tree_cap;
    struct sl_tree_entry *trees; /* by flavor id */
    uint32_t area_count;         /* ids below this were given out */
    uint32_t area_cap;
    struct sl_area *areas; /* by domain id */
    sl_domain_id first_free_area;
    uint32_t relic_count; /* domains that are closed except for the workloads assigned to them */
    uint32_t relic_cap;
    sl_domain_id *relics;
    uint32_t site_count; /* numbers below this were given out */
    uint32_t site_cap;
    struct sl_site_entry *sites;
    uint32_t free_site_count; /* a queue, as late events may still speak of a number */
    uint32_t first_free_site;
    uint32_t last_free_site;
    bool woken;
    bool relaid; /* a tree has other levels: see restand.h */
    uint32_t measure_count;
    sl_resource_id measures[SL_MEASURES_MAX];
    uint64_t measured_at[SL_MEASURES_MAX]; /* the round in which it was last asked for */
    uint64_t round;                        /* how many objects were observed */
    char *taints[SL_TAINTS_MAX];           /* by number; NULL = free */
    uint64_t taints_swept_at;              /* the round in which unused ones were last looked for */
    uint32_t tolerance_count;              /* 0 is none */
    struct sl_json **tolerances;
    uint32_t mask_limit; /* no mask from here on is in use */
    struct sl_mask_entry *masks;
};

/* --- world.c ---------------------------------------------------------------------------------- */
struct sl_tree_entry *sl_world_tree(struct sl_engine *g, sl_tree_id tree); /* made when new */
/* NULL when the flavor names no Topology. */
struct sl_tree_entry *sl_world_find_tree(const struct sl_engine *g, sl_tree_id tree);
/* Those that wait for the tree are woken before the next cycle, by sl_world_flush. */
void sl_world_wake(struct sl_engine *g, sl_tree_id tree, enum sl_tree_news news);

/* --- sites.c ---------------------------------------------------------------------------------- */
/* The number of a host in that tree, or of a domain of several nodes (host NULL); SL_NO_ID = as
 * many as can be held. */
sl_site_id sl_sites_take(struct sl_engine *g, sl_tree_id tree, const char *host);
sl_site_id sl_sites_find(const struct sl_engine *g, sl_tree_id tree, const char *host);
/* No domain ends there any more. */
void sl_sites_drop(struct sl_engine *g, sl_site_id site);
/* sign * amounts more are free there. */
void sl_sites_shift(struct sl_engine *g, sl_site_id site, const struct sl_amounts *amounts,
                    int sign, int64_t now_ms);
/* The measure of a resource; made, and every site measured, when new. SL_NO_ID = too many. */
sl_measure_id sl_sites_measure(struct sl_engine *g, sl_resource_id resource, int64_t now_ms);

/* --- areas.c ---------------------------------------------------------------------------------- */
/* The domain of that value below `parent` (SL_NO_ID: at the top); SL_NO_ID = none. */
sl_domain_id sl_areas_find(const struct sl_engine *g, sl_tree_id tree, sl_domain_id parent,
                           const char *value);
/* The bottom domain with these values, one per level, shown; opened where there is none.
 * SL_NO_ID = there are as many domains or sites as can be held. */
sl_domain_id sl_areas_open(struct sl_engine *g, sl_tree_id tree, const char *const *values,
                           int64_t now_ms);
/* No node is in it any more: it is closed, and what is above it if nothing else is there. */
void sl_areas_close(struct sl_engine *g, sl_domain_id domain, int64_t now_ms);
/* Release the numbers of relics that no workload is assigned to any more; after every event that
 * closed some. Linear in relics. */
void sl_areas_sweep(struct sl_engine *g);
/* The tree's levels are to change: its domains were all closed, and what stays does so apart. */
void sl_areas_cut(struct sl_engine *g, sl_tree_id tree);

/* --- nodes.c ------------------------------------------------------------------------------- */
/* The record of that name, made when new. */
struct sl_node_entry *sl_nodes_take(struct sl_engine *g, const char *name);
/* sign * amounts more are free on it. */
void sl_nodes_shift(struct sl_engine *g, struct sl_node_entry *m, const struct sl_amounts *amounts,
                    int sign, int64_t now_ms);
/* The same for all trees that it is in. */
void sl_nodes_wake(struct sl_engine *g, const struct sl_node_entry *m, enum sl_tree_news news);
/* Its labels, its usability or the tree have changed: it enters, leaves or moves. */
void sl_nodes_place(struct sl_engine *g, struct sl_node_entry *m, sl_tree_id tree, int64_t now_ms);
void sl_nodes_leave(struct sl_engine *g, struct sl_node_entry *m, sl_tree_id tree, int64_t now_ms);
/* Nothing needs it any more? Then it is forgotten. */
void sl_nodes_drop_unused(struct sl_engine *g, struct sl_node_entry *m);
void sl_nodes_free(struct sl_world *w);

/* --- pods.c ----------------------------------------------------------------------------------- */
void sl_pods_free(struct sl_world *w);
#endif
