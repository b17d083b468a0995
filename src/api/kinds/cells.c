/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Cells: by path, by condition, or computed as kubectl's own printers do for the built-in kinds. */
#include "api/kinds/cells.h"
#include "api/objects/quantity.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"

void sl_cell_age(int64_t ms, char out[static 32])
{
    int64_t s = ms / 1000, minute = 60, hour = 3600, day = 86400, year = 365 * day;
    static const char units[][2] = {"d", "h", "m", "s"};
    if (ms < -1000) {
        snprintf(out, 32, "<invalid>");
        return;
    }
    /* Up to `limit` seconds: in this unit, and the one below where `both`. */
    const struct {
        int64_t limit, unit, below;
        const char *name, *below_name;
    } steps[] = {
        {2 * minute, 1, 0, units[3], ""},    {10 * minute, minute, 1, units[2], units[3]},
        {3 * hour, minute, 0, units[2], ""}, {8 * hour, hour, minute, units[1], units[2]},
        {2 * day, hour, 0, units[1], ""},    {8 * day, day, hour, units[0], units[1]},
        {2 * year, day, 0, units[0], ""},    {8 * year, year, day, "y", units[0]},
        {INT64_MAX, year, 0, "y", ""},
    };
    size_t i = 0;
    s = s < 0 ? 0 : s;
    while (s >= steps[i].limit) {
        i++;
    }
    int written = snprintf(out, 32, "%" PRId64 "%s", s / steps[i].unit, steps[i].name);
    int64_t rest = steps[i].below > 0 ? s % steps[i].unit / steps[i].below : 0;
    if (rest > 0) {
        snprintf(out + written, 32 - (size_t)written, "%" PRId64 "%s", rest, steps[i].below_name);
    }
}

static struct sl_json *age_since(const char *since, int64_t now_ms)
{
    char text[32];
    int64_t start = sl_clock_parse(since);
    if (start == INT64_MIN) {
        return since[0] == '\0' ? NULL : sl_json_new_text("<invalid>");
    }
    sl_cell_age(now_ms - start, text);
    return sl_json_new_text(text);
}

static struct sl_json *take_text(struct sl_buf *text)
{
    struct sl_json *cell = sl_json_new_text(text->data != NULL ? text->data : "");
    sl_buf_fini(text);
    return cell;
}

/* The `key` of each item, with commas between; "<none>" when there are none. */
static struct sl_json *joined(const struct sl_json *list, const char *key)
{
    struct sl_buf text = {0};
    for (size_t i = 0; i < sl_json_len(list); i++) {
        sl_buf_print(&text, "%s%s", i > 0 ? "," : "",
                     sl_json_text(sl_json_get(sl_json_at(list, i), key), "<none>"));
    }
    if (text.len == 0) {
        sl_buf_text(&text, "<none>");
    }
    return take_text(&text);
}

static struct sl_json *containers(const struct sl_json *o, int64_t now_ms)
{
    (void)now_ms;
    return joined(sl_json_path(o, "spec.template.spec.containers"), "name");
}

static struct sl_json *images(const struct sl_json *o, int64_t now_ms)
{
    (void)now_ms;
    return joined(sl_json_path(o, "spec.template.spec.containers"), "image");
}

static struct sl_json *template_containers(const struct sl_json *o, int64_t now_ms)
{
    (void)now_ms;
    return joined(sl_json_path(o, "template.spec.containers"), "name");
}

static struct sl_json *template_images(const struct sl_json *o, int64_t now_ms)
{
    (void)now_ms;
    return joined(sl_json_path(o, "template.spec.containers"), "image");
}

static struct sl_json *topology_levels(const struct sl_json *o, int64_t now_ms)
{
    (void)now_ms;
    return joined(sl_json_path(o, "spec.levels"), "nodeLabel");
}

