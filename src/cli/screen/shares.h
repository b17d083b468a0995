/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who has how much of what: the tree of cohorts with their queues, and for each flavor and resource how much each is entitled to,
 * uses, borrows and lends. Pure functions over objects that were fetched.
 *
 * entitled: the nominal quota; of a cohort its own and that of all below it. used: what admitted and reserving workloads hold.
 * borrowed: what is used beyond the entitlement. lent: of a cohort what its members have borrowed and it has not borrowed
 * itself; of a queue at most so much, since nothing is borrowed from one lender in particular: what it does not use and may lend,
 * but not more than the others of its tree have borrowed. */
#ifndef SL_CLI_SHARES_H
#define SL_CLI_SHARES_H
#include "api/objects/object.h"
#include "api/objects/quantity.h"

struct sl_share {
    const char *flavor, *resource; /* lent by the objects */
    enum sl_quantity_format format;
    __int128 entitled, used, borrowed, lent; /* in 10^-9 units */
    __int128 lendable;
    bool lent_exactly; /* not only at most */
};
struct sl_shares_node {
    const char *name;
    bool is_cohort, in_cycle;
    size_t parent; /* SIZE_MAX: none */
    unsigned depth;
    const struct sl_json *weight; /* as it is given, or NULL */
    int64_t weighted_share;       /* -1: fair sharing is off */
    struct sl_share *shares;
    size_t share_count;
};
struct sl_shares {
    struct sl_shares_node *nodes; /* as they are drawn: what belongs to a cohort is below it */
    size_t count;
};
void sl_shares_fill(struct sl_shares *s, const struct sl_json *cohorts,
                    const struct sl_json *cluster_queues);
void sl_shares_fini(struct sl_shares *s);
void sl_shares_print(const struct sl_shares *s, struct sl_buf *out);
struct sl_json *sl_shares_json_new(const struct sl_shares *s);
#endif
