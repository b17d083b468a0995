"""Serving workloads: StatefulSets and LeaderWorkerSets, whose pods come in groups. The tests play their controllers."""
import json
import test_pods
from daemon import *
from test_pods import LABEL, PODS, node, pod

STATEFULSETS = "/apis/apps/v1/namespaces/default/statefulsets"
SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets"
LWS = "leaderworkerset.sigs.k8s.io/"


def pod_template(cpu, **metadata):
    return {"metadata": metadata, "spec": {"containers": [
        {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}}


def statefulset(name, replicas, cpu="1", queue="lq", **labels):
    labels = {**({LABEL + "queue-name": queue} if queue else {}), **{LABEL + k.replace("_", "-"): v for k, v in labels.items()}}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet",
            "metadata": {"name": name, "namespace": "default", "labels": labels},
            "spec": {"replicas": replicas, "serviceName": name, "selector": {"matchLabels": {"app": name}},
                     "template": pod_template(cpu, labels={"app": name})}}


def leaderworkerset(name, replicas, size=2, surge=0, leader=True, **annotations):
    notes = {LABEL + k.replace("_", "-"): v for k, v in annotations.items()}
    templates = {"workerTemplate": pod_template("500m", annotations=notes),
                 **({"leaderTemplate": pod_template("500m", annotations=notes)} if leader else {})}
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
            "metadata": {"name": name, "namespace": "default", "labels": {LABEL + "queue-name": "lq"}},
            "spec": {"replicas": replicas, "rolloutStrategy": {"rollingUpdateConfiguration": {"maxSurge": surge}},
                     "leaderWorkerTemplate": {"size": size, **templates}}}


