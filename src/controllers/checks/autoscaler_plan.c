/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading parameters, and the Nodes that they describe. */
#include "controllers/checks/autoscaler_plan.h"
#include "base/check.h"
#include "base/mem.h"
#include "controllers/checks/autoscaler.h"
#include "controllers/work/duration.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AFTER_MS_DEFAULT 1000
#define ALLOCATABLE_DEFAULT "cpu=8,memory=32Gi"
#define PODS_DEFAULT "110"

static const char *parameter(const struct sl_json *request, const char *name)
{
    return sl_json_text(sl_json_get(sl_json_path(request, "spec.parameters"), name), "");
}

static enum sl_code read_duration(const struct sl_json *request, const char *name, int64_t *ms,
                                  struct sl_error *e)
{
    struct sl_error why = {0};
    const char *text = parameter(request, name);
    if (text[0] == '\0' || sl_duration_parse(text, ms, &why) == SL_CODE_OK) {
        return SL_CODE_OK;
    }
    return sl_error_set(e, SL_CODE_INVALID, "parameter %s: %s", name, why.text);
}

static enum sl_code read_count(const struct sl_json *request, const char *name, int64_t max,
                               int64_t *count, struct sl_error *e)
{
    const char *text = parameter(request, name);
    char *end = NULL;
    *count = strtol(text, &end, 10);
    if (*end == '\0' && *count >= 0 && *count <= max) {
        return SL_CODE_OK;
    }
    return sl_error_set(e, SL_CODE_INVALID,
                        "parameter %s: \"%.100s\" is not a number from 0 to %lld", name, text,
                        (long long)max);
}

/* "key=value,key=value" into a map. */
static enum sl_code read_pairs(const char *name, const char *text, struct sl_json *out,
                               struct sl_error *e)
{
    while (*text != '\0') {
        size_t one = strcspn(text, ",");
        size_t key = strcspn(text, "=,");
        if (key == 0 || key >= one) {
            return sl_error_set(e, SL_CODE_INVALID, "parameter %s: \"%.*s\" is not key=value", name,
                                one > 100 ? 100 : (int)one, text);
        }
        char *copy = sl_mem_text_n(text, one);
        copy[key] = '\0';
        sl_json_set_text(out, copy, copy + key + 1);
        sl_mem_free(copy);
        text += one + (text[one] == ',');
    }
    return SL_CODE_OK;
}

/* The attempt is the number at the end of the name. */
static int64_t attempt_of(const struct sl_json *request)
{
    const char *dash = strrchr(sl_object_name(request), '-');
    return dash == NULL ? 1 : strtol(dash + 1, NULL, 10);
}

static enum sl_code fill(const struct sl_json *request, struct sl_json *node, struct sl_error *e)
{
    const char *given = parameter(request, "node-allocatable");
    struct sl_json *labels = sl_json_path_make(node, "metadata.labels");
    struct sl_json *allocatable = sl_json_path_make(node, "status.allocatable");
    char owner[400];
    snprintf(owner, sizeof owner, "%s/%s", sl_object_namespace(request), sl_object_name(request));
    sl_json_set_text(sl_json_path_make(node, "metadata.annotations"), SL_ANNOTATION_REQUEST, owner);
    enum sl_code code = read_pairs("node-labels", parameter(request, "node-labels"), labels, e);
    sl_json_set_text(labels, "kubernetes.io/hostname", sl_object_name(node));
    sl_json_set_text(labels, SL_LABEL_REQUEST, sl_object_uid(request));
    sl_json_set_text(allocatable, "pods", PODS_DEFAULT);
    if (code == SL_CODE_OK) {
        code = read_pairs("node-allocatable", given[0] == '\0' ? ALLOCATABLE_DEFAULT : given,
                          allocatable, e);
    }
    sl_json_set(sl_json_path_make(node, "status"), "capacity", sl_json_clone(allocatable));
    return code;
}

void sl_autoscaler_prefix(const struct sl_json *request, char out[static 64])
{
    const char *uid = sl_object_uid(request);
    size_t len = strlen(uid);
    snprintf(out, 64, "node-%.8s-", len > 8 ? uid + len - 8 : uid);
}

void sl_autoscaler_node_name(const struct sl_json *request, int64_t index, char out[static 64])
{
    char prefix[64];
    sl_autoscaler_prefix(request, prefix);
    snprintf(out, 64, "%.20s%lld", prefix, (long long)index);
}

struct sl_json *sl_autoscaler_node_new(const struct sl_json *request, int64_t index, int64_t now_ms,
                                       struct sl_error *e)
{
    char name[64];
    sl_autoscaler_node_name(request, index, name);
    struct sl_json *node = sl_object_new(SL_KIND_NODE, "", name);
    sl_condition_set(sl_json_path_make(node, "status"), "Ready", true, "KubeletReady",
                     "provisioned by the autoscaler of standalone mode", 0, now_ms);
    /* labels and quantities that make no sense are found before anything is written */
    if (fill(request, node, e) != SL_CODE_OK ||
        sl_object_validate(SL_KIND_NODE, node, NULL, e) != SL_CODE_OK) {
        sl_json_free(node);
        return NULL;
    }
    return node;
}

enum sl_code sl_autoscaler_plan_read(const struct sl_json *request, struct sl_autoscaler_plan *out,
                                     struct sl_error *e)
{
    SL_PRE(out != NULL);
    int64_t failures = 0;
    *out =
        (struct sl_autoscaler_plan){.after_ms = AFTER_MS_DEFAULT, .revoke_ms = -1, .expire_ms = -1};
    enum sl_code code = read_duration(request, "provision-after", &out->after_ms, e);
    code = code == SL_CODE_OK ? read_duration(request, "revoke-after", &out->revoke_ms, e) : code;
    code = code == SL_CODE_OK ? read_duration(request, "expire-after", &out->expire_ms, e) : code;
    code = code == SL_CODE_OK
               ? read_count(request, "provision-nodes", SL_PROVISION_NODES_MAX, &out->nodes, e)
               : code;
    code =
        code == SL_CODE_OK ? read_count(request, "provision-fail", INT32_MAX, &failures, e) : code;
    if (code == SL_CODE_OK) {
        struct sl_json *node = sl_autoscaler_node_new(request, 0, 0, e);
        code = node == NULL ? SL_CODE_INVALID : SL_CODE_OK;
        sl_json_free(node);
    }
    out->fails = attempt_of(request) <= failures;
    return code;
}
