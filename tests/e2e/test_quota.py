"""Quota decisions as a user sees them: preemption, fair sharing, flavors, partial admission, readiness."""
import pathlib
from scene import *

LOW = {"kueue.x-k8s.io/priority-class": "low"}
HIGH = {"kueue.x-k8s.io/priority-class": "high"}


def priorities():
    return [{"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": n}, "value": v}
            for n, v in (("low", -10), ("high", 100))]


class Pairs(Scene):
    def test_twelve_pod_sets_hold_nine_resources_each_in_a_flavor_of_its_own(self):
        flavors, resources = [f"f{i}" for i in range(12)], ["cpu", "memory"] + [f"example.com/r{i}" for i in range(7)]
        self.create(*(flavor(f, nodeLabels={"pool": f}) for f in flavors),
                    cluster_queue("team", {f: dict.fromkeys(resources, "2") for f in flavors}), local_queue("main", "team"))
        pod_sets = [{"name": f, "count": 2, "template": {"spec": {
            "restartPolicy": "Never", "nodeSelector": {"pool": f},
            "containers": [{"name": "c", "image": "x", "resources": {"requests": dict.fromkeys(resources, "1"),
                                                                     "limits": dict.fromkeys(resources, "1")}}]}}}
                    for f in flavors]
        for name in ("wide", "waits"):
            status, answer = self.daemon.request("POST", WORKLOADS, {
                "apiVersion": KUEUE, "kind": "Workload", "metadata": {"name": name, "namespace": "default"},
                "spec": {"queueName": "main", "podSets": pod_sets}})
            self.assertEqual(status, 201, answer)
        wide = eventually(lambda: (lambda w: w if holds(w, "Admitted") else None)(self.daemon.get(WORKLOADS + "/wide")),
                          what="admission")
        given = [dict(a["flavors"]) for a in wide["status"]["admission"]["podSetAssignments"]]
        self.assertEqual(given, [dict.fromkeys(resources, f) for f in flavors])
        used = lambda: self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team")["status"]["flavorsUsage"]
        eventually(lambda: [r["total"] for f in used() for r in f["resources"]] == ["2"] * 108, what="the usage")
        self.assertFalse(holds(self.daemon.get(WORKLOADS + "/waits"), "QuotaReserved"))
        self.daemon.request("DELETE", WORKLOADS + "/wide")
        eventually(lambda: holds(self.daemon.get(WORKLOADS + "/waits"), "Admitted"), what="admission of the other")