static struct sl_json *job_status(const struct sl_json *o, int64_t now_ms)
{
    static const char *const before_deletion[] = {"Complete", "Failed"};
    static const char *const after_deletion[] = {"Suspended", "FailureTarget",
                                                 "SuccessCriteriaMet"};
    (void)now_ms;
    for (size_t i = 0; i < 2; i++) {
        if (sl_condition_true(o, before_deletion[i])) {
            return sl_json_new_text(before_deletion[i]);
        }
    }
    if (sl_object_deleting(o)) {
        return sl_json_new_text("Terminating");
    }
    for (size_t i = 0; i < 3; i++) {
        if (sl_condition_true(o, after_deletion[i])) {
            return sl_json_new_text(after_deletion[i]);
        }
    }
    /* a job that has never run gets no Suspended condition, which would be one more write each */
    bool waits = sl_json_bool(sl_json_path(o, "spec.suspend"), false) &&
                 sl_json_path(o, "status.startTime") == NULL;
    return sl_json_new_text(waits ? "Suspended" : "Running");
}

static struct sl_json *job_completions(const struct sl_json *o, int64_t now_ms)
{
    struct sl_buf text = {0};
    int64_t succeeded = sl_json_path_int(o, "status.succeeded", 0);
    int64_t parallelism = sl_json_path_int(o, "spec.parallelism", 1);
    const struct sl_json *completions = sl_json_path(o, "spec.completions");
    (void)now_ms;
    if (completions != NULL) {
        sl_buf_print(&text, "%" PRId64 "/%" PRId64, succeeded, sl_json_int(completions, 0));
    } else if (parallelism > 1) {
        sl_buf_print(&text, "%" PRId64 "/1 of %" PRId64, succeeded, parallelism);
    } else {
        sl_buf_print(&text, "%" PRId64 "/1", succeeded);
    }
    return take_text(&text);
}

static struct sl_json *job_duration(const struct sl_json *o, int64_t now_ms)
{
    int64_t end = sl_clock_parse(sl_json_path_text(o, "status.completionTime", ""));
    const char *start = sl_json_path_text(o, "status.startTime", "");
    struct sl_json *cell = age_since(start, end == INT64_MIN ? now_ms : end);
    return cell != NULL ? cell : sl_json_new_text("");
}

static struct sl_json *pod_ready(const struct sl_json *o, int64_t now_ms)
{
    const struct sl_json *statuses = sl_json_path(o, "status.containerStatuses");
    size_t ready = 0;
    (void)now_ms;
    for (size_t i = 0; i < sl_json_len(statuses); i++) {
        ready += sl_json_path_bool(sl_json_at(statuses, i), "ready", false);
    }
    struct sl_buf text = {0};
    sl_buf_print(&text, "%zu/%zu", ready, sl_json_len(sl_json_path(o, "spec.containers")));
    return take_text(&text);
}

static struct sl_json *pod_status(const struct sl_json *o, int64_t now_ms)
{
    const char *reason = sl_json_path_text(o, "status.reason", "");
    const char *phase = sl_json_path_text(o, "status.phase", "Pending");
    (void)now_ms;
    if (sl_object_deleting(o)) {
        return sl_json_new_text("Terminating");
    }
    if (reason[0] != '\0') {
        return sl_json_new_text(reason);
    }
    if (sl_json_len(sl_json_path(o, "spec.schedulingGates")) > 0 && strcmp(phase, "Pending") == 0) {
        return sl_json_new_text("SchedulingGated");
    }
    return sl_json_new_text(strcmp(phase, "Succeeded") == 0 ? "Completed"
                            : strcmp(phase, "Failed") == 0  ? "Error"
                                                            : phase);
}

static struct sl_json *pod_restarts(const struct sl_json *o, int64_t now_ms)
{
    const struct sl_json *statuses = sl_json_path(o, "status.containerStatuses");
    int64_t restarts = 0;
    (void)now_ms;
    for (size_t i = 0; i < sl_json_len(statuses); i++) {
        restarts += sl_json_path_int(sl_json_at(statuses, i), "restartCount", 0);
    }
    struct sl_buf text = {0};
    sl_buf_print(&text, "%" PRId64, restarts);
    return take_text(&text);
}

static struct sl_json *node_status(const struct sl_json *o, int64_t now_ms)
{
    struct sl_buf text = {0};
    const struct sl_json *ready = sl_condition_find(o, "Ready");
    (void)now_ms;
    sl_buf_text(&text, ready == NULL                   ? "Unknown"
                       : sl_condition_true(o, "Ready") ? "Ready"
                                                       : "NotReady");
    if (sl_json_path_bool(o, "spec.unschedulable", false)) {
        sl_buf_text(&text, ",SchedulingDisabled");
    }
    return take_text(&text);
}

