/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How long the lists of reasons are: a reason from outside is checked against these. */
#ifndef SL_KERNEL_REASONS_H
#define SL_KERNEL_REASONS_H

#define SL_REASON(constant, text) +1u
enum {
    SL_PENDING_REASONS = 0u
#include "model/pending_reasons.def"
};
enum {
    SL_EVICT_REASONS = 0u
#include "model/evict_reasons.def"
};
enum {
    SL_CAUSES = 0u
#include "model/deactivation_causes.def"
};
enum {
    SL_PREEMPT_REASONS = 0u
#include "model/preempt_reasons.def"
};
enum {
    SL_FINISH_REASONS = 0u
#include "model/finish_reasons.def"
};
enum {
    SL_REQUEUE_REASONS = 0u
#include "model/requeue_reasons.def"
};
#undef SL_REASON
#endif
