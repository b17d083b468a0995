"""kubectl scale, and what follows from it: the subresource of kinds that are not Sluice's own."""
import json, unittest
from daemon import *
from test_serving import SETS, STATEFULSETS, leaderworkerset, statefulset

WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"


class Scale(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(options=["--adapters", str(ROOT / "deploy/adapters")]).start()
        cls.addClassCleanup(cls.daemon.close)
        for o in flavor("f"), cluster_queue("cq", {"f": {"cpu": "3"}}), local_queue("lq", "cq"):
            cls.make(o)

    @classmethod
    def make(cls, o):
        cls.daemon.kubectl("create", "-f", "-", stdin=json.dumps(o))

    def groups(self, name):
        """Of the Workloads of a LeaderWorkerSet: whether each has quota."""
        def admitted(w):
            return any(c["type"] == "Admitted" and c["status"] == "True" for c in w.get("status", {}).get("conditions", []))
        return sorted(admitted(w) for w in self.daemon.get(WORKLOADS)["items"]
                      if w["metadata"]["ownerReferences"][0]["name"] == name)

    def test_groups_of_pods_become_more_and_fewer(self):
        self.make(leaderworkerset("l", 1))  # each group asks for one CPU
        eventually(lambda: self.groups("l") == [True], what="one group has quota")
        for replicas, quota in (4, [False, True, True, True]), (2, [True, True]), (0, []):
            self.assertIn("scaled", self.daemon.kubectl("scale", "leaderworkerset", "l", f"--replicas={replicas}").stdout)
            eventually(lambda: self.groups("l") == quota, what=f"{replicas} groups, with quota: {quota}")
        self.assertEqual(self.daemon.get(f"{SETS}/l")["spec"]["replicas"], 0)

    def test_what_kubectl_asks_for_is_checked(self):
        self.make(statefulset("web", 1, queue=None))
        for words, text in ((("--replicas=3", "--current-replicas=2"), "Expected replicas to be 2, was 1"),
                            (("--replicas=3", "--resource-version=1"), "Expected resource version to be 1"),
                            (("--replicas=-1",), "The --replicas=COUNT flag is required")):
            done = self.daemon.kubectl("scale", "statefulset", "web", *words, check=False)
            self.assertEqual((done.returncode, text in done.stderr), (1, True), done.stderr)
        self.assertIn("scaled", self.daemon.kubectl("scale", "statefulset", "web", "--replicas=9", "--dry-run=server").stdout)
        self.assertEqual(self.daemon.get(f"{STATEFULSETS}/web")["spec"]["replicas"], 1)
        self.daemon.kubectl("scale", "statefulset", "web", "--replicas=3", "--current-replicas=1")
        self.assertEqual(self.daemon.get(f"{STATEFULSETS}/web")["spec"]["replicas"], 3)
        done = self.daemon.kubectl("scale", "localqueue", "lq", "--replicas=1", check=False)
        self.assertIn("could not find the requested resource", done.stderr)

    def test_of_two_that_scale_at_once_one_is_told(self):
        self.make(statefulset("both", 1, queue=None))
        path = f"{STATEFULSETS}/both/scale"
        first = self.daemon.get(path)
        for replicas, code in (2, 200), (5, 409):
            first["spec"] = {"replicas": replicas}
            status, answer = self.daemon.request("PUT", path, first)
            self.assertEqual(status, code, answer)
        self.assertIn("the object has been modified", answer["message"])
        status, answer = self.daemon.request("PUT", path, {"metadata": {"name": "both"}, "spec": {"replicas": -1}})
        self.assertEqual((status, answer["details"]["causes"][0]["field"]), (422, "spec.replicas"))
        self.assertEqual(self.daemon.get(f"{STATEFULSETS}/both")["spec"]["replicas"], 2)


if __name__ == "__main__":
    unittest.main()
