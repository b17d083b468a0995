/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the spec of a ClusterQueue or Cohort says besides quotas: queueing strategy, flavor
 * fungibility, preemption, weight, admission checks. Owns the lists of admission checks. */
#ifndef SL_ENGINE_RULES_H
#define SL_ENGINE_RULES_H
#include "engine/state.h"

/* What an object that says nothing has; for an entry just made. */
void sl_rules_default(struct sl_qnode_entry *n);

/* strategy, flavorFungibility and admissionScope of a ClusterQueue, into the entry; true when they
 * changed. The caller passes it to the core, with whether the queue is active. */
bool sl_rules_read(const struct sl_engine *g, struct sl_qnode_entry *n,
                   const struct sl_json *object);
/* preemption and fairSharing.weight, into the entry and the core, whose tree is woken when they
 * changed; NULL object: back to what an object that says nothing has. INVALID with causes. */
enum sl_code sl_rules_share(struct sl_engine *g, sl_qnode_id qnode, const struct sl_json *object,
                            int64_t now_ms, struct sl_error *e);

/* fairSharing.weight of any object in units of 1e-9: 1 when it says nothing, or, with INVALID, nothing
 * that can be used. */
enum sl_code sl_rules_read_weight(const struct sl_json *object, int64_t *out, struct sl_error *e);

/* admissionChecksStrategy; *changed is set when it did. INVALID with causes. */
enum sl_code sl_rules_read_checks(struct sl_engine *g, struct sl_qnode_entry *n,
                                  const struct sl_json *object, bool *changed, int64_t now_ms,
                                  struct sl_error *e);
void sl_rules_free_checks(struct sl_qnode_entry *n);
/* Does the queue ask this check of a workload with that admission? Without one (NULL), of any. */
bool sl_rules_ask(const struct sl_qnode_entry *n, sl_check_id check,
                  const struct sl_admission *admission);
/* Do only some flavors ask for this check; SL_NO_ID: for any? */
bool sl_rules_by_flavor(const struct sl_qnode_entry *n, sl_check_id check);
#endif
