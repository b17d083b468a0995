/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Domains are opened from the top and closed from the bottom: a new one copies its parent's ancestors and adds
 * itself, and one that is some other's ancestor cannot go. */
#include "kernel/topology/topology_domains.h"

uint32_t sl_domain_trees[SL_DOMAINS_MAX];
uint32_t sl_domain_parents[SL_DOMAINS_MAX];
uint32_t sl_domain_sites[SL_DOMAINS_MAX];
uint32_t sl_domain_depths[SL_DOMAINS_MAX];
uint32_t sl_domain_children[SL_DOMAINS_MAX];
sl_domain_id sl_domain_up[SL_DOMAINS_MAX][SL_DEPTHS_MAX];
uint32_t sl_domain_assigned[SL_DOMAINS_MAX];
uint32_t sl_domain_limit;
uint32_t sl_domain_site_limit;

/*@
  requires tree:       tree != SL_NO_ID;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> parent < SL_DOMAINS_MAX && sl_domain_trees[parent] == tree + 1 &&
                         sl_domain_sites[parent] == 0 && sl_domain_depths[parent] < SL_DEPTHS_MAX - 1;
*/
static bool parent_fits(sl_domain_id parent, sl_tree_id tree)
{
    return parent < SL_DOMAINS_MAX && sl_domain_trees[parent] == tree + 1 &&
           sl_domain_sites[parent] == 0 && sl_domain_depths[parent] < SL_DEPTHS_MAX - 1;
}

/* Children are no more than there are domains, and nobody is below a domain that has none. */
/*@ ghost
  /@ terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  range:     \forall integer p; 0 <= ChildSum(p, SL_DOMAINS_MAX) <= SL_DOMAINS_MAX;
     ensures  none:      \forall integer p, d; 0 <= d < SL_DOMAINS_MAX && sl_domain_parents[d] == p + 1 ==>
                           0 < ChildSum(p, SL_DOMAINS_MAX);
  @/
  static void lemma_children(void)
  {
    /@ loop invariant index: 0 <= n <= SL_DOMAINS_MAX;
       loop invariant range: \forall integer p; 0 <= ChildSum(p, n) <= n;
       loop invariant none:  \forall integer p, d; 0 <= d < n && sl_domain_parents[d] == p + 1 ==>
                               0 < ChildSum(p, n);
       loop assigns          n;
       loop variant          SL_DOMAINS_MAX - n;
    @/
    for (uint32_t n = 0; n < SL_DOMAINS_MAX; n++) ;
  }
*/

/* Put the domain below `parent`. */
/*@
  requires ids:        domain < SL_DOMAINS_MAX && parent < SL_DOMAINS_MAX;
  requires none:       sl_domain_parents[domain] == 0;
  requires counted:    DomainChildrenCounted;
  terminates           \true;
  exits                \false;
  assigns              sl_domain_parents[domain], sl_domain_children[parent];
  ensures  counted:    DomainChildrenCounted;
  ensures  parent:     sl_domain_parents[domain] == parent + 1;
*/
static void set_parent(sl_domain_id domain, sl_domain_id parent)
{
    sl_domain_parents[domain] = parent + 1;
    sl_domain_children[parent]++;
    /*@ ghost
      /@ loop invariant index: 0 <= n <= SL_DOMAINS_MAX;
         loop invariant range: \forall integer p; 0 <= ChildSum(p, n) <= n;
         loop invariant sums:  \forall integer p; 0 <= p ==> ChildSum(p, n) == ChildSum{Pre}(p, n) +
                                 (p == parent && domain < n ? 1 : 0);
         loop assigns          n;
         loop variant          SL_DOMAINS_MAX - n;
      @/
      for (uint32_t n = 0; n < SL_DOMAINS_MAX; n++) ;
    */
}

