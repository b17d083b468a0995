"""Which jobs are managed, and kinds that files describe, on a real API server; the tests play the JobSet controller."""
from work_scene import *

JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets"
MANAGED = {"kueue.x-k8s.io/queue-name": "main"}


def pods(cpu="1"):
    return {"metadata": {"annotations": {"test/run-for": "60s"}}, "spec": {"restartPolicy": "Never", "containers": [
        {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}}


class Kinds(WorkScene):
    def setUp(self):
        super().setUp()
        owned = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {
            "name": "probe", "namespace": self.namespace, "ownerReferences": [
                {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "x", "uid": "1",
                 "blockOwnerDeletion": True}]}, "spec": {"podSets": [{"template": pods()}]}}
        eventually(lambda: self.plane.request("POST", self.path(owned) + "?dryRun=All", owned,
                                              token="sluice-token")[0] == 201, 40,
                   what="the API server's check of owners knows the kind: it looks every 30 s")
        self.directory = self.plane.run / "adapters"
        self.directory.mkdir(exist_ok=True)
        (self.directory / "jobset.yaml").write_text((ROOT / "deploy/adapters/jobset.yaml").read_text())
        self.options = ("--adapters", str(self.directory))
        self.jobsets = JOBSETS.format(self.namespace)

    def tearDown(self):
        self.plane.request("DELETE", self.jobsets)
        super().tearDown()

    def jobset(self, name, **metadata):
        status, answer = self.plane.request("POST", self.jobsets, {
            "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": {"name": name, "labels": MANAGED, **metadata},
            "spec": {"suspend": True, "replicatedJobs": [
                {"name": "lead", "replicas": 1, "template": {"spec": {"template": pods()}}},
                {"name": "work", "replicas": 2, "template": {"spec": {"parallelism": 2, "template": pods()}}}]}})
        self.assertEqual(status, 201, answer)
        return answer

    def suspended(self, name, value):
        return eventually(lambda: (lambda o: o if o["spec"]["suspend"] is value else None)(
            self.plane.get(f"{self.jobsets}/{name}")), what=f"{name} suspend: {value}")

    def tell(self, name, status):
        self.patched(f"{self.jobsets}/{name}/status", {"status": status})

    @staticmethod
    def labels(jobset):
        return jobset["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["metadata"].get("labels")

    def test_jobset_is_admitted_evicted_and_finished(self):
        self.daemon()
        queue = self.queues(5)
        self.jobset("a")
        w = self.admitted("a")
        self.assertEqual([(s["name"], s["count"]) for s in w["spec"]["podSets"]], [("lead", 1), ("work", 4)])
        running = self.suspended("a", False)
        self.assertEqual(self.labels(running)["kueue.x-k8s.io/podset"], "work")
        self.tell("a", {"replicatedJobsStatus": [{"name": "lead", "active": 1, "ready": 1},
                                                 {"name": "work", "active": 1, "ready": 1, "succeeded": 1}]})
        self.settles_at(queue, 3)  # two pods have ended for good
        path = f"{KUEUE}/namespaces/{self.namespace}/workloads/{w['metadata']['name']}"
        self.patched(path, {"spec": {"active": False}})
        self.assertIsNone(self.labels(self.suspended("a", True)))
        self.assertEqual(self.used(queue)[0], 3000)  # its pods still run
        self.tell("a", {"replicatedJobsStatus": []})
        self.settles_at(queue, 0)
        self.patched(path, {"spec": {"active": True}})
        self.suspended("a", False)
        self.tell("a", {"conditions": [{"type": "Completed", "status": "True", "reason": "AllJobsCompleted",
                                        "message": "done", "lastTransitionTime": "2026-01-01T00:00:00Z"}]})
        done = self.finished("a")
        self.assertEqual(condition(done, "Finished")["message"], "done")
        self.settles_at(queue, 0)
        eventually(lambda: not self.plane.get(path)["metadata"].get("finalizers"), what="no finalizer")

    def test_job_of_a_jobset_runs_only_with_it(self):
        self.daemon()
        self.queues(5)
        owner = self.jobset("a")
        ref = [{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "a", "controller": True,
                "uid": owner["metadata"]["uid"]}]
        self.admitted("a")
        child = job("child", run_for="60s")
        child["metadata"]["ownerReferences"] = ref
        self.create(child)
        eventually(lambda: self.pods("child"), what="pods of the child")
        self.assertEqual(list(self.workloads()), ["a"])
        path = f"{KUEUE}/namespaces/{self.namespace}/workloads/{self.workloads()['a']['metadata']['name']}"
        self.patched(path, {"spec": {"active": False}})
        self.suspended("a", True)
        early = job("early")
        early["metadata"]["ownerReferences"] = ref
        self.create(early)
        eventually(lambda: self.job("early")["spec"].get("suspend"), what="the child suspended")

    def test_job_without_a_queue_is_managed_where_that_is_asked_for(self):
        queue = self.queues(1, name="default")
        self.create(job("first", "default", run_for="60s"))
        self.daemon(config={"manageJobsWithoutQueueName": True, "managedJobsNamespaceSelector": {
            "matchLabels": {"kubernetes.io/metadata.name": self.namespace}}})
        self.admitted("first")
        self.create(job("plain", run_for="500ms"))  # it runs until it is seen
        self.workload("plain", lambda w: (condition(w, "QuotaReserved") or {}).get("status") == "False")
        eventually(lambda: self.job("plain")["spec"].get("suspend") and not self.pods("plain"), what="suspended")
        self.assertEqual(self.workloads()["plain"]["spec"]["queueName"], "default")
        self.plane.request("DELETE", self.job_path("first") + "?propagationPolicy=Background")
        self.finished("plain")
        self.assertEqual(self.job("plain")["status"]["succeeded"], 1)
        self.settles_at(queue, 0)

    def test_job_that_is_unsuspended_by_hand_is_suspended_again_and_restored(self):
        self.daemon()
        self.queues(1)
        self.create(job("first", "main", run_for="60s"))
        self.admitted("first")
        self.create(job("second", "main", run_for="500ms"))
        self.workload("second")
        before = self.job("second")["spec"]["template"]
        self.patched(self.job_path("second"), {"spec": {"suspend": False}})
        eventually(lambda: self.job("second")["spec"]["suspend"] and not self.pods("second"), what="suspended again")
        eventually(lambda: "startTime" not in self.job("second")["status"], what="start time forgotten")
        eventually(lambda: "kueue.x-k8s.io/stopping" not in self.job("second")["metadata"].get("annotations", {}),
                   what="stopped")
        self.assertEqual(self.job("second")["spec"]["template"], before)
        self.plane.request("DELETE", self.job_path("first") + "?propagationPolicy=Background")
        self.finished("second")

    def test_job_takes_the_workload_that_was_made_for_it(self):
        self.daemon()
        self.queues(2)
        ours = job("ours", "main", cpu="1", labels={"kueue.x-k8s.io/prebuilt-workload-name": "made"})
        self.create(ours)
        time.sleep(0.5)
        self.assertEqual(self.workloads(), {})
        template = self.job("ours")["spec"]["template"]
        template["metadata"].pop("labels", None)
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "made"},
                     "spec": {"queueName": "main", "podSets": [{"name": "main", "count": 1, "template": template}]}})
        self.assertEqual(self.finished("ours")["metadata"]["name"], "made")

    def test_plain_job_costs_no_more_writes_than_it_needs(self):
        self.daemon(config={"featureGates": {"DisableWaitForPodsReady": True}})
        self.queues(20)
        names = [f"lean{i}" for i in range(10)]
        self.create(*(job(n, "main") for n in names))
        self.finished(*names)
        time.sleep(1)
        kinds = [(verb, kind) for verb, _, kind, name, code, _ in self.plane.audit()
                 if verb in ("create", "patch", "update", "delete") and kind.split("/")[0] in ("workloads", "jobs")
                 and any(name == n or name.startswith(f"job-{n}-") for n in names)]
        # created, admitted, started, finished, released
        self.assertLessEqual(len(kinds), 5 * len(names) + 2, kinds)
