"""Scenarios of docs/scenarios.md that are about time, restarts, deletions and shutdown, against the whole daemon."""
import http.client, sqlite3, threading
from scene import *
from test_provisioning import RACK as CLOUD_RACK, POOL, check, checked_queue, config
from test_topology import Hall, RACK, TOPOLOGY, job as placed


def state_of(daemon):
    """What stands in the data directory: name -> size and time of the last change."""
    return {p.name: (p.stat().st_size, p.stat().st_mtime_ns) for p in daemon.data.iterdir() if p.is_file()}


def stored(daemon, kind, name):
    """The object as the daemon, which is dead, has left it."""
    with tempfile.TemporaryDirectory() as copy:
        for p in daemon.data.iterdir():
            if p.is_file():
                shutil.copy(p, copy)
        with sqlite3.connect(next(pathlib.Path(copy).glob("*.db"))) as db:
            rows = [json.loads(text) for text, in db.execute("SELECT body FROM objects")]
    return next(o for o in rows if o["kind"] == kind and name in o["metadata"]["name"])


class Vanished(Scene):
    def test_S34_victim_deleted_while_it_is_evicted_lets_the_preemptor_in(self):
        self.create({"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "high"}, "value": 9},
                    flavor("f"), cluster_queue("team", {"f": {"cpu": "1"}},
                                               preemption={"withinClusterQueue": "LowerPriority"}),
                    local_queue("main", "team"))
        self.create(job("victim", run_for="60s"))
        self.admitted("victim")
        self.create(job("preemptor", run_for="60s", labels={"kueue.x-k8s.io/priority-class": "high"}))
        self.daemon.kubectl("delete", "job", "victim", "--wait=false")
        self.admitted("preemptor")
        eventually(lambda: "victim" not in self.workloads(), what="the victim's Workload gone")

    def test_S36_queue_deleted_and_made_again_admits_what_waited(self):
        queue = cluster_queue("team", {"f": {"cpu": "1"}})
        self.create(flavor("f"), queue, local_queue("main", "team"))
        self.daemon.kubectl("delete", "clusterqueue", "team", "--wait=false")
        self.create(job("waits", run_for="60s"))
        self.refused("waits", "Misconfigured")
        self.create(queue)
        self.admitted("waits")

    def test_S39_deleted_while_nobody_looked_leaves_no_ghost(self):
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "1"}}), local_queue("main", "team"))
        self.create(job("ghost", run_for="60s"))
        self.admitted("ghost")
        self.daemon.kubectl("delete", "job", "ghost", "--wait=false")
        self.daemon.kill()
        self.daemon.start()
        self.create(job("next", run_for="60s"))
        self.admitted("next")
        self.assertNotIn("ghost", self.workloads())


class Shutdown(Scene):
    def test_S38_stop_with_readers_and_timers_ends_soon_and_nothing_is_written_after(self):
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "1"}}), local_queue("main", "team"))
        self.create(job("runs", run_for="3s"), job("waits", run_for="60s"))
        self.admitted("runs")
        watch = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=30)
        watch.request("GET", WORKLOADS + "?watch=1")
        reader = watch.getresponse()
        self.assertEqual(reader.status, 200)
        ended = threading.Event()

        def read_all():
            try:
                while reader.read1(65536):
                    pass
            except (OSError, http.client.HTTPException):
                pass
            ended.set()
        threading.Thread(target=read_all, daemon=True).start()
        began = time.monotonic()
        self.assertEqual(self.daemon.stop(), 0)
        self.assertLess(time.monotonic() - began, 5)
        self.assertTrue(ended.wait(5), "the watch goes on")
        at_the_end = state_of(self.daemon)
        time.sleep(3.5)  # the job's timer would have come due
        self.assertEqual(state_of(self.daemon), at_the_end)
        self.daemon.start()
        self.finished("runs")
        self.admitted("waits")
        watch.close()


