/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A ClusterQueue from the options of create. Flavors that give the same resources are put into one resource group; its
 * resources are in the order of the group's first flavor, as the API wants it. */
#include "api/objects/quantity.h"
#include "base/check.h"
#include "cli/common/make.h"
#include "cli/common/make_pieces.h"
#include <string.h>

/* One of the three options with quotas. */
struct quotas {
    const char *option, *member; /* "--nominal-quota", "nominalQuota" */
    struct sl_json *flavors;     /* maps with name and resources */
    struct sl_json *flavor;      /* the one whose resources are read */
    bool adds;                   /* others speak only of what this one has named */
};

static enum sl_code refuse(const struct quotas *q, const char *text, const char *why,
                           struct sl_error *e)
{
    return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: \"%.64s\" %s", q->option, text, why);
}

/* RESOURCE=QUANTITY */
static enum sl_code add_quota(void *context, char *piece, struct sl_error *e)
{
    struct quotas *q = context;
    struct sl_quantity parsed;
    struct sl_json *resources = sl_json_get(q->flavor, "resources");
    const char *amount = sl_piece_cut(piece, '=');
    if (amount == NULL || piece[0] == '\0') {
        return refuse(q, piece, "is not RESOURCE=QUANTITY", e);
    }
    if (sl_quantity_parse(amount, &parsed, NULL) != SL_CODE_OK) {
        return refuse(q, amount, "is not a quantity such as 500m or 2Gi", e);
    }
    struct sl_json *resource = sl_json_find_by(resources, "name", piece);
    if (resource == NULL && !q->adds) {
        return refuse(q, piece, "has no --nominal-quota in that flavor", e);
    }
    if (sl_json_has(resource, q->member)) {
        return refuse(q, piece, "is given twice for that flavor", e);
    }
    if (resource == NULL) {
        resource = sl_json_new_map();
        sl_json_set_text(resource, "name", piece);
        sl_json_append(resources, resource);
    }
    sl_json_set_text(resource, q->member, amount);
    return SL_CODE_OK;
}

static struct sl_json *add_flavor(struct sl_json *flavors, const char *name)
{
    struct sl_json *flavor = sl_json_new_map();
    sl_json_set_text(flavor, "name", name);
    sl_json_set(flavor, "resources", sl_json_new_list());
    sl_json_append(flavors, flavor);
    return flavor;
}

/* FLAVOR:RESOURCE=QUANTITY;... */
static enum sl_code add_quotas(void *context, char *piece, struct sl_error *e)
{
    struct quotas *q = context;
    const char *resources = sl_piece_cut(piece, ':');
    if (resources == NULL || piece[0] == '\0' || resources[0] == '\0') {
        return refuse(q, piece, "is not FLAVOR:RESOURCE=QUANTITY", e);
    }
    q->flavor = sl_json_find_by(q->flavors, "name", piece);
    if (q->flavor == NULL && !q->adds) {
        return refuse(q, piece, "is a flavor without --nominal-quota", e);
    }
    if (q->flavor == NULL) {
        q->flavor = add_flavor(q->flavors, piece);
    }
    const struct sl_flag_list list = {.items = {resources}, .count = 1};
    return sl_pieces_each(&list, ';', add_quota, q, e);
}

/* --- resource groups ----------------------------------------------------------------------------------- */

/* The flavor's resources in the group's order; NULL when it does not have just those. */
static struct sl_json *ordered(const struct sl_json *covered, const struct sl_json *resources)
{
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(covered); i++) {
        struct sl_json *resource =
            sl_json_find_by(resources, "name", sl_json_text(sl_json_at(covered, i), ""));
        if (resource == NULL || sl_json_len(covered) != sl_json_len(resources)) {
            sl_json_free(list);
            return NULL;
        }
        sl_json_append(list, sl_json_ref(resource));
    }
    return list;
}

