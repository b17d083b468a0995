/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The world that a seed stands for: settings, namespaces, flavors, nodes, cohorts, queues, priorities, checks. Names
 * are numbers, so that an event can speak of what may be missing. */
#include "pods.h"
#include <stdio.h>
#include <string.h>

#define NAMESPACES 2u
#define NODES_MAX 10u

static const char *pick(struct sim_chance *c, const char *const *list, uint32_t count)
{
    return list[sim_chance_below(c, count)];
}
#define PICK(c, ...)                                                                               \
    pick((c), (const char *const[]){__VA_ARGS__},                                                  \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

void sim_world_settings(struct sim *s)
{
    struct sim_chance c = {s->options->seed ^ 0x5e771e};
    struct sim_chance gate = {s->options->seed ^ 0x6a7fc1};
    struct sim_chance pods = {s->options->seed ^ 0x90d5};
    struct sim_chance checks = {s->options->seed ^ 0xc4ec5};
    struct sim_chance slices = {s->options->seed ^ 0x511ce};
    struct sim_chance ready = {s->options->seed ^ 0x4ead1};
    struct sim_chance elastic = {s->options->seed ^ 0xe1a57};
    s->settings = sl_engine_settings_default();
    s->settings.paranoid = true;
    s->settings.policy.fair_sharing = sim_chance_of(&c, 30);
    s->settings.policy.partial_admission = sim_chance_of(&c, 80);
    s->settings.policy.balanced_placement = sim_chance_of(&c, 20);
    s->settings.policy.replace_failed = sim_chance_of(&c, 80);
    s->settings.policy.fail_fast = sim_chance_of(&c, 20);
    if (sim_chance_of(&c, 40)) {
        s->settings.ready_ms_max = 120000;
        s->settings.recovery_ms_max = sim_chance_of(&c, 50) ? 60000 : 0;
        s->settings.limit_requeues = true; /* some jobs never become ready in time */
        s->settings.requeues_max = 1 + sim_chance_below(&c, 5);
        s->settings.backoff_base_ms = 10000;
        s->settings.backoff_ms_max = 600000;
        s->settings.policy.block_until_ready = sim_chance_of(&c, 40);
        s->settings.policy.requeue_at_eviction = sim_chance_of(&c, 50);
    } else {
        s->settings.wait_for_pods_ready = sim_chance_of(&ready, 50);
    }
    if (sim_chance_of(&c, 15)) {
        s->settings.retain_finished_ms = 600000;
        s->settings.retain_deactivated_ms = 900000;
    }
    /* As the daemon has it where nothing is said, or as Kueue has it. */
    s->settings.policy.prioritize_preemptors = sim_chance_of(&gate, 50);
    s->has_topology = sim_chance_of(&c, 50);
    s->has_slices = s->has_topology && sim_chance_of(&slices, 40);
    s->has_check = sim_chance_of(&c, 40);
    s->has_provisioning = sim_chance_of(&c, 30);
    s->has_pods = sim_chance_of(&pods, 25);
    s->has_elastic = sim_chance_of(&elastic, 40);
    s->settings.elastic_jobs = s->job_rules.elastic = s->has_elastic;
    s->check_count = s->has_check ? 1 + sim_chance_below(&checks, SIM_CHECKS_MAX) : 0;
}

/* --- queues ------------------------------------------------------------------------------------- */

struct quotas {
    struct sl_buf text;
    struct sim_chance *c;
    bool in_cohort, memory;
};

/* Limits on what is borrowed and lent are refused where there is nobody to borrow from. */
static void add_quota(struct quotas *q, const char *resource, unsigned nominal, const char *unit)
{
    struct sl_buf *b = &q->text;
    struct sim_chance *c = q->c;
    bool limits = q->in_cohort && sim_chance_of(c, 50);
    sl_buf_print(b, "{\"name\":\"%s\",\"nominalQuota\":\"%u%s\"", resource, nominal, unit);
    if (limits && sim_chance_of(c, 50)) {
        sl_buf_print(b, ",\"borrowingLimit\":\"%u%s\"", sim_chance_below(c, 8), unit);
    }
    if (limits && sim_chance_of(c, 50)) {
        sl_buf_print(b, ",\"lendingLimit\":\"%u%s\"", sim_chance_below(c, nominal + 1), unit);
    }
    sl_buf_text(b, "}");
}

static void add_flavor(struct quotas *q, const char *name)
{
    struct sl_buf *b = &q->text;
    sl_buf_print(b, "%s{\"name\":\"%s\",\"resources\":[", b->data[b->len - 1] == '[' ? "" : ",",
                 name);
    add_quota(q, "cpu", sim_chance_of(q->c, 10) ? 0 : 2 + sim_chance_below(q->c, 16), "");
    if (q->memory) {
        sl_buf_text(b, ",");
        add_quota(q, "memory", 4 + sim_chance_below(q->c, 30), "Gi");
    }
    sl_buf_text(b, "]}");
}

static struct sl_json *make_groups(struct sim *s, struct sim_chance *c, bool in_cohort)
{
    struct quotas q = {.c = c, .in_cohort = in_cohort, .memory = sim_chance_of(c, 30)};
    sl_buf_print(&q.text, "[{\"coveredResources\":[\"cpu\"%s],\"flavors\":[",
                 q.memory ? ",\"memory\"" : "");
    uint32_t which = sim_chance_below(c, s->has_topology ? 6 : 4);
    if (which >= 4) {
        add_flavor(&q, "hall");
    } else {
        if (which != 1) {
            add_flavor(&q, "f0");
        }
        if (which != 0) {
            add_flavor(&q, "f1");
        }
    }
    sl_buf_text(&q.text, "]}]");
    struct sl_json *groups = sl_json_parse(q.text.data, q.text.len, NULL);
    sl_buf_fini(&q.text);
    return groups;
}

/* Some go before the provisioning check by name, some after it: which of several answers counts is not to depend on
 * that. The first alone is there in worlds with one check. */
const char *sim_world_check_name(unsigned number)
{
    static const char *const names[SIM_CHECKS_MAX] = {"manual", "budget", "zone"};
    return names[number];
}

static void add_check(struct sl_json *spec, const char *name)
{
    struct sl_json *strategy = sl_json_path_make(spec, "admissionChecksStrategy");
    struct sl_json *check = sl_json_new_map();
    if (!sl_json_has(strategy, "admissionChecks")) {
        sl_json_set(strategy, "admissionChecks", sl_json_new_list());
    }
    sl_json_set_text(check, "name", name);
    sl_json_append(sl_json_get(strategy, "admissionChecks"), check);
}

static void add_checks(struct sim *s, struct sim_chance *c, struct sl_json *spec)
{
    bool manual = s->has_check && sim_chance_of(c, 40);
    bool provisioned = s->has_provisioning && sim_chance_of(c, 40);
    struct sim_chance more = {c->state ^ 0xc4ec5};
    for (unsigned i = 0; i < s->check_count; i++) {
        if (i == 0 ? manual : sim_chance_of(&more, manual ? 70 : 20)) {
            add_check(spec, sim_world_check_name(i));
        }
    }
    if (provisioned) {
        add_check(spec, "prov");
    }
    s->has_several_checks =
        s->has_several_checks ||
        sl_json_len(sl_json_path(spec, "admissionChecksStrategy.admissionChecks")) > 1;
}

void sim_world_tally(const struct sim *s)
{
    sim_tally_add(SIM_TALLY_WORLDS_TOPOLOGY, s->has_topology);
    sim_tally_add(SIM_TALLY_WORLDS_SLICES, s->has_slices);
    sim_tally_add(SIM_TALLY_WORLDS_PODS, s->has_pods);
    sim_tally_add(SIM_TALLY_WORLDS_ELASTIC, s->has_elastic);
    sim_tally_add(SIM_TALLY_WORLDS_CHECKS, s->has_several_checks);
    sim_tally_add(SIM_TALLY_WORLDS_READY, s->settings.wait_for_pods_ready);
    sim_tally_add(SIM_TALLY_WORLDS_UNREADY, !s->settings.wait_for_pods_ready);
}

void sim_world_queue_spec(struct sim *s, struct sim_chance *c, struct sl_json *spec)
{
    sl_json_set(spec, "namespaceSelector", sl_json_new_map());
    sl_json_set(spec, "resourceGroups", make_groups(s, c, sl_json_has(spec, "cohortName")));
    sl_json_set_text(spec, "queueingStrategy",
                     sim_chance_of(c, 30) ? "StrictFIFO" : "BestEffortFIFO");
    struct sl_json *p = sl_json_path_make(spec, "preemption");
    sl_json_set_text(p, "reclaimWithinCohort", PICK(c, "Never", "LowerPriority", "Any"));
    sl_json_set_text(p, "withinClusterQueue",
                     PICK(c, "Never", "LowerPriority", "LowerOrNewerEqualPriority"));
    if (sim_chance_of(c, 20) &&
        strcmp(sl_json_path_text(p, "reclaimWithinCohort", ""), "Never") != 0 &&
        !s->settings.policy.fair_sharing) {
        struct sl_json *borrow = sl_json_path_make(p, "borrowWithinCohort");
        sl_json_set_text(borrow, "policy", "LowerPriority");
        sl_json_set_int(borrow, "maxPriorityThreshold", sim_chance_below(c, 100));
    }
    struct sl_json *f = sl_json_path_make(spec, "flavorFungibility");
    sl_json_set_text(f, "whenCanBorrow", PICK(c, "MayStopSearch", "TryNextFlavor"));
    sl_json_set_text(f, "whenCanPreempt", PICK(c, "MayStopSearch", "TryNextFlavor"));
    if (s->settings.policy.fair_sharing) {
        sl_json_set_text(sl_json_path_make(spec, "fairSharing"), "weight",
                         PICK(c, "1", "2", "500m", "0"));
    }
    add_checks(s, c, spec);
}

static bool exists(struct sim *s, enum sl_kind kind, const char *ns, const char *name)
{
    struct sl_json *o = NULL;
    bool found = sl_store_get(s->store, kind, ns, name, &o, NULL) == SL_CODE_OK;
    sl_json_free(o);
    return found;
}

void sim_world_local_queue(struct sim *s, unsigned number)
{
    char ns[16];
    char name[16];
    (void)snprintf(ns, sizeof ns, "ns%u", number % NAMESPACES);
    (void)snprintf(name, sizeof name, "l%u", number);
    if (!exists(s, SL_KIND_LOCAL_QUEUE, ns, name)) {
        (void)sim_create(s, SL_KIND_LOCAL_QUEUE,
                         "{\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\"},\"spec\":{"
                         "\"clusterQueue\":\"q%u\"}}",
                         ns, name, number);
    }
}

static void make_queue(struct sim *s, struct sim_chance *c, unsigned number, unsigned cohorts)
{
    char name[32];
    (void)snprintf(name, sizeof name, "q%u", number);
    struct sl_json *q = sl_object_new(SL_KIND_CLUSTER_QUEUE, "", name);
    struct sl_json *spec = sl_json_path_make(q, "spec");
    if (cohorts > 0 && sim_chance_of(c, 85)) {
        (void)snprintf(name, sizeof name, "c%u", sim_chance_below(c, cohorts));
        sl_json_set_text(spec, "cohortName", name);
    }
    sim_world_queue_spec(s, c, spec);
    (void)sim_create_object(s, SL_KIND_CLUSTER_QUEUE, q);
    sim_world_local_queue(s, number);
}

/* Some cohorts have no object, which is enough for a queue to name them. */
static void make_cohort(struct sim *s, struct sim_chance *c, unsigned number)
{
    char parent[64] = "";
    if (sim_chance_of(c, 25)) {
        return;
    }
    if (number > 0 && sim_chance_of(c, 60)) {
        (void)snprintf(parent, sizeof parent, ",\"parentName\":\"c%u\"",
                       sim_chance_below(c, number));
    }
    (void)sim_create(
        s, SL_KIND_COHORT, "{\"metadata\":{\"name\":\"c%u\"},\"spec\":{%s%s}}", number,
        sim_chance_of(c, 40)
            ? "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":"
              "\"f0\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":4}]}]}]"
            : "\"fairSharing\":{\"weight\":1}",
        parent);
}

