/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "policy/common/settings.h"

/* Unset memory would mean "everything off"; the defaults are here as well as in the function, so
 * that a core that was never configured decides as Kueue does. */
#define DEFAULTS                                                                                   \
    {                                                                                              \
        .share_rule_count = 2, .share_rules = {SL_SHARE_FINAL, SL_SHARE_INITIAL},                  \
        .requeue_at_eviction = true, .partial_admission = true, .flavor_fungibility = true,        \
        .priority_sorting_within_cohort = true, .preempt_within_nominal = true,                    \
        .prioritize_non_borrowing = true, .equivalence_hashing = true,                             \
        .preserve_scan_progress = true, .recompute_on_overlap = true, .reclaimable_pods = true,    \
        .topology = true, .multi_layer = true, .profile_mixed = true, .overlapping_flavors = true, \
        .recompute_placement = true, .replace_failed = true, .replace_several = true,              \
        .fail_fast = true, .skip_single_pod = true,                                                \
    }

struct sl_settings sl_settings = DEFAULTS;

struct sl_settings sl_settings_default(void)
{
    struct sl_settings defaults = DEFAULTS;
    return defaults;
}
