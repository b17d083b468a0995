/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kinds that are named at start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"

#define RAY "ray.io/v1"

static int forget(void **state)
{
    (void)state;
    sl_kind_forget_custom();
    return 0;
}

static enum sl_kind named(const char *api_version, const char *kind, const char *plural)
{
    enum sl_kind out;
    struct sl_error e = {0};
    assert_int_equal(sl_kind_register(api_version, kind, plural, &out, &e), SL_CODE_OK);
    return out;
}

static void test_kinds_registered_is_found_by_every_name(void **state)
{
    (void)state;
    assert_int_equal(sl_kind_end(), SL_KIND_CUSTOM);
    assert_int_equal(sl_kind_find("ray.io", "v1", "rayjobs"), SL_KIND_COUNT);
    enum sl_kind kind = named(RAY, "RayJob", "rayjobs");
    assert_int_equal(kind, SL_KIND_CUSTOM);
    assert_int_equal(sl_kind_end(), SL_KIND_CUSTOM + 1);
    assert_int_equal(sl_kind_find("ray.io", "v1", "rayjobs"), kind);
    assert_int_equal(sl_kind_find_object(RAY, "RayJob"), kind);
    assert_int_equal(sl_kind_find_name("rayjob"), kind);
    const struct sl_kind_info *info = sl_kind_info(kind);
    assert_int_equal(info->id, kind);
    assert_string_equal(info->group, "ray.io");
    assert_string_equal(info->version, "v1");
    assert_string_equal(info->singular, "rayjob");
    assert_true(info->namespaced && info->has_status);
}

static void test_kinds_registered_twice_has_one_slot(void **state)
{
    (void)state;
    enum sl_kind kind = named(RAY, "RayJob", "rayjobs");
    assert_int_equal(named(RAY, "RayJob", "rayjobs"), kind);
    assert_int_equal(named(RAY, "RayCluster", "rayclusters"), kind + 1);
    assert_int_equal(named("batch/v1", "Job", "jobs"), SL_KIND_JOB);
}

static void test_kinds_registered_without_a_slot_left_is_refused(void **state)
{
    (void)state;
    enum sl_kind out;
    struct sl_error e = {0};
    char kind[32], plural[32];
    for (int i = 0; i < SL_KIND_CUSTOM_MAX; i++) {
        (void)snprintf(kind, sizeof kind, "Kind%d", i);
        (void)snprintf(plural, sizeof plural, "kinds%d", i);
        (void)named("example.com/v1", kind, plural);
    }
    assert_int_equal(sl_kind_end(), SL_KIND_DEFINED);
    assert_int_equal(sl_kind_register("example.com/v1", "More", "mores", &out, &e),
                     SL_CODE_INTERNAL);
    assert_string_equal(e.text, "example.com/v1 More: no more than 32 custom kinds");
}

static void test_kinds_registered_with_bad_names_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *api_version, *kind, *plural, *says;
        enum sl_code code;
    } rows[] = {
        {"v1", "Thing", "things", "GROUP/VERSION", SL_CODE_INVALID},
        {"/v1", "Thing", "things", "GROUP/VERSION", SL_CODE_INVALID},
        {"Bad_Group/v1", "Thing", "things", "group \"Bad_Group\"", SL_CODE_INVALID},
        {"example.com/v 1", "Thing", "things", "version \"v 1\"", SL_CODE_INVALID},
        {"example.com/v1", "A Thing", "things", "kind \"a thing\"", SL_CODE_INVALID},
        {"example.com/v1", "Thing", "Things", "plural \"Things\"", SL_CODE_INVALID},
        {"example.com/v1", "Thing", "", "plural \"\"", SL_CODE_INVALID},
        {"example.com/a-version-of-many-letters", "Thing", "things", "GROUP/VERSION",
         SL_CODE_INVALID},
        {"batch/v1", "Job", "jobses", "the kind is known otherwise", SL_CODE_CONFLICT},
        {"batch/v1", "Hob", "jobs", "the plural is known otherwise", SL_CODE_CONFLICT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum sl_kind out;
        struct sl_error e = {0};
        assert_int_equal(
            sl_kind_register(rows[i].api_version, rows[i].kind, rows[i].plural, &out, &e),
            rows[i].code);
        assert_non_null(strstr(e.text, rows[i].says));
    }
    assert_int_equal(sl_kind_end(), SL_KIND_CUSTOM);
}

