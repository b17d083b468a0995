"""sluicectl why, and the Explanation behind it: of jobs that wait, run, have ended, or have no Workload."""
import json, unittest
from daemon import *

VISIBILITY = "/apis/visibility.kueue.x-k8s.io/v1beta2"
DOCUMENT = ("apiVersion", "kind", "about", "state", "reason", "message", "summary")


class Why(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon().start()
        self.addCleanup(self.daemon.close)
        self.apply(flavor("f"))
        for queue in ("team", "other"):
            made = cluster_queue(queue, {"f": {"cpu": "4"}})
            made["spec"]["cohortName"] = "all"
            self.apply(made)
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "elsewhere"}})
        self.apply(local_queue("main", "team"))
        theirs = local_queue("theirs", "other")
        theirs["metadata"]["namespace"] = "elsewhere"
        self.apply(theirs)

    def apply(self, thing):
        self.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(thing))

    def submit(self, name, cpu, queue="main", ns="default", *more):
        self.daemon.sluicectl("submit", "-n", ns, "--queue", queue, "--name", name, "--cpu", cpu, "--run-for", "10m", *more)

    def why(self, *words, **options):
        return self.daemon.sluicectl("why", *words, **options)

    def data(self, *words):
        return json.loads(self.why(*words, "-o", "json").stdout)

    def until(self, name, state):
        return eventually(lambda: (lambda a: a["state"] == state and a)(self.data("job/" + name)), what=f"{name} {state}")

    def fill(self):
        """Their Job holds 5 of 8 cpu, ours 2; and one that waits for 3, one for 9."""
        self.submit("large", "5", "theirs", "elsewhere")
        eventually(lambda: "Admitted" in self.why("job/large", "-n", "elsewhere").stdout, what="theirs")
        self.submit("mine", "2")
        self.until("mine", "Admitted")
        self.submit("waits", "3")
        return self.until("waits", "Pending")

    def test_a_job_that_waits_is_told_what_is_short_and_what_holds_it(self):
        self.fill()
        out = self.why("waits").stdout
        for part in ("Job waits in namespace default: Pending since ", "Reason:        WaitingForQuota", "1 of 1 in the ClusterQueue",
                     "cpu in flavor f: asks for 3, 1 is available, 2 short", "Cohort all has a quota of 8 cpu in flavor f and uses 7: 2 cpu more needed",
                     "used in: other 5 of 4, team 2 of 4", "5  job/large -n elsewhere, ClusterQueue other, priority 0 since ",
                     "may not be preempted: reclaimWithinCohort of ClusterQueue team is Never", "Impossible: ClusterQueue team preempts no workloads",
                     "  - Wait until 2 cpu in flavor f is released in Cohort all, or raise a nominalQuota in Cohort all by 2 cpu in flavor f."):
            self.assertIn(part, out)

    def test_it_is_a_document_in_every_state(self):
        self.fill()
        self.submit("brief", "1", "main", "default", "--run-for", "1s")
        eventually(lambda: self.data("job/brief")["state"] == "Finished", what="its end")
        for name, state in (("waits", "Pending"), ("mine", "Admitted"), ("brief", "Finished")):
            answer = self.data(name)
            for member in DOCUMENT:
                self.assertIn(member, answer)
            self.assertEqual((answer["kind"], answer["about"]["name"], answer["state"]), ("Explanation", name, state))
        both = self.data("job", "waits", "mine")
        self.assertEqual((both["kind"], [i["about"]["name"] for i in both["items"]]), ("List", ["waits", "mine"]))
        self.assertEqual(self.why("job", "waits", "mine", "-o", "yaml").stdout.count("\nkind: List"), 1)

    def test_it_is_asked_by_workload_pod_and_queue_too(self):
        workload = self.fill()["workload"]
        self.assertEqual(self.data(workload)["about"], {"kind": "Workload", "namespace": "default", "name": workload})
        self.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone", "labels": {"kueue.x-k8s.io/queue-name": "main"}},
                    "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "9"}}}]}})
        self.assertEqual(eventually(lambda: self.data("pod/alone")["state"] == "Pending" and self.data("pod/alone"), what="the Pod")["reason"], "ExceedsMaxQuota")
        self.daemon.sluicectl("delete", "pod", "alone")
        queue = self.data("lq/main")
        self.assertEqual((queue["state"], queue["first"]["name"], queue["limits"][0]["available"]), ("Active", workload, "1"))
        self.assertIn("held by:", self.why("cq", "team").stdout)

    def test_in_a_namespace_workloads_of_others_are_not_named(self):
        self.fill()
        answer = self.daemon.get(f"{VISIBILITY}/namespaces/default/jobs/waits/why")
        self.assertNotIn("large", json.dumps(answer))
        self.assertNotIn("elsewhere", json.dumps(answer))
        self.assertEqual(answer["limits"][0]["holders"][0]["amount"], "5")
        named = self.daemon.get(f"{VISIBILITY}/clusterqueues/team/why?namespace=default&workload={answer['workload']}")
        self.assertEqual(named["limits"][0]["holders"][0]["job"], {"kind": "Job", "name": "large"})

    def test_what_is_in_no_queue_is_told_why(self):
        self.submit("ghost", "1", "main", "default", "--priority-class", "nosuch")
        eventually(lambda: self.data("ghost")["reason"] == "WorkloadPriorityClassNotFound", what="the missing class")
        self.submit("astray", "1", "nosuch")
        self.assertIn("Create LocalQueue nosuch in namespace default", eventually(
            lambda: (lambda out: "doesn't exist" in out and out)(self.why("job/astray").stdout), what="the missing queue"))
        self.apply({**local_queue("main", "team"), "spec": {"clusterQueue": "team", "stopPolicy": "Hold"}})
        self.submit("held", "1")
        eventually(lambda: "Set stopPolicy of LocalQueue main to None." in self.why("job/held").stdout, what="the stopped queue")
        self.assertEqual(self.data("lq/main")["state"], "Inactive")

    def test_checks_are_named_with_their_controller(self):
        self.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck", "metadata": {"name": "by-hand"}, "spec": {"controllerName": "example.com/by-hand"}})
        active = {"type": "Active", "status": "True", "reason": "Active", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        self.daemon.request("PATCH", "/apis/kueue.x-k8s.io/v1beta2/admissionchecks/by-hand/status", {"status": {"conditions": [active]}},
                            "application/merge-patch+json")
        checked = cluster_queue("checked", {"f": {"cpu": "4"}})
        checked["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": "by-hand"}]}
        self.apply(checked)
        self.apply(local_queue("checked", "checked"))
        self.submit("waits", "1", "checked")
        out = eventually(lambda: (lambda t: "QuotaReserved" in t and t)(self.why("job/waits").stdout), what="its quota")
        self.assertIn("by-hand: Pending, set by example.com/by-hand", out)

    def test_the_job_has_one_event_that_says_why(self):
        self.fill()
        def events():
            found = json.loads(self.daemon.sluicectl("get", "events", "-n", "default", "-o", "json").stdout)["items"]
            return [e for e in found if e["involvedObject"]["kind"] == "Job" and e["involvedObject"]["name"] == "waits" and e["reason"] == "WaitingForQuota"]
        said = eventually(events, what="the event of the Job")
        self.assertIn("Position 1 of 1 in ClusterQueue team: Cohort all has a quota of 8 cpu in flavor f and uses 7: 2 cpu more needed", said[0]["message"])
        self.assertIn("a workload of another namespace with 5 cpu", said[0]["message"])
        self.submit("later", "1")
        self.until("later", "Admitted") # which has other figures in the reason of the one that waits
        self.assertEqual(len(events()), 1)
        self.daemon.sluicectl("delete", "job", "mine", "later")
        self.until("waits", "Admitted")
        self.assertEqual(len(events()), 1)

    def test_what_does_not_exist_and_wrong_usage(self):
        done = self.why("nosuch", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no Job, Workload, Pod or LocalQueue nosuch in namespace default", done.stderr)
        self.assertEqual(self.why("job/nosuch", check=False).returncode, 1)
        self.assertEqual(self.why(check=False).returncode, 2)
        self.assertEqual(self.why("nokind/x", check=False).returncode, 2)
        done = self.why("ns/default", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing to explain about a Namespace", done.stderr)

    def test_asking_writes_nothing(self):
        self.fill()
        newest = lambda: json.loads(self.daemon.sluicectl("get", "workloads", "-A", "-o", "json").stdout)["metadata"]["resourceVersion"]
        eventually(lambda: (lambda a: a == (time.sleep(1.5), newest())[1])(newest()), what="quiet")
        before = newest()
        for _ in range(20):
            self.why("waits")
            self.why("cq/team")
        self.assertEqual(newest(), before)


if __name__ == "__main__":
    unittest.main()
