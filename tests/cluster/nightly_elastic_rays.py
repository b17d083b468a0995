"""Elastic RayClusters that change their size at random, all at once: never more than the quota, and none is stuck at the end.
RAYS and RAYS_SECONDS say how many, and how long (make elastic); the seed is printed, RAYS_SEED repeats it."""
import random

from fake_kuberay import FakeKubeRay, is_gated, is_live
from work_scene import *

ELASTIC, REPLACES = "kueue.x-k8s.io/elastic-job", "kueue.x-k8s.io/workload-slice-replacement-for"
COUNT, SECONDS = int(os.environ.get("RAYS", 20)), float(os.environ.get("RAYS_SECONDS", 20))
SEED = int(os.environ.get("RAYS_SEED", time.time()))
CHANGES_S = 5 + COUNT / 40  # changes of size in a second
CPU_MILLI = 100  # of each pod
WORKERS_MAX = 4  # in each of two groups


def template():
    return {"spec": {"terminationGracePeriodSeconds": 0, "containers": [
        {"name": "ray", "image": "ray", "resources": {"requests": {"cpu": f"{CPU_MILLI}m"}}}]}}


def ray_cluster(replicas):
    groups = [{"groupName": f"group-{i}", "replicas": n, "minReplicas": 0, "maxReplicas": WORKERS_MAX, "rayStartParams": {},
               "template": template()} for i, n in enumerate(replicas)]
    return {"headGroupSpec": {"rayStartParams": {}, "template": template()}, "workerGroupSpecs": groups}


def key_of(w):
    return f"{w['metadata']['namespace']}/{w['metadata']['name']}"


def live(workloads):
    return [w for w in workloads if not holds(w, "Finished")]


def reserved(workloads):
    """Of each job that holds quota the Workload that does: while one slice takes the place of another, both say so for a moment."""
    holders = [w for w in live(workloads) if holds(w, "QuotaReserved")]
    replaced = {w["metadata"]["annotations"].get(REPLACES) for w in holders if w["metadata"].get("annotations")}
    return [w for w in holders if key_of(w) not in replaced]


def milli_of(w):
    """What it holds: of a slice that has shrunk what it has now."""
    admitted = {a["name"]: a["count"] for a in w["status"]["admission"]["podSetAssignments"]}
    return CPU_MILLI * sum(min(s["count"], admitted[s["name"]]) for s in w["spec"]["podSets"])


