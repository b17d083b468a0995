/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The defaults, and the policy's part as a change of the core's state: one bit per switch. */
#include "engine/settings.h"
#include "engine/change.h"

#define READY_MS (30 * 60 * 1000LL)
#define BACKOFF_BASE_MS (60 * 1000LL)
#define BACKOFF_MS_MAX (3600 * 1000LL)
#define SAMPLING_MS (5 * 60 * 1000LL)

struct sl_engine_settings sl_engine_settings_default(void)
{
    return (struct sl_engine_settings){.policy = sl_settings_default(),
                                       .wait_for_pods_ready = true,
                                       .ready_ms_max = READY_MS,
                                       .recovery_ms_max = READY_MS,
                                       .backoff_base_ms = BACKOFF_BASE_MS,
                                       .backoff_ms_max = BACKOFF_MS_MAX,
                                       .usage_sampling_ms = SAMPLING_MS,
                                       .retain_finished_ms = -1,
                                       .retain_deactivated_ms = -1,
                                       .granular_reasons = true};
}

/* The switches, in the order of their bits; new ones go to the end. */
static const size_t switches[] = {
    offsetof(struct sl_settings, fair_sharing),
    offsetof(struct sl_settings, admission_fair_sharing),
    offsetof(struct sl_settings, block_until_ready),
    offsetof(struct sl_settings, requeue_at_eviction),
    offsetof(struct sl_settings, ignore_undeclared),
    offsetof(struct sl_settings, partial_admission),
    offsetof(struct sl_settings, flavor_fungibility),
    offsetof(struct sl_settings, priority_sorting_within_cohort),
    offsetof(struct sl_settings, preempt_within_nominal),
    offsetof(struct sl_settings, prioritize_non_borrowing),
    offsetof(struct sl_settings, equivalence_hashing),
    offsetof(struct sl_settings, preserve_scan_progress),
    offsetof(struct sl_settings, recompute_on_overlap),
    offsetof(struct sl_settings, prioritize_preemptors),
    offsetof(struct sl_settings, reclaimable_pods),
    offsetof(struct sl_settings, topology),
    offsetof(struct sl_settings, balanced_placement),
    offsetof(struct sl_settings, multi_layer),
    offsetof(struct sl_settings, profile_mixed),
    offsetof(struct sl_settings, prefer_affinity),
    offsetof(struct sl_settings, overlapping_flavors),
    offsetof(struct sl_settings, recompute_placement),
    offsetof(struct sl_settings, replace_failed),
    offsetof(struct sl_settings, fail_fast),
    offsetof(struct sl_settings, skip_single_pod),
    offsetof(struct sl_settings, replace_several),
};
#define SWITCH_COUNT (sizeof switches / sizeof switches[0])

enum sl_status sl_change_settings(struct sl_engine *g, const struct sl_settings *settings)
{
    struct sl_change c = {.kind = SL_CHANGE_SETTINGS,
                          .word = {0, settings->share_rule_count, settings->share_rules[0],
                                   settings->share_rules[1]}};
    for (uint32_t i = 0; i < SWITCH_COUNT; i++) {
        const bool *on = (const void *)((const char *)settings + switches[i]);
        c.word[0] |= *on ? 1u << i : 0;
    }
    return sl_change_apply(g, &c, 0);
}

static bool is_rule(uint32_t word)
{
    return word == SL_SHARE_FINAL || word == SL_SHARE_INITIAL;
}

enum sl_status sl_change_perform_settings(const struct sl_change *c)
{
    struct sl_settings s = {.share_rule_count = c->word[1]};
    if (c->word[0] >> SWITCH_COUNT != 0 || c->word[1] < 1 || c->word[1] > 2 ||
        !is_rule(c->word[2]) || !is_rule(c->word[3])) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    for (uint32_t i = 0; i < SWITCH_COUNT; i++) {
        bool *on = (void *)((char *)&s + switches[i]);
        *on = (c->word[0] >> i & 1u) != 0;
    }
    s.share_rules[0] = (enum sl_share_rule)c->word[2];
    s.share_rules[1] = (enum sl_share_rule)c->word[3];
    sl_settings = s;
    return SL_OK;
}
