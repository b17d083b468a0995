/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Every record of the core on one page. Ids are dense indexes into file-scope arrays whose capacity is
 * fixed at compile time; memory that was never touched costs nothing. One translation unit owns each
 * array: the workload records belong to lifecycle.c, the cells to ledger.c, and so on.
 *
 * Units: times are milliseconds since the Unix epoch (SL_NEVER = not set), amounts are in the resource's
 * base unit (milli for cpu, one for everything else). */
#ifndef SL_KERNEL_TYPES_H
#define SL_KERNEL_TYPES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Capacities. Full means a refusal (SL_FULL_...), never a crash. */
#define SL_WORKLOADS_MAX 1048576u
#define SL_QNODES_MAX 65536u    /* quota nodes: Cohorts and ClusterQueues */
#define SL_CELLS_MAX 1048576u   /* one per quota node, flavor and resource in use */
#define SL_LEVELS_MAX 32u       /* depth of the quota forest */
#define SL_USAGE_CELLS_MAX 128u /* distinct (flavor, resource) pairs that one workload may hold */
#define SL_CHECKS_MAX 8u        /* admission checks of one workload (as the API's limit) */
#define SL_UNHEALTHY_MAX 8u     /* failed nodes that one workload may name (as the API's limit) */
#define SL_VICTIMS_MAX 65536u   /* workloads that one plan may preempt */

#define SL_NO_ID UINT32_MAX               /* "no such thing", for every kind of id */
#define SL_NEVER INT64_MIN                /* a time that is not set */
#define SL_TIME_MAX 4611686018427387904LL /* 2^62: the largest time any input may carry */

/* Amounts held or asked for lie in 0 .. SL_AMOUNT_MAX; a quota may also be SL_AMOUNT_UNLIMITED, and
 * sums of quotas saturate there. 2^60 and 2^61 leave room for exact int64 arithmetic on both. */
#define SL_AMOUNT_MAX 1152921504606846976LL
#define SL_AMOUNT_UNLIMITED 2305843009213693952LL

typedef uint32_t sl_workload_id;
typedef uint32_t sl_qnode_id; /* a quota node */
typedef uint32_t sl_cell_id;
typedef uint32_t sl_flavor_id;
typedef uint32_t sl_resource_id;
typedef uint32_t sl_check_id; /* an AdmissionCheck */
typedef uint32_t sl_host_id;  /* a Kubernetes Node */

enum sl_phase {
    SL_PHASE_ABSENT,         /* the slot is free */
    SL_PHASE_PENDING,        /* holds nothing */
    SL_PHASE_QUOTA_RESERVED, /* holds quota, waits for admission checks or topology */
    SL_PHASE_ADMITTED,       /* may run */
    SL_PHASE_EVICTED,        /* must stop; holds its quota until the job has stopped */
    SL_PHASE_FINISHED        /* final */
};

enum sl_check_state { SL_CHECK_PENDING, SL_CHECK_READY, SL_CHECK_RETRY, SL_CHECK_REJECTED };
enum sl_pods_ready {
    SL_PODS_UNKNOWN,
    SL_PODS_WAIT_FOR_START,
    SL_PODS_STARTED,
    SL_PODS_WAIT_FOR_RECOVERY,
    SL_PODS_RECOVERED
};
enum sl_requeued { SL_REQUEUED_UNSET, SL_REQUEUED_TRUE, SL_REQUEUED_FALSE };

/* Reason lists, one row each: constant and the string that the API uses. */
#define SL_REASON(constant, text) constant,
enum sl_pending_reason { /* why QuotaReserved is False */
#include "model/pending_reasons.def"
};
enum sl_evict_reason { /* why Evicted is True; also the reason of Requeued */
#include "model/evict_reasons.def"
};
enum sl_cause { /* why DeactivationTarget is True */
#include "model/deactivation_causes.def"
};
enum sl_preempt_reason {
#include "model/preempt_reasons.def"
};
enum sl_finish_reason {
#include "model/finish_reasons.def"
};
enum sl_requeue_reason { /* why Requeued is True; when False its reason is that of the eviction */
#include "model/requeue_reasons.def"
};
#undef SL_REASON

