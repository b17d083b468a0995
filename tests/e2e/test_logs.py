"""What the log says: each end of a Workload, where its pods stand, and the state when it is asked for."""
import json, signal, unittest
from daemon import *
from scene import Scene


class Logs(Scene):
    def lines(self, *words):
        return [l for l in self.daemon.log_text().splitlines() if all(w in l for w in words)]

    def logged(self, *words):
        return eventually(lambda: self.lines(*words), what=f"a line with {words}")

    def start(self):
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "2"}}), local_queue("main", "team"))

    def test_each_end_of_a_workload_has_a_line(self):
        self.start()
        self.create(job("short", run_for="100ms"), job("long", run_for="60s"), job("waits", cpu="2"))
        done = self.workload("short")["metadata"]["name"]
        gone = self.admitted("long")["metadata"]["name"]
        self.logged("finished", f"default/{done}", "Succeeded")
        self.daemon.kubectl("delete", "job", "long")
        self.logged("gone", f"default/{gone}")
        ended = self.lines(" finished ", f"default/{done}")
        self.assertEqual(len(ended), 1, ended)
        self.assertIn(" uid=", ended[0])

    def test_places_stand_in_the_line_of_the_admission(self):
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology", "metadata": {"name": "t"},
                     "spec": {"levels": [{"nodeLabel": "kubernetes.io/hostname"}]}},
                    {"apiVersion": "v1", "kind": "Node",
                     "metadata": {"name": "n1", "labels": {"pool": "x", "kubernetes.io/hostname": "n1"}},
                     "status": {"allocatable": {"cpu": "4", "pods": "9"}, "conditions": [{"type": "Ready", "status": "True"}]}},
                    flavor("f", nodeLabels={"pool": "x"}, topologyName="t"),
                    cluster_queue("team", {"f": {"cpu": "4"}}), local_queue("main", "team"))
        placed = job("placed", run_for="60s", parallelism=2)
        placed["spec"]["template"]["metadata"] = {
            "annotations": {"kueue.x-k8s.io/podset-required-topology": "kubernetes.io/hostname"}}
        self.create(placed)
        self.admitted("placed")
        self.logged("reserve", "n1: 2")

    def test_sigusr2_writes_the_state_and_ends_nothing(self):
        self.start()
        self.create(job("long", run_for="60s"))
        self.admitted("long")
        self.daemon.process.send_signal(signal.SIGUSR2)
        self.logged("state", "holding")
        self.logged("state of a queue", "team", "admitted")
        self.assertIsNone(self.daemon.process.poll())
        self.assertEqual(self.daemon.request("GET", "/readyz")[0], 200)


if __name__ == "__main__":
    unittest.main()
