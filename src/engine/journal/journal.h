/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The journal: what happened to the core, in order, in files journal-<n>.log (layout and promises:
 * docs/internals/journal.md). Owns those files. The API objects are the truth; the journal is for
 * explaining and replaying (G11), so records are flushed once a cycle and a failing disk costs
 * records, never a decision. Bounds: a record <= SL_JOURNAL_RECORD_MAX bytes; a file: its images,
 * and about SL_JOURNAL_FILE_MAX or as much as these; the newest SL_JOURNAL_KEEP files are kept. */
#ifndef SL_ENGINE_JOURNAL_H
#define SL_ENGINE_JOURNAL_H
#include "base/buf.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL_JOURNAL_VERSION 10u
#define SL_JOURNAL_FILE_MAX (64u * 1024u * 1024u)
#define SL_JOURNAL_RECORD_MAX (4u * 1024u * 1024u)
#define SL_JOURNAL_KEEP 4u
#define SL_JOURNAL_HEADER_SIZE 32u
#define SL_JOURNAL_FRAME_SIZE 26u /* what comes before each payload */

enum sl_journal_type {
    SL_JOURNAL_START = 1,   /* a process began with an empty core */
    SL_JOURNAL_NAME = 2,    /* a name got an id: class, id, text */
    SL_JOURNAL_OBSERVE = 3, /* an object came in: kind, deleted or not, resourceVersion, ns, name */
    SL_JOURNAL_CALL = 4,    /* a call into the core and its answer */
    SL_JOURNAL_DECISION = 5, /* a decision was handed out: what a replay has to come to again */
    SL_JOURNAL_OUTCOME =
        6, /* what a cycle came to for one of its heads (outcome.h); from version 4 on */
    SL_JOURNAL_IMAGE = 7 /* a part of an image of the core (journal_image.h); from version 5 on */
};

struct sl_journal;

/* Continue the newest file of `dir` (made when absent), a torn tail cut off; a file that is damaged
 * before its end, or of an older version, is left alone and a new one begun. One that cannot be read, or is
 * of a newer version, or no journal, is renamed to journal-<n>.log.aside, with a line in the log. Where no file can be begun
 * the journal goes without one, counts what it loses, and tries again with an image: nothing of all this keeps a daemon
 * from deciding. NULL dir: count only. BAD_REQUEST, with *out unchanged: `dir` is something else than a directory,
 * or where it should be made there is none. */
enum sl_code sl_journal_open(const char *dir, struct sl_journal **out, struct sl_error *e);
void sl_journal_close(struct sl_journal *j);
/* Begin the next file after so many bytes instead of SL_JOURNAL_FILE_MAX. */
void sl_journal_limit(struct sl_journal *j, size_t bytes);

/* Note one record; returns its sequence number. It reaches the file with the next flush. */
uint64_t sl_journal_append(struct sl_journal *j, enum sl_journal_type type, int64_t now_ms,
                           const struct sl_buf *payload);

/* Write what was noted. False when the disk refused: the records are dropped, and that is logged
 * once. Without a file nothing is noted, and that goes well. */
bool sl_journal_flush(struct sl_journal *j);

/* --- images: journal_turn.c takes them --------------------------------------------------------- */
/* Is the file full, or is there none, or were records lost since the last image? A while after one that could not be
 * written: no. */
bool sl_journal_wants_image(const struct sl_journal *j, int64_t now_ms);
/* All was flushed; what is appended until the end is the image. A full file is followed by the
 * next, which begins with it, and so does one that is begun where there is none. */
enum sl_code sl_journal_begin_image(struct sl_journal *j, int64_t now_ms, struct sl_error *e);
/* False: it could not be written, and the journal goes on where it was before the image. */
bool sl_journal_end_image(struct sl_journal *j);
size_t sl_journal_image_bytes(const struct sl_journal *j); /* of all in the newest file */

uint64_t sl_journal_sequence(const struct sl_journal *j); /* of the last record; 0 = none yet */
uint64_t sl_journal_lost(const struct sl_journal *j);     /* records that the disk refused */

/* --- reading: for replays and tests ----------------------------------------------------------- */
enum sl_journal_end { SL_JOURNAL_RECORD, SL_JOURNAL_END, SL_JOURNAL_TORN, SL_JOURNAL_DAMAGED };
struct sl_journal_record {
    uint64_t sequence;
    int64_t time_ms;
    uint16_t type;
    const unsigned char *payload; /* lent until the next file is read or the reader closed */
    size_t len;
};
struct sl_journal_reader;
/* One file, of this version or an older one. Refused: what cannot be read, or is no journal. */
enum sl_code sl_journal_reader_open(const char *path, struct sl_journal_reader **out,
                                    struct sl_error *e);
/* The same of one file or, in their order, of those of a directory; all have to be of this version. */
enum sl_code sl_journal_reader_open_all(const char *path, struct sl_journal_reader **out,
                                        struct sl_error *e);
/* The next record. TORN and DAMAGED: what follows in this file cannot be read; the next call goes
 * on with the next file. */
enum sl_journal_end sl_journal_reader_next(struct sl_journal_reader *r,
                                           struct sl_journal_record *out);
/* The file, the offset behind its last good record, and its version: records of older ones are
 * framed alike; what a call means is only known of this one. */
const char *sl_journal_reader_path(const struct sl_journal_reader *r);
size_t sl_journal_reader_offset(const struct sl_journal_reader *r);
uint32_t sl_journal_reader_version(const struct sl_journal_reader *r);
void sl_journal_reader_close(struct sl_journal_reader *r);

uint32_t sl_journal_crc32c(uint32_t crc, const void *data, size_t len); /* start with 0 */
#endif
