/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects of the API as the core knows them: what a journal holds are calls into the core, and an engine is fed with
 * objects. What the core was never emitted (labels, templates, names of LocalQueues) is not there, or made up. Each function
 * returns a new object. */
#ifndef SL_ENGINE_PAST_OBJECTS_H
#define SL_ENGINE_PAST_OBJECTS_H
#include "api/json/json.h"
#include "engine/journal/journal_names.h"
#include "kernel/base/types.h"

/* Is that id a ClusterQueue's, or a Cohort's? */
bool sl_past_is_cluster_queue(const struct sl_journal_names *names, sl_qnode_id qnode);
/* `checks`: names of admission checks, a list, or NULL. */
struct sl_json *sl_past_cluster_queue_new(const struct sl_journal_names *names, sl_qnode_id qnode,
                                          const struct sl_json *checks);
struct sl_json *sl_past_cohort_new(const struct sl_journal_names *names, sl_qnode_id qnode);
/* The workload in the LocalQueue of that name ("": in none). With its admission, where it holds quota. */
struct sl_json *sl_past_workload_new(const struct sl_journal_names *names, sl_workload_id id,
                                     const char *local_queue);
/* An object with nothing but a kind and a name; namespace "": none. */
struct sl_json *sl_past_named_new(const char *api_version, const char *kind, const char *ns,
                                  const char *name);
/* What it holds, as {FLAVOR: {RESOURCE: amount}}. */
struct sl_json *sl_past_uses_new(const struct sl_journal_names *names, sl_workload_id id);
#endif
