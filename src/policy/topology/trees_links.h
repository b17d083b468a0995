/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The levels of trees and the order of domains, for the files that keep them: trees_levels.c,
 * trees.c and trees_layout.c. A link is an index plus one; 0 says "none". */
#ifndef SL_POLICY_TREES_LINKS_H
#define SL_POLICY_TREES_LINKS_H
#include "policy/topology/trees.h"

extern uint32_t sl_tree_first_top[SL_TREES_MAX];
extern uint32_t sl_tree_levels[SL_TREES_MAX]; /* how many */
extern uint32_t
    sl_tree_laid[SL_TREES_MAX]; /* the round its layout is of; 0 = it has changed since */
extern uint32_t sl_link_child[SL_DOMAINS_MAX]; /* the first */
extern uint32_t sl_link_next[SL_DOMAINS_MAX];  /* sibling */

/*@
  // Every link is none or names a domain, so that following it is safe.
  predicate TreeLinks{L} =
    (\forall integer t; 0 <= t < SL_TREES_MAX ==>
       sl_tree_first_top[t] <= SL_DOMAINS_MAX && sl_tree_levels[t] <= SL_DEPTHS_MAX) &&
    (\forall integer d; 0 <= d < SL_DOMAINS_MAX ==>
       sl_link_child[d] <= SL_DOMAINS_MAX && sl_link_next[d] <= SL_DOMAINS_MAX);
*/
#endif
