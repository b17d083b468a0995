/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl pending: the queues' own lists from the server, then the workloads that no queue lists, because theirs is
 * missing or they are deactivated. */
#include "base/map.h"
#include "cli/ctl.h"
#include "cli/stray.h"
#include <string.h>

#define PENDING_PAGE 1000 /* what the server gives at most when it is not asked for more */

static void print_row(const struct sl_json *item, int width)
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

static void print_items(const char *title, const struct sl_json *items)
{
    if (sl_json_len(items) == 0) {
        printf("%s: nothing is pending\n", title);
        return;
    }
    int width = name_width(items);
    bool cut = sl_json_len(items) >= PENDING_PAGE;
    printf("%s: %s%zu pending\n", title, cut ? "the first " : "", sl_json_len(items));
    printf("  %4s  %8s  %-*s  %s\n", "POS", "PRIORITY", width, "WORKLOAD", "REASON");
    for (size_t i = 0; i < sl_json_len(items); i++) {
        print_row(sl_json_at(items, i), width);
    }
}

static bool is_data(const struct sl_ctl *c)
{
    return c->output == SL_OUTPUT_JSON || c->output == SL_OUTPUT_YAML;
}

/* One queue's list; what it lists goes into `seen`, unless that is NULL. */
static enum sl_code pending_of(struct sl_ctl *c, const char *queue, struct sl_map *seen,
                               struct sl_error *e)
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
    if (is_data(c)) {
        struct sl_buf text = {0};
        (c->output == SL_OUTPUT_JSON ? sl_json_print_pretty : sl_json_print_yaml)(summary, &text);
        sl_ctl_print(&text);
        putchar('\n');
        sl_buf_fini(&text);
    } else {
        print_items(queue, items);
    }
    if (seen != NULL) {
        sl_stray_see(seen, items);
    }
    sl_json_free(summary);
    return SL_CODE_OK;
}

/* A queue with a full page has more than was seen, and could be taken for none: then nothing is said. */
static enum sl_code pending_nowhere(struct sl_ctl *c, const struct sl_map *seen, bool complete,
                                    struct sl_error *e)
{
    struct sl_json *workloads = NULL;
    if (is_data(c) || !complete) {
        return SL_CODE_OK;
    }
    enum sl_code code = sl_ctl_fetch_list(c, SL_KIND_WORKLOAD, &workloads, e);
    struct sl_json *strays = sl_stray_new(sl_json_get(workloads, "items"), seen);
    if (sl_json_len(strays) > 0) {
        print_items("in no ClusterQueue", strays);
    }
    sl_json_free(strays);
    sl_json_free(workloads);
    return code;
}

static enum sl_code pending_everywhere(struct sl_ctl *c, struct sl_error *e)
{
    struct sl_json *queues = NULL;
    struct sl_map *seen = sl_map_new();
    bool complete = true;
    enum sl_code code = sl_ctl_fetch_list(c, SL_KIND_CLUSTER_QUEUE, &queues, e);
    const struct sl_json *items = sl_json_get(queues, "items");
    for (size_t i = 0; i < sl_json_len(items) && code == SL_CODE_OK; i++) {
        size_t before = sl_map_count(seen);
        code = pending_of(c, sl_object_name(sl_json_at(items, i)), seen, e);
        complete = complete && sl_map_count(seen) - before < PENDING_PAGE;
    }
    if (code == SL_CODE_OK) {
        code = pending_nowhere(c, seen, complete, e);
    }
    sl_map_free(seen);
    sl_json_free(queues);
    return code;
}

int sl_ctl_pending(struct sl_ctl *c)
{
    struct sl_error e = {0};
    enum sl_code code = c->arguments.count == 0 ? pending_everywhere(c, &e) : SL_CODE_OK;
    for (unsigned i = 0; i < c->arguments.count && code == SL_CODE_OK; i++) {
        code = pending_of(c, c->arguments.items[i], NULL, &e);
    }
    return code == SL_CODE_OK ? 0 : sl_ctl_failed("", &e);
}
