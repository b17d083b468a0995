/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Random administrators and users. What they pick may be gone by then: that is told, and nothing else happens. */
#include "admin.h"
#include "base/clock.h"
#include "elastic.h"
#include "pods.h"
#include <stdio.h>
#include <string.h>

#define NODE_NUMBERS 14u /* as many there may be */

static struct sl_json *parse(const char *text)
{
    return sl_json_parse(text, strlen(text), NULL);
}

/* {"spec": {key: value}} */
static struct sl_json *spec_of(const char *key, struct sl_json *value)
{
    struct sl_json *patch = sl_json_new_map();
    sl_json_set(sl_json_path_make(patch, "spec"), key, value);
    return patch;
}

/* --- jobs and workloads ------------------------------------------------------------------------- */

static void on_job(struct sim *s, enum sim_event_kind kind, struct sim_chance *c)
{
    static const char *const classes[] = {"low", "mid", "high"};
    struct sl_json *job = sim_pick(s, SL_KIND_JOB, c);
    if (job == NULL) {
        return;
    }
    if (kind == SIM_JOB_DELETE) {
        (void)sim_delete(s, SL_KIND_JOB, job, sim_chance_of(c, 30) ? "Foreground" : "Background");
    } else {
        struct sl_json *patch = sl_json_new_map();
        sl_json_set_text(sl_json_path_make(patch, "metadata.labels"),
                         "kueue.x-k8s.io/priority-class", classes[sim_chance_below(c, 3)]);
        (void)sim_patch(s, SL_KIND_JOB, job, false, patch);
    }
    sl_json_free(job);
}

static void on_workload(struct sim *s, enum sim_event_kind kind, struct sim_chance *c)
{
    struct sl_json *w = sim_pick(s, SL_KIND_WORKLOAD, c);
    if (w == NULL) {
        return;
    }
    if (kind == SIM_WORKLOAD_DELETE) {
        (void)sim_delete(s, SL_KIND_WORKLOAD, w, NULL);
    } else {
        bool active = sl_json_path_bool(w, "spec.active", true);
        (void)sim_patch(s, SL_KIND_WORKLOAD, w, false,
                        spec_of("active", sl_json_new_bool(!active)));
    }
    sl_json_free(w);
}

/* --- checks of somebody else -------------------------------------------------------------------- */

static bool is_others(const struct sl_json *check)
{
    for (unsigned i = 0; i < SIM_CHECKS_MAX; i++) {
        if (strcmp(sl_json_path_text(check, "name", ""), sim_world_check_name(i)) == 0) {
            return true;
        }
    }
    return false;
}

static bool says(const struct sl_json *check, const char *state)
{
    return strcmp(sl_json_path_text(check, "state", ""), state) == 0;
}

static void set_state(struct sim *s, struct sl_json *check, const char *state)
{
    char now[32];
    sl_clock_format(s->now_ms, now);
    sl_json_set_text(check, "state", state);
    sl_json_set_text(check, "message", "as the simulator likes");
    sl_json_set_text(check, "lastTransitionTime", now);
}

static bool is_asked(const struct sl_json *w)
{
    return sl_condition_true(w, "QuotaReserved") && !sl_condition_true(w, "Finished");
}

/* What a check's controller says next, NULL = nothing. Most answer when they are asked; some have not seen yet that the
 * reservation is gone, and some change their minds. */
static const char *next_answer(const struct sl_json *w, const struct sl_json *check,
                               struct sim_chance *c)
{
    static const char *const states[] = {"Ready", "Ready", "Ready", "Retry", "Rejected"};
    const char *state = states[sim_chance_below(c, 5)];
    bool open = says(check, "Pending");
    uint32_t percent = !is_asked(w) ? 8 : open ? 70 : 8;
    return !sim_chance_of(c, percent) || says(check, state) ? NULL : state;
}

/* At rest: all say Ready to those who ask, and nobody stands in the way of those who wait. An answer that crossed an
 * eviction keeps the workload out for as long as it stands: that is its controller's to end. */
static const char *last_answer(const struct sl_json *w, const struct sl_json *check)
{
    bool objects = says(check, "Retry") || says(check, "Rejected");
    bool waits = !is_asked(w) && sl_json_path_bool(w, "spec.active", true);
    return is_asked(w) && says(check, "Pending") ? "Ready" : waits && objects ? "Pending" : NULL;
}

