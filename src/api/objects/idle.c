/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Fields and annotations that Kueue acts on and Sluice does not. */
#include "api/objects/object.h"

struct idle {
    enum sl_kind kind; /* SL_KIND_COUNT = any */
    const char *where, *member, *why;
};

static const struct idle rows[] = {
#define SL_IDLE(kind, where, member, why) {SL_KIND_##kind, where, member, why},
#include "api/objects/idle.def"
#undef SL_IDLE
};

void sl_object_idle(enum sl_kind kind, const struct sl_json *o, struct sl_json *list)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct idle *row = &rows[i];
        bool concerns = row->kind == kind || row->kind == SL_KIND_COUNT;
        if (concerns && sl_json_get(sl_json_path(o, row->where), row->member) != NULL) {
            struct sl_buf text = {0};
            sl_buf_print(&text, "%s.%s has no effect: %s", row->where, row->member, row->why);
            sl_json_append(list, sl_json_new_text(text.data));
            sl_buf_fini(&text);
        }
    }
}
