"""sluicectl run: a command as a Job; what becomes of it, and its exit code."""
import http.server, json, os, subprocess, tempfile, threading, time, unittest, urllib.parse
from daemon import *

JOBS = "/apis/batch/v1/namespaces/default/jobs"
GATES = "kueue.x-k8s.io/admission-gated-by"


class Standalone(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()
        for o in (flavor("f"), cluster_queue("team", {"f": {"cpu": "4"}}), local_queue("main", "team")):
            cls.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(o))

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def run_(self, *arguments, **options):
        return self.daemon.sluicectl("run", *arguments, **options)

    def job(self, name):
        return self.daemon.get(f"{JOBS}/{name}")

    def end(self, name, condition="Complete"):
        """What would happen to it by itself, at once."""
        self.daemon.request("PATCH", f"{JOBS}/{name}/status",
                            {"status": {"conditions": [{"type": condition, "status": "True", "reason": "Test", "message": "by the test"}]}},
                            content_type="application/merge-patch+json")

    def long_job(self, name):
        self.daemon.sluicectl("submit", "--queue", "main", "--name", name, "--cpu", "100m", "--run-for", "1h")

    def test_a_command_becomes_a_job_and_its_name_is_all_that_is_printed(self):
        done = self.run_("--queue", "main", "--cpu", "100m", "--env", "A=b", "--", "python", "train.py", "--epochs", "3")
        name = done.stdout.strip()
        self.assertRegex(name, r"^python-[a-z0-9]+$")
        self.assertEqual([line for line in done.stderr.splitlines() if "jobs are simulated" not in line], [])
        job = self.job(name)
        container = job["spec"]["template"]["spec"]["containers"][0]
        self.assertEqual(container["command"], ["python", "train.py", "--epochs", "3"])
        self.assertEqual(container["workingDir"], os.getcwd())
        self.assertEqual(container["env"], [{"name": "A", "value": "b"}])
        self.assertEqual(job["spec"]["backoffLimit"], 0)
        eventually(lambda: holds(self.job(name), "Complete"), what="completion")

    def test_the_only_queue_is_found_and_words_need_no_dashes(self):
        name = self.run_("--name", "plain", "--cpu", "100m", "true").stdout.strip()
        self.assertEqual(name, "plain")
        self.assertEqual(self.job(name)["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "main")
        missing = self.run_("-n", "elsewhere", "--", "true", check=False)
        self.assertEqual((missing.returncode, missing.stdout), (1, ""))
        self.assertIn("--queue: namespace elsewhere has no LocalQueue", missing.stderr)

    def test_hundred_arguments_are_kept(self):
        words = ["echo"] + [f"-{i}" for i in range(100)]
        out = self.run_("--dry-run=client", "-o", "json", "--", *words).stdout
        self.assertEqual(json.loads(out)["spec"]["template"]["spec"]["containers"][0]["command"], words)

    def test_wait_ends_with_the_job(self):
        done = self.run_("--cpu", "100m", "--name", "good", "--wait", "--", "true")
        self.assertEqual((done.returncode, done.stdout), (0, "good\n"))
        waiting = subprocess.Popen([BUILD / "sluicectl", "run", "--server", self.daemon.url, "--name", "bad", "--cpu", "100", "--wait", "--", "x"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        eventually(lambda: self.daemon.request("GET", f"{JOBS}/bad")[0] == 200, what="the job")
        self.end("bad", "Failed")
        out, err = waiting.communicate(timeout=30)
        self.assertEqual((waiting.returncode, out), (1, "bad\n"))
        self.assertIn("job/bad failed: by the test", err)

    def test_wait_says_that_the_job_was_deleted(self):
        waiting = subprocess.Popen([BUILD / "sluicectl", "run", "--server", self.daemon.url, "--name", "gone", "--cpu", "100", "--wait", "--", "x"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        eventually(lambda: self.daemon.request("GET", f"{JOBS}/gone")[0] == 200, what="the job")
        self.daemon.request("DELETE", f"{JOBS}/gone")
        _, err = waiting.communicate(timeout=30)
        self.assertEqual(waiting.returncode, 1)
        self.assertIn("job/gone was deleted", err)

    def test_follow_says_that_nothing_runs_in_a_simulation(self):
        done = self.run_("--cpu", "100m", "--name", "followed", "--follow", "--", "true")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("followed\n", done.stderr)
        self.assertIn("simulates it", done.stderr)

    def test_array_is_indexed_and_starts_with_what_there_is_quota_for(self):
        name = self.run_("--array", "6%5", "--cpu", "1", "--", "true").stdout.strip()
        job = self.job(name)
        self.assertEqual((job["spec"]["completionMode"], job["spec"]["completions"]), ("Indexed", 6))
        eventually(lambda: holds(self.job(name), "Complete"), what="completion with 4 of 5 at a time")
        self.assertEqual(self.job(name)["status"]["succeeded"], 6)

    def test_after_waits_in_no_queue_until_the_other_one_is_complete(self):
        self.long_job("prep")
        name = self.run_("--after", "prep", "--cpu", "100m", "--", "true").stdout.strip()
        uid = self.job("prep")["metadata"]["uid"]
        self.assertEqual(self.job(name)["metadata"]["annotations"]["sluice.dev/after"], f"prep:{uid}")

        def workload():
            items = self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads")["items"]
            return next((w for w in items if w["metadata"].get("ownerReferences", [{}])[0].get("name") == name), None)
        eventually(lambda: workload() and (condition(workload(), "QuotaReserved") or {}).get("reason") == "AdmissionGated", what="the gate")
        self.end("prep")
        eventually(lambda: GATES not in self.job(name)["metadata"]["annotations"], what="the gate to open")
        eventually(lambda: holds(self.job(name), "Complete"), what="completion")

    def test_after_fails_with_the_other_one_and_so_does_what_comes_after_that(self):
        self.long_job("first")
        second = self.run_("--after", "job/first", "--cpu", "100m", "--name", "second", "--", "true").stdout.strip()
        self.run_("--after", second, "--cpu", "100m", "--name", "third", "--", "true")
        self.end("first", "Failed")
        for name, other in (("second", "first"), ("third", "second")):
            eventually(lambda: holds(self.job(name), "Failed"), what=f"the failure of {name}")
            c = condition(self.job(name), "Failed")
            self.assertEqual((c["reason"], c["message"]), ("DependencyFailed", f"Job {other}, which it was to run after, has failed"))
        refused = self.run_("--after", "first", "--", "true", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("--after first: that job has failed", refused.stderr)

    def test_after_fails_when_the_other_one_is_deleted(self):
        self.long_job("doomed")
        self.run_("--after", "doomed", "--cpu", "100m", "--name", "orphan", "--", "true")
        self.daemon.request("DELETE", f"{JOBS}/doomed")
        eventually(lambda: holds(self.job("orphan"), "Failed"), what="the failure")
        self.assertIn("was deleted", condition(self.job("orphan"), "Failed")["message"])
        missing = self.run_("--after", "nobody", "--", "true", check=False)
        self.assertEqual(missing.returncode, 1)
        self.assertIn('--after nobody: jobs.batch "nobody" not found', missing.stderr)

    def test_after_outlives_the_client_and_the_daemon(self):
        daemon = Daemon().start()
        self.addCleanup(daemon.close)
        for o in (flavor("f"), cluster_queue("team", {"f": {"cpu": "4"}}), local_queue("main", "team")):
            daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(o))
        daemon.sluicectl("submit", "--queue", "main", "--name", "prep", "--run-for", "3s")
        daemon.sluicectl("run", "--after", "prep", "--name", "next", "--", "true")
        daemon.kill()
        daemon.start()
        self.assertIn(GATES, daemon.get(f"{JOBS}/next")["metadata"]["annotations"])
        eventually(lambda: holds(daemon.get(f"{JOBS}/next"), "Complete"), what="completion after the restart")

    def test_dry_run_stores_nothing(self):
        for how in ("client", "server"):
            out = self.run_("--name", "trial", f"--dry-run={how}", "-o", "yaml", "--", "true").stdout
            self.assertIn("name: trial", out)
            self.assertEqual(self.daemon.request("GET", f"{JOBS}/trial")[0], 404)

    def test_wrong_use_is_named(self):
        for arguments, part in (([], "needs a command"), (["--array", "x", "--", "true"], "--array"), (["stray", "--", "true"], '"stray" before --'),
                                (["--cpu", "lots", "--", "true"], "--cpu"), (["--env", "NOT_SET_ANYWHERE", "--", "true"], "NOT_SET_ANYWHERE"),
                                (["--count", "3", "--", "true"], "run has no option --count")):
            done = self.run_(*arguments, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(part, done.stderr)


class FakeCluster(http.server.ThreadingHTTPServer):
    """As much of a cluster as a Job needs that runs one pod, which prints and ends with a code."""
    daemon_threads = True

    def __init__(self, pods, late=0):
        super().__init__(("127.0.0.1", 0), FakeHandler)
        self.pods, self.job, self.ended, self.cut = pods, None, threading.Event(), True
        self.late = late  # so many lists have no pods yet
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.ended.set()
        self.shutdown()
        self.server_close()


class FakeHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def log_message(self, *_):
        pass

    def answer(self, value, code=200):
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.server.job = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.job["metadata"].update(uid="u1", name="j", namespace="default", resourceVersion="1")
        self.answer(self.server.job, 201)

    def pod(self, index, done):
        state = {"terminated": {"exitCode": self.server.pods[index][1]}} if done else {"running": {}}
        return {"metadata": {"name": f"j-{index}", "uid": f"p{index}", "namespace": "default",
                             "annotations": {"batch.kubernetes.io/job-completion-index": str(index)}},
                "status": {"phase": "Succeeded" if done and self.server.pods[index][1] == 0 else "Failed" if done else "Running",
                           "containerStatuses": [{"name": "main", "state": state}]}}

    def finished_job(self):
        bad = any(code for _, code in self.server.pods)
        return dict(self.server.job, status={"startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": "Failed" if bad else "Complete", "status": "True",
                                                             "message": "backoff limit" if bad else ""}]})

    def do_GET(self):
        try:
            self.serve()
        except BrokenPipeError:
            pass  # the client has seen enough

    def serve(self):
        path, _, query = self.path.partition("?")
        done = self.server.ended.is_set()
        if path == "/version":
            self.answer({"gitVersion": "v1.36.3"})
        elif path.endswith("/log"):
            self.send_response(200 if "follow=true" in query else 400)
            self.end_headers()
            for piece in self.server.pods[int(path.split("/")[-2][2:])][0]:
                self.wfile.write(piece.encode())
                self.wfile.flush()
                time.sleep(0.2)
            self.server.ended.set()
        elif "watch=true" in query:
            self.send_response(200)
            self.end_headers()
            if "/jobs" in path and "metadata.name%3Dj" in query and (done or self.server.ended.wait(20)):
                self.wfile.write((json.dumps({"type": "MODIFIED", "object": self.finished_job()}) + "\n").encode())
            elif self.server.cut:
                self.server.cut = False  # as a server may at any time
            else:
                self.server.ended.wait(20)
        elif path.endswith("/pods") and self.server.late > 0:
            self.server.late -= 1
            self.answer({"metadata": {"resourceVersion": "1"}, "items": []})
        elif path.endswith("/pods"):
            self.answer({"metadata": {"resourceVersion": "1"}, "items": [self.pod(i, done) for i in range(len(self.server.pods))]}
                        if "job-name%3Dj" in query else {}, 200)
        elif path.endswith("/jobs"):
            self.answer({"metadata": {"resourceVersion": "1"}, "items": [self.finished_job() if done else self.server.job]})
        else:
            self.answer({"kind": "LocalQueue", "metadata": {"name": "main"}})


class Cluster(unittest.TestCase):
    def run_(self, pods, *arguments):
        cluster = FakeCluster(pods)
        self.addCleanup(cluster.close)
        done = subprocess.run([BUILD / "sluicectl", "run", "--server", f"http://127.0.0.1:{cluster.server_port}", "--queue", "main", *arguments],
                              capture_output=True, text=True, timeout=60)
        return done, cluster.job

    def test_follow_prints_what_the_program_prints_and_ends_with_its_code(self):
        done, job = self.run_([(["one\ntw", "o\n", "last"], 7)], "--image", "i", "--follow", "--", "prog")
        self.assertEqual(done.stdout, "one\ntwo\nlast")
        self.assertEqual(done.returncode, 7)
        self.assertEqual(done.stderr, "j\njob/j failed: backoff limit\n")
        self.assertNotIn("workingDir", job["spec"]["template"]["spec"]["containers"][0])

    def test_follow_waits_for_pods_that_are_told_of_after_the_end_of_their_job(self):
        cluster = FakeCluster([(["all\n"], 0)], late=1)
        self.addCleanup(cluster.close)
        cluster.ended.set()
        done = subprocess.run([BUILD / "sluicectl", "run", "--server", f"http://127.0.0.1:{cluster.server_port}", "--queue", "main",
                               "--image", "i", "--follow", "--", "prog"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "all\n", "j\n"))

    def test_follow_of_an_array_says_whose_line_it_is(self):
        done, _ = self.run_([(["a\nb", "c\n"], 0), (["x", "y"], 0)], "--image", "i", "--array", "2", "--follow", "--", "prog")
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] a", "[0] bc", "[1] xy"])
        self.assertEqual(done.returncode, 0)

    def test_wait_ends_with_the_code_of_the_failed_pod(self):
        cluster = FakeCluster([([], 0), ([], 42)])
        self.addCleanup(cluster.close)
        threading.Timer(0.5, cluster.ended.set).start()
        done = subprocess.run([BUILD / "sluicectl", "run", "--server", f"http://127.0.0.1:{cluster.server_port}", "--queue", "main",
                               "--image", "i", "--wait", "-q", "--", "prog"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (42, "", ""))

    def test_a_cluster_needs_an_image_and_has_no_after(self):
        done, job = self.run_([], "--", "prog")
        self.assertEqual((done.returncode, job), (1, None))
        self.assertIn("--image: on a cluster", done.stderr)
        done, job = self.run_([], "--image", "i", "--after", "x", "--", "prog")
        self.assertEqual((done.returncode, job), (1, None))
        self.assertIn("--after works with Sluice in standalone mode only", done.stderr)


if __name__ == "__main__":
    unittest.main()
