/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the administrator has chosen for all queues alike: the parts of Kueue's Configuration and
 * those of its feature gates that change decisions. Plain data; the engine fills it, and journals
 * that it did, before the first decision. */
#ifndef SL_POLICY_SETTINGS_H
#define SL_POLICY_SETTINGS_H
#include <stdbool.h>
#include <stdint.h>

/* Rules of fair sharing (Kueue's LessThanOrEqualToFinalShare and LessThanInitialShare), tried in
 * the order given. */
enum sl_share_rule { SL_SHARE_FINAL, SL_SHARE_INITIAL };

struct sl_settings {
    bool fair_sharing;
    uint32_t share_rule_count; /* 1 or 2 */
    enum sl_share_rule share_rules[2];

    bool admission_fair_sharing;

    bool block_until_ready;   /* waitForPodsReady.blockAdmission */
    bool requeue_at_eviction; /* waitForPodsReady.requeuingStrategy.timestamp: Eviction */
    bool ignore_undeclared;   /* resources.quotaCheckStrategy: IgnoreUndeclared */

    /* feature gates, by Kueue's names */
    bool partial_admission;              /* PartialAdmission */
    bool flavor_fungibility;             /* FlavorFungibility */
    bool priority_sorting_within_cohort; /* PrioritySortingWithinCohort */
    bool preempt_within_nominal;         /* FairSharingPreemptWithinNominal */
    bool prioritize_non_borrowing;       /* FairSharingPrioritizeNonBorrowing */
    bool equivalence_hashing;            /* SchedulingEquivalenceHashing */
    bool preserve_scan_progress;         /* FlavorFungibilityPreserveScanProgress */
    bool recompute_on_overlap;           /* RecomputeAssignmentUponPreemptionTargetsOverlap */
    bool prioritize_preemptors;          /* PrioritizePreemptorWorkloads */
    bool reclaimable_pods;               /* ReclaimablePods */

    /* of topology */
    bool topology;            /* TopologyAwareScheduling */
    bool balanced_placement;  /* TASBalancedPlacement */
    bool multi_layer;         /* TASMultiLayerTopology */
    bool profile_mixed;       /* TASProfileMixed */
    bool prefer_affinity;     /* TASRespectNodeAffinityPreferred */
    bool overlapping_flavors; /* TASHandleOverlappingFlavors */
    bool recompute_placement; /* TASRecomputeAssignmentWithinSchedulingCycle */
    bool replace_failed;      /* TASFailedNodeReplacement */
    bool replace_several;     /* TASReplaceSeveralFailedNodes, Sluice's own: off as in Kueue */
    bool fail_fast;           /* TASFailedNodeReplacementFailFast */
    bool skip_single_pod;     /* SkipReassignmentForPodOwnedWorkloads */
    bool place_slices;        /* ElasticJobsViaWorkloadSlicesWithTAS */
};
extern struct sl_settings sl_settings;

/* Kueue's defaults, with PrioritizePreemptorWorkloads off. */
/*@ terminates \true; exits \false; assigns \nothing; */
struct sl_settings sl_settings_default(void);
#endif
