"""Elastic RayClusters that change their size at random, all at once: never more than the quota, and none is stuck at the end.
RAYS and RAYS_SECONDS say how many, and how long (make elastic); the seed is printed, RAYS_SEED repeats it. Everything is watched:
lists of all of it, many times a second, would be most of the work."""
import collections, random, statistics

from fake_kuberay import FakeKubeRay, is_gated, is_live
from watched import Watched
from work_scene import *
from patience import deadline  # on the path since then

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


def milli_of(w):
    """What it holds: of a slice that has shrunk what it has now."""
    admitted = {a["name"]: a["count"] for a in w["status"]["admission"]["podSetAssignments"]}
    return CPU_MILLI * sum(min(s["count"], admitted[s["name"]]) for s in w["spec"]["podSets"])


def cpu_s(process):
    """User and system time so far."""
    fields = open(f"/proc/{process}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def by_owner(objects):
    found = {}
    for o in objects:
        found.setdefault(o["metadata"]["ownerReferences"][0]["uid"], []).append(o)
    return found


class Account:
    """Who holds quota, and who waits how long, by every state that the Workloads have been in."""

    def __init__(self):
        self.quota, self.most, self.held, self.began, self.waited, self.counts = None, 0, {}, {}, [], collections.Counter()

    def see(self, before, now):
        w = now or before
        uid = w["metadata"]["uid"]
        waits = now is not None and not holds(now, "Finished") and not holds(now, "QuotaReserved")
        if waits:
            self.began.setdefault(uid, time.monotonic())
        elif uid in self.began:
            self.waited.append(time.monotonic() - self.began.pop(uid))
        for name in ("Evicted", "Finished"):
            self.counts[name] += now is not None and holds(now, name) and not (before and holds(before, name))
        self.held.pop(uid, None)
        if now and holds(now, "QuotaReserved") and not holds(now, "Finished"):
            self.held[uid] = key_of(now), milli_of(now), now["metadata"].get("annotations", {}).get(REPLACES)
        self.most = max(self.most, self.used())
        assert self.quota is None or self.most <= self.quota, f"{self.most}m of {self.quota}m: {self.held}"

    def used(self):
        """Of each job that holds quota the Workload that does: while one slice takes the place of another, both say so for a moment."""
        held = list(self.held.values())
        replaced = {old for _, _, old in held}
        return sum(much for key, much, _ in held if key not in replaced)


class WatchingKubeRay(FakeKubeRay):
    """As a controller does it: what it has made or deleted itself is so before the watch has it."""

    def __init__(self, plane, ask, namespace):
        super().__init__(ask, namespace)
        self.watched = {path: Watched(plane, path) for path in (self.clusters_path, self.pods_path)}
        self.new, self.gone = {}, set()

    def items(self, path):
        found = self.watched[path].items()
        if path != self.pods_path:
            return found
        for p in found:
            self.new.pop(p["metadata"]["uid"], None)
        return [p for p in [*found, *self.new.values()] if p["metadata"]["uid"] not in self.gone]

    def make(self, cluster, group, template):
        pod = super().make(cluster, group, template)
        self.new[pod["metadata"]["uid"]] = pod

    def delete(self, pod):
        super().delete(pod)
        self.new.pop(pod["metadata"]["uid"], None)
        self.gone.add(pod["metadata"]["uid"])

    def stop(self):
        for w in self.watched.values():
            w.stop()


class ElasticRays(WorkScene):
    options = ("--adapters", str(ROOT / "deploy/adapters"), "--feature-gates", "ElasticJobsViaWorkloadSlices=true", "--paranoid")

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.jobsets_are_known()
        self.kuberay = WatchingKubeRay(self.plane, self.ask, self.namespace)
        self.account = Account()
        self.watched = Watched(self.plane, f"{KUEUE}/namespaces/{self.namespace}/workloads", self.account.see)
        self.done, self.seen, self.told = collections.Counter(), {}, time.monotonic()

    def tearDown(self):
        self.plane.request("DELETE", f"{self.kuberay.clusters_path}?propagationPolicy=Background")
        try:
            eventually(lambda: not self.kuberay.turn()[1], 60, what="pods gone")
        finally:
            self.kuberay.stop()
            self.watched.stop()
            super().tearDown()

    def ask(self, method, path, body=None, *kind):
        """As clients do it that go on where an API server is too slow."""
        end = deadline(60)
        again = False
        while True:
            status, answer = self.plane.request(method, path, body, *kind)
            if again and method == "POST" and status == 409:  # it was slow, not deaf
                return 201, self.plane.get(f"{path}/{body['metadata']['name']}")
            if status not in (429, 500, 503, 504) or time.monotonic() > end:
                return status, answer
            again = True
            time.sleep(0.5)

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
        status, answer = self.ask("POST", self.kuberay.clusters_path, cluster)  # 503: it looks for new kinds every 30 s
        self.assertEqual(status, 201, answer)

    def scale(self, name, replicas):
        """As an autoscaler does."""
        status, answer = self.ask(
            "PATCH", f"{self.kuberay.clusters_path}/{name}",
            [{"op": "replace", "path": f"/spec/workerGroupSpecs/{i}/replicas", "value": n} for i, n in enumerate(replicas)],
            "application/json-patch+json")
        self.assertEqual(status, 200, answer)

    def change_one(self):
        name = f"r{self.random.randrange(COUNT)}"
        if self.random.random() < 0.02:
            self.ask("DELETE", f"{self.kuberay.clusters_path}/{name}?propagationPolicy=Background")
            eventually(lambda: self.ask("GET", f"{self.kuberay.clusters_path}/{name}")[0] == 404, what="deleted")
            self.make(name)
            self.done["removed"] += 1
        else:
            self.scale(name, self.sizes())
            self.done["scaled"] += 1

    # --- what is looked at
    def look(self):
        """That the watches go on and the daemon runs; and what the queues say."""
        self.watched.check()
        for name in ("left", "right"):
            status = self.ask("GET", f"{KUEUE}/clusterqueues/{self.namespace}-{name}")[1].get("status", {})
            self.seen[name] = sum(milli(r["total"]) for f in status.get("flavorsUsage", []) for r in f["resources"])
        for d in self.daemons:
            self.assertTrue(d.running(), d.log()[-3000:])

    def churn(self):
        """For that time, and until each cluster has changed about three times: on a slow machine a turn takes long."""
        end = time.monotonic() + SECONDS
        due = time.monotonic()
        while time.monotonic() < end or self.done["scaled"] < 3 * COUNT:
            for _ in range(min(int((time.monotonic() - due) * CHANGES_S), COUNT)):
                self.change_one()
                due += 1 / CHANGES_S
            due = max(due, time.monotonic() - 1)  # what a slow machine has missed is not made up for
            self.kuberay.turn()
            self.look()
            self.done["turns"] += 1
            self.tell_progress()
            time.sleep(0.05)

    def tell_progress(self):
        """Once a minute."""
        if time.monotonic() > self.told + 60:
            self.told = time.monotonic()
            print(f"{dict(self.done)}; {self.account.used()}m of {self.account.quota}m reserved, {len(self.account.began)} wait", flush=True)

    def settled(self, sizes):
        """Every cluster runs with the pods that it asks for, by the one slice that has not finished; what differs, else nothing."""
        clusters, pods = self.kuberay.turn()
        workloads, pods = by_owner(live(self.watched.items())), by_owner(filter(is_live, pods))
        wrong = []
        for c in clusters:
            own, running = (of.get(c["metadata"]["uid"], []) for of in (workloads, pods))
            counts = [[s["count"] for s in w["spec"]["podSets"]] for w in own]
            free = [p for p in running if not is_gated(p) and p["status"].get("phase") == "Running"]
            if (c["spec"].get("suspend") or counts != [[1, *sizes]] or not holds(own[0], "Admitted") or
                    len(free) != 1 + sum(sizes) or len(running) != len(free)):
                wrong.append((c["metadata"]["name"], c["spec"].get("suspend"), counts, len(running), len(free)))
        return wrong + ([("missing", COUNT - len(clusters))] if len(clusters) != COUNT else [])

    def test_elastic_rays_scale_at_random_within_their_quota(self):
        print(f"{COUNT} clusters, {SECONDS:.0f} s, seed {SEED}", flush=True)
        daemon = self.daemon()
        self.account.quota = quota = self.two_queues()
        for i in range(COUNT):
            self.make(f"r{i}")
        began = time.monotonic()
        self.churn()
        churned = time.monotonic() - began
        self.assertGreater(self.account.most, quota * 3 // 4, "the quota was never what is scarce")
        for i in range(COUNT):
            self.scale(f"r{i}", [1, 1])
        began = time.monotonic()
        eventually(lambda: not self.settled([1, 1]), 60 + COUNT, what=lambda: f"each cluster runs with its pods: {self.settled([1, 1])}")
        took = time.monotonic() - began
        self.assertEqual(self.account.used(), COUNT * 3 * CPU_MILLI)
        eventually(lambda: (self.look(), sum(self.seen.values()))[1] == COUNT * 3 * CPU_MILLI, what="usage of the queues")
        replaced = daemon.metric("kueue_replaced_workload_slices_total")
        self.assertGreater(replaced, 0)
        self.assertEqual(self.account.began, {}, "nobody waits")
        self.tell_figures(churned, took, replaced)

    def tell_figures(self, churned, took, replaced):
        account, waited = self.account, self.account.waited
        kinds = collections.Counter(verb for verb, *_ in self.plane.audit())
        print(f"{self.done['scaled']} changes of size and {self.done['removed']} clusters made anew in {churned:.0f} s, "
              f"{self.done['turns']} turns; {replaced:.0f} slices replaced, {account.counts['Evicted']} evictions, "
              f"{self.kuberay.made} pods made; at most {account.most}m of {account.quota}m reserved in {self.watched.events} states; "
              f"{len(waited)} waits for quota, half of them below {statistics.median(waited):.2f} s, the longest {max(waited):.1f} s; "
              f"settled after {took:.1f} s; requests of sluiced: {dict(kinds)}", flush=True)
        processes = {"sluiced": self.daemons[0].process.pid, "driver": "self", **{n: p.pid for n, p in self.plane.processes.items()}}
        print("cpu seconds: " + ", ".join(f"{name} {cpu_s(pid):.0f}" for name, pid in processes.items()), flush=True)
