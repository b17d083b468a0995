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


class Server:
    """Answers lists from `items` by plural, and a watch by what `watches` has for it: a status and the events, of which a number
    is a pause in seconds. The last answer goes on until the end, each other one ends with its events."""

    def __init__(self, items, watches):
        self.asked, self.over = [], threading.Event()
        server = self

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path, _, query = self.path.partition("?")
                plural, query = path.rsplit("/", 1)[1], urllib.parse.parse_qs(query)
                server.asked.append((path.rsplit("/", 2)[1:], query))
                if "watch" in query:
                    server.watch(self, watches.get(plural, [(200, [])]))
                    return
                limit = int(query.get("limit", ["500"])[0])
                server.answer(self, 200, {"metadata": {"resourceVersion": "7"}, "items": items.get(plural, [])[:limit]})

            def log_message(self, *_):
                pass
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def answer(self, request, status, body):
        text = json.dumps(body).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text)

    def watch(self, request, answers):
        last = len(answers) == 1
        status, events = answers[0] if last else answers.pop(0)
        if status != 200:
            self.over.wait(0.5)  # after the first picture: before that it would be the end
            self.answer(request, status, {"kind": "Status", "message": events})
            return
        request.send_response(200)
        request.end_headers()
        for event in events:
            if isinstance(event, dict):
                request.wfile.write(json.dumps(event).encode() + b"\n")
                request.wfile.flush()
            else:
                self.over.wait(event)
        if last:
            self.over.wait(20)

    def lists(self, plural):
        return sum(path[1] == plural and "watch" not in query for path, query in self.asked)

    def watched(self, plural):
        """From which versions."""
        return [query["resourceVersion"][0] for path, query in self.asked if path[1] == plural and "watch" in query]

    def close(self):
        self.over.set()
        self.http.shutdown()
        self.http.server_close()


def workload(name, version, finished=False):
    status = {"conditions": [{"type": "Finished", "status": "True"}]} if finished else {}
    return {"metadata": {"namespace": "lab", "name": name, "resourceVersion": version}, "status": status}


class Asked(unittest.TestCase):
    def board(self, items, watches):
        server = Server(items, watches)
        self.addCleanup(server.close)
        board = subprocess.Popen([BUILD / "sluicectl", "--server", server.url, "dashboard", "--plain"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for close in (board.stdout.close, board.stderr.close, board.wait, board.kill):
            self.addCleanup(close)
        return server, board

    def test_it_lists_once_and_watches_then(self):
        waiting = [workload(f"w{i}", "1") for i in range(500)]
        server, board = self.board(
            {"clusterqueues": [{"metadata": {"name": n}, "status": {"pendingWorkloads": p}} for n, p in (("idle", 0), ("a", 500), ("b", 500))],
             "workloads": waiting, "pendingworkloads": [{**w, "reason": "Late", "message": "m"} for w in reversed(waiting)]},
            {"workloads": [(200, [1.5, {"type": "MODIFIED", "object": workload("w0", "8", finished=True)},
                                  {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9"}}}])]})
        lines = [board.stdout.readline() for _ in range(4)]
        self.assertIn("pending 500", lines[0])
        self.assertIn("pending 499", lines[3])
        self.assertIn("finished  1", lines[3])
        self.assertEqual((server.lists("clusterqueues"), server.lists("workloads")), (1, 1))
        self.assertEqual((server.watched("clusterqueues"), server.watched("workloads")), (["7"], ["7"]))
        pending = [(path[0], query["limit"][0]) for path, query in server.asked if path[1] == "pendingworkloads"]
        self.assertEqual(pending, [("a", "64")] * 2)  # once for what there was, once for what changed

    def test_a_watch_that_ends_goes_on_where_it_was(self):
        server, board = self.board({}, {"workloads": [(200, [{"type": "ADDED", "object": workload("w", "8")}]), (200, [])]})
        eventually(lambda: "pending  1" in board.stdout.readline(), what="the workload")
        eventually(lambda: server.watched("workloads") == ["7", "8"], what="a watch from the new version")
        self.assertEqual(server.lists("workloads"), 1)

    def test_a_version_that_is_too_old_means_a_list(self):
        gone = {"type": "ERROR", "object": {"kind": "Status", "code": 410}}
        for first in ((200, [gone]), (410, "too old")):
            server, board = self.board({"workloads": [workload("w", "1")]}, {"workloads": [first, (200, [])]})
            eventually(lambda: server.lists("workloads") == 2, what="another list")
            self.assertIn("pending  1", board.stdout.readline())

    def test_a_watch_that_is_refused_is_said_and_tried_again(self):
        server, board = self.board({}, {"workloads": [(403, "no watching here"), (200, [{"type": "ADDED", "object": workload("w", "8")}])]})
        self.assertIn("no watching here", board.stderr.readline())
        eventually(lambda: "pending  1" in board.stdout.readline(), what="the workload")

    def test_a_deleted_workload_is_not_counted_any_more(self):
        server, board = self.board({"workloads": [workload("w", "1")]}, {"workloads": [(200, [1.2, {"type": "DELETED", "object": workload("w", "8")}])]})
        self.assertIn("pending  1", board.stdout.readline())
        eventually(lambda: "pending  0" in board.stdout.readline(), what="none")


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

    def picture(self, terminal, wanted, what):
        """The last whole picture that has what is wanted."""
        def look():
            terminal.read()
            found = [p for p in terminal.pictures()[:-1] if wanted("\n".join(p))]
            return found and found[-1]
        return eventually(look, what=what)

    def test_it_scrolls_through_everything(self):
        terminal = self.terminal(24, 130)
        first = self.picture(terminal, lambda p: "name-00" in p and "name-25" not in p, "the first queues")
        terminal.press("\x1b[6~")
        second = self.picture(terminal, lambda p: "lines 13 to 29 of" in p, "the next page")
        self.assertLessEqual(len(second), 24)
        self.assertNotIn("name-00 ", "\n".join(second))
        terminal.press("G")
        last = "\n".join(self.picture(terminal, lambda p: "default/job-big" in p and "lines" in p, "the end"))
        self.assertRegex(last, r"lines (\d+) to (\d+) of \2\n")
        self.assertIn("name-29", last)
        terminal.text = ""
        terminal.press("g")
        again = self.picture(terminal, lambda p: "name-00" in p, "the beginning")
        self.assertEqual(again[2:6], first[2:6])

    def test_it_filters_by_a_text(self):
        terminal = self.terminal(24, 130)
        self.picture(terminal, lambda p: "name-00" in p, "a picture")
        terminal.press("/NAME-2")
        self.picture(terminal, lambda p: p.startswith("/NAME-2_"), "what is typed")
        terminal.press("7\r")
        found = "\n".join(self.picture(terminal, lambda p: 'only what has "NAME-27"' in p and "name-27" in p and "name-00" not in p, "one queue"))
        self.assertNotIn("default/job-big", found)
        self.assertNotIn("more quotas", found)
        self.assertIn("Pending 1", found)  # all are counted
        terminal.press("\x1b")
        self.picture(terminal, lambda p: "name-00" in p and "q ends" in p, "all again")
        terminal.press("/job-big\r")
        found = "\n".join(self.picture(terminal, lambda p: "name-00" not in p and "default/job-big" in p and "only what has" in p, "the workload"))
        terminal.press("q")
        self.assertEqual(terminal.child.wait(5), 0)

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
