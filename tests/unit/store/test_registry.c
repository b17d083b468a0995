/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Create, update, patch and delete as Kubernetes' registry does them. */
#include "fixture.h"

#define QUEUE SL_KIND_LOCAL_QUEUE

/* --- create ---------------------------------------------------------------------------------- */

static void test_registry_create_fills_system_fields(void **state)
{
    struct fixture *f = *state;
    struct sl_json *o =
        apply(f, create(QUEUE, "default"),
              "{\"metadata\":{\"name\":\"q\",\"uid\":\"mine\",\"generation\":7,"
              "\"creationTimestamp\":\"1999-01-01T00:00:00Z\",\"managedFields\":[{}]},"
              "\"spec\":{\"clusterQueue\":\"cq\"},\"status\":{\"pendingWorkloads\":9}}");
    assert_non_null(o);
    assert_int_equal(strlen(sl_object_uid(o)), 36);
    assert_int_equal(sl_object_uid(o)[14], '8');
    assert_non_null(strchr("89ab", sl_object_uid(o)[19]));
    assert_string_equal(sl_json_path_text(o, "metadata.creationTimestamp", ""),
                        "2026-08-22T10:00:00Z");
    assert_int_equal(sl_object_generation(o), 1);
    assert_string_equal(sl_object_namespace(o), "default");
    assert_string_equal(sl_json_path_text(o, "apiVersion", ""), "kueue.x-k8s.io/v1beta2");
    assert_string_equal(sl_json_path_text(o, "kind", ""), "LocalQueue");
    assert_null(sl_json_path(o, "metadata.managedFields"));
    assert_int_equal(sl_json_path_int(o, "status.pendingWorkloads", 0), 0);
    assert_true(sl_object_resource_version(o)[0] != '\0');
    sl_json_free(o);
}

static void test_registry_generate_name_makes_different_names(void **state)
{
    struct fixture *f = *state;
    const char *body =
        "{\"metadata\":{\"generateName\":\"q-\"},\"spec\":{\"clusterQueue\":\"cq\"}}";
    struct sl_json *a = apply(f, create(QUEUE, "default"), body),
                   *b = apply(f, create(QUEUE, "default"), body);
    assert_int_equal(strlen(sl_object_name(a)), 7);
    assert_memory_equal(sl_object_name(a), "q-", 2);
    assert_string_not_equal(sl_object_name(a), sl_object_name(b));
    assert_string_not_equal(sl_object_uid(a), sl_object_uid(b));
    sl_json_free(a);
    sl_json_free(b);
}

static void test_registry_create_without_name_is_invalid(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(code_of(f, create(QUEUE, "default"),
                             "{\"metadata\":{},\"spec\":{\"clusterQueue\":\"cq\"}}"),
                     SL_CODE_INVALID);
    assert_string_equal(f->e.causes[0].field, "metadata.name");
}

static void test_registry_create_twice_already_exists(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    assert_int_equal(code_of(f, create(QUEUE, "default"),
                             "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"clusterQueue\":\"cq\"}}"),
                     SL_CODE_ALREADY_EXISTS);
    assert_string_equal(f->e.text, "localqueues.kueue.x-k8s.io \"q\" already exists");
}

static void test_registry_create_with_resource_version_is_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(code_of(f, create(QUEUE, "default"),
                             "{\"metadata\":{\"name\":\"q\",\"resourceVersion\":\"1\"},"
                             "\"spec\":{\"clusterQueue\":\"cq\"}}"),
                     SL_CODE_BAD_REQUEST);
}

static void test_registry_create_in_missing_namespace_not_found(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(code_of(f, create(QUEUE, "nowhere"),
                             "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"clusterQueue\":\"cq\"}}"),
                     SL_CODE_NOT_FOUND);
    assert_string_equal(f->e.text, "namespaces \"nowhere\" not found");
}

static void test_registry_create_namespace_mismatch_is_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(code_of(f, create(QUEUE, "default"),
                             "{\"metadata\":{\"name\":\"q\",\"namespace\":\"other\"},"
                             "\"spec\":{\"clusterQueue\":\"cq\"}}"),
                     SL_CODE_BAD_REQUEST);
}

static void test_registry_dry_run_leaves_no_trace(void **state)
{
    struct fixture *f = *state;
    uint64_t before = sl_store_revision(f->store);
    struct sl_write w = create(QUEUE, "default");
    w.dry_run = true;
    struct sl_json *o =
        apply(f, w, "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"clusterQueue\":\"cq\"}}");
    assert_non_null(o);
    assert_true(sl_object_uid(o)[0] != '\0');
    sl_json_free(o);
    assert_int_equal(sl_store_revision(f->store), before);
    assert_false(sl_store_dirty(f->store));
    assert_null(get_queue(f, "q"));
}

