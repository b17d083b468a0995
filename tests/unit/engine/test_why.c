/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Why a workload waits: which limit, what holds it, may it preempt, and what would let it in. */
#include "core_hash.h"
#include "engine/turn/query.h"
#include "engine/why/why.h"
#include "history.h"
#include "scene.h"
#include <sys/wait.h>
#include <unistd.h>

/* Asks about it with all names, or those of `names_of` alone. The core is as it was before. */
static struct sl_json *ask_of(const char *ns, const char *name, const char *names_of)
{
    const struct sl_why_ask ask = {ns, name, names_of};
    uint64_t before = hash_core();
    struct sl_json *answer = sl_why_workload_new(w.engine, &ask);
    assert_true(hash_core() == before);
    return answer;
}

static struct sl_json *ask(const char *name)
{
    struct sl_json *answer = ask_of("team", name, NULL);
    assert_non_null(answer);
    return answer;
}

static void assert_at(const struct sl_json *answer, const char *path, const char *text)
{
    const char *is = sl_json_path_text(answer, path, "(nothing)");
    if (strcmp(is, text) != 0) {
        struct sl_buf all = {0};
        sl_json_print_pretty(answer, &all);
        fail_msg("%s is \"%s\", not \"%s\", in %s", path, is, text, all.data);
    }
}

/* Is it one of the list's sentences? */
static void assert_remedy(const struct sl_json *answer, const char *sentence)
{
    const struct sl_json *list = sl_json_get(answer, "remedies");
    if (!sl_json_has_text(list, sentence)) {
        struct sl_buf all = {0};
        sl_json_print_pretty(list, &all);
        fail_msg("no \"%s\" in %s", sentence, all.data == NULL ? "nothing" : all.data);
    }
}

static void add(const char *ns, const char *name, const char *queue, const char *cpu, int priority)
{
    struct sl_json *o = world_new_workload(ns, name, queue, 1, cpu);
    sl_json_set_int(sl_json_get(o, "spec"), "priority", priority);
    assert_int_equal(world_put(&w, SL_KIND_WORKLOAD, o, NULL), SL_CODE_OK);
}

/* --- which limit, and what holds it ---------------------------------------------------------------------------- */

static void test_why_names_the_nominal_quota_and_its_holders(void **state)
{
    (void)state;
    world_add_basics(&w);
    add("team", "small", "lq", "3", 0);
    add("team", "large", "lq", "5", 0);
    world_settle(&w);
    world_pass(&w, 60000);
    add("team", "waits", "lq", "4", 0);
    add("team", "after", "lq", "9", 0);
    world_settle(&w);
    struct sl_json *a = ask("waits");
    assert_at(a, "state", "Pending");
    assert_at(a, "reason", "WaitingForQuota");
    assert_at(a, "localQueue", "lq");
    assert_at(a, "clusterQueue", "cq");
    assert_int_equal(sl_json_path_int(a, "positionInClusterQueue", -1), 0);
    assert_int_equal(sl_json_path_int(a, "pendingInClusterQueue", -1), 2);
    assert_int_equal(sl_json_len(sl_json_get(a, "limits")), 1);
    assert_at(a, "limits.0.podSets.0", "main");
    assert_at(a, "limits.0.flavor", "spot");
    assert_at(a, "limits.0.resource", "cpu");
    assert_at(a, "limits.0.limit", "nominalQuota");
    assert_at(a, "limits.0.of.kind", "ClusterQueue");
    assert_at(a, "limits.0.of.name", "cq");
    assert_at(a, "limits.0.requested", "4");
    assert_at(a, "limits.0.available", "2");
    assert_at(a, "limits.0.short", "2");
    assert_at(a, "limits.0.quota", "10");
    assert_at(a, "limits.0.inUse", "8");
    assert_at(a, "limits.0.holders.0.name", "large");
    assert_at(a, "limits.0.holders.0.amount", "5");
    assert_at(a, "limits.0.holders.0.since", "2027-01-15T08:00:00Z");
    assert_at(a, "limits.0.holders.0.because", "withinClusterQueue of ClusterQueue cq is Never");
    assert_at(a, "limits.0.holders.1.name", "small");
    assert_int_equal(sl_json_path_int(a, "limits.0.holdersInAll", 0), 2);
    assert_at(a, "limits.0.queues.0.clusterQueue", "cq");
    assert_at(a, "limits.0.queues.0.inUse", "8");
    assert_at(a, "preemption.result", "Impossible");
    assert_at(a, "preemption.policy.withinClusterQueue", "Never");
    assert_at(
        a, "summary",
        "Position 1 of 2 in ClusterQueue cq: ClusterQueue cq has a nominal quota of 10 cpu in "
        "flavor spot and uses 8: 2 cpu more needed. Most of it is held by team/large with 5 "
        "cpu since 2027-01-15T08:00:00Z");
    assert_remedy(a, "Wait until 2 cpu in flavor spot is released in ClusterQueue cq, or raise "
                     "nominalQuota of ClusterQueue cq by 2 cpu in flavor spot.");
    sl_json_free(a);
    a = ask("after");
    assert_int_equal(sl_json_path_int(a, "positionInLocalQueue", -1), 1);
    assert_at(a, "limits.0.short", "7");
    sl_json_free(a);
}