/* The answers of all checks in one version of the object, as who is far behind sees them; c NULL: those at rest. */
static bool answer(struct sim *s, const struct sl_json *w, struct sim_chance *c)
{
    struct sl_json *states = sl_json_clone(sl_json_path(w, "status.admissionChecks"));
    bool any = false;
    for (size_t i = 0; i < sl_json_len(states); i++) {
        struct sl_json *check = sl_json_at(states, i);
        const char *state = !is_others(check) ? NULL
                            : c == NULL       ? last_answer(w, check)
                                              : next_answer(w, check, c);
        if (state != NULL) {
            set_state(s, check, state);
            any = true;
        }
    }
    if (!any) {
        sl_json_free(states);
        return false;
    }
    struct sl_json *patch = sl_json_new_map();
    sl_json_set(sl_json_path_make(patch, "status"), "admissionChecks", states);
    /* Whoever answers has read the Workload: lists are replaced by merge patches as they are. */
    sl_json_set_text(sl_json_path_make(patch, "metadata"), "resourceVersion",
                     sl_object_resource_version(w));
    (void)sim_patch(s, SL_KIND_WORKLOAD, w, true, patch);
    return true;
}

static bool answer_some(struct sim *s, struct sim_chance *c)
{
    struct sl_json *list = sim_list(s, SL_KIND_WORKLOAD);
    bool any = false;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *w = sl_json_at(list, i);
        if (!sl_condition_true(w, "Finished")) {
            any = answer(s, w, c) || any;
        }
    }
    sl_json_free(list);
    return any;
}

bool sim_admin_answer_all(struct sim *s)
{
    return answer_some(s, NULL);
}

static void change_check(struct sim *s, struct sim_chance *c)
{
    struct sl_json *check = sim_pick(s, SL_KIND_ADMISSION_CHECK, c);
    if (check != NULL && sim_chance_of(c, 40)) {
        (void)sim_delete(s, SL_KIND_ADMISSION_CHECK, check, NULL);
    } else {
        sim_world_others_checks(s);
    }
    sl_json_free(check);
}

/* --- queues and cohorts ------------------------------------------------------------------------- */

static void stop_queue(struct sim *s, struct sim_chance *c)
{
    static const char *const policies[] = {"None", "None", "Hold", "HoldAndDrain"};
    enum sl_kind kind = sim_chance_of(c, 70) ? SL_KIND_CLUSTER_QUEUE : SL_KIND_LOCAL_QUEUE;
    struct sl_json *q = sim_pick(s, kind, c);
    if (q != NULL) {
        (void)sim_patch(s, kind, q, false,
                        spec_of("stopPolicy", sl_json_new_text(policies[sim_chance_below(c, 4)])));
    }
    sl_json_free(q);
}

static void change_queue(struct sim *s, enum sim_event_kind kind, struct sim_chance *c)
{
    char cohort[16];
    struct sl_json *q = sim_pick(s, SL_KIND_CLUSTER_QUEUE, c);
    if (q == NULL) {
        return;
    }
    if (kind == SIM_QUEUE_QUOTA) {
        struct sl_json *patch = sl_json_new_map();
        struct sl_json *spec = sl_json_path_make(patch, "spec");
        if (sl_json_path(q, "spec.cohortName") != NULL) {
            sl_json_set_text(spec, "cohortName", sl_json_path_text(q, "spec.cohortName", ""));
        }
        sim_world_queue_spec(s, c, spec);
        (void)sim_patch(s, SL_KIND_CLUSTER_QUEUE, q, false, patch);
    } else if (kind == SIM_QUEUE_COHORT) {
        (void)snprintf(cohort, sizeof cohort, "c%u", sim_chance_below(c, 5));
        (void)sim_patch(
            s, SL_KIND_CLUSTER_QUEUE, q, false,
            spec_of("cohortName", sim_chance_of(c, 20) ? NULL : sl_json_new_text(cohort)));
    } else {
        (void)sim_delete(s, SL_KIND_CLUSTER_QUEUE, q, NULL);
    }
    sl_json_free(q);
}

static bool has_queue(struct sim *s, const char *name)
{
    struct sl_json *q = NULL;
    bool found = sl_store_get(s->store, SL_KIND_CLUSTER_QUEUE, "", name, &q, NULL) == SL_CODE_OK;
    sl_json_free(q);
    return found;
}

static void create_queues(struct sim *s, struct sim_chance *c)
{
    struct sl_json *list = sim_list(s, SL_KIND_LOCAL_QUEUE);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const char *name = sl_json_path_text(sl_json_at(list, i), "spec.clusterQueue", "");
        if (!has_queue(s, name)) {
            struct sl_json *q = sl_object_new(SL_KIND_CLUSTER_QUEUE, "", name);
            sim_world_queue_spec(s, c, sl_json_path_make(q, "spec"));
            (void)sim_create_object(s, SL_KIND_CLUSTER_QUEUE, q);
        }
    }
    sl_json_free(list);
}

