/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A node that fails, as Kubernetes' node controller would say it: the condition Ready is False, and
 * the taints node.kubernetes.io/not-ready with effects NoSchedule and NoExecute are added to the
 * node's own. Recovery takes both back. Pure functions. */
#ifndef SL_CLI_FAILURE_H
#define SL_CLI_FAILURE_H
#include "api/objects/object.h"

#define SL_TAINT_NOT_READY "node.kubernetes.io/not-ready"

/* Change spec.taints, or status.conditions, of the Node in place; whether anything changed. */
bool sl_failure_set_taints(struct sl_json *node, bool failed);
bool sl_failure_set_ready(struct sl_json *node, bool failed, int64_t now_ms);
/* "Ready", "NotReady", and ",SchedulingDisabled" when it is cordoned. */
const char *sl_failure_word(const struct sl_json *node);
#endif
