/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A journal for reading from its first record to its last: one file, or those of a directory in
 * their order. Owns the open file. */
#ifndef SL_ENGINE_TAPE_H
#define SL_ENGINE_TAPE_H
#include "engine/journal/journal.h"

#define SL_TAPE_FILES_MAX 64u

struct sl_tape {
    char *paths[SL_TAPE_FILES_MAX];
    size_t count, at; /* at: the file that is being read */
    struct sl_journal_reader *reader;
    bool told; /* that the rest of it cannot be read */
};

/* Refused: what cannot be read, is no journal, or has a version that is not known; no matter which
 * of the files it is. */
enum sl_code sl_tape_open(const char *path, struct sl_tape *out, struct sl_error *e);
/* The next record. TORN and DAMAGED: what follows in this file cannot be read (sl_tape_where); the
 * next call goes on with the next file. */
enum sl_journal_end sl_tape_next(struct sl_tape *t, struct sl_journal_record *out);
/* The file, and the offset behind its last good record. */
const char *sl_tape_where(const struct sl_tape *t, size_t *offset);
void sl_tape_close(struct sl_tape *t);
#endif
