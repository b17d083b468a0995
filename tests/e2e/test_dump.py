"""The dump for support: all that is known is in it, and no secret is."""
import json, signal, subprocess
from scene import *

PATH = "/apis/visibility.kueue.x-k8s.io/v1beta2/dump"
SECRET = "hunter2"


def tell_tale(name, **more):
    """A job with a secret wherever people put one."""
    j = job(name, run_for="60s", **more)
    pod = j["spec"]["template"]["spec"]
    pod["containers"][0].update(
        command=["sh", "-c", f"login --password {SECRET}-command"], args=[f"{SECRET}-args"],
        env=[{"name": "PASSWORD", "value": f"{SECRET}-env"}], envFrom=[{"secretRef": {"name": f"{SECRET}-from"}}],
        livenessProbe={"httpGet": {"port": 80, "httpHeaders": [{"name": "Authorization", "value": f"{SECRET}-probe"}]}})
    pod["initContainers"] = [{"name": "init", "image": "busybox", "env": [{"name": "A", "value": f"{SECRET}-init"}]}]
    pod["volumes"] = [{"name": "v", "secret": {"secretName": f"{SECRET}-volume"}}]
    pod["imagePullSecrets"] = [{"name": f"{SECRET}-pull"}]
    j["metadata"]["annotations"] |= {"example.com/note": f"{SECRET}-annotation", "example.com/api-token": f"{SECRET}-token",
                                     "kubectl.kubernetes.io/last-applied-configuration": f"{SECRET}-applied"}
    j["spec"]["template"]["metadata"] = {"annotations": {"vault.example.com/secret": f"{SECRET}-template"}}
    return j


class Dump(Scene):
    def world(self):
        self.create(flavor("f"), cohort("c"), cluster_queue("team", {"f": {"cpu": "2"}}, "c"), local_queue("main", "team"),
                    tell_tale("runs"), tell_tale("waits", cpu="2"))
        self.admitted("runs")
        self.refused("waits", "WaitingForQuota")

    def check(self, text):
        self.assertEqual([line[:200] for line in text.splitlines() if SECRET in line], [])
        dump = json.loads(text)
        self.assertEqual((dump["kind"], dump["role"]), ("Dump", "standalone"))
        objects = dump["objects"]
        names = lambda kind: {o["metadata"]["name"] for o in objects[kind]}
        self.assertEqual((names("ClusterQueue"), names("Cohort"), names("LocalQueue")), ({"team"}, {"c"}, {"main"}))
        self.assertEqual(names("Job"), {"runs", "waits"})
        w = next(w for w in objects["Workload"] if w["metadata"]["ownerReferences"][0]["name"] == "waits")
        container = w["spec"]["podSets"][0]["template"]["spec"]["containers"][0]
        self.assertEqual((container["env"], container["command"], container["resources"]["requests"]["cpu"]), ("REDACTED", "REDACTED", "2"))
        self.assertEqual(condition(w, "QuotaReserved")["status"], "False")
        j = next(j for j in objects["Job"] if j["metadata"]["name"] == "runs")
        self.assertEqual(j["metadata"]["annotations"]["sluice.dev/run-for"], "60s")
        self.assertEqual(j["metadata"]["annotations"]["example.com/note"], "REDACTED")
        self.assertEqual([i["metadata"]["ownerReferences"][0]["name"] for i in dump["pending"]["team"]["items"]], ["waits"])
        self.assertIn('kueue_pending_workloads{cluster_queue="team"', dump["metrics"])
        self.assertIn("fair sharing", dump["configuration"].lower())
        self.assertTrue(objects["Event"])

    def test_a_dump_by_sluicectl_and_by_a_request(self):
        self.world()
        self.check(self.daemon.sluicectl("dump").stdout)
        status, answer = self.daemon.request("GET", PATH)
        self.assertEqual(status, 200)
        self.check(json.dumps(answer))
        self.assertEqual(self.daemon.request("POST", PATH, {})[0], 405)
        done = self.daemon.sluicectl("dump", "file", check=False)
        self.assertEqual((done.returncode, "takes no arguments" in done.stderr), (2, True))
        with open("/dev/full", "w") as full:
            done = subprocess.run([BUILD / "sluicectl", "-s", self.daemon.url, "dump"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
        self.assertEqual((done.returncode, "cannot be written" in done.stderr), (1, True))

    def test_a_dump_by_a_signal(self):
        self.world()
        file = self.daemon.data / "dump.json"
        self.daemon.process.send_signal(signal.SIGUSR2)
        eventually(file.exists, what="the file")
        self.check(file.read_text())
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        self.assertIn("a dump was written", self.daemon.log_text())
        before = file.stat().st_ino
        for _ in range(3):
            self.daemon.process.send_signal(signal.SIGUSR2)
        eventually(lambda: file.stat().st_ino != before, what="a newer file")
        self.check(file.read_text())

    def test_a_dump_that_cannot_be_written_is_said(self):
        (self.daemon.data / "dump.json.new").mkdir()
        self.daemon.process.send_signal(signal.SIGUSR2)
        eventually(lambda: "the dump could not be written" in self.daemon.log_text(), what="the line in the log")
        self.assertEqual(self.daemon.stop(), 0)

    def test_the_daemon_ends_while_a_dump_is_written(self):
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "1"}}), local_queue("main", "team"))
        self.daemon.sluicectl("submit", "--queue", "main", "--count", "300", "-q")
        self.daemon.process.send_signal(signal.SIGUSR2)
        self.assertEqual(self.daemon.stop(), 0)


class Nothing(Scene):
    def test_a_dump_of_nothing_is_a_document(self):
        dump = json.loads(self.daemon.sluicectl("dump").stdout)
        self.assertEqual((dump["objects"]["Workload"], dump["pending"]), ([], {}))


class Adapted(Scene):
    options = ["--adapters", str(ROOT / "deploy/adapters")]

    def test_nothing_is_known_of_the_texts_of_other_kinds(self):
        self.create({"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "ray", "namespace": "default"}, "spec": {
            "entrypoint": f"python {SECRET}", "runtimeEnvYAML": f"env_vars: {{P: {SECRET}}}", "suspend": True, "shutdownAfterJobFinishes": True, "other": [{"text": SECRET}],
            "rayClusterSpec": {"headGroupSpec": {"rayStartParams": {"redis-password": SECRET}, "template": {"spec": {"containers": [
                {"name": "head", "image": "ray", "env": [{"name": "P", "value": SECRET}], "resources": {"requests": {"cpu": "1"}}}]}}}}}})
        text = self.daemon.sluicectl("dump").stdout
        self.assertNotIn(SECRET, text)
        spec = json.loads(text)["objects"]["RayJob"][0]["spec"]
        head = spec["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]
        self.assertEqual((spec["suspend"], head["image"], head["resources"]["requests"]["cpu"]), (True, "ray", "1"))


if __name__ == "__main__":
    unittest.main()
