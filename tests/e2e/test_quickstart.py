"""What `make run` does: play the quickstart, stay up, stop on Ctrl-C, and pick up where it was."""
import os, pathlib, re, shutil, signal, subprocess, tempfile, unittest
from daemon import BUILD, KUBECTL, ROOT, Daemon, eventually, free_port


class Quickstart(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sluice-e2e-"))
        self.listen = f"127.0.0.1:{free_port()}"

    def tearDown(self):
        shutil.rmtree(self.home, ignore_errors=True)

    def play(self, name):
        """Runs until it says how to stop it, then Ctrl-C; (exit code, output)."""
        out = self.home / name
        with open(out, "wb") as sink:
            process = subprocess.Popen(["deploy/examples/run.sh", str(BUILD)], cwd=ROOT, stdout=sink, stderr=sink,
                                       start_new_session=True,
                                       env={**os.environ, "DATA": str(self.home / "data"), "LISTEN": self.listen})
            try:
                eventually(lambda: "Ctrl-C stops it" in out.read_text() or process.poll() is not None, seconds=150,
                           what="the end of the quickstart")
                kubectl = subprocess.run([KUBECTL, "--kubeconfig", self.home / "data/kubeconfig", "get", "workloads", "-A"],
                                         capture_output=True, text=True, timeout=30)
                os.killpg(process.pid, signal.SIGINT)
                return process.wait(20), out.read_text(), kubectl.stdout
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def test_quickstart_plays_to_the_end_and_picks_up_where_it_was(self):
        code, text, table = self.play("first")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"All \d+ workloads have finished")
        self.assertIn("pending", text)
        self.assertIn(f"http://{self.listen}", text)
        self.assertIn("KUBECONFIG=", text)
        self.assertEqual(len(re.findall(r"(?m)^(lab|shop) ", table)), 40, table)
        code, text, _ = self.play("second")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"\b0 created")
        self.assertRegex(text, r"All 40 workloads have finished")

    def test_commands_are_run_where_that_is_asked_for(self):
        out = self.home / "processes"
        with open(out, "wb") as sink:
            process = subprocess.Popen(["deploy/examples/run.sh", str(BUILD)], cwd=ROOT, stdout=sink, stderr=sink,
                                       start_new_session=True,
                                       env={**os.environ, "DATA": str(self.home / "data"), "LISTEN": self.listen, "RUN": "processes"})
            try:
                eventually(lambda: "Ctrl-C stops it" in out.read_text() or process.poll() is not None, seconds=150,
                           what="the end of the example")
                kubectl = [KUBECTL, "--kubeconfig", str(self.home / "data/kubeconfig")]
                log = subprocess.run([*kubectl, "logs", "job/report"], capture_output=True, text=True, timeout=60)
                self.assertEqual(log.stdout, "step 1 of 3\nstep 2 of 3\nstep 3 of 3\n", log.stderr)
                os.killpg(process.pid, signal.SIGINT)
                self.assertEqual(process.wait(20), 0)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        self.assertIn("All 3 workloads have finished", out.read_text())
        self.assertNotIn("has no effect", out.read_text())

    def test_another_server_at_the_address_is_not_taken_for_ones_own(self):
        other = Daemon().start()
        self.addCleanup(other.close)
        done = subprocess.run(["deploy/examples/run.sh", str(BUILD)], cwd=ROOT, capture_output=True, text=True, timeout=30,
                              env={**os.environ, "DATA": str(self.home / "data"), "LISTEN": f"127.0.0.1:{other.port}"})
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("answers at", done.stderr)
        self.assertEqual(other.get("/apis/batch/v1/jobs")["items"], [])


if __name__ == "__main__":
    unittest.main()
