/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The journal is played in processes of its own (replay.c); what they report is read here, run by run. What a run found that
 * was known before is no news. */
#include "engine/history/history.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/journal/pack.h"
#include "engine/history/history_pack.h"
#include "kernel/base/types.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What was reported of a workload last. */
enum known { KNOWN_NOT, KNOWN_PENDING, KNOWN_HOLDS, KNOWN_OVER };

struct history {
    const struct sl_history_taker *taker;
    struct sl_history_result *result;
    int fd;
    struct sl_history_watch *watch;
    struct sl_map *known; /* by workload; only from run to run does it matter */
    struct sl_map *texts; /* of moves: the bytes have none that end with a NUL */
    bool garbled;
};

const char *sl_history_name(enum sl_history_kind kind)
{
    static const char *const names[SL_HISTORY_KIND_COUNT] = {
        "Found",   "Queued",   "Pending",  "QuotaReserved", "Admitted", "Resized",
        "Evicted", "Released", "Requeued", "Finished",      "Deleted"};
    return kind < SL_HISTORY_KIND_COUNT ? names[kind] : "?";
}

/* --- reading what was reported --------------------------------------------------------------------------------------------- */

/* Names and reasons are few and come again and again: each is kept once, until the end. */
static const char *take_text(struct history *p, struct unpack *u)
{
    size_t len;
    const char *bytes = unpack_text(u, &len);
    char *text = sl_mem_text_n(bytes, len);
    char *kept = sl_map_find(p->texts, text);
    if (kept != NULL) {
        sl_mem_free(text);
        return kept;
    }
    sl_map_put(p->texts, text, (union sl_map_value){.pointer = text});
    return text;
}

static enum known known_of(const struct sl_history_move *m)
{
    return m->over ? KNOWN_OVER : m->row_count > 0 ? KNOWN_HOLDS : KNOWN_PENDING;
}

/* Found as it was left: nothing happened to it. Found at its end: that happened while no daemon looked, or long ago. */
static void drop_old_news(struct history *p, struct sl_history_move *m)
{
    union sl_map_value before = {.number = KNOWN_NOT};
    (void)sl_map_get(p->known, m->workload, &before);
    bool same = before.number == (uint64_t)known_of(m);
    if (m->found && (same || (m->over && before.number == KNOWN_NOT))) {
        m->news_count = 0;
    }
    sl_map_put(p->known, m->workload, (union sl_map_value){.number = (uint64_t)known_of(m)});
}

static void take_move(struct history *p, struct unpack *u)
{
    struct sl_history_move m = {.time_ms = unpack_i64(u)};
    m.record = unpack_u64(u);
    m.workload = take_text(p, u);
    m.queue = take_text(p, u);
    uint8_t flags = unpack_u8(u);
    m.found = (flags & SL_HISTORY_IS_FOUND) != 0;
    m.waits = (flags & SL_HISTORY_WAITS) != 0;
    m.over = (flags & SL_HISTORY_OVER) != 0;
    m.row_count = unpack_u8(u);
    p->garbled = p->garbled || m.row_count > SL_HISTORY_ROWS_MAX;
    for (uint32_t i = 0; i < m.row_count && !p->garbled; i++) {
        m.rows[i].flavor = take_text(p, u);
        m.rows[i].resource = take_text(p, u);
        m.rows[i].amount = unpack_i64(u);
    }
    m.news_count = unpack_u8(u);
    p->garbled = p->garbled || m.news_count > SL_HISTORY_NEWS_MAX;
    for (uint32_t i = 0; i < m.news_count && !p->garbled; i++) {
        m.news[i].kind = (enum sl_history_kind)unpack_u8(u);
        m.news[i].reason = take_text(p, u);
        m.news[i].rule = take_text(p, u);
        m.news[i].by = take_text(p, u);
    }
    p->garbled = p->garbled || u->failed;
    if (!p->garbled) {
        drop_old_news(p, &m);
        if (p->taker->move != NULL) {
            p->taker->move(p->taker->context, &m);
        }
    }
}

