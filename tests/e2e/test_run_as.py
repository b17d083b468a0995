# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""--run-as-submitter: pods have the rights of who submitted them, and no others; tried as one tenant against another."""
import json, os, pathlib, signal, subprocess, time, unittest

import daemon
from daemon import eventually
from runs import JOBS, PODS, Scene, processes
from test_socket import READER, STRANGER, WRITER, ask

TREE = "setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & sleep 1000"


@unittest.skipUnless(os.geteuid() == 0, "only root can run programs as other users")
class RunAs(Scene):
    options = ("--run-as-submitter",)

    def setUp(self):
        self.files = pathlib.Path(daemon.tempfile.mkdtemp(prefix="sluice-run-as-"))
        self.addCleanup(daemon.shutil.rmtree, self.files, ignore_errors=True)
        self.files.chmod(0o755)
        users = self.files / "users.yaml"
        users.write_text(json.dumps({"users": [{"name": n, "role": "user", "namespaces": ["default"]} for n, _ in (WRITER, READER, ("root", 0))]
                                     + [{"name": "ghost", "role": "user", "namespaces": ["default"], "token": "sha256:" + "0" * 64}]}))
        users.chmod(0o600)
        self.socket = self.files / "socket"
        self.options = ("--run-as-submitter", "--users", str(users), "--socket", str(self.socket))
        init = daemon.Daemon.__init__

        def enterable(d, *a, **k):
            init(d, *a, **k)
            d.home.chmod(0o755)
        daemon.Daemon.__init__ = enterable
        self.addCleanup(setattr, daemon.Daemon, "__init__", init)
        super().setUp()

    def write(self, user, method, path, body=None, content_type=None):
        return ask(self.socket, user[1] if user else None, method, path, body,
                   {"Content-Type": content_type} if content_type else None)

    def submit(self, name, script, user=WRITER, annotations=None, template=None, status=201, container=None, **spec):
        key, value = self.mark.split("=")
        body = {"apiVersion": "batch/v1", "kind": "Job",
                "metadata": {"name": name, "namespace": "default", "labels": {"kueue.x-k8s.io/queue-name": "lq"}, "annotations": annotations or {}},
                "spec": {"backoffLimit": 0, **spec, "template": {"metadata": {"annotations": template or {}}, "spec": {
                    "restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [
                        {"name": "c", "image": "none", "command": ["sh", "-c", script], "env": [{"name": key, "value": value}],
                         "resources": {"requests": {"cpu": "1"}}, **(container or {})}]}}}}
        got, answer = self.write(user, "POST", JOBS, body)
        self.assertEqual(got, status, answer)
        return answer

    def output(self, name):
        self.complete(name)
        return self.log(name).splitlines()

    def test_runs_as_who_submitted_it_in_a_directory_of_its_own(self):
        self.submit("mine", "id -un; id -un -r; id -Gn; pwd; stat -c '%U %a' .; echo $HOME $USER $LOGNAME; touch file; stat -c %U file; umask;"
                    " grep NoNewPrivs /proc/self/status; ls -l /proc/self/fd | grep -c DATA; id -u")
        lines = self.output("mine")
        pod = self.pods("mine")[0]
        work = self.daemon.data / "pods" / pod["metadata"]["uid"] / "work"
        groups = subprocess.run(["id", "-Gn", WRITER[0]], capture_output=True, text=True).stdout.strip()
        home = subprocess.run(["getent", "passwd", WRITER[0]], capture_output=True, text=True).stdout.split(":")[5]
        self.assertEqual(lines, ["games", "games", groups, str(work), "games 700", f"{home} games games", "games", "0022", "NoNewPrivs:\t1", "0",
                                 str(WRITER[1])])
        self.assertEqual(pod["metadata"]["annotations"]["sluice.dev/submitted-by"], "games")

    def test_whose_it_is_cannot_be_claimed(self):
        claims = {"sluice.dev/submitted-by": "root"}
        job = self.submit("claims", "id -un", annotations=claims, template={**claims, "sluice.dev/run-as": "root"})
        self.assertEqual(job["metadata"]["annotations"]["sluice.dev/submitted-by"], "games")
        self.assertEqual(self.output("claims"), ["games"])
        answer = self.submit("chooses", "id -un", annotations={"sluice.dev/run-as": "root"}, status=403)
        self.assertIn("only an administrator may say as which user it runs", answer["message"])
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "plain", "annotations": claims},
               "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x", "command": ["id", "-un"]}]}}
        self.assertEqual(self.write(WRITER, "POST", PODS, pod)[0], 201)
        eventually(lambda: self.daemon.get(f"{PODS}/plain")["status"]["phase"] == "Succeeded", what="the pod")
        self.assertEqual(self.daemon.kubectl("logs", "plain").stdout, "games\n")
        pod["metadata"] = {"name": "chosen", "annotations": {"sluice.dev/run-as": "mail"}}
        self.assertEqual(self.write(WRITER, "POST", PODS, pod)[0], 403)

    def test_only_its_user_or_an_administrator_changes_it(self):
        self.submit("hers", "id -un", suspend=True)
        merge, by_path, strategic = ("application/merge-patch+json", "application/json-patch+json", "application/strategic-merge-patch+json")
        label = {"metadata": {"labels": {"a": "b"}}}
        self.assertEqual(self.write(READER, "PATCH", f"{JOBS}/hers", label, merge)[0], 403)
        self.assertEqual(self.write(READER, "PATCH", f"{JOBS}/hers", label, strategic)[0], 403)
        self.assertEqual(self.write(READER, "PATCH", f"{JOBS}/hers?fieldManager=m&force=true",
                                    {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "hers", "labels": {"a": "b"}}}, "application/apply-patch+yaml")[0], 403)
        status = 409
        while status == 409:  # a controller was faster
            current = self.daemon.get(f"{JOBS}/hers")
            status, answer = self.write(READER, "PUT", f"{JOBS}/hers", current)
        self.assertEqual(status, 403)
        self.assertIn('was submitted by "games": only that user or an administrator may change it', answer["message"])
        # its own user may, but not whose it is
        for body, kind in (({"metadata": {"annotations": {"sluice.dev/submitted-by": "root"}}}, merge),
                           ({"metadata": {"annotations": None}}, merge),
                           ([{"op": "replace", "path": "/metadata/annotations", "value": {"sluice.dev/submitted-by": "root"}}], by_path),
                           ([{"op": "remove", "path": "/metadata/annotations"}], by_path)):
            status, answer = self.write(WRITER, "PATCH", f"{JOBS}/hers", body, kind)
            self.assertEqual(status, 200, answer)
            self.assertEqual((status, answer["metadata"]["annotations"]["sluice.dev/submitted-by"]), (200, "games"))
        self.assertEqual(self.write(WRITER, "PATCH", f"{JOBS}/hers", {"metadata": {"annotations": {"sluice.dev/run-as": "root"}}}, merge)[0], 403)
        status = 409
        while status == 409:  # a controller was faster
            current = self.daemon.get(f"{JOBS}/hers")
            current["metadata"].pop("annotations")
            status, answer = self.write(WRITER, "PUT", f"{JOBS}/hers", current)
        self.assertEqual((status, answer["metadata"]["annotations"]["sluice.dev/submitted-by"]), (200, "games"))
        self.assertEqual(self.write(WRITER, "PATCH", f"{JOBS}/hers", {"spec": {"suspend": False}}, merge)[0], 200)
        self.assertEqual(self.output("hers"), ["games"])
        pod = self.pods("hers")[0]["metadata"]["name"]
        self.assertEqual(self.write(READER, "PATCH", f"{PODS}/{pod}", label, merge)[0], 403)
        self.assertEqual(self.write(READER, "DELETE", f"{JOBS}/hers", {"propagationPolicy": "Background"})[0], 200)

    def test_never_root_unless_an_administrator_says_so(self):
        self.submit("admins", "id -un", user=None)
        self.assertIn('no local user "sluice-admin"', self.failed("admins", "UnknownUser")["message"])
        self.submit("root", "id -un; grep -c . /etc/shadow >/dev/null && echo reads", user=None, annotations={"sluice.dev/run-as": "root"})
        self.assertEqual(self.output("root"), ["root", "reads"])
        self.submit("for-mail", "id -un", user=None, annotations={"sluice.dev/run-as": "mail"})
        self.assertEqual(self.output("for-mail"), ["mail"])
        self.submit("unknown", "id -un", user=None, annotations={"sluice.dev/run-as": "no-such-user"})
        self.assertIn('there is no local user "no-such-user"', self.failed("unknown", "UnknownUser")["message"])
        self.assertEqual(self.pods("unknown"), [])

    def test_one_tenant_does_not_reach_another_or_the_daemon(self):
        self.submit("victim", "echo secret > note; echo secret output; sleep 1000", user=READER, container={"env": [
            {"name": "SECRET", "value": "s3cret"}, {"name": self.mark.split("=")[0], "value": self.mark.split("=")[1]}]})
        uid = self.running("victim")[0]["metadata"]["uid"]
        victim = self.daemon.data / "pods" / uid
        eventually(lambda: (victim / "c.log").exists() and (victim / "c.log").read_text() == "secret output\n", what="the victim's output")
        pids = [p for p in processes(f"SLUICE_POD_UID={uid}")]
        supervisor = int((victim / "lock").read_text().split()[0])
        reads = " ".join(str(p) for p in (
            self.daemon.data / "token", self.daemon.data / "kubeconfig", self.daemon.data / "audit.log", self.daemon.data / "tls/tls.key",
            victim / "work/note", victim / "plan", victim / "state", victim / "lock", victim / "c.log", f"/proc/{pids[0]}/environ", f"/proc/{supervisor}/environ",
            "/etc/shadow", *(p for p in self.daemon.data.iterdir() if p.is_file())))
        writes = " ".join(str(p) for p in (self.daemon.data / "x", self.daemon.data / "pods/x", victim / "stop", victim / "work/x", self.daemon.data / "token"))
        targets = " ".join(str(p) for p in (*pids, supervisor, self.daemon.process.pid, 1))
        self.submit("attacks", f"""
for f in {reads}; do cat $f >/dev/null 2>&1 && echo READ $f; done
for f in {writes}; do (echo x > $f) 2>/dev/null && echo WROTE $f; done
for p in {targets}; do kill -0 $p 2>/dev/null && echo SIGNALLED $p; kill -9 $p 2>/dev/null && echo KILLED $p; done
ls {self.daemon.data} 2>/dev/null && echo LISTED
ls {self.daemon.data}/pods 2>/dev/null && echo LISTED
cd .. && (mv work elsewhere || rmdir work || rm -f c.log || touch x || ln -s /etc x) 2>/dev/null && echo CHANGED
exit 0""", container={"env": [{"name": "LD_PRELOAD", "value": "/tmp/none.so"}, {"name": "SLUICE_POD_UID", "value": uid},
                               {"name": "PATH", "value": "/usr/bin:/bin"}, {"name": "BASH_ENV", "value": "/etc/shadow"}]})
        lines = [l for l in self.output("attacks") if "LD_PRELOAD" not in l]
        self.assertEqual(lines, [])
        self.assertEqual(self.pods("victim")[0]["status"]["phase"], "Running")
        self.assertEqual(sorted(processes(f"SLUICE_POD_UID={uid}")), sorted(pids))

    def test_working_directory_and_program_are_the_users_choice_with_the_users_rights(self):
        closed = self.files / "closed"
        closed.mkdir(mode=0o700)
        program = closed / "program"
        program.write_text("#!/bin/sh\nid -un\n")
        program.chmod(0o700)
        self.submit("enters", "pwd", container={"workingDir": str(closed)})
        self.failed("enters", "BackoffLimitExceeded")
        state = self.pods("enters")[0]["status"]["containerStatuses"][0]["state"]["terminated"]
        self.assertEqual((state["reason"], state["message"]), ("StartError", f"workingDir {closed}: Permission denied"))
        self.submit("runs", "", container={"command": [str(program)]})
        self.failed("runs", "BackoffLimitExceeded")
        self.assertIn("Permission denied", self.pods("runs")[0]["status"]["containerStatuses"][0]["state"]["terminated"]["message"])

    def test_set_user_id_programs_give_nothing(self):
        su = self.files / "id"
        daemon.shutil.copy("/usr/bin/id", su)
        su.chmod(0o4755)
        self.submit("su", f"{su} -u")
        self.assertEqual(self.output("su"), [str(WRITER[1])])

    def test_what_it_left_is_removed_and_nothing_else(self):
        victim = self.files / "victim"
        victim.mkdir(mode=0o777)
        victim.chmod(0o777)
        (victim / "kept").write_text("kept")
        self.submit("litter", f"ln -s {victim} link; ln -s {victim}/kept file; mkdir -p a/b/c; ln -s {victim} a/b/c/link; chmod 0 a/b;"
                    " d=.; i=0; while [ $i -lt 300 ]; do mkdir d && cd d; i=$((i+1)); done; mkdir .moved-0; touch .moved-1; mkfifo fifo")
        self.complete("litter")
        uid = self.pods("litter")[0]["metadata"]["uid"]
        self.assertTrue((self.daemon.data / "pods" / uid / "work/link").is_symlink())
        self.assertEqual(self.write(WRITER, "DELETE", f"{JOBS}/litter", {"propagationPolicy": "Background"})[0], 200)
        eventually(lambda: not (self.daemon.data / "pods" / uid).exists(), what="its directory is gone")
        self.assertEqual((victim / "kept").read_text(), "kept")
        self.assertEqual(victim.stat().st_mode & 0o777, 0o777)

    def test_other_users_processes_are_stopped_and_not_orphaned(self):
        self.submit("tree", TREE)
        self.running("tree")
        eventually(lambda: len(processes(self.mark)) >= 3, what="the tree")
        self.assertEqual(self.write(WRITER, "DELETE", f"{JOBS}/tree", {"propagationPolicy": "Background"})[0], 200)
        self.ended()
        self.submit("lost", f"test -e {self.files}/flag || sleep 1000", backoffLimit=3)
        uid = self.running("lost")[0]["metadata"]["uid"]
        eventually(lambda: processes(self.mark), what="it runs")
        (self.files / "flag").touch()
        os.kill(int((self.daemon.data / "pods" / uid / "lock").read_text().split()[0]), signal.SIGKILL)
        self.complete("lost")
        self.ended()

    def restart(self, guarded):
        self.daemon.stop()
        self.daemon.options = [o for o in self.daemon.options if o != "--run-as-submitter"] + (["--run-as-submitter"] if guarded else [])
        self.daemon.start()

    def test_what_was_written_by_a_daemon_without_it_is_not_believed(self):
        merge = "application/merge-patch+json"
        queue = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/cq"
        self.assertEqual(self.write(None, "PATCH", queue, {"spec": {"stopPolicy": "Hold"}}, merge)[0], 200)
        self.submit("hers", "id -un", user=READER, suspend=True)
        self.submit("admins", "id -un", user=None, annotations={"sluice.dev/run-as": "mail"}, suspend=True)
        self.restart(guarded=False)
        self.submit("claims", "id -un", annotations={"sluice.dev/submitted-by": "root"}, suspend=True)
        self.submit("chooses", "id -un", annotations={"sluice.dev/run-as": "root"}, status=403)
        self.assertEqual(self.write(WRITER, "PATCH", f"{JOBS}/hers", {"metadata": {"annotations": {"sluice.dev/run-as": "root"}}}, merge)[0], 403)
        # such a daemon lets the users of a namespace change each other's
        self.assertEqual(self.write(WRITER, "PATCH", f"{JOBS}/hers", {"metadata": {"labels": {"a": "b"}}}, merge)[0], 200)
        self.restart(guarded=True)
        for name in ("hers", "admins", "claims"):
            self.assertEqual([a for a in self.daemon.get(f"{JOBS}/{name}")["metadata"].get("annotations", {}) if a.startswith("sluice.dev/")], [])
        self.submit("kept", "id -un", suspend=True)
        self.restart(guarded=True)
        self.assertEqual(self.write(None, "PATCH", queue, {"spec": {"stopPolicy": "None"}}, merge)[0], 200)
        self.assertEqual(self.output("kept"), ["games"])
        for name in ("hers", "admins", "claims"):
            self.assertIn("it is not known who has submitted it, at least not since that is guarded", self.failed(name, "UnknownUser")["message"])

    def test_a_pod_of_another_user_does_not_count_for_a_job(self):
        self.submit("victim", "sleep 1000", user=READER)
        uid = self.daemon.get(f"{JOBS}/victim")["metadata"]["uid"]
        pod = {"apiVersion": "v1", "kind": "Pod",
               "metadata": {"name": "forged", "ownerReferences": [
                   {"apiVersion": "batch/v1", "kind": "Job", "name": "victim", "uid": uid, "controller": True}]},
               "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x", "command": ["true"]}]}}
        status, answer = self.write(WRITER, "POST", PODS, pod)
        self.assertEqual(status, 403, answer)
        self.assertIn('metadata.ownerReferences: Job "victim" is not yours', answer["message"])
        self.running("victim")

    def test_its_output_can_be_opened_by_name(self):
        self.submit("opens", "echo out > /dev/stdout && echo err > /dev/stderr && echo fd > /dev/fd/1")
        self.assertEqual(self.output("opens"), ["out", "err", "fd"])

    def test_files_of_an_earlier_daemon_are_closed(self):
        self.daemon.stop()
        token = self.daemon.data / "journal-of-old"
        token.write_text("secret")
        token.chmod(0o644)
        self.daemon.start()
        self.assertEqual([oct(p.stat().st_mode) for p in self.daemon.data.iterdir() if p.name != "pods" and p.stat().st_mode & 0o77], [])
        self.assertEqual([self.daemon.data.stat().st_mode & 0o777, (self.daemon.data / "pods").stat().st_mode & 0o777], [0o711, 0o711])


class Refused(unittest.TestCase):
    def refused(self, *options, data=None, user=None):
        home = pathlib.Path(daemon.tempfile.mkdtemp(prefix="sluice-run-as-"))
        self.addCleanup(daemon.shutil.rmtree, home, ignore_errors=True)
        done = subprocess.run([daemon.BUILD / "sluiced", "--standalone", "--data", str(data or home / "data"), "--listen", "127.0.0.1:0", *options],
                              capture_output=True, text=True, cwd="/", timeout=20, user=user)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_it_needs_processes_and_root(self):
        self.assertIn("--run-as-submitter: only with --run processes", self.refused("--run-as-submitter"))
        user = STRANGER[1] if os.geteuid() == 0 else None
        self.assertIn("--run-as-submitter: only root can run programs as other users",
                      self.refused("--run", "processes", "--run-as-submitter", user=user))

    @unittest.skipUnless(os.geteuid() == 0, "only root can run programs as other users")
    def test_it_needs_a_directory_that_users_can_enter(self):
        self.assertRegex(self.refused("--run", "processes", "--run-as-submitter"), r"users cannot enter /tmp/sluice-run-as-\w+ \(mode 0700\)")


if __name__ == "__main__":
    unittest.main()
