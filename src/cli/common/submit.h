/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The Job that `sluicectl submit` makes from its flags. */
#ifndef SL_CLI_SUBMIT_H
#define SL_CLI_SUBMIT_H
#include "api/objects/object.h"
#include "cli/common/flags.h"

struct sl_submit {
    const char *ns, *queue, *cpu;
    const char *memory, *gpu, *priority_class, *run_for, *time_limit, *name; /* NULL = not given */
    const char *topology_required, *topology_preferred;                      /* the same */
    struct sl_flag_list requests, labels, annotations;                       /* NAME=VALUE */
    int64_t parallelism;
    int64_t min_parallelism; /* 0 = not given */
    bool fail;
};
/* BAD_REQUEST naming the flag: queue missing, quantity, duration or pair malformed, parallelism out of range. */
enum sl_code sl_submit_check(const struct sl_submit *s, struct sl_error *e);
/* Of what was checked. */
struct sl_json *sl_submit_job_new(const struct sl_submit *s);
#endif
