/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/controllers/work/custom_labels.c. */
#include "t.h"
#include "controllers/work/custom_labels.h"

static void expect(const struct sl_custom_label *label, const char *object, const char *wanted)
{
    const struct sl_custom_labels l = {1, label};
    struct sl_json *o = object == NULL ? NULL : parse(object);
    struct sl_buf out = {0};
    sl_buf_text(&out, "");
    sl_custom_labels_print(&l, SL_KIND_COHORT, o, &out);
    assert_string_equal(out.data, wanted);
    sl_buf_fini(&out);
    sl_json_free(o);
}

static void test_custom_labels_have_the_value_of_their_key(void **state)
{
    (void)state;
    const struct sl_custom_label label = {SL_KIND_COHORT, "a", "k", NULL, NULL};
    const struct sl_custom_label note = {SL_KIND_COHORT, "a", NULL, "k", NULL};
    expect(&label, "{\"metadata\":{\"labels\":{\"k\":\"v\"},\"annotations\":{\"k\":\"n\"}}}",
           ",custom_a=\"v\"");
    expect(&note, "{\"metadata\":{\"labels\":{\"k\":\"v\"},\"annotations\":{\"k\":\"n\"}}}",
           ",custom_a=\"n\"");
    expect(&label, "{\"metadata\":{}}", ",custom_a=\"\"");
    expect(&label, NULL, ",custom_a=\"\"");
}

static void test_custom_labels_other_values_than_those_that_are_tracked_are_one(void **state)
{
    (void)state;
    struct sl_json *tracked = parse("[\"v\",\"w\"]");
    const struct sl_custom_label label = {SL_KIND_COHORT, "a", "k", NULL, tracked};
    expect(&label, "{\"metadata\":{\"labels\":{\"k\":\"w\"}}}", ",custom_a=\"w\"");
    expect(&label, "{\"metadata\":{\"labels\":{\"k\":\"x\"}}}",
           ",custom_a=\"kueue.x-k8s.io/_UNTRACKED_VALUE_\"");
    expect(&label, "{\"metadata\":{}}", ",custom_a=\"kueue.x-k8s.io/_UNTRACKED_VALUE_\"");
    expect(&label, NULL, ",custom_a=\"\"");
    sl_json_free(tracked);
}

static void test_custom_labels_are_escaped_and_cut(void **state)
{
    (void)state;
    const struct sl_custom_label note = {SL_KIND_COHORT, "a", NULL, "k", NULL};
    expect(&note, "{\"metadata\":{\"annotations\":{\"k\":\"a\\\"b\\\\c\\nd\"}}}",
           ",custom_a=\"a\\\"b\\\\c\\nd\"");
    struct sl_buf object = {0}, wanted = {0};
    sl_buf_text(&object, "{\"metadata\":{\"annotations\":{\"k\":\"");
    sl_buf_text(&wanted, ",custom_a=\"");
    for (unsigned i = 0; i < 300; i++) {
        sl_buf_text(&object, "x");
        if (i < SL_CUSTOM_VALUE_MAX - 3) {
            sl_buf_text(&wanted, "x");
        }
    }
    sl_buf_text(&object, "\"}}}");
    sl_buf_text(&wanted, "...\"");
    expect(&note, object.data, wanted.data);
    sl_buf_fini(&object);
    sl_buf_fini(&wanted);
}

static void test_custom_labels_are_of_their_source_alone(void **state)
{
    (void)state;
    const struct sl_custom_label label = {SL_KIND_LOCAL_QUEUE, "a", "k", NULL, NULL};
    const struct sl_custom_labels l = {1, &label};
    expect(&label, NULL, "");
    assert_true(sl_custom_labels_from(&l, SL_KIND_LOCAL_QUEUE));
    assert_false(sl_custom_labels_from(&l, SL_KIND_COHORT));
    assert_false(sl_custom_labels_from(NULL, SL_KIND_COHORT));
}

static void test_custom_labels_marks_tell_apart_what_is_tracked(void **state)
{
    (void)state;
    struct sl_json *sorts = parse("[\"v\",\"w\"]"), *tiers = parse("[\"gold\",\"\"]");
    const struct sl_custom_label all[] = {{SL_KIND_WORKLOAD, "sort", "s", NULL, sorts},
                                          {SL_KIND_COHORT, "other", "s", NULL, NULL},
                                          {SL_KIND_WORKLOAD, "tier", NULL, "t", tiers}};
    const struct sl_custom_labels l = {3, all};
    const char *const values[] = {"v", "w", "x"}, *const notes[] = {"gold", NULL, "lead"};
    bool seen[9] = {false};
    assert_int_equal(sl_custom_labels_marks(&l), 9);
    assert_int_equal(sl_custom_labels_marks(NULL), 1);
    for (size_t i = 0; i < 9; i++) {
        struct sl_buf direct = {0}, by_mark = {0};
        struct sl_json *o = parse("{\"metadata\":{\"labels\":{},\"annotations\":{}}}");
        sl_json_set_text(sl_json_path(o, "metadata.labels"), "s", values[i % 3]);
        if (notes[i / 3] != NULL) {
            sl_json_set_text(sl_json_path(o, "metadata.annotations"), "t", notes[i / 3]);
        }
        uint8_t mark = sl_custom_labels_mark(&l, o);
        sl_custom_labels_print(&l, SL_KIND_WORKLOAD, o, &direct);
        sl_custom_labels_print_mark(&l, mark, &by_mark);
        assert_string_equal(by_mark.data, direct.data);
        assert_true(mark < 9 && !seen[mark]);
        seen[mark] = true;
        sl_buf_fini(&direct);
        sl_buf_fini(&by_mark);
        sl_json_free(o);
    }
    sl_json_free(sorts);
    sl_json_free(tiers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_custom_labels_have_the_value_of_their_key),
        cmocka_unit_test(test_custom_labels_other_values_than_those_that_are_tracked_are_one),
        cmocka_unit_test(test_custom_labels_are_escaped_and_cut),
        cmocka_unit_test(test_custom_labels_marks_tell_apart_what_is_tracked),
        cmocka_unit_test(test_custom_labels_are_of_their_source_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
