/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Users of Pods: they make them alone and in groups, with too few and too many, replace those that failed, give
 * groups up, and change their minds. */
#include "pods.h"
#include "controllers/jobs/podjob.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_NODES 3u
#define QUEUE "kueue.x-k8s.io/queue-name"
#define CLASS "kueue.x-k8s.io/priority-class"

void sim_pods_nodes(struct sim *s)
{
    for (unsigned i = 0; i < PLAIN_NODES; i++) {
        char name[16];
        struct sl_json *node = NULL;
        (void)snprintf(name, sizeof name, "p%u", i);
        if (sl_store_get(s->store, SL_KIND_NODE, "", name, &node, NULL) == SL_CODE_NOT_FOUND) {
            (void)sim_create(s, SL_KIND_NODE,
                             "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"kubernetes.io/"
                             "hostname\":\"%s\"}},\"status\":{\"allocatable\":{\"cpu\":1000,"
                             "\"memory\":\"4000Gi\",\"pods\":1000},\"conditions\":[{\"type\":"
                             "\"Ready\",\"status\":\"True\"}]}}",
                             name, name);
        }
        sl_json_free(node);
    }
}

/* --- what a seed stands for ----------------------------------------------------------------------- */

struct shape {
    unsigned count[SIM_ROLES];
    unsigned milli[2];        /* of cpu, by role */
    unsigned run_s, life_s;   /* how long a pod runs; how long the group may; 0 = for ever */
    bool fast, serves, final; /* final: what failed is not replaced */
    bool memory;
    const char *class;
    unsigned place; /* 0: anywhere */
};

static struct shape shape_of(const struct sim *s, uint64_t seed, bool group)
{
    static const char *const classes[] = {"low", "mid", "high", "", ""};
    struct sim_chance c = {seed};
    struct shape h = {.class = "low"};
    h.milli[0] = 250 * (1 + sim_chance_below(&c, 12));
    h.milli[1] = 125 + 250 * sim_chance_below(&c, 12); /* what is alike is one role */
    h.run_s = 5 + sim_chance_below(&c, sim_chance_of(&c, 20) ? 3600 : 400);
    h.life_s = sim_chance_of(&c, 5) ? 30 + sim_chance_below(&c, 300) : 0;
    h.memory = sim_chance_of(&c, 30);
    h.class = classes[sim_chance_below(&c, 5)];
    h.place = s->has_topology && sim_chance_of(&c, 50) ? 1 + sim_chance_below(&c, 5) : 0;
    if (group) {
        h.count[0] = 1 + sim_chance_below(&c, sim_chance_of(&c, 20) ? 8 : 4);
        h.fast = sim_chance_of(&c, 20);
        h.count[1] = !h.fast && sim_chance_of(&c, 35) ? 1 + sim_chance_below(&c, 3) : 0;
        h.serves = sim_chance_of(&c, 5);
        h.final = sim_chance_of(&c, 20);
    }
    return h;
}

static void ask_for_places(struct sl_json *annotations, unsigned place)
{
    static const char *const rack = "sluice.dev/rack";
    static const char *const host = "kubernetes.io/hostname";
    if (place == 1) {
        sl_json_set_text(annotations, "kueue.x-k8s.io/podset-unconstrained-topology", "true");
    } else if (place > 1) {
        sl_json_set_text(annotations,
                         place < 4 ? "kueue.x-k8s.io/podset-required-topology"
                                   : "kueue.x-k8s.io/podset-preferred-topology",
                         place % 2 == 0 ? rack : host);
    }
}

static void annotate(struct sl_json *annotations, const char *key, const char *format,
                     unsigned long long n)
{
    char text[64];
    /* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): the formats are the literals below */
    (void)snprintf(text, sizeof text, format, n);
    sl_json_set_text(annotations, key, text);
}

/* How this one will do: every pod of a group for itself. */
static void set_fate(struct sl_json *annotations, const struct shape *h, struct sim_chance *c,
                     bool soundly)
{
    if (!h->serves) {
        annotate(annotations, "sluice.dev/run-for", "%llus", h->run_s + sim_chance_below(c, 20));
    }
    if (sim_chance_of(c, 10)) {
        annotate(annotations, "sluice.dev/ready-after", "%llus", sim_chance_below(c, 300));
    }
    if (sim_chance_of(c, 15) && !soundly) {
        sl_json_set_text(annotations, "sluice.dev/fail", "true");
    }
}

