/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How much has been done, counted in steps: the same for the same requests on every machine, so that limits of what one
 * request may cost can be set and tested. A step is a value that is read, made, copied, compared, checked, looked up or
 * printed, or 64 bytes of text: between 0.03 and 0.5 us. Of the loop's thread only. */
#ifndef SL_BASE_EFFORT_H
#define SL_BASE_EFFORT_H
#include <stddef.h>
#include <stdint.h>

#define SL_EFFORT_TEXT_BYTES 64u /* that are a step */

extern uint64_t sl_effort_steps; /* since the start */

static inline void sl_effort_add(size_t steps)
{
    sl_effort_steps += steps;
}

static inline void sl_effort_text(size_t bytes)
{
    sl_effort_steps += bytes / SL_EFFORT_TEXT_BYTES;
}
#endif