static bool join(const struct sl_json *groups, struct sl_json *flavor)
{
    for (size_t i = 0; i < sl_json_len(groups); i++) {
        const struct sl_json *group = sl_json_at(groups, i);
        struct sl_json *resources =
            ordered(sl_json_get(group, "coveredResources"), sl_json_get(flavor, "resources"));
        if (resources != NULL) {
            sl_json_set(flavor, "resources", resources);
            sl_json_append(sl_json_get(group, "flavors"), sl_json_ref(flavor));
            return true;
        }
    }
    return false;
}

static struct sl_json *group_new(struct sl_json *flavor)
{
    struct sl_json *group = sl_json_new_map(), *covered = sl_json_new_list();
    struct sl_json *flavors = sl_json_new_list();
    const struct sl_json *resources = sl_json_get(flavor, "resources");
    for (size_t i = 0; i < sl_json_len(resources); i++) {
        sl_json_append(covered, sl_json_ref(sl_json_get(sl_json_at(resources, i), "name")));
    }
    sl_json_append(flavors, sl_json_ref(flavor));
    sl_json_set(group, "coveredResources", covered);
    sl_json_set(group, "flavors", flavors);
    return group;
}

static enum sl_code add_groups(const struct sl_make_cluster_queue *m, struct sl_json *spec,
                               struct sl_error *e)
{
    struct sl_json *flavors = sl_json_new_list(), *groups = sl_json_new_list();
    const struct {
        const struct sl_flag_list *values;
        struct quotas quotas;
    } options[] = {{&m->nominal, {"--nominal-quota", "nominalQuota", flavors, NULL, true}},
                   {&m->borrowing, {"--borrowing-limit", "borrowingLimit", flavors, NULL, false}},
                   {&m->lending, {"--lending-limit", "lendingLimit", flavors, NULL, false}}};
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; i < sizeof options / sizeof options[0] && code == SL_CODE_OK; i++) {
        struct quotas q = options[i].quotas;
        code = sl_pieces_each(options[i].values, ',', add_quotas, &q, e);
    }
    for (size_t i = 0; i < sl_json_len(flavors) && code == SL_CODE_OK; i++) {
        struct sl_json *flavor = sl_json_at(flavors, i);
        if (!join(groups, flavor)) {
            sl_json_append(groups, group_new(flavor));
        }
    }
    sl_json_free(flavors);
    sl_json_set_filled(spec, "resourceGroups", groups);
    return code;
}

/* --- the queue ----------------------------------------------------------------------------------------- */

enum sl_code sl_make_cluster_queue(const struct sl_make_cluster_queue *m, const char *name,
                                   struct sl_json **out, struct sl_error *e)
{
    SL_PRE(m != NULL && out != NULL);
    struct sl_json *queue = sl_object_new(SL_KIND_CLUSTER_QUEUE, "", name);
    struct sl_json *spec = sl_json_path_make(queue, "spec");
    struct sl_json *labels = sl_json_new_map();
    if (m->cohort != NULL) {
        sl_json_set_text(spec, "cohortName", m->cohort);
    }
    sl_json_set_text(spec, "queueingStrategy",
                     m->strategy == NULL ? "BestEffortFIFO" : m->strategy);
    sl_json_set_text(sl_json_path_make(spec, "preemption"), "reclaimWithinCohort",
                     m->reclaim == NULL ? "Never" : m->reclaim);
    sl_json_set_text(sl_json_path_make(spec, "preemption"), "withinClusterQueue",
                     m->within == NULL ? "Never" : m->within);
    enum sl_code code = sl_pieces_map(&m->selector, "--namespace-selector", labels, e);
    sl_json_set_filled(sl_json_path_make(spec, "namespaceSelector"), "matchLabels", labels);
    code = code == SL_CODE_OK ? add_groups(m, spec, e) : code;
    if (code != SL_CODE_OK) {
        sl_json_free(queue);
        return code;
    }
    *out = queue;
    return SL_CODE_OK;
}
