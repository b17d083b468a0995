/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* CRDs: structural, and saying what the tables say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"

static struct sl_json *crd(enum sl_kind kind)
{
    struct sl_buf out = {0};
    sl_object_crd_yaml(kind, &out);
    struct sl_json *v = yaml(out.data);
    sl_buf_fini(&out);
    return v;
}

/* The patch that adds v1beta1. */
static struct sl_json *crd_old(enum sl_kind kind)
{
    struct sl_buf out = {0};
    sl_object_crd_old_yaml(kind, &out);
    struct sl_json *v = yaml(out.data);
    sl_buf_fini(&out);
    return v;
}

static const struct sl_json *property(const struct sl_json *schema, const char *name)
{
    return sl_json_get(sl_json_get(schema, "properties"), name);
}

static unsigned undescribed(const struct sl_json *schema, const char *path);

static unsigned undescribed_members(const struct sl_json *schema, const char *path)
{
    const struct sl_json *properties = sl_json_get(schema, "properties");
    void *it = NULL;
    const char *key;
    struct sl_json *field;
    unsigned count = 0;
    while (sl_json_next(properties, &it, &key, &field)) {
        struct sl_buf below = {0};
        const char *about = sl_json_path_text(field, "description", "");
        sl_buf_print(&below, "%s.%s", path, key);
        if (about[0] == '\0' || about[strlen(about) - 1] != '.') {
            print_error("%s: \"%s\" is not a sentence\n", below.data, about);
            count++;
        }
        count += undescribed(field, below.data);
        sl_buf_fini(&below);
    }
    return count;
}

/* Members at any depth, below items and values, too. */
static unsigned undescribed(const struct sl_json *schema, const char *path)
{
    return schema == NULL ? 0
                          : undescribed_members(schema, path) +
                                undescribed(sl_json_get(schema, "items"), path) +
                                undescribed(sl_json_get(schema, "additionalProperties"), path);
}

/* What kubectl explain shows. */
static void test_crd_describes_each_field_of_each_kind(void **state)
{
    (void)state;
    unsigned count = 0;
    for (int kind = 0; kind < SL_KIND_CUSTOM; kind++) {
        struct sl_json *schema = sl_object_schema_new((enum sl_kind)kind);
        const char *name = sl_kind_info((enum sl_kind)kind)->kind;
        if (!sl_json_has(schema, "description")) {
            print_error("%s has no description\n", name);
            count++;
        }
        count += undescribed(schema, name);
        sl_json_free(schema);
        if (strcmp(sl_kind_info((enum sl_kind)kind)->group, "kueue.x-k8s.io") == 0) {
            schema = sl_object_schema_old_new((enum sl_kind)kind);
            count += undescribed(schema, name);
            sl_json_free(schema);
        }
    }
    assert_int_equal(count, 0);
}

static void test_crd_descriptions_have_defaults_and_what_has_no_effect(void **state)
{
    (void)state;
    struct sl_json *schema = sl_object_schema_new(SL_KIND_CLUSTER_QUEUE);
    const struct sl_json *spec = property(schema, "spec");
    const char *strategy = sl_json_path_text(property(spec, "queueingStrategy"), "description", "");
    const char *concurrent =
        sl_json_path_text(property(spec, "concurrentAdmissionPolicy"), "description", "");
    assert_non_null(strstr(strategy, " Default: BestEffortFIFO."));
    assert_non_null(strstr(
        concurrent, " Has no effect: only the feature gate ConcurrentAdmission lets it count."));
    sl_json_free(schema);
    schema = sl_object_schema_new(SL_KIND_JOB);
    const struct sl_json *limit = property(property(schema, "spec"), "backoffLimit");
    assert_non_null(
        strstr(sl_json_path_text(limit, "description", ""), " Default: 6. Has no effect: "));
    sl_json_free(schema);
}

static void test_crd_names_scope_and_columns_are_those_of_the_kind(void **state)
{
    (void)state;
    struct sl_json *v = crd(SL_KIND_WORKLOAD);
    assert_string_equal(sl_object_name(v), "workloads.kueue.x-k8s.io");
    assert_string_equal(sl_json_path_text(v, "spec.scope", ""), "Namespaced");
    assert_string_equal(sl_json_path_text(v, "spec.names.listKind", ""), "WorkloadList");
    assert_json(sl_json_path(v, "spec.versions.0.subresources"), "{\"status\":{}}");
    assert_string_equal(
        sl_json_path_text(v, "spec.versions.0.additionalPrinterColumns.2.jsonPath", ""),
        ".status.conditions[?(@.type=='Admitted')].status");
    assert_int_equal(sl_json_len(sl_json_path(v, "spec.versions.0.additionalPrinterColumns")), 7);
    assert_string_equal(
        sl_json_path_text(v, "spec.versions.0.additionalPrinterColumns.5.jsonPath", ""),
        ".status.conditions[?(@.type=='QuotaReserved')].reason");
    assert_json(sl_json_path(v, "spec.versions.0.selectableFields"),
                "[{\"jsonPath\":\".status.admission.clusterQueue\"}]");
    sl_json_free(v);
    v = crd(SL_KIND_RESOURCE_FLAVOR);
    assert_string_equal(sl_json_path_text(v, "spec.scope", ""), "Cluster");
    assert_null(sl_json_path(v, "spec.versions.0.subresources"));
    assert_null(sl_json_path(v, "spec.versions.0.selectableFields"));
    sl_json_free(v);
}

