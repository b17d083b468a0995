/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What becomes of a Job: waits until it has ended, and finds the exit code of its program. */
#ifndef SL_CLI_OUTCOME_H
#define SL_CLI_OUTCOME_H
#include "cli/remote/remote.h"

struct sl_outcome_wish {
    struct sl_remote *remote;
    const struct sl_json *job; /* as the server made it */
    bool logs;                 /* print what its pods print, to stdout */
    bool several;              /* and the index before each line */
    bool quiet;                /* say nothing of how it ended */
};
/* *status: 0 when it is complete; when it failed, the exit code of the first failed container, or 1 where no pod has one; 1
 * when it was deleted. That is said on stderr. A server that cannot be reached is tried again for a minute. */
enum sl_code sl_outcome_wait(const struct sl_outcome_wish *wish, int *status, struct sl_error *e);
#endif
