/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Why does a workload wait: its position, which limit is short by how much and what holds it, whether it may preempt, and
 * what would let it in. Asking changes nothing that is decided by, and writes nothing. What an
 * answer costs follows what is in it and its cohort, within the bounds of holding.h. */
#ifndef SL_ENGINE_WHY_WHY_H
#define SL_ENGINE_WHY_WHY_H
#include "api/json/json.h"
#include "api/objects/object.h"

struct sl_engine;
struct sl_why_ask {
    const char *ns, *name;
    const char *names_of; /* workloads of other namespaces are not named; NULL: all are */
};
/* {namespace, name, state, since, reason, message, summary, ...}, as docs/operations.md describes it; the caller frees it.
 * NULL: the engine does not know such a Workload. */
struct sl_json *sl_why_workload_new(struct sl_engine *g, const struct sl_why_ask *ask);
/* Of a parent, which is not known itself: what each of its variants says, that of the first flavor first, with
 * the flavor that it is tried in. Empty: there are none. */
struct sl_json *sl_why_variants_new(struct sl_engine *g, const char *parent_uid,
                                    const char *names_of);
/* The same of a ClusterQueue or LocalQueue: {name, state, reason, message, first, limits, remedies}. */
struct sl_json *sl_why_queue_new(struct sl_engine *g, enum sl_kind kind,
                                 const struct sl_why_ask *ask);
#endif
