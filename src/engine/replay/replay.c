/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Runs of a daemon, each played again in a child of its own: the parent's core stays empty, and it
 * reads on to the next start while the child plays. The result lies in memory that both see. */
#include "engine/replay/replay.h"
#include "base/check.h"
#include "engine/journal/journal_image.h"
#include "engine/replay/replay_records.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct player {
    const struct sl_replay_options *options;
    struct sl_replay_result *result;
    struct sl_journal_reader *reader;
    struct sl_journal_record record;
};

/* --- in the child ----------------------------------------------------------------------------- */

/* From its start record, or an image, to the next start, or to where nothing can be read. */
static void play(struct player *p)
{
    struct sl_replay r = {.options = p->options,
                          .result = p->result,
                          .record = &p->record,
                          .restoring = p->record.type == SL_JOURNAL_IMAGE,
                          .decided = SL_NO_ID};
    bool more = sl_replay_record(&r);
    while (more && sl_journal_reader_next(p->reader, &p->record) == SL_JOURNAL_RECORD &&
           p->record.type != SL_JOURNAL_START) {
        more = sl_replay_record(&r);
    }
    if (more) {
        sl_replay_finish(&r);
    }
    if (p->result->end == SL_REPLAY_STOPPED) {
        sl_replay_print_stop(&r);
    }
    if (p->options->watch != NULL) {
        p->options->watch->ended(p->options->watch->context, &r);
    }
    sl_replay_fini(&r);
}

/* --- in the parent ---------------------------------------------------------------------------- */

/* What is missing is said of the first part that is. */
#define PARTIAL(p, ...)                                                                            \
    ((p)->result->end == SL_REPLAY_SAME &&                                                         \
     sl_replay_ends((p)->result, SL_REPLAY_PARTIAL, __VA_ARGS__))

static enum sl_code fork_and_play(struct player *p, struct sl_error *e)
{
    int status = 0;
    (void)fflush(NULL); /* or the child would write it again */
    p->result->starts++;
    pid_t child = fork();
    if (child < 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot start a process: %s", strerror(errno));
    }
    if (child == 0) {
        play(p);
        (void)fflush(NULL);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        (void)sl_replay_ends(p->result, SL_REPLAY_DIFFERS,
                             "the process that plays broke down behind record %" PRIu64
                             " (signal %d)",
                             p->result->sequence, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    }
    if (p->options->watch != NULL) {
        p->options->watch->played(p->options->watch->player);
    }
    return SL_CODE_OK;
}

/* A torn end is what a crash leaves; damage means that something which was there is lost. */
static void tell_end(struct player *p, enum sl_journal_end end)
{
    size_t offset = sl_journal_reader_offset(p->reader);
    p->result->torn += end == SL_JOURNAL_TORN;
    if (p->options->out != NULL) {
        fprintf(p->options->out, "%s: %s at offset %zu\n", sl_journal_reader_path(p->reader),
                end == SL_JOURNAL_TORN ? "its end is torn" : "damaged", offset);
    }
    if (end == SL_JOURNAL_DAMAGED) {
        (void)PARTIAL(p, "a file is damaged at offset %zu", offset);
    }
}

/* A run has begun before this record, and was not played up to here: can it be from here on? */
static bool begins_with_image(struct player *p)
{
    const struct sl_journal_record *record = &p->record;
    struct sl_image_part part;
    if (record->type != SL_JOURNAL_IMAGE || record->sequence <= p->result->sequence) {
        return false;
    }
    if (sl_image_look(record->payload, record->len, &part)) { /* else its replay says so */
        if (part.number != 0) {
            return false;
        }
        if (strcmp(part.digest, sl_core_digest) != 0) {
            return PARTIAL(p,
                           "record %" PRIu64
                           " is an image of core %s, this program has core %s: the "
                           "sluicectl of the version that wrote it can play it",
                           record->sequence, part.digest, sl_core_digest);
        }
    }
    if (p->options->out != NULL) {
        fprintf(p->options->out, "%s: from an image of the core at record %" PRIu64 " on\n",
                sl_journal_reader_path(p->reader), record->sequence);
    }
    p->result->images++;
    return true;
}

/* What goes on with an image has lost nothing when the one before went right up to it. */
static void tell_gap(struct player *p, bool torn)
{
    uint64_t sequence = p->record.sequence;
    uint64_t before = p->result->sequence;
    if (p->record.type == SL_JOURNAL_IMAGE && (torn || (before > 0 && sequence > before + 1))) {
        (void)PARTIAL(p, "records before record %" PRIu64 " are not in the journal", sequence);
    }
}

static enum sl_code play_all(struct player *p, struct sl_error *e)
{
    struct sl_replay_result *r = p->result;
    enum sl_journal_end end;
    enum sl_code code = SL_CODE_OK;
    uint64_t unplayed = 0;
    bool torn = false; /* the end of what was read last, which only a start should follow */
    while (code == SL_CODE_OK && r->end != SL_REPLAY_DIFFERS && r->end != SL_REPLAY_STOPPED &&
           (end = sl_journal_reader_next(p->reader, &p->record)) != SL_JOURNAL_END) {
        if (end != SL_JOURNAL_RECORD) {
            tell_end(p, end);
            torn = true;
        } else if (p->record.type == SL_JOURNAL_START || begins_with_image(p)) {
            tell_gap(p, torn);
            torn = false;
            code = fork_and_play(p, e);
        } else {
            unplayed += r->starts == 0;
        }
    }
    if (unplayed > 0 || r->starts == 0) {
        (void)PARTIAL(p,
                      "there is no start and no image before the first records; not played: "
                      "%" PRIu64,
                      unplayed);
    }
    return code;
}

enum sl_code sl_replay_run(const struct sl_replay_options *options, struct sl_replay_result *result,
                           struct sl_error *e)
{
    SL_PRE(options != NULL);
    struct player p = {.options = options};
    enum sl_code code = sl_journal_reader_open_all(options->path, &p.reader, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    void *shared =
        mmap(NULL, sizeof *p.result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        code = sl_error_set(e, SL_CODE_INTERNAL, "cannot get memory: %s", strerror(errno));
    } else {
        p.result = shared;
        code = play_all(&p, e);
        *result = *p.result;
        (void)munmap(shared, sizeof *p.result);
    }
    sl_journal_reader_close(p.reader);
    return code;
}
