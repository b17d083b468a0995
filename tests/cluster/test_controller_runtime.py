"""controller-runtime, which most controllers are written with: the controller of an admission check that has a cache, watches,
writes statuses and events, and acts while it holds a Lease. On the API server while Sluice writes, and on Sluice's own."""
import json, subprocess
from contextlib import closing

from controlplane import die_with_parent, find
from work_scene import *
import daemon as alone

CHECK = "example.com/approver"


def check(name):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck", "metadata": {"name": name}, "spec": {"controllerName": CHECK}}


def with_check(queue, name):
    queue["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": name}]}
    return queue


class Approver:
    """The program `approver`; it has begun once it leads."""

    def __init__(self, *where):
        self.process = subprocess.Popen([find("approver"), *map(str, where)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        preexec_fn=die_with_parent)

    def leads(self):
        assert self.process.stdout.readline() == "leads\n", self.process.poll()
        return self

    def differences(self):
        """Between its cache and the server."""
        self.process.stdin.write("compare\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.kill()
        self.process.communicate()


def answer(w):
    """(state, message) of the only check of a Workload."""
    states = w.get("status", {}).get("admissionChecks", [])
    return (states[0]["state"], states[0].get("message", "")) if states else None


class OnTheApiServer(WorkScene):
    def setUp(self):
        super().setUp()
        self.daemon()
        self.name = f"{self.namespace}-check"
        queue = with_check(cluster_queue(self.namespace, {self.namespace: {"cpu": "9"}}), self.name)
        self.create(flavor(self.namespace), check(self.name), queue, local_queue("main", self.namespace, self.namespace))

    def approver(self, identity):
        a = Approver("--kubeconfig", self.plane.run / "admin.kubeconfig", "--identity", identity, "--apply", "--lead", f"{self.namespace}/approver")
        self.addCleanup(a.close)
        return a

    def test_a_controller_with_a_lease_approves_by_server_side_apply(self):
        self.create(job("first", "main"))
        self.workload("first", lambda w: "is inactive" in (condition(w, "QuotaReserved") or {}).get("message", ""), "a wait for a check that is active")
        one = self.approver("one").leads()
        two = self.approver("two")
        w = self.finished("first")
        self.assertEqual(answer(w), ("Ready", "approved by one"))
        self.assertEqual(w["metadata"]["annotations"]["example.com/approved-by"], "one")
        owners = {(m["manager"], m.get("subresource", "")) for m in w["metadata"]["managedFields"] if m["operation"] == "Apply"}
        self.assertLessEqual({(CHECK, ""), (CHECK, "status")}, owners)
        self.assertEqual(one.differences(), [])
        events = self.plane.get(f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events")["items"]
        self.assertIn((f"one approves of {self.name}", w["metadata"]["name"]), {(e["note"], e["regarding"]["name"]) for e in events})
        one.close()
        self.create(job("second", "main"))
        two.leads()
        self.assertEqual(answer(self.finished("second")), ("Ready", "approved by two"))
        self.assertEqual(answer(self.workloads()["first"]), ("Ready", "approved by one"))
        self.assertEqual(two.differences(), [])


class OnSluiceAlone(unittest.TestCase):
    def setUp(self):
        self.sluice = alone.Daemon().start()
        self.addCleanup(self.sluice.close)
        for o in (flavor("f"), check("c"), with_check(cluster_queue("team", {"f": {"cpu": "3"}}), "c"), local_queue("main", "team")):
            self.apply(o)

    def apply(self, o):
        done = self.sluice.sluicectl("apply", "-f", "-", stdin=json.dumps(o))
        self.assertEqual(done.returncode, 0, done.stderr)

    def workload(self, name, test, what):
        def there():
            items = self.sluice.get(f"{KUEUE}/namespaces/default/workloads")["items"]
            return next((w for w in items if w["metadata"]["ownerReferences"][0]["name"] == name and test(w)), None)
        return eventually(there, 30, f"{what} of {name}")

    def test_a_controller_approves_by_patches(self):
        self.apply(alone.job("first", run_for="100ms"))
        self.assertFalse(holds(self.workload("first", lambda w: True, "a Workload"), "Admitted"))
        with closing(Approver("--server", self.sluice.url)) as a:
            a.leads()
            w = self.workload("first", lambda w: holds(w, "Finished"), "an end")
            self.assertEqual((answer(w), w["metadata"]["annotations"]["example.com/approved-by"]), (("Ready", "approved by approver"), "approver"))
            for i in range(6):
                self.apply(alone.job(f"j{i}", run_for="100ms"))
            for i in range(6):
                self.workload(f"j{i}", lambda w: holds(w, "Finished"), "an end")
            self.assertEqual(self.sluice.request("DELETE", "/apis/batch/v1/namespaces/default/jobs/j0?propagationPolicy=Background")[0], 200)
            self.assertEqual(a.differences(), [])
            self.sluice.kill()
            self.sluice.start()
            self.apply(alone.job("after", run_for="100ms"))
            self.workload("after", lambda w: holds(w, "Finished"), "an end")
            self.assertEqual(a.differences(), [])
