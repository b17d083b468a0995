/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The common part of controllers: a key with writes under way is left alone until every one has been answered, and
 * looked at again when one of them failed. */
#include "t.h"
#include "base/clock.h"
#include "base/log.h"
#include "controllers/work/reconciler.h"
#include "fake_client.h"

#define T0 1700000000000

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_reconciler r;
    unsigned looks, writes; /* so many writes a look */
    enum sl_code first_code;
};

static void look(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    struct fixture *f = self;
    (void)now_ms;
    f->looks++;
    f->fake.next_code = f->first_code;
    for (unsigned i = 0; i < f->writes; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%u-%u", f->looks, i);
        struct sl_json *pod = sl_object_new(SL_KIND_POD, key->ns, name);
        struct sl_write w = {
            .verb = SL_VERB_CREATE, .kind = SL_KIND_POD, .ns = key->ns, .name = name, .body = pod};
        sl_reconciler_write(r, &w, NULL);
        sl_json_free(pod);
    }
}

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    sl_clock_set_virtual(T0);
    sl_log_setup(SL_LOG_ERROR, false);
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    sl_reconciler_init(&f->r, "test", &f->fake.client, f->recorder);
    f->r.self = f;
    f->r.reconcile = look;
    f->writes = 3;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_flush(&f->fake);
    sl_reconciler_fini(&f->r);
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    return 0;
}

static void step(struct fixture *f, int64_t now_ms)
{
    sl_work_add(f->r.work, "n/k", SL_WORK_NOW);
    sl_reconciler_step(&f->r, now_ms, 4);
}

static void answer_first(struct fixture *f)
{
    struct fake_reply r = f->fake.replies[0];
    struct sl_error e = {0};
    sl_error_set(&e, r.code, "refused by the test");
    r.fn(r.context, r.code, r.code == SL_CODE_OK ? NULL : &e, r.result);
    sl_json_free(r.result);
    f->fake.reply_count--;
    memmove(f->fake.replies, f->fake.replies + 1, f->fake.reply_count * sizeof r);
}

static void test_reconciler_key_is_busy_until_every_write_is_answered(void **state)
{
    struct fixture *f = *state;
    step(f, T0);
    step(f, T0);
    assert_int_equal(f->looks, 1);
    answer_first(f);
    answer_first(f);
    step(f, T0);
    assert_int_equal(f->looks, 1);
    answer_first(f);
    step(f, T0); /* what was added meanwhile is not lost */
    assert_int_equal(f->looks, 2);
    assert_int_equal(fake_count(&f->fake, SL_KIND_POD), 6);
}

static void test_reconciler_look_without_writes_is_done_at_once(void **state)
{
    struct fixture *f = *state;
    f->writes = 0;
    step(f, T0);
    assert_int_equal(sl_work_count(f->r.work), 0);
}

static void test_reconciler_conflict_of_one_write_is_looked_at_again_at_once(void **state)
{
    struct fixture *f = *state;
    f->first_code = SL_CODE_CONFLICT;
    step(f, T0);
    fake_flush(&f->fake);
    assert_true(sl_work_due_ms(f->r.work) == SL_WORK_NOW);
}

/* A cache that does not follow its server would be asked without end. */
static void test_reconciler_conflict_after_conflict_is_looked_at_later(void **state)
{
    struct fixture *f = *state;
    f->writes = 1;
    f->first_code = SL_CODE_ALREADY_EXISTS;
    unsigned at_once = 0;
    for (; at_once < 100 && (at_once == 0 || sl_work_due_ms(f->r.work) <= T0); at_once++) {
        step(f, T0);
        fake_flush(&f->fake);
    }
    assert_in_range(at_once, 2, 5);
    assert_true(sl_work_due_ms(f->r.work) == T0 + SL_RETRY_MS);
    f->first_code = SL_CODE_OK;
    step(f, T0 + SL_RETRY_MS);
    fake_flush(&f->fake);
    f->first_code = SL_CODE_CONFLICT; /* that is another matter */
    step(f, T0 + SL_RETRY_MS);
    fake_flush(&f->fake);
    assert_true(sl_work_due_ms(f->r.work) == SL_WORK_NOW);
}

static void test_reconciler_failed_write_is_tried_again_later(void **state)
{
    struct fixture *f = *state;
    f->first_code = SL_CODE_TIMEOUT;
    step(f, T0);
    fake_flush(&f->fake);
    assert_true(sl_work_due_ms(f->r.work) == T0 + SL_RETRY_MS);
}

static void test_reconciler_refused_write_is_not_tried_again(void **state)
{
    struct fixture *f = *state;
    f->first_code = SL_CODE_INVALID;
    step(f, T0);
    fake_flush(&f->fake);
    assert_int_equal(sl_work_count(f->r.work), 0);
}

static void test_reconciler_forbidden_write_is_tried_again_much_later(void **state)
{
    struct fixture *f = *state;
    f->first_code = SL_CODE_FORBIDDEN;
    step(f, T0);
    fake_flush(&f->fake);
    assert_true(sl_work_due_ms(f->r.work) == T0 + SL_FORBIDDEN_RETRY_MS);
}

static void test_reconciler_write_of_names_the_object_and_its_uid(void **state)
{
    (void)state;
    struct sl_json *pod = sl_object_new(SL_KIND_POD, "n", "p"), *patch = sl_json_new_map();
    sl_json_set_text(sl_json_get(pod, "metadata"), "uid", "u");
    struct sl_write w = sl_reconciler_write_of(SL_VERB_PATCH_MERGE, SL_KIND_POD, pod, patch);
    assert_int_equal(w.verb, SL_VERB_PATCH_MERGE);
    assert_int_equal(w.kind, SL_KIND_POD);
    assert_string_equal(w.ns, "n");
    assert_string_equal(w.name, "p");
    assert_string_equal(w.uid, "u");
    assert_ptr_equal(w.body, patch);
    sl_json_free(pod);
    sl_json_free(patch);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reconciler_key_is_busy_until_every_write_is_answered),
        TEST(test_reconciler_look_without_writes_is_done_at_once),
        TEST(test_reconciler_conflict_of_one_write_is_looked_at_again_at_once),
        TEST(test_reconciler_conflict_after_conflict_is_looked_at_later),
        TEST(test_reconciler_failed_write_is_tried_again_later),
        TEST(test_reconciler_refused_write_is_not_tried_again),
        TEST(test_reconciler_forbidden_write_is_tried_again_much_later),
        TEST(test_reconciler_write_of_names_the_object_and_its_uid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
