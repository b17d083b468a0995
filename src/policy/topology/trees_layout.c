/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Trees in rows. A tree that has changed is written again behind the last one written; when the
 * spots run out, a new round starts from the beginning, in which no older layout counts. That costs
 * as much as reading the tree once, and only a caller that is about to read it all pays. */
#include "policy/topology/trees_links.h"

sl_domain_id sl_spot_domain[SL_SPOTS_MAX];
sl_site_id sl_spot_site[SL_SPOTS_MAX];
uint32_t sl_spot_parent[SL_SPOTS_MAX];
uint32_t sl_spot_child[SL_SPOTS_MAX];
uint32_t sl_spot_children[SL_SPOTS_MAX];

static struct sl_trees_layout layouts[SL_TREES_MAX];
static uint32_t spots[SL_DOMAINS_MAX];
static uint32_t used;
static uint32_t current = 1; /* round */

/* clang-format off */
#define WRITTEN SL_SPOTS, spots[0 .. SL_DOMAINS_MAX - 1], used
/* clang-format on */

/*@
  // Spots, and what is said of them, are within the arrays.
  predicate SpotsSound{L} = used <= SL_SPOTS_MAX &&
    (\forall integer s; 0 <= s < SL_SPOTS_MAX ==> sl_spot_domain[s] < SL_DOMAINS_MAX) &&
    (\forall integer d; 0 <= d < SL_DOMAINS_MAX ==> spots[d] < SL_SPOTS_MAX);
  predicate LayoutSound{L}(integer t) = layouts[t].depth_count <= SL_DEPTHS_MAX &&
    \forall integer k; 0 <= k <= SL_DEPTHS_MAX ==> layouts[t].first[k] <= SL_SPOTS_MAX;
  predicate LayoutsSound{L} = \forall integer t; 0 <= t < SL_TREES_MAX ==> LayoutSound(t);
*/

/* The siblings from `link` on take the next spots; how many there were. */
/*@ requires links: TreeLinks && SpotsSound && link <= SL_DOMAINS_MAX; terminates \true;
    exits \false; assigns WRITTEN; ensures spots: SpotsSound; */
static uint32_t write_siblings(uint32_t link, uint32_t parent)
{
    uint32_t count = 0;
    /*@
      loop invariant spots: SpotsSound && link <= SL_DOMAINS_MAX;
      loop assigns link, count, WRITTEN;
      loop variant SL_SPOTS_MAX - used;
    */
    while (link != 0 && used < SL_SPOTS_MAX && count < SL_DOMAINS_MAX) {
        sl_domain_id domain = link - 1;
        sl_spot_domain[used] = domain;
        sl_spot_site[used] = sl_domain_site(domain);
        sl_spot_parent[used] = parent;
        sl_spot_child[used] = 0;
        sl_spot_children[used] = 0;
        spots[domain] = used;
        used++;
        count++;
        link = sl_link_next[domain];
    }
    return count;
}

/* False = there were not enough spots left. */
/*@ requires links: TreeLinks && SpotsSound && LayoutsSound && tree < SL_TREES_MAX;
    terminates \true; exits \false; assigns WRITTEN, layouts[tree];
    ensures spots: SpotsSound && LayoutsSound; */
static bool write_tree(sl_tree_id tree)
{
    layouts[tree].depth_count = sl_tree_levels[tree];
    layouts[tree].first[0] = used;
    (void)write_siblings(sl_tree_first_top[tree], SL_NO_ID);
    layouts[tree].first[1] = used;
    /*@
      loop invariant spots: SpotsSound && LayoutSound(tree) && depth >= 1;
      loop assigns depth, WRITTEN, layouts[tree].first[0 .. SL_DEPTHS_MAX];
      loop variant SL_DEPTHS_MAX - depth;
    */
    for (uint32_t depth = 1; depth < layouts[tree].depth_count && depth < SL_DEPTHS_MAX; depth++) {
        uint32_t end = layouts[tree].first[depth];
        /*@
          loop invariant spots: SpotsSound;
          loop assigns spot, WRITTEN;
          loop variant end - spot;
        */
        for (uint32_t spot = layouts[tree].first[depth - 1]; spot < end; spot++) {
            sl_spot_child[spot] = used;
            sl_spot_children[spot] = write_siblings(sl_link_child[sl_spot_domain[spot]], spot);
        }
        layouts[tree].first[depth + 1] = used;
    }
    return used < SL_SPOTS_MAX;
}

/*@ requires links: TreeLinks && SpotsSound && LayoutsSound; terminates \true; exits \false;
    assigns WRITTEN, current, layouts[tree], sl_tree_laid[tree];
    ensures spots: SpotsSound && LayoutsSound; */
struct sl_trees_layout sl_trees_lay_out(sl_tree_id tree)
{
    if (!sl_trees_known(tree)) {
        return (struct sl_trees_layout){0};
    }
    if (sl_tree_laid[tree] != current) {
        if (!write_tree(tree)) {
            current++;
            used = 0;
            (void)write_tree(tree);
        }
        sl_tree_laid[tree] = current;
    }
    return layouts[tree];
}

/*@ requires spots: SpotsSound; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_trees_spot(sl_domain_id domain)
{
    return domain < SL_DOMAINS_MAX ? spots[domain] : 0;
}
