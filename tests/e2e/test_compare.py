"""sluicectl compare: what a daemon did is done again as it was, and otherwise with other quotas or another configuration."""
from scene import *

KINDS = ("sooner", "later", "started", "unstarted", "evictedMore", "evictedLess")


class Compare(Scene):
    def setUp(self):
        super().setUp()
        self.create({"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "high"}, "value": 100},
                    flavor("f"), cluster_queue("team", {"f": {"cpu": "2"}}, preemption={"withinClusterQueue": "LowerPriority"}),
                    cluster_queue("other", {"f": {"cpu": "1"}}), local_queue("main", "team"), local_queue("side", "other"))
        self.file = self.daemon.home / "wanted.yaml"

    def compare(self, *words, code=0):
        done = self.daemon.sluicectl("compare", "--journal", str(self.daemon.data), *words, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def report(self, *words, code=0):
        return json.loads(self.compare(*words, "-o", "json", code=code).stdout)

    def day(self):
        """Three jobs one after the other, one that evicts, one of another queue; and a restart in between."""
        self.create(*[job(f"plain-{i}", cpu="2", run_for="1s") for i in range(3)], job("aside", queue="side", run_for="1s"))
        self.admitted("plain-0")
        self.create(job("urgent", cpu="2", run_for="1s", labels={"kueue.x-k8s.io/priority-class": "high"}))
        self.finished("urgent")
        self.daemon.stop()
        self.daemon.start()
        for name in ("plain-0", "plain-1", "plain-2", "aside"):
            self.finished(name)
        self.daemon.stop()

    def test_day_with_a_restart_goes_as_it_went(self):
        self.day()
        report = self.report("--fail-if", "otherwise>0", "--fail-if", "later>0", "--fail-if", "sooner>0")
        self.assertEqual(report["kind"], "Comparison")
        self.assertEqual(report["playedOtherwise"], 0)
        self.assertEqual(report["before"], report["after"])
        self.assertEqual(report["counts"], {})
        self.assertEqual((report["before"]["workloads"], report["before"]["finished"]), (5, 5), report)
        self.assertGreaterEqual(report["before"]["evictions"], 1)

    def test_larger_quota_lets_them_start_sooner(self):
        self.day()
        self.file.write_text(json.dumps(cluster_queue("team", {"f": {"cpu": "8"}})))
        report = self.report("-f", str(self.file), "--fail-if", "team:wait_max>+0s", "--fail-if", "evictions>+0")
        self.assertEqual(report["playedOtherwise"], 0)
        self.assertEqual(report["after"]["evictions"], 0)
        self.assertEqual({r["clusterQueue"] for r in report["sooner"]}, {"team"})
        self.assertGreaterEqual(report["counts"]["sooner"], 2)
        self.assertNotIn("later", report["counts"])
        before, after = ({u["queue"]: u[when] for u in report["utilization"]} for when in ("before", "after"))
        self.assertGreater(before["team"]["usedPermille"], after["team"]["usedPermille"])
        self.assertEqual(before["other"]["usedPermille"], after["other"]["usedPermille"])
        text = self.compare("-f", str(self.file)).stdout
        self.assertRegex(text, r"\d start sooner:\n  default/job-plain-")
        self.assertRegex(text, r"(?m)^evictions +\d+ +0$")
        self.assertIn("submitted, canceled and deactivated when they were", text)
        done = self.compare("-f", str(self.file), "--fail-if", "wait_max<+0%", "--fail-if", "sooner>0", code=1)
        self.assertRegex(done.stderr, r"compare: sooner>0: it is \d, and was \d\n")

    def test_smaller_quota_leaves_them_waiting(self):
        self.day()
        self.file.write_text(json.dumps(cluster_queue("team", {"f": {"cpu": "1"}})))
        report = self.report("-f", str(self.file), "--fail-if", "team:waiting>0", code=1)
        self.assertEqual(report["counts"], {"unstarted": 4, "evictedLess": report["counts"]["evictedLess"]})
        self.assertEqual([r for r in report["unstarted"] if r["clusterQueue"] != "team"], [])

    def test_other_configuration_decides_otherwise(self):
        self.create(cluster_queue("a", {"f": {"cpu": "1"}}, cohortName="c"), local_queue("a", "a"))
        self.create(job("half", cpu="1", queue="a", run_for="1s"), job("whole", cpu="1", queue="a", run_for="1s"))
        self.finished("whole")
        self.daemon.stop()
        self.file.write_text("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
                             "fairSharing:\n  preemptionStrategies: [LessThanOrEqualToFinalShare]\n")
        report = self.report("--with", str(self.file))
        self.assertEqual((report["playedOtherwise"], report["counts"]), (0, {}))
        report = self.report("--config", str(self.file), "--with", str(self.file))
        self.assertEqual(report["counts"], {})

    def test_what_cannot_be_compared_is_told(self):
        self.daemon.stop()
        for words, text in ((["-f", "-"], "only ClusterQueues, Cohorts and ResourceFlavors can"),
                            (["--with", "/nonexistent"], "/nonexistent"),
                            (["-f", "/nonexistent"], "/nonexistent")):
            done = self.daemon.sluicectl("compare", "--journal", str(self.daemon.data), *words, check=False,
                                         stdin=json.dumps(job("j")))
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(text, done.stderr)
        self.file.write_text("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairShare: {}\n")
        self.assertIn("fairShare", self.compare("--with", str(self.file), code=1).stderr)
        for limit in ("soon", "wait_p95", "wait_p95>much", "wait_p95>5%", "evictions>5s", "team:later>0"):
            self.assertIn(f'"{limit}" is not', self.compare("--fail-if", limit, code=2).stderr)
        self.assertIn('no workload of a ClusterQueue "nosuch"', self.compare("--fail-if", "nosuch:waiting>0", code=2).stderr)
        for words, text in ((["compare"], "compare needs --journal"), (["compare", "--journal", "x", "y"], "no arguments")):
            done = self.daemon.sluicectl(*words, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)
        done = self.daemon.sluicectl("compare", "--journal", "/nonexistent", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nonexistent", done.stderr)
        empty = self.daemon.home / "empty"
        empty.mkdir()
        done = self.daemon.sluicectl("compare", "--journal", str(empty), check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
