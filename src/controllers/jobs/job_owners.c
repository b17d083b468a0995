/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "controllers/jobs/job_owners.h"
#include "base/check.h"
#include "controllers/jobs/job_run.h"
#include "controllers/jobs/job_slices.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANCESTORS_MAX 10u /* of a job, that are looked at */

/* --- kinds that are managed elsewhere -------------------------------------------------------------------- */

bool sl_external_read(const char *name, struct sl_external *out)
{
    SL_PRE(name != NULL && out != NULL);
    size_t kind = strcspn(name, ".");
    const char *version = name[kind] == '.' ? name + kind + 1 : "";
    size_t len = strcspn(version, ".");
    const char *group = version[len] == '.' ? version + len + 1 : "";
    bool fits = kind < sizeof out->kind && len < sizeof out->version &&
                strlen(group) < sizeof out->group && kind > 0 && len > 0 && group[0] != '\0';
    *out = (struct sl_external){0};
    if (fits) {
        memcpy(out->kind, name, kind);
        memcpy(out->version, version, len);
        memcpy(out->group, group, strlen(group));
    }
    return fits;
}

bool sl_external_is(const struct sl_job_rules *rules, enum sl_kind kind)
{
    SL_PRE(rules != NULL);
    bool yes = false;
    char name[SL_EXTERNAL_NAME_SIZE];
    if (kind == SL_KIND_COUNT || rules->external_count == 0) {
        return false;
    }
    const struct sl_kind_info *info = sl_kind_info(kind);
    (void)snprintf(name, sizeof name, "%s.%s.%s", info->kind, info->version, info->group);
    for (size_t i = 0; i < rules->external_count && !yes; i++) {
        yes = strcmp(rules->externals[i], name) == 0;
    }
    return yes;
}

static enum sl_code register_one(const char *name, enum sl_kind *kind, struct sl_error *e)
{
    struct sl_external x;
    char api_version[96];
    if (!sl_external_read(name, &x)) {
        return sl_error_set(e, SL_CODE_INVALID, "is not Kind.version.group");
    }
    (void)snprintf(api_version, sizeof api_version, "%s/%s", x.group, x.version);
    return sl_kind_name(api_version, x.kind, kind, e);
}

enum sl_code sl_externals_register(const struct sl_job_rules *rules, struct sl_error *e)
{
    SL_PRE(rules != NULL && e != NULL);
    for (size_t i = 0; i < rules->external_count; i++) {
        struct sl_error why = {0};
        enum sl_kind kind;
        enum sl_code code = register_one(rules->externals[i], &kind, &why);
        if (code != SL_CODE_OK) {
            return sl_error_set(e, code, "integrations.externalFrameworks[%zu]: \"%s\": %s", i,
                                rules->externals[i], why.text);
        }
    }
    return SL_CODE_OK;
}

/* --- up -------------------------------------------------------------------------------------------------- */

/* The kind of jobs that an owner is of; f NULL: one that is managed elsewhere. */
struct maker {
    enum sl_kind kind;
    const struct sl_framework *f;
};

/* The kind of jobs whose controller has made the job of that kind: it makes such jobs, and the job
 * says that it is controlled by one of them. False: not a child, whatever it says. */
static bool maker_of(struct sl_jobs *j, enum sl_kind kind, const struct sl_json *job,
                     struct maker *out)
{
    const struct sl_json *owner = sl_object_controller_ref(job);
    const struct sl_jobs_of *of = owner == NULL ? NULL : sl_jobs_of_object(j, owner);
    if (of != NULL) {
        *out = (struct maker){of->f->kind, of->f};
        return of->f->makes != NULL && of->f->makes(of->f, kind);
    }
    *out = (struct maker){sl_kind_find_object(sl_json_path_text(owner, "apiVersion", ""),
                                              sl_json_path_text(owner, "kind", "")),
                          NULL};
    return owner != NULL && sl_external_is(&j->rules, out->kind);
}

bool sl_job_is_owned(struct sl_jobs *j, enum sl_kind kind, const struct sl_json *job)
{
    struct maker maker;
    return maker_of(j, kind, job, &maker);
}

/* Up from a job. */
struct line {
    const struct sl_framework *f; /* of the topmost owner that is managed; NULL: elsewhere */
    bool too_deep;                /* there are more owners than are looked at */
    bool unread;                  /* some of it cannot be read now, and will be looked at again */
};

/* What controls the object, if it is one of that kind; NULL: it is not there, or cannot be read now. */
static struct sl_json *owner_new(struct sl_reconciler *r, enum sl_kind kind,
                                 const struct sl_json *below, struct line *line)
{
    bool absent = true;
    const struct sl_kind_info *info = sl_kind_info(kind);
    const struct sl_json *ref = sl_object_controller_ref(below);
    const char *ns = info->namespaced ? sl_object_namespace(below) : "";
    struct sl_json *owner =
        sl_reconciler_get(r, kind, ns, sl_json_path_text(ref, "name", ""), &absent);
    bool same =
        owner != NULL && strcmp(sl_object_uid(owner), sl_json_path_text(ref, "uid", "")) == 0;
    /* The watch of its kind may be behind that of the jobs. */
    bool none = owner == NULL && absent &&
                (info->plural[0] == '\0' || sl_reconciler_confirm_gone(r, kind, ns, ref));
    line->unread = owner == NULL && !none;
    if (!same) {
        sl_json_free(owner);
        return NULL;
    }
    return owner;
}

