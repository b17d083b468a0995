"""What tests of scheduling share: a daemon, objects put in, workloads looked at by the name of their job."""
import json, unittest
from daemon import *

WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
JOBS = "/apis/batch/v1/namespaces/default/jobs"


class Scene(unittest.TestCase):
    options = ()

    def setUp(self):
        self.daemon = Daemon(options=self.options).start()

    def tearDown(self):
        self.daemon.close()

    def create(self, *objects):
        for o in objects:
            done = self.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(o))
            self.assertEqual(done.returncode, 0, done.stderr)

    def workloads(self):
        """Job name -> its Workload."""
        return {w["metadata"]["ownerReferences"][0]["name"]: w for w in self.daemon.get(WORKLOADS)["items"]}

    def workload(self, name, test=lambda w: True, what="workload"):
        return eventually(lambda: (lambda w: w if w and test(w) else None)(self.workloads().get(name)),
                          what=f"{what} of job {name}")

    def admitted(self, *names):
        return [self.workload(n, lambda w: holds(w, "Admitted"), "admission") for n in names][-1]

    def refused(self, name, reason):
        return self.workload(name, lambda w: (condition(w, "QuotaReserved") or {}).get("reason") == reason
                             and not holds(w, "QuotaReserved"), f"refusal with {reason}")

    def was_evicted(self, name, reason):
        """Counted as evicted for this, however short it was: it may be admitted again by now."""
        return self.workload(name, lambda w: reason in evictions(w), f"eviction with {reason}")

    def evicted(self, name, reason):
        return self.workload(name, lambda w: (condition(w, "Evicted") or {}).get("reason") == reason,
                             f"eviction with {reason}")

    def finished(self, name):
        return self.workload(name, lambda w: holds(w, "Finished"), "end")

    def flavor_of(self, name):
        return self.admitted(name)["status"]["admission"]["podSetAssignments"][0]["flavors"]["cpu"]

    def patch(self, path, body):
        status, answer = self.daemon.request("PATCH", path, body, "application/merge-patch+json")
        self.assertEqual(status, 200, answer)
        return answer
