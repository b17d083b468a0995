/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl shares: the tree of cohorts. */
#include "base/check.h"
#include "cli/ctl/ctl.h"
#include "cli/screen/shares.h"

int sl_ctl_shares(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_json *cohorts = NULL, *queues = NULL;
    struct sl_error e = {0};
    if (c->arguments.count > 0) {
        return sl_ctl_misused("shares takes no arguments");
    }
    enum sl_code code = sl_ctl_fetch_list(c, SL_KIND_COHORT, &cohorts, &e);
    code = code == SL_CODE_OK ? sl_ctl_fetch_list(c, SL_KIND_CLUSTER_QUEUE, &queues, &e) : code;
    if (code == SL_CODE_OK) {
        struct sl_shares shares;
        sl_shares_fill(&shares, sl_json_get(cohorts, "items"), sl_json_get(queues, "items"));
        if (sl_ctl_is_data(c)) {
            struct sl_json *data = sl_json_new_map();
            sl_json_set(data, "items", sl_shares_json_new(&shares));
            sl_ctl_print_value(c, data);
            sl_json_free(data);
        } else {
            struct sl_buf text = {0};
            sl_shares_print(&shares, &text);
            sl_ctl_print(&text);
            sl_buf_fini(&text);
        }
        sl_shares_fini(&shares);
    }
    sl_json_free(cohorts);
    sl_json_free(queues);
    return code == SL_CODE_OK ? 0 : sl_ctl_failed("shares", &e);
}
