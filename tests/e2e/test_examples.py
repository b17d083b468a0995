"""Every example under deploy/examples does what its README says, applied with kubectl to a fresh daemon."""
import unittest
from daemon import *

EXAMPLES = ROOT / "deploy/examples"
KUEUE_API = "/apis/kueue.x-k8s.io/v1beta2"


class Example(unittest.TestCase):
    directory = config = namespace = None

    def setUp(self):
        if self.directory is None:
            self.skipTest("the base of the others")
        options = ["--config", str(EXAMPLES / "config" / self.config)] if self.config else []
        self.daemon = Daemon(options=options).start()

    def tearDown(self):
        if self.directory:
            self.daemon.close()

    def apply(self, *files):
        """The files, or the whole directory; --validate=strict refuses what the schema does not know."""
        for path in [EXAMPLES / self.directory / f for f in files] or [EXAMPLES / self.directory]:
            done = self.daemon.kubectl("apply", "--validate=strict", "-f", str(path))
            self.assertNotIn("Warning", done.stderr)

    def jobs(self):
        """Job name -> its Workload."""
        items = self.daemon.get(f"{KUEUE_API}/workloads")["items"]
        return {w["metadata"]["ownerReferences"][0]["name"]: w for w in items if w["metadata"].get("ownerReferences")}

    def running(self, prefix=""):
        """Jobs that are admitted, not evicted, not finished."""
        return {n for n, w in self.jobs().items()
                if n.startswith(prefix) and holds(w, "Admitted") and not holds(w, "Evicted") and not holds(w, "Finished")}

    def settles(self, names, what=None):
        eventually(lambda: self.running() == set(names), what=what or f"exactly {sorted(names)} run")
        time.sleep(0.5)
        self.assertEqual(self.running(), set(names))

    def reason(self, name, kind):
        return (condition(self.jobs()[name], kind) or {}).get("reason")

    def patch(self, kind, name, body, *arguments):
        self.daemon.kubectl("patch", kind, name, "--type=merge", "-p", json.dumps(body), *arguments)

    def assignment(self, name):
        return self.jobs()[name]["status"]["admission"]["podSetAssignments"][0]


class Fungibility(Example):
    directory = "fungibility"

    def test_fungibility_moves_on_or_borrows(self):
        self.apply()
        self.settles({"team-1", "team-2", "eager"})
        flavors = {n: self.assignment(n)["flavors"]["cpu"] for n in self.jobs()}
        self.assertEqual(flavors.pop("eager"), "fungibility-reserved")
        self.assertEqual(sorted(flavors.values()), ["fungibility-reserved", "fungibility-spot"])


class Borrowing(Example):
    directory = "borrowing-and-lending"

    def test_borrowing_stops_at_the_limit(self):
        self.apply()
        eventually(lambda: len(self.running("science")) == 2 and self.running("product"), what="two of science run")
        time.sleep(0.5)
        self.assertEqual(len(self.running("science")), 2)
        path = f"{KUEUE_API}/clusterqueues/borrowing-science"
        used = lambda: self.daemon.get(path)["status"]["flavorsReservation"][0]["resources"][0]
        eventually(lambda: (used()["total"], used()["borrowed"]) == ("8", "4"), what="8 reserved, 4 of them borrowed")


class PartialAdmission(Example):
    directory = "partial-admission"

    def test_partial_admission_starts_with_what_fits(self):
        self.apply("10-queues.yaml", "20-jobs.yaml")
        self.settles({"wide"})
        self.apply("30-later.yaml")
        self.settles({"wide"})
        self.assertEqual(self.assignment("wide")["count"], 5)
        self.daemon.kubectl("delete", "job", "wide", "-n", "partial")
        eventually(lambda: self.running() == {"later"}, what="later runs")
        self.assertEqual(self.assignment("later")["count"], 5)


class PreemptionWithinQueue(Example):
    directory = "preemption-within-queue"

    def test_preemption_evicts_lower_priorities(self):
        self.apply("10-queues.yaml", "20-running.yaml")
        self.settles({"low-1", "low-2", "low-3"})
        self.apply("30-urgent.yaml")
        eventually(lambda: "urgent" in self.running(), what="urgent runs")
        self.assertEqual(len(self.running("low")), 1)
        victims = [n for n in self.jobs() if self.reason(n, "Preempted") == "InClusterQueue"]
        self.assertEqual(len(victims), 2)


