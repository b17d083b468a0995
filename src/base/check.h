/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Assertions of the shell: always on; a broken one prints what and where and aborts. */
#ifndef SL_BASE_CHECK_H
#define SL_BASE_CHECK_H
#include <stdbool.h>

void sl_check_failed(const char *kind, const char *text, const char *file, int line)
    __attribute__((noreturn));
#define SL_PRE(x) ((x) ? (void)0 : sl_check_failed("precondition", #x, __FILE__, __LINE__))
#define SL_POST(x) ((x) ? (void)0 : sl_check_failed("postcondition", #x, __FILE__, __LINE__))
#define SL_ASSERT(x) ((x) ? (void)0 : sl_check_failed("invariant", #x, __FILE__, __LINE__))
#endif
