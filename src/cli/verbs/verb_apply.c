/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl apply, and delete by file or by name. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/common/manifest.h"
#include <string.h>

struct batch {
    struct sl_ctl *c;
    struct sl_map
        *named; /* "Kind/name" that applied objects name, to who does; NULL: not of interest */
    bool failed;
    bool any; /* the file had a document */
    /* what to do with one object; says what it did */
    enum sl_code (*act)(struct sl_ctl *c, enum sl_kind kind, struct sl_json *object,
                        struct sl_error *e);
};

static void done(const struct sl_ctl *c, enum sl_kind kind, const char *name, const char *what)
{
    struct sl_buf text = {0};
    if (c->output == SL_OUTPUT_NAME) {
        sl_ctl_name(kind, name, &text);
    } else {
        sl_buf_print(&text, "%s/%s %s", sl_kind_info(kind)->singular, name, what);
    }
    if (!c->quiet) {
        printf("%s\n", text.data);
    }
    sl_buf_fini(&text);
}

static enum sl_code create(struct sl_ctl *c, enum sl_kind kind, struct sl_json *object,
                           struct sl_error *e)
{
    struct sl_buf path = {0};
    struct sl_json *result = NULL;
    sl_ctl_path(kind, sl_object_namespace(object), "", &path);
    struct sl_call call = {.method = "POST", .path = path.data, .body = object};
    enum sl_code code = sl_remote_call(c->remote, &call, &result, e);
    sl_buf_fini(&path);
    if (code == SL_CODE_OK) {
        done(c, kind, sl_object_name(result), "created");
        sl_json_free(result);
    }
    return code;
}

static enum sl_code merge(struct sl_ctl *c, enum sl_kind kind, const char *path,
                          const struct sl_json *object, const struct sl_json *live,
                          struct sl_error *e)
{
    struct sl_json *result = NULL;
    struct sl_call call = {.method = "PATCH",
                           .path = path,
                           .content_type = "application/merge-patch+json",
                           .body = object};
    enum sl_code code = sl_remote_call(c->remote, &call, &result, e);
    if (code == SL_CODE_OK) {
        bool same =
            strcmp(sl_object_resource_version(live), sl_object_resource_version(result)) == 0;
        done(c, kind, sl_object_name(result), same ? "unchanged" : "configured");
        sl_json_free(result);
    }
    return code;
}

static enum sl_code apply_object(struct sl_ctl *c, enum sl_kind kind, struct sl_json *object,
                                 struct sl_error *e)
{
    const char *name = sl_object_name(object);
    if (name[0] == '\0') {
        return create(c, kind, object, e); /* generateName, or an error from the server */
    }
    struct sl_buf path = {0};
    struct sl_json *live = NULL;
    sl_ctl_path(kind, sl_object_namespace(object), name, &path);
    enum sl_code code = sl_remote_get(c->remote, path.data, &live, e);
    if (code == SL_CODE_NOT_FOUND) {
        sl_error_clear(e);
        code = create(c, kind, object, e);
    } else if (code == SL_CODE_OK) {
        code = merge(c, kind, path.data, object, live, e);
    }
    sl_json_free(live);
    sl_buf_fini(&path);
    return code;
}

static enum sl_code delete_named(struct sl_ctl *c, enum sl_kind kind, const char *ns,
                                 const char *name, struct sl_error *e)
{
    struct sl_buf path = {0};
    sl_ctl_path(kind, ns, name, &path);
    if (c->dry_run == SL_DRY_RUN_SERVER) {
        sl_ctl_query(&path, "dryRun", "All");
    }
    struct sl_call call = {.method = "DELETE", .path = path.data};
    enum sl_code code =
        c->dry_run == SL_DRY_RUN_CLIENT ? SL_CODE_OK : sl_remote_call(c->remote, &call, NULL, e);
    sl_buf_fini(&path);
    if (code == SL_CODE_OK) {
        done(c, kind, name, c->dry_run == SL_DRY_RUN_NONE ? "deleted" : "deleted (dry run)");
    }
    return code;
}

