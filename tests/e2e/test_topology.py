"""A small hall of racks, played with kubectl: where the pods of each kind of job stand, and what happens when nodes fail."""
import json, subprocess, unittest
from daemon import *

EXAMPLE = ROOT / "deploy/examples/topology"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/hall/workloads"
RACK, BLOCK, HOST = "sluice.dev/rack", "sluice.dev/block", "kubernetes.io/hostname"
TOPOLOGY = "kueue.x-k8s.io/podset-%s-topology"
INDEX = "batch.kubernetes.io/job-completion-index"


def job(name, pods, annotations, cpu="4", run_for="10m", indexed=True, **spec):
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": "hall", "labels": {"kueue.x-k8s.io/queue-name": "hall"},
                         "annotations": {"sluice.dev/run-for": run_for}},
            "spec": {"parallelism": pods, "completions": pods, **({"completionMode": "Indexed"} if indexed else {}), **spec,
                     "template": {"metadata": {"annotations": annotations},
                                  "spec": {"restartPolicy": "Never", "containers": [
                                      {"name": "c", "image": "example.com/work",
                                       "resources": {"requests": {"cpu": cpu}}}]}}}}


class Hall(unittest.TestCase):
    """Three racks of four nodes with 4 cpus each: r01-n01 .. r03-n04."""
    options = ()

    def setUp(self):
        self.daemon = Daemon(options=self.options).start()
        nodes = subprocess.run([EXAMPLE / "nodes.sh", "3", "4", "4"], capture_output=True, text=True, check=True).stdout
        self.daemon.kubectl("apply", "--validate=strict", "-f", "-", stdin=nodes)
        self.daemon.kubectl("apply", "--validate=strict", "-f", str(EXAMPLE / "10-queues.yaml"))

    def tearDown(self):
        self.daemon.close()

    def submit(self, *jobs):
        for j in jobs:
            self.daemon.kubectl("apply", "--validate=strict", "-f", "-", stdin=json.dumps(j))

    def workload(self, name):
        items = self.daemon.get(WORKLOADS)["items"]
        return next((w for w in items if w["metadata"]["ownerReferences"][0]["name"] == name), None)

    def pods(self, name, phase="Running"):
        items = self.daemon.get(f"/api/v1/namespaces/hall/pods?labelSelector=job-name%3D{name}")["items"]
        return [p for p in items if phase is None or p["status"].get("phase") == phase]

    def nodes_of(self, name):
        """By completion index."""
        pods = sorted(self.pods(name), key=lambda p: int(p["metadata"]["labels"].get(INDEX, 0)))
        return [p["spec"]["nodeName"] for p in pods]

    def running(self, name, count):
        eventually(lambda: len(self.pods(name)) == count, what=f"{count} pods of {name} run")
        return self.nodes_of(name)

    def assigned(self, name):
        done = self.daemon.kubectl("get", "workload", self.workload(name)["metadata"]["name"], "-n", "hall", "-o", "json")
        return json.loads(done.stdout)["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"]


