/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The Job that `sluicectl submit` makes from its flags. */
#ifndef SL_CLI_SUBMIT_H
#define SL_CLI_SUBMIT_H
#include "api/objects/object.h"

struct sl_submit {
    const char *ns, *queue, *cpu;
    const char *memory, *priority_class, *run_for, *name; /* NULL = not given */
    int64_t parallelism;
    bool fail;
};
/* BAD_REQUEST naming the flag: queue missing, quantity or duration malformed, parallelism out of range. */
enum sl_code sl_submit_check(const struct sl_submit *s, struct sl_error *e);
struct sl_json *sl_submit_job_new(const struct sl_submit *s);
#endif
