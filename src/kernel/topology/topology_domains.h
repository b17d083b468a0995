/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Trees of domains. Each domain keeps its ancestors in a row, so that whether it lies inside another is one look. Owns
 * the domains. */
#ifndef SL_KERNEL_TOPOLOGY_DOMAINS_H
#define SL_KERNEL_TOPOLOGY_DOMAINS_H
#include "kernel/base/status.h"
#include "kernel/base/topology_plan.h"

/* For the kernel. tree, parent and site are one more than the id; 0 = the domain is not open, is at the top, is no
 * bottom one. up[k] is the ancestor at depth k <= its own. */
extern uint32_t sl_domain_trees[SL_DOMAINS_MAX];
extern uint32_t sl_domain_parents[SL_DOMAINS_MAX];
extern uint32_t sl_domain_sites[SL_DOMAINS_MAX];
extern uint32_t sl_domain_depths[SL_DOMAINS_MAX];
extern uint32_t sl_domain_children[SL_DOMAINS_MAX]; /* how many */
extern sl_domain_id sl_domain_up[SL_DOMAINS_MAX][SL_DEPTHS_MAX];
extern uint32_t sl_domain_assigned[SL_DOMAINS_MAX]; /* how many rows of workloads are assigned to
                                                   * it */
/* No domain, and no site, at or beyond these was ever opened. */
extern uint32_t sl_domain_limit;
extern uint32_t sl_domain_site_limit;

#include "specs/topology_domains.acsl"

/* Open a domain under `parent` (SL_NO_ID: at the top of `tree`); one with a site is a bottom one. Refused:
 * BAD_ARGUMENT (ids out of bounds, parent of another tree or with a site, deeper than SL_DEPTHS_MAX), IN_USE (open
 * already). */
/*@
  requires inv:        DomainsInv;
  terminates           \true;
  exits                \false;
  assigns              sl_domain_trees[0 .. SL_DOMAINS_MAX - 1], sl_domain_parents[0 .. SL_DOMAINS_MAX - 1],
                       sl_domain_sites[0 .. SL_DOMAINS_MAX - 1], sl_domain_depths[0 .. SL_DOMAINS_MAX - 1],
                       sl_domain_children[0 .. SL_DOMAINS_MAX - 1],
                       sl_domain_up[0 .. SL_DOMAINS_MAX - 1][0 .. SL_DEPTHS_MAX - 1], sl_domain_limit,
                       sl_domain_site_limit;
  ensures  sound:      DomainsSound;
  ensures  closed:     DomainsClosed;
  ensures  counted:    DomainChildrenCounted;
  ensures  kept:       \forall integer d; 0 <= d < SL_DOMAINS_MAX && (d != domain || \result != SL_OK) ==>
                         sl_domain_trees[d] == \old(sl_domain_trees[d]) &&
                         sl_domain_sites[d] == \old(sl_domain_sites[d]) &&
                         sl_domain_depths[d] == \old(sl_domain_depths[d]);
  behavior done:
    assumes allowed:   OpenAllowed(domain, tree, parent, site);
    ensures result:    \result == SL_OK;
    ensures tree:      sl_domain_trees[domain] == tree + 1;
    ensures parent:    sl_domain_parents[domain] == (parent == SL_NO_ID ? 0 : parent + 1);
    ensures site:      sl_domain_sites[domain] == (site == SL_NO_ID ? 0 : site + 1);
    ensures inside:    parent != SL_NO_ID ==> LiesInside(domain, parent);
    ensures limits:    LimitsRaised{Pre,Post}(domain, site);
  behavior refused:
    assumes forbidden: !OpenAllowed(domain, tree, parent, site);
    assigns            \nothing;
    ensures result:    \result == SL_REFUSED_BAD_ARGUMENT || \result == SL_REFUSED_IN_USE;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_domain_open(sl_domain_id domain, sl_tree_id tree, sl_domain_id parent,
                              sl_site_id site) SL_MUST_CHECK;

/* Refused: BAD_ARGUMENT (not open), IN_USE (it has children, or workloads are assigned to it). */
/*@
  requires inv:        DomainsInv;
  terminates           \true;
  exits                \false;
  assigns              sl_domain_trees[0 .. SL_DOMAINS_MAX - 1], sl_domain_parents[0 .. SL_DOMAINS_MAX - 1],
                       sl_domain_sites[0 .. SL_DOMAINS_MAX - 1], sl_domain_children[0 .. SL_DOMAINS_MAX - 1];
  ensures  sound:      DomainsSound;
  ensures  closed:     DomainsClosed;
  ensures  counted:    DomainChildrenCounted;
  ensures  kept:       \forall integer d; 0 <= d < SL_DOMAINS_MAX && (d != domain || \result != SL_OK) ==>
                         sl_domain_trees[d] == \old(sl_domain_trees[d]) &&
                         sl_domain_sites[d] == \old(sl_domain_sites[d]);
  behavior done:
    assumes allowed:   domain < SL_DOMAINS_MAX && DomainOpen(domain) && sl_domain_children[domain] == 0 &&
                       sl_domain_assigned[domain] == 0;
    ensures result:    \result == SL_OK;
    ensures closed:    !DomainOpen(domain);
  behavior refused:
    assumes forbidden: !(domain < SL_DOMAINS_MAX && DomainOpen(domain) && sl_domain_children[domain] == 0 &&
                         sl_domain_assigned[domain] == 0);
    assigns            \nothing;
    ensures result:    \result == SL_REFUSED_BAD_ARGUMENT || \result == SL_REFUSED_IN_USE;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_domain_close(sl_domain_id domain) SL_MUST_CHECK;

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> domain < SL_DOMAINS_MAX && DomainOpen(domain);
*/
bool sl_domain_is_open(sl_domain_id domain);

/* SL_NO_ID = it is at the top, or not open. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (domain < SL_DOMAINS_MAX && sl_domain_trees[domain] != 0 &&
                         sl_domain_parents[domain] != 0 ? sl_domain_parents[domain] - 1 : SL_NO_ID);
*/
sl_domain_id sl_domain_parent(sl_domain_id domain);

/* 0 = top. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (domain < SL_DOMAINS_MAX && sl_domain_trees[domain] != 0
                                     ? sl_domain_depths[domain] : 0);
*/
uint32_t sl_domain_depth(sl_domain_id domain);

/* SL_NO_ID = it is no bottom one. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (domain < SL_DOMAINS_MAX && sl_domain_trees[domain] != 0 &&
                         sl_domain_sites[domain] != 0 ? sl_domain_sites[domain] - 1 : SL_NO_ID);
*/
sl_site_id sl_domain_site(sl_domain_id domain);

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (domain < SL_DOMAINS_MAX && sl_domain_trees[domain] != 0
                                     ? sl_domain_trees[domain] - 1 : SL_NO_ID);
*/
sl_tree_id sl_domain_tree(sl_domain_id domain);

/* The ancestor (or itself) at that depth; SL_NO_ID when the domain is not that deep. */
/*@
  requires inv:        DomainsInv;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  above:      domain < SL_DOMAINS_MAX && DomainOpen(domain) && depth <= sl_domain_depths[domain] ==>
                         LiesInside(domain, \result) && sl_domain_depths[\result] == depth;
  ensures  none:       !(domain < SL_DOMAINS_MAX && DomainOpen(domain) && depth <= sl_domain_depths[domain]) ==>
                         \result == SL_NO_ID;
*/
sl_domain_id sl_domain_above(sl_domain_id domain, uint32_t depth);
#endif
