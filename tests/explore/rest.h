/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What has to hold: after each step, and at rest, when nothing is under way and nothing is due. */
#ifndef SL_EXPLORE_REST_H
#define SL_EXPLORE_REST_H
#include <stdbool.h>

/* `decided`: the step was one cycle, so that what grew must fit. Ends the history where something is broken. */
void check_step(bool decided);
bool is_at_rest(void);
/* Of the objects, and that nobody waits for what is there. */
void check_rest(void);
/* A restart changes no reservation (G10). Changes the state, too. */
void probe_restart(void);
/* A superfluous wake-up serves nobody (G13). Changes the state: to be asked of a copy. */
void probe_rest(void);
#endif
