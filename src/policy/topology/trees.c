/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Domains in their order. Siblings are linked both ways; domains that share a site are linked one
 * way. A link is an index plus one; 0 says "none". (Levels: trees_levels.c.) */
#include "policy/topology/trees_links.h"

uint32_t sl_tree_first_top[SL_TREES_MAX];
uint32_t sl_tree_laid[SL_TREES_MAX];
uint32_t sl_link_child[SL_DOMAINS_MAX];
uint32_t sl_link_next[SL_DOMAINS_MAX];

static uint32_t bottoms[SL_TREES_MAX];
static bool shares[SL_TREES_MAX]; /* some site is, or was, in another tree as well */
static bool shown[SL_DOMAINS_MAX];
static uint32_t previous[SL_DOMAINS_MAX];
static uint32_t site_first[SL_SITES_MAX]; /* shown bottom domains of a site */
static uint32_t site_next[SL_DOMAINS_MAX];
/* A list of domains that were closed while workloads were assigned to them. */
static uint32_t held_first;
static uint32_t held_last;
static uint32_t held_next[SL_DOMAINS_MAX];
static bool held[SL_DOMAINS_MAX];

#define TRIES 4u /* how many of that line are tried again with every change */

/* clang-format off */
#define HELD                                                                                       \
    held_first, held_last, held_next[0 .. SL_DOMAINS_MAX - 1], held[0 .. SL_DOMAINS_MAX - 1]
#define SHARES shares[0 .. SL_TREES_MAX - 1]
#define LINKS                                                                                      \
    sl_tree_first_top[0 .. SL_TREES_MAX - 1], sl_link_child[0 .. SL_DOMAINS_MAX - 1],              \
        sl_link_next[0 .. SL_DOMAINS_MAX - 1], previous[0 .. SL_DOMAINS_MAX - 1],                  \
        site_first[0 .. SL_SITES_MAX - 1], site_next[0 .. SL_DOMAINS_MAX - 1]
/* clang-format on */

/*@
  predicate HeldLinks{L} = held_first <= SL_DOMAINS_MAX && held_last <= SL_DOMAINS_MAX &&
    \forall integer d; 0 <= d < SL_DOMAINS_MAX ==> held_next[d] <= SL_DOMAINS_MAX;
  predicate SiteLinks{L} =
    (\forall integer s; 0 <= s < SL_SITES_MAX ==> site_first[s] <= SL_DOMAINS_MAX) &&
    (\forall integer d; 0 <= d < SL_DOMAINS_MAX ==>
       site_next[d] <= SL_DOMAINS_MAX && previous[d] <= SL_DOMAINS_MAX);
  predicate Links{L} = TreeLinks && SiteLinks && HeldLinks;
*/

/* --- open and close --- */

/* May it be there, next to that sibling? */
/*@ requires links: Links; terminates \true; exits \false; assigns \nothing;
    ensures known: \result ==> domain < SL_DOMAINS_MAX && tree < SL_TREES_MAX &&
      (parent < SL_DOMAINS_MAX || parent == SL_NO_ID) &&
      (after < SL_DOMAINS_MAX || after == SL_NO_ID); */
static bool fits_in(sl_domain_id domain, sl_tree_id tree, sl_domain_id parent, sl_domain_id after,
                    sl_site_id site)
{
    if (domain >= SL_DOMAINS_MAX || !sl_trees_known(tree) ||
        (parent != SL_NO_ID && (!sl_trees_shows(parent) || sl_domain_tree(parent) != tree)) ||
        (after != SL_NO_ID && (!sl_trees_shows(after) || sl_domain_tree(after) != tree ||
                               sl_domain_parent(after) != parent))) {
        return false;
    }
    uint32_t depth = parent == SL_NO_ID ? 0 : sl_domain_depth(parent) + 1;
    bool lowest = depth + 1 == sl_tree_levels[tree];
    return lowest ? site < SL_SITES_MAX && sl_trees_domain_on(tree, site) == SL_NO_ID
                  : site == SL_NO_ID && depth + 1 < sl_tree_levels[tree];
}

/*@ requires domain: domain < SL_DOMAINS_MAX; terminates \true; exits \false; assigns \nothing; */
static bool is_hidden(sl_domain_id domain)
{
    return !shown[domain] && sl_domain_is_open(domain);
}

/*@ requires held: HeldLinks && domain < SL_DOMAINS_MAX; terminates \true; exits \false;
    assigns HELD; ensures held: HeldLinks; */
static void hold(sl_domain_id domain)
{
    if (held[domain]) {
        return;
    }
    held[domain] = true;
    held_next[domain] = 0;
    if (held_last == 0) {
        held_first = domain + 1;
    } else {
        held_next[held_last - 1] = domain + 1;
    }
    held_last = domain + 1;
}

