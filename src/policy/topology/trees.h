/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What placement needs to know of a flavor's topology beside its domains (kernel/topology/topology.h): the
 * levels' names, and the domains in the order of their values. Levels are interned node label keys
 * (one numbering for all trees). Owns levels, order, and the layout of a tree in rows. */
#ifndef SL_POLICY_TREES_H
#define SL_POLICY_TREES_H
#include "kernel/topology/topology.h"
#include "specs/hidden.acsl"

typedef uint32_t sl_level_id;
#define SL_TREES_MAX 65536u /* as SL_USED_FLAVORS_MAX of offers.h */

struct sl_tree_levels { /* from the top */
    uint32_t count;
    sl_level_id ids[SL_DEPTHS_MAX];
};

/* Make the flavor's tree known, with its levels from the top. 0 levels: there are none to place
 * pods in, since the flavor names a Topology that is missing (see sl_trees_forget for a flavor that
 * names none). `ends_at_nodes`: the lowest level is kubernetes.io/hostname. Domains are opened
 * afterwards, and closed before. Refused: BAD_ARGUMENT (too many levels, a level twice, tree out of
 * bounds), IN_USE. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_trees_configure(sl_tree_id tree, struct sl_tree_levels levels,
                                  bool ends_at_nodes) SL_MUST_CHECK;
/* The flavor has no topology (any more). Refused as configure. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_trees_forget(sl_tree_id tree) SL_MUST_CHECK;
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_trees_asked(sl_tree_id tree); /* the flavor names a Topology, which may be missing */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result ==> tree < SL_TREES_MAX; */
bool sl_trees_known(sl_tree_id tree); /* and has levels */
/* Pod sets of one workload are placed in the order of their trees: lower first (Kueue: the order of
 * the flavors' names). */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_trees_set_rank(sl_tree_id tree, uint32_t rank);
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_trees_rank(sl_tree_id tree);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result <= SL_DEPTHS_MAX && (\result > 0 ==> tree < SL_TREES_MAX); */
uint32_t sl_trees_depth(sl_tree_id tree); /* how many levels */
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_trees_ends_at_nodes(sl_tree_id tree);
/* Which of its levels this is, from 0; SL_NO_ID = none. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_DEPTHS_MAX || \result == SL_NO_ID; */
uint32_t sl_trees_level(sl_tree_id tree, sl_level_id level);

/* Domains, opened and closed here and in the kernel at once. Siblings are in the order of their
 * values: `after` is the sibling that comes right before it (SL_NO_ID: it is the first). Those of
 * the lowest level have a site, and no others. A site that is in no tree counts no longer; one that
 * has assigned workloads stays open, hidden, until these have released it: close then answers OK
 * and the domain is no candidate (as Kueue's missing nodes). Opening a hidden one shows it again;
 * opening another under its id is refused as IN_USE for as long as it is held. Close the children
 * first. */
/* clang-format off */
#define SL_OPENED                                                                                  \
    sl_domain_trees[0 .. SL_DOMAINS_MAX - 1], sl_domain_parents[0 .. SL_DOMAINS_MAX - 1],          \
        sl_domain_sites[0 .. SL_DOMAINS_MAX - 1], sl_domain_depths[0 .. SL_DOMAINS_MAX - 1],       \
        sl_domain_children[0 .. SL_DOMAINS_MAX - 1],                                               \
        sl_domain_up[0 .. SL_DOMAINS_MAX - 1][0 .. SL_DEPTHS_MAX - 1], sl_domain_limit,            \
        sl_domain_site_limit
/* clang-format on */
/*@ requires inv: DomainsInv; terminates \true; exits \false; assigns sl_hidden, SL_OPENED;
    ensures inv: DomainsInv; */
enum sl_status sl_trees_open(sl_domain_id domain, sl_tree_id tree, sl_domain_id parent,
                             sl_domain_id after, sl_site_id site) SL_MUST_CHECK;
/*@ requires inv: DomainsInv; terminates \true; exits \false; assigns sl_hidden, SL_OPENED;
    ensures inv: DomainsInv; */
enum sl_status sl_trees_close(sl_domain_id domain) SL_MUST_CHECK;
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result ==> domain < SL_DOMAINS_MAX; */
bool sl_trees_shows(sl_domain_id domain);

/* In that order; SL_NO_ID = no (more). */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_DOMAINS_MAX || \result == SL_NO_ID; */
sl_domain_id sl_trees_first_top(sl_tree_id tree);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_DOMAINS_MAX || \result == SL_NO_ID; */
sl_domain_id sl_trees_first_child(sl_domain_id domain);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_DOMAINS_MAX || \result == SL_NO_ID; */
sl_domain_id sl_trees_next(sl_domain_id domain);
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_trees_bottom_count(sl_tree_id tree); /* shown bottom domains */
/* Is a site of the tree in another one as well? Once it was, the answer stays until the tree has no site. */
/*@ terminates \true; exits \false; assigns \nothing; ensures known: \result ==> tree < SL_TREES_MAX; */
bool sl_trees_shares_sites(sl_tree_id tree);
/* The shown bottom domain of the tree on that site; SL_NO_ID = none. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_DOMAINS_MAX || \result == SL_NO_ID; */
sl_domain_id sl_trees_domain_on(sl_tree_id tree, sl_site_id site);

/* --- a tree in rows, for placement: trees_layout.c --- Every shown domain of a tree has a *spot*:
 * those of one level are numbered in the order of the tree, so comparing spots compares places in
 * that order, and children of one domain are adjacent. Kept until the tree changes. */
#define SL_SPOTS_MAX 2097152u

struct sl_trees_layout {
    uint32_t depth_count;
    uint32_t first[SL_DEPTHS_MAX + 1]; /* the spots of level d are first[d] .. first[d + 1] - 1 */
};
/* Of spots of a layout in force. */
extern sl_domain_id sl_spot_domain[SL_SPOTS_MAX];
extern sl_site_id sl_spot_site[SL_SPOTS_MAX];   /* of the lowest level */
extern uint32_t sl_spot_parent[SL_SPOTS_MAX];   /* SL_NO_ID at the top */
extern uint32_t sl_spot_child[SL_SPOTS_MAX];    /* the first; of all levels but the lowest */
extern uint32_t sl_spot_children[SL_SPOTS_MAX]; /* how many */
/* clang-format off */
#define SL_SPOTS                                                                                   \
    sl_spot_domain[0 .. SL_SPOTS_MAX - 1], sl_spot_site[0 .. SL_SPOTS_MAX - 1],                    \
        sl_spot_parent[0 .. SL_SPOTS_MAX - 1], sl_spot_child[0 .. SL_SPOTS_MAX - 1],               \
        sl_spot_children[0 .. SL_SPOTS_MAX - 1]
/* clang-format on */
/*@
  terminates \true; exits \false; assigns sl_hidden, SL_SPOTS;
  ensures within: \result.depth_count <= SL_DEPTHS_MAX &&
    \forall integer d; 0 <= d <= SL_DEPTHS_MAX ==> \result.first[d] <= SL_SPOTS_MAX;
*/
struct sl_trees_layout sl_trees_lay_out(sl_tree_id tree);
/* The spot of a shown domain whose tree is laid out. */
/*@ terminates \true; exits \false; assigns \nothing; ensures known: \result < SL_SPOTS_MAX; */
uint32_t sl_trees_spot(sl_domain_id domain);
#endif