static struct sl_json *node_roles(const struct sl_json *o, int64_t now_ms)
{
    static const char prefix[] = "node-role.kubernetes.io/";
    struct sl_buf text = {0};
    (void)now_ms;
    for (struct sl_json_member m = {0}; sl_json_each(sl_json_path(o, "metadata.labels"), &m);) {
        if (strncmp(m.key, prefix, sizeof prefix - 1) == 0 && m.key[sizeof prefix - 1] != '\0') {
            sl_buf_print(&text, "%s%s", text.len > 0 ? "," : "", m.key + sizeof prefix - 1);
        }
    }
    if (text.len == 0) {
        sl_buf_text(&text, "<none>");
    }
    return take_text(&text);
}

static struct sl_json *event_last_seen(const struct sl_json *o, int64_t now_ms)
{
    static const char *const times[] = {"lastTimestamp", "eventTime", "firstTimestamp"};
    for (size_t i = 0; i < 3; i++) {
        const char *time = sl_json_path_text(o, times[i], "");
        if (time[0] != '\0') {
            return age_since(time, now_ms);
        }
    }
    return sl_json_new_text("<unknown>");
}

static struct sl_json *event_object(const struct sl_json *o, int64_t now_ms)
{
    struct sl_buf text = {0};
    (void)now_ms;
    for (const char *p = sl_json_path_text(o, "involvedObject.kind", ""); *p != '\0'; p++) {
        char lower = (char)tolower((unsigned char)*p);
        sl_buf_add(&text, &lower, 1);
    }
    sl_buf_print(&text, "/%s", sl_json_path_text(o, "involvedObject.name", ""));
    return take_text(&text);
}

static struct sl_json *event_source(const struct sl_json *o, int64_t now_ms)
{
    (void)now_ms;
    return sl_json_new_text(
        sl_json_path_text(o, "source.component", sl_json_path_text(o, "reportingComponent", "")));
}

static struct sl_json *global_default(const struct sl_json *o, int64_t now_ms)
{
    (void)now_ms;
    return sl_json_new_bool(sl_json_path_bool(o, "globalDefault", false));
}

static struct sl_json *data_count(const struct sl_json *o, int64_t now_ms)
{
    (void)now_ms;
    return sl_json_new_int(
        (int64_t)(sl_json_len(sl_json_get(o, "data")) + sl_json_len(sl_json_get(o, "binaryData"))));
}

static struct sl_json *secrets_count(const struct sl_json *o, int64_t now_ms)
{
    (void)now_ms;
    return sl_json_new_int((int64_t)sl_json_len(sl_json_get(o, "secrets")));
}

/* What a list of flavors with resources has of one of them, in all flavors. */
static struct sl_quantity sum_of(const struct sl_json *flavors, const char *resource,
                                 const char *member)
{
    struct sl_quantity sum = {0, SL_QUANTITY_DECIMAL_SI};
    for (size_t i = 0; i < sl_json_len(flavors); i++) {
        const struct sl_json *item =
            sl_json_find_by(sl_json_get(sl_json_at(flavors, i), "resources"), "name", resource);
        struct sl_quantity q;
        if (item != NULL && sl_quantity_read(sl_json_get(item, member), &q, NULL) == SL_CODE_OK) {
            sum.nano += q.nano;
            sum.format = q.nano != 0 ? q.format : sum.format;
        }
    }
    return sum;
}

static void add_use(const struct sl_json *o, const struct sl_json *group, const char *resource,
                    struct sl_buf *text)
{
    char used[64], quota[64];
    sl_quantity_print(sum_of(sl_json_path(o, "status.flavorsReservation"), resource, "total"),
                      used);
    sl_quantity_print(sum_of(sl_json_get(group, "flavors"), resource, "nominalQuota"), quota);
    sl_buf_print(text, "%s%s %s/%s", text->len > 0 ? ", " : "", resource, used, quota);
}

/* "cpu 5/8, memory 10Gi/32Gi", of all flavors together */
static struct sl_json *queue_use(const struct sl_json *o, int64_t now_ms)
{
    struct sl_buf text = {0};
    const struct sl_json *groups = sl_json_path(o, "spec.resourceGroups");
    (void)now_ms;
    for (size_t i = 0; i < sl_json_len(groups); i++) {
        const struct sl_json *group = sl_json_at(groups, i);
        const struct sl_json *covered = sl_json_get(group, "coveredResources");
        for (size_t k = 0; k < sl_json_len(covered); k++) {
            add_use(o, group, sl_json_text(sl_json_at(covered, k), ""), &text);
        }
    }
    return take_text(&text);
}

