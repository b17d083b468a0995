/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The topology assignment of a workload, read from its object after a restart into the list of a
 * RESTORE. What can be counted is counted; what cannot (its topology is missing, the text is
 * malformed) does not end the reservation. */
#ifndef SL_ENGINE_ASSIGNMENTS_IN_H
#define SL_ENGINE_ASSIGNMENTS_IN_H
#include "engine/state.h"

struct sl_assignments_in {
    struct sl_buf list; /* to be appended to that of the RESTORE */
    bool pending;       /* some pod set still waits for the second phase */
    bool lost;          /* some pods are assigned to unknown domains */
    uint32_t domain_count;
    uint32_t domain_cap;
    sl_domain_id *domains; /* taken for it */
};

/* From status.admission. The admission keeps the texts. */
void sl_assignments_in_read(struct sl_engine *g, sl_workload_id id, const struct sl_json *workload,
                            struct sl_admission *admission, struct sl_assignments_in *out,
                            int64_t now_ms);
/* The workload is assigned there now, or the core has refused it. */
void sl_assignments_in_end(struct sl_engine *g, struct sl_assignments_in *s, int64_t now_ms);
#endif