static void test_crd_schema_has_bounds_defaults_and_enums(void **state)
{
    (void)state;
    struct sl_json *v = crd(SL_KIND_CLUSTER_QUEUE);
    const struct sl_json *root = sl_json_path(v, "spec.versions.0.schema.openAPIV3Schema");
    const struct sl_json *spec = property(root, "spec");
    assert_json(property(root, "metadata"), "{\"type\":\"object\"}");
    assert_json(property(spec, "stopPolicy"),
                "{\"default\":\"None\",\"description\":\"Hold admits nothing new, HoldAndDrain "
                "also evicts what is "
                "admitted. Default: "
                "None.\",\"enum\":[\"None\",\"Hold\",\"HoldAndDrain\"],\"type\":\"string\"}");
    const struct sl_json *flavors =
        property(sl_json_get(property(spec, "resourceGroups"), "items"), "flavors");
    assert_int_equal(sl_json_path_int(flavors, "maxItems", 0), 64);
    assert_string_equal(sl_json_path_text(flavors, "x-kubernetes-list-map-keys.0", ""), "name");
    assert_json(sl_json_path(flavors, "items.required"), "[\"name\",\"resources\"]");
    assert_json(sl_json_get(property(spec, "preemption"), "default"), "{}");
    assert_string_equal(sl_json_path_text(property(spec, "concurrentAdmissionPolicy"),
                                          "x-kubernetes-validations.0.rule", ""),
                        "self == oldSelf");
    sl_json_free(v);
}

/* Structural: every node has a type, or is int-or-string, or keeps everything; lists that are maps name keys that
 * their items require or fill. */
static void assert_structural(const struct sl_json *s, bool root)
{
    bool open = sl_json_path_bool(s, "x-kubernetes-preserve-unknown-fields", false);
    assert_true(sl_json_has(s, "type") || open || sl_json_has(s, "x-kubernetes-int-or-string"));
    assert_false(root && open);
    const struct sl_json *items = sl_json_get(s, "items"),
                         *keys = sl_json_get(s, "x-kubernetes-list-map-keys");
    for (size_t i = 0; i < sl_json_len(keys); i++) {
        const char *key = sl_json_text(sl_json_at(keys, i), "");
        const struct sl_json *required = sl_json_get(items, "required");
        bool found = sl_json_has(property(items, key), "default");
        for (size_t k = 0; k < sl_json_len(required); k++) {
            found = found || strcmp(sl_json_text(sl_json_at(required, k), ""), key) == 0;
        }
        assert_true(found);
    }
    assert_true(strcmp(sl_json_path_text(s, "type", ""), "array") != 0 || items != NULL);
    if (items != NULL) {
        assert_structural(items, false);
    }
    if (sl_json_has(s, "additionalProperties")) {
        assert_false(sl_json_has(s, "properties"));
        assert_structural(sl_json_get(s, "additionalProperties"), false);
    }
    void *it = NULL;
    const char *name;
    struct sl_json *child;
    while (sl_json_next(sl_json_get(s, "properties"), &it, &name, &child)) {
        assert_structural(child, false);
    }
}

static void test_crd_schemas_are_structural(void **state)
{
    (void)state;
    for (size_t i = 0; i < SL_KIND_CUSTOM; i++) {
        if (strcmp(sl_kind_info((enum sl_kind)i)->group, "kueue.x-k8s.io") == 0) {
            struct sl_json *v = crd((enum sl_kind)i);
            assert_structural(sl_json_path(v, "spec.versions.0.schema.openAPIV3Schema"), true);
            sl_json_free(v);
            v = crd_old((enum sl_kind)i);
            assert_structural(sl_json_path(v, "1.value.schema.openAPIV3Schema"), true);
            sl_json_free(v);
        }
    }
}

static void test_crd_rules_stand_where_their_path_says(void **state)
{
    (void)state;
    struct sl_json *v = crd(SL_KIND_TOPOLOGY);
    const struct sl_json *root = sl_json_path(v, "spec.versions.0.schema.openAPIV3Schema");
    const struct sl_json *levels = property(property(root, "spec"), "levels");
    const struct sl_json *rules = sl_json_get(levels, "x-kubernetes-validations");
    assert_int_equal(sl_json_len(rules), 3);
    assert_string_equal(sl_json_path_text(sl_json_at(rules, 1), "message", ""),
                        "levels must be unique");
    assert_null(sl_json_get(root, "x-kubernetes-validations"));
    sl_json_free(v);
    v = crd(SL_KIND_WORKLOAD);
    root = sl_json_path(v, "spec.versions.0.schema.openAPIV3Schema");
    const struct sl_json *pod_set =
        sl_json_get(property(property(root, "spec"), "podSets"), "items");
    assert_int_equal(sl_json_len(sl_json_get(root, "x-kubernetes-validations")), 6);
    assert_int_equal(sl_json_len(sl_json_get(pod_set, "x-kubernetes-validations")), 1);
    sl_json_free(v);
}