/* "cpu 5, memory 10Gi", of all flavors together */
static struct sl_json *queue_held(const struct sl_json *o, int64_t now_ms)
{
    struct sl_buf text = {0};
    const struct sl_json *flavors = sl_json_path(o, "status.flavorsReservation");
    (void)now_ms;
    struct sl_json *seen = sl_json_new_map();
    for (size_t i = 0; i < sl_json_len(flavors); i++) {
        const struct sl_json *resources = sl_json_get(sl_json_at(flavors, i), "resources");
        for (size_t k = 0; k < sl_json_len(resources); k++) {
            const char *name = sl_json_path_text(sl_json_at(resources, k), "name", "");
            char held[64];
            if (!sl_json_has(seen, name)) {
                sl_quantity_print(sum_of(flavors, name, "total"), held);
                sl_buf_print(&text, "%s%s %s", text.len > 0 ? ", " : "", name, held);
                sl_json_set_bool(seen, name, true);
            }
        }
    }
    sl_json_free(seen);
    return take_text(&text);
}

static const struct {
    const char *source;
    struct sl_json *(*cell)(const struct sl_json *o, int64_t now_ms);
} computed[] = {
    {"@containers", containers},           {"@images", images},
    {"@job-status", job_status},           {"@job-completions", job_completions},
    {"@job-duration", job_duration},       {"@pod-ready", pod_ready},
    {"@pod-status", pod_status},           {"@pod-restarts", pod_restarts},
    {"@node-status", node_status},         {"@node-roles", node_roles},
    {"@event-last-seen", event_last_seen}, {"@event-object", event_object},
    {"@event-source", event_source},       {"@global-default", global_default},
    {"@template-images", template_images}, {"@template-containers", template_containers},
    {"@topology-levels", topology_levels}, {"@queue-use", queue_use},
    {"@queue-held", queue_held},           {"@data-count", data_count},
    {"@secrets-count", secrets_count},
};

/* A Workload behind its equals has no condition that says why it waits (docs/decisions/0008): the first of them is
 * tried for all. NULL: it is another one. */
static struct sl_json *untried_new(const struct sl_json *o, const char *source)
{
    bool reason = strcmp(source, "QuotaReserved.reason") == 0;
    if ((!reason && strcmp(source, "QuotaReserved.message") != 0) ||
        sl_condition_find(o, "QuotaReserved") != NULL || sl_condition_true(o, "Finished") ||
        sl_json_path(o, "status.admission") != NULL) {
        return NULL;
    }
    struct sl_buf text = {0};
    if (reason) {
        sl_buf_text(&text, "Pending");
    } else {
        sl_buf_print(&text, "not tried itself yet: sluicectl why workload/%s -n %s",
                     sl_object_name(o), sl_object_namespace(o));
    }
    return take_text(&text);
}

/* "TYPE" is its status, "TYPE.member" that member. */
static struct sl_json *of_condition(const struct sl_json *object, const char *source)
{
    struct sl_json *untried = untried_new(object, source);
    if (untried != NULL) {
        return untried;
    }
    char type[64];
    const char *dot = strchr(source, '.');
    (void)snprintf(type, sizeof type, "%.*s", (int)strcspn(source, "."), source);
    return sl_json_clone(
        sl_json_get(sl_condition_find(object, type), dot == NULL ? "status" : dot + 1));
}

struct sl_json *sl_cell_new(const struct sl_column *column, const struct sl_json *object,
                            int64_t now_ms)
{
    SL_PRE(column != NULL);
    const char *source = column->source;
    if (source[0] == '?') {
        return of_condition(object, source + 1);
    }
    if (source[0] != '@') {
        const struct sl_json *value = sl_json_path(object, source);
        bool date = strcmp(column->type, "date") == 0;
        return date ? age_since(sl_json_text(value, ""), now_ms) : sl_json_clone(value);
    }
    size_t i = 0;
    while (strcmp(computed[i].source, source) != 0) {
        i++;
        SL_ASSERT(i < sizeof computed / sizeof computed[0]);
    }
    return computed[i].cell(object, now_ms);
}
