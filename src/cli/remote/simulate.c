/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/remote/simulate.h"
#include "base/check.h"
#include "cli/common/manifest.h"
#include "controllers/work/duration.h"
#include "controllers/work/slices.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH "/apis/visibility.kueue.x-k8s.io/v1beta2/simulations"
#define COPIES_MAX 1000
#define ROWS_OF_ALL 100000
#define ROWS_THAT_DIFFER 1000

struct asking {
    struct sl_remote *remote;
    const struct sl_offline *offline; /* or NULL */
    const char *ns;
    struct sl_json *changes;
    struct sl_error *e;
};

/* --- changes ------------------------------------------------------------------------------------------- */

static void add_change(struct asking *a, const char *verb, struct sl_json *object)
{
    struct sl_json *change = sl_json_new_map();
    sl_json_set(change, verb, object);
    sl_json_append(a->changes, change);
}

static enum sl_code fetch(struct asking *a, enum sl_kind kind, const char *ns, const char *name,
                          struct sl_json **out)
{
    struct sl_buf path = {0};
    const struct sl_kind_info *info = sl_kind_info(kind);
    if (name[0] == '\0' || strpbrk(name, "/?#% ") != NULL || strpbrk(ns, "/?#% ") != NULL) {
        return sl_error_set(a->e, SL_CODE_BAD_REQUEST, "\"%.100s\" is no name of a %s", name,
                            info->kind);
    }
    if (a->offline != NULL) {
        return sl_offline_get(a->offline, kind, ns, name, out, a->e);
    }
    sl_buf_print(&path, "/%s/%s", info->group[0] == '\0' ? "api" : "apis", info->api_version);
    if (info->namespaced) {
        sl_buf_print(&path, "/namespaces/%s", ns);
    }
    sl_buf_print(&path, "/%s/%s", info->plural, name);
    enum sl_code code = sl_remote_get(a->remote, path.data, out, a->e);
    sl_buf_fini(&path);
    return code;
}

/* What an earlier option has changed is changed on. */
static struct sl_json *known(const struct asking *a, enum sl_kind kind, const char *name)
{
    for (size_t i = 0; i < sl_json_len(a->changes); i++) {
        struct sl_json *o = sl_json_get(sl_json_at(a->changes, i), "apply");
        if (strcmp(sl_json_path_text(o, "kind", ""), sl_kind_info(kind)->kind) == 0 &&
            strcmp(sl_object_name(o), name) == 0) {
            return o;
        }
    }
    return NULL;
}

/* The object that is to be changed, in the list of changes. */
static struct sl_json *take(struct asking *a, enum sl_kind kind, const char *ns, const char *name)
{
    struct sl_json *o = ns[0] == '\0' ? known(a, kind, name) : NULL;
    if (o != NULL || fetch(a, kind, ns, name, &o) != SL_CODE_OK) {
        return o;
    }
    sl_json_set_text(o, "apiVersion", sl_kind_info(kind)->api_version);
    sl_json_set_text(o, "kind", sl_kind_info(kind)->kind);
    add_change(a, "apply", o);
    return o;
}

/* --- files --------------------------------------------------------------------------------------------- */

/* As apply would: what exists is merged with it. Jobs are another one, but for those that may change while they run. */
static enum sl_code merge(struct asking *a, enum sl_kind kind, struct sl_json **o)
{
    struct sl_json *live = NULL;
    bool job = kind == SL_KIND_COUNT || kind == SL_KIND_JOB || kind == SL_KIND_POD ||
               kind >= SL_KIND_CUSTOM;
    bool grows = kind != SL_KIND_COUNT && sl_is_elastic(*o);
    if ((job && !grows) || sl_object_name(*o)[0] == '\0') {
        return SL_CODE_OK;
    }
    enum sl_code code = fetch(a, kind, sl_object_namespace(*o), sl_object_name(*o), &live);
    if (code == SL_CODE_NOT_FOUND) {
        sl_error_clear(a->e);
        return SL_CODE_OK;
    }
    code = code == SL_CODE_OK ? sl_patch_merge(&live, *o, a->e) : code;
    if (code == SL_CODE_OK) {
        sl_json_free(*o);
        *o = live;
    } else {
        sl_json_free(live);
    }
    return code;
}

static bool add_document(void *context, const struct sl_document *d)
{
    struct asking *a = context;
    if (d->object == NULL) {
        *a->e = d->error;
        return false;
    }
    struct sl_json *o = sl_json_clone(d->object);
    enum sl_kind kind = sl_kind_find_object(sl_json_path_text(o, "apiVersion", ""),
                                            sl_json_path_text(o, "kind", ""));
    bool namespaced = kind == SL_KIND_COUNT || sl_kind_info(kind)->namespaced;
    if (namespaced && sl_object_namespace(o)[0] == '\0') {
        sl_json_set_text(sl_json_path_make(o, "metadata"), "namespace", a->ns);
    }
    if (sl_object_name(o)[0] == '\0') { /* a generated one */
        sl_json_set_text(sl_json_path_make(o, "metadata"), "name", "new");
    }
    enum sl_code code = merge(a, kind, &o);
    add_change(a, "apply", o);
    return code == SL_CODE_OK;
}

