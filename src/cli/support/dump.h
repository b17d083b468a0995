/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* All that the daemon knows in one JSON document, for support: version, configuration, objects without secrets
 * (redact.h), what waits and why, metrics. As a page, and as a file that SIGUSR2 asks for. */
#ifndef SL_CLI_DUMP_H
#define SL_CLI_DUMP_H
#include "cli/pages/pages.h"
#include "cli/pages/visibility.h"

/* As a resource of the Visibility API, so that the API server forwards it, and asks whether the user may list `dump`. */
#define SL_DUMP_PATH SL_VISIBILITY_GROUP_PATH "/v1beta2/dump"

/* A hook of SL_DUMP_PATH; context is a struct sl_pages. */
void sl_dump_serve(void *context, const char *path, const char *query, struct sl_server_page *page);

/* Writes dump.json into a directory, in place of an earlier one, slice by slice; the disk is not waited for. One at a time: asked again meanwhile
 * it says so in the log. */
struct sl_dump_file {
    uv_idle_t idle;
    struct sl_server_page page;
    const char *dir; /* NULL: nothing is written */
    struct sl_buf path, fresh;
    int fd;    /* of the file while it is written; -1: it is not yet */
    size_t at; /* what of it is written */
    bool open, under_way;
};
void sl_dump_file_begin(struct sl_dump_file *f, uv_loop_t *loop, struct sl_pages *pages,
                        const char *dir);
/* The loop has to turn once more. */
void sl_dump_file_end(struct sl_dump_file *f);
#endif