class Serving(test_pods.Pods):
    options = ("--adapters", str(ROOT / "deploy/adapters"))

    def made(self, collection, o):
        status, answer = self.daemon.request("POST", collection, o)
        self.assertEqual(status, 201, answer)
        return answer

    def put_pod(self, parent, name, template, **labels):
        """A pod as the parent's controller makes it; one of that name that is there stays."""
        metadata = template["metadata"]
        owner = {"apiVersion": parent["apiVersion"], "kind": parent["kind"], "name": parent["metadata"]["name"],
                 "uid": parent["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
        annotations = {"sluice.dev/run-for": "10m", **metadata.get("annotations", {})}
        self.daemon.request("POST", PODS, {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "labels": {**metadata.get("labels", {}), **labels},
                         "annotations": annotations, "ownerReferences": [owner]},
            "spec": {**template["spec"], "restartPolicy": "Never"}})

    def scale(self, path, replicas):
        self.daemon.kubectl("patch", "--type=merge", "-p", json.dumps({"spec": {"replicas": replicas}}), *path)

    def play(self, name):
        """One turn of the StatefulSet's controller."""
        status, parent = self.daemon.request("GET", f"{STATEFULSETS}/{name}")
        wanted = parent["spec"]["replicas"] if status == 200 else 0
        for i in range(wanted):
            self.put_pod(parent, f"{name}-{i}", parent["spec"]["template"], **{"apps.kubernetes.io/pod-index": str(i)})
        for p in self.daemon.get(PODS)["items"]:
            index = p["metadata"]["name"].removeprefix(name + "-")
            if index.isdigit() and int(index) >= wanted:
                self.daemon.request("DELETE", f"{PODS}/{p['metadata']['name']}")

    def play_set(self, name, groups=None):
        """One turn of the LeaderWorkerSet's controller: all pods of `groups` groups, or of as many as are wanted."""
        status, parent = self.daemon.request("GET", f"{SETS}/{name}")
        spec = parent["spec"]["leaderWorkerTemplate"] if status == 200 else {"size": 0}
        wanted = (groups or parent["spec"]["replicas"]) if status == 200 else 0
        for i in range(wanted):
            leader = f"{name}-{i}"
            at = {LWS + "name": name, LWS + "group-index": str(i)}
            self.put_pod(parent, leader, spec.get("leaderTemplate", spec["workerTemplate"]), **at, **{LWS + "worker-index": "0"})
            for k in range(1, spec["size"]):
                template = json.loads(json.dumps(spec["workerTemplate"]))
                template["metadata"].setdefault("annotations", {})[LWS + "leader-name"] = leader
                self.put_pod(parent, f"{leader}-{k}", template, **at, **{LWS + "worker-index": str(k)})
        for p in self.daemon.get(PODS)["items"]:
            index = p["metadata"]["labels"].get(LWS + "group-index", "")
            if p["metadata"]["labels"].get(LWS + "name") == name and int(index) >= wanted:
                self.daemon.request("DELETE", f"{PODS}/{p['metadata']['name']}")

    def groups(self, name, count, test=lambda w: True, what="groups"):
        eventually(lambda: len([w for w in self.of(name, "leaderworkerset") if test(w)]) == count, what=f"{count} {what} of {name}")
        return sorted(self.of(name, "leaderworkerset"), key=lambda w: w["metadata"]["name"])

    def of(self, parent, kind="statefulset"):
        return [w for w in self.workloads() if w["metadata"]["name"].startswith(f"{kind}-{parent}-")]

    def one(self, parent, test=lambda w: True, what="one workload"):
        def found():
            all = self.of(parent)
            return all[0] if len(all) == 1 and test(all[0]) else None
        eventually(found, what=f"{what} of {parent}")
        return found()

    def admitted(self, parent):
        return self.one(parent, lambda w: holds(w, "Admitted"), "admitted workload")

    # --- StatefulSets

    def test_statefulset_is_one_workload_that_is_made_before_its_pods(self):
        self.made(STATEFULSETS, statefulset("s", 3))
        w = self.admitted("s")
        self.assertEqual([(s["name"], s["count"]) for s in w["spec"]["podSets"]], [("main", 3)])
        owner, = w["metadata"]["ownerReferences"]
        self.assertEqual((owner["kind"], owner["name"], owner.get("controller")), ("StatefulSet", "s", None))
        self.assertEqual(w["metadata"]["annotations"][LABEL + "job-owner-gvk"], "apps/v1, Kind=StatefulSet")
        self.play("s")
        self.running("s-0", "s-1", "s-2")
        pod = self.pod("s-1")
        self.assertEqual(pod["spec"]["nodeSelector"], {"pool": "any"})
        self.assertEqual(pod["metadata"]["annotations"][LABEL + "pod-group-name"], w["metadata"]["name"])
        self.assertNotIn("finalizers", pod["metadata"])
        self.assertEqual(len(self.workloads()), 1)

    def test_statefulset_waits_as_a_whole(self):
        self.made(STATEFULSETS, statefulset("a", 3))
        self.admitted("a")
        self.made(STATEFULSETS, statefulset("b", 2))
        self.play("a")
        self.play("b")
        self.running("a-0", "a-1", "a-2")
        self.one("b", lambda w: not holds(w, "QuotaReserved"))
        for name in ("b-0", "b-1"):
            self.assertIn(LABEL + "admission", self.gates(name))
        self.daemon.kubectl("delete", "statefulset", "a", "--wait=false")
        self.play("a")
        self.running("b-0", "b-1")
        eventually(lambda: self.of("a") == [], what="the Workload of a is gone")

    def test_statefulset_of_no_replicas_is_on_hold_and_comes_back_with_more(self):
        self.made(STATEFULSETS, statefulset("s", 2))
        self.admitted("s")
        self.play("s")
        self.running("s-0", "s-1")
        self.scale(("statefulset", "s"), 0)
        self.play("s")
        w = self.one("s", lambda w: condition(w, "QuotaReserved")["reason"] == "OnHold", "workload on hold")
        self.assertNotIn("admission", w["status"])
        self.create(pod("big", cpu="4"))  # its quota is free
        self.running("big")
        self.daemon.kubectl("delete", "pod", "big", "--wait=false")
        self.scale(("statefulset", "s"), 3)
        self.play("s")
        self.assertEqual(self.admitted("s")["spec"]["podSets"][0]["count"], 3)
        self.running("s-0", "s-1", "s-2")

    def test_statefulset_that_is_evicted_stops_and_waits_for_its_turn(self):
        self.made(STATEFULSETS, statefulset("s", 2))
        name = self.admitted("s")["metadata"]["name"]
        self.play("s")
        self.running("s-0", "s-1")
        self.daemon.kubectl("patch", "workload", name, "--type=merge", "-p", '{"spec":{"active":false}}')
        self.gone("s-0")
        self.gone("s-1")
        self.play("s")
        self.one("s", lambda w: not holds(w, "QuotaReserved"))
        eventually(lambda: LABEL + "pod-group-name" in self.pod("s-0")["metadata"]["annotations"], what="s-0 is a member")
        self.assertIn(LABEL + "admission", self.gates("s-0"))
        self.daemon.kubectl("patch", "workload", name, "--type=merge", "-p", '{"spec":{"active":true}}')
        self.running("s-0", "s-1")

    def test_statefulset_without_a_queue_is_left_alone(self):
        self.made(STATEFULSETS, statefulset("s", 1, queue=None))
        self.play("s")
        self.running("s-0")
        self.assertEqual(self.workloads(), [])

    def test_pod_template_keeps_what_gates_its_pods(self):
        self.made(STATEFULSETS, statefulset("s", 1))
        parent = "kueue.x-k8s.io/pod-suspending-parent"
        self.daemon.kubectl("patch", "statefulset", "s", "--type=merge", "-p", json.dumps(
            {"spec": {"template": {"metadata": {"annotations": {parent: None}}}}}))
        kept = self.daemon.get(f"{STATEFULSETS}/s")["spec"]["template"]["metadata"]["annotations"]
        self.assertEqual(kept[parent], "statefulset")
        status, answer = self.daemon.request("PATCH", f"{STATEFULSETS}/s", {"spec": {"replicas": 2}}, "application/merge-patch+json")
        self.assertEqual(status, 422, answer)
        self.assertIn("spec.replicas", answer["message"])

    def test_statefulset_outlives_a_restart(self):
        self.made(STATEFULSETS, statefulset("s", 2))
        self.admitted("s")
        self.play("s")
        self.running("s-0", "s-1")
        self.assertEqual(self.daemon.stop(), 0)
        self.daemon.start()
        self.admitted("s")
        self.running("s-0", "s-1")

    # --- LeaderWorkerSets

    def test_leaderworkerset_has_a_workload_for_each_group(self):
        self.made(SETS, leaderworkerset("l", 2, size=3))
        a, b = self.groups("l", 2, lambda w: holds(w, "Admitted"), "admitted groups")
        self.assertEqual([(s["name"], s["count"]) for s in a["spec"]["podSets"]], [("leader", 1), ("worker", 2)])
        self.assertEqual([w["metadata"]["annotations"][LABEL + "component-workload-index"] for w in (a, b)], ["0", "1"])
        self.assertEqual([w["metadata"]["name"].rsplit("-", 1)[0] for w in (a, b)],
                         ["leaderworkerset-l-0", "leaderworkerset-l-1"])
        self.play_set("l")
        self.running("l-0", "l-0-1", "l-0-2", "l-1", "l-1-1", "l-1-2")
        roles = [self.pod(name)["metadata"]["annotations"][LABEL + "role-hash"] for name in ("l-0", "l-0-1")]
        self.assertEqual(roles, ["leader", "worker"])
        self.assertEqual(len(self.workloads()), 2)

    def test_leaderworkerset_of_workers_only_has_one_pod_set(self):
        self.made(SETS, leaderworkerset("l", 1, size=2, leader=False))
        w, = self.groups("l", 1, lambda w: holds(w, "Admitted"), "admitted groups")
        self.assertEqual([(s["name"], s["count"]) for s in w["spec"]["podSets"]], [("main", 2)])
        self.play_set("l")
        self.running("l-0", "l-0-1")

    def test_leaderworkerset_scales_by_groups_and_stops_none(self):
        self.made(SETS, leaderworkerset("l", 2))
        self.groups("l", 2, lambda w: holds(w, "Admitted"), "admitted groups")
        self.play_set("l")
        self.running("l-0", "l-0-1", "l-1", "l-1-1")
        uids = [self.pod(name)["metadata"]["uid"] for name in ("l-0", "l-0-1")]
        self.scale(("lws", "l"), 5)
        self.play_set("l")
        self.groups("l", 5)
        self.groups("l", 4, lambda w: holds(w, "Admitted"), "admitted groups")
        self.running("l-3", "l-3-1")
        self.assertIn(LABEL + "admission", self.gates("l-4"))
        self.scale(("lws", "l"), 1)
        self.play_set("l")
        self.groups("l", 1)
        self.assertEqual([self.pod(name)["metadata"]["uid"] for name in ("l-0", "l-0-1")], uids)
        self.assertEqual(self.phase("l-0"), "Running")
        self.daemon.kubectl("delete", "lws", "l", "--wait=false")
        self.play_set("l")
        self.groups("l", 0)

    def test_group_that_is_evicted_stops_alone(self):
        self.made(SETS, leaderworkerset("l", 2))
        first, _ = self.groups("l", 2, lambda w: holds(w, "Admitted"), "admitted groups")
        self.play_set("l")
        self.running("l-0", "l-0-1", "l-1", "l-1-1")
        uid = self.pod("l-1")["metadata"]["uid"]
        name = first["metadata"]["name"]
        self.daemon.kubectl("patch", "workload", name, "--type=merge", "-p", '{"spec":{"active":false}}')
        self.gone("l-0")
        self.gone("l-0-1")
        eventually(lambda: not holds(self.workload(name), "QuotaReserved"), what="its quota is given back")
        self.assertEqual(self.pod("l-1")["metadata"]["uid"], uid)

    def test_groups_of_a_surge_have_workloads(self):
        self.made(SETS, leaderworkerset("l", 2, surge=1))
        self.groups("l", 2, lambda w: holds(w, "Admitted"), "admitted groups")
        path = f"{SETS}/l/status"
        def told(replicas):
            status, answer = self.daemon.request("PATCH", path, {"status": {"replicas": replicas}}, "application/merge-patch+json")
            self.assertEqual(status, 200, answer)
        told(3)
        self.play_set("l", groups=3)
        self.groups("l", 3, lambda w: holds(w, "Admitted"), "admitted groups")
        self.running("l-2", "l-2-1")
        told(2)
        self.play_set("l")
        self.groups("l", 2)

    def test_leader_and_workers_are_placed_as_one(self):
        self.made(SETS, leaderworkerset("l", 1, podset_group_name="g", podset_required_topology="rack"))
        w, = self.groups("l", 1)
        self.assertEqual([s["topologyRequest"]["podSetGroupName"] for s in w["spec"]["podSets"]], ["g", "g"])


for name in dir(test_pods.Pods):
    if name.startswith("test_"):
        setattr(Serving, name, None)  # they are run by their own file
