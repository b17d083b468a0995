# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""--run processes: the commands of Jobs are run on this machine, told of, stopped, and neither lost nor left behind."""
import json, os, random, signal, subprocess, time, unittest
import daemon
from daemon import eventually
from runs import *

# A grandchild that leaves its session, and one that ignores SIGTERM: what a group of processes does not reach.
TREE = "setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & (setsid sleep 1000 &) ; echo up; sleep 1000"


class Run(Scene):
    def test_command_runs_and_is_told_of(self):
        self.job("hello", "echo out; echo err >&2; pwd; echo $GREETING-$JOB_COMPLETION_INDEX; umask",
                 container={"env": [{"name": "WHO", "value": "you"}, {"name": "GREETING", "value": "hello $(WHO)"}]})
        self.complete("hello")
        lines = self.log("hello").splitlines()
        self.assertEqual((lines[0], lines[1], lines[3], lines[4]), ("out", "err", "hello you-", "0022"))
        pod = self.pods("hello")[0]
        self.assertEqual(lines[2], str(self.daemon.data / "pods" / pod["metadata"]["uid"] / "work"))
        self.assertEqual(pod["status"]["phase"], "Succeeded")
        state = pod["status"]["containerStatuses"][0]["state"]["terminated"]
        self.assertEqual((state["exitCode"], state["reason"]), (0, "Completed"))
        status = self.status("hello")
        self.assertEqual((status["succeeded"], status.get("active")), (1, None))
        node = self.daemon.get("/api/v1/nodes")["items"][0]
        self.assertEqual(node["metadata"]["name"], pod["spec"]["nodeName"])
        self.assertEqual(int(node["status"]["capacity"]["cpu"]), os.cpu_count())

    def test_exit_codes_and_signals_are_told(self):
        self.job("three", "exit 3", backoffLimit=0)
        self.job("killed", "kill -9 $$$$", backoffLimit=0)
        self.job("none", "", backoffLimit=0, container={"command": ["no-such-program"]})
        self.job("nowhere", "", backoffLimit=0, container={"command": ["true"], "workingDir": "/no/such/directory"})
        def ends(name):
            self.failed(name, "BackoffLimitExceeded")
            return self.pods(name)[0]["status"]["containerStatuses"][0]["state"]["terminated"]
        self.assertEqual((ends("three")["exitCode"], ends("three")["reason"]), (3, "Error"))
        self.assertEqual((ends("killed")["exitCode"], ends("killed")["signal"]), (137, 9))
        self.assertEqual((ends("none")["exitCode"], ends("none")["reason"]), (128, "StartError"))
        self.assertIn("no-such-program: No such file or directory", ends("none")["message"])
        self.assertIn("workingDir /no/such/directory: No such file", ends("nowhere")["message"])

    def test_what_cannot_be_run_fails_at_once_and_names_its_field(self):
        self.job("image", "", container={"command": []})
        self.job("limit", "true", container={"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]})
        self.job("mount", "true", container={"volumeMounts": [{"name": "v", "mountPath": "/v"}]})
        self.job("policy", "true", podFailurePolicy={"rules": []})
        for name, field in (("image", "spec.template.spec.containers[0].command"), ("mount", "containers[0].volumeMounts"),
                            ("limit", "containers[0].env[1].valueFrom.resourceFieldRef"), ("policy", "spec.podFailurePolicy")):
            self.assertIn(field, self.failed(name, "UnsupportedSpec")["message"])
            self.assertEqual(self.pods(name), [])

    def test_variables_have_values_of_config_maps_and_secrets(self):
        self.daemon.kubectl("create", "configmap", "settings", "--from-literal=A=a", "--from-literal=B=$(A)")
        self.job("values", 'echo "$A $B $P_A $KEY $NONE."', container={
            "envFrom": [{"configMapRef": {"name": "settings"}}, {"prefix": "P_", "configMapRef": {"name": "settings"}},
                        {"secretRef": {"name": "never", "optional": True}}],
            "env": [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "late", "key": "k"}}}]})
        pod = eventually(lambda: (self.pods("values") or [None])[0], what="its pod")["metadata"]["name"]
        said = eventually(lambda: [e["message"] for e in json.loads(self.daemon.kubectl("get", "events", "-o", "json").stdout)["items"]
                                   if e["reason"] == "CreateContainerConfigError"], what="why it waits")
        self.assertEqual(said, ['spec.containers[0].env[1].valueFrom.secretKeyRef: there is no Secret "late" in the namespace'])
        self.assertEqual(processes(self.mark), [])
        self.daemon.kubectl("create", "secret", "generic", "late", "--from-literal=k=came")
        self.complete("values")
        self.assertEqual(self.log("values"), "a $(A) a came .\n")
        self.assertEqual([p["metadata"]["name"] for p in self.pods("values")], [pod])

    def test_indexed_job_runs_each_index(self):
        self.job("array", "echo index $JOB_COMPLETION_INDEX; test $JOB_COMPLETION_INDEX != 2 || exit 1", completions=4, parallelism=2,
                 completionMode="Indexed", backoffLimitPerIndex=0)
        self.failed("array", "FailedIndexes")
        status = self.status("array")
        self.assertEqual((status["completedIndexes"], status["failedIndexes"]), ("0,1,3", "2"))
        logs = sorted(self.daemon.kubectl("logs", p["metadata"]["name"]).stdout for p in self.pods("array"))
        self.assertEqual(logs, [f"index {i}\n" for i in range(4)])

    def test_failed_pod_is_replaced_until_the_backoff_limit(self):
        flag = self.daemon.home / "flag"
        self.job("second", f"test -e {flag} || {{ touch {flag}; exit 1; }}", backoffLimit=2)
        self.complete("second")
        self.assertEqual((self.status("second")["succeeded"], self.status("second")["failed"]), (1, 1))
        self.job("never", "exit 1", backoffLimit=1)
        self.failed("never", "BackoffLimitExceeded")
        self.assertEqual(len(self.pods("never")), 2)

    def test_container_is_started_again_in_its_pod(self):
        self.job("again", "echo run; test -e flag || { touch flag; exit 1; }", policy="OnFailure")
        self.complete("again")
        pod, = self.pods("again")
        self.assertEqual(pod["status"]["containerStatuses"][0]["restartCount"], 1)
        self.assertEqual(self.log("again"), "run\n")
        self.assertEqual(self.log("again", "--previous"), "run\n")

    def test_init_containers_run_first_and_in_order(self):
        init = [{"name": n, "image": "x", "command": ["sh", "-c", f"echo {n} >> order"]} for n in ("one", "two")]
        self.job("init", "cat order", pod={"initContainers": init})
        self.complete("init")
        self.assertEqual(self.log("init", "-c", "c"), "one\ntwo\n")

    def test_deadline_ends_the_job_with_its_processes(self):
        self.job("late", TREE, activeDeadlineSeconds=2, pod={"terminationGracePeriodSeconds": 1})
        self.failed("late", "DeadlineExceeded")
        self.assertEqual(processes(self.mark), [])

    def test_finished_job_goes_after_its_time_with_all_that_was_kept(self):
        self.job("brief", "true", ttlSecondsAfterFinished=1)
        eventually(lambda: self.status("brief") is None, 30, what="the job has ended, and is gone")
        eventually(lambda: list((self.daemon.data / "pods").iterdir()) == [], what="its directory is gone")

    def test_preemption_stops_the_whole_tree_before_the_other_starts(self):
        self.job("low", TREE, resources={"cpu": "4"}, pod={"terminationGracePeriodSeconds": 1},
                 container={"env": [{"name": "ONLY_LOW", "value": "1"}]})
        self.running("low")
        eventually(lambda: len(processes(self.mark)) >= 4, what="the tree")
        self.job("high", "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c ^ONLY_LOW=; exit 0", resources={"cpu": "4"},
                 labels={"kueue.x-k8s.io/priority-class": "high"})
        self.complete("high")
        self.assertEqual(self.log("high"), "0\n")
        eventually(lambda: self.pods("low") and self.pods("low")[0]["status"]["phase"] == "Running", what="low runs again")
        self.assertEqual(len(self.pods("low")), 1)
        self.assertEqual(self.status("low").get("failed"), None)
        self.daemon.kubectl("delete", "job", "low")
        self.ended()

    def test_delete_stops_with_grace_and_then_without(self):
        self.job("polite", "trap 'echo got TERM; exit 0' TERM; echo up; while :; do sleep 0.1; done")
        pod = self.running("polite")[0]["metadata"]["name"]
        follow = subprocess.Popen(self.daemon.command("logs", "-f", pod), stdout=subprocess.PIPE, text=True)
        self.assertEqual(follow.stdout.readline(), "up\n")
        self.daemon.kubectl("delete", "job", "polite")
        self.assertIn("got TERM\n", follow.stdout.read())
        self.assertEqual(follow.wait(10), 0)
        self.ended()
        self.job("stubborn", TREE, pod={"terminationGracePeriodSeconds": 1})
        self.running("stubborn")
        self.daemon.kubectl("delete", "job", "stubborn")
        self.ended()
        eventually(lambda: self.pods("stubborn") == [], what="its pod is gone")

    def test_what_a_container_leaves_behind_ends_with_it(self):
        self.job("leaves", "setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & echo done")
        self.complete("leaves")
        self.assertEqual(processes(self.mark), [])

    def test_logs_are_followed_to_their_end_and_cut_as_asked(self):
        self.job("talks", "for i in 1 2 3 4 5; do echo line $i; sleep 0.3; done")
        self.running("talks")
        self.assertEqual(self.log("talks", "-f"), "".join(f"line {i}\n" for i in range(1, 6)))
        self.complete("talks")
        self.assertEqual(self.log("talks", "--tail=2"), "line 4\nline 5\n")
        self.assertEqual(self.log("talks", "--tail=0"), "")
        self.assertEqual(self.log("talks", "--limit-bytes=6"), "line 1")
        done = self.daemon.kubectl("logs", "job/talks", "--timestamps", check=False)
        self.assertIn("the times of lines are not kept", done.stderr)
        self.assertEqual(self.daemon.request("GET", f"{PODS}/none/log")[0], 404)
        pod = self.pods("talks")[0]["metadata"]["name"]
        status, body = self.daemon.request("GET", f"{PODS}/{pod}/log?container=d")
        self.assertEqual((status, body["message"]), (400, f"container d is not valid for pod {pod}"))
        status, body = self.daemon.request("GET", f"{PODS}/{pod}/log?tailLines=-1")
        self.assertEqual((status, body["message"]), (400, 'tailLines: "-1" is not a number from 0 on'))
        self.assertEqual(self.daemon.request("GET", f"{PODS}/{pod}/exec")[0], 404)

    def test_long_logs_keep_their_end(self):
        self.job("long", "yes 0123456789012345678901234567890123456789 | head -c 25000000; echo; echo end")
        self.complete("long")
        size = sum(f.stat().st_size for f in (self.daemon.data / "pods").glob("*/c.log*"))
        self.assertLessEqual(size, 2 * 10 * 1024 * 1024)
        self.assertEqual(self.log("long", "--tail=1"), "end\n")

    def test_only_the_token_is_let_in(self):
        status = self.daemon.request("GET", JOBS, headers={"Authorization": "Bearer none"})[0]
        self.assertEqual(status, 401)

    def test_plain_pod_waits_for_quota_and_runs(self):
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone", "namespace": "default",
                "labels": {"kueue.x-k8s.io/queue-name": "lq"}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x", "command": ["echo", "alone"],
                         "resources": {"requests": {"cpu": "1"}}}]}}
        self.assertEqual(self.daemon.request("POST", PODS, body)[0], 201)
        eventually(lambda: self.daemon.get(f"{PODS}/alone")["status"].get("phase") == "Succeeded", what="its end")
        self.assertEqual(self.daemon.kubectl("logs", "alone").stdout, "alone\n")


