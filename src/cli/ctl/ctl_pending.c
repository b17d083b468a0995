/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl pending: the queues' own lists from the server, then the workloads that wait without
 * being in one. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include "cli/screen/foreseen.h"
#include "cli/screen/waiting.h"
#include <string.h>

#define EVENTS_MAX 20  /* Jobs of which the events are asked */
#define START_WIDTH 20 /* "in about 23h59m" */
#define REMAINING "metadata.remainingItemCount"

/* Lists that are shown one after the other: each a PendingWorkloadsSummary with a title. */
struct answer {
    struct sl_ctl *c;
    struct sl_json *summaries;
    struct sl_map *seen;                /* "namespace/name" of all that a queue lists */
    struct sl_json *workloads, *queues; /* Workloads and LocalQueues, as items */
    struct sl_json *starts;             /* --start: what was foreseen; NULL otherwise */
};

/* --- output -------------------------------------------------------------------------------------------- */

static void print_row(const struct sl_json *item, int width)
{
    const char *reason = sl_json_path_text(item, "reason", "");
    const char *message = sl_json_path_text(item, "message", "");
    char name[600], position[24] = "-";
    if (sl_json_has(item, "positionInClusterQueue")) {
        snprintf(position, sizeof position, "%lld",
                 (long long)sl_json_path_int(item, "positionInClusterQueue", 0) + 1);
    }
    snprintf(name, sizeof name, "%s/%s", sl_object_namespace(item), sl_object_name(item));
    printf("  %4s  %8lld  %-*s  ", position, (long long)sl_json_path_int(item, "priority", 0),
           width, name);
    if (sl_json_has(item, "foreseen")) {
        struct sl_buf start = {0};
        sl_foreseen_print_start(sl_json_get(item, "foreseen"), &start);
        printf("%-*s  ", START_WIDTH, start.data);
        sl_buf_fini(&start);
    }
    printf("%s%s%s\n", reason, message[0] == '\0' ? "" : ": ", message);
}

static int name_width(const struct sl_json *items)
{
    size_t width = 8;
    for (size_t i = 0; i < sl_json_len(items); i++) {
        const struct sl_json *item = sl_json_at(items, i);
        size_t len = strlen(sl_object_namespace(item)) + 1 + strlen(sl_object_name(item));
        width = len > width ? len : width;
    }
    return width > 60 ? 60 : (int)width;
}

static void print_summary(const struct sl_json *summary)
{
    const struct sl_json *items = sl_json_get(summary, "items");
    const char *title = sl_json_path_text(summary, "title", sl_object_name(summary));
    if (sl_json_len(items) == 0) {
        printf("%s: nothing is pending\n", title);
        return;
    }
    int width = name_width(items);
    size_t shown = sl_json_len(items);
    int64_t hidden = sl_json_path_int(summary, REMAINING, 0);
    printf("%s: %zu pending", title, shown + (size_t)hidden);
    if (hidden > 0) {
        printf(", the first %zu of them", shown);
    }
    printf("\n");
    printf("  %4s  %8s  %-*s  ", "POS", "PRIORITY", width, "WORKLOAD");
    if (sl_json_has(sl_json_at(items, 0), "foreseen")) {
        printf("%-*s  ", START_WIDTH, "START");
    }
    printf("REASON\n");
    for (size_t i = 0; i < sl_json_len(items); i++) {
        print_row(sl_json_at(items, i), width);
    }
}

/* Always one document: the summary itself where there is one, else a List of them. */
static void print_data(const struct answer *a)
{
    struct sl_json *list = sl_json_new_map();
    bool one = sl_json_len(a->summaries) == 1;
    sl_json_set_text(list, "apiVersion", "v1");
    sl_json_set_text(list, "kind", "List");
    sl_json_set(list, "items", sl_json_ref(a->summaries));
    sl_ctl_print_value(a->c, one ? sl_json_at(a->summaries, 0) : list);
    sl_json_free(list);
}

static void print_all(const struct answer *a)
{
    if (sl_ctl_is_data(a->c)) {
        print_data(a);
        return;
    }
    for (size_t i = 0; i < sl_json_len(a->summaries); i++) {
        print_summary(sl_json_at(a->summaries, i));
    }
}

