/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Comparing Workloads field by field: texts for people are not compared, lists that are maps by name
 * are maps, quantities count by value. */
#include "base/clock.h"
#include "conformance.h"
#include <stdio.h>
#include <string.h>

#define PATH_SIZE 1024

static const struct sl_json *find_by(const struct sl_json *list, const char *member,
                                     const char *value)
{
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (strcmp(sl_json_path_text(sl_json_at(list, i), member, ""), value) == 0) {
            return sl_json_at(list, i);
        }
    }
    return NULL;
}

typedef void compare_fn(const char *path, const struct sl_json *expected,
                        const struct sl_json *got);

/* Lists whose items have a name in `member`. */
static void expect_named(const char *path, const char *member, const struct sl_json *expected,
                         const struct sl_json *got, compare_fn *compare)
{
    for (size_t i = 0; i < sl_json_len(expected); i++) {
        char below[PATH_SIZE];
        const struct sl_json *e = sl_json_at(expected, i);
        const char *name = sl_json_path_text(e, member, "");
        const struct sl_json *a = find_by(got, member, name);
        (void)snprintf(below, sizeof below, "%s[%s]", path, name);
        if (a == NULL) {
            conf_differ_json(below, e, NULL);
        } else {
            compare(below, e, a);
        }
    }
    for (size_t i = 0; i < sl_json_len(got); i++) {
        const struct sl_json *a = sl_json_at(got, i);
        const char *name = sl_json_path_text(a, member, "");
        if (find_by(expected, member, name) == NULL) {
            char below[PATH_SIZE];
            (void)snprintf(below, sizeof below, "%s[%s]", path, name);
            conf_differ_json(below, NULL, a);
        }
    }
}

static void expect_member_text(const char *path, const char *member, const struct sl_json *expected,
                               const struct sl_json *got)
{
    char below[PATH_SIZE];
    (void)snprintf(below, sizeof below, "%s.%s", path, member);
    conf_expect_text(below, sl_json_path_text(expected, member, ""),
                     sl_json_path_text(got, member, ""));
}

static void expect_member_int(const char *path, const char *member, const struct sl_json *expected,
                              const struct sl_json *got)
{
    char below[PATH_SIZE];
    (void)snprintf(below, sizeof below, "%s.%s", path, member);
    conf_expect_int(below, sl_json_path_int(expected, member, 0), sl_json_path_int(got, member, 0));
}

/* Whole seconds, as they are stored. */
static void expect_member_time(const char *path, const char *member, const struct sl_json *expected,
                               const struct sl_json *got)
{
    const char *a = sl_json_path_text(expected, member, "");
    const char *b = sl_json_path_text(got, member, "");
    int64_t x = a[0] == '\0' ? -1 : sl_clock_parse(a) / 1000;
    int64_t y = b[0] == '\0' ? -1 : sl_clock_parse(b) / 1000;
    if (x != y) {
        expect_member_text(path, member, expected, got);
    }
}

static void compare_condition(const char *path, const struct sl_json *expected,
                              const struct sl_json *got)
{
    expect_member_text(path, "status", expected, got);
    expect_member_text(path, "reason", expected, got);
    expect_member_time(path, "lastTransitionTime", expected, got);
    expect_member_int(path, "observedGeneration", expected, got);
}

static void compare_assignment(const char *path, const struct sl_json *expected,
                               const struct sl_json *got)
{
    char below[PATH_SIZE];
    expect_member_int(path, "count", expected, got);
    const struct sl_json *e = sl_json_get(expected, "flavors");
    const struct sl_json *a = sl_json_get(got, "flavors");
    if (!sl_json_equal(e, a) && sl_json_len(e) + sl_json_len(a) > 0) {
        (void)snprintf(below, sizeof below, "%s.flavors", path);
        conf_differ_json(below, e, a);
    }
    (void)snprintf(below, sizeof below, "%s.resourceUsage", path);
    conf_expect_quantities(below, sl_json_get(expected, "resourceUsage"),
                           sl_json_get(got, "resourceUsage"));
    expect_member_text(path, "delayedTopologyRequest", expected, got);
    (void)snprintf(below, sizeof below, "%s.topologyAssignment", path);
    conf_expect_topology(below, sl_json_get(expected, "topologyAssignment"),
                         sl_json_get(got, "topologyAssignment"));
}

void conf_expect_admission(const char *path, const struct sl_json *expected,
                           const struct sl_json *got)
{
    if ((expected == NULL) != (got == NULL)) {
        conf_differ_json(path, expected, got);
        return;
    }
    expect_member_text(path, "clusterQueue", expected, got);
    expect_named(path, "name", sl_json_get(expected, "podSetAssignments"),
                 sl_json_get(got, "podSetAssignments"), compare_assignment);
}