static struct sl_json *new_pod(const struct shape *h, unsigned role, const char *ns,
                               const char *queue, const char *name)
{
    char text[64];
    struct sl_json *pod = sl_object_new(SL_KIND_POD, ns, name);
    struct sl_json *labels = sl_json_path_make(pod, "metadata.labels");
    struct sl_json *requests = sl_json_new_map();
    struct sl_json *container = sl_json_new_map();
    struct sl_json *containers = sl_json_new_list();
    sl_json_set_text(labels, QUEUE, queue);
    if (h->class[0] != '\0') {
        sl_json_set_text(labels, CLASS, h->class);
    }
    if (h->life_s > 0) {
        (void)snprintf(text, sizeof text, "%u", h->life_s);
        sl_json_set_text(labels, "kueue.x-k8s.io/max-exec-time-seconds", text);
    }
    (void)snprintf(text, sizeof text, "%um", h->milli[role]);
    sl_json_set_text(requests, "cpu", text);
    if (h->memory) {
        sl_json_set_text(requests, "memory", "512Mi");
    }
    sl_json_set_text(container, "name", "c");
    sl_json_set_text(container, "image", "i");
    sl_json_set(sl_json_path_make(container, "resources"), "requests", requests);
    sl_json_append(containers, container);
    sl_json_set_text(sl_json_path_make(pod, "spec"), "restartPolicy", "Never");
    sl_json_set(sl_json_path(pod, "spec"), "containers", containers);
    return pod;
}

static void make_alone(struct sim *s, struct sim_chance *c, const char *ns, const char *queue)
{
    char name[32];
    uint64_t seed = sim_chance_next(c);
    struct shape h = shape_of(s, seed, false);
    (void)snprintf(name, sizeof name, "p%lu", s->pod_count++);
    struct sl_json *pod = new_pod(&h, 0, ns, queue, name);
    struct sl_json *annotations = sl_json_path_make(pod, "metadata.annotations");
    annotate(annotations, SIM_POD_SEED, "%llu", seed);
    ask_for_places(annotations, h.place);
    set_fate(annotations, &h, c, false);
    (void)sim_create_object(s, SL_KIND_POD, pod);
    sim_tally(SIM_TALLY_PODS);
}

/* --- groups --------------------------------------------------------------------------------------- */

static void make_member(struct sim *s, const struct sim_group *g, unsigned role, bool soundly)
{
    char name[64];
    struct sim_chance fate = {g->seed ^ (s->pod_count * 0x9e3779b97f4a7c15u)};
    struct shape h = shape_of(s, g->seed, true);
    (void)snprintf(name, sizeof name, "%s-%c-%lu", g->name, role == 0 ? 'a' : 'b', s->pod_count++);
    struct sl_json *pod = new_pod(&h, role, g->ns, g->queue, name);
    struct sl_json *annotations = sl_json_path_make(pod, "metadata.annotations");
    sl_json_set_text(sl_json_path(pod, "metadata.labels"), SL_POD_GROUP, g->name);
    annotate(annotations, SIM_POD_SEED, "%llu", g->seed);
    annotate(annotations, SIM_POD_ROLE, "%llu", role);
    annotate(annotations, SL_POD_GROUP_COUNT, "%llu", h.count[0] + h.count[1]);
    if (h.fast) {
        sl_json_set_text(annotations, SL_POD_GROUP_FAST, "true");
    }
    if (h.serves) {
        sl_json_set_text(annotations, SL_POD_GROUP_SERVING, "true");
    }
    if (h.final) {
        sl_json_set_text(annotations, SL_POD_RETRIABLE, "false");
    }
    ask_for_places(annotations, h.place);
    set_fate(annotations, &h, &fate, soundly);
    (void)sim_create_object(s, SL_KIND_POD, pod);
    sim_tally(SIM_TALLY_PODS);
}

static void make_group(struct sim *s, struct sim_chance *c, const char *ns, const char *queue)
{
    char name[32];
    struct sim_group g = {.ns = ns, .name = name, .queue = queue, .seed = sim_chance_next(c)};
    struct shape h = shape_of(s, g.seed, true);
    bool partly = sim_chance_of(c, 25);
    (void)snprintf(name, sizeof name, "g%lu", s->pod_count++);
    for (unsigned i = 0; i < h.count[0] + h.count[1]; i++) {
        if (!partly || sim_chance_of(c, 60)) {
            make_member(s, &g, i >= h.count[0], false);
        }
    }
    if (sim_chance_of(c, 20)) {
        make_member(s, &g, h.count[1] > 0 && sim_chance_of(c, 50), false); /* one too many */
    }
    sim_tally(SIM_TALLY_POD_GROUPS);
}

