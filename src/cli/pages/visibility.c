/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pending workloads, and the API's discovery. */
#include "cli/pages/visibility.h"
#include "base/effort.h"
#include "base/mem.h"
#include "cli/pages/foresight.h"
#include "cli/pages/why.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_PRESET 1000
#define LIMIT_MAX 100000 /* Kueue's; each costs 20 us, in turns between which is decided */
#define NAME_MAX_LEN 254

const char *const sl_visibility_versions[] = {"v1beta2", "v1beta1", NULL};

static void answer(struct sl_server_page *page, int status, struct sl_json *value)
{
    page->status = status;
    sl_json_print(value, &page->body);
    sl_json_free(value);
}

static void refuse(struct sl_server_page *page, const struct sl_error *e)
{
    answer(page, sl_code_http(e->code), sl_status_new(e, SL_KIND_COUNT, ""));
}

void sl_visibility_not_found(struct sl_server_page *page)
{
    struct sl_error e = {0};
    (void)sl_error_set(&e, SL_CODE_NOT_FOUND, "the server could not find the requested resource");
    refuse(page, &e);
}

/* --- paths and queries ----------------------------------------------------------------------- */

struct question {
    const char *version;
    bool local;
    char ns[NAME_MAX_LEN], name[NAME_MAX_LEN]; /* of the queue */
    int64_t limit, offset;
    bool start; /* say when each starts, too */
};

/* The next segment of a path; false at its end, and when it is too long. */
static bool take_segment(const char **path, char out[static NAME_MAX_LEN])
{
    size_t len = strcspn(*path, "/");
    if (len == 0 || len >= NAME_MAX_LEN) {
        return false;
    }
    memcpy(out, *path, len);
    out[len] = '\0';
    *path += (*path)[len] == '/' ? len + 1 : len;
    return true;
}

static bool take_word(const char **path, const char *word)
{
    char segment[NAME_MAX_LEN];
    const char *at = *path;
    if (!take_segment(&at, segment) || strcmp(segment, word) != 0) {
        return false;
    }
    *path = at;
    return true;
}

/* From behind the group on. */
static bool take_version(const char **path, const char **version)
{
    for (const char *const *v = sl_visibility_versions; *v != NULL; v++) {
        if (take_word(path, *v)) {
            *version = *v;
            return true;
        }
    }
    return false;
}

/* From behind the version on. */
static bool read_path(const char *path, struct question *q)
{
    q->local = take_word(&path, "namespaces");
    if (q->local && !take_segment(&path, q->ns)) {
        return false;
    }
    return take_word(&path, q->local ? "localqueues" : "clusterqueues") &&
           take_segment(&path, q->name) && take_word(&path, "pendingworkloads") && *path == '\0';
}

static bool read_number(const char *text, size_t len, int64_t *out)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    *out = n;
    return end == text + len && len > 0 && errno == 0 && text[0] != ' ' && text[0] != '+';
}

static enum sl_code read_yes(const char *text, size_t len, bool *out, struct sl_error *e)
{
    static const char *const words[] = {"false", "0", "true", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == len && strncmp(words[i], text, len) == 0) {
            *out = i >= 2;
            return SL_CODE_OK;
        }
    }
    return sl_error_set(e, SL_CODE_BAD_REQUEST, "start: \"%.*s\" is neither true nor false",
                        (int)len, text);
}

/* Kueue's rules, but for the highest limit: 0 is none given, what is negative is 0. */
static enum sl_code read_query(const char *query, struct question *q, struct sl_error *e)
{
    q->limit = q->offset = 0;
    for (const char *at = query; *at != '\0';) {
        size_t len = strcspn(at, "&"), name_len = strcspn(at, "=&");
        const char *value = at[name_len] == '=' ? at + name_len + 1 : "";
        int64_t *out = name_len == 5 && strncmp(at, "limit", 5) == 0    ? &q->limit
                       : name_len == 6 && strncmp(at, "offset", 6) == 0 ? &q->offset
                                                                        : NULL;
        if (name_len == 5 && strncmp(at, "start", 5) == 0 && at[name_len] == '=' &&
            read_yes(value, len - name_len - 1, &q->start, e) != SL_CODE_OK) {
            return e->code;
        }
        if (out != NULL && at[name_len] == '=' && !read_number(value, len - name_len - 1, out)) {
            return sl_error_set(e, SL_CODE_BAD_REQUEST, "%.*s: \"%.*s\" is not a whole number",
                                (int)name_len, at, (int)(len - name_len - 1), value);
        }
        at += at[len] == '&' ? len + 1 : len;
    }
    q->limit = q->limit == 0 ? LIMIT_PRESET : q->limit;
    q->limit = q->limit < 0 ? 0 : q->limit > LIMIT_MAX ? LIMIT_MAX : q->limit;
    q->offset = q->offset < 0 ? 0 : q->offset;
    return SL_CODE_OK;
}

