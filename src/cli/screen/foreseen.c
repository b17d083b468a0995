/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The answers of what-if, and times of starts. */
#include "cli/screen/foreseen.h"
#include "api/objects/object.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

/* --- times --------------------------------------------------------------------------------------------- */

static void print_duration(int64_t ms, struct sl_buf *out)
{
    int64_t s = (ms + 999) / 1000;
    if (s < 120) {
        sl_buf_print(out, "%llds", (long long)s);
    } else if (s < 2 * 3600) {
        sl_buf_print(out, "%lldm", (long long)((s + 30) / 60));
    } else if (s < 48 * 3600) {
        sl_buf_print(out, "%lldh%lldm", (long long)(s / 3600), (long long)(s % 3600 / 60));
    } else {
        sl_buf_print(out, "%lldd%lldh", (long long)(s / 86400), (long long)(s % 86400 / 3600));
    }
}

/* Why no start is known. */
static const struct unknown {
    const char *reason;
    const char *column; /* as the start itself */
    const char *clause; /* behind a colon */
    bool never;         /* it is certain: it does not start */
} unknowns[] = {
    {"RunTimesUnknown", "unknown: how long others run is not known",
     "how long others run is not known", false},
    {"DoesNotFit", "not unless something changes", "it does not fit unless something changes",
     true},
    {"JobEnds", "not before its job ends", "its job ends before", true},
    {"PreemptionGated", "not before its preemption gate opens", "its preemption gate is closed",
     false},
    {"NotQueued", "not while it is in no active queue", "it is in no active queue", true},
    {"Horizon", "later than was looked ahead", "it is later than was looked ahead", false},
    {"CutShort", "later than could be computed", "it is later than could be computed", false},
    {NULL, "unknown", "no reason is given", false}};

static const struct unknown *unknown_of(const struct sl_json *row)
{
    const struct unknown *u = unknowns;
    const char *reason = sl_json_path_text(row, "reason", "");
    while (u->reason != NULL && strcmp(u->reason, reason) != 0) {
        u++;
    }
    return u;
}

static bool is_known(const struct sl_json *row)
{
    return sl_json_path_int(row, "waitMilliseconds", -1) >= 0;
}

void sl_foreseen_print_start(const struct sl_json *row, struct sl_buf *out)
{
    SL_PRE(out != NULL);
    int64_t wait_ms = sl_json_path_int(row, "waitMilliseconds", -1);
    const char *certainty = sl_json_path_text(row, "certainty", "");
    if (!is_known(row)) {
        sl_buf_text(out, unknown_of(row)->column);
        return;
    }
    if (wait_ms == 0) {
        sl_buf_text(out, "now");
    } else {
        sl_buf_text(out, strcmp(certainty, "Estimate") == 0 ? "in about " : "in ");
        print_duration(wait_ms, out);
    }
    sl_buf_text(out, strcmp(certainty, "Latest") == 0 ? " at the latest" : "");
}

/* --- what was asked about ------------------------------------------------------------------------------ */

static void print_domains(const struct sl_json *pod_set, struct sl_buf *out)
{
    struct sl_json *assignment = sl_json_get(pod_set, "topologyAssignment");
    if (assignment != NULL) {
        sl_buf_text(out, ", placed as ");
        sl_json_print(assignment, out);
    }
}

static void print_pod_sets(const struct sl_json *asked, struct sl_buf *out)
{
    const struct sl_json *list = sl_json_get(asked, "podSets");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *set = sl_json_at(list, i);
        int64_t count = sl_json_path_int(set, "count", 0);
        sl_buf_print(out, "  pod set %s: %lld pod%s", sl_json_path_text(set, "name", "main"),
                     (long long)count, count == 1 ? "" : "s");
        for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(set, "flavors"), &m);) {
            sl_buf_print(out, ", %s in flavor %s", m.key, sl_json_text(m.value, ""));
        }
        print_domains(set, out);
        sl_buf_text(out, "\n");
    }
}

static void print_name(const struct sl_json *row, struct sl_buf *out)
{
    sl_buf_print(out, "%s/%s", sl_json_path_text(row, "namespace", ""),
                 sl_json_path_text(row, "name", ""));
}

static void print_basis(const struct sl_json *row, struct sl_buf *out)
{
    const struct sl_json *basis = sl_json_get(row, "basis");
    for (size_t i = 0; i < sl_json_len(basis); i++) {
        sl_buf_print(out, "%s%s", i == 0 ? " (based on " : ", ",
                     sl_json_text(sl_json_at(basis, i), ""));
    }
    sl_buf_text(out, sl_json_len(basis) > 0 ? ")" : "");
}

/* "ns/w would be admitted to ClusterQueue cq in 5s (based on runFor)" */
static void print_when(const struct sl_json *asked, const char *when, struct sl_buf *out)
{
    const char *queue = sl_json_path_text(asked, "clusterQueue", "");
    const struct unknown *u = unknown_of(asked);
    bool already = strcmp(when, "Already") == 0, unknown = strcmp(when, "Unknown") == 0;
    sl_buf_text(out, already   ? " is admitted"
                     : unknown ? " would not be admitted"
                               : " would be admitted");
    if (queue[0] != '\0') {
        sl_buf_print(out, " to ClusterQueue %s", queue);
    }
    if (already) {
        sl_buf_text(out, " already");
    } else if (unknown) {
        sl_buf_print(out, "%s: %s", u->never ? "" : " now, and when is not known", u->clause);
    } else {
        sl_buf_text(out, " ");
        sl_foreseen_print_start(asked, out);
        print_basis(asked, out);
    }
    sl_buf_text(out, "\n");
}