class ElasticRays(WorkScene):
    options = ("--adapters", str(ROOT / "deploy/adapters"), "--feature-gates", "ElasticJobsViaWorkloadSlices=true", "--paranoid")

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.jobsets_are_known()
        self.kuberay = FakeKubeRay(self.plane.request, self.namespace)
        self.most, self.done, self.seen = 0, dict.fromkeys(("scaled", "removed", "looks", "evicted"), 0), {}

    def tearDown(self):
        self.plane.request("DELETE", f"{self.kuberay.clusters_path}?propagationPolicy=Background")
        try:
            eventually(lambda: not self.kuberay.turn()[1], 60, what="pods gone")
        finally:
            super().tearDown()

    # --- the scene
    def two_queues(self):
        """In a cohort, where each may borrow what the other does not need, and take it back. Both together have enough for half of
        what all may ask for, and for the heads with one worker each."""
        each = max(COUNT // 2 * (1 + WORKERS_MAX) // 2, 2) * 2 * CPU_MILLI
        unique = self.namespace
        self.create(flavor(unique))
        for name in ("left", "right"):
            self.create(cluster_queue(f"{unique}-{name}", {unique: {"cpu": f"{each}m"}}, cohort=unique,
                                      preemption={"reclaimWithinCohort": "Any"}),
                        local_queue(name, f"{unique}-{name}", unique))
        return 2 * each

    def sizes(self):
        return [self.random.randint(0, WORKERS_MAX) for _ in range(2)]

    def make(self, name):
        queue = "left" if int(name[1:]) % 2 else "right"
        cluster = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": ray_cluster(self.sizes()), "metadata": {
            "name": name, "labels": {"kueue.x-k8s.io/queue-name": queue}, "annotations": {ELASTIC: "true"}}}
        status = 503
        while status == 503:  # the API server looks for new kinds every 30 s
            status, answer = self.plane.request("POST", self.kuberay.clusters_path, cluster)
            time.sleep(0.5 if status == 503 else 0)
        self.assertEqual(status, 201, answer)

    def scale(self, name, replicas):
        """As an autoscaler does."""
        status, answer = self.plane.request(
            "PATCH", f"{self.kuberay.clusters_path}/{name}",
            [{"op": "replace", "path": f"/spec/workerGroupSpecs/{i}/replicas", "value": n} for i, n in enumerate(replicas)],
            "application/json-patch+json")
        self.assertEqual(status, 200, answer)

    def change_one(self):
        name = f"r{self.random.randrange(COUNT)}"
        if self.random.random() < 0.02:
            self.plane.request("DELETE", f"{self.kuberay.clusters_path}/{name}?propagationPolicy=Background")
            eventually(lambda: self.plane.request("GET", f"{self.kuberay.clusters_path}/{name}")[0] == 404, what="deleted")
            self.make(name)
            self.done["removed"] += 1
        else:
            self.scale(name, self.sizes())
            self.done["scaled"] += 1

    # --- what is looked at
    def all_workloads(self):
        return self.kuberay.items(f"{KUEUE}/namespaces/{self.namespace}/workloads")

    def look(self, quota):
        """One list is of one moment: what is reserved in it never exceeds the quota, by any way of counting."""
        workloads = self.all_workloads()
        used = sum(milli_of(w) for w in reserved(workloads))
        self.assertLessEqual(used, quota)
        self.most = max(self.most, used)
        self.done["looks"] += 1
        for name in ("left", "right"):
            status = self.plane.get(f"{KUEUE}/clusterqueues/{self.namespace}-{name}").get("status", {})
            self.seen[name] = sum(milli(r["total"]) for f in status.get("flavorsUsage", []) for r in f["resources"])
        for w in workloads:
            if holds(w, "Evicted") and not holds(w, "Finished"):
                self.done["evicted"] += 1
        for d in self.daemons:
            self.assertTrue(d.running(), d.log()[-3000:])

    def churn(self, quota):
        """For that time, and until each cluster has changed about three times: on a slow machine a turn takes long."""
        end = time.monotonic() + SECONDS
        due = time.monotonic()
        while time.monotonic() < end or self.done["scaled"] < 3 * COUNT:
            for _ in range(min(int((time.monotonic() - due) * CHANGES_S), COUNT)):
                self.change_one()
            due = time.monotonic() if time.monotonic() - due > 1 / CHANGES_S else due
            self.kuberay.turn()
            self.look(quota)

    def settled(self, sizes):
        """Every cluster runs with the pods that it asks for, by the one slice that has not finished; what differs, else nothing."""
        clusters, pods = self.kuberay.turn()
        workloads = live(self.all_workloads())
        wrong = []
        for c in clusters:
            name = c["metadata"]["name"]
            own = [w for w in workloads if w["metadata"]["ownerReferences"][0]["uid"] == c["metadata"]["uid"]]
            counts = [[s["count"] for s in w["spec"]["podSets"]] for w in own]
            running = [p for p in pods if p["metadata"]["ownerReferences"][0]["uid"] == c["metadata"]["uid"] and is_live(p)]
            free = [p for p in running if not is_gated(p) and p["status"].get("phase") == "Running"]
            if (c["spec"].get("suspend") or counts != [[1, *sizes]] or not holds(own[0], "Admitted") or
                    len(free) != 1 + sum(sizes) or len(running) != len(free)):
                wrong.append((name, c["spec"].get("suspend"), counts, len(running), len(free)))
        return wrong + ([("missing", COUNT - len(clusters))] if len(clusters) != COUNT else [])

    def test_elastic_rays_scale_at_random_within_their_quota(self):
        print(f"{COUNT} clusters, {SECONDS:.0f} s, seed {SEED}", flush=True)
        daemon = self.daemon()
        quota = self.two_queues()
        for i in range(COUNT):
            self.make(f"r{i}")
        self.churn(quota)
        self.assertGreater(self.most, quota * 3 // 4, "the quota was never what is scarce")
        for i in range(COUNT):
            self.scale(f"r{i}", [1, 1])
        began = time.monotonic()
        eventually(lambda: not self.settled([1, 1]), 60 + COUNT, what="each cluster runs with its pods")
        took = time.monotonic() - began
        self.assertEqual(sum(milli_of(w) for w in reserved(self.all_workloads())), COUNT * 3 * CPU_MILLI)
        eventually(lambda: (self.look(quota), sum(self.seen.values()))[1] == COUNT * 3 * CPU_MILLI, what="usage of the queues")
        replaced = daemon.metric("kueue_replaced_workload_slices_total")
        self.assertGreater(replaced, 0)
        print(f"{self.done}; {replaced:.0f} slices replaced, {self.kuberay.made} pods made, at most {self.most}m of {quota}m reserved, "
              f"settled after {took:.1f} s", flush=True)
