/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* splitmix64: every seed, however small, gives a sequence of its own. */
#include "sim.h"

uint64_t sim_chance_next(struct sim_chance *c)
{
    c->state += 0x9e3779b97f4a7c15u;
    uint64_t z = c->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t sim_chance_below(struct sim_chance *c, uint32_t n)
{
    return (uint32_t)((sim_chance_next(c) >> 32) * n >> 32);
}

bool sim_chance_of(struct sim_chance *c, uint32_t percent)
{
    return sim_chance_below(c, 100) < percent;
}
