/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What every unit test of this room includes. cmocka wants its headers in this order. */
#ifndef SL_TESTS_UNIT_RUNNER_T_H
#define SL_TESTS_UNIT_RUNNER_T_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/json/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN(tests) cmocka_run_group_tests(tests, NULL, NULL)

static inline struct sl_json *json_of(const char *text)
{
    struct sl_error e = {0};
    struct sl_json *v = sl_json_parse(text, strlen(text), &e);
    if (v == NULL) {
        fail_msg("%s: %s", e.text, text);
    }
    return v;
}

/* A directory of its own, which is removed by the test with all that it has put there. */
static inline void make_home(char out[static 64])
{
    snprintf(out, 64, "/tmp/sluice-unit-XXXXXX");
    assert_non_null(mkdtemp(out));
}

static inline void remove_home(const char *home)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", home);
    assert_int_equal(system(command), 0);
}
#endif