/* --- lists --------------------------------------------------------------------------------------------- */

/* --limit: the first ones are shown, the others counted. */
static void cut(struct sl_json *items, int64_t limit, struct sl_json *summary)
{
    size_t total = sl_json_len(items);
    if (limit == 0 || total <= (size_t)limit) {
        return;
    }
    for (size_t i = total; i > (size_t)limit; i--) {
        sl_json_remove_at(items, i - 1);
    }
    sl_json_set_int(sl_json_path_make(summary, "metadata"), "remainingItemCount",
                    (int64_t)total - limit);
}

/* Takes the items. The title distinguishes the lists of one queue, and names those of none. */
static void add_list(struct answer *a, const char *queue, const char *title, struct sl_json *items)
{
    struct sl_json *summary = sl_json_new_map();
    if (a->c->ns_given) {
        sl_waiting_keep_namespace(items, a->c->ns);
    }
    if (title != NULL && sl_json_len(items) == 0) {
        sl_json_free(items);
        sl_json_free(summary);
        return;
    }
    sl_json_set_text(summary, "apiVersion", "visibility.kueue.x-k8s.io/v1beta2");
    sl_json_set_text(summary, "kind", "PendingWorkloadsSummary");
    sl_json_set_text(sl_json_path_make(summary, "metadata"), "name", queue);
    if (title != NULL) {
        sl_json_set_text(summary, "title", title);
    }
    sl_waiting_hint(items, a->queues);
    if (a->starts != NULL) {
        sl_foreseen_join(items, a->starts);
    }
    cut(items, a->c->limit, summary);
    sl_json_set(summary, "items", items);
    sl_json_append(a->summaries, summary);
}

static enum sl_code add_queue(struct answer *a, const char *queue, struct sl_error *e)
{
    struct sl_json *items = sl_json_new_list();
    enum sl_code code = sl_ctl_fetch_pending(a->c, queue, items, e);
    sl_waiting_see(a->seen, items);
    if (code != SL_CODE_OK) {
        sl_json_free(items);
        return code;
    }
    add_list(a, queue, NULL, items);
    if (a->c->confined) {
        char title[300];
        (void)snprintf(title, sizeof title, "LocalQueue %.253s", queue);
        sl_json_set_text(sl_json_at(a->summaries, sl_json_len(a->summaries) - 1), "title", title);
    }
    return SL_CODE_OK;
}

/* From a user who may not see ClusterQueues to the queues of a namespace. False: that is not the trouble. */
static bool confine(struct answer *a, struct sl_error *e)
{
    if (e->code != SL_CODE_FORBIDDEN || a->c->confined) {
        return false;
    }
    sl_error_clear(e);
    a->c->confined = true;
    fprintf(stderr,
            "warning: ClusterQueues are not yours to see: these are the LocalQueues of namespace "
            "%s\n",
            a->c->ns);
    return true;
}

/* Of the queue that was asked for: workloads that are not in its line. */
static void add_others(struct answer *a, const char *queue)
{
    char title[400];
    snprintf(title, sizeof title, "%s, not in line", queue);
    add_list(a, queue, title, sl_waiting_unlisted(a->workloads, a->seen, a->queues, queue));
    snprintf(title, sizeof title, "%s, with quota but not admitted", queue);
    add_list(a, queue, title, sl_waiting_for_admission(a->workloads, queue));
}

/* What the Job's newest warning says. */
static void add_warning(struct answer *a, struct sl_json *item)
{
    struct sl_buf path = {0};
    struct sl_json *events = NULL;
    struct sl_error e = {0};
    sl_ctl_path(SL_KIND_EVENT, sl_object_namespace(item), "", &path);
    sl_buf_text(&path, "?fieldSelector=involvedObject.kind%3DJob%2CinvolvedObject.name%3D");
    sl_ctl_escape(sl_object_name(item), &path);
    if (sl_remote_get(a->c->remote, path.data, &events, &e) == SL_CODE_OK) {
        const struct sl_json *list = sl_json_get(events, "items");
        for (size_t i = 0; i < sl_json_len(list); i++) {
            const struct sl_json *event = sl_json_at(list, i);
            if (strcmp(sl_json_path_text(event, "type", ""), "Warning") == 0) {
                sl_json_set_text(item, "reason", sl_json_path_text(event, "reason", ""));
                sl_json_set_text(item, "message", sl_json_path_text(event, "message", ""));
            }
        }
    }
    sl_json_free(events);
    sl_buf_fini(&path);
}

