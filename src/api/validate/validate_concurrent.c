/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of concurrentAdmissionPolicy, which counts with the feature gate ConcurrentAdmission (controllers/variants). With
 * the gate and without, what Kueue could not use is refused as Kueue refuses it, so that no object is kept here that cannot go back there. */
#include <string.h>

#include "api/validate/validate.h"
#include "base/check.h"

#define FLAVORS_MAX 16u

static void check_groups(struct sl_check *c, const struct sl_json *groups)
{
    const struct sl_json *flavors = sl_json_get(sl_json_at(groups, 0), "flavors");
    bool one = sl_json_len(groups) == 1;
    size_t up = sl_check_down(c, one ? "spec.resourceGroups[0].flavors" : "spec.resourceGroups");
    if (!one) {
        sl_check_invalid(c, groups,
                         "must have exactly one ResourceGroup when "
                         "ConcurrentAdmissionPolicy is defined");
    } else if (sl_json_len(flavors) > FLAVORS_MAX) {
        sl_check_invalid(c, flavors,
                         "cannot have more than %u resource flavors in the "
                         "ResourceGroup when ConcurrentAdmissionPolicy is defined",
                         FLAVORS_MAX);
    }
    sl_check_up(c, up);
}

static bool has_flavor(const struct sl_json *groups, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < sl_json_len(groups) && !found; i++) {
        found =
            sl_json_find_by(sl_json_get(sl_json_at(groups, i), "flavors"), "name", name) != NULL;
    }
    return found;
}

static void check_constraints(struct sl_check *c, const struct sl_json *migration,
                              const struct sl_json *groups)
{
    const struct sl_json *constraints = sl_json_get(migration, "constraints");
    const struct sl_json *last = sl_json_get(constraints, "lastAcceptableFlavorName");
    const char *mode = sl_json_path_text(migration, "mode", "");
    size_t up = sl_check_down(c, "spec.concurrentAdmissionPolicy.migration.constraints");
    if (constraints != NULL && mode[0] != '\0' && strcmp(mode, "TryPreferredFlavors") != 0) {
        sl_check_forbidden(c, "may only be set when migration.mode is \"TryPreferredFlavors\"");
    } else if (last != NULL && !has_flavor(groups, sl_json_text(last, ""))) {
        size_t at = sl_check_down(c, ".lastAcceptableFlavorName");
        sl_check_invalid(c, last, "must be one of the flavors defined in the ClusterQueue");
        sl_check_up(c, at);
    }
    sl_check_up(c, up);
}

void sl_check_concurrent_admission(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *policy = sl_json_path(c->object, "spec.concurrentAdmissionPolicy");
    const struct sl_json *groups = sl_json_path(c->object, "spec.resourceGroups");
    const struct sl_json *strategy = sl_json_path(c->object, "spec.queueingStrategy");
    if (policy == NULL) {
        return;
    }
    check_groups(c, groups);
    check_constraints(c, sl_json_get(policy, "migration"), groups);
    size_t up = sl_check_down(c, "spec.queueingStrategy");
    if (strcmp(sl_json_text(strategy, ""), "StrictFIFO") == 0) {
        sl_check_invalid(c, strategy,
                         "StrictFIFO queueing strategy cannot be used when "
                         "ConcurrentAdmissionPolicy is defined");
    }
    sl_check_up(c, up);
}
