/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Starting, watching and stopping pods. */
#include "runner/processes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "runner/files.h"
#include "runner/plan.h"
#include "runner/pod_status.h"
#include "runner/values.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define HOSTNAME "kubernetes.io/hostname"

/* --- what there is -------------------------------------------------------------------------------------- */

enum run {
    RUN_NONE,  /* nothing was planned */
    RUN_BEGUN, /* planned, and nothing is heard of it yet */
    RUN_ALIVE, /* it is supervised; there may be no state yet */
    RUN_ENDED, /* the state is final */
    RUN_LOST   /* its supervisor was killed */
};

static bool there(const struct sl_processes *p, const char *uid, const char *file)
{
    char *path = sl_pod_path_new(p->data, uid, file);
    bool is = sl_file_there(path);
    sl_mem_free(path);
    return is;
}

static struct sl_json *read_new(const struct sl_processes *p, const char *uid, const char *file)
{
    char *path = sl_pod_path_new(p->data, uid, file);
    struct sl_json *value = sl_file_read_new(path);
    sl_mem_free(path);
    return value;
}

static bool write_file(const struct sl_processes *p, const char *uid, const char *file,
                       const struct sl_json *value)
{
    char *path = sl_pod_path_new(p->data, uid, file);
    bool ok = sl_file_write(path, value);
    sl_mem_free(path);
    return ok;
}

/* The lock is looked at first: who finds it free finds the last state. */
static enum run run_of(const struct sl_processes *p, const char *uid, struct sl_json **state)
{
    *state = NULL;
    if (!there(p, uid, SL_PLAN_FILE)) {
        return RUN_NONE;
    }
    char *path = sl_pod_path_new(p->data, uid, SL_LOCK_FILE);
    bool locked = sl_file_locked(path);
    sl_mem_free(path);
    *state = read_new(p, uid, SL_STATE_FILE);
    if (strcmp(sl_json_path_text(*state, "phase", ""), "ended") == 0) {
        return RUN_ENDED;
    }
    return locked ? RUN_ALIVE : *state == NULL ? RUN_BEGUN : RUN_LOST;
}

static bool order(struct sl_processes *p, enum sl_order what, const char *uid)
{
    return sl_launcher_order(p->launcher, what, uid);
}

static bool stop(struct sl_processes *p, const char *uid, int64_t grace_s)
{
    struct sl_json *said = sl_json_new_map();
    sl_json_set_int(said, "graceSeconds", grace_s);
    bool ok = there(p, uid, SL_STOP_FILE) || write_file(p, uid, SL_STOP_FILE, said);
    sl_json_free(said);
    return ok && order(p, SL_ORDER_STOP, uid);
}

/* --- writing -------------------------------------------------------------------------------------------- */

static void write_status(struct sl_processes *p, struct sl_json *pod)
{
    struct sl_write w = sl_reconciler_write_of(SL_VERB_UPDATE_STATUS, SL_KIND_POD, pod, pod);
    sl_reconciler_write(&p->pods, &w, NULL);
}

static void write_object(struct sl_processes *p, struct sl_json *pod)
{
    struct sl_write w = sl_reconciler_write_of(SL_VERB_UPDATE, SL_KIND_POD, pod, pod);
    sl_reconciler_write(&p->pods, &w, NULL);
}

static void again(struct sl_processes *p, int64_t due_ms)
{
    sl_work_add(p->pods.work, p->pods.current, due_ms);
}

/* --- a pod that is to start ----------------------------------------------------------------------------- */

/* Its object names this machine before anything is started, and cannot go before that has ended. */
static void bind(struct sl_processes *p, struct sl_json *pod)
{
    struct sl_json *metadata = sl_json_path_make(pod, "metadata");
    struct sl_json *finalizers = sl_json_get(metadata, "finalizers");
    if (finalizers == NULL) {
        finalizers = sl_json_new_list();
        sl_json_set(metadata, "finalizers", finalizers);
    }
    if (!sl_object_has_finalizer(pod, SL_FINALIZER_JOB_TRACKING) &&
        !sl_object_has_finalizer(pod, SL_FINALIZER_PROCESSES)) {
        sl_json_append(finalizers, sl_json_new_text(SL_FINALIZER_PROCESSES));
    }
    sl_json_set_text(sl_json_path_make(pod, "spec"), "nodeName", p->node);
    write_object(p, pod);
}

