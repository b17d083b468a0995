/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The objects that `sluicectl create` makes from its options, which are those of kueuectl. Errors are BAD_REQUEST and name
 * the option; what the server checks as well is left to it. Texts are lent. */
#ifndef SL_CLI_MAKE_H
#define SL_CLI_MAKE_H
#include "api/objects/object.h"
#include "cli/common/flags.h"

struct sl_make_cluster_queue {
    const char *cohort, *strategy, *reclaim, *within; /* NULL: as Kueue presets it */
    struct sl_flag_list selector; /* KEY=VALUE[,KEY=VALUE]; none: each namespace */
    /* FLAVOR:RESOURCE=QUANTITY[;RESOURCE=QUANTITY][,FLAVOR:...] */
    struct sl_flag_list nominal, borrowing, lending;
};
enum sl_code sl_make_cluster_queue(const struct sl_make_cluster_queue *m, const char *name,
                                   struct sl_json **out, struct sl_error *e);

struct sl_make_flavor {
    struct sl_flag_list labels;      /* KEY=VALUE[,...] */
    struct sl_flag_list taints;      /* KEY[=VALUE]:EFFECT[,...] */
    struct sl_flag_list tolerations; /* KEY[=VALUE][:EFFECT] or :EFFECT */
    const char *topology;            /* NULL: none */
};
enum sl_code sl_make_flavor(const struct sl_make_flavor *m, const char *name, struct sl_json **out,
                            struct sl_error *e);
#endif
