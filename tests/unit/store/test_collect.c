/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Background work: garbage collection by owner, propagation policies, namespaces, old Events. */
#include "fixture.h"
#include "store/internal.h"

#define QUEUE SL_KIND_LOCAL_QUEUE

/* A queue owned by the given owners (queues too), each "name uid". */
static void make_owned(struct fixture *f, const char *name, const char *owner, const char *second,
                       const char *more)
{
    char metadata[900];
    struct sl_json *a = get_queue(f, owner), *b = second != NULL ? get_queue(f, second) : NULL;
    int n = snprintf(metadata, sizeof metadata,
                     "%s,\"ownerReferences\":[{\"apiVersion\":\"kueue.x-k8s.io/"
                     "v1beta2\",\"kind\":\"LocalQueue\","
                     "\"name\":\"%s\",\"uid\":\"%s\"}",
                     more, owner, sl_object_uid(a));
    if (b != NULL) {
        n += snprintf(
            metadata + n, sizeof metadata - (size_t)n,
            ",{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"LocalQueue\",\"name\":\"%s\","
            "\"uid\":\"%s\"}",
            second, sl_object_uid(b));
    }
    (void)snprintf(metadata + n, sizeof metadata - (size_t)n, "]");
    make_queue(f, name, metadata);
    sl_json_free(a);
    sl_json_free(b);
}

static bool exists(struct fixture *f, const char *name)
{
    struct sl_json *o = get_queue(f, name);
    sl_json_free(o);
    return o != NULL;
}

static void delete_with(struct fixture *f, const char *name, const char *propagation)
{
    struct sl_write w = on(SL_VERB_DELETE, QUEUE, "default", name);
    w.propagation = propagation;
    must(f, w, NULL);
}

static void test_collect_dependents_go_with_their_owner(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "owner", "");
    make_owned(f, "child", "owner", NULL, "");
    make_owned(f, "grandchild", "child", NULL, "");
    make_queue(f, "stranger", "");
    commit(f);
    delete_with(f, "owner", NULL);
    commit(f);
    assert_false(exists(f, "child"));
    assert_false(exists(f, "grandchild"));
    assert_true(exists(f, "stranger"));
}

static void test_collect_more_than_one_step_is_needed(void **state)
{
    struct fixture *f = *state;
    char name[16];
    make_queue(f, "owner", "");
    for (int i = 0; i < 600; i++) {
        (void)snprintf(name, sizeof name, "c%d", i);
        make_owned(f, name, "owner", NULL, "");
    }
    commit(f);
    delete_with(f, "owner", NULL);
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_OK);
    assert_true(sl_store_dirty(f->store)); /* one commit does a bounded piece */
    commit(f);
    for (int i = 0; i < 600; i++) {
        (void)snprintf(name, sizeof name, "c%d", i);
        assert_false(exists(f, name));
    }
}

static void test_collect_goes_on_after_a_restart(void **state)
{
    struct fixture *f = *state;
    char name[16];
    make_queue(f, "owner", "");
    for (int i = 0; i < 400; i++) {
        (void)snprintf(name, sizeof name, "c%d", i);
        make_owned(f, name, "owner", NULL, "");
    }
    commit(f);
    delete_with(f, "owner", NULL);
    assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_OK);
    sl_store_close(f->store);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    commit(f);
    for (int i = 0; i < 400; i++) {
        (void)snprintf(name, sizeof name, "c%d", i);
        assert_false(exists(f, name));
    }
}

static void test_collect_second_owner_keeps_the_dependent(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "one", "");
    make_queue(f, "two", "");
    make_owned(f, "child", "one", "two", "");
    commit(f);
    delete_with(f, "one", NULL);
    commit(f);
    struct sl_json *child = get_queue(f, "child");
    assert_non_null(child);
    assert_int_equal(sl_json_len(sl_json_path(child, "metadata.ownerReferences")), 1);
    assert_string_equal(sl_json_path_text(child, "metadata.ownerReferences.0.name", ""), "two");
    sl_json_free(child);
    delete_with(f, "two", NULL);
    commit(f);
    assert_false(exists(f, "child"));
}

static void test_collect_object_of_absent_owner_goes(void **state)
{
    struct fixture *f = *state;
    make_queue(
        f, "orphan",
        ",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"never\","
        "\"uid\":\"11111111-1111-4111-8111-111111111111\"}]");
    make_queue(f, "foreign",
               ",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\","
               "\"name\":\"unknown\",\"uid\":\"22222222-2222-4222-8222-222222222222\"}]");
    commit(f);
    assert_false(exists(f, "orphan"));
    assert_true(exists(f, "foreign")); /* a kind that is not known is not judged */
}