static enum sl_code add_jobs(struct answer *a, struct sl_error *e)
{
    struct sl_json *jobs = NULL;
    enum sl_code code = sl_ctl_fetch_list(a->c, SL_KIND_JOB, &jobs, e);
    struct sl_json *items = sl_waiting_without_workload(sl_json_get(jobs, "items"), a->workloads);
    for (size_t i = 0; i < sl_json_len(items) && i < EVENTS_MAX; i++) {
        add_warning(a, sl_json_at(items, i));
    }
    add_list(a, "", "Jobs without a Workload", items);
    sl_json_free(jobs);
    return code;
}

static enum sl_code add_queues(struct answer *a, struct sl_error *e)
{
    struct sl_json *queues = NULL;
    enum sl_code code = SL_CODE_OK;
    for (unsigned i = 0; i < a->c->arguments.count && code == SL_CODE_OK; i++) {
        code = add_queue(a, a->c->arguments.items[i], e);
        code =
            code != SL_CODE_OK && confine(a, e) ? add_queue(a, a->c->arguments.items[i], e) : code;
    }
    if (a->c->arguments.count > 0) {
        return code;
    }
    code = sl_ctl_fetch_list(a->c, SL_KIND_CLUSTER_QUEUE, &queues, e);
    if (code != SL_CODE_OK && confine(a, e)) {
        code = sl_ctl_fetch_list(a->c, SL_KIND_LOCAL_QUEUE, &queues, e);
    }
    const struct sl_json *items = sl_json_get(queues, "items");
    for (size_t i = 0; i < sl_json_len(items) && code == SL_CODE_OK; i++) {
        code = add_queue(a, sl_object_name(sl_json_at(items, i)), e);
    }
    sl_json_free(queues);
    return code;
}

static enum sl_code add_rest(struct answer *a, struct sl_error *e)
{
    for (unsigned i = 0; i < a->c->arguments.count && !a->c->confined; i++) {
        add_others(a, a->c->arguments.items[i]);
    }
    if (a->c->arguments.count > 0) {
        return SL_CODE_OK;
    }
    add_list(a, "", "in no ClusterQueue", sl_waiting_unlisted(a->workloads, a->seen, NULL, ""));
    add_list(a, "", "with quota but not admitted", sl_waiting_for_admission(a->workloads, NULL));
    return add_jobs(a, e);
}

int sl_ctl_pending(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_error e = {0};
    struct sl_json *workloads = NULL, *queues = NULL;
    if (c->limit < 0) {
        return sl_ctl_misused("--limit must not be negative");
    }
    struct answer a = {.c = c, .summaries = sl_json_new_list(), .seen = sl_map_new()};
    enum sl_code code =
        c->start ? sl_simulate_ask(c->remote, NULL, NULL, &a.starts, &e) : SL_CODE_OK;
    code = code == SL_CODE_OK ? add_queues(&a, &e) : code;
    /* Fetched last: what has been admitted meanwhile is not taken for one that no queue lists. */
    code = code == SL_CODE_OK ? sl_ctl_fetch_list(c, SL_KIND_WORKLOAD, &workloads, &e) : code;
    code = code == SL_CODE_OK ? sl_ctl_fetch_list(c, SL_KIND_LOCAL_QUEUE, &queues, &e) : code;
    a.workloads = sl_json_get(workloads, "items");
    a.queues = sl_json_get(queues, "items");
    if (code == SL_CODE_OK) {
        code = add_rest(&a, &e);
    }
    if (code == SL_CODE_OK) {
        print_all(&a);
    }
    sl_map_free(a.seen);
    sl_json_free(a.starts);
    sl_json_free(a.summaries);
    sl_json_free(workloads);
    sl_json_free(queues);
    return code == SL_CODE_OK ? 0 : sl_ctl_failed("", &e);
}
