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

static void print_unknown(const struct sl_json *row, struct sl_buf *out)
{
    static const struct {
        const char *reason, *text;
    } texts[] = {{"RunTimesUnknown", "unknown: how long others run is not known"},
                 {"DoesNotFit", "not before something changes"},
                 {"NotQueued", "it is in no queue that is served"},
                 {"Horizon", "later than was looked ahead"},
                 {"CutShort", "later than could be computed"}};
    const char *reason = sl_json_path_text(row, "reason", "");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(texts[i].reason, reason) == 0) {
            sl_buf_text(out, texts[i].text);
            return;
        }
    }
    sl_buf_text(out, "unknown");
}

void sl_foreseen_print_start(const struct sl_json *row, struct sl_buf *out)
{
    SL_PRE(out != NULL);
    int64_t wait_ms = sl_json_path_int(row, "waitMilliseconds", -1);
    const char *certainty = sl_json_path_text(row, "certainty", "");
    if (wait_ms < 0) {
        print_unknown(row, out);
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
        sl_buf_print(out, "  pod set %s: %lld pods", sl_json_path_text(set, "name", "main"),
                     (long long)sl_json_path_int(set, "count", 0));
        for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(set, "flavors"), &m);) {
            sl_buf_print(out, ", %s of flavor %s", m.key, sl_json_text(m.value, ""));
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
        sl_buf_print(out, "%s%s", i == 0 ? " (rests on " : ", ",
                     sl_json_text(sl_json_at(basis, i), ""));
    }
    sl_buf_text(out, sl_json_len(basis) > 0 ? ")" : "");
}

static void print_asked(const struct sl_json *asked, struct sl_buf *out)
{
    const char *when = sl_json_path_text(asked, "admitted", "");
    const struct sl_json *victims = sl_json_get(asked, "preempts");
    print_name(asked, out);
    if (strcmp(when, "Already") == 0) {
        sl_buf_text(out, " is admitted already");
    } else if (strcmp(when, "Unknown") == 0) {
        sl_buf_text(out, " would not be admitted now: ");
        print_unknown(asked, out);
    } else {
        sl_buf_text(out, " would be admitted ");
        sl_foreseen_print_start(asked, out);
        print_basis(asked, out);
    }
    sl_buf_print(out, ", queue %s\n", sl_json_path_text(asked, "clusterQueue", ""));
    print_pod_sets(asked, out);
    for (size_t i = 0; i < sl_json_len(victims); i++) {
        sl_buf_text(out, "  it would preempt ");
        print_name(sl_json_at(victims, i), out);
        sl_buf_text(out, "\n");
    }
}

/* --- what would differ --------------------------------------------------------------------------------- */

static void print_difference(const struct sl_json *row, struct sl_buf *out)
{
    int64_t before_ms = sl_json_path_int(row, "waitMillisecondsBefore", -1);
    sl_buf_text(out, "  ");
    print_name(row, out);
    if (sl_json_has(row, "evictedFor")) {
        sl_buf_print(out, "  %s", sl_json_path_text(row, "evictedFor", ""));
        sl_buf_text(out, "; it starts again: ");
    } else {
        sl_buf_text(out, "  ");
    }
    sl_foreseen_print_start(row, out);
    if (before_ms >= 0) {
        sl_buf_text(out, before_ms == 0 ? ", else now" : ", else in ");
        if (before_ms > 0) {
            print_duration(before_ms, out);
        }
    }
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
    any = print_list(answer, "started", "would start that do not otherwise", out) || any;
    any = print_list(answer, "sooner", "would start sooner", out) || any;
    any = print_list(answer, "later", "would start later", out) || any;
    any = print_list(answer, "unstarted", "would not start", out) || any;
    if (!any) {
        sl_buf_print(out, "nothing changes for %sworkloads\n",
                     sl_json_len(asked) > 0 ? "other " : "");
    }
    if (strcmp(sl_json_path_text(answer, "ended", ""), "CutShort") == 0) {
        sl_buf_print(out, "the time for computing was over at %s\n",
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