static void compare_requests(const char *path, const struct sl_json *expected,
                             const struct sl_json *got)
{
    conf_expect_quantities(path, sl_json_get(expected, "resources"), sl_json_get(got, "resources"));
}

static void compare_check(const char *path, const struct sl_json *expected,
                          const struct sl_json *got)
{
    expect_member_text(path, "state", expected, got);
    expect_member_int(path, "retryCount", expected, got);
}

static void compare_eviction(const char *path, const struct sl_json *expected,
                             const struct sl_json *got)
{
    expect_member_text(path, "underlyingCause", expected, got);
    expect_member_int(path, "count", expected, got);
}

/* Members that none of the comparisons knows must be equal. */
static bool is_compared(const char *member)
{
    static const char *const known[] = {"conditions",
                                        "admission",
                                        "resourceRequests",
                                        "requeueState",
                                        "schedulingStats",
                                        "admissionChecks",
                                        "accumulatedPastExecutionTimeSeconds"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i], member) == 0) {
            return true;
        }
    }
    return false;
}

/* The states of preemption gates are kept by Kueue's workload controller, which did not run. */
static bool by_others(const char *member, const struct sl_json *expected)
{
    return strcmp(member, "preemptionGates") == 0 && !sl_json_has(expected, member);
}

static void expect_rest(const char *path, const struct sl_json *expected, const struct sl_json *got)
{
    const struct sl_json *sides[] = {expected, got};
    for (size_t s = 0; s < 2; s++) {
        void *it = NULL;
        const char *member;
        struct sl_json *value;
        while (sl_json_next(sides[s], &it, &member, &value)) {
            bool twice = s == 1 && sl_json_has(expected, member);
            if (!is_compared(member) && !twice && !by_others(member, expected) &&
                !sl_json_equal(value, sl_json_get(sides[1 - s], member))) {
                char below[PATH_SIZE];
                (void)snprintf(below, sizeof below, "%.500s.%.400s", path, member);
                conf_differ_json(below, sl_json_get(expected, member), sl_json_get(got, member));
            }
        }
    }
}

static void expect_status(const char *key, const struct sl_json *expected,
                          const struct sl_json *got)
{
    char path[PATH_SIZE];
#define MEMBER(name) ((void)snprintf(path, sizeof path, "%s " name, key), path)
    expect_named(MEMBER("conditions"), "type", sl_json_get(expected, "conditions"),
                 sl_json_get(got, "conditions"), compare_condition);
    conf_expect_admission(MEMBER("admission"), sl_json_get(expected, "admission"),
                          sl_json_get(got, "admission"));
    expect_named(MEMBER("resourceRequests"), "name", sl_json_get(expected, "resourceRequests"),
                 sl_json_get(got, "resourceRequests"), compare_requests);
    expect_named(MEMBER("admissionChecks"), "name", sl_json_get(expected, "admissionChecks"),
                 sl_json_get(got, "admissionChecks"), compare_check);
    expect_named(MEMBER("evictions"), "reason", sl_json_path(expected, "schedulingStats.evictions"),
                 sl_json_path(got, "schedulingStats.evictions"), compare_eviction);
    const struct sl_json *state = sl_json_get(expected, "requeueState");
    const struct sl_json *own = sl_json_get(got, "requeueState");
    expect_member_int(MEMBER("requeueState"), "count", state, own);
    expect_member_time(MEMBER("requeueState"), "requeueAt", state, own);
    expect_member_int(MEMBER("status"), "accumulatedPastExecutionTimeSeconds", expected, got);
    expect_rest(MEMBER("status"), expected, got);
#undef MEMBER
}

void conf_expect_workloads(const struct sl_json *expected, const struct sl_json *got)
{
    char key[512];
    char own[512];
    size_t seen = 0;
    for (size_t i = 0; i < sl_json_len(expected); i++) {
        const struct sl_json *e = sl_json_at(expected, i);
        const struct sl_json *found = NULL;
        conf_key(e, key);
        for (size_t k = 0; k < sl_json_len(got) && found == NULL; k++) {
            conf_key(sl_json_at(got, k), own);
            found = strcmp(key, own) == 0 ? sl_json_at(got, k) : NULL;
        }
        if (found == NULL) {
            conf_differ(key, "a Workload", "nothing");
            continue;
        }
        seen++;
        struct sl_json *formed = sl_json_clone(e);
        conf_form_admitted(formed);
        conf_form_backoff(formed);
        expect_status(key, sl_json_get(formed, "status"), sl_json_get(found, "status"));
        sl_json_free(formed);
        if (sl_json_has(e, "spec")) {
            conf_expect_bool(key, sl_json_path_bool(e, "spec.active", true),
                             sl_json_path_bool(found, "spec.active", true));
        }
    }
    conf_expect_int("workloads", (int64_t)seen, (int64_t)sl_json_len(got));
}