static void test_why_names_only_the_largest_of_many_holders(void **state)
{
    (void)state;
    char name[16];
    world_add_basics(&w);
    for (int i = 0; i < 9; i++) {
        (void)snprintf(name, sizeof name, "h%d", i);
        add("team", name, "lq", i == 6 ? "2" : "1", 0);
    }
    world_settle(&w);
    add("team", "waits", "lq", "1", 0);
    world_settle(&w);
    struct sl_json *a = ask("waits");
    assert_int_equal(sl_json_len(sl_json_path(a, "limits.0.holders")), 5);
    assert_int_equal(sl_json_path_int(a, "limits.0.holdersInAll", 0), 9);
    assert_at(a, "limits.0.holders.0.name", "h6");
    sl_json_free(a);
}

/* Two queues of cohort "all", 6 cpu each, the first with what is spliced into its quota. */
static void add_cohort(const char *quota, const char *lender, const char *more)
{
    char text[1024];
    world_add_flavor(&w, "spot", "{}");
    for (int i = 0; i < 2; i++) {
        (void)snprintf(text, sizeof text,
                       "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"namespaceSelector\":{},"
                       "\"cohortName\":\"all\",\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],"
                       "\"flavors\":[{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\","
                       "\"nominalQuota\":\"6\"%s}]}]}]%s}}",
                       i == 0 ? "cq" : "other", i == 0 ? quota : lender, i == 0 ? more : "");
        world_add(&w, SL_KIND_CLUSTER_QUEUE, text);
    }
    world_add_local_queue(&w, "team", "lq", "cq");
    world_add_local_queue(&w, "else", "lq", "other");
    sl_engine_synced(w.engine, w.now_ms);
}

static void test_why_names_the_borrowing_limit(void **state)
{
    (void)state;
    add_cohort(",\"borrowingLimit\":\"1\"", "", "");
    add("team", "holds", "lq", "5", 0);
    world_settle(&w);
    add("team", "waits", "lq", "3", 0);
    world_settle(&w);
    struct sl_json *a = ask("waits");
    assert_at(a, "limits.0.limit", "borrowingLimit");
    assert_at(a, "limits.0.of.name", "cq");
    assert_at(a, "limits.0.quota", "7");
    assert_at(a, "limits.0.short", "1");
    assert_remedy(a, "Wait until 1 cpu in flavor spot is released in ClusterQueue cq, or raise "
                     "borrowingLimit of ClusterQueue cq by 1 cpu in flavor spot.");
    sl_json_free(a);
}

