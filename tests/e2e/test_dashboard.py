"""sluicectl dashboard: what it asks the server for, what it shows on a terminal, and what it does when the server is away."""
import fcntl, http.server, json, os, pty, re, select, struct, subprocess, termios, threading, time, unittest, urllib.parse
from daemon import *


class Terminal:
    """A program on a terminal of that size."""

    def __init__(self, rows, columns, *command):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.child = subprocess.Popen(command, stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.text = ""

    def read(self, seconds=0.2):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.master], [], [], 0.05)[0]:
                self.text += os.read(self.master, 65536).decode()
        return self.text

    def pictures(self):
        """Each as its lines, without colors; the last one may be half of one."""
        plain = re.sub(r"\x1b\[[0-9;]*m", "", self.text)
        return [p.replace("\r", "").split("\n") for p in plain.split("\x1b[H\x1b[J")[1:]]

    def press(self, keys):
        os.write(self.master, keys.encode())

    def close(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        os.close(self.master)
        os.close(self.slave)


class Asked(unittest.TestCase):
    def test_it_lists_once_and_watches_then(self):
        asked = []
        over = threading.Event()
        queues = [{"metadata": {"name": n}, "status": {"pendingWorkloads": p}} for n, p in (("idle", 0), ("a", 500), ("b", 500))]
        waiting = [{"metadata": {"namespace": "lab", "name": f"w{i}"}} for i in range(500)]
        done = {"type": "MODIFIED", "object": {"metadata": {"namespace": "lab", "name": "w0", "resourceVersion": "8"},
                                               "status": {"conditions": [{"type": "Finished", "status": "True"}]}}}

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path, _, query = self.path.partition("?")
                asked.append((path.rsplit("/", 2)[-2:], urllib.parse.parse_qs(query)))
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                if "watch" in asked[-1][1]:
                    self.end_headers()
                    if path.endswith("/workloads"):
                        over.wait(1.5)
                        self.wfile.write(json.dumps(done).encode() + b"\n")
                        self.wfile.flush()
                    over.wait(20)
                    return
                limit = int(asked[-1][1].get("limit", ["500"])[0])
                items = (queues if path.endswith("/clusterqueues") else waiting if path.endswith("/workloads") else
                         [{**w, "reason": "Late", "message": "m"} for w in reversed(waiting)][:limit])
                body = json.dumps({"metadata": {"resourceVersion": "7"}, "items": items}).encode()
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        board = subprocess.Popen([BUILD / "sluicectl", "--server", f"http://127.0.0.1:{server.server_port}", "dashboard", "--plain"],
                                 stdout=subprocess.PIPE, text=True)
        lines = [board.stdout.readline() for _ in range(4)]
        board.kill()
        board.communicate()
        over.set()
        server.shutdown()
        server.server_close()
        self.assertIn("pending 500", lines[0])
        self.assertIn("pending 499", lines[3])
        self.assertIn("finished  1", lines[3])
        lists = [path[1] for path, query in asked if "watch" not in query and path[1] != "pendingworkloads"]
        self.assertEqual(sorted(lists), ["clusterqueues", "workloads"])
        watches = [query["resourceVersion"] for _, query in asked if "watch" in query]
        self.assertEqual(watches, [["7"], ["7"]])
        pending = [(path[0], query["limit"][0]) for path, query in asked if path[1] == "pendingworkloads"]
        self.assertEqual(pending, [("a", "4")] * 2)  # once for what there was, once for what changed


class Shown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()
        cls.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(flavor("a-flavor-with-a-long-name")))
        for i in range(30):
            queue = cluster_queue(f"a-cluster-queue-with-a-long-name-{i:02}", {"a-flavor-with-a-long-name": {"cpu": "2", "memory": "1Gi"}})
            cls.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(queue))
        cls.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(local_queue("main", "a-cluster-queue-with-a-long-name-00")))
        cls.daemon.sluicectl("submit", "--queue", "main", "--cpu", "3", "--name", "big")

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def terminal(self, rows, columns):
        terminal = Terminal(rows, columns, BUILD / "sluicectl", "--server", self.daemon.url, "dashboard")
        self.addCleanup(terminal.close)
        return terminal

    def test_a_picture_is_not_larger_than_the_terminal(self):
        for rows, columns in ((12, 80), (24, 100), (50, 130)):
            terminal = self.terminal(rows, columns)
            eventually(lambda: terminal.read() and len(terminal.pictures()) > 1, what="two pictures")
            picture = terminal.pictures()[0]
            self.assertLessEqual(len(picture), rows, picture)
            self.assertLessEqual(max(len(line) for line in picture), columns, picture)
            self.assertIn("q ends", picture[0])
            self.assertRegex("\n".join(picture), r"and \d+ more quotas")
            self.assertIn("default/job-big", "\n".join(picture))

    def test_q_ends_it_and_the_terminal_is_as_before(self):
        terminal = self.terminal(24, 100)
        eventually(lambda: "Pending" in terminal.read(), what="a picture")
        terminal.press("xq")
        self.assertEqual(terminal.child.wait(5), 0)
        self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)

    def test_ctrl_c_ends_it_and_the_terminal_is_as_before(self):
        terminal = self.terminal(24, 100)
        eventually(lambda: "Pending" in terminal.read(), what="a picture")
        terminal.press("\x03")
        self.assertEqual(terminal.child.wait(5), -signal.SIGINT)
        self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)

    def test_one_picture_as_data(self):
        data = json.loads(self.daemon.sluicectl("dashboard", "-ojson").stdout)
        self.assertEqual(data["workloads"]["pending"], 1)
        self.assertEqual(len(data["quotas"]), 60)
        self.assertEqual(data["quotas"][0]["nominalQuota"], "2")


class Away(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon().start()

    def tearDown(self):
        self.daemon.close()

    def test_a_lost_connection_is_found_again(self):
        board = subprocess.Popen([BUILD / "sluicectl", "--server", self.daemon.url, "dashboard", "--plain"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(board.stdout.close)
        self.addCleanup(board.stderr.close)
        self.addCleanup(board.wait)
        self.addCleanup(board.kill)
        self.assertIn("pending  0", board.stdout.readline())
        self.daemon.kill()
        self.assertRegex(board.stderr.readline(), r"cannot talk to .*; trying again")
        self.daemon.start()
        self.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(flavor("f")))
        self.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(cluster_queue("back", {"f": {"cpu": "2"}})))
        eventually(lambda: "back f 0/2" in board.stdout.readline(), what="the new queue")
        self.assertIsNone(board.poll())

    def test_it_says_on_a_terminal_that_the_server_is_away(self):
        terminal = Terminal(24, 100, BUILD / "sluicectl", "--server", self.daemon.url, "dashboard")
        self.addCleanup(terminal.close)
        eventually(lambda: "Pending" in terminal.read(), what="a picture")
        self.daemon.kill()
        eventually(lambda: "trying again" in terminal.read(), what="the message")
        terminal.text = ""
        self.daemon.start()
        eventually(lambda: terminal.read() and any("Pending" in "".join(p) and "trying again" not in "".join(p) for p in terminal.pictures()[:-1]),
                   what="a picture again")

    def test_a_server_that_was_never_there_is_an_error(self):
        done = self.daemon.sluicectl("--server", "http://127.0.0.1:1", "dashboard", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot talk to http://127.0.0.1:1", done.stderr)


if __name__ == "__main__":
    unittest.main()
