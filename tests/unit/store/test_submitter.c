/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whose jobs and pods these are: said by the server, kept in every change, and changed by nobody else. */
#include "fixture.h"

#include <sqlite3.h>

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup_guarded, teardown)
#define UNGUARDED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
#define POD                                                                                        \
    "{\"metadata\":{\"name\":\"p\"%s},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]" \
    "}}"
#define CLAIM "\"sluice.dev/submitted-by\":\"root\""
#define CHOICE "\"sluice.dev/run-as\":\"root\""

static int setup_guarded(void **state)
{
    (void)setup(state);
    struct fixture *f = *state;
    assert_int_equal(sl_store_guard_submitters(f->store, &f->e), SL_CODE_OK);
    return 0;
}

static struct sl_write by(struct sl_write w, const char *user, bool for_others)
{
    w.submitter = user;
    w.for_others = for_others;
    return w;
}

static struct sl_write change(enum sl_verb verb)
{
    return (struct sl_write){.verb = verb, .kind = SL_KIND_POD, .ns = "default", .name = "p"};
}

static struct sl_json *make(struct fixture *f, const char *user, bool for_others, const char *more)
{
    char body[512];
    (void)snprintf(body, sizeof body, POD, more);
    return apply(f, by(create(SL_KIND_POD, "default"), user, for_others), body);
}

static enum sl_code change_code(struct fixture *f, const char *user, bool for_others,
                                const char *patch)
{
    return code_of(f, by(change(SL_VERB_PATCH_MERGE), user, for_others), patch);
}

static void assert_submitter(struct fixture *f, const char *name)
{
    struct sl_json *o = NULL;
    struct sl_error e;
    assert_int_equal(sl_store_get(f->store, SL_KIND_POD, "default", "p", &o, &e), SL_CODE_OK);
    const char *said = sl_object_annotation(o, SL_ANNOTATION_SUBMITTER);
    assert_string_equal(said == NULL ? "" : said, name);
    sl_json_free(o);
}

static void test_submitter_is_who_asks_whatever_is_claimed(void **state)
{
    struct fixture *f = *state;
    sl_json_free(make(f, "ann", false, ",\"annotations\":{" CLAIM "}"));
    assert_submitter(f, "ann");
}

static void test_submitter_is_not_noted_where_it_does_not_count(void **state)
{
    struct fixture *f = *state;
    sl_json_free(make(f, NULL, false, ""));
    assert_submitter(f, "");
    assert_int_equal(change_code(f, "ann", false, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"),
                     SL_CODE_FORBIDDEN); /* it is nobody's */
    assert_int_equal(code_of(f, by(create(SL_KIND_LOCAL_QUEUE, "default"), "ann", false),
                             "{\"metadata\":{\"name\":\"q\",\"annotations\":{" CHOICE
                             "}},\"spec\":{\"clusterQueue\":\"cq\"}}"),
                     SL_CODE_OK);
}

static void test_submitter_alone_changes_it_but_not_whose_it_is(void **state)
{
    struct fixture *f = *state;
    static const char *const tries[] = {"{\"metadata\":{\"annotations\":{" CLAIM "}}}",
                                        "{\"metadata\":{\"annotations\":null}}",
                                        "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"};
    sl_json_free(make(f, "ann", false, ""));
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        assert_int_equal(change_code(f, "ben", false, tries[i]), SL_CODE_FORBIDDEN);
        assert_non_null(strstr(f->e.text, "pods \"p\" was submitted by \"ann\""));
        assert_int_equal(change_code(f, "ann", false, tries[i]), SL_CODE_OK);
        assert_submitter(f, "ann");
        assert_int_equal(change_code(f, "boss", true, tries[i]), SL_CODE_OK);
        assert_submitter(f, "ann");
    }
    assert_int_equal(change_code(f, NULL, false, tries[2]), SL_CODE_OK); /* a controller of ours */
}

