"""What labels and annotations make of jobs and pods on a real API server, and what their owners and users are told:
admission gates, prebuilt Workloads, the default queue, children of an owner that is evicted, events."""
from test_other_jobs import pod
from work_scene import *

GATES = "kueue.x-k8s.io/admission-gated-by"
PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"


class Marks(WorkScene):
    options = ("--adapters", str(ROOT / "deploy/adapters"))

    def messages(self, name, reason):
        """Of the events about the object, with that reason."""
        items = self.plane.get(f"/api/v1/namespaces/{self.namespace}/events")["items"]
        return [e["message"] for e in items if e["involvedObject"]["name"] == name and e["reason"] == reason]

    def told(self, name, reason, message):
        eventually(lambda: message in self.messages(name, reason), what=f"{reason} of {name}: {message}; there are "
                   f"{self.messages(name, reason)}")

    def test_gates_hold_admission_back_until_the_last_is_taken_away(self):
        self.daemon()
        queue = self.queues(2)
        self.create(job("gated", "main", run_for="500ms", annotations={GATES: "a.com/x,b.com/y"}))
        waits = self.workload("gated", lambda w: (condition(w, "QuotaReserved") or {}).get("reason") == "AdmissionGated")
        self.assertEqual(waits["metadata"]["annotations"][GATES], "a.com/x,b.com/y")
        self.assertEqual(condition(waits, "QuotaReserved")["message"], "Admission is gated by: a.com/x,b.com/y")
        self.patched(self.job_path("gated"), {"metadata": {"annotations": {GATES: "b.com/y"}}})
        self.workload("gated", lambda w: w["metadata"]["annotations"][GATES] == "b.com/y", "one gate less")
        self.told("gated", "UpdatedWorkload", 'Updated workload AdmissionGatedBy to "b.com/y"')
        self.assertEqual(self.used(queue), (0, 0))
        self.patched(self.job_path("gated"), {"metadata": {"annotations": {GATES: None}}})
        self.finished("gated")
        self.each_ran_once(["gated"])

    def test_pod_takes_the_workload_that_was_made_for_it(self):
        self.daemon()
        self.queues(2)
        ours = pod("ours")
        ours["metadata"]["annotations"][PREBUILT] = "made"
        made = self.create(ours)
        spec = {k: v for k, v in made["spec"].items() if k != "schedulingGates"}
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "made"},
                     "spec": {"queueName": "main", "podSets": [{"name": "main", "count": 1, "template": {"spec": spec}}]}})
        done = self.finished("ours")
        self.assertEqual(done["metadata"]["name"], "made")
        self.assertEqual(condition(done, "Finished")["reason"], "Succeeded")
        self.plane.request("DELETE", f"/api/v1/namespaces/{self.namespace}/pods/ours?gracePeriodSeconds=0")

    def test_job_without_a_queue_runs_in_the_default_one(self):
        self.daemon()
        self.queues(2, name="default")
        self.workload_after_kubectl("hello")
        self.assertEqual(self.job("hello")["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "default")
        self.assertEqual(self.workloads()["hello"]["spec"]["queueName"], "default")

    def workload_after_kubectl(self, name):
        """The policy learns of the LocalQueue a moment later than the test."""
        path = self.path({"kind": "Job", "metadata": {}}) + "?dryRun=All"
        eventually(lambda: self.plane.request("POST", path, job("probe"))[1]["spec"].get("suspend"), what="the policy")
        self.plane.kubectl("create", "job", "-n", self.namespace, name, "--image=busybox")
        return self.admitted(name)

    def test_job_is_told_what_its_admission_checks_wait_for(self):
        self.daemon()
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck", "metadata": {"name": "ask"},
                     "spec": {"controllerName": "example.com/asks"}})
        self.patched(f"{KUEUE}/admissionchecks/ask/status", {"status": {"conditions": [
            {"type": "Active", "status": "True", "reason": "Active", "message": "",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
        self.queues(2, admissionChecksStrategy={"admissionChecks": [{"name": "ask"}]})
        self.create(job("asked", "main"))
        w = self.workload("asked", lambda w: w.get("status", {}).get("admissionChecks"), "its checks")
        path = f"{KUEUE}/namespaces/{self.namespace}/workloads/{w['metadata']['name']}/status"
        check = {"name": "ask", "state": "Pending", "message": "somebody has to say yes",
                 "lastTransitionTime": "2026-01-01T00:00:00Z"}
        self.patched(path, {"status": {"admissionChecks": [check]}})
        self.told("asked", "UpdatedAdmissionCheck", "ask: somebody has to say yes")
        self.patched(path, {"status": {"admissionChecks": [{**check, "state": "Ready", "message": ""}]}})
        self.finished("asked")
        self.told("asked", "Started", f"Admitted by clusterQueue {self.namespace}-main")

    def test_running_child_stops_with_the_admission_of_its_owner(self):
        self.daemon()
        self.queues(4)
        sets = f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{self.namespace}/jobsets"
        template = {"spec": {"parallelism": 1, "template": job("x")["spec"]["template"]}}
        status, owner = self.plane.request("POST", sets, {
            "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {
                "name": "owner", "labels": {"kueue.x-k8s.io/queue-name": "main"}},
            "spec": {"suspend": True, "replicatedJobs": [{"name": "a", "replicas": 1, "template": template}]}})
        self.assertEqual(status, 201, owner)
        # The API server's check of owners learns of the kind within 30 s.
        self.workload("owner", lambda w: holds(w, "Admitted"), "admission", 60)
        child = job("child", run_for="60s")
        child["metadata"]["ownerReferences"] = [{
            "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "owner", "controller": True,
            "uid": owner["metadata"]["uid"]}]
        self.create(child)
        eventually(lambda: self.pods("child"), what="the child runs")
        w = self.workloads()["owner"]["metadata"]["name"]
        self.patched(f"{KUEUE}/namespaces/{self.namespace}/workloads/{w}", {"spec": {"active": False}})
        eventually(lambda: self.job("child")["spec"]["suspend"], what="the child suspended")
        self.told("child", "Suspended", "Kueue managed child job suspended")
        self.assertNotIn("child", self.workloads())
        self.plane.request("DELETE", f"{sets}/owner?propagationPolicy=Background")
