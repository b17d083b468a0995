/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is expected. The server of the recorded runs kept fields of a status that an applied status
 * leaves out. Where that made a difference, the outcome of a real server was recorded beside it, for
 * the case but not for its variants. */
#include "conformance.h"
#include <string.h>

static const struct sl_json *find(const struct sl_json *workloads, const struct sl_json *like)
{
    char key[512];
    char own[512];
    conf_key(like, key);
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        conf_key(sl_json_at(workloads, i), own);
        if (strcmp(own, key) == 0) {
            return sl_json_at(workloads, i);
        }
    }
    return NULL;
}

/* The same was decided about the workload: what was left over in one is so in the other. */
static bool decided_same(const struct sl_json *a, const struct sl_json *b)
{
    return sl_json_equal(sl_json_path(a, "status.admission"),
                         sl_json_path(b, "status.admission")) &&
           sl_condition_true(a, "Evicted") == sl_condition_true(b, "Evicted");
}

/* What a refusal asked for goes with the reservation, and stayed there in the cases whose queue did not
 * see what was written between its cycles. */
static void drop_requests(struct sl_json *workload)
{
    if (sl_condition_true(workload, "QuotaReserved")) {
        sl_json_remove(sl_json_get(workload, "status"), "resourceRequests");
    }
}

struct sl_json *conf_expect_new(const struct sl_json *root, const struct sl_json *part)
{
    const struct sl_json *applied = sl_json_get(root, "expectServerSideApply");
    if (applied != NULL && part == root) {
        return sl_json_clone(applied);
    }
    struct sl_json *expect = sl_json_clone(sl_json_get(part, "expect"));
    const struct sl_json *workloads = sl_json_get(expect, "workloads");
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        struct sl_json *o = sl_json_at(workloads, i);
        const struct sl_json *settled = find(sl_json_get(applied, "workloads"), o);
        drop_requests(o);
        if (settled != NULL && decided_same(o, settled) &&
            sl_json_path(settled, "status.unhealthyNodes") == NULL) {
            sl_json_remove(sl_json_get(o, "status"), "unhealthyNodes");
        }
    }
    return expect;
}
