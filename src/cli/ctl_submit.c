/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl submit, pending and version. */
#include "cli/ctl.h"
#include "cli/submit.h"
#include "cli/version.h"
#include <string.h>

#define PENDING_PAGE 1000 /* what the server gives at most when it is not asked for more */

static enum sl_code submit_one(struct sl_ctl *c, const struct sl_submit *s, struct sl_error *e)
{
    struct sl_buf path = {0};
    struct sl_json *result = NULL;
    struct sl_json *job = sl_submit_job_new(s);
    sl_ctl_path(SL_KIND_JOB, s->ns, "", &path);
    struct sl_call call = {.method = "POST", .path = path.data, .body = job};
    enum sl_code code = sl_remote_call(c->remote, &call, &result, e);
    if (code == SL_CODE_OK) {
        printf("job/%s submitted to queue %s in namespace %s\n", sl_object_name(result), s->queue,
               s->ns);
    }
    sl_json_free(result);
    sl_json_free(job);
    sl_buf_fini(&path);
    return code;
}

int sl_ctl_submit(struct sl_ctl *c)
{
    struct sl_submit s = {.ns = c->ns,
                          .queue = c->queue,
                          .cpu = c->cpu,
                          .memory = c->memory,
                          .priority_class = c->priority_class,
                          .run_for = c->run_for,
                          .name = c->name,
                          .parallelism = c->parallelism,
                          .fail = c->fail};
    struct sl_error e = {0};
    if (c->arguments.count > 0) {
        return sl_ctl_misused("submit takes no arguments, only options");
    }
    if (sl_submit_check(&s, &e) != SL_CODE_OK) {
        return sl_ctl_misused("%s", e.text);
    }
    if (c->count < 1 || c->count > 100000) {
        return sl_ctl_misused("--count must be from 1 to 100000");
    }
    for (int64_t i = 1; i <= c->count; i++) {
        char name[300];
        if (c->name != NULL && c->count > 1) {
            snprintf(name, sizeof name, "%s-%lld", c->name, (long long)i);
            s.name = name;
        }
        if (submit_one(c, &s, &e) != SL_CODE_OK) {
            return sl_ctl_failed("submit", &e);
        }
    }
    return 0;
}

/* --- pending ------------------------------------------------------------------------------------------- */

static void print_pending_row(const struct sl_json *item, int width)
{
    const char *reason = sl_json_path_text(item, "reason", "");
    const char *message = sl_json_path_text(item, "message", "");
    char name[600];
    snprintf(name, sizeof name, "%s/%s", sl_json_path_text(item, "metadata.namespace", ""),
             sl_json_path_text(item, "metadata.name", ""));
    printf("  %4lld  %8lld  %-*s  %s%s%s\n",
           (long long)sl_json_path_int(item, "positionInClusterQueue", 0) + 1,
           (long long)sl_json_path_int(item, "priority", 0), width, name, reason,
           message[0] == '\0' ? "" : ": ", message);
}

static int name_width(const struct sl_json *items)
{
    size_t width = 8;
    for (size_t i = 0; i < sl_json_len(items); i++) {
        const struct sl_json *item = sl_json_at(items, i);
        size_t len = strlen(sl_json_path_text(item, "metadata.namespace", "")) + 1 +
                     strlen(sl_json_path_text(item, "metadata.name", ""));
        width = len > width ? len : width;
    }
    return width > 60 ? 60 : (int)width;
}

static enum sl_code pending_of(struct sl_ctl *c, const char *queue, struct sl_error *e)
{
    struct sl_buf path = {0};
    struct sl_json *summary = NULL;
    sl_buf_text(&path, "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/");
    sl_ctl_escape(queue, &path);
    sl_buf_text(&path, "/pendingworkloads");
    enum sl_code code = sl_remote_get(c->remote, path.data, &summary, e);
    sl_buf_fini(&path);
    if (code != SL_CODE_OK) {
        return code;
    }
    const struct sl_json *items = sl_json_get(summary, "items");
    if (c->output == SL_OUTPUT_JSON || c->output == SL_OUTPUT_YAML) {
        struct sl_buf text = {0};
        (c->output == SL_OUTPUT_JSON ? sl_json_print_pretty : sl_json_print_yaml)(summary, &text);
        sl_ctl_print(&text);
        putchar('\n');
        sl_buf_fini(&text);
    } else if (sl_json_len(items) == 0) {
        printf("%s: nothing is pending\n", queue);
    } else {
        int width = name_width(items);
        bool cut = sl_json_len(items) >= PENDING_PAGE;
        printf("%s: %s%zu pending\n", queue, cut ? "the first " : "", sl_json_len(items));
        printf("  %4s  %8s  %-*s  %s\n", "POS", "PRIORITY", width, "WORKLOAD", "REASON");
        for (size_t i = 0; i < sl_json_len(items); i++) {
            print_pending_row(sl_json_at(items, i), width);
        }
    }
    sl_json_free(summary);
    return SL_CODE_OK;
}

int sl_ctl_pending(struct sl_ctl *c)
{
    struct sl_error e = {0};
    struct sl_json *queues = NULL;
    enum sl_code code = SL_CODE_OK;
    for (unsigned i = 0; i < c->arguments.count && code == SL_CODE_OK; i++) {
        code = pending_of(c, c->arguments.items[i], &e);
    }
    if (c->arguments.count == 0) {
        struct sl_buf path = {0};
        sl_ctl_path(SL_KIND_CLUSTER_QUEUE, "", "", &path);
        code = sl_remote_get(c->remote, path.data, &queues, &e);
        sl_buf_fini(&path);
    }
    const struct sl_json *items = sl_json_get(queues, "items");
    for (size_t i = 0; i < sl_json_len(items) && code == SL_CODE_OK; i++) {
        code = pending_of(c, sl_object_name(sl_json_at(items, i)), &e);
    }
    sl_json_free(queues);
    return code == SL_CODE_OK ? 0 : sl_ctl_failed("", &e);
}

int sl_ctl_version(struct sl_ctl *c)
{
    struct sl_json *version = NULL;
    struct sl_error e = {0};
    printf("sluicectl %s\n", SL_VERSION);
    if (sl_remote_get(c->remote, "/version", &version, &e) != SL_CODE_OK) {
        return sl_ctl_failed("", &e);
    }
    printf("server    %s at %s\n", sl_json_path_text(version, "gitVersion", "?"),
           sl_remote_server(c->remote));
    sl_json_free(version);
    return 0;
}
