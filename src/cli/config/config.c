/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kueue's configuration file: reading it, and what is found wrong with it. */
#include "cli/config/config.h"
#include "base/check.h"
#include "base/mem.h"
#include "cli/config/config_table.h"
#include "cli/common/manifest.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static bool see_document(void *context, const struct sl_document *d)
{
    struct sl_config *c = context;
    if (d->object == NULL) {
        sl_config_refuse(c, "", "%s", d->error.text);
    } else if (sl_json_type(d->object) != SL_JSON_MAP) {
        sl_config_refuse(c, "", "line %u: not a map with apiVersion and kind", d->line);
    } else if (c->document != NULL) {
        sl_config_refuse(c, "", "line %u: a second document; one Configuration is all", d->line);
    } else {
        c->document = sl_json_clone(d->object);
    }
    return true;
}

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void read_document(struct sl_config *c, const char *file)
{
    struct sl_error e = {0};
    if (is_directory(file)) {
        sl_config_refuse(c, "", "%s", strerror(EISDIR));
        return;
    }
    if (sl_manifest_read(file, see_document, c, &e) != SL_CODE_OK) {
        /* It puts the file's name in front, as the printer of the others does. */
        size_t len = strlen(file);
        bool named = strncmp(e.text, file, len) == 0 && e.text[len] == ':';
        sl_config_refuse(c, "", "%s", named ? e.text + len + 2 : e.text);
    } else if (c->document == NULL && sl_json_len(c->errors) == 0) {
        sl_config_refuse(c, "", "the file is empty");
    }
}

struct sl_config *sl_config_load(const char *file, const char *gates, bool cluster)
{
    struct sl_config *c = sl_mem_new(1, sizeof *c);
    c->cluster =
        (struct sl_config_cluster){.on = cluster,
                                   .lease_ms = 15000,
                                   .renew_ms = 10000,
                                   .retry_ms = 2000,
                                   .lease_name = "c1f6bfd2.kueue.x-k8s.io",
                                   .webhook_port = 9443,
                                   .webhook_service = "sluice-webhook-service",
                                   .webhook_secret = "sluice-webhook-server-cert",
                                   .webhook_cert_dir = "/tmp/k8s-webhook-server/serving-certs",
                                   .readiness_name = "readyz",
                                   .liveness_name = "healthz"};
    c->settings = sl_engine_settings_default();
    sl_config_preset_gates(c);
    c->errors = sl_json_new_list();
    c->warnings = sl_json_new_list();
    if (file != NULL) {
        read_document(c, file);
    }
    sl_config_read_gates(c, gates);
    if (c->document != NULL) {
        c->old = sl_config_is_old(c->document);
        sl_config_read_fields(c);
        sl_config_renew(c);
        sl_config_check_rules(c);
        sl_config_check_parts(c);
    }
    if (sl_json_len(c->errors) == 0) {
        sl_config_fill(c);
    }
    return c;
}

void sl_config_free(struct sl_config *c)
{
    SL_PRE(c != NULL);
    sl_json_free(c->document);
    sl_json_free(c->gates);
    sl_json_free(c->errors);
    sl_json_free(c->warnings);
    for (size_t i = 0; i < c->kept_count; i++) {
        sl_mem_free(c->kept[i]);
    }
    sl_mem_free(c->kept);
    sl_selector_free(c->managed_namespaces);
    sl_json_free(c->managed);
    sl_selector_free(c->metered_queues);
    sl_mem_free(c);
}
