/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kinds that are defined while the store is open: restarts, batches that are lost, deletion with all objects, and bounds. */
#include "disk_between.h"

#define SCHEMA "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\"}}}"

static void print(char out[static 1024], const char *plural, const char *kind, const char *scope,
                  const char *schema)
{
    (void)snprintf(
        out, 1024,
        "{\"metadata\":{\"name\":\"%s.example.com\"},\"spec\":{\"group\":\"example.com\","
        "\"scope\":\"%s\",\"names\":{\"plural\":\"%s\",\"kind\":\"%s\"},\"versions\":[{"
        "\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
        "\"openAPIV3Schema\":%s}}]}}",
        plural, scope, plural, kind, schema);
}

static enum sl_code stage(struct fixture *f, const char *plural, const char *kind)
{
    char body[1024];
    print(body, plural, kind, "Namespaced", SCHEMA);
    return code_of(f, create(SL_KIND_DEFINITION, ""), body);
}

static enum sl_kind kind_of(const char *plural)
{
    return sl_kind_find("example.com", "v1", plural);
}

static enum sl_kind define(struct fixture *f, const char *plural, const char *kind)
{
    assert_int_equal(stage(f, plural, kind), SL_CODE_OK);
    commit(f);
    assert_true(sl_kind_is_defined(kind_of(plural)));
    return kind_of(plural);
}

static void drop(struct fixture *f, const char *name)
{
    must(f, on(SL_VERB_DELETE, SL_KIND_DEFINITION, "", name), NULL);
    commit(f);
}

static void reopen(struct fixture *f)
{
    sl_store_close(f->store);
    f->store = NULL;
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
}

static bool has(struct fixture *f, enum sl_kind kind, const char *ns, const char *name)
{
    struct sl_json *o = NULL;
    bool found = sl_store_get(f->store, kind, ns, name, &o, &f->e) == SL_CODE_OK;
    sl_json_free(o);
    return found;
}

static void test_a_kind_is_served_from_its_commit_on(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(stage(f, "foos", "Foo"), SL_CODE_OK);
    assert_int_equal(kind_of("foos"), SL_KIND_COUNT);
    commit(f);
    assert_true(sl_kind_is_defined(kind_of("foos")));
    assert_int_equal(sl_kind_end(), SL_KIND_CUSTOM); /* controllers do not see it */
    must(f, create(kind_of("foos"), "default"), "{\"metadata\":{\"name\":\"a\"}}");
    commit(f);
    reopen(f);
    assert_true(has(f, kind_of("foos"), "default", "a"));
    sl_store_close(f->store);
    f->store = NULL;
    assert_int_equal(kind_of("foos"), SL_KIND_COUNT);
}

static void test_a_batch_that_is_lost_defines_nothing(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(stage(f, "foo0s", "Foo0"), SL_CODE_OK);
    disk.fail_syncs = 1;
    assert_int_not_equal(sl_store_commit(f->store, &f->e), SL_CODE_OK);
    assert_int_equal(kind_of("foo0s"), SL_KIND_COUNT);
    commit(f);
    assert_int_equal(kind_of("foo0s"), SL_KIND_COUNT);
    (void)define(f, "foo0s", "Foo0");
    reopen(f);
    assert_true(sl_kind_is_defined(kind_of("foo0s")));
}

