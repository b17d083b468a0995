/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The names of the journal's files: which there are, which are too old, and which are set aside
 * because they cannot be continued. */
#ifndef SL_ENGINE_JOURNAL_FILES_H
#define SL_ENGINE_JOURNAL_FILES_H
#include "base/buf.h"
#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>

/* DIR/journal-<number>.log */
void sl_journal_path(const char *dir, uint64_t number, struct sl_buf *out);
struct sl_journal_file {
    uint64_t number;
    bool aside; /* set aside: it has the suffix .aside */
};
/* Those of the directory by number, set aside or not; the caller frees them. NULL and 0 when it cannot be read. */
enum sl_code sl_journal_list(const char *dir, struct sl_journal_file **files, size_t *count,
                             struct sl_error *e);
/* The highest number in the directory; 0 = no journal yet, but for files that are set aside. */
enum sl_code sl_journal_newest(const char *dir, uint64_t *newest, struct sl_error *e);
/* Files older than the newest SL_JOURNAL_KEEP go, set aside or not. */
void sl_journal_remove_old(const char *dir, uint64_t newest);
/* It gets the suffix .aside, and the log says why. One of that name that is there goes. False: it could not be renamed. */
bool sl_journal_set_aside(const char *dir, uint64_t number, const char *why);
#endif
