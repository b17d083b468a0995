/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/journal/history_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/near.h"
#include "controllers/work/duration.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_JOURNAL "sluice-data"
#define HASH_LEN 5u /* in names of workloads: KIND-NAME-HASH */
#define DAY_MS 86400000LL
#define DAYS_MAX 36500L

/* --- times ------------------------------------------------------------------------------------------------------------- */

static bool parse_days(const char *text, int64_t *ms)
{
    char *end;
    long days = text[0] >= '0' && text[0] <= '9' ? strtol(text, &end, 10) : -1;
    bool good = days >= 0 && days <= DAYS_MAX && strcmp(end, "d") == 0;
    *ms = good ? days * DAY_MS : 0;
    return good;
}

/* "2h" and "30d" ago, "2026-11-21", "2026-11-21T03:00:00Z". */
static bool parse_time(const char *option, const char *text, int64_t *out)
{
    struct sl_error e = {0};
    int64_t ms;
    char day[40];
    if (parse_days(text, &ms) || sl_duration_parse(text, &ms, &e) == SL_CODE_OK) {
        *out = sl_clock_wall_ms() - ms;
        return true;
    }
    (void)snprintf(day, sizeof day, "%.20sT00:00:00Z", text);
    *out = sl_clock_parse(strchr(text, 'T') == NULL ? day : text);
    if (*out == INT64_MIN) {
        (void)sl_ctl_misused(
            "%s: \"%.64s\" is neither a time (2026-11-21T03:00:00Z), nor a day, nor "
            "how long ago (90m, 2h, 30d)",
            option, text);
    }
    return *out != INT64_MIN;
}

bool sl_history_view_init(struct sl_history_view *v, struct sl_ctl *c)
{
    SL_PRE(v != NULL && c != NULL);
    *v = (struct sl_history_view){.c = c,
                                  .since_ms = INT64_MIN,
                                  .until_ms = INT64_MAX,
                                  .queues = sl_map_new(),
                                  .namespaces = sl_map_new(),
                                  .workloads = sl_map_new()};
    if ((c->past.since != NULL && !parse_time("--since", c->past.since, &v->since_ms)) ||
        (c->until != NULL && !parse_time("--until", c->until, &v->until_ms))) {
        return false;
    }
    if (v->since_ms >= v->until_ms) {
        (void)sl_ctl_misused("--until: %.64s is not after --since", c->until);
        return false;
    }
    return true;
}

void sl_history_view_fini(struct sl_history_view *v)
{
    SL_PRE(v != NULL);
    sl_map_free(v->queues);
    sl_map_free(v->namespaces);
    sl_map_free(v->workloads);
}

/* --- names --------------------------------------------------------------------------------------------------------------- */

size_t sl_history_view_namespace_len(const char *workload)
{
    return strcspn(workload, "/");
}

const char *sl_history_view_name(const char *workload)
{
    const char *slash = strchr(workload, '/');
    return slash == NULL ? workload : slash + 1;
}

static bool is_hash(const char *text)
{
    return strlen(text) == HASH_LEN && strspn(text, "0123456789abcdef") == HASH_LEN;
}

const char *sl_history_view_job(const char *name, size_t *len, size_t *kind_len)
{
    SL_PRE(name != NULL && len != NULL && kind_len != NULL);
    const char *first = strchr(name, '-');
    const char *last = strrchr(name, '-');
    *len = first != NULL && first < last && is_hash(last + 1) ? (size_t)(last - first - 1) : 0;
    *kind_len = *len > 0 ? (size_t)(first - name) : 0;
    return *len > 0 ? first + 1 : "";
}

bool sl_history_view_wants(const struct sl_history_view *v, const char *workload, const char *queue)
{
    const struct sl_ctl *c = v->c;
    size_t len = sl_history_view_namespace_len(workload);
    return (c->past.queue == NULL || strcmp(c->past.queue, queue) == 0) &&
           (!c->ns_given || (strlen(c->ns) == len && strncmp(c->ns, workload, len) == 0));
}

bool sl_history_view_unknown(const struct sl_history_view *v, const struct sl_map *known,
                             const char *what, const char *name)
{
    struct sl_near near;
    struct sl_buf hint = {0};
    sl_near_start(&near, name);
    for (struct sl_map_item i = {0}; sl_map_each(known, &i);) {
        sl_near_try(&near, i.key);
    }
    sl_near_print(&near, &hint);
    fprintf(stderr, "sluicectl: %s: the journal knows no %s %s%s\n", v->c->command, what, name,
            hint.data == NULL ? "" : hint.data);
    sl_buf_fini(&hint);
    return false;
}

/* --- reading ------------------------------------------------------------------------------------------------------------- */