/* At least one stays, so that jobs have somewhere to go. */
static void change_local_queue(struct sim *s, struct sim_chance *c)
{
    struct sl_json *list = sim_list(s, SL_KIND_LOCAL_QUEUE);
    uint32_t count = (uint32_t)sl_json_len(list);
    unsigned number = sim_chance_below(c, s->options->queues);
    if (count > 1 && sim_chance_of(c, 40)) {
        (void)sim_delete(s, SL_KIND_LOCAL_QUEUE, sl_json_at(list, sim_chance_below(c, count)),
                         NULL);
    } else {
        sim_world_local_queue(s, number);
    }
    sl_json_free(list);
}

static struct sl_json *cohort_groups(struct sim_chance *c)
{
    char text[256];
    (void)snprintf(
        text, sizeof text,
        "[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"f%u\",\"resources\":[{"
        "\"name\":\"cpu\",\"nominalQuota\":%u}]}]}]",
        sim_chance_below(c, 2), sim_chance_below(c, 12));
    return parse(text);
}

static void change_cohort(struct sim *s, struct sim_chance *c)
{
    char name[16];
    char parent[16];
    struct sl_json *patch = sl_json_new_map();
    (void)snprintf(name, sizeof name, "c%u", sim_chance_below(c, 5));
    (void)snprintf(parent, sizeof parent, "c%u",
                   sim_chance_below(c, 5)); /* may make a circle: that is refused */
    struct sl_json *spec = sl_json_path_make(patch, "spec");
    uint32_t what = sim_chance_below(c, 3);
    if (what != 0) {
        sl_json_set(spec, "parentName", sim_chance_of(c, 30) ? NULL : sl_json_new_text(parent));
    }
    if (what != 1) {
        sl_json_set(spec, "resourceGroups", sim_chance_of(c, 30) ? NULL : cohort_groups(c));
    }
    struct sl_json *of = sl_object_new(SL_KIND_COHORT, "", name);
    if (sim_chance_of(c, 15)) {
        (void)sim_delete(s, SL_KIND_COHORT, of, NULL);
        sl_json_free(patch);
    } else if (sim_patch(s, SL_KIND_COHORT, of, false, patch) == SL_CODE_NOT_FOUND) {
        (void)sim_create(s, SL_KIND_COHORT, "{\"metadata\":{\"name\":\"%s\"},\"spec\":{}}", name);
    }
    sl_json_free(of);
}

/* --- flavors and topologies ----------------------------------------------------------------------- */

/* A taint that nobody tolerates shuts the flavor; what runs in it stays. */
static void change_flavor(struct sim *s, struct sim_chance *c)
{
    struct sl_json *flavor = sim_pick(s, SL_KIND_RESOURCE_FLAVOR, c);
    switch (flavor == NULL ? 9 : sim_chance_below(c, 10)) {
    case 0:
    case 1:
    case 2:
        (void)sim_patch(s, SL_KIND_RESOURCE_FLAVOR, flavor, false,
                        parse("{\"spec\":{\"nodeTaints\":[{\"key\":\"shut\",\"value\":\"yes\","
                              "\"effect\":\"NoSchedule\"}]}}"));
        break;
    case 3:
    case 4:
        (void)sim_patch(s, SL_KIND_RESOURCE_FLAVOR, flavor, false,
                        parse("{\"spec\":{\"nodeTaints\":null}}"));
        break;
    case 5:
    case 6:
        (void)sim_patch(s, SL_KIND_RESOURCE_FLAVOR, flavor, false,
                        parse(sim_chance_of(c, 50)
                                  ? "{\"spec\":{\"tolerations\":[{\"operator\":\"Exists\"}]}}"
                                  : "{\"spec\":{\"tolerations\":null}}"));
        break;
    case 7: /* it stays as long as a queue names it */
        (void)sim_delete(s, SL_KIND_RESOURCE_FLAVOR, flavor, NULL);
        break;
    default:
        sim_world_flavors(s);
        break;
    }
    sl_json_free(flavor);
}

