/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From a request to a copy of the process, and back. */
#include "cli/pages/foresight.h"
#include "base/aside.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/pages/metrics.h"
#include "cli/pages/predictions.h"
#include <string.h>

#define SECONDS_MAX 2u /* of CPU, for each run */
#define HORIZON_S_PRESET (30 * 24 * 3600)
#define HORIZON_S_MAX (3650LL * 24 * 3600)
#define LIMIT_PRESET 1000
#define LIMIT_MAX 100000
#define CHANGES_MAX 1000u

struct sl_foresight {
    uv_loop_t *loop;
    struct sl_pages *pages;
    struct sl_server *servers[SL_FORESIGHT_SERVERS_MAX];
    unsigned running;
    struct sl_predictions predictions;
    uint64_t asked, refused, failed, longest_fork_us;
};

/* A question under way: the page's, until its handle is closed. */
struct ask {
    struct sl_server_rest rest;
    struct sl_foresight *f;
    struct sl_aside copy;
    uv_poll_t poll;
    struct sl_buf text;
    struct sl_error e;
    int64_t asked_ms;
    bool done;
};

/* --- answers ---------------------------------------------------------------------------------- */

static void refuse(struct sl_server_page *page, const struct sl_error *e)
{
    struct sl_json *status = sl_status_new(e, SL_KIND_COUNT, "");
    page->status = sl_code_http(e->code);
    sl_json_print(status, &page->body);
    sl_json_free(status);
}

/* A Status that the copy has printed has its own code. */
static int status_of(const char *text, size_t len)
{
    struct sl_error ignored = {0};
    static const char failure[] = "{\"kind\":\"Status\"";
    if (len < sizeof failure - 1 || memcmp(text, failure, sizeof failure - 1) != 0) {
        return 200;
    }
    struct sl_json *status = sl_json_parse(text, len, &ignored);
    int code = (int)sl_json_path_int(status, "code", 500);
    sl_json_free(status);
    return code;
}

static bool go_on(struct sl_server_rest *rest, struct sl_server_page *page)
{
    struct ask *a = (struct ask *)rest;
    page->asleep = !a->done;
    if (!a->done) {
        return true;
    }
    if (a->e.code != SL_CODE_OK) {
        refuse(page, &a->e);
        return false;
    }
    size_t at = sl_question_body(&a->text);
    page->status = status_of(a->text.data + at, a->text.len - at);
    sl_buf_add(&page->body, a->text.data + at, a->text.len - at);
    return false;
}

/* --- the copy --------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    struct ask *a = handle->data;
    sl_buf_fini(&a->text);
    sl_mem_free(a);
}

static void free_ask(struct sl_server_rest *rest)
{
    struct ask *a = (struct ask *)rest;
    (void)uv_poll_stop(&a->poll);
    if (!a->done) {
        a->f->running--;
    }
    sl_aside_end(&a->copy);
    uv_close((uv_handle_t *)&a->poll, on_closed);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct ask *a = poll->data;
    (void)status;
    (void)events;
    (void)uv_poll_stop(poll); /* its descriptor may be closed by this */
    if (sl_aside_read(&a->copy, false, &a->text, &a->e) == SL_ASIDE_MORE) {
        (void)uv_poll_start(poll, UV_READABLE, on_readable);
        return;
    }
    a->done = true;
    a->f->running--;
    a->f->failed += a->e.code != SL_CODE_OK;
    if (a->e.code == SL_CODE_OK) {
        sl_predictions_take(&a->f->predictions, a->text.data, sl_question_body(&a->text),
                            a->asked_ms);
    }
    for (size_t i = 0; i < SL_FORESIGHT_SERVERS_MAX && a->f->servers[i] != NULL; i++) {
        sl_server_wake(a->f->servers[i]);
    }
}