/* --- pending workloads ----------------------------------------------------------------------- */

/* What the Workload says about itself. */
static void add_metadata(const struct sl_client *client, struct sl_json *metadata)
{
    static const char *const members[] = {"creationTimestamp", "ownerReferences"};
    struct sl_json *workload = NULL;
    struct sl_error e = {0};
    enum sl_code code =
        client->get(client->self, SL_KIND_WORKLOAD, sl_json_path_text(metadata, "namespace", ""),
                    sl_json_path_text(metadata, "name", ""), &workload, &e);
    for (size_t i = 0; code == SL_CODE_OK && i < sizeof members / sizeof members[0]; i++) {
        const struct sl_json *value = sl_json_get(sl_json_get(workload, "metadata"), members[i]);
        if (value != NULL) {
            sl_json_set(metadata, members[i], sl_json_clone(value));
        }
    }
    sl_json_free(workload);
}

static struct sl_json *item_new(const struct sl_client *client, const struct sl_json *pending)
{
    static const char *const members[] = {"priority",
                                          "localQueueName",
                                          "positionInClusterQueue",
                                          "positionInLocalQueue",
                                          "place",
                                          "reason",
                                          "message",
                                          "foreseen"};
    struct sl_json *item = sl_json_new_map();
    struct sl_json *metadata = sl_json_path_make(item, "metadata");
    sl_json_set_text(metadata, "name", sl_json_path_text(pending, "name", ""));
    sl_json_set_text(metadata, "namespace", sl_json_path_text(pending, "namespace", ""));
    add_metadata(client, metadata);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const struct sl_json *value = sl_json_get(pending, members[i]);
        if (value != NULL) {
            sl_json_set(item, members[i], sl_json_clone(value));
        }
    }
    return item;
}

/* A summary that is being written. */
struct summary {
    struct sl_server_rest rest;
    const struct sl_pages *pages;
    struct sl_pending *pending;   /* NULL: they come as lines */
    struct sl_server_page starts; /* those lines, and what is still to come of them */
    size_t at;                    /* where the next line begins */
    const char *version;
    bool any; /* items so far */
};

static void free_starts(struct summary *s)
{
    if (s->starts.rest != NULL) {
        s->starts.rest->free(s->starts.rest);
        s->starts.rest = NULL;
    }
}

static void free_summary(struct sl_server_rest *rest)
{
    struct summary *s = (struct summary *)rest;
    sl_engine_pending_free(s->pending);
    free_starts(s);
    sl_buf_fini(&s->starts.body);
    sl_mem_free(s);
}

/* The next line; NULL: there is none. */
static struct sl_json *next_line(struct summary *s)
{
    const struct sl_buf *lines = &s->starts.body;
    struct sl_error e = {0};
    const char *begin = lines->data + s->at;
    const char *end = s->at < lines->len ? memchr(begin, '\n', lines->len - s->at) : NULL;
    if (end == NULL) {
        return NULL;
    }
    s->at += (size_t)(end - begin) + 1;
    return sl_json_parse(begin, (size_t)(end - begin), &e);
}

static struct sl_json *next_pending(struct summary *s)
{
    return s->pending != NULL ? sl_engine_pending_next(s->pages->engine, s->pending) : next_line(s);
}

static bool add_items(struct sl_server_rest *rest, struct sl_server_page *page)
{
    struct summary *s = (struct summary *)rest;
    uint64_t begin = sl_effort_steps;
    while (sl_effort_steps - begin < SL_PAGE_SLICE_STEPS) {
        struct sl_json *pending = next_pending(s);
        if (pending == NULL) {
            sl_buf_text(&page->body, "]}");
            return false;
        }
        struct sl_json *item = item_new(&s->pages->client, pending);
        sl_buf_text(&page->body, s->any ? "," : "");
        s->any = true;
        sl_json_print(item, &page->body);
        sl_json_free(item);
        sl_json_free(pending);
    }
    return true;
}

