/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Plain JSON texts, which nearly all are, read in one pass. */
#ifndef SL_API_JSON_PLAIN_H
#define SL_API_JSON_PLAIN_H
#include "api/json.h"

/* Nesting that is still read, here and by sl_json_parse. */
#define SL_JSON_DEPTH_MAX 64

/* The value of a text that is correct and plain: strings of ASCII without escapes, integers of up
 * to 18 digits, no other numbers. NULL for every other text, right or wrong: sl_json_parse then
 * reads it from the start and says what is the matter. */
struct sl_json *sl_json_parse_plain(const char *text, size_t len);
#endif
