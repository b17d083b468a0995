/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A question and its answer as text, in a copy of the process; what is compared with comes from a copy of that one. */
#include "base/aside.h"
#include "base/check.h"
#include "base/map.h"
#include "engine/foresight.h"
#include <string.h>
#include <time.h>

#define BYTES_MAX ((size_t)512 << 20) /* of memory, beyond what the engine has */
#define GRACE_S 2u                    /* from "enough" to the end by force */

static bool is_enough(void *context)
{
    const struct sl_question *q = context;
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec >= (time_t)q->seconds_max;
}

static struct sl_foresee_options options_of(struct sl_question *q, size_t rows_max)
{
    return (struct sl_foresee_options){.now_ms = q->now_ms,
                                       .until_ms = q->until_ms,
                                       .cycles_max = q->cycles_max,
                                       .rows_max = rows_max,
                                       .enough = q->seconds_max > 0 ? is_enough : NULL,
                                       .context = q};
}

static void print(struct sl_json *answer, const struct sl_error *e, struct sl_buf *out)
{
    answer = answer != NULL ? answer : sl_status_new(e, SL_KIND_COUNT, "");
    sl_json_print(answer, out);
    sl_json_free(answer);
}

/* A few, spread over all. */
static void print_sample(const struct sl_question *q, const struct sl_json *answer,
                         struct sl_buf *out)
{
    const struct sl_json *rows = sl_json_get(answer, "workloads");
    size_t count = sl_json_len(rows);
    size_t step = count / SL_QUESTION_SAMPLE + 1;
    for (size_t i = 0; i < count && sl_json_len(q->changes) == 0; i += step) {
        const struct sl_json *row = sl_json_at(rows, i);
        int64_t wait_ms = sl_json_path_int(row, "waitMilliseconds", -1);
        int64_t start_ms = q->now_ms + wait_ms;
        if (wait_ms >= 0) {
            sl_buf_print(out, "%s/%s %lld %s\n", sl_json_path_text(row, "namespace", ""),
                         sl_json_path_text(row, "name", ""), (long long)start_ms,
                         sl_json_path_text(row, "certainty", ""));
        }
    }
    sl_buf_text(out, "\n");
}

size_t sl_question_body(const struct sl_buf *result)
{
    SL_PRE(result != NULL);
    if (result->len > 0 && result->data[0] == '\n') {
        return 1;
    }
    const char *end = result->len == 0 ? NULL : strstr(result->data, "\n\n");
    return end == NULL ? result->len : (size_t)(end - result->data) + 2;
}

static void run_before(void *context, struct sl_buf *out)
{
    struct sl_question *q = context;
    struct sl_error e = {0};
    struct sl_foresee_options options = options_of(q, SIZE_MAX);
    print(sl_foresee(q->engine, NULL, NULL, &options, &e), &e, out);
}

/* NULL, and *e, when it has failed. */
static struct sl_json *before_new(struct sl_question *q, struct sl_error *e)
{
    struct sl_buf text = {0};
    struct sl_json *before = NULL;
    const struct sl_aside_work work = sl_question_work(q, run_before);
    if (sl_aside_run(&work, &text, e) == SL_CODE_OK) {
        before = sl_json_parse(text.data, text.len, e);
    }
    sl_buf_fini(&text);
    return before;
}

void sl_question_answer(void *question, struct sl_buf *out)
{
    SL_PRE(question != NULL && out != NULL);
    struct sl_question *q = question;
    struct sl_error e = {0};
    bool changes = sl_json_len(q->changes) > 0;
    struct sl_json *before = changes ? before_new(q, &e) : NULL;
    struct sl_json *answer = NULL;
    if (e.code == SL_CODE_OK) {
        struct sl_foresee_options options = options_of(q, q->rows_max);
        answer = sl_foresee(q->engine, q->changes, before, &options, &e);
    }
    print_sample(q, answer, out);
    print(answer, &e, out);
    sl_json_free(before);
}

/* --- when those of a queue start -------------------------------------------------------------- */

/* Described before the run ahead: it uses up the state. */
static struct sl_json *pending_items_new(const struct sl_question *q)
{
    struct sl_json *items = sl_json_new_list();
    struct sl_json *item;
    struct sl_pending *p = sl_engine_pending_new(q->engine, q->cluster_queue, q->range);
    while ((item = sl_engine_pending_next(q->engine, p)) != NULL) {
        sl_json_append(items, item);
    }
    sl_engine_pending_free(p);
    return items;
}

static void print_key(const struct sl_json *named, struct sl_buf *out)
{
    sl_buf_reset(out);
    sl_buf_print(out, "%s/%s", sl_json_path_text(named, "namespace", ""),
                 sl_json_path_text(named, "name", ""));
}

/* `row`: of the answer; NULL: it says nothing of the workload. */
static void set_foreseen(struct sl_json *item, const struct sl_json *row)
{
    static const char *const members[] = {"start", "waitMilliseconds", "certainty",
                                          "basis", "reason",           "notBefore"};
    struct sl_json *foreseen = sl_json_path_make(item, "foreseen");
    sl_json_set_text(foreseen, "certainty", "Unknown");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (sl_json_has(row, members[i])) {
            sl_json_set(foreseen, members[i], sl_json_ref(sl_json_get(row, members[i])));
        }
    }
}

static void print_items(const struct sl_json *items, const struct sl_json *answer,
                        struct sl_buf *out)
{
    const struct sl_json *rows = sl_json_get(answer, "workloads");
    struct sl_map *by_key = sl_map_new();
    struct sl_buf key = {0};
    for (size_t i = 0; i < sl_json_len(rows); i++) {
        print_key(sl_json_at(rows, i), &key);
        sl_map_put(by_key, key.data, (union sl_map_value){.pointer = sl_json_at(rows, i)});
    }
    for (size_t i = 0; i < sl_json_len(items); i++) {
        struct sl_json *item = sl_json_at(items, i);
        print_key(item, &key);
        set_foreseen(item, sl_map_find(by_key, key.data));
        sl_json_print(item, out);
        sl_buf_text(out, "\n");
    }
    sl_buf_fini(&key);
    sl_map_free(by_key);
}

void sl_question_pending(void *question, struct sl_buf *out)
{
    SL_PRE(question != NULL && out != NULL);
    struct sl_question *q = question;
    struct sl_error e = {0};
    struct sl_json *items = pending_items_new(q);
    struct sl_foresee_options options = options_of(q, SIZE_MAX);
    struct sl_json *answer = sl_foresee(q->engine, NULL, NULL, &options, &e);
    print_sample(q, answer, out);
    if (answer == NULL) {
        print(NULL, &e, out);
    } else {
        print_items(items, answer, out);
    }
    sl_json_free(answer);
    sl_json_free(items);
}

struct sl_aside_work sl_question_work(struct sl_question *q,
                                      void (*run)(void *context, struct sl_buf *result))
{
    SL_PRE(q != NULL);
    /* The copy of the copy has its time within that of the copy. */
    unsigned seconds = q->seconds_max == 0 ? 3600u : q->seconds_max + GRACE_S;
    return (struct sl_aside_work){
        .run = run, .context = q, .seconds_max = seconds, .bytes_max = BYTES_MAX};
}
