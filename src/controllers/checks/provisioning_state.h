/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a ProvisioningRequest means for its check: Pending while the autoscaler works, Ready with what leads the
 * pods to the new nodes, Retry after a failure as often as the config allows, then Rejected. Pure functions. */
#ifndef SL_CONTROLLERS_PROVISIONING_STATE_H
#define SL_CONTROLLERS_PROVISIONING_STATE_H
#include "controllers/work/provisioning_request.h"

struct sl_provreq_view {
    const struct sl_json *workload; /* with quota reserved */
    const struct sl_json *config;   /* NULL: the check is not active */
    const struct sl_json *request;  /* the newest attempt; NULL: none yet */
    const struct sl_json *state;    /* the check's item in status.admissionChecks */
};

/* The item as it should be; equal to the old one when nothing follows (a new object). */
struct sl_json *sl_provreq_state_new(const struct sl_provreq_view *v, int64_t now_ms);
/* Is an attempt due, and which? 0: no. */
int64_t sl_provreq_next_attempt(const struct sl_provreq_view *v);
/* Seconds until attempt n + 1 when the n-th has failed. */
int64_t sl_provreq_backoff_s(const struct sl_json *config, int64_t failed_attempts);
#endif
