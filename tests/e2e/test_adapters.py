"""Kinds of jobs that files describe: the daemon serves them, and the tests play their controllers."""
import pathlib, subprocess
from scene import *

JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
LABELS = {"kueue.x-k8s.io/queue-name": "main"}


def template(cpu):
    return {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}}


def jobset(name, workers, priority=None):
    labels = {**LABELS, **({"kueue.x-k8s.io/priority-class": priority} if priority else {})}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": {"name": name, "namespace": "default", "labels": labels},
            "spec": {"suspend": True, "replicatedJobs": [
                {"name": "lead", "replicas": 1, "template": {"spec": {"template": template("1")}}},
                {"name": "work", "replicas": workers, "template": {"spec": {"parallelism": 2, "template": template("1")}}}]}}


class Adapters(Scene):
    options = ("--adapters", str(ROOT / "deploy/adapters"))

    def put(self, collection, o):
        status, answer = self.daemon.request("POST", collection, o)
        self.assertEqual(status, 201, answer)

    def queue(self, cpu):
        spot = flavor("f")
        spot["spec"] = {"nodeLabels": {"pool": "spot"}}
        self.create(spot, cluster_queue("team", {"f": {"cpu": cpu}},
                                        preemption={"withinClusterQueue": "LowerPriority"}), local_queue("main", "team"))

    def suspended(self, path, value):
        eventually(lambda: self.daemon.get(path)["spec"]["suspend"] is value, what=f"{path} suspend: {value}")

    def selector(self, path, index):
        pods = self.daemon.get(path)["spec"]["replicatedJobs"][index]["template"]["spec"]["template"]
        return pods["spec"].get("nodeSelector")

    def test_jobset_runs_gives_back_is_evicted_and_finishes(self):
        self.queue("5")
        path = f"{JOBSETS}/a"
        self.put(JOBSETS, jobset("a", 2))
        w = self.admitted("a")
        self.assertEqual([(s["name"], s["count"]) for s in w["spec"]["podSets"]], [("lead", 1), ("work", 4)])
        self.suspended(path, False)
        self.assertEqual(self.selector(path, 1), {"pool": "spot"})

        self.patch(f"{path}/status", {"status": {"replicatedJobsStatus": [
            {"name": "lead", "active": 1, "ready": 1}, {"name": "work", "active": 1, "ready": 1, "succeeded": 1}]}})
        self.workload("a", lambda w: w.get("status", {}).get("reclaimablePods") == [{"name": "work", "count": 2}],
                      "pods given back")
        self.create({"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "high"}, "value": 9})
        self.put(JOBSETS, jobset("b", 2, "high"))
        self.suspended(path, True)
        self.assertIsNone(self.selector(path, 1))
        self.assertFalse(holds(self.workloads()["b"], "Admitted"))  # pods of the first still run
        self.patch(f"{path}/status", {"status": {"replicatedJobsStatus": []}})
        self.admitted("b")
        self.suspended(f"{JOBSETS}/b", False)

        self.patch(f"{JOBSETS}/b/status", {"status": {"conditions": [
            {"type": "Completed", "status": "True", "reason": "AllJobsCompleted", "message": "done",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
        self.assertEqual(condition(self.finished("b"), "Finished")["message"], "done")
        self.suspended(path, False)  # the first has its turn again

    def test_rayjob_that_kuberay_refuses_is_on_hold(self):
        self.queue("5")
        jobs = "/apis/ray.io/v1/namespaces/default/rayjobs"
        self.put(jobs, {"apiVersion": "ray.io/v1", "kind": "RayJob",
                        "metadata": {"name": "r", "namespace": "default", "labels": LABELS},
                        "spec": {"suspend": True, "submissionMode": "HTTPMode", "shutdownAfterJobFinishes": True,
                                 "rayClusterSpec": {"headGroupSpec": {"template": template("1")}, "workerGroupSpecs": [
                                     {"groupName": "w", "replicas": 4, "template": template("1")}]}}})
        self.admitted("r")
        self.suspended(f"{jobs}/r", False)
        self.put(JOBSETS, jobset("next", 1))
        time.sleep(0.5)
        self.assertFalse(holds(self.workloads()["next"], "Admitted"))
        self.patch(f"{jobs}/r/status", {"status": {"jobDeploymentStatus": "ValidationFailed"}})
        held = self.workload("r", lambda w: condition(w, "QuotaReserved")["reason"] == "OnHold", "on hold")
        self.assertEqual(condition(held, "QuotaReserved")["message"], "Job is on hold")
        self.assertNotIn("admission", held["status"])
        self.assertFalse(holds(held, "Finished") or holds(held, "Evicted"))
        self.admitted("next")  # with its quota
        self.daemon.stop()
        self.daemon.start()
        time.sleep(0.5)
        self.assertEqual(condition(self.workloads()["r"], "QuotaReserved")["reason"], "OnHold")
        self.patch(f"{jobs}/r/status", {"status": {"jobDeploymentStatus": ""}})
        self.suspended(f"{jobs}/r", True)  # it may not run without quota
        self.workload("r", lambda w: condition(w, "QuotaReserved")["reason"] != "OnHold", "waiting again")
        self.patch(f"{JOBSETS}/next/status", {"status": {"conditions": [
            {"type": "Completed", "status": "True", "reason": "AllJobsCompleted", "message": "done",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
        self.admitted("r")
        self.suspended(f"{jobs}/r", False)

    def test_sluicectl_knows_the_kinds_that_the_server_serves(self):
        self.queue("5")
        self.create({**jobset("made", 1), "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"})
        self.admitted("made")
        for name in ("jobset", "jobsets", "JobSet"):
            self.assertIn("made", self.daemon.sluicectl("get", name).stdout)
        done = self.daemon.sluicectl("get", "nosuchkind", check=False)
        self.assertEqual((done.returncode, 'there is no kind "nosuchkind"' in done.stderr), (2, True))

    def test_short_names_of_the_files_are_known(self):
        for get in (self.daemon.kubectl, self.daemon.sluicectl):
            done = get("get", "lws", "-A")
            self.assertRegex(done.stdout + done.stderr, r"No (resources|leaderworkersets) found")

    def test_trainjob_is_counted_with_its_runtime(self):
        self.queue("9")
        group = "/apis/trainer.kubeflow.org/v1alpha1"
        jobs, runtimes = f"{group}/namespaces/default/trainjobs", f"{group}/clustertrainingruntimes"
        made = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob",
                "metadata": {"name": "t", "namespace": "default", "labels": LABELS},
                "spec": {"suspend": False, "runtimeRef": {"name": "torch"}, "trainer": {
                    "resourcesPerNode": {"requests": {"cpu": "2"}}}}}
        self.put(jobs, made)
        self.suspended(f"{jobs}/t", True)
        said = eventually(lambda: [e for e in self.daemon.get("/api/v1/namespaces/default/events")["items"]
                                   if e["reason"] == "ErrWorkloadCompose"], what="an event")
        self.assertEqual((said[0]["type"], said[0]["message"]), (
            "Warning", 'spec.runtimeRef.name: ClusterTrainingRuntime "torch" is not there'))
        self.assertEqual(self.workloads(), {})

        step = "trainer.kubeflow.org/trainjob-ancestor-step"
        self.put(runtimes, {
            "apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime", "metadata": {"name": "torch"},
            "spec": {"mlPolicy": {"numNodes": 3, "torch": {}}, "template": {"spec": {"replicatedJobs": [
                {"name": "model-initializer", "template": {
                    "metadata": {"labels": {step: "model-initializer"}}, "spec": {"template": template("1")}}},
                {"name": "node", "template": {"metadata": {"labels": {step: "trainer"}}, "spec": {
                    "template": {"spec": {"containers": [{"name": "node", "image": "i"}]}}}}}]}}}})
        w = self.admitted("t")
        self.assertEqual([(s["name"], s["count"]) for s in w["spec"]["podSets"]], [("model-initializer", 1), ("node", 3)])
        eventually(lambda: self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team")["status"][
            "flavorsUsage"][0]["resources"][0]["total"] == "7", what="7 cpus used")
        self.suspended(f"{jobs}/t", False)
        patch = self.daemon.get(f"{jobs}/t")["spec"]["runtimePatches"]
        parts = patch[0]["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
        self.assertEqual([(p["name"], p["template"]["spec"]["template"]["spec"]["nodeSelector"]) for p in parts],
                         [("model-initializer", {"pool": "spot"}), ("node", {"pool": "spot"})])
        self.patch(f"{jobs}/t/status", {"status": {"jobsStatus": [
            {"name": "model-initializer", "succeeded": 1}, {"name": "node", "active": 1}]}})
        self.workload("t", lambda w: w["status"].get("reclaimablePods") == [{"name": "model-initializer", "count": 1}],
                      "the initializer's pod given back")

        self.patch("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team", {"spec": {"stopPolicy": "HoldAndDrain"}})
        self.suspended(f"{jobs}/t", True)
        self.assertIn("replicatedJobs", str(self.daemon.get(f"{jobs}/t")["spec"]["runtimePatches"]))  # pods still run
        self.patch(f"{jobs}/t/status", {"status": {"jobsStatus": []}})
        eventually(lambda: "replicatedJobs" not in str(self.daemon.get(f"{jobs}/t")["spec"]["runtimePatches"]),
                   what="restored")

    def test_kinds_outlive_a_restart(self):
        self.queue("5")
        self.put(JOBSETS, jobset("a", 1))
        self.admitted("a")
        self.assertEqual(self.daemon.stop(), 0)
        self.daemon.start()
        self.suspended(f"{JOBSETS}/a", False)
        self.assertTrue(holds(self.workloads()["a"], "Admitted"))

    def test_own_kind_needs_no_more_than_the_file_of_the_manual(self):
        text = (ROOT / "docs/adapters.md").read_text().split("```yaml\n")[1].split("```")[0]
        directory = self.daemon.home / "adapters"
        directory.mkdir()
        (directory / "simulation.yaml").write_text(text)
        self.daemon.stop()
        self.daemon.options = ["--adapters", str(directory)]
        self.daemon.start()
        self.queue("5")
        collection = "/apis/example.com/v1/namespaces/default/simulations"
        self.put(collection, {"apiVersion": "example.com/v1", "kind": "Simulation",
                              "metadata": {"name": "s", "labels": LABELS},
                              "spec": {"suspend": False, "workers": 3, "template": template("1")}})
        self.assertEqual(self.admitted("s")["spec"]["podSets"][0]["count"], 3)
        self.suspended(f"{collection}/s", False)

    def test_file_that_makes_no_sense_stops_the_start(self):
        directory = self.daemon.home / "adapters"
        directory.mkdir()
        (directory / "bad.yaml").write_text("apiVersion: example.com/v1\nkind: T\nplural: ts\nsuspend: a\npodSets: [{name: x}]\n")
        done = subprocess.run([BUILD / "sluiced", "--standalone", "--data", self.daemon.home / "d", "--listen", "127.0.0.1:0",
                               "--adapters", directory], capture_output=True, text=True, timeout=10)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, f"sluiced: --adapters: {directory}/bad.yaml: podSets[0].template: is required\n")
        missing = subprocess.run([BUILD / "sluiced", "--standalone", "--adapters", directory / "none"], capture_output=True,
                                 text=True, timeout=10)
        self.assertEqual(missing.returncode, 1)
        self.assertIn("No such file or directory", missing.stderr)