static void test_submitter_chooses_no_other_user_but_administrators_do(void **state)
{
    struct fixture *f = *state;
    char body[512];
    const char *choose = "{\"metadata\":{\"annotations\":{" CHOICE "}}}";
    const char *take_back = "{\"metadata\":{\"annotations\":{\"sluice.dev/run-as\":null}}}";
    (void)snprintf(body, sizeof body, POD, ",\"annotations\":{" CHOICE "}");
    assert_int_equal(code_of(f, by(create(SL_KIND_POD, "default"), "ann", false), body),
                     SL_CODE_FORBIDDEN);
    assert_non_null(strstr(f->e.text, "metadata.annotations[sluice.dev/run-as]: only an"));
    sl_json_free(make(f, "ann", false, ""));
    assert_int_equal(change_code(f, "ann", false, choose), SL_CODE_FORBIDDEN);
    assert_int_equal(change_code(f, "boss", true, choose), SL_CODE_OK);
    assert_int_equal(change_code(f, "ann", false, take_back), SL_CODE_FORBIDDEN);
    assert_int_equal(change_code(f, "boss", true, take_back), SL_CODE_OK);
    assert_submitter(f, "ann");
}

/* --- a daemon that does not run them as their users, and one that does, later -------------------------------------- */

static const char *said(struct fixture *f, enum sl_kind kind, const char *name,
                        const char *annotation)
{
    static char value[64];
    struct sl_json *o = NULL;
    assert_int_equal(sl_store_get(f->store, kind, "default", name, &o, &f->e), SL_CODE_OK);
    const char *is = sl_object_annotation(o, annotation);
    (void)snprintf(value, sizeof value, "%s", is == NULL ? "nobody" : is);
    sl_json_free(o);
    return value;
}

static void reopen(struct fixture *f, bool guarded)
{
    commit(f);
    sl_store_close(f->store);
    f->store = NULL;
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    if (guarded) {
        assert_int_equal(sl_store_guard_submitters(f->store, &f->e), SL_CODE_OK);
    }
}

