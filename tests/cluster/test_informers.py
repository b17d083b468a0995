"""client-go's shared informers, as any controller of the users' has them: on the API server while Sluice writes, and on
Sluice's own API server. After a run their stores must be what a fresh list says, event by event, without one relist."""
import contextlib, json, os, socket, subprocess, threading
from contextlib import closing

from controlplane import die_with_parent, find
from work_scene import *
import daemon as alone

RESOURCES = ("workloads", "clusterqueues", "localqueues")


class Informers:
    """The program `informers`, on Sluice's resources and Jobs."""

    def __init__(self, where, watch_list):
        names = [f"{r}.v1beta2.kueue.x-k8s.io" for r in RESOURCES] + ["jobs.v1.batch"]
        self.process = subprocess.Popen(
            [find("informers"), *where, "--resync", "1s", *names], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "KUBE_FEATURE_WatchListClient": watch_list}, preexec_fn=die_with_parent)
        assert self.process.stdout.readline() == "synced\n"

    def compare(self):
        """Per resource what was counted, and what differs from the server."""
        self.process.stdin.write("compare\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.kill()
        self.process.communicate()


class Agree:
    """What must hold of every resource, after a run."""

    def agree(self, informers, watch_list):
        eventually(lambda: all(r["Resyncs"] for r in informers.compare().values()), what="a resync of everything")
        seen = informers.compare()
        for name, r in seen.items():
            for what in ("Differ", "Faults", "WatchErrors"):
                self.assertFalse(r[what], f"{name}: {what}")
            self.assertEqual(r["Lists"], 0 if watch_list == "true" else 1, name)
            if watch_list == "true":
                self.assertGreater(r["Bookmarks"], 0, f"{name}: nothing said where the initial events end")
        self.assertEqual(seen["workloads"]["Adds"], 12)
        self.assertEqual(seen["workloads"]["Stored"], 8)
        self.assertEqual(seen["workloads"]["Deletes"], 4)
        self.assertGreaterEqual(seen["workloads"]["Updates"], 2 * 12, "an admission and an end each")
        self.assertGreater(seen["clusterqueues"]["Updates"], 0)
        self.assertGreater(seen["localqueues"]["Updates"], 0)


class OnTheApiServer(WorkScene, Agree):
    def run_with(self, watch_list):
        self.daemon()
        with closing(Informers(["--kubeconfig", str(self.plane.run / "admin.kubeconfig")],
                                        watch_list)) as informers:
            self.queues(3)
            names = [f"j{i}" for i in range(12)]
            self.create(*(job(n, "main") for n in names))
            self.finished(*names, seconds=60)
            for name in names[:4]:
                self.plane.request("DELETE", self.job_path(name) + "?propagationPolicy=Background")
            eventually(lambda: len(self.workloads()) == 8, what="workloads gone with their jobs")
            self.agree(informers, watch_list)

    def test_informers_that_list_agree(self):
        self.run_with("false")

    def test_informers_that_stream_agree(self):
        self.run_with("true")


class Cutter:
    """A way to the server that breaks all connections when told to, in the middle of whatever they carry."""

    def __init__(self, port):
        self.to, self.open, self.ended = port, set(), False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.ended:
            try:
                here, _ = self.listener.accept()
                there = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                continue
            self.open |= {here, there}
            for pair in ((here, there), (there, here)):
                threading.Thread(target=self.carry, args=pair, daemon=True).start()

    def carry(self, source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for s in (source, target):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """How many were cut."""
        gone, self.open = self.open, set()
        for s in gone:
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
        return len(gone)

    def close(self):
        self.ended = True
        self.listener.close()
        self.cut()


class OnSluiceAlone(unittest.TestCase, Agree):
    def setUp(self):
        self.sluice = alone.Daemon().start()

    def tearDown(self):
        self.sluice.close()

    def create(self, *objects):
        for o in objects:
            done = self.sluice.sluicectl("apply", "-f", "-", stdin=json.dumps(o))
            self.assertEqual(done.returncode, 0, done.stderr)

    def workloads(self):
        return self.sluice.get(f"{KUEUE}/namespaces/default/workloads")["items"]

    def play(self, prefix, count):
        names = [f"{prefix}{i}" for i in range(count)]
        self.create(*(alone.job(n, run_for="100ms") for n in names))
        eventually(lambda: all(any(w["metadata"]["ownerReferences"][0]["name"] == n and holds(w, "Finished")
                                   for w in self.workloads()) for n in names), 30, what="all finished")
        return names

    def run_with(self, watch_list):
        with closing(Informers(["--server", self.sluice.url], watch_list)) as informers:
            self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "3"}}), local_queue("main", "team"))
            for name in self.play("j", 12)[:4]:
                status, _ = self.sluice.request("DELETE", f"/apis/batch/v1/namespaces/default/jobs/{name}"
                                                          "?propagationPolicy=Background")
                self.assertEqual(status, 200)
            eventually(lambda: len(self.workloads()) == 8, what="workloads gone with their jobs")
            self.agree(informers, watch_list)

    def test_informers_that_list_agree(self):
        self.run_with("false")

    def test_informers_that_stream_agree(self):
        self.run_with("true")

    def test_informers_agree_over_cuts_and_applies(self):
        """Each change by an apply of its own manager, while connections break."""
        with closing(Cutter(self.sluice.port)) as way:
            for watch_list in ("false", "true"):
                with self.subTest(watch_list=watch_list), closing(Informers(["--server", way.url], watch_list)) as informers:
                    self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "3"}}), local_queue("main", "team"))
                    cut = 0
                    for i in range(60):
                        queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "spec": {"clusterQueue": "team"},
                                 "metadata": {"name": f"q{i % 7}", "labels": {f"l{i % 3}": str(i)}}}
                        status, answer = self.sluice.request(
                            "PATCH", f"{KUEUE}/namespaces/default/localqueues/q{i % 7}?fieldManager=m{i % 3}", json.dumps(queue),
                            "application/apply-patch+yaml")
                        self.assertIn(status, (200, 201), answer)
                        cut += way.cut() if i % 6 == 5 else 0
                    self.assertGreater(cut, 8)
                    self.play(f"cut-{watch_list}", 3)
                    for name, r in informers.compare().items():
                        self.assertEqual((r["Differ"], r["Faults"] or []), ([], []), name)
                        self.assertGreater(r["Watches"], 1, name)
                        self.assertNotIn("too old", str(r["WatchErrors"]), f"{name}: the log of changes has what was missed")
                    seen = self.sluice.get(f"{KUEUE}/namespaces/default/localqueues/q0")
                    self.assertEqual({m["manager"] for m in seen["metadata"]["managedFields"]} - {"sluice"}, {"m0", "m1", "m2"})
                    for i in range(7):
                        self.sluice.request("DELETE", f"{KUEUE}/namespaces/default/localqueues/q{i}")

    def test_informers_agree_again_when_the_server_was_killed(self):
        with closing(Informers(["--server", self.sluice.url], "false")) as informers:
            self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "3"}}), local_queue("main", "team"))
            self.play("before", 4)
            self.sluice.kill()
            self.sluice.start()
            self.play("after", 4)
            for name, r in informers.compare().items():
                self.assertEqual((r["Differ"], r["Faults"] or []), ([], []), name)
                # A stream that was cut in the middle is an error, too. The log of changes is gone with the process:
                # who was further behind is told so and lists once more.
                told = ("too old resource version", "an error on the server (\"unable to decode an event")
                self.assertTrue(all(e.startswith(told) for e in r["WatchErrors"] or []), r)
                self.assertLessEqual(r["Lists"], 2, name)
                self.assertGreater(r["Watches"], 1, name)