static void refuse(struct sl_processes *p, struct sl_json *pod, const char *reason,
                   const char *message, int64_t now_ms)
{
    if (sl_pod_say_refused(pod, reason, message, now_ms)) {
        sl_recorder_record(p->pods.events, SL_KIND_POD, pod, true, reason, message, now_ms);
        write_status(p, pod);
    }
}

static void wait_for(struct sl_processes *p, struct sl_json *pod, const char *why, int64_t now_ms)
{
    if (sl_pod_say_waiting(pod, why, now_ms)) {
        write_status(p, pod);
    }
    again(p, now_ms + SL_LOOK_MS);
}

/* As which user it runs; false: it was refused, or waits. */
static bool find_account(struct sl_processes *p, struct sl_json *pod, struct sl_account *account,
                         int64_t now_ms)
{
    struct sl_error e = {0};
    enum sl_code code = p->as_submitter ? sl_account_of(pod, account, &e) : SL_CODE_OK;
    if (code == SL_CODE_UNAVAILABLE) {
        wait_for(p, pod, e.text, now_ms);
    } else if (code != SL_CODE_OK) {
        refuse(p, pod, "UnknownUser", e.text, now_ms);
    }
    return code == SL_CODE_OK;
}

/* The pod with the values of its variables; NULL: it was refused, or waits for what they are in. */
static struct sl_json *filled_new(struct sl_processes *p, struct sl_json *pod, int64_t now_ms)
{
    struct sl_error e = {0};
    struct sl_json *filled = sl_values_new(pod, "spec", p->pods.client, &e);
    if (e.code == SL_CODE_NOT_FOUND && sl_pod_say_waiting(pod, e.text, now_ms)) {
        sl_recorder_record(p->pods.events, SL_KIND_POD, pod, true, "CreateContainerConfigError",
                           e.text, now_ms);
        write_status(p, pod);
    }
    if (e.code == SL_CODE_NOT_FOUND) {
        again(p, now_ms + SL_LOOK_MS);
    } else if (filled == NULL) {
        refuse(p, pod, "UnsupportedSpec", e.text, now_ms);
    }
    return filled;
}

/* The plan of the pod with what it has of devices; NULL: it was refused, or waits. `filled`: with the values of its variables. */
static struct sl_json *plan_new(struct sl_processes *p, struct sl_json *pod,
                                const struct sl_json *filled, int64_t now_ms)
{
    struct sl_error e = {0};
    struct sl_account account = {.name = NULL};
    const char *uid = sl_object_uid(pod);
    if (!find_account(p, pod, &account, now_ms)) {
        return NULL;
    }
    const struct sl_json *devices = sl_devices_take(p->devices, uid, sl_json_get(pod, "spec"), &e);
    if (devices == NULL) {
        wait_for(p, pod, e.text, now_ms);
        sl_account_fini(&account);
        return NULL;
    }
    const struct sl_plan_facts facts = {.node = p->node,
                                        .environment = environ,
                                        .devices = devices,
                                        .runtime = p->runtime,
                                        .account = p->as_submitter ? &account : NULL};
    struct sl_json *plan = sl_plan_new(filled, "spec", &facts, &e);
    sl_account_fini(&account);
    if (plan == NULL) {
        sl_devices_give_back(p->devices, uid);
        refuse(p, pod, "UnsupportedSpec", e.text, now_ms);
        return NULL;
    }
    sl_json_set(plan, "devices", sl_json_clone(devices));
    return plan;
}

static void start(struct sl_processes *p, struct sl_json *pod, int64_t now_ms)
{
    struct sl_error e = {0};
    const char *uid = sl_object_uid(pod);
    struct sl_json *filled = filled_new(p, pod, now_ms);
    struct sl_json *plan = filled == NULL ? NULL : plan_new(p, pod, filled, now_ms);
    sl_json_free(filled);
    if (plan == NULL) {
        return;
    }
    if (sl_pod_dir_make(p->data, uid, p->as_submitter) && write_file(p, uid, SL_PLAN_FILE, plan)) {
        (void)order(p, SL_ORDER_START, uid);
        sl_map_put(p->ordered, uid, (union sl_map_value){.number = (uint64_t)now_ms});
    } else {
        (void)sl_error_set(&e, SL_CODE_UNAVAILABLE, "its directory: %s", strerror(errno));
        sl_recorder_record(p->pods.events, SL_KIND_POD, pod, true, "FailedStart", e.text, now_ms);
        sl_log(SL_LOG_WARN, "a pod cannot be started", "pod", p->pods.current, "error", e.text,
               NULL);
    }
    again(p, now_ms + SL_LOOK_MS);
    sl_json_free(plan);
}