static void test_crd_unknown_fields_only_of_pods_are_kept(void **state)
{
    (void)state;
    static const char keep[] = "x-kubernetes-preserve-unknown-fields";
    struct sl_json *v = crd(SL_KIND_WORKLOAD);
    const struct sl_json *root = sl_json_path(v, "spec.versions.0.schema.openAPIV3Schema");
    const struct sl_json *pod_set =
        sl_json_get(property(property(root, "spec"), "podSets"), "items");
    const struct sl_json *template = property(pod_set, "template");
    assert_false(sl_json_has(root, keep));
    assert_false(sl_json_has(property(root, "spec"), keep));
    assert_false(sl_json_has(pod_set, keep));
    assert_true(sl_json_has(template, keep));
    assert_true(sl_json_has(property(template, "spec"), keep));
    sl_json_free(v);
}

/* --- v1beta1 --- */

static void test_crd_old_has_its_own_fields_and_columns(void **state)
{
    (void)state;
    struct sl_json *v = crd_old(SL_KIND_CLUSTER_QUEUE);
    const struct sl_json *version = sl_json_path(v, "1.value");
    const struct sl_json *spec = property(sl_json_path(version, "schema.openAPIV3Schema"), "spec");
    assert_string_equal(sl_json_path_text(v, "1.path", ""), "/spec/versions/-");
    assert_string_equal(sl_json_path_text(version, "name", ""), "v1beta1");
    assert_true(sl_json_path_bool(version, "served", false));
    assert_false(sl_json_path_bool(version, "storage", true));
    assert_string_equal(sl_json_path_text(version, "deprecationWarning", ""),
                        "This version is deprecated. Use v1beta2 instead.");
    assert_string_equal(sl_json_path_text(version, "additionalPrinterColumns.0.jsonPath", ""),
                        ".spec.cohort");
    assert_non_null(property(spec, "cohort"));
    assert_non_null(property(spec, "admissionChecks"));
    assert_null(property(spec, "cohortName"));
    assert_null(property(spec, "concurrentAdmissionPolicy"));
    sl_json_free(v);
}

static void test_crd_old_is_converted_by_the_webhook(void **state)
{
    (void)state;
    struct sl_json *v = crd_old(SL_KIND_TOPOLOGY);
    assert_string_equal(sl_json_path_text(v, "0.path", ""), "/spec/conversion");
    assert_json(sl_json_path(v, "0.value.webhook.clientConfig.service"),
                "{\"name\":\"sluice-webhook-service\",\"namespace\":\"kueue-system\","
                "\"path\":\"/convert\"}");
    sl_json_free(v);
}

static size_t rule_count(const char *yaml_text)
{
    size_t count = 0;
    for (const char *at = yaml_text; (at = strstr(at, " rule: ")) != NULL; at++) {
        count++;
    }
    return count;
}

/* A rule whose fields v1beta1 lacks has to be looked at: does crd_rules_old.def need one in its place? */
static void test_crd_old_has_the_rules_of_the_new_version(void **state)
{
    (void)state;
    static const size_t fewer[SL_KIND_CUSTOM] = {
        [SL_KIND_CLUSTER_QUEUE] = 1, /* concurrentAdmissionPolicy is immutable */
        /* 6 of priorityClassRef, in whose place are 3; 5 of slices, which the conversion checks */
        [SL_KIND_WORKLOAD] = 6 - 3 + 5};
    for (int kind = 0; kind < SL_KIND_CUSTOM; kind++) {
        struct sl_buf new = {0}, old = {0};
        if (strcmp(sl_kind_info((enum sl_kind)kind)->group, "kueue.x-k8s.io") == 0) {
            sl_object_crd_yaml((enum sl_kind)kind, &new);
            sl_object_crd_old_yaml((enum sl_kind)kind, &old);
            assert_int_equal(rule_count(new.data), rule_count(old.data) + fewer[kind]);
            assert_null(strstr(old.data, "cohortName"));
        }
        sl_buf_fini(&new);
        sl_buf_fini(&old);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crd_describes_each_field_of_each_kind),
        cmocka_unit_test(test_crd_descriptions_have_defaults_and_what_has_no_effect),
        cmocka_unit_test(test_crd_names_scope_and_columns_are_those_of_the_kind),
        cmocka_unit_test(test_crd_schema_has_bounds_defaults_and_enums),
        cmocka_unit_test(test_crd_schemas_are_structural),
        cmocka_unit_test(test_crd_rules_stand_where_their_path_says),
        cmocka_unit_test(test_crd_unknown_fields_only_of_pods_are_kept),
        cmocka_unit_test(test_crd_old_has_its_own_fields_and_columns),
        cmocka_unit_test(test_crd_old_is_converted_by_the_webhook),
        cmocka_unit_test(test_crd_old_has_the_rules_of_the_new_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