static void change_topology(struct sim *s, struct sim_chance *c)
{
    struct sl_json *topology = sim_pick(s, SL_KIND_TOPOLOGY, c);
    if (topology != NULL && sim_chance_of(c, 70)) {
        (void)sim_delete(s, SL_KIND_TOPOLOGY, topology, NULL);
        if (sim_chance_of(c, 50)) { /* what uses it keeps it */
            struct sl_json *hall = sl_object_new(SL_KIND_RESOURCE_FLAVOR, "", "hall");
            (void)sim_delete(s, SL_KIND_RESOURCE_FLAVOR, hall, NULL);
            sl_json_free(hall);
        }
    } else {
        sim_world_topology(s, sim_chance_of(c, 50));
        sim_world_flavors(s);
    }
    sl_json_free(topology);
}

/* --- nodes -------------------------------------------------------------------------------------- */

static void break_node(struct sim *s, const struct sl_json *node, struct sim_chance *c)
{
    uint32_t way = sim_chance_below(c, 5);
    struct sl_json *patch =
        way < 2 ? parse("{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}}")
        : way == 2 ? parse("{\"spec\":{\"unschedulable\":true}}")
        : way == 3
            ? parse("{\"spec\":{\"taints\":[{\"key\":\"broken\",\"effect\":\"NoExecute\"}]}}")
            : parse("{\"status\":{\"allocatable\":{\"cpu\":1}}}");
    (void)sim_patch(s, SL_KIND_NODE, node, way < 2 || way == 4, patch);
}

/* One of those that are not in the topology has room for all. */
static void mend_node(struct sim *s, const struct sl_json *node)
{
    struct sl_json *status = parse("{\"status\":{\"allocatable\":{},\"conditions\":[{\"type\":"
                                   "\"Ready\",\"status\":\"True\"}]}}");
    sl_json_set_int(sl_json_path(status, "status.allocatable"), "cpu",
                    sl_object_name(node)[0] == 'p' ? 1000 : 6);
    (void)sim_patch(s, SL_KIND_NODE, node, false,
                    parse("{\"spec\":{\"unschedulable\":null,\"taints\":null}}"));
    (void)sim_patch(s, SL_KIND_NODE, node, true, status);
}

static void move_node(struct sim *s, const struct sl_json *node, struct sim_chance *c)
{
    char rack[16];
    struct sl_json *patch = sl_json_new_map();
    (void)snprintf(rack, sizeof rack, "r%u", sim_chance_below(c, 5));
    sl_json_set_text(sl_json_path_make(patch, "metadata.labels"), "sluice.dev/rack", rack);
    (void)sim_patch(s, SL_KIND_NODE, node, false, patch);
}

static void on_node(struct sim *s, enum sim_event_kind kind, struct sim_chance *c)
{
    if (kind == SIM_NODE_CREATE) {
        sim_world_node(s, sim_chance_below(c, NODE_NUMBERS), c);
        return;
    }
    struct sl_json *node = sim_pick(s, SL_KIND_NODE, c);
    if (node == NULL) {
        return;
    }
    if (kind == SIM_NODE_FAIL) {
        break_node(s, node, c);
    } else if (kind == SIM_NODE_MOVE) {
        move_node(s, node, c);
    } else if (kind == SIM_NODE_RECOVER) {
        mend_node(s, node);
    } else {
        (void)sim_delete(s, SL_KIND_NODE, node, NULL);
    }
    sl_json_free(node);
}

/* --- all ---------------------------------------------------------------------------------------- */

static void change_class(struct sim *s, struct sim_chance *c)
{
    struct sl_json *class = sim_pick(s, SL_KIND_WORKLOAD_PRIORITY_CLASS, c);
    struct sl_json *patch = sl_json_new_map();
    sl_json_set_int(patch, "value", sim_chance_below(c, 150));
    (void)sim_patch(s, SL_KIND_WORKLOAD_PRIORITY_CLASS, class, false, patch);
    sl_json_free(class);
}

