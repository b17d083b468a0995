"""Two-phase admission as a user sees it: quota, then a ProvisioningRequest, then nodes and places on them."""
from scene import *

CHECK = "kueue.x-k8s.io/provisioning-request"
REQUESTS = "/apis/autoscaling.x-k8s.io/v1/namespaces/default/provisioningrequests"
TEMPLATES = "/api/v1/namespaces/default/podtemplates"
CHECKS = "/apis/kueue.x-k8s.io/v1beta2/admissionchecks"
PREFIX = "provreq.kueue.x-k8s.io/"
RACK, POOL = "cloud.example.com/rack", "cloud.example.com/pool"


def check(name="prov", config="conf"):
    return {"apiVersion": KUEUE, "kind": "AdmissionCheck", "metadata": {"name": name},
            "spec": {"controllerName": CHECK, "parameters": {"apiGroup": "kueue.x-k8s.io",
                                                             "kind": "ProvisioningRequestConfig", "name": config}}}


def config(name="conf", retry=None, **spec):
    return {"apiVersion": KUEUE, "kind": "ProvisioningRequestConfig", "metadata": {"name": name},
            "spec": {"provisioningClassName": "fake.sluice.dev",
                     "retryStrategy": retry or {"backoffLimitCount": 1, "backoffBaseSeconds": 1}, **spec}}


def checked_queue(**limits):
    return cluster_queue("team", {"f": limits or {"cpu": "4"}},
                         admissionChecksStrategy={"admissionChecks": [{"name": "prov"}]})


def asking(name, **parameters):
    """A job whose request gets these parameters."""
    o = job(name, run_for="60s")
    o["metadata"]["annotations"].update({PREFIX + k.replace("_", "-"): v for k, v in parameters.items()})
    return o


class Asking(Scene):
    def set_up(self, **spec):
        self.create(flavor("f"), config(**spec), check(), checked_queue(), local_queue("main", "team"))

    def requests(self):
        return {r["metadata"]["name"]: r for r in self.daemon.get(REQUESTS)["items"]}

    def request(self, suffix, what="request"):
        return eventually(lambda: next((r for n, r in self.requests().items() if n.endswith(suffix)), None), what=what)

    def state(self, name):
        states = self.workloads()[name].get("status", {}).get("admissionChecks", [])
        return states[0] if states else {}

    def in_state(self, name, state, **more):
        return eventually(lambda: self.state(name) if self.state(name).get("state") == state
                          and all(self.state(name).get(k) == v for k, v in more.items()) else None,
                          what=f"{name} is {state}")


class Provisioning(Asking):
    def test_a_request_is_made_followed_and_removed_at_the_end(self):
        self.set_up()
        self.create(asking("a", provision_after="1s"))
        request = self.request("-prov-1")
        self.assertEqual(request["spec"]["podSets"][0]["count"], 1)
        self.assertEqual(request["spec"]["parameters"], {"provision-after": "1s"})
        w = self.workload("a", lambda w: holds(w, "QuotaReserved"))
        self.assertFalse(holds(w, "Admitted"))
        self.assertEqual(request["metadata"]["ownerReferences"][0]["uid"], w["metadata"]["uid"])
        eventually(lambda: [t["metadata"]["ownerReferences"][0]["kind"] for t in self.daemon.get(TEMPLATES)["items"]]
                   == ["ProvisioningRequest"], what="the template belongs to the request")
        self.admitted("a")
        ready = self.state("a")
        self.assertEqual(ready["state"], "Ready")
        name = request["metadata"]["name"]
        self.assertEqual(ready["podSetUpdates"][0]["annotations"],
                         {"autoscaling.x-k8s.io/consume-provisioning-request": name,
                          "autoscaling.x-k8s.io/provisioning-class-name": "fake.sluice.dev"})
        live = eventually(lambda: (lambda j: j if not j["spec"]["suspend"] else None)(self.daemon.get(f"{JOBS}/a")))
        self.assertEqual(live["spec"]["template"]["metadata"]["annotations"]
                         ["autoscaling.x-k8s.io/consume-provisioning-request"], name)
        self.daemon.kubectl("delete", "job", "a")
        eventually(lambda: not self.requests() and not self.daemon.get(TEMPLATES)["items"], what="all is collected")

    def test_a_failure_is_tried_again_after_its_delay(self):
        self.set_up()
        self.create(asking("a", provision_after="0", provision_fail="1"))
        self.was_evicted("a", "AdmissionCheck")
        self.request("-prov-2", "second attempt")
        self.admitted("a")
        self.assertEqual(self.state("a")["retryCount"], 1)
        self.assertEqual([n[-1] for n in self.requests()], ["2"])

    def test_past_the_limit_the_workload_is_rejected(self):
        self.set_up()
        self.create(asking("a", provision_after="0", provision_fail="9"))
        self.workload("a", lambda w: self.state("a").get("retryCount") == 1, "first retry")
        w = self.workload("a", lambda w: w["spec"].get("active") is False, "deactivation")
        self.evicted("a", "DeactivatedDueToAdmissionCheck")
        eventually(lambda: "retryCount" not in self.state("a"), what="a rejection ends the count")
        eventually(lambda: not self.requests(), what="no request is left")
        self.assertFalse(holds(w, "Finished"))

    def test_revoked_capacity_ends_a_running_workload(self):
        self.set_up()
        self.create(asking("a", provision_after="0", revoke_after="2s"))
        self.admitted("a")
        self.workload("a", lambda w: w["spec"].get("active") is False, "deactivation")

    def test_an_expired_booking_leaves_a_running_workload_alone(self):
        self.set_up()
        self.create(asking("a", provision_after="0", expire_after="1s"))
        self.admitted("a")
        eventually(lambda: holds(self.request("-prov-1"), "BookingExpired"), what="expiry")
        time.sleep(0.5)
        self.assertTrue(holds(self.workloads()["a"], "Admitted"))

    def test_without_a_managed_resource_nothing_is_asked_for(self):
        self.set_up(managedResources=["nvidia.com/gpu"])
        self.create(asking("a"))
        self.admitted("a")
        self.assertEqual(self.state("a")["message"], "the provisioning request is not needed")
        self.assertEqual(self.requests(), {})

    def test_a_check_without_its_config_says_so_until_it_is_there(self):
        self.create(flavor("f"), check(), checked_queue(), local_queue("main", "team"))
        active = lambda: condition(self.daemon.get(f"{CHECKS}/prov"), "Active") or {}
        eventually(lambda: active().get("reason") == "BadParametersRef", what="not active")
        self.assertIn('"conf" not found', active()["message"])
        self.create(asking("a"))
        time.sleep(0.5)
        self.assertEqual(self.requests(), {})
        self.create(config())
        eventually(lambda: active().get("status") == "True", what="active")
        self.admitted("a")

    def test_a_bad_parameter_is_named_where_the_user_looks(self):
        self.set_up(retry={"backoffLimitCount": 0})
        self.create(asking("a", provision_nodes="many"))
        self.workload("a", lambda w: w["spec"].get("active") is False, "deactivation")
        self.assertIn("provision-nodes", self.daemon.kubectl("get", "events", "-o", "json").stdout)

    def test_a_restart_goes_on_where_it_was(self):
        self.set_up()
        self.create(asking("a", provision_after="3s", provision_nodes="1"))
        self.request("-prov-1")
        self.daemon.kill()
        self.daemon.start()
        self.admitted("a")
        self.assertEqual(len(self.requests()), 1)
        self.assertEqual(len(self.daemon.get("/api/v1/nodes")["items"]), 1)