/* --- nodes -------------------------------------------------------------------------------------- */

void sim_world_node(struct sim *s, unsigned number, struct sim_chance *c)
{
    (void)sim_create(
        s, SL_KIND_NODE,
        "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"pool\":\"hall\",\"sluice.dev/rack\":\"r%u\","
        "\"kubernetes.io/"
        "hostname\":\"n%u\"}},\"status\":{\"allocatable\":{\"cpu\":%u,\"memory\":\"64Gi\","
        "\"pods\":110},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
        number, number / 3, number, 2 + sim_chance_below(c, 7));
}

void sim_world_topology(struct sim *s, bool racks)
{
    if (!exists(s, SL_KIND_TOPOLOGY, "", "hall")) {
        (void)sim_create(s, SL_KIND_TOPOLOGY,
                         "{\"metadata\":{\"name\":\"hall\"},\"spec\":{\"levels\":[%s{\"nodeLabel\":"
                         "\"kubernetes.io/hostname\"}]}}",
                         racks ? "{\"nodeLabel\":\"sluice.dev/rack\"}," : "");
    }
}

void sim_world_flavors(struct sim *s)
{
    static const char *const names[] = {"f0", "f1", "hall"};
    for (unsigned i = 0; i < (s->has_topology ? 3 : 2); i++) {
        if (!exists(s, SL_KIND_RESOURCE_FLAVOR, "", names[i])) {
            (void)sim_create(
                s, SL_KIND_RESOURCE_FLAVOR, "{\"metadata\":{\"name\":\"%s\"},\"spec\":{%s}}",
                names[i],
                i < 2 ? "" : "\"nodeLabels\":{\"pool\":\"hall\"},\"topologyName\":\"hall\"");
        }
    }
}

