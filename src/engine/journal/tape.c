/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One reader after the other. */
#include "engine/journal/tape.h"
#include "base/check.h"
#include "base/mem.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (*x > *y) - (*x < *y);
}

static bool number_of(const char *name, uint64_t *number)
{
    int end = 0;
    return sscanf(name, "journal-%" SCNu64 ".log%n", number, &end) == 1 && end > 0 &&
           name[end] == '\0';
}

static enum sl_code list_files(const char *dir, struct sl_tape *t, struct sl_error *e)
{
    uint64_t numbers[SL_TAPE_FILES_MAX];
    DIR *d = opendir(dir);
    if (d == NULL) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot read %s: %s", dir, strerror(errno));
    }
    for (struct dirent *entry = readdir(d); entry != NULL; entry = readdir(d)) {
        uint64_t number;
        if (t->count < SL_TAPE_FILES_MAX && number_of(entry->d_name, &number)) {
            numbers[t->count++] = number;
        }
    }
    closedir(d);
    qsort(numbers, t->count, sizeof numbers[0], compare);
    for (size_t i = 0; i < t->count; i++) {
        struct sl_buf path = {0};
        sl_buf_print(&path, "%s/journal-%" PRIu64 ".log", dir, numbers[i]);
        t->paths[i] = sl_buf_take(&path);
    }
    if (t->count == 0) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "%s has no journal-<n>.log", dir);
    }
    return SL_CODE_OK;
}

static enum sl_code check_files(const struct sl_tape *t, struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; i < t->count && code == SL_CODE_OK; i++) {
        struct sl_journal_reader *r = NULL;
        code = sl_journal_reader_open(t->paths[i], &r, e);
        uint32_t version = code == SL_CODE_OK ? sl_journal_reader_version(r) : 0;
        if (version > 0 && version < SL_JOURNAL_VERSION) {
            code = sl_error_set(e, SL_CODE_INTERNAL,
                                "%s has journal version %u, this program plays version %u",
                                t->paths[i], version, SL_JOURNAL_VERSION);
        }
        sl_journal_reader_close(r);
    }
    return code;
}

enum sl_code sl_tape_open(const char *path, struct sl_tape *out, struct sl_error *e)
{
    struct stat st;
    enum sl_code code = SL_CODE_OK;
    *out = (struct sl_tape){0};
    if (stat(path, &st) != 0) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "cannot read %s: %s", path, strerror(errno));
    }
    if (S_ISDIR(st.st_mode)) {
        code = list_files(path, out, e);
    } else {
        out->paths[out->count++] = sl_mem_text(path);
    }
    code = code == SL_CODE_OK ? check_files(out, e) : code;
    if (code != SL_CODE_OK) {
        sl_tape_close(out);
    }
    return code;
}

static void next_file(struct sl_tape *t)
{
    sl_journal_reader_close(t->reader);
    t->reader = NULL;
    t->at++;
}

enum sl_journal_end sl_tape_next(struct sl_tape *t, struct sl_journal_record *out)
{
    while (t->at < t->count) {
        struct sl_error e = {0};
        if (t->reader == NULL &&
            sl_journal_reader_open(t->paths[t->at], &t->reader, &e) != SL_CODE_OK) {
            t->reader = NULL; /* it was there a moment ago */
            t->at++;
            return SL_JOURNAL_DAMAGED;
        }
        enum sl_journal_end end = sl_journal_reader_next(t->reader, out);
        if (end == SL_JOURNAL_RECORD) {
            return end;
        }
        if (end != SL_JOURNAL_END && !t->told) {
            t->told = true;
            return end;
        }
        t->told = false;
        next_file(t);
    }
    return SL_JOURNAL_END;
}

const char *sl_tape_where(const struct sl_tape *t, size_t *offset)
{
    SL_PRE(t != NULL);
    *offset = t->reader == NULL ? 0 : sl_journal_reader_offset(t->reader);
    return t->paths[t->at < t->count ? t->at : t->count - 1];
}

void sl_tape_close(struct sl_tape *t)
{
    SL_PRE(t != NULL);
    sl_journal_reader_close(t->reader);
    for (size_t i = 0; i < t->count; i++) {
        sl_mem_free(t->paths[i]);
    }
    *t = (struct sl_tape){0};
}
