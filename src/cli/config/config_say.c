/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What of a configuration is in force: each fact is made once, for the log and for people. */
#include "base/check.h"
#include "base/log.h"
#include "cli/config/config_table.h"

enum fact { GATES, FAIR_SHARING, ADMISSION_FAIR_SHARING, PODS_READY, JOBS, FACTS };
static const struct {
    const char *key, *title;
} names[FACTS] = {
    [GATES] = {"gates", "feature gates that are not as in Kueue by default"},
    [FAIR_SHARING] = {"fair_sharing", "fair sharing"},
    [ADMISSION_FAIR_SHARING] = {"admission_fair_sharing", "admission fair sharing"},
    [PODS_READY] = {"wait_for_pods_ready", "waitForPodsReady"},
    [JOBS] = {"jobs", "jobs"},
};

static void say_fair_sharing(const struct sl_config *c, struct sl_buf *out)
{
    static const char *const rules[] = {[SL_SHARE_FINAL] = "LessThanOrEqualToFinalShare",
                                        [SL_SHARE_INITIAL] = "LessThanInitialShare"};
    const struct sl_settings *s = &c->settings.policy;
    for (uint32_t i = 0; s->fair_sharing && i < s->share_rule_count; i++) {
        sl_buf_print(out, "%s%s", i == 0 ? "on, preemption by " : ", then ",
                     rules[s->share_rules[i]]);
    }
}

static void say_admission_fair_sharing(const struct sl_config *c, struct sl_buf *out)
{
    const struct sl_engine_settings *s = &c->settings;
    if (s->policy.admission_fair_sharing) {
        sl_buf_print(out, "on, usageHalfLifeTime %s, usageSamplingInterval %lld s",
                     sl_json_path_text(c->document, "admissionFairSharing.usageHalfLifeTime", "0s"),
                     (long long)(s->usage_sampling_ms / 1000));
    }
}

static void say_pods_ready(const struct sl_config *c, struct sl_buf *out)
{
    const struct sl_engine_settings *s = &c->settings;
    if (s->wait_for_pods_ready) {
        sl_buf_print(out, "on, timeout %lld s%s", (long long)(s->ready_ms_max / 1000),
                     s->policy.block_until_ready ? ", admission is blocked meanwhile" : "");
    }
}

static void say_jobs(const struct sl_config *c, struct sl_buf *out)
{
    sl_buf_text(out, c->jobs.manage_all ? "also those without a queue name" : "with a queue name");
    for (size_t i = 0; i < c->jobs.framework_count; i++) {
        sl_buf_print(out, "%s%s", i == 0 ? ", of " : " ", c->jobs.frameworks[i]);
    }
}

static void say_all(const struct sl_config *c, struct sl_buf facts[static FACTS])
{
    sl_config_print_gates(c, &facts[GATES]);
    say_fair_sharing(c, &facts[FAIR_SHARING]);
    say_admission_fair_sharing(c, &facts[ADMISSION_FAIR_SHARING]);
    say_pods_ready(c, &facts[PODS_READY]);
    say_jobs(c, &facts[JOBS]);
    for (int i = 0; i < FACTS; i++) {
        if (facts[i].len == 0) {
            sl_buf_text(&facts[i], i == GATES ? "none" : "off");
        }
    }
}

static void forget(struct sl_buf facts[static FACTS])
{
    for (int i = 0; i < FACTS; i++) {
        sl_buf_fini(&facts[i]);
    }
}

void sl_config_log(const struct sl_config *c, const char *file)
{
    SL_PRE(c != NULL);
    struct sl_buf facts[FACTS] = {0};
    say_all(c, facts);
    sl_log(SL_LOG_INFO, "configured", "config", file == NULL ? "none, Kueue's defaults" : file,
           "mode", c->cluster.on ? "cluster" : "standalone", names[GATES].key, facts[GATES].data,
           names[FAIR_SHARING].key, facts[FAIR_SHARING].data, names[ADMISSION_FAIR_SHARING].key,
           facts[ADMISSION_FAIR_SHARING].data, names[PODS_READY].key, facts[PODS_READY].data,
           names[JOBS].key, facts[JOBS].data, NULL);
    forget(facts);
}

void sl_config_print(const struct sl_config *c, struct sl_buf *out)
{
    SL_PRE(c != NULL);
    struct sl_buf facts[FACTS] = {0};
    say_all(c, facts);
    for (int i = 0; i < FACTS; i++) {
        sl_buf_print(out, "  %s: %s\n", names[i].title, facts[i].data);
    }
    forget(facts);
}
