/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A cache of reviews: keyed by the question's own text, so that nothing but the same question gets its answer. An asker
 * has a share of the questions that may be under way at a time, so that one asker cannot keep others from asking. */
#include "cli/pages/reviews.h"
#include "base/check.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

#define ANSWER_MS_MAX 5000
/* Questions that were answered with yes lately have slots of their own: known users do not wait
 * behind guesses. */
#define RESERVED 8u
#define YES_MS_MAX 300000

struct entry {
    struct sl_reviews *reviews;
    struct sl_exchange *exchange; /* NULL: it has been answered */
    char *asker;
    struct sl_json *status; /* NULL then: in vain */
    char why[160];
    bool yes;         /* the last answer */
    int64_t until_ms; /* it is not asked again; a yes is remembered for longer */
};
struct sl_reviews {
    struct sl_reviews_options o;
    struct sl_map *entries;
    struct sl_review_counters counters;
};

static int64_t now_ms(void)
{
    return (int64_t)(uv_hrtime() / 1000000);
}

struct sl_reviews *sl_reviews_new(const struct sl_reviews_options *options)
{
    SL_PRE(options->known != NULL && options->under_way_max > 0 && options->each_max > 0);
    struct sl_reviews *r = sl_mem_new(1, sizeof *r);
    *r = (struct sl_reviews){.o = *options, .entries = sl_map_new()};
    return r;
}

static void free_entry(void *value)
{
    struct entry *x = value;
    if (x->exchange != NULL) {
        sl_transport_cancel(x->exchange);
    }
    sl_json_free(x->status);
    sl_mem_free(x->asker);
    sl_mem_free(x);
}

void sl_reviews_free(struct sl_reviews *r)
{
    if (r == NULL) {
        return;
    }
    sl_map_free_with(r->entries, free_entry);
    sl_mem_free(r);
}

/* --- room ------------------------------------------------------------------------------------ */

static void drop(struct sl_reviews *r, const char *key, struct entry *x)
{
    (void)sl_map_remove(r->entries, key, NULL);
    free_entry(x);
}

static void forget(struct sl_reviews *r, const char *key)
{
    union sl_map_value value;
    if (sl_map_get(r->entries, key, &value)) {
        drop(r, key, value.pointer);
    }
}

static bool is_old(const struct entry *x)
{
    return x->until_ms + (x->yes ? YES_MS_MAX : 0) <= now_ms();
}

/* Answers that go first: those that are too old, then those that were no, then any. */
static bool goes(const struct entry *x, int round)
{
    return x->exchange == NULL && (is_old(x) || (round == 1 && !x->yes) || round == 2);
}

static unsigned under_way_of(const struct sl_reviews *r, const char *asker)
{
    unsigned n = 0;
    for (struct sl_map_item e = {0}; sl_map_each(r->entries, &e);) {
        const struct entry *x = e.value.pointer;
        n += x->exchange != NULL && strcmp(x->asker, asker) == 0;
    }
    return n;
}

/* For a question that is new, or `known` to have been answered with yes. When all places are taken, an asker that has
 * none of them waits for one (OK in *e): an answer will come. */
static bool has_place(const struct sl_reviews *r, const char *asker, bool known, struct sl_error *e)
{
    unsigned own = under_way_of(r, asker);
    bool place = r->counters.under_way < r->o.under_way_max + (known ? RESERVED : 0);
    if ((!place && own > 0) || (!known && own >= r->o.each_max)) {
        (void)sl_error_set(e, SL_CODE_TOO_MANY,
                           "too many requests of this client wait for authorization");
        return false;
    }
    return place;
}

static void make_room(struct sl_reviews *r)
{
    for (int round = 0; round < 3 && sl_map_count(r->entries) >= SL_REVIEWS_MAX; round++) {
        for (struct sl_map_item e = {0};
             (round == 0 || sl_map_count(r->entries) >= SL_REVIEWS_MAX) &&
             sl_map_each(r->entries, &e);) {
            if (goes(e.value.pointer, round)) {
                drop(r, e.key, e.value.pointer);
            }
        }
    }
}

