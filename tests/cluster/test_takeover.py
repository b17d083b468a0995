"""Moving over from Kueue and back: what it has admitted stays admitted, and what we have admitted it would keep."""
import hashlib, os, time

from work_scene import *

RESOURCE_IN_USE = "kueue.x-k8s.io/resource-in-use"
THEN = "2026-01-01T00:00:00Z"


def workload_name(name, uid):
    return f"job-{name}-" + hashlib.sha1(f"Job\nbatch\n{name}\n{uid}".encode()).hexdigest()[:5]


def true(kind, reason, message):
    return {"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": THEN,
            "observedGeneration": 1}


class Takeover(WorkScene):
    def admit_as_kueue(self, name, queue, flavor_name, count=2, cpu="1", run_for="4s", held=None, places=None):
        """A Job that Kueue has admitted and started, with the Workload that it writes for it. `places`: the nodes of
        its pods, if its flavor has a topology."""
        note = {"kueue.x-k8s.io/podset-required-topology": "sluice.dev/rack"} if places else {}
        made = self.create(job(name, "main", cpu=cpu, parallelism=count, run_for=run_for, template=note))
        uid = made["metadata"]["uid"]
        template = made["spec"]["template"]
        template["metadata"] = {k: v for k, v in template["metadata"].items() if k != "creationTimestamp"}
        template["metadata"]["labels"] = {k: v for k, v in template["metadata"].get("labels", {}).items()
                                          if "controller-uid" not in k and "job-name" not in k}
        wl = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
              "metadata": {"name": workload_name(name, uid), "finalizers": [RESOURCE_IN_USE],
                           "labels": {"kueue.x-k8s.io/job-uid": uid},
                           "annotations": {"kueue.x-k8s.io/job-owner-gvk": "batch/v1, Kind=Job",
                                           "kueue.x-k8s.io/job-owner-name": name},
                           "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid,
                                                "controller": True, "blockOwnerDeletion": True}]},
              "spec": {"active": True, "priority": 0, "queueName": "main",
                       "podSets": [{"name": "main", "count": count, "template": template}]}}
        assigned = {"name": "main", "count": count, "flavors": {"cpu": flavor_name},
                    "resourceUsage": {"cpu": str(int(cpu) * count)}}
        if places:
            prefix = os.path.commonprefix(places)
            wl["spec"]["podSets"][0]["topologyRequest"] = {
                "required": "sluice.dev/rack", "podIndexLabel": "batch.kubernetes.io/job-completion-index"}
            assigned["topologyAssignment"] = {"levels": ["kubernetes.io/hostname"], "slices": [
                {"domainCount": len(places), "podCounts": {"universal": 1}, "valuesPerLevel": [
                    {"individual": {"prefix": prefix, "roots": [p.removeprefix(prefix) for p in places]}}]}]}
        self.create(wl)
        conditions = [true("QuotaReserved", "QuotaReserved", f"Quota reserved in ClusterQueue {queue}")]
        if held is None:
            conditions.append(true("Admitted", "Admitted", "The workload is admitted"))
        self.patched(f"{KUEUE}/namespaces/{self.namespace}/workloads/{wl['metadata']['name']}/status", {"status": {
            "conditions": conditions, "admission": {"clusterQueue": queue, "podSetAssignments": [assigned]}}})
        if held is None:
            self.patched(self.job_path(name), {"spec": {"suspend": False, "template": {
                "metadata": {"labels": {"kueue.x-k8s.io/podset": "main"},
                             "annotations": {"kueue.x-k8s.io/workload": wl["metadata"]["name"]}},
                "spec": {"nodeSelector": {"kubernetes.io/os": "linux"}, **(
                    {"schedulingGates": [{"name": "kueue.x-k8s.io/topology"}]} if places else {})}}}},
                "strategic-merge")
        if places:
            pods = eventually(lambda: len(self.pods(name)) == count and self.pods(name), what="gated pods")
            for pod, place in zip(pods, places):
                self.patched(f"/api/v1/namespaces/{self.namespace}/pods/{pod['metadata']['name']}", {"spec": {
                    "schedulingGates": None, "nodeSelector": {"kubernetes.io/hostname": place}}})

    def two_queues(self):
        name = f"{self.namespace}-q"
        self.create(flavor(name, nodeLabels={"kubernetes.io/os": "linux"}),
                    cluster_queue(name, {name: {"cpu": 4}}, preemption={"withinClusterQueue": "LowerPriority"}),
                    local_queue("main", name, self.namespace))
        self.patched(f"{KUEUE}/clusterqueues/{name}", {"metadata": {"finalizers": [RESOURCE_IN_USE]}})
        self.patched(f"{KUEUE}/resourceflavors/{name}", {"metadata": {"finalizers": [RESOURCE_IN_USE]}})
        return name

    def test_what_kueue_has_admitted_keeps_running(self):
        name = self.two_queues()
        self.admit_as_kueue("running", name, name)
        self.admit_as_kueue("reserved", name, name, held=True, run_for="100ms")
        self.create(job("waits", "main", cpu="1"))
        before = eventually(lambda: len(self.pods("running")) == 2 and self.pods("running"), what="its pods")
        was = self.workloads()["running"]
        self.daemon()
        queue = f"{KUEUE}/clusterqueues/{name}"
        self.finished("reserved")
        now = self.workloads()["running"]
        self.assertEqual(now["metadata"]["uid"], was["metadata"]["uid"])
        self.assertEqual(now["status"]["admission"], was["status"]["admission"])
        self.assertEqual([p["metadata"]["uid"] for p in self.pods("running")], [p["metadata"]["uid"] for p in before])
        self.finished("running", "waits")
        self.assertEqual(sorted(self.workloads()), ["reserved", "running", "waits"])
        for one in self.workloads().values():
            self.assertIsNone(condition(one, "Evicted"))
        self.no_pod_was_made_anew(before)
        self.settles_at(queue, 0)

    def no_pod_was_made_anew(self, before):
        self.assertEqual(len(self.pods("running")), len(before))
        self.assertEqual(len(self.pods("reserved")), 2)

    def test_places_that_kueue_has_given_stay_taken(self):
        hosts = ["tk-a1", "tk-b2"]
        for host in hosts:
            self.plane.add_node(host, {"sluice.dev/rack": "tk", "pool": "tk"}, cpu="8")
            self.addCleanup(self.plane.request, "DELETE", f"/api/v1/nodes/{host}")
        name = f"{self.namespace}-q"
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology", "metadata": {"name": name},
                     "spec": {"levels": [{"nodeLabel": "sluice.dev/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}},
                    flavor(name, nodeLabels={"pool": "tk"}, topologyName=name),
                    cluster_queue(name, {name: {"cpu": 100}}), local_queue("main", name, self.namespace))
        self.admit_as_kueue("placed", name, name, count=2, cpu="6", run_for="5s", places=hosts)
        eventually(lambda: sorted(p["spec"].get("nodeName", "") for p in self.pods("placed")) == hosts, what="running")
        was = self.workloads()["placed"]
        self.create(job("next", "main", cpu="4", run_for="100ms"))
        self.daemon()
        refused = self.workload("next", lambda w: condition(w, "QuotaReserved"), "refusal")
        self.assertFalse(holds(refused, "QuotaReserved"), refused["status"])
        self.assertEqual(self.workloads()["placed"]["status"]["admission"], was["status"]["admission"])
        self.finished("placed", "next")
        self.assertIsNone(condition(self.workloads()["placed"], "Evicted"))
        self.assertEqual(len(self.pods("placed")), 2)

    def test_quota_of_what_kueue_has_admitted_counts_from_the_start(self):
        name = self.two_queues()
        self.admit_as_kueue("big", name, name, count=2, cpu="2", run_for="3s")
        self.create(job("next", "main", cpu="1"))
        self.daemon()
        self.workload("next", lambda w: condition(w, "QuotaReserved") and not holds(w, "QuotaReserved"), "refusal")
        self.assertFalse(holds(self.workloads()["big"], "Finished"))
        self.finished("big", "next")

    def test_objects_written_here_are_what_kueue_reads(self):
        """Back again: name, owner, finalizer, labels and conditions by which Kueue finds a workload and keeps it."""
        d = self.daemon()
        queue = self.queues(2)
        self.create(job("back", "main", parallelism=2, run_for="60s"))
        wl = self.admitted("back")
        uid = self.job("back")["metadata"]["uid"]
        self.assertEqual(wl["metadata"]["name"], workload_name("back", uid))
        self.assertEqual(wl["metadata"]["labels"]["kueue.x-k8s.io/job-uid"], uid)
        owner = wl["metadata"]["ownerReferences"][0]
        self.assertEqual((owner["apiVersion"], owner["kind"], owner["uid"], owner["controller"]),
                         ("batch/v1", "Job", uid, True))
        self.assertEqual(wl["metadata"]["finalizers"], [RESOURCE_IN_USE])
        assigned = wl["status"]["admission"]["podSetAssignments"][0]
        self.assertEqual((assigned["name"], assigned["count"], assigned["resourceUsage"]), ("main", 2, {"cpu": "2"}))
        self.assertEqual((condition(wl, "QuotaReserved")["reason"], condition(wl, "Admitted")["reason"]),
                         ("QuotaReserved", "Admitted"))
        template = eventually(lambda: not self.job("back")["spec"]["suspend"] and self.job("back"),
                              what="started")["spec"]["template"]
        self.assertEqual(template["metadata"]["labels"]["kueue.x-k8s.io/podset"], "main")
        pods = eventually(lambda: len(self.pods("back")) == 2 and self.pods("back"), what="pods")
        self.assertEqual(d.stop(), 0)
        time.sleep(1)
        self.assertEqual(sorted(p["metadata"]["uid"] for p in self.pods("back")),
                         sorted(p["metadata"]["uid"] for p in pods))
        self.assertEqual(self.workloads()["back"]["status"], wl["status"])
        self.daemon()
        self.settles_at(queue, 2)

    def test_crds_with_two_versions_and_a_webhook_are_replaced(self):
        """As docs/migration.md says it: objects stay, the conversion webhook goes."""
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/workloads.kueue.x-k8s.io"
        old = self.plane.get(path)
        old["spec"]["versions"].append({**old["spec"]["versions"][0], "name": "v1beta1", "storage": False})
        old["spec"]["conversion"] = {"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"service": {"namespace": "kueue-system", "name": "kueue-webhook-service"}}}}
        self.plane.kubectl("replace", "-f", "-", stdin=json.dumps(old))
        self.queues(1)
        self.create(job("kept", "main", run_for="60s"))
        self.daemon()
        was = self.admitted("kept")
        self.plane.kubectl("replace", "-k", ROOT / "deploy/kubernetes/crds")
        new = self.plane.get(path)
        self.assertEqual(new["spec"]["conversion"], {"strategy": "None"})
        self.assertEqual([v["name"] for v in new["spec"]["versions"]], ["v1beta2"])
        self.assertEqual(new["status"]["storedVersions"], ["v1beta2"])
        self.plane.kubectl("apply", "--server-side", "-k", ROOT / "deploy/kubernetes")
        self.assertEqual(self.workloads()["kept"]["metadata"]["uid"], was["metadata"]["uid"])
        self.plane.request("DELETE", self.job_path("kept") + "?propagationPolicy=Background")
        self.create(job("after", "main"))
        self.finished("after")

    def test_cluster_queue_and_flavor_with_kueues_finalizer_can_be_deleted(self):
        name = self.two_queues()
        self.daemon()
        for kind in ("clusterqueues", "resourceflavors"):
            status, _ = self.plane.request("DELETE", f"{KUEUE}/{kind}/{name}")
            self.assertEqual(status, 200)
            eventually(lambda k=kind: self.plane.request("GET", f"{KUEUE}/{k}/{name}")[0] == 404, what=f"{kind} gone")