static void make_hall(struct sim *s, struct sim_chance *c)
{
    sim_world_topology(s, true);
    unsigned count = 3 + sim_chance_below(c, NODES_MAX - 2);
    for (unsigned i = 0; i < count; i++) {
        sim_world_node(s, i, c);
    }
}

/* --- all ---------------------------------------------------------------------------------------- */

/* Their controller says that they work: without that their queues take nothing. */
static void say_active(struct sim *s, const char *name)
{
    static const char text[] =
        "{\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"True\",\"reason\":"
        "\"Active\",\"message\":\"\",\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"}]}}";
    struct sl_json *check = sl_object_new(SL_KIND_ADMISSION_CHECK, "", name);
    (void)sim_patch(s, SL_KIND_ADMISSION_CHECK, check, true,
                    sl_json_parse(text, sizeof text - 1, NULL));
    sl_json_free(check);
}

void sim_world_others_checks(struct sim *s)
{
    for (unsigned i = 0; i < s->check_count; i++) {
        const char *name = sim_world_check_name(i);
        if (!exists(s, SL_KIND_ADMISSION_CHECK, "", name)) {
            (void)sim_create(s, SL_KIND_ADMISSION_CHECK,
                             "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"controllerName\":"
                             "\"example.com/manual\"}}",
                             name);
        }
        say_active(s, name);
    }
}

