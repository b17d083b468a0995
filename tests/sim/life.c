/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The process that is simulated: wired as the daemon is (cli/daemon/daemon.c), its loop's turns one by one, the virtual
 * clock moved to what is due next, and its ends. */
#include "disk.h"
#include "base/clock.h"
#include "base/mem.h"
#include "controllers/jobs/podjob.h"
#include "elastic.h"
#include "pods.h"
#include "replicas.h"
#include <stdio.h>
#include <string.h>

#define STARTS_MAX                                                                                 \
    6u /* an operator who starts it as often has seen to the disk before the next time */
#define TURNS_AT_ONCE_MAX 20000u /* more without time going by: it goes round in circles */

static void on_kick(void *context)
{
    ((struct sim *)context)->kicked = true;
}

static void on_commit(void *context, enum sl_code code, const struct sl_error *e)
{
    struct sim *s = context;
    s->kicked = true;
    if (code != SL_CODE_OK) {
        sim_recall_failed();
    }
    /* What is staged while a failed commit is answered for is of the next one, and so is a fault that it meets. */
    bool troubled = code != SL_CODE_OK && sim_disk_troubled();
    if (code != SL_CODE_OK && !troubled && !s->troubled_before) {
        sim_story_violation("a commit failed without a fault: %s", e->text);
    }
    s->troubled_before = troubled;
}

/* --- what is told of workloads ------------------------------------------------------------------ */

static void describe(const struct sl_json *w, struct sl_buf *out)
{
    const struct sl_json *conditions = sl_json_path(w, "status.conditions");
    for (size_t i = 0; i < sl_json_len(conditions); i++) {
        const struct sl_json *c = sl_json_at(conditions, i);
        sl_buf_print(out, " %s(%s)", sl_json_path_text(c, "type", ""),
                     sl_json_path_text(c, "status", "?"));
        if (strcmp(sl_json_path_text(c, "type", ""), sl_json_path_text(c, "reason", "")) != 0) {
            sl_buf_print(out, ":%s", sl_json_path_text(c, "reason", ""));
        }
    }
    const struct sl_json *sets = sl_json_path(w, "status.admission.podSetAssignments");
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const struct sl_json *flavors = sl_json_get(sl_json_at(sets, i), "flavors");
        sl_buf_print(out, " %lldx", (long long)sl_json_path_int(sl_json_at(sets, i), "count", 0));
        sl_json_print(flavors, out);
    }
    if (!sl_json_path_bool(w, "spec.active", true)) {
        sl_buf_text(out, " inactive");
    }
}

static void on_workload(void *context, enum sl_watch_type type, enum sl_kind kind,
                        struct sl_json *w)
{
    struct sim *s = context;
    char key[600];
    struct sl_buf text = {0};
    union sl_map_value last = {.pointer = NULL};
    (void)kind;
    if (type == SL_WATCH_SYNCED) {
        return;
    }
    sim_placed_see(w, type == SL_WATCH_DELETED);
    sim_mirror_told(s, type == SL_WATCH_DELETED, w);
    sim_pods_told(s, w);
    sim_elastic_told(s, w);
    (void)snprintf(key, sizeof key, "%s/%s", sl_object_namespace(w), sl_object_name(w));
    sl_buf_text(&text, type == SL_WATCH_DELETED ? " deleted" : "");
    if (type != SL_WATCH_DELETED) {
        describe(w, &text);
    }
    bool known = sl_map_get(s->told, key, &last);
    if (text.len > 0 && (!known || strcmp(last.pointer, text.data) != 0)) {
        sim_story_tell("workload", "%s:%s", key, text.data);
        sl_map_put(s->told, key, (union sl_map_value){.pointer = sl_mem_text(text.data)});
        sl_mem_free(last.pointer);
    }
    if (type == SL_WATCH_DELETED && sl_map_remove(s->told, key, &last)) {
        sl_mem_free(last.pointer);
    }
    sl_buf_fini(&text);
}

