/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Random objects of each version come back from the other as they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "api/objects/topology_assignment.h"
#include "api/versions/versions.h"
#include "tests/unit/api/random_object.h"

#define OBJECTS 10000

static const enum sl_kind kinds[] = {
    SL_KIND_RESOURCE_FLAVOR, SL_KIND_COHORT,          SL_KIND_CLUSTER_QUEUE,
    SL_KIND_LOCAL_QUEUE,     SL_KIND_WORKLOAD,        SL_KIND_WORKLOAD_PRIORITY_CLASS,
    SL_KIND_TOPOLOGY,        SL_KIND_ADMISSION_CHECK, SL_KIND_PROVISIONING_REQUEST_CONFIG};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* --- what a schema cannot say -------------------------------------------------------------------- */

enum { LEVELS = 3, ROWS = 5 };

static void write_slices(struct sl_json *assignment)
{
    static const char *const labels[LEVELS] = {"block", "rack", "kubernetes.io/hostname"};
    static const char *const names[] = {"a-1", "a-2", "b-1", "b", "c-a-1", "c-a-2", ""};
    const char *values[ROWS * LEVELS];
    uint32_t counts[ROWS];
    struct sl_assignment_rows rows = {.level_count = 1 + random_below(LEVELS),
                                      .row_count = random_below(ROWS + 1),
                                      .values = values,
                                      .counts = counts};
    rows.levels = labels + LEVELS - rows.level_count;
    for (uint32_t i = 0; i < rows.row_count * rows.level_count; i++) {
        values[i] = names[random_below(sizeof names / sizeof names[0])];
    }
    for (uint32_t i = 0; i < rows.row_count; i++) {
        counts[i] = 1 + random_below(3);
    }
    struct sl_json *made = sl_topology_assignment_new(&rows);
    sl_json_set_all(assignment, made);
    sl_json_free(made);
}

/* As many values as there are levels, and nothing that slices could not say. */
static void fit_domains(struct sl_json *assignment)
{
    const struct sl_json *levels = sl_json_get(assignment, "levels");
    const struct sl_json *domains = sl_json_get(assignment, "domains");
    for (size_t i = 0; i < sl_json_len(domains); i++) {
        sl_json_set(sl_json_at(domains, i), "values", sl_json_clone(levels));
        sl_json_remove(sl_json_at(domains, i), "unheard");
    }
}

/* One group of flavors, one of which is the last that is acceptable. */
static void fit_concurrent(struct sl_json *spec)
{
    struct sl_json *groups = sl_json_get(spec, "resourceGroups");
    struct sl_json *migration = sl_json_path(spec, "concurrentAdmissionPolicy.migration");
    struct sl_json *constraints = sl_json_get(migration, "constraints");
    const char *first = sl_json_path_text(groups, "0.flavors.0.name", NULL);
    if (first == NULL) {
        sl_json_remove(spec, "concurrentAdmissionPolicy");
        return;
    }
    while (sl_json_len(groups) > 1) {
        sl_json_remove_at(groups, 1);
    }
    sl_json_remove(spec, "queueingStrategy");
    if (constraints != NULL) {
        sl_json_set_text(migration, "mode", "TryPreferredFlavors");
    }
    if (sl_json_has(constraints, "lastAcceptableFlavorName")) {
        sl_json_set_text(constraints, "lastAcceptableFlavorName", first);
    }
}

static void mend(struct sl_json *o)
{
    if (sl_json_path(o, "spec.concurrentAdmissionPolicy") != NULL) {
        fit_concurrent(sl_json_get(o, "spec"));
    }
    struct sl_json *assignments = sl_json_path(o, "status.admission.podSetAssignments");
    struct sl_json *class = sl_json_path(o, "spec.priorityClassRef");
    for (size_t i = 0; i < sl_json_len(assignments); i++) {
        struct sl_json *assignment = sl_json_get(sl_json_at(assignments, i), "topologyAssignment");
        if (sl_json_has(assignment, "slices")) {
            write_slices(assignment);
        } else {
            fit_domains(assignment);
        }
    }
    if (class != NULL) { /* others are refused */
        bool own = strcmp(sl_json_path_text(class, "group", ""), "kueue.x-k8s.io") == 0;
        sl_json_set_text(class, "kind", own ? "WorkloadPriorityClass" : "PriorityClass");
    }
}

/* --- there and back ------------------------------------------------------------------------------ */

static struct sl_json *convert(const struct sl_json *o, const char *to)
{
    struct sl_error e = {0};
    struct sl_json *got = sl_version_convert_new(o, to, &e);
    if (got == NULL) {
        struct sl_buf text = {0};
        sl_json_print_pretty(o, &text);
        fail_msg("%s: %s in\n%s", e.cause_count > 0 ? e.causes[0].field : e.text,
                 e.cause_count > 0 ? e.causes[0].text : "", text.data);
    }
    return got;
}

