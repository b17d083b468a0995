/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The command that ends and removes what a container's program has started elsewhere: its `end` in a plan. */
#ifndef SL_RUNNER_COMMAND_H
#define SL_RUNNER_COMMAND_H
#include "api/json/json.h"

/* Runs it to its end, a few times where it fails, for a minute at most; `meanwhile` (NULL: nothing) is called all the
 * time. False: it has failed each time, or there is no such program. Nothing to run is done at once. */
bool sl_command_run(const struct sl_json *argv, void (*meanwhile)(void *context), void *context);
/* The texts of the list with NULL behind them, as execv takes them. The caller frees each and all. */
char **sl_command_words_new(const struct sl_json *list);
#endif
