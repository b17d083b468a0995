/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Masks by (constraint, tolerance); the list is short. The core is told only what differs from what
 * it has. */
#include "engine/records/masks_in.h"
#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/records/constraint_table.h"
#include "engine/records/node_fit.h"
#include "engine/records/pod.h"
#include "engine/records/world.h"
#include "policy/topology/tolerances.h"
#include <string.h>

/* --- verdicts --------------------------------------------------------------------------------- */

/* The last number is that of all taints for which there is none of their own. */
#define TAINT_SHARED (SL_TAINTS_MAX - 1u)

static uint32_t free_taint(const struct sl_world *w)
{
    uint32_t i = 0;
    while (i < TAINT_SHARED && w->taints[i] != NULL) {
        i++;
    }
    return i;
}

/* The number of a taint's text. Those that share the last one keep pods off like any other: only
 * their text is not told. */
static uint32_t taint_number(struct sl_world *w, const struct sl_json *taint)
{
    const char *value = sl_json_path_text(taint, "value", "");
    struct sl_buf text = {0};
    uint32_t i = 0;
    sl_buf_print(&text, "%s%s%s:%s", sl_json_path_text(taint, "key", ""),
                 value[0] == '\0' ? "" : "=", value, sl_json_path_text(taint, "effect", ""));
    while (i < TAINT_SHARED && (w->taints[i] == NULL || strcmp(w->taints[i], text.data) != 0)) {
        i++;
    }
    i = i < TAINT_SHARED ? i : free_taint(w);
    if (w->taints[i] == NULL) {
        w->taints[i] = i < TAINT_SHARED ? sl_buf_take(&text) : sl_mem_text("(another taint)");
    }
    sl_buf_fini(&text);
    return i;
}

/* Taints may carry times in their values. When all numbers are given out, those that no mask speaks
 * of are free again. Linear in masks and sites, so not with every event; and never between a
 * verdict and its way to the core. */
static void forget_taints(struct sl_world *w)
{
    bool told[SL_TAINTS_MAX] = {false};
    if (w->round < w->taints_swept_at + w->site_count || free_taint(w) < TAINT_SHARED) {
        return;
    }
    w->taints_swept_at = w->round;
    for (sl_mask_id mask = 0; mask < w->mask_limit; mask++) {
        for (sl_site_id site = 0; w->masks[mask].used && site < w->site_count; site++) {
            sl_verdict verdict = sl_masks_verdict(mask, site);
            if (verdict >= SL_VERDICT_TAINT) {
                told[verdict - SL_VERDICT_TAINT] = true;
            }
        }
    }
    for (uint32_t i = 0; i < TAINT_SHARED; i++) {
        if (!told[i]) {
            sl_mem_free(w->taints[i]);
            w->taints[i] = NULL;
        }
    }
}

static sl_verdict verdict_of(struct sl_engine *g, const struct sl_mask_entry *mask,
                             const struct sl_node_entry *m)
{
    struct sl_node_view node = {m->name, m->labels};
    const struct sl_json *c = sl_constraints_value(g, mask->constraint);
    const struct sl_json *taint =
        sl_pod_untolerated(m->taints, sl_json_get(c, "tolerations"),
                           mask->tolerance == 0 ? NULL : g->world->tolerances[mask->tolerance]);
    if (taint != NULL) {
        return (sl_verdict)(SL_VERDICT_TAINT + taint_number(g->world, taint));
    }
    if (!sl_pod_selector_holds(sl_json_get(c, "nodeSelector"), m->labels, false)) {
        return SL_VERDICT_SELECTOR;
    }
    return sl_node_fit_affinity(&node, sl_json_get(c, "nodeAffinity")) ? SL_VERDICT_MAY
                                                                       : SL_VERDICT_AFFINITY;
}

/* What the core does not have yet of the mask on that site; without a node nothing is said of
 * it. */
static void list_site(struct sl_engine *g, sl_mask_id mask, sl_site_id site, bool anew,
                      struct sl_buf *list)
{
    const struct sl_node_entry *m = g->world->sites[site].node;
    const struct sl_mask_entry *entry = &g->world->masks[mask];
    sl_verdict verdict = SL_VERDICT_MAY;
    int64_t score = 0;
    if (m != NULL) {
        struct sl_node_view node = {m->name, m->labels};
        const struct sl_json *c = sl_constraints_value(g, entry->constraint);
        verdict = verdict_of(g, entry, m);
        score = sl_node_fit_score(&node, sl_json_get(c, "preferred"));
    }
    if (verdict != (anew ? SL_VERDICT_MAY : sl_masks_verdict(mask, site))) {
        sl_item_add(list, verdict, .site = site, .verdict = verdict);
    }
    if (score != (anew ? 0 : sl_masks_score(mask, site))) {
        sl_item_add(list, score, .site = site, .score = score);
    }
}

/* --- making and dropping ---------------------------------------------------------------------- */

static sl_mask_id find(const struct sl_world *w, uint32_t constraint, uint32_t tolerance)
{
    for (sl_mask_id i = 0; i < w->mask_limit; i++) {
        const struct sl_mask_entry *m = &w->masks[i];
        if (m->used && m->constraint == constraint && m->tolerance == tolerance) {
            return i;
        }
    }
    return SL_NO_ID;
}