static enum sl_code delete_object(struct sl_ctl *c, enum sl_kind kind, struct sl_json *object,
                                  struct sl_error *e)
{
    const char *name = sl_object_name(object);
    if (name[0] == '\0') {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "metadata.name is missing");
    }
    return delete_named(c, kind, sl_object_namespace(object), name, e);
}

/* --- names in what was applied ------------------------------------------------------------------------- */

/* Where an object names another one of the cluster; [] is each item of a list. */
static const struct {
    const char *path;
    enum sl_kind kind, named;
} references[] = {
    {"spec.resourceGroups[].flavors[].name", SL_KIND_CLUSTER_QUEUE, SL_KIND_RESOURCE_FLAVOR},
    {"spec.resourceGroups[].flavors[].name", SL_KIND_COHORT, SL_KIND_RESOURCE_FLAVOR},
    {"spec.admissionChecksStrategy.admissionChecks[].name", SL_KIND_CLUSTER_QUEUE,
     SL_KIND_ADMISSION_CHECK},
    {"spec.clusterQueue", SL_KIND_LOCAL_QUEUE, SL_KIND_CLUSTER_QUEUE},
    {"spec.topologyName", SL_KIND_RESOURCE_FLAVOR, SL_KIND_TOPOLOGY}};

static void note_name(struct batch *b, enum sl_kind named, const char *name,
                      const struct sl_json *object)
{
    struct sl_buf key = {0}, who = {0};
    union sl_map_value old;
    sl_buf_print(&key, "%s/%s", sl_kind_info(named)->kind, name);
    sl_buf_print(&who, "%s %s", sl_json_path_text(object, "kind", ""), sl_object_name(object));
    if (name[0] != '\0' && !sl_map_get(b->named, key.data, &old)) {
        sl_map_put(b->named, key.data, (union sl_map_value){.pointer = sl_mem_text(who.data)});
    }
    sl_buf_fini(&key);
    sl_buf_fini(&who);
}

/* Each text at the path below `v`. The paths have at most two lists in them. */
static void note_path(struct batch *b, enum sl_kind named, const struct sl_json *v,
                      const char *path, const struct sl_json *object)
{
    const char *list = strstr(path, "[].");
    if (list == NULL) {
        note_name(b, named, sl_json_path_text(v, path, ""), object);
        return;
    }
    char start[64];
    (void)snprintf(start, sizeof start, "%.*s", (int)(list - path), path);
    const struct sl_json *items = sl_json_path(v, start);
    for (size_t i = 0; i < sl_json_len(items); i++) {
        note_path(b, named, sl_json_at(items, i), list + 3, object);
    }
}

static void note_names(struct batch *b, enum sl_kind kind, const struct sl_json *object)
{
    for (size_t i = 0; b->named != NULL && i < sizeof references / sizeof references[0]; i++) {
        if (references[i].kind == kind) {
            note_path(b, references[i].named, object, references[i].path, object);
        }
    }
}

/* Last: what is named may be in the same file, further down. */
static void warn_of_names(struct batch *b)
{
    for (struct sl_map_item e = {0}; sl_map_each(b->named, &e);) {
        const char *slash = strchr(e.key, '/');
        for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
            const char *kind = sl_kind_info(references[i].named)->kind;
            if (strncmp(kind, e.key, (size_t)(slash - e.key)) == 0 && kind[slash - e.key] == '\0') {
                sl_ctl_warn_missing(b->c, references[i].named, "", slash + 1, e.value.pointer);
                break;
            }
        }
    }
}

/* --- documents ----------------------------------------------------------------------------------------- */

/* Find the kind, and put the object into its namespace. */
static enum sl_code prepare(struct sl_ctl *c, struct sl_json *object, enum sl_kind *kind,
                            struct sl_error *e)
{
    const char *version = sl_json_path_text(object, "apiVersion", "");
    const char *name = sl_json_path_text(object, "kind", "");
    if (sl_json_type(object) != SL_JSON_MAP || version[0] == '\0' || name[0] == '\0') {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "not a Kubernetes object: apiVersion or kind is missing");
    }
    *kind = sl_kind_find_object(version, name);
    if (*kind == SL_KIND_COUNT) {
        *kind = sl_ctl_discover(c, version, name);
    }
    if (*kind == SL_KIND_COUNT) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "there is no kind \"%s\" in version \"%s\"",
                            name, version);
    }
    if (sl_kind_info(*kind)->namespaced && sl_object_namespace(object)[0] == '\0') {
        sl_json_set_text(sl_json_path_make(object, "metadata"), "namespace", c->ns);
    }
    return SL_CODE_OK;
}