static uint64_t number_of(const struct sl_json *pod, const char *annotation)
{
    const char *text = sl_object_annotation(pod, annotation);
    return text == NULL ? 0 : strtoull(text, NULL, 10);
}

unsigned sim_pod_role(const struct sl_json *pod)
{
    return number_of(pod, SIM_POD_ROLE) % SIM_ROLES;
}

bool sim_group_has(const struct sim_group *g, const struct sl_json *pod)
{
    const char *group = sl_podjob_group(pod);
    return group != NULL && strcmp(group, g->name) == 0 &&
           strcmp(sl_object_namespace(pod), g->ns) == 0;
}

void sim_group_read(const struct sim *s, const struct sl_json *pods, const struct sl_json *pod,
                    struct sim_group *out)
{
    *out = (struct sim_group){.ns = sl_object_namespace(pod),
                              .name = sl_podjob_group(pod),
                              .queue = sl_object_label(pod, QUEUE),
                              .seed = number_of(pod, SIM_POD_SEED)};
    struct shape h = shape_of(s, out->seed, true);
    memcpy(out->want, h.count, sizeof out->want);
    out->serves = h.serves;
    for (size_t i = 0; i < sl_json_len(pods); i++) {
        const struct sl_json *one = sl_json_at(pods, i);
        if (sim_group_has(out, one)) {
            out->have[sim_pod_role(one)] +=
                sl_podjob_counts(one) && (!sl_object_deleting(one) || sl_podjob_succeeded(one));
        }
    }
}

bool sim_group_mend(struct sim *s, const struct sim_group *g, bool soundly)
{
    bool any = false;
    for (unsigned role = 0; role < SIM_ROLES; role++) {
        for (unsigned i = g->have[role]; i < g->want[role]; i++) {
            make_member(s, g, role, soundly);
            any = true;
        }
    }
    return any;
}

/* Pods that are deleted count until their Workload goes as well. */
void sim_group_give_up(struct sim *s, const struct sl_json *pods, const struct sim_group *g)
{
    struct sl_json *w = NULL;
    sim_group_delete(s, pods, g, NULL, 100);
    if (sl_store_get(s->store, SL_KIND_WORKLOAD, g->ns, g->name, &w, NULL) == SL_CODE_OK) {
        (void)sim_delete(s, SL_KIND_WORKLOAD, w, NULL);
    }
    sl_json_free(w);
}

void sim_group_delete(struct sim *s, const struct sl_json *pods, const struct sim_group *g,
                      struct sim_chance *c, uint32_t percent)
{
    for (size_t i = 0; i < sl_json_len(pods); i++) {
        const struct sl_json *pod = sl_json_at(pods, i);
        if (sim_group_has(g, pod) && (percent >= 100 || sim_chance_of(c, percent))) {
            (void)sim_delete(s, SL_KIND_POD, pod, NULL);
        }
    }
}

/* --- what they do --------------------------------------------------------------------------------- */

static bool is_plain(const struct sl_json *pod)
{
    return sl_object_annotation(pod, SIM_POD_SEED) != NULL;
}

/* One of the plain pods in the list; NULL: there is none. */
static const struct sl_json *pick_pod(const struct sl_json *pods, struct sim_chance *c)
{
    uint32_t count = 0;
    for (size_t i = 0; i < sl_json_len(pods); i++) {
        count += is_plain(sl_json_at(pods, i));
    }
    uint32_t which = count == 0 ? 0 : sim_chance_below(c, count);
    for (size_t i = 0; i < sl_json_len(pods); i++) {
        if (is_plain(sl_json_at(pods, i)) && which-- == 0) {
            return sl_json_at(pods, i);
        }
    }
    return NULL;
}

static void make_some(struct sim *s, struct sim_chance *c)
{
    struct sl_json *queues = sim_list(s, SL_KIND_LOCAL_QUEUE);
    const struct sl_json *queue =
        sl_json_at(queues, sim_chance_below(c, (uint32_t)sl_json_len(queues)));
    (sim_chance_of(c, 45) ? make_alone : make_group)(s, c, sl_object_namespace(queue),
                                                     sl_object_name(queue));
    sl_json_free(queues);
}

