"""A small KubeRay: the pods of each RayCluster of a namespace, and what its status says of them. Pods are made from the templates as
they are, so that gates, labels and annotations are admission's; replicas that are too many are deleted, gated ones first, as the
autoscaler would name those that do nothing."""
GROUP, CLUSTER = "ray.io/group", "ray.io/cluster"
MARKS = "kueue.x-k8s.io/podset"


def templates(cluster):
    """Group -> (template, pods), of one that may run."""
    spec = cluster["spec"]
    if spec.get("suspend"):
        return {}
    groups = {g["groupName"]: (g["template"], g.get("replicas", 1) * g.get("numOfHosts", 1)) for g in spec["workerGroupSpecs"]}
    return {"headgroup": (spec["headGroupSpec"]["template"], 1), **groups}


def is_gated(pod):
    return bool(pod["spec"].get("schedulingGates"))


def is_live(pod):
    return not pod["metadata"].get("deletionTimestamp") and pod["status"].get("phase") not in ("Succeeded", "Failed")


class FakeKubeRay:
    def __init__(self, request, namespace):
        self.request, self.namespace, self.made = request, namespace, 0

    def items(self, path):
        status, answer = self.request("GET", path)
        assert status == 200, answer
        return answer["items"]

    @property
    def clusters_path(self):
        return f"/apis/ray.io/v1/namespaces/{self.namespace}/rayclusters"

    @property
    def pods_path(self):
        return f"/api/v1/namespaces/{self.namespace}/pods"

    def delete(self, pod):
        self.request("DELETE", f"{self.pods_path}/{pod['metadata']['name']}", {"gracePeriodSeconds": 0})

    def make(self, cluster, group, template):
        self.made += 1
        name = cluster["metadata"]["name"]
        metadata = template.get("metadata", {})
        pod = {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"], "metadata": {
            "name": f"{name}-{group}-{self.made}", "annotations": metadata.get("annotations", {}),
            "labels": {**metadata.get("labels", {}), CLUSTER: name, GROUP: group},
            "ownerReferences": [{"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": name, "controller": True,
                                 "uid": cluster["metadata"]["uid"]}]}}
        status, answer = self.request("POST", self.pods_path, pod)
        assert status == 201, answer
        return answer

    def turn(self):
        """One look at everything: the clusters, and the pods as they were found."""
        clusters = self.items(self.clusters_path)
        pods = [p for p in self.items(self.pods_path) if CLUSTER in p["metadata"].get("labels", {})]
        uids = {c["metadata"]["uid"]: c for c in clusters if not c["metadata"].get("deletionTimestamp")}
        found = {}
        for p in pods:
            if not is_live(p):
                continue
            owner = uids.get(p["metadata"]["ownerReferences"][0]["uid"])
            if owner is None:
                self.delete(p)
            else:
                found.setdefault(owner["metadata"]["name"], {}).setdefault(p["metadata"]["labels"][GROUP], []).append(p)
        for cluster in uids.values():
            self.reconcile(cluster, found.get(cluster["metadata"]["name"], {}))
        return clusters, pods

    def reconcile(self, cluster, found):
        wanted = templates(cluster)
        for group, pods in found.items():
            count = wanted.get(group, (None, 0))[1]
            for pod in sorted(pods, key=lambda p: (is_gated(p), p["metadata"]["name"]))[count:]:
                self.delete(pod)
        for group, (template, count) in wanted.items():
            for _ in range(count - len(found.get(group, []))):
                self.make(cluster, group, template)
        self.tell(cluster, self.state(wanted, found))

    @staticmethod
    def state(wanted, found):
        if not wanted:
            return "" if any(found.values()) else "suspended"
        running = {g: sum(p["status"].get("phase") == "Running" for p in pods) for g, pods in found.items()}
        return "ready" if all(running.get(g, 0) >= count for g, (_, count) in wanted.items()) else None

    def tell(self, cluster, state):
        """None: as it is; a cluster that was ready is so, whatever the autoscaler adds."""
        before = cluster.get("status", {}).get("state", "")
        if state is None or state == before or (state == "" and before == "ready"):
            return
        self.request("PATCH", f"{self.clusters_path}/{cluster['metadata']['name']}/status", {"status": {"state": state}},
                     "application/merge-patch+json")
