/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The journal's directory. */
#include "engine/journal/journal_files.h"
#include "base/log.h"
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

static bool parse_name(const char *name, uint64_t *number, bool *aside)
{
    char *end;
    if (strncmp(name, "journal-", 8) != 0 || name[8] < '0' || name[8] > '9') {
        return false;
    }
    errno = 0;
    *number = strtoull(name + 8, &end, 10);
    *aside = strcmp(end, ".log" ASIDE) == 0;
    return errno == 0 && (*aside || strcmp(end, ".log") == 0);
}

enum sl_code sl_journal_newest(const char *path, uint64_t *newest, struct sl_error *e)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot read the journal directory %s: %s", path,
                            strerror(errno));
    }
    uint64_t number;
    bool aside;
    *newest = 0;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (parse_name(entry->d_name, &number, &aside) && !aside && number > *newest) {
            *newest = number;
        }
    }
    closedir(dir);
    return SL_CODE_OK;
}

void sl_journal_remove_old(const char *path, uint64_t newest)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return;
    }
    struct sl_buf file = {0};
    uint64_t number;
    bool aside;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (parse_name(entry->d_name, &number, &aside) && number < newest &&
            newest - number >= SL_JOURNAL_KEEP) {
            sl_buf_reset(&file);
            sl_buf_print(&file, "%s/%s", path, entry->d_name);
            (void)unlink(file.data); /* tried again at the next rotation */
        }
    }
    sl_buf_fini(&file);
    closedir(dir);
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
