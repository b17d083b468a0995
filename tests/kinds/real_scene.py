"""The plays of tests/plays on a real control plane with the CRDs of the kinds' own projects (crds.txt). Kubernetes' controllers run; the
tests play those of the other projects: they write their statuses and make their pods, which kwok runs."""
import copy, sys
from work_scene import *

sys.path.insert(0, str(ROOT / "tests/plays"))
import table  # noqa: E402

QUEUE = "kueue.x-k8s.io/queue-name"
POOL = {"pool": "spot"}


def at(o, path):
    """What is at a path of words with dots; None where it ends."""
    for word in path.split("."):
        o = o[int(word)] if isinstance(o, list) and int(word) < len(o) else o.get(word) if isinstance(o, dict) else None
    return o


class Play:
    """A kind's play in a namespace."""

    def __init__(self, scene, name):
        self.scene, self.plane, self.name = scene, scene.plane, name
        for key, value in json.loads((ROOT / f"tests/plays/{name}.json").read_text()).items():
            setattr(self, key.replace(" ", "_"), value)
        self.collection = self.collection.replace("/default/", f"/{scene.namespace}/")
        self.grouped = hasattr(self, "group")
        self.kind = self.object["kind"]

    def path(self, name):
        return f"{self.collection}/{name}"

    def post(self, path, obj, query=""):
        status, answer = self.plane.request("POST", path + query, obj)
        self.scene.assertEqual(status, 201, f"{self.name}: {answer}")
        return answer

    def put(self, name, queue="main", query="", **labels):
        """The object as it was created, with what it needs."""
        for need in copy.deepcopy(getattr(self, "needs", [])):
            path = need.pop("collection")
            if self.plane.request("GET", f"{path}/{need['metadata']['name']}")[0] == 404:
                self.post(path, need)
                self.scene.addCleanup(self.plane.request, "DELETE", f"{path}/{need['metadata']['name']}")
        o = copy.deepcopy(self.object)
        o["metadata"] = {**o.get("metadata", {}), "name": name, "labels": {**({QUEUE: queue} if queue else {}), **labels}}
        return self.post(self.collection, o, query)

    def get(self, name):
        return self.plane.get(self.path(name))

    def tell(self, name, what):
        """The status that the kind's own controller would write, whole, and whether the schema has kept all of it."""
        self.scene.patched(self.path(name) + "/status", [{"op": "add", "path": "/status", "value": self.status[what]}], "json")

    def flag(self, o):
        """True if suspended, False, or None where the object says neither."""
        return {repr(self.suspend["on"]): True, repr(self.suspend["off"]): False}.get(repr(at(o, self.suspend["path"])))

    def suspended(self, name):
        return self.flag(self.get(name))

    def delete(self, name):
        self.plane.request("DELETE", self.path(name) + "?propagationPolicy=Background")

    def cpus(self):
        return sum(self.pods.values()) * (self.group["workloads"] if self.grouped else 1)

    # --- its controller
    def owner(self, name):
        o = self.get(name)
        return {"apiVersion": o["apiVersion"], "kind": o["kind"], "name": name, "uid": o["metadata"]["uid"], "controller": True}

    def pod(self, owner, name, template, **metadata):
        marks = template.get("metadata", {})
        self.post(f"/api/v1/namespaces/{self.scene.namespace}/pods", {
            "apiVersion": "v1", "kind": "Pod", "spec": {"terminationGracePeriodSeconds": 0, **template["spec"]}, "metadata": {
                "name": name, "ownerReferences": [owner], **{k: {**marks.get(k, {}), **metadata.get(k, {})}
                                                             for k in ("labels", "annotations")}}})

    def make_pods(self, name):
        """From the templates as admission has left them; a TrainJob's are its runtime's, with what is injected."""
        o, owner = self.get(name), self.owner(name)
        for i, (which, count) in enumerate(self.pods.items()):
            path = self.templates[i] if i < len(self.templates) else None
            if path and path.startswith("object."):
                template = at({"object": o}, path)
            else:
                w = self.scene.workloads()[name]
                template = next(s["template"] for s in w["spec"]["podSets"] if s["name"] == self.of(name, which))
            if path is None or not template["spec"].get("nodeSelector"):
                template = copy.deepcopy(template)
                template["spec"]["nodeSelector"] = {"pool": at(o, self.injected)}
            for n in range(count):
                self.pod(owner, f"{name}-{which}-{n}", template)

    @staticmethod
    def of(name, said):
        """What the play says of an object with the name a."""
        return name + said[1:] if said == "a" or said.startswith("a-") else said

    def make_members(self, name):
        """Of a kind whose pods come in groups, where Kubernetes does not make them."""
        o, owner = self.get(name), self.owner(name)
        for m in [] if self.kind == "StatefulSet" else self.group["members"]:
            own = {k: {key: self.of(name, value) for key, value in m.get(k, {}).items()} for k in ("labels", "annotations")}
            self.pod(owner, self.of(name, m["name"]), at(o, m["template"]), **own)


