/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Elastic Jobs, in the worlds that have any: their users let them grow and shrink at any time, some of them run for ever,
 * and what their slices say is held against what they should be to each other. */
#ifndef SL_TESTS_SIM_ELASTIC_H
#define SL_TESTS_SIM_ELASTIC_H
#include "sim.h"

/* A new Job of so many pods becomes elastic, in a world that has such, by chance. */
void sim_elastic_make(const struct sim *s, struct sl_json *job, struct sim_chance *c,
                      unsigned pods);
/* What users of elastic Jobs do in place of users of others; false: nothing, it is the others' turn. */
bool sim_elastic_act(struct sim *s, enum sim_event_kind kind, struct sim_chance *c);
/* A Workload changed. */
void sim_elastic_told(struct sim *s, const struct sl_json *w);
void sim_elastic_forget(void); /* what comes next need not follow what was told */
/* For rest: with Jobs that run for ever, all that is said in elastic_rest.c; then these Jobs are deleted. */
void sim_elastic_rest(struct sim *s);
/* At rest, when no Job runs: what is left of elastic ones. */
void sim_elastic_check(struct sim *s);
#endif