static sl_mask_id make(struct sl_engine *g, uint32_t constraint, uint32_t tolerance, int64_t now_ms)
{
    struct sl_world *w = g->world;
    sl_mask_id mask = 0;
    struct sl_buf list = {0};
    forget_taints(w);
    while (mask < w->mask_limit && w->masks[mask].used) {
        mask++;
    }
    if (mask == SL_MASKS_MAX) {
        return SL_NO_ID;
    }
    w->masks[mask] =
        (struct sl_mask_entry){.used = true, .constraint = constraint, .tolerance = tolerance};
    w->mask_limit = mask == w->mask_limit ? mask + 1 : w->mask_limit;
    for (sl_site_id site = 0; site < w->site_count; site++) {
        list_site(g, mask, site, true, &list);
    }
    sl_expect(g, now_ms, mask, .mask = mask, .anew = true, .list = &list);
    sl_buf_fini(&list);
    return mask;
}

/* Its preferences make room for those of others. */
static void drop(struct sl_engine *g, sl_mask_id mask, int64_t now_ms)
{
    if (sl_masks_prefers(mask)) {
        sl_expect(g, now_ms, mask, .mask = mask, .anew = true, .list = NULL);
    }
    g->world->masks[mask].used = false;
}

static void link_masks(struct sl_engine *g, sl_mask_id base, uint32_t tolerance, sl_mask_id mask,
                       int64_t now_ms)
{
    sl_expect(g, now_ms, mask_link, .base = base, .tolerance = tolerance, .mask = mask);
}

/* The one for that tolerance beside the base. */
static bool make_linked(struct sl_engine *g, sl_mask_id base, uint32_t tolerance, int64_t now_ms)
{
    uint32_t constraint = g->world->masks[base].constraint;
    if (g->world->tolerances[tolerance] == NULL ||
        find(g->world, constraint, tolerance) != SL_NO_ID) {
        return true;
    }
    sl_mask_id mask = make(g, constraint, tolerance, now_ms);
    if (mask != SL_NO_ID) {
        link_masks(g, base, tolerance, mask, now_ms);
    }
    return mask != SL_NO_ID;
}

sl_mask_id sl_masks_in_take(struct sl_engine *g, uint32_t constraint, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_world *w = g->world;
    sl_mask_id base = find(w, constraint, 0);
    base = base == SL_NO_ID ? make(g, constraint, 0, now_ms) : base;
    for (uint32_t t = 1; t < w->tolerance_count && base != SL_NO_ID; t++) {
        if (!make_linked(g, base, t, now_ms)) {
            return SL_NO_ID;
        }
    }
    return base;
}

void sl_masks_in_drop(struct sl_engine *g, uint32_t constraint, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_world *w = g->world;
    sl_mask_id base = find(w, constraint, 0);
    if (base == SL_NO_ID) {
        return;
    }
    for (uint32_t t = 1; t < w->tolerance_count; t++) {
        sl_mask_id mask = find(w, constraint, t);
        if (mask != SL_NO_ID) {
            link_masks(g, base, t, SL_NO_ID, now_ms);
            drop(g, mask, now_ms);
        }
    }
    drop(g, base, now_ms);
    while (w->mask_limit > 0 && !w->masks[w->mask_limit - 1].used) {
        w->mask_limit--;
    }
}

void sl_masks_in_judge(struct sl_engine *g, sl_site_id site, int64_t now_ms)
{
    SL_PRE(g != NULL);
    forget_taints(g->world);
    for (sl_mask_id mask = 0; mask < g->world->mask_limit; mask++) {
        struct sl_buf list = {0};
        if (g->world->masks[mask].used) {
            list_site(g, mask, site, false, &list);
        }
        if (list.len > 0) {
            sl_expect(g, now_ms, mask, .mask = mask, .anew = false, .list = &list);
        }
        sl_buf_fini(&list);
    }
}

/* The number of those tolerations, or, with NULL, a free one; tolerance_count = there is none yet. */
static uint32_t find_tolerance(const struct sl_world *w, const struct sl_json *tolerations)
{
    uint32_t number = 1;
    while (number < w->tolerance_count && !sl_json_equal(w->tolerances[number], tolerations)) {
        number++;
    }
    return number;
}

void sl_masks_in_leave_tolerance(struct sl_engine *g, uint32_t tolerance, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_world *w = g->world;
    bool used = tolerance == 0;
    for (sl_tree_id tree = 0; !used && tree < w->tree_cap; tree++) {
        used = w->trees[tree].tolerance == tolerance;
    }
    for (sl_mask_id mask = 0; !used && mask < w->mask_limit; mask++) {
        if (w->masks[mask].used && w->masks[mask].tolerance == tolerance) {
            link_masks(g, find(w, w->masks[mask].constraint, 0), tolerance, SL_NO_ID, now_ms);
            drop(g, mask, now_ms);
        }
    }
    if (!used) {
        sl_json_free(w->tolerances[tolerance]);
        w->tolerances[tolerance] = NULL;
    }
}

uint32_t sl_masks_in_tolerance(struct sl_engine *g, const struct sl_json *tolerations,
                               int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_world *w = g->world;
    uint32_t number = sl_json_len(tolerations) == 0 ? 0 : find_tolerance(w, tolerations);
    if (number < w->tolerance_count) {
        return number;
    }
    number = find_tolerance(w, NULL);
    if (number >= SL_TOLERANCES_MAX) {
        sl_log(SL_LOG_WARN,
               "flavors have more different sets of tolerations than the daemon can hold",
               "leftOut", "the tolerations of one", NULL);
        return 0;
    }
    if (number == w->tolerance_count) {
        w->tolerances = sl_mem_grow(w->tolerances, number + 1u, sizeof *w->tolerances);
        w->tolerances[0] = NULL;
        w->tolerance_count = number + 1;
    }
    w->tolerances[number] = sl_json_clone(tolerations);
    for (sl_mask_id mask = 0; mask < w->mask_limit; mask++) {
        if (w->masks[mask].used && w->masks[mask].tolerance == 0) {
            (void)make_linked(g, mask, number, now_ms);
        }
    }
    return number;
}
