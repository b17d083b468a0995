/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whose jobs and pods these are: said by the server, kept in every change, and changed by nobody else. */
#include "fixture.h"

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
#define POD                                                                                        \
    "{\"metadata\":{\"name\":\"p\"%s},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]" \
    "}}"
#define CLAIM "\"sluice.dev/submitted-by\":\"root\""
#define CHOICE "\"sluice.dev/run-as\":\"root\""

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_submitter_is_who_asks_whatever_is_claimed),
        CASE(test_submitter_is_not_noted_where_it_does_not_count),
        CASE(test_submitter_alone_changes_it_but_not_whose_it_is),
        CASE(test_submitter_chooses_no_other_user_but_administrators_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
