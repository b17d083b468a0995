/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How fast writes may begin, and how long to wait after a failure. Nothing here looks at a clock, so that tests
 * can say what time it is. */
#include "kube/flow.h"
#include "base/check.h"
#include <stddef.h>

#include <math.h>

static double tokens_at(const struct sl_flow *f, int64_t now_ms)
{
    double passed_ms = now_ms > f->at_ms ? (double)(now_ms - f->at_ms) : 0;
    return fmin(f->burst, f->tokens + passed_ms * f->qps / 1000);
}

void sl_flow_init(struct sl_flow *f, double qps, unsigned burst, int64_t now_ms)
{
    double room = burst > 1 ? burst : 1;
    *f = (struct sl_flow){.qps = qps, .burst = room, .tokens = room, .at_ms = now_ms};
}

bool sl_flow_take(struct sl_flow *f, int64_t now_ms)
{
    SL_PRE(f != NULL);
    if (f->qps <= 0) {
        return true;
    }
    f->tokens = tokens_at(f, now_ms);
    f->at_ms = now_ms;
    if (f->tokens < 1) {
        return false;
    }
    f->tokens -= 1;
    return true;
}

int64_t sl_flow_wait_ms(const struct sl_flow *f, int64_t now_ms)
{
    SL_PRE(f != NULL);
    double missing = f->qps > 0 ? 1 - tokens_at(f, now_ms) : 0;
    return missing > 0 ? (int64_t)ceil(missing * 1000 / f->qps) : 0;
}

uint64_t sl_backoff_random(uint64_t *seed)
{
    /* splitmix64: every seed, 0 too, gives a good sequence. */
    *seed += 0x9e3779b97f4a7c15u;
    uint64_t z = *seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void sl_backoff_init(struct sl_backoff *b, int64_t first_ms, int64_t most_ms, uint64_t seed)
{
    *b = (struct sl_backoff){
        .first_ms = first_ms, .most_ms = most_ms, .next_ms = first_ms, .seed = seed};
}

int64_t sl_backoff_next_ms(struct sl_backoff *b)
{
    SL_PRE(b != NULL);
    int64_t base = b->next_ms;
    b->next_ms = base * 2 < b->most_ms ? base * 2 : b->most_ms;
    int64_t jitter = (int64_t)(sl_backoff_random(&b->seed) % (uint64_t)(base / 2 + 1));
    return base + jitter < b->most_ms ? base + jitter : b->most_ms;
}

void sl_backoff_reset(struct sl_backoff *b)
{
    SL_PRE(b != NULL);
    b->next_ms = b->first_ms;
}
