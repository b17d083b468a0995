/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Writing the condition Active of AdmissionChecks. */
#include "controllers/checks/admission_checks.h"
#include "base/check.h"
#include "controllers/work/provisioning_request.h"
#include <string.h>

#define GROUP "kueue.x-k8s.io"
#define KIND "ProvisioningRequestConfig"
#define ELSEWHERE "kueue.x-k8s.io/multikueue"

bool sl_admission_check_provisions(const struct sl_json *check)
{
    return strcmp(sl_json_path_text(check, "spec.controllerName", ""),
                  SL_CHECK_CONTROLLER_PROVISIONING) == 0;
}

/* No controller here answers such a check: what is admitted under it would wait for ever. */
static bool runs_elsewhere(const struct sl_json *check)
{
    return strcmp(sl_json_path_text(check, "spec.controllerName", ""), ELSEWHERE) == 0;
}

static bool is_judged(const struct sl_json *check)
{
    return sl_admission_check_provisions(check) || runs_elsewhere(check);
}

static enum sl_code read_reference(const struct sl_json *check, const char **name,
                                   struct sl_error *e)
{
    const struct sl_json *reference = sl_json_path(check, "spec.parameters");
    const char *group = sl_json_path_text(reference, "apiGroup", "");
    const char *kind = sl_json_path_text(reference, "kind", "");
    *name = sl_json_path_text(reference, "name", "");
    if (reference == NULL) {
        return sl_error_set(e, SL_CODE_INVALID, "missing parameters reference");
    }
    if (strcmp(group, GROUP) != 0) {
        return sl_error_set(e, SL_CODE_INVALID,
                            "wrong group \"%.200s\", expecting \"%s\": bad parameters reference",
                            group, GROUP);
    }
    if (strcmp(kind, KIND) != 0) {
        return sl_error_set(e, SL_CODE_INVALID,
                            "wrong kind \"%.200s\", expecting \"%s\": bad parameters reference",
                            kind, KIND);
    }
    return SL_CODE_OK;
}

struct sl_json *sl_admission_check_config(struct sl_reconciler *r, const struct sl_json *check,
                                          struct sl_error *problem)
{
    const char *name;
    bool absent;
    *problem = (struct sl_error){.code = SL_CODE_OK};
    if (read_reference(check, &name, problem) != SL_CODE_OK) {
        return NULL;
    }
    struct sl_json *config =
        sl_reconciler_get(r, SL_KIND_PROVISIONING_REQUEST_CONFIG, "", name, &absent);
    if (config == NULL && absent) {
        (void)sl_error_set(problem, SL_CODE_NOT_FOUND,
                           "provisioningrequestconfigs.kueue.x-k8s.io \"%.253s\" not found", name);
    }
    return config;
}

static void write_active(struct sl_reconciler *r, const struct sl_json *check, const char *why,
                         const struct sl_error *problem, int64_t now_ms)
{
    bool active = problem->code == SL_CODE_OK;
    const struct sl_json *old = sl_json_get(check, "status");
    struct sl_json *patch = sl_json_new_map();
    struct sl_json *status = old == NULL ? sl_json_new_map() : sl_json_clone(old);
    sl_json_set_text(
        sl_json_path_make(patch, "metadata"), "resourceVersion",
        sl_object_resource_version(check)); /* the list of conditions is written whole */
    sl_json_set(patch, "status", status);
    if (sl_condition_set(status, "Active", active, active ? "Active" : why,
                         active ? "The admission check is active" : problem->text,
                         sl_object_generation(check), now_ms)) {
        struct sl_write w = {.verb = SL_VERB_PATCH_STATUS_MERGE,
                             .kind = SL_KIND_ADMISSION_CHECK,
                             .ns = "",
                             .name = sl_object_name(check),
                             .body = patch,
                             .uid = sl_object_uid(check)};
        sl_reconciler_write(r, &w, NULL);
    }
    sl_json_free(patch);
}

static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    bool absent;
    struct sl_json *check = sl_reconciler_get(r, SL_KIND_ADMISSION_CHECK, "", key->name, &absent);
    (void)self;
    if (check != NULL && sl_admission_check_provisions(check)) {
        struct sl_error problem;
        struct sl_json *config = sl_admission_check_config(r, check, &problem);
        if (config != NULL || problem.code != SL_CODE_OK) {
            write_active(r, check, "BadParametersRef", &problem, now_ms);
        }
        sl_json_free(config);
    } else if (check != NULL && runs_elsewhere(check)) {
        struct sl_error problem;
        (void)sl_error_set(&problem, SL_CODE_INVALID,
                           "No clusters can be used: Sluice does not support MultiKueue; leave "
                           "this check out of your ClusterQueues");
        write_active(r, check, "NoUsableClusters", &problem, now_ms);
    }
    sl_json_free(check);
}

void sl_admission_checks_init(struct sl_admission_checks *a, const struct sl_client *client,
                              struct sl_recorder *events)
{
    SL_PRE(a != NULL);
    *a = (struct sl_admission_checks){0};
    sl_reconciler_init(&a->checks, "admission check", client, events);
    a->checks.self = a;
    a->checks.reconcile = reconcile;
}

void sl_admission_checks_fini(struct sl_admission_checks *a)
{
    SL_PRE(a != NULL);
    sl_reconciler_fini(&a->checks);
}

static void add(void *context, struct sl_json *check)
{
    struct sl_admission_checks *a = context;
    char key[SL_KEY_SIZE];
    if (is_judged(check)) {
        sl_key_print("", sl_object_name(check), key);
        sl_work_add(a->checks.work, key, SL_WORK_NOW);
    }
}

/* There are few checks, and configs hardly ever change. */
void sl_admission_checks_observe(struct sl_admission_checks *a, enum sl_kind kind,
                                 const struct sl_json *object, bool deleted)
{
    SL_PRE(a != NULL);
    struct sl_error e;
    const struct sl_client *client = a->checks.client;
    if (kind == SL_KIND_PROVISIONING_REQUEST_CONFIG) {
        (void)client->list(client->self, SL_KIND_ADMISSION_CHECK, "", add, a, &e);
    } else if (kind == SL_KIND_ADMISSION_CHECK && !deleted && is_judged(object)) {
        char key[SL_KEY_SIZE];
        sl_key_print("", sl_object_name(object), key);
        sl_work_add(a->checks.work, key, SL_WORK_NOW);
    }
}
