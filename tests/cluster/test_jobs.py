"""Real Jobs on a real control plane, run by kwok: from creation to the end, and what interrupts them."""
from work_scene import *


class Jobs(WorkScene):
    def test_jobs_wait_run_and_give_their_quota_back(self):
        self.daemon()
        queue = self.queues(3)
        names = [f"j{i}" for i in range(8)]
        self.create(*(job(n, "main", run_for="1s") for n in names))
        eventually(lambda: self.used(queue)[0] == 3000, what="the whole quota reserved")
        self.assertEqual(sum(not j["spec"]["suspend"] and not j["status"].get("succeeded")
                             for j in self.plane.get(self.job_path())["items"]) <= 4, True)
        self.finished(*names)
        self.each_ran_once(names)
        self.settles_at(queue, 0)
        local = self.plane.get(f"{KUEUE}/namespaces/{self.namespace}/localqueues/main")["status"]
        self.assertEqual((local["pendingWorkloads"], local["admittedWorkloads"]), (0, 0))
        done = self.workloads()["j0"]
        self.assertEqual(condition(done, "Finished")["reason"], "Succeeded")
        self.assertEqual(done["metadata"]["labels"]["kueue.x-k8s.io/job-uid"], self.job("j0")["metadata"]["uid"])

    def test_job_with_many_pods_gives_back_what_it_no_longer_needs(self):
        self.daemon()
        queue = self.queues(4)
        big = job("big", "main", run_for="60s", parallelism=4)
        self.create(big)
        self.admitted("big")
        self.settles_at(queue, 4)
        first = eventually(lambda: len(self.pods("big")) == 4 and self.pods("big"), what="four pods")[0]
        self.patched(f"/api/v1/namespaces/{self.namespace}/pods/{first['metadata']['name']}",
                     {"metadata": {"annotations": {"test/run-for": "0s"}}})
        self.settles_at(queue, 3)
        self.assertEqual(self.workloads()["big"]["status"]["reclaimablePods"], [{"name": "main", "count": 1}])

    def test_priority_evicts_and_the_victim_runs_again(self):
        self.daemon()
        queue = self.queues(2, preemption={"withinClusterQueue": "LowerPriority"})
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass",
                     "metadata": {"name": "urgent"}, "value": 100})
        self.create(job("low", "main", cpu="2", run_for="3s"))
        self.admitted("low")
        eventually(lambda: self.pods("low"), what="a pod")
        self.create(job("high", "main", cpu="2", run_for="500ms", labels={"kueue.x-k8s.io/priority-class": "urgent"}))
        self.evicted("low", "Preempted")
        self.admitted("high")
        self.assertTrue(self.job("low")["spec"]["suspend"])
        self.finished("high", "low")
        self.assertEqual(self.job("low")["status"]["succeeded"], 1)
        self.settles_at(queue, 0)

    def test_workload_that_is_deactivated_stops_and_runs_when_active_again(self):
        self.daemon()
        queue = self.queues(1)
        self.create(job("on-off", "main", run_for="2s"))
        path = f"{KUEUE}/namespaces/{self.namespace}/workloads/{self.admitted('on-off')['metadata']['name']}"
        self.patched(path, {"spec": {"active": False}})
        self.evicted("on-off", "Deactivated")
        eventually(lambda: self.job("on-off")["spec"]["suspend"] and not self.pods("on-off"), what="stopped")
        self.settles_at(queue, 0)
        self.patched(path, {"spec": {"active": True}})
        self.finished("on-off")

    def test_queue_that_is_held_and_drained_starts_again(self):
        self.daemon()
        queue = self.queues(1)
        self.create(job("one", "main", run_for="2s"), job("two", "main", run_for="100ms"))
        self.admitted("one")
        self.patched(queue, {"spec": {"stopPolicy": "HoldAndDrain"}})
        self.evicted("one", "ClusterQueueStopped")
        self.settles_at(queue, 0)
        self.patched(queue, {"spec": {"stopPolicy": "None"}})
        self.finished("one", "two")

    def test_job_that_is_deleted_frees_its_quota(self):
        self.daemon()
        queue = self.queues(1)
        self.create(job("gone", "main", run_for="60s"), job("next", "main"))
        self.admitted("gone")
        status, _ = self.plane.request("DELETE", self.job_path("gone") + "?propagationPolicy=Background")
        self.assertEqual(status, 200)
        self.finished("next")
        eventually(lambda: "gone" not in self.workloads(), what="its workload gone")
        self.settles_at(queue, 0)

    def test_partial_admission_starts_with_fewer_pods(self):
        self.daemon()
        self.queues(2)
        self.create(job("part", "main", parallelism=4, run_for="500ms",
                        annotations={"kueue.x-k8s.io/job-min-parallelism": "1"}))
        wl = self.admitted("part")
        self.assertEqual(wl["status"]["admission"]["podSetAssignments"][0]["count"], 2)
        eventually(lambda: self.job("part")["spec"]["parallelism"] == 2, what="parallelism 2")
        self.finished("part")
        self.assertEqual(self.job("part")["status"]["succeeded"], 4)

    def test_finished_workload_is_kept_as_long_as_the_configuration_says(self):
        self.daemon(config={"objectRetentionPolicies": {"workloads": {"afterFinished": "5s"}}})
        self.queues(1)
        self.create(job("short", "main"))
        self.finished("short")
        eventually(lambda: not self.workloads(), what="workload gone")
        self.assertEqual(self.job("short")["status"]["succeeded"], 1)

    def test_failed_job_frees_its_quota(self):
        self.daemon()
        queue = self.queues(1)
        self.create(job("bad", "main", template={"test/fail": "true"}), job("next", "main"))
        self.assertEqual(condition(self.finished("bad"), "Finished")["reason"], "Failed")
        self.finished("next")
        self.settles_at(queue, 0)

    def test_flavor_labels_and_tolerations_reach_the_pods(self):
        self.daemon()
        self.plane.add_node("spot-node", {"machine": "spot"})
        self.addCleanup(self.plane.request, "DELETE", "/api/v1/nodes/spot-node")
        self.patched("/api/v1/nodes/spot-node", {"spec": {"taints": [
            {"key": "machine", "value": "spot", "effect": "NoSchedule"}]}})
        toleration = {"key": "machine", "operator": "Equal", "value": "spot", "effect": "NoSchedule"}
        self.create(flavor("spot", nodeLabels={"machine": "spot"}, tolerations=[toleration], nodeTaints=[
            {"key": "machine", "value": "spot", "effect": "NoSchedule"}]),
            cluster_queue("spot", {"spot": {"cpu": 4}}), local_queue("main", "spot", self.namespace))
        self.create(job("there", "main", run_for="60s"))
        pod = eventually(lambda: [p for p in self.pods("there") if p["spec"].get("nodeName")], what="a placed pod")[0]
        self.assertEqual(pod["spec"]["nodeName"], "spot-node")
        self.assertIn(toleration, pod["spec"]["tolerations"])

    def test_events_tell_the_way_of_a_job(self):
        self.daemon()
        self.queues(1)
        self.create(job("told", "main"))
        self.finished("told")

        def reasons():
            items = self.plane.get(f"/api/v1/namespaces/{self.namespace}/events")["items"]
            return {e["reason"] for e in items if e.get("reportingComponent") == "sluice"}

        eventually(lambda: {"QuotaReserved", "Admitted"} <= reasons(), what="events")