static void make_provisioning_check(struct sim *s)
{
    if (s->has_provisioning && !exists(s, SL_KIND_ADMISSION_CHECK, "", "prov")) {
        (void)sim_create(s, SL_KIND_ADMISSION_CHECK,
                         "{\"metadata\":{\"name\":\"prov\"},\"spec\":{\"controllerName\":"
                         "\"kueue.x-k8s.io/"
                         "provisioning-request\",\"parameters\":{\"apiGroup\":\"kueue.x-k8s.io\","
                         "\"kind\":\"ProvisioningRequestConfig\",\"name\":\"conf\"}}}");
    }
}

void sim_world_checks(struct sim *s)
{
    sim_world_others_checks(s);
    make_provisioning_check(s);
}

static void make_checks(struct sim *s, struct sim_chance *c)
{
    sim_world_others_checks(s);
    if (s->has_provisioning) {
        (void)sim_create(
            s, SL_KIND_PROVISIONING_REQUEST_CONFIG,
            "{\"metadata\":{\"name\":\"conf\"},\"spec\":{\"provisioningClassName\":\"fake.sluice."
            "dev\","
            "\"parameters\":{\"provision-after\":\"%us\",\"provision-fail\":\"%u\"},"
            "\"retryStrategy\":{"
            "\"backoffLimitCount\":2,\"backoffBaseSeconds\":5,\"backoffMaxSeconds\":60}}}",
            1 + sim_chance_below(c, 90), sim_chance_below(c, 4));
    }
    make_provisioning_check(s);
}

void sim_world_make(struct sim *s)
{
    struct sim_chance c = {s->options->seed ^ 0x3021d};
    static const char *const classes[] = {"low", "mid", "high"};
    for (unsigned i = 0; i < NAMESPACES; i++) {
        (void)sim_create(s, SL_KIND_NAMESPACE, "{\"metadata\":{\"name\":\"ns%u\"}}", i);
    }
    for (unsigned i = 0; i < 3; i++) {
        (void)sim_create(s, SL_KIND_WORKLOAD_PRIORITY_CLASS,
                         "{\"metadata\":{\"name\":\"%s\"},\"value\":%u}", classes[i], i * 50);
    }
    sim_world_flavors(s);
    if (s->has_topology) {
        make_hall(s, &c);
    }
    if (s->has_pods) {
        sim_pods_nodes(s);
    }
    make_checks(s, &c);
    unsigned queues = s->options->queues > SIM_QUEUES_DEFAULT
                          ? s->options->queues
                          : 1 + sim_chance_below(&c, s->options->queues);
    unsigned cohorts = sim_chance_below(&c, queues / 2 + 2);
    for (unsigned i = 0; i < cohorts; i++) {
        make_cohort(s, &c, i);
    }
    for (unsigned i = 0; i < queues; i++) {
        make_queue(s, &c, i, cohorts);
    }
}
