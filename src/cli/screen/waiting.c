/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who waits without standing in a ClusterQueue's list. */
#include "cli/screen/waiting.h"
#include "base/mem.h"
#include "base/near.h"
#include "controllers/jobs/job.h"
#include <string.h>

static void key_of(const char *ns, const char *name, struct sl_buf *out)
{
    sl_buf_print(out, "%s/%s", ns, name);
}

static void note(struct sl_map *map, const struct sl_json *object, union sl_map_value value)
{
    struct sl_buf key = {0};
    key_of(sl_object_namespace(object), sl_object_name(object), &key);
    sl_map_put(map, key.data, value);
    sl_buf_fini(&key);
}

void sl_waiting_see(struct sl_map *seen, const struct sl_json *items)
{
    for (size_t i = 0; i < sl_json_len(items); i++) {
        note(seen, sl_json_at(items, i), (union sl_map_value){.number = 1});
    }
}

/* Its place among the listed ones, from 1; 0 = it is not listed. */
static size_t place_of(const struct sl_map *listed, const struct sl_json *workload)
{
    union sl_map_value value = {0};
    struct sl_buf key = {0};
    key_of(sl_object_namespace(workload), sl_object_name(workload), &key);
    bool found = sl_map_get(listed, key.data, &value);
    sl_buf_fini(&key);
    return found ? (size_t)value.number : 0;
}

void sl_waiting_freshen(struct sl_json *workloads, const struct sl_json *pending)
{
    struct sl_map *listed = sl_map_new();
    size_t count = sl_json_len(workloads);
    size_t listed_count = sl_json_len(pending);
    struct sl_json **order = sl_mem_new(listed_count + count + 1, sizeof(struct sl_json *));
    for (size_t i = 0; i < listed_count; i++) {
        note(listed, sl_json_at(pending, i), (union sl_map_value){.number = i + 1});
    }
    for (size_t i = 0; i < count; i++) {
        struct sl_json *workload = sl_json_at(workloads, i);
        size_t place = place_of(listed, workload);
        bool first = place > 0 && order[place - 1] == NULL;
        order[first ? place - 1 : listed_count + i] = sl_json_ref(workload);
        if (place > 0 && !sl_condition_true(workload, "QuotaReserved")) {
            const struct sl_json *item = sl_json_at(pending, place - 1);
            (void)sl_condition_set(sl_json_path_make(workload, "status"), "QuotaReserved", false,
                                   sl_json_path_text(item, "reason", ""),
                                   sl_json_path_text(item, "message", ""), 0, 0);
        }
    }
    for (size_t i = 0, at = 0; i < listed_count + count; i++) {
        if (order[i] != NULL) {
            sl_json_put_at(workloads, at++, order[i]);
        }
    }
    sl_mem_free(order);
    sl_map_free(listed);
}

/* The cause of a deactivation is in the condition Evicted. */
static const char *message_of(const struct sl_json *workload, const struct sl_json *why)
{
    const struct sl_json *evicted = sl_condition_find(workload, "Evicted");
    bool deactivated = strcmp(sl_json_path_text(why, "reason", ""), "Deactivated") == 0 &&
                       strncmp(sl_json_path_text(evicted, "reason", ""), "Deactivated", 11) == 0;
    return sl_json_path_text(deactivated ? evicted : why, "message", "");
}

static void add(struct sl_json *list, const struct sl_json *object, const char *reason,
                const char *message)
{
    struct sl_json *item = sl_json_new_map();
    struct sl_json *metadata = sl_json_path_make(item, "metadata");
    sl_json_set_text(metadata, "namespace", sl_object_namespace(object));
    sl_json_set_text(metadata, "name", sl_object_name(object));
    const char *queue = sl_json_path_text(object, "spec.queueName", "");
    if (queue[0] != '\0') {
        sl_json_set_text(item, "localQueueName", queue);
    }
    sl_json_set_int(item, "priority", sl_json_path_int(object, "spec.priority", 0));
    sl_json_set_text(item, "reason", reason);
    sl_json_set_text(item, "message", message);
    sl_json_append(list, item);
}

/* --- without quota ------------------------------------------------------------------------------------- */

/* "namespace/name" of the LocalQueues that name the ClusterQueue. */
static struct sl_map *queues_of(const struct sl_json *queues, const char *cluster_queue)
{
    struct sl_map *map = sl_map_new();
    for (size_t i = 0; i < sl_json_len(queues); i++) {
        const struct sl_json *queue = sl_json_at(queues, i);
        if (strcmp(sl_json_path_text(queue, "spec.clusterQueue", ""), cluster_queue) == 0) {
            note(map, queue, (union sl_map_value){.number = 1});
        }
    }
    return map;
}

static bool has(const struct sl_map *map, const char *ns, const char *name)
{
    union sl_map_value value;
    struct sl_buf key = {0};
    key_of(ns, name, &key);
    bool found = sl_map_get(map, key.data, &value);
    sl_buf_fini(&key);
    return found;
}