static void test_collect_absent_owner_with_a_long_uid_is_judged_once(void **state)
{
    struct fixture *f = *state;
    char uid[255], metadata[512];
    memset(uid, 'u', sizeof uid - 1);
    uid[sizeof uid - 1] = '\0';
    static const char owner[] =
        ",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\","
        "\"name\":\"never\",\"uid\":\"%s\"}]";
    (void)snprintf(metadata, sizeof metadata, owner, uid + 1);
    make_queue(f, "orphan", metadata);
    commit(f);
    assert_false(exists(f, "orphan"));
    char body[800];
    (void)snprintf(metadata, sizeof metadata, owner, uid);
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"q\"%s},\"spec\":{\"clusterQueue\":\"cq\"}}",
                   metadata);
    assert_int_equal(code_of(f, create(QUEUE, "default"), body), SL_CODE_INVALID);
    assert_string_equal(f->e.causes[0].field, "metadata.ownerReferences[0].uid");
}

static void test_collect_orphan_policy_cuts_the_tie(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "owner", "");
    make_owned(f, "child", "owner", NULL, "");
    commit(f);
    delete_with(f, "owner", "Orphan");
    commit(f);
    struct sl_json *child = get_queue(f, "child");
    assert_non_null(child);
    assert_null(sl_json_path(child, "metadata.ownerReferences"));
    sl_json_free(child);
    assert_false(exists(f, "owner"));
}

static void test_collect_foreground_waits_for_dependents(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "owner", "");
    make_owned(f, "child", "owner", NULL, ",\"finalizers\":[\"example.com/slow\"]");
    commit(f);
    delete_with(f, "owner", "Foreground");
    commit(f);
    struct sl_json *owner = get_queue(f, "owner"), *child = get_queue(f, "child");
    assert_true(sl_object_deleting(owner));
    assert_true(sl_object_deleting(child));
    sl_json_free(owner);
    sl_json_free(child);
    must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "child"),
         "{\"metadata\":{\"finalizers\":null}}");
    commit(f);
    assert_false(exists(f, "child"));
    assert_false(exists(f, "owner"));
}

static void test_collect_foreground_without_dependents_is_quick(void **state)
{
    struct fixture *f = *state;
    make_queue(f, "owner", "");
    delete_with(f, "owner", "Foreground");
    commit(f);
    assert_false(exists(f, "owner"));
}

/* --- namespaces ------------------------------------------------------------------------------ */

static void make_in(struct fixture *f, const char *ns, const char *name, const char *more)
{
    char body[512];
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"%s\"%s},\"spec\":{\"clusterQueue\":\"cq\"}}", name,
                   more);
    must(f, create(QUEUE, ns), body);
}

static void test_collect_namespace_goes_with_its_contents(void **state)
{
    struct fixture *f = *state;
    char name[16];
    struct sl_json *ns = NULL;
    must(f, create(SL_KIND_NAMESPACE, ""), "{\"metadata\":{\"name\":\"team\"}}");
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "q%d", i);
        make_in(f, "team", name, "");
    }
    make_in(f, "team", "slow", ",\"finalizers\":[\"example.com/slow\"]");
    make_queue(f, "elsewhere", "");
    commit(f);
    struct sl_json *o = apply(f, on(SL_VERB_DELETE, SL_KIND_NAMESPACE, "", "team"), NULL);
    assert_string_equal(sl_json_path_text(o, "status.phase", ""), "Terminating");
    sl_json_free(o);
    commit(f);
    assert_int_equal(sl_store_get(f->store, SL_KIND_NAMESPACE, "", "team", &ns, &f->e), SL_CODE_OK);
    sl_json_free(ns);
    assert_int_equal(
        code_of(f, create(QUEUE, "team"),
                "{\"metadata\":{\"name\":\"late\"},\"spec\":{\"clusterQueue\":\"cq\"}}"),
        SL_CODE_FORBIDDEN);
    must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "team", "slow"), "{\"metadata\":{\"finalizers\":null}}");
    commit(f);
    assert_int_equal(sl_store_get(f->store, SL_KIND_NAMESPACE, "", "team", &ns, &f->e),
                     SL_CODE_NOT_FOUND);
    assert_true(exists(f, "elsewhere"));
}

static void test_collect_empty_namespace_goes(void **state)
{
    struct fixture *f = *state;
    struct sl_json *ns = NULL;
    must(f, create(SL_KIND_NAMESPACE, ""), "{\"metadata\":{\"name\":\"team\"}}");
    must(f, on(SL_VERB_DELETE, SL_KIND_NAMESPACE, "", "team"), NULL);
    commit(f);
    assert_int_equal(sl_store_get(f->store, SL_KIND_NAMESPACE, "", "team", &ns, &f->e),
                     SL_CODE_NOT_FOUND);
}

static void test_collect_namespace_waits_for_its_own_finalizers(void **state)
{
    struct fixture *f = *state;
    struct sl_json *ns = NULL;
    must(f, create(SL_KIND_NAMESPACE, ""),
         "{\"metadata\":{\"name\":\"team\",\"finalizers\":[\"example.com/slow\"]}}");
    must(f, on(SL_VERB_DELETE, SL_KIND_NAMESPACE, "", "team"), NULL);
    commit(f);
    assert_int_equal(sl_store_get(f->store, SL_KIND_NAMESPACE, "", "team", &ns, &f->e), SL_CODE_OK);
    sl_json_free(ns);
    must(f, on(SL_VERB_PATCH_MERGE, SL_KIND_NAMESPACE, "", "team"),
         "{\"metadata\":{\"finalizers\":null}}");
    commit(f);
    assert_int_equal(sl_store_get(f->store, SL_KIND_NAMESPACE, "", "team", &ns, &f->e),
                     SL_CODE_NOT_FOUND);
}