/* The topmost owner of the job of that kind that is managed itself, or NULL. */
static struct sl_json *ancestor_new(struct sl_jobs *j, struct sl_reconciler *r, enum sl_kind kind,
                                    const struct sl_json *job, struct line *line)
{
    struct sl_json *top = NULL;
    struct sl_json *at = sl_json_ref((struct sl_json *)job);
    struct maker maker;
    for (unsigned i = 0; at != NULL && maker_of(j, kind, at, &maker); i++) {
        struct sl_json *owner = owner_new(r, maker.kind, at, line);
        sl_json_free(at);
        at = owner;
        kind = maker.kind;
        line->too_deep = owner != NULL && i == ANCESTORS_MAX;
        if (line->too_deep) {
            break;
        }
        if (owner != NULL && (j->rules.manage_all || sl_job_queue(owner) != NULL)) {
            sl_json_free(top);
            top = sl_json_ref(owner);
            line->f = maker.f;
        }
    }
    sl_json_free(at);
    return top;
}

/* A Workload that may run its owner's pods now. */
static bool runs(const struct sl_json *wl)
{
    return wl != NULL && sl_condition_true(wl, "Admitted") && !sl_condition_true(wl, "Finished");
}

/* Is one of the Workloads that were seen for the owner admitted? Who has made them names them as he likes. */
static bool admitted_elsewhere(struct sl_jobs *j, struct sl_reconciler *r,
                               const struct sl_json *owner, struct line *line)
{
    bool yes = false;
    size_t cursor = 0;
    const char *uid, *key;
    while (!yes && sl_job_children_next(j->elsewhere, sl_object_uid(owner), &cursor, &uid, &key)) {
        bool absent = true;
        struct sl_key at;
        struct sl_json *wl = sl_key_parse(key, &at)
                                 ? sl_reconciler_get(r, SL_KIND_WORKLOAD, at.ns, at.name, &absent)
                                 : NULL;
        line->unread = line->unread || (wl == NULL && !absent);
        yes = runs(wl);
        sl_json_free(wl);
    }
    line->unread = line->unread && !yes;
    return yes;
}

/* Is the Workload of the owner admitted? */
static bool admitted(struct sl_jobs *j, struct sl_reconciler *r, const struct sl_json *owner,
                     struct line *line)
{
    bool absent;
    char name[254];
    if (line->f == NULL) {
        return admitted_elsewhere(j, r, owner, line);
    }
    if (sl_job_slices_known(j, owner)) {
        return sl_job_slices_admit(j, r, owner, &line->unread);
    }
    sl_job_workload_name(line->f, owner, name);
    struct sl_json *wl =
        sl_reconciler_get(r, SL_KIND_WORKLOAD, sl_object_namespace(owner), name, &absent);
    bool yes = runs(wl);
    line->unread = wl == NULL && !absent;
    sl_json_free(wl);
    return yes;
}

bool sl_job_is_child(struct sl_job_view *v)
{
    SL_PRE(v != NULL && v->job != NULL);
    struct line line = {0};
    struct sl_json *owner = ancestor_new(v->j, v->r, v->f->kind, v->job, &line);
    bool child = owner != NULL || line.too_deep || line.unread;
    if (line.too_deep) {
        sl_job_report(v, "JobNestingTooDeep",
                      "Terminated search for Kueue-managed Job because ancestor depth exceeded "
                      "limit of 10");
        sl_job_suspend_child(v); /* it is unknown with whose quota it would run */
    } else if (owner != NULL && !line.unread && !admitted(v->j, v->r, owner, &line) &&
               !line.unread) {
        sl_job_suspend_child(v);
    }
    sl_json_free(owner);
    return child;
}

/* --- down ------------------------------------------------------------------------------------------------ */

void sl_job_owners_keep(struct sl_jobs_of *of, const struct sl_json *job, bool there)
{
    char child[SL_KEY_SIZE + 16];
    const char *owner = sl_json_path_text(sl_object_controller_ref(job), "uid", "");
    (void)snprintf(child, sizeof child, "%zu/%s/%s", (size_t)(of - of->all->kinds),
                   sl_object_namespace(job), sl_object_name(job));
    sl_job_children_put(of->all->children, owner, sl_object_uid(job), child, there);
}

/* A child may have to stop, or may run again, when its owner's Workload has changed; and so its own children. */
static void wake(struct sl_jobs *j, const char *owner, unsigned depth)
{
    size_t cursor = 0;
    const char *uid;
    const char *child;
    while (depth < ANCESTORS_MAX &&
           sl_job_children_next(j->children, owner, &cursor, &uid, &child)) {
        char *key = NULL;
        size_t kind = strtoul(child, &key, 10);
        sl_work_add(j->kinds[kind].work.work, key + 1, SL_WORK_NOW);
        wake(j, uid, depth + 1);
    }
}

void sl_job_owners_wake(struct sl_jobs *j, const char *uid)
{
    SL_PRE(j != NULL && uid != NULL);
    wake(j, uid, 0);
}

void sl_job_owners_observe(struct sl_jobs *j, const struct sl_json *wl, bool deleted)
{
    SL_PRE(j != NULL && wl != NULL);
    struct maker maker;
    char key[SL_KEY_SIZE];
    const char *owner = sl_json_path_text(sl_object_controller_ref(wl), "uid", "");
    if (maker_of(j, SL_KIND_WORKLOAD, wl, &maker) && maker.f == NULL) {
        sl_key_print(sl_object_namespace(wl), sl_object_name(wl), key);
        sl_job_children_put(j->elsewhere, owner, sl_object_uid(wl), key, !deleted);
        sl_job_owners_wake(j, owner);
    }
}
