/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl node: the nodes with what runs on them, and failures to order. */
#include "base/clock.h"
#include "base/check.h"
#include "base/map.h"
#include "cli/ctl/ctl.h"
#include "cli/common/failure.h"
#include <string.h>

#define TRIES 5 /* when others write the node at the same time */

/* --- list ---------------------------------------------------------------------------------------------- */

/* Live pods for each node. */
static struct sl_map *count_pods(const struct sl_json *pods)
{
    struct sl_map *counts = sl_map_new();
    for (size_t i = 0; i < sl_json_len(pods); i++) {
        const struct sl_json *pod = sl_json_at(pods, i);
        const char *node = sl_json_path_text(pod, "spec.nodeName", "");
        const char *phase = sl_json_path_text(pod, "status.phase", "");
        union sl_map_value value = {.number = 0};
        if (node[0] != '\0' && strcmp(phase, "Succeeded") != 0 && strcmp(phase, "Failed") != 0) {
            (void)sl_map_get(counts, node, &value);
            value.number++;
            sl_map_put(counts, node, value);
        }
    }
    return counts;
}

static void print_node(const struct sl_json *node, const struct sl_map *counts, int width)
{
    union sl_map_value pods = {.number = 0};
    const struct sl_json *taints = sl_json_path(node, "spec.taints");
    (void)sl_map_get(counts, sl_object_name(node), &pods);
    printf("%-*s  %-8s  %4llu  ", width, sl_object_name(node), sl_failure_word(node),
           (unsigned long long)pods.number);
    for (size_t i = 0; i < sl_json_len(taints); i++) {
        printf("%s%s:%s", i > 0 ? "," : "", sl_json_path_text(sl_json_at(taints, i), "key", ""),
               sl_json_path_text(sl_json_at(taints, i), "effect", ""));
    }
    printf("%s\n", sl_json_len(taints) == 0 ? "-" : "");
}

static void print_nodes(const struct sl_json *items, const struct sl_json *pods)
{
    struct sl_map *counts = count_pods(pods);
    int width = 4;
    for (size_t i = 0; i < sl_json_len(items); i++) {
        int len = (int)strlen(sl_object_name(sl_json_at(items, i)));
        width = len > width ? len : width;
    }
    printf("%-*s  %-8s  %4s  %s\n", width, "NAME", "STATUS", "PODS", "TAINTS");
    for (size_t i = 0; i < sl_json_len(items); i++) {
        print_node(sl_json_at(items, i), counts, width);
    }
    sl_map_free(counts);
}

static int list_nodes(struct sl_ctl *c)
{
    struct sl_json *nodes = NULL;
    struct sl_json *pods = NULL;
    struct sl_error e = {0};
    enum sl_code code = sl_ctl_fetch_list(c, SL_KIND_NODE, &nodes, &e);
    code = code == SL_CODE_OK ? sl_ctl_fetch_list(c, SL_KIND_POD, &pods, &e) : code;
    const struct sl_json *items = sl_json_get(nodes, "items");
    if (code == SL_CODE_OK && sl_ctl_is_data(c)) {
        sl_ctl_print_value(c, nodes);
    } else if (code == SL_CODE_OK && c->output == SL_OUTPUT_NAME) {
        sl_ctl_print_names(SL_KIND_NODE, items);
    } else if (code == SL_CODE_OK) {
        print_nodes(items, sl_json_get(pods, "items"));
    }
    sl_json_free(nodes);
    sl_json_free(pods);
    return code == SL_CODE_OK ? 0 : sl_ctl_failed("node list", &e);
}

/* --- fail and recover ---------------------------------------------------------------------------------- */

static enum sl_code put(struct sl_ctl *c, const char *path, const char *part,
                        const struct sl_json *node, struct sl_error *e)
{
    struct sl_buf full = {0};
    sl_buf_print(&full, "%s%s", path, part);
    struct sl_call call = {.method = "PUT", .path = full.data, .body = node};
    enum sl_code code = sl_remote_call(c->remote, &call, NULL, e);
    sl_buf_fini(&full);
    return code;
}

/* One part of a node, fetched again and written where it changes. */
static enum sl_code set_part(struct sl_ctl *c, const char *path, bool status, bool failed,
                             bool *changed, struct sl_error *e)
{
    struct sl_json *node = NULL;
    enum sl_code code = sl_remote_get(c->remote, path, &node, e);
    if (code == SL_CODE_OK && (status ? sl_failure_set_ready(node, failed, sl_clock_now_ms())
                                      : sl_failure_set_taints(node, failed))) {
        *changed = true;
        code = put(c, path, status ? "/status" : "", node, e);
    }
    sl_json_free(node);
    return code;
}

/* One try. A failure begins with the status, as when a kubelet falls silent. A recovery begins with the taints: a node
 * that is ready and still has NoExecute would lose the pods that it is to keep. */
static enum sl_code set_once(struct sl_ctl *c, const char *path, bool failed, bool *changed,
                             struct sl_error *e)
{
    enum sl_code code = set_part(c, path, failed, failed, changed, e);
    return code == SL_CODE_OK ? set_part(c, path, !failed, failed, changed, e) : code;
}

static int set_node(struct sl_ctl *c, const char *name, bool failed, struct sl_json *made)
{
    struct sl_error e = {0};
    struct sl_buf path = {0};
    struct sl_json *node = NULL;
    char what[32];
    bool changed = false;
    enum sl_code code = SL_CODE_CONFLICT;
    sl_ctl_path(SL_KIND_NODE, "", name, &path);
    for (int k = 0; k < TRIES && code == SL_CODE_CONFLICT; k++) {
        sl_error_clear(&e);
        code = set_once(c, path.data, failed, &changed, &e);
    }
    code = code == SL_CODE_OK ? sl_remote_get(c->remote, path.data, &node, &e) : code;
    if (code == SL_CODE_OK) {
        (void)snprintf(what, sizeof what, "%s%s", changed ? "" : "is already ",
                       failed ? "not ready" : "ready");
        sl_ctl_did(c, SL_KIND_NODE, node, what, made);
    }
    sl_buf_fini(&path);
    sl_json_free(node);
    return code == SL_CODE_OK ? 0 : sl_ctl_failed(failed ? "node fail" : "node recover", &e);
}

static int set_nodes(struct sl_ctl *c, bool failed)
{
    if (c->arguments.count < 2) {
        return sl_ctl_misused("node %s takes the names of nodes", c->arguments.items[0]);
    }
    struct sl_json *made = sl_json_new_list();
    int status = 0;
    for (unsigned i = 1; i < c->arguments.count && status == 0; i++) {
        const char *name = c->arguments.items[i];
        status = name[0] == '\0' ? sl_ctl_misused("the name of a node is empty")
                                 : set_node(c, name, failed, made);
    }
    sl_ctl_print_made(c, made);
    sl_json_free(made);
    return status;
}

int sl_ctl_node(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    const char *what = c->arguments.count > 0 ? c->arguments.items[0] : "";
    if (strcmp(what, "list") == 0 && c->arguments.count == 1) {
        return list_nodes(c);
    }
    if (strcmp(what, "fail") == 0 || strcmp(what, "recover") == 0) {
        return set_nodes(c, strcmp(what, "fail") == 0);
    }
    return sl_ctl_misused("node takes list, fail NAME or recover NAME");
}