/* An API server drops what the schema of the version does not have, so that it would not come back. */
static void assert_known(const struct sl_node *node, const struct sl_json *v)
{
    for (size_t i = 0; sl_json_type(v) == SL_JSON_LIST && node->item != NULL && i < sl_json_len(v);
         i++) {
        assert_known(node->item, sl_json_at(v, i));
    }
    for (struct sl_json_member m = {0};
         node->field.type == SL_TYPE_OBJECT && sl_json_each(v, &m);) {
        const struct sl_node *child = node->first;
        while (child != NULL && strcmp(child->name, m.key) != 0) {
            child = child->next;
        }
        if (child != NULL && strcmp(m.key, "metadata") != 0) {
            assert_known(child, m.value);
        } else if (child == NULL && strcmp(m.key, "unheard") != 0 &&
                   strcmp(m.key, "apiVersion") != 0 && strcmp(m.key, "kind") != 0) {
            fail_msg("%s has no row", m.key);
        }
    }
}

/* How many of the objects needed an annotation on the way. */
static unsigned there_and_back(bool from_old)
{
    const char *one = from_old ? SL_VERSION_OLD : SL_VERSION_NEW;
    const char *other = from_old ? SL_VERSION_NEW : SL_VERSION_OLD;
    unsigned kept = 0;
    random_state = 20261127;
    for (unsigned i = 0; i < OBJECTS; i++) {
        enum sl_kind kind = kinds[i % KINDS];
        struct sl_json *o =
            random_object(from_old ? sl_schema_old(kind) : sl_schema(kind), one, kind);
        mend(o);
        struct sl_json *there = convert(o, other);
        struct sl_json *back = convert(there, one);
        assert_string_equal(sl_json_path_text(there, "apiVersion", ""), other);
        assert_known(from_old ? sl_schema(kind) : sl_schema_old(kind), there);
        if (!sl_json_equal(back, o)) {
            struct sl_buf text = {0};
            sl_json_print_pretty(o, &text);
            sl_buf_text(&text, "\n   became\n");
            sl_json_print_pretty(there, &text);
            sl_buf_text(&text, "\n   and that\n");
            sl_json_print_pretty(back, &text);
            fail_msg("%s", text.data);
        }
        kept += sl_json_has(sl_json_path(there, "metadata.annotations"),
                            from_old ? SL_VERSION_KEPT_OLD : SL_VERSION_KEPT_NEW);
        sl_json_free(back);
        sl_json_free(there);
        sl_json_free(o);
    }
    return kept;
}

static void test_objects_of_v1beta2_come_back_from_v1beta1(void **state)
{
    (void)state;
    assert_in_range(there_and_back(false), 500, OBJECTS - 500);
}

static void test_objects_of_v1beta1_come_back_from_v1beta2(void **state)
{
    (void)state;
    assert_in_range(there_and_back(true), 500, OBJECTS - 500);
}

/* --- nonsense ------------------------------------------------------------------------------------- */

static struct sl_json *random_nonsense(void)
{
    switch (random_below(6)) {
    case 0:
        return sl_json_new_int((int64_t)random_below(9) - 4);
    case 1:
        return sl_json_new_list();
    case 2:
        return sl_json_new_map();
    case 3:
        return sl_json_new_text("Borrow");
    case 4:
        return sl_json_new_null();
    default:
        return sl_json_new_bool(true);
    }
}

/* Something in it becomes something else. */
static void spoil(struct sl_json *v)
{
    size_t len = sl_json_len(v);
    size_t at = len > 0 ? random_below((uint32_t)len) : 0;
    bool here = random_below(4) == 0;
    if (sl_json_type(v) == SL_JSON_LIST && len > 0) {
        if (here) {
            sl_json_put_at(v, at, random_nonsense());
        } else {
            spoil(sl_json_at(v, at));
        }
    }
    for (struct sl_json_member m = {0}; sl_json_type(v) == SL_JSON_MAP && sl_json_each(v, &m);) {
        if (at-- > 0) {
            continue;
        }
        if (here && strcmp(m.key, "apiVersion") != 0 && strcmp(m.key, "kind") != 0) {
            sl_json_set(v, m.key, random_nonsense());
        } else {
            spoil(m.value);
        }
        return;
    }
}

/* Refused with a cause, or said in the other version once and for all. */
static void test_nonsense_is_refused_or_settles(void **state)
{
    (void)state;
    unsigned refused = 0;
    random_state = 7;
    for (unsigned i = 0; i < OBJECTS; i++) {
        bool old = i % 2 == 0;
        enum sl_kind kind = kinds[i % KINDS];
        const char *mine = old ? SL_VERSION_OLD : SL_VERSION_NEW;
        const char *other = old ? SL_VERSION_NEW : SL_VERSION_OLD;
        struct sl_error e = {0};
        struct sl_json *o = random_object(old ? sl_schema_old(kind) : sl_schema(kind), mine, kind);
        mend(o);
        spoil(o);
        struct sl_json *there = sl_version_convert_new(o, other, &e);
        assert_true(there != NULL || (e.code == SL_CODE_INVALID && e.cause_count > 0));
        struct sl_json *back = there != NULL ? sl_version_convert_new(there, mine, &e) : NULL;
        struct sl_json *again = back != NULL ? sl_version_convert_new(back, other, &e) : NULL;
        assert_true(again == NULL || sl_json_equal(again, there));
        refused += back == NULL;
        sl_json_free(again);
        sl_json_free(back);
        sl_json_free(there);
        sl_json_free(o);
    }
    assert_in_range(refused, 20, OBJECTS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects_of_v1beta2_come_back_from_v1beta1),
        cmocka_unit_test(test_objects_of_v1beta1_come_back_from_v1beta2),
        cmocka_unit_test(test_nonsense_is_refused_or_settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
