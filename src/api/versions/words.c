/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Paths in messages: a client that wrote v1beta1 looks for what is wrong under the names of v1beta1. */
#include <string.h>

#include "api/objects/schema.h"
#include "api/versions/versions.h"
#include "base/mem.h"

/* A path begins at a word and has nothing but names, dots and numbers of items. */
static size_t path_len(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.[]");
}

static bool is_path(const char *text)
{
    return strncmp(text, "spec.", 5) == 0 || strncmp(text, "status.", 7) == 0;
}

static void say_old(enum sl_kind kind, char *text, size_t size)
{
    struct sl_buf said = {0};
    sl_buf_text(&said, "");
    for (const char *at = text; *at != '\0';) {
        size_t len = path_len(at);
        if (len > 0 && is_path(at)) {
            char *path = sl_mem_text_n(at, len);
            char *older = sl_schema_old_path(kind, path);
            sl_buf_text(&said, older != NULL ? older : path);
            sl_mem_free(older);
            sl_mem_free(path);
        } else {
            len = len > 0 ? len : 1;
            sl_buf_add(&said, at, len);
        }
        at += len;
    }
    strncpy(text, said.data, size - 1);
    text[size - 1] = '\0';
    sl_buf_fini(&said);
}

void sl_version_error_old(enum sl_kind kind, struct sl_error *e)
{
    say_old(kind, e->text, sizeof e->text);
    for (unsigned i = 0; i < e->cause_count && i < SL_CAUSES_MAX; i++) {
        say_old(kind, e->causes[i].field, sizeof e->causes[i].field);
    }
}