/* Put it below nothing. */
/*@
  requires ids:        domain < SL_DOMAINS_MAX && 0 < sl_domain_parents[domain] <= SL_DOMAINS_MAX;
  requires counted:    DomainChildrenCounted;
  terminates           \true;
  exits                \false;
  assigns              sl_domain_parents[domain], sl_domain_children[sl_domain_parents[domain] - 1];
  ensures  counted:    DomainChildrenCounted;
  ensures  parent:     sl_domain_parents[domain] == 0;
*/
static void clear_parent(sl_domain_id domain)
{
    sl_domain_id parent = sl_domain_parents[domain] - 1;
    sl_domain_parents[domain] = 0;
    sl_domain_children[parent]--;
    /*@ ghost
      /@ loop invariant index: 0 <= n <= SL_DOMAINS_MAX;
         loop invariant range: \forall integer p; 0 <= ChildSum(p, n) <= n;
         loop invariant sums:  \forall integer p; 0 <= p ==> ChildSum(p, n) == ChildSum{Pre}(p, n) -
                                 (p == parent && domain < n ? 1 : 0);
         loop assigns          n;
         loop variant          SL_DOMAINS_MAX - n;
      @/
      for (uint32_t n = 0; n < SL_DOMAINS_MAX; n++) ;
    */
}

/* The ancestors are those of the parent, and itself. */
/*@
  requires ids:        domain < SL_DOMAINS_MAX && depth < SL_DEPTHS_MAX;
  requires parent:     depth > 0 ==> 0 < sl_domain_parents[domain] <= SL_DOMAINS_MAX &&
                         sl_domain_parents[domain] != domain + 1;
  terminates           \true;
  exits                \false;
  assigns              sl_domain_up[domain][0 .. SL_DEPTHS_MAX - 1], sl_domain_depths[domain];
  ensures  depth:      sl_domain_depths[domain] == depth;
  ensures  above:      \forall integer k; 0 <= k < depth ==>
                         sl_domain_up[domain][k] == sl_domain_up[sl_domain_parents[domain] - 1][k];
  ensures  itself:     sl_domain_up[domain][depth] == domain;
*/
static void set_ancestors(sl_domain_id domain, uint32_t depth)
{
    /*@
      loop invariant index: 0 <= k <= depth;
      loop invariant above: \forall integer j; 0 <= j < k ==>
                              sl_domain_up[domain][j] == sl_domain_up[sl_domain_parents[domain] - 1][j];
      loop invariant kept:  \forall integer d, j; 0 <= d < SL_DOMAINS_MAX && 0 <= j < SL_DEPTHS_MAX &&
                              d != domain ==> sl_domain_up[d][j] == \at(sl_domain_up[d][j], Pre);
      loop assigns          k, sl_domain_up[domain][0 .. SL_DEPTHS_MAX - 1];
      loop variant          depth - k;
    */
    for (uint32_t k = 0; k < depth; k++) {
        sl_domain_up[domain][k] = sl_domain_up[sl_domain_parents[domain] - 1][k];
    }
    sl_domain_up[domain][depth] = domain;
    sl_domain_depths[domain] = depth;
}

/*@
  requires ids:        domain < SL_DOMAINS_MAX && (site == SL_NO_ID || site < SL_SITES_MAX);
  terminates           \true;
  exits                \false;
  assigns              sl_domain_sites[domain], sl_domain_limit, sl_domain_site_limit;
  ensures  site:       sl_domain_sites[domain] == (site == SL_NO_ID ? 0 : site + 1);
  ensures  limits:     LimitsRaised{Pre,Post}(domain, site);
*/
static void set_site(sl_domain_id domain, sl_site_id site)
{
    sl_domain_sites[domain] = site != SL_NO_ID ? site + 1 : 0;
    if (domain >= sl_domain_limit) {
        sl_domain_limit = domain + 1;
    }
    if (site != SL_NO_ID && site >= sl_domain_site_limit) {
        sl_domain_site_limit = site + 1;
    }
}

