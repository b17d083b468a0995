/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* ResourceFlavors, Cohorts, and what Cohorts and ClusterQueues have in common: quotas and a place
 * in the forest. A parent that would make a cycle or a tree too deep is remembered and tried again
 * with every move. */
#include "base/check.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/events/checks_in.h"
#include "engine/records/event_in.h"
#include "engine/quota/tallies.h"
#include "engine/quota/quotas.h"
#include "engine/records/rules.h"
#include "engine/decisions/standing.h"
#include "engine/topology/trees_in.h"
#include <stdio.h>

/* --- ResourceFlavor --------------------------------------------------------------------------- */

static bool offers_flavor(const struct sl_qnode_entry *n, sl_flavor_id flavor)
{
    for (uint32_t i = 0; i < n->quotas.quota_count; i++) {
        if (n->quotas.quotas[i].flavor == flavor) {
            return true;
        }
    }
    return false;
}

void sl_event_flavor_users(struct sl_engine *g, sl_flavor_id flavor, int64_t now_ms)
{
    SL_PRE(g != NULL);
    for (sl_qnode_id qnode = 0; qnode < g->qnode_cap; qnode++) {
        struct sl_qnode_entry *n = g->qnodes[qnode];
        if (n != NULL && n->is_cluster_queue && n->exists && offers_flavor(n, flavor)) {
            sl_standing_rerequest(g, qnode, now_ms);
            sl_event_judge(g, qnode, now_ms);
            sl_tell(g, now_ms, wake_tree, .qnode = qnode);
        }
    }
}

enum sl_code sl_event_from_flavor(struct sl_engine *g, const struct sl_json *object, bool gone,
                                  int64_t now_ms)
{
    uint32_t id = sl_name_take(g, SL_INTERN_FLAVOR, sl_object_name(object), now_ms);
    if (id == SL_NO_ID) {
        return SL_CODE_TOO_MANY;
    }
    g->flavors = sl_mem_reach(g->flavors, &g->flavor_cap, 16, id, sizeof *g->flavors);
    struct sl_flavor_entry *f = &g->flavors[id];
    const struct sl_json *spec = sl_json_get(object, "spec");
    if (gone ? f->spec == NULL : (f->spec != NULL && sl_json_equal(f->spec, spec))) {
        return SL_CODE_OK;
    }
    sl_json_free(f->spec);
    f->spec = gone ? NULL : (spec == NULL ? sl_json_new_map() : sl_json_clone(spec));
    sl_trees_in_flavor(g, id, g->flavors[id].spec, now_ms);
    sl_event_flavor_users(g, id, now_ms);
    return SL_CODE_OK;
}

/* --- the forest ------------------------------------------------------------------------------- */

/* Hang the qnode where its object wants it; a refused one becomes a root. True when its state
 * changed. */
static bool hang(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms)
{
    struct sl_qnode_entry *n = g->qnodes[qnode];
    bool was = n->looped;
    enum sl_status status = sl_call(g, now_ms, move_qnode, .qnode = qnode, .parent = n->parent);
    n->looped = status != SL_OK;
    if (n->looped) {
        sl_expect(g, now_ms, move_qnode, .qnode = qnode, .parent = SL_NO_ID);
    }
    g->looped_count += n->looped;
    g->looped_count -= was;
    sl_tell(g, now_ms, wake_tree, .qnode = qnode);
    sl_touch_holders(g);
    return was != n->looped;
}

/* A move may have opened the way for those that were refused before. */
static bool hang_refused(struct sl_engine *g, int64_t now_ms)
{
    bool changed = false;
    for (sl_qnode_id qnode = 0; qnode < g->qnode_cap && g->looped_count > 0; qnode++) {
        if (g->qnodes[qnode] != NULL && g->qnodes[qnode]->looped) {
            changed = hang(g, qnode, now_ms) || changed;
        }
    }
    return changed;
}

static void set_parent(struct sl_engine *g, sl_qnode_id qnode, sl_qnode_id parent, int64_t now_ms)
{
    struct sl_qnode_entry *n = g->qnodes[qnode];
    sl_qnode_id old = n->parent;
    if (parent != SL_NO_ID) {
        g->qnodes[parent]->child_count++;
        (void)sl_qnode_open(g, parent, now_ms);
    }
    n->parent = parent;
    bool changed = hang(g, qnode, now_ms);
    changed = hang_refused(g, now_ms) || changed;
    if (old != SL_NO_ID) {
        sl_tell(g, now_ms, wake_tree, .qnode = old); /* less is used there now */
        g->qnodes[old]->child_count--;
        sl_qnode_drop_unused(g, old, now_ms);
    }
    if (changed || g->looped_count > 0) { /* it may have come under one that is refused */
        sl_event_judge_all(g, now_ms);
    }
}

enum sl_code sl_event_parent(struct sl_engine *g, sl_qnode_id qnode, const char *cohort,
                             const char *field, int64_t now_ms, struct sl_error *e)
{
    sl_qnode_id parent = cohort[0] == '\0' ? SL_NO_ID : sl_qnode_take(g, false, cohort, now_ms);
    if (cohort[0] != '\0' && parent == SL_NO_ID) {
        return sl_error_set(e, SL_CODE_TOO_MANY,
                            "there are as many ClusterQueues and Cohorts as can be held");
    }
    if (parent != g->qnodes[qnode]->parent) {
        set_parent(g, qnode, parent, now_ms);
    }
    /* Leaving a cycle can have been the last that kept the qnode: then there is nothing to complain
     * about. */
    if (g->qnodes[qnode] != NULL && g->qnodes[qnode]->looped) {
        sl_error_cause(e, "FieldValueInvalid", field,
                       "cohort %s would be its own ancestor, or too deep", cohort);
        return SL_CODE_INVALID;
    }
    return SL_CODE_OK;
}

