/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/requests/device_select.h"
#include "base/check.h"
#include "base/mem.h"

bool sl_device_selectors_open(struct sl_device_selectors *s, const struct sl_json *list,
                              size_t *wrong, struct sl_error *e)
{
    SL_PRE(s != NULL && wrong != NULL);
    size_t len = sl_json_len(list);
    *s = (struct sl_device_selectors){.all = sl_mem_new(len + 1, sizeof *s->all)};
    for (size_t i = 0; i < len; i++) {
        const struct sl_json *cel = sl_json_get(sl_json_at(list, i), "cel");
        if (cel == NULL) {
            continue;
        }
        s->all[s->count] = sl_cel_parse_new(sl_json_path_text(cel, "expression", ""), e);
        if (s->all[s->count] == NULL) {
            *wrong = i;
            return false;
        }
        s->count++;
    }
    return true;
}

void sl_device_selectors_close(struct sl_device_selectors *s)
{
    SL_PRE(s != NULL);
    for (size_t i = 0; i < s->count; i++) {
        sl_cel_free(s->all[i]);
    }
    sl_mem_free(s->all);
    *s = (struct sl_device_selectors){0};
}

enum sl_cel_answer sl_device_selectors_match(const struct sl_device_selectors *s,
                                             const struct sl_device_row *row, struct sl_buf *why)
{
    SL_PRE(s != NULL && row != NULL);
    struct sl_cel_device d = {.driver = row->driver,
                              .shared =
                                  sl_json_path_bool(row->device, "allowMultipleAllocations", false),
                              .attributes = sl_json_get(row->device, "attributes"),
                              .capacity = sl_json_get(row->device, "capacity")};
    enum sl_cel_answer answer = SL_CEL_YES;
    for (size_t i = 0; i < s->count && answer == SL_CEL_YES; i++) {
        answer = sl_cel_select(s->all[i], &d, why);
    }
    return answer;
}
