/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl delete workload: a workload is made again as long as its job is there, so the job is deleted, which takes the
 * workload along; after a question, because the job is what a person has made. */
#include "base/check.h"
#include "cli/ctl/ctl.h"
#include <string.h>

struct deleting {
    struct sl_ctl *c;
    struct sl_json *workloads; /* references */
    int status;
};

static void failed(struct deleting *d, const struct sl_error *e)
{
    d->status = sl_ctl_failed("", e);
}

static void add_named(struct deleting *d, const struct sl_ctl_targets *targets)
{
    for (size_t i = 0; i < targets->count; i++) {
        struct sl_buf path = {0};
        struct sl_json *workload = NULL;
        struct sl_error e = {0};
        if (targets->items[i].kind != SL_KIND_WORKLOAD) {
            continue;
        }
        sl_ctl_path(SL_KIND_WORKLOAD, d->c->ns, targets->items[i].name, &path);
        if (sl_remote_get(d->c->remote, path.data, &workload, &e) == SL_CODE_OK) {
            sl_json_append(d->workloads, workload);
        } else {
            failed(d, &e);
        }
        sl_buf_fini(&path);
    }
}

static void add_all(struct deleting *d)
{
    struct sl_buf path = {0};
    struct sl_json *list = NULL;
    struct sl_error e = {0};
    sl_ctl_path(SL_KIND_WORKLOAD, d->c->all_namespaces ? "" : d->c->ns, "", &path);
    if (sl_remote_get(d->c->remote, path.data, &list, &e) == SL_CODE_OK) {
        const struct sl_json *items = sl_json_get(list, "items");
        for (size_t i = 0; i < sl_json_len(items); i++) {
            sl_json_append(d->workloads, sl_json_ref(sl_json_at(items, i)));
        }
    } else {
        failed(d, &e);
    }
    sl_json_free(list);
    sl_buf_fini(&path);
}

static enum sl_kind kind_of(struct sl_ctl *c, const struct sl_json *owner)
{
    const char *version = sl_json_path_text(owner, "apiVersion", "");
    const char *name = sl_json_path_text(owner, "kind", "");
    enum sl_kind kind = sl_kind_find_object(version, name);
    return kind == SL_KIND_COUNT ? sl_ctl_discover(c, version, name) : kind;
}

/* --- asking -------------------------------------------------------------------------------------------- */

/* "  - jobs.batch/train, ... associated with the lab/job-train workload" */
static bool add_owners(struct deleting *d, const struct sl_json *workload, struct sl_buf *out)
{
    const struct sl_json *owners = sl_json_path(workload, "metadata.ownerReferences");
    for (size_t i = 0; i < sl_json_len(owners); i++) {
        const struct sl_json *owner = sl_json_at(owners, i);
        enum sl_kind kind = kind_of(d->c, owner);
        sl_buf_text(out, i == 0 ? "  - " : ", ");
        if (kind == SL_KIND_COUNT) {
            sl_buf_print(out, "%s/%s", sl_json_path_text(owner, "kind", "?"),
                         sl_json_path_text(owner, "name", "?"));
        } else {
            sl_ctl_name(kind, sl_json_path_text(owner, "name", ""), out);
        }
    }
    if (sl_json_len(owners) > 0) {
        sl_buf_print(out, " associated with the %s/%s workload\n", sl_object_namespace(workload),
                     sl_object_name(workload));
    }
    return sl_json_len(owners) > 0;
}

static bool may_go_on(struct deleting *d)
{
    struct sl_buf question = {0};
    bool asks = false, goes_on = true;
    sl_buf_text(&question, "This operation will also delete:\n");
    for (size_t i = 0; i < sl_json_len(d->workloads); i++) {
        asks = add_owners(d, sl_json_at(d->workloads, i), &question) || asks;
    }
    if (asks && !d->c->yes && d->c->dry_run == SL_DRY_RUN_NONE) {
        goes_on = sl_ctl_confirm(question.data);
    }
    if (!goes_on) {
        printf("Deletion is canceled\n");
    }
    sl_buf_fini(&question);
    return goes_on;
}

/* --- deleting ------------------------------------------------------------------------------------------ */

/* One that is not there any more is as it should be. */
static void delete_one(struct deleting *d, enum sl_kind kind, const char *ns, const char *name)
{
    struct sl_buf path = {0};
    struct sl_error e = {0};
    enum sl_code code = SL_CODE_OK;
    struct sl_json *object = sl_object_new(kind, ns, name);
    sl_ctl_path(kind, ns, name, &path);
    if (d->c->dry_run == SL_DRY_RUN_SERVER) {
        sl_ctl_query(&path, "dryRun", "All");
    }
    if (d->c->dry_run != SL_DRY_RUN_CLIENT) {
        struct sl_call call = {.method = "DELETE", .path = path.data};
        code = sl_remote_call(d->c->remote, &call, NULL, &e);
    }
    if (code == SL_CODE_OK || code == SL_CODE_NOT_FOUND) {
        sl_ctl_did(d->c, kind, object, "deleted", NULL);
    } else {
        failed(d, &e);
    }
    sl_json_free(object);
    sl_buf_fini(&path);
}

static void delete_workload(struct deleting *d, const struct sl_json *workload)
{
    const struct sl_json *owners = sl_json_path(workload, "metadata.ownerReferences");
    const char *ns = sl_object_namespace(workload);
    for (size_t i = 0; i < sl_json_len(owners); i++) {
        const struct sl_json *owner = sl_json_at(owners, i);
        enum sl_kind kind = kind_of(d->c, owner);
        if (kind == SL_KIND_COUNT) {
            struct sl_error e = {0};
            (void)sl_error_set(&e, SL_CODE_NOT_FOUND, "%s/%s: the server has no kind %s in %s", ns,
                               sl_object_name(workload), sl_json_path_text(owner, "kind", "?"),
                               sl_json_path_text(owner, "apiVersion", "?"));
            failed(d, &e);
        } else {
            delete_one(d, kind, ns, sl_json_path_text(owner, "name", ""));
        }
    }
    if (sl_json_len(owners) == 0) {
        delete_one(d, SL_KIND_WORKLOAD, ns, sl_object_name(workload));
    }
}

static int check(const struct sl_ctl *c, const struct sl_ctl_targets *targets)
{
    bool named = targets->items[0].name[0] != '\0';
    if (!named && !c->all) {
        return sl_ctl_misused("delete which workload? --all deletes each of the namespace");
    }
    if (named && (c->all || c->all_namespaces)) {
        return sl_ctl_misused("a name and %s do not go together", c->all ? "--all" : "-A");
    }
    return 0;
}

int sl_ctl_delete_workloads(struct sl_ctl *c, const struct sl_ctl_targets *targets)
{
    SL_PRE(c != NULL && targets->count > 0);
    int wrong = check(c, targets);
    if (wrong != 0) {
        return wrong;
    }
    struct deleting d = {.c = c, .workloads = sl_json_new_list()};
    if (c->all) {
        add_all(&d);
    } else {
        add_named(&d, targets);
    }
    if (may_go_on(&d)) {
        for (size_t i = 0; i < sl_json_len(d.workloads); i++) {
            delete_workload(&d, sl_json_at(d.workloads, i));
        }
    } else {
        d.status = 1;
    }
    sl_json_free(d.workloads);
    return d.status;
}