static void test_why_names_the_cohort_and_its_holders(void **state)
{
    (void)state;
    add_cohort("", "", ",\"preemption\":{\"reclaimWithinCohort\":\"Any\"}");
    add("else", "theirs", "lq", "6", 0);
    add("team", "mine", "lq", "4", 0);
    world_settle(&w);
    add("team", "waits", "lq", "3", 0);
    world_settle(&w);
    struct sl_json *a = ask("waits");
    assert_at(a, "limits.0.limit", "cohort");
    assert_at(a, "limits.0.of.kind", "Cohort");
    assert_at(a, "limits.0.of.name", "all");
    assert_at(a, "limits.0.quota", "12");
    assert_at(a, "limits.0.inUse", "10");
    assert_at(a, "limits.0.holders.0.namespace", "else");
    assert_at(a, "limits.0.holders.0.name", "theirs");
    assert_at(a, "limits.0.holders.0.because", "its ClusterQueue other does not borrow");
    assert_at(a, "limits.0.queues.0.clusterQueue", "other");
    assert_at(a, "limits.0.queues.0.nominalQuota", "6");
    assert_at(a, "preemption.result", "Impossible");
    assert_remedy(
        a, "Wait until 1 cpu in flavor spot is released in Cohort all, or raise a nominalQuota in "
           "Cohort all by 1 cpu in flavor spot.");
    sl_json_free(a);
}

static void test_why_names_no_workload_of_another_namespace(void **state)
{
    (void)state;
    add_cohort("", "", "");
    add("else", "secret", "lq", "6", 0);
    add("team", "mine", "lq", "4", 0);
    world_settle(&w);
    add("team", "waits", "lq", "3", 0);
    world_settle(&w);
    struct sl_json *a = ask_of("team", "waits", "team");
    struct sl_buf all = {0};
    sl_json_print(a, &all);
    assert_null(strstr(all.data, "secret"));
    assert_null(strstr(all.data, "\"else\""));
    assert_at(a, "limits.0.holders.0.amount", "6");
    assert_at(a, "limits.0.holders.0.clusterQueue", "other");
    assert_at(a, "limits.0.holders.1.name", "mine");
    assert_non_null(strstr(sl_json_path_text(a, "summary", ""), "a workload of another namespace"));
    sl_buf_fini(&all);
    sl_json_free(a);
}

static void test_why_says_what_others_do_not_lend(void **state)
{
    (void)state;
    add_cohort("", ",\"lendingLimit\":\"2\"", "");
    add("team", "holds", "lq", "7", 0);
    world_settle(&w);
    add("team", "waits", "lq", "3", 0);
    world_settle(&w);
    struct sl_json *a = ask("waits");
    assert_at(a, "limits.0.limit", "cohort");
    assert_at(a, "limits.0.quota", "8");
    assert_at(a, "limits.0.notLent", "4");
    assert_at(a, "limits.0.kept", "4"); /* with the quota: what sluicectl shares says */
    assert_at(
        a, "limits.0.message",
        "Cohort all shares 8 of its 12 cpu in flavor spot (a lendingLimit keeps the rest) and "
        "uses 7: 2 cpu more needed; 4 cpu is unused in other ClusterQueues, which do not lend "
        "it");
    sl_json_free(a);
}

static void test_why_says_what_can_never_start(void **state)
{
    (void)state;
    add_cohort(",\"borrowingLimit\":\"2\"", "", "");
    add("team", "huge", "lq", "9", 0);
    world_settle(&w);
    struct sl_json *a = ask("huge");
    assert_at(a, "reason", "ExceedsMaxQuota");
    assert_true(sl_json_path_bool(a, "limits.0.never", false));
    assert_at(a, "limits.0.limit", "borrowingLimit");
    assert_at(a, "limits.0.requested", "9");
    assert_at(a, "limits.0.available", "8");
    assert_at(a, "limits.0.message",
              "ClusterQueue cq may use, with what it borrows, 8 cpu in flavor spot, and 9 cpu is "
              "asked for: it can never start with these quotas");
    assert_remedy(
        a, "Ask for at most 8 cpu in flavor spot, or raise borrowingLimit of ClusterQueue cq by "
           "1 cpu in flavor spot.");
    sl_json_free(a);
}

