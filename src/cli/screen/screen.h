/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What sluicectl prints comes from others: names, reasons, errors. A terminal would obey what is no text in it, so that is
 * shown instead, in everything that goes to stdout and stderr; colors are sluicectl's own, and go past that. */
#ifndef SL_CLI_SCREEN_H
#define SL_CLI_SCREEN_H
#include "base/buf.h"

/* From now on stdout and stderr show control characters as ^X, but for tabs and ends of lines. */
void sl_screen_guard(void);
/* Adds the same of a text to `out`. */
void sl_screen_show(const char *text, size_t len, struct sl_buf *out);
/* Prints a text with colors: of what begins with an escape, only the sequences of sluicectl itself pass. */
void sl_screen_paint(const struct sl_buf *text);
#endif