static void test_collect_namespace_is_active_and_labelled(void **state)
{
    struct fixture *f = *state;
    struct sl_json *ns = NULL;
    assert_int_equal(sl_store_get(f->store, SL_KIND_NAMESPACE, "", "default", &ns, &f->e),
                     SL_CODE_OK);
    assert_string_equal(sl_json_path_text(ns, "status.phase", ""), "Active");
    assert_string_equal(sl_object_label(ns, "kubernetes.io/metadata.name"), "default");
    sl_json_free(ns);
}

/* --- Events ---------------------------------------------------------------------------------- */

static const char event_body[] =
    "{\"metadata\":{\"generateName\":\"e-\"},\"involvedObject\":{\"kind\":\"Job\","
    "\"namespace\":\"default\",\"name\":\"j\"},\"reason\":\"R\",\"message\":\"m\"}";

static void count_one(void *context, struct sl_json *object)
{
    assert_non_null(object);
    (*(int *)context)++;
}

static void test_collect_events_expire_after_an_hour(void **state)
{
    struct fixture *f = *state;
    int count = 0;
    for (int i = 0; i < 150; i++) {
        must(f, create(SL_KIND_EVENT, "default"), event_body);
    }
    commit(f);
    sl_clock_set_virtual(NOW_MS + 3700000);
    must(f, create(SL_KIND_EVENT, "default"), event_body);
    for (int i = 0; i < 5; i++) { /* any write carries a piece of the expiry */
        char name[16];
        (void)snprintf(name, sizeof name, "q%d", i);
        make_queue(f, name, "");
        commit(f);
    }
    struct sl_store_list q = {.kind = SL_KIND_EVENT, .ns = ""};
    assert_int_equal(sl_store_list(f->store, &q, count_one, &count, NULL, NULL, &f->e), SL_CODE_OK);
    assert_int_equal(count, 1);
}

/* Another program deletes what has no owner. */
static void test_collect_leaves_owners_to_others(void **state)
{
    struct fixture *f = *state;
    sl_store_leave_owners(f->store, true);
    make_queue(f, "owner", "");
    make_queue(f, "waits", "");
    make_owned(f, "child", "owner", NULL, "");
    make_owned(f, "other", "waits", NULL, "");
    commit(f);
    delete_with(f, "owner", NULL);
    delete_with(f, "waits", "Foreground");
    commit(f);
    assert_true(exists(f, "child"));
    assert_true(exists(f, "other"));
    struct sl_json *waits = get_queue(f, "waits");
    assert_true(sl_object_has_finalizer(waits, "foregroundDeletion"));
    sl_json_free(waits);
    delete_with(f, "other", NULL);
    commit(f);
    assert_true(exists(f, "waits")); /* its finalizer is the other's to remove */
    must(f, on(SL_VERB_PATCH_MERGE, QUEUE, "default", "waits"),
         "{\"metadata\":{\"finalizers\":null}}");
    commit(f);
    assert_false(exists(f, "waits"));
    sl_store_leave_owners(f->store, false);
    commit(f);
    assert_false(exists(f, "child")); /* what was left is not forgotten */
}

static int64_t rows_to_collect(struct fixture *f)
{
    int64_t count = -1;
    assert_int_equal(sl_db_read_int(f->store, "SELECT count(*) FROM collect", &count, &f->e),
                     SL_CODE_OK);
    return count;
}

static void test_collect_forgets_owners_that_others_have_seen_to(void **state)
{
    struct fixture *f = *state;
    sl_store_leave_owners(f->store, true);
    make_queue(f, "owner", "");
    make_owned(f, "child", "owner", NULL, "");
    commit(f);
    delete_with(f, "owner", NULL);
    commit(f);
    assert_int_equal(rows_to_collect(f), 1);
    delete_with(f, "child", NULL);
    commit(f);
    assert_int_equal(rows_to_collect(f), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_collect_dependents_go_with_their_owner),
        CASE(test_collect_more_than_one_step_is_needed),
        CASE(test_collect_goes_on_after_a_restart),
        CASE(test_collect_second_owner_keeps_the_dependent),
        CASE(test_collect_object_of_absent_owner_goes),
        CASE(test_collect_absent_owner_with_a_long_uid_is_judged_once),
        CASE(test_collect_orphan_policy_cuts_the_tie),
        CASE(test_collect_foreground_waits_for_dependents),
        CASE(test_collect_foreground_without_dependents_is_quick),
        CASE(test_collect_namespace_goes_with_its_contents),
        CASE(test_collect_empty_namespace_goes),
        CASE(test_collect_namespace_waits_for_its_own_finalizers),
        CASE(test_collect_namespace_is_active_and_labelled),
        CASE(test_collect_events_expire_after_an_hour),
        CASE(test_collect_leaves_owners_to_others),
        CASE(test_collect_forgets_owners_that_others_have_seen_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