static void test_why_says_which_flavors_will_not_do(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{\"nodeTaints\":[{\"key\":\"t\",\"effect\":\"NoSchedule\"}]}");
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    add("team", "waits", "lq", "1", 0);
    world_settle(&w);
    struct sl_json *a = ask("waits");
    assert_at(a, "reason", "NoMatchingFlavor");
    assert_at(a, "flavors.0.flavor", "spot");
    assert_at(a, "flavors.0.message", "it has a taint that the pods do not tolerate");
    assert_null(sl_json_get(a, "limits"));
    sl_json_free(a);
}

static void test_why_names_the_nodes_and_what_is_on_them(void **state)
{
    (void)state;
    cluster_add_basics(&w, "{\"topologyName\":\"topo\"}", "100");
    cluster_put_node(&w, "n0", "b0", "r0", "4", "");
    struct sl_json *o = world_new_workload("team", "holds", "lq", 3, "1");
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest",
                world_parse("{\"required\":\"rack\"}"));
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    o = world_new_workload("team", "waits", "lq", 3, "1");
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest",
                world_parse("{\"required\":\"rack\"}"));
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    struct sl_json *a = ask("waits");
    assert_at(a, "reason", "WaitingForQuota");
    assert_at(a, "nodes.topology", "topo");
    assert_int_equal(sl_json_path_int(a, "nodes.roomFor", -1), 1);
    assert_int_equal(sl_json_path_int(a, "nodes.needed", -1), 3);
    assert_at(a, "nodes.holders.0.name", "holds");
    assert_at(a, "nodes.holders.0.amount", "3");
    assert_remedy(a, "Wait until there is room for 2 more pods in topology topo.");
    sl_json_free(a);
}

/* --- preemption --------------------------------------------------------------------------------------------------- */

static void add_preempting(const char *within)
{
    char more[100];
    (void)snprintf(more, sizeof more, ",\"preemption\":{\"withinClusterQueue\":\"%s\"}", within);
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10", more);
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
}

static void test_why_says_by_which_priority_it_may_not_preempt(void **state)
{
    (void)state;
    add_preempting("LowerPriority");
    add("team", "holds", "lq", "10", 5);
    world_settle(&w);
    add("team", "waits", "lq", "1", 5);
    world_settle(&w);
    struct sl_json *a = ask("waits");
    assert_at(a, "limits.0.holders.0.because", "its priority 5 is not lower than 5");
    assert_at(a, "preemption.result", "Impossible");
    assert_remedy(a, "With a priority above 5 it may preempt in its own ClusterQueue.");
    sl_json_free(a);
}

static void test_why_says_that_it_was_queued_later(void **state)
{
    (void)state;
    add_preempting("LowerOrNewerEqualPriority");
    add("team", "holds", "lq", "10", 5);
    world_settle(&w);
    w.now_ms += 5000;
    add("team", "waits", "lq", "1", 5);
    add("team", "lower", "lq", "1", 4);
    world_settle(&w);
    struct sl_json *a = ask("waits");
    assert_at(a, "limits.0.holders.0.because", "it has the same priority and was queued earlier");
    sl_json_free(a);
    a = ask("lower");
    assert_at(a, "limits.0.holders.0.because", "its priority 5 is not lower than 4");
    sl_json_free(a);
}

static void test_why_says_that_it_preempts(void **state)
{
    (void)state;
    add_preempting("LowerPriority");
    add("team", "holds", "lq", "10", 0);
    world_settle(&w);
    add("team", "waits", "lq", "1", 5);
    world_settle(&w);
    struct sl_json *a = ask("waits");
    assert_at(a, "reason", "WaitingForPreemptedWorkloads");
    assert_at(a, "preemption.result", "Preempting");
    assert_true(sl_json_path_bool(a, "limits.0.holders.0.mayBePreempted", false));
    assert_true(sl_json_path_bool(a, "limits.0.holders.0.evicted", false));
    sl_json_free(a);
    a = ask("holds");
    assert_at(a, "state", "Evicted");
    assert_at(a, "reason", "Preempted");
    assert_at(a, "holds.0.amount", "10");
    sl_json_free(a);
}