class Preemption(Scene):
    def test_higher_priority_preempts_in_its_queue_and_the_victim_comes_back(self):
        self.create(*priorities(), flavor("f"),
                    cluster_queue("team", {"f": {"cpu": "2"}}, preemption={"withinClusterQueue": "LowerPriority"}),
                    local_queue("main", "team"))
        self.create(job("small", run_for="60s", labels=LOW), job("other", run_for="60s"))
        self.admitted("small", "other")
        self.create(job("urgent", run_for="3s", labels=HIGH))
        victim = self.evicted("small", "Preempted")
        self.assertEqual(condition(victim, "Preempted")["reason"], "InClusterQueue")
        self.admitted("urgent")
        self.assertTrue(holds(self.workloads()["other"], "Admitted"))
        self.finished("urgent")
        self.admitted("small")

    def test_a_queue_takes_back_from_its_cohort_what_is_its_own(self):
        self.create(flavor("f"), cluster_queue("lender", {"f": {"cpu": "2"}}, "all",
                                               preemption={"reclaimWithinCohort": "Any"}),
                    cluster_queue("borrower", {"f": {"cpu": "1"}}, "all"),
                    local_queue("lender", "lender"), local_queue("borrower", "borrower"))
        for n in "abc":
            self.create(job(n, queue="borrower", run_for="60s"))
        self.admitted("a", "b", "c")
        self.create(job("mine", queue="lender", cpu="1", run_for="60s"))
        self.admitted("mine")
        victims = [n for n in "abc" if (condition(self.workloads()[n], "Preempted") or {}).get("status") == "True"]
        self.assertEqual(len(victims), 1)
        self.assertEqual(condition(self.workloads()[victims[0]], "Preempted")["reason"], "InCohortReclamation")

    def test_a_quota_that_is_lowered_below_what_is_held_is_told(self):
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "4"}}), local_queue("main", "team"))
        self.create(job("a", cpu="3", run_for="60s"))
        self.admitted("a")
        path = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team"
        mark = lambda: condition(self.daemon.get(path), "QuotaExceeded") or {}
        groups = self.daemon.get(path)["spec"]["resourceGroups"]
        groups[0]["flavors"][0]["resources"][0]["nominalQuota"] = "1"
        self.assertEqual(mark(), {})
        self.patch(path, {"spec": {"resourceGroups": groups}})
        eventually(lambda: mark().get("status") == "True", what="the mark")
        self.assertIn("2 cpu of flavor f used beyond the quota", mark()["message"])
        events = self.daemon.get("/api/v1/events")["items"]
        self.assertEqual([e["type"] for e in events if e["reason"] == "QuotaExceeded"], ["Warning"])
        self.assertTrue(holds(self.workloads()["a"], "Admitted"))
        self.assertRegex(str(self.daemon.request("GET", "/metrics")[1]),
                         'sluice_cluster_queue_quota_excess{[^}]*cluster_queue="team"[^}]*} 2')
        self.daemon.request("DELETE", "/apis/batch/v1/namespaces/default/jobs/a")
        eventually(lambda: mark().get("reason") == "WithinQuota", what="its end")

    def test_without_a_policy_nobody_is_preempted(self):
        self.create(*priorities(), flavor("f"), cluster_queue("team", {"f": {"cpu": "1"}}), local_queue("main", "team"))
        self.create(job("small", run_for="60s", labels=LOW))
        self.admitted("small")
        self.create(job("urgent", run_for="60s", labels=HIGH))
        self.refused("urgent", "WaitingForQuota")
        time.sleep(0.3)
        self.assertTrue(holds(self.workloads()["small"], "Admitted"))

    def test_a_victim_that_is_deleted_counts_as_gone(self):
        self.create(*priorities(), flavor("f"),
                    cluster_queue("team", {"f": {"cpu": "1"}}, preemption={"withinClusterQueue": "LowerPriority"}),
                    local_queue("main", "team"))
        self.create(job("small", run_for="60s", labels=LOW))
        self.admitted("small")
        self.create(job("urgent", run_for="60s", labels=HIGH))
        self.daemon.kubectl("delete", "job", "small", "--wait=false")
        self.admitted("urgent")


class Flavors(Scene):
    def two_flavors(self, **spec):
        self.create(flavor("first"), flavor("second"),
                    cluster_queue("team", {"first": {"cpu": "1"}, "second": {"cpu": "4"}}, "all", **spec),
                    cluster_queue("lender", {"first": {"cpu": "4"}, "second": {"cpu": "0"}}, "all"),
                    local_queue("main", "team"))

    def test_the_first_flavor_is_borrowed_by_default(self):
        self.two_flavors()
        self.create(job("big", cpu="2", run_for="60s"))
        self.assertEqual(self.flavor_of("big"), "first")

    def test_the_next_flavor_is_tried_before_borrowing_when_the_queue_says_so(self):
        self.two_flavors(flavorFungibility={"whenCanBorrow": "TryNextFlavor"})
        self.create(job("big", cpu="2", run_for="60s"))
        self.assertEqual(self.flavor_of("big"), "second")