static void test_registry_refused_write_leaves_earlier_ones(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "kept", "");
    assert_int_not_equal(code_of(f, create(QUEUE, "default"), "{\"metadata\":{}}"), SL_CODE_OK);
    commit(f);
    struct sl_json *o = get_queue(f, "kept");
    assert_non_null(o);
    sl_json_free(o);
}

/* --- update and patch ------------------------------------------------------------------------ */

static void test_registry_update_with_stale_version_conflicts(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    struct sl_json *old = get_queue(f, "q");
    must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "q"),
         "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    struct sl_buf text = {0};
    sl_json_print(old, &text);
    assert_int_equal(code_of(f, on(SL_VERB_UPDATE, QUEUE, "default", "q"), text.data),
                     SL_CODE_CONFLICT);
    assert_non_null(strstr(f->e.text, "the object has been modified"));
    sl_buf_fini(&text);
    sl_json_free(old);
}

static void test_registry_write_with_other_uid_conflicts(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    struct sl_write w = on(SL_VERB_PATCH_MERGE, QUEUE, "default", "q");
    w.uid = "00000000-0000-4000-8000-000000000000";
    assert_int_equal(code_of(f, w, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"), SL_CODE_CONFLICT);
    w.verb = SL_VERB_DELETE;
    assert_int_equal(code_of(f, w, NULL), SL_CODE_CONFLICT);
}

static void test_registry_generation_counts_spec_changes_only(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "q"),
         "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    must(f, on(SL_VERB_PATCH_STATUS_MERGE, QUEUE, "default", "q"),
         "{\"status\":{\"pendingWorkloads\":3}}");
    struct sl_json *o = get_queue(f, "q");
    assert_int_equal(sl_object_generation(o), 1);
    sl_json_free(o);
    o = apply(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "q"),
              "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    assert_int_equal(sl_object_generation(o), 2);
    sl_json_free(o);
}

static void test_registry_update_ignores_status(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    must(f, on(SL_VERB_PATCH_STATUS_MERGE, QUEUE, "default", "q"),
         "{\"status\":{\"pendingWorkloads\":3}}");
    struct sl_json *o =
        apply(f, on(SL_VERB_UPDATE, QUEUE, "default", "q"),
              "{\"metadata\":{\"name\":\"q\",\"labels\":{\"x\":\"y\"}},"
              "\"spec\":{\"clusterQueue\":\"cq\"},\"status\":{\"pendingWorkloads\":99}}");
    assert_int_equal(sl_json_path_int(o, "status.pendingWorkloads", -1), 3);
    assert_string_equal(sl_object_label(o, "x"), "y");
    sl_json_free(o);
}

static void test_registry_status_write_changes_status_alone(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    struct sl_json *o =
        apply(f, on(SL_VERB_UPDATE_STATUS, QUEUE, "default", "q"),
              "{\"metadata\":{\"name\":\"q\",\"labels\":{\"x\":\"y\"}},"
              "\"spec\":{\"clusterQueue\":\"elsewhere\"},\"status\":{\"pendingWorkloads\":5}}");
    assert_non_null(o);
    assert_int_equal(sl_json_path_int(o, "status.pendingWorkloads", -1), 5);
    assert_string_equal(sl_json_path_text(o, "spec.clusterQueue", ""), "cq");
    assert_null(sl_object_label(o, "x"));
    sl_json_free(o);
}

static void test_registry_no_op_write_changes_nothing(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", ",\"labels\":{\"a\":\"b\"}");
    commit(f);
    uint64_t before = sl_store_revision(f->store);
    must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "q"),
         "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    assert_int_equal(sl_store_revision(f->store), before);
    assert_false(sl_store_dirty(f->store));
}

static void test_registry_update_cannot_touch_identity(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    struct sl_json *before = get_queue(f, "q");
    struct sl_json *o =
        apply(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "q"),
              "{\"metadata\":{\"creationTimestamp\":null,\"generation\":77,"
              "\"deletionTimestamp\":\"2020-01-01T00:00:00Z\",\"labels\":{\"a\":\"b\"}}}");
    assert_string_equal(sl_object_uid(o), sl_object_uid(before));
    assert_string_equal(sl_json_path_text(o, "metadata.creationTimestamp", ""),
                        "2026-08-22T10:00:00Z");
    assert_int_equal(sl_object_generation(o), 1);
    assert_false(sl_object_deleting(o));
    sl_json_free(o);
    sl_json_free(before);
}

