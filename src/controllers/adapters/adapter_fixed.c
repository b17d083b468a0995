/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What may not change of an object whose pods come in groups while it is queued: their Workloads were made for it, and
 * what was admitted is not counted again. As many groups as are wanted come and go. */
#include "api/objects/pod_shape.h"
#include "base/check.h"
#include "controllers/adapters/adapter_doc.h"
#include <stdio.h>
#include <string.h>

#define WHERE_SIZE 256

static void immutable(struct sl_error *e, const char *where)
{
    sl_error_cause(e, "FieldValueInvalid", where, "Invalid value: field is immutable");
}

/* Down to what containers ask for. */
static void compare(const char *where, const struct sl_json *a, const struct sl_json *b,
                    struct sl_error *e)
{
    static const char *const walked[] = {"containers", "initContainers", "resources"};
    bool same = sl_json_equal(a, b);
    for (size_t i = 0; !same && i < 3; i++) {
        const struct sl_json *x = sl_json_get(a, walked[i]), *y = sl_json_get(b, walked[i]);
        bool lists = sl_json_type(x) == SL_JSON_LIST && sl_json_len(x) == sl_json_len(y);
        char at[WHERE_SIZE];
        (void)snprintf(at, sizeof at, "%s.%s", where, walked[i]);
        for (size_t k = 0; lists && k < sl_json_len(x); k++) {
            char item[WHERE_SIZE + 24];
            (void)snprintf(item, sizeof item, "%s[%zu]", at, k);
            compare(item, sl_json_at(x, k), sl_json_at(y, k), e);
        }
        if (!lists && sl_json_type(x) == SL_JSON_MAP && sl_json_type(y) == SL_JSON_MAP) {
            compare(at, x, y, e);
        } else if (!lists && !sl_json_equal(x, y)) {
            immutable(e, at);
        }
    }
    for (struct sl_json_member m = {0}; !same && sl_json_each(a, &m);) {
        char at[WHERE_SIZE];
        bool done = strcmp(m.key, walked[0]) == 0 || strcmp(m.key, walked[1]) == 0 ||
                    strcmp(m.key, walked[2]) == 0;
        if (!done && !sl_json_equal(m.value, sl_json_get(b, m.key))) {
            (void)snprintf(at, sizeof at, "%s.%s", where, m.key);
            immutable(e, at);
        }
    }
}

static void compare_set(const struct sl_pod_set *now, const struct sl_pod_set *before,
                        struct sl_error *e)
{
    char where[WHERE_SIZE];
    struct sl_json *a = sl_pod_shape_new(sl_json_path(now->template, "spec"));
    struct sl_json *b = sl_pod_shape_new(sl_json_path(before->template, "spec"));
    (void)snprintf(where, sizeof where, "%s.spec", now->where);
    compare(where, a, b, e);
    sl_json_free(a);
    sl_json_free(b);
}

static const struct sl_pod_set *set_at(const struct sl_pod_sets *sets, const char *where)
{
    for (size_t i = 0; i < sets->count; i++) {
        if (strcmp(sets->at[i].where, where) == 0) {
            return &sets->at[i];
        }
    }
    return NULL;
}

static void compare_sets(const struct sl_pod_sets *now, const struct sl_pod_sets *before,
                         struct sl_error *e)
{
    for (size_t i = 0; i < now->count; i++) {
        const struct sl_pod_set *was = set_at(before, now->at[i].where);
        if (was == NULL) {
            immutable(e, now->at[i].where);
        } else {
            compare_set(&now->at[i], was, e);
        }
    }
    for (size_t i = 0; i < before->count; i++) {
        if (set_at(now, before->at[i].where) == NULL) {
            immutable(e, before->at[i].where);
        }
    }
}

static const char *path_of(const struct sl_json *number)
{
    return sl_json_text(number, sl_json_path_text(number, "path", "spec"));
}

/* To and from nothing it is put on hold, and counted again. */
static void check_size(const struct sl_adapter *a, const struct sl_json *o,
                       const struct sl_json *old, struct sl_error *e)
{
    const struct sl_grouping *grouping = &a->grouping;
    const char *where = path_of(sl_json_path(a->doc, "groups.size"));
    int64_t now = grouping->size(&a->framework, o);
    int64_t before = grouping->size(&a->framework, old);
    if (now > 0 && before > 0 && now != before) {
        immutable(e, where);
    } else if (now > 0 && before == 0 && a->framework.active(&a->framework, o)) {
        sl_error_cause(e, "FieldValueForbidden", where,
                       "Forbidden: scaling down is still in progress");
    }
}

static void check_count(const struct sl_adapter *a, const struct sl_json *o, struct sl_error *e)
{
    const struct sl_json *number = sl_json_path(a->doc, "groups.count");
    int64_t count = number == NULL ? 1 : sl_adapter_number(number, o);
    if (count < 0 || count > SL_GROUPS_MAX) {
        sl_error_cause(e, "FieldValueInvalid", path_of(number),
                       "Invalid value: %lld: must be from 0 to %d", (long long)count,
                       SL_GROUPS_MAX);
    }
}

void sl_adapter_fixed(const struct sl_adapter *a, const struct sl_json *o,
                      const struct sl_json *old, struct sl_error *e)
{
    SL_PRE(a != NULL && o != NULL && e != NULL);
    struct sl_error uncounted = {0};
    struct sl_pod_sets now = {0}, before = {0};
    if (a->framework.grouping == NULL) {
        return;
    }
    check_count(a, o, e);
    if (old == NULL) {
        return;
    }
    check_size(a, o, old, e);
    bool read = a->framework.pod_sets(&a->framework, o, &now, &uncounted) == SL_CODE_OK &&
                a->framework.pod_sets(&a->framework, old, &before, &uncounted) == SL_CODE_OK;
    if (read) {
        compare_sets(&now, &before, e);
    }
    sl_pod_sets_fini(&now);
    sl_pod_sets_fini(&before);
}
