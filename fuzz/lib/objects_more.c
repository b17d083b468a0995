/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is changed less often: the rest of a Workload, and the objects that administrators own. What the API holds
 * fixed while quota is reserved is left alone then. */
#include "fuzz/lib/objects_more.h"
#include "base/clock.h"
#include "fuzz/lib/check.h"
#include "fuzz/lib/form.h"
#include "fuzz/lib/objects.h"

static bool is_reserved(const struct sl_json *o)
{
    return sl_json_path(o, "status.admission") != NULL || sl_condition_true(o, "QuotaReserved");
}

static void renew_spec(struct sl_json *o)
{
    sl_json_set_int(sl_json_get(o, "metadata"), "generation", sl_object_generation(o) + 1);
}

/* --- Workloads ---------------------------------------------------------------------------------- */

/* They only become more, and never more than there are. */
static void end_pods(struct sl_json *o, uint32_t a)
{
    int64_t count = sl_json_path_int(o, "spec.podSets.0.count", 0);
    int64_t before = sl_json_path_int(o, "status.reclaimablePods.0.count", 0);
    int64_t now = a % 4 > before ? a % 4 : before;
    sl_json_set(sl_json_path_make(o, "status"), "reclaimablePods",
                form_json("[{\"name\":\"main\",\"count\":%d}]", (int)(now < count ? now : count)));
}

static void ask_otherwise(struct sl_json *o, uint32_t a, uint32_t b)
{
    static const char *const queues[] = {"lq", "lq", "other", ""};
    if (is_reserved(o)) {
        return;
    }
    if (b % 3 == 0) {
        sl_json_set_text(sl_json_path(o, "spec"), "queueName", queues[a % 4]);
    } else if (b % 3 == 1) {
        sl_json_set_int(sl_json_path(o, "spec.podSets.0"), "count", 1 + a % 6);
    } else {
        sl_json_set_text(
            sl_json_path(o, "spec.podSets.0.template.spec.containers.0.resources.requests"), "cpu",
            a % 3 == 0   ? "500m"
            : a % 3 == 1 ? "1"
                         : "2");
    }
    renew_spec(o);
}

static void gate(struct sl_json *o, bool shut)
{
    struct sl_json *annotations = sl_json_path_make(o, "metadata.annotations");
    sl_json_remove(annotations, "kueue.x-k8s.io/admission-gated-by");
    if (shut) {
        sl_json_set_text(annotations, "kueue.x-k8s.io/admission-gated-by", "x/y");
    }
}

/* It goes when those are done that have a finalizer: as long as it is there it is a Workload. */
static void begin_deletion(struct sl_json *o)
{
    char text[32];
    struct sl_json *meta = sl_json_get(o, "metadata");
    sl_clock_format(objects_now_ms(), text);
    if (!sl_json_has(meta, "deletionTimestamp")) {
        sl_json_set(meta, "finalizers", form_json("[\"example.com/x\"]"));
        sl_json_set_text(meta, "deletionTimestamp", text);
    }
}

/* Whoever writes such a list may put it in another order, and say more of its own. */
static void turn_checks_round(struct sl_json *o, uint32_t a)
{
    struct sl_json *list = sl_json_path(o, "status.admissionChecks");
    struct sl_json *turned = sl_json_new_list();
    for (size_t i = sl_json_len(list); i > 0; i--) {
        sl_json_append(turned, sl_json_clone(sl_json_at(list, i - 1)));
    }
    if (a % 4 == 0) {
        sl_json_append(turned, form_json("{\"name\":\"strange\",\"state\":\"%s\",\"message\":\"\"}",
                                         a % 8 == 0 ? "Ready" : "Rejected"));
    }
    sl_json_set(sl_json_path_make(o, "status"), "admissionChecks", turned);
}

static void nominate_clusters(struct sl_json *o, uint32_t a)
{
    struct sl_json *status = sl_json_path_make(o, "status");
    if (a % 2 == 0) {
        sl_json_set(status, "nominatedClusterNames", form_json("[\"east\",\"west\"]"));
    } else {
        sl_json_remove(status, "nominatedClusterNames");
        sl_json_set_text(status, "clusterName", "east");
    }
}

static void limit_time(struct sl_json *o, uint32_t a)
{
    if (!is_reserved(o)) {
        sl_json_set_int(sl_json_path(o, "spec"), "maximumExecutionTimeSeconds", 30 + a * 10);
        renew_spec(o);
    }
}

void objects_change_more(struct sl_json *o, uint32_t what, uint32_t a, uint32_t b)
{
    switch (what % 8) {
    case 0:
    case 1:
        end_pods(o, a);
        break;
    case 2:
        ask_otherwise(o, a, b);
        break;
    case 3:
        gate(o, a % 2 == 0);
        break;
    case 4:
        begin_deletion(o);
        break;
    case 5:
        turn_checks_round(o, a);
        break;
    case 6:
        nominate_clusters(o, a);
        break;
    default:
        limit_time(o, a);
        break;
    }
}

/* --- what administrators own -------------------------------------------------------------------- */

static void change_check(uint32_t a, uint32_t b)
{
    char name[2] = {(char)('a' + a % OBJECTS_CHECKS), '\0'};
    if (b % 4 == 3) {
        objects_drop(SL_KIND_ADMISSION_CHECK, name);
    } else {
        objects_put_check(a % OBJECTS_CHECKS, b % 4 != 2);
    }
}

static void change_node(uint32_t a, uint32_t b)
{
    static const char *const specs[] = {"", "\"unschedulable\":true",
                                        "\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]",
                                        "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]"};
    objects_put_node_as(a % OBJECTS_NODES, &(struct objects_node){.ready = true,
                                                                  .rack = b / 4 % 4,
                                                                  .cpu = b / 16 % 4,
                                                                  .spec = specs[b % 4]});
}

static void change_flavor(uint32_t a)
{
    switch (a % 4) {
    case 0:
        objects_drop(SL_KIND_RESOURCE_FLAVOR, "f");
        break;
    case 1:
        objects_put_flavor("\"nodeTaints\":[{\"key\":\"shut\",\"effect\":\"NoSchedule\"}],");
        break;
    default:
        objects_put_flavor("");
        break;
    }
}

static void change_topology(uint32_t a)
{
    if (a % 4 == 0) {
        objects_drop(SL_KIND_TOPOLOGY, "t");
    } else {
        objects_put_topology(a % 4 != 1);
    }
}

static void change_local_queue(uint32_t a, uint32_t b)
{
    const char *name = b % 2 == 0 ? "lq" : "other";
    if (a % 3 == 0) {
        objects_drop(SL_KIND_LOCAL_QUEUE, name);
    } else {
        objects_put_local_queue(name, "None");
    }
}

void objects_administer(uint32_t what, uint32_t a, uint32_t b)
{
    switch (what % 8) {
    case 0:
    case 1:
        change_check(a, b);
        break;
    case 2:
    case 3:
        change_node(a, b);
        break;
    case 4:
        objects_set_quota(a % 10);
        objects_put_queue(b % (OBJECTS_CHECKS + 1), "None", "None");
        break;
    case 5:
        change_flavor(a);
        break;
    case 6:
        change_topology(a);
        break;
    default:
        if (a % 4 == 0) {
            objects_drop(SL_KIND_CLUSTER_QUEUE, "cq");
        } else {
            change_local_queue(a / 4, b);
        }
        break;
    }
}