static void test_kinds_registered_take_any_spec(void **state)
{
    (void)state;
    enum sl_kind kind = named(RAY, "RayJob", "rayjobs");
    struct sl_error e = {0};
    struct sl_json *o =
        yaml("metadata: {name: a, namespace: ns}\nspec: {x: [1, {y: z}]}\nmore: 1\n");
    struct sl_json *before = sl_json_clone(o);
    sl_object_default_new(kind, o);
    assert_true(sl_json_equal(o, before));
    assert_int_equal(sl_object_validate(kind, o, NULL, &e), SL_CODE_OK);
    sl_json_set_text(sl_json_path_make(o, "metadata"), "name", "Not a name");
    assert_int_equal(sl_object_validate(kind, o, NULL, &e), SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "metadata.name");
    sl_json_free(o);
    sl_json_free(before);
}

static void test_kinds_a_custom_one_may_have_a_short_name(void **state)
{
    (void)state;
    enum sl_kind set, other;
    struct sl_error e = {0};
    sl_kind_forget_custom();
    assert_int_equal(sl_kind_register("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
                                      "leaderworkersets", &set, &e),
                     0);
    assert_int_equal(sl_kind_register("example.com/v1", "Simulation", "simulations", &other, &e),
                     0);
    assert_int_equal(sl_kind_find_name("lws"), SL_KIND_COUNT);
    assert_int_equal(sl_kind_shorten(set, "lws", &e), SL_CODE_OK);
    assert_int_equal(sl_kind_find_name("LWS"), set);
    assert_int_equal(sl_kind_shorten(set, "lws", &e), SL_CODE_OK);
    assert_int_equal(sl_kind_shorten(other, "lws", &e), SL_CODE_CONFLICT);
    assert_string_equal(e.text, "shortName \"lws\": is a name of LeaderWorkerSet");
    assert_int_equal(sl_kind_shorten(other, "cq", &e), SL_CODE_CONFLICT);
    assert_int_equal(sl_kind_shorten(other, "no name", &e), SL_CODE_INVALID);
    assert_string_equal(sl_kind_info(other)->shorts, "");
    sl_kind_forget_custom();
}

static void test_kinds_that_jobs_refer_to_are_no_jobs(void **state)
{
    (void)state;
    struct sl_error e = {0};
    enum sl_kind kind = SL_KIND_COUNT, again = SL_KIND_COUNT;
    assert_int_equal(sl_kind_refer("a.example.com/v1", "Plan", "plans", false, &kind, &e),
                     SL_CODE_OK);
    assert_false(sl_kind_is_job(kind) || sl_kind_info(kind)->namespaced);
    assert_int_equal(sl_kind_refer("a.example.com/v1", "Plan", "plans", true, &again, &e),
                     SL_CODE_CONFLICT);
    assert_non_null(strstr(e.text, "a.example.com/v1 Plan: is not in namespaces"));
    assert_int_equal(sl_kind_register("a.example.com/v1", "Plan", "plans", &again, &e), SL_CODE_OK);
    assert_int_equal(again, kind);
    assert_true(sl_kind_is_job(kind) && sl_kind_is_job(SL_KIND_JOB));
    sl_kind_forget_custom();
    assert_false(sl_kind_is_job(kind));
}

static void test_kinds_known_by_their_name_get_their_plural_later(void **state)
{
    (void)state;
    struct sl_error e = {0};
    enum sl_kind kind, other;
    char longest[80];
    assert_int_equal(sl_kind_name(RAY, "RayFlow", &kind, &e), SL_CODE_OK);
    assert_int_equal(sl_kind_name(RAY, "RayTask", &other, &e), SL_CODE_OK);
    assert_int_equal(other, kind + 1);
    assert_true(sl_kind_info(kind)->by_name && !sl_kind_info(kind)->job);
    assert_string_equal(sl_kind_info(kind)->plural, "");
    assert_int_equal(sl_kind_find_object(RAY, "RayFlow"), kind);
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_false(sl_kind_found(kind, longest, true));
    assert_false(sl_kind_found(kind, "", true));
    assert_string_equal(sl_kind_info(kind)->plural, "");
    assert_true(sl_kind_found(kind, "rayflows", false));
    assert_string_equal(sl_kind_info(kind)->plural, "rayflows");
    assert_false(sl_kind_info(kind)->namespaced);
    assert_int_equal(sl_kind_find("ray.io", "v1", "rayflows"), kind);
}

