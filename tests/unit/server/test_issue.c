/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An authority and what it signs. That Go's clients believe it: tests/cluster/test_webhook.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "server/issue.h"

#define NOW_S 1800000000ll
#define DAY_S 86400ll

static struct sl_issued authority(int64_t now_s)
{
    struct sl_issued made = {0};
    struct sl_error e = {0};
    if (sl_issue_authority(now_s, 100 * DAY_S, &made, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    return made;
}

static struct sl_issued server(const struct sl_issued *by, const char *const *names)
{
    struct sl_issued made = {0};
    struct sl_error e = {0};
    if (sl_issue_server(by, names, NOW_S, 10 * DAY_S, &made, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    return made;
}

static void test_issue_for_names_and_addresses(void **state)
{
    (void)state;
    static const char *const names[] = {"a.b.svc", "127.0.0.1", "::1", NULL};
    struct sl_issued ca = authority(NOW_S), s = server(&ca, names);
    struct sl_error e = {0};
    for (size_t i = 0; names[i] != NULL; i++) {
        if (sl_issued_check(ca.certificate.data, &s, names[i], &e) != SL_CODE_OK) {
            fail_msg("%s: %s", names[i], e.text);
        }
    }
    assert_int_equal(sl_issued_check(ca.certificate.data, &s, "b.svc", &e), SL_CODE_BAD_REQUEST);
    assert_string_equal(e.text, "it is not for b.svc");
    assert_int_equal(sl_issued_end_s(s.certificate.data), NOW_S + 10 * DAY_S);
    assert_int_equal(sl_issued_end_s(ca.certificate.data), NOW_S + 100 * DAY_S);
    sl_issued_fini(&ca);
    sl_issued_fini(&s);
}

static void test_issue_of_one_of_several_authorities(void **state)
{
    (void)state;
    static const char *const names[] = {"a", NULL};
    struct sl_issued one = authority(NOW_S), two = authority(NOW_S), other = authority(NOW_S);
    struct sl_issued s = server(&one, names);
    struct sl_error e = {0};
    struct sl_buf both = {0};
    sl_buf_text(&both, two.certificate.data);
    sl_buf_text(&both, one.certificate.data);
    assert_int_equal(sl_issued_check(both.data, &s, "a", &e), SL_CODE_OK);
    assert_int_equal(sl_issued_check(other.certificate.data, &s, "a", &e), SL_CODE_BAD_REQUEST);
    assert_string_equal(e.text, "none of the authorities has signed it");
    sl_buf_fini(&both);
    sl_issued_fini(&one);
    sl_issued_fini(&two);
    sl_issued_fini(&other);
    sl_issued_fini(&s);
}

static void test_issue_of_what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"a", NULL};
    struct sl_issued one = authority(NOW_S), two = authority(NOW_S), s = server(&one, names);
    struct sl_issued crossed = {one.certificate, two.key}, made = {0}, nothing = {0};
    struct sl_issued mixed = {s.certificate, two.key};
    struct sl_error e = {0};
    assert_int_equal(sl_issue_server(&crossed, names, NOW_S, DAY_S, &made, &e),
                     SL_CODE_BAD_REQUEST);
    assert_int_equal(sl_issue_server(&nothing, names, NOW_S, DAY_S, &made, &e),
                     SL_CODE_BAD_REQUEST);
    assert_string_equal(e.text, "the authority and its key do not fit each other");
    assert_int_equal(sl_issued_check(one.certificate.data, &mixed, "a", &e), SL_CODE_BAD_REQUEST);
    assert_string_equal(e.text, "its key is another one's");
    assert_int_equal(sl_issued_check(one.certificate.data, &nothing, "a", &e), SL_CODE_BAD_REQUEST);
    assert_int_equal(sl_issued_check("no certificate", &s, "a", &e), SL_CODE_BAD_REQUEST);
    assert_int_equal(sl_issued_end_s("no certificate"), 0);
    assert_int_equal(sl_issued_end_s(NULL), 0);
    sl_issued_fini(&one);
    sl_issued_fini(&two);
    sl_issued_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_issue_for_names_and_addresses),
        cmocka_unit_test(test_issue_of_one_of_several_authorities),
        cmocka_unit_test(test_issue_of_what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