static void print_asked(const struct sl_json *asked, struct sl_buf *out)
{
    const struct sl_json *victims = sl_json_get(asked, "preempts");
    print_name(asked, out);
    print_when(asked, sl_json_path_text(asked, "admitted", ""), out);
    print_pod_sets(asked, out);
    for (size_t i = 0; i < sl_json_len(victims); i++) {
        sl_buf_text(out, "  it would preempt ");
        print_name(sl_json_at(victims, i), out);
        sl_buf_text(out, "\n");
    }
}

/* --- what would differ --------------------------------------------------------------------------------- */

static void print_again(const struct sl_json *row, struct sl_buf *out)
{
    const struct unknown *u = unknown_of(row);
    sl_buf_print(out, "  %s; ", sl_json_path_text(row, "evictedFor", ""));
    if (is_known(row)) {
        sl_buf_text(out, "it would start again ");
        sl_foreseen_print_start(row, out);
    } else {
        sl_buf_print(out, "%s: %s",
                     u->never ? "it would not start again"
                              : "when it would start again is not known",
                     u->clause);
    }
}

/* What is, and what would be without the changes. */
static void print_instead(const struct sl_json *row, struct sl_buf *out)
{
    int64_t before_ms = sl_json_path_int(row, "waitMillisecondsBefore", -1);
    sl_buf_text(out, "  ");
    if (is_known(row)) {
        sl_foreseen_print_start(row, out);
        sl_buf_text(out, before_ms < 0 ? "" : " instead of ");
    } else {
        sl_buf_text(out, unknown_of(row)->clause);
        sl_buf_text(out, before_ms < 0 ? "" : "; otherwise it would start ");
    }
    if (before_ms >= 0) {
        sl_buf_text(out, before_ms == 0 ? "now" : "in ");
    }
    if (before_ms > 0) {
        print_duration(before_ms, out);
    }
}

static void print_difference(const struct sl_json *row, struct sl_buf *out)
{
    sl_buf_text(out, "  ");
    print_name(row, out);
    (sl_json_has(row, "evictedFor") ? print_again : print_instead)(row, out);
    sl_buf_text(out, "\n");
}

static bool print_list(const struct sl_json *answer, const char *member, const char *title,
                       struct sl_buf *out)
{
    char path[64];
    const struct sl_json *rows = sl_json_get(answer, member);
    (void)snprintf(path, sizeof path, "counts.%s", member);
    int64_t count = sl_json_path_int(answer, path, 0);
    if (count == 0) {
        return false;
    }
    sl_buf_print(out, "%lld %s:\n", (long long)count, title);
    for (size_t i = 0; i < sl_json_len(rows); i++) {
        print_difference(sl_json_at(rows, i), out);
    }
    if (count > (int64_t)sl_json_len(rows)) {
        sl_buf_print(out, "  and %lld more\n", (long long)count - (long long)sl_json_len(rows));
    }
    return true;
}

void sl_foreseen_print(const struct sl_json *answer, struct sl_buf *out)
{
    SL_PRE(answer != NULL && out != NULL);
    const struct sl_json *asked = sl_json_get(answer, "asked");
    for (size_t i = 0; i < sl_json_len(asked); i++) {
        print_asked(sl_json_at(asked, i), out);
    }
    bool any = print_list(answer, "evicted", "would be evicted", out);
    any = print_list(answer, "started", "would start that otherwise do not", out) || any;
    any = print_list(answer, "sooner", "would start sooner", out) || any;
    any = print_list(answer, "later", "would start later", out) || any;
    any = print_list(answer, "unstarted", "would not start, as far as is known", out) || any;
    if (!any) {
        sl_buf_print(out, "nothing would change for %s workload\n",
                     sl_json_len(asked) > 0 ? "any other" : "any");
    }
    if (strcmp(sl_json_path_text(answer, "ended", ""), "CutShort") == 0) {
        sl_buf_print(out, "the time for an answer was over: what happens after %s is not known\n",
                     sl_json_path_text(answer, "until", ""));
    }
}

/* --- beside other lists -------------------------------------------------------------------------------- */

static struct sl_map *by_key_new(const struct sl_json *rows)
{
    struct sl_map *map = sl_map_new();
    for (size_t i = 0; i < sl_json_len(rows); i++) {
        struct sl_buf key = {0};
        struct sl_json *row = sl_json_at(rows, i);
        print_name(row, &key);
        sl_map_put(map, key.data, (union sl_map_value){.pointer = row});
        sl_buf_fini(&key);
    }
    return map;
}

static void join(struct sl_json *item, const struct sl_json *row)
{
    static const char *const members[] = {"start", "waitMilliseconds", "certainty",
                                          "basis", "reason",           "notBefore"};
    struct sl_json *foreseen = sl_json_path_make(item, "foreseen");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (sl_json_has(row, members[i])) {
            sl_json_set(foreseen, members[i], sl_json_clone(sl_json_get(row, members[i])));
        }
    }
}

void sl_foreseen_join(struct sl_json *items, const struct sl_json *answer)
{
    SL_PRE(items != NULL);
    struct sl_map *rows = by_key_new(sl_json_get(answer, "workloads"));
    for (size_t i = 0; i < sl_json_len(items); i++) {
        char *key = sl_object_key_new(sl_json_at(items, i));
        join(sl_json_at(items, i), sl_map_find(rows, key));
        sl_mem_free(key);
    }
    sl_map_free(rows);
}