/* Is this machine where it has to run? */
static bool is_here(const struct sl_processes *p, const struct sl_pod_row *row)
{
    const char *wanted = sl_json_text(sl_json_get(row->node_selector, HOSTNAME), p->node);
    const char *node = row->node[0] == '\0' ? wanted : row->node;
    return strcmp(node, p->node) == 0;
}

static void begin(struct sl_processes *p, const struct sl_pod_row *row, struct sl_json *pod,
                  int64_t now_ms)
{
    if (sl_json_len(sl_json_path(pod, "spec.schedulingGates")) > 0) {
        return;
    }
    if (row->node[0] == '\0') {
        bind(p, pod);
    } else {
        start(p, pod, now_ms);
    }
}

/* --- a pod that was started ----------------------------------------------------------------------------- */

/* When it has run for too long; INT64_MAX: never. */
static int64_t deadline_ms(const struct sl_json *pod)
{
    int64_t seconds = sl_json_path_int(pod, "spec.activeDeadlineSeconds", -1);
    int64_t start_ms = sl_clock_parse(sl_json_path_text(pod, "status.startTime", ""));
    bool limited = seconds >= 0 && seconds < INT32_MAX && start_ms != INT64_MIN;
    return limited ? start_ms + seconds * 1000 : INT64_MAX;
}

/* The launcher says when those end that it has started. A line of it that was lost is made up for, and not at once. */
static int64_t look_pause_ms(const struct sl_processes *p, const char *uid)
{
    union sl_map_value started;
    return sl_map_get(p->ordered, uid, &started) ? SL_LOOK_SELDOM_MS : SL_LOOK_MS;
}

static void keep_up(struct sl_processes *p, struct sl_json *pod, const struct sl_json *state,
                    int64_t now_ms)
{
    int64_t due_ms = deadline_ms(pod);
    if (now_ms >= due_ms) {
        (void)stop(p, sl_object_uid(pod),
                   sl_json_path_int(pod, "spec.terminationGracePeriodSeconds", 30));
    }
    if (sl_pod_say_running(pod, state, now_ms)) {
        write_status(p, pod);
    }
    int64_t next_ms = now_ms + look_pause_ms(p, sl_object_uid(pod));
    again(p, due_ms > now_ms && due_ms < next_ms ? due_ms : next_ms);
}

/* What a supervisor that was killed has left behind has to end first. */
static bool is_clean(struct sl_processes *p, const char *uid, int64_t now_ms)
{
    if (there(p, uid, SL_CLEANED_FILE)) {
        return true;
    }
    (void)order(p, SL_ORDER_CLEAN, uid);
    again(p, now_ms + SL_LOOK_MS);
    return false;
}

static void finish(struct sl_processes *p, struct sl_json *pod, enum run run,
                   const struct sl_json *state, int64_t now_ms)
{
    const char *uid = sl_object_uid(pod);
    if (run == RUN_LOST && !is_clean(p, uid, now_ms)) {
        return;
    }
    sl_devices_give_back(p->devices, uid);
    sl_map_remove(p->ordered, uid, NULL);
    bool changed = run == RUN_LOST ? sl_pod_say_lost(pod, state, now_ms)
                                   : sl_pod_say_ended(pod, state,
                                                      sl_json_path_bool(state, "stopped", false) &&
                                                          now_ms >= deadline_ms(pod),
                                                      now_ms);
    if (changed) {
        write_status(p, pod);
    }
}

/* A deleted pod goes when its processes have. What others hold it for wants to see it end. */
static void end_deleted(struct sl_processes *p, const struct sl_pod_row *row, struct sl_json *pod,
                        enum run run, const struct sl_json *state, int64_t now_ms)
{
    const char *uid = row->uid;
    if (run == RUN_ALIVE || run == RUN_BEGUN) {
        (void)stop(p, uid, sl_json_path_int(pod, "spec.terminationGracePeriodSeconds", 30));
        again(p, now_ms + SL_LOOK_MS);
        if (run == RUN_BEGUN) {
            (void)order(p, SL_ORDER_START, uid); /* it sees that it is stopped, and ends */
        }
        return;
    }
    if (run == RUN_LOST && !is_clean(p, uid, now_ms)) {
        return;
    }
    bool ended = row->phase == SL_POD_SUCCEEDED || row->phase == SL_POD_FAILED;
    size_t others = sl_json_len(sl_json_path(pod, "metadata.finalizers"));
    bool tracked = ended && sl_object_has_finalizer(pod, SL_FINALIZER_JOB_TRACKING);
    bool had = sl_object_drop_finalizer(pod, SL_FINALIZER_PROCESSES);
    if (!tracked) { /* else it counts, until its Job is over */
        had = sl_object_drop_finalizer(pod, SL_FINALIZER_JOB_TRACKING) || had;
    }
    sl_devices_give_back(p->devices, uid);
    if (!ended && row->node[0] != '\0' && (!had || others > 1)) {
        finish(p, pod, run == RUN_NONE ? RUN_LOST : run, state, now_ms);
    } else if (had) {
        write_object(p, pod);
    }
}

