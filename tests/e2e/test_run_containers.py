# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""--run containers: pods are containers of podman or docker, whose options no pod chooses; neither lost nor left behind. Most of it
with fake_runtime.py, whose containers outlive their clients as docker's do; the last class with podman itself."""
import json, os, pathlib, shutil, signal, stat, subprocess, sys, tempfile, unittest
import daemon
from daemon import eventually
from runs import *

HERE = pathlib.Path(__file__).resolve().parent
IMAGE = "example.com/tools/sh:1"
LOOP = "while :; do sleep 0.1; done"


class Containers(Scene):
    def setUp(self):
        self.files = pathlib.Path(tempfile.mkdtemp(prefix="sluice-run-containers-"))
        self.files.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.files, ignore_errors=True)
        self.runtime = self.files / "docker"
        self.runtime.write_text(f"#!/bin/sh\nFAKE_RUNTIME={self.files} exec {sys.executable} {HERE / 'fake_runtime.py'} \"$@\"\n")
        self.runtime.chmod(0o755)
        server = subprocess.Popen([sys.executable, HERE / "fake_runtime.py", "serve"], stdout=subprocess.PIPE,
                                  env={**os.environ, "FAKE_RUNTIME": str(self.files)})
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stdout.close()))
        self.assertEqual(server.stdout.readline(), b"up\n")
        self.options = ("--container-runtime", str(self.runtime), *self.more())
        init = Runs.__init__
        Runs.__init__ = lambda d, options=(), run="containers": init(d, options, run)
        self.addCleanup(setattr, Runs, "__init__", init)
        super().setUp()

    def more(self):
        return ()

    def start(self, name, script, **more):
        container = {"image": IMAGE, **more.pop("container", {})}
        return self.job(name, script, container=container, **more)

    def calls(self, verb):
        path = self.files / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [c for c in map(json.loads, lines) if c[0] == verb]

    def call_of(self, name):
        """The command line by which the pod of that Job was run."""
        uid = self.pods(name)[0]["metadata"]["uid"]
        return next(c for c in self.calls("run") if f"--name=sluice-{uid}-c" in c)

    def terminated(self, name):
        return self.pods(name)[0]["status"]["containerStatuses"][0]["state"]["terminated"]


