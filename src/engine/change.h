/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The one door to the core: every change of its state is a record of changes.def, carried out here
 * and noted in the journal with its answer. Fed again in the same order, the same records make the
 * same state and the same answers (G11). */
#ifndef SL_ENGINE_CHANGE_H
#define SL_ENGINE_CHANGE_H
#include "base/buf.h"
#include "kernel/status.h"
#include "kernel/types.h"
#include "kernel/order.h"
#include "kernel/topology.h"

#define SL_CHANGE_WORDS_MAX 11
#define SL_CHANGE_LONGS_MAX 4

enum sl_change_kind {
#define SL_CHANGE(constant, name, words, longs, text) constant,
#include "engine/changes.def"
#undef SL_CHANGE
    SL_CHANGE_KIND_COUNT
};

struct sl_change {
    enum sl_change_kind kind;
    uint32_t word[SL_CHANGE_WORDS_MAX];
    int64_t number[SL_CHANGE_LONGS_MAX];
    const struct sl_buf
        *list; /* RESTORE, DEMAND, MASK and USAGE_SAMPLE, packed by the functions below; else
                                  NULL */
};

struct sl_engine;
/* Carry out, note, and draw what follows for tallies and decisions. Refusals are counted and noted
 * as well. */
enum sl_status sl_change_apply(struct sl_engine *g, struct sl_change *c, int64_t now_ms);

/* Carry out only: what a replay does with the records of a journal. */
enum sl_status sl_change_perform(struct sl_change *c);
/* A cycle that is looked at outcome by outcome: begin it, then sl_cycle_next and sl_cycle_end. */
void sl_change_begin_cycle(const struct sl_change *c);
/* The other way from a journal's payload; false when it is none. `list` is filled where there is
 * one. */
bool sl_change_unpack(const unsigned char *payload, size_t len, struct sl_change *out,
                      struct sl_buf *list, enum sl_status *answer);

/* --- building the lists ----------------------------------------------------------------------- */
void sl_change_list_claim(struct sl_buf *list, struct sl_claim claim);
void sl_change_list_pod_set(struct sl_buf *list, uint32_t count);
/* Of the pod set added last: how few pods would do, the group of those with equal flavors, and its
 * fingerprint. */
void sl_change_list_min_count(struct sl_buf *list, uint32_t min_count);
void sl_change_list_group(struct sl_buf *list, uint32_t group);
void sl_change_list_fingerprint(struct sl_buf *list, uint64_t fingerprint);
void sl_change_list_request(struct sl_buf *list, sl_resource_id resource, int64_t per_pod);
void sl_change_list_exclusion(struct sl_buf *list, sl_flavor_id flavor, uint32_t why);
/* DEMAND: of the pod set added last: what it asks of the topology. */
struct sl_topology_demand;
void sl_change_list_topology(struct sl_buf *list, const struct sl_topology_demand *demand);
/* RESTORE: where its pods stand, after the claims: pod set by pod set (index ascending, `count`
 * pods in all), each with its rows and what one pod takes of a site. */
void sl_change_list_stand_set(struct sl_buf *list, uint32_t pod_set, sl_tree_id tree,
                              uint32_t count);
void sl_change_list_stand(struct sl_buf *list, sl_domain_id domain, uint32_t count);
void sl_change_list_stand_request(struct sl_buf *list, sl_measure_id measure, int64_t per_pod);
/* MASK: what is said of a site: SL_VERDICT_MAY or why not; how much it is preferred. */
void sl_change_list_verdict(struct sl_buf *list, sl_site_id site, uint8_t verdict);
void sl_change_list_score(struct sl_buf *list, sl_site_id site, int64_t score);

/* --- shorthands ------------------------------------------------------------------------------- */
enum sl_status sl_change_event(struct sl_engine *g, struct sl_event ev);
/* A change whose words are all there is to it. */
enum sl_status sl_change_words(struct sl_engine *g, enum sl_change_kind kind, uint32_t a,
                               uint32_t b, int64_t now_ms);
enum sl_status sl_change_key(struct sl_engine *g, enum sl_change_kind kind, sl_workload_id id,
                             sl_node_id node, struct sl_order_key key, int64_t now_ms);
/* settings.c: all of the policy's settings; before any other change. */
struct sl_settings;
enum sl_status sl_change_settings(struct sl_engine *g, const struct sl_settings *settings);
enum sl_status sl_change_perform_settings(const struct sl_change *c);
#endif
