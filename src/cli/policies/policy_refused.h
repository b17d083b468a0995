/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What adapter files refuse, as policies. Inside the policies only. */
#ifndef SL_CLI_POLICY_REFUSED_H
#define SL_CLI_POLICY_REFUSED_H
#include "controllers/jobs/jobs.h"

/* A policy and its binding for each kind that is managed, is not one of those that the files of policies name, and has something
 * that CEL can say in `refuse`: a list, which the caller frees. */
struct sl_json *sl_policy_refused_new(const struct sl_job_rules *rules);
/* Do all of the rules hold for the CEL variable `o`? False: CEL does not say it here, and `out` means nothing. */
bool sl_policy_rules_print(const struct sl_json *rules, struct sl_buf *out);
#endif
