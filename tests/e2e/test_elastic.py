"""Elastic jobs: a Job that says so changes its number of pods while it runs, by slices of its Workload."""
import unittest
from scene import *

ELASTIC = "kueue.x-k8s.io/elastic-job"
REPLACES = "kueue.x-k8s.io/workload-slice-replacement-for"
SLICE = "kueue.x-k8s.io/workload-slice-name"
PODS = "/api/v1/namespaces/default/pods"
WARNS = "elastic-job has no effect: only the feature gate ElasticJobsViaWorkloadSlices lets it count"


def elastic(name, parallelism, completions=50, **more):
    o = job(name, parallelism=parallelism, run_for="10m", **more)
    o["metadata"].setdefault("annotations", {})[ELASTIC] = "true"
    o["spec"]["completions"] = completions
    return o


def note(obj, key):
    return obj["metadata"].get("annotations", {}).get(key)


def pods(workload):
    return workload["spec"]["podSets"][0]["count"]


class Elastic(Scene):
    def setUp(self):
        super().setUp()
        self.create(flavor("f"), cluster_queue("cq", {"f": {"cpu": "5"}},
                                               preemption={"withinClusterQueue": "LowerPriority"}), local_queue("main", "cq"))

    def slices(self, name):
        """The Workloads of that job, oldest first."""
        return sorted((w for w in self.daemon.get(WORKLOADS)["items"]
                       if w["metadata"]["ownerReferences"][0]["name"] == name),
                      key=lambda w: (w["metadata"]["creationTimestamp"], note(w, REPLACES) is not None))

    def live(self, name):
        return [w for w in self.slices(name) if not holds(w, "Finished")]

    def job(self, name):
        return self.daemon.get(f"{JOBS}/{name}")

    def scale(self, name, parallelism):
        self.patch(f"{JOBS}/{name}", {"spec": {"parallelism": parallelism}})

    def started(self, name, parallelism, **more):
        self.create(elastic(name, parallelism, **more))
        eventually(lambda: not self.job(name)["spec"]["suspend"], what=f"start of {name}")
        return self.live(name)[0]

    def metrics(self):
        return self.daemon.request("GET", "/metrics")[1]

    def used(self):
        status = self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/cq")["status"]
        return milli(status["flavorsUsage"][0]["resources"][0]["total"]) if status.get("flavorsUsage") else 0

    def replaced(self, name, count):
        """Its one live slice has that many pods, and all others have been replaced."""
        def done():
            live = self.live(name)
            return len(live) == 1 and pods(live[0]) == count and holds(live[0], "Admitted") and live[0]
        return eventually(done, what=f"slice of {count} pods of {name}")

    def test_pods_of_a_job_that_starts_are_gated_and_name_their_slice(self):
        first = self.started("a", 2)
        template = self.job("a")["spec"]["template"]
        self.assertEqual([g["name"] for g in template["spec"]["schedulingGates"]], [ELASTIC])
        self.assertEqual(note(template, SLICE), first["metadata"]["name"])
        self.assertEqual((note(first, ELASTIC), note(first, SLICE)), ("true", first["metadata"]["name"]))

    def what_if(self, name, parallelism):
        said = self.daemon.sluicectl("what-if", "-f", "-", "-o", "json", stdin=json.dumps(elastic(name, parallelism))).stdout
        return json.loads(said)

    def test_what_if_it_grew_or_shrank(self):
        self.started("a", 3)
        self.create(job("b", cpu="3", run_for="10m"))
        self.refused("b", "WaitingForQuota")
        before = len(self.slices("a"))
        asked = self.what_if("a", 5)["asked"]
        self.assertEqual([r["admitted"] for r in asked], ["Now"])
        self.assertEqual(asked[0]["podSets"][0]["count"], 5)
        self.assertEqual([r["certainty"] for r in self.what_if("a", 6)["asked"]], ["Unknown"])
        same = self.what_if("a", 3)
        self.assertEqual([r["admitted"] for r in same["asked"]], ["Already"])
        self.assertNotIn("sooner", same)
        sooner = self.what_if("a", 2)
        self.assertEqual([r["admitted"] for r in sooner["asked"]], ["Already"])
        self.assertEqual([r["waitMilliseconds"] for r in sooner["sooner"]], [0])
        self.assertEqual(len(self.slices("a")), before)

    def test_fewer_pods_give_their_quota_back_in_place(self):
        first = self.started("a", 4)
        self.create(elastic("b", 3))
        self.scale("a", 2)
        eventually(lambda: self.used() == 5000, what="quota of both")
        self.assertFalse(self.job("a")["spec"]["suspend"])
        self.assertEqual([(w["metadata"]["uid"], pods(w)) for w in self.slices("a")], [(first["metadata"]["uid"], 2)])
        self.admitted("b")

    def test_more_pods_are_a_new_slice_and_the_job_runs_on(self):
        first = self.started("a", 2)
        self.scale("a", 4)
        second = self.replaced("a", 4)
        self.assertEqual(note(second, REPLACES), "default/" + first["metadata"]["name"])
        self.assertEqual(note(second, SLICE), first["metadata"]["name"])
        old = eventually(lambda: next(w for w in self.slices("a") if w["metadata"]["name"] == first["metadata"]["name"]))
        self.assertEqual(condition(old, "Finished")["reason"], "WorkloadSliceReplaced")
        eventually(lambda: self.used() == 4000, what="quota of the second slice")
        now = self.job("a")
        self.assertFalse(now["spec"]["suspend"])
        eventually(lambda: self.job("a")["status"]["ready"] == 4, what="ready pods")
        events = self.daemon.get("/api/v1/namespaces/default/events")["items"]
        self.assertNotIn("Stopped", [e["reason"] for e in events])
        self.assertIn('kueue_replaced_workload_slices_total{cluster_queue="cq",replica_role="standalone"} 1\n', self.metrics())

    def test_pods_without_quota_wait_and_those_with_it_run_on(self):
        first = self.started("a", 3)
        self.scale("a", 6)
        second = eventually(lambda: next((w for w in self.live("a") if note(w, REPLACES)), None), what="second slice")
        eventually(lambda: self.job("a")["status"].get("active") == 6, what="pods that wait")
        eventually(lambda: self.used() == 3000, what="quota of the first slice")
        self.assertEqual(self.job("a")["status"]["ready"], 3)
        self.assertFalse(holds(second, "QuotaReserved"))
        self.scale("a", 5) # in place, as it has not been admitted
        last = self.replaced("a", 5)
        self.assertEqual(last["metadata"]["uid"], second["metadata"]["uid"])
        self.assertNotEqual(last["metadata"]["uid"], first["metadata"]["uid"])
        eventually(lambda: self.job("a")["status"]["ready"] == 5, what="ready pods")

    def test_gates_open_for_as_many_pods_as_are_granted(self):
        first = self.started("a", 2)
        for name in "pqr":
            status, answer = self.daemon.request("POST", PODS, {
                "apiVersion": "v1", "kind": "Pod", "metadata": {
                    "name": name, "annotations": {SLICE: first["metadata"]["name"]}, "labels": {"kueue.x-k8s.io/podset": "main"}},
                "spec": {"schedulingGates": [{"name": ELASTIC}], "containers": [{"name": "c", "image": "i"}]}})
            self.assertEqual(status, 201, answer)

        def free():
            return [p["metadata"]["name"] for p in self.daemon.get(PODS)["items"] if not p["spec"].get("schedulingGates")]
        eventually(lambda: free() == ["p", "q"], what="open gates")
        self.scale("a", 3)
        self.replaced("a", 3)
        eventually(lambda: free() == ["p", "q", "r"], what="the third gate")

    def test_all_slices_end_with_the_job(self):
        self.started("a", 3)
        self.scale("a", 6)
        eventually(lambda: len(self.live("a")) == 2, what="second slice")
        self.daemon.sluicectl("delete", "job", "a")
        eventually(lambda: not self.slices("a") and self.used() == 0, what="end of the slices")

    def test_evicted_job_stops_and_goes_on_with_what_it_asks_for(self):
        self.create({"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "high"}, "value": 9})
        first = self.started("a", 3)
        self.scale("a", 6)
        eventually(lambda: len(self.live("a")) == 2, what="second slice")
        self.create(job("b", parallelism=5, run_for="10m", labels={"kueue.x-k8s.io/priority-class": "high"}))
        self.admitted("b")
        eventually(lambda: self.job("a")["spec"]["suspend"], what="stop")
        eventually(lambda: len(self.live("a")) == 1, what="end of the evicted slice")
        self.assertNotEqual(self.live("a")[0]["metadata"]["uid"], first["metadata"]["uid"])
        self.scale("a", 2)
        self.daemon.sluicectl("delete", "job", "b")
        self.replaced("a", 2)
        eventually(lambda: not self.job("a")["spec"]["suspend"], what="start")

    def test_many_changes_end_in_one_slice(self):
        self.started("a", 1)
        for i in range(12):
            self.scale("a", 1 + i % 4)
        last = self.replaced("a", 4)
        eventually(lambda: self.used() == 4000, what="quota of the last slice")
        self.assertFalse(self.job("a")["spec"]["suspend"])
        self.assertEqual(pods(last), 4)

    def test_scaled_to_nothing_and_up_again(self):
        self.started("a", 2)
        self.scale("a", 0)
        eventually(lambda: self.used() == 0, what="all given back")
        self.scale("a", 4)
        eventually(lambda: self.used() == 4000 and len(self.live("a")) == 1, what="quota for four")
        self.scale("a", 0)
        self.scale("a", 3)
        eventually(lambda: self.used() == 3000 and len(self.live("a")) == 1, what="quota for three")

    def test_slices_are_found_again_after_a_restart(self):
        self.started("a", 3)
        self.scale("a", 6)
        eventually(lambda: len(self.live("a")) == 2, what="second slice")
        self.daemon.kill()
        self.daemon.start()
        self.assertFalse(self.job("a")["spec"]["suspend"])
        eventually(lambda: self.used() == 3000, what="quota of the first slice")
        self.scale("a", 5)
        self.replaced("a", 5)
        eventually(lambda: self.used() == 5000, what="quota of the second slice")

    def test_mark_is_not_changed_nor_mixed_and_brings_no_warning(self):
        self.started("a", 1)
        status, answer = self.daemon.request("PATCH", f"{JOBS}/a", {"metadata": {"annotations": {ELASTIC: None}}},
                                             "application/merge-patch+json")
        self.assertEqual((status, answer["details"]["causes"][0]["field"]), (422, f"metadata.annotations[{ELASTIC}]"))
        both = elastic("b", 4)
        both["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = "2"
        status, answer = self.daemon.request("POST", JOBS, both)
        self.assertIn("partial admission and elastic job cannot be used together", answer["message"])
        done = self.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(elastic("c", 1)))
        self.assertNotIn("no effect", done.stderr)


class NotElastic(Scene):
    options = ("--feature-gates", "ElasticJobsViaWorkloadSlices=false")

    def test_mark_has_no_effect_without_the_gate_and_a_warning_says_so(self):
        self.create(flavor("f"), cluster_queue("cq", {"f": {"cpu": "5"}}), local_queue("main", "cq"))
        done = self.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(elastic("a", 2)))
        self.assertIn(WARNS, done.stderr)
        self.assertIsNone(note(self.admitted("a"), SLICE))
        self.assertNotIn("schedulingGates", self.daemon.get(f"{JOBS}/a")["spec"]["template"]["spec"])


if __name__ == "__main__":
    unittest.main()
