/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: sl_adapters_add, and what the framework that a file makes says of objects and does to them.
 * Oracle: a file is refused with its name and a reason, or answers everything about any object within its bounds; what is injected
 * twice is there once.
 * Input: YAML of up to three documents: the file, a job, and what the job refers to or a pod of it. */
#include <string.h>
#include "controllers/adapters/adapter.h"
#include "controllers/work/template.h"
#include "fuzz/lib/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAME "f.yaml"
#define INJECTION                                                                                  \
    "{\"nodeSelector\":{\"fuzz/pool\":\"a\"},\"tolerations\":[{\"key\":\"fuzz/t\"}],"              \
    "\"labels\":{\"fuzz/l\":\"b\"},\"annotations\":{\"fuzz/a\":\"c\"},"                            \
    "\"schedulingGates\":[{\"name\":\"fuzz/g\"}]}"

static bool is_loaded(const struct sl_json *file)
{
    struct sl_buf text = {0};
    struct sl_error e = {0};
    sl_json_print(file, &text);
    enum sl_code code = sl_adapters_add(NAME, text.data, text.len, &e);
    CHECK(code == SL_CODE_OK || strncmp(e.text, NAME ": ", sizeof NAME + 1) == 0);
    CHECK((code == SL_CODE_OK) == (sl_adapters_count() == 1));
    sl_buf_fini(&text);
    return code == SL_CODE_OK;
}

static void check_endings(const struct sl_framework *f, const struct sl_json *job)
{
    bool success;
    const char *message = NULL;
    (void)f->skips(f, job);
    (void)f->active(f, job);
    (void)f->pods_ready(f, job);
    (void)(f->on_hold != NULL && f->on_hold(f, job));
    CHECK(!f->finished(f, job, &success, &message) || message != NULL);
    CHECK(f->priority_class(f, job) != NULL);
}

static void check_groups(const struct sl_framework *f, const struct sl_json *job,
                         const struct sl_json *pod)
{
    struct sl_group_place place;
    if (f->grouping == NULL) {
        return;
    }
    CHECK(f->grouping->count(f, job) >= 0 && f->grouping->size(f, job) >= 0);
    const char *maker = f->grouping->maker(f, pod);
    CHECK(maker == NULL || maker[0] != '\0');
    if (f->grouping->place(f, job, pod, &place)) {
        CHECK(place.index >= 0 && place.pod_set != NULL);
    }
}

static void check_suspension(const struct sl_framework *f, const struct sl_json *job)
{
    struct sl_json *o = sl_json_clone(job);
    f->suspend(f, o, true);
    (void)f->suspended(f, o);
    f->suspend(f, o, false);
    (void)f->suspended(f, o);
    sl_json_free(o);
}

/* Of the first pod set. */
static void check_injection(const struct sl_framework *f, const struct sl_json *job)
{
    struct sl_error e = {0};
    struct sl_json *what = sl_json_parse(INJECTION, sizeof INJECTION - 1, NULL);
    struct sl_json *once = sl_json_clone(job);
    if (f->inject(f, once, 0, what, &e) == SL_CODE_OK) {
        struct sl_json *twice = sl_json_clone(once);
        CHECK(f->inject(f, twice, 0, what, &e) == SL_CODE_OK);
        CHECK(sl_json_equal(once, twice));
        sl_json_free(twice);
    }
    sl_json_free(once);
    sl_json_free(what);
}

static void check_pod_sets(const struct sl_framework *f, const struct sl_json *job)
{
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    enum sl_code code = f->pod_sets(f, job, &sets, &e);
    CHECK(code == SL_CODE_OK ? sets.count >= 1 && sets.count <= SL_POD_SETS_MAX
                             : e.cause_count > 0 || e.text[0] != '\0');
    for (size_t i = 0; code == SL_CODE_OK && i < sets.count; i++) {
        const struct sl_pod_set *set = &sets.at[i];
        CHECK(set->name[0] != '\0' && sl_json_type(set->template) == SL_JSON_MAP);
        (void)f->reclaimable(f, job, i);
    }
    if (code == SL_CODE_OK) {
        check_injection(f, job);
    }
    sl_pod_sets_fini(&sets);
}

/* With everything that it refers to, and with nothing of it. */
static void check_job(const struct sl_framework *f, const struct sl_json *job,
                      const struct sl_json *other)
{
    struct sl_reference r;
    struct sl_framework bound = *f;
    struct sl_json *with = sl_json_new_map(), *nothing = sl_json_new_map();
    for (size_t i = 0; f->refers != NULL && f->refers(f, job, i, &r); i++) {
        sl_json_set(with, r.as, sl_json_clone(other));
    }
    for (int there = 0; there < 2; there++) {
        bound.with = there ? with : nothing;
        bound.lacks = nothing;
        check_endings(&bound, job);
        check_pod_sets(&bound, job);
    }
    sl_json_free(with);
    sl_json_free(nothing);
}

static void check_written(const struct sl_framework *f, const struct sl_json *job,
                          const struct sl_json *other)
{
    struct sl_error e = {0};
    enum sl_code code = sl_object_validate(f->kind, job, NULL, &e);
    CHECK(code == SL_CODE_OK || e.text[0] != '\0');
    code = sl_object_validate(f->kind, job, other, &e);
    CHECK(code == SL_CODE_OK || e.text[0] != '\0');
}

static void check_all(const struct sl_json *documents)
{
    const struct sl_json *job = sl_json_at(documents, 1), *other = sl_json_at(documents, 2);
    if (!is_loaded(sl_json_at(documents, 0)) || sl_json_type(job) != SL_JSON_MAP) {
        return;
    }
    const struct sl_framework *f = sl_adapters_at(0);
    struct sl_json *none = sl_json_new_map();
    other = sl_json_type(other) == SL_JSON_MAP ? other : none;
    check_job(f, job, other);
    check_groups(f, job, other);
    check_suspension(f, job);
    check_written(f, job, other);
    sl_json_free(none);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sl_json *documents = sl_json_parse_yaml((const char *)data, size, NULL);
    if (sl_json_len(documents) > 0) {
        check_all(documents);
    }
    sl_adapters_forget();
    sl_json_free(documents);
    return 0;
}
