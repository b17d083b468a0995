/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* First what it is and for how long, then what is short, what holds that, preemption, and what would let it in. */
#include "cli/screen/explain.h"
#include "base/check.h"
#include "base/clock.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const struct sl_json *v, const char *path)
{
    return sl_json_path_text(v, path, "");
}

/* " since 2026-01-01T00:00:00Z (5m)" */
static void print_since(const struct sl_json *v, const char *key, int64_t now_ms,
                        struct sl_buf *out)
{
    const char *since = text_of(v, key);
    int64_t at = sl_clock_parse(since);
    if (since[0] == '\0' || at == INT64_MIN) {
        return;
    }
    long long s = now_ms > at ? (now_ms - at) / 1000 : 0;
    sl_buf_print(out, " since %s (", since);
    if (s < 120) {
        sl_buf_print(out, "%llds)", s);
    } else if (s < 7200) {
        sl_buf_print(out, "%lldm)", s / 60);
    } else if (s < 172800) {
        sl_buf_print(out, "%lldh)", s / 3600);
    } else {
        sl_buf_print(out, "%lldd)", s / 86400);
    }
}

static void print_title(const struct sl_json *v, int64_t now_ms, struct sl_buf *out)
{
    const char *ns = text_of(v, "about.namespace");
    const char *reason = text_of(v, "reason");
    sl_buf_print(out, "%s %s", text_of(v, "about.kind"), text_of(v, "about.name"));
    if (ns[0] != '\0') {
        sl_buf_print(out, " in namespace %s", ns);
    }
    sl_buf_print(out, ": %s", text_of(v, "state"));
    print_since(v, "since", now_ms, out);
    sl_buf_text(out, "\n");
    if (reason[0] != '\0' && strcmp(reason, text_of(v, "state")) != 0) {
        sl_buf_print(out, "  %-14s %s\n", "Reason:", reason);
    }
    sl_buf_print(out, "  %-14s %s\n", "Message:", text_of(v, "message"));
}

static void print_line(const struct sl_json *v, const char *label, const char *path,
                       struct sl_buf *out)
{
    if (text_of(v, path)[0] != '\0') {
        sl_buf_print(out, "  %-14s %s\n", label, text_of(v, path));
    }
}

static void print_queues(const struct sl_json *v, struct sl_buf *out)
{
    static const char *const counts[][2] = {{"pendingWorkloads", "pending"},
                                            {"reservingWorkloads", "with quota"},
                                            {"admittedWorkloads", "admitted"}};
    print_line(v, "Workload:", "workload", out);
    print_line(v, "LocalQueue:", "localQueue", out);
    print_line(v, "ClusterQueue:", "clusterQueue", out);
    if (sl_json_has(v, "positionInClusterQueue")) {
        sl_buf_print(out, "  %-14s %lld of %lld in the ClusterQueue, priority %lld\n",
                     "Position:", (long long)sl_json_path_int(v, "positionInClusterQueue", 0) + 1,
                     (long long)sl_json_path_int(v, "pendingInClusterQueue", 0),
                     (long long)sl_json_path_int(v, "priority", 0));
    }
    print_line(v, "Backoff until:", "backoffUntil", out);
    print_line(v, "Ready until:", "podsReadyDeadline", out);
    if (sl_json_has(v, "pendingWorkloads")) {
        sl_buf_print(out, "  %-14s ", "Workloads:");
        for (size_t i = 0; i < 3; i++) {
            sl_buf_print(out, "%s%lld %s", i == 0 ? "" : ", ",
                         (long long)sl_json_path_int(v, counts[i][0], 0), counts[i][1]);
        }
        sl_buf_text(out, "\n");
    }
}

/* --- what holds it -------------------------------------------------------------------------------------------- */