/* --- questions ------------------------------------------------------------------------------- */

static void read_answer(struct entry *x, const struct sl_response *response)
{
    struct sl_error e = {0};
    struct sl_json *review = response->status == 0
                                 ? NULL
                                 : sl_json_parse_received(response->body, response->body_len, &e);
    const struct sl_json *status = sl_json_get(review, "status");
    if (response->code == SL_CODE_OK && sl_json_type(status) == SL_JSON_MAP) {
        x->status = sl_json_clone(status);
        x->yes = sl_json_path_bool(status, "authenticated", false) ||
                 sl_json_path_bool(status, "allowed", false);
    } else if (response->status == 0) {
        (void)snprintf(x->why, sizeof x->why, "%s", response->reason);
    } else {
        (void)snprintf(x->why, sizeof x->why, "%d %s", response->status,
                       sl_json_path_text(review, "message", "without a status"));
    }
    sl_json_free(review);
}

static void on_answer(void *context, const struct sl_response *response)
{
    struct entry *x = context;
    struct sl_reviews *r = x->reviews;
    x->exchange = NULL;
    r->counters.under_way--;
    read_answer(x, response);
    x->until_ms = now_ms() + (x->status != NULL ? SL_REVIEW_KEEP_MS : SL_REVIEW_KEEP_FAILED_MS);
    if (x->status == NULL) {
        r->counters.failed++;
        sl_log(SL_LOG_WARN, "the API server could not be asked for authorization", "why", x->why,
               NULL);
    }
    r->o.known(r->o.context);
}

static void ask(struct sl_reviews *r, const char *asker, const char *key, const char *path,
                const struct sl_buf *body)
{
    struct entry *x = sl_mem_new(1, sizeof *x);
    const struct sl_request request = {.method = "POST",
                                       .path = path,
                                       .content_type = "application/json",
                                       .body = body->data,
                                       .body_len = body->len,
                                       .timeout_ms = ANSWER_MS_MAX};
    x->reviews = r;
    x->asker = sl_mem_text(asker);
    r->counters.asked++;
    r->counters.under_way++;
    sl_map_put(r->entries, key, (union sl_map_value){.pointer = x});
    x->exchange = sl_transport_send(r->o.transport, &request, NULL, on_answer, x);
}

/* `known`: it is not there any more, and was yes. */
static const struct sl_json *look_up(struct sl_reviews *r, const char *key, bool *there,
                                     bool *known, struct sl_error *e)
{
    union sl_map_value value;
    *there = sl_map_get(r->entries, key, &value);
    *known = false;
    struct entry *x = *there ? value.pointer : NULL;
    if (x == NULL || x->exchange != NULL) {
        return NULL;
    }
    if (x->until_ms <= now_ms()) {
        *there = false;
        *known = x->yes && !is_old(x);
        return NULL;
    }
    if (x->status == NULL) {
        (void)sl_error_set(e, SL_CODE_UNAVAILABLE, "the API server could not be asked: %s", x->why);
    }
    return x->status;
}

const struct sl_json *sl_reviews_ask(struct sl_reviews *r, const char *asker, const char *path,
                                     const struct sl_json *review, struct sl_error *e)
{
    bool there, known;
    struct sl_buf body = {0}, key = {0};
    SL_PRE(r != NULL && asker != NULL && path != NULL && review != NULL && e != NULL);
    sl_error_clear(e);
    sl_json_print(review, &body);
    sl_buf_print(&key, "%s\n%s", path, body.data);
    const struct sl_json *status = look_up(r, key.data, &there, &known, e);
    if (!there && has_place(r, asker, known, e)) {
        forget(r, key.data);
        make_room(r);
        ask(r, asker, key.data, path, &body);
    }
    sl_buf_fini(&body);
    sl_buf_fini(&key);
    return status;
}

void sl_reviews_count(const struct sl_reviews *r, struct sl_review_counters *out)
{
    SL_PRE(r != NULL && out != NULL);
    *out = r->counters;
    out->kept = sl_map_count(r->entries);
}
