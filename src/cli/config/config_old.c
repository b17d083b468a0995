/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Configuration v1beta1: which fields are in it, and what they mean in v1beta2, with Kueue's defaults for v1beta1. There,
 * what may be off is off unless it says `enable: true`. */
#include <string.h>

#include "base/check.h"
#include "cli/config/config_table.h"

#define READY_MS_DEFAULT (5 * 60 * 1000)

static const char *const only_old[] = {"waitForPodsReady.enable", "fairSharing.enable",
                                       "queueVisibility", "integrations.podOptions", NULL};
static const char *const only_new[] = {"visibilityServer",
                                       "metrics.customLabels[].sourceKind",
                                       "metrics.customLabels[].trackedValues",
                                       "multiKueue.clusterProfile",
                                       "multiKueue.incrementalDispatcherConfig",
                                       "resources.quotaCheckStrategy",
                                       "resources.deviceClassMappings[].sources",
                                       NULL};

static bool is_below(const char *const *paths, const char *pattern)
{
    for (; *paths != NULL; paths++) {
        size_t len = strlen(*paths);
        if (strncmp(*paths, pattern, len) == 0 && strchr(".[{", pattern[len]) != NULL) {
            return true;
        }
    }
    return false;
}

const char *sl_config_other_version(const struct sl_config *c, const char *pattern)
{
    SL_PRE(c != NULL);
    if (c->old) {
        return is_below(only_new, pattern) ? "v1beta2" : NULL;
    }
    return is_below(only_old, pattern) ? "v1beta1" : NULL;
}

bool sl_config_may_lack(const struct sl_config *c, const char *path)
{
    return c->old && strcmp(path, "fairSharing.preemptionStrategies") == 0;
}

bool sl_config_is_old(const struct sl_json *document)
{
    return strcmp(sl_json_path_text(document, "apiVersion", ""), "config.kueue.x-k8s.io/v1beta1") ==
           0;
}

static void renew_fair_sharing(struct sl_config *c)
{
    struct sl_json *fair = sl_json_get(c->document, "fairSharing");
    if (!sl_json_path_bool(fair, "enable", false)) {
        sl_json_remove(c->document, "fairSharing");
    } else if (sl_json_len(sl_json_get(fair, "preemptionStrategies")) == 0) {
        struct sl_json *both = sl_json_new_list();
        sl_json_append(both, sl_json_new_text("LessThanOrEqualToFinalShare"));
        sl_json_append(both, sl_json_new_text("LessThanInitialShare"));
        sl_json_set(fair, "preemptionStrategies", both);
    }
}

static void renew_readiness(struct sl_config *c)
{
    struct sl_json *wait = sl_json_get(c->document, "waitForPodsReady");
    struct sl_engine_settings *s = &c->settings;
    if (!sl_json_path_bool(wait, "enable", false)) {
        sl_json_remove(c->document, "waitForPodsReady");
        s->wait_for_pods_ready = false;
        return;
    }
    if (sl_json_get(wait, "timeout") == NULL) {
        s->ready_ms_max = READY_MS_DEFAULT;
    }
    if (sl_json_get(wait, "blockAdmission") == NULL) {
        s->policy.block_until_ready = true;
    }
}

void sl_config_renew(struct sl_config *c)
{
    SL_PRE(c != NULL);
    if (c->old && sl_json_len(c->errors) == 0) {
        renew_fair_sharing(c);
        renew_readiness(c);
    }
}