/* --- opening and closing ------------------------------------------------------------------------ */

static enum sl_code open_both(struct sim *s, struct sl_error *e)
{
    struct sl_engine_options engine = {.journal_dir = s->options->dir, .settings = &s->settings};
    if (sl_store_open(s->options->dir, &s->store, e) != SL_CODE_OK) {
        return e->code;
    }
    sl_store_listen(s->store, on_commit, s);
    if (sl_engine_open(&engine, &s->engine, e) != SL_CODE_OK) {
        sl_store_close(s->store);
        s->store = NULL;
        return e->code;
    }
    return SL_CODE_OK;
}

/* What may keep it from starting is trouble with the disk, and a database that a disk which lied has spoiled: that
 * is said, and an operator does something about it. */
static void start(struct sim *s)
{
    struct sl_error e = {0};
    for (unsigned i = 0; open_both(s, &e) != SL_CODE_OK; i++) {
        sim_story_tell("life", "it does not start: %s", e.text);
        sim_tally(SIM_TALLY_STARTS_REFUSED);
        if (s->spoiled && strstr(e.text, "damaged") != NULL) {
            sim_disk_restore_backup();
        } else if (!sim_disk_troubled()) {
            sim_story_violation("it does not start: %s", e.text);
        }
        if (i == STARTS_MAX) {
            sim_disk_trouble(SIM_TROUBLE_NONE, 0, 0);
        }
    }
}

void sim_life_tell(struct sim *s)
{
    if (s->told == NULL) {
        s->told = sl_map_new();
    }
    sim_placed_begin(s);
    (void)sl_store_watch(s->store, SL_KIND_WORKLOAD, sl_store_durable(s->store), on_workload, s,
                         &s->told_watch, NULL);
}

/* The controllers that there are are not stepped any more. */
static void on_lost(void *context)
{
    struct sim *s = context;
    s->lost = true;
    sl_store_forget_watches(s->store);
}

static void wire(struct sim *s)
{
    struct sl_client client;
    struct sl_controllers_options options = {
        .run_jobs = true, .job_rules = s->job_rules, .kick = on_kick, .kick_context = s};
    if (s->options->replicas) {
        sim_replicas_open(s);
        return;
    }
    sl_store_seed(s->store, s->options->seed * 1000003 + s->lives++);
    sl_store_gate_pods(s->store, sl_jobs_enabled(&s->job_rules, &sl_pod_framework));
    sl_store_client(s->store, on_kick, s, &client);
    s->lost = false;
    if (s->options->ahead) {
        sl_store_deliver_ahead(s->store, on_lost, s);
    }
    s->relay = sim_relay_new(s, &client);
    options.engine = s->engine;
    options.client = sim_relay_client(s->relay);
    sim_life_tell(s);
    s->controllers = sl_controllers_new(&options);
    sl_controllers_start(s->controllers);
    s->kicked = true;
    sim_tally(SIM_TALLY_LIVES);
}

void sim_life_open(struct sim *s)
{
    if (s->options->replicas) {
        sim_replicas_open(s);
        return;
    }
    start(s);
    sim_recall_watch(s);
    wire(s);
}

static void tally_engine(const struct sim *s)
{
    struct sl_engine_counters n;
    sl_engine_count(s->engine, &n);
    sim_tally_add(SIM_TALLY_CYCLES, n.cycles);
    sim_tally_add(SIM_TALLY_RESERVED, n.reserved);
    sim_tally_add(SIM_TALLY_WORKLOADS_READ, n.workloads_read);
    sim_tally_add(SIM_TALLY_ECHOES, n.echoes);
    sim_tally_add(SIM_TALLY_EVICTED, n.evicted);
    sim_tally_add(SIM_TALLY_RESTRAINED, n.restrained);
    sim_tally_add(SIM_TALLY_DECISIONS, n.reserved + n.admitted + n.evicted + n.finished);
}

