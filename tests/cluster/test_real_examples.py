"""deploy/examples on a real cluster: the quickstart to its end; the topology example with a node that dies."""

from work_scene import *

EXAMPLES = ROOT / "deploy/examples"


class Examples(WorkScene):
    def objects(self, directory, *files):
        """The objects of an example; their run time is said to kwok instead of to the standalone daemon."""
        paths = [EXAMPLES / directory / f for f in files] or sorted((EXAMPLES / directory).glob("*.yaml"))
        for path in paths:
            text = self.plane.kubectl("create", "--dry-run=client", "-o", "json", "-f", path).stdout
            documents = json.JSONDecoder()
            at = 0
            while at < len(text):
                obj, end = documents.raw_decode(text, at)
                at = end + 1
                yield from obj.get("items", [obj])

    def apply(self, directory, *files, run_for=None):
        """Creates them; the jobs' (namespace, name)."""
        jobs = []
        for obj in self.objects(directory, *files):
            if obj["kind"] == "Job":
                long = run_for or obj["metadata"]["annotations"].pop("sluice.dev/run-for")
                obj["spec"]["template"].setdefault("metadata", {}).setdefault("annotations", {})["test/run-for"] = long
                jobs.append((obj["metadata"]["namespace"], obj["metadata"]["name"]))
            if obj["kind"] == "Namespace":
                self.addCleanup(self.plane.request, "DELETE", f"/api/v1/namespaces/{obj['metadata']['name']}")
            self.create(obj)
        return jobs

    def node(self, name, labels, cpu="64"):
        self.plane.add_node(name, labels, cpu)
        self.addCleanup(self.plane.request, "DELETE", f"/api/v1/nodes/{name}")

    def test_quickstart_plays_to_the_end(self):
        self.node("qs-on-demand", {"machine": "on-demand"})
        self.node("qs-spot", {"machine": "spot"})
        self.patched("/api/v1/nodes/qs-spot", {"spec": {"taints": [
            {"key": "machine", "value": "spot", "effect": "NoSchedule"}]}})
        self.daemon()
        jobs = self.apply("quickstart", run_for="500ms")
        self.assertEqual(len(jobs), 40)

        def left():
            done = {(w["metadata"]["namespace"], w["metadata"]["ownerReferences"][0]["name"])
                    for w in self.plane.get(f"{KUEUE}/workloads")["items"] if holds(w, "Finished")}
            return [j for j in jobs if j not in done]

        eventually(lambda: not left(), 120, what="all jobs finished")
        for namespace, name in jobs:
            status = self.plane.get(f"/apis/batch/v1/namespaces/{namespace}/jobs/{name}")
            self.assertEqual(status["status"]["succeeded"], status["spec"]["completions"], name)
        for queue in ("research", "training", "nightly"):
            eventually(lambda q=queue: self.used(f"{KUEUE}/clusterqueues/{q}") == (0, 0), what=f"{queue} empty")

    def test_topology_places_a_job_and_replaces_its_dead_node(self):
        self.apply("topology", "10-queues.yaml")
        for rack in range(2):
            for host in range(4):
                name = f"r{rack}-h{host}"
                self.node(name, {"sluice.dev/block": "b", "sluice.dev/rack": f"r{rack}", "pool": "hall"}, cpu="8")
        self.daemon()
        placed = job("one-rack", "hall", cpu="8", parallelism=3, run_for="60s", completionMode="Indexed", backoffLimit=9,
                     template={"kueue.x-k8s.io/podset-required-topology": "sluice.dev/rack"})
        placed["metadata"]["namespace"] = "hall"
        self.namespace, own = "hall", self.namespace
        try:
            self.create(placed)
            pods = eventually(lambda: len(self.nodes_of("one-rack")) == 3 and self.nodes_of("one-rack"), 20,
                              what="three pods on nodes")
            racks = {n.split("-")[0] for n in pods}
            self.assertEqual((len(racks), len(set(pods))), (1, 3), pods)
            dead = pods[0]
            self.plane.request("DELETE", f"/api/v1/nodes/{dead}")
            for pod in self.pods("one-rack"):
                if pod["spec"].get("nodeName") == dead:
                    self.plane.request("DELETE", f"/api/v1/namespaces/hall/pods/{pod['metadata']['name']}"
                                                 "?gracePeriodSeconds=0")
            now = eventually(lambda: dead not in self.nodes_of("one-rack") and len(self.nodes_of("one-rack")) == 3 and
                             self.nodes_of("one-rack"), 60, what="the pod elsewhere")
            self.assertEqual({n.split("-")[0] for n in now}, racks, now)
            self.assertEqual(len(set(now)), 3)
            self.assertIsNone(condition(self.workloads()["one-rack"], "Evicted"))
        finally:
            self.plane.request("DELETE", self.job_path() + "?propagationPolicy=Background")
            self.namespace = own

    def nodes_of(self, name):
        return [p["spec"]["nodeName"] for p in self.pods(name)
                if p["spec"].get("nodeName") and not p["metadata"].get("deletionTimestamp")]
