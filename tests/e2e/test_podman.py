# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""--run containers with podman itself (`make podman`): it needs podman and busybox, and fails where they are not."""
import os, pathlib, shutil, subprocess, tempfile
import daemon
from daemon import eventually
from runs import *

IMAGE = "localhost/sluice-test:1"
ULIMITS = ("--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024")  # what podman wants by itself is more than some machines give
CHOICES = ((), ("--runtime=runc",), ("--runtime=crun",))


def need(program):
    found = shutil.which(program)
    if found is None:
        raise AssertionError(f"{program} is not installed: this test needs podman and busybox (Debian: podman, busybox-static)")
    return found


class Podman(Scene):
    def setUp(self):
        self.files = pathlib.Path(tempfile.mkdtemp(prefix="sluice-podman-"))
        self.addCleanup(shutil.rmtree, self.files, ignore_errors=True)
        self.podman = [need("podman"), "--root", str(self.files / "storage"), "--runroot", str(self.files / "run"), "--storage-driver=vfs",
                       "--cgroup-manager=cgroupfs", "--events-backend=file"]
        self.import_image(need("busybox"))
        self.podman += self.working()
        runtime = self.files / "podman"
        words = " ".join(self.podman)
        runtime.write_text(f"#!/bin/sh\nif [ \"$1\" = run ]; then shift; exec {words} run {' '.join(ULIMITS)} \"$@\"; fi\nexec {words} \"$@\"\n")
        runtime.chmod(0o755)
        self.options = ("--container-runtime", str(runtime))
        init = Runs.__init__
        Runs.__init__ = lambda d, options=(), run="containers": init(d, options, run)
        self.addCleanup(setattr, Runs, "__init__", init)
        self.addCleanup(lambda: subprocess.run([*self.podman, "rm", "--all", "--force"], capture_output=True, timeout=60))
        super().setUp()

    def import_image(self, busybox):
        tree = self.files / "tree"
        (tree / "bin").mkdir(parents=True)
        (tree / "tmp").mkdir()
        shutil.copy(busybox, tree / "bin/busybox")
        for name in ("sh", "echo", "sleep", "id", "pwd", "env", "true", "test"):
            (tree / "bin" / name).symlink_to("busybox")
        tar = subprocess.run(["tar", "-C", tree, "-c", "."], capture_output=True, check=True).stdout
        subprocess.run([*self.podman, "import", "-", IMAGE], input=tar, capture_output=True, check=True, timeout=120)

    def working(self):
        """The options with which podman runs anything on this machine."""
        for choice in CHOICES:
            done = subprocess.run([*self.podman, *choice, "run", *ULIMITS, "--rm", "--network=host", "--log-driver=none", "--", IMAGE, "true"],
                                  capture_output=True, text=True, timeout=60)
            if done.returncode == 0:
                return list(choice)
        raise AssertionError("podman runs nothing on this machine: " + done.stderr)

    def start(self, name, script, **more):
        return self.job(name, script, queue=None, container={"image": IMAGE, **more.pop("container", {})}, **more)

    def containers(self):
        return subprocess.run([*self.podman, "ps", "--all", "--quiet"], capture_output=True, text=True, timeout=60).stdout.split()

    def test_jobs_run_in_their_image_and_leave_nothing(self):
        self.start("hello", "echo \"$GREETING\"; pwd; id -u; test -e /etc/passwd || echo no passwd", container={
            "env": [{"name": "GREETING", "value": "a\nb"}], "workingDir": "/tmp"})
        self.start("args", "", container={"command": ["echo", "[x"], "args": ["--privileged"]})
        self.start("three", "exit 3", backoffLimit=0)
        self.start("none", "", backoffLimit=0, container={"command": ["no-such-program"]})
        self.start("gone", "true", backoffLimit=0, container={"image": "localhost/no-such-image:1", "imagePullPolicy": "Never"})
        self.complete("hello", 60)
        self.assertEqual(self.log("hello").splitlines()[:4], ["a", "b", "/tmp", "0"])
        self.complete("args", 60)
        self.assertEqual(self.log("args"), "[x --privileged\n")
        for name, code in (("three", 3), ("none", 127), ("gone", 125)):
            self.failed(name, "BackoffLimitExceeded", 60)
            self.assertEqual(self.pods(name)[0]["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], code)
        eventually(lambda: self.containers() == [], what="no container is left")

    def test_stop_and_kills_leave_nothing(self):
        self.start("polite", "trap 'echo got TERM; exit 0' TERM; echo up; while :; do sleep 0.1; done", pod={"terminationGracePeriodSeconds": 60})
        self.running("polite", seconds=60)
        eventually(lambda: self.log("polite") == "up\n", 30, what="its output")
        self.daemon.kubectl("delete", "job", "polite")
        self.ended(seconds=20)
        self.start("stubborn", "trap '' TERM; echo up; while :; do sleep 0.1; done", pod={"terminationGracePeriodSeconds": 1})
        self.running("stubborn", seconds=60)
        eventually(lambda: self.log("stubborn") == "up\n", 30, what="its output")
        self.daemon.kubectl("delete", "job", "stubborn")
        self.ended(seconds=20)
        self.start("lost", "echo up; while :; do sleep 0.1; done", backoffLimit=0)
        uid = self.running("lost", seconds=60)[0]["metadata"]["uid"]
        eventually(lambda: processes(self.mark), 30, what="it runs")
        self.daemon.kill()
        os.kill(int((self.daemon.data / "pods" / uid / "lock").read_text().split()[0]), 9)
        self.daemon.start()
        self.failed("lost", "BackoffLimitExceeded", 60)
        self.ended(seconds=20)
        eventually(lambda: self.containers() == [], what="no container is left")
