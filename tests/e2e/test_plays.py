"""Every kind of jobs from its creation to its end, standalone; the plays are in tests/plays, which of jobframework's promises held is
compared with docs/jobs.md. PLAYS=write writes down what held instead (make plays)."""
import copy, re, sys
from scene import *

sys.path.insert(0, str(ROOT / "tests/plays"))
import table

QUEUE, CLASS = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"
ELASTIC, REPLACES = "kueue.x-k8s.io/elastic-job", "kueue.x-k8s.io/workload-slice-replacement-for"
GROUP, REQUIRED = "kueue.x-k8s.io/podset-group-name", "kueue.x-k8s.io/podset-required-topology"
CONFIG = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "waitForPodsReady": {"timeout": "10m"}}


def at(o, path):
    """What is at a path of words with dots; None where it ends."""
    for word in path.split("."):
        o = o[int(word)] if isinstance(o, list) and int(word) < len(o) else o.get(word) if isinstance(o, dict) else None
    return o


def template_of(scene, path):
    """A pod template of the play, made where there is none."""
    for word in path.split("."):
        scene = scene[int(word)] if isinstance(scene, list) else scene.setdefault(word, {})
    return scene


class Plays(Scene):
    def setUp(self):
        super().setUp()
        self.daemon.stop()
        (self.daemon.home / "config.yaml").write_text(json.dumps(CONFIG))
        self.daemon.options = ["--adapters", str(ROOT / "deploy/adapters"), "--config", str(self.daemon.home / "config.yaml"),
                               "--feature-gates", "ElasticJobsViaWorkloadSlices=true"]
        self.daemon.start()
        spot = flavor("f")
        spot["spec"] = {"nodeLabels": {"pool": "spot"}}
        quota = {"f": {"cpu": "100", "memory": "100Gi"}}
        held = cluster_queue("held", quota)
        held["spec"]["stopPolicy"] = "Hold"
        self.create(spot, cluster_queue("team", quota), held, local_queue("main", "team"),
                    local_queue("held", "held"),
                    {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "ours"}, "value": 7},
                    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "theirs"}, "value": 5})

    # --- what a play does

    def put(self, name, queue="main", change=lambda scene: None, labels=()):
        """The object of the play under that name; its path."""
        scene = copy.deepcopy({k: self.play.get(k) for k in ("object", "needs")})
        change(scene)
        o = scene["object"]
        o["metadata"] = {"name": name, "namespace": "default", "labels": {**({QUEUE: queue} if queue else {}), **dict(labels)},
                         **({"annotations": o["metadata"]["annotations"]} if "annotations" in o.get("metadata", {}) else {})}
        for need in scene["needs"] or []:
            path = need.pop("collection")
            if self.daemon.request("POST", path, need)[0] == 409:
                self.patch(f"{path}/{need['metadata']['name']}", {"spec": need["spec"]})
        status, answer = self.daemon.request("POST", self.play["collection"], o)
        self.assertEqual(status, 201, answer)
        return f"{self.play['collection']}/{name}"

    def tell(self, path, what):
        """The status that the kind's own controller would write, whole."""
        status, answer = self.daemon.request("PATCH", path + "/status", [
            {"op": "add", "path": "/status", "value": self.play["status"][what]}], "application/json-patch+json")
        self.assertEqual(status, 200, answer)

    def suspended(self, path, value, what):
        flag = self.play["suspend"]
        eventually(lambda: at(self.daemon.get(path), flag["path"]) == flag["on" if value else "off"], what=what)

    def injected(self, path):
        return at(self.daemon.get(path), self.play["injected"])

    # --- the promises

    def runs_to_its_end(self):
        path = self.put("a")
        self.admitted("a")
        self.suspended(path, False, "started")
        sets = {s["name"]: s["count"] for s in self.workloads()["a"]["spec"]["podSets"]}
        self.assertEqual(sets, self.play["pods"])
        self.held("counts")
        eventually(lambda: self.injected(path) == "spot", what="node selectors of the flavor")
        self.tell(path, "starting" if "starting" in self.play["status"] else "active")
        self.workload("a", lambda w: (condition(w, "PodsReady") or {}).get("status") == "False", "pods that are not ready")
        self.tell(path, "ready")
        self.workload("a", lambda w: holds(w, "PodsReady"), "pods that are ready")
        self.held("PodsReady")
        if "ended" in self.play["status"]:
            self.tell(path, "ended")
            self.workload("a", lambda w: w["status"].get("reclaimablePods") == [
                {"name": n, "count": c} for n, c in self.play["given back"].items()], "pods given back")
            self.held("reclaimable pods")
        self.is_evicted_and_admitted_again(path)
        if "done" in self.play["status"]:
            self.ends(path)

    def ends(self, path):
        self.tell(path, "done")
        self.assertEqual(condition(self.finished("a"), "Finished")["reason"], "Succeeded")
        failing = self.put("b")
        self.admitted("b")
        self.suspended(failing, False, "started")
        self.tell(failing, "failed")
        self.assertEqual(condition(self.finished("b"), "Finished")["reason"], "Failed")
        self.held("finish")

    def is_evicted_and_admitted_again(self, path):
        workload = f"{WORKLOADS}/{self.workloads()['a']['metadata']['name']}"
        self.tell(path, "active")
        self.patch(workload, {"spec": {"active": False}})
        self.suspended(path, True, "stopped")
        self.assertTrue(holds(self.workloads()["a"], "QuotaReserved"))  # its pods still run
        self.tell(path, "idle")
        self.workload("a", lambda w: not holds(w, "QuotaReserved"), "no quota")
        eventually(lambda: self.injected(path) is None, what="the template restored")
        self.held("suspend, restore")
        self.patch(workload, {"spec": {"active": True}})
        self.admitted("a")
        self.suspended(path, False, "started again")

    def asks_for_what_the_templates_say(self):
        def wishes(scene):
            for path in self.play["templates"]:
                template = template_of(scene, path)
                template.setdefault("metadata", {}).setdefault("annotations", {})[REQUIRED] = "rack"
                template["spec"]["priorityClassName"] = "theirs"
        path = self.put("c", "held", wishes)
        w = self.workload("c")
        self.suspended(path, True, "suspended")
        self.assertEqual((w["spec"]["priority"], w["spec"]["priorityClassRef"]["name"]), (5, "theirs"))
        self.put("d", "held", wishes, [(CLASS, "ours")])
        self.assertEqual(self.workload("d")["spec"]["priority"], 7)
        self.held("priority class")
        asked = [s["topologyRequest"] for s in w["spec"]["podSets"] if "required" in s.get("topologyRequest", {})]
        self.assertEqual([a["required"] for a in asked], ["rack"] * len(self.play["templates"]))
        self.held("topology request")
        if any("podIndexLabel" in a for a in asked):
            self.held("ranks")

    def groups_its_pod_sets(self):
        if len(self.play["templates"]) < 2:
            return

        def group(scene):
            for path in self.play["templates"][:2]:
                notes = template_of(scene, path).setdefault("metadata", {}).setdefault("annotations", {})
                notes.update({GROUP: "g", REQUIRED: "rack"})
        self.put("e", "held", group)
        w = self.workload("e")
        self.assertEqual([s.get("topologyRequest", {}).get("podSetGroupName") for s in w["spec"]["podSets"]].count("g"), 2)
        self.held("pod set groups")

    def takes_a_prebuilt_workload(self):
        if "prebuilt" in self.play["lacks"]:
            return
        sets = [{k: s[k] for k in ("name", "count", "template")} for s in self.workloads()["a"]["spec"]["podSets"]]
        for s in sets:
            s["name"] = re.sub("^a-", "p-", s["name"])  # an AppWrapper's are named after it
        self.create({"apiVersion": KUEUE, "kind": "Workload", "metadata": {"name": "made", "namespace": "default"},
                     "spec": {"queueName": "main", "podSets": sets}})
        path = self.put("p", labels=[("kueue.x-k8s.io/prebuilt-workload-name", "made")])
        self.suspended(path, False, "started by the prebuilt workload")
        owner = self.daemon.get(f"{WORKLOADS}/made")["metadata"]["ownerReferences"]
        self.assertEqual([o["name"] for o in owner], ["p"])
        self.held("prebuilt")

    def is_queued_whoever_manages_it(self):
        """Kueue looks at the field where a queue has a check of MultiKueue, and nowhere else."""
        field = self.play.get("managedBy")
        if field is None:
            return

        def manage(scene):
            *outer, last = field.split(".")
            template_of(scene, "object." + ".".join(outer))[last] = "example.com/another"
        path = self.put("m", change=manage)
        self.admitted("m")
        self.suspended(path, False, "started")
        self.assertEqual(at(self.daemon.get(path), field), "example.com/another")
        self.held("managedBy")

    def scaled_object(self, path):
        """The object that has the numbers: the job itself, or what its controller has made for it."""
        made = self.play["elastic"].get("made")
        if made is None:
            return path
        job = self.daemon.get(path)
        child = {**made["object"], "spec": at(job, made["spec"]), "metadata": {
            "name": "made", "namespace": "default", "ownerReferences": [
                {"apiVersion": job["apiVersion"], "kind": job["kind"], "name": job["metadata"]["name"], "uid": job["metadata"]["uid"],
                 "controller": True}]}}
        status, answer = self.daemon.request("POST", made["collection"], child)
        self.assertEqual(status, 201, answer)
        self.tell(path, "active")
        self.patch(path + "/status", {"status": made["named"]})
        return f"{made['collection']}/made"

    def grows_and_shrinks(self):
        if "elastic" not in self.play:
            return

        def mark(scene):
            scene["object"].setdefault("metadata", {}).setdefault("annotations", {})[ELASTIC] = "true"
        path = self.put("x", change=mark)
        self.admitted("x")
        self.suspended(path, False, "started")
        scaled, number = self.scaled_object(path), self.play["elastic"]["number"]
        first = self.workloads()["x"]["metadata"]["name"]

        def scale(count):
            status, answer = self.daemon.request("PATCH", scaled, [{"op": "replace", "path": number, "value": count}],
                                                 "application/json-patch+json")
            self.assertEqual(status, 200, answer)

        def one(count):
            live = [w for w in self.daemon.get(WORKLOADS)["items"]
                    if w["metadata"]["ownerReferences"][0]["name"] == "x" and not holds(w, "Finished")]
            counts = [{s["name"]: s["count"] for s in w["spec"]["podSets"]} for w in live]
            return live[0] if counts == [{**self.play["pods"], "small": count}] and holds(live[0], "Admitted") else None
        scale(5)
        grown = eventually(lambda: one(5), what="one slice of more pods")
        self.assertEqual(grown["metadata"]["annotations"][REPLACES], f"default/{first}")
        scale(1)
        shrunk = eventually(lambda: one(1), what="the same slice with fewer pods")
        self.assertEqual(shrunk["metadata"]["uid"], grown["metadata"]["uid"])
        self.assertEqual(at(self.daemon.get(path), self.play["suspend"]["path"]), self.play["suspend"]["off"])
        self.held("elastic")

    def held(self, promise):
        self.promises.append(promise)

    def act(self, name):
        self.play = json.loads((ROOT / f"tests/plays/{name}.json").read_text())
        self.play.setdefault("lacks", {})
        self.promises = []
        self.runs_to_its_end()
        self.asks_for_what_the_templates_say()
        self.groups_its_pod_sets()
        self.takes_a_prebuilt_workload()
        self.is_queued_whoever_manages_it()
        self.grows_and_shrinks()
        if os.environ.get("PLAYS") == "write":
            table.write(name, self.play, self.promises)
        self.assertEqual(table.said(name), sorted(self.promises), "docs/jobs.md says otherwise: make plays")


def play_of(name):
    return lambda self: self.act(name)


for play in table.plays(groups=False):
    setattr(Plays, f"test_{play}", play_of(play))