struct sl_check {
    sl_check_id check;
    enum sl_check_state state;
    uint32_t retry_count;
    int64_t retry_after_ms; /* how long the check asked to wait; 0 = at once */
};

/* What the lifecycle needs of a workload and nothing else. */
struct sl_workload {
    uint32_t
        generation; /* grows whenever the slot is given out: (id, generation) names one incarnation */
    enum sl_phase phase;
    bool active;           /* spec.active */
    bool on_hold;          /* the job is scaled to zero */
    bool gated;            /* the admission-gated-by annotation is not empty */
    bool has_admission;    /* status.admission is present */
    bool was_admitted;     /* the Admitted condition is True (still so while evicted) */
    bool topology_pending; /* some pod set's delayed topology request is still pending */
    enum sl_pending_reason pending_reason;
    enum sl_evict_reason evicted;     /* SL_EVICT_NONE: the Evicted condition is not True */
    enum sl_preempt_reason preempted; /* SL_PREEMPT_NONE: the Preempted condition is not True */
    enum sl_cause deactivation;       /* SL_CAUSE_NONE: no DeactivationTarget */
    enum sl_finish_reason finished;
    enum sl_requeued requeued;
    enum sl_requeue_reason requeue_reason; /* meaningful when requeued is SL_REQUEUED_TRUE */
    enum sl_pods_ready pods_ready;
    uint32_t requeue_count; /* status.requeueState.count */
    int64_t requeue_at_ms;  /* status.requeueState.requeueAt, only moves forward while set */
    int64_t reserved_at_ms;
    int64_t admitted_at_ms; /* SL_NEVER unless was_admitted */
    int64_t evicted_at_ms;
    int64_t pods_ready_at_ms; /* last transition of PodsReady */
    int64_t accumulated_ms;   /* run time of earlier admissions */
    int64_t execution_ms_max; /* maximumExecutionTimeSeconds, 0 = none */
    uint32_t eviction_count;
    uint32_t check_count;
    struct sl_check checks[SL_CHECKS_MAX];
    uint32_t unhealthy_count;
    sl_host_id unhealthy[SL_UNHEALTHY_MAX];
};

/* What a workload holds, or a plan wants to hold, of one cell. */
struct sl_cell_amount {
    sl_cell_id cell;
    int64_t amount;
};

enum sl_event_kind {
#define SL_EVENT(constant, text) constant,
#include "model/events.def"
#undef SL_EVENT
    SL_EVENT_COUNT
};

/* One thing that happened to one workload. What `index`, `reason` and `value` mean is said beside each
 * event in model/events.def; an event whose generation is not the record's is refused as stale. */
struct sl_event {
    enum sl_event_kind kind;
    sl_workload_id workload;
    uint32_t generation;
    uint32_t index;
    uint32_t reason;
    int64_t value;
    int64_t now_ms;
};

/* Where a workload is: exactly one place, by construction. */
enum sl_place {
    SL_PLACE_NONE,         /* the slot is free */
    SL_PLACE_HEAP,         /* in its ClusterQueue's heap */
    SL_PLACE_INADMISSIBLE, /* parked until something changes that could help it */
    SL_PLACE_IN_FLIGHT,    /* a head of the running cycle */
    SL_PLACE_HOLDING,      /* holds quota */
    SL_PLACE_SECOND_PASS,  /* holds quota and waits for its second pass */
    SL_PLACE_ORPHANED,     /* its LocalQueue or ClusterQueue is missing or stopped */
    SL_PLACE_DORMANT,      /* inactive, on hold or gated: not to be queued */
    SL_PLACE_DONE          /* finished */
};
#endif
