/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The admission policies of deploy/kubernetes/policies as a configuration needs them: kinds of jobs that are not managed are
 * left out, those of adapters are in, namespaces are those of managedJobsNamespaceSelector, and with
 * manageJobsWithoutQueueName jobs without a queue are held back, too. */
#ifndef SL_CLI_POLICIES_H
#define SL_CLI_POLICIES_H
#include "controllers/jobs/jobs.h"

struct sl_policies_wish {
    const struct sl_job_rules *jobs;
    const struct sl_json *namespaces; /* a label selector; NULL: all */
    unsigned minor;                   /* of Kubernetes, 1.N */
    bool webhook;                     /* which does what mutating policies would */
};

/* From which minor version on there are policies that refuse, and policies that change what is asked for. */
#define SL_POLICIES_MINOR_MIN 30u
#define SL_POLICIES_MUTATING_MIN 32u
#define SL_POLICIES_ALL 36u /* a version that has all of them as they are in the files */

/* The group and version in which Kubernetes 1.`minor` has MutatingAdmissionPolicy; NULL: it has none. */
const char *sl_policies_mutating_version(unsigned minor);

/* A list of objects to apply, which the caller frees. `unsuspended`: kinds that no policy suspends when they are created, since
 * their flag is at none of the paths that policies know, or since the version has no such policies: a list of texts,
 * which the caller frees. */
struct sl_json *sl_policies_make(const struct sl_policies_wish *wish, struct sl_json **unsuspended);
#endif
