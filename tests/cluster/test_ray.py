"""Ray's kinds on a real API server, from their creation to their end; the tests play KubeRay. REAL_CRDS names a directory with
its CRDs: without one, the API server takes any fields."""
from fake_kuberay import FakeKubeRay, is_gated
from work_scene import *

ELASTIC = {"kueue.x-k8s.io/elastic-job": "true"}
QUEUE = {"kueue.x-k8s.io/queue-name": "main"}


def pods(cpu="1"):
    return {"spec": {"containers": [{"name": "ray", "image": "ray", "resources": {"requests": {"cpu": cpu}}}]}}


def ray_cluster(workers=2, **more):
    return {"headGroupSpec": {"rayStartParams": {}, "template": pods()}, "workerGroupSpecs": [
        {"groupName": "small", "replicas": workers, "minReplicas": 0, "maxReplicas": 9, "rayStartParams": {},
         "template": pods()}], **more}


class Ray(WorkScene):
    options = ("--adapters", str(ROOT / "deploy/adapters"))

    def setUp(self):
        super().setUp()
        self.made = []
        self.jobsets_are_known()  # and with them the kinds that were made at the same time

    def queues(self, cpu):
        """With memory, which KubeRay's own pods ask for."""
        unique = f"{self.namespace}-main"
        self.create(flavor(unique), cluster_queue(unique, {unique: {"cpu": cpu, "memory": "10Gi"}}),
                    local_queue("main", unique, self.namespace))
        return f"{KUEUE}/clusterqueues/{unique}"

    def tearDown(self):
        for path in reversed(self.made):
            self.plane.request("DELETE", f"{path}?propagationPolicy=Background")
        super().tearDown()

    def path_of(self, kind, name=""):
        return f"/apis/ray.io/v1/namespaces/{self.namespace}/{kind.lower()}s" + (f"/{name}" if name else "")

    def make(self, kind, name, spec, expected=201, **metadata):
        status, answer = self.plane.request("POST", self.path_of(kind), {
            "apiVersion": "ray.io/v1", "kind": kind, "metadata": {"name": name, "labels": QUEUE, **metadata}, "spec": spec})
        self.assertEqual(status, expected, answer)
        if status == 201:
            self.made.append(self.path_of(kind, name))
        return answer

    def child(self, owner, name, spec):
        """As KubeRay makes it: with the labels and annotations of its owner."""
        return self.make("RayCluster", name, spec, annotations=owner["metadata"].get("annotations", {}), ownerReferences=[
            {"apiVersion": "ray.io/v1", "kind": owner["kind"], "name": owner["metadata"]["name"], "controller": True,
             "blockOwnerDeletion": True, "uid": owner["metadata"]["uid"]}])

    def tell(self, kind, name, **status):
        self.patched(self.path_of(kind, name) + "/status", {"status": status})

    def spec(self, kind, name, test, what):
        return eventually(lambda: (lambda s: s if test(s) else None)(self.plane.get(self.path_of(kind, name))["spec"]),
                          what=f"{kind} {name}: {what}")

    def drain(self, queue, on):
        self.patched(queue, {"spec": {"stopPolicy": "HoldAndDrain" if on else "None"}})

    @staticmethod
    def sets(w):
        return [(s["name"], s["count"]) for s in w["spec"]["podSets"]]

    def test_ray_cluster_from_creation_to_the_end(self):
        self.daemon()
        queue = self.queues(5)
        made = self.make("RayCluster", "a", ray_cluster(gcsFaultToleranceOptions={"redisAddress": "redis:6379"}))
        self.assertIs(made["spec"]["suspend"], True)
        w = self.admitted("a")
        self.assertEqual(self.sets(w), [("head", 1), ("small", 2)])
        self.assertEqual(w["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"],
                         {"cpu": "1", "memory": "256Mi"})  # of the pod that cleans up
        running = self.spec("RayCluster", "a", lambda s: s["suspend"] is False, "runs")
        self.assertNotIn("memory", running["headGroupSpec"]["template"]["spec"]["containers"][0]["resources"]["requests"])
        labels = running["workerGroupSpecs"][0]["template"]["metadata"]["labels"]
        self.assertEqual(labels["kueue.x-k8s.io/podset"], "small")
        self.tell("RayCluster", "a", state="ready")
        self.workload("a", lambda w: holds(w, "PodsReady"), "readiness")
        self.settles_at(queue, 3)
        self.drain(queue, True)
        stopped = self.spec("RayCluster", "a", lambda s: s["suspend"] is True, "is stopped")
        self.assertNotIn("labels", stopped["workerGroupSpecs"][0]["template"].get("metadata", {}))
        time.sleep(1)
        self.assertEqual(self.used(queue)[0], 3000)  # its pods still run
        self.tell("RayCluster", "a", state="suspended")
        self.settles_at(queue, 0)
        self.drain(queue, False)
        self.spec("RayCluster", "a", lambda s: s["suspend"] is False, "runs again")
        self.settles_at(queue, 3)
        self.plane.request("DELETE", self.path_of("RayCluster", "a") + "?propagationPolicy=Background")
        self.settles_at(queue, 0)
        eventually(lambda: "a" not in self.workloads(), what="no Workload")

    def test_ray_job_from_creation_to_the_end(self):
        self.daemon()
        queue = self.queues(5)
        spec = {"entrypoint": "true", "shutdownAfterJobFinishes": True, "rayClusterSpec": ray_cluster()}
        self.make("RayJob", "forever", {**spec, "shutdownAfterJobFinishes": False}, expected=403)
        made = self.make("RayJob", "r", spec)
        self.assertIs(made["spec"]["suspend"], True)
        w = self.admitted("r")
        self.assertEqual(self.sets(w), [("head", 1), ("small", 2), ("submitter", 1)])
        self.settles_at(queue, 3.5)
        self.spec("RayJob", "r", lambda s: s["suspend"] is False, "runs")
        self.tell("RayJob", "r", jobDeploymentStatus="Running", jobStatus="RUNNING", rayClusterName="r-abc",
                  rayClusterStatus={"state": "ready"})
        child = self.child(made, "r-abc", ray_cluster())
        self.assertFalse(child["spec"].get("suspend"))
        time.sleep(1)
        self.assertEqual(set(self.workloads()), {"r"})
        self.assertFalse(self.plane.get(self.path_of("RayCluster", "r-abc"))["spec"].get("suspend"))
        self.tell("RayJob", "r", jobDeploymentStatus="Complete", jobStatus="SUCCEEDED", message="all done")
        done = self.workload("r", lambda w: holds(w, "Finished"), "end")
        self.assertEqual((condition(done, "Finished")["reason"], condition(done, "Finished")["message"]),
                         ("Succeeded", "all done"))
        self.settles_at(queue, 0)

    def test_ray_job_that_kuberay_refuses_gives_its_quota_back(self):
        self.daemon()
        queue = self.queues(3)
        self.make("RayJob", "r", {"entrypoint": "true", "shutdownAfterJobFinishes": True, "submissionMode": "HTTPMode",
                                  "rayClusterSpec": ray_cluster()})
        self.admitted("r")
        self.settles_at(queue, 3)
        self.tell("RayJob", "r", jobDeploymentStatus="ValidationFailed")
        self.workload("r", lambda w: condition(w, "QuotaReserved")["reason"] == "OnHold", "on hold")
        self.settles_at(queue, 0)

    def test_clusters_of_a_ray_service_run_with_it(self):
        self.daemon()
        queue = self.queues(3)
        made = self.make("RayService", "s", {"rayClusterConfig": ray_cluster()})
        self.assertIs(made["spec"]["rayClusterConfig"]["suspend"], True)
        w = self.admitted("s")
        self.assertEqual(self.sets(w), [("head", 1), ("small", 2)])
        self.spec("RayService", "s", lambda s: s["rayClusterConfig"]["suspend"] is False, "runs")
        self.child(made, "s-one", ray_cluster())
        self.child(made, "s-two", ray_cluster())  # while it is upgraded
        self.tell("RayService", "s", conditions=[{"type": "Ready", "status": "True", "reason": "R", "message": "",
                                                  "lastTransitionTime": "2026-01-01T00:00:00Z"}])
        self.workload("s", lambda w: holds(w, "PodsReady"), "readiness")
        self.assertEqual(set(self.workloads()), {"s"})
        for name in ("s-one", "s-two"):
            self.assertFalse(self.plane.get(self.path_of("RayCluster", name))["spec"].get("suspend"))
        self.settles_at(queue, 3)
        self.drain(queue, True)
        self.spec("RayService", "s", lambda s: s["rayClusterConfig"]["suspend"] is True, "is stopped")
        time.sleep(1)
        self.assertEqual(self.used(queue)[0], 3000)
        self.tell("RayService", "s", conditions=[])
        self.settles_at(queue, 0)
        for name in ("s-one", "s-two"):  # where KubeRay has not done so
            self.spec("RayCluster", name, lambda s: s.get("suspend") is True, "is stopped with its service")

    # --- elastic
    def scale(self, name, replicas):
        self.patched(self.path_of("RayCluster", name),
                     [{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": replicas}], "json")

    def all_run(self, kuberay, free, gated=0):
        def found():
            pods = kuberay.turn()[1]
            waiting = [p for p in pods if is_gated(p)]
            return (sum(p["status"].get("phase") == "Running" for p in pods), len(waiting)) == (free, gated)
        eventually(found, what=f"{free} pods run and {gated} wait")

    def live(self):
        return [w for w in self.plane.get(f"{KUEUE}/namespaces/{self.namespace}/workloads")["items"] if not holds(w, "Finished")]

    def runs_on_with_its_cluster(self, kind, within, status, **spec):
        """Its pods are scaled where KubeRay has made them."""
        self.daemon(options=(*self.options, "--feature-gates", "ElasticJobsViaWorkloadSlices=true", "--paranoid"))
        queue = self.queues(6)
        wanted = {within: ray_cluster(enableInTreeAutoscaling=True), **spec}
        self.make(kind, "plain", wanted, expected=403)
        made = self.make(kind, "e", wanted, annotations=ELASTIC)
        self.settles_at(queue, 3.5)  # with KubeRay's autoscaler beside the head
        running = self.spec(kind, "e", lambda s: s[within]["headGroupSpec"]["template"]["spec"].get("schedulingGates"), "is gated")
        cluster = {k: v for k, v in running[within].items() if k != "suspend"}
        self.child(made, "e-abc", cluster)
        self.tell(kind, "e", **status)
        kuberay = FakeKubeRay(self.plane.request, self.namespace)
        self.all_run(kuberay, 3)
        self.scale("e-abc", 4)
        self.settles_at(queue, 5.5)
        self.all_run(kuberay, 5)
        self.scale("e-abc", 6)
        eventually(lambda: len(self.live()) == 2, what="a slice that waits")
        self.all_run(kuberay, 5, 2)
        self.settles_at(queue, 5.5)
        self.scale("e-abc", 1)
        self.settles_at(queue, 2.5)
        self.all_run(kuberay, 2)
        self.assertEqual([self.sets(w)[:2] for w in self.live()], [[("head", 1), ("small", 1)]])
        self.assertFalse(self.plane.get(self.path_of("RayCluster", "e-abc"))["spec"].get("suspend"))
        self.plane.request("DELETE", self.path_of(kind, "e") + "?propagationPolicy=Background")
        self.plane.request("DELETE", self.path_of("RayCluster", "e-abc"))
        self.settles_at(queue, 0)
        eventually(lambda: not kuberay.turn()[1], what="no pods")

    def test_elastic_ray_job_runs_on_with_its_cluster(self):
        self.runs_on_with_its_cluster("RayJob", "rayClusterSpec", {"jobDeploymentStatus": "Running", "rayClusterName": "e-abc"},
                                      entrypoint="true", shutdownAfterJobFinishes=True, submissionMode="HTTPMode")

    def test_elastic_ray_service_runs_on_with_its_cluster(self):
        self.runs_on_with_its_cluster("RayService", "rayClusterConfig", {"activeServiceStatus": {"rayClusterName": "e-abc"}})
