"""Jobs and pods of an owner that a controller elsewhere manages (integrations.externalFrameworks): they run with its Workload."""
import subprocess

from work_scene import *

QUEUE = "kueue.x-k8s.io/queue-name"
GROUP = "/apis/example.com/v1"
PLURAL = "flowz"  # as nobody would guess it
CRD = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{PLURAL}.example.com"},
       "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"kind": "Flow", "listKind": "FlowList", "plural": PLURAL, "singular": "flow"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ROLES = "/apis/rbac.authorization.k8s.io/v1"
ROLE = {"metadata": {"name": "flows"}, "rules": [
    {"apiGroups": ["example.com"], "resources": [PLURAL], "verbs": ["get", "list", "watch"]}]}
BINDING = {"metadata": {"name": "flows"}, "roleRef": {
    "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "flows"}, "subjects": [
        {"kind": "ServiceAccount", "namespace": "kueue-system", "name": "sluice-controller-manager"}]}
POD = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [
    {"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}]}


class Externals(WorkScene):
    config = {"integrations": {"externalFrameworks": ["Flow.v1.example.com"]}}

    def setUp(self):
        super().setUp()
        self.addCleanup(self.put_back)
        path = self.plane.run / "external.yaml"
        path.write_text(json.dumps({"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **self.config}))
        made = subprocess.run([BUILD / "sluiced", "--print-policies", "1.36", "--config", path], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        self.apply("-f", "-", stdin=made)
        for where, what in ((f"{ROLES}/clusterroles", ROLE), (f"{ROLES}/clusterrolebindings", BINDING)):
            self.assertEqual(self.plane.request("POST", where, what)[0], 201)
        eventually(lambda: not self.dry_child().get("suspend"), 20, what="policies that know who owns it")

    def tearDown(self):
        self.plane.request("DELETE", f"{KUEUE}/namespaces/{self.namespace}/workloads/of-f")
        super().tearDown()

    def put_back(self):
        for path in (f"{CRDS}/{PLURAL}.example.com", f"{ROLES}/clusterroles/flows", f"{ROLES}/clusterrolebindings/flows"):
            self.plane.request("DELETE", path)
        self.apply("-k", ROOT / "deploy/kubernetes/policies")
        self.plane.wait(policies_work, "the policies of deploy/kubernetes in force again")

    def apply(self, *arguments, stdin=None):
        self.plane.kubectl("apply", "--server-side", "--force-conflicts", *arguments, stdin=stdin)

    def define(self):
        self.assertEqual(self.plane.request("POST", CRDS, CRD)[0], 201)
        eventually(lambda: self.plane.request("GET", f"{GROUP}/{PLURAL}")[0] == 200, 20, what="Flows served")

    def owned(self, obj, uid):
        obj["metadata"]["ownerReferences"] = [
            {"apiVersion": "example.com/v1", "kind": "Flow", "name": "f", "uid": uid, "controller": True}]
        return obj

    def dry_child(self):
        status, answer = self.plane.request("POST", self.job_path() + "?dryRun=All", self.owned(job("probe", "main"), "1"))
        self.assertEqual(status, 201, answer)
        return answer["spec"]

    def flow(self, queue):
        status, answer = self.plane.request("POST", f"{GROUP}/namespaces/{self.namespace}/{PLURAL}", {
            "apiVersion": "example.com/v1", "kind": "Flow", "metadata": {"name": "f", "labels": {QUEUE: queue} if queue else {}}})
        self.assertEqual(status, 201, answer)
        return answer["metadata"]["uid"]

    def workload_of_flow(self, uid):
        """As its own controller makes it, under a name of its own."""
        self.create(self.owned({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "of-f"},
                                "spec": {"queueName": "main", "podSets": [
                                    {"name": "main", "count": 2, "template": {"spec": POD}}]}}, uid))
        self.admitted("f")

    def stop_flow(self):
        """Its Workload is evicted; its controller stops it and takes the quota back, as Kueue's framework for jobs does."""
        path = f"{KUEUE}/namespaces/{self.namespace}/workloads/of-f"
        self.patched(path, {"spec": {"active": False}})
        self.evicted("f", "Deactivated")
        conditions = [c if c["type"] not in ("QuotaReserved", "Admitted") else {**c, "status": "False", "reason": "Pending"}
                      for c in self.plane.get(path)["status"]["conditions"]]
        self.patched(path + "/status", {"status": {"admission": None, "conditions": conditions}})

    def pod(self, name):
        return self.plane.get(f"/api/v1/namespaces/{self.namespace}/pods/{name}")

    def test_children_run_with_the_workload_of_their_owner(self):
        self.define()
        self.daemon(config=self.config)
        queue = self.queues(2)
        uid = self.flow("main")
        self.workload_of_flow(uid)
        self.create(self.owned(job("quick", "main"), uid), self.owned(job("long", "main", run_for="1h"), uid),
                    self.owned({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {QUEUE: "main"},
                                                                                "annotations": {"test/run-for": "1h"}}, "spec": POD}, uid))
        eventually(lambda: self.job("quick")["status"].get("succeeded") == 1, 60, what="a child that has run")
        eventually(lambda: self.job("long")["status"].get("active") == 1, 60, what="one that runs")
        eventually(lambda: self.pod("p")["status"].get("phase") == "Running", 60, what="a pod that runs")
        self.assertEqual(list(self.workloads()), ["f"])
        self.settles_at(queue, 2)
        self.stop_flow()
        eventually(lambda: self.job("long")["spec"].get("suspend"), 60, what="the child stopped")
        self.assertEqual(list(self.workloads()), ["f"])

    def test_owner_without_a_queue_and_a_kind_that_comes_later(self):
        """Its kind is looked for every 30 seconds."""
        self.daemon(config=self.config)
        queue = self.queues(2)
        self.create(self.owned(job("early", "main"), "1"))
        self.finished("early", seconds=60)  # its owner is not there: it is queued by itself
        self.define()
        uid = self.flow(None)
        self.create(self.owned(job("alone", "main"), uid))
        self.finished("alone", seconds=60)
        self.patched(f"{GROUP}/namespaces/{self.namespace}/{PLURAL}/f", {"metadata": {"labels": {QUEUE: "main"}}})
        eventually(lambda: "the API server serves this kind" in self.daemons[0].log(), 50, what="the kind found")
        self.create(self.owned(job("late", "main", run_for="1h"), uid))
        eventually(lambda: self.job("late")["spec"].get("suspend"), 60, what="held until its owner has a Workload")
        self.assertNotIn("late", self.workloads())
        self.settles_at(queue, 0)
