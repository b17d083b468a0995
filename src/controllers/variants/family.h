/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One look at a parent, its ClusterQueue and its variants; and the steps in which they become what they ought to be. Each says
 * whether it has written something: then the next look goes on. */
#ifndef SL_CONTROLLERS_VARIANT_FAMILY_H
#define SL_CONTROLLERS_VARIANT_FAMILY_H
#include "controllers/variants/variants.h"

#define SL_VARIANT_FLAVORS_MAX 16u

struct sl_family {
    struct sl_engine *engine;
    struct sl_reconciler *r;
    struct sl_json *parent;
    struct sl_json *cluster_queue; /* NULL: it is not there */
    bool offered;                  /* by a queue with a policy */
    /* Of the queue, the first SL_VARIANT_FLAVORS_MAX. Where there is no queue with a policy any more they are those of the variants,
     * which then only go on with what they have. */
    size_t flavor_count;
    const char *flavors[SL_VARIANT_FLAVORS_MAX];
    struct sl_json *variants[SL_VARIANT_FLAVORS_MAX]; /* of each flavor; NULL: there is none */
    size_t stale_count; /* of other flavors, or made from what their parent no longer says */
    struct sl_json **stale;
    size_t leaving_count; /* that are being deleted */
    int64_t now_ms;
};

/* --- variants.c --- */
void sl_family_read_flavors(struct sl_family *f);
/* --- variants_make.c --- */
struct sl_json *sl_family_variant_new(const struct sl_family *f, const char *flavor);
bool sl_family_label_parent(struct sl_family *f, bool on);
bool sl_family_make(struct sl_family *f);
bool sl_family_drop_stale(struct sl_family *f);
bool sl_family_pass_priority(struct sl_family *f);
/* --- variants_steps.c --- */
bool sl_family_pass_eviction(struct sl_family *f);
bool sl_family_switch(struct sl_family *f);
bool sl_family_pass_status(struct sl_family *f);
bool sl_family_open_gate(struct sl_family *f);
#endif
