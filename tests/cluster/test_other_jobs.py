"""What is queued and no batch Job: plain pods, groups of pods, and kinds that adapters describe."""
from work_scene import *

QUEUE = "kueue.x-k8s.io/queue-name"


def pod(name, queue="main", run_for="300ms", cpu="1", group=None, total=0):
    labels, notes = {QUEUE: queue}, {"test/run-for": run_for} if run_for else {}
    if group:
        labels["kueue.x-k8s.io/pod-group-name"] = group
        notes["kueue.x-k8s.io/pod-group-total-count"] = str(total)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels, "annotations": notes},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [
                {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": cpu}}}]}}


class Pods(WorkScene):
    def tearDown(self):
        # The pods of a group that has not ended keep their finalizers until its Workload is given up.
        self.plane.request("DELETE", f"{KUEUE}/namespaces/{self.namespace}/workloads")
        self.plane.request("DELETE", f"/api/v1/namespaces/{self.namespace}/pods")
        eventually(lambda: not self.pods(), 15, what="pods gone, and their finalizers")
        super().tearDown()

    def pod(self, name):
        return self.plane.get(f"/api/v1/namespaces/{self.namespace}/pods/{name}")

    def phase(self, name):
        return self.pod(name)["status"].get("phase")

    def items(self):
        return self.plane.get(f"{KUEUE}/namespaces/{self.namespace}/workloads")["items"]

    def test_pods_wait_for_quota_one_after_the_other(self):
        self.daemon()
        queue = self.queues(1)
        self.create(pod("a", run_for="1s"), pod("b"))
        eventually(lambda: [self.phase(n) for n in "ab"] == ["Running", "Pending"], what="one runs")
        self.assertTrue(self.pod("b")["spec"]["schedulingGates"])
        eventually(lambda: self.phase("b") == "Succeeded", what="the other has run")
        self.settles_at(queue, 0)

    def test_group_of_pods_starts_together_or_not_at_all(self):
        self.daemon()
        queue = self.queues(3)
        self.create(pod("g-0", group="g", total=2, run_for="2s"))
        self.create(pod("h-0", group="h", total=2), pod("h-1", group="h", total=2))
        eventually(lambda: self.phase("h-1") == "Succeeded", what="the complete group has run")
        self.assertEqual(self.phase("g-0"), "Pending")
        self.create(pod("g-1", group="g", total=2, run_for="2s"))
        eventually(lambda: [self.phase(n) for n in ("g-0", "g-1")] == ["Succeeded"] * 2, what="both have run")
        self.settles_at(queue, 0)
        self.assertEqual({w["metadata"]["name"] for w in self.items()}, {"g", "h"})

    def test_group_that_is_evicted_loses_its_pods(self):
        self.daemon()
        queue = self.queues(2)
        self.create(pod("e-0", group="e", total=2, run_for=None), pod("e-1", group="e", total=2, run_for=None))
        eventually(lambda: [self.phase(n) for n in ("e-0", "e-1")] == ["Running"] * 2, what="both run")
        self.patched(queue, {"spec": {"stopPolicy": "HoldAndDrain"}})
        eventually(lambda: not [p for p in self.pods() if not p["metadata"].get("deletionTimestamp")],
                   what="pods deleted")
        self.settles_at(queue, 0)


class Adapters(WorkScene):
    options = ("--adapters", str(ROOT / "deploy/adapters"))

    def setUp(self):
        super().setUp()
        self.made = []
        self.jobsets_are_known()

    def tearDown(self):
        for path in self.made:
            self.plane.request("DELETE", path)
        super().tearDown()

    def path_of(self, group, plural, name):
        return f"/apis/{group}/namespaces/{self.namespace}/{plural}/{name}"

    def make(self, group, kind, plural, name, spec):
        status, answer = self.plane.request("POST", self.path_of(group, plural, "").rstrip("/"), {
            "apiVersion": group, "kind": kind, "spec": spec,
            "metadata": {"name": name, "labels": {QUEUE: "main"}, "annotations": {}}})
        self.assertEqual(status, 201, answer)
        self.made.append(self.path_of(group, plural, name))
        return answer

    def template(self, cpu="1"):
        return {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}}

    def ends(self, path, kind):
        self.patched(path + "/status", {"status": {"conditions": [
            {"type": kind, "status": "True", "reason": "Done", "message": "",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})

    def test_jobset_is_suspended_admitted_and_finished(self):
        self.daemon()
        queue = self.queues(4)
        made = self.make("jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets", "set", {"replicatedJobs": [
            {"name": "driver", "replicas": 1, "template": {"spec": {"parallelism": 1, "completions": 1,
                                                                     "template": self.template()}}},
            {"name": "workers", "replicas": 3, "template": {"spec": {"parallelism": 1, "completions": 1,
                                                                     "template": self.template()}}}]})
        self.assertTrue(made["spec"]["suspend"])
        path = self.path_of("jobset.x-k8s.io/v1alpha2", "jobsets", "set")
        wl = self.admitted("set")
        self.assertEqual([(p["name"], p["count"]) for p in wl["spec"]["podSets"]], [("driver", 1), ("workers", 3)])
        eventually(lambda: self.plane.get(path)["spec"]["suspend"] is False, what="started")
        self.settles_at(queue, 4)
        self.ends(path, "Completed")
        self.finished("set")
        self.settles_at(queue, 0)

    def test_trainjob_waits_for_its_runtime_and_is_counted_with_it(self):
        self.daemon()
        queue = self.queues(9)
        group, runtimes = "trainer.kubeflow.org/v1alpha1", "/apis/trainer.kubeflow.org/v1alpha1/clustertrainingruntimes"
        path = self.path_of(group, "trainjobs", "train")
        self.make(group, "TrainJob", "trainjobs", "train", {"runtimeRef": {"name": "torch"}})
        looks = iter(range(1000))
        def lack_is_said():
            """Events are few a second, and objects that other tests left may use them up: each look at the job says it again."""
            self.patched(path, {"metadata": {"annotations": {"example.com/look": str(next(looks))}}})
            events = self.plane.get(f"/api/v1/namespaces/{self.namespace}/events")["items"]
            return any('ClusterTrainingRuntime "torch" is not there' in e["message"] for e in events)
        eventually(lack_is_said, 60, what="an event that says what lacks")
        self.assertEqual(self.workloads(), {})
        step = {"metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}}
        runtime = {"apiVersion": group, "kind": "ClusterTrainingRuntime", "metadata": {"name": "torch"}, "spec": {
            "mlPolicy": {"numNodes": 2}, "template": {"spec": {"replicatedJobs": [
                {"name": "node", "template": {**step, "spec": {"template": self.template("3")}}}]}}}}
        self.assertEqual(self.plane.request("POST", runtimes, runtime)[0], 201)
        self.made.append(f"{runtimes}/torch")
        wl = self.admitted("train")
        self.assertEqual([(p["name"], p["count"]) for p in wl["spec"]["podSets"]], [("node", 2)])
        eventually(lambda: self.plane.get(path)["spec"]["suspend"] is False, what="started")
        self.settles_at(queue, 6)
        self.assertIn("kueue.x-k8s.io/manager", str(self.plane.get(path)["spec"]["runtimePatches"]))
        self.ends(path, "Complete")
        self.finished("train")
        self.settles_at(queue, 0)

    def test_pytorchjob_waits_for_quota_and_is_stopped_when_it_is_evicted(self):
        self.daemon()
        queue = self.queues(3)
        made = self.make("kubeflow.org/v1", "PyTorchJob", "pytorchjobs", "torch", {"pytorchReplicaSpecs": {
            "Master": {"replicas": 1, "template": self.template()},
            "Worker": {"replicas": 2, "template": self.template()}}})
        self.assertTrue(made["spec"]["runPolicy"]["suspend"])
        path = self.path_of("kubeflow.org/v1", "pytorchjobs", "torch")
        self.admitted("torch")
        eventually(lambda: not self.plane.get(path)["spec"]["runPolicy"]["suspend"], what="started")
        self.patched(queue, {"spec": {"stopPolicy": "HoldAndDrain"}})
        eventually(lambda: self.plane.get(path)["spec"]["runPolicy"]["suspend"], what="stopped")
        self.settles_at(queue, 0)