/* Release to the kernel the domains that no workload is assigned to any more; the others wait for
 * their next turn. */
/*@ requires inv: HeldLinks && DomainsInv; terminates \true; exits \false;
    assigns HELD, SL_OPENED; ensures inv: HeldLinks && DomainsInv; */
static void drop_hidden(void)
{
    /*@
      loop invariant inv: HeldLinks && DomainsInv;
      loop assigns tries, HELD, SL_OPENED;
      loop variant TRIES - tries;
    */
    for (uint32_t tries = 0; held_first != 0 && tries < TRIES; tries++) {
        sl_domain_id domain = held_first - 1;
        held_first = held_next[domain];
        if (held_first == 0) {
            held_last = 0;
        }
        held[domain] = false;
        if (is_hidden(domain) && sl_domain_close(domain) != SL_OK) {
            hold(domain);
        }
    }
}

/* Let the kernel know it, unless it was only hidden: then it must be the same as before. */
/*@ requires inv: DomainsInv && domain < SL_DOMAINS_MAX; terminates \true; exits \false;
    assigns SL_OPENED; ensures inv: DomainsInv; */
static enum sl_status open_below(sl_domain_id domain, sl_tree_id tree, sl_domain_id parent,
                                 sl_site_id site)
{
    if (is_hidden(domain)) {
        if (sl_domain_tree(domain) == tree && sl_domain_parent(domain) == parent &&
            sl_domain_site(domain) == site) {
            return SL_OK;
        }
        enum sl_status status = sl_domain_close(domain);
        if (status != SL_OK) {
            return status;
        }
    }
    return sl_domain_open(domain, tree, parent, site);
}

/*@ terminates \true; exits \false; assigns SHARES; */
static void note_sharing(sl_tree_id tree, sl_tree_id other)
{
    if (tree < SL_TREES_MAX && other < SL_TREES_MAX) {
        shares[tree] = true;
        shares[other] = true;
    }
}

/*@ requires links: SiteLinks && domain < SL_DOMAINS_MAX; terminates \true; exits \false;
    assigns site_first[site], site_next[domain], SHARES; ensures links: SiteLinks; */
static void link_site(sl_domain_id domain, sl_tree_id tree, sl_site_id site)
{
    if (site < SL_SITES_MAX) {
        if (site_first[site] != 0) {
            note_sharing(tree, sl_domain_tree(site_first[site] - 1));
        }
        site_next[domain] = site_first[site];
        site_first[site] = domain + 1;
    }
}

/*@ requires links: TreeLinks && SiteLinks && domain < SL_DOMAINS_MAX && tree < SL_TREES_MAX &&
      (parent < SL_DOMAINS_MAX || parent == SL_NO_ID) &&
      (after < SL_DOMAINS_MAX || after == SL_NO_ID);
    terminates \true; exits \false; assigns LINKS; ensures links: TreeLinks && SiteLinks; */
static void link_sibling(sl_domain_id domain, sl_tree_id tree, sl_domain_id parent,
                         sl_domain_id after)
{
    uint32_t head = parent == SL_NO_ID ? sl_tree_first_top[tree] : sl_link_child[parent];
    uint32_t next = after == SL_NO_ID ? head : sl_link_next[after];
    previous[domain] = after == SL_NO_ID ? 0 : after + 1;
    sl_link_next[domain] = next;
    if (next != 0) {
        previous[next - 1] = domain + 1;
    }
    if (after != SL_NO_ID) {
        sl_link_next[after] = domain + 1;
    } else if (parent != SL_NO_ID) {
        sl_link_child[parent] = domain + 1;
    } else {
        sl_tree_first_top[tree] = domain + 1;
    }
}

/*@ requires links: Links; terminates \true; exits \false;
    assigns LINKS, HELD, SL_OPENED, shown[domain], bottoms[tree], SHARES, sl_tree_laid[tree];
    ensures links: Links; */
enum sl_status sl_trees_open(sl_domain_id domain, sl_tree_id tree, sl_domain_id parent,
                             sl_domain_id after, sl_site_id site)
{
    if (!fits_in(domain, tree, parent, after, site)) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    enum sl_status status = open_below(domain, tree, parent, site);
    if (status != SL_OK) {
        return status;
    }
    shown[domain] = true;
    sl_link_child[domain] = 0;
    link_sibling(domain, tree, parent, after);
    link_site(domain, tree, site);
    bottoms[tree] += site < SL_SITES_MAX;
    sl_tree_laid[tree] = 0;
    drop_hidden();
    return SL_OK;
}

/*@ requires links: SiteLinks && domain < SL_DOMAINS_MAX; terminates \true; exits \false;
    assigns site_first[0 .. SL_SITES_MAX - 1], site_next[0 .. SL_DOMAINS_MAX - 1];
    ensures links: SiteLinks; */
