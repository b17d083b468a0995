/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The tree of cohorts, and sums over it. */
#include "cli/screen/shares.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include <string.h>

#define NONE SIZE_MAX

struct tree {
    struct sl_shares_node *nodes; /* queues, then cohorts */
    size_t count;
    struct sl_map *cohorts; /* name to index */
};

static struct sl_share *find_share(const struct sl_shares_node *n, const char *flavor,
                                   const char *resource)
{
    for (size_t i = 0; i < n->share_count; i++) {
        if (strcmp(n->shares[i].flavor, flavor) == 0 &&
            strcmp(n->shares[i].resource, resource) == 0) {
            return &n->shares[i];
        }
    }
    return NULL;
}

static struct sl_share *share_of(struct sl_shares_node *n, const char *flavor, const char *resource)
{
    struct sl_share *found = find_share(n, flavor, resource);
    if (found != NULL) {
        return found;
    }
    n->shares = sl_mem_grow(n->shares, n->share_count + 1, sizeof *n->shares);
    n->shares[n->share_count] = (struct sl_share){.flavor = flavor, .resource = resource};
    return &n->shares[n->share_count++];
}

static __int128 amount(const struct sl_json *v, struct sl_share *s)
{
    struct sl_quantity q;
    if (v == NULL || sl_quantity_read(v, &q, NULL) != SL_CODE_OK) {
        return 0;
    }
    s->format = q.nano != 0 ? q.format : s->format;
    return q.nano;
}

/* --- objects ------------------------------------------------------------------------------------------- */

static void read_quota(struct sl_shares_node *n, const char *flavor, const struct sl_json *resource)
{
    struct sl_share *s = share_of(n, flavor, sl_json_path_text(resource, "name", ""));
    const struct sl_json *limit = sl_json_get(resource, "lendingLimit");
    s->entitled += amount(sl_json_get(resource, "nominalQuota"), s);
    s->lendable = limit == NULL ? s->entitled : amount(limit, s);
}

static void read_quotas(struct sl_shares_node *n, const struct sl_json *object)
{
    const struct sl_json *groups = sl_json_path(object, "spec.resourceGroups");
    for (size_t i = 0; i < sl_json_len(groups); i++) {
        const struct sl_json *flavors = sl_json_get(sl_json_at(groups, i), "flavors");
        for (size_t k = 0; k < sl_json_len(flavors); k++) {
            const struct sl_json *flavor = sl_json_at(flavors, k);
            const struct sl_json *resources = sl_json_get(flavor, "resources");
            for (size_t m = 0; m < sl_json_len(resources); m++) {
                read_quota(n, sl_json_path_text(flavor, "name", ""), sl_json_at(resources, m));
            }
        }
    }
}

static void read_usage(struct sl_shares_node *n, const struct sl_json *queue)
{
    const struct sl_json *flavors = sl_json_path(queue, "status.flavorsReservation");
    for (size_t i = 0; i < sl_json_len(flavors); i++) {
        const struct sl_json *flavor = sl_json_at(flavors, i);
        const struct sl_json *resources = sl_json_get(flavor, "resources");
        for (size_t k = 0; k < sl_json_len(resources); k++) {
            const struct sl_json *resource = sl_json_at(resources, k);
            struct sl_share *s = share_of(n, sl_json_path_text(flavor, "name", ""),
                                          sl_json_path_text(resource, "name", ""));
            s->used += amount(sl_json_get(resource, "total"), s);
        }
    }
}

/* A cohort's own quota is all there to be lent. */
static void settle(struct sl_share *s, bool is_cohort)
{
    __int128 unused = s->entitled > s->used ? s->entitled - s->used : 0;
    s->borrowed = s->used > s->entitled ? s->used - s->entitled : 0;
    s->lendable = is_cohort || s->lendable < unused ? s->lendable : unused;
}

static struct sl_shares_node *add_node(struct tree *t, const struct sl_json *object,
                                       const char *name, bool is_cohort)
{
    t->nodes = sl_mem_grow(t->nodes, t->count + 1, sizeof *t->nodes);
    struct sl_shares_node *n = &t->nodes[t->count++];
    *n = (struct sl_shares_node){
        .name = name,
        .is_cohort = is_cohort,
        .parent = NONE,
        .weight = sl_json_path(object, "spec.fairSharing.weight"),
        .weighted_share = sl_json_path_int(object, "status.fairSharing.weightedShare", -1)};
    return n;
}

