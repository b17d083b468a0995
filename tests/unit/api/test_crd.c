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

static const struct sl_json *property(const struct sl_json *schema, const char *name)
{
    return sl_json_get(sl_json_get(schema, "properties"), name);
}

/* What kubectl explain shows of a queue. */
static void test_crd_describes_each_field_of_a_cluster_queue(void **state)
{
    (void)state;
    static const char *const paths[] = {"spec", "spec.properties.preemption",
                                        "spec.properties.flavorFungibility",
                                        "spec.properties.admissionChecksStrategy"};
    struct sl_json *v = crd(SL_KIND_CLUSTER_QUEUE);
    const struct sl_json *fields =
        sl_json_path(v, "spec.versions.0.schema.openAPIV3Schema.properties");
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const struct sl_json *properties =
            sl_json_get(sl_json_path(fields, paths[i]), "properties");
        void *it = NULL;
        const char *key;
        struct sl_json *field;
        assert_true(sl_json_len(properties) > 0);
        while (sl_json_next(properties, &it, &key, &field)) {
            if (!sl_json_has(field, "description")) {
                fail_msg("%s: %s has no description", paths[i], key);
            }
        }
    }
    sl_json_free(v);
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
    assert_int_equal(sl_json_len(sl_json_path(v, "spec.versions.0.additionalPrinterColumns")), 5);
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
                "admitted.\",\"enum\":[\"None\",\"Hold\",\"HoldAndDrain\"],\"type\":\"string\"}");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crd_describes_each_field_of_a_cluster_queue),
        cmocka_unit_test(test_crd_names_scope_and_columns_are_those_of_the_kind),
        cmocka_unit_test(test_crd_schema_has_bounds_defaults_and_enums),
        cmocka_unit_test(test_crd_schemas_are_structural),
        cmocka_unit_test(test_crd_rules_stand_where_their_path_says),
        cmocka_unit_test(test_crd_unknown_fields_only_of_pods_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
