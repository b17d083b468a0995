/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "controllers/jobs/job_refs.h"
#include <stdio.h>
#include <stdlib.h>

/* One whose kind is unknown, or that has no name, cannot be asked for. */
static bool can_be_read(const struct sl_reference *r)
{
    return r->kind != SL_KIND_COUNT && r->name[0] != '\0';
}

/* The object; NULL: *code says why. What scales has to be what the job has made, whatever its status says. */
static struct sl_json *read_one(const struct sl_client *client, const struct sl_reference *r,
                                const struct sl_json *job, enum sl_code *code)
{
    struct sl_json *o = NULL;
    struct sl_error e = {0};
    *code = can_be_read(r) ? client->get(client->self, r->kind, r->ns, r->name, &o, &e)
                           : SL_CODE_NOT_FOUND;
    if (*code == SL_CODE_OK && r->scales && !sl_job_owns(job, o)) {
        sl_json_free(o);
        o = NULL;
        *code = SL_CODE_NOT_FOUND;
    }
    return o;
}

const struct sl_framework *sl_job_refs_bind(struct sl_bound *b, const struct sl_framework *f,
                                            const struct sl_client *client,
                                            const struct sl_json *job, bool elastic)
{
    struct sl_reference r;
    *b = (struct sl_bound){.f = *f};
    if (f->refers == NULL) {
        return &b->f;
    }
    b->with = sl_json_new_map();
    b->lacks = sl_json_new_map();
    for (size_t i = 0; f->refers(f, job, i, &r); i++) {
        enum sl_code code;
        struct sl_json *o = r.scales && !elastic ? NULL : read_one(client, &r, job, &code);
        if (o != NULL) {
            sl_json_set(b->with, r.as, o);
        } else if (elastic || !r.scales) {
            sl_json_set_bool(b->lacks, r.as, code != SL_CODE_NOT_FOUND);
        }
    }
    b->f.with = b->with;
    b->f.lacks = b->lacks;
    return &b->f;
}

void sl_job_refs_end(struct sl_bound *b)
{
    sl_json_free(b->with);
    sl_json_free(b->lacks);
}

#define REFERENCE_SIZE (SL_KEY_SIZE + 16)

static void print_key(enum sl_kind kind, const char *ns, const char *name,
                      char out[static REFERENCE_SIZE])
{
    (void)snprintf(out, REFERENCE_SIZE, "%d/%s/%s", (int)kind, ns, name);
}

void sl_job_refs_keep(struct sl_jobs_of *of, const struct sl_json *job, bool there)
{
    struct sl_reference r;
    char object[REFERENCE_SIZE];
    char child[REFERENCE_SIZE];
    (void)snprintf(child, sizeof child, "%zu/%s/%s", (size_t)(of - of->all->kinds),
                   sl_object_namespace(job), sl_object_name(job));
    for (size_t i = 0; of->f->refers(of->f, job, i, &r); i++) {
        if (can_be_read(&r) && !r.scales) {
            print_key(r.kind, r.ns, r.name, object);
            sl_job_children_put(of->all->referrers, object, sl_object_uid(job), child, there);
        }
    }
}

/* What an elastic job has made says how many pods it has now. */
static void wake_maker(struct sl_jobs *j, enum sl_kind kind, const struct sl_json *object)
{
    char key[SL_KEY_SIZE];
    const struct sl_json *owner = sl_object_controller_ref(object);
    for (size_t i = 0; owner != NULL && i < j->kind_count; i++) {
        const struct sl_framework *f = j->kinds[i].f;
        if (f->elastic && f->makes != NULL && sl_object_ref_is(owner, f->kind) &&
            f->makes(f, kind)) {
            sl_key_print(sl_object_namespace(object), sl_json_path_text(owner, "name", ""), key);
            sl_work_add(j->kinds[i].work.work, key, SL_WORK_NOW);
        }
    }
}

void sl_job_refs_wake(struct sl_jobs *j, enum sl_kind kind, const struct sl_json *object)
{
    wake_maker(j, kind, object);
    size_t cursor = 0;
    const char *uid;
    const char *job;
    char object_key[REFERENCE_SIZE];
    print_key(kind, sl_object_namespace(object), sl_object_name(object), object_key);
    while (sl_job_children_next(j->referrers, object_key, &cursor, &uid, &job)) {
        char *key = NULL;
        size_t number = strtoul(job, &key, 10);
        sl_work_add(j->kinds[number].work.work, key + 1, SL_WORK_NOW);
    }
}
