"""Plain Pods and groups of them: gated until admitted, deleted when evicted, counted when they end."""
import json, unittest
from daemon import *

WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
PODS = "/api/v1/namespaces/default/pods"
LABEL = "kueue.x-k8s.io/"

QUEUES = [
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "any"},
     "spec": {"nodeLabels": {"pool": "any"}}},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "cq"},
     "spec": {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
         {"name": "any", "resources": [{"name": "cpu", "nominalQuota": "4"}]}]}]}},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "lq", "namespace": "default"},
     "spec": {"clusterQueue": "cq"}}]


def node(name):
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "pool": "any"}},
            "status": {"allocatable": {"cpu": "8", "pods": "20"}, "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(name, cpu="1", group=None, total=None, run_for="10m", queue="lq", **annotations):
    labels = {LABEL + "queue-name": queue} if queue else {}
    notes = {"sluice.dev/run-for": run_for} if run_for else {}
    if group:
        labels[LABEL + "pod-group-name"] = group
        notes[LABEL + "pod-group-total-count"] = str(total)
    for key, value in annotations.items():
        prefix = "sluice.dev/" if key == "fail" else LABEL
        notes[prefix + key.replace("_", "-")] = value
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "labels": labels, "annotations": notes},
            "spec": {"restartPolicy": "Never", "containers": [
                {"name": "c", "image": "example.com/work", "resources": {"requests": {"cpu": cpu}}}]}}


