/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What our parsers use of json-c, as Eva sees it: Eva's own headers and the library's do not go together. */
#ifndef SL_SPECS_EVA_JSON_C_H
#define SL_SPECS_EVA_JSON_C_H
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct json_tokener;
enum json_tokener_error {
    json_tokener_success,
    json_tokener_continue,
    json_tokener_error_parse_array,
    json_tokener_error_parse_object_key_name,
    json_tokener_error_parse_object_key_sep,
    json_tokener_error_parse_object_value_sep,
    json_tokener_error_parse_utf8_string
};
#define JSON_TOKENER_STRICT 1
#define JSON_TOKENER_ALLOW_TRAILING_CHARS 2
#define JSON_TOKENER_VALIDATE_UTF8 16

struct json_tokener *json_tokener_new_ex(int depth);
void json_tokener_free(struct json_tokener *t);
void json_tokener_set_flags(struct json_tokener *t, int flags);
struct json_object *json_tokener_parse_ex(struct json_tokener *t, const char *text, int len);
enum json_tokener_error json_tokener_get_error(struct json_tokener *t);
size_t json_tokener_get_parse_end(struct json_tokener *t);
int json_object_put(struct json_object *v);
struct json_object *json_object_new_string_len(const char *text, int len);
struct json_object *json_object_new_object(void);
struct json_object *json_object_new_array_ext(int size);
struct json_object *json_object_new_int64(int64_t n);
struct json_object *json_object_new_boolean(int b);
int json_object_object_add(struct json_object *map, const char *key, struct json_object *value);
int json_object_array_add(struct json_object *list, struct json_object *value);
const char *json_object_to_json_string(struct json_object *v);
#endif