static void test_deletion_takes_all_objects_along(void **state)
{
    struct fixture *f = *state;
    enum sl_kind kind = define(f, "foos", "Foo");
    for (int i = 0; i < 300; i++) { /* more than one piece of background work */
        char body[64];
        (void)snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"o%d\"}}", i);
        must(f, create(kind, "default"), body);
    }
    must(f, create(kind, "default"),
         "{\"metadata\":{\"name\":\"held\",\"finalizers\":[\"example.com/mine\"]}}");
    commit(f);
    drop(f, "foos.example.com");
    assert_false(has(f, kind, "default", "o0"));
    assert_true(has(f, kind, "default", "held"));
    assert_true(sl_kind_is_defined(kind));
    assert_int_equal(code_of(f, create(kind, "default"), "{\"metadata\":{\"name\":\"late\"}}"),
                     SL_CODE_METHOD_NOT_ALLOWED);
    assert_string_equal(f->e.text,
                        "create not allowed while custom resource definition is terminating");
    assert_int_equal(code_of(f, on(SL_VERB_PATCH_MERGE, SL_KIND_DEFINITION, "", "foos.example.com"),
                             "{\"metadata\":{\"finalizers\":null}}"),
                     SL_CODE_INVALID);
    reopen(f); /* what is left to do is not forgotten */
    commit(f);
    kind = kind_of("foos");
    assert_true(has(f, SL_KIND_DEFINITION, "", "foos.example.com"));
    must(f, on(SL_VERB_PATCH_MERGE, kind, "default", "held"),
         "{\"metadata\":{\"finalizers\":null}}");
    commit(f);
    assert_false(has(f, SL_KIND_DEFINITION, "", "foos.example.com"));
    assert_int_equal(kind_of("foos"), SL_KIND_COUNT);
    kind = define(f, "foos", "Foo");
    assert_false(has(f, kind, "default", "held"));
}

static void test_a_sweep_that_is_lost_is_done_again(void **state)
{
    struct fixture *f = *state;
    enum sl_kind kind = define(f, "foos", "Foo");
    for (int i = 0; i < 300; i++) {
        char body[64];
        (void)snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"o%d\"}}", i);
        must(f, create(kind, "default"), body);
    }
    commit(f);
    must(f, on(SL_VERB_DELETE, SL_KIND_DEFINITION, "", "foos.example.com"), NULL);
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_OK); /* it is marked */
    disk.fail_syncs = 1;
    assert_int_not_equal(sl_store_commit(f->store, &f->e), SL_CODE_OK);
    assert_true(has(f, kind, "default", "o0"));
    make_queue(f, "any", ""); /* work goes on after a commit that was good */
    commit(f);
    assert_false(has(f, SL_KIND_DEFINITION, "", "foos.example.com"));
    kind = define(f, "foos", "Foo");
    assert_false(has(f, kind, "default", "o0"));
    assert_false(has(f, kind, "default", "o299"));
}

static void test_a_definition_with_other_finalizers_stays(void **state)
{
    struct fixture *f = *state;
    (void)define(f, "foos", "Foo");
    must(f, on(SL_VERB_PATCH_MERGE, SL_KIND_DEFINITION, "", "foos.example.com"),
         "{\"metadata\":{\"finalizers\":[\"example.com/mine\"]}}");
    drop(f, "foos.example.com");
    assert_true(has(f, SL_KIND_DEFINITION, "", "foos.example.com"));
    must(f, on(SL_VERB_PATCH_MERGE, SL_KIND_DEFINITION, "", "foos.example.com"),
         "{\"metadata\":{\"finalizers\":null}}");
    commit(f);
    assert_false(has(f, SL_KIND_DEFINITION, "", "foos.example.com"));
}

static void test_objects_have_owners_and_end_with_their_namespace(void **state)
{
    struct fixture *f = *state;
    char body[512];
    enum sl_kind kind = define(f, "foos", "Foo");
    must(f, create(SL_KIND_NAMESPACE, ""), "{\"metadata\":{\"name\":\"team\"}}");
    struct sl_json *owner =
        apply(f, create(kind, "default"), "{\"metadata\":{\"name\":\"owner\"}}");
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"owned\",\"ownerReferences\":[{\"apiVersion\":"
                   "\"example.com/v1\",\"kind\":\"Foo\",\"name\":\"owner\",\"uid\":\"%s\"}]}}",
                   sl_object_uid(owner));
    sl_json_free(owner);
    must(f, create(kind, "default"), body);
    must(f, create(kind, "team"), "{\"metadata\":{\"name\":\"a\"}}");
    commit(f);
    assert_true(has(f, kind, "default", "owned"));
    must(f, on(SL_VERB_DELETE, kind, "default", "owner"), NULL);
    must(f, on(SL_VERB_DELETE, SL_KIND_NAMESPACE, "", "team"), NULL);
    commit(f);
    assert_false(has(f, kind, "default", "owned"));
    assert_false(has(f, kind, "team", "a"));
    assert_false(has(f, SL_KIND_NAMESPACE, "", "team"));
}

