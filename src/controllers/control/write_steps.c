/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "controllers/control/write_steps.h"
#include <stddef.h>

static const struct sl_write_step steps[] = {
#define SL_WRITE_STEP(state, event, next, action)                                                  \
    {SL_WRITE_##state, SL_WRITE_##event, SL_WRITE_##next, SL_WRITE_##action},
#include "controllers/control/write_steps.def"
#undef SL_WRITE_STEP
};

const struct sl_write_step *sl_write_step(enum sl_write_state state, enum sl_write_event event)
{
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (steps[i].state == state && steps[i].event == event) {
            return &steps[i];
        }
    }
    return NULL;
}