static enum sl_code begin(struct sl_foresight *f, const struct sl_aside_work *work,
                          struct sl_server_page *page, struct sl_error *e)
{
    struct sl_aside copy;
    int64_t began_us = sl_clock_monotonic_us();
    f->asked++;
    if (sl_aside_begin(work, &copy, e) != SL_CODE_OK) {
        return e->code;
    }
    uint64_t took_us = (uint64_t)(sl_clock_monotonic_us() - began_us);
    f->longest_fork_us = took_us > f->longest_fork_us ? took_us : f->longest_fork_us;
    struct ask *a = sl_mem_new(1, sizeof *a);
    *a = (struct ask){.rest = {.go_on = go_on, .free = free_ask},
                      .f = f,
                      .copy = copy,
                      .asked_ms = sl_clock_now_ms()};
    (void)uv_poll_init(f->loop, &a->poll, copy.fd);
    a->poll.data = a;
    (void)uv_poll_start(&a->poll, UV_READABLE, on_readable);
    f->running++;
    page->rest = &a->rest;
    return SL_CODE_OK;
}

/* --- the question ----------------------------------------------------------------------------- */

static enum sl_code read_number(const struct sl_json *body, const char *name, int64_t preset,
                                int64_t most, int64_t *out, struct sl_error *e)
{
    *out = sl_json_path_int(body, name, sl_json_has(body, name) ? -1 : preset);
    return *out > 0 && *out <= most
               ? SL_CODE_OK
               : sl_error_set(e, SL_CODE_BAD_REQUEST, "%s has to be a number from 1 to %lld", name,
                              (long long)most);
}

/* As it would come to the engine. */
static enum sl_code complete(struct sl_controllers *controllers, struct sl_json *change,
                             struct sl_error *e)
{
    struct sl_json *object = sl_json_get(change, "apply");
    struct sl_controllers_run run;
    if (object == NULL) {
        return sl_json_get(change, "delete") != NULL
                   ? SL_CODE_OK
                   : sl_error_set(e, SL_CODE_BAD_REQUEST,
                                  "each of the changes has to have an object under \"apply\" or "
                                  "\"delete\"");
    }
    struct sl_json *completed = sl_json_clone(object);
    enum sl_code code = sl_controllers_wish(controllers, &completed, &run, e);
    sl_json_set(change, "apply", completed);
    if (code == SL_CODE_OK && run.basis != SL_RUN_UNKNOWN) {
        struct sl_json *said = sl_json_path_make(change, "run");
        sl_json_set_int(said, "milliseconds", run.ms);
        sl_json_set_bool(said, "exact", run.basis == SL_RUN_FOR);
    }
    return code;
}

/* Takes it. Parents of variants are not known to the engine: these are changed instead. */
static void add_change(const struct sl_controllers *controllers, struct sl_json *change,
                       struct sl_json *out)
{
    const char *verb = sl_json_has(change, "apply") ? "apply" : "delete";
    struct sl_json *variants = sl_controllers_variants_new(controllers, sl_json_get(change, verb));
    if (variants == NULL) {
        sl_json_append(out, change);
        return;
    }
    for (size_t i = 0; i < sl_json_len(variants); i++) {
        struct sl_json *one = sl_json_clone(change);
        sl_json_set(one, verb, sl_json_ref(sl_json_at(variants, i)));
        sl_json_append(out, one);
    }
    sl_json_free(variants);
    sl_json_free(change);
}

enum sl_code sl_foresight_complete(struct sl_controllers *controllers, const struct sl_json *given,
                                   struct sl_json **out, struct sl_error *e)
{
    SL_PRE(controllers != NULL && out != NULL);
    enum sl_code code = SL_CODE_OK;
    if (given != NULL && sl_json_type(given) != SL_JSON_LIST) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "changes has to be a list");
    }
    if (sl_json_len(given) > CHANGES_MAX) {
        return sl_error_set(e, SL_CODE_TOO_LARGE, "there may be %u changes at most", CHANGES_MAX);
    }
    *out = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(given) && code == SL_CODE_OK; i++) {
        struct sl_json *change = sl_json_clone(sl_json_at(given, i));
        code = complete(controllers, change, e);
        add_change(controllers, change, *out);
    }
    return code;
}

static enum sl_code check_ready(struct sl_foresight *f, struct sl_error *e)
{
    const struct sl_pages *p = f->pages;
    if (p->engine == NULL || p->controllers == NULL || !sl_controllers_ready(p->controllers)) {
        return sl_error_set(e, SL_CODE_UNAVAILABLE,
                            "another instance makes the decisions, or none yet");
    }
    if (f->running >= SL_FORESIGHT_AT_ONCE_MAX) {
        f->refused++;
        return sl_error_set(e, SL_CODE_TOO_MANY,
                            "%u questions are being answered, and no more at once: try again",
                            SL_FORESIGHT_AT_ONCE_MAX);
    }
    return SL_CODE_OK;
}