static void close_inside(struct sim *s)
{
    tally_engine(s);
    sim_mirror_forget(s);
    sim_elastic_forget();
    sl_controllers_free(s->controllers);
    sl_engine_close(s->engine);
    sim_relay_free(s->relay);
    s->controllers = NULL;
    s->engine = NULL;
    s->relay = NULL;
}

void sim_life_close(struct sim *s)
{
    if (s->replicas != NULL) {
        sim_replicas_close(s);
        return;
    }
    sl_store_close(s->store);
    s->store = NULL;
    close_inside(s);
}

/* As the daemon does it. */
static void begin_again_where_lost(struct sim *s)
{
    const struct sl_engine_options engine = {.journal_dir = s->options->dir,
                                             .settings = &s->settings};
    struct sl_error e = {0};
    if (!s->lost) {
        return;
    }
    close_inside(s);
    if (sl_engine_open(&engine, &s->engine, &e) != SL_CODE_OK) {
        sim_story_violation("the engine cannot be opened again: %s", e.text);
    }
    sim_story_tell("life", "it begins again");
    sim_tally(SIM_TALLY_AGAIN);
    wire(s);
}

/* --- turns -------------------------------------------------------------------------------------- */

static bool turn(struct sim *s)
{
    begin_again_where_lost(s);
    s->kicked = false;
    s->turn_count++;
    bool more = sl_controllers_step(s->controllers, s->now_ms);
    more = (s->options->ahead && sl_store_deliver(s->store)) || more;
    if (!more || !sim_chance_of(&s->turns, 30)) {
        (void)sl_store_commit(s->store, NULL);
    }
    if (s->lost) {
        return true;
    }
    more = sim_relay_deliver(s->relay) || more;
    sim_audit_turn(s);
    return more || s->kicked || sl_store_dirty(s->store);
}

static void settle(struct sim *s)
{
    for (unsigned i = 0; turn(s) || sl_controllers_due_ms(s->controllers) <= s->now_ms; i++) {
        if (i == TURNS_AT_ONCE_MAX) {
            sim_story_violation("no end of turns at one instant");
        }
    }
    s->settled_count++;
    sim_mirror_look(s);
}

int64_t sim_life_due_ms(const struct sim *s)
{
    int64_t due = sl_controllers_due_ms(s->controllers);
    int64_t late = sim_relay_due_ms(s->relay);
    return due < late ? due : late;
}

static void move_clock(struct sim *s, int64_t now_ms)
{
    s->now_ms = now_ms;
    sl_clock_set_virtual(now_ms);
}

void sim_life_run(struct sim *s, int64_t until_ms)
{
    if (s->replicas != NULL) {
        sim_replicas_run(s, until_ms);
        return;
    }
    settle(s);
    for (int64_t due = sim_life_due_ms(s); due <= until_ms; due = sim_life_due_ms(s)) {
        move_clock(s, due > s->now_ms ? due : s->now_ms + 1);
        settle(s);
    }
    if (until_ms > s->now_ms) {
        move_clock(s, until_ms);
    }
}

/* --- ends --------------------------------------------------------------------------------------- */

static void commit_all(struct sim *s)
{
    for (unsigned i = 0; i < 8 && sl_store_dirty(s->store); i++) {
        (void)sl_store_commit(s->store, NULL);
    }
}

/* As by SIGKILL: what it staged is lost, what it wrote to files is there. */
static void die_between_commits(struct sim *s)
{
    unsigned steps = sim_chance_below(&s->turns, 4);
    for (unsigned i = 0; i < steps; i++) {
        (void)sl_controllers_step(s->controllers, s->now_ms);
    }
    sim_disk_die_after(0);
}

/* A commit writes a few pages or many, and sometimes those of a checkpoint. */
static void die_in_commit(struct sim *s)
{
    (void)sl_controllers_step(s->controllers, s->now_ms);
    sim_disk_die_after(1 + sim_chance_below(&s->turns, 1u << sim_chance_below(&s->turns, 10)));
    (void)sl_store_commit(s->store, NULL);
    sim_disk_die_after(0);
}

