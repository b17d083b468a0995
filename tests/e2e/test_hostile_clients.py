# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Clients that mean ill, or are broken: whatever they hold and leave, others are served."""
import os, resource, signal, socket, subprocess, time, unittest

import daemon

HALF = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nX: "
PART = b"POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
PLACES = 1000  # connections that a server has


class Limited(daemon.Daemon):
    """With few open files."""

    def __init__(self, files, **rest):
        super().__init__(**rest)
        self.files = files

    def start(self, wait=True):
        self.log = open(self.log_path, "ab")
        self.process = subprocess.Popen(
            ["sh", "-c", f'ulimit -n {self.files}; exec "$0" "$@"', daemon.BUILD / "sluiced", "--standalone", "--data", self.data,
             "--listen", f"127.0.0.1:{self.port}", *self.options], stdout=self.log, stderr=self.log)
        if wait:
            self.wait_ready()
        return self


def crowd(port, count, text=HALF):
    """Connections that have said `text`."""
    held = []
    for _ in range(count):
        s = socket.create_connection(("127.0.0.1", port), timeout=30)
        s.sendall(text)
        held.append(s)
    return held


def answers(d, seconds=60):
    return daemon.eventually(lambda: probe(d), seconds, "an answer of /readyz")


def probe(d):
    try:
        with socket.create_connection(("127.0.0.1", d.port), timeout=5) as s:
            s.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return s.recv(100).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


class HostileClients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        cls.before = (soft, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, hard), hard))

    @classmethod
    def tearDownClass(cls):
        resource.setrlimit(resource.RLIMIT_NOFILE, cls.before)

    def start(self, d):
        self.addCleanup(d.close)
        return d.start()

    def test_whoever_comes_last_is_served_beside_idlers(self):
        d = self.start(daemon.Daemon())
        held = crowd(d.port, PLACES + 5)
        self.addCleanup(lambda: [s.close() for s in held])
        self.assertTrue(probe(d) or probe(d))

    def test_all_leaving_at_once_leaves_no_deafness(self):
        d = self.start(daemon.Daemon())
        held = crowd(d.port, PLACES + 5)
        time.sleep(1)
        d.process.send_signal(signal.SIGSTOP)  # as a long request would hold it up
        for s in held:
            s.close()
        d.process.send_signal(signal.SIGCONT)
        self.assertTrue(answers(d, 20))

    def test_hasty_clients_leave_nothing_behind(self):
        d = self.start(daemon.Daemon())
        base = len(os.listdir(f"/proc/{d.process.pid}/fd"))
        for text in (b"GET /readyz", HALF, PART, b""):
            for _ in range(300):
                with socket.create_connection(("127.0.0.1", d.port), timeout=30) as s:
                    s.sendall(text)
        daemon.eventually(lambda: len(os.listdir(f"/proc/{d.process.pid}/fd")) <= base + 5, 20,
                          "the connections of clients that left are closed")

    def test_descriptors_running_out_leave_no_deafness(self):
        d = self.start(Limited(96))
        held = crowd(d.port, 200)
        time.sleep(1)
        self.assertTrue(probe(d) or probe(d))
        for s in held:
            s.close()
        self.assertTrue(answers(d, 20))

    def test_nobody_reading_the_log_holds_nothing_up(self):
        d = daemon.Daemon(options=["--log-level=debug"])
        self.addCleanup(d.close)
        unread, d.log = os.pipe()
        self.addCleanup(os.close, unread)
        command = [daemon.BUILD / "sluiced", "--standalone", "--data", d.data, "--listen", f"127.0.0.1:{d.port}", *d.options]
        d.process = subprocess.Popen(command, stdout=d.log, stderr=d.log)
        d.log = os.fdopen(d.log, "wb")
        d.wait_ready()
        for i in range(250):
            status, _ = d.request("POST", "/api/v1/namespaces", {"metadata": {"name": f"{'n' * 50}-{i}"}})
            self.assertEqual(status, 201)
            status, _ = d.request("POST", f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{'n' * 50}-{i}/localqueues",
                                  {"metadata": {"name": "q" * 60}, "spec": {"clusterQueue": "c" * 60}})
            status, _ = d.request("POST", f"/apis/batch/v1/namespaces/{'n' * 50}-{i}/jobs", {
                "metadata": {"name": f"{'j' * 40}-{i}", "labels": {"kueue.x-k8s.io/queue-name": "q" * 60}},
                "spec": {"suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})
            self.assertEqual(status, 201)
        self.assertEqual(d.stop(20), 0)

    def test_too_few_descriptors_are_said_at_start(self):
        d = Limited(16)
        self.addCleanup(d.close)
        d.start(wait=False)
        try:
            code = d.process.wait(20)
        except subprocess.TimeoutExpired:
            self.fail("it started with 16 open files")
        self.assertEqual(code, 1)
        self.assertIn("files may be open at a time", d.log_text())


if __name__ == "__main__":
    unittest.main()
