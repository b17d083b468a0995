/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One finding for each thing that is in the way; the first gives the reason. */
#include "engine/events/activity.h"
#include "base/check.h"
#include "engine/events/checks_in.h"
#include "engine/records/world.h"
#include <string.h>

struct findings {
    const char *reason; /* NULL = nothing is in the way */
    struct sl_buf *text;
};

static void find(struct findings *f, const char *reason, const char *before, const char *what)
{
    if (what[0] != '\0') {
        sl_buf_print(f->text, "%s%s%s", f->reason == NULL ? "" : ", ", before, what);
        f->reason = f->reason == NULL ? reason : f->reason;
    }
}

bool sl_qnode_in_loop(const struct sl_engine *g, sl_qnode_id qnode)
{
    SL_PRE(g != NULL);
    const struct sl_qnode_entry *n = g->qnodes[qnode];
    while (!n->looped && n->parent != SL_NO_ID) {
        n = g->qnodes[n->parent];
    }
    return n->looped;
}

/* --- flavors ---------------------------------------------------------------------------------- */

typedef void flavor_fn(const struct sl_engine *g, sl_flavor_id flavor, struct findings *f,
                       struct sl_buf *names);

static void for_flavors(const struct sl_engine *g, const struct sl_qnode_entry *n, flavor_fn *look,
                        struct findings *f, struct sl_buf *names)
{
    for (uint32_t i = 0; i < n->quotas.group_count; i++) {
        for (uint32_t k = 0; k < n->quotas.groups[i].flavor_count; k++) {
            look(g, n->quotas.groups[i].flavors[k], f, names);
        }
    }
}

static void list_missing(const struct sl_engine *g, sl_flavor_id flavor, struct findings *f,
                         struct sl_buf *names)
{
    (void)f;
    if (flavor >= g->flavor_cap || g->flavors[flavor].spec == NULL) {
        sl_buf_print(names, "%s%s", names->len == 0 ? "" : ",",
                     sl_intern_name(g->names, SL_INTERN_FLAVOR, flavor));
    }
}

static void find_without_tree(const struct sl_engine *g, sl_flavor_id flavor, struct findings *f,
                              struct sl_buf *names)
{
    (void)names;
    const struct sl_tree_entry *t = sl_world_find_tree(g, flavor);
    if (t != NULL && t->levels == NULL) {
        struct sl_buf what = {0};
        sl_buf_print(&what, "\"%s\" for TAS flavor \"%s\"", t->topology,
                     sl_intern_name(g->names, SL_INTERN_FLAVOR, flavor));
        find(f, "TopologyNotFound", "there is no Topology ", what.data);
        sl_buf_fini(&what);
    }
}

static void find_flavors(const struct sl_engine *g, const struct sl_qnode_entry *n,
                         struct findings *f)
{
    struct sl_buf names = {0};
    for_flavors(g, n, list_missing, f, &names);
    if (names.len > 0) {
        find(f, "FlavorNotFound", "references missing ResourceFlavor(s): ", names.data);
    }
    sl_buf_fini(&names);
}

/* --- admission checks ------------------------------------------------------------------------- */

/* Both MultiKueue and ProvisioningRequests: only the other cluster may know about nodes. */
static void find_both(const char *elsewhere, const char *provisioned, struct findings *f)
{
    struct sl_buf both = {0};
    if (elsewhere[0] != '\0' && provisioned[0] != '\0') {
        sl_buf_print(&both, "%s, %s", elsewhere, provisioned);
        find(f, "MultiKueueWithProvisioningRequest",
             "Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together, found: ",
             both.data);
    }
    sl_buf_fini(&both);
}

static void find_checks(const struct sl_engine *g, const struct sl_qnode_entry *n,
                        struct findings *f)
{
    struct sl_buf names[SL_CHECK_PER_FLAVOR + 1] = {0};
    for (int i = SL_CHECK_MISSING; i <= SL_CHECK_PER_FLAVOR; i++) {
        sl_buf_text(&names[i], "");
        sl_checks_in_list(g, n, (enum sl_check_sort)i, &names[i]);
    }
    const char *elsewhere = names[SL_CHECK_ELSEWHERE].data;
    find(f, "AdmissionCheckNotFound",
         "references missing AdmissionCheck(s): ", names[SL_CHECK_MISSING].data);
    find(f, "AdmissionCheckInactive",
         "references inactive AdmissionCheck(s): ", names[SL_CHECK_INACTIVE].data);
    find(f, "MultipleMultiKueueAdmissionChecks",
         "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: ",
         strchr(elsewhere, ',') == NULL ? "" : elsewhere);
    find(f, "MultiKueueAdmissionCheckAppliedPerFlavor",
         "Cannot specify MultiKueue AdmissionCheck per flavor, found: ",
         names[SL_CHECK_PER_FLAVOR].data);
    find_both(elsewhere, names[SL_CHECK_PROVISIONED].data, f);
    for (int i = SL_CHECK_MISSING; i <= SL_CHECK_PER_FLAVOR; i++) {
        sl_buf_fini(&names[i]);
    }
}

/* --- all -------------------------------------------------------------------------------------- */

const char *sl_activity_judge(const struct sl_engine *g, sl_qnode_id qnode, struct sl_buf *text)
{
    SL_PRE(g != NULL);
    const struct sl_qnode_entry *n = g->qnodes[qnode];
    struct sl_buf found = {0};
    struct findings f = {NULL, &found};
    if (n->deleting) {
        sl_buf_text(text, "Can't admit new workloads; clusterQueue is terminating");
        return "Terminating";
    }
    find(&f, "Stopped", "", n->stop != SL_STOP_NONE ? "is stopped" : "");
    find(&f, "CohortCycle", "",
         sl_qnode_in_loop(g, qnode) ? "its cohorts form a cycle, or are nested too deep" : "");
    find(&f, "InvalidSpec", "", n->trouble != NULL ? n->trouble : "");
    find_flavors(g, n, &f);
    find_checks(g, n, &f);
    if (!sl_checks_in_elsewhere(g, n)) {
        for_flavors(g, n, find_without_tree, &f, NULL);
    }
    if (f.reason == NULL) {
        sl_buf_text(text, "Can admit new workloads");
    } else {
        sl_buf_print(text, "Can't admit new workloads: %s.", found.data);
    }
    sl_buf_fini(&found);
    return f.reason == NULL ? "Ready" : f.reason;
}
