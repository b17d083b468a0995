/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Wiring of what runs pods as processes. */
#include "runner/runner.h"
#include "runner/account.h"
#include "runner/files.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void log_begin(const struct sl_running *r)
{
    if (r->runtime.path != NULL) {
        sl_log(SL_LOG_INFO, "pods are containers here", "node", r->node, "runtime", r->runtime.path,
               "as", r->as_submitter ? "who has submitted them" : "the user of their image", NULL);
        return; /* their limits are the runtime's */
    }
    if (r->as_submitter) {
        sl_log(SL_LOG_INFO, "pods are processes here, run as who has submitted them", "node",
               r->node, NULL);
    } else {
        sl_log(SL_LOG_INFO, "pods are processes of this machine, run as the user of this process",
               "node", r->node, "uid", sl_log_number(getuid()), NULL);
    }
    if (r->launcher.why_unlimited[0] != '\0') {
        sl_log(SL_LOG_WARN, "limits of pods are not enforced", "why", r->launcher.why_unlimited,
               NULL);
    }
}

enum sl_code sl_running_begin(struct sl_running *r, const struct sl_running_options *o,
                              struct sl_error *e)
{
    char hostname[256] = "";
    *r = (struct sl_running){.data = o->data, .as_submitter = o->as_submitter};
    enum sl_code code = sl_devices_init(&r->devices, o->devices, e);
    if (code == SL_CODE_OK && o->containers) {
        code = sl_runtime_find(o->runtime, getenv("PATH"), &r->runtime, e);
    }
    if (code == SL_CODE_OK && o->as_submitter) {
        (void)umask(077);
        code = sl_account_open_data(o->data, e);
    }
    if (code != SL_CODE_OK) {
        return code;
    }
    (void)gethostname(hostname, sizeof hostname - 1);
    sl_machine_name(hostname, r->node);
    code = sl_launcher_begin(o->data, &r->launcher, e);
    if (code == SL_CODE_OK) {
        log_begin(r);
    }
    return code;
}

/* --- the node ------------------------------------------------------------------------------------------- */

static void look_at_machine(void *self, struct sl_reconciler *r, const struct sl_key *key,
                            int64_t now_ms)
{
    struct sl_running *all = self;
    bool absent;
    struct sl_json *known = sl_reconciler_get(r, SL_KIND_NODE, "", key->name, &absent);
    struct sl_json *node = sl_machine_node_new(all->node, all->devices.counts, now_ms);
    struct sl_write w = {
        .verb = SL_VERB_CREATE, .kind = SL_KIND_NODE, .ns = "", .name = key->name, .body = node};
    if (known == NULL && absent) {
        sl_reconciler_write(r, &w, NULL);
    } else if (known != NULL) {
        const struct sl_json *had = sl_json_path(known, "status.capacity");
        struct sl_json *has = sl_json_path(node, "status");
        if (!sl_json_equal(had, sl_json_get(has, "capacity")) ||
            !sl_condition_true(known, "Ready")) {
            sl_json_set(known, "status", sl_json_ref(has));
            w = sl_reconciler_write_of(SL_VERB_UPDATE_STATUS, SL_KIND_NODE, known, known);
            sl_reconciler_write(r, &w, NULL);
        }
    }
    sl_json_free(node);
    sl_json_free(known);
}

/* --- what happens --------------------------------------------------------------------------------------- */

static void on_pod(struct sl_running *r, struct sl_json *pod, bool deleted)
{
    sl_batch_observe_pod(&r->batch, pod);
    if (deleted) {
        sl_podbook_forget(r->book, pod);
    } else {
        sl_podbook_observe(r->book, pod);
    }
    sl_processes_observe(&r->processes, pod, deleted);
}