/* A cohort is there as soon as something names it. */
static size_t cohort_of(struct tree *t, const char *name)
{
    union sl_map_value at = {.number = t->count};
    if (name[0] == '\0') {
        return NONE;
    }
    if (!sl_map_get(t->cohorts, name, &at)) {
        sl_map_put(t->cohorts, name, at);
        (void)add_node(t, NULL, name, true);
    }
    return (size_t)at.number;
}

static void read_objects(struct tree *t, const struct sl_json *cohorts,
                         const struct sl_json *queues)
{
    for (size_t i = 0; i < sl_json_len(cohorts); i++) {
        const struct sl_json *cohort = sl_json_at(cohorts, i);
        union sl_map_value at = {.number = t->count};
        sl_map_put(t->cohorts, sl_object_name(cohort), at);
        read_quotas(add_node(t, cohort, sl_object_name(cohort), true), cohort);
    }
    for (size_t i = 0; i < sl_json_len(cohorts); i++) {
        size_t parent =
            cohort_of(t, sl_json_path_text(sl_json_at(cohorts, i), "spec.parentName", ""));
        SL_ASSERT(t->nodes != NULL && i < t->count);
        t->nodes[i].parent = parent; /* cohorts were added first, in this order */
    }
    for (size_t i = 0; i < sl_json_len(queues); i++) {
        const struct sl_json *queue = sl_json_at(queues, i);
        size_t parent = cohort_of(t, sl_json_path_text(queue, "spec.cohortName", ""));
        struct sl_shares_node *n = add_node(t, queue, sl_object_name(queue), false);
        n->parent = parent;
        read_quotas(n, queue);
        read_usage(n, queue);
    }
}

/* --- sums ---------------------------------------------------------------------------------------------- */

static size_t root_of(const struct tree *t, size_t at)
{
    size_t steps = 0;
    while (t->nodes[at].parent != NONE && steps++ <= t->count) {
        at = t->nodes[at].parent;
    }
    return steps > t->count ? NONE : at; /* NONE: there is no end to it */
}