static void test_why_says_that_the_queue_would_have_to_borrow(void **state)
{
    (void)state;
    add_cohort("", "", ",\"preemption\":{\"reclaimWithinCohort\":\"LowerPriority\"}");
    add("else", "borrows", "lq", "8", 0);
    add("team", "mine", "lq", "4", 0);
    world_settle(&w);
    add("team", "waits", "lq", "3", 3);
    world_settle(&w);
    struct sl_json *a = ask("waits");
    assert_at(a, "limits.0.holders.0.because",
              "ClusterQueue cq would have to borrow, and borrowWithinCohort is Never");
    sl_json_free(a);
    add("team", "equal", "lq", "1", 0);
    world_settle(&w);
    a = ask("equal");
    assert_at(a, "limits.0.holders.0.because", "its priority 0 is not lower than 0");
    sl_json_free(a);
}

/* --- what is not tried ----------------------------------------------------------------------------------------- */

static void test_why_of_queues_that_take_nothing(void **state)
{
    (void)state;
    world_add_basics(&w);
    add("team", "lost", "nowhere", "1", 0);
    world_settle(&w);
    struct sl_json *a = ask("lost");
    assert_at(a, "summary", "LocalQueue nowhere doesn't exist");
    assert_remedy(a, "Create LocalQueue nowhere in namespace team, or submit to a LocalQueue that "
                     "exists there.");
    sl_json_free(a);
    world_add_local_queue(&w, "team", "nowhere", "missing");
    world_settle(&w);
    a = ask("lost");
    assert_remedy(a, "Create ClusterQueue missing, or name another one in the LocalQueue.");
    sl_json_free(a);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "lq",
                      "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    add("team", "held", "lq", "1", 0);
    world_settle(&w);
    a = ask("held");
    assert_remedy(a, "Set stopPolicy of LocalQueue lq to None.");
    assert_remedy(a, "Set stopPolicy of ClusterQueue cq to None.");
    sl_json_free(a);
}

static void test_why_of_a_queue_that_is_not_active(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_delete(&w, SL_KIND_RESOURCE_FLAVOR, "", "spot");
    add("team", "waits", "lq", "1", 0);
    world_settle(&w);
    struct sl_json *a = ask("waits");
    assert_non_null(
        strstr(sl_json_path_text(a, "remedies.0", ""), "missing ResourceFlavor(s): spot"));
    sl_json_free(a);
}

static void test_why_of_what_is_held_back_itself(void **state)
{
    (void)state;
    world_add_basics(&w);
    struct sl_json *o = world_new_workload("team", "gated", "lq", 1, "1");
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"),
                     "kueue.x-k8s.io/admission-gated-by", "g");
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    add("team", "off", "lq", "1", 0);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "off", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    struct sl_json *a = ask("gated");
    assert_at(a, "reason", "AdmissionGated");
    assert_remedy(a,
                  "Remove its gates: the annotation kueue.x-k8s.io/admission-gated-by of the job.");
    assert_false(sl_json_has(a, "positionInClusterQueue"));
    sl_json_free(a);
    a = ask("off");
    assert_at(a, "reason", "Deactivated");
    assert_remedy(a, "Set spec.active of the Workload to true.");
    sl_json_free(a);
}

static void test_why_of_a_namespace_that_is_not_selected(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"namespaceSelector\":{\"matchLabels\":{\"a\":\"b\"}}}}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    add("team", "waits", "lq", "1", 0);
    world_settle(&w);
    struct sl_json *a = ask("waits");
    assert_remedy(a, "Let namespaceSelector of ClusterQueue cq select namespace team.");
    sl_json_free(a);
}