static void test_kinds_that_are_known_need_not_be_found(void **state)
{
    (void)state;
    struct sl_error e = {0};
    enum sl_kind kind = named(RAY, "RayJob", "rayjobs"), again;
    assert_int_equal(sl_kind_name(RAY, "RayJob", &again, &e), SL_CODE_OK);
    assert_int_equal(again, kind);
    assert_false(sl_kind_info(kind)->by_name);
    assert_int_equal(sl_kind_name("batch/v1", "Job", &again, &e), SL_CODE_OK);
    assert_int_equal(again, SL_KIND_JOB);
    assert_int_equal(sl_kind_name("v1", "Flow", &again, &e), SL_CODE_INVALID);
}

static enum sl_code define(const char *group, const char *kind, const char *plural,
                           enum sl_kind *out, struct sl_error *e)
{
    const struct sl_kind_names names = {.group = group,
                                        .version = "v1",
                                        .kind = kind,
                                        .plural = plural,
                                        .singular = "one",
                                        .shorts = "o",
                                        .namespaced = true};
    return sl_kind_define(&names, out, e);
}

static void test_kinds_of_users_come_and_go(void **state)
{
    (void)state;
    enum sl_kind first, second, out;
    struct sl_error e = {0};
    int last = -1, count = 0;
    assert_int_equal(define("example.com", "Foo", "foos", &first, &e), SL_CODE_OK);
    assert_int_equal(define("example.com", "Bar", "bars", &second, &e), SL_CODE_OK);
    for (int i = sl_kind_after(-1); i < (int)SL_KIND_COUNT; i = sl_kind_after(i), count++) {
        last = i;
    }
    assert_int_equal(last, second);
    assert_int_equal(count, (int)sl_kind_end() + 2);
    assert_int_equal(sl_kind_find_name("o"), first);
    assert_string_equal(sl_kind_fields(first), "");
    assert_int_equal(define("example.com", "Foo", "foos", &out, &e), SL_CODE_CONFLICT);
    assert_int_equal(define("example.com", "Foo", "others", &out, &e), SL_CODE_CONFLICT);
    assert_int_equal(define("example.com", "Foo_", "others", &out, &e), SL_CODE_INVALID);
    char longest[80];
    (void)snprintf(longest, sizeof longest, "%070d", 0);
    const struct sl_kind_names names = {.group = "example.com",
                                        .version = "v1",
                                        .kind = "Foo",
                                        .plural = "foos",
                                        .singular = longest,
                                        .shorts = ""};
    assert_int_equal(sl_kind_redefine(first, &names, &e), SL_CODE_INVALID);
    assert_non_null(strstr(e.text, "singular and shortNames"));
    sl_kind_drop(first);
    assert_false(sl_kind_is_defined(first));
    assert_int_equal(sl_kind_find("example.com", "v1", "foos"), SL_KIND_COUNT);
    assert_int_equal(sl_kind_after((int)sl_kind_end() - 1), second);
    for (int i = 1; i < SL_KIND_DEFINED_MAX; i++) {
        char kind[32], plural[32];
        (void)snprintf(kind, sizeof kind, "Kind%d", i);
        (void)snprintf(plural, sizeof plural, "kinds%d", i);
        assert_int_equal(define("example.com", kind, plural, &out, &e), SL_CODE_OK);
    }
    assert_int_equal(out, first); /* the one that is free for the shortest time */
    assert_int_equal(sl_kind_turn(first), 2);
    assert_int_equal(sl_kind_turn(SL_KIND_JOB), 0);
    assert_int_equal(define("example.com", "More", "mores", &out, &e), SL_CODE_TOO_MANY);
    assert_string_equal(e.text, "example.com/v1 More: no more than 64 kinds can be defined");
    for (int i = SL_KIND_DEFINED; i < (int)SL_KIND_COUNT; i++) {
        sl_kind_drop((enum sl_kind)i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_kinds_registered_is_found_by_every_name, forget),
        cmocka_unit_test_setup(test_kinds_registered_twice_has_one_slot, forget),
        cmocka_unit_test_setup(test_kinds_registered_without_a_slot_left_is_refused, forget),
        cmocka_unit_test_setup(test_kinds_registered_with_bad_names_are_refused, forget),
        cmocka_unit_test_setup(test_kinds_registered_take_any_spec, forget),
        cmocka_unit_test(test_kinds_a_custom_one_may_have_a_short_name),
        cmocka_unit_test(test_kinds_that_jobs_refer_to_are_no_jobs),
        cmocka_unit_test_setup(test_kinds_known_by_their_name_get_their_plural_later, forget),
        cmocka_unit_test_setup(test_kinds_that_are_known_need_not_be_found, forget),
        cmocka_unit_test_setup(test_kinds_of_users_come_and_go, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
