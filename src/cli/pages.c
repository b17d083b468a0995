/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* /readyz and the pending workloads. */
#include "cli/pages.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PENDING_LIMIT_DEFAULT 1000

void sl_pages_ready(void *context, const char *path, const char *query, struct sl_server_page *page)
{
    (void)path;
    (void)query;
    const struct sl_pages *p = context;
    bool ready = p->ready != NULL ? p->ready(p->context) : sl_controllers_ready(p->controllers);
    page->status = ready ? 200 : 503;
    page->content_type = "text/plain; charset=utf-8";
    sl_buf_text(&page->body, ready ? "ok\n" : "the objects are still being read\n");
}

/* The value of a whole-number argument of the query, or the fallback. */
static long query_number(const char *query, const char *name, long fallback)
{
    size_t len = strlen(name);
    for (const char *at = query; at != NULL && *at != '\0';) {
        if (strncmp(at, name, len) == 0 && at[len] == '=') {
            char *end;
            long n = strtol(at + len + 1, &end, 10);
            return end != at + len + 1 && n >= 0 ? n : fallback;
        }
        at = strchr(at, '&');
        at = at == NULL ? NULL : at + 1;
    }
    return fallback;
}

static struct sl_json *summary_item(const struct sl_json *pending)
{
    static const char *const members[] = {
        "priority", "localQueueName", "positionInClusterQueue", "positionInLocalQueue", "place",
        "reason",   "message"};
    struct sl_json *item = sl_json_new_map();
    struct sl_json *metadata = sl_json_path_make(item, "metadata");
    sl_json_set_text(metadata, "name", sl_json_path_text(pending, "name", ""));
    sl_json_set_text(metadata, "namespace", sl_json_path_text(pending, "namespace", ""));
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const struct sl_json *value = sl_json_get(pending, members[i]);
        if (value != NULL) {
            sl_json_set(item, members[i], sl_json_clone(value));
        }
    }
    return item;
}

static struct sl_json *summary_new(const struct sl_json *pending, const char *query)
{
    long offset = query_number(query, "offset", 0);
    long limit = query_number(query, "limit", PENDING_LIMIT_DEFAULT);
    struct sl_json *items = sl_json_new_list();
    for (long i = offset; i < (long)sl_json_len(pending) && i - offset < limit; i++) {
        sl_json_append(items, summary_item(sl_json_at(pending, (size_t)i)));
    }
    struct sl_json *summary = sl_json_new_map();
    sl_json_set_text(summary, "kind", "PendingWorkloadsSummary");
    sl_json_set_text(summary, "apiVersion", "visibility.kueue.x-k8s.io/v1beta2");
    sl_json_set(summary, "metadata", sl_json_new_map());
    sl_json_set(summary, "items", items);
    return summary;
}

static void answer_json(struct sl_server_page *page, int status, struct sl_json *value)
{
    page->status = status;
    sl_json_print(value, &page->body);
    sl_json_free(value);
}

/* NAME out of ".../clusterqueues/NAME/pendingworkloads"; false when the path is another. */
static bool queue_of(const char *path, char out[static 254])
{
    static const char ending[] = "/pendingworkloads";
    size_t prefix_len = strlen(SL_PAGES_VISIBILITY);
    size_t len = strlen(path);
    if (len <= prefix_len + strlen(ending) || strcmp(path + len - strlen(ending), ending) != 0) {
        return false;
    }
    size_t name_len = len - prefix_len - strlen(ending);
    if (name_len > 253 || memchr(path + prefix_len, '/', name_len) != NULL) {
        return false;
    }
    memcpy(out, path + prefix_len, name_len);
    out[name_len] = '\0';
    return true;
}

void sl_pages_visibility(void *context, const char *path, const char *query,
                         struct sl_server_page *page)
{
    struct sl_pages *p = context;
    struct sl_json *queue = NULL;
    struct sl_error e = {0};
    char name[254];
    if (!queue_of(path, name)) {
        sl_error_set(&e, SL_CODE_NOT_FOUND, "the server could not find the requested resource");
        answer_json(page, 404, sl_status_new(&e, SL_KIND_CLUSTER_QUEUE, ""));
        return;
    }
    if (p->engine == NULL) {
        sl_error_set(&e, SL_CODE_UNAVAILABLE, "another instance makes the decisions, or none yet");
        answer_json(page, 503, sl_status_new(&e, SL_KIND_CLUSTER_QUEUE, name));
        return;
    }
    enum sl_code code = p->client.get(p->client.self, SL_KIND_CLUSTER_QUEUE, "", name, &queue, &e);
    sl_json_free(queue);
    if (code != SL_CODE_OK) {
        answer_json(page, sl_code_http(code), sl_status_new(&e, SL_KIND_CLUSTER_QUEUE, name));
        return;
    }
    struct sl_json *pending = sl_engine_pending(p->engine, name);
    answer_json(page, 200, summary_new(pending, query));
    sl_json_free(pending);
}