class RealScene(WorkScene):
    options = ("--adapters", str(ROOT / "deploy/adapters"), "--paranoid")
    config = {"waitForPodsReady": {"timeout": "10m"}}

    def setUp(self):
        super().setUp()
        self.plane.add_node("spot-node", POOL)
        self.jobsets_are_known()

    def tearDown(self):
        for name in table.plays():
            self.plane.request("DELETE", Play(self, name).collection + "?propagationPolicy=Background")
        for path in (f"{KUEUE}/namespaces/{self.namespace}/workloads", f"/api/v1/namespaces/{self.namespace}/pods"):
            self.plane.request("DELETE", path)
        try:
            eventually(lambda: not self.pods(), 60, what="no pods")
        finally:
            super().tearDown()

    def quota(self, cpu, **spec):
        """A ClusterQueue with memory, too, on the nodes of one flavor."""
        unique = f"{self.namespace}-main"
        self.create(flavor(unique, nodeLabels=POOL), cluster_queue(unique, {unique: {"cpu": cpu, "memory": "100Gi"}}, **spec),
                    local_queue("main", unique, self.namespace))
        return f"{KUEUE}/clusterqueues/{unique}"

    def settles_at(self, queue_path, cpu):
        eventually(lambda: self.used(queue_path) == (cpu * 1000, cpu * 1000), 60, what=f"{cpu} cpu reserved and used")

    def owned(self, name):
        """All Workloads of an object."""
        items = self.plane.get(f"{KUEUE}/namespaces/{self.namespace}/workloads")["items"]
        return [w for w in items if name in (o["name"] for o in w["metadata"].get("ownerReferences", []))]

    def each(self, play, name, test, what, seconds=30):
        """The Workloads of the object, when there are as many as it has and the test is true of each."""
        number = play.group["workloads"] if play.grouped else 1
        eventually(lambda: [bool(test(w)) for w in self.owned(name)] == [True] * number, seconds, what=f"{play.kind} {name}: {what}")
        return self.owned(name)

    def pods_of(self, name):
        return [p for p in self.pods() if name in (o["name"] for o in p["metadata"].get("ownerReferences", []))]

    # --- what a kind goes through
    def starts(self, play, name):
        """It is admitted, and its pods run on the nodes of its flavor."""
        found = self.each(play, name, lambda w: holds(w, "Admitted") and not holds(w, "Evicted"), "admission")
        for w in found:
            self.assertEqual({s["name"]: s["count"] for s in w["spec"]["podSets"]},
                             {play.of(name, n): count for n, count in play.pods.items()})
        if play.grouped:
            play.make_members(name)
        else:
            eventually(lambda: play.suspended(name) is False, 30, what=f"{play.kind} {name} started")
            eventually(lambda: at(play.get(name), play.injected) == POOL["pool"], what=f"{play.kind} {name}: the node selector")
            play.make_pods(name)
        self.pods_run(play, name)

    def pods_run(self, play, name):
        def running():
            pods = [p for p in self.pods_of(name) if not p["metadata"].get("deletionTimestamp")]
            return [(p["status"].get("phase"), p["spec"].get("nodeName")) for p in pods] == [("Running", "spot-node")] * play.cpus()
        eventually(running, 60, what=f"{play.kind} {name}: {play.cpus()} pods run")

    def becomes_ready(self, play, name):
        if not play.grouped:
            play.tell(name, "starting" if "starting" in play.status else "active")
            play.tell(name, "ready")
        self.each(play, name, lambda w: holds(w, "PodsReady"), "pods that are ready")

    def ends(self, play, name):
        """As it does: a job succeeds, what serves is deleted."""
        if not play.grouped and "done" in play.status:
            play.tell(name, "done")
            found, = self.each(play, name, lambda w: holds(w, "Finished"), "the end")
            self.assertEqual(condition(found, "Finished")["reason"], "Succeeded")
        else:
            play.delete(name)
            eventually(lambda: not self.owned(name), 60, what=f"{play.kind} {name}: its Workload gone")
        self.stop_pods(name)

    def stop_pods(self, name):
        """As its controller and the kubelet do."""
        for pod in self.pods_of(name):
            path = f"/api/v1/namespaces/{self.namespace}/pods/{pod['metadata']['name']}"
            self.plane.request("DELETE", path)
            if pod["metadata"].get("finalizers"):
                self.patch(path + "/status", {"status": {"phase": "Failed"}})
