/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Do the patterns of an adapter file make sense? */
#include "controllers/files/file_complain.h"
#include <string.h>

#define DEPTH_MAX 64u

static void check(struct sl_complaint *c, const struct sl_json *v, unsigned depth);

static void check_map(struct sl_complaint *c, const struct sl_json *map, unsigned depth)
{
    if (sl_json_has(map, "$path")) {
        sl_check_keys(c, map, " $path $as $default ");
        sl_check_path(c, map, "$path", true);
        if (sl_json_has(map, "$as") &&
            strcmp(sl_json_path_text(map, "$as", ""), "javaMemory") != 0) {
            sl_complain(c, "$as", "must be javaMemory, or left out");
        }
    } else if (sl_json_has(map, "$key")) {
        sl_check_keys(c, map, " $key $value ");
        sl_check_path(c, map, "$key", true);
        sl_check_path(c, map, "$value", true);
    }
    for (struct sl_json_member m = {0}; sl_json_each(map, &m);) {
        size_t len = sl_complaint_down(c, m.key, SIZE_MAX);
        check(c, m.value, depth - 1);
        sl_complaint_up(c, len);
    }
}

/* Names without $ are those of a template; what is nested too deeply is not looked at by those who fill it in either. */
static void check(struct sl_complaint *c, const struct sl_json *v, unsigned depth)
{
    if (depth == 0) {
        return;
    }
    if (sl_json_type(v) == SL_JSON_MAP) {
        check_map(c, v, depth);
    }
    for (size_t i = 0; sl_json_type(v) == SL_JSON_LIST && i < sl_json_len(v); i++) {
        size_t len = sl_complaint_down(c, "", i);
        check(c, sl_json_at(v, i), depth - 1);
        sl_complaint_up(c, len);
    }
}

void sl_check_pattern(struct sl_complaint *c, const struct sl_json *map, const char *key)
{
    size_t len = sl_complaint_down(c, key, SIZE_MAX);
    check(c, sl_json_get(map, key), DEPTH_MAX);
    sl_complaint_up(c, len);
}