/* --- one look ------------------------------------------------------------------------------------------- */

static void look(struct sl_processes *p, const struct sl_pod_row *row, struct sl_json *pod,
                 int64_t now_ms)
{
    struct sl_json *state;
    bool ended = row->phase == SL_POD_SUCCEEDED || row->phase == SL_POD_FAILED;
    enum run run = run_of(p, row->uid, &state);
    if (row->deleting) {
        end_deleted(p, row, pod, run, state, now_ms);
    } else if (ended) {
        sl_devices_give_back(p->devices, row->uid);
    } else if (run == RUN_NONE) {
        begin(p, row, pod, now_ms);
    } else if (run == RUN_BEGUN) {
        (void)order(p, SL_ORDER_START, row->uid);
        again(p, now_ms + SL_LOOK_MS);
    } else if (run == RUN_ALIVE) {
        keep_up(p, pod, state, now_ms);
    } else {
        finish(p, pod, run, state, now_ms);
    }
    sl_json_free(state);
}

static bool is_durable(const struct sl_processes *p, const struct sl_json *pod)
{
    const struct sl_client *client = p->pods.client;
    return client->durable == NULL || client->durable(client->self, pod);
}

/* What was started, ended or removed cannot be taken back: it waits until what it follows from is durable. */
static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    struct sl_processes *p = self;
    bool absent;
    const struct sl_pod_row *row = sl_podbook_find(p->book, r->current);
    if (row == NULL || !is_here(p, row)) {
        return;
    }
    struct sl_json *pod = sl_reconciler_get(r, SL_KIND_POD, key->ns, key->name, &absent);
    if (pod != NULL && !is_durable(p, pod)) {
        sl_map_put(p->unsure, r->current, (union sl_map_value){.number = 0});
    } else if (pod != NULL && strcmp(sl_object_uid(pod), row->uid) == 0) {
        look(p, row, pod, now_ms);
    }
    sl_json_free(pod);
}

/* --- directories without a pod -------------------------------------------------------------------------- */

static void look_at_leftover(void *self, struct sl_reconciler *r, const struct sl_key *key,
                             int64_t now_ms)
{
    struct sl_processes *p = self;
    struct sl_json *state;
    const char *uid = key->name;
    if (sl_map_find(p->keys, uid) != NULL || !sl_pod_uid_good(uid) || !there(p, uid, "")) {
        return;
    }
    enum run run = run_of(p, uid, &state);
    if (run == RUN_ALIVE) {
        struct sl_json *plan = read_new(p, uid, SL_PLAN_FILE);
        (void)stop(p, uid, sl_json_path_int(plan, "graceSeconds", 30));
        sl_json_free(plan);
    } else if (run == RUN_LOST && !there(p, uid, SL_CLEANED_FILE)) {
        (void)order(p, SL_ORDER_CLEAN, uid);
    } else {
        sl_devices_give_back(p->devices, uid);
        sl_map_remove(p->ordered, uid, NULL);
        (void)order(p, SL_ORDER_REMOVE, uid);
    }
    sl_work_add(r->work, r->current, now_ms + SL_LOOK_MS);
    sl_json_free(state);
}

static void add_leftover(struct sl_processes *p, const char *uid)
{
    char key[SL_KEY_SIZE];
    sl_key_print("", uid, key);
    sl_work_add(p->leftovers.work, key, SL_WORK_NOW);
}

/* --- after a restart ------------------------------------------------------------------------------------ */

