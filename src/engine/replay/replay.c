/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Lives of a journal, each in a child of its own: the parent's core stays empty, and it reads on to
 * the next start while the child plays. The result lies in memory that both see. */
#include "engine/replay/replay.h"
#include "base/check.h"
#include "engine/journal/journal_image.h"
#include "engine/replay/life.h"
#include "engine/journal/tape.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- in the child ----------------------------------------------------------------------------- */

/* From its start record, or an image, to the next start, or to where nothing can be read. */
static void play_life(const struct sl_replay_options *options, struct sl_replay_result *result,
                      struct sl_tape *tape, struct sl_journal_record record)
{
    struct sl_life life = {.options = options,
                           .result = result,
                           .restoring = record.type == SL_JOURNAL_IMAGE,
                           .decided = SL_NO_ID};
    bool more = sl_life_play(&life, &record);
    while (more && sl_tape_next(tape, &record) == SL_JOURNAL_RECORD &&
           record.type != SL_JOURNAL_START) {
        more = sl_life_play(&life, &record);
    }
    if (more) {
        sl_life_end(&life);
    }
    if (result->end == SL_REPLAY_STOPPED) {
        sl_story_stop(&life);
    }
    sl_life_fini(&life);
}

/* --- in the parent ---------------------------------------------------------------------------- */

static void partial(struct sl_replay_result *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void partial(struct sl_replay_result *r, const char *format, ...)
{
    if (r->end == SL_REPLAY_SAME) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(r->why, sizeof r->why, format, args);
        va_end(args);
        r->end = SL_REPLAY_PARTIAL;
    }
}

static enum sl_code fork_life(const struct sl_replay_options *options,
                              struct sl_replay_result *shared, struct sl_tape *tape,
                              struct sl_journal_record record, struct sl_error *e)
{
    int status = 0;
    (void)fflush(NULL); /* or the child would write it again */
    shared->lives++;
    pid_t child = fork();
    if (child < 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot start a process: %s", strerror(errno));
    }
    if (child == 0) {
        play_life(options, shared, tape, record);
        (void)fflush(NULL);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        shared->end = SL_REPLAY_DIFFERS;
        (void)snprintf(shared->why, sizeof shared->why,
                       "the process that plays broke down behind record %" PRIu64 " (signal %d)",
                       shared->sequence, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    }
    return SL_CODE_OK;
}

/* A torn end is what a crash leaves; damage means that something which was there is lost. */
static void tell_end(const struct sl_replay_options *options, struct sl_replay_result *r,
                     const struct sl_tape *tape, enum sl_journal_end end)
{
    size_t offset;
    const char *path = sl_tape_where(tape, &offset);
    fprintf(options->out, "%s: %s at offset %zu\n", path,
            end == SL_JOURNAL_TORN ? "its end is torn" : "damaged", offset);
    if (end == SL_JOURNAL_DAMAGED) {
        partial(r, "a file is damaged at offset %zu", offset);
    }
}

/* A life has begun before this record, and was not played up to here: can it be from here on? */
static bool begins_with_image(const struct sl_replay_options *options, struct sl_replay_result *r,
                              const struct sl_tape *tape, const struct sl_journal_record *record)
{
    struct sl_image_part part;
    size_t offset;
    if (record->type != SL_JOURNAL_IMAGE || record->sequence <= r->sequence) {
        return false;
    }
    bool readable = sl_image_look(record->payload, record->len, &part); /* else the life says so */
    if (readable && part.number != 0) {
        return false;
    }
    const char *path = sl_tape_where(tape, &offset);
    if (readable && strcmp(part.digest, sl_core_digest) != 0) {
        partial(r,
                "record %" PRIu64 " is an image of core %s, this program has core %s: the "
                "sluicectl of the version that wrote it can play it",
                record->sequence, part.digest, sl_core_digest);
        return false;
    }
    fprintf(options->out, "%s: from an image of the core at record %" PRIu64 " on\n", path,
            record->sequence);
    r->images++;
    return true;
}

/* What goes on with an image has lost nothing when the one before went right up to it. */
static void tell_gap(struct sl_replay_result *r, const struct sl_journal_record *record, bool torn)
{
    if (record->type == SL_JOURNAL_IMAGE &&
        (torn || (r->sequence > 0 && record->sequence > r->sequence + 1))) {
        partial(r, "records before record %" PRIu64 " are not in the journal", record->sequence);
    }
}

static enum sl_code play_all(const struct sl_replay_options *options,
                             struct sl_replay_result *shared, struct sl_tape *tape,
                             struct sl_error *e)
{
    struct sl_journal_record record;
    enum sl_journal_end end;
    enum sl_code code = SL_CODE_OK;
    uint64_t unplayed = 0;
    bool torn = false; /* the end of what was read last, which only a start should follow */
    while (code == SL_CODE_OK && shared->end != SL_REPLAY_DIFFERS &&
           shared->end != SL_REPLAY_STOPPED &&
           (end = sl_tape_next(tape, &record)) != SL_JOURNAL_END) {
        if (end != SL_JOURNAL_RECORD) {
            tell_end(options, shared, tape, end);
            torn = true;
        } else if (record.type == SL_JOURNAL_START ||
                   begins_with_image(options, shared, tape, &record)) {
            tell_gap(shared, &record, torn);
            torn = false;
            code = fork_life(options, shared, tape, record, e);
        } else {
            unplayed += shared->lives == 0;
        }
    }
    if (unplayed > 0 || shared->lives == 0) {
        partial(shared,
                "there is no start and no image before the first records; not played: %" PRIu64,
                unplayed);
    }
    return code;
}

enum sl_code sl_replay_run(const struct sl_replay_options *options, struct sl_replay_result *result,
                           struct sl_error *e)
{
    SL_PRE(options != NULL);
    struct sl_tape tape;
    enum sl_code code = sl_tape_open(options->path, &tape, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    struct sl_replay_result *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        sl_tape_close(&tape);
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot get memory: %s", strerror(errno));
    }
    code = play_all(options, shared, &tape, e);
    *result = *shared;
    (void)munmap(shared, sizeof *shared);
    sl_tape_close(&tape);
    return code;
}
