/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One world `w` for each test of a file, and the set-ups that files share. */
#ifndef SL_TESTS_ENGINE_SCENE_H
#define SL_TESTS_ENGINE_SCENE_H
#include "world.h"

static struct world w;

/* Nothing is there. */
static inline int setup(void **state)
{
    (void)state;
    world_open(&w, NULL);
    return 0;
}

/* A queue of 10 CPUs. */
static inline int setup_basics(void **state)
{
    (void)setup(state);
    world_add_basics(&w);
    return 0;
}

/* The same, and who has a higher priority preempts. */
static inline int setup_preempting(void **state)
{
    (void)setup(state);
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10",
                            ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    return 0;
}

/* Of a test that ends in the midst of a write, or with an engine that was broken. */
static inline int teardown_unchecked(void **state)
{
    (void)state;
    world_close(&w);
    return 0;
}

static inline int teardown(void **state)
{
    world_check(&w);
    return teardown_unchecked(state);
}
#endif