static void print_head(const char *version, struct sl_buf *out)
{
    sl_buf_print(out,
                 "{\"kind\":\"PendingWorkloadsSummary\",\"apiVersion\":\"" SL_VISIBILITY_GROUP
                 "/%s\",\"metadata\":{},\"items\":[",
                 version);
}

/* When a copy of the process has found out when they start; or it has failed, and its page says so. */
static bool await_starts(struct sl_server_rest *rest, struct sl_server_page *page)
{
    struct summary *s = (struct summary *)rest;
    struct sl_server_page *starts = &s->starts;
    bool more = starts->rest->go_on(starts->rest, starts);
    page->asleep = starts->asleep;
    if (more) {
        return true;
    }
    free_starts(s);
    if (starts->status != 200) {
        page->status = starts->status;
        sl_buf_add(&page->body, starts->body.data, starts->body.len);
        return false;
    }
    print_head(s->version, &page->body);
    rest->go_on = add_items;
    return true;
}

static struct summary *summary_new(const struct sl_pages *p, const struct question *q)
{
    struct summary *s = sl_mem_new(1, sizeof *s);
    *s = (struct summary){.rest = {add_items, free_summary}, .pages = p, .version = q->version};
    return s;
}

/* With starts. */
static void begin_starts(const struct sl_pages *p, const struct question *q,
                         const char *cluster_queue, const struct sl_pending_range *range,
                         struct sl_server_page *page)
{
    struct sl_error e = {0};
    struct summary *s = summary_new(p, q);
    s->rest.go_on = await_starts;
    s->starts = (struct sl_server_page){.accept = "", .status = 200};
    enum sl_code code =
        p->foresight != NULL
            ? sl_foresight_pending(p->foresight, cluster_queue, range, &s->starts, &e)
            : sl_error_set(&e, SL_CODE_UNAVAILABLE, "when workloads start is not known here");
    if (code == SL_CODE_OK) {
        page->rest = &s->rest;
        return;
    }
    free_summary(&s->rest);
    refuse(page, &e);
}

static void no_queue(struct sl_server_page *page, const struct question *q)
{
    struct sl_error e = {0};
    const char *kind = q->local ? "localqueue" : "clusterqueue";
    (void)sl_error_set(&e, SL_CODE_NOT_FOUND, "%s." SL_VISIBILITY_GROUP " \"%s\" not found", kind,
                       q->name);
    struct sl_json *status = sl_status_new(&e, SL_KIND_COUNT, "");
    struct sl_json *details = sl_json_path_make(status, "details");
    sl_json_set_text(details, "name", q->name);
    sl_json_set_text(details, "group", SL_VISIBILITY_GROUP);
    sl_json_set_text(details, "kind", kind);
    answer(page, 404, status);
}

static void serve_pending(const struct sl_pages *p, const struct question *q,
                          struct sl_server_page *page)
{
    struct sl_error e = {0};
    struct sl_json *queue = NULL;
    if (p->engine == NULL) {
        (void)sl_error_set(&e, SL_CODE_UNAVAILABLE,
                           "another instance makes the decisions, or none yet");
        refuse(page, &e);
        return;
    }
    enum sl_kind kind = q->local ? SL_KIND_LOCAL_QUEUE : SL_KIND_CLUSTER_QUEUE;
    if (p->client.get(p->client.self, kind, q->ns, q->name, &queue, &e) != SL_CODE_OK) {
        no_queue(page, q);
        return;
    }
    const struct sl_pending_range range = {q->local ? q->ns : NULL, q->local ? q->name : NULL,
                                           q->offset, q->limit};
    const char *cluster_queue =
        q->local ? sl_json_path_text(queue, "spec.clusterQueue", "") : q->name;
    if (q->start) {
        begin_starts(p, q, cluster_queue, &range, page);
    } else {
        struct summary *s = summary_new(p, q);
        s->pending = sl_engine_pending_new(p->engine, cluster_queue, &range);
        print_head(q->version, &page->body);
        page->rest = &s->rest;
    }
    sl_json_free(queue);
}

/* --- discovery ------------------------------------------------------------------------------- */

struct resource {
    const char *name, *singular, *kind;
    const char *verb; /* NULL: none */
    bool namespaced;
};

