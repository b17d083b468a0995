/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/engine/journal/journal_image.c: what was taken from the core's variables comes back into them, in
 * however many parts; what is no image is refused. */
#include "engine/journal/journal_image.h"
#include "base/mem.h"
#include "engine/journal/journal.h"
#include "kernel/lifecycle/lifecycle.h"
#include "policy/common/settings.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FRONT 60000u /* of a variable's bytes that the tests write: these, and as many as TAIL */
#define TAIL 100u
#define PARTS_MAX 64u

static uint64_t state;

static unsigned draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33);
}

/* Bytes of which some are zero, in runs and single ones. */
static void fill(unsigned char *at, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t run = 1 + draw() % 40;
        bool zeros = draw() % 3 == 0;
        for (; run > 0 && i < len; run--, i++) {
            at[i] = zeros || draw() % 4 == 0 ? 0 : (unsigned char)draw();
        }
    }
}

static size_t front_of(const struct sl_core_span *s)
{
    return s->size < FRONT ? (size_t)s->size : FRONT;
}

static size_t tail_of(const struct sl_core_span *s)
{
    return s->size - front_of(s) < TAIL ? (size_t)s->size - front_of(s) : TAIL;
}

static void fill_core(uint64_t seed)
{
    state = seed;
    for (uint32_t i = 0; i < sl_core_span_count; i++) {
        const struct sl_core_span *s = &sl_core_spans[i];
        fill(s->at, front_of(s));
        fill(s->at + s->size - tail_of(s), tail_of(s));
    }
}

static void clear_core(void)
{
    for (uint32_t i = 0; i < sl_core_span_count; i++) {
        const struct sl_core_span *s = &sl_core_spans[i];
        memset(s->at, 0, front_of(s));
        memset(s->at + s->size - tail_of(s), 0, tail_of(s));
    }
}

static void expect_core(uint64_t seed)
{
    unsigned char want[FRONT];
    state = seed;
    for (uint32_t i = 0; i < sl_core_span_count; i++) {
        const struct sl_core_span *s = &sl_core_spans[i];
        fill(want, front_of(s));
        assert_memory_equal(s->at, want, front_of(s));
        fill(want, tail_of(s));
        assert_memory_equal(s->at + s->size - tail_of(s), want, tail_of(s));
    }
}

static struct sl_buf parts[PARTS_MAX];

static size_t take(uint64_t cycle)
{
    struct sl_image_taker taker;
    size_t count = 0;
    bool more = true;
    sl_image_begin(&taker, cycle);
    while (more) {
        assert_true(count < PARTS_MAX);
        more = sl_image_take(&taker, &parts[count++]);
    }
    sl_image_end(&taker);
    return count;
}

static bool put(const struct sl_buf *part)
{
    return sl_image_put((const unsigned char *)part->data, part->len);
}

static struct sl_image_part look(const struct sl_buf *part)
{
    struct sl_image_part out;
    assert_true(sl_image_look((const unsigned char *)part->data, part->len, &out));
    return out;
}

static void test_journal_image_table_has_the_core(void **unused)
{
    (void)unused;
    uint64_t size = 0;
    bool workloads = false;
    bool settings = false;
    for (uint32_t i = 0; i < sl_core_span_count; i++) {
        const struct sl_core_span *s = &sl_core_spans[i];
        size += s->size;
        workloads |= s->at == (const unsigned char *)sl_workloads && s->size == sizeof sl_workloads;
        settings |= s->at == (const unsigned char *)&sl_settings && s->size == sizeof sl_settings &&
                    s->initialised;
    }
    assert_true(workloads && settings);
    assert_true(size > 1u << 30);
    assert_int_equal(strlen(sl_core_digest), SL_IMAGE_DIGEST_SIZE);
}

static void test_journal_image_taken_comes_back_in_parts(void **unused)
{
    (void)unused;
    fill_core(7);
    size_t count = take(41);
    assert_true(count > 1);
    expect_core(7);
    clear_core();
    for (size_t i = 0; i < count; i++) {
        struct sl_image_part part = look(&parts[i]);
        assert_int_equal(part.number, i);
        assert_int_equal(part.last, i == count - 1);
        assert_int_equal(part.cycle, 41);
        assert_string_equal(part.digest, sl_core_digest);
        assert_true(parts[i].len <= SL_JOURNAL_RECORD_MAX);
        assert_true(put(&parts[i]));
    }
    expect_core(7);
    clear_core();
}

/* What is zero is left out, but where the core begins with something else. */
static void test_journal_image_of_zeros_clears_what_is_initialised(void **unused)
{
    (void)unused;
    clear_core();
    assert_int_equal(take(0), 1);
    assert_true(parts[0].len < 1000);
    sl_settings.fair_sharing = true;
    assert_true(put(&parts[0]));
    assert_false(sl_settings.fair_sharing);
}

/* Whatever is cut off or changed, it is refused or stays within the variables. */
static void test_journal_image_cut_off_is_refused(void **unused)
{
    (void)unused;
    clear_core();
    sl_workloads[0].generation = 5;
    sl_workloads[100].generation = 0x01020304;
    assert_int_equal(take(3), 1);
    size_t whole = parts[0].len;
    unsigned refused = 0;
    for (size_t len = 0; len < whole; len++) {
        unsigned char *copy = sl_mem_new(len + 1, 1); /* a sanitizer sees what is read behind it */
        memcpy(copy, parts[0].data, len);
        refused += !sl_image_put(copy, len);
        sl_mem_free(copy);
    }
    assert_true(refused > whole / 2);
    clear_core();
}

static void test_journal_image_that_is_none_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        size_t at;
        unsigned char byte;
    } bad[] = {{4, 2},    /* neither the last nor not the last */
               {13, 'g'}, /* a digit of the digest */
               {30, 0xff} /* the variable */};
    clear_core();
    sl_workloads[0].generation = 5;
    (void)take(3);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char was = parts[0].data[bad[i].at];
        parts[0].data[bad[i].at] = (char)bad[i].byte;
        assert_false(put(&parts[0]));
        parts[0].data[bad[i].at] = was;
    }
    parts[0].data[34] = 127; /* the block: past any variable */
    assert_false(put(&parts[0]));
    clear_core();
}

/* One word, which is said to be followed by more zeros than the variable has. */
static void test_journal_image_run_of_zeros_past_the_end_is_refused(void **unused)
{
    (void)unused;
    struct sl_buf part = {0};
    clear_core();
    (void)take(3);
    sl_buf_add(&part, parts[0].data, 29);
    uint32_t small = 0;
    while (sl_core_spans[small].size > 8) {
        small++;
    }
    const char place[6] = {(char)(small & 0xff), (char)(small >> 8), 0, 0, 0, 0};
    sl_buf_add(&part, place, sizeof place);
    sl_buf_add(&part, "\0\0", 2);
    assert_true(put(&part));
    part.data[part.len - 1] = 1;
    assert_false(put(&part));
    sl_buf_fini(&part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_journal_image_table_has_the_core),
        cmocka_unit_test(test_journal_image_taken_comes_back_in_parts),
        cmocka_unit_test(test_journal_image_of_zeros_clears_what_is_initialised),
        cmocka_unit_test(test_journal_image_cut_off_is_refused),
        cmocka_unit_test(test_journal_image_that_is_none_is_refused),
        cmocka_unit_test(test_journal_image_run_of_zeros_past_the_end_is_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (size_t i = 0; i < PARTS_MAX; i++) {
        sl_buf_fini(&parts[i]);
    }
    return failed;
}
