/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which jobs are managed: what the configuration says of frameworks, namespaces, queue names and labels. */
#include "base/mem.h"
#include "base/check.h"
#include "cli/config/config_table.h"
#include "controllers/adapters/adapter.h"
#include "controllers/jobs/job.h"
#include "controllers/jobs/podjob.h"
#include <stdio.h>
#include <string.h>

#define MANAGED "managedJobsNamespaceSelector"

bool sl_config_is_adapter(const char *framework)
{
    bool yes = false;
    for (size_t i = 0; i < sl_adapters_count() && !yes; i++) {
        yes = strcmp(framework, sl_adapters_at(i)->name) == 0;
    }
    return yes;
}

static bool is_driven(const char *framework)
{
    return strcmp(framework, sl_job_framework.name) == 0 ||
           strcmp(framework, sl_pod_framework.name) == 0 || sl_config_is_adapter(framework);
}

void sl_config_check_frameworks(struct sl_config *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *list = sl_json_path(c->document, "integrations.frameworks");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const char *name = sl_json_text(sl_json_at(list, i), "");
        if (name[0] != '\0' && !is_driven(name)) {
            char field[64];
            (void)snprintf(field, sizeof field, "integrations.frameworks[%zu]", i);
            sl_config_warn(c, field,
                           "\"%.64s\" is neither built in nor described by a file in --adapters",
                           name);
        }
    }
}

/* Kueue's own: everywhere but where the cluster and the queueing itself run. */
static struct sl_selector *default_namespaces(const struct sl_config *c)
{
    char text[320];
    (void)snprintf(text, sizeof text, "kubernetes.io/metadata.name notin (kube-system,%.253s)",
                   sl_json_path_text(c->document, "namespace", "kueue-system"));
    return sl_selector_parse_labels(text, NULL);
}

static const char **texts_of(const struct sl_json *list, size_t *count)
{
    const char **out = sl_mem_new(sl_json_len(list) + 1, sizeof *out);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const char *text = sl_json_text(sl_json_at(list, i), "");
        if (text[0] != '\0') {
            out[(*count)++] = text;
        }
    }
    return out;
}

void sl_config_fill_jobs(struct sl_config *c)
{
    SL_PRE(c != NULL);
    struct sl_job_rules *r = &c->jobs;
    const struct sl_json *selector = sl_json_get(c->document, MANAGED);
    if (selector != NULL) {
        c->managed_namespaces = sl_selector_from_json(selector, NULL);
    } else if (c->cluster.on) {
        c->managed_namespaces = default_namespaces(c);
    }
    r->namespaces = c->managed_namespaces;
    r->manage_all = sl_json_path_bool(c->document, "manageJobsWithoutQueueName", false);
    c->frameworks =
        texts_of(sl_json_path(c->document, "integrations.frameworks"), &r->framework_count);
    r->frameworks = c->frameworks;
    c->label_keys =
        texts_of(sl_json_path(c->document, "integrations.labelKeysToCopy"), &r->label_key_count);
    r->label_keys = c->label_keys;
}