static void add_resource(struct sl_json *resources, const struct resource *resource)
{
    struct sl_json *r = sl_json_new_map();
    struct sl_json *verbs = sl_json_new_list();
    if (resource->verb != NULL) {
        sl_json_append(verbs, sl_json_new_text(resource->verb));
    }
    sl_json_set_text(r, "name", resource->name);
    sl_json_set_text(r, "singularName", resource->singular);
    sl_json_set_bool(r, "namespaced", resource->namespaced);
    sl_json_set_text(r, "kind", resource->kind);
    sl_json_set(r, "verbs", verbs);
    sl_json_append(resources, r);
}

/* Why it waits: a subresource alone, of resources that are other groups'. */
static void add_why(struct sl_json *resources, const struct sl_why_resource *why)
{
    char full[64];
    (void)snprintf(full, sizeof full, "%s/why", why->plural);
    const struct resource r = {full, "", SL_WHY_KIND, "get", why->namespaced};
    add_resource(resources, &r);
}

static struct sl_json *resources_new(const char *version)
{
    static const char kind[] = "PendingWorkloadsSummary";
    static const struct resource pending[] = {
        {"clusterqueues", "clusterqueue", kind, NULL, false},
        {"clusterqueues/pendingworkloads", "", kind, "get", false},
        {"localqueues", "localqueue", kind, NULL, true},
        {"localqueues/pendingworkloads", "", kind, "get", true}};
    char text[64];
    struct sl_json *list = sl_json_new_map();
    struct sl_json *resources = sl_json_new_list();
    (void)snprintf(text, sizeof text, SL_VISIBILITY_GROUP "/%s", version);
    sl_json_set_text(list, "kind", "APIResourceList");
    sl_json_set_text(list, "apiVersion", "v1");
    sl_json_set_text(list, "groupVersion", text);
    for (size_t i = 0; i < sizeof pending / sizeof pending[0]; i++) {
        add_resource(resources, &pending[i]);
    }
    for (const struct sl_why_resource *r = sl_why_resources; r->plural != NULL; r++) {
        add_why(resources, r);
    }
    if (strcmp(version, sl_visibility_versions[0]) == 0) {
        const struct resource foresight = {SL_FORESIGHT_RESOURCE, "simulation", "Simulation",
                                           "create", false};
        add_resource(resources, &foresight);
    }
    sl_json_set(list, "resources", resources);
    return list;
}

static struct sl_json *version_new(const char *version)
{
    char text[64];
    struct sl_json *v = sl_json_new_map();
    (void)snprintf(text, sizeof text, SL_VISIBILITY_GROUP "/%s", version);
    sl_json_set_text(v, "groupVersion", text);
    sl_json_set_text(v, "version", version);
    return v;
}

static struct sl_json *group_new(void)
{
    struct sl_json *group = sl_json_new_map();
    struct sl_json *versions = sl_json_new_list();
    for (const char *const *v = sl_visibility_versions; *v != NULL; v++) {
        sl_json_append(versions, version_new(*v));
    }
    sl_json_set_text(group, "kind", "APIGroup");
    sl_json_set_text(group, "apiVersion", "v1");
    sl_json_set_text(group, "name", SL_VISIBILITY_GROUP);
    sl_json_set(group, "versions", versions);
    sl_json_set(group, "preferredVersion", version_new(sl_visibility_versions[0]));
    return group;
}

void sl_visibility_groups(void *context, const char *path, const char *query,
                          struct sl_server_page *page)
{
    (void)context;
    (void)query;
    if (strcmp(path, "/apis") != 0) {
        answer(page, 200, group_new());
        return;
    }
    struct sl_json *list = sl_json_new_map();
    struct sl_json *groups = sl_json_new_list();
    sl_json_append(groups, group_new());
    sl_json_set_text(list, "kind", "APIGroupList");
    sl_json_set_text(list, "apiVersion", "v1");
    sl_json_set(list, "groups", groups);
    answer(page, 200, list);
}

void sl_visibility_serve(void *context, const char *path, const char *query,
                         struct sl_server_page *page)
{
    struct question q = {0};
    struct sl_error e = {0};
    const char *at = path + strlen(SL_VISIBILITY_GROUP_PATH "/");
    if (!take_version(&at, &q.version)) {
        sl_visibility_not_found(page);
    } else if (*at == '\0') {
        answer(page, 200, resources_new(q.version));
    } else if (sl_why_is_path(at)) {
        sl_why_serve(context, q.version, at, query, page);
    } else if (!read_path(at, &q)) {
        sl_visibility_not_found(page);
    } else if (read_query(query, &q, &e) != SL_CODE_OK) {
        refuse(page, &e);
    } else {
        serve_pending(context, &q, page);
    }
}