class Fake(Containers):
    def test_command_and_environment_are_those_of_the_pod(self):
        self.start("hello", "echo out; echo err >&2; echo $GREETING; pwd", queue=None, container={
            "env": [{"name": "WHO", "value": "you"}, {"name": "GREETING", "value": "hello $(WHO)"}], "workingDir": "/usr",
            "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1500m", "memory": "64Mi"}}})
        self.complete("hello")
        self.assertEqual(self.log("hello").splitlines(), ["out", "err", "hello you", "/usr"])
        call = self.call_of("hello")
        uid = self.pods("hello")[0]["metadata"]["uid"]
        for word in ("--rm", f"--label=sluice.dev/pod-uid={uid}", "--pull=missing", "--network=host", "--entrypoint=sh", "--cpus=1.500",
                     "--memory=67108864", "--memory-swap=67108864", "--workdir=/usr", "--env=WHO=you", "--env=GREETING=hello you",
                     f"--env=SLUICE_POD_UID={uid}"):
            self.assertIn(word, call)
        self.assertEqual(call[call.index("--"):][:3], ["--", IMAGE, "-c"])
        self.assertEqual([w for w in call if w.startswith("--env=") and w.split("=")[1] in ("HOME", "USER", "LD_LIBRARY_PATH")], [])
        events = self.daemon.kubectl("get", "events", "-o", "jsonpath={.items[*].message}").stdout
        self.assertNotIn("image", events)

    def test_image_without_a_command_is_run_as_it_says(self):
        self.start("entry", "", container={"image": "example.com/entry", "command": [], "args": ["a", "--b"]})
        self.complete("entry")
        self.assertEqual(self.log("entry"), "entrypoint a --b\n")
        call = self.call_of("entry")
        self.assertIn("--pull=always", call)  # without a tag it is the latest
        self.assertEqual([w for w in call if w.startswith("--entrypoint")], [])

    def test_exit_codes_are_told(self):
        self.start("three", "exit 3", backoffLimit=0)
        self.start("killed", "kill -9 $$$$", backoffLimit=0)
        self.start("gone", "true", backoffLimit=0, container={"image": "example.com/missing"})
        for name, code in (("three", 3), ("killed", 137), ("gone", 125)):
            self.failed(name, "BackoffLimitExceeded")
            self.assertEqual((self.terminated(name)["exitCode"], self.terminated(name)["reason"]), (code, "Error"))
        self.assertIn("the container runtime may not have started it", self.terminated("gone")["message"])
        self.assertIn("no such image", self.log("gone"))

    def test_container_is_started_again_in_its_pod(self):
        flag = self.files / "flag"
        self.start("again", f"echo run; test -e {flag} || {{ touch {flag}; exit 1; }}", policy="OnFailure")
        self.complete("again")
        self.assertEqual(self.pods("again")[0]["status"]["containerStatuses"][0]["restartCount"], 1)
        self.assertEqual((self.log("again"), self.log("again", "--previous")), ("run\n", "run\n"))

    def test_stop_is_by_term_and_then_by_removal(self):
        self.start("polite", f"trap 'echo got TERM; exit 0' TERM; echo up; {LOOP}")
        pod = self.running("polite")[0]["metadata"]["name"]
        follow = subprocess.Popen(self.daemon.command("logs", "-f", pod), stdout=subprocess.PIPE, text=True)
        self.assertEqual(follow.stdout.readline(), "up\n")
        self.daemon.kubectl("delete", "job", "polite")
        self.assertIn("got TERM\n", follow.stdout.read())
        follow.wait(10)
        follow.stdout.close()
        self.ended()
        self.start("stubborn", f"trap '' TERM; echo up; {LOOP}", pod={"terminationGracePeriodSeconds": 1})
        uid = self.running("stubborn")[0]["metadata"]["uid"]
        eventually(lambda: self.log("stubborn") == "up\n", what="its output")
        self.daemon.kubectl("delete", "job", "stubborn")
        self.ended()
        eventually(lambda: self.pods("stubborn") == [], what="its pod is gone")
        self.assertIn(["rm", "--force", "--volumes", "--", f"sluice-{uid}-c"], self.calls("rm"))

    def test_what_runs_is_taken_over_after_a_kill_of_the_daemon(self):
        gate = self.files / "gate"
        self.start("long", f"echo up; until test -e {gate}; do sleep 0.1; done; echo down")
        self.running("long")
        eventually(lambda: processes(self.mark), what="it runs")
        before = processes(self.mark)
        self.daemon.kill()
        self.daemon.start()
        self.running("long")
        self.assertTrue(set(before) & set(processes(self.mark)))
        gate.touch()
        self.complete("long")
        self.assertEqual((self.log("long"), len(self.calls("run"))), ("up\ndown\n", 1))

    def test_nothing_survives_the_kill_of_its_supervisor_and_daemon(self):
        flag = self.files / "flag"
        self.start("both", f"test -e {flag} && exit 0; touch {flag}; exec env -u SLUICE_POD_UID sh -c '{LOOP}'", backoffLimit=3)
        uid = self.running("both")[0]["metadata"]["uid"]
        eventually(flag.exists, what="its first run")
        self.daemon.kill()
        os.kill(int((self.daemon.data / "pods" / uid / "lock").read_text().split()[0]), signal.SIGKILL)
        self.assertTrue(processes(self.mark))  # the runtime has it, not its supervisor
        self.daemon.start()
        self.complete("both")
        self.ended()

    def test_container_whose_client_was_killed_is_ended(self):
        self.start("client", LOOP, backoffLimit=0)
        uid = self.running("client")[0]["metadata"]["uid"]
        eventually(lambda: processes(self.mark), what="it runs")
        def clients():
            found = []
            for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    if f"--name=sluice-{uid}-c".encode() in path.read_bytes().split(b"\0"):
                        found.append(int(path.parent.name))
                except OSError:
                    pass
            return found
        for pid in clients():
            os.kill(pid, signal.SIGKILL)
        self.failed("client", "BackoffLimitExceeded")
        self.ended()
        self.assertEqual(self.terminated("client")["signal"], 9)

    def test_image_is_never_an_option_or_a_file(self):
        hostile = ["", "-v/:/host", "--privileged", "--volume=/:/host", "a b", "a\n--privileged", "dir:/etc", "dir:5/etc", "docker-archive:/tmp/x.tar",
                   "oci:latest", "containers-storage:x", "docker://example.com/x", "example.com/../x", "example.com/x:-v", "/etc/passwd", "./x", "x;id",
                   "$(id)", "A/b", "x@sha256:zz", "x" * 600]
        for i, image in enumerate(hostile):
            self.start(f"hostile-{i}", "true", container={"image": image})
        for i, image in enumerate(hostile):
            with self.subTest(image=image):
                self.assertIn("spec.template.spec.containers[0].image: is", self.failed(f"hostile-{i}", "UnsupportedSpec")["message"])
        self.assertEqual(self.calls("run"), [])

    def test_what_a_pod_says_stays_behind_its_option(self):
        evil = "--privileged\n--volume=/:/host"
        self.start("evil", "", container={"command": ["sh", "-c", "echo \"$1\"; echo \"$EVIL\"", evil], "args": [evil, "-v/:/host"], "workingDir": "/",
                                          "env": [{"name": "EVIL", "value": evil}, {"name": "--privileged", "value": "x"}]})
        self.complete("evil")
        self.assertEqual(self.log("evil"), f"{evil}\n{evil}\n")
        call = self.call_of("evil")
        options = call[1:call.index("--")]
        allowed = ("--rm", "--name", "--label", "--pull", "--log-driver", "--stop-timeout", "--no-healthcheck", "--network", "--env", "--workdir", "--entrypoint")
        self.assertEqual([o for o in options if o.split("=")[0] not in allowed], [])
        self.assertEqual(call[call.index("--") + 1], IMAGE)
        for container, field in (({"volumeMounts": [{"name": "v", "mountPath": "/v"}]}, "containers[0].volumeMounts"),
                                 ({"workingDir": "-v"}, "containers[0].workingDir"), ({"command": ["", "x"]}, "containers[0].command[0]"),
                                 ({"command": ["$(NO)", "x"], "env": [{"name": "NO"}]}, "containers[0].command[0]"),
                                 ({"envFrom": [{"secretRef": {}}]}, "containers[0].envFrom[0].secretRef")):
            with self.subTest(field=field):
                self.start("refused", "true", container=container)
                self.assertIn(field, self.failed("refused", "UnsupportedSpec")["message"])
                self.daemon.kubectl("delete", "job", "refused")