struct sl_json *sl_waiting_unlisted(const struct sl_json *workloads, const struct sl_map *seen,
                                    const struct sl_json *queues, const char *cluster_queue)
{
    struct sl_json *list = sl_json_new_list();
    struct sl_map *own = queues == NULL ? NULL : queues_of(queues, cluster_queue);
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        const struct sl_json *workload = sl_json_at(workloads, i);
        const char *ns = sl_object_namespace(workload);
        const struct sl_json *why = sl_condition_find(workload, "QuotaReserved");
        if (why == NULL || sl_condition_true(workload, "QuotaReserved") ||
            sl_condition_true(workload, "Finished") || has(seen, ns, sl_object_name(workload))) {
            continue;
        }
        if (own == NULL || has(own, ns, sl_json_path_text(workload, "spec.queueName", ""))) {
            add(list, workload, sl_json_path_text(why, "reason", ""), message_of(workload, why));
        }
    }
    sl_map_free(own);
    return list;
}

/* --- with quota ---------------------------------------------------------------------------------------- */

/* Every check that is not ready, with what it says. */
static void print_open_checks(const struct sl_json *workload, struct sl_buf *out)
{
    const struct sl_json *checks = sl_json_path(workload, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(checks); i++) {
        const struct sl_json *check = sl_json_at(checks, i);
        const char *state = sl_json_path_text(check, "state", "Pending");
        const char *message = sl_json_path_text(check, "message", "");
        if (strcmp(state, "Ready") != 0) {
            sl_buf_print(out, "%sadmission check %s is %s%s%s", out->len > 0 ? "; " : "",
                         sl_json_path_text(check, "name", ""), state,
                         message[0] == '\0' ? "" : ": ", message);
        }
    }
}

struct sl_json *sl_waiting_for_admission(const struct sl_json *workloads, const char *cluster_queue)
{
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        const struct sl_json *workload = sl_json_at(workloads, i);
        const char *queue = sl_json_path_text(workload, "status.admission.clusterQueue", "");
        const struct sl_json *why = sl_condition_find(workload, "Admitted");
        struct sl_buf message = {0};
        if (!sl_condition_true(workload, "QuotaReserved") ||
            sl_condition_true(workload, "Admitted") || sl_condition_true(workload, "Finished") ||
            (cluster_queue != NULL && strcmp(queue, cluster_queue) != 0)) {
            continue;
        }
        print_open_checks(workload, &message);
        if (message.len == 0) {
            sl_buf_text(&message,
                        sl_json_path_text(why, "message", "waiting for its topology assignment"));
        }
        add(list, workload, sl_json_path_text(why, "reason", "WaitingForAdmission"), message.data);
        sl_buf_fini(&message);
    }
    return list;
}

/* --- without a Workload -------------------------------------------------------------------------------- */

static struct sl_map *owners_of(const struct sl_json *workloads)
{
    struct sl_map *map = sl_map_new();
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        const struct sl_json *owners =
            sl_json_path(sl_json_at(workloads, i), "metadata.ownerReferences");
        for (size_t k = 0; k < sl_json_len(owners); k++) {
            const char *uid = sl_json_path_text(sl_json_at(owners, k), "uid", "");
            sl_map_put(map, uid, (union sl_map_value){.number = 1});
        }
    }
    return map;
}

struct sl_json *sl_waiting_without_workload(const struct sl_json *jobs,
                                            const struct sl_json *workloads)
{
    struct sl_json *list = sl_json_new_list();
    struct sl_map *owners = owners_of(workloads);
    for (size_t i = 0; i < sl_json_len(jobs); i++) {
        const struct sl_json *job = sl_json_at(jobs, i);
        union sl_map_value value;
        if (sl_job_queue(job) != NULL && sl_job_suspended(job) &&
            !sl_map_get(owners, sl_object_uid(job), &value)) {
            add(list, job, "NoWorkload", "");
        }
    }
    sl_map_free(owners);
    return list;
}

/* --- queues that do not exist -------------------------------------------------------------------------- */

/* False: it exists. */
static bool nearest(const char *ns, const char *name, const struct sl_json *queues,
                    struct sl_near *near)
{
    sl_near_start(near, name);
    for (size_t i = 0; i < sl_json_len(queues); i++) {
        const struct sl_json *queue = sl_json_at(queues, i);
        if (strcmp(sl_object_namespace(queue), ns) == 0) {
            sl_near_try(near, sl_object_name(queue));
        }
    }
    return near->best != NULL && strcmp(near->best, name) != 0;
}

void sl_waiting_hint(const struct sl_json *items, const struct sl_json *local_queues)
{
    for (size_t i = 0; i < sl_json_len(items); i++) {
        struct sl_json *item = sl_json_at(items, i);
        struct sl_near near;
        const char *queue = sl_json_path_text(item, "localQueueName", "");
        if (strcmp(sl_json_path_text(item, "reason", ""), "Misconfigured") == 0 &&
            nearest(sl_object_namespace(item), queue, local_queues, &near)) {
            struct sl_buf message = {0};
            sl_buf_text(&message, sl_json_path_text(item, "message", ""));
            sl_near_print(&near, &message);
            sl_json_set_text(item, "message", message.data);
            sl_buf_fini(&message);
        }
    }
}

void sl_waiting_keep_namespace(struct sl_json *items, const char *ns)
{
    for (size_t i = sl_json_len(items); i > 0; i--) {
        if (strcmp(sl_object_namespace(sl_json_at(items, i - 1)), ns) != 0) {
            sl_json_remove_at(items, i - 1);
        }
    }
}