void sl_foresight_answer(void *context, const struct sl_json *body, struct sl_server_page *page)
{
    struct sl_foresight *f = context;
    SL_PRE(f != NULL && page != NULL);
    struct sl_json *changes = NULL;
    struct sl_error e = {0};
    int64_t horizon_s = 0, limit = 0, now_ms = sl_clock_now_ms();
    bool ok = check_ready(f, &e) == SL_CODE_OK &&
              read_number(body, "horizonSeconds", HORIZON_S_PRESET, HORIZON_S_MAX, &horizon_s,
                          &e) == SL_CODE_OK &&
              read_number(body, "limit", LIMIT_PRESET, LIMIT_MAX, &limit, &e) == SL_CODE_OK &&
              sl_foresight_complete(f->pages->controllers, sl_json_get(body, "changes"), &changes,
                                    &e) == SL_CODE_OK;
    if (ok) {
        struct sl_question q = {.engine = f->pages->engine,
                                .changes = changes,
                                .now_ms = now_ms,
                                .until_ms = now_ms + horizon_s * 1000,
                                .seconds_max = SECONDS_MAX,
                                .rows_max = (size_t)limit};
        const struct sl_aside_work work = sl_question_work(&q, sl_question_answer);
        ok = begin(f, &work, page, &e) == SL_CODE_OK;
    }
    sl_json_free(changes);
    if (!ok) {
        refuse(page, &e);
    }
}

enum sl_code sl_foresight_pending(struct sl_foresight *f, const char *cluster_queue,
                                  const struct sl_pending_range *range, struct sl_server_page *page,
                                  struct sl_error *e)
{
    SL_PRE(f != NULL && cluster_queue != NULL && range != NULL && page != NULL);
    int64_t now_ms = sl_clock_now_ms();
    if (check_ready(f, e) != SL_CODE_OK) {
        return e->code;
    }
    struct sl_question q = {.engine = f->pages->engine,
                            .now_ms = now_ms,
                            .until_ms = now_ms + (int64_t)HORIZON_S_PRESET * 1000,
                            .seconds_max = SECONDS_MAX,
                            .cluster_queue = cluster_queue,
                            .range = range};
    const struct sl_aside_work work = sl_question_work(&q, sl_question_pending);
    return begin(f, &work, page, e);
}

/* --- beginning and end ------------------------------------------------------------------------ */

struct sl_foresight *sl_foresight_new(uv_loop_t *loop, struct sl_pages *pages)
{
    SL_PRE(loop != NULL && pages != NULL);
    struct sl_foresight *f = sl_mem_new(1, sizeof *f);
    *f = (struct sl_foresight){.loop = loop, .pages = pages};
    sl_predictions_init(&f->predictions);
    return f;
}

void sl_foresight_free(struct sl_foresight *f)
{
    if (f != NULL) {
        sl_predictions_fini(&f->predictions);
        sl_mem_free(f);
    }
}

void sl_foresight_serve(struct sl_foresight *f, struct sl_server *server)
{
    SL_PRE(f != NULL);
    size_t i = 0;
    while (server != NULL && f->servers[i] != NULL) {
        i++;
        SL_PRE(i < SL_FORESIGHT_SERVERS_MAX);
    }
    f->servers[i] = server;
}

void sl_foresight_print(struct sl_foresight *f, struct sl_buf *out)
{
    SL_PRE(f != NULL);
    if (f->pages->engine != NULL) {
        sl_predictions_settle(&f->predictions, f->pages->engine);
    }
    sl_predictions_print(&f->predictions, f->pages->role == NULL ? "standalone" : f->pages->role,
                         out);
    sl_metrics_value(out, "sluice_foresight_questions_total",
                     "Questions about what would happen that were asked", f->asked);
    sl_metrics_value(out, "sluice_foresight_refused_total",
                     "Questions that were refused, as too many were asked at once", f->refused);
    sl_metrics_value(out, "sluice_foresight_failures_total",
                     "Questions without an answer: it took too long, or too much memory",
                     f->failed);
    sl_metrics_value(out, "sluice_foresight_longest_fork_microseconds",
                     "How long the loop was held up by one question at most", f->longest_fork_us);
}