static void unlink_site(sl_domain_id domain, sl_site_id site)
{
    if (site >= SL_SITES_MAX) {
        return;
    }
    if (site_first[site] == domain + 1) {
        site_first[site] = site_next[domain];
        return;
    }
    uint32_t at = site_first[site];
    /*@
      loop invariant links: SiteLinks && at <= SL_DOMAINS_MAX;
      loop assigns steps, at, site_next[0 .. SL_DOMAINS_MAX - 1];
      loop variant SL_TREES_MAX - steps;
    */
    for (uint32_t steps = 0; at != 0 && steps < SL_TREES_MAX; steps++) {
        if (site_next[at - 1] == domain + 1) {
            site_next[at - 1] = site_next[domain];
            return;
        }
        at = site_next[at - 1];
    }
}

/*@ requires links: TreeLinks && SiteLinks && domain < SL_DOMAINS_MAX && tree < SL_TREES_MAX;
    terminates \true; exits \false; assigns LINKS; ensures links: TreeLinks && SiteLinks; */
static void unlink_sibling(sl_domain_id domain, sl_tree_id tree, sl_domain_id parent)
{
    uint32_t next = sl_link_next[domain];
    if (next != 0) {
        previous[next - 1] = previous[domain];
    }
    if (previous[domain] != 0) {
        sl_link_next[previous[domain] - 1] = next;
    } else if (parent < SL_DOMAINS_MAX) {
        sl_link_child[parent] = next;
    } else {
        sl_tree_first_top[tree] = next;
    }
}

/*@ requires links: Links; terminates \true; exits \false;
    assigns LINKS, HELD, SL_OPENED, shown[domain], bottoms[0 .. SL_TREES_MAX - 1], SHARES,
            sl_tree_laid[0 .. SL_TREES_MAX - 1];
    ensures links: Links; */
enum sl_status sl_trees_close(sl_domain_id domain)
{
    sl_tree_id tree = sl_domain_tree(domain);
    if (!sl_trees_shows(domain) || tree >= SL_TREES_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (sl_link_child[domain] != 0) {
        return SL_REFUSED_IN_USE;
    }
    sl_site_id site = sl_domain_site(domain);
    unlink_sibling(domain, tree, sl_domain_parent(domain));
    unlink_site(domain, site);
    bottoms[tree] -= site < SL_SITES_MAX;
    shares[tree] = shares[tree] && bottoms[tree] != 0;
    shown[domain] = false;
    sl_tree_laid[tree] = 0;
    drop_hidden();
    if (sl_domain_close(domain) != SL_OK) {
        hold(domain);
    }
    return SL_OK;
}

bool sl_trees_shows(sl_domain_id domain)
{
    return domain < SL_DOMAINS_MAX && shown[domain];
}

/* --- in order --- */

/*@ terminates \true; exits \false; assigns \nothing;
    ensures id: \result == (link != 0 ? (uint32_t)(link - 1) : SL_NO_ID); */
static sl_domain_id named(uint32_t link)
{
    return link != 0 ? link - 1 : SL_NO_ID;
}

/*@ requires links: TreeLinks; terminates \true; exits \false; assigns \nothing; */
sl_domain_id sl_trees_first_top(sl_tree_id tree)
{
    return tree < SL_TREES_MAX ? named(sl_tree_first_top[tree]) : SL_NO_ID;
}

/*@ requires links: TreeLinks; terminates \true; exits \false; assigns \nothing; */
sl_domain_id sl_trees_first_child(sl_domain_id domain)
{
    return sl_trees_shows(domain) ? named(sl_link_child[domain]) : SL_NO_ID;
}

/*@ requires links: TreeLinks; terminates \true; exits \false; assigns \nothing; */
sl_domain_id sl_trees_next(sl_domain_id domain)
{
    return sl_trees_shows(domain) ? named(sl_link_next[domain]) : SL_NO_ID;
}

bool sl_trees_shares_sites(sl_tree_id tree)
{
    return tree < SL_TREES_MAX && shares[tree];
}

uint32_t sl_trees_bottom_count(sl_tree_id tree)
{
    return tree < SL_TREES_MAX ? bottoms[tree] : 0;
}

/*@ requires links: SiteLinks; terminates \true; exits \false; assigns \nothing; */
sl_domain_id sl_trees_domain_on(sl_tree_id tree, sl_site_id site)
{
    uint32_t link = site < SL_SITES_MAX ? site_first[site] : 0;
    /*@
      loop invariant links: link <= SL_DOMAINS_MAX;
      loop assigns steps, link;
      loop variant SL_TREES_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < SL_TREES_MAX; steps++) {
        if (sl_domain_tree(link - 1) == tree) {
            return link - 1;
        }
        link = site_next[link - 1];
    }
    return SL_NO_ID;
}