class PreemptionInCohort(Example):
    directory = "preemption-in-cohort"

    def test_preemption_reclaims_and_borrows(self):
        self.apply("10-queues.yaml", "20-borrowed.yaml")
        eventually(lambda: len(self.running("borrower")) == 4, what="the borrower has all")
        self.apply("30-reclaim.yaml")
        eventually(lambda: "reclaim" in self.running() and len(self.running("borrower")) == 2, what="reclaimed")
        self.apply("40-borrow.yaml")
        eventually(lambda: "borrow" in self.running() and len(self.running("borrower")) == 1, what="evicted to borrow")
        reasons = sorted(r for r in (self.reason(n, "Preempted") for n in self.jobs()) if r)
        self.assertEqual(reasons, ["InCohortReclaimWhileBorrowing", "InCohortReclamation", "InCohortReclamation"])


class FairSharing(Example):
    directory, config = "fair-sharing", "fair-sharing.yaml"

    def test_fair_sharing_settles_at_the_weights(self):
        self.apply("10-queues.yaml", "20-team-a.yaml")
        eventually(lambda: len(self.running("a-")) == 9, what="team-a has all")
        self.apply("30-team-b.yaml")
        eventually(lambda: (len(self.running("a-")), len(self.running("b-"))) == (3, 6), what="3 and 6")
        time.sleep(1)
        self.assertEqual((len(self.running("a-")), len(self.running("b-"))), (3, 6))
        self.assertIn("InCohortFairSharing", {self.reason(n, "Preempted") for n in self.jobs()})


class AdmissionFairSharing(Example):
    directory, config = "admission-fair-sharing", "admission-fair-sharing.yaml"

    def test_admission_fair_sharing_prefers_the_quiet_queue(self):
        self.apply()
        order = []
        def seen():
            order.extend(n for n in sorted(self.running()) if n not in order)
            return len(order) >= 3
        eventually(seen, 30, "three turns")
        self.assertIn("quiet-1", order[:2])
        queue = f"{KUEUE_API}/namespaces/usage/localqueues/busy"
        used = lambda: self.daemon.get(queue)["status"].get("fairSharing", {}).get("admissionFairSharingStatus", {})
        eventually(lambda: milli(used().get("consumedResources", {}).get("cpu", "0")) > 0, what="usage in the status")


class AdmissionChecks(Example):
    directory = "admission-checks"

    def checked(self):
        """The job that waits for its check, once both have quota."""
        def waiting():
            jobs = self.jobs()
            both = len(jobs) == 2 and all(holds(w, "QuotaReserved") for w in jobs.values())
            return [n for n in jobs if both and n not in self.running()]
        eventually(lambda: len(waiting()) == 1, what="one of the two waits for its check")
        return waiting()[0]

    def say(self, *what):
        done = subprocess.run([EXAMPLES / self.directory / "approve.sh", *what], capture_output=True, text=True,
                              env={**os.environ, "KUBECTL": f"{KUBECTL} --server {self.daemon.url}", "KUBECONFIG": "/dev/null"})
        self.assertEqual(done.returncode, 0, done.stderr)

    def approve(self, job_name, state):
        self.say(self.jobs()[job_name]["metadata"]["name"], state)

    def apply(self):
        super().apply()
        self.say()

    def test_admission_check_holds_the_start_until_it_is_ready(self):
        self.apply()
        waiting = self.checked()
        self.assertEqual(self.assignment(waiting)["flavors"]["cpu"], "checks-reserved")
        self.approve(waiting, "Ready")
        self.settles({"job-1", "job-2"})

    def test_admission_check_to_be_retried_queues_again(self):
        self.apply()
        waiting = self.checked()
        self.approve(waiting, "Retry")
        eventually(lambda: "AdmissionCheck" in evictions(self.jobs()[waiting]), what="eviction")
        self.assertEqual(self.checked(), waiting)

    def test_admission_check_rejected_deactivates(self):
        self.apply()
        waiting = self.checked()
        self.approve(waiting, "Rejected")
        eventually(lambda: self.jobs()[waiting]["spec"].get("active") is False, what="deactivation")


