"""Kinds whose pods come in groups, from creation to deletion, standalone: as test_plays.py, but such a kind has no flag, and the test
makes the pods that its controller would."""
import copy
import test_plays
from scene import *
from test_plays import at, table

PODS = "/api/v1/namespaces/default/pods"


NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"kubernetes.io/hostname": "n", "pool": "spot"}},
        "status": {"allocatable": {"cpu": "100", "pods": "100"}, "conditions": [{"type": "Ready", "status": "True"}]}}


class GroupPlays(test_plays.Plays):
    def setUp(self):
        super().setUp()
        status, answer = self.daemon.request("POST", "/api/v1/nodes", NODE)
        self.assertEqual(status, 201, answer)

    def pods(self):
        return self.daemon.get(PODS)["items"]

    def of(self, parent):
        return [w for w in self.daemon.get(WORKLOADS)["items"] if w["metadata"]["ownerReferences"][0]["name"] == parent]

    def groups(self, parent, test=lambda w: True, what="groups"):
        """The Workloads of all its groups, once the test is true of each."""
        wanted = self.play["group"]["workloads"]
        eventually(lambda: [test(w) for w in self.of(parent)] == [True] * wanted, what=f"{what} of {parent}")
        return self.of(parent)

    def make_pods(self, path):
        parent = self.daemon.get(path)
        owner = {k: parent["metadata"][k] for k in ("name", "uid")}
        owner.update({k: parent[k] for k in ("apiVersion", "kind")}, controller=True)
        for member in self.play["group"]["members"]:
            template = copy.deepcopy(at(parent, member["template"]))
            metadata = template.get("metadata", {})
            pod = {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"], "metadata": {
                "name": member["name"], "namespace": "default", "ownerReferences": [owner],
                "labels": {**metadata.get("labels", {}), **member.get("labels", {})},
                "annotations": {"sluice.dev/run-for": "10m", **metadata.get("annotations", {}), **member.get("annotations", {})}}}
            status, answer = self.daemon.request("POST", PODS, pod)
            self.assertEqual(status, 201, answer)

    def runs_to_its_end(self):
        path = self.put("a")
        groups = self.groups("a", lambda w: holds(w, "Admitted"), "admission")
        self.assertEqual([{s["name"]: s["count"] for s in w["spec"]["podSets"]} for w in groups],
                         [self.play["pods"]] * len(groups))
        self.held("counts")
        self.make_pods(path)
        eventually(lambda: {p["spec"].get("nodeSelector", {}).get("pool") for p in self.pods()} == {"spot"}
                   and not any(p["spec"].get("schedulingGates") for p in self.pods()), what="pods let in, on the flavor's nodes")
        self.groups("a", lambda w: holds(w, "PodsReady"), "pods that are ready")
        self.held("PodsReady")
        self.is_evicted_and_admitted_again(path)
        self.daemon.request("DELETE", path)
        eventually(lambda: self.of("a") == [], what="its Workloads gone")

    def is_evicted_and_admitted_again(self, path):
        names = [w["metadata"]["name"] for w in self.of("a")]
        for name in names:
            self.patch(f"{WORKLOADS}/{name}", {"spec": {"active": False}})
        eventually(lambda: self.pods() == [], what="its pods stopped")
        self.groups("a", lambda w: not holds(w, "QuotaReserved"), "quota given back")
        self.make_pods(path)
        self.assertTrue(all(p["spec"].get("schedulingGates") for p in self.pods()))
        self.held("suspend, restore")
        for name in names:
            self.patch(f"{WORKLOADS}/{name}", {"spec": {"active": True}})
        eventually(lambda: not any(p["spec"].get("schedulingGates") for p in self.pods()), what="pods let in again")

    def suspended(self, path, value, what):
        """A group has no flag: it waits while its Workload does."""

    def takes_a_prebuilt_workload(self):
        """A group's Workload is named by its parent: no other can be its."""


for name in dir(test_plays.Plays):
    if name.startswith("test_"):
        setattr(GroupPlays, name, None)  # they are run by their own file
for play in table.plays(groups=True):
    setattr(GroupPlays, f"test_{play}", test_plays.play_of(play))