/* What each node has by itself goes into all above it. */
static void add_up(struct tree *t)
{
    struct sl_shares_node *alone = sl_mem_new(t->count + 1, sizeof *alone);
    for (size_t i = 0; i < t->count; i++) {
        alone[i] = t->nodes[i];
        alone[i].shares = sl_mem_new(alone[i].share_count + 1, sizeof *alone[i].shares);
        for (size_t k = 0; k < alone[i].share_count; k++) {
            alone[i].shares[k] = t->nodes[i].shares[k];
        }
        t->nodes[i].in_cycle = root_of(t, i) == NONE;
    }
    for (size_t i = 0; i < t->count; i++) {
        size_t above = t->nodes[i].in_cycle ? NONE : t->nodes[i].parent;
        for (; above != NONE; above = t->nodes[above].parent) {
            for (size_t k = 0; k < alone[i].share_count; k++) {
                const struct sl_share *own = &alone[i].shares[k];
                struct sl_share *sum = share_of(&t->nodes[above], own->flavor, own->resource);
                sum->entitled += own->entitled;
                sum->used += own->used;
                sum->format = sum->entitled == own->entitled ? own->format : sum->format;
            }
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        sl_mem_free(alone[i].shares);
    }
    sl_mem_free(alone);
}

/* In one tree: what its queues have borrowed, and what there is to lend. */
struct total {
    __int128 borrowed, lendable;
};

static struct total total_of(const struct tree *t, size_t root, const struct sl_share *like)
{
    struct total sum = {0, 0};
    for (size_t i = 0; i < t->count; i++) {
        const struct sl_share *s = find_share(&t->nodes[i], like->flavor, like->resource);
        if (s != NULL && root_of(t, i) == root) {
            sum.borrowed += t->nodes[i].is_cohort ? 0 : s->borrowed;
            sum.lendable += s->lendable;
        }
    }
    return sum;
}

static void lend_of_queue(struct tree *t, size_t at)
{
    size_t root = root_of(t, at);
    for (size_t k = 0; k < t->nodes[at].share_count; k++) {
        struct sl_share like = t->nodes[at].shares[k];
        struct total sum = total_of(t, root, &like);
        struct sl_share *s = &t->nodes[at].shares[k];
        __int128 others = sum.borrowed - s->borrowed;
        bool may = t->nodes[at].parent != NONE && root != NONE;
        s->lent = !may ? 0 : s->lendable < others ? s->lendable : others;
        s->lent_exactly = s->lent == 0 || sum.lendable == sum.borrowed;
    }
}

static void lend_of_cohort(struct tree *t, size_t at)
{
    struct sl_shares_node *n = &t->nodes[at];
    for (size_t i = 0; i < t->count; i++) {
        if (t->nodes[i].parent != at || n->in_cycle) {
            continue;
        }
        for (size_t k = 0; k < t->nodes[i].share_count; k++) {
            const struct sl_share *member = &t->nodes[i].shares[k];
            share_of(n, member->flavor, member->resource)->lent += member->borrowed;
        }
    }
    for (size_t k = 0; k < n->share_count; k++) {
        struct sl_share *s = &n->shares[k];
        s->lent = s->lent > s->borrowed ? s->lent - s->borrowed : 0;
        s->lent_exactly = true;
    }
}

static void compute(struct tree *t)
{
    add_up(t);
    for (size_t i = 0; i < t->count; i++) {
        for (size_t k = 0; k < t->nodes[i].share_count; k++) {
            settle(&t->nodes[i].shares[k], t->nodes[i].is_cohort);
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        (t->nodes[i].is_cohort ? lend_of_cohort : lend_of_queue)(t, i);
    }
}

/* --- order --------------------------------------------------------------------------------------------- */

static bool is_before(const struct sl_shares_node *a, const struct sl_shares_node *b)
{
    return a->is_cohort != b->is_cohort ? !a->is_cohort : strcmp(a->name, b->name) < 0;
}

/* The next child of `parent` behind `last` (NONE: the first): queues before cohorts, by name. */
static size_t next_child(const struct tree *t, size_t parent, size_t last)
{
    size_t best = NONE;
    for (size_t i = 0; i < t->count; i++) {
        const struct sl_shares_node *n = &t->nodes[i];
        size_t above = n->in_cycle ? NONE : n->parent;
        if (above == parent && (last == NONE || is_before(&t->nodes[last], n)) &&
            (best == NONE || is_before(n, &t->nodes[best]))) {
            best = i;
        }
    }
    return best;
}

/* Depth first, without recursion: down to the first child, else on to the next one of the nearest above that has one. */
static void order(const struct tree *t, struct sl_shares *out)
{
    unsigned depth = 0;
    size_t at = next_child(t, NONE, NONE);
    while (at != NONE) {
        out->nodes[out->count] = t->nodes[at];
        out->nodes[out->count++].depth = depth;
        size_t down = next_child(t, at, NONE);
        if (down != NONE) {
            at = down;
            depth++;
            continue;
        }
        size_t next = NONE;
        while (next == NONE) {
            size_t parent = t->nodes[at].in_cycle ? NONE : t->nodes[at].parent;
            next = next_child(t, parent, at);
            if (next != NONE || parent == NONE) {
                break;
            }
            at = parent;
            depth--;
        }
        at = next;
    }
}

void sl_shares_fill(struct sl_shares *s, const struct sl_json *cohorts,
                    const struct sl_json *cluster_queues)
{
    SL_PRE(s != NULL);
    struct tree t = {.cohorts = sl_map_new()};
    read_objects(&t, cohorts, cluster_queues);
    compute(&t);
    *s = (struct sl_shares){.nodes = sl_mem_new(t.count + 1, sizeof *s->nodes)};
    order(&t, s);
    sl_map_free(t.cohorts);
    sl_mem_free(t.nodes);
}

void sl_shares_fini(struct sl_shares *s)
{
    SL_PRE(s != NULL);
    for (size_t i = 0; i < s->count; i++) {
        sl_mem_free(s->nodes[i].shares);
    }
    sl_mem_free(s->nodes);
    *s = (struct sl_shares){0};
}