/* --- options ------------------------------------------------------------------------------------------- */

/* "WHAT=NUMBER": cuts the text in two. */
static enum sl_code split(const char *option, const char *text, char left[static 512],
                          const char **right, struct sl_error *e)
{
    const char *equals = strrchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0' || equals - text >= 512) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: \"%.100s\" is not NAME=VALUE", option,
                            text);
    }
    memcpy(left, text, (size_t)(equals - text));
    left[equals - text] = '\0';
    *right = equals + 1;
    return SL_CODE_OK;
}

static enum sl_code read_number(const char *option, const char *text, long long most,
                                long long *out, struct sl_error *e)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *end == '\0' && end != text && errno == 0 && *out <= most && *out >= -most
               ? SL_CODE_OK
               : sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: \"%.40s\" is not a number up to %lld",
                              option, text, most);
}

static struct sl_json *quota_of(const struct sl_json *queue, const char *flavor,
                                const char *resource)
{
    const struct sl_json *groups = sl_json_path(queue, "spec.resourceGroups");
    for (size_t i = 0; i < sl_json_len(groups); i++) {
        const struct sl_json *flavors = sl_json_get(sl_json_at(groups, i), "flavors");
        const struct sl_json *found = sl_json_find_by(flavors, "name", flavor);
        struct sl_json *quota = sl_json_find_by(sl_json_get(found, "resources"), "name", resource);
        if (quota != NULL) {
            return quota;
        }
    }
    return NULL;
}

static enum sl_code set_quota(struct asking *a, const char *text)
{
    char what[512] = "";
    const char *quantity = "";
    static const char cohort[] = "cohort/";
    if (split("--quota", text, what, &quantity, a->e) != SL_CODE_OK) {
        return a->e->code;
    }
    char *flavor = strchr(what, ':');
    char *resource = flavor == NULL ? NULL : strchr(flavor + 1, ':');
    if (resource == NULL) {
        return sl_error_set(a->e, SL_CODE_BAD_REQUEST,
                            "--quota: \"%.100s\" is not QUEUE:FLAVOR:RESOURCE=QUANTITY", text);
    }
    *flavor++ = '\0';
    *resource++ = '\0';
    bool is_cohort = strncmp(what, cohort, sizeof cohort - 1) == 0;
    struct sl_json *queue = take(a, is_cohort ? SL_KIND_COHORT : SL_KIND_CLUSTER_QUEUE, "",
                                 is_cohort ? what + sizeof cohort - 1 : what);
    struct sl_json *quota = quota_of(queue, flavor, resource);
    if (queue != NULL && quota == NULL) {
        return sl_error_set(a->e, SL_CODE_NOT_FOUND,
                            "--quota: %.100s has no quota of %.100s in flavor %.100s", what,
                            resource, flavor);
    }
    if (quota != NULL) {
        sl_json_set_text(quota, "nominalQuota", quantity);
    }
    return a->e->code;
}

static enum sl_code drain_node(struct asking *a, const char *name)
{
    struct sl_json *node = NULL;
    if (fetch(a, SL_KIND_NODE, "", name, &node) == SL_CODE_OK) {
        sl_json_set_text(node, "apiVersion", sl_kind_info(SL_KIND_NODE)->api_version);
        sl_json_set_text(node, "kind", sl_kind_info(SL_KIND_NODE)->kind);
        add_change(a, "delete", node);
    }
    return a->e->code;
}

static void add_copy(struct asking *a, const struct sl_json *node, long long number)
{
    char name[300];
    struct sl_json *copy = sl_json_clone(node);
    (void)snprintf(name, sizeof name, "%.240s-new-%lld", sl_object_name(node), number);
    struct sl_json *metadata = sl_json_path_make(copy, "metadata");
    sl_json_set_text(copy, "apiVersion", sl_kind_info(SL_KIND_NODE)->api_version);
    sl_json_set_text(copy, "kind", sl_kind_info(SL_KIND_NODE)->kind);
    sl_json_set_text(metadata, "name", name);
    sl_json_set_text(metadata, "uid", name);
    if (sl_object_label(node, "kubernetes.io/hostname") != NULL) {
        sl_json_set_text(sl_json_get(metadata, "labels"), "kubernetes.io/hostname", name);
    }
    add_change(a, "apply", copy);
}