class Pods(unittest.TestCase):
    options = ()

    def setUp(self):
        self.daemon = Daemon(options=self.options).start()
        self.apply(*QUEUES, node("n1"), node("n2"))

    def tearDown(self):
        self.daemon.close()

    def apply(self, *objects):
        for o in objects:
            self.daemon.kubectl("apply", "-f", "-", stdin=json.dumps(o))

    def create(self, *pods):
        for p in pods:
            status, body = self.daemon.request("POST", PODS, p)
            self.assertEqual(status, 201, body)

    def pod(self, name):
        status, body = self.daemon.request("GET", f"{PODS}/{name}")
        return body if status == 200 else None

    def phase(self, name):
        p = self.pod(name)
        return p and p["status"].get("phase")

    def gates(self, name):
        return [g["name"] for g in self.pod(name)["spec"].get("schedulingGates", [])]

    def workloads(self):
        return self.daemon.get(WORKLOADS)["items"]

    def workload(self, name):
        return next((w for w in self.workloads() if w["metadata"]["name"] == name), None)

    def has(self, name, kind):
        """Does the condition hold? Not of a workload that is not there yet."""
        workload = self.workload(name)
        return workload is not None and holds(workload, kind)

    def running(self, *names):
        eventually(lambda: all(self.phase(n) == "Running" for n in names), what=f"{names} run")

    def gone(self, name):
        eventually(lambda: self.pod(name) is None, what=f"{name} gone")

    # --- alone

    def test_pod_waits_behind_its_gate_until_it_is_admitted(self):
        self.create(pod("a", cpu="4"), pod("b", cpu="1"))
        self.running("a")
        a = self.pod("a")
        self.assertNotIn("schedulingGates", {k: v for k, v in a["spec"].items() if v})
        self.assertEqual(a["spec"]["nodeSelector"], {"pool": "any"})
        self.assertEqual(a["metadata"]["labels"][LABEL + "managed"], "true")
        self.assertIn(LABEL + "admission", self.gates("b"))
        w = next(w for w in self.workloads() if w["metadata"]["ownerReferences"][0]["name"] == "a")
        self.assertTrue(w["metadata"]["name"].startswith("pod-a-"))
        self.assertEqual(w["spec"]["podSets"][0]["name"], "main")

    def test_pod_that_ends_finishes_its_workload_and_lets_the_next_run(self):
        self.create(pod("a", cpu="4", run_for="1s"), pod("b", cpu="1", run_for="1s", fail="true"))
        eventually(lambda: self.phase("a") == "Succeeded", what="the end of a")
        eventually(lambda: self.phase("b") == "Failed", what="the end of b")
        def reasons():
            return sorted(condition(w, "Finished")["reason"] for w in self.workloads() if condition(w, "Finished"))
        eventually(lambda: reasons() == ["Failed", "Succeeded"], what="both finished")
        eventually(lambda: not self.pod("a")["metadata"].get("finalizers"), what="a is let go")

    def test_deleted_pod_gives_its_quota_back(self):
        self.create(pod("a", cpu="4"), pod("b", cpu="4"))
        self.running("a")
        self.daemon.kubectl("delete", "pod", "a", "--wait=false")
        self.gone("a")
        self.running("b")
        eventually(lambda: len(self.workloads()) == 1, what="the Workload of a is gone")

    def test_evicted_pod_is_deleted(self):
        self.create(pod("a"))
        self.running("a")
        name = self.workloads()[0]["metadata"]["name"]
        self.daemon.kubectl("patch", "workload", name, "--type=merge", "-p", '{"spec":{"active":false}}')
        self.gone("a")

    def test_pod_without_a_queue_or_of_a_system_namespace_is_left_alone(self):
        self.create(pod("free", queue=None))
        self.running("free")
        self.assertEqual(self.workloads(), [])
        self.daemon.kubectl("create", "namespace", "kube-system")
        other = pod("sys")
        other["metadata"]["namespace"] = "kube-system"
        self.assertEqual(self.daemon.request("POST", "/api/v1/namespaces/kube-system/pods", other)[0], 201)
        got = self.daemon.get("/api/v1/namespaces/kube-system/pods/sys")
        self.assertNotIn("schedulingGates", got["spec"])

    def test_restart_keeps_pods_running(self):
        self.create(pod("a"), pod("g1", group="g", total=1))
        self.running("a", "g1")
        uids = [self.pod(n)["metadata"]["uid"] for n in ("a", "g1")]
        self.daemon.kill()
        self.daemon.start()
        time.sleep(1)
        self.assertEqual([self.pod(n)["metadata"]["uid"] for n in ("a", "g1")], uids)
        self.running("a", "g1")

    # --- groups

    def test_group_starts_together_once_it_is_complete(self):
        self.create(pod("g1", group="g", total=3), pod("g2", group="g", total=3))
        time.sleep(0.5)
        self.assertIsNone(self.workload("g"))
        self.create(pod("g3", cpu="2", group="g", total=3))
        self.running("g1", "g2", "g3")
        w = self.workload("g")
        self.assertEqual(sorted(s["count"] for s in w["spec"]["podSets"]), [1, 2])
        self.assertEqual(len(w["metadata"]["ownerReferences"]), 3)
        self.assertEqual(w["metadata"]["annotations"][LABEL + "is-group-workload"], "true")
        names = [s["name"] for s in w["spec"]["podSets"]]
        self.assertEqual(names, sorted(names))
        self.assertTrue(all(len(n) == 8 for n in names))

    def test_group_that_does_not_fit_stays_gated_as_a_whole(self):
        self.create(*[pod(f"g{i}", cpu="2", group="g", total=3) for i in range(3)])
        eventually(lambda: (w := self.workload("g")) and condition(w, "QuotaReserved"), what="an answer")
        self.assertTrue(all(LABEL + "admission" in self.gates(f"g{i}") for i in range(3)))

    def test_group_finishes_when_all_its_pods_have_succeeded(self):
        self.create(pod("g1", group="g", total=2, run_for="1s"), pod("g2", group="g", total=2, run_for="3s"))
        eventually(lambda: (w := self.workload("g")) and w.get("status", {}).get("reclaimablePods"),
                   what="a pod that needs nothing any more")
        eventually(lambda: self.has("g", "Finished"), what="the end")
        self.assertEqual(condition(self.workload("g"), "Finished")["message"], "Pods succeeded: 2/2.")
        eventually(lambda: not any(self.pod(n)["metadata"].get("finalizers") for n in ("g1", "g2")), what="pods let go")

    def test_failed_pod_is_replaced(self):
        self.create(pod("g1", group="g", total=2), pod("g2", group="g", total=2, run_for="1s", fail="true"))
        eventually(lambda: self.has("g", "WaitingForReplacementPods"), what="the lack of a pod")
        self.assertTrue(holds(self.workload("g"), "Admitted"))
        self.create(pod("g3", group="g", total=2))
        self.running("g1", "g3")
        eventually(lambda: not holds(self.workload("g"), "WaitingForReplacementPods"), what="no lack any more")
        eventually(lambda: not self.pod("g2")["metadata"].get("finalizers"), what="the failed pod is let go")
        self.assertEqual(len(self.workload("g")["metadata"]["ownerReferences"]), 3)

    def test_group_that_must_not_be_retried_ends_with_its_pods(self):
        self.create(pod("g1", group="g", total=2, run_for="1s", retriable_in_group="false"),
                    pod("g2", group="g", total=2, run_for="1s", fail="true"))
        eventually(lambda: self.has("g", "Finished"), what="the end")
        self.assertEqual(condition(self.workload("g"), "Finished")["message"], "Pods succeeded: 1/2.")

    def test_excess_pod_is_deleted(self):
        self.create(*[pod(f"g{i}", group="g", total=2) for i in range(2)])
        self.running("g0", "g1")
        self.create(pod("g2", group="g", total=2))
        self.gone("g2")
        self.running("g0", "g1")

    def test_fast_admission_does_not_wait_for_all_pods(self):
        self.create(pod("g1", group="g", total=3, pod_group_fast_admission="true"))
        self.running("g1")
        self.assertEqual(self.workload("g")["spec"]["podSets"][0]["count"], 3)
        self.create(pod("g2", group="g", total=3, pod_group_fast_admission="true"))
        self.running("g2")

    def test_evicted_group_loses_its_pods_and_runs_again_with_others(self):
        self.create(*[pod(f"g{i}", group="g", total=2) for i in range(2)])
        self.running("g0", "g1")
        self.daemon.kubectl("patch", "clusterqueue", "cq", "--type=merge", "-p", '{"spec":{"stopPolicy":"HoldAndDrain"}}')
        eventually(lambda: all(self.pod(n) is None or "deletionTimestamp" in self.pod(n)["metadata"] for n in ("g0", "g1")),
                   what="deleted pods")
        eventually(lambda: not holds(self.workload("g"), "QuotaReserved"), what="the quota back")
        self.daemon.kubectl("patch", "clusterqueue", "cq", "--type=merge", "-p", '{"spec":{"stopPolicy":"None"}}')
        self.create(*[pod(f"h{i}", group="g", total=2) for i in range(2)])
        self.running("h0", "h1")
        self.gone("g0")
        self.gone("g1")

    def test_deleted_group_is_gone_with_its_workload(self):
        self.create(*[pod(f"g{i}", group="g", total=2) for i in range(2)])
        self.running("g0", "g1")
        self.daemon.kubectl("delete", "pod", "g0", "g1", "--wait=false")
        self.daemon.kubectl("delete", "workload", "g", "--wait=false")
        self.gone("g0")
        self.gone("g1")
        eventually(lambda: self.workloads() == [], what="no Workload")

    def test_bad_groups_say_what_is_wrong(self):
        status, body = self.daemon.request("POST", PODS, pod("a", group="g", total="many"))
        self.assertEqual((status, body["details"]["causes"][0]["field"]),
                         (422, "metadata.annotations[kueue.x-k8s.io/pod-group-total-count]"))
        self.create(pod("x", group="h", total=2), pod("y", group="h", total=3))
        def said(text):
            return any(text in e["message"] for e in self.daemon.get("/api/v1/namespaces/default/events")["items"])
        eventually(lambda: said("different values of kueue.x-k8s.io/pod-group-total-count"), what="a word on the difference")

    # --- in a topology, and as configured

    def test_group_with_a_topology_stands_in_one_rack(self):
        hall = [{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology", "metadata": {"name": "hall"},
                 "spec": {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}},
                flavor("racks", topologyName="hall", nodeLabels={"pool": "racks"}),
                cluster_queue("tcq", {"racks": {"cpu": 100}}), local_queue("tlq", "tcq")]
        for i in range(4):
            n = node(f"r{i // 2}-{i % 2}")
            n["metadata"]["labels"].update({"rack": f"r{i // 2}", "pool": "racks"})
            n["status"]["allocatable"]["cpu"] = "2"
            hall.append(n)
        self.apply(*hall)
        self.create(*[pod(f"g{i}", cpu="2", group="g", total=2, queue="tlq", podset_required_topology="rack") for i in range(2)])
        self.running("g0", "g1")
        nodes = sorted(self.pod(f"g{i}")["spec"]["nodeName"] for i in range(2))
        self.assertEqual(nodes, ["r0-0", "r0-1"])
        self.assertIn("topologyAssignment", self.workload("g")["status"]["admission"]["podSetAssignments"][0])

    def test_the_example_plays(self):
        example = ROOT / "deploy/examples/pods"
        self.daemon.kubectl("apply", *sum((["-f", str(example / f)] for f in ("10-queues.yaml", "20-alone.yaml")), []))
        def phases():
            return {p["metadata"]["name"]: p["status"]["phase"] for p in self.daemon.get("/api/v1/namespaces/pods/pods")["items"]}
        eventually(lambda: phases().get("alone") == "Running", what="the pod runs")
        self.daemon.kubectl("apply", "-f", str(example / "30-group.yaml"))
        time.sleep(1)
        self.assertEqual([p for n, p in phases().items() if n != "alone"], ["Pending"] * 3)
        self.daemon.kubectl("delete", "pod", "alone", "-n", "pods", "--wait=false")
        eventually(lambda: list(phases().values()) == ["Running"] * 3, what="the group runs")


class WithoutPods(unittest.TestCase):
    def test_framework_that_is_not_enabled_leaves_pods_alone(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        config = daemon.home / "config.yaml"
        config.write_text("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
                          "integrations: {frameworks: [batch/job]}\n")
        daemon.options = ["--config", str(config)]
        daemon.start()
        self.assertEqual(daemon.request("POST", PODS, pod("a"))[0], 201)
        got = daemon.get(PODS + "/a")
        self.assertNotIn("schedulingGates", got["spec"])
        self.assertEqual(daemon.get(WORKLOADS)["items"], [])


if __name__ == "__main__":
    unittest.main()
