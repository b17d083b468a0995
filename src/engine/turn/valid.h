/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* With settings.paranoid: all checkers before and after each cycle, and each object against
 * its record before it is written (sl_valid_patch). The first guarantee that does not hold is named
 * in the log, with its object, and the process ends with SL_EXIT_BROKEN before anything is written. */
#ifndef SL_ENGINE_VALID_H
#define SL_ENGINE_VALID_H
#include "engine/state.h"

#define SL_EXIT_BROKEN 4

/* What the cycle has done, or the events since the last one. */
void sl_valid_step(const struct sl_engine *g, bool cycle);
/* Does the patch make of the live object what its record says? */
void sl_valid_patch(const struct sl_engine *g, const struct sl_decision *d,
                    const struct sl_json *workload, const struct sl_json *patch);
#endif
