# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""A standalone daemon with users: who may do what, what is answered to the others, and what is noted of it."""
import hashlib, http.client, json, os, pathlib, ssl, unittest

import daemon
from daemon import cluster_queue, eventually, flavor, job, local_queue
from test_remote import HOST, Remote

TOKENS = {name: hashlib.sha256(f"secret of {name}".encode()).hexdigest()
          for name in ("boss", "alice", "bob", "watcher", "labwatcher")}


def users_file(path, **changes):
    rows = {"boss": {"role": "admin"}, "alice": {"role": "user", "namespaces": ["lab"]},
            "bob": {"role": "user", "namespaces": ["dev", "default"]}, "watcher": {"role": "viewer"},
            "labwatcher": {"role": "viewer", "namespaces": ["lab"]}}
    rows.update(changes)
    path.write_text(json.dumps({"users": [
        {"name": name, "token": "sha256:" + hashlib.sha256(TOKENS.get(name, name).encode()).hexdigest(), **row}
        for name, row in rows.items() if row]}))
    path.chmod(0o600)


# Who may do it: a row for a verb and a path. All others get 403, and who is no user 401.
ALL = ("boss", "alice", "bob", "watcher", "labwatcher")
BATCH, QUEUES = "/apis/batch/v1", "/apis/kueue.x-k8s.io/v1beta2"
VISIBILITY = "/apis/visibility.kueue.x-k8s.io/v1beta2"
READS = ("GET", "GET?watch=true&timeoutSeconds=1")
WRITES = ("POST", "PUT", "PATCH", "DELETE")
TABLE = [
    # reading what is in a namespace
    (READS, f"{BATCH}/namespaces/lab/jobs", ("boss", "alice", "watcher", "labwatcher")),
    (("GET",), f"{BATCH}/namespaces/default/jobs", ("boss", "bob", "watcher")),
    (("GET",), f"{BATCH}/namespaces/lab/jobs/none", ("boss", "alice", "watcher", "labwatcher")),
    (("GET",), f"{BATCH}/namespaces/lab/jobs/none/status", ("boss", "alice", "watcher", "labwatcher")),
    (("GET",), f"{QUEUES}/namespaces/lab/workloads", ("boss", "alice", "watcher", "labwatcher")),
    (("GET",), f"{QUEUES}/namespaces/lab/localqueues", ("boss", "alice", "watcher", "labwatcher")),
    (READS, "/apis/kueue.x-k8s.io/v1beta1/namespaces/lab/localqueues", ("boss", "alice", "watcher", "labwatcher")),
    (("GET",), "/api/v1/namespaces/lab/events", ("boss", "alice", "watcher", "labwatcher")),
    (("GET",), "/api/v1/namespaces/lab/pods/none/log", ("boss", "alice", "watcher", "labwatcher")),
    (("GET",), "/api/v1/namespaces/lab/secrets", ("boss", "alice")),
    (("GET",), "/api/v1/namespaces/lab", ALL),
    (("GET",), f"{VISIBILITY}/namespaces/lab/localqueues/main/pendingworkloads", ("boss", "alice", "watcher", "labwatcher")),
    # in all namespaces
    (READS, f"{BATCH}/jobs", ("boss", "watcher")),
    (("GET",), f"{QUEUES}/workloads", ("boss", "watcher")),
    (("GET",), "/api/v1/secrets", ("boss",)),
    (("GET",), f"{VISIBILITY}/clusterqueues/team/pendingworkloads", ("boss", "watcher")),
    (("GET",), f"{VISIBILITY}/dump", ("boss", "watcher")),
    # what belongs to no namespace
    (READS, f"{QUEUES}/clusterqueues", ALL),
    (("GET",), f"{QUEUES}/cohorts", ALL),
    (("GET",), "/apis/kueue.x-k8s.io/v1beta1/clusterqueues", ALL),
    (("GET",), "/api/v1/nodes", ALL),
    (("GET",), "/api/v1/namespaces", ALL),
    (WRITES, f"{QUEUES}/clusterqueues/none", ("boss",)),
    (("POST", "DELETE"), f"{QUEUES}/clusterqueues", ("boss",)),
    (("POST", "DELETE"), f"{QUEUES}/resourceflavors", ("boss",)),
    (("POST",), "/api/v1/namespaces", ("boss",)),
    (("DELETE", "PATCH"), "/api/v1/namespaces/lab", ("boss",)),
    (("PUT", "PATCH"), "/api/v1/namespaces/lab/status", ("boss",)),
    (("POST", "DELETE"), "/api/v1/nodes", ("boss",)),
    # writing what runs
    (("POST", "DELETE"), f"{BATCH}/namespaces/lab/jobs", ("boss", "alice")),
    (("PUT", "PATCH", "DELETE"), f"{BATCH}/namespaces/lab/jobs/none", ("boss", "alice")),
    (("POST",), f"{BATCH}/namespaces/default/jobs", ("boss", "bob")),
    (("PUT", "PATCH", "DELETE"), "/api/v1/namespaces/lab/pods/none", ("boss", "alice")),
    (("DELETE",), f"{BATCH}/jobs", ("boss",)),
    # and what decides whether it does
    (("PUT", "PATCH"), f"{BATCH}/namespaces/lab/jobs/none/status", ("boss",)),
    (("PUT", "PATCH"), "/api/v1/namespaces/lab/pods/none/status", ("boss",)),
    (("POST", "DELETE"), f"{QUEUES}/namespaces/lab/workloads", ("boss",)),
    (("PUT", "PATCH", "DELETE"), f"{QUEUES}/namespaces/lab/workloads/none", ("boss",)),
    (("PUT", "PATCH"), f"{QUEUES}/namespaces/lab/workloads/none/status", ("boss",)),
    (("POST", "DELETE"), f"{QUEUES}/namespaces/lab/localqueues", ("boss",)),
    (("POST",), "/api/v1/namespaces/lab/limitranges", ("boss",)),
    (("POST",), "/apis/coordination.k8s.io/v1/namespaces/lab/leases", ("boss",)),
    # what is no resource
    (("GET",), "/version", ALL),
    (("GET",), "/api", ALL),
    (("GET",), "/apis", ALL),
    (("GET",), BATCH, ALL),
    (("GET",), "/openapi/v2", ALL),
    (("GET",), "/metrics", ("boss", "watcher")),
    (("POST",), "/simulate", ("boss", "watcher")),
    (("POST",), f"{VISIBILITY}/simulations", ("boss", "watcher")),
    (("POST",), "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", ALL),
    (("POST",), "/apis/authentication.k8s.io/v1/selfsubjectreviews", ALL),
    # paths that can be read in two ways
    (("GET",), f"{VISIBILITY}%2Fdump", ("boss",)),
    (("GET",), "/apis%2Fvisibility.kueue.x-k8s.io/v1beta2/dump", ("boss",)),
    (("GET",), "/apis/visibility.kueue.x-k8s.io%2Fv1beta2/dump", ("boss",)),
    (("GET",), f"{VISIBILITY}/namespaces/lab%2F..%2F..%2Fdump/localqueues", ("boss",)),
    (("GET",), "/api/v1/namespaces/lab%2Fpods/secrets", ("boss",)),
    (("GET",), f"/{VISIBILITY}/dump", ("boss",)),
    (("GET",), "/api/../metrics", ("boss", "watcher")),  # 404 to them: nothing climbs
    (("GET",), "/apis/../../etc/passwd", ("boss", "watcher")),
]