void sim_admin_act(struct sim *s, enum sim_event_kind kind, struct sim_chance *c)
{
    if (sim_pods_act(s, kind, c) || sim_elastic_act(s, kind, c)) {
        return;
    }
    switch (kind) {
    case SIM_JOB:
        sim_job_make(s, c);
        break;
    case SIM_JOB_DELETE:
    case SIM_JOB_PRIORITY:
        on_job(s, kind, c);
        break;
    case SIM_WORKLOAD_ACTIVE:
    case SIM_WORKLOAD_DELETE:
        on_workload(s, kind, c);
        break;
    case SIM_CHECK_ANSWER:
        (void)answer_some(s, c);
        break;
    case SIM_QUEUE_STOP:
        stop_queue(s, c);
        break;
    case SIM_QUEUE_QUOTA:
    case SIM_QUEUE_COHORT:
    case SIM_QUEUE_DELETE:
        change_queue(s, kind, c);
        break;
    case SIM_QUEUE_CREATE:
        create_queues(s, c);
        break;
    case SIM_COHORT_CHANGE:
        change_cohort(s, c);
        break;
    case SIM_LOCAL_QUEUE_CHANGE:
        change_local_queue(s, c);
        break;
    case SIM_FLAVOR_CHANGE:
        change_flavor(s, c);
        break;
    case SIM_TOPOLOGY_CHANGE:
        if (s->has_topology) {
            change_topology(s, c);
        }
        break;
    case SIM_CLASS_CHANGE:
        change_class(s, c);
        break;
    case SIM_CHECK_CHANGE:
        change_check(s, c);
        break;
    case SIM_PAUSE:
        sim_life_run(s, s->now_ms + sim_chance_below(c, 3600000));
        break;
    default:
        if (s->has_topology || s->has_pods) {
            on_node(s, kind, c);
        }
        break;
    }
}

static void start_all(struct sim *s, enum sl_kind kind)
{
    struct sl_json *list = sim_list(s, kind);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *q = sl_json_at(list, i);
        if (strcmp(sl_json_path_text(q, "spec.stopPolicy", "None"), "None") != 0) {
            (void)sim_patch(s, kind, q, false, spec_of("stopPolicy", sl_json_new_text("None")));
        }
    }
    sl_json_free(list);
}

/* All flavors are there, and no taint shuts them. */
static void open_flavors(struct sim *s)
{
    if (s->has_topology) {
        sim_world_topology(s, true);
    }
    sim_world_flavors(s);
    struct sl_json *list = sim_list(s, SL_KIND_RESOURCE_FLAVOR);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (sl_json_len(sl_json_path(sl_json_at(list, i), "spec.nodeTaints")) > 0) {
            (void)sim_patch(s, SL_KIND_RESOURCE_FLAVOR, sl_json_at(list, i), false,
                            parse("{\"spec\":{\"nodeTaints\":null}}"));
        }
    }
    sl_json_free(list);
}

static bool queue_ends(struct sim *s, const char *name)
{
    struct sl_json *q = NULL;
    bool ends = sl_store_get(s->store, SL_KIND_CLUSTER_QUEUE, "", name, &q, NULL) == SL_CODE_OK &&
                sl_object_deleting(q);
    sl_json_free(q);
    return ends;
}

/* Nobody looks for another place in a queue that is being deleted, and the queue is not gone before its workloads are:
 * whoever stands on a failed node there is given up. */
static void give_up_stranded(struct sim *s)
{
    struct sl_json *list = sim_list(s, SL_KIND_WORKLOAD);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *w = sl_json_at(list, i);
        bool stranded = !sl_condition_true(w, "Finished") &&
                        sl_json_path_bool(w, "spec.active", true) &&
                        sl_json_len(sl_json_path(w, "status.unhealthyNodes")) > 0;
        if (stranded && queue_ends(s, sl_json_path_text(w, "status.admission.clusterQueue", ""))) {
            (void)sim_patch(s, SL_KIND_WORKLOAD, w, false,
                            spec_of("active", sl_json_new_bool(false)));
        }
    }
    sl_json_free(list);
}

static void put_back_nodes(struct sim *s, struct sim_chance *c)
{
    for (unsigned i = 0; i < NODE_NUMBERS; i++) {
        char name[16];
        struct sl_json *node = NULL;
        (void)snprintf(name, sizeof name, "n%u", i);
        if (sl_store_get(s->store, SL_KIND_NODE, "", name, &node, NULL) == SL_CODE_NOT_FOUND) {
            sim_world_node(s, i, c);
        }
        sl_json_free(node);
    }
}

void sim_admin_calm(struct sim *s)
{
    struct sim_chance c = {s->options->seed ^ 0xca13};
    open_flavors(s);
    sim_world_checks(s); /* what was reserved before a check went would wait for it for ever */
    create_queues(s, &c);
    start_all(s, SL_KIND_CLUSTER_QUEUE);
    start_all(s, SL_KIND_LOCAL_QUEUE);
    give_up_stranded(s);
    if (s->has_topology && !(s->settings.policy.replace_failed && s->settings.policy.fail_fast)) {
        put_back_nodes(s, &c); /* whoever stands on one waits for that one, or for room elsewhere */
    }
    struct sl_json *nodes = sim_list(s, SL_KIND_NODE);
    for (size_t i = 0; i < sl_json_len(nodes); i++) {
        mend_node(s, sl_json_at(nodes, i));
    }
    sl_json_free(nodes);
}
