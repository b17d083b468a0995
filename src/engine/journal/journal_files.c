/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The journal's directory. */
#include "engine/journal/journal_files.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/journal/journal.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ASIDE ".aside"

void sl_journal_path(const char *dir, uint64_t number, struct sl_buf *out)
{
    sl_buf_reset(out);
    sl_buf_print(out, "%s/journal-%" PRIu64 ".log", dir, number);
}

static bool parse_name(const char *name, struct sl_journal_file *out)
{
    char *end;
    if (strncmp(name, "journal-", 8) != 0 || name[8] < '0' || name[8] > '9') {
        return false;
    }
    errno = 0;
    out->number = strtoull(name + 8, &end, 10);
    out->aside = strcmp(end, ".log" ASIDE) == 0;
    return errno == 0 && (out->aside || strcmp(end, ".log") == 0);
}

static int compare(const void *a, const void *b)
{
    const struct sl_journal_file *x = a;
    const struct sl_journal_file *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

enum sl_code sl_journal_list(const char *path, struct sl_journal_file **files, size_t *count,
                             struct sl_error *e)
{
    DIR *dir = opendir(path);
    *files = NULL;
    *count = 0;
    if (dir == NULL) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot read %s: %s", path, strerror(errno));
    }
    uint32_t cap = 0;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        struct sl_journal_file file;
        if (parse_name(entry->d_name, &file)) {
            *files = sl_mem_reach(*files, &cap, 16, (uint32_t)*count, sizeof file);
            (*files)[(*count)++] = file;
        }
    }
    closedir(dir);
    if (*count > 0) {
        qsort(*files, *count, sizeof **files, compare);
    }
    return SL_CODE_OK;
}

enum sl_code sl_journal_newest(const char *dir, uint64_t *newest, struct sl_error *e)
{
    struct sl_journal_file *files;
    size_t count;
    enum sl_code code = sl_journal_list(dir, &files, &count, e);
    while (count > 0 && files[count - 1].aside) {
        count--;
    }
    *newest = count == 0 ? 0 : files[count - 1].number;
    sl_mem_free(files);
    return code;
}

void sl_journal_remove_old(const char *dir, uint64_t newest)
{
    struct sl_journal_file *files;
    struct sl_buf path = {0};
    size_t count;
    (void)sl_journal_list(dir, &files, &count, NULL);
    for (size_t i = 0; i < count && files[i].number < newest; i++) {
        if (newest - files[i].number < SL_JOURNAL_KEEP) {
            break;
        }
        sl_journal_path(dir, files[i].number, &path);
        sl_buf_text(&path, files[i].aside ? ASIDE : "");
        (void)unlink(path.data); /* tried again at the next rotation */
    }
    sl_buf_fini(&path);
    sl_mem_free(files);
}

bool sl_journal_set_aside(const char *dir, uint64_t number, const char *why)
{
    struct sl_buf from = {0};
    struct sl_buf to = {0};
    sl_journal_path(dir, number, &from);
    sl_buf_print(&to, "%s" ASIDE, from.data);
    bool renamed = rename(from.data, to.data) == 0;
    sl_log(SL_LOG_WARN,
           renamed ? "a file of the journal is set aside" : "a file of the journal is left alone",
           "file", renamed ? to.data : from.data, "reason", why, NULL);
    sl_buf_fini(&from);
    sl_buf_fini(&to);
    return renamed;
}
