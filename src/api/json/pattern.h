/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* `pattern` of schemas: regular expressions as Go's regexp has them, matched by the C library's. What these two do not have in
 * common is refused when a definition comes, and so is what would need much memory. Texts are compared by bytes. */
#ifndef SL_API_PATTERN_H
#define SL_API_PATTERN_H
#include "base/buf.h"
#include "base/error.h"

#define SL_PATTERN_BYTES_MAX 1024u

/* INVALID with the reason: it is none, or cannot be matched here. */
enum sl_code sl_pattern_check(const char *pattern, struct sl_error *e);
/* Is the text short enough to be matched with it in 256 MiB? */
bool sl_pattern_fits(const char *pattern, const char *text);
/* Is there a match in the text? The pattern was found good before; what does not fit does not match. */
bool sl_pattern_matches(const char *pattern, const char *text);
#endif
