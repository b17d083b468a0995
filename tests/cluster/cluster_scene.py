"""What the tests of a cluster share: one control plane for the whole run, and a namespace of its own for each test."""
import atexit, json, os, pathlib, sys, time, unittest

from controlplane import BUILD, ROOT, ControlPlane
from real_crds import bare_ones

from daemon import cluster_queue, cohort, condition, eventually, flavor, holds, local_queue, milli  # noqa: E402,F401

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
CLUSTER_KINDS = ("clusterqueues", "cohorts", "resourceflavors", "topologies", "admissionchecks",
                 "workloadpriorityclasses", "provisioningrequestconfigs")
_plane = None


def plane():
    """The control plane, with deploy/kubernetes applied; the pods of its Deployment are fakes,
    the daemons run beside it."""
    global _plane
    if _plane is None:
        _plane = ControlPlane(os.environ.get("CLUSTER_RUN", BUILD / "cluster"))
        atexit.register(_plane.stop)
        _plane.start(install)
    return _plane


def install():
    """Before the controllers start: the garbage collector looks for new kinds only every 30 s."""
    _plane.kubectl("apply", "--server-side", "-k", ROOT / "deploy/kubernetes")
    _plane.kubectl("apply", "--server-side", "-f", ROOT / "tests/cluster/other-crds.yaml")
    if "REAL_CRDS" in os.environ:  # a directory with those of the projects themselves, which are too large to be kept here
        crds = bare_ones(os.environ["REAL_CRDS"], _plane.run / "crds")
        _plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", crds)
    _plane.wait(established, "the CRDs established", 120)
    _plane.wait(policies_work, "the policies in force")


def established():
    crds = _plane.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")["items"]
    return all(any(c["type"] == "Established" and c["status"] == "True" for c in crd.get("status", {}).get("conditions") or [])
               for crd in crds)


def policies_work():
    probe = job("probe", queue="probe")
    probe["spec"].pop("suspend", None)
    status, answer = _plane.request("POST", "/apis/batch/v1/namespaces/default/jobs?dryRun=All", probe)
    probe["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "A_b"
    refused, _ = _plane.request("POST", "/apis/batch/v1/namespaces/default/jobs?dryRun=All", probe)
    return status == 201 and answer["spec"].get("suspend") and refused == 403


def job(name, queue=None, cpu="1", run_for="100ms", parallelism=1, labels=None, annotations=None, template=None,
        memory=None, **spec):
    """A Job whose pods kwok runs for `run_for`."""
    marks = dict(labels or {})
    if queue:
        marks["kueue.x-k8s.io/queue-name"] = queue
    requests = {"cpu": cpu, **({"memory": memory} if memory else {})}
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "labels": marks, "annotations": annotations or {}},
            "spec": {"parallelism": parallelism, "completions": parallelism, "backoffLimit": 0, **spec, "template": {
                "metadata": {"annotations": {"test/run-for": run_for, **(template or {})}},
                "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [
                    {"name": "main", "image": "busybox", "resources": {"requests": requests}}]}}}}


class Scene(unittest.TestCase):
    """A test with a namespace; what it made is gone afterwards."""

    control_plane = staticmethod(plane)

    def setUp(self):
        self.plane = self.control_plane()
        self.namespace = self.id().split(".")[-1].replace("_", "-")[5:50].strip("-")
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})

    def tearDown(self):
        for kind in CLUSTER_KINDS:
            self.plane.request("DELETE", f"{KUEUE}/{kind}")
        for kind in ("clusterqueues", "resourceflavors"): # guarded from the beginning, and no daemon may be there that lets them go
            for left in self.plane.request("GET", f"{KUEUE}/{kind}")[1].get("items", []):
                self.plane.request("PATCH", f"{KUEUE}/{kind}/{left['metadata']['name']}", {"metadata": {"finalizers": None}},
                                   "application/merge-patch+json")
        self.plane.request("DELETE", f"/api/v1/namespaces/{self.namespace}")

    PLURALS = {"Namespace": "api/v1/namespaces", "Node": "api/v1/nodes", "Pod": "api/v1/namespaces/{ns}/pods",
               "Job": "apis/batch/v1/namespaces/{ns}/jobs",
               "RoleBinding": "apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings"}

    def path(self, obj):
        kind = obj["kind"]
        if kind in self.PLURALS:
            return "/" + self.PLURALS[kind].format(ns=obj["metadata"].get("namespace", self.namespace))
        plural = {"Topology": "topologies"}.get(kind, kind.lower() + ("es" if kind.endswith("Class") else "s"))
        if kind in ("LocalQueue", "Workload"):
            return f"{KUEUE}/namespaces/{obj['metadata'].get('namespace', self.namespace)}/{plural}"
        return f"{KUEUE}/{plural}"

    def post(self, obj, token="admin-token"):
        """(status, answer); the namespace is the test's own unless the object says another."""
        obj = json.loads(json.dumps(obj))
        if "{ns}" in self.PLURALS.get(obj["kind"], "") or obj["kind"] in ("LocalQueue", "Workload"):
            obj["metadata"].setdefault("namespace", self.namespace)
        return self.plane.request("POST", self.path(obj), obj, token=token)

    def create(self, *objects):
        for obj in objects:
            status, answer = self.post(obj)
            self.assertEqual(status, 201, answer)
        return answer

    def refuse(self, obj, *parts):
        """Creating it fails, and the message says each of the parts."""
        status, answer = self.post(obj)
        self.assertIn(status, (400, 403, 422), answer)
        for part in parts:
            self.assertIn(part, answer["message"])

    def patch(self, path, body, kind="merge"):
        return self.plane.request("PATCH", path, body, f"application/{kind}-patch+json")

    def patched(self, path, body, kind="merge"):
        status, answer = self.patch(path, body, kind)
        self.assertEqual(status, 200, answer)
        return answer

    def not_patched(self, path, body, *parts):
        status, answer = self.patch(path, body)
        self.assertIn(status, (400, 403, 422), answer)
        for part in parts:
            self.assertIn(part, answer["message"])