static void test_why_of_a_strict_queue_names_those_before_it(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10", ",\"queueingStrategy\":\"StrictFIFO\"");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    add("team", "holds", "lq", "8", 0);
    world_settle(&w);
    add("team", "first", "lq", "4", 0);
    world_settle(&w);
    w.now_ms += 5000;
    add("team", "fits", "lq", "1", 0);
    world_settle(&w);
    struct sl_json *a = ask("fits");
    assert_remedy(a, "ClusterQueue cq is StrictFIFO: the 1 before it go first.");
    assert_remedy(a, "Nothing is short for it now: it is tried when its turn comes.");
    assert_at(a, "preemption.result", "NotNeeded");
    sl_json_free(a);
}

/* --- what has quota, or had ------------------------------------------------------------------------------------ */

static void test_why_of_what_runs_and_what_has_ended(void **state)
{
    (void)state;
    world_add_basics(&w);
    add("team", "runs", "lq", "2", 0);
    world_settle(&w);
    struct sl_json *a = ask("runs");
    assert_at(a, "state", "Admitted");
    assert_at(a, "since", "2027-01-15T08:00:00Z");
    assert_at(a, "holds.0.amount", "2");
    sl_json_free(a);
    struct sl_json *o = sl_json_clone(world_workload(&w, "runs"));
    (void)sl_condition_set(sl_json_path_make(o, "status"), "Finished", true, "Succeeded", "done", 1,
                           w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    a = ask("runs");
    assert_at(a, "state", "Finished");
    assert_at(a, "reason", "Succeeded");
    sl_json_free(a);
}

static void test_why_of_what_waits_for_checks(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_check(&w, "budget");
    world_add_cluster_queue(
        &w, "cq", "spot", "10",
        ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"budget\"}]}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    add("team", "waits", "lq", "1", 0);
    world_settle(&w);
    struct sl_json *a = ask("waits");
    assert_at(a, "state", "QuotaReserved");
    assert_at(a, "reason", "WaitingForAdmissionChecks");
    assert_at(a, "message", "It has its quota and waits for admission check budget");
    assert_at(a, "checks.0.name", "budget");
    assert_at(a, "checks.0.state", "Pending");
    sl_json_free(a);
}

static void test_why_of_what_waits_for_its_pods(void **state)
{
    (void)state;
    struct sl_engine_settings settings = sl_engine_settings_default();
    settings.wait_for_pods_ready = true;
    settings.ready_ms_max = 300000;
    world_close(&w);
    world_open_with(&w, NULL, &settings);
    world_add_basics(&w);
    add("team", "runs", "lq", "2", 0);
    world_settle(&w);
    struct sl_json *a = ask("runs");
    assert_at(a, "reason", "WaitingForPodsReady");
    assert_at(a, "podsReadyDeadline", "2027-01-15T08:05:00Z");
    sl_json_free(a);
}

static void test_why_of_what_is_not_known_is_nothing(void **state)
{
    (void)state;
    world_add_basics(&w);
    add("team", "short", "lq", "2", 0);
    world_settle(&w);
    assert_null(ask_of("team", "nobody", NULL));
    assert_null(ask_of("else", "short", NULL));
    world_delete(&w, SL_KIND_WORKLOAD, "team", "short");
    assert_null(ask_of("team", "short", NULL));
}

/* --- queues ---------------------------------------------------------------------------------------------------- */

static struct sl_json *ask_queue(enum sl_kind kind, const char *ns, const char *name,
                                 const char *names_of)
{
    const struct sl_why_ask of = {ns, name, names_of};
    uint64_t before = hash_core();
    struct sl_json *answer = sl_why_queue_new(w.engine, kind, &of);
    assert_true(hash_core() == before);
    return answer;
}

static void test_why_of_a_queue_says_what_is_used_and_what_waits(void **state)
{
    (void)state;
    add_cohort("", "", "");
    add("else", "theirs", "lq", "9", 0);
    world_settle(&w);
    add("team", "first", "lq", "4", 0);
    world_settle(&w);
    struct sl_json *a = ask_queue(SL_KIND_LOCAL_QUEUE, "team", "lq", NULL);
    assert_at(a, "state", "Active");
    assert_at(a, "clusterQueue", "cq");
    assert_at(a, "first.name", "first");
    assert_at(a, "limits.0.of.name", "all");
    assert_at(a, "limits.0.available", "3");
    assert_at(a, "limits.0.holders.0.name", "theirs");
    assert_false(sl_json_has(sl_json_path(a, "limits.0.holders.0"), "mayBePreempted"));
    sl_json_free(a);
    a = ask_queue(SL_KIND_CLUSTER_QUEUE, NULL, "cq", "else");
    assert_at(a, "first.reason", "WaitingForQuota");
    assert_false(sl_json_has(sl_json_get(a, "first"), "name"));
    sl_json_free(a);
    assert_null(ask_queue(SL_KIND_CLUSTER_QUEUE, NULL, "nosuch", NULL));
    assert_null(ask_queue(SL_KIND_LOCAL_QUEUE, "team", "nosuch", NULL));
    assert_null(ask_queue(SL_KIND_COHORT, NULL, "all", NULL));
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "lq",
                      "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    a = ask_queue(SL_KIND_LOCAL_QUEUE, "team", "lq", NULL);
    assert_at(a, "state", "Inactive");
    assert_remedy(a, "Set stopPolicy of LocalQueue lq to None.");
    sl_json_free(a);
}

/* --- asking changes nothing ------------------------------------------------------------------------------------- */

static const char *const states[] = {"Pending", "QuotaReserved", "Admitted", "Evicted", "Finished"};

/* What every answer must have, and which states were met. */
static void ask_everything(const struct history *h, bool met[static 5])
{
    char name[32];
    uint64_t before = hash_core();
    for (unsigned i = 0; i < h->made; i++) {
        (void)snprintf(name, sizeof name, "w%u", i);
        const struct sl_why_ask of = {"team", name, i % 2 == 0 ? NULL : "team"};
        struct sl_json *a = sl_why_workload_new(w.engine, &of);
        for (size_t k = 0; a != NULL && k < 5; k++) {
            met[k] = met[k] || strcmp(sl_json_path_text(a, "state", ""), states[k]) == 0;
        }
        assert_true(a == NULL || sl_json_path_text(a, "summary", "")[0] != '\0');
        sl_json_free(a);
    }
    for (int i = 0; i < 4; i++) {
        (void)snprintf(name, sizeof name, "cq%d", i);
        const struct sl_why_ask cluster_queue = {NULL, name, NULL};
        sl_json_free(sl_why_queue_new(w.engine, SL_KIND_CLUSTER_QUEUE, &cluster_queue));
        (void)snprintf(name, sizeof name, "lq%d", i);
        const struct sl_why_ask queue = {"team", name, "team"};
        sl_json_free(sl_why_queue_new(w.engine, SL_KIND_LOCAL_QUEUE, &queue));
    }
    assert_true(hash_core() == before);
}

/* Positions are those of the list. */
static void compare_positions(void)
{
    for (int i = 0; i < 5; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "cq%d", i);
        struct sl_json *list = world_pending(&w, name, NULL);
        for (size_t k = 0; k < sl_json_len(list); k++) {
            const struct sl_json *item = sl_json_at(list, k);
            const struct sl_why_ask of = {"team", sl_json_path_text(item, "name", ""), NULL};
            struct sl_json *a = sl_why_workload_new(w.engine, &of);
            int64_t position = sl_json_path_int(a, "positionInClusterQueue", -1);
            if (position >= 0) {
                assert_int_equal(position, sl_json_path_int(item, "positionInClusterQueue", -2));
                assert_int_equal(sl_json_path_int(a, "positionInLocalQueue", -1),
                                 sl_json_path_int(item, "positionInLocalQueue", -2));
            } else {
                assert_string_equal(sl_json_path_text(item, "place", ""), "orphaned");
            }
            sl_json_free(a);
        }
        sl_json_free(list);
    }
}

/* Settings that weigh and wait, too. */
static struct sl_engine_settings variant(unsigned number)
{
    struct sl_engine_settings s = sl_engine_settings_default();
    s.ready_ms_max = 30000;
    s.recovery_ms_max = 10000;
    s.backoff_base_ms = 5000;
    s.wait_for_pods_ready = number == 2;
    s.policy.fair_sharing = number == 1;
    s.policy.prioritize_preemptors = number == 1;
    s.policy.block_until_ready = number == 2;
    s.policy.admission_fair_sharing = number == 3;
    s.usage_half_life_ms = 20000;
    s.usage_sampling_ms = 4000;
    return s;
}

/* What came of a history: a number for all states of the core that it went through and for all objects at its end. */
struct result {
    uint64_t number;
    bool met[5]; /* states of which something was asked */
};

static struct result play(unsigned number, bool asking)
{
    struct history h;
    struct sl_buf all = {0};
    struct result r = {0};
    struct sl_engine_settings settings = variant(number);
    world_open_with(&w, NULL, &settings);
    history_begin(&h, &w, 275 + number);
    if (number >= 4) {
        history_add_topology(&h);
    }
    for (int i = 0; i < 150; i++) {
        history_step(&h);
        if (asking) {
            ask_everything(&h, r.met);
            compare_positions();
        }
        if (history_draw(&h, 3) != 0) {
            world_settle(&w);
        }
        sl_buf_print(&all, "%llx ", (unsigned long long)hash_core());
    }
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(w.objects, &cursor, &key, &value)) {
        sl_buf_text(&all, key);
        sl_json_print(value.pointer, &all);
    }
    r.number = sl_fnv1a(SL_FNV1A_BASIS, all.data, all.len);
    return r;
}