class Tenants(unittest.TestCase):
    def test_S40_daemons_with_the_same_names_share_nothing(self):
        daemons = [Daemon().start(), Daemon().start()]
        try:
            scenes = []
            for i, d in enumerate(daemons):
                scene = Scene()
                scene.daemon = d
                scene.create(flavor("f"), cluster_queue("team", {"f": {"cpu": str(i)}}), local_queue("main", "team"),
                             job("same", run_for="60s"))
                scenes.append(scene)
            scenes[0].refused("same", "ExceedsMaxQuota")
            first = scenes[1].admitted("same")
            other = scenes[0].workloads()["same"]
            self.assertNotEqual(first["metadata"]["uid"], other["metadata"]["uid"])
            daemons[1].kill()
            time.sleep(0.3)
            self.assertFalse(holds(scenes[0].workloads()["same"], "Admitted"))
            scenes[0].patch("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team", {"spec": {"resourceGroups": [
                {"coveredResources": ["cpu"], "flavors": [
                    {"name": "f", "resources": [{"name": "cpu", "nominalQuota": "1"}]}]}]}})
            scenes[0].admitted("same")
        finally:
            for d in daemons:
                d.close()


class FailedNodes(Hall):
    def marked(self, name):
        return [n["name"] for n in self.workload(name)["status"].get("unhealthyNodes", [])]

    def lose(self, name, *nodes):
        """The nodes fail, and are marked: the second pass is a second away."""
        self.daemon.sluicectl("node", "fail", *nodes)
        eventually(lambda: set(nodes) <= set(self.marked(name)), what=f"marks of {nodes}")

    def test_S12_somebody_else_writes_while_the_node_is_marked_and_replaced(self):
        self.submit(placed("j", 3, {TOPOLOGY % "required": RACK}))
        self.running("j", 3)
        path, stop, writes = f"{self.path()}/{self.workload('j')['metadata']['name']}", threading.Event(), []

        def keep_writing():
            while not stop.is_set():
                body = {"metadata": {"annotations": {"example.com/seen": str(len(writes))}}}
                writes.append(self.daemon.request("PATCH", path, body, "application/merge-patch+json")[0])
        writer = threading.Thread(target=keep_writing)
        writer.start()
        try:
            self.daemon.sluicectl("node", "fail", "r01-n02")
            eventually(lambda: sorted(self.nodes_of("j")) == ["r01-n01", "r01-n03", "r01-n04"], what="a replacement")
        finally:
            stop.set()
            writer.join()
        self.assertGreater(len(writes), 10)
        self.assertEqual(set(writes), {200})
        w = self.workload("j")
        self.assertEqual(w["metadata"]["annotations"]["example.com/seen"], str(len(writes) - 1))
        self.assertIsNone(condition(w, "Evicted"))

    def path(self):
        return "/apis/kueue.x-k8s.io/v1beta2/namespaces/hall/workloads"

    def test_S31_job_made_anew_under_its_name_is_not_touched_by_the_old_pass(self):
        self.submit(placed("j", 2, {TOPOLOGY % "required": RACK}))
        self.running("j", 2)
        self.lose("j", "r01-n01")
        self.daemon.kubectl("delete", "job", "j", "-n", "hall")
        self.submit(placed("j", 2, {TOPOLOGY % "required": RACK}))
        nodes = self.running("j", 2)
        self.assertNotIn("r01-n01", nodes)
        before = self.workload("j")
        time.sleep(2)
        self.assertEqual(self.nodes_of("j"), nodes)
        self.assertEqual(self.workload("j")["status"]["admission"], before["status"]["admission"])

    def test_S32_a_node_fails_recovers_and_another_fails_within_the_delay(self):
        self.submit(placed("j", 3, {TOPOLOGY % "required": RACK}))
        self.running("j", 3)
        self.lose("j", "r01-n01")
        self.daemon.sluicectl("node", "recover", "r01-n01")
        self.daemon.sluicectl("node", "fail", "r01-n02")
        eventually(lambda: sorted(self.nodes_of("j")) == ["r01-n01", "r01-n03", "r01-n04"], what="a place on r01-n04")
        self.assertIsNone(condition(self.workload("j"), "Evicted"))

    def test_S33_local_queue_and_job_deleted_while_a_pass_is_armed_leave_the_nodes_free(self):
        self.submit(placed("j", 3, {TOPOLOGY % "required": RACK}))
        self.running("j", 3)
        self.lose("j", "r01-n01")
        self.daemon.kubectl("delete", "localqueue", "hall", "-n", "hall", "--wait=false")
        self.daemon.kubectl("delete", "job", "j", "-n", "hall", "--wait=false")
        eventually(lambda: not self.daemon.get(self.path())["items"], what="its Workload gone")
        time.sleep(1.5)
        self.daemon.sluicectl("node", "recover", "r01-n01")
        self.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(local_queue("hall", "hall", "hall")))
        self.submit(placed("k", 4, {TOPOLOGY % "required": RACK}))
        self.assertEqual(self.running("k", 4), [f"r01-n0{i}" for i in range(1, 5)])

    def test_S42_killed_between_the_mark_and_the_replacement_it_goes_on(self):
        self.submit(placed("j", 3, {TOPOLOGY % "required": RACK}))
        self.running("j", 3)
        admitted = condition(self.workload("j"), "Admitted")
        self.lose("j", "r01-n02")
        self.daemon.kill()
        self.daemon.start()
        eventually(lambda: sorted(self.nodes_of("j")) == ["r01-n01", "r01-n03", "r01-n04"], what="a place on r01-n04")
        w = self.workload("j")
        self.assertEqual(condition(w, "Admitted")["lastTransitionTime"], admitted["lastTransitionTime"])
        self.assertIsNone(condition(w, "Evicted"))
        reasons = [e["reason"] for e in self.daemon.get("/api/v1/namespaces/hall/events")["items"]
                   if e["involvedObject"]["kind"] == "Workload"]
        self.assertEqual(reasons.count("Admitted"), 1)

    def test_S50_node_that_recovers_in_time_keeps_its_pods_place(self):
        self.submit(placed("j", 3, {TOPOLOGY % "required": RACK}))
        before = self.running("j", 3)
        self.lose("j", "r01-n02")
        self.daemon.sluicectl("node", "recover", "r01-n02")
        eventually(lambda: not self.marked("j"), what="the mark gone")
        time.sleep(1.5)
        self.assertEqual(self.running("j", 3), before)


