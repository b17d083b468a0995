/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Syntax of names and labels. Inside src/api only. */
#ifndef SL_API_FORMAT_H
#define SL_API_FORMAT_H
#include "api/objects/schema.h"

/* NULL when the text fits, else what it must be. */
const char *sl_format_check(enum sl_pattern pattern, const char *text);
#endif