class Devices(Scene):
    options = ("--devices", "nvidia.com/gpu=2")

    def test_devices_are_given_to_one_pod_at_a_time(self):
        script = "echo gpu=$CUDA_VISIBLE_DEVICES; sleep 2"
        jobs = [("a", "1"), ("b", "1"), ("c", "1")]
        for name, count in jobs:
            self.job(name, script, queue=None, resources={"cpu": "1", "nvidia.com/gpu": count})
        self.job("without", "echo gpu=$CUDA_VISIBLE_DEVICES", queue=None)
        for name, _ in jobs:
            self.complete(name)
        self.complete("without")
        self.assertEqual(sorted(self.log(n) for n, _ in jobs), ["gpu=0\n", "gpu=0\n", "gpu=1\n"])
        self.assertEqual(self.log("without"), "gpu=\n")
        self.assertEqual(self.daemon.get("/api/v1/nodes")["items"][0]["status"]["capacity"]["nvidia.com/gpu"], "2")


class Crash(Scene):
    def restart(self):
        self.daemon.start()

    def test_what_runs_is_taken_over(self):
        self.job("long", "echo up; sleep 4; echo end")
        uid = self.running("long")[0]["metadata"]["uid"]
        self.daemon.kill()
        self.restart()
        self.assertIn("a pod that ran on is taken over", self.daemon.log_text())
        self.complete("long")
        self.assertEqual([p["metadata"]["uid"] for p in self.pods("long")], [uid])
        self.assertEqual(self.log("long"), "up\nend\n")

    def test_what_ended_meanwhile_is_told_of(self):
        self.job("short", "echo up; sleep 1; exit 4", backoffLimit=0)
        self.running("short")
        self.daemon.kill()
        self.ended()
        self.restart()
        self.failed("short", "BackoffLimitExceeded")
        self.assertEqual(self.pods("short")[0]["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], 4)

    def test_supervisor_that_is_killed_takes_its_processes_along_and_the_job_is_retried(self):
        flag = self.daemon.home / "flag"
        self.job("lost", f"test -e {flag} && exit 0; touch {flag}; setsid sleep 1000 & sleep 1000", backoffLimit=3)
        uid = self.running("lost")[0]["metadata"]["uid"]
        eventually(flag.exists, what="its first run")
        os.kill(int((self.daemon.data / "pods" / uid / "lock").read_text().split()[0]), signal.SIGKILL)
        self.complete("lost")
        self.assertEqual(processes(self.mark), [])
        self.assertIn("Lost", [p["status"].get("reason") for p in self.pods("lost")])

    def test_daemon_and_supervisor_are_killed_together(self):
        flag = self.daemon.home / "flag"
        self.job("both", f"test -e {flag} && exit 0; touch {flag}; setsid sleep 1000 & sleep 1000", backoffLimit=3)
        uid = self.running("both")[0]["metadata"]["uid"]
        eventually(flag.exists, what="its first run")
        self.daemon.kill()
        os.kill(int((self.daemon.data / "pods" / uid / "lock").read_text().split()[0]), signal.SIGKILL)
        self.restart()
        self.assertIn("a pod was lost", self.daemon.log_text())
        self.complete("both")
        self.assertEqual(processes(self.mark), [])

    def test_job_that_was_deleted_while_nobody_looked_is_ended(self):
        self.job("gone", TREE, pod={"terminationGracePeriodSeconds": 1})
        self.running("gone")
        self.daemon.kubectl("delete", "job", "gone", "--wait=false")
        self.daemon.kill()
        self.restart()
        self.ended()
        eventually(lambda: list((self.daemon.data / "pods").iterdir()) == [], what="its directory is gone")

    def test_kills_at_any_moment_lose_nothing(self):
        seed = int(os.environ.get("SEED", "0")) or random.randrange(1 << 30)
        choice = random.Random(seed)
        rounds = int(os.environ.get("KILLS", "6"))
        names = []
        for i in range(rounds):
            for n in range(3):
                names.append(f"j{i}-{n}")
                self.job(names[-1], f"echo {names[-1]}; sleep {choice.random():.2f}; setsid sleep 1000 & exit 0", backoffLimit=9)
            time.sleep(choice.random())
            self.daemon.kill()
            self.restart()
        for name in names:
            with self.subTest(seed=seed, job=name):
                self.complete(name, 60)
                self.assertEqual(self.status(name)["succeeded"], 1)
                self.assertEqual(self.log(name), name + "\n")
        self.assertEqual(processes(self.mark), [], f"seed {seed}")


class Simulated(unittest.TestCase):
    def test_default_runs_nothing_and_says_so(self):
        d = daemon.Daemon()
        self.addCleanup(d.close)
        d.start()
        done = d.kubectl("logs", "any", check=False)
        self.assertIn("pods \"any\" not found", done.stderr)
        status, body = d.request("GET", "/api/v1/namespaces/default/pods/any/log")
        self.assertEqual((status, "standalone mode starts no containers" in body["message"]), (404, True))

    def test_logs_of_a_job_are_refused_at_once(self):
        d = daemon.Daemon()
        self.addCleanup(d.close)
        d.start()
        d.kubectl("create", "-f", "-", stdin=json.dumps(daemon.job("any", queue="none")))
        for what in (("job/any",), ("-l", "job-name=any")):
            start = time.monotonic()
            done = d.kubectl("logs", *what, check=False)
            self.assertLess(time.monotonic() - start, 15)
            self.assertIn("there are no logs: standalone mode simulates jobs", done.stderr)
            self.assertEqual(done.returncode, 1)
        self.assertEqual(d.kubectl("get", "pods", "-l", "job-name=any").stdout, "")

    def test_bad_choices_are_refused(self):
        for options, text in ((("--run", "pods"), '--run: "pods" is not one of simulated, processes, containers'),
                              (("--devices", "nvidia.com/gpu=1"), "--devices: only with --run processes"),
                              (("--run", "processes", "--devices", "gpu=1"), '--devices: "gpu=1" is not RESOURCE=COUNT')):
            done = subprocess.run([daemon.BUILD / "sluiced", "--standalone", *options], capture_output=True, text=True, cwd="/tmp")
            self.assertIn(text, done.stderr)
            self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
