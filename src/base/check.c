/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a broken assertion does: it says what and where on stderr and aborts, so that a core dump
 * shows why. */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

void sl_check_failed(const char *kind, const char *text, const char *file, int line)
{
    fprintf(stderr, "%s:%d: broken %s: %s\n", file, line, kind, text);
    abort();
}