enum sl_status sl_domain_open(sl_domain_id domain, sl_tree_id tree, sl_domain_id parent,
                              sl_site_id site)
{
    if (domain >= SL_DOMAINS_MAX || tree == SL_NO_ID ||
        (site != SL_NO_ID && site >= SL_SITES_MAX)) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (parent != SL_NO_ID && !parent_fits(parent, tree)) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (sl_domain_trees[domain] != 0) {
        return SL_REFUSED_IN_USE;
    }
    /*@ assert before: \forall integer d, k; 0 <= d < SL_DOMAINS_MAX && DomainOpen(d) &&
          0 <= k <= sl_domain_depths[d] ==> sl_domain_up[d][k] != domain; */
    if (parent != SL_NO_ID) {
        set_parent(domain, parent);
    }
    set_ancestors(domain, parent != SL_NO_ID ? sl_domain_depths[parent] + 1 : 0);
    set_site(domain, site);
    sl_domain_trees[domain] = tree + 1;
    /*@ assert apart: \forall integer d, k; 0 <= d < SL_DOMAINS_MAX && d != domain && DomainOpen(d) &&
          0 <= k <= sl_domain_depths[d] ==> sl_domain_up[d][k] != domain; */
    /*@ assert others: \forall integer d; 0 <= d < SL_DOMAINS_MAX && d != domain && DomainOpen(d) ==>
          DomainSound(d); */
    /*@ assert nearest: parent != SL_NO_ID ==> sl_domain_up[domain][sl_domain_depths[domain] - 1] == parent &&
          AncestorSound(domain, sl_domain_depths[domain] - 1); */
    /*@ assert farther: parent != SL_NO_ID ==> \forall integer k; 0 <= k < sl_domain_depths[domain] - 1 ==>
          AncestorSound(parent, k) && sl_domain_up[domain][k] == sl_domain_up[parent][k] &&
          sl_domain_up[parent][k] != domain; */
    /*@ assert above: parent != SL_NO_ID ==> \forall integer k; 0 <= k < sl_domain_depths[domain] ==>
          AncestorSound(domain, k); */
    //@ assert own: DomainSound(domain);
    return SL_OK;
}

enum sl_status sl_domain_close(sl_domain_id domain)
{
    if (domain >= SL_DOMAINS_MAX || sl_domain_trees[domain] == 0) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (sl_domain_children[domain] > 0 || sl_domain_assigned[domain] > 0) {
        return SL_REFUSED_IN_USE;
    }
    //@ ghost lemma_children();
    /*@ assert childless: \forall integer d, k; 0 <= d < SL_DOMAINS_MAX && DomainOpen(d) &&
          0 <= k < sl_domain_depths[d] && sl_domain_up[d][k] == domain ==>
            sl_domain_parents[sl_domain_up[d][k + 1]] == domain + 1; */
    if (sl_domain_parents[domain] != 0) {
        clear_parent(domain);
    }
    sl_domain_sites[domain] = 0;
    sl_domain_trees[domain] = 0;
    /*@ assert apart: \forall integer d, k; 0 <= d < SL_DOMAINS_MAX && d != domain &&
          \at(DomainOpen(d), Pre) && 0 <= k < sl_domain_depths[d] ==> sl_domain_up[d][k] != domain; */
    /*@ assert others: \forall integer d; 0 <= d < SL_DOMAINS_MAX && DomainOpen(d) ==> DomainSound(d); */
    return SL_OK;
}

bool sl_domain_is_open(sl_domain_id domain)
{
    return domain < SL_DOMAINS_MAX && sl_domain_trees[domain] != 0;
}

sl_domain_id sl_domain_parent(sl_domain_id domain)
{
    return sl_domain_is_open(domain) && sl_domain_parents[domain] != 0
               ? sl_domain_parents[domain] - 1
               : SL_NO_ID;
}

uint32_t sl_domain_depth(sl_domain_id domain)
{
    return sl_domain_is_open(domain) ? sl_domain_depths[domain] : 0;
}

sl_site_id sl_domain_site(sl_domain_id domain)
{
    return sl_domain_is_open(domain) && sl_domain_sites[domain] != 0 ? sl_domain_sites[domain] - 1
                                                                     : SL_NO_ID;
}

sl_tree_id sl_domain_tree(sl_domain_id domain)
{
    return sl_domain_is_open(domain) ? sl_domain_trees[domain] - 1 : SL_NO_ID;
}

sl_domain_id sl_domain_above(sl_domain_id domain, uint32_t depth)
{
    return sl_domain_is_open(domain) && depth <= sl_domain_depths[domain]
               ? sl_domain_up[domain][depth]
               : SL_NO_ID;
}