static void test_submitter_is_not_claimed_where_it_does_not_count_yet(void **state)
{
    struct fixture *f = *state;
    char body[512];
    const char *choose = "{\"metadata\":{\"annotations\":{" CHOICE "}}}";
    const char *claim = "{\"metadata\":{\"annotations\":{" CLAIM "}}}";
    (void)snprintf(body, sizeof body, POD, ",\"annotations\":{" CHOICE "}");
    for (int i = 0; i < 2; i++) { /* also where it is not known who asks */
        const char *user = i == 0 ? "ann" : "";
        assert_int_equal(code_of(f, by(create(SL_KIND_POD, "default"), user, false), body),
                         SL_CODE_FORBIDDEN);
        assert_non_null(strstr(f->e.text, "metadata.annotations[sluice.dev/run-as]: only an"));
    }
    sl_json_free(make(f, "ann", false, ",\"annotations\":{" CLAIM "}"));
    assert_submitter(f, "");
    assert_int_equal(change_code(f, "ben", false, claim), SL_CODE_OK);
    assert_submitter(f, "");
    assert_int_equal(change_code(f, "ben", false, choose), SL_CODE_FORBIDDEN);
    assert_int_equal(change_code(f, "boss", true, choose), SL_CODE_OK);
    assert_int_equal(change_code(f, "boss", true, claim), SL_CODE_OK);
    assert_submitter(f, ""); /* only the server says it */
    assert_int_equal(change_code(f, "ben", false, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"),
                     SL_CODE_OK);
}

static void test_submitter_that_was_stored_without_guard_is_forgotten(void **state)
{
    struct fixture *f = *state;
    char name[16], body[512];
    for (int i = 0; i < 600; i++) { /* more than one page; as an older version stored them */
        (void)snprintf(
            body, sizeof body,
            "{\"metadata\":{\"name\":\"j%d\",\"annotations\":{\"a\":\"b\"%s}},"
            "\"spec\":{\"suspend\":true,\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}",
            i, i % 2 == 0 ? "," CHOICE "," CLAIM : "");
        must(f, create(SL_KIND_JOB, "default"), body);
    }
    sl_json_free(make(f, NULL, false, ",\"annotations\":{" CLAIM "}"));
    commit(f);
    uint64_t revision = sl_store_revision(f->store);
    assert_int_equal(sl_store_guard_submitters(f->store, &f->e), SL_CODE_OK);
    assert_int_equal(sl_store_revision(f->store), revision + 301);
    for (int i = 0; i < 600; i++) {
        (void)snprintf(name, sizeof name, "j%d", i);
        assert_string_equal(said(f, SL_KIND_JOB, name, SL_ANNOTATION_RUN_AS), "nobody");
        assert_string_equal(said(f, SL_KIND_JOB, name, SL_ANNOTATION_SUBMITTER), "nobody");
        assert_string_equal(said(f, SL_KIND_JOB, name, "a"), "b");
    }
    assert_submitter(f, "");
}

static void test_submitter_stays_while_it_is_guarded(void **state)
{
    struct fixture *f = *state;
    sl_json_free(make(f, "ann", false, ""));
    assert_int_equal(change_code(f, "boss", true, "{\"metadata\":{\"annotations\":{" CHOICE "}}}"),
                     SL_CODE_OK);
    for (int i = 0; i < 2; i++) {
        reopen(f, true);
        assert_string_equal(said(f, SL_KIND_POD, "p", SL_ANNOTATION_SUBMITTER), "ann");
        assert_string_equal(said(f, SL_KIND_POD, "p", SL_ANNOTATION_RUN_AS), "root");
        make_queue(f, i == 0 ? "a" : "b", "");
    }
    reopen(f, false); /* and nothing is written */
    reopen(f, true);
    assert_submitter(f, "ann");
}

/* Whoever could write then could have changed what the Job of another user runs. */
static void test_submitter_is_forgotten_after_one_write_without_guard(void **state)
{
    struct fixture *f = *state;
    sl_json_free(make(f, "ann", false, ""));
    reopen(f, false);
    assert_submitter(f, "ann");
    assert_int_equal(change_code(f, "ben", false, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"),
                     SL_CODE_OK);
    reopen(f, true);
    assert_submitter(f, "");
}

/* The next start begins anew. */
static void test_submitter_is_not_guarded_before_all_is_forgotten(void **state)
{
    struct fixture *f = *state;
    sqlite3 *db = NULL;
    char path[128];
    sl_json_free(make(f, NULL, false, ",\"annotations\":{" CLAIM "}"));
    commit(f);
    (void)snprintf(path, sizeof path, "%s/sluice.db", f->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_not_equal(sl_store_guard_submitters(f->store, &f->e), SL_CODE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    reopen(f, true);
    assert_submitter(f, "");
}

/* --- pods that others say are a Job's ------------------------------------------------------------------------------- */

#define OWNER(kind, name, controller)                                                              \
    "\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"" kind "\",\"name\":\"" name     \
    "\",\"uid\":\"u\",\"controller\":" controller "}]"

static void test_submitter_of_a_pod_has_to_be_its_jobs(void **state)
{
    struct fixture *f = *state;
    static const char job[] =
        "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":"
        "\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}";
    const char *own = "{\"metadata\":{" OWNER("Job", "j", "true") "}}";
    char body[512];
    assert_int_equal(code_of(f, by(create(SL_KIND_JOB, "default"), "ann", false), job), SL_CODE_OK);
    (void)snprintf(body, sizeof body, POD, "," OWNER("Job", "j", "true"));
    assert_int_equal(code_of(f, by(create(SL_KIND_POD, "default"), "ben", false), body),
                     SL_CODE_FORBIDDEN);
    assert_non_null(strstr(f->e.text, "metadata.ownerReferences: Job \"j\" is not yours"));
    (void)snprintf(body, sizeof body, POD, "," OWNER("Job", "later", "true"));
    assert_int_equal(code_of(f, by(create(SL_KIND_POD, "default"), "ben", false), body),
                     SL_CODE_FORBIDDEN);
    sl_json_free(make(f, "ben", false, "," OWNER("Job", "j", "false")));
    assert_int_equal(change_code(f, "ben", false, own), SL_CODE_FORBIDDEN);
    assert_int_equal(change_code(f, "boss", true, own), SL_CODE_OK);
    assert_int_equal(change_code(f, "ben", false, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"),
                     SL_CODE_OK); /* it stays so */
    must(f, on(SL_VERB_DELETE, SL_KIND_POD, "default", "p"), NULL);
    sl_json_free(make(f, "ann", false, "," OWNER("Job", "j", "true")));
    assert_submitter(f, "ann");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNGUARDED(test_submitter_is_not_claimed_where_it_does_not_count_yet),
        UNGUARDED(test_submitter_that_was_stored_without_guard_is_forgotten),
        UNGUARDED(test_submitter_is_not_guarded_before_all_is_forgotten),
        CASE(test_submitter_stays_while_it_is_guarded),
        CASE(test_submitter_is_forgotten_after_one_write_without_guard),
        CASE(test_submitter_of_a_pod_has_to_be_its_jobs),
        CASE(test_submitter_is_who_asks_whatever_is_claimed),
        CASE(test_submitter_is_not_noted_where_it_does_not_count),
        CASE(test_submitter_alone_changes_it_but_not_whose_it_is),
        CASE(test_submitter_chooses_no_other_user_but_administrators_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
