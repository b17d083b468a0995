/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Jobs of all sorts: wide and narrow, short and long, failing, slow to become ready, in places of their own. */
#include "elastic.h"
#include <stdio.h>

static void annotate(struct sl_json *meta, const char *key, const char *format, unsigned n)
{
    char text[64];
    /* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): the formats are the literals below */
    (void)snprintf(text, sizeof text, format, n);
    sl_json_set_text(sl_json_path_make(meta, "annotations"), key, text);
}

static void ask_for_places(struct sl_json *template_meta, struct sim_chance *c)
{
    static const char *const ways[] = {"required", "preferred"};
    static const char *const levels[] = {"sluice.dev/rack", "kubernetes.io/hostname"};
    char key[64];
    struct sl_json *annotations = sl_json_path_make(template_meta, "annotations");
    uint32_t way = sim_chance_below(c, 3);
    if (way == 2) {
        sl_json_set_text(annotations, "kueue.x-k8s.io/podset-unconstrained-topology", "true");
        return;
    }
    (void)snprintf(key, sizeof key, "kueue.x-k8s.io/podset-%s-topology", ways[way]);
    sl_json_set_text(annotations, key, levels[sim_chance_of(c, 20)]);
}

/* In slices, each of which stands together: of some sizes too many pods for any rack. */
static void ask_for_slices(struct sl_json *template_meta, struct sim_chance *c, unsigned pods)
{
    struct sl_json *annotations = sl_json_path_make(template_meta, "annotations");
    sl_json_set_text(annotations, "kueue.x-k8s.io/podset-slice-required-topology",
                     sim_chance_of(c, 70) ? "sluice.dev/rack" : "kubernetes.io/hostname");
    annotate(template_meta, "kueue.x-k8s.io/podset-slice-size", "%u",
             1 + sim_chance_below(c, pods));
}

static void set_meta(struct sim *s, struct sim_chance *c, struct sl_json *meta, unsigned pods)
{
    char text[64];
    struct sl_json *labels = sl_json_path_make(meta, "labels");
    struct sl_json *queues = sim_list(s, SL_KIND_LOCAL_QUEUE);
    const struct sl_json *queue =
        sl_json_at(queues, sim_chance_below(c, (uint32_t)sl_json_len(queues)));
    sl_json_set_text(labels, "kueue.x-k8s.io/queue-name", sl_object_name(queue));
    sl_json_set_text(meta, "namespace", sl_object_namespace(queue));
    sl_json_free(queues);
    if (sim_chance_of(c, 60)) {
        static const char *const classes[] = {"low", "mid", "high"};
        sl_json_set_text(labels, "kueue.x-k8s.io/priority-class", classes[sim_chance_below(c, 3)]);
    }
    if (sim_chance_of(c, 5)) {
        (void)snprintf(text, sizeof text, "%u", 30 + sim_chance_below(c, 300));
        sl_json_set_text(labels, "kueue.x-k8s.io/max-exec-time-seconds", text);
    }
    annotate(meta, "sluice.dev/run-for", "%us",
             5 + sim_chance_below(c, sim_chance_of(c, 20) ? 3600 : 400));
    if (sim_chance_of(c, 10)) {
        annotate(meta, "sluice.dev/ready-after", "%us", sim_chance_below(c, 300));
    }
    if (sim_chance_of(c, 10)) {
        sl_json_set_text(sl_json_path_make(meta, "annotations"), "sluice.dev/fail", "true");
    }
    if (pods > 1 && sim_chance_of(c, 25)) {
        annotate(meta, "kueue.x-k8s.io/job-min-parallelism", "%u",
                 1 + sim_chance_below(c, pods - 1));
    }
}

void sim_job_make(struct sim *s, struct sim_chance *c)
{
    char text[512];
    struct sl_error e = {0};
    unsigned pods = 1 + sim_chance_below(c, sim_chance_of(c, 20) ? 12 : 4);
    unsigned milli = 250 * (1 + sim_chance_below(c, 12));
    int len = snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"j%lu\"},\"spec\":{\"parallelism\":%u,\"completions\":%u,"
        "%s\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\","
        "\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"%um\",\"memory\":\"%uMi\"}}}]}}}}",
        s->job_count++, pods, pods, sim_chance_of(c, 50) ? "\"completionMode\":\"Indexed\"," : "",
        milli, 64 * (1 + sim_chance_below(c, 40)));
    struct sl_json *job = sl_json_parse(text, (size_t)len, &e);
    if (sim_chance_of(c, 70)) {
        sl_json_remove(sl_json_path(job, "spec.template.spec.containers.0.resources.requests"),
                       "memory");
    }
    if (s->has_topology && sim_chance_of(c, 50)) {
        struct sim_chance slices = {c->state ^ 0x511ce};
        ask_for_places(sl_json_path_make(job, "spec.template.metadata"), c);
        if (s->has_slices && sim_chance_of(&slices, 50)) {
            ask_for_slices(sl_json_path(job, "spec.template.metadata"), &slices, pods);
        }
    }
    set_meta(s, c, sl_json_path(job, "metadata"), pods);
    struct sim_chance elastic = {c->state ^ 0xe1a57};
    sim_elastic_make(s, job, &elastic, pods);
    (void)sim_create_object(s, SL_KIND_JOB, job);
}
