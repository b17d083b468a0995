"""SparkApplications on a real API server, from their creation to their end; the tests play Spark's operator. REAL_CRDS names a
directory with its CRDs: without one, the API server takes any fields."""
from work_scene import *

SPEC = {"type": "Scala", "mode": "cluster", "sparkVersion": "4.0.0", "image": "spark:4.0.0",
        "mainClass": "org.apache.spark.examples.SparkPi", "mainApplicationFile": "local:///opt/spark/examples.jar",
        "nodeSelector": {"zone": "z"}, "driver": {"coreRequest": "1", "memory": "512m"},
        "executor": {"instances": 2, "coreRequest": "1", "memory": "512m", "tolerations": [{"key": "mine", "operator": "Exists"}]}}


class Spark(WorkScene):
    options = ("--adapters", str(ROOT / "deploy/adapters"))

    def setUp(self):
        super().setUp()
        self.jobsets_are_known()
        self.daemon()
        self.team = f"{KUEUE}/clusterqueues/{self.namespace}-main"
        unique = f"{self.namespace}-main"
        spot = flavor(unique)
        spot["spec"] = {"nodeLabels": {"pool": "spot"}}
        self.create(spot, cluster_queue(unique, {unique: {"cpu": "5", "memory": "10Gi"}}),
                    local_queue("main", unique, self.namespace))

    def tearDown(self):
        self.plane.request("DELETE", f"{self.apps}?propagationPolicy=Background")
        super().tearDown()

    @property
    def apps(self):
        return f"/apis/sparkoperator.k8s.io/v1beta2/namespaces/{self.namespace}/sparkapplications"

    def make(self, name, expected=201, **spec):
        status, answer = self.plane.request("POST", self.apps, {
            "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
            "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "main"}}, "spec": {**SPEC, **spec}})
        self.assertEqual(status, expected, answer)
        return answer

    def tell(self, name, state, executors=(), **more):
        self.patched(f"{self.apps}/{name}/status", {"status": {
            "driverInfo": {}, "lastSubmissionAttemptTime": None, "terminationTime": None,
            "applicationState": {"state": state, **more}, "executorState": dict(executors)}})

    def spec(self, name, test, what):
        return eventually(lambda: (lambda s: s if test(s) else None)(self.plane.get(f"{self.apps}/{name}")["spec"]),
                          what=f"{name}: {what}")

    def test_from_creation_to_the_end(self):
        made = self.make("a")
        self.assertIs(made["spec"]["suspend"], True)
        w = self.admitted("a")
        self.assertEqual([(s["name"], s["count"]) for s in w["spec"]["podSets"]], [("driver", 1), ("executor", 2)])
        self.settles_at(self.team, 3)
        running = self.spec("a", lambda s: s["suspend"] is False, "runs")
        for part in ("driver", "executor"):
            self.assertEqual(running[part]["nodeSelector"], {"zone": "z", "pool": "spot"})
        self.assertNotIn("nodeSelector", running)
        self.tell("a", "RUNNING", {"a-1": "RUNNING", "a-2": "PENDING"})
        self.workload("a", lambda w: condition(w, "PodsReady") is None or not holds(w, "PodsReady"), "no readiness")
        self.tell("a", "RUNNING", {"a-1": "RUNNING", "a-2": "RUNNING"})
        self.workload("a", lambda w: holds(w, "PodsReady"), "readiness")
        self.patched(self.team, {"spec": {"stopPolicy": "HoldAndDrain"}})
        stopped = self.spec("a", lambda s: s["suspend"] is True, "is stopped")
        self.assertEqual(stopped["executor"]["nodeSelector"], {"zone": "z"})
        self.assertEqual(stopped["executor"]["tolerations"], [{"key": "mine", "operator": "Exists"}])
        self.assertNotIn("labels", stopped["driver"])
        self.tell("a", "SUSPENDING")
        time.sleep(1)
        self.assertEqual(self.used(self.team)[0], 3000)  # its pods still run
        self.tell("a", "SUSPENDED")
        self.settles_at(self.team, 0)
        self.patched(self.team, {"spec": {"stopPolicy": "None"}})
        self.spec("a", lambda s: s["suspend"] is False, "runs again")
        self.tell("a", "FAILED", errorMessage="driver container failed")
        done = self.workload("a", lambda w: holds(w, "Finished"), "end")
        self.assertEqual((condition(done, "Finished")["reason"], condition(done, "Finished")["message"]),
                         ("Failed", "driver container failed"))
        self.settles_at(self.team, 0)

    def test_what_cannot_be_counted_is_refused(self):
        self.make("a", 403, mode="client")
        self.make("b", 403, dynamicAllocation={"enabled": True})
        self.make("c", 403, sparkConf={"spark.executor.instances": "9"})
        self.make("d", dynamicAllocation={"enabled": False})


if __name__ == "__main__":
    unittest.main()
