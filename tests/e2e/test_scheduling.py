"""Queueing as a user sees it: order, quota, borrowing, stopping, restarting."""
import datetime
from scene import *


class Scheduling(Scene):
    def one_queue(self, cpu="2", **spec):
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": cpu}}, **spec), local_queue("main", "team"))

    def test_what_does_not_fit_waits_and_runs_when_quota_is_freed(self):
        self.one_queue("2")
        self.create(job("first", cpu="2", run_for="2s"))
        self.admitted("first")
        self.create(job("second", cpu="2", run_for="100ms"))
        w = self.refused("second", "WaitingForQuota")
        self.assertIn("cpu", condition(w, "QuotaReserved")["message"])
        self.assertTrue(self.daemon.get("/apis/batch/v1/namespaces/default/jobs/second")["spec"]["suspend"])
        self.finished("first")
        self.finished("second")

    def test_what_can_never_fit_says_so(self):
        self.one_queue("2")
        self.create(job("huge", cpu="3"))
        self.refused("huge", "ExceedsMaxQuota")

    def test_higher_priority_goes_first(self):
        self.one_queue("1")
        self.create({"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "high"}, "value": 100})
        self.create(job("running", run_for="1s"))
        self.admitted("running")
        self.create(job("low", run_for="100ms"),
                    job("high", run_for="100ms", labels={"kueue.x-k8s.io/priority-class": "high"}))
        self.finished("low")
        when = lambda n: condition(self.finished(n), "Finished")["lastTransitionTime"]
        self.assertEqual(self.workloads()["high"]["spec"]["priority"], 100)
        self.assertLessEqual(when("high"), when("low"))

    def test_strict_fifo_blocks_and_best_effort_does_not(self):
        self.create(flavor("f"), cluster_queue("strict", {"f": {"cpu": "2"}}, queueingStrategy="StrictFIFO"),
                    cluster_queue("loose", {"f": {"cpu": "2"}}), local_queue("strict", "strict"),
                    local_queue("loose", "loose"))
        for q in ("strict", "loose"):
            self.create(job(f"{q}-a", queue=q, run_for="60s"))
            self.admitted(f"{q}-a")
            self.create(job(f"{q}-b", queue=q, cpu="2", run_for="60s"))
            self.refused(f"{q}-b", "WaitingForQuota")
        time.sleep(1.1)  # creation times have a resolution of a second; within one, UIDs decide
        for q in ("strict", "loose"):
            self.create(job(f"{q}-c", queue=q, run_for="60s"))
        self.admitted("loose-c")
        time.sleep(0.5)
        self.assertFalse(holds(self.workloads()["strict-c"], "QuotaReserved"))

    def test_borrowing_in_a_hierarchical_cohort_and_its_limit(self):
        limited = cluster_queue("limited", {"f": {"cpu": "1"}}, "left")
        limited["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["borrowingLimit"] = "1"
        self.create(flavor("f"), cohort("root"), cohort("left", parentName="root"), cohort("right", parentName="root"),
                    limited, cluster_queue("lender", {"f": {"cpu": "4"}}, "right"), local_queue("main", "limited"))
        self.create(job("own", cpu="1", run_for="60s"), job("borrowed", cpu="1", run_for="60s"))
        self.admitted("own")
        self.admitted("borrowed")
        self.create(job("over", cpu="1", run_for="60s"))
        self.refused("over", "WaitingForQuota")
        def borrowed():
            status = self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/limited").get("status", {})
            usage = status.get("flavorsUsage", [{}])[0].get("resources", [{}])[0]
            return usage.get("total") == "2" and usage.get("borrowed") == "1"
        eventually(borrowed, what="usage 2, borrowed 1 in the status")

    def test_second_flavor_is_taken_with_its_labels_and_tolerations(self):
        taint = {"key": "spot", "value": "yes", "effect": "NoSchedule"}
        self.create(flavor("on-demand", nodeLabels={"type": "on-demand"}),
                    flavor("spot", nodeLabels={"type": "spot"}, nodeTaints=[taint],
                           tolerations=[{"key": "spot", "operator": "Exists"}]),
                    cluster_queue("team", {"on-demand": {"cpu": "1"}, "spot": {"cpu": "4"}}), local_queue("main", "team"))
        self.create(job("a", run_for="60s"), job("b", run_for="60s"))
        self.admitted("a")
        w = self.admitted("b")
        flavors = {self.workloads()[n]["status"]["admission"]["podSetAssignments"][0]["flavors"]["cpu"] for n in "ab"}
        self.assertEqual(flavors, {"on-demand", "spot"})
        on_spot = "a" if self.workloads()["a"]["status"]["admission"]["podSetAssignments"][0]["flavors"]["cpu"] == "spot" else "b"
        pod = eventually(lambda: (lambda j: not j["spec"]["suspend"] and j["spec"]["template"]["spec"])(
            self.daemon.get(f"/apis/batch/v1/namespaces/default/jobs/{on_spot}")), what="unsuspended job")
        self.assertEqual(pod["nodeSelector"], {"type": "spot"})
        self.assertIn({"key": "spot", "operator": "Exists"}, pod["tolerations"])

    def test_untolerated_taint_and_wrong_node_selector_find_no_flavor(self):
        self.create(flavor("tainted", nodeTaints=[{"key": "k", "value": "v", "effect": "NoSchedule"}]),
                    cluster_queue("team", {"tainted": {"cpu": "4"}}), local_queue("main", "team"))
        self.create(job("shy"))
        self.refused("shy", "NoMatchingFlavor")
        self.create(job("brave", tolerations=[{"key": "k", "operator": "Exists"}]))
        self.finished("brave")

    def test_hold_and_drain_evicts_and_restart_admits_again(self):
        self.one_queue("1")
        self.create(job("moved", run_for="60s"))
        self.admitted("moved")
        queue = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team"
        self.patch(queue, {"spec": {"stopPolicy": "HoldAndDrain"}})
        w = self.workload("moved", lambda w: holds(w, "Evicted") and not holds(w, "QuotaReserved"), "eviction")
        self.assertEqual(condition(w, "Evicted")["reason"], "ClusterQueueStopped")
        self.assertNotIn("admission", w["status"])
        j = self.daemon.get("/apis/batch/v1/namespaces/default/jobs/moved")
        self.assertTrue(j["spec"]["suspend"])
        self.assertFalse(j["spec"]["template"]["spec"].get("nodeSelector"))
        self.patch(queue, {"spec": {"stopPolicy": "None"}})
        self.admitted("moved")

    def test_deactivated_workload_stops_and_reactivated_runs_again(self):
        self.one_queue("1")
        self.create(job("toggled", run_for="60s"))
        name = self.admitted("toggled")["metadata"]["name"]
        self.patch(f"{WORKLOADS}/{name}", {"spec": {"active": False}})
        w = self.workload("toggled", lambda w: holds(w, "Evicted") and not holds(w, "QuotaReserved"), "eviction")
        self.assertEqual(condition(w, "Evicted")["reason"], "Deactivated")
        self.patch(f"{WORKLOADS}/{name}", {"spec": {"active": True}})
        self.admitted("toggled")

    def test_cohort_cycle_deactivates_and_mending_it_revives(self):
        self.create(flavor("f"), cohort("a", parentName="b"), cluster_queue("team", {"f": {"cpu": "1"}}, "a"),
                    local_queue("main", "team"))
        self.create(cohort("b", parentName="a"))
        self.create(job("waits"))
        time.sleep(0.5)
        self.assertFalse(holds(self.workload("waits"), "QuotaReserved"))
        self.patch("/apis/kueue.x-k8s.io/v1beta2/cohorts/b", {"spec": {"parentName": None}})
        self.finished("waits")

    def test_queue_that_comes_later_takes_up_what_waited(self):
        self.create(job("early"))
        time.sleep(0.3)
        self.create(local_queue("main", "team"))
        time.sleep(0.3)
        self.create(cluster_queue("team", {"f": {"cpu": "1"}}))
        time.sleep(0.3)
        queue = self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team")
        eventually(lambda: (condition(self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team"), "Active")
                            or {}).get("reason") == "FlavorNotFound", what="FlavorNotFound")
        self.create(flavor("f"))
        self.finished("early")

    def test_quota_cut_stops_new_admissions_until_usage_is_below(self):
        self.one_queue("2")
        self.create(job("a", run_for="3s"), job("b", run_for="60s"))
        self.admitted("a")
        self.admitted("b")
        self.patch("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team", cluster_queue("team", {"f": {"cpu": "1"}}))
        self.create(job("c", run_for="100ms"))
        self.refused("c", "WaitingForQuota")
        self.finished("a")
        time.sleep(0.5)
        self.assertFalse(holds(self.workloads()["c"], "QuotaReserved"))
        self.patch("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team", cluster_queue("team", {"f": {"cpu": "2"}}))
        self.finished("c")

    def test_failed_job_finishes_its_workload_as_failed(self):
        self.one_queue("1")
        j = job("fails")
        j["metadata"]["annotations"]["sluice.dev/fail"] = "true"
        self.create(j)
        self.assertEqual(condition(self.finished("fails"), "Finished")["reason"], "Failed")

    def test_job_without_queue_is_left_alone(self):
        j = job("free")
        del j["metadata"]["labels"]
        self.create(j)
        eventually(lambda: holds(self.daemon.get("/apis/batch/v1/namespaces/default/jobs/free"), "Complete"),
                   what="completion")
        self.assertEqual(self.workloads(), {})

    def test_restart_keeps_everything_and_goes_on(self):
        self.one_queue("1")
        self.create(job("running", run_for="3s"), job("queued", run_for="100ms"))
        before = self.admitted("running")
        self.refused("queued", "WaitingForQuota")
        self.assertEqual(self.daemon.stop(), 0)
        self.daemon.start()
        after = self.admitted("running")
        self.assertEqual(before["status"]["admission"], after["status"]["admission"])
        self.assertEqual(condition(before, "Admitted"), condition(after, "Admitted"))
        self.finished("queued")

    def test_pending_lists_the_order_and_the_reason(self):
        self.one_queue("1")
        self.create(job("running", run_for="60s"))
        self.admitted("running")
        self.create(job("next", run_for="60s"))
        self.refused("next", "WaitingForQuota")
        out = self.daemon.sluicectl("pending", "team").stdout
        self.assertIn("next", out)
        self.assertIn("WaitingForQuota", out)

    def test_jobs_of_one_moment_go_in_the_order_in_which_they_came(self):
        self.one_queue("1")
        self.create(job("running", run_for="60s"))
        self.admitted("running")
        names = [f"j{i}" for i in (7, 2, 9, 4, 1, 8, 3, 6, 0, 5)]
        self.create(*(job(n, run_for="60s") for n in names))
        path = "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/team/pendingworkloads"
        line = lambda: [w["metadata"]["name"].split("-")[1] for w in self.daemon.get(path)["items"]]
        eventually(lambda: len(line()) == len(names), what="all wait")
        self.assertEqual(line(), names)
        self.daemon.kill()
        self.daemon.start()
        eventually(lambda: len(line()) == len(names), what="all wait again")
        self.assertEqual(line(), names)


class PreemptionGates(Scene):
    """Who preempts only once its gate is open."""
    options = ("--feature-gates", "MultiKueueOrchestratedPreemption=true")

    def gate(self, name, position):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        path = f"{WORKLOADS}/{self.workload(name)['metadata']['name']}"
        self.patch(f"{path}/status", {"status": {"preemptionGates": [
            {"name": "ours", "position": position, "lastTransitionTime": now}]}})

    def test_gated_workload_preempts_when_its_gate_is_opened(self):
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "3"}}, preemption={"withinClusterQueue": "LowerPriority"}),
                    local_queue("main", "team"),
                    {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "high"}, "value": 100},
                    job("low", cpu="2", run_for="60s"))
        self.admitted("low")
        self.create(job("high", queue="later", cpu="2", run_for="60s", labels={"kueue.x-k8s.io/priority-class": "high"}))
        name = self.refused("high", "Misconfigured")["metadata"]["name"]
        self.patch(f"{WORKLOADS}/{name}", {"spec": {"preemptionGates": [{"name": "ours"}]}})
        self.create(local_queue("later", "team"))
        w = self.refused("high", "AdmissionGated")
        self.assertEqual(condition(w, "BlockedOnPreemptionGates")["reason"], "PreemptionGated")
        self.assertEqual(condition(w, "BlockedOnPreemptionGates")["message"], "Workload requires preemption, but it's gated")
        self.assertEqual(w["status"]["preemptionGates"][0]["position"], "Closed")
        self.create(job("small", run_for="60s"))
        self.admitted("small")  # it is not held up
        self.assertTrue(holds(self.workloads()["low"], "Admitted"))
        self.gate("high", "Open")
        self.was_evicted("low", "Preempted")
        w = self.admitted("high")
        self.assertEqual(condition(w, "BlockedOnPreemptionGates")["status"], "False")
        self.assertNotIn("AdmissionGateCleared", [e["reason"] for e in self.daemon.get("/api/v1/namespaces/default/events")["items"]])


if __name__ == "__main__":
    unittest.main()