static void test_a_status_without_subresource_counts_in_the_generation(void **state)
{
    struct fixture *f = *state;
    char body[1024];
    print(body, "nodules", "Nodule", "Cluster",
          "{\"type\":\"object\",\"properties\":{\"status\":{\"type\":\"object\",\"properties\":{"
          "\"n\":{\"type\":\"integer\"}}}}}");
    must(f, create(SL_KIND_DEFINITION, ""), body);
    commit(f);
    enum sl_kind kind = kind_of("nodules");
    must(f, create(kind, ""), "{\"metadata\":{\"name\":\"a\"},\"status\":{\"n\":1}}");
    struct sl_json *o = apply(f, on(SL_VERB_PATCH_MERGE, kind, "", "a"), "{\"status\":{\"n\":2}}");
    assert_int_equal(sl_object_generation(o), 2);
    assert_int_equal(sl_json_path_int(o, "status.n", 0), 2);
    sl_json_free(o);
}

static void test_a_schema_may_change(void **state)
{
    struct fixture *f = *state;
    char body[1024];
    enum sl_kind kind = define(f, "foos", "Foo");
    must(f, create(kind, "default"),
         "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"n\":1},\"more\":1}");
    print(
        body, "foos", "Foo", "Namespaced",
        "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{\"n\":"
        "{\"type\":\"integer\",\"default\":7}}}}}");
    must(f, on(SL_VERB_PATCH_MERGE, SL_KIND_DEFINITION, "", "foos.example.com"), body);
    commit(f);
    assert_int_equal(kind_of("foos"), kind);
    struct sl_json *o =
        apply(f, create(kind, "default"), "{\"metadata\":{\"name\":\"b\"},\"spec\":{}}");
    assert_int_equal(sl_json_path_int(o, "spec.n", 0), 7);
    sl_json_free(o);
    static const char *const refused[] = {
        "{\"spec\":{\"names\":{\"kind\":\"Bar\"}}}", "{\"spec\":{\"scope\":\"Cluster\"}}",
        "{\"spec\":{\"versions\":[{\"name\":\"v2\",\"served\":true,\"storage\":true,\"schema\":{"
        "\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(
            code_of(f, on(SL_VERB_PATCH_MERGE, SL_KIND_DEFINITION, "", "foos.example.com"),
                    refused[i]),
            SL_CODE_INVALID);
    }
}

static void test_names_of_others_are_refused(void **state)
{
    struct fixture *f = *state;
    enum sl_kind custom;
    assert_int_equal(sl_kind_register("example.com/v2", "Bar", "bars", &custom, &f->e), SL_CODE_OK);
    assert_int_equal(stage(f, "foos", "Foo"), SL_CODE_OK); /* only staged, but it counts */
    assert_int_equal(stage(f, "foxes", "Foo"), SL_CODE_INVALID);
    assert_non_null(strstr(f->e.text, "spec.names.kind: Invalid value: \"Foo\": is a name of "
                                      "foos.example.com"));
    assert_int_equal(stage(f, "bars", "Other"), SL_CODE_INVALID);
    assert_non_null(strstr(f->e.text, "the server itself serves such a kind"));
    commit(f);
    sl_kind_forget_custom();
}

/* An adapter's file that came later has the name: the objects are its. */
static void test_a_kind_that_became_the_servers_is_not_served_twice(void **state)
{
    struct fixture *f = *state;
    enum sl_kind custom, kind = define(f, "foos", "Foo");
    must(f, create(kind, "default"), "{\"metadata\":{\"name\":\"a\"}}");
    commit(f);
    sl_store_close(f->store);
    assert_int_equal(sl_kind_register("example.com/v1", "Foo", "foos", &custom, &f->e), SL_CODE_OK);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    assert_int_equal(kind_of("foos"), custom);
    assert_true(has(f, custom, "default", "a"));
    sl_kind_forget_custom();
}

