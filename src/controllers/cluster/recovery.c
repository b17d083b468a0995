/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Ending pods by force: first the status, so that what counts pods sees a failed one, then the deletion. */
#include "controllers/cluster/recovery.h"
#include "base/check.h"
#include "base/clock.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UNREACHABLE "node.kubernetes.io/unreachable"
#define CONDITION "KueueFailureRecovery"
#define REASON "KueueForcefullyDeleted"

/* When it should have ended by itself; INT64_MIN where that is not said. */
static int64_t deleted_ms(const struct sl_json *pod)
{
    return sl_clock_parse(sl_json_path_text(pod, "metadata.deletionTimestamp", ""));
}

static bool may_be_forced(const struct sl_json *pod)
{
    const char *value = sl_object_annotation(pod, SL_ANNOTATION_FORCE);
    return value != NULL && strcmp(value, "true") == 0 && deleted_ms(pod) != INT64_MIN;
}

static bool is_unreachable(const struct sl_node_row *node)
{
    return node != NULL && sl_json_find_by(node->taints, "key", UNREACHABLE) != NULL;
}

static bool has_ended(const struct sl_json *pod)
{
    const char *phase = sl_json_path_text(pod, "status.phase", "");
    return strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0;
}

/* How long it has had to end. */
static int64_t grace_s(const struct sl_json *pod)
{
    return sl_json_path_int(pod, "metadata.deletionGracePeriodSeconds", 0);
}

/* As Go prints a duration of whole seconds from a minute on. */
static void print_span(int64_t s, char out[static 32])
{
    if (s < 3600) {
        (void)snprintf(out, 32, "%" PRId64 "m%" PRId64 "s", s / 60, s % 60);
    } else {
        (void)snprintf(out, 32, "%" PRId64 "h%" PRId64 "m%" PRId64 "s", s / 3600, s / 60 % 60,
                       s % 60);
    }
}

static void mark_failed(struct sl_reconciler *r, struct sl_json *pod, int64_t now_ms)
{
    char span[32];
    struct sl_note note = {.kind = SL_KIND_POD, .about = pod, .warning = true, .reason = REASON};
    struct sl_json *status = sl_json_path_make(pod, "status");
    print_span(grace_s(pod) + SL_RECOVERY_WAIT_MS / 1000, span);
    (void)snprintf(note.message, sizeof note.message,
                   "Pod forcefully terminated after %s grace period due to unreachable node `%s` "
                   "(triggered by `" SL_ANNOTATION_FORCE "` annotation)",
                   span, sl_json_path_text(pod, "spec.nodeName", ""));
    if (!has_ended(pod)) {
        sl_json_set_text(status, "phase", "Failed");
    }
    sl_condition_set(status, CONDITION, true, REASON, note.message, 0, now_ms);
    struct sl_write w = sl_reconciler_write_of(SL_VERB_UPDATE_STATUS, SL_KIND_POD, pod, pod);
    sl_reconciler_write(r, &w, &note);
}

/* Nothing is left to be done where a finalizer keeps it: it has no time to end any more. */
static void delete_now(struct sl_reconciler *r, const struct sl_json *pod)
{
    if (grace_s(pod) > 0) {
        struct sl_write w = sl_reconciler_write_of(SL_VERB_DELETE, SL_KIND_POD, pod, NULL);
        w.at_once = true;
        sl_reconciler_write(r, &w, NULL);
    }
}

static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    const struct sl_recovery *recovery = self;
    bool absent;
    struct sl_json *pod = sl_reconciler_get(r, SL_KIND_POD, key->ns, key->name, &absent);
    if (pod != NULL && may_be_forced(pod)) {
        const char *node = sl_json_path_text(pod, "spec.nodeName", "");
        int64_t due_ms = deleted_ms(pod) + SL_RECOVERY_WAIT_MS;
        if (now_ms < due_ms) {
            sl_work_add(r->work, r->current, due_ms);
        } else if (!is_unreachable(sl_nodebook_find(recovery->nodes, node))) {
            /* a change of the node brings it here again */
        } else if (!sl_condition_true(pod, CONDITION)) {
            mark_failed(r, pod, now_ms);
        } else {
            delete_now(r, pod);
        }
    }
    sl_json_free(pod);
}

void sl_recovery_init(struct sl_recovery *r, const struct sl_client *client,
                      struct sl_recorder *events, const struct sl_podbook *book,
                      const struct sl_nodebook *nodes)
{
    SL_PRE(r != NULL);
    *r = (struct sl_recovery){.book = book, .nodes = nodes};
    sl_reconciler_init(&r->pods, "failure recovery", client, events);
    r->pods.self = r;
    r->pods.reconcile = reconcile;
}

void sl_recovery_fini(struct sl_recovery *r)
{
    SL_PRE(r != NULL);
    sl_reconciler_fini(&r->pods);
}

void sl_recovery_observe_pod(struct sl_recovery *r, const struct sl_json *pod)
{
    SL_PRE(r != NULL);
    if (r->on && may_be_forced(pod)) {
        char key[SL_KEY_SIZE];
        sl_key_print(sl_object_namespace(pod), sl_object_name(pod), key);
        sl_work_add(r->pods.work, key, SL_WORK_NOW);
    }
}

void sl_recovery_observe_node(struct sl_recovery *r, const char *node)
{
    SL_PRE(r != NULL);
    if (!r->on || !is_unreachable(sl_nodebook_find(r->nodes, node))) {
        return;
    }
    const struct sl_pod_row *row = sl_podbook_first(r->book, SL_PODS_OF_NODE, node);
    for (; row != NULL; row = row->next[SL_PODS_OF_NODE]) {
        if (row->deleting) {
            sl_work_add(r->pods.work, row->key, SL_WORK_NOW);
        }
    }
}
