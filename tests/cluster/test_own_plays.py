"""Kubernetes' own kinds from their creation to their end, with Kubernetes' own controllers: which of jobframework's promises held is
compared with docs/jobs.md. PLAYS=write writes down what held instead (make plays). Other kinds: tests/e2e/test_plays.py."""
import os, sys
from work_scene import *

sys.path.insert(0, str(ROOT / "tests/plays"))
import table  # noqa: E402

KEY = "kueue.x-k8s.io/"
REQUIRED = KEY + "podset-required-topology"
POOL = {"pool": "spot"}
PRIORITY = "/apis/scheduling.k8s.io/v1/priorityclasses"


class OwnPlays(WorkScene):
    config = {"waitForPodsReady": {"timeout": "10m"}}

    def setUp(self):
        super().setUp()
        self.promises = []
        self.plane.add_node("spot-node", POOL)
        self.addCleanup(self.plane.request, "DELETE", "/api/v1/nodes/spot-node")
        self.daemon()
        unique = self.namespace
        self.create(flavor(unique, nodeLabels=POOL))
        for name, cpu, more in (("main", 50, {}), ("small", 2, {}), ("held", 50, {"stopPolicy": "Hold"})):
            self.create(cluster_queue(f"{unique}-{name}", {unique: {"cpu": cpu}}, **more), local_queue(name, f"{unique}-{name}", unique))
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": "ours"}, "value": 7})
        self.plane.request("POST", PRIORITY, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                              "metadata": {"name": "theirs"}, "value": 5})
        self.addCleanup(self.plane.request, "DELETE", PRIORITY + "/theirs")

    def tearDown(self):
        for kind in ("batch/v1", "cronjobs"), ("batch/v1", "jobs"), ("apps/v1", "deployments"):  # or they would make more pods
            self.plane.request("DELETE", f"/apis/{kind[0]}/namespaces/{self.namespace}/{kind[1]}?propagationPolicy=Background")
        for path in (f"{KUEUE}/namespaces/{self.namespace}/workloads",
                     f"/api/v1/namespaces/{self.namespace}/pods"):
            self.plane.request("DELETE", path)
        try:
            eventually(lambda: not self.stopped_pods(), 30, what="pods gone")
        finally:
            super().tearDown()

    def held(self, *promises):
        self.promises += promises

    def compare(self, name):
        if os.environ.get("PLAYS") == "write":
            table.write(name, None, self.promises)
        self.assertEqual(table.said(name), sorted(self.promises), "docs/jobs.md says otherwise: make plays")

    # --- what is seen and done
    def items(self):
        return self.plane.get(f"{KUEUE}/namespaces/{self.namespace}/workloads")["items"]

    def of(self, name):
        """The Workload of that name, or of the object of that name."""
        for w in self.items():
            if name in [w["metadata"]["name"], *(o["name"] for o in w["metadata"].get("ownerReferences", []))]:
                return w
        return None

    def comes(self, name, test=lambda w: True, what="a Workload", seconds=30):
        return eventually(lambda: (lambda w: w if w and test(w) else None)(self.of(name)), seconds, what=f"{what} of {name}")

    def activate(self, name, value):
        self.patched(f"{KUEUE}/namespaces/{self.namespace}/workloads/{self.of(name)['metadata']['name']}", {"spec": {"active": value}})

    def living(self, prefix):
        return [p for p in self.pods() if p["metadata"]["name"].startswith(prefix) and not p["metadata"].get("deletionTimestamp") and
                p["status"].get("phase") not in ("Succeeded", "Failed")]

    def all_run(self, prefix, count):
        """So many pods, on the nodes of the flavor."""
        eventually(lambda: [(p["status"].get("phase"), p["spec"].get("nodeName")) for p in self.living(prefix)] ==
                   [("Running", "spot-node")] * count, 30, what=f"{count} pods of {prefix} run")
        return self.living(prefix)

    def pod_path(self, name):
        return f"/api/v1/namespaces/{self.namespace}/pods/{name}"

    def end(self, *pods, **notes):
        for p in pods:
            self.patched(self.pod_path(p["metadata"]["name"]), {"metadata": {"annotations": {"test/run-for": "0s", **notes}}})

    def stopped_pods(self):
        """A kubelet says so of pods that somebody holds; kwok leaves those as they are."""
        for p in self.pods():
            if p["metadata"].get("deletionTimestamp") and p["status"].get("phase") not in ("Failed", "Succeeded"):
                self.patch(self.pod_path(p["metadata"]["name"]) + "/status", {"status": {"phase": "Failed"}})
        return self.pods()

    # --- promises of all kinds
    def asks(self, make):
        """`make(name, queue, template marks, labels)` makes an object in a queue that admits nothing."""
        make("c", "held", {REQUIRED: "rack"}, {})
        w = self.comes("c")
        self.assertEqual((w["spec"]["priority"], w["spec"]["priorityClassRef"]["name"]), (5, "theirs"))
        make("d", "held", {}, {KEY + "priority-class": "ours"})
        self.assertEqual(self.comes("d")["spec"]["priority"], 7)
        self.held("priority class")
        request = w["spec"]["podSets"][0]["topologyRequest"]
        self.assertEqual(request["required"], "rack")
        self.held("topology request")
        return request

    # --- Jobs
    def act_with_jobs(self, create):
        def make(name, queue="main", marks=None, labels=None, notes=None, run_for="600s", **spec):
            o = job(name, queue, run_for=run_for, template=marks, labels=labels, annotations=notes, **spec)
            o["spec"]["suspend"] = False
            if queue == "held":
                o["spec"]["template"]["spec"]["priorityClassName"] = "theirs"
                o["spec"]["completionMode"] = "Indexed"  # others have no ranks
            return create(o)
        self.assertIs(make("a", parallelism=2)["spec"]["suspend"], True)
        w = self.comes("a", lambda w: holds(w, "Admitted"), "admission")
        self.assertEqual([(s["name"], s["count"]) for s in w["spec"]["podSets"]], [("main", 2)])
        pods = self.all_run("a", 2)
        self.comes("a", lambda w: holds(w, "PodsReady"), "readiness")
        self.held("counts", "PodsReady")
        self.end(pods[0])
        self.comes("a", lambda w: w["status"].get("reclaimablePods") == [{"name": "main", "count": 1}], "pods given back")
        self.held("reclaimable pods")
        self.activate("a", False)
        eventually(lambda: self.job("a")["spec"]["suspend"] and not self.living("a-"), what="stopped")
        self.comes("a", lambda w: not holds(w, "QuotaReserved"), "no quota")
        eventually(lambda: not self.job("a")["spec"]["template"]["spec"].get("nodeSelector"), what="the template restored")
        self.activate("a", True)
        self.end(*self.all_run("a", 1))
        self.held("suspend, restore")
        self.assertEqual(condition(self.comes("a", lambda w: holds(w, "Finished"), "the end"), "Finished")["reason"], "Succeeded")
        make("b", marks={"test/fail": "true"}, run_for="0s")
        self.assertEqual(condition(self.comes("b", lambda w: holds(w, "Finished"), "the end"), "Finished")["reason"], "Failed")
        self.held("finish")
        if "podIndexLabel" in self.asks(make):
            self.held("ranks")
        make("e", "small", parallelism=4, notes={KEY + "job-min-parallelism": "1"})
        w = self.comes("e", lambda w: holds(w, "Admitted"), "admission in part")
        self.assertEqual(w["status"]["admission"]["podSetAssignments"][0]["count"], 2)
        self.all_run("e", 2)
        self.held("partial admission")
        sets = [{k: s[k] for k in ("name", "count", "template")} for s in self.of("a")["spec"]["podSets"]]
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "made"},
                     "spec": {"queueName": "main", "podSets": sets}})
        make("p", parallelism=2, labels={KEY + "prebuilt-workload-name": "made"})
        self.all_run("p", 2)
        self.assertEqual(self.of("p")["metadata"]["name"], "made")
        self.held("prebuilt")
        make("m", managedBy="example.com/another")  # Kueue looks at it where a queue has a check of MultiKueue, and nowhere else
        self.comes("m", lambda w: holds(w, "Admitted"), "admission")
        eventually(lambda: self.job("m")["spec"]["suspend"] is False, what="started for its controller")
        self.held("managedBy")

    def test_job(self):
        self.act_with_jobs(self.create)
        self.compare("job")

    def test_cronjob(self):
        def create(o):
            cron = f"/apis/batch/v1/namespaces/{self.namespace}/cronjobs"
            metadata = {k: o["metadata"][k] for k in ("labels", "annotations")}
            status, answer = self.plane.request("POST", cron, {
                "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": o["metadata"]["name"]}, "spec": {
                    "schedule": "0 0 1 1 *", "jobTemplate": {"metadata": metadata, "spec": o["spec"]}}})
            self.assertEqual(status, 201, answer)
            name = o["metadata"]["name"]
            self.plane.kubectl("create", "job", "-n", self.namespace, name, f"--from=cronjob/{name}")
            return self.job(name)
        self.act_with_jobs(create)
        self.compare("cronjob")

    # --- Pods
    def a_pod(self, name, queue="main", marks=None, labels=None, run_for="600s", group=None, cpu="1", **notes):
        spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [
            {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}
        if queue == "held":
            spec["priorityClassName"] = "theirs"
        labels = {KEY + "queue-name": queue, **({KEY + "pod-group-name": group} if group else {}), **(labels or {})}
        notes = {"test/run-for": run_for, **({KEY + "pod-group-total-count": "2"} if group else {}), **(marks or {}), **notes}
        return self.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels, "annotations": notes},
                            "spec": spec})

    def test_pod(self):
        self.a_pod("a")
        w = self.comes("a", lambda w: holds(w, "Admitted"), "admission")
        self.assertEqual([s["count"] for s in w["spec"]["podSets"]], [1])
        pods = self.all_run("a", 1)
        self.comes("a", lambda w: holds(w, "PodsReady"), "readiness")
        self.held("counts", "PodsReady")
        self.end(*pods)
        self.assertEqual(condition(self.comes("a", lambda w: holds(w, "Finished"), "the end"), "Finished")["reason"], "Succeeded")
        self.a_pod("b", marks={"test/fail": "true"}, run_for="0s")
        self.assertEqual(condition(self.comes("b", lambda w: holds(w, "Finished"), "the end"), "Finished")["reason"], "Failed")
        self.held("finish")
        self.asks(self.a_pod)
        self.a_pod("p", marks={KEY + "prebuilt-workload-name": "made"})
        self.takes_a_prebuilt_workload("p")
        self.compare("pod")

    def takes_a_prebuilt_workload(self, name):
        """Made from the pod as it is."""
        spec = self.living(name)[0]["spec"]
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "made"}, "spec": {
            "queueName": "main", "podSets": [{"name": "main", "count": 1, "template": {
                "spec": {k: v for k, v in spec.items() if k != "schedulingGates"}}}]}})
        self.all_run(name, 1)
        self.assertEqual(self.of(name)["metadata"]["name"], "made")
        self.held("prebuilt")

    def a_group(self, name, queue="main", marks=None, labels=None, prefix=None, **notes):
        for i in "01":
            self.a_pod(f"{prefix or name}-{i}", queue, {KEY + "pod-group-pod-index-label": "index", **(marks or {})},
                       {"index": i, **(labels or {})}, group=name, **notes)

    def test_podgroup(self):
        self.a_group("a")
        w = self.comes("a", lambda w: holds(w, "Admitted"), "admission")
        self.assertEqual([s["count"] for s in w["spec"]["podSets"]], [2])
        pods = self.all_run("a", 2)
        self.comes("a", lambda w: holds(w, "PodsReady"), "readiness")
        self.held("counts", "PodsReady")
        self.activate("a", False)
        eventually(lambda: not self.living("a"), what="stopped")
        self.stopped_pods()
        self.comes("a", lambda w: not holds(w, "QuotaReserved"), "no quota")
        self.activate("a", True)
        self.a_group("a", prefix="x")
        pods = self.all_run("x", 2)
        self.held("suspend, restore")
        self.end(pods[0])
        self.comes("a", lambda w: [r["count"] for r in w["status"].get("reclaimablePods", [])] == [1], "pods given back")
        self.held("reclaimable pods")
        self.end(pods[1])
        self.assertEqual(condition(self.comes("a", lambda w: holds(w, "Finished"), "the end"), "Finished")["reason"], "Succeeded")
        self.held("finish")
        if "podIndexLabel" in self.asks(self.a_group):
            self.held("ranks")
        self.groups_two_roles()
        self.takes_the_prebuilt_workload_of_its_name()
        self.compare("podgroup")

    def takes_the_prebuilt_workload_of_its_name(self):
        """What it is made for is known by the name of its pod set, which follows from the pods: one of the same pods has it, too."""
        sets = [{k: s[k] for k in ("name", "count", "template")} for s in self.of("a")["spec"]["podSets"]]
        self.a_group("p", labels={KEY + "prebuilt-workload-name": "p"})
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "p"},
                     "spec": {"queueName": "main", "podSets": sets}})
        self.all_run("p", 2)
        for pod in "p-0", "p-1":
            self.assertEqual(self.of(pod)["metadata"]["name"], "p")
        self.held("prebuilt")

    def groups_two_roles(self):
        marks = {REQUIRED: "rack", KEY + "podset-group-name": "together"}
        for cpu in ("1", "2"):  # what differs so is a pod set of its own
            self.a_pod(f"e-{cpu}", "held", marks, group="e", cpu=cpu)
        w = self.comes("e")
        self.assertEqual([s["topologyRequest"].get("podSetGroupName") for s in w["spec"]["podSets"]], ["together"] * 2)
        self.held("pod set groups")

    # --- Deployments
    def a_deployment(self, name, queue="main", marks=None, labels=None, replicas=1):
        template = {"metadata": {"labels": {"app": name}, "annotations": marks or {}}, "spec": {
            "terminationGracePeriodSeconds": 0, "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}
        if queue == "held":
            template["spec"]["priorityClassName"] = "theirs"
        status, answer = self.plane.request("POST", f"/apis/apps/v1/namespaces/{self.namespace}/deployments", {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {
                "name": name, "labels": {KEY + "queue-name": queue, **(labels or {})}},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}})
        self.assertEqual(status, 201, answer)
        eventually(lambda: len(self.living(name + "-")) == replicas, what="its pods")

    def each_of(self, prefix, count, test, what):
        def found():
            return [w for w in self.items() if w["metadata"]["ownerReferences"][0]["name"].startswith(prefix)]
        eventually(lambda: [bool(test(w)) for w in found()] == [True] * count, 30, what=f"{what} of {count} pods of {prefix}")
        return found()

    def test_deployment(self):
        path = f"/apis/apps/v1/namespaces/{self.namespace}/deployments/a"
        self.a_deployment("a", replicas=3)
        self.all_run("a-", 3)
        found = self.each_of("a-", 3, lambda w: holds(w, "PodsReady"), "readiness")
        self.assertEqual([[s["count"] for s in w["spec"]["podSets"]] for w in found], [[1]] * 3)
        self.held("counts", "PodsReady")
        victim = found[0]["metadata"]["ownerReferences"][0]["name"]
        self.activate(victim, False)
        eventually(lambda: victim not in [p["metadata"]["name"] for p in self.living("a-")], what="stopped")
        self.stopped_pods()
        self.all_run("a-", 3)
        self.held("suspend, restore")
        for replicas in (5, 2):
            self.patched(path, {"spec": {"replicas": replicas}})
            self.all_run("a-", replicas)
            self.each_of("a-", replicas, lambda w: holds(w, "Admitted"), "admission")
        self.held("elastic")
        self.asks_by_pods()
        self.compare("deployment")

    def asks_by_pods(self):
        def make(name, *more):
            self.a_deployment(name, *more)
        of = self.of
        self.of = lambda name: of(self.living(name + "-")[0]["metadata"]["name"])
        self.asks(make)