class TwoPhases(Scene):
    def start(self, **parameters):
        topology = {"apiVersion": KUEUE, "kind": "Topology", "metadata": {"name": "t"},
                    "spec": {"levels": [{"nodeLabel": CLOUD_RACK}, {"nodeLabel": "kubernetes.io/hostname"}]}}
        self.create(topology, flavor("f", nodeLabels={POOL: "x"}, topologyName="t"), check(), config(parameters=parameters),
                    checked_queue(), local_queue("main", "team"))
        wide = job("wide", run_for="60s", parallelism=4)
        wide["spec"]["template"]["metadata"] = {"annotations": {"kueue.x-k8s.io/podset-required-topology": CLOUD_RACK}}
        self.create(wide)
        return self.workload("wide", lambda w: holds(w, "QuotaReserved"), "first phase")

    def assignment(self):
        return self.workloads()["wide"]["status"]["admission"]["podSetAssignments"][0]

    def test_S17_without_nodes_it_keeps_its_quota_says_so_and_is_placed_when_they_come(self):
        self.start(**{"provision-after": "0"})
        eventually(lambda: any(e["reason"] == "SecondPassFailed" for e in
                               self.daemon.get("/api/v1/namespaces/default/events")["items"]), what="SecondPassFailed")
        self.assertTrue(holds(self.workloads()["wide"], "QuotaReserved"))
        self.assertEqual(self.assignment()["delayedTopologyRequest"], "Pending")
        for name in ("n1", "n2"):
            self.create({"apiVersion": "v1", "kind": "Node",
                         "metadata": {"name": name, "labels": {POOL: "x", CLOUD_RACK: "r1", "kubernetes.io/hostname": name}},
                         "status": {"allocatable": {"cpu": "2", "pods": "9"},
                                    "conditions": [{"type": "Ready", "status": "True"}]}})
        self.admitted("wide")
        self.assertEqual(self.assignment()["delayedTopologyRequest"], "Ready")

    def test_S22_killed_between_the_phases_it_is_placed_and_admitted_once(self):
        self.start(**{"provision-after": "1s", "provision-nodes": "2", "node-allocatable": "cpu=2",
                      "node-labels": f"{POOL}=x,{CLOUD_RACK}=r1"})
        self.assertEqual(self.assignment()["delayedTopologyRequest"], "Pending")
        eventually(lambda: self.workloads()["wide"]["status"].get("admissionChecks", [{}])[0].get("state") == "Ready",
                   what="the check is ready")
        self.daemon.kill()
        left = stored(self.daemon, "Workload", "wide")["status"]
        self.assertEqual(left["admissionChecks"][0]["state"], "Ready")
        self.assertEqual(left["admission"]["podSetAssignments"][0]["delayedTopologyRequest"], "Pending")
        self.daemon.start()
        w = self.admitted("wide")
        self.assertEqual(self.assignment()["delayedTopologyRequest"], "Ready")
        self.assertIsNone(condition(w, "Evicted"))
        queue = self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team")
        self.assertEqual(queue["status"]["flavorsReservation"][0]["resources"][0]["total"], "4")
        time.sleep(1.5)
        admitted = [e for e in self.daemon.get("/api/v1/namespaces/default/events")["items"] if e["reason"] == "Admitted"]
        self.assertEqual(sum(e.get("count", 1) for e in admitted), 1)

    def test_S38_stop_with_an_armed_pass_and_writes_under_way_goes_on_where_it_was(self):
        self.start(**{"provision-after": "0", "provision-nodes": "2", "node-allocatable": "cpu=2",
                      "node-labels": f"{POOL}=x,{CLOUD_RACK}=r1"})
        acknowledged, stop = [], threading.Event()

        def write_on():
            for i in range(100000):
                try:
                    status, _ = self.daemon.request("POST", "/apis/batch/v1/namespaces/default/jobs", job(f"late-{i}"))
                except (OSError, http.client.HTTPException):
                    return
                if status == 201:
                    acknowledged.append(f"late-{i}")
                if stop.is_set():
                    return
        writer = threading.Thread(target=write_on, daemon=True)
        eventually(lambda: self.workloads()["wide"]["status"].get("admissionChecks", [{}])[0].get("state") == "Ready",
                   what="the check is ready")
        armed = re.search(r"sluice_second_passes_armed (\d+)", str(self.daemon.request("GET", "/metrics")[1]))
        self.assertEqual(armed[1], "1")
        writer.start()
        eventually(lambda: len(acknowledged) > 3, what="writes under way")
        self.assertEqual(self.daemon.stop(), 0)
        stop.set()
        writer.join(10)
        left = stored(self.daemon, "Workload", "wide")["status"]
        self.assertEqual(left["admission"]["podSetAssignments"][0]["delayedTopologyRequest"], "Pending")
        at_the_end = state_of(self.daemon)
        time.sleep(1.5)  # the pass would have come due
        self.assertEqual(state_of(self.daemon), at_the_end)
        self.daemon.start()
        self.admitted("wide")
        there = {j["metadata"]["name"] for j in self.daemon.get("/apis/batch/v1/namespaces/default/jobs")["items"]}
        self.assertLessEqual(set(acknowledged), there)


if __name__ == "__main__":
    unittest.main()
