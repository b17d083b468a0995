"""Plain Pods and groups on a real control plane: gated by the policy, started by the daemon, run by kwok."""
from work_scene import *

LABEL = "kueue.x-k8s.io/"


def pod(name, cpu="1", group=None, total=None, run_for=None, **annotations):
    labels = {LABEL + "queue-name": "main"}
    notes = {"test/run-for": run_for} if run_for else {"test/run-for": "600s"}
    if group:
        labels[LABEL + "pod-group-name"] = group
        notes[LABEL + "pod-group-total-count"] = str(total)
    notes.update({("test/" if k == "fail" else LABEL) + k.replace("_", "-"): v for k, v in annotations.items()})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels, "annotations": notes},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [
                {"name": "c", "image": "busybox", "resources": {"requests": {"cpu": cpu}}}]}}


class RealPods(WorkScene):
    @classmethod
    def setUpClass(cls):
        """Two pods that will not end, on a node that is lost: the minute that they are given passes while the tests run."""
        cls.lost = "/api/v1/namespaces/lost/pods"
        lost = {"kwok.x-k8s.io/node": "fake", "test/lost": "true"}
        made = [("/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": "lost"}}),
                ("/api/v1/nodes", {"kind": "Node", "metadata": {"name": "lost", "annotations": lost}, "spec": {
                    "taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]}, "status": {
                        "conditions": [{"type": "Ready", "status": "Unknown"}]}})] # else Kubernetes takes the taint off
        for name, force in (("forced", "true"), ("left", "false")):
            made.append((cls.lost, {"kind": "Pod", "metadata": {"name": name, "annotations": {
                "test/lost": "true", LABEL + "safe-to-forcefully-delete": force}}, "spec": {
                    "nodeName": "lost", "terminationGracePeriodSeconds": 1, "containers": [{"name": "c", "image": "busybox"}]}}))
        for path, obj in made:
            make = lambda: cls.control_plane().request("POST", path, {"apiVersion": "v1", **obj})[0] in (201, 409)
            eventually(make, 20, what=f"{path} takes it") # a namespace gets its service account a moment later
        for name in ("forced", "left"):
            cls.control_plane().request("DELETE", f"{cls.lost}/{name}")
        cls.deleted = time.monotonic()

    @classmethod
    def tearDownClass(cls):
        cls.control_plane().request("DELETE", f"{cls.lost}/left", {"gracePeriodSeconds": 0})
        for path in ("/api/v1/nodes/lost", "/api/v1/namespaces/lost"):
            cls.control_plane().request("DELETE", path)

    def pod_path(self, name=""):
        return f"/api/v1/namespaces/{self.namespace}/pods" + (f"/{name}" if name else "")

    def tearDown(self):
        self.plane.request("DELETE", f"{KUEUE}/namespaces/{self.namespace}/workloads")  # its pods go with it
        self.plane.request("DELETE", self.pod_path())
        eventually(lambda: not self.pods(), 20, what="pods gone")
        super().tearDown()

    def pod(self, name):
        status, body = self.plane.request("GET", self.pod_path(name))
        return body if status == 200 else None

    def named(self, name):
        items = self.plane.get(f"{KUEUE}/namespaces/{self.namespace}/workloads")["items"]
        return next((w for w in items if w["metadata"]["name"] == name), None)

    def running(self, *names):
        eventually(lambda: all((p := self.pod(n)) and p["status"].get("phase") == "Running" for n in names), 20, what=f"{names} run")

    def end(self, name, **notes):
        self.patched(self.pod_path(name), {"metadata": {"annotations": {"test/run-for": "0s", **notes}}})

    def test_pod_waits_runs_and_ends(self):
        self.daemon()
        queue = self.queues(1)
        self.create(pod("a"), pod("b"))
        eventually(lambda: self.used(queue)[0] == 1000, what="the quota taken")
        first, second = ("a", "b") if not self.pod("a")["spec"].get("schedulingGates") else ("b", "a")
        self.running(first)
        self.assertIn({"name": LABEL + "admission"}, self.pod(second)["spec"]["schedulingGates"])
        self.end(first)
        self.running(second)
        self.assertEqual(condition(self.workload(first, lambda w: holds(w, "Finished")), "Finished")["reason"], "Succeeded")
        eventually(lambda: not self.pod(first)["metadata"].get("finalizers"), what="the first let go")
        self.plane.request("DELETE", self.pod_path(second))
        self.settles_at(queue, 0)

    def test_group_starts_together_loses_a_pod_and_ends(self):
        self.daemon()
        queue = self.queues(4)
        self.create(*(pod(f"g{i}", group="g", total=3) for i in range(2)))
        time.sleep(1)
        self.assertIsNone(self.named("g"))
        self.create(pod("g2", cpu="2", group="g", total=3))
        self.running("g0", "g1", "g2")
        self.settles_at(queue, 4)
        self.assertEqual(sorted(s["count"] for s in self.named("g")["spec"]["podSets"]), [1, 2])
        self.end("g1", **{"test/fail": "true"})
        eventually(lambda: holds(self.named("g"), "WaitingForReplacementPods"), what="the lack of a pod")
        self.create(pod("g3", group="g", total=3))
        self.running("g3")
        eventually(lambda: not self.pod("g1")["metadata"].get("finalizers"), what="the failed pod let go")
        for name in ("g0", "g2", "g3"):
            self.end(name)
        eventually(lambda: holds(self.named("g"), "Finished"), what="the end")
        self.assertEqual(condition(self.named("g"), "Finished")["message"], "Pods succeeded: 3/3.")
        self.settles_at(queue, 0)

    def test_group_that_is_drained_is_deleted_and_runs_again_with_other_pods(self):
        self.daemon()
        queue = self.queues(2)
        self.create(*(pod(f"g{i}", group="g", total=2) for i in range(2)))
        self.running("g0", "g1")
        self.patched(queue, {"spec": {"stopPolicy": "HoldAndDrain"}})
        eventually(lambda: all((p := self.pod(n)) is None or p["metadata"].get("deletionTimestamp") for n in ("g0", "g1")), what="pods deleted")
        for name in ("g0", "g1"):  # a kubelet would; kwok leaves pods that somebody holds as they are
            self.patched(self.pod_path(name) + "/status", {"status": {"phase": "Failed"}})
        self.settles_at(queue, 0)
        self.patched(queue, {"spec": {"stopPolicy": "None"}})
        self.create(*(pod(f"h{i}", group="g", total=2) for i in range(2)))
        self.running("h0", "h1")
        eventually(lambda: self.pod("g0") is None and self.pod("g1") is None, what="the old pods gone")
        self.settles_at(queue, 2)

    def test_pods_of_a_job_are_the_jobs(self):
        self.daemon()
        queue = self.queues(1)
        self.create(job("j", "main", run_for="300ms", template={}, labels={}))
        self.finished("j")
        self.assertEqual([w for w in self.workloads() if w != "j"], [])
        self.settles_at(queue, 0)

    def test_the_last_pod_of_a_lost_node_is_ended_by_force(self):
        self.daemon(config={"featureGates": {"FailureRecoveryPolicy": True}})
        lacking = lambda name: self.plane.request("GET", f"{self.lost}/{name}")[0] == 404
        if time.monotonic() - self.deleted < 50:
            time.sleep(2)
            self.assertFalse(lacking("forced"))
        eventually(lambda: lacking("forced"), 75, what="the pod gone")
        self.assertFalse(lacking("left"))
        said = [e for e in self.plane.get("/api/v1/namespaces/lost/events")["items"] if e["reason"] == "KueueForcefullyDeleted"]
        self.assertEqual([e["message"] for e in said], [
            "Pod forcefully terminated after 1m1s grace period due to unreachable node `lost` "
            "(triggered by `kueue.x-k8s.io/safe-to-forcefully-delete` annotation)"])
