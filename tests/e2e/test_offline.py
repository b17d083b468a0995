"""sluicectl what-if without a server: of a dump, of lists of objects and of a journal, as the daemon answers it."""
import subprocess
from scene import *

MOMENT = ("now", "until", "start", "startBefore", "evicted", "notBefore", "waitMilliseconds", "waitMillisecondsBefore")


def timeless(value):
    """Without what depends on the second in which it was asked."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if k not in MOMENT}
    if isinstance(value, str):
        return re.sub(r"^job-urgent-\w+$", "job-urgent", value)  # the name of a Workload that is not made is drawn
    return [timeless(v) for v in value] if isinstance(value, list) else value


class Offline(Scene):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.create({"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "high"}, "value": 100},
                    flavor("f"), flavor("spare"),
                    cluster_queue("team", {"f": {"cpu": "4"}}, preemption={"withinClusterQueue": "LowerPriority"}, cohortName="c"),
                    cluster_queue("lender", {"f": {"cpu": "3"}}, cohortName="c"), local_queue("main", "team"))
        for name, cpu, run_for in (("first", "3", "600s"), ("low", "3", "900s"), ("second", "3", "300s"), ("third", "2", "60s")):
            self.create(job(name, cpu=cpu, run_for=run_for))
            self.workload(name, lambda w: condition(w, "QuotaReserved"), "verdict")
            time.sleep(1.1)  # in objects times are in seconds, and the daemon knows better
        self.admitted("first", "low")
        self.dump = self.daemon.home / "dump.json"
        self.new = self.daemon.home / "new.json"
        self.new.write_text(json.dumps(job("urgent", cpu="2", run_for="100s", labels={"kueue.x-k8s.io/priority-class": "high"})))
        self.queue = self.daemon.home / "queue.json"
        self.queue.write_text(json.dumps(cluster_queue("team", {"f": {"cpu": "9"}}, cohortName="c")))

    def ask(self, *words, code=0):
        done = self.daemon.sluicectl("what-if", *words, "-o", "json", check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        if code == 0:
            self.assertEqual(done.stderr, "", "the log of a daemon is not a command's")
        return json.loads(done.stdout) if code == 0 else done.stderr

    def questions(self):
        return (["--quota", "team:f:cpu=9"], ["--quota", "team:f:cpu=1"], ["-f", str(self.new)], ["-f", str(self.queue)],
                ["--stop-queue", "team"], ["--drain-queue", "team"], ["--quota", "lender:f:cpu=0", "-f", str(self.new)],
                ["--priority", self.workload("third")["metadata"]["name"] + "=1000"])

    def lists(self):
        directory = self.daemon.home / "objects"
        directory.mkdir()
        for kind in ("clusterqueues", "cohorts", "localqueues", "resourceflavors", "workloads", "workloadpriorityclasses",
                     "jobs", "namespaces"):
            (directory / f"{kind}.yaml").write_text(self.daemon.sluicectl("get", kind, "-A", "-o", "yaml").stdout)
        return directory

    def at_once(self, answer):
        """What a journal tells as well, which knows neither LocalQueues nor how long jobs run."""
        rows = lambda *members: sorted(r["name"] for m in members for r in answer.get(m, []))
        now = {m: [r for r in answer.get(m, []) if r["waitMilliseconds"] == 0] for m in ("started", "sooner")}
        return {"go": sorted(r["name"] for m in now.values() for r in m), "evicted": rows("evicted")}

    def test_dump_objects_and_journal_are_answered_as_the_daemon_does(self):
        self.dump.write_text(self.daemon.sluicectl("dump").stdout)
        lists = self.lists()
        asked = self.questions()
        said = [self.ask(*q) for q in asked]
        self.daemon.stop()
        for question, answer in zip(asked, said):
            for files in (self.dump, lists):
                self.assertEqual(timeless(self.ask("--dump", str(files), *question)), timeless(answer), (files, question))
            if "-f" not in question:
                offline = self.ask("--journal", str(self.daemon.data), *question)
                self.assertEqual(self.at_once(offline), self.at_once(answer), question)
        self.assertTrue(any(a["counts"].get("sooner") or a["counts"].get("started") for a in said), said)
        self.assertTrue(any(a["counts"].get("evicted") for a in said), said)


class OfflineErrors(Scene):
    ask = Offline.ask

    def setUp(self):
        super().setUp()
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "4"}}))
        self.dump = self.daemon.home / "dump.json"
        self.queue = self.daemon.home / "queue.json"

    def test_what_cannot_be_asked_is_told(self):
        self.dump.write_text("{}")
        self.assertIn("there are no objects in it", self.ask("--dump", str(self.dump), "--quota", "team:f:cpu=9", code=1))
        self.dump.write_text('{"kind": "Dump", "objects": {"ClusterQueue": [null, {"unknown": "x"}]}}')
        self.assertIn("there are no objects in it", self.ask("--dump", str(self.dump), "--quota", "team:f:cpu=9", code=1))
        self.dump.write_text("{")
        self.assertIn("dump.json", self.ask("--dump", str(self.dump), "--quota", "team:f:cpu=9", code=1))
        self.dump.write_text(self.daemon.sluicectl("dump").stdout)
        self.daemon.stop()
        self.assertIn('"nosuch" not found', self.ask("--dump", str(self.dump), "--quota", "nosuch:f:cpu=9", code=1))
        self.assertIn("has no quota of gpu", self.ask("--dump", str(self.dump), "--quota", "team:f:gpu=9", code=1))
        self.assertIn("/nonexistent", self.ask("--dump", "/nonexistent", "--quota", "team:f:cpu=9", code=1))
        self.assertIn("/nonexistent", self.ask("--journal", "/nonexistent", "--quota", "team:f:cpu=9", code=1))
        self.assertIn("exclude each other", self.ask("--journal", "x", "--dump", "y", "--quota", "team:f:cpu=9", code=2))
        self.assertIn("--config is for", self.ask("--config", "x", "--quota", "team:f:cpu=9", code=2))
        self.assertIn("needs something", self.ask("--dump", str(self.dump), code=2))
        self.assertIn("soon", self.ask("--dump", str(self.dump), "--stop-queue", "team", "--horizon", "soon", code=1))
        self.queue.write_text("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairShare: {}\n")
        self.assertIn("fairShare", self.ask("--dump", str(self.dump), "--config", str(self.queue), "--stop-queue", "team", code=1))
