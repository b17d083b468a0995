"""What tests of running work share: daemons, queues, and what can be seen of jobs from outside."""
import subprocess

from cluster_scene import *
from daemons import *


class WorkScene(Scene):
    config = None
    options = ()

    def setUp(self):
        super().setUp()
        self.daemons = []

    def tearDown(self):
        outcome = self._outcome.result
        if any(test is self for test, _ in outcome.failures + outcome.errors) or self._outcome.success is False:
            for d in self.daemons:
                print(f"--- {d.name}\n{d.log()[-3000:]}")
        try:
            self.plane.request("DELETE", f"{self.job_path()}?propagationPolicy=Background")
            if any(d.running() for d in self.daemons):
                # the garbage collector looks for kinds every 30 s, after their CRDs were replaced, too
                eventually(lambda: not self.workloads(), 60, what="workloads gone with their jobs")
        finally:
            super().tearDown()
            self.stop_daemons()

    def stop_daemons(self):
        """None is left to disturb the next test."""
        codes = []
        for d in self.daemons:
            if d.running():
                try:
                    codes.append((d.name, d.stop()))
                except subprocess.TimeoutExpired:
                    codes.append((d.name, "did not stop"))
                    d.kill()
        self.assertEqual([c for c in codes if c[1] != 0], [])

    def daemon(self, server=None, options=None, config=None, env=None):
        d = ClusterDaemon(self.plane, server, self.options if options is None else options, config or self.config, env)
        self.daemons.append(d)
        return d.start()

    def queues(self, cpu, name="main", **spec):
        """A flavor, a ClusterQueue with so much cpu, and a LocalQueue of the same name in the test's namespace."""
        unique = f"{self.namespace}-{name}"
        self.create(flavor(unique), cluster_queue(unique, {unique: {"cpu": cpu}}, **spec),
                    local_queue(name, unique, self.namespace))
        return f"{KUEUE}/clusterqueues/{unique}"

    def jobsets_are_known(self):
        """The API server's check of owners looks for new kinds every 30 s."""
        template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
        owned = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {
            "name": "probe", "namespace": self.namespace, "ownerReferences": [
                {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "x", "uid": "1",
                 "blockOwnerDeletion": True}]}, "spec": {"podSets": [{"template": template}]}}
        eventually(lambda: self.plane.request("POST", self.path(owned) + "?dryRun=All", owned,
                                              token="sluice-token")[0] == 201, 40, what="the API server knows JobSets")

    # --- what can be seen ----------------------------------------------------------------------------------------
    def job_path(self, name=""):
        return f"/apis/batch/v1/namespaces/{self.namespace}/jobs" + (f"/{name}" if name else "")

    def job(self, name):
        return self.plane.get(self.job_path(name))

    def workloads(self):
        """Job name -> its Workload."""
        items = self.plane.get(f"{KUEUE}/namespaces/{self.namespace}/workloads")["items"]
        return {w["metadata"]["ownerReferences"][0]["name"]: w for w in items if w["metadata"].get("ownerReferences")}

    def workload(self, name, test=lambda w: True, what="workload", seconds=20):
        return eventually(lambda: (lambda w: w if w and test(w) else None)(self.workloads().get(name)), seconds,
                          what=f"{what} of job {name}")

    def admitted(self, *names):
        return [self.workload(n, lambda w: holds(w, "Admitted") and not holds(w, "Evicted"), "admission")
                for n in names][-1]

    def finished(self, *names, seconds=30):
        return [self.workload(n, lambda w: holds(w, "Finished"), "end", seconds) for n in names][-1]

    def evicted(self, name, reason):
        return self.workload(name, lambda w: (condition(w, "Evicted") or {}).get("reason") == reason,
                             f"eviction with {reason}")

    def pods(self, job_name=None):
        pods = self.plane.get(f"/api/v1/namespaces/{self.namespace}/pods")["items"]
        return [p for p in pods if job_name is None or
                p["metadata"]["labels"].get("batch.kubernetes.io/job-name") == job_name]

    def used(self, queue_path):
        """Milli cpu reserved and used of a ClusterQueue, by its status."""
        status = self.plane.get(queue_path).get("status", {})
        return tuple(sum(milli(r["total"]) for f in status.get(k, []) for r in f["resources"] if r["name"] == "cpu")
                     for k in ("flavorsReservation", "flavorsUsage"))

    def settles_at(self, queue_path, cpu):
        eventually(lambda: self.used(queue_path) == (cpu * 1000, cpu * 1000),
                   what=f"{cpu} cpu reserved and used: {self.used(queue_path)}")

    def each_ran_once(self, names, pods_each=1):
        """Every job has succeeded, with exactly its pods: none was started twice, none evicted."""
        workloads = self.workloads()
        self.assertEqual(sorted(workloads), sorted(names))
        made = {}
        for pod in self.pods():
            name = pod["metadata"]["labels"].get("batch.kubernetes.io/job-name")
            made[name] = made.get(name, 0) + 1
        for name in names:
            status = self.job(name)["status"]
            self.assertEqual((status.get("succeeded"), status.get("failed", 0)), (pods_each, 0), name)
            self.assertEqual(made.get(name), pods_each, f"pods of {name}")
            self.assertIsNone(condition(workloads[name], "Evicted"), name)
            self.assertTrue(holds(workloads[name], "Finished"), name)
