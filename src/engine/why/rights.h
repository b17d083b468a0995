/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* May a workload that waits preempt others, and if not, why? What policy has found, with the rules of the
 * ClusterQueue and the priorities by which it came about. */
#ifndef SL_ENGINE_WHY_RIGHTS_H
#define SL_ENGINE_WHY_RIGHTS_H
#include "engine/state.h"
#include "engine/why/holding.h"

/* What is short, of which the question is. */
struct sl_why_need {
    sl_workload_id workload; /* that waits */
    sl_qnode_id queue;       /* its ClusterQueue */
    sl_cell_id cell;         /* of it; SL_NO_ID: no quota is short */
    int64_t amount;
};
/* True: by policy and priorities it may preempt this holder. Else `why` says what forbids it. */
bool sl_why_may_preempt(const struct sl_engine *g, const struct sl_why_need *need,
                        const struct sl_why_holder *holder, struct sl_buf *why);
/* {result, message, policy} of the question that was put to policy last (sl_assignment is of this workload). */
struct sl_json *sl_why_preemption_new(const struct sl_engine *g, const struct sl_why_need *need,
                                      const struct sl_why_holders *holders);
#endif
