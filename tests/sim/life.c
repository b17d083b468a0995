/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The process that is simulated: wired as the daemon is (cli/daemon.c), its loop's turns one by one, the virtual
 * clock moved to what is due next, and its ends. */
#include "sim.h"
#include "base/clock.h"
#include "base/mem.h"
#include "controllers/podgroups.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
        sim_story_violation("a commit failed without a fault: %s", e->text);
    }
}

/* --- what is told of workloads ------------------------------------------------------------------ */

static void describe(const struct sl_json *w, struct sl_buf *out)
{
    const struct sl_json *conditions = sl_json_path(w, "status.conditions");
    for (size_t i = 0; i < sl_json_len(conditions); i++) {
        const struct sl_json *c = sl_json_at(conditions, i);
        sl_buf_print(out, " %s%s(%s)", sl_json_path_bool(c, "none", false) ? "" : "",
                     sl_json_path_text(c, "type", ""), sl_json_path_text(c, "status", "?"));
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

void sim_life_open(struct sim *s)
{
    struct sl_error e = {0};
    struct sl_client client;
    struct sl_engine_options engine = {.journal_dir = s->options->dir, .settings = &s->settings};
    struct sl_controllers_options options = {
        .run_jobs = true, .job_rules = s->job_rules, .kick = on_kick, .kick_context = s};
    if (sl_store_open(s->options->dir, &s->store, &e) != SL_CODE_OK ||
        sl_engine_open(&engine, &s->engine, &e) != SL_CODE_OK) {
        sim_story_violation("it does not start: %s", e.text);
    }
    sl_store_seed(s->store, s->options->seed * 1000003 + s->lives++);
    sl_store_gate_pods(s->store, sl_podgroups_wanted(&s->job_rules));
    sl_store_client(s->store, on_kick, s, &client);
    s->relay = sim_relay_new(s, &client);
    options.engine = s->engine;
    options.client = sim_relay_client(s->relay);
    if (s->told == NULL) {
        s->told = sl_map_new();
    }
    (void)sl_store_watch(s->store, SL_KIND_WORKLOAD, sl_store_durable(s->store), on_workload, s,
                         &s->told_watch, NULL);
    s->controllers = sl_controllers_new(&options);
    sl_store_listen(s->store, on_commit, s);
    sl_controllers_start(s->controllers);
    s->kicked = true;
}

void sim_life_close(struct sim *s)
{
    sl_store_close(s->store);
    sl_controllers_free(s->controllers);
    sl_engine_close(s->engine);
    sim_relay_free(s->relay);
    s->store = NULL;
    s->controllers = NULL;
    s->engine = NULL;
    s->relay = NULL;
}

/* --- turns -------------------------------------------------------------------------------------- */

static bool turn(struct sim *s)
{
    s->kicked = false;
    s->turn_count++;
    bool more = sl_controllers_step(s->controllers, s->now_ms);
    if (!more || !sim_chance_of(&s->turns, 30)) {
        (void)sl_store_commit(s->store, NULL);
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

struct image {
    char *data;
    size_t size;
};

static struct image image_read(const struct sim *s, const char *name)
{
    char path[4096];
    struct sl_buf text = {0};
    char block[65536];
    (void)snprintf(path, sizeof path, "%s/%s", s->options->dir, name);
    FILE *f = fopen(path, "rb");
    for (size_t n; f != NULL && (n = fread(block, 1, sizeof block, f)) > 0;) {
        sl_buf_add(&text, block, n);
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    size_t size = text.len;
    return (struct image){sl_buf_take(&text), size};
}

static void image_write(const struct sim *s, const char *name, struct image i)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", s->options->dir, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || (i.size > 0 && fwrite(i.data, 1, i.size, f) != i.size) || fclose(f) != 0) {
        sim_story_violation("%s cannot be written", path);
    }
}

static bool image_same(struct image a, struct image b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* The log as it is when the commit that made `after` of `before` got no further than somewhere. */
static struct image image_tear(struct image before, struct image after, struct sim_chance *c)
{
    struct sl_buf out = {0};
    size_t from = 0;
    while (from < before.size && from < after.size && before.data[from] == after.data[from]) {
        from++;
    }
    size_t cut = from + sim_chance_below(c, (uint32_t)(after.size - from) + 1);
    sl_buf_add(&out, after.data, cut);
    if (cut < before.size) {
        sl_buf_add(&out, before.data + cut, before.size - cut);
    }
    size_t size = out.len;
    return (struct image){sl_buf_take(&out), size};
}

static void die_torn(struct sim *s)
{
    static const char db[] = "sluice.db", wal[] = "sluice.db-wal";
    (void)sl_controllers_step(s->controllers, s->now_ms);
    struct image db_before = image_read(s, db);
    struct image before = image_read(s, wal);
    (void)sl_store_commit(s->store, NULL);
    struct image db_after = image_read(s, db);
    struct image after = image_read(s, wal);
    sim_life_close(s);
    if (image_same(db_before, db_after) && after.size >= before.size && after.size > 0) {
        struct image torn = image_tear(before, after, &s->turns);
        image_write(s, db, db_after);
        image_write(s, wal, torn);
        sl_mem_free(torn.data);
    }
    sl_mem_free(db_before.data);
    sl_mem_free(before.data);
    sl_mem_free(db_after.data);
    sl_mem_free(after.data);
}

void sim_life_restart(struct sim *s, enum sim_death death)
{
    switch (death) {
    case SIM_DEATH_CLEAN:
        for (unsigned i = 0; i < 8 && sl_store_dirty(s->store); i++) {
            (void)sl_store_commit(s->store, NULL);
        }
        sim_life_close(s);
        break;
    case SIM_DEATH_CRASH: {
        unsigned steps = sim_chance_below(&s->turns, 4);
        for (unsigned i = 0; i < steps; i++) {
            (void)sl_controllers_step(s->controllers, s->now_ms); /* what it stages is lost */
        }
        sim_life_close(s);
        break;
    }
    case SIM_DEATH_TORN:
        die_torn(s);
        break;
    }
    sim_life_open(s);
}
