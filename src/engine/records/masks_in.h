/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which nodes the pods of a pod set may run on: one mask per distinct constraint (constraints.h)
 * and per tolerance of the flavors' trees, made when a workload first needs it, and judged again for
 * a node whose labels or taints changed. Owns the list of masks. */
#ifndef SL_ENGINE_MASKS_IN_H
#define SL_ENGINE_MASKS_IN_H
#include "engine/state.h"
#include "policy/topology/masks.h"

/* The mask of that constraint (its number), for trees that tolerate nothing, with those for the
 * others linked to it. SL_NO_ID = there are as many as can be held. */
sl_mask_id sl_masks_in_take(struct sl_engine *g, uint32_t constraint, int64_t now_ms);
/* The constraint has no user any more. */
void sl_masks_in_drop(struct sl_engine *g, uint32_t constraint, int64_t now_ms);
/* The site belongs to another node or to none, or its node has other labels or taints. */
void sl_masks_in_judge(struct sl_engine *g, sl_site_id site, int64_t now_ms);
/* The number of a flavor's tolerations, 0 = none; one that is new gets its masks. */
uint32_t sl_masks_in_tolerance(struct sl_engine *g, const struct sl_json *tolerations,
                               int64_t now_ms);
/* A flavor does not tolerate that any more: with the last its number and masks are free. */
void sl_masks_in_leave_tolerance(struct sl_engine *g, uint32_t tolerance, int64_t now_ms);
#endif
