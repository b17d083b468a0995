/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/quota/settings.h"

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
                                       .granular_reasons = true,
                                       .heed_gates = true,
                                       .elastic_jobs = true,
                                       .devices = true,
                                       .extended_devices = true,
                                       .device_counters = true,
                                       .refuse_claims = true};
}

bool sl_engine_settings_count_devices(const struct sl_engine_settings *s)
{
    return s->devices && s->device_mapping_count > 0;
}