/* In a process of its own, with a core that was never used. */
static struct result play_alone(unsigned number, bool asking)
{
    int ends[2], status;
    struct result r = {0};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        r = play(number, asking);
        _exit(write(ends[1], &r, sizeof r) == (ssize_t)sizeof r ? 0 : 9);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &r, sizeof r), sizeof r);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return r;
}

static void test_why_changes_nothing_that_is_decided(void **state)
{
    (void)state;
    bool met[5] = {false};
    for (unsigned number = 0; number < 6; number++) {
        struct result without = play_alone(number, false), with = play_alone(number, true);
        if (with.number != without.number) {
            fail_msg("history %u went another way, as it was asked about", number);
        }
        for (size_t i = 0; i < 5; i++) {
            met[i] = met[i] || with.met[i];
        }
    }
    for (size_t i = 0; i < 5; i++) {
        if (!met[i]) {
            fail_msg("no workload was %s", states[i]);
        }
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First: it forks, and its children need a core that was never used. */
        cmocka_unit_test(test_why_changes_nothing_that_is_decided),
        TEST(test_why_names_the_nominal_quota_and_its_holders),
        TEST(test_why_names_only_the_largest_of_many_holders),
        TEST(test_why_names_the_borrowing_limit),
        TEST(test_why_names_the_cohort_and_its_holders),
        TEST(test_why_names_no_workload_of_another_namespace),
        TEST(test_why_says_what_others_do_not_lend),
        TEST(test_why_says_what_can_never_start),
        TEST(test_why_says_which_flavors_will_not_do),
        TEST(test_why_names_the_nodes_and_what_is_on_them),
        TEST(test_why_says_by_which_priority_it_may_not_preempt),
        TEST(test_why_says_that_it_was_queued_later),
        TEST(test_why_says_that_it_preempts),
        TEST(test_why_says_that_the_queue_would_have_to_borrow),
        TEST(test_why_of_queues_that_take_nothing),
        TEST(test_why_of_a_queue_that_is_not_active),
        TEST(test_why_of_what_is_held_back_itself),
        TEST(test_why_of_a_namespace_that_is_not_selected),
        TEST(test_why_of_a_strict_queue_names_those_before_it),
        TEST(test_why_of_what_runs_and_what_has_ended),
        TEST(test_why_of_what_waits_for_checks),
        TEST(test_why_of_what_waits_for_its_pods),
        TEST(test_why_of_what_is_not_known_is_nothing),
        TEST(test_why_of_a_queue_says_what_is_used_and_what_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
