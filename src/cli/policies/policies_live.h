/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Are the policies in the cluster those that the configuration needs? It is asked once, and said in the log: a policy for
 * more than the daemon manages holds jobs back for ever, one for less lets them start before they are counted. */
#ifndef SL_CLI_POLICIES_LIVE_H
#define SL_CLI_POLICIES_LIVE_H
#include "cli/policies/policies.h"
#include "kube/transport.h"

/* By its name. */
bool sl_policies_is_ours(const struct sl_json *policy);

/* The names of policies that differ from the wanted ones, that lack, or that are there and not wanted: a list of texts,
 * which the caller frees. Both are lists of objects; of the live ones only those with our prefix count, and each says
 * its kind. What an API server adds by default is no difference. */
struct sl_json *sl_policies_differing(const struct sl_json *wanted, const struct sl_json *live);

/* Is everything there that is wanted? More members of maps are defaults, more items of lists are not. */
bool sl_policies_cover(const struct sl_json *live, const struct sl_json *wanted);

struct sl_policies_look;
/* With a webhook there need not be policies that change what is asked for. The transport is lent, the rules are those of the
 * configuration, and both outlive it. */
struct sl_policies_look *sl_policies_look(struct sl_transport *transport,
                                          const struct sl_job_rules *jobs,
                                          const struct sl_json *namespaces, bool webhook);
void sl_policies_look_free(struct sl_policies_look *l); /* NULL is fine */
#endif