class Devices(Containers):
    def more(self):
        return ("--devices", "nvidia.com/gpu=4,example.com/fpga=2")

    def test_devices_are_given_by_name_and_counted_inside(self):
        gate = self.files / "gate"
        self.start("first", f"until test -e {gate}; do sleep 0.1; done", queue=None, resources={"nvidia.com/gpu": "1"})
        self.running("first")
        self.start("second", "echo $CUDA_VISIBLE_DEVICES:$SLUICE_DEVICES_EXAMPLE_COM_FPGA:", queue=None, resources={"nvidia.com/gpu": "2", "example.com/fpga": "1"})
        self.start("none", "echo ${CUDA_VISIBLE_DEVICES-unset}:", queue=None)
        self.complete("second")
        self.complete("none")
        self.assertEqual((self.log("second"), self.log("none")), ("0,1:0:\n", ":\n"))
        devices = [w for w in self.call_of("second") if w.startswith("--device=")]
        self.assertEqual(sorted(devices), ["--device=example.com/fpga=0", "--device=nvidia.com/gpu=1", "--device=nvidia.com/gpu=2"])
        self.assertEqual([w for w in self.call_of("none") if w.startswith("--device=")], [])
        gate.touch()
        self.complete("first")


@unittest.skipUnless(os.geteuid() == 0, "only root can run programs as other users")
class AsSubmitter(Containers):
    def more(self):
        init = daemon.Daemon.__init__

        def enterable(d, *a, **k):
            init(d, *a, **k)
            d.home.chmod(0o755)
        daemon.Daemon.__init__ = enterable
        self.addCleanup(setattr, daemon.Daemon, "__init__", init)
        return ("--run-as-submitter",)

    def test_it_is_the_user_of_who_submitted_it_and_no_more(self):
        def submit(name, user):
            body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default", "annotations": {"sluice.dev/run-as": user}},
                    "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [
                        {"name": "c", "image": IMAGE, "command": ["true"], "securityContext": {"privileged": True, "runAsUser": 0}}]}}}}
            self.assertEqual(self.daemon.request("POST", JOBS, body)[0], 201)
            self.complete(name)
            return self.call_of(name)
        import pwd
        mail = pwd.getpwnam("mail")
        call = submit("mails", "mail")
        for word in (f"--user={mail.pw_uid}:{mail.pw_gid}", "--cap-drop=all", "--security-opt=no-new-privileges"):
            self.assertIn(word, call[:call.index("--")])
        self.assertIn("--user=0:0", submit("roots", "root"))


class Refused(unittest.TestCase):
    def refused(self, *options, path="/nonexistent"):
        done = subprocess.run([daemon.BUILD / "sluiced", "--standalone", "--data", "/nonexistent/data", "--listen", "127.0.0.1:0", *options],
                              capture_output=True, text=True, cwd="/", timeout=20, env={**os.environ, "PATH": path})
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_it_needs_a_runtime_when_it_starts(self):
        self.assertIn("--run containers: neither podman nor docker is in PATH: install one, or name another with --container-runtime",
                      self.refused("--run", "containers"))
        self.assertIn("--container-runtime: no program nerdctl is in PATH", self.refused("--run", "containers", "--container-runtime", "nerdctl"))
        self.assertIn("--container-runtime: no program /etc/passwd can be run", self.refused("--run", "containers", "--container-runtime", "/etc/passwd"))
        self.assertIn("--container-runtime: bin/podman is neither a name nor an absolute path",
                      self.refused("--run", "containers", "--container-runtime", "bin/podman"))
        self.assertIn("--container-runtime: only with --run containers", self.refused("--run", "processes", "--container-runtime", "podman"))
        self.assertIn("--container-runtime: the program's name is empty", self.refused("--run", "containers", "--container-runtime", ""))


if __name__ == "__main__":
    unittest.main()
