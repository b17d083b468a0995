/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The program of a seed: which events, when, and the seed of each. An event does not depend on those before it but
 * through the state that it finds, so any of them can be left out. */
#include "sim.h"
#include "admin.h"
#include "base/clock.h"
#include "disk.h"
#include "replicas.h"

static const struct {
    unsigned weight;
    const char *text;
} kinds[SIM_EVENT_COUNT] = {
#define SIM_EVENT(constant, weight, text) {weight, text},
#include "events.def"
#undef SIM_EVENT
};

const char *sim_events_name(enum sim_event_kind kind)
{
    return kinds[kind].text;
}

static enum sim_event_kind draw(struct sim_chance *c, bool faults)
{
    unsigned end = faults ? SIM_EVENT_COUNT : SIM_FAULT_WRITES;
    unsigned total = 0;
    for (unsigned k = 0; k < end; k++) {
        total += kinds[k].weight;
    }
    unsigned at = sim_chance_below(c, total);
    unsigned kind = 0;
    while (at >= kinds[kind].weight) {
        at -= kinds[kind++].weight;
    }
    return (enum sim_event_kind)kind;
}

/* Events come in bursts: many at one instant, then nothing for a while. */
unsigned sim_events_make(const struct sim_options *o, struct sim_event *out)
{
    struct sim_chance c = {o->seed ^ 0xe7e275};
    int64_t at_ms = 0;
    unsigned scale = o->queues > SIM_QUEUES_DEFAULT ? o->queues / SIM_QUEUES_DEFAULT : 1;
    for (unsigned i = 0; i < o->events; i++) {
        uint32_t gap = sim_chance_below(&c, 10);
        at_ms += gap < 3   ? 0
                 : gap < 5 ? sim_chance_below(&c, 3000)
                           : sim_chance_below(&c, 120000) / scale;
        out[i] = (struct sim_event){at_ms, draw(&c, o->faults), sim_chance_next(&c)};
    }
    return o->events;
}

static void disk_fault(struct sim_chance *c)
{
    static const char *const texts[] = {"nothing", "it is full", "writes", "syncs", "reads"};
    enum sim_trouble trouble = (enum sim_trouble)(1 + sim_chance_below(c, 4));
    unsigned percent = 10 + sim_chance_below(c, 91);
    sim_disk_trouble(trouble, percent, 1 + sim_chance_below(c, 25));
    sim_story_tell("disk", "in %u of 100 fail now: %s", percent, texts[trouble]);
}

/* A disk that lies shows it when the power fails; or it was lucky, and all is written. */
static void disk_lies(struct sim *s, struct sim_chance *c)
{
    if (sim_disk_lies() == SIM_LIE_NONE) {
        sim_recall_begin(s);
        (void)sl_store_commit(s->store, NULL);
        sim_disk_lie(sim_chance_of(c, 70) ? SIM_LIE_ORDERED : SIM_LIE_ANY);
    } else if (sim_chance_of(c, 80)) {
        sim_life_restart(s, SIM_DEATH_POWER);
    } else {
        sim_disk_lie(SIM_LIE_NONE);
    }
}

static void fault(struct sim *s, enum sim_event_kind kind, struct sim_chance *c)
{
    switch (kind) {
    case SIM_FAULT_READS:
        sim_relay_blind(s->relay, sim_chance_next(c), 1 + sim_chance_below(c, 30),
                        20 + sim_chance_below(c, 80));
        break;
    case SIM_FAULT_WRITES:
        sim_relay_fail(s->relay, sim_chance_next(c), 1 + sim_chance_below(c, 30),
                       20 + sim_chance_below(c, 80));
        break;
    case SIM_FAULT_DELAY:
        sim_relay_delay(s->relay, sim_chance_next(c), s->now_ms + sim_chance_below(c, 120000),
                        sim_chance_of(c, 50) ? 100 : 10000);
        sim_tally(SIM_TALLY_DELAYS);
        break;
    case SIM_FAULT_CLOCK:
        s->now_ms += sim_chance_below(c, sim_chance_of(c, 80) ? 60000 : 7200000);
        sl_clock_set_virtual(s->now_ms);
        sim_tally(SIM_TALLY_CLOCK_JUMPS);
        break;
    case SIM_FAULT_CLEAN:
        sim_life_restart(s, SIM_DEATH_CLEAN);
        break;
    case SIM_FAULT_CRASH:
        sim_life_restart(s, SIM_DEATH_CRASH);
        break;
    case SIM_FAULT_POWER:
        sim_life_restart(s, SIM_DEATH_POWER);
        break;
    case SIM_FAULT_DISK:
        disk_fault(c);
        break;
    case SIM_FAULT_LIES:
        disk_lies(s, c);
        break;
    default:
        sim_life_restart(s, SIM_DEATH_TORN);
        break;
    }
}

void sim_events_play(struct sim *s, const struct sim_event *e)
{
    struct sim_chance c = {e->seed};
    sim_story_tell("event", "%s", kinds[e->kind].text);
    sim_tally(SIM_TALLY_EVENTS);
    if (s->replicas != NULL && sim_replicas_takes(e->kind)) {
        sim_replicas_fault(s, &c);
    } else if (e->kind >= SIM_FAULT_WRITES) {
        fault(s, e->kind, &c);
    } else {
        sim_admin_act(s, e->kind, &c);
    }
}