static void test_there_are_only_so_many(void **state)
{
    struct fixture *f = *state;
    char plural[16], kind[16];
    for (int i = 0; i < SL_KIND_DEFINED_MAX; i++) {
        (void)snprintf(plural, sizeof plural, "foo%ds", i);
        (void)snprintf(kind, sizeof kind, "Foo%d", i);
        (void)define(f, plural, kind);
    }
    assert_int_equal(stage(f, "mores", "More"), SL_CODE_FORBIDDEN);
    assert_non_null(strstr(f->e.text, "there may be no more than 64"));
    drop(f, "foo7s.example.com");
    (void)define(f, "mores", "More");
}

static void test_definitions_may_weigh_only_so_much_together(void **state)
{
    struct fixture *f = *state;
    struct sl_buf schema = {0}, body = {0};
    sl_buf_text(&schema, "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\","
                         "\"properties\":{");
    for (int i = 0; i < 8000; i++) {
        sl_buf_print(&schema, "%s\"f%d\":{\"type\":\"string\"}", i > 0 ? "," : "", i);
    }
    sl_buf_text(&schema, "}}}}");
    enum sl_code code = SL_CODE_OK;
    int stored = 0;
    for (; code == SL_CODE_OK && stored < 20; stored++) {
        sl_buf_reset(&body);
        sl_buf_print(&body,
                     "{\"metadata\":{\"name\":\"foo%ds.example.com\"},\"spec\":{\"group\":"
                     "\"example.com\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"foo%ds\","
                     "\"kind\":\"Foo%d\"},\"versions\":[{\"name\":\"v1\",\"served\":true,"
                     "\"storage\":true,\"schema\":{\"openAPIV3Schema\":",
                     stored, stored, stored);
        sl_buf_add(&body, schema.data, schema.len);
        sl_buf_text(&body, "}}]}}");
        code = code_of(f, create(SL_KIND_DEFINITION, ""), body.data);
    }
    assert_int_equal(code, SL_CODE_TOO_LARGE);
    assert_int_equal(stored, 5); /* each weighs some 56,000 */
    sl_buf_fini(&schema);
    sl_buf_fini(&body);
}

static void test_defaults_of_one_object_are_bounded(void **state)
{
    struct fixture *f = *state;
    char body[1024];
    struct sl_buf object = {0};
    print(body, "foos", "Foo", "Cluster",
          "{\"type\":\"object\",\"properties\":{\"list\":{\"type\":\"array\",\"items\":{\"type\":"
          "\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"},"
          "\"default\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]}}}}}}");
    must(f, create(SL_KIND_DEFINITION, ""), body);
    commit(f);
    sl_buf_text(&object, "{\"metadata\":{\"name\":\"a\"},\"list\":[{}");
    for (int i = 0; i < 4000; i++) {
        sl_buf_text(&object, ",{}");
    }
    sl_buf_text(&object, "]}");
    assert_int_equal(code_of(f, create(kind_of("foos"), ""), object.data), SL_CODE_TOO_LARGE);
    assert_non_null(strstr(f->e.text, "too many defaults"));
    sl_buf_fini(&object);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_a_kind_is_served_from_its_commit_on),
        cmocka_unit_test_setup_teardown(test_a_batch_that_is_lost_defines_nothing, watch_disk,
                                        leave_disk),
        CASE(test_deletion_takes_all_objects_along),
        cmocka_unit_test_setup_teardown(test_a_sweep_that_is_lost_is_done_again, watch_disk,
                                        leave_disk),
        CASE(test_a_definition_with_other_finalizers_stays),
        CASE(test_objects_have_owners_and_end_with_their_namespace),
        CASE(test_a_status_without_subresource_counts_in_the_generation),
        CASE(test_a_schema_may_change),
        CASE(test_names_of_others_are_refused),
        CASE(test_a_kind_that_became_the_servers_is_not_served_twice),
        CASE(test_there_are_only_so_many),
        CASE(test_definitions_may_weigh_only_so_much_together),
        CASE(test_defaults_of_one_object_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
