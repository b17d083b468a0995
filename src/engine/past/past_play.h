/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A past played forward: its objects and events come when they came, the core decides again, and what follows on a decision
 * comes as long after it as it did in the past. As long as a workload fares as it did, its events come as they were
 * recorded. What is assumed says docs/operations.md. */
#ifndef SL_ENGINE_PAST_PLAY_H
#define SL_ENGINE_PAST_PLAY_H
#include "engine/past/past.h"

struct sl_past_policy {
    const struct sl_engine_settings *settings; /* NULL: as the journal has them */
    const struct sl_json *
        objects; /* a list, merged with those of the past by kind and name; those it does not have are
                                      there from the beginning. NULL = none */
};
/* *out: {"decisions": [as in struct sl_past, and {"at", "do": "finished" or "deleted", "history"}],
 * "sums": [{"queue", "flavor", "resource", "used", "nominal"}], "ignored": N}, amounts times seconds.
 * The caller frees it. It is done in a copy of this process, whose core has to be untouched. */
enum sl_code sl_past_play(const struct sl_past *past, const struct sl_past_policy *policy,
                          struct sl_json **out, struct sl_error *e);
#endif