class Kept(Asking):
    options = ("--feature-gates=CleanupProvisioningRequestsOnEviction=false",)

    def test_requests_of_evicted_workloads_stay_until_the_next_attempt(self):
        self.set_up(retry={"backoffLimitCount": 1, "backoffBaseSeconds": 2})
        self.create(asking("a", provision_after="0", provision_fail="1"))
        self.workload("a", lambda w: holds(w, "Evicted") and not holds(w, "QuotaReserved"), "eviction")
        self.assertEqual([n[-1] for n in self.requests()], ["1"])
        self.admitted("a")
        eventually(lambda: [n[-1] for n in self.requests()] == ["2"], what="only the second is left")


class Phases(Scene):
    """With a topology, places come in the second phase, on nodes that the first one had made."""

    def start(self):
        topology = {"apiVersion": KUEUE, "kind": "Topology", "metadata": {"name": "t"},
                    "spec": {"levels": [{"nodeLabel": RACK}, {"nodeLabel": "kubernetes.io/hostname"}]}}
        self.create(topology, flavor("f", nodeLabels={POOL: "x"}, topologyName="t"), check(), config(
            parameters={"provision-nodes": "2", "node-labels": f"{POOL}=x,{RACK}=r1", "node-allocatable": "cpu=2",
                        "provision-after": "2s"},
            podSetUpdates={"nodeSelector": [{"key": "sluice.dev/request",
                                             "valueFromProvisioningClassDetail": "request"}]}),
            checked_queue(), local_queue("main", "team"))
        wide = job("wide", run_for="60s", parallelism=4)
        wide["spec"]["template"]["metadata"] = {"annotations": {"kueue.x-k8s.io/podset-required-topology": RACK}}
        self.create(wide)

    def nodes(self):
        return {n["metadata"]["name"] for n in self.daemon.get("/api/v1/nodes")["items"]}

    def test_places_are_found_on_nodes_that_were_provisioned(self):
        self.start()
        first = self.workload("wide", lambda w: holds(w, "QuotaReserved"), "first phase")
        assignment = first["status"]["admission"]["podSetAssignments"][0]
        self.assertEqual(assignment.get("delayedTopologyRequest"), "Pending")
        self.assertNotIn("topologyAssignment", assignment)
        self.assertFalse(holds(first, "Admitted"))
        second = self.admitted("wide")
        assignment = second["status"]["admission"]["podSetAssignments"][0]
        self.assertEqual(assignment["delayedTopologyRequest"], "Ready")
        self.assertEqual(assignment["count"], 4)
        self.assertIn("topologyAssignment", assignment)
        self.assertEqual(len(self.nodes()), 2)
        self.daemon.kubectl("delete", "job", "wide")
        eventually(lambda: not self.nodes(), what="the nodes go")

    def test_a_drained_node_is_made_up_for_by_new_ones(self):
        self.start()
        self.admitted("wide")
        running = lambda: [p for p in self.daemon.get("/api/v1/namespaces/default/pods")["items"]
                           if p["status"]["phase"] == "Running"]
        eventually(lambda: len(running()) == 4, what="four pods run")
        old = self.nodes()
        self.daemon.kubectl("drain", sorted(old)[0], "--force", "--ignore-daemonsets")
        eventually(lambda: len(self.nodes()) == 2 and not old & self.nodes(), 30, "other nodes")
        eventually(lambda: len(running()) == 4, what="four pods run again")
        self.assertEqual({p["spec"]["nodeName"] for p in running()}, self.nodes())
        self.assertIn("EvictedDueToNodeFailures", self.daemon.kubectl("get", "events").stdout)