class PartialAdmission(Scene):
    def test_fewer_pods_start_when_not_all_fit(self):
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "3"}}), local_queue("main", "team"))
        wide = job("wide", cpu="1", parallelism=8, run_for="60s")
        wide["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = "2"
        self.create(wide)
        w = self.admitted("wide")
        self.assertEqual(w["status"]["admission"]["podSetAssignments"][0]["count"], 3)
        eventually(lambda: self.daemon.get(f"{JOBS}/wide")["spec"]["parallelism"] == 3, what="parallelism 3")


class ReclaimablePods(Scene):
    def total(self, member):
        status = self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team").get("status", {})
        return [r["total"] for f in status.get(member) or [] for r in f["resources"]]

    def test_pods_that_ended_for_good_leave_room_for_others_while_their_job_runs(self):
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "4"}}), local_queue("main", "team"))
        self.create(job("wide", parallelism=4, run_for="60s"))
        self.admitted("wide")
        self.create(job("next", cpu="2", run_for="60s"))
        self.refused("next", "WaitingForQuota")
        eventually(lambda: self.daemon.get(f"{JOBS}/wide")["status"].get("active") == 4, what="four pods that run")
        self.patch(f"{JOBS}/wide/status", {"status": {"active": 3, "succeeded": 1}})
        w = self.workload("wide", lambda w: w["status"].get("reclaimablePods"), "reclaimable pods")
        self.assertEqual(w["status"]["reclaimablePods"], [{"name": "main", "count": 1}])
        eventually(lambda: self.total("flavorsUsage") == ["3"], what="usage without the pod that ended")
        self.refused("next", "WaitingForQuota")
        self.patch(f"{JOBS}/wide/status", {"status": {"active": 1, "succeeded": 3}})
        self.admitted("next")
        w = self.workloads()["wide"]
        self.assertTrue(holds(w, "Admitted"))
        self.assertEqual(w["status"]["admission"]["podSetAssignments"][0]["count"], 4)
        eventually(lambda: self.total("flavorsUsage") == ["3"], what="usage of one pod and the next job")
        self.daemon.kill()
        self.daemon.start()
        self.create(job("last", cpu="1", run_for="60s"))
        self.admitted("last")
        eventually(lambda: self.total("flavorsUsage") == ["4"], what="the same usage after a restart")


class FairSharing(Scene):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sluice-config-"))
        config = self.home / "config.yaml"
        config.write_text("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing:\n  preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]\n")
        self.options = ["--config", str(config)]
        super().setUp()

    def tearDown(self):
        super().tearDown()
        shutil.rmtree(self.home)

    def test_who_has_borrowed_more_gives_back(self):
        policy = {"reclaimWithinCohort": "Any"}
        self.create(flavor("f"), *[cluster_queue(n, {"f": {"cpu": "0"}}, "all", preemption=policy) for n in "ab"],
                    cluster_queue("pool", {"f": {"cpu": "4"}}, "all"), local_queue("a", "a"), local_queue("b", "b"))
        for i in range(4):
            self.create(job(f"a{i}", queue="a", run_for="60s"))
        self.admitted("a0", "a1", "a2", "a3")
        for i in range(4):
            self.create(job(f"b{i}", queue="b", run_for="60s"))
        running = lambda q: sum(holds(w, "Admitted") and not holds(w, "Evicted")
                                for n, w in self.workloads().items() if n.startswith(q))
        eventually(lambda: (running("a"), running("b")) == (2, 2), what="half of the pool for each")
        reasons = {condition(w, "Preempted")["reason"] for w in self.workloads().values() if condition(w, "Preempted")}
        self.assertEqual(reasons, {"InCohortFairSharing"})
        time.sleep(0.5)
        self.assertEqual((running("a"), running("b")), (2, 2))


class Readiness(Scene):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sluice-config-"))
        config = self.home / "config.yaml"
        config.write_text("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
                          "waitForPodsReady:\n  timeout: 1s\n  blockAdmission: true\n"
                          "  requeuingStrategy: {backoffLimitCount: 1, backoffBaseSeconds: 1}\n")
        self.options = ["--config", str(config)]
        super().setUp()

    def tearDown(self):
        super().tearDown()
        shutil.rmtree(self.home)

    def test_pods_that_never_get_ready_are_requeued_then_deactivated_and_can_be_reactivated(self):
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "1"}}), local_queue("main", "team"))
        stuck = job("stuck", run_for="60s")
        stuck["metadata"]["annotations"]["sluice.dev/ready-after"] = "1h"
        self.create(stuck)
        self.was_evicted("stuck", "PodsReadyTimeout")
        w = self.evicted("stuck", "DeactivatedDueToRequeuingLimitExceeded")
        self.assertFalse(w["spec"]["active"])
        name = w["metadata"]["name"]
        eventually(lambda: not holds(self.workloads()["stuck"], "QuotaReserved"), what="released quota")
        self.patch(f"{WORKLOADS}/{name}", {"spec": {"active": True}})
        self.admitted("stuck")


if __name__ == "__main__":
    unittest.main()