class Topology(Hall):
    # --- placing

    def test_required_job_stands_in_one_rack_by_rank(self):
        self.submit(job("j", 4, {TOPOLOGY % "required": RACK}))
        self.assertEqual(self.running("j", 4), [f"r01-n0{i}" for i in range(1, 5)])
        self.assertEqual(self.assigned("j")["levels"], [HOST])
        pod = self.pods("j")[0]
        self.assertNotIn("schedulingGates", pod["spec"])
        self.assertEqual(pod["spec"]["nodeSelector"][HOST], pod["spec"]["nodeName"])
        self.assertEqual(pod["metadata"]["labels"]["kueue.x-k8s.io/podset"], "main")
        self.assertEqual(pod["metadata"]["annotations"]["kueue.x-k8s.io/workload"], self.workload("j")["metadata"]["name"])
        out = self.daemon.kubectl("get", "pods", "-n", "hall").stdout
        self.assertEqual(out.count("1/1     Running"), 4, out)

    def test_required_job_that_no_rack_can_hold_waits_and_says_why(self):
        self.submit(job("j", 5, {TOPOLOGY % "required": RACK}))
        why = eventually(lambda: (w := self.workload("j")) and condition(w, "QuotaReserved"), what="an answer")
        self.assertEqual((why["status"], why["reason"]), ("False", "TopologyPlacementFailed"))
        self.assertIn("hall", why["message"])
        self.assertEqual(self.pods("j", None), [])

    def test_preferred_job_spills_over_and_unconstrained_fills_gaps(self):
        self.submit(job("p", 6, {TOPOLOGY % "preferred": RACK}))
        nodes = self.running("p", 6)
        self.assertEqual(sorted({n[:3] for n in nodes}).__len__(), 2)
        self.submit(job("u", 8, {TOPOLOGY % "unconstrained": "true"}, cpu="2", indexed=False))
        self.running("u", 8)
        self.assertFalse({p["spec"]["nodeName"] for p in self.pods("u")} & set(nodes))

    def test_sliced_job_keeps_each_slice_in_one_rack(self):
        self.submit(job("s", 6, {TOPOLOGY % "required": BLOCK, TOPOLOGY % "slice-required": RACK,
                                 "kueue.x-k8s.io/podset-slice-size": "3"}))
        nodes = self.running("s", 6)
        self.assertEqual([len({n[:3] for n in nodes[i:i + 3]}) for i in (0, 3)], [1, 1])

    def test_job_without_annotations_in_a_topology_queue_has_places_too(self):
        self.submit(job("j", 2, {}, indexed=False))
        self.running("j", 2)
        self.assertEqual(self.pods("j")[0]["metadata"]["annotations"][TOPOLOGY % "unconstrained"], "true")

    def test_bad_annotations_are_refused_by_name(self):
        done = self.daemon.kubectl("apply", "-f", "-", check=False, stdin=json.dumps(
            job("j", 2, {TOPOLOGY % "required": RACK, TOPOLOGY % "preferred": RACK,
                         TOPOLOGY % "slice-required": RACK, "kueue.x-k8s.io/podset-slice-size": "3"})))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("must not contain more than one topology annotation", done.stderr)
        self.assertIn("must not be greater than pod set count 2", done.stderr)

    # --- the life of pods

    def test_job_ends_with_its_pods_and_frees_its_nodes(self):
        self.submit(job("a", 4, {TOPOLOGY % "required": RACK}, run_for="1s"))
        eventually(lambda: holds(self.workload("a") or {}, "Finished"), what="the end of a")
        eventually(lambda: self.pods("a", None) == [], what="its pods are gone")
        self.submit(job("b", 4, {TOPOLOGY % "required": RACK}))
        self.assertEqual(self.running("b", 4)[0], "r01-n01")

    def test_deleted_pod_is_made_again_on_its_node(self):
        self.submit(job("j", 3, {TOPOLOGY % "required": RACK}))
        before = self.running("j", 3)
        victim = self.pods("j")[1]
        self.daemon.kubectl("delete", "pod", victim["metadata"]["name"], "-n", "hall", "--wait=false")
        eventually(lambda: victim["metadata"]["uid"] not in {p["metadata"]["uid"] for p in self.pods("j", None)},
                   what="the pod is gone")
        self.assertEqual(self.running("j", 3), before)

    def test_deactivated_workload_loses_its_pods_and_the_template_its_gate(self):
        self.submit(job("j", 3, {TOPOLOGY % "required": RACK}))
        self.running("j", 3)
        name = self.workload("j")["metadata"]["name"]
        patch = lambda active: self.daemon.kubectl("patch", "workload", name, "-n", "hall", "--type=merge", "-p",
                                                   json.dumps({"spec": {"active": active}}))
        patch(False)
        eventually(lambda: self.pods("j", None) == [], what="its pods are gone")
        path = "/apis/batch/v1/namespaces/hall/jobs/j"
        eventually(lambda: "schedulingGates" not in self.daemon.get(path)["spec"]["template"]["spec"], what="an open template")
        self.assertEqual(self.daemon.get(path)["spec"]["template"]["metadata"]["annotations"],
                         {TOPOLOGY % "required": RACK})
        patch(True)
        self.running("j", 3)

    def test_restart_keeps_pods_and_places(self):
        self.submit(job("j", 4, {TOPOLOGY % "required": RACK}, run_for="4s"))
        before = self.running("j", 4)
        uids = {p["metadata"]["uid"] for p in self.pods("j")}
        self.daemon.kill()
        self.daemon.start()
        self.assertEqual(self.nodes_of("j"), before)
        self.submit(job("k", 4, {TOPOLOGY % "required": RACK}))
        self.assertEqual(self.running("k", 4)[0], "r02-n01")
        self.assertEqual({p["metadata"]["uid"] for p in self.pods("j")}, uids)
        eventually(lambda: holds(self.workload("j"), "Finished"), what="the end of j")

    # --- a topology that goes

    def topology_name(self):
        return self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/topologies")["items"][0]["metadata"]["name"]

    def test_topology_flavor_and_queue_in_use_wait_with_their_deletion(self):
        self.submit(job("j", 4, {TOPOLOGY % "required": RACK}))
        self.running("j", 4)
        queues = self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/clusterqueues")["items"]
        flavors = self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/resourceflavors")["items"]
        named = [("topology", self.topology_name()), ("resourceflavor", flavors[0]["metadata"]["name"]),
                 ("clusterqueue", queues[0]["metadata"]["name"])]
        for kind, name in named:
            self.daemon.kubectl("delete", kind, name, "--wait=false")
        time.sleep(1)
        for kind, name in named:
            o = json.loads(self.daemon.kubectl("get", kind, name, "-o", "json").stdout)
            self.assertIn("deletionTimestamp", o["metadata"], kind)
            self.assertIn("kueue.x-k8s.io/resource-in-use", o["metadata"]["finalizers"], kind)
        self.assertEqual(len(self.pods("j")), 4)
        self.daemon.kubectl("delete", "job", "j", "-n", "hall")
        for kind, name in reversed(named):  # one after the other, each with its last user
            eventually(lambda: self.daemon.kubectl("get", kind, name, check=False).returncode != 0, what=f"{kind} gone")

    def test_topology_missing_at_a_restart_gives_no_node_out_twice(self):
        self.submit(job("j", 4, {TOPOLOGY % "required": RACK}))
        places = self.running("j", 4)
        name = self.topology_name()
        self.daemon.kubectl("delete", "topology", name, "--wait=false")
        self.daemon.kubectl("patch", "topology", name, "--type=merge", "-p", '{"metadata":{"finalizers":[]}}')
        self.daemon.stop()
        self.daemon.start()
        self.submit(job("k", 4, {TOPOLOGY % "required": RACK}))
        time.sleep(1)
        self.assertEqual(self.pods("k"), [])
        self.daemon.kubectl("apply", "-f", str(EXAMPLE / "10-queues.yaml"))
        self.assertFalse(set(self.running("k", 4)) & set(places))
        self.assertEqual(self.nodes_of("j"), places)
        self.daemon.sluicectl("node", "fail", places[0])
        eventually(lambda: len(self.pods("j")) == 4 and places[0] not in self.nodes_of("j"), seconds=30, what="a replacement")

    # --- failures

    def test_failed_node_is_replaced_in_place_and_no_other_pod_moves(self):
        self.submit(job("j", 3, {TOPOLOGY % "required": RACK}))
        before = self.running("j", 3)
        stay = {p["metadata"]["uid"] for p in self.pods("j") if p["spec"]["nodeName"] != before[1]}
        admission = self.workload("j")["status"]["admission"]
        self.daemon.sluicectl("node", "fail", before[1])
        eventually(lambda: sorted(self.nodes_of("j")) == ["r01-n01", "r01-n03", "r01-n04"], what="a place on r01-n04")
        self.assertEqual(len(stay & {p["metadata"]["uid"] for p in self.pods("j")}), 2)
        w = self.workload("j")
        self.assertTrue(holds(w, "Admitted"))
        self.assertIsNone(condition(w, "Evicted"))
        self.assertFalse(w["status"].get("unhealthyNodes"))
        after = w["status"]["admission"]
        for a in (admission, after):
            del a["podSetAssignments"][0]["topologyAssignment"]
        self.assertEqual(after, admission)
        metrics = str(self.daemon.request("GET", "/metrics")[1])
        self.assertRegex(metrics, r"sluice_replacements_total 1\b")
        self.assertRegex(metrics, r"sluice_second_passes_failed_total 0\b")
        self.daemon.sluicectl("node", "recover", before[1])
        self.submit(job("k", 1, {TOPOLOGY % "required": RACK}))
        self.assertEqual(self.running("k", 1), ["r01-n02"])

    def test_two_nodes_that_fail_are_both_replaced(self):
        self.submit(job("j", 2, {TOPOLOGY % "required": RACK}))
        before = self.running("j", 2)
        self.daemon.sluicectl("node", "fail", *before)
        eventually(lambda: sorted(self.nodes_of("j")) == ["r01-n03", "r01-n04"], what="other places in the rack")
        self.assertIsNone(condition(self.workload("j"), "Evicted"))

    def test_deleted_node_is_replaced(self):
        self.submit(job("j", 3, {TOPOLOGY % "required": RACK}))
        self.running("j", 3)
        self.daemon.kubectl("delete", "node", "r01-n01")
        eventually(lambda: sorted(self.nodes_of("j")) == ["r01-n02", "r01-n03", "r01-n04"], what="a place on r01-n04")
        self.assertIsNone(condition(self.workload("j"), "Evicted"))

    def test_cordoned_node_keeps_its_pods_and_gets_no_new_ones(self):
        self.submit(job("j", 3, {TOPOLOGY % "required": RACK}))
        before = self.running("j", 3)
        self.daemon.kubectl("cordon", "r01-n02")
        time.sleep(2)
        self.assertEqual(self.nodes_of("j"), before)
        victim = next(p for p in self.pods("j") if p["spec"]["nodeName"] == "r01-n02")
        self.daemon.kubectl("delete", "pod", victim["metadata"]["name"], "-n", "hall", "--wait=false")
        eventually(lambda: sorted(self.nodes_of("j")) == ["r01-n01", "r01-n03", "r01-n04"], what="a place on r01-n04")
        self.assertEqual(self.pods("j", "Failed"), [])
        self.assertIsNone(condition(self.workload("j"), "Evicted"))

    def test_node_without_replacement_in_its_rack_sends_the_job_to_another(self):
        self.submit(job("j", 4, {TOPOLOGY % "required": RACK}))
        self.running("j", 4)
        self.daemon.sluicectl("node", "fail", "r01-n02")
        eventually(lambda: (c := condition(self.workload("j"), "Requeued")) and c["reason"] == "NodeFailures"
                   or (condition(self.workload("j"), "Evicted") or {}).get("reason") == "NodeFailures",
                   what="eviction for failed nodes")
        eventually(lambda: self.nodes_of("j") == [f"r02-n0{i}" for i in range(1, 5)], what="a whole rack")

    def test_S56_late_pod_for_the_old_node_is_failed_and_replaced(self):
        slow = job("j", 3, {TOPOLOGY % "required": RACK})
        slow["spec"]["template"]["spec"]["schedulerName"] = "somebody-slow"  # released pods are bound by nobody
        self.submit(slow)
        waiting = lambda: {p["spec"]["nodeSelector"].get(HOST): p for p in self.pods("j", "Pending")}
        eventually(lambda: sorted(map(str, waiting())) == ["r01-n01", "r01-n02", "r01-n03"], what="three released pods")
        before = waiting()
        self.daemon.kubectl("delete", "node", "r01-n02")
        failed = eventually(lambda: self.pods("j", "Failed"), what="the late pod failed")
        self.assertEqual([p["metadata"]["uid"] for p in failed], [before["r01-n02"]["metadata"]["uid"]])
        why = condition(failed[0], "TerminatedByKueue")
        self.assertEqual((why["status"], why["reason"]), ("True", "UnschedulableOnAssignedNode"))
        eventually(lambda: sorted(map(str, waiting())) == ["r01-n01", "r01-n03", "r01-n04"], what="another on r01-n04")
        for stays in ("r01-n01", "r01-n03"):
            self.assertEqual(waiting()[stays]["metadata"]["uid"], before[stays]["metadata"]["uid"])
        self.assertIsNone(condition(self.workload("j"), "Evicted"))

    # --- sluicectl

    def test_sluicectl_draws_the_hall_and_lists_its_nodes(self):
        self.submit(job("j", 4, {TOPOLOGY % "required": RACK}), job("big", 5, {TOPOLOGY % "required": RACK}))
        self.running("j", 4)
        eventually(lambda: self.workload("big") and condition(self.workload("big"), "QuotaReserved"), what="an answer")
        self.daemon.sluicectl("node", "fail", "r03-n02")
        out = self.daemon.sluicectl("topology").stdout
        self.assertIn("hall (topology hall): 12 nodes, 4 of 12 domains in use, 1 not ready\n", out)
        mark = re.search(r"(?m)^  (\w)  hall/j: 4 pods on 4, required in one rack$", out).group(1)
        self.assertIn(f"  block-1/rack-1  {mark * 4}  4/4\n  block-1/rack-2  ....  0/4\n  block-1/rack-3  .!..  0/4\n", out)
        self.assertIn("  ~  hall/big waits: ", out)
        self.daemon.kubectl("cordon", "r01-n03")
        self.assertIn("  closed and in use: r01-n03\n", self.daemon.sluicectl("topology").stdout)
        hall = json.loads(self.daemon.sluicectl("topology", "-o", "json").stdout)["items"][0]
        self.assertEqual((len(hall["domains"]), hall["workloads"][0]["pods"]), (12, 4))
        self.assertEqual([d["values"][-1] for d in hall["domains"] if d["closed"]], ["r01-n03"])
        nodes = self.daemon.sluicectl("node", "list").stdout
        self.assertRegex(nodes, r"r01-n01  Ready  +1  -\n")
        self.assertRegex(nodes, r"r03-n02  NotReady  +0  node.kubernetes.io/not-ready:NoSchedule,")

    def test_sluicectl_says_what_is_wrong(self):
        cases = [(("topology", "nowhere"), 1, 'ResourceFlavor "nowhere" does not exist'), (("topology", "a", "b"), 2, "at most one"),
                 (("node",), 2, "node takes list"), (("node", "fail"), 2, "names of nodes"),
                 (("node", "fail", ""), 2, "is empty"), (("node", "fail", "ghost"), 1, '"ghost" not found')]
        for arguments, code, text in cases:
            done = self.daemon.sluicectl(*arguments, check=False)
            self.assertEqual((done.returncode, text in done.stderr), (code, True), done.stderr)
        self.daemon.kubectl("apply", "--validate=strict", "-f", "-", stdin=json.dumps(flavor("flat")))
        for arguments, text in ((("topology", "flat"), 'ResourceFlavor "flat" has no topologyName'),):
            done = self.daemon.sluicectl(*arguments, check=False)
            self.assertEqual((done.returncode, text in done.stderr), (1, True), done.stderr)
        self.assertIn("already ready", self.daemon.sluicectl("node", "recover", "r01-n01").stdout)


