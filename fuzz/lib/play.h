/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Plays a program of events of FUZZ_EVENT bytes, the target's own size, in the world of world.h. */
#ifndef SL_FUZZ_PLAY_H
#define SL_FUZZ_PLAY_H
#include "fuzz/lib/producer.h"
#include "fuzz/lib/state.h"
#include "fuzz/lib/world.h"

/* The first event opens the world, each other is a step, after which all is checked; `step` answers as world_step
 * does. False: there was no event. */
static inline bool world_play(const uint8_t *data, size_t size,
                              bool (*step)(struct producer *event))
{
    struct producer program = {data, size}, p;
    fuzz_state_reset();
    if (!producer_event(&program, &p)) {
        return false;
    }
    world_open(&p);
    while (producer_event(&program, &p)) {
        world_check(step(&p));
    }
    return true;
}
#endif
