/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Times as texts, and any count of milliseconds printed. */
#include "base/clock.h"
#include "specs/eva/any.h"

void eva_clock(void)
{
    char text[33], seconds[32], micro[40];
    any_text(text, sizeof text - 1);
    (void)sl_clock_parse(text);
    sl_clock_format(any_int64(), seconds);
    sl_clock_format_micro(any_int64(), micro);
}