class Patient(Hall):
    """Workloads wait for a replacement instead of leaving."""
    options = ("--feature-gates", "TASFailedNodeReplacementFailFast=false")

    def test_S57_gated_pod_waits_for_the_replacement(self):
        self.submit(job("j", 4, {TOPOLOGY % "required": RACK}))
        self.running("j", 4)
        self.daemon.sluicectl("node", "fail", "r01-n02")
        eventually(lambda: self.workload("j")["status"].get("unhealthyNodes") == [{"name": "r01-n02"}], what="the mark")
        gated = eventually(lambda: [p for p in self.pods("j", "Pending") if p["spec"].get("schedulingGates")],
                           what="a gated pod in place of the lost one")[0]
        time.sleep(2)
        self.assertEqual([p["metadata"]["uid"] for p in self.pods("j", "Pending")], [gated["metadata"]["uid"]])
        self.assertNotIn(HOST, self.pods("j", "Pending")[0]["spec"].get("nodeSelector", {}))
        node = self.daemon.get("/api/v1/nodes/r01-n01")
        node["metadata"] = {"name": "r01-n05", "labels": {**node["metadata"]["labels"], HOST: "r01-n05"}}
        self.daemon.kubectl("apply", "-f", "-", stdin=json.dumps(node))
        eventually(lambda: sorted(self.nodes_of("j")) == ["r01-n01", "r01-n03", "r01-n04", "r01-n05"], seconds=40,
                   what="a place on the new node")
        self.assertEqual(self.pods("j", "Failed"), [])
        self.assertIsNone(condition(self.workload("j"), "Evicted"))


class Play(unittest.TestCase):
    def test_the_example_plays(self):
        environment = {**os.environ, "LISTEN": f"127.0.0.1:{free_port()}"}
        done = subprocess.run([EXAMPLE / "play.sh", BUILD], env=environment, capture_output=True, text=True, timeout=180)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("640 nodes, 236 of 640 domains in use", done.stdout)
        self.assertIn("Played.", done.stdout)
