"""Server-side apply by a real kubectl: who has set which field, conflicts, takeovers, and what is no longer applied."""
import json, unittest
from daemon import *


def queue(name, labels=None, **spec):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
            "metadata": {"name": name, **({"labels": labels} if labels else {})}, "spec": spec}


class Apply(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def apply(self, obj, *options, check=True):
        return self.daemon.kubectl("apply", "--server-side", "-f", "-", *options, stdin=json.dumps(obj), check=check)

    def get(self, name):
        return json.loads(self.daemon.kubectl("get", "clusterqueue", name, "-o", "json", "--show-managed-fields").stdout)

    def managers(self, name):
        """{(manager, operation): fields} of a queue, without what the daemon writes into its status."""
        return {(m["manager"], m["operation"]): m["fieldsV1"] for m in self.get(name)["metadata"]["managedFields"]
                if m["manager"] != "sluice"}

    def test_apply_records_the_manager(self):
        self.assertIn("serverside-applied", self.apply(queue("recorded", cohortName="x")).stdout)
        self.assertEqual(self.managers("recorded"), {("kubectl", "Apply"): {"f:spec": {"f:cohortName": {}}}})
        before = self.get("recorded")["metadata"]
        self.apply(queue("recorded", cohortName="x"))
        after = self.get("recorded")["metadata"]
        self.assertEqual([m for m in after["managedFields"] if m["manager"] == "kubectl"],
                         [m for m in before["managedFields"] if m["manager"] == "kubectl"])
        self.assertNotIn("managedFields", self.daemon.kubectl("get", "clusterqueue", "recorded", "-o", "yaml").stdout)

    def test_what_is_no_longer_applied_is_removed(self):
        self.apply(queue("less", labels={"a": "b", "c": "d"}, cohortName="x", stopPolicy="Hold"))
        self.apply(queue("less", labels={"c": "d"}, cohortName="x"))
        left = self.get("less")
        self.assertEqual(left["metadata"]["labels"], {"c": "d"})
        self.assertEqual(left["spec"]["stopPolicy"], "None")
        self.assertEqual(left["spec"]["cohortName"], "x")

    def test_a_conflict_names_the_manager_and_is_forced(self):
        self.apply(queue("fought-over", cohortName="x"))
        refused = self.apply(queue("fought-over", cohortName="z"), "--field-manager=other", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn('Apply failed with 1 conflict: conflict with "kubectl": .spec.cohortName', refused.stderr)
        self.assertEqual(self.get("fought-over")["spec"]["cohortName"], "x")
        self.apply(queue("fought-over", cohortName="z"), "--field-manager=other", "--force-conflicts")
        self.assertEqual(self.get("fought-over")["spec"]["cohortName"], "z")
        self.assertEqual(self.managers("fought-over"), {("other", "Apply"): {"f:spec": {"f:cohortName": {}}}})

    def test_diff_shows_what_apply_would_do_and_does_nothing(self):
        self.apply(queue("compared", cohortName="x", stopPolicy="Hold"))
        diff = self.daemon.kubectl("diff", "--server-side", "-f", "-", stdin=json.dumps(queue("compared", cohortName="x")),
                                   check=False)
        self.assertEqual(diff.returncode, 1, diff.stderr)
        self.assertIn("-  stopPolicy: Hold", diff.stdout)
        self.assertIn("+  stopPolicy: None", diff.stdout)
        self.assertEqual(self.get("compared")["spec"]["stopPolicy"], "Hold")

    def test_other_verbs_are_recorded_by_their_names(self):
        self.daemon.kubectl("create", "-f", "-", stdin=json.dumps(queue("written", cohortName="x")))
        self.daemon.kubectl("label", "clusterqueue", "written", "a=b")
        names = {m for m, operation in self.managers("written") if operation == "Update"}
        self.assertEqual(names, {"kubectl-create", "kubectl-label"})
        refused = self.apply(queue("written", labels={"a": "c"}, cohortName="z"), check=False)
        self.assertIn("Apply failed with 2 conflicts: conflicts with \"kubectl-create\" using kueue.x-k8s.io/v1beta2:\n"
                      "- .spec.cohortName\nconflicts with \"kubectl-label\" using kueue.x-k8s.io/v1beta2:\n"
                      "- .metadata.labels.a", refused.stderr)

    def test_kubectl_takes_over_what_it_applied_on_its_own_side(self):
        self.daemon.kubectl("apply", "-f", "-", stdin=json.dumps(queue("taken-over", cohortName="x", stopPolicy="Hold")))
        self.apply(queue("taken-over", cohortName="z"))
        self.assertEqual(self.get("taken-over")["spec"]["cohortName"], "z")
        self.assertEqual(self.get("taken-over")["spec"]["stopPolicy"], "None")
        self.assertNotIn(("kubectl-client-side-apply", "Update"), self.managers("taken-over"))

    def test_pods_merge_containers_by_name(self):
        def pod(*containers):
            return {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "merged"},
                    "template": {"spec": {"containers": list(containers)}}}
        self.apply(pod({"name": "a", "image": "x", "env": [{"name": "A", "value": "1"}]}), "--field-manager=a")
        self.apply(pod({"name": "b", "image": "x"}), "--field-manager=b")
        self.apply(pod({"name": "a", "image": "z"}), "--field-manager=a")
        made = json.loads(self.daemon.kubectl("get", "podtemplate", "merged", "-o", "json").stdout)
        containers = {c["name"]: c for c in made["template"]["spec"]["containers"]}
        self.assertEqual(set(containers), {"a", "b"})
        self.assertEqual(containers["a"]["image"], "z")
        self.assertNotIn("env", containers["a"])

    def test_managers_outlive_a_restart(self):
        self.apply(queue("kept", cohortName="x"))
        self.daemon.kill()
        self.daemon.start()
        self.assertEqual(self.managers("kept"), {("kubectl", "Apply"): {"f:spec": {"f:cohortName": {}}}})


if __name__ == "__main__":
    unittest.main()
