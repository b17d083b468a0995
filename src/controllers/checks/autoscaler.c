/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Answering ProvisioningRequests: accepted, then failed or, when its Nodes are there, provisioned; later perhaps
 * revoked or expired. One write at a time; its watch event leads to the next. */
#include "controllers/checks/autoscaler.h"
#include "base/check.h"
#include "base/clock.h"
#include "controllers/checks/autoscaler_plan.h"
#include <stdio.h>
#include <string.h>

/* --- what is known of requests -------------------------------------------------------------- */

static struct sl_json *nodes_of(const struct sl_autoscaler *a, const char *key)
{
    return sl_map_find(a->nodes, key);
}

/* When `condition` became what it is. */
static int64_t since_ms(const struct sl_autoscaler *a, const char *key,
                        const struct sl_json *request, const char *condition)
{
    union sl_map_value known;
    if (sl_map_get(a->changed_ms, key, &known)) {
        return (int64_t)known.number;
    }
    const struct sl_json *c = sl_condition_find(request, condition);
    return sl_clock_parse(sl_json_path_text(c, "lastTransitionTime", ""));
}

/* --- writing -------------------------------------------------------------------------------- */

static void write_status(struct sl_autoscaler *a, const struct sl_json *request,
                         struct sl_json *status, int64_t now_ms)
{
    struct sl_reconciler *r = &a->requests;
    struct sl_json *patch = sl_json_new_map();
    sl_json_set_text(
        sl_json_path_make(patch, "metadata"), "resourceVersion",
        sl_object_resource_version(request)); /* the list of conditions is written whole */
    sl_json_set(patch, "status", sl_json_ref(status));
    struct sl_write w = sl_reconciler_write_of(SL_VERB_PATCH_STATUS_MERGE,
                                               SL_KIND_PROVISIONING_REQUEST, request, patch);
    sl_map_put(a->changed_ms, r->current, (union sl_map_value){.number = (uint64_t)now_ms});
    sl_reconciler_write(r, &w, NULL);
    sl_json_free(patch);
}

static struct sl_json *status_new(const struct sl_json *request)
{
    const struct sl_json *old = sl_json_get(request, "status");
    return old == NULL ? sl_json_new_map() : sl_json_clone(old);
}

static void say(struct sl_autoscaler *a, const struct sl_json *request, const char *condition,
                const char *message, int64_t now_ms)
{
    struct sl_json *status = status_new(request);
    sl_condition_set(status, condition, true, condition, message, sl_object_generation(request),
                     now_ms);
    write_status(a, request, status, now_ms);
    sl_json_free(status);
}

static void accept(struct sl_autoscaler *a, const struct sl_json *request,
                   const struct sl_autoscaler_plan *plan, int64_t now_ms)
{
    char message[128];
    struct sl_json *status = status_new(request);
    int64_t generation = sl_object_generation(request);
    snprintf(message, sizeof message, "Nodes are expected in %lld ms", (long long)plan->after_ms);
    sl_condition_set(status, "Accepted", true, "Accepted", "The request is being worked on",
                     generation, now_ms);
    sl_condition_set(status, "Provisioned", false, "Waiting", message, generation, now_ms);
    write_status(a, request, status, now_ms);
    sl_json_free(status);
}

static void provisioned(struct sl_autoscaler *a, const struct sl_json *request,
                        const struct sl_autoscaler_plan *plan, int64_t now_ms)
{
    char message[128];
    struct sl_json *status = status_new(request);
    sl_json_set_text(sl_json_path_make(status, "provisioningClassDetails"), "request",
                     sl_object_uid(request));
    snprintf(message, sizeof message, "%lld nodes were added", (long long)plan->nodes);
    sl_condition_set(status, "Provisioned", true, "Provisioned", message,
                     sl_object_generation(request), now_ms);
    write_status(a, request, status, now_ms);
    sl_json_free(status);
}

static void delete_node(struct sl_autoscaler *a, const char *name)
{
    struct sl_write w = {.verb = SL_VERB_DELETE, .kind = SL_KIND_NODE, .ns = "", .name = name};
    sl_reconciler_write(&a->requests, &w, NULL);
}

static void create_node(struct sl_autoscaler *a, const struct sl_json *request, int64_t index,
                        int64_t now_ms)
{
    struct sl_error e = {0};
    struct sl_json *node = sl_autoscaler_node_new(request, index, now_ms, &e);
    if (node != NULL) {
        struct sl_write w = {.verb = SL_VERB_CREATE,
                             .kind = SL_KIND_NODE,
                             .ns = "",
                             .name = sl_object_name(node),
                             .body = node};
        sl_reconciler_write(&a->requests, &w, NULL);
    }
    sl_json_free(node);
}

/* --- one request ---------------------------------------------------------------------------- */

/* Wait until `ms` after the last answer; true when that is over. */
static bool is_time(struct sl_autoscaler *a, const struct sl_json *request, const char *condition,
                    int64_t ms, int64_t now_ms)
{
    int64_t due_ms = since_ms(a, a->requests.current, request, condition) + ms;
    if (due_ms > now_ms) {
        sl_work_add(a->requests.work, a->requests.current, due_ms);
    }
    return due_ms <= now_ms;
}

static void provide(struct sl_autoscaler *a, const struct sl_json *request,
                    const struct sl_autoscaler_plan *plan, int64_t now_ms)
{
    const struct sl_json *names = nodes_of(a, a->requests.current);
    for (int64_t i = 0; i < plan->nodes; i++) {
        char name[64];
        sl_autoscaler_node_name(request, i, name);
        if (sl_json_find_text(names, name) == sl_json_len(names)) {
            create_node(a, request, i, now_ms);
            return;
        }
    }
    provisioned(a, request, plan, now_ms);
}

