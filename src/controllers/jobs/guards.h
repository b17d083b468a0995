/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is in use cannot be deleted: Topologies that a ResourceFlavor names, ResourceFlavors and
 * AdmissionChecks that a ClusterQueue names, and ClusterQueues whose quota a workload holds carry
 * the finalizer kueue.x-k8s.io/resource-in-use. It is set at first sight, and removed from an
 * object that is being deleted when its last user is deleted. Owns the index of which object names
 * which. */
#ifndef SL_CONTROLLERS_GUARDS_H
#define SL_CONTROLLERS_GUARDS_H
#include "controllers/work/reconciler.h"
#include "engine/engine.h"

#define SL_GUARDED_KINDS 4u

struct sl_guards {
    struct sl_reconciler kinds[SL_GUARDED_KINDS];
    struct sl_map *named;   /* "kind/name" of a user -> list of the "kind/name" that it names */
    struct sl_map *users;   /* "kind/name" of what is named -> how many name it */
    struct sl_map *leaving; /* names of ClusterQueues that are being deleted */
    struct sl_map *guarded; /* "kind/name" of what has been seen with the finalizer */
    struct sl_engine *engine;
};
void sl_guards_init(struct sl_guards *g, const struct sl_client *client, struct sl_recorder *events,
                    struct sl_engine *engine);
void sl_guards_fini(struct sl_guards *g);
/* Kinds it wants to see: Topology, ResourceFlavor, AdmissionCheck, ClusterQueue. */
void sl_guards_observe(struct sl_guards *g, enum sl_kind kind, const struct sl_json *object,
                       bool deleted);
/* The engine's count for the ClusterQueue has changed: perhaps no workload holds its quota any
 * more. */
void sl_guards_touch(struct sl_guards *g, const char *cluster_queue);
bool sl_guards_step(struct sl_guards *g, int64_t now_ms, unsigned limit);
int64_t sl_guards_due_ms(const struct sl_guards *g);
#endif