static void test_registry_patch_of_kind_is_refused(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    assert_int_equal(
        code_of(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "q"), "{\"kind\":\"Workload\"}"),
        SL_CODE_BAD_REQUEST);
}

static void test_registry_update_of_missing_object_not_found(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(
        code_of(f, on(SL_VERB_UPDATE, QUEUE, "default", "q"), "{\"metadata\":{\"name\":\"q\"}}"),
        SL_CODE_NOT_FOUND);
}

/* --- delete ---------------------------------------------------------------------------------- */

static void test_registry_delete_removes_at_once(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    must(f, on(SL_VERB_DELETE, QUEUE, "default", "q"), NULL);
    assert_null(get_queue(f, "q"));
    assert_int_equal(code_of(f, on(SL_VERB_DELETE, QUEUE, "default", "q"), NULL),
                     SL_CODE_NOT_FOUND);
}

static void test_registry_delete_waits_for_finalizers(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", ",\"finalizers\":[\"example.com/a\",\"example.com/b\"]");
    struct sl_json *o = apply(f, on(SL_VERB_DELETE, QUEUE, "default", "q"), NULL);
    assert_true(sl_object_deleting(o));
    assert_int_equal(sl_json_path_int(o, "metadata.deletionGracePeriodSeconds", -1), 0);
    assert_int_equal(sl_object_generation(o), 2);
    sl_json_free(o);
    must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "q"),
         "{\"metadata\":{\"finalizers\":[\"example.com/b\"]}}");
    o = get_queue(f, "q");
    assert_non_null(o);
    sl_json_free(o);
    must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "q"), "{\"metadata\":{\"finalizers\":null}}");
    assert_null(get_queue(f, "q"));
}

static void test_registry_second_delete_changes_nothing(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", ",\"finalizers\":[\"example.com/a\"]");
    must(f, on(SL_VERB_DELETE, QUEUE, "default", "q"), NULL);
    uint64_t before = sl_store_revision(f->store);
    must(f, on(SL_VERB_DELETE, QUEUE, "default", "q"), NULL);
    assert_int_equal(sl_store_revision(f->store), before);
}

static void test_registry_new_finalizer_while_deleting_is_invalid(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", ",\"finalizers\":[\"example.com/a\"]");
    must(f, on(SL_VERB_DELETE, QUEUE, "default", "q"), NULL);
    assert_int_equal(
        code_of(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "q"),
                "{\"metadata\":{\"finalizers\":[\"example.com/a\",\"example.com/b\"]}}"),
        SL_CODE_INVALID);
    assert_string_equal(f->e.causes[0].field, "metadata.finalizers");
}

static void test_registry_delete_with_stale_version_conflicts(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    assert_int_equal(code_of(f, on(SL_VERB_DELETE, QUEUE, "default", "q"),
                             "{\"metadata\":{\"resourceVersion\":\"1\"}}"),
                     SL_CODE_CONFLICT);
}

static void test_registry_unknown_propagation_is_invalid(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "q", "");
    struct sl_write w = on(SL_VERB_DELETE, QUEUE, "default", "q");
    w.propagation = "Sideways";
    assert_int_equal(code_of(f, w, NULL), SL_CODE_INVALID);
    assert_string_equal(f->e.causes[0].field, "propagationPolicy");
}

static void test_registry_default_namespace_cannot_be_deleted(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(code_of(f, on(SL_VERB_DELETE, SL_KIND_NAMESPACE, "", "default"), NULL),
                     SL_CODE_FORBIDDEN);
}

static void test_registry_node_keeps_status_on_create(void **state)
{
    struct fixture *f = *state;
    struct sl_json *o =
        apply(f, create(SL_KIND_NODE, ""),
              "{\"metadata\":{\"name\":\"n1\"},\"status\":{\"allocatable\":{\"cpu\":\"4\"}}}");
    assert_string_equal(sl_json_path_text(o, "status.allocatable.cpu", ""), "4");
    assert_null(sl_json_path(o, "metadata.namespace"));
    sl_json_free(o);
}

