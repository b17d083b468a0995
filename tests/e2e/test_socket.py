# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""--socket: users of this machine, whom the kernel names, without a token."""
import contextlib, http.client, json, os, pathlib, socket, stat, subprocess, unittest

import daemon
from daemon import job
from test_remote import Remote
from test_users import TOKENS, users_file

JOBS = "/apis/batch/v1/namespaces/lab/jobs"
SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
# Of every Debian; that they cannot log in does not matter.
WRITER, READER, STRANGER = (("games", 5), ("mail", 8), ("nobody", 65534))


@contextlib.contextmanager
def being(uid):
    """What connects meanwhile is of this user."""
    before = os.geteuid()
    if uid is not None and uid != before:
        if before != 0:
            raise unittest.SkipTest("needs root, to be other users")
        os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(before)


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def ask(path, uid, method, url, body=None, headers=None):
    connection = Connection(path)
    with being(uid):
        connection.connect()
    try:
        connection.request(method, url, json.dumps(body) if body is not None else None,
                           {"Content-Type": "application/json", **(headers or {})})
        response = connection.getresponse()
        text = response.read().decode()
    finally:
        connection.close()
    try:
        return response.status, json.loads(text)
    except ValueError:
        return response.status, text


class Socket(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(daemon.tempfile.mkdtemp(prefix="sluice-socket-"))
        self.addCleanup(daemon.shutil.rmtree, self.home, ignore_errors=True)
        self.home.chmod(0o755)
        self.path = self.home / "socket"
        self.users = self.home / "users.yaml"
        users_file(self.users)
        said = json.loads(self.users.read_text())
        said["users"] += [{"name": WRITER[0], "role": "user", "namespaces": ["lab"]}, {"name": READER[0], "role": "viewer"}]
        self.users.write_text(json.dumps(said))
        self.daemon = Remote("--users", str(self.users), "--socket", str(self.path))
        self.addCleanup(self.daemon.close)
        self.daemon.start()
        self.assertEqual(self.ask(None, "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})[0], 201)

    def ask(self, uid, method, url, body=None, **headers):
        return ask(self.path, uid, method, url, body, headers)

    def test_user_of_the_daemon_is_administrator_without_a_token(self):
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o666)
        status, body = self.ask(None, "POST", SELF, {})
        self.assertEqual((status, body["status"]["userInfo"]["username"]), (201, "sluice-admin"))
        self.assertEqual(self.ask(None, "GET", "/metrics")[0], 200)

    def test_users_of_the_machine_have_their_roles(self):
        status, body = self.ask(WRITER[1], "POST", SELF, {})
        self.assertEqual((status, body["status"]["userInfo"]["username"]), (201, WRITER[0]))
        self.assertEqual(self.ask(WRITER[1], "POST", JOBS, job("mine", "main", namespace="lab"))[0], 201)
        self.assertEqual(self.ask(WRITER[1], "GET", "/api/v1/namespaces/default/pods")[0], 403)
        self.assertEqual(self.ask(READER[1], "GET", JOBS)[0], 200)
        self.assertEqual(self.ask(READER[1], "POST", JOBS, job("other", "main", namespace="lab"))[0], 403)
        status, body = self.ask(STRANGER[1], "GET", JOBS)
        self.assertEqual((status, body["message"]), (401, "Unauthorized: the local user 65534 is not in the file of users"))
        lines = [json.loads(line) for line in (self.daemon.data / "audit.log").read_text().splitlines()]
        self.assertIn((WRITER[0], "create", JOBS, 201), [(l["user"], l["verb"], l["path"], l["code"]) for l in lines])

    def test_a_token_goes_before_the_user_of_the_process(self):
        status, body = self.ask(None, "POST", SELF, {}, Authorization=f"Bearer {TOKENS['watcher']}")
        self.assertEqual((status, body["status"]["userInfo"]["username"]), (201, "watcher"))
        self.assertEqual(self.ask(None, "GET", JOBS, Authorization="Bearer " + "wrong" * 10)[0], 401)
        self.assertEqual(self.ask(None, "GET", JOBS, Authorization="Basic YTpi")[0], 200)

    def test_nobody_is_known_by_the_socket_to_the_port(self):
        self.assertEqual(self.daemon.status(None), 401)

    def test_pages_of_web_sites_are_refused(self):
        self.assertEqual(self.ask(None, "GET", JOBS, Host="example.com")[0], 403)

    def test_sluicectl_uses_it(self):
        done = subprocess.run([daemon.BUILD / "sluicectl", "--server", f"unix:{self.path}", "get", "namespaces", "lab"],
                              capture_output=True, text=True, env={"HOME": str(self.home), "PATH": os.environ["PATH"]})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("lab", done.stdout)
        done = subprocess.run([daemon.BUILD / "sluicectl", "edit", "job", "x"], capture_output=True, text=True,
                              env={"HOME": str(self.home), "PATH": os.environ["PATH"], "SLUICE_SERVER": f"unix:{self.path}"})
        self.assertIn(f"edit is done by kubectl, which cannot use the socket {self.path}", done.stderr)
        self.assertEqual(done.returncode, 1)

    def test_what_a_killed_daemon_has_left_is_replaced_and_what_is_in_use_is_not(self):
        self.daemon.kill()
        self.assertTrue(self.path.is_socket())
        self.daemon.start()
        self.assertEqual(self.ask(None, "GET", JOBS)[0], 200)
        for path, why in ((self.path, "Address already in use"), (self.users, "Address already in use"),
                          ("relative", 'socket "relative" is not an absolute path'), (self.home / ("x" * 120), "is not an absolute path of up to 107")):
            other = Remote("--socket", str(path))
            self.addCleanup(other.close)
            other.start(wait=False)
            self.assertNotEqual(other.process.wait(20), 0)
            self.assertIn(why, other.log_text())
        self.assertEqual(self.ask(None, "GET", JOBS)[0], 200)


if __name__ == "__main__":
    unittest.main()