static void note(struct sl_map *names, const char *name, size_t len)
{
    char *text = sl_mem_text_n(name, len);
    sl_map_put(names, text, (union sl_map_value){.number = 0});
    sl_mem_free(text);
}

static void take_queue(void *context, const char *name)
{
    struct sl_history_view *v = context;
    note(v->queues, name, strlen(name));
}

static void take_move(void *context, const struct sl_history_move *m)
{
    struct sl_history_view *v = context;
    const char *name = sl_history_view_name(m->workload);
    size_t len, kind_len;
    const char *job = sl_history_view_job(name, &len, &kind_len);
    note(v->namespaces, m->workload, sl_history_view_namespace_len(m->workload));
    note(v->workloads, name, strlen(name));
    if (len > 0) {
        note(v->workloads, job, len);
    }
    v->taker.move(v->taker.context, m);
}

static void take_begin(void *context, int64_t time_ms)
{
    struct sl_history_view *v = context;
    if (v->taker.begin != NULL) {
        v->taker.begin(v->taker.context, time_ms);
    }
}

static void take_end(void *context, int64_t time_ms)
{
    struct sl_history_view *v = context;
    if (v->taker.end != NULL) {
        v->taker.end(v->taker.context, time_ms);
    }
}

static bool known(const struct sl_map *names, const char *name)
{
    union sl_map_value ignored;
    return sl_map_get(names, name, &ignored);
}

bool sl_history_view_read(struct sl_history_view *v, const struct sl_history_taker *taker)
{
    SL_PRE(v != NULL && taker != NULL && taker->move != NULL);
    const struct sl_ctl *c = v->c;
    const struct sl_history_taker mine = {
        .context = v, .queue = take_queue, .begin = take_begin, .move = take_move, .end = take_end};
    struct sl_error e = {0};
    v->taker = *taker;
    if (sl_history_read(c->past.journal == NULL ? DEFAULT_JOURNAL : c->past.journal, &mine,
                        &v->result, &e) != SL_CODE_OK) {
        (void)sl_ctl_failed(c->command, &e);
        if (c->past.journal == NULL) {
            fprintf(stderr, "    --journal says where it is: the directory that sluiced has as "
                            "--data\n");
        }
        return false;
    }
    if (c->past.queue != NULL && !known(v->queues, c->past.queue)) {
        return sl_history_view_unknown(v, v->queues, "ClusterQueue", c->past.queue);
    }
    return !c->ns_given || known(v->namespaces, c->ns) ||
           sl_history_view_unknown(v, v->namespaces, "workload in namespace", c->ns);
}

/* --- what it covers ------------------------------------------------------------------------------------------------------ */

void sl_history_view_set_time(struct sl_json *to, const char *member, int64_t time_ms)
{
    char text[40];
    sl_clock_format_micro(time_ms, text);
    sl_json_set_text(to, member, text);
}

struct sl_json *sl_history_view_json_new(const struct sl_history_view *v)
{
    struct sl_json *out = sl_json_new_map();
    if (v->result.runs > 0) {
        sl_history_view_set_time(out, "begin", v->result.begin_ms);
        sl_history_view_set_time(out, "end", v->result.end_ms);
    }
    sl_json_set_bool(out, "complete", !v->result.partial);
    if (v->result.partial) {
        sl_json_set_text(out, "missing", v->result.why);
    }
    return out;
}

int sl_history_view_conclude(const struct sl_history_view *v)
{
    const struct sl_history_result *r = &v->result;
    const char *command = v->c->command;
    char begin[32];
    (void)fflush(stdout);
    if (v->since_ms != INT64_MIN && r->runs > 0 && v->since_ms < r->begin_ms) {
        sl_clock_format(r->begin_ms, begin);
        fprintf(stderr, "sluicectl: %s: the journal begins at %s: what was before is not in it\n",
                command, begin);
    }
    if (r->torn > 0) {
        fprintf(stderr,
                "sluicectl: %s: the journal ends within a record, as a crash leaves it, or a "
                "daemon that is writing\n",
                command);
    }
    if (r->partial) {
        fprintf(stderr, "sluicectl: %s: not all of the journal can be reported: %s\n", command,
                r->why);
    }
    return r->partial ? 1 : 0;
}

/* --- CSV ----------------------------------------------------------------------------------------------------------------- */

void sl_history_view_csv(struct sl_buf *out, const char *text)
{
    bool first = out->len == 0 || out->data[out->len - 1] == '\n';
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    sl_buf_text(out, first ? "" : ",");
    sl_buf_text(out, quoted ? "\"" : "");
    for (const char *c = text; *c != '\0'; c++) {
        sl_buf_text(out, *c == '"' ? "\"" : "");
        sl_buf_add(out, c, 1);
    }
    sl_buf_text(out, quoted ? "\"" : "");
}
