/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who waits without standing in a ClusterQueue's list, in the form of such a list: items with metadata, priority,
 * localQueueName, reason and message. Pure functions over objects that were fetched; what they return the caller frees. */
#ifndef SL_CLI_WAITING_H
#define SL_CLI_WAITING_H
#include "api/objects/object.h"
#include "base/map.h"

/* Notes the items of a queue's list of pending workloads as "namespace/name". */
void sl_waiting_see(struct sl_map *seen, const struct sl_json *items);

/* Sets QuotaReserved of the listed workloads, in place, to the reason and message that their
 * queue's list has: the object's own is as old as the last write. They are moved to the front, in
 * that order. */
void sl_waiting_freshen(struct sl_json *workloads, const struct sl_json *pending);

/* Workloads without quota that are not in `seen`: their LocalQueue or ClusterQueue is missing or stopped, or they are
 * deactivated. The reason and message are those of QuotaReserved. A workload that has no such condition yet is about to
 * be queued and left out. With `queues` (LocalQueues) only those whose LocalQueue names `cluster_queue` are listed;
 * NULL lists all. */
struct sl_json *sl_waiting_unlisted(const struct sl_json *workloads, const struct sl_map *seen,
                                    const struct sl_json *queues, const char *cluster_queue);

/* Workloads that hold quota, of the ClusterQueue if one is given, and are not admitted yet: admission checks are open,
 * or they wait for their places. */
struct sl_json *sl_waiting_for_admission(const struct sl_json *workloads,
                                         const char *cluster_queue);

/* Suspended batch Jobs that name a queue and own none of the workloads. They have the reason NoWorkload and no message. */
struct sl_json *sl_waiting_without_workload(const struct sl_json *jobs,
                                            const struct sl_json *workloads);

/* Adds to the messages of items in a LocalQueue that does not exist which one was probably meant. */
void sl_waiting_hint(const struct sl_json *items, const struct sl_json *local_queues);

/* Takes out the items of other namespaces. */
void sl_waiting_keep_namespace(struct sl_json *items, const char *ns);
#endif
