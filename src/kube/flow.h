/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How fast writes may begin, and how long to wait after a failure. Times come from the caller. */
#ifndef SL_KUBE_FLOW_H
#define SL_KUBE_FLOW_H
#include <stdbool.h>
#include <stdint.h>

/* A bucket of tokens: `qps` come in a second, at most `burst` are kept. qps 0: no limit. */
struct sl_flow {
    double qps, burst, tokens;
    int64_t at_ms; /* when `tokens` was right */
};
void sl_flow_init(struct sl_flow *f, double qps, unsigned burst, int64_t now_ms);
/* Takes a token if there is one. */
bool sl_flow_take(struct sl_flow *f, int64_t now_ms);
/* Until the next token; 0 = there is one. */
int64_t sl_flow_wait_ms(const struct sl_flow *f, int64_t now_ms);

/* Delays that double from `first_ms` to `most_ms`, each with up to its half on top. */
struct sl_backoff {
    int64_t first_ms, most_ms, next_ms;
    uint64_t seed;
};
void sl_backoff_init(struct sl_backoff *b, int64_t first_ms, int64_t most_ms, uint64_t seed);
int64_t sl_backoff_next_ms(struct sl_backoff *b);
void sl_backoff_reset(struct sl_backoff *b);
/* A number that looks random; moves the seed. */
uint64_t sl_backoff_random(uint64_t *seed);
#endif
