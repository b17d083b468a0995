/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Texts that grow at the server, such as the logs of pods: each is read on a connection of its own and printed as it comes,
 * in whole lines where there are several. */
#ifndef SL_CLI_TAILS_H
#define SL_CLI_TAILS_H
#include "cli/remote/remote.h"

#define SL_TAILS_MAX 100u /* at a time */

struct sl_tails;
struct sl_tails *sl_tails_new(struct sl_remote *r); /* lent */
void sl_tails_free(struct sl_tails *t);
/* The text of this path, each line behind the prefix ("": as it comes). False: there are too many now. */
bool sl_tails_add(struct sl_tails *t, const char *path, const char *prefix);
/* Waits for more for at most so long, and prints it to stdout. A text that cannot be had is complained of on stderr. */
void sl_tails_wait(struct sl_tails *t, int64_t ms);
size_t sl_tails_count(const struct sl_tails *t); /* that have not ended */
#endif
