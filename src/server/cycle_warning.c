/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Cohorts that are below themselves. A write that closes such a circle is let through, as Kueue does, and stops every queue
 * of the tree. */
#include <stdio.h>
#include <string.h>

#include "server/rest.h"

#define COHORTS_MAX 100u

/* The parent of the cohort, "" when it has none or does not exist. */
static void step_up(struct sl_store *store, char at[static 254])
{
    struct sl_error e;
    struct sl_json *cohort = NULL;
    char parent[254] = "";
    if (sl_store_get(store, SL_KIND_COHORT, "", at, &cohort, &e) == SL_CODE_OK) {
        (void)snprintf(parent, sizeof parent, "%s",
                       sl_json_path_text(cohort, "spec.parentName", ""));
    }
    sl_json_free(cohort);
    memcpy(at, parent, sizeof parent);
}

void sl_cycle_warn(struct sl_request *r, const struct sl_json *cohort)
{
    char at[254];
    const char *name = sl_object_name(cohort);
    (void)snprintf(at, sizeof at, "%s", sl_json_path_text(cohort, "spec.parentName", ""));
    for (unsigned i = 0; i < COHORTS_MAX && at[0] != '\0' && strcmp(at, name) != 0; i++) {
        step_up(r->rest->store, at);
    }
    if (strcmp(at, name) == 0) {
        sl_answer_warn(r,
                       "spec.parentName: Cohort %.150s is its own ancestor; every ClusterQueue of "
                       "the tree is inactive until that is changed",
                       name);
    }
}