static bool one_document(void *context, const struct sl_document *d)
{
    struct batch *b = context;
    b->any = true;
    struct sl_error e = d->error;
    enum sl_kind kind = SL_KIND_COUNT;
    enum sl_code code =
        d->object == NULL ? SL_CODE_BAD_REQUEST : prepare(b->c, d->object, &kind, &e);
    if (code == SL_CODE_OK) {
        code = b->act(b->c, kind, d->object, &e);
    }
    if (code == SL_CODE_OK) {
        note_names(b, kind, d->object);
    }
    if (code != SL_CODE_OK) {
        struct sl_buf what = {0};
        sl_buf_print(&what, "%s:%u", d->file, d->line);
        const char *name = d->object == NULL ? "" : sl_object_name(d->object);
        if (name[0] != '\0') {
            sl_buf_print(&what, ": %s/%s", sl_json_path_text(d->object, "kind", "?"), name);
        }
        b->failed = true;
        sl_ctl_failed(what.data, &e);
        sl_buf_fini(&what);
    }
    return code != SL_CODE_UNAVAILABLE; /* no server: the rest would fail alike */
}

static int each_file(struct batch *b)
{
    for (unsigned i = 0; i < b->c->files.count; i++) {
        struct sl_error e = {0};
        const char *file = b->c->files.items[i];
        b->any = false;
        enum sl_code code = sl_manifest_read(file, one_document, b, &e);
        if (code == SL_CODE_OK && !b->any) {
            code = sl_error_set(&e, SL_CODE_BAD_REQUEST, "%s: no objects in it", file);
        }
        if (code != SL_CODE_OK) {
            b->failed = true;
            sl_ctl_failed("", &e);
        }
    }
    return b->failed ? 1 : 0;
}

int sl_ctl_apply(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    if (c->files.count == 0 || c->arguments.count > 0) {
        return sl_ctl_misused("apply needs -f FILE");
    }
    struct batch b = {.c = c, .act = apply_object, .named = sl_map_new()};
    int status = each_file(&b);
    warn_of_names(&b);
    sl_map_free_with(b.named, sl_mem_free);
    return status;
}

static int delete_all(struct sl_ctl *c, const struct sl_ctl_targets *targets)
{
    int status = 0;
    bool workloads = false;
    for (size_t i = 0; i < targets->count; i++) {
        workloads = workloads || targets->items[i].kind == SL_KIND_WORKLOAD;
    }
    bool others = !workloads || targets->several_kinds;
    if (others && (c->all || c->all_namespaces)) {
        return sl_ctl_misused("--all and -A are only for delete workload");
    }
    if (others && targets->items[0].name[0] == '\0') {
        return sl_ctl_misused("delete which %s?", sl_kind_info(targets->items[0].kind)->singular);
    }
    for (size_t i = 0; i < targets->count; i++) {
        const struct sl_ctl_target *t = &targets->items[i];
        struct sl_error e = {0};
        if (t->kind != SL_KIND_WORKLOAD &&
            delete_named(c, t->kind, sl_ctl_namespace(c, t->kind), t->name, &e) != SL_CODE_OK) {
            status = sl_ctl_failed("", &e);
        }
    }
    int one = workloads ? sl_ctl_delete_workloads(c, targets) : 0;
    return one > status ? one : status;
}

int sl_ctl_delete(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct batch b = {.c = c, .act = delete_object};
    struct sl_ctl_targets targets;
    if (c->files.count > 0) {
        return c->arguments.count > 0
                   ? sl_ctl_misused("delete takes -f FILE or KIND NAME, not both")
                   : each_file(&b);
    }
    if (!sl_ctl_targets(c, &targets)) {
        sl_ctl_targets_fini(&targets);
        return 2;
    }
    int status = delete_all(c, &targets);
    sl_ctl_targets_fini(&targets);
    return status;
}
