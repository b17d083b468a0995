"""Serving workloads on a real control plane: Kubernetes makes the pods of StatefulSets and Deployments; for LeaderWorkerSets
the tests make the StatefulSets of their controller, whose pods get the labels of its webhook."""
from work_scene import *

QUEUE = "kueue.x-k8s.io/queue-name"
GROUP = "kueue.x-k8s.io/pod-group-name"
LWS = "leaderworkerset.sigs.k8s.io/"


def template(app, cpu="1", **metadata):
    metadata = {"labels": {"app": app, **metadata.pop("labels", {})}, **metadata}
    return {"metadata": metadata, "spec": {"terminationGracePeriodSeconds": 0, "containers": [
        {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}}


def served(kind, name, replicas, pods=None, labels=None):
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": pods or template(name)}
    if kind == "StatefulSet":
        spec |= {"serviceName": name, "podManagementPolicy": "Parallel"}
    return {"apiVersion": "apps/v1", "kind": kind,
            "metadata": {"name": name, "labels": {QUEUE: "main"} if labels is None else labels}, "spec": spec}


class Serving(WorkScene):
    options = ("--adapters", str(ROOT / "deploy/adapters"))
    PLURALS = {**Scene.PLURALS, "StatefulSet": "apis/apps/v1/namespaces/{ns}/statefulsets",
               "Deployment": "apis/apps/v1/namespaces/{ns}/deployments",
               "LeaderWorkerSet": "apis/leaderworkerset.x-k8s.io/v1/namespaces/{ns}/leaderworkersets"}

    def tearDown(self):
        for kind in ("LeaderWorkerSet", "StatefulSet", "Deployment", "Pod"):
            self.plane.request("DELETE", "/" + self.PLURALS[kind].format(ns=self.namespace))
        try:
            eventually(lambda: not self.pods(), 30, what="no pods")
        finally:
            super().tearDown()

    def at(self, kind, name):
        return "/" + self.PLURALS[kind].format(ns=self.namespace) + "/" + name

    def items(self):
        return self.plane.get(f"{KUEUE}/namespaces/{self.namespace}/workloads")["items"]

    def running(self, count):
        eventually(lambda: len([p for p in self.pods() if p["status"].get("phase") == "Running" and
                                not p["metadata"].get("deletionTimestamp")]) == count, 30, what=f"{count} pods run")

    def test_statefulset_runs_as_a_whole_rests_and_comes_back(self):
        self.daemon()
        queue = self.queues(4)
        sets = self.at("StatefulSet", "s")
        self.create(served("StatefulSet", "s", 3))
        self.running(3)
        w, = self.items()
        self.assertRegex(w["metadata"]["name"], "^statefulset-s-[0-9a-f]{5}$")
        self.assertEqual([s["count"] for s in w["spec"]["podSets"]], [3])
        self.assertEqual({p["metadata"]["annotations"][GROUP] for p in self.pods()}, {w["metadata"]["name"]})
        self.create(served("StatefulSet", "t", 2))
        eventually(lambda: len(self.items()) == 2 and len(self.pods()) == 5, what="the other waits")
        self.settles_at(queue, 3)
        self.not_patched(sets, {"spec": {"replicas": 4}}, "spec.replicas")
        eventually(lambda: self.plane.get(sets)["status"].get("readyReplicas") == 3, 30, what="ready")
        self.not_patched(sets, {"metadata": {"labels": {QUEUE: "other"}}}, QUEUE)
        self.patched(sets, {"spec": {"replicas": 0}})
        self.running(2)
        eventually(lambda: "OnHold" in [(condition(w, "QuotaReserved") or {}).get("reason") for w in self.items()], what="on hold")
        eventually(lambda: not self.plane.get(sets)["status"].get("replicas"), 30, what="scaled down")
        self.patched(sets, {"spec": {"replicas": 2}})
        self.running(4)
        self.settles_at(queue, 4)
        self.plane.request("DELETE", sets)
        eventually(lambda: len(self.items()) == 1, 30, what="its Workload is gone")
        self.settles_at(queue, 2)

    def test_statefulset_that_is_evicted_gives_way_and_runs_again(self):
        self.daemon()
        queue = self.queues(2)
        self.create(served("StatefulSet", "s", 2))
        self.running(2)
        self.patched(queue, {"spec": {"stopPolicy": "HoldAndDrain"}})
        eventually(lambda: [p["status"]["phase"] for p in self.pods()] == ["Pending"] * 2, 30, what="gated pods again")
        self.settles_at(queue, 0)
        self.patched(queue, {"spec": {"stopPolicy": "None"}})
        self.running(2)

    def test_pods_of_a_deployment_are_queued_each_by_itself(self):
        self.daemon()
        queue = self.queues(2)
        self.create(served("Deployment", "d", 3))
        self.running(2)
        self.settles_at(queue, 2)
        self.assertEqual(len(self.items()), 3)
        self.patched(self.at("Deployment", "d"), {"spec": {"replicas": 1}})
        eventually(lambda: len(self.items()) == 1, 30, what="their Workloads are gone")

    def lead(self, name, group):
        """What the controller makes for a group: the leader, and the StatefulSet of its workers."""
        parent = self.plane.get(self.at("LeaderWorkerSet", name))
        at, own = parent["spec"]["leaderWorkerTemplate"], {LWS + "name": name, LWS + "group-index": str(group)}
        leader = f"{name}-{group}"
        def marked(pods, **notes):
            m = pods.get("metadata", {})
            return template(leader, labels={**m.get("labels", {}), **own, "app": leader}, annotations={**m.get("annotations", {}), **notes})
        pod = marked(at["leaderTemplate"])
        self.create({"apiVersion": "v1", "kind": "Pod", **pod, "metadata": {**pod["metadata"], "name": leader}},
                    served("StatefulSet", leader, at["size"] - 1, labels={LWS + "name": name},
                           pods=marked(at["workerTemplate"], **{LWS + "leader-name": leader})))

    def test_leaderworkerset_runs_group_by_group(self):
        self.daemon()
        queue = self.queues(6)
        pods = {k: v for k, v in template("l").items()}
        self.create({"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
                     "metadata": {"name": "l", "labels": {QUEUE: "main"}},
                     "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 3, "leaderTemplate": pods, "workerTemplate": pods}}})
        eventually(lambda: len(self.items()) == 2, what="a Workload for each group")
        self.lead("l", 0)
        self.lead("l", 1)
        self.running(6)
        self.settles_at(queue, 6)
        self.patched(self.at("LeaderWorkerSet", "l"), {"spec": {"replicas": 3}})
        self.lead("l", 2)
        eventually(lambda: len(self.items()) == 3, what="a third")
        self.running(6)
        uids = {p["metadata"]["uid"] for p in self.pods() if p["metadata"]["labels"][LWS + "group-index"] == "0"}
        self.patched(self.at("LeaderWorkerSet", "l"), {"spec": {"replicas": 1}})
        for i in (1, 2):
            self.plane.request("DELETE", self.at("StatefulSet", f"l-{i}"))
            self.plane.request("DELETE", f"/api/v1/namespaces/{self.namespace}/pods/l-{i}")
        self.running(3)
        self.settles_at(queue, 3)
        self.assertEqual({p["metadata"]["uid"] for p in self.pods()}, uids)
        self.assertEqual(len(self.items()), 1)
