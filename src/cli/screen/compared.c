/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/screen/compared.h"
#include "base/check.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- figures --------------------------------------------------------------------------------------------- */

static void print_seconds(int64_t s, char out[static 32])
{
    if (s < 120) {
        (void)snprintf(out, 32, "%" PRId64 "s", s);
    } else if (s < 2 * 3600) {
        (void)snprintf(out, 32, "%" PRId64 "m%" PRId64 "s", s / 60, s % 60);
    } else {
        (void)snprintf(out, 32, "%" PRId64 "h%" PRId64 "m", s / 3600, s % 3600 / 60);
    }
}

static int64_t number(const struct sl_json *figures, const char *key)
{
    return sl_json_path_int(figures, key, 0);
}

static void print_figure(const struct sl_json *report, const char *title, const char *key,
                         bool seconds, struct sl_buf *out)
{
    char before[32], after[32];
    int64_t a = number(sl_json_get(report, "before"), key);
    int64_t b = number(sl_json_get(report, "after"), key);
    if (seconds) {
        print_seconds(a, before);
        print_seconds(b, after);
    } else {
        (void)snprintf(before, sizeof before, "%" PRId64, a);
        (void)snprintf(after, sizeof after, "%" PRId64, b);
    }
    sl_buf_print(out, "%-24s %10s %10s\n", title, before, after);
}

static void print_queues(const struct sl_json *report, struct sl_buf *out)
{
    const struct sl_json *list = sl_json_get(report, "clusterQueues");
    sl_buf_print(out, "\n%-24s %9s %21s %21s\n", "CLUSTERQUEUE", "WORKLOADS", "WAIT P95",
                 "EVICTIONS");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *row = sl_json_at(list, i);
        const struct sl_json *a = sl_json_get(row, "before"), *b = sl_json_get(row, "after");
        char before[32], after[32];
        print_seconds(number(a, "waitP95Seconds"), before);
        print_seconds(number(b, "waitP95Seconds"), after);
        sl_buf_print(out, "%-24s %9" PRId64 " %9s > %9s %9" PRId64 " > %9" PRId64 "\n",
                     sl_json_path_text(row, "clusterQueue", ""), number(a, "workloads"), before,
                     after, number(a, "evictions"), number(b, "evictions"));
    }
}

static void print_part(const struct sl_json *o, const char *key, char out[static 16])
{
    int64_t permille = sl_json_path_int(o, key, -1);
    (void)snprintf(out, 16, permille < 0 ? "-" : "%d.%d%%", (int)(permille / 10),
                   (int)(permille % 10));
}

static void print_uses(const struct sl_json *report, struct sl_buf *out)
{
    const struct sl_json *list = sl_json_get(report, "utilization");
    sl_buf_print(out, "\n%-40s %19s %19s\n", "QUEUE:FLAVOR:RESOURCE", "USED OF QUOTA",
                 "SHARE OF ALL USE");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *row = sl_json_at(list, i);
        char cell[200], text[4][16];
        (void)snprintf(cell, sizeof cell, "%.80s:%.50s:%.60s", sl_json_path_text(row, "queue", ""),
                       sl_json_path_text(row, "flavor", ""),
                       sl_json_path_text(row, "resource", ""));
        print_part(row, "before.usedPermille", text[0]);
        print_part(row, "after.usedPermille", text[1]);
        print_part(row, "before.sharePermille", text[2]);
        print_part(row, "after.sharePermille", text[3]);
        sl_buf_print(out, "%-40s %8s > %8s %8s > %8s\n", cell, text[0], text[1], text[2], text[3]);
    }
}

/* --- workloads ------------------------------------------------------------------------------------------- */

static void print_wait(const struct sl_json *row, const char *key, struct sl_buf *out)
{
    char text[32];
    if (!sl_json_has(row, key)) {
        sl_buf_text(out, "not at all");
        return;
    }
    print_seconds(number(row, key), text);
    sl_buf_print(out, "after %s", text);
}