class StopPolicies(Example):
    directory = "stop-policies"

    def test_stop_policies_hold_and_drain(self):
        self.apply()
        eventually(lambda: len(self.running()) == 2, what="two run")
        ended, other = sorted(self.running())
        self.patch("clusterqueue", "stop", {"spec": {"stopPolicy": "Hold"}})
        self.daemon.kubectl("delete", "job", ended, "-n", "stop")
        self.settles({other})
        self.patch("clusterqueue", "stop", {"spec": {"stopPolicy": "HoldAndDrain"}})
        self.settles(set())
        self.assertEqual(self.reason(other, "Evicted"), "ClusterQueueStopped")
        self.patch("clusterqueue", "stop", {"spec": {"stopPolicy": "None"}})
        self.settles({"job-1", "job-2", "job-3"} - {ended})


class Provisioning(Example):
    directory = "provisioning"

    def test_provisioning_makes_nodes_tries_again_and_gives_up(self):
        self.apply()
        reserved = lambda n: holds(self.jobs().get(n, {}), "QuotaReserved")
        eventually(lambda: reserved("grows"), what="the first phase")
        self.assertFalse(holds(self.jobs()["grows"], "Admitted"))
        self.assertEqual(self.assignment("grows")["delayedTopologyRequest"], "Pending")
        eventually(lambda: {"grows", "patient"} <= self.running(), 30, "the second phase")
        self.assertIn("topologyAssignment", self.assignment("grows"))
        self.assertEqual(self.jobs()["patient"]["status"]["admissionChecks"][0]["retryCount"], 1)
        eventually(lambda: self.jobs()["hopeless"]["spec"].get("active") is False, 30, "rejection")
        self.assertEqual(self.reason("hopeless", "Evicted"), "DeactivatedDueToAdmissionCheck")
        self.assertEqual(len(self.daemon.get("/api/v1/nodes")["items"]), 4)


class WaitForPodsReady(Example):
    directory, config = "wait-for-pods-ready", "wait-for-pods-ready.yaml"

    def test_pods_that_do_not_get_ready_lose_their_turn(self):
        self.apply()
        eventually(lambda: self.reason("stuck", "Evicted") == "PodsReadyTimeout", what="eviction after the timeout")
        eventually(lambda: all(holds(self.jobs()[n], "Finished") for n in ("slow", "quick")), 30, "the others' end")
        eventually(lambda: self.jobs()["stuck"]["spec"].get("active") is False, 30, "deactivation")
        self.patch("workload", self.jobs()["stuck"]["metadata"]["name"], {"spec": {"active": True}}, "-n", "ready")
        eventually(lambda: "stuck" in self.running(), what="another try")


class ExecutionTimeLimit(Example):
    directory = "execution-time-limit"

    def test_execution_time_limit_deactivates(self):
        self.apply()
        eventually(lambda: "endless" in self.running(), what="endless runs")
        eventually(lambda: self.jobs()["endless"]["spec"].get("active") is False, 20, "deactivation")
        eventually(lambda: holds(self.jobs()["next"], "Finished"), what="the end of the other")
        self.assertEqual(self.reason("endless", "Evicted"), "DeactivatedDueToMaximumExecutionTimeExceeded")


class NamespaceSelector(Example):
    directory = "namespace-selector"

    def test_namespace_selector_keeps_others_out(self):
        self.apply()
        self.settles({"gold"})
        self.daemon.kubectl("label", "namespace", "selector-other", "tier=gold")
        self.settles({"gold", "other"})


class Together(unittest.TestCase):
    def test_every_example_is_valid_and_they_do_not_clash(self):
        daemon = Daemon().start()
        try:
            # Two are for a daemon that runs jobs, a cluster's or one with processes, and say what means nothing here.
            elsewhere = ("config", "tutorial-cluster", "processes")
            for directory in sorted(p for p in EXAMPLES.iterdir() if p.is_dir() and p.name not in elsewhere):
                self.assertTrue(directory.name == "quickstart" or (directory / "README.md").exists(), directory)
                done = daemon.kubectl("apply", "--validate=strict", "-f", str(directory))
                self.assertNotIn("unchanged", done.stdout)
                self.assertNotIn("configured", done.stdout)
                self.assertNotIn("Warning", done.stderr)
        finally:
            daemon.close()


if __name__ == "__main__":
    unittest.main()