static void say_adopted(struct sl_processes *p, const char *uid, enum run run)
{
    const char *key = sl_map_find(p->keys, uid);
    struct sl_json *plan = read_new(p, uid, SL_PLAN_FILE);
    struct sl_buf name = {0};
    sl_buf_print(&name, "%s/%s", sl_json_path_text(plan, "namespace", "?"),
                 sl_json_path_text(plan, "name", "?"));
    if (run == RUN_ALIVE && key != NULL) {
        sl_log(SL_LOG_INFO, "a pod that ran on is taken over", "pod", name.data, "uid", uid, NULL);
    } else if (run == RUN_ALIVE) {
        sl_log(SL_LOG_WARN, "a pod that ran on is ended: its object was deleted", "pod", name.data,
               "uid", uid, NULL);
    } else if (run == RUN_LOST && !there(p, uid, SL_CLEANED_FILE)) {
        sl_log(SL_LOG_WARN, "a pod was lost: what it may have left behind is ended", "pod",
               name.data, "uid", uid, NULL);
    }
    if (run != RUN_ENDED) {
        sl_devices_keep(p->devices, uid, sl_json_get(plan, "devices"));
    }
    sl_json_free(plan);
    sl_buf_fini(&name);
}

void sl_processes_adopt(struct sl_processes *p)
{
    SL_PRE(p != NULL);
    char *path = sl_pod_path_new(p->data, "", "");
    DIR *dir = opendir(path);
    for (const struct dirent *d; dir != NULL && (d = readdir(dir)) != NULL;) {
        struct sl_json *state;
        if (!sl_pod_uid_good(d->d_name)) {
            continue;
        }
        enum run run = run_of(p, d->d_name, &state);
        say_adopted(p, d->d_name, run);
        if (sl_map_find(p->keys, d->d_name) == NULL) {
            add_leftover(p, d->d_name);
        }
        sl_json_free(state);
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    sl_mem_free(path);
}

/* --- wiring --------------------------------------------------------------------------------------------- */

void sl_processes_init(struct sl_processes *p, const struct sl_client *client,
                       struct sl_recorder *events)
{
    SL_PRE(p != NULL && p->book != NULL && p->launcher != NULL && p->devices != NULL);
    sl_reconciler_init(&p->pods, "pods as processes", client, events);
    p->pods.self = p;
    p->pods.reconcile = reconcile;
    sl_reconciler_init(&p->leftovers, "what pods left behind", client, events);
    p->leftovers.self = p;
    p->leftovers.reconcile = look_at_leftover;
    p->keys = sl_map_new();
    p->unsure = sl_map_new();
    p->leaving = sl_map_new();
    p->ordered = p->ordered == NULL ? sl_map_new() : p->ordered;
}

void sl_processes_fini(struct sl_processes *p)
{
    SL_PRE(p != NULL);
    sl_reconciler_fini(&p->pods);
    sl_reconciler_fini(&p->leftovers);
    sl_map_free_with(p->keys, sl_mem_free);
    sl_map_free(p->unsure);
    sl_map_free(p->leaving);
    sl_map_free(p->ordered);
}

static void forget(struct sl_processes *p, const char *uid)
{
    union sl_map_value old;
    if (sl_map_remove(p->keys, uid, &old)) {
        sl_mem_free(old.pointer);
    }
    add_leftover(p, uid);
}

bool sl_processes_committed(struct sl_processes *p)
{
    SL_PRE(p != NULL);
    bool any = sl_map_count(p->unsure) + sl_map_count(p->leaving) > 0;
    for (struct sl_map_item e = {0}; sl_map_each(p->unsure, &e);) {
        sl_work_add(p->pods.work, e.key, SL_WORK_NOW);
        sl_map_remove(p->unsure, e.key, NULL);
    }
    for (struct sl_map_item e = {0}; sl_map_each(p->leaving, &e);) {
        forget(p, e.key);
        sl_map_remove(p->leaving, e.key, NULL);
    }
    return any;
}

void sl_processes_observe(struct sl_processes *p, const struct sl_json *pod, bool deleted)
{
    SL_PRE(p != NULL);
    char key[SL_KEY_SIZE];
    const char *uid = sl_object_uid(pod);
    sl_key_print(sl_object_namespace(pod), sl_object_name(pod), key);
    if (deleted && is_durable(p, pod)) {
        forget(p, uid);
    } else if (deleted) {
        sl_map_put(p->leaving, uid, (union sl_map_value){.number = 0});
    }
    if (deleted) {
        return;
    }
    if (sl_map_find(p->keys, uid) == NULL) {
        sl_map_put(p->keys, uid, (union sl_map_value){.pointer = sl_mem_text(key)});
    }
    sl_work_add(p->pods.work, key, SL_WORK_NOW);
}

void sl_processes_look(struct sl_processes *p, const char *uid)
{
    SL_PRE(p != NULL);
    const char *key = sl_map_find(p->keys, uid);
    if (key != NULL) {
        sl_work_add(p->pods.work, key, SL_WORK_NOW);
    } else if (sl_pod_uid_good(uid)) {
        add_leftover(p, uid);
    }
}