static void take_begin(struct history *p, int64_t time_ms)
{
    p->result->begin_ms = p->result->runs == 0 ? time_ms : p->result->begin_ms;
    p->result->runs++;
    if (p->taker->begin != NULL) {
        p->taker->begin(p->taker->context, time_ms);
    }
}

static void take_end(struct history *p, int64_t time_ms)
{
    p->result->end_ms = time_ms;
    if (p->taker->end != NULL) {
        p->taker->end(p->taker->context, time_ms);
    }
}

static void take_word(struct history *p, struct unpack *u)
{
    const char *name;
    switch (unpack_u8(u)) {
    case SL_HISTORY_WORD_BEGIN:
        take_begin(p, unpack_i64(u));
        break;
    case SL_HISTORY_WORD_QUEUE:
        name = take_text(p, u);
        if (p->taker->queue != NULL) {
            p->taker->queue(p->taker->context, name);
        }
        break;
    case SL_HISTORY_WORD_MOVE:
        take_move(p, u);
        break;
    case SL_HISTORY_WORD_END:
        take_end(p, unpack_i64(u));
        break;
    default:
        p->garbled = true;
    }
}

/* A run was played: all that it reported, and then the file is empty for the next one. */
static void take_run(void *context)
{
    struct history *p = context;
    struct stat st;
    if (fstat(p->fd, &st) != 0 || st.st_size == 0) {
        return;
    }
    size_t size = (size_t)st.st_size;
    unsigned char *data = mmap(NULL, size, PROT_READ, MAP_SHARED, p->fd, 0);
    if (data == MAP_FAILED) {
        p->garbled = true;
        return;
    }
    struct unpack u = {data, data + size, false};
    while (u.at < u.end && !p->garbled) {
        take_word(p, &u);
    }
    (void)munmap(data, size);
    p->garbled = ftruncate(p->fd, 0) != 0 || lseek(p->fd, 0, SEEK_SET) != 0 || p->garbled;
}

/* --- all of it --------------------------------------------------------------------------------------------------------- */

static void conclude(struct history *p, const struct sl_replay_result *played)
{
    struct sl_history_result *out = p->result;
    out->torn = played->torn;
    out->partial = played->end != SL_REPLAY_SAME || p->garbled;
    (void)snprintf(out->why, sizeof out->why, "%s",
                   played->end == SL_REPLAY_SAME && p->garbled ? "what was played cannot be read"
                                                               : played->why);
}

static enum sl_code play(struct history *p, const char *path, struct sl_error *e)
{
    const struct sl_replay_watch watch = {.before = sl_history_watch_before,
                                          .after = sl_history_watch_after,
                                          .ended = sl_history_watch_ended,
                                          .context = p->watch,
                                          .played = take_run,
                                          .player = p};
    const struct sl_replay_options options = {.path = path, .watch = &watch};
    struct sl_replay_result played = {0};
    enum sl_code code = sl_replay_run(&options, &played, e);
    if (code == SL_CODE_OK) {
        conclude(p, &played);
    }
    return code;
}

enum sl_code sl_history_read(const char *path, const struct sl_history_taker *taker,
                             struct sl_history_result *out, struct sl_error *e)
{
    SL_PRE(path != NULL && taker != NULL && out != NULL);
    *out = (struct sl_history_result){.begin_ms = SL_NEVER, .end_ms = SL_NEVER};
    struct history p = {.taker = taker, .result = out, .fd = memfd_create("history", MFD_CLOEXEC)};
    if (p.fd < 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot get memory: %s", strerror(errno));
    }
    p.watch = sl_history_watch_new(p.fd);
    p.known = sl_map_new();
    p.texts = sl_map_new();
    enum sl_code code = play(&p, path, e);
    sl_map_free(p.known);
    sl_map_free_with(p.texts, sl_mem_free);
    sl_history_watch_free(p.watch);
    (void)close(p.fd);
    return code;
}
