/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Fields and annotations that Kueue acts on and Sluice does not. */
#include "api/objects/schema.h"

static const struct sl_idle rows[] = {
#define SL_IDLE(kind, where, member, why) {SL_KIND_##kind, where, member, why, false},
#define SL_IDLE_ALONE(kind, where, member, why) {SL_KIND_##kind, where, member, why, true},
#include "api/objects/idle.def"
#undef SL_IDLE
#undef SL_IDLE_ALONE
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

const struct sl_idle *sl_schema_idle(size_t *count)
{
    *count = ROW_COUNT;
    return rows;
}

void sl_object_idle(enum sl_kind kind, const struct sl_json *o, struct sl_json *list)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct sl_idle *row = &rows[i];
        bool concerns = row->kind == kind || row->kind == SL_KIND_COUNT;
        if (concerns && sl_json_get(sl_json_path(o, row->where), row->member) != NULL) {
            struct sl_buf text = {0};
            sl_buf_print(&text, "%s.%s has no effect: %s", row->where, row->member, row->why);
            sl_json_append(list, sl_json_new_text(text.data));
            sl_buf_fini(&text);
        }
    }
}
