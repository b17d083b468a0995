/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Calls and items as bytes: what goes in comes out, and what is none is refused. */
#include "engine/calls/call.h"
#include "base/buf.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

/* Fields of all kinds have bytes that differ: one that is left out or swapped shows. */
static size_t write_payload(unsigned char *out, enum sl_call_kind kind, size_t len)
{
    out[0] = (unsigned char)kind;
    for (size_t i = 1; i < len; i++) {
        out[i] = (unsigned char)(i * 37u + 11u);
    }
    return len;
}

/* How long a call without items is: the shortest that can be read. */
static size_t length_of(enum sl_call_kind kind, struct sl_call *c, struct sl_buf *list)
{
    unsigned char bytes[512];
    enum sl_status answer;
    for (size_t len = 1; len < sizeof bytes; len++) {
        (void)write_payload(bytes, kind, len);
        if (sl_call_unpack(bytes, len, c, list, &answer)) {
            return len;
        }
    }
    return 0;
}

static void test_calls_come_back_from_their_bytes(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < SL_CALL_KIND_COUNT; kind++) {
        struct sl_buf list = {0};
        struct sl_buf again = {0};
        struct sl_call c;
        struct sl_call second;
        enum sl_status answer;
        size_t len = length_of((enum sl_call_kind)kind, &c, &list);
        assert_true(len > 3);
        sl_call_pack(&again, &c, SL_FULL_USAGE);
        assert_int_equal(again.len, len);
        assert_true(
            sl_call_unpack((const unsigned char *)again.data, again.len, &second, &list, &answer));
        assert_int_equal(answer, SL_FULL_USAGE);
        struct sl_buf third = {0};
        sl_call_pack(&third, &second, SL_FULL_USAGE);
        assert_memory_equal(again.data, third.data, len);
        sl_buf_fini(&list);
        sl_buf_fini(&again);
        sl_buf_fini(&third);
    }
}

static void test_calls_keep_every_field(void **state)
{
    (void)state;
    struct sl_buf bytes = {0};
    struct sl_buf list = {0};
    struct sl_call back;
    enum sl_status answer;
    struct sl_call c = {
        .kind = SL_CALL_attach,
        .attach = {.workload = 7,
                   .cluster_queue = 9,
                   .key = {.priority = -5, .queued_at_ms = 1LL << 40, .uid_high = 3, .uid_low = 4},
                   .now_ms = -1}};
    sl_call_pack(&bytes, &c, SL_OK);
    assert_true(
        sl_call_unpack((const unsigned char *)bytes.data, bytes.len, &back, &list, &answer));
    assert_int_equal(back.kind, SL_CALL_attach);
    assert_int_equal(back.attach.workload, 7);
    assert_int_equal(back.attach.cluster_queue, 9);
    assert_int_equal(back.attach.key.priority, -5);
    assert_true(back.attach.key.queued_at_ms == 1LL << 40);
    assert_true(back.attach.key.uid_high == 3 && back.attach.key.uid_low == 4);
    assert_int_equal(back.attach.now_ms, -1);
    sl_buf_fini(&bytes);
    sl_buf_fini(&list);
}

static void test_calls_that_are_none_are_refused(void **state)
{
    (void)state;
    unsigned char bytes[512];
    struct sl_buf list = {0};
    struct sl_call c;
    enum sl_status answer;
    bytes[0] = 0xff;
    assert_false(
        sl_call_unpack(bytes, write_payload(bytes, SL_CALL_KIND_COUNT, 200), &c, &list, &answer));
    size_t len = length_of(SL_CALL_move_qnode, &c, &list);
    (void)write_payload(bytes, SL_CALL_move_qnode, len + 1);
    assert_false(sl_call_unpack(bytes, len - 1, &c, &list, &answer));
    assert_false(sl_call_unpack(bytes, len + 1, &c, &list, &answer));
    sl_buf_fini(&list);
}

static void test_calls_are_told_with_the_names_of_their_ids(void **state)
{
    (void)state;
    struct sl_journal_names names = {0};
    struct sl_buf record = {0};
    struct sl_buf text = {0};
    sl_journal_name_pack(&record, SL_INTERN_QNODE, 3, "cq/team-a");
    assert_true(sl_journal_name_add(&names, (const unsigned char *)record.data, record.len));
    struct sl_call c = {.kind = SL_CALL_configure,
                        .configure = {.cluster_queue = 3, .active = true}};
    sl_call_print(&text, &c, &names);
    assert_non_null(strstr(text.data, "configure cluster_queue=team-a strategy=0"));
    assert_non_null(strstr(text.data, "by_usage=false active=true"));
    sl_buf_reset(&text);
    c = (struct sl_call){.kind = SL_CALL_move_qnode, .move_qnode = {3, SL_NO_ID}};
    sl_call_print(&text, &c, &names);
    assert_string_equal(text.data, "move_qnode qnode=team-a parent=none");
    sl_buf_fini(&record);
    sl_buf_fini(&text);
    sl_journal_names_fini(&names);
}

static void test_items_come_back_in_order(void **state)
{
    (void)state;
    struct sl_buf list = {0};
    struct sl_item item;
    sl_item_add(&list, usage, .cell = 5, .amount = -7);
    sl_item_add(&list, verdict, .site = 6, .verdict = 200);
    struct unpack u = sl_item_first(&list);
    assert_true(sl_item_next(&u, &item));
    assert_int_equal(item.kind, SL_ITEM_usage);
    assert_int_equal(item.usage.cell, 5);
    assert_int_equal(item.usage.amount, -7);
    assert_true(sl_item_next(&u, &item));
    assert_int_equal(item.verdict.site, 6);
    assert_int_equal(item.verdict.verdict, 200);
    assert_false(sl_item_next(&u, &item));
    assert_false(u.failed);
    sl_buf_fini(&list);
}

static void test_items_that_are_none_fail(void **state)
{
    (void)state;
    struct sl_buf list = {0};
    struct sl_item item;
    sl_item_add(&list, score, .site = 1, .score = 2);
    list.len--;
    struct unpack u = sl_item_first(&list);
    assert_false(sl_item_next(&u, &item));
    assert_true(u.failed);
    list.data[0] = 0; /* of no kind */
    u = sl_item_first(&list);
    assert_false(sl_item_next(&u, &item));
    assert_true(u.failed);
    list.data[0] = SL_ITEM_KIND_COUNT;
    u = sl_item_first(&list);
    assert_false(sl_item_next(&u, &item));
    u = sl_item_first(NULL);
    assert_false(sl_item_next(&u, &item));
    assert_false(u.failed);
    sl_buf_fini(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_come_back_from_their_bytes),
        cmocka_unit_test(test_calls_keep_every_field),
        cmocka_unit_test(test_calls_that_are_none_are_refused),
        cmocka_unit_test(test_calls_are_told_with_the_names_of_their_ids),
        cmocka_unit_test(test_items_come_back_in_order),
        cmocka_unit_test(test_items_that_are_none_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