static void on_watch(void *context, enum sl_watch_type type, enum sl_kind kind,
                     struct sl_json *object)
{
    struct sl_running *r = context;
    bool deleted = type == SL_WATCH_DELETED;
    if (type == SL_WATCH_SYNCED) {
        if (kind == SL_KIND_POD) {
            sl_processes_adopt(&r->processes);
        }
    } else if (type != SL_WATCH_UNREADABLE && kind == SL_KIND_POD) {
        on_pod(r, object, deleted);
    } else if (type != SL_WATCH_UNREADABLE) {
        sl_batch_observe_job(&r->batch, object);
    }
    r->wake(r->context);
}

void sl_running_hear(struct sl_running *r)
{
    SL_PRE(r != NULL);
    char text[64 * (SL_POD_UID_SIZE + 1)];
    static char rest[SL_POD_UID_SIZE + 1]; /* of a line that came in two pieces */
    static size_t rest_length;
    ssize_t n;
    while ((n = read(r->launcher.news, text, sizeof text)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            if (text[i] == '\n') {
                rest[rest_length] = '\0';
                rest_length = 0;
                sl_processes_look(&r->processes, rest);
            } else if (rest_length < sizeof rest - 1) {
                rest[rest_length++] = text[i];
            }
        }
    }
    r->wake(r->context);
}

/* --- opening and closing -------------------------------------------------------------------------------- */

static const struct sl_runtime *runtime_of(const struct sl_running *r)
{
    return r->runtime.path == NULL ? NULL : &r->runtime;
}

void sl_running_open(struct sl_running *r, const struct sl_client *client,
                     struct sl_recorder *events, void (*wake)(void *context), void *context)
{
    SL_PRE(r != NULL && wake != NULL);
    char key[SL_KEY_SIZE];
    r->client = *client;
    r->wake = wake;
    r->context = context;
    r->book = sl_podbook_new();
    r->logs = (struct sl_logs){.client = &r->client, .data = r->data};
    r->batch = (struct sl_batch){.book = r->book,
                                 .node = r->node,
                                 .runtime = runtime_of(r),
                                 .as_submitter = r->as_submitter};
    sl_batch_init(&r->batch, &r->client, events);
    r->processes = (struct sl_processes){.book = r->book,
                                         .launcher = &r->launcher,
                                         .data = r->data,
                                         .node = r->node,
                                         .runtime = runtime_of(r),
                                         .as_submitter = r->as_submitter,
                                         .devices = &r->devices,
                                         .ordered = r->ordered};
    r->ordered = NULL;
    sl_processes_init(&r->processes, &r->client, events);
    sl_reconciler_init(&r->machine, "this machine", &r->client, events);
    r->machine.self = r;
    r->machine.reconcile = look_at_machine;
    sl_key_print("", r->node, key);
    sl_work_add(r->machine.work, key, SL_WORK_NOW);
    struct sl_reconciler *const parts[] = {&r->machine, &r->batch.jobs, &r->processes.pods,
                                           &r->processes.leftovers};
    memcpy(r->parts, parts, sizeof r->parts);
}

void sl_running_watch(struct sl_running *r)
{
    SL_PRE(r != NULL);
    r->client.watch(r->client.self, SL_KIND_POD, on_watch, r);
    r->client.watch(r->client.self, SL_KIND_JOB, on_watch, r);
}

bool sl_running_committed(struct sl_running *r)
{
    SL_PRE(r != NULL);
    return r->book != NULL && sl_processes_committed(&r->processes);
}

void sl_running_close(struct sl_running *r)
{
    SL_PRE(r != NULL);
    if (r->book == NULL) {
        return;
    }
    r->ordered = r->processes.ordered;
    r->processes.ordered = NULL;
    sl_processes_fini(&r->processes);
    sl_batch_fini(&r->batch);
    sl_reconciler_fini(&r->machine);
    sl_podbook_free(r->book);
    r->book = NULL;
}

void sl_running_end(struct sl_running *r)
{
    SL_PRE(r != NULL);
    sl_running_close(r);
    sl_map_free(r->ordered);
    if (r->devices.counts != NULL) {
        sl_devices_fini(&r->devices);
    }
    sl_launcher_end(&r->launcher);
    sl_runtime_fini(&r->runtime);
}