/* A database that was spoiled without anybody's noticing is looked at by its operator. */
static void look_at_spoiled(struct sim *s, bool was_logged)
{
    if (sim_recall_sound(s)) {
        return;
    }
    if (was_logged) {
        sim_story_violation("it starts with a damaged database");
    }
    sim_disk_die_after(0);
    sl_store_close(s->store);
    sl_engine_close(s->engine);
    sim_disk_revive();
    sim_disk_restore_backup();
    start(s);
}

static void cut_power(struct sim *s)
{
    char wal[600];
    bool any = sim_disk_lies() == SIM_LIE_ANY;
    bool lost = sim_disk_lies() != SIM_LIE_NONE;
    sim_disk_power_cut(&s->turns);
    sim_disk_cut_journal(s->options->dir, &s->turns);
    (void)snprintf(wal, sizeof wal, "%s/sluice.db-wal", s->options->dir);
    const struct sim_file *log = sim_disk_find(wal);
    bool was_logged = log != NULL && log->now.size > 0;
    s->spoiled = any;
    start(s);
    if (any) {
        look_at_spoiled(s, was_logged);
    } else {
        sim_recall_check(s, lost);
    }
    s->spoiled = false;
    sim_disk_lie(SIM_LIE_NONE); /* it got another disk */
}

static bool is_said(const char *text)
{
    return strstr(text, "damaged") != NULL || strstr(text, "version") != NULL ||
           strstr(text, "another program") != NULL;
}

/* A process that ended cleanly finds a database that is not what it wrote: it says so, or nothing is another for it. It is
 * put right again before the next process. */
static void try_rotten(struct sim *s)
{
    char database[600], log[620];
    struct sl_error e = {0};
    (void)snprintf(database, sizeof database, "%s/sluice.db", s->options->dir);
    (void)snprintf(log, sizeof log, "%s-wal", database);
    const struct sim_file *wal = sim_disk_find(log);
    if ((wal != NULL && wal->now.size > 0) || !sim_disk_rot(database, &s->rot)) {
        return;
    }
    bool spared = sim_disk_spare(true);
    if (sl_store_open(s->options->dir, &s->store, &e) == SL_CODE_OK) {
        sim_recall_compare(s);
        sl_store_close(s->store);
        s->store = NULL;
    } else if (is_said(e.text)) {
        sim_tally(SIM_TALLY_ROT_NOTICED);
    } else {
        sim_story_violation("a database that is not what was written is told as: %s", e.text);
    }
    (void)sim_disk_spare(spared);
    sim_disk_unrot(database);
    sim_tally(SIM_TALLY_ROTS);
}

void sim_life_restart(struct sim *s, enum sim_death death)
{
    static const enum sim_tally tallies[] = {SIM_TALLY_DEATHS_CLEAN, SIM_TALLY_DEATHS_CRASH,
                                             SIM_TALLY_DEATHS_TORN, SIM_TALLY_DEATHS_POWER};
    if (s->replicas != NULL) {
        sim_replicas_fail_over(s);
        return;
    }
    enum sim_death way =
        death == SIM_DEATH_POWER ? (enum sim_death)sim_chance_below(&s->turns, 3) : death;
    sim_tally(tallies[death]);
    if (sim_disk_lies() == SIM_LIE_NONE) {
        sim_recall_begin(s);
    }
    commit_all(s);
    begin_again_where_lost(s);
    if (way == SIM_DEATH_CRASH) {
        die_between_commits(s);
    } else if (way == SIM_DEATH_TORN) {
        die_in_commit(s);
    }
    sim_life_close(s);
    sim_disk_revive();
    if (death == SIM_DEATH_CLEAN && sim_disk_lies() == SIM_LIE_NONE) {
        try_rotten(s);
    }
    if (death == SIM_DEATH_POWER) {
        cut_power(s);
    } else {
        start(s);
        sim_recall_check(s, false);
    }
    sim_recall_watch(s);
    wire(s); /* only now may it write */
}
