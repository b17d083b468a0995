/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Plain JSON texts, which nearly all are, read in one pass. */
#ifndef SL_API_JSON_PLAIN_H
#define SL_API_JSON_PLAIN_H
#include "api/json/json.h"

/* Nesting that is still read, here and by sl_json_parse. */
#define SL_JSON_DEPTH_MAX 64
/* The same, of what a server sends: as deep as Go's encoding/json goes. */
#define SL_JSON_RECEIVED_DEPTH_MAX 10000

/* The value of a text that is correct and plain: strings of ASCII without escapes, integers of up
 * to 18 digits, no other numbers. NULL for every other text, right or wrong: sl_json_parse then
 * reads it from the start and says what is the matter. */
struct sl_json *sl_json_parse_plain(const char *text, size_t len);
/* As sl_json_parse, but SL_JSON_RECEIVED_DEPTH_MAX deep, and with numbers of any size that are not written as integers: of
 * a text that json_received.c has repaired. */
struct sl_json *sl_json_parse_repaired(const char *text, size_t len, struct sl_error *e);
#endif
