/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Manifests: many documents, lists, and errors that name the line. */
#include "t.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/common/manifest.h"

struct seen {
    unsigned count, bad, stop_after;
    unsigned lines[8];
    char kinds[8][32];
    char error[512];
};

static bool see(void *context, const struct sl_document *d)
{
    struct seen *s = context;
    s->lines[s->count] = d->line;
    if (d->object == NULL) {
        s->bad++;
        snprintf(s->error, sizeof s->error, "%s", d->error.text);
    } else {
        snprintf(s->kinds[s->count], sizeof s->kinds[0], "%s",
                 sl_json_path_text(d->object, "kind", ""));
    }
    s->count++;
    return s->stop_after == 0 || s->count < s->stop_after;
}

static struct seen read_text(const char *text)
{
    struct seen s = {0};
    sl_manifest_text("f.yaml", text, strlen(text), see, &s);
    return s;
}

static void test_manifest_documents_come_in_order_with_their_lines(void **state)
{
    (void)state;
    struct seen s = read_text("kind: A\n---\nkind: B\nx: 1\n---\n\nkind: C\n");
    assert_int_equal(s.count, 3);
    assert_string_equal(s.kinds[0], "A");
    assert_string_equal(s.kinds[2], "C");
    assert_int_equal(s.lines[0], 1);
    assert_int_equal(s.lines[1], 3);
    assert_int_equal(s.lines[2], 7);
}

static void test_manifest_json_is_read_as_well(void **state)
{
    (void)state;
    struct seen s = read_text("{\"kind\": \"A\",\n \"n\": 1}");
    assert_int_equal(s.count, 1);
    assert_string_equal(s.kinds[0], "A");
}

static void test_manifest_empty_and_comment_documents_are_skipped(void **state)
{
    (void)state;
    struct seen s = read_text("# nothing\n---\n---\nkind: A\n---\n  # end\n");
    assert_int_equal(s.count, 1);
    assert_string_equal(s.kinds[0], "A");
}

static void test_manifest_list_is_taken_apart(void **state)
{
    (void)state;
    struct seen s = read_text("kind: List\nitems:\n- kind: A\n- kind: B\n");
    assert_int_equal(s.count, 2);
    assert_string_equal(s.kinds[1], "B");
}

static bool see_text(void *context, const struct sl_document *d)
{
    struct sl_buf *out = context;
    if (d->object != NULL) {
        sl_json_print(d->object, out);
    } else {
        sl_buf_text(out, d->error.text);
    }
    sl_buf_text(out, "\n");
    return true;
}

static void test_manifest_objects_in_v1beta1_come_in_v1beta2(void **state)
{
    (void)state;
    static const char text[] =
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: kueue.x-k8s.io/v1beta1, kind: Cohort}\n"
        "---\n{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, spec: {cohort: c}}\n"
        "---\n{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, spec: {admissionChecks: "
        "c}}\n"
        "---\n{apiVersion: kueue.x-k8s.io/v1beta1, kind: MultiKueueConfig}\n";
    struct sl_buf out = {0};
    assert_true(sl_manifest_text("f.yaml", text, sizeof text - 1, see_text, &out));
    assert_string_equal(
        out.data, "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Cohort\"}\n"
                  "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"ClusterQueue\",\"spec\":{"
                  "\"cohortName\":\"c\"}}\nspec.admissionChecks: must be a list of names\n"
                  "{\"apiVersion\":\"kueue.x-k8s.io/v1beta1\",\"kind\":\"MultiKueueConfig\"}\n");
    sl_buf_fini(&out);
}

static void test_manifest_malformed_document_names_its_line_and_hides_no_other(void **state)
{
    (void)state;
    struct seen s = read_text("kind: A\n---\nkind: B\n  a: [1,\n---\nkind: C\n");
    assert_int_equal(s.count, 3);
    assert_int_equal(s.bad, 1);
    assert_has(s.error, "line 4");
    assert_string_equal(s.kinds[2], "C");
}

static void test_manifest_dashes_within_text_do_not_separate(void **state)
{
    (void)state;
    struct seen s = read_text("kind: A\ntext: |\n  ---\n  more\nother: ---x\n");
    assert_int_equal(s.count, 1);
    assert_int_equal(s.bad, 0);
}

static void test_manifest_function_can_stop(void **state)
{
    (void)state;
    struct seen s = {.stop_after = 1};
    const char *text = "kind: A\n---\nkind: B\n";
    assert_false(sl_manifest_text("f", text, strlen(text), see, &s));
    assert_int_equal(s.count, 1);
}

static void put_file(const char *dir, const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void test_manifest_directory_is_read_in_order_of_names(void **state)
{
    (void)state;
    char dir[] = "/tmp/sluice-manifest-XXXXXX";
    char path[300];
    struct seen s = {0};
    struct sl_error e = {0};
    assert_non_null(mkdtemp(dir));
    assert_int_equal(sl_manifest_read(dir, see, &s, &e), SL_CODE_NOT_FOUND);
    put_file(dir, "b.yaml", "kind: B\n");
    put_file(dir, "a.json", "{\"kind\":\"A\"}");
    put_file(dir, "notes.txt", "kind: N\n");

    assert_int_equal(sl_manifest_read(dir, see, &s, &e), SL_CODE_OK);

    assert_int_equal(s.count, 2);
    assert_string_equal(s.kinds[0], "A");
    assert_string_equal(s.kinds[1], "B");
    static const char *const names[] = {"a.json", "b.yaml", "notes.txt"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
}

static void test_manifest_missing_file_is_named(void **state)
{
    (void)state;
    struct seen s = {0};
    struct sl_error e = {0};
    assert_int_equal(sl_manifest_read("/nowhere/x.yaml", see, &s, &e), SL_CODE_NOT_FOUND);
    assert_has(e.text, "/nowhere/x.yaml");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manifest_documents_come_in_order_with_their_lines),
        cmocka_unit_test(test_manifest_json_is_read_as_well),
        cmocka_unit_test(test_manifest_empty_and_comment_documents_are_skipped),
        cmocka_unit_test(test_manifest_list_is_taken_apart),
        cmocka_unit_test(test_manifest_objects_in_v1beta1_come_in_v1beta2),
        cmocka_unit_test(test_manifest_malformed_document_names_its_line_and_hides_no_other),
        cmocka_unit_test(test_manifest_dashes_within_text_do_not_separate),
        cmocka_unit_test(test_manifest_function_can_stop),
        cmocka_unit_test(test_manifest_directory_is_read_in_order_of_names),
        cmocka_unit_test(test_manifest_missing_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
