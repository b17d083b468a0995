"""--config and --feature-gates as whoever starts the daemon sees them."""
import unittest
from daemon import *

HEAD = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"


class Config(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sluice-config-"))
        self.file = self.home / "kueue.yaml"

    def tearDown(self):
        shutil.rmtree(self.home)

    def refused(self, *options):
        """stderr's lines of a daemon that does not start."""
        done = subprocess.run([BUILD / "sluiced", "--standalone", "--data", self.home / "data", "--listen", "127.0.0.1:0",
                               *options], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertFalse((self.home / "data").exists(), "nothing is created before the configuration is good")
        return done.stderr.splitlines()

    def log_of(self, *options):
        daemon = Daemon(options=options).start()
        try:
            return daemon.log_text()
        finally:
            daemon.close()

    def test_all_complaints_are_printed_with_file_and_path(self):
        self.file.write_text(HEAD + "waitForPodsReady: {timout: 5m, blockAdmission: 1}\nfeatureGates: {Nonsense: true}\n")
        lines = self.refused("--config", self.file)
        self.assertEqual(sorted(lines), [
            f"sluiced: {self.file}: featureGates[Nonsense]: unknown feature gate",
            f"sluiced: {self.file}: waitForPodsReady.blockAdmission: must be true or false, not 1",
            f"sluiced: {self.file}: waitForPodsReady.timout: unknown field"])

    def test_options_of_kueues_manager_are_taken_with_a_warning_where_they_mean_nothing(self):
        done = subprocess.run([BUILD / "sluiced", "--kubeconfig", self.home / "none", "--zap-log-level=2", "--zap-encoder=json",
                               "--zap-devel", "--zap-time-encoding", "iso8601"], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 1)
        logged = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
        self.assertEqual([line["option"] for line in logged if line["msg"] == "option without effect"],
                         ["--zap-devel", "--zap-time-encoding"])

    def test_policies_are_printed_and_nothing_is_started(self):
        self.file.write_text(HEAD + "integrations: {frameworks: [batch/job]}\n")
        done = subprocess.run([BUILD / "sluiced", "--print-policies", "1.35", "--config", self.file, "--data",
                               self.home / "data"], capture_output=True, text=True, timeout=20)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse((self.home / "data").exists())
        self.assertIn("apiVersion: admissionregistration.k8s.io/v1beta1\nkind: MutatingAdmissionPolicy\n", done.stdout)
        self.assertNotIn("sluice-gate-pods", done.stdout)
        self.file.write_text(HEAD + "nonsense: 1\n")
        done = subprocess.run([BUILD / "sluiced", "--print-policies", "1.35", "--config", self.file], capture_output=True,
                              text=True, timeout=20)
        self.assertEqual((done.returncode, done.stdout), (1, ""))

    def test_a_file_that_is_not_there_is_named(self):
        self.assertEqual(self.refused("--config", self.file), [f"sluiced: {self.file}: No such file or directory"])

    def test_gates_of_the_command_line_are_checked(self):
        self.assertEqual(self.refused("--feature-gates", "Nonsense=true"),
                         ["sluiced: --feature-gates[Nonsense]: unknown feature gate"])

    def test_what_has_no_effect_is_named_once_in_the_log(self):
        self.file.write_text(HEAD + "health: {healthProbeBindAddress: ':8081'}\nmanageJobsWithoutQueueName: true\n"
                             "integrations: {frameworks: [batch/job, pod, ray.io/rayservice]}\n")
        log = self.log_of("--config", str(self.file))
        for field in ("health.healthProbeBindAddress", "integrations.frameworks[2]"):
            self.assertEqual(log.count(f"configured without effect field={field} "), 1, log)
        self.assertEqual(log.count("configured without effect"), 2)

    def check(self, *options):
        return subprocess.run([BUILD / "sluiced", "--check-config", self.file, *options], capture_output=True, text=True, timeout=20)

    def test_check_config_says_everything_and_starts_nothing(self):
        self.file.write_text(HEAD + "health: {healthProbeBindAddress: ':8081'}\n"
                             "fairSharing: {preemptionStrategies: [LessThanInitialShare]}\nfeatureGates: {PartialAdmission: false}\n")
        done = self.check("--standalone")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"without effect: {self.file}: health.healthProbeBindAddress: ", done.stdout)
        self.assertIn(f"{self.file}: valid in standalone mode. In force:\n", done.stdout)
        self.assertIn("PartialAdmission=false", done.stdout)
        self.assertIn("fair sharing: on, preemption by LessThanInitialShare\n", done.stdout)
        self.assertEqual([p.name for p in self.home.iterdir()], ["kueue.yaml"])
        done = self.check()
        self.assertIn(f"{self.file}: valid in cluster mode.", done.stdout)
        self.assertNotIn("without effect", done.stdout)

    def test_check_config_names_each_complaint(self):
        self.file.write_text(HEAD + "fairSharing: {}\nnonsense: 1\n")
        done = self.check()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(sorted(done.stderr.splitlines()), [
            f"sluiced: {self.file}: fairSharing.preemptionStrategies: required", f"sluiced: {self.file}: nonsense: unknown field"])

    def test_the_log_says_what_is_in_force(self):
        self.file.write_text(HEAD + "fairSharing: {preemptionStrategies: [LessThanInitialShare]}\n")
        log = self.log_of("--config", str(self.file), "--feature-gates", "PartialAdmission=false")
        line = next(x for x in log.splitlines() if " configured " in x)
        for part in (f"config={self.file} ", "mode=standalone ", "PartialAdmission=false", 'fair_sharing="on, preemption by LessThanInitialShare"'):
            self.assertIn(part, line)
        self.assertIn("config=\"none, Kueue's defaults\"", self.log_of())

    def test_json_is_taken_as_well(self):
        self.file.write_text(json.dumps({"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration",
                                         "fairSharing": {"preemptionStrategies": ["LessThanInitialShare"]}}))
        self.assertNotIn("configured without effect", self.log_of("--config", str(self.file)))

    def test_a_gate_changes_what_is_decided(self):
        daemon = Daemon(options=["--feature-gates", "PartialAdmission=false"]).start()
        try:
            daemon.kubectl("apply", "-f", str(ROOT / "deploy/examples/partial-admission/10-queues.yaml"),
                           "-f", str(ROOT / "deploy/examples/partial-admission/20-jobs.yaml"))
            path = f"/apis/{KUEUE}/namespaces/partial/workloads"
            refused = lambda w: (condition(w, "QuotaReserved") or {}).get("status") == "False"
            eventually(lambda: sum(refused(w) for w in daemon.get(path)["items"]) == 2, what="both wait")
        finally:
            daemon.close()


if __name__ == "__main__":
    unittest.main()