static enum sl_code add_nodes(struct asking *a, const char *text)
{
    char name[512] = "";
    const char *number = "";
    long long count = 0;
    struct sl_json *node = NULL;
    if (split("--add-nodes", text, name, &number, a->e) == SL_CODE_OK &&
        read_number("--add-nodes", number, COPIES_MAX, &count, a->e) == SL_CODE_OK &&
        fetch(a, SL_KIND_NODE, "", name, &node) == SL_CODE_OK) {
        for (long long i = 1; i <= count; i++) {
            add_copy(a, node, i);
        }
    }
    sl_json_free(node);
    return a->e->code;
}

static enum sl_code set_stop(struct asking *a, const char *name, const char *policy)
{
    struct sl_json *queue = take(a, SL_KIND_CLUSTER_QUEUE, "", name);
    if (queue != NULL) {
        sl_json_set_text(sl_json_path_make(queue, "spec"), "stopPolicy", policy);
    }
    return a->e->code;
}

static enum sl_code hold_queue(struct asking *a, const char *name)
{
    return set_stop(a, name, "Hold");
}

static enum sl_code drain_queue(struct asking *a, const char *name)
{
    return set_stop(a, name, "HoldAndDrain");
}

static enum sl_code set_priority(struct asking *a, const char *text)
{
    char name[512] = "";
    const char *number = "";
    long long priority = 0;
    struct sl_json *workload = NULL;
    if (split("--priority", text, name, &number, a->e) == SL_CODE_OK &&
        read_number("--priority", number, INT32_MAX, &priority, a->e) == SL_CODE_OK) {
        workload = take(a, SL_KIND_WORKLOAD, a->ns, name);
    }
    if (workload != NULL) {
        sl_json_set_int(sl_json_path_make(workload, "spec"), "priority", priority);
    }
    return a->e->code;
}

static enum sl_code each(struct asking *a, const struct sl_flag_list *list,
                         enum sl_code (*fn)(struct asking *a, const char *text))
{
    for (unsigned i = 0; i < list->count && a->e->code == SL_CODE_OK; i++) {
        (void)fn(a, list->items[i]);
    }
    return a->e->code;
}

static enum sl_code read_file(struct asking *a, const char *path)
{
    (void)sl_manifest_read(path, add_document, a, a->e);
    return a->e->code;
}

enum sl_code sl_simulate_changes_new(const struct sl_simulate *s, struct sl_remote *remote,
                                     const char *ns, struct sl_json **out, struct sl_error *e)
{
    SL_PRE(s != NULL && out != NULL && e != NULL);
    struct asking a = {
        .remote = remote, .offline = s->offline, .ns = ns, .changes = sl_json_new_list(), .e = e};
    (void)each(&a, &s->files, read_file);
    (void)each(&a, &s->quotas, set_quota);
    (void)each(&a, &s->held_queues, hold_queue);
    (void)each(&a, &s->drained_queues, drain_queue);
    (void)each(&a, &s->drained_nodes, drain_node);
    (void)each(&a, &s->added_nodes, add_nodes);
    (void)each(&a, &s->priorities, set_priority);
    *out = a.changes;
    return e->code;
}

/* --- the question -------------------------------------------------------------------------------------- */

enum sl_code sl_simulate_ask(struct sl_remote *remote, struct sl_json *changes, const char *horizon,
                             struct sl_json **out, struct sl_error *e)
{
    SL_PRE(out != NULL && e != NULL);
    int64_t ms = 0;
    struct sl_json *body = sl_json_new_map();
    if (changes != NULL) {
        sl_json_set(body, "changes", sl_json_ref(changes));
    }
    sl_json_set_int(body, "limit", changes == NULL ? ROWS_OF_ALL : ROWS_THAT_DIFFER);
    enum sl_code code = horizon == NULL ? SL_CODE_OK : sl_duration_parse(horizon, &ms, e);
    if (horizon != NULL) {
        sl_json_set_int(body, "horizonSeconds", (ms + 999) / 1000);
    }
    struct sl_call call = {.method = "POST", .path = PATH, .body = body};
    code = code == SL_CODE_OK ? sl_remote_call(remote, &call, out, e) : code;
    sl_json_free(body);
    return code;
}

enum sl_code sl_simulate_ask_offline(const struct sl_simulate *s, const struct sl_json *changes,
                                     struct sl_json **out, struct sl_error *e)
{
    SL_PRE(s != NULL && s->offline != NULL && out != NULL && e != NULL);
    int64_t ms = 0;
    if (s->horizon != NULL && sl_duration_parse(s->horizon, &ms, e) != SL_CODE_OK) {
        return e->code;
    }
    return sl_offline_ask(s->offline, changes, ms, ROWS_THAT_DIFFER, out, e);
}
