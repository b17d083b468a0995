/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Since when it is guarded whose jobs and pods these are. The row `guarded` of the table meta is the revision of the last commit
 * under guard. A commit without it, by this program or by an older one, leaves the row behind the revision; then any
 * client could have written these annotations, and none of them is believed: they are removed. */
#include "store/submitter.h"

#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"

#define PAGE 256u

#define IS_GUARDED                                                                                 \
    "SELECT count(*) FROM meta WHERE key = 'guarded' AND value ="                                  \
    " (SELECT value FROM meta WHERE key = 'revision')"
#define GUARDED_FROM_NOW                                                                           \
    "INSERT OR REPLACE INTO meta SELECT 'guarded', value FROM meta WHERE key = 'revision'"

struct sweep {
    struct sl_store *s;
    enum sl_kind kind;
    uint64_t forgotten;
    enum sl_code code;
    struct sl_error e;
};

static void forget(void *context, struct sl_json *object)
{
    struct sweep *w = context;
    struct sl_json *changed = sl_json_clone(object);
    if (w->code == SL_CODE_OK && sl_submitter_forget(changed)) {
        w->code = sl_db_begin(w->s, &w->e);
        w->code =
            w->code == SL_CODE_OK ? sl_rows_put(w->s, w->kind, changed, object, &w->e) : w->code;
        w->forgotten++;
    }
    sl_json_free(changed);
}

static enum sl_code sweep(struct sweep *w, struct sl_error *e)
{
    struct sl_store_list q = {.kind = w->kind, .ns = "", .scan_max = PAGE};
    char *token = NULL;
    do {
        char *next = NULL;
        q.continue_token = token;
        w->code = SL_CODE_OK;
        enum sl_code code = sl_store_list(w->s, &q, forget, w, NULL, &next, e);
        sl_mem_free(token);
        token = next;
        if (code == SL_CODE_OK && w->code != SL_CODE_OK) {
            *e = w->e;
        }
        code = code == SL_CODE_OK ? w->code : code;
        code = code == SL_CODE_OK ? sl_store_commit(w->s, e) : code;
        w->code = code;
    } while (w->code == SL_CODE_OK && token != NULL);
    sl_mem_free(token);
    return w->code;
}

enum sl_code sl_store_guard_submitters(struct sl_store *s, struct sl_error *e)
{
    SL_PRE(!s->guards && !sl_db_staged(s));
    sl_error_clear(e);
    static const enum sl_kind kinds[] = {SL_KIND_JOB, SL_KIND_POD};
    struct sweep w = {.s = s};
    int64_t guarded = 0;
    enum sl_code code = sl_db_read_int(s, IS_GUARDED, &guarded, e); /* before any commit */
    for (size_t i = 0; code == SL_CODE_OK && guarded == 0 && i < sizeof kinds / sizeof kinds[0];
         i++) {
        w.kind = kinds[i];
        code = sweep(&w, e);
    }
    if (code == SL_CODE_OK && guarded == 0) {
        code = sl_db_run_text(s, GUARDED_FROM_NOW, "write to the database", e);
    }
    s->guards = code == SL_CODE_OK;
    if (s->guards && w.forgotten > 0) {
        sl_log(SL_LOG_WARN,
               "it was not guarded until now who has submitted jobs and pods: these run only when "
               "they are submitted again, or where an administrator says as which user",
               "objects", sl_log_number((int64_t)w.forgotten), NULL);
    }
    return code;
}
