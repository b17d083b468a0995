/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The Job that `sluicectl run` makes of a command: what submit makes, with a program in its container, and never tried
 * again. */
#ifndef SL_CLI_RUN_H
#define SL_CLI_RUN_H
#include "cli/common/submit.h"

#define SL_ARRAY_MAX 100000

struct sl_run {
    char *const *words; /* the program and its arguments; lent */
    unsigned word_count;
    const char *array;         /* "N" or "N%K"; NULL: one pod */
    const char *image;         /* NULL: none */
    const char *workdir;       /* NULL: none */
    struct sl_flag_list env;   /* NAME=VALUE, or NAME as it is in our environment */
    struct sl_flag_list after; /* NAME, or as sl_run_job_new wants them NAME:UID */
};
/* BAD_REQUEST naming the option: no program, a size that is none, a variable that is not set. Of `s` what submit checks,
 * too, but for the queue, which may be found out later. */
enum sl_code sl_run_check(const struct sl_run *r, struct sl_submit *s, struct sl_error *e);
/* Of what was checked. */
struct sl_json *sl_run_job_new(const struct sl_run *r, const struct sl_submit *s);
#endif
