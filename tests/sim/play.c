/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One run: the world, the events at their times, rest; all guarantees after every turn. */
#include "disk.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "elastic_records.h"
#include <stdio.h>

void sim_audit_turn(struct sim *s)
{
    const char *broken = NULL;
    if (!sl_engine_valid(s->engine, &broken)) {
        sim_story_violation("%s", broken);
    }
    const char *slice = sim_slice_beside_its_old(s->engine);
    if (slice != NULL) {
        sim_story_violation("%s holds quota, and so does the slice that has its place", slice);
    }
}

static void end(struct sim *s)
{
    sim_life_close(s);
    sl_map_free_with(s->told, sl_mem_free);
    sl_map_free(s->ended);
    sim_placed_end();
}

void sim_play(const struct sim_options *o)
{
    static struct sim_event events[SIM_EVENTS_MAX];
    struct sim s = {.options = o,
                    .now_ms = SIM_START_MS,
                    .turns = {o->seed ^ 0x70125},
                    .rot = {o->seed ^ 0x2077}};
    unsigned count = sim_events_make(o, events);
    sl_clock_set_virtual(s.now_ms);
    sl_log_setup(SL_LOG_ERROR, false);
    sim_story_begin(o->print);
    sim_disk_mount(o->seed ^ 0xd15c);
    sim_world_settings(&s);
    sim_life_open(&s);
    sim_world_make(&s);
    for (unsigned i = 0; i < count; i++) {
        if (o->dropped != NULL && o->dropped[i]) {
            continue;
        }
        if (SIM_START_MS + events[i].at_ms > s.now_ms) {
            sim_life_run(&s, SIM_START_MS + events[i].at_ms);
        }
        sim_events_play(&s, &events[i]);
    }
    sim_rest(&s);
    end(&s);
    (void)printf(
        "seed %llu: %lu lines, hash %016llx, %.1f virtual hours, %lu turns, %lu jobs, %u lives\n",
        (unsigned long long)o->seed, sim_story_lines(), (unsigned long long)sim_story_hash(),
        (double)(s.now_ms - SIM_START_MS) / 3600000.0, s.turn_count, s.job_count, s.lives);
    sim_tally_add(SIM_TALLY_TURNS, s.turn_count);
    sim_tally_add(SIM_TALLY_JOBS, s.job_count);
    sim_world_tally(&s);
    sim_tally_print();
}