static void take_back(struct sl_autoscaler *a, const struct sl_json *request,
                      const struct sl_autoscaler_plan *plan, int64_t now_ms)
{
    if (plan->expire_ms >= 0 && !sl_condition_true(request, "BookingExpired") &&
        is_time(a, request, "Provisioned", plan->expire_ms, now_ms)) {
        say(a, request, "BookingExpired", "The nodes were not used in time", now_ms);
    } else if (plan->revoke_ms >= 0 &&
               is_time(a, request, "Provisioned", plan->revoke_ms, now_ms)) {
        say(a, request, "CapacityRevoked", "The nodes are taken away", now_ms);
    }
}

/* Nodes go one by one; the deletion of each wakes its request. */
static void remove_nodes(struct sl_autoscaler *a)
{
    union sl_map_value old;
    const char *key = a->requests.current;
    const struct sl_json *names = nodes_of(a, key);
    sl_map_remove(a->changed_ms, key, NULL);
    if (sl_json_len(names) > 0) {
        delete_node(a, sl_json_text(sl_json_at(names, 0), ""));
    } else if (sl_map_remove(a->nodes, key, &old)) {
        sl_json_free(old.pointer);
    }
}

/* Nodes of an earlier request of the same name; true when one was deleted. */
static bool remove_stale(struct sl_autoscaler *a, const struct sl_json *request)
{
    const struct sl_json *names = nodes_of(a, a->requests.current);
    char prefix[64];
    sl_autoscaler_prefix(request, prefix);
    for (size_t i = 0; i < sl_json_len(names); i++) {
        const char *name = sl_json_text(sl_json_at(names, i), "");
        if (strncmp(name, prefix, strlen(prefix)) != 0) {
            delete_node(a, name);
            return true;
        }
    }
    return false;
}

static void advance(struct sl_autoscaler *a, const struct sl_json *request, int64_t now_ms)
{
    struct sl_autoscaler_plan plan;
    struct sl_error e = {0};
    if (sl_autoscaler_plan_read(request, &plan, &e) != SL_CODE_OK) {
        say(a, request, "Failed", e.text, now_ms);
    } else if (!sl_condition_true(request, "Accepted")) {
        accept(a, request, &plan, now_ms);
    } else if (sl_condition_true(request, "Provisioned")) {
        take_back(a, request, &plan, now_ms);
    } else if (is_time(a, request, "Accepted", plan.after_ms, now_ms)) {
        if (plan.fails) {
            say(a, request, "Failed", "There are no nodes of this kind now", now_ms);
        } else {
            provide(a, request, &plan, now_ms);
        }
    }
}

static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    struct sl_autoscaler *a = self;
    bool absent = false;
    struct sl_json *request =
        sl_reconciler_get(r, SL_KIND_PROVISIONING_REQUEST, key->ns, key->name, &absent);
    if (request == NULL && !absent) {
        return;
    }
    if (request == NULL || sl_condition_true(request, "CapacityRevoked")) {
        remove_nodes(a);
    } else if (!sl_object_deleting(request) && !sl_condition_true(request, "Failed") &&
               !remove_stale(a, request)) {
        advance(a, request, now_ms);
    }
    sl_json_free(request);
}

/* --- events --------------------------------------------------------------------------------- */

static void observe_node(struct sl_autoscaler *a, const struct sl_json *node, bool deleted)
{
    const char *key = sl_object_annotation(node, SL_ANNOTATION_REQUEST);
    if (key == NULL || strlen(key) >= SL_KEY_SIZE) {
        return;
    }
    struct sl_json *names = nodes_of(a, key);
    size_t at = sl_json_find_text(names, sl_object_name(node));
    if (names == NULL && !deleted) {
        names = sl_json_new_list();
        sl_map_put(a->nodes, key, (union sl_map_value){.pointer = names});
    }
    if (deleted && at < sl_json_len(names)) {
        sl_json_remove_at(names, at);
    } else if (!deleted && at == sl_json_len(names)) {
        sl_json_append(names, sl_json_new_text(sl_object_name(node)));
    } else {
        return; /* nothing new */
    }
    sl_work_add(a->requests.work, key, SL_WORK_NOW);
}

void sl_autoscaler_observe(struct sl_autoscaler *a, enum sl_kind kind, const struct sl_json *object,
                           bool deleted)
{
    if (kind == SL_KIND_NODE) {
        observe_node(a, object, deleted);
    } else if (kind == SL_KIND_PROVISIONING_REQUEST &&
               strcmp(sl_json_path_text(object, "spec.provisioningClassName", ""), SL_FAKE_CLASS) ==
                   0) {
        char key[SL_KEY_SIZE];
        sl_key_print(sl_object_namespace(object), sl_object_name(object), key);
        sl_work_add(a->requests.work, key, SL_WORK_NOW);
    }
}

void sl_autoscaler_init(struct sl_autoscaler *a, const struct sl_client *client,
                        struct sl_recorder *events)
{
    SL_PRE(a != NULL);
    *a = (struct sl_autoscaler){.nodes = sl_map_new(), .changed_ms = sl_map_new()};
    sl_reconciler_init(&a->requests, "autoscaler", client, events);
    a->requests.self = a;
    a->requests.reconcile = reconcile;
}

void sl_autoscaler_fini(struct sl_autoscaler *a)
{
    SL_PRE(a != NULL);
    sl_map_free_with(a->nodes, sl_json_free_value);
    sl_map_free(a->changed_ms);
    sl_reconciler_fini(&a->requests);
}