static void print_row(const struct sl_json *row, bool evictions, struct sl_buf *out)
{
    sl_buf_print(out, "  %s  ", sl_json_path_text(row, "workload", ""));
    if (evictions) {
        sl_buf_print(out, "%" PRId64 ", else %" PRId64 "\n", number(row, "evictions"),
                     number(row, "evictionsBefore"));
        return;
    }
    print_wait(row, "waitSeconds", out);
    sl_buf_text(out, ", else ");
    print_wait(row, "waitSecondsBefore", out);
    sl_buf_text(out, "\n");
}

static bool print_list(const struct sl_json *report, const char *list, const char *title,
                       bool evictions, struct sl_buf *out)
{
    const struct sl_json *rows = sl_json_get(report, list);
    int64_t count = number(sl_json_get(report, "counts"), list);
    if (count == 0) {
        return false;
    }
    sl_buf_print(out, "%" PRId64 " %s:\n", count, title);
    for (size_t i = 0; i < sl_json_len(rows); i++) {
        print_row(sl_json_at(rows, i), evictions, out);
    }
    if (count > (int64_t)sl_json_len(rows)) {
        sl_buf_print(out, "  and %" PRId64 " more\n", count - (int64_t)sl_json_len(rows));
    }
    return true;
}

static void print_basis(const struct sl_json *report, struct sl_buf *out)
{
    const struct sl_json *list = sl_json_get(report, "assumptions");
    const struct sl_json *notes = sl_json_get(report, "notes");
    sl_buf_text(out, "\nIt is assumed of workloads that they are\n");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *row = sl_json_at(list, i);
        sl_buf_print(out, "  %s (%" PRId64 ")\n", sl_json_path_text(row, "assumption", ""),
                     number(row, "workloads"));
    }
    for (size_t i = 0; i < sl_json_len(notes); i++) {
        const struct sl_json *row = sl_json_at(notes, i);
        sl_buf_print(out, "note: %s (%" PRId64 ")\n", sl_json_path_text(row, "note", ""),
                     number(row, "count"));
    }
}

void sl_compared_print(const struct sl_json *report, struct sl_buf *out)
{
    SL_PRE(report != NULL && out != NULL);
    sl_buf_print(out, "%s to %s, %" PRId64 " workloads\n", sl_json_path_text(report, "from", ""),
                 sl_json_path_text(report, "until", ""),
                 number(sl_json_get(report, "before"), "workloads"));
    sl_buf_print(out,
                 "played as it was, %" PRId64 " of them fare otherwise than the journal says\n\n",
                 number(report, "playedOtherwise"));
    sl_buf_print(out, "%-24s %10s %10s\n", "", "BEFORE", "AFTER");
    print_figure(report, "started", "started", false, out);
    print_figure(report, "waiting at the end", "waiting", false, out);
    print_figure(report, "finished", "finished", false, out);
    print_figure(report, "evictions", "evictions", false, out);
    print_figure(report, "wait: mean", "waitMeanSeconds", true, out);
    print_figure(report, "wait: median", "waitP50Seconds", true, out);
    print_figure(report, "wait: 95 of 100 within", "waitP95Seconds", true, out);
    print_figure(report, "wait: longest", "waitMaxSeconds", true, out);
    print_queues(report, out);
    print_uses(report, out);
    sl_buf_text(out, "\n");
    bool any = print_list(report, "sooner", "start sooner", false, out);
    any = print_list(report, "later", "start later", false, out) || any;
    any = print_list(report, "started", "start that did not", false, out) || any;
    any = print_list(report, "unstarted", "do not start any more", false, out) || any;
    any = print_list(report, "evictedMore", "are evicted more often", true, out) || any;
    any = print_list(report, "evictedLess", "are evicted less often", true, out) || any;
    if (!any) {
        sl_buf_text(out, "nothing changes for any workload\n");
    }
    print_basis(report, out);
}

/* --- limits ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *key;
    bool seconds;
} metrics[] = {{"wait_mean", "waitMeanSeconds", true},
               {"wait_p50", "waitP50Seconds", true},
               {"wait_p95", "waitP95Seconds", true},
               {"wait_max", "waitMaxSeconds", true},
               {"evictions", "evictions", false},
               {"waiting", "waiting", false},
               {"started", "started", false},
               {"finished", "finished", false},
               {"later", "later", false},
               {"sooner", "sooner", false},
               {"otherwise", "playedOtherwise", false}};
#define METRICS (sizeof metrics / sizeof metrics[0])
enum { LATER = 8 }; /* from here on: of the whole report, and of no queue */