/* --- quotas ----------------------------------------------------------------------------------- */

static enum sl_code refuse_quotas(enum sl_status status, struct sl_error *e)
{
    sl_error_cause(e, "FieldValueInvalid", "spec.resourceGroups", "%s",
                   status == SL_FULL_CELLS ? "the daemon holds as many quotas as it can"
                                           : "it lists a flavor and resource twice");
    return SL_CODE_INVALID;
}

enum sl_code sl_event_quotas(struct sl_engine *g, sl_qnode_id qnode, const struct sl_json *object,
                             int64_t now_ms, struct sl_error *e)
{
    SL_PRE(g != NULL);
    struct sl_qnode_entry *n = g->qnodes[qnode];
    struct sl_quotas fresh = {0};
    enum sl_code code = sl_quotas_read(g, object, &fresh, now_ms, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    if (n->quotas.groups != NULL && sl_quotas_equal(&n->quotas, &fresh)) {
        sl_quotas_free(&fresh);
        return SL_CODE_OK;
    }
    enum sl_status status = sl_quotas_apply(g, qnode, &n->quotas, &fresh, now_ms);
    if (status == SL_OK && n->is_cluster_queue) {
        status = sl_quotas_offer(g, qnode, &fresh, now_ms);
    }
    sl_quotas_free(&n->quotas);
    n->quotas = fresh;
    n->quotas.refused = status != SL_OK;
    if (n->is_cluster_queue) {
        sl_checks_in_delay(g, qnode, now_ms);
        sl_standing_rerequest(g, qnode, now_ms);
    }
    sl_tell(g, now_ms, wake_tree, .qnode = qnode);
    sl_touch_holders(g);
    return status == SL_OK ? SL_CODE_OK : refuse_quotas(status, e);
}

/* --- Cohort ----------------------------------------------------------------------------------- */

void sl_event_trouble(struct sl_qnode_entry *n, enum sl_code code, const struct sl_error *e,
                      unsigned first_cause)
{
    SL_PRE(e != NULL);
    const char *text = first_cause < e->cause_count ? e->causes[first_cause].text : e->text;
    sl_mem_free(n->trouble);
    n->trouble = code == SL_CODE_OK ? NULL : sl_mem_text(text);
}

enum sl_code sl_event_from_cohort(struct sl_engine *g, const struct sl_json *object, int64_t now_ms,
                                  struct sl_error *e)
{
    sl_qnode_id qnode = sl_qnode_take(g, false, sl_object_name(object), now_ms);
    if (qnode == SL_NO_ID) {
        return sl_error_set(e, SL_CODE_TOO_MANY,
                            "there are as many ClusterQueues and Cohorts as can be held");
    }
    struct sl_qnode_entry *n = g->qnodes[qnode];
    n->exists = true;
    n->deleting = sl_object_deleting(object);
    if (!sl_qnode_open(g, qnode, now_ms)) {
        return sl_error_set(e, SL_CODE_INTERNAL, "the quota node of cohort %s cannot be opened",
                            n->name);
    }
    const char *parent = sl_json_path_text(object, "spec.parentName", "");
    enum sl_code moved = sl_event_parent(g, qnode, parent, "spec.parentName", now_ms, e);
    unsigned causes_of_move = e->cause_count;
    enum sl_code read = sl_event_quotas(g, qnode, object, now_ms, e);
    enum sl_code shared = sl_rules_share(g, qnode, object, now_ms, e);
    enum sl_code own = read != SL_CODE_OK ? read : shared;
    sl_event_trouble(n, own, e, causes_of_move);
    sl_touch_qnode(g, qnode);
    return moved != SL_CODE_OK ? moved : own;
}

/* Cohorts that ClusterQueues name need no object; what the object said is taken back. */
void sl_event_cohort_gone(struct sl_engine *g, const struct sl_json *object, int64_t now_ms)
{
    sl_qnode_id qnode = sl_qnode_find(g, false, sl_object_name(object));
    struct sl_error ignored = {0};
    static const struct sl_quotas none = {0};
    if (qnode == SL_NO_ID || !g->qnodes[qnode]->exists) {
        return;
    }
    struct sl_qnode_entry *n = g->qnodes[qnode];
    n->exists = false;
    (void)sl_quotas_apply(g, qnode, &n->quotas, &none, now_ms);
    sl_quotas_free(&n->quotas);
    sl_event_trouble(n, SL_CODE_OK, &ignored, 0);
    (void)sl_rules_share(g, qnode, NULL, now_ms, &ignored);
    (void)sl_event_parent(g, qnode, "", "spec.parentName", now_ms, &ignored);
    sl_tell(g, now_ms, wake_tree, .qnode = qnode);
    sl_touch_holders(g);
    sl_qnode_drop_unused(g, qnode, now_ms);
}