static void delete_some(struct sim *s, const struct sl_json *pods, const struct sl_json *pod,
                        struct sim_chance *c)
{
    struct sim_group g;
    if (sl_podjob_group(pod) == NULL || sim_chance_of(c, 40)) {
        (void)sim_delete(s, SL_KIND_POD, pod, NULL);
        return;
    }
    sim_group_read(s, pods, pod, &g);
    if (sim_chance_of(c, 40)) {
        sim_group_give_up(s, pods, &g);
    } else {
        sim_group_delete(s, pods, &g, c, sim_chance_of(c, 50) ? 100 : 50);
    }
}

/* Pods that failed, were deleted, or never came; sometimes one that nobody misses. */
static void mend(struct sim *s, const struct sl_json *pods, const struct sl_json *pod,
                 struct sim_chance *c)
{
    struct sim_group g;
    if (sl_podjob_group(pod) == NULL) {
        return;
    }
    sim_group_read(s, pods, pod, &g);
    if (!sim_group_mend(s, &g, sim_chance_of(c, 50)) && sim_chance_of(c, 15)) {
        make_member(s, &g, g.want[1] > 0 && sim_chance_of(c, 50), false);
    }
}

static void change_class(struct sim *s, const struct sl_json *pods, const struct sl_json *pod,
                         struct sim_chance *c)
{
    static const char *const classes[] = {"low", "mid", "high"};
    const char *class = classes[sim_chance_below(c, 3)];
    const char *group = sl_podjob_group(pod);
    for (size_t i = 0; i < sl_json_len(pods); i++) {
        const char *own = sl_podjob_group(sl_json_at(pods, i));
        bool same =
            group == NULL ? sl_json_at(pods, i) == pod : own != NULL && strcmp(own, group) == 0;
        if (same) {
            struct sl_json *patch = sl_json_new_map();
            sl_json_set_text(sl_json_path_make(patch, "metadata.labels"), CLASS, class);
            (void)sim_patch(s, SL_KIND_POD, sl_json_at(pods, i), false, patch);
        }
    }
}

static void move(struct sim *s, const struct sl_json *pod, struct sim_chance *c)
{
    struct sl_json *queues = sim_list(s, SL_KIND_LOCAL_QUEUE);
    const struct sl_json *queue =
        sl_json_at(queues, sim_chance_below(c, (uint32_t)sl_json_len(queues)));
    if (strcmp(sl_object_namespace(pod), sl_object_namespace(queue)) == 0) {
        struct sl_json *patch = sl_json_new_map();
        sl_json_set_text(sl_json_path_make(patch, "metadata.labels"), QUEUE, sl_object_name(queue));
        (void)sim_patch(s, SL_KIND_POD, pod, false, patch);
    }
    sl_json_free(queues);
}

/* Pods get another class, a pod that waits goes to another queue, or a group's failed pods will not be replaced. */
static void change(struct sim *s, const struct sl_json *pods, const struct sl_json *pod,
                   struct sim_chance *c)
{
    if (sim_chance_of(c, 60)) {
        change_class(s, pods, pod, c);
    } else if (sl_podjob_group(pod) == NULL && sl_podjob_gated(pod)) {
        move(s, pod, c);
    } else if (sl_podjob_group(pod) != NULL) {
        struct sl_json *patch = sl_json_new_map();
        sl_json_set_text(sl_json_path_make(patch, "metadata.annotations"), SL_POD_RETRIABLE,
                         "false");
        (void)sim_patch(s, SL_KIND_POD, pod, false, patch);
    }
}

static void act_on_one(struct sim *s, enum sim_event_kind kind, struct sim_chance *c)
{
    struct sl_json *pods = sim_list(s, SL_KIND_POD);
    const struct sl_json *pod = pick_pod(pods, c);
    if (pod == NULL) {
        sl_json_free(pods);
        return;
    }
    if (kind == SIM_JOB_DELETE || (kind == SIM_JOB && sim_chance_of(c, 25))) {
        delete_some(s, pods, pod, c);
    } else if (kind == SIM_JOB || sim_chance_of(c, 35)) {
        mend(s, pods, pod, c);
    } else {
        change(s, pods, pod, c);
    }
    sl_json_free(pods);
}

bool sim_pods_act(struct sim *s, enum sim_event_kind kind, struct sim_chance *c)
{
    bool ours = kind == SIM_JOB || kind == SIM_JOB_DELETE || kind == SIM_JOB_PRIORITY;
    if (!s->has_pods || !ours || !sim_chance_of(c, 65)) {
        return false;
    }
    if (kind == SIM_JOB && sim_chance_of(c, 65)) {
        make_some(s, c);
    } else {
        act_on_one(s, kind, c);
    }
    return true;
}
