/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The engine's settings, fixed at its start: the parts of Kueue's Configuration and feature gates
 * that change what it does. Plain data, owned by the caller; strings live as long as the settings
 * do. */
#ifndef SL_ENGINE_SETTINGS_H
#define SL_ENGINE_SETTINGS_H
#include "policy/common/settings.h"
#include <stddef.h>
#include <stdint.h>

/* resources.transformations[]: one unit of `input` becomes the outputs. */
struct sl_transformation_output {
    const char *resource;
    int64_t value_milli; /* amount per unit of input, in thousandths */
};
struct sl_transformation {
    const char *input;
    bool retain;             /* strategy: Retain; false = Replace */
    const char *multiply_by; /* a resource whose amount multiplies; NULL = none */
    size_t output_count;
    const struct sl_transformation_output *outputs;
};

/* resources.deviceClassMappings[]: a device of the class counts as one of the resource; where there are sources, by what
 * it takes of them. */
struct sl_device_source {
    const char *resource, *driver;
    const char *name;     /* of a counter, or of a capacity */
    const char *selector; /* in CEL: the devices that it is about */
    bool capacity;
};
struct sl_device_mapping {
    const char *device_class, *resource;
    size_t source_count;
    const struct sl_device_source *sources;
};

struct sl_engine_settings {
    struct sl_settings policy;

    /* waitForPodsReady */
    bool wait_for_pods_ready;
    int64_t ready_ms_max;    /* timeout */
    int64_t recovery_ms_max; /* recoveryTimeout; 0 = wait for ever */
    bool limit_requeues;
    uint32_t requeues_max;   /* backoffLimitCount, with limit_requeues */
    int64_t backoff_base_ms; /* backoffBaseSeconds */
    int64_t backoff_ms_max;  /* backoffMaxSeconds */

    /* resources */
    size_t excluded_prefix_count;
    const char *const *excluded_prefixes;
    size_t transformation_count;
    const struct sl_transformation *transformations;
    size_t device_mapping_count; /* 0: devices are not looked at */
    const struct sl_device_mapping *device_mappings;

    /* admissionFairSharing */
    int64_t usage_half_life_ms; /* 0 = usage is not remembered */
    int64_t usage_sampling_ms;
    size_t usage_weight_count;
    const char *const *usage_weight_resources;
    const int64_t *usage_weights_nano; /* in units of 1e-9 */

    /* objectRetentionPolicies.workloads; -1 = for ever */
    int64_t retain_finished_ms;
    int64_t retain_deactivated_ms;

    bool granular_reasons; /* UnadmittedWorkloadsObservability */
    bool priority_boost;   /* PriorityBoost */
    bool heed_gates;       /* AdmissionGatedBy */
    bool elastic_jobs;     /* ElasticJobsViaWorkloadSlices */
    bool preemption_gates; /* MultiKueueOrchestratedPreemption */
    bool
        concurrent_admission; /* ConcurrentAdmission: of it, allowed flavors and preemption gates */
    bool devices;             /* KueueDRAIntegration: claims of devices are counted */
    bool extended_devices;    /* KueueDRAIntegrationExtendedResource, with the former */
    bool device_counters;     /* KueueDRAIntegrationPartitionableDevices: sources may be counters */
    bool device_capacities;   /* KueueDRAIntegrationConsumableCapacity: or capacities */
    bool refuse_claims; /* KueueDRARejectWorkloadsWhenDRADisabled: else they count for nothing */
    bool paranoid;      /* --paranoid: see engine/turn/valid.h */
};

/* Are ResourceClaimTemplates, DeviceClasses and ResourceSlices to be observed? */
bool sl_engine_settings_count_devices(const struct sl_engine_settings *s);
/* Kueue's defaults. */
struct sl_engine_settings sl_engine_settings_default(void);
#endif
