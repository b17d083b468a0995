/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is known of trees as a whole: their levels, and in which order they are placed in. */
#include "policy/topology/trees_links.h"

uint32_t sl_tree_levels[SL_TREES_MAX];

static bool asked[SL_TREES_MAX];
static bool to_nodes[SL_TREES_MAX];
static uint32_t ranks[SL_TREES_MAX];
static sl_level_id level_ids[SL_TREES_MAX][SL_DEPTHS_MAX];

/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result == SL_OK ==> tree < SL_TREES_MAX && levels.count <= SL_DEPTHS_MAX; */
static enum sl_status check_levels(sl_tree_id tree, struct sl_tree_levels levels)
{
    if (tree >= SL_TREES_MAX || levels.count > SL_DEPTHS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    /*@ loop assigns i; loop variant levels.count - i; */
    for (uint32_t i = 0; i < levels.count; i++) {
        /*@ loop assigns j; loop variant i - j; */
        for (uint32_t j = 0; j < i; j++) {
            if (levels.ids[i] == levels.ids[j]) {
                return SL_REFUSED_BAD_ARGUMENT;
            }
        }
    }
    return sl_tree_first_top[tree] != 0 ? SL_REFUSED_IN_USE : SL_OK;
}

/*@ requires links: TreeLinks; terminates \true; exits \false;
    assigns level_ids[tree][0 .. SL_DEPTHS_MAX - 1], asked[tree], sl_tree_levels[tree],
            to_nodes[tree], sl_tree_laid[tree];
    ensures links: TreeLinks; */
enum sl_status sl_trees_configure(sl_tree_id tree, struct sl_tree_levels levels, bool ends_at_nodes)
{
    enum sl_status status = check_levels(tree, levels);
    if (status != SL_OK) {
        return status;
    }
    /*@
      loop assigns i, level_ids[tree][0 .. SL_DEPTHS_MAX - 1];
      loop variant levels.count - i;
    */
    for (uint32_t i = 0; i < levels.count; i++) {
        level_ids[tree][i] = levels.ids[i];
    }
    asked[tree] = true;
    sl_tree_levels[tree] = levels.count;
    to_nodes[tree] = levels.count > 0 && ends_at_nodes;
    sl_tree_laid[tree] = 0;
    return SL_OK;
}

/*@ requires links: TreeLinks; terminates \true; exits \false;
    assigns asked[tree], sl_tree_levels[tree], to_nodes[tree], sl_tree_laid[tree];
    ensures links: TreeLinks; */
enum sl_status sl_trees_forget(sl_tree_id tree)
{
    struct sl_tree_levels none = {0};
    enum sl_status status = check_levels(tree, none);
    if (status == SL_OK) {
        asked[tree] = false;
        to_nodes[tree] = false;
        sl_tree_levels[tree] = 0;
        sl_tree_laid[tree] = 0;
    }
    return status;
}

bool sl_trees_asked(sl_tree_id tree)
{
    return tree < SL_TREES_MAX && asked[tree];
}

bool sl_trees_known(sl_tree_id tree)
{
    return tree < SL_TREES_MAX && sl_tree_levels[tree] > 0;
}

/*@ terminates \true; exits \false; assigns ranks[tree]; */
void sl_trees_set_rank(sl_tree_id tree, uint32_t rank)
{
    if (tree < SL_TREES_MAX) {
        ranks[tree] = rank;
    }
}

uint32_t sl_trees_rank(sl_tree_id tree)
{
    return tree < SL_TREES_MAX ? ranks[tree] : 0;
}

/*@ requires links: TreeLinks; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_trees_depth(sl_tree_id tree)
{
    return tree < SL_TREES_MAX ? sl_tree_levels[tree] : 0;
}

bool sl_trees_ends_at_nodes(sl_tree_id tree)
{
    return tree < SL_TREES_MAX && to_nodes[tree];
}

/*@ requires links: TreeLinks; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_trees_level(sl_tree_id tree, sl_level_id level)
{
    uint32_t depth_count = sl_trees_depth(tree);
    /*@ loop assigns depth; loop variant SL_DEPTHS_MAX - depth; */
    for (uint32_t depth = 0; depth < depth_count && depth < SL_DEPTHS_MAX; depth++) {
        if (level_ids[tree][depth] == level) {
            return depth;
        }
    }
    return SL_NO_ID;
}