struct limit {
    char queue[256];
    size_t metric;
    bool above;    /* it must not be */
    bool relative; /* to what it was before; `percent` of that */
    bool percent;
    double value;
};

static bool parse_metric(const char *text, size_t len, struct limit *l)
{
    const char *colon = memchr(text, ':', len);
    size_t queue_len = colon == NULL ? 0 : (size_t)(colon - text);
    if (queue_len >= sizeof l->queue) {
        return false;
    }
    memcpy(l->queue, text, queue_len);
    l->queue[queue_len] = '\0';
    text += colon == NULL ? 0 : queue_len + 1;
    len -= colon == NULL ? 0 : queue_len + 1;
    for (l->metric = 0; l->metric < METRICS; l->metric++) {
        if (strlen(metrics[l->metric].name) == len &&
            strncmp(metrics[l->metric].name, text, len) == 0) {
            return l->metric < LATER || queue_len == 0;
        }
    }
    return false;
}

static bool parse_value(const char *text, struct limit *l)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"s", 1}, {"m", 60}, {"h", 3600}};
    char unit[8] = "";
    l->relative = text[0] == '+' || text[0] == '-';
    int n = sscanf(text, "%lf%7s", &l->value, unit);
    l->percent = strcmp(unit, "%") == 0;
    if (n == 1) {
        return true;
    }
    for (size_t i = 0; n == 2 && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(unit, units[i].unit) == 0) {
            l->value *= units[i].seconds;
            return metrics[l->metric].seconds;
        }
    }
    return n == 2 && l->percent && l->relative;
}

static bool parse(const char *text, struct limit *out)
{
    size_t at = strcspn(text, "<>");
    *out = (struct limit){.above = text[at] == '>'};
    return text[at] != '\0' && parse_metric(text, at, out) && parse_value(text + at + 1, out);
}

static int64_t figure(const struct sl_json *report, const struct sl_json *of, const char *when,
                      size_t metric)
{
    if (metric < LATER) {
        return number(sl_json_get(of, when), metrics[metric].key);
    }
    bool otherwise =
        sl_json_has(report, metrics[metric].key) && strcmp(metrics[metric].name, "otherwise") == 0;
    return number(otherwise ? report : sl_json_get(report, "counts"), metrics[metric].key);
}

bool sl_compared_limit(const struct sl_json *report, const char *text, bool *broken,
                       struct sl_buf *why, struct sl_error *e)
{
    SL_PRE(report != NULL && text != NULL && broken != NULL && why != NULL && e != NULL);
    struct limit l;
    *broken = false;
    if (!parse(text, &l)) {
        (void)sl_error_set(e, SL_CODE_BAD_REQUEST,
                           "--fail-if: \"%.80s\" is not [CLUSTERQUEUE:]METRIC>VALUE, such as "
                           "wait_p95>+10%%, research:wait_max>2h or evictions>+5",
                           text);
        return false;
    }
    const struct sl_json *of =
        l.queue[0] == '\0'
            ? report
            : sl_json_find_by(sl_json_get(report, "clusterQueues"), "clusterQueue", l.queue);
    if (of == NULL) {
        (void)sl_error_set(e, SL_CODE_BAD_REQUEST,
                           "--fail-if: the journal has no workload of a ClusterQueue \"%.80s\"",
                           l.queue);
        return false;
    }
    double before = (double)figure(report, of, "before", l.metric);
    double after = (double)figure(report, of, "after", l.metric);
    double limit = !l.relative ? l.value
                   : l.percent ? before + before * l.value / 100
                               : before + l.value;
    *broken = l.above ? after > limit : after < limit;
    sl_buf_print(why, "%s: it is %.0f%s, and was %.0f%s", text, after,
                 metrics[l.metric].seconds ? "s" : "", before,
                 metrics[l.metric].seconds ? "s" : "");
    return true;
}
