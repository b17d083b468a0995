"""Admission checks with ProvisioningRequests: the test plays the cluster autoscaler."""
from work_scene import *

GROUP = "/apis/autoscaling.x-k8s.io/v1"


class Provisioning(WorkScene):
    def requests(self):
        return self.plane.get(f"{GROUP}/namespaces/{self.namespace}/provisioningrequests")["items"]

    def say(self, request, kind, message=""):
        """As the autoscaler does, by status."""
        status, answer = self.patch(
            f"{GROUP}/namespaces/{self.namespace}/provisioningrequests/{request['metadata']['name']}/status",
            {"status": {"conditions": [{"type": kind, "status": "True", "reason": kind, "message": message,
                                        "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
        self.assertEqual(status, 200, answer)

    def check(self):
        check = self.namespace
        for kind, name, spec in (
                ("ProvisioningRequestConfig", check, {"provisioningClassName": "check-capacity.autoscaling.x-k8s.io",
                                                         "retryStrategy": {"backoffBaseSeconds": 1}}),
                ("AdmissionCheck", check, {
                    "controllerName": "kueue.x-k8s.io/provisioning-request",
                    "parameters": {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig",
                                   "name": check}})):
            self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name},
                         "spec": spec})
        return check

    def checked_queue(self):
        return self.queues(4, admissionChecksStrategy={"admissionChecks": [{"name": self.check()}]})

    def test_job_starts_when_its_capacity_has_been_provisioned(self):
        self.daemon()
        queue = self.checked_queue()
        self.create(job("asks", "main", parallelism=2))
        request = eventually(self.requests, what="a request")[0]
        wl = self.workload("asks", lambda w: holds(w, "QuotaReserved"), "reservation")
        self.assertFalse(holds(wl, "Admitted"))
        self.assertEqual(request["spec"]["podSets"][0]["count"], 2)
        self.assertTrue(self.job("asks")["spec"]["suspend"])
        self.say(request, "Provisioned")
        self.finished("asks")
        self.settles_at(queue, 0)
        self.assertEqual(self.job("asks")["spec"]["template"]["metadata"]["annotations"]
                         ["autoscaling.x-k8s.io/consume-provisioning-request"], request["metadata"]["name"])

    def test_failed_request_is_tried_again(self):
        self.daemon()
        self.checked_queue()
        self.create(job("retries", "main"))
        first = eventually(self.requests, what="a request")[0]
        self.say(first, "Failed", "no such machines")
        second = eventually(lambda: [r for r in self.requests()
                                     if r["metadata"]["name"] != first["metadata"]["name"]], 30, what="another")[0]
        self.say(second, "Provisioned")
        self.finished("retries")

    # --- with a topology ------------------------------------------------------------------------------------------
    def topology_queue(self, cpu, **spec):
        """A ClusterQueue whose flavor has racks and hosts; its path."""
        name = f"{self.namespace}-q"
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology", "metadata": {"name": name},
                     "spec": {"levels": [{"nodeLabel": "sluice.dev/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}},
                    flavor(name, nodeLabels={"pool": name}, topologyName=name),
                    cluster_queue(name, {name: {"cpu": cpu}}, **spec), local_queue("main", name, self.namespace))
        return f"{KUEUE}/clusterqueues/{name}"

    def rack(self, rack, *hosts, cpu="2"):
        for host in hosts:
            self.plane.add_node(host, {"sluice.dev/rack": rack, "pool": f"{self.namespace}-q"}, cpu=cpu)
            self.addCleanup(self.plane.request, "DELETE", f"/api/v1/nodes/{host}")

    def in_a_rack(self, name, pods, **more):
        self.create(job(name, "main", parallelism=pods, template={
            "kueue.x-k8s.io/podset-required-topology": "sluice.dev/rack"}, **more))

    def nodes_of(self, name):
        return sorted(p["spec"]["nodeName"] for p in self.pods(name) if p["spec"].get("nodeName"))

    def test_places_are_found_on_nodes_that_were_provisioned(self):
        """First quota alone, then the request, and places when there are nodes; the leader is killed in between."""
        killed = self.daemon()
        queue = self.topology_queue(4, admissionChecksStrategy={"admissionChecks": [{"name": self.check()}]})
        self.in_a_rack("wide", 4)
        request = eventually(self.requests, what="a request")[0]
        wl = self.workload("wide", lambda w: holds(w, "QuotaReserved"), "reservation")
        assigned = wl["status"]["admission"]["podSetAssignments"][0]
        self.assertEqual((assigned.get("delayedTopologyRequest"), assigned.get("topologyAssignment")), ("Pending", None))
        self.rack("half", "prov-a1")
        self.say(request, "Provisioned")
        self.workload("wide", lambda w: w["status"]["admissionChecks"][0]["state"] == "Ready", "the check's answer")
        killed.kill()
        self.daemon()
        time.sleep(3)  # a node is not enough, whatever is tried meanwhile
        self.assertFalse(holds(self.workloads()["wide"], "Admitted"))
        self.rack("whole", "prov-b1", "prov-b2")
        wl = self.admitted("wide")
        self.assertEqual(wl["status"]["admission"]["podSetAssignments"][0]["delayedTopologyRequest"], "Ready")
        self.finished("wide")
        self.assertEqual(self.nodes_of("wide"), ["prov-b1", "prov-b1", "prov-b2", "prov-b2"])
        self.assertEqual([r["metadata"]["name"] for r in self.requests() if r["metadata"]["uid"] != request["metadata"]["uid"]], [])
        self.assertIsNone(condition(self.workloads()["wide"], "Evicted"))
        self.settles_at(queue, 0)

    def test_pods_that_are_preempted_leave_their_nodes_before_others_come(self):
        self.daemon()
        self.topology_queue(4, preemption={"withinClusterQueue": "LowerPriority"})
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass",
                     "metadata": {"name": self.namespace}, "value": 9})
        self.rack("only", "full-1", "full-2")
        self.in_a_rack("low", 2, cpu="1", run_for="600s")
        self.in_a_rack("mid", 2, cpu="1", run_for="600s")
        eventually(lambda: len(self.nodes_of("low") + self.nodes_of("mid")) == 4, what="four pods run")
        self.in_a_rack("high", 4, cpu="1", labels={"kueue.x-k8s.io/priority-class": self.namespace})
        self.evicted("low", "Preempted")
        self.evicted("mid", "Preempted")
        self.finished("high")
        self.assertEqual(self.nodes_of("high"), ["full-1", "full-1", "full-2", "full-2"])
        self.assertEqual([], [p["metadata"]["name"] for p in self.pods("high") if p["status"].get("reason") == "OutOfcpu"])