static void test_registry_metadata_of_another_type_is_invalid(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *metadata, *field;
    } cases[] = {{"\"labels\":[]", "metadata.labels"},
                 {"\"annotations\":\"x\"", "metadata.annotations"},
                 {"\"finalizers\":{}", "metadata.finalizers"},
                 {"\"ownerReferences\":7", "metadata.ownerReferences"}};
    sl_store_gate_pods(f->store, true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[256];
        (void)snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"n\",%s}}", cases[i].metadata);
        assert_int_equal(code_of(f, create(SL_KIND_NAMESPACE, ""), body), SL_CODE_INVALID);
        assert_string_equal(f->e.causes[0].field, cases[i].field);
        assert_int_equal(code_of(f, create(SL_KIND_POD, "default"), body), SL_CODE_INVALID);
        assert_string_equal(f->e.causes[0].field, cases[i].field);
    }
    must(f, create(SL_KIND_NAMESPACE, ""),
         "{\"metadata\":{\"name\":\"n\",\"labels\":null},\"spec\":[],\"status\":[]}");
    assert_int_equal(code_of(f, on(SL_VERB_PATCH_MERGE, SL_KIND_NAMESPACE, "", "n"),
                             "{\"metadata\":{\"labels\":[]}}"),
                     SL_CODE_INVALID);
    assert_string_equal(f->e.text, "Namespace \"n\" is invalid: metadata.labels: Invalid value: "
                                   "array: must be an object");
}

static void test_registry_seed_makes_uids_reproducible(void **state)
{
    struct fixture *f = *state;
    char first[40];
    sl_store_seed(f->store, 42);
    make_queue(f, "a", "");
    struct sl_json *o = get_queue(f, "a");
    (void)snprintf(first, sizeof first, "%s", sl_object_uid(o));
    sl_json_free(o);
    sl_store_seed(f->store, 42);
    make_queue(f, "b", "");
    o = get_queue(f, "b");
    assert_string_equal(sl_object_uid(o) + 14,
                        first + 14); /* before it: how many writes there were */
    sl_json_free(o);
}

/* What was made within one second is told apart by its UID alone: by Kueue's rule the smaller one goes first. */
static void test_registry_uids_are_in_the_order_of_creation(void **state)
{
    struct fixture *f = *state;
    char last[40] = "";
    for (int i = 0; i < 50; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "q%d", i);
        make_queue(f, name, "");
        if (i % 7 == 0) {
            commit(f);
        }
        struct sl_json *o = get_queue(f, name);
        assert_int_equal(strlen(sl_object_uid(o)), 36);
        assert_true(strcmp(sl_object_uid(o), last) > 0);
        (void)snprintf(last, sizeof last, "%s", sl_object_uid(o));
        sl_json_free(o);
    }
    assert_int_equal(last[14], '8');
    assert_non_null(strchr("89ab", last[19]));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_registry_create_fills_system_fields),
        CASE(test_registry_uids_are_in_the_order_of_creation),
        CASE(test_registry_generate_name_makes_different_names),
        CASE(test_registry_create_without_name_is_invalid),
        CASE(test_registry_create_twice_already_exists),
        CASE(test_registry_create_with_resource_version_is_refused),
        CASE(test_registry_create_in_missing_namespace_not_found),
        CASE(test_registry_create_namespace_mismatch_is_refused),
        CASE(test_registry_dry_run_leaves_no_trace),
        CASE(test_registry_refused_write_leaves_earlier_ones),
        CASE(test_registry_update_with_stale_version_conflicts),
        CASE(test_registry_write_with_other_uid_conflicts),
        CASE(test_registry_generation_counts_spec_changes_only),
        CASE(test_registry_update_ignores_status),
        CASE(test_registry_status_write_changes_status_alone),
        CASE(test_registry_no_op_write_changes_nothing),
        CASE(test_registry_update_cannot_touch_identity),
        CASE(test_registry_patch_of_kind_is_refused),
        CASE(test_registry_update_of_missing_object_not_found),
        CASE(test_registry_delete_removes_at_once),
        CASE(test_registry_delete_waits_for_finalizers),
        CASE(test_registry_second_delete_changes_nothing),
        CASE(test_registry_new_finalizer_while_deleting_is_invalid),
        CASE(test_registry_delete_with_stale_version_conflicts),
        CASE(test_registry_unknown_propagation_is_invalid),
        CASE(test_registry_default_namespace_cannot_be_deleted),
        CASE(test_registry_node_keeps_status_on_create),
        CASE(test_registry_metadata_of_another_type_is_invalid),
        CASE(test_registry_seed_makes_uids_reproducible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