class Users(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = pathlib.Path(daemon.tempfile.mkdtemp(prefix="sluice-users-"))
        cls.file = cls.home / "users.yaml"
        users_file(cls.file)
        cls.daemon = Remote("--users", str(cls.file)).start()
        cls.admin = cls.daemon.token()
        for o, path in ((flavor("f"), f"{QUEUES}/resourceflavors"), (cluster_queue("team", {"f": {"cpu": "4"}}), f"{QUEUES}/clusterqueues"),
                        ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}}, "/api/v1/namespaces"),
                        ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "dev"}}, "/api/v1/namespaces"),
                        (local_queue("main", "team", "lab"), f"{QUEUES}/namespaces/lab/localqueues")):
            assert cls.daemon.status(cls.admin, path, "POST", o) == 201, o

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()
        daemon.shutil.rmtree(cls.home, ignore_errors=True)

    def ask(self, user, method, path, body=None):
        status, text = self.daemon.request(method, path, body, headers={"Authorization": f"Bearer {TOKENS[user]}"})
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text

    def code(self, connection, token, verb, path):
        """Of a request, on a connection that stays."""
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        connection.request(verb, path, "{}" if verb in ("POST", "PUT", "PATCH") else None, headers)
        response = connection.getresponse()
        response.read()
        return response.status

    def test_every_verb_role_and_resource(self):
        wrong = []
        context = ssl.create_default_context(cafile=self.daemon.data / "tls/tls.crt")
        connection = http.client.HTTPSConnection(HOST, self.daemon.port, timeout=30, context=context)
        self.addCleanup(connection.close)
        for methods, path, who in TABLE:
            for method in methods:
                verb, _, query = method.partition("?")
                full = path + ("?" + query if query else "?dryRun=All" if verb != "GET" else "")
                for user in ALL:
                    status = self.code(connection, TOKENS[user], verb, full)
                    if (status == 403) == (user in who) or status == 401:
                        wrong.append(f"{user}: {method} {path}: {status}")
                if self.code(connection, None, verb, full) != 401 or self.code(connection, "wrong" * 10, verb, full) != 401:
                    wrong.append(f"nobody: {method} {path}")
        self.assertEqual(wrong, [])

    def test_refusals_are_in_the_words_of_kubernetes(self):
        status, body = self.ask("alice", "POST", f"{BATCH}/namespaces/default/jobs", job("j"))
        self.assertEqual((status, body["kind"], body["status"], body["reason"], body["code"]), (403, "Status", "Failure", "Forbidden", 403))
        self.assertEqual(body["message"], 'jobs.batch is forbidden: User "alice" cannot create resource "jobs" in API group "batch" '
                                          'in the namespace "default"')
        self.assertEqual(body["details"], {"group": "batch", "kind": "jobs"})
        for path, message in ((f"{QUEUES}/workloads", 'workloads.kueue.x-k8s.io is forbidden: User "alice" cannot list resource "workloads" in API '
                                                      'group "kueue.x-k8s.io" at the cluster scope'),
                              ("/api/v1/namespaces/default/pods/p/log", 'pods "p" is forbidden: User "alice" cannot get resource "pods/log" in API '
                                                                        'group "" in the namespace "default"'),
                              ("/metrics", 'forbidden: User "alice" cannot get path "/metrics"')):
            self.assertEqual(self.ask("alice", "GET", path)[1]["message"], message)
        status, text = self.daemon.request("GET", f"{BATCH}/jobs")
        self.assertEqual((status, json.loads(text)["message"], json.loads(text)["reason"]), (401, "Unauthorized", "Unauthorized"))
        self.assertEqual([self.daemon.status(None, path) for path in ("/healthz", "/livez", "/readyz")], [200] * 3)

    def test_a_user_queues_a_job_and_cannot_end_it_by_its_status(self):
        made = job("mine", namespace="lab", run_for="1h")
        self.assertEqual(self.ask("alice", "POST", f"{BATCH}/namespaces/lab/jobs", made)[0], 201)
        self.assertEqual(self.ask("bob", "GET", f"{BATCH}/namespaces/lab/jobs/mine")[0], 403)
        self.assertEqual(self.ask("watcher", "DELETE", f"{BATCH}/namespaces/lab/jobs/mine")[0], 403)
        other = job("other", namespace="default")
        self.assertEqual(self.ask("alice", "POST", f"{BATCH}/namespaces/lab/jobs", other)[0], 400)  # of another namespace than the path
        self.assertEqual(self.ask("alice", "DELETE", f"{BATCH}/namespaces/lab/jobs/mine")[0], 200)

    def kubectl(self, user, *arguments):
        config = self.home / f"{user}.kubeconfig"
        config.write_text(self.daemon.kubeconfig.read_text().replace(self.admin, TOKENS[user]))
        config.chmod(0o600)
        env = {**os.environ, "KUBECONFIG": str(config), "HOME": str(self.home)}
        return daemon.subprocess.run([daemon.KUBECTL, *arguments], env=env, capture_output=True, text=True, timeout=60)

    def test_kubectl_says_what_one_may_and_who_one_is(self):
        for user, question, answer in (("alice", "create jobs -n lab", "yes"), ("alice", "create jobs -n default", "no"),
                                       ("alice", "delete clusterqueues.kueue.x-k8s.io", "no"), ("alice", "get clusterqueues.kueue.x-k8s.io", "yes"),
                                       ("watcher", "list pods -A", "yes"), ("watcher", "delete pods -n lab", "no"),
                                       ("boss", "* *", "yes"), ("watcher", "get /metrics", "yes"), ("alice", "get /metrics", "no")):
            out = self.kubectl(user, "auth", "can-i", *question.split()).stdout
            self.assertEqual(out.strip(), answer, (user, question))
        self.assertIn("alice", self.kubectl("alice", "auth", "whoami").stdout)
        self.assertIn("sluice:users", self.kubectl("alice", "auth", "whoami").stdout)
        rules = self.kubectl("alice", "auth", "can-i", "--list", "-n", "lab").stdout
        self.assertRegex(rules, r"jobs\.batch +\[\] +\[\] +\[create")
        self.assertNotIn("jobs.batch", self.kubectl("alice", "auth", "can-i", "--list", "-n", "default").stdout)
        self.assertIn("sluice-admin", self.daemon_whoami())
        for user in ("watcher", "boss"):
            refused = self.kubectl(user, "get", "jobs", "-n", "lab", "--as", "alice")
            self.assertIn(f'users "alice" is forbidden: User "{user}" cannot impersonate resource "users" in API group "" at the cluster scope',
                          refused.stderr)
        refused = self.kubectl("bob", "get", "jobs", "-n", "lab")
        self.assertEqual(refused.returncode, 1)
        self.assertIn('Error from server (Forbidden): jobs.batch is forbidden: User "bob" cannot list', refused.stderr)

    def daemon_whoami(self):
        env = {**os.environ, "KUBECONFIG": str(self.daemon.kubeconfig), "HOME": str(self.home)}
        return daemon.subprocess.run([daemon.KUBECTL, "auth", "whoami"], env=env, capture_output=True, text=True, timeout=60).stdout

    def test_the_token_of_the_daemon_is_in_files_that_only_its_owner_reads(self):
        for path in (self.daemon.kubeconfig, self.daemon.data / "token", self.daemon.data / "audit.log"):
            self.assertEqual(path.stat().st_mode & 0o777, 0o600, path)
        self.assertIn(self.admin, self.daemon.kubeconfig.read_text())

    def lines(self, **want):
        lines = [json.loads(line) for line in (self.daemon.data / "audit.log").read_text().splitlines()]
        return [line for line in lines if all(line.get(k) == v for k, v in want.items())]

    def test_what_is_written_and_what_is_refused_is_noted(self):
        path = f"{BATCH}/namespaces/lab/jobs"
        before = len(self.lines(user="alice", verb="create", path=path, code=201))
        self.ask("alice", "POST", path, job("noted", namespace="lab"))
        self.ask("alice", "GET", path)
        self.ask("bob", "GET", path + "/noted?secret=1")
        self.daemon.status(None, path + "/noted", "DELETE")
        self.ask("alice", "DELETE", path + "/noted?dryRun=All")
        made = self.lines(user="alice", verb="create", path=path, code=201)
        self.assertEqual(len(made), before + 1)
        self.assertRegex(made[-1]["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(self.lines(user="alice", verb="list", path=path), [])
        self.assertEqual(len(self.lines(user="bob", verb="get", path=path + "/noted", code=403)), 1)
        self.assertEqual(len(self.lines(user="", verb="delete", path=path + "/noted", code=401)), 1)
        self.assertEqual(len(self.lines(user="alice", verb="delete", path=path + "/noted", dryRun=True)), 1)
        text = (self.daemon.data / "audit.log").read_text()
        for token in (*TOKENS.values(), self.admin):
            self.assertNotIn(token, text)

    def test_the_file_is_read_again_and_a_broken_one_is_not_believed(self):
        path = f"{BATCH}/namespaces/lab/jobs"
        self.addCleanup(eventually, lambda: self.ask("alice", "GET", path)[0] == 200, what="alice to be back")
        self.addCleanup(users_file, self.file)
        users_file(self.file, carol={"role": "viewer", "namespaces": ["lab"]})
        eventually(lambda: self.daemon.status("carol", path) == 200, what="carol")
        self.file.write_text("users: [{name: carol}]")
        eventually(lambda: "what it said before holds" in self.daemon.log_text() or self.daemon.status("carol", path) != 200, what="the complaint")
        self.assertEqual(self.daemon.status("carol", path), 200)
        new = self.home / "new"
        users_file(new, alice=None)  # and when another one is put in its place
        os.replace(new, self.file)
        eventually(lambda: self.daemon.status("carol", path) == 401, what="carol to be forgotten")
        self.assertEqual(self.ask("alice", "GET", path)[0], 401)


class Start(unittest.TestCase):
    def refused(self, text, mode=0o600):
        d = Remote("--users", "users.yaml")
        self.addCleanup(d.close)
        path = d.home / "users.yaml"
        path.write_text(text)
        path.chmod(mode)
        d.flags = ("--users", str(path))
        d.start(wait=False)
        self.assertEqual(d.process.wait(20), 1)
        return d.log_text()

    def test_a_file_that_makes_no_sense_is_named_with_user_and_field(self):
        digest = "sha256:" + "0" * 64
        for text, part in (("users: 3", "a list of up to"), ("- a", "the field users alone"), ("{users: [3]}", "not a map"),
                           ("users: [{name: a, role: root, token: x}]", 'user "a": role: has to be admin, user or viewer'),
                           ("users: [{name: a, role: admin, token: hunter2}]", 'user "a": token: has to be sha256:'),
                           (f"users: [{{name: a, role: user, token: '{digest}'}}]", 'user "a": namespaces: a user needs'),
                           (f"users: [{{name: a, role: user, token: '{digest}', namespaces: [A_B]}}]", "cannot be the name of a namespace"),
                           (f"users: [{{name: a, role: admin, token: '{digest}', namespaces: [a]}}]", "an admin has all"),
                           (f"users: [{{name: a, role: admin, token: '{digest}', uid: 3}}]", 'user "a": unknown field uid'),
                           (f"users: [{{name: 'system:x', role: admin, token: '{digest}'}}]", "not begin with system:"),
                           (f"users: [{{name: a, role: admin, token: '{digest}'}}, {{name: a, role: admin, token: '{digest}'}}]", "another user of this name"),
                           ("users: [", "users.yaml: ")):
            log = self.refused(text)
            self.assertIn(part, log, text)
            self.assertNotIn("hunter2", log)
        self.assertIn("can be written by others (mode 0666)", self.refused("users: []", 0o666))

    def test_a_file_that_is_not_there(self):
        d = Remote("--users", "/nowhere/users.yaml")
        self.addCleanup(d.close)
        d.start(wait=False)
        self.assertEqual(d.process.wait(20), 1)
        self.assertIn("/nowhere/users.yaml cannot be read: No such file", d.log_text())

    def test_without_users_everybody_on_this_machine_may_everything_and_is_nobody(self):
        d = daemon.Daemon().start()
        self.addCleanup(d.close)
        self.assertEqual(d.request("POST", JOBS_DEFAULT, job("j"))[0], 201)
        status, review = d.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
        self.assertEqual((status, review["status"]["userInfo"]["username"]), (201, "system:anonymous"))
        self.assertFalse((d.data / "audit.log").exists())


JOBS_DEFAULT = "/apis/batch/v1/namespaces/default/jobs"

if __name__ == "__main__":
    unittest.main()