static void name_holder(const struct sl_json *holder, char out[static 600])
{
    const char *job = text_of(holder, "job.name");
    const char *name = text_of(holder, "name");
    char kind[40] = "workload";
    if (name[0] == '\0') {
        (void)snprintf(out, 600, "another namespace's workload");
        return;
    }
    if (job[0] != '\0') {
        (void)snprintf(kind, sizeof kind, "%s", text_of(holder, "job.kind"));
    }
    for (char *c = kind; *c != '\0'; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    (void)snprintf(out, 600, "%s/%s -n %s", kind, job[0] != '\0' ? job : name,
                   text_of(holder, "namespace"));
}

static void print_holder(const struct sl_json *holder, int64_t now_ms, struct sl_buf *out)
{
    char name[600];
    name_holder(holder, name);
    sl_buf_print(out, "      %6s  %s, ClusterQueue %s, priority %lld", text_of(holder, "amount"),
                 name, text_of(holder, "clusterQueue"),
                 (long long)sl_json_path_int(holder, "priority", 0));
    print_since(holder, "since", now_ms, out);
    if (sl_json_path_bool(holder, "evicted", false)) {
        sl_buf_text(out, ", is being evicted");
    } else if (sl_json_path_bool(holder, "mayBePreempted", false)) {
        sl_buf_text(out, ", may be preempted");
    } else if (text_of(holder, "because")[0] != '\0') {
        sl_buf_print(out, ", may not be preempted: %s", text_of(holder, "because"));
    }
    sl_buf_text(out, "\n");
}

static void print_holders(const struct sl_json *v, int64_t now_ms, struct sl_buf *out)
{
    const struct sl_json *holders = sl_json_get(v, "holders");
    size_t shown = sl_json_len(holders);
    int64_t all = sl_json_path_int(v, "holdersInAll", (int64_t)shown);
    if (shown == 0) {
        return;
    }
    sl_buf_text(out, "    held by:\n");
    for (size_t i = 0; i < shown; i++) {
        print_holder(sl_json_at(holders, i), now_ms, out);
    }
    if (all > (int64_t)shown) {
        sl_buf_print(out, "      and %s%lld more\n",
                     sl_json_path_bool(v, "holdersCut", false) ? "at least " : "",
                     (long long)all - (long long)shown);
    }
}

/* Of a cohort: which ClusterQueues use how much of it. */
static void print_shares(const struct sl_json *v, struct sl_buf *out)
{
    const struct sl_json *queues = sl_json_get(v, "queues");
    if (sl_json_len(queues) < 2) {
        return;
    }
    sl_buf_text(out, "    used in:");
    for (size_t i = 0; i < sl_json_len(queues); i++) {
        const struct sl_json *queue = sl_json_at(queues, i);
        sl_buf_print(out, "%s %s %s of %s", i == 0 ? "" : ",", text_of(queue, "clusterQueue"),
                     text_of(queue, "inUse"), text_of(queue, "nominalQuota"));
    }
    sl_buf_text(out, "\n");
}

/* --- what is short ---------------------------------------------------------------------------------------------- */

static void print_quota(const struct sl_json *limit, struct sl_buf *out)
{
    sl_buf_print(out, "  %s in flavor %s: %s of %s %s in use (%s), %s available\n",
                 text_of(limit, "resource"), text_of(limit, "flavor"), text_of(limit, "inUse"),
                 text_of(limit, "quota"), text_of(limit, "limit"), text_of(limit, "of.name"),
                 text_of(limit, "available"));
}

static void print_limits(const struct sl_json *v, int64_t now_ms, struct sl_buf *out)
{
    const struct sl_json *limits = sl_json_get(v, "limits");
    for (size_t i = 0; i < sl_json_len(limits); i++) {
        const struct sl_json *limit = sl_json_at(limits, i);
        bool is_short = sl_json_has(limit, "short");
        if (i == 0) {
            sl_buf_text(out, is_short ? "What is short:\n" : "Quotas:\n");
        }
        if (is_short) {
            sl_buf_print(out, "  %s in flavor %s: asks for %s, %s is available, %s short\n",
                         text_of(limit, "resource"), text_of(limit, "flavor"),
                         text_of(limit, "requested"), text_of(limit, "available"),
                         text_of(limit, "short"));
            sl_buf_print(out, "    %s\n", text_of(limit, "message"));
        } else {
            print_quota(limit, out);
        }
        print_shares(limit, out);
        print_holders(limit, now_ms, out);
    }
}

static void print_flavors(const struct sl_json *v, struct sl_buf *out)
{
    const struct sl_json *flavors = sl_json_get(v, "flavors");
    for (size_t i = 0; i < sl_json_len(flavors); i++) {
        const struct sl_json *one = sl_json_at(flavors, i);
        sl_buf_text(out, i == 0 ? "Flavors that will not do:\n" : "");
        sl_buf_print(out, "  %s: %s\n",
                     text_of(one, sl_json_has(one, "flavor") ? "flavor" : "resource"),
                     text_of(one, "message"));
    }
}

static void print_nodes(const struct sl_json *v, int64_t now_ms, struct sl_buf *out)
{
    const struct sl_json *nodes = sl_json_get(v, "nodes");
    if (nodes != NULL) {
        sl_buf_print(out, "Nodes:\n  %s\n", text_of(nodes, "message"));
        print_holders(nodes, now_ms, out);
    }
}

static void print_checks(const struct sl_json *v, struct sl_buf *out)
{
    const struct sl_json *checks = sl_json_get(v, "checks");
    for (size_t i = 0; i < sl_json_len(checks); i++) {
        const struct sl_json *check = sl_json_at(checks, i);
        const char *message = text_of(check, "message");
        sl_buf_text(out, i == 0 ? "Admission checks:\n" : "");
        sl_buf_print(out, "  %s: %s, set by %s%s%s\n", text_of(check, "name"),
                     text_of(check, "state"), text_of(check, "controller"),
                     message[0] == '\0' ? "" : ": ", message);
    }
}

static void print_held(const struct sl_json *v, struct sl_buf *out)
{
    const struct sl_json *held = sl_json_get(v, "holds");
    for (size_t i = 0; i < sl_json_len(held); i++) {
        const struct sl_json *one = sl_json_at(held, i);
        sl_buf_text(out, i == 0 ? "It holds:\n" : "");
        sl_buf_print(out, "  %s %s in flavor %s\n", text_of(one, "amount"),
                     text_of(one, "resource"), text_of(one, "flavor"));
    }
}

static void print_rest(const struct sl_json *v, struct sl_buf *out)
{
    const struct sl_json *remedies = sl_json_get(v, "remedies");
    if (sl_json_has(v, "lastEviction")) {
        sl_buf_print(out, "Last eviction: %s: %s\n", text_of(v, "lastEviction.reason"),
                     text_of(v, "lastEviction.message"));
    }
    if (sl_json_has(v, "first")) {
        const char *name = text_of(v, "first.name");
        sl_buf_print(out, "First in line: %s: %s: %s\n",
                     name[0] == '\0' ? "another namespace's workload" : name,
                     text_of(v, "first.reason"), text_of(v, "first.message"));
    }
    if (sl_json_has(v, "preemption")) {
        sl_buf_print(out, "Preemption:\n  %s: %s\n", text_of(v, "preemption.result"),
                     text_of(v, "preemption.message"));
    }
    for (size_t i = 0; i < sl_json_len(remedies); i++) {
        sl_buf_text(out, i == 0 ? "What would let it in:\n" : "");
        sl_buf_print(out, "  - %s\n", sl_json_text(sl_json_at(remedies, i), ""));
    }
}

/* Of a parent: briefly, as each of them can be asked about by its name. */
static void print_variants(const struct sl_json *v, int64_t now_ms, struct sl_buf *out)
{
    const struct sl_json *variants = sl_json_get(v, "variants");
    for (size_t i = 0; i < sl_json_len(variants); i++) {
        const struct sl_json *one = sl_json_at(variants, i);
        const struct sl_json *remedies = sl_json_get(one, "remedies");
        sl_buf_text(out, i == 0 ? "Variants:\n" : "");
        sl_buf_print(out, "  %s: %s", text_of(one, "flavor"), text_of(one, "state"));
        print_since(one, "since", now_ms, out);
        sl_buf_print(out, ", workload/%s\n    %s\n", text_of(one, "name"), text_of(one, "summary"));
        for (size_t j = 0; j < sl_json_len(remedies); j++) {
            sl_buf_print(out, "    - %s\n", sl_json_text(sl_json_at(remedies, j), ""));
        }
    }
}

void sl_explain_print(const struct sl_json *explanation, int64_t now_ms, struct sl_buf *out)
{
    SL_PRE(explanation != NULL && out != NULL);
    print_title(explanation, now_ms, out);
    print_queues(explanation, out);
    print_checks(explanation, out);
    print_held(explanation, out);
    print_variants(explanation, now_ms, out);
    print_limits(explanation, now_ms, out);
    print_flavors(explanation, out);
    print_nodes(explanation, now_ms, out);
    print_rest(explanation, out);
}
