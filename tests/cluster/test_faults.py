"""A bad network, and a control plane that comes and goes: at the end every job has run exactly once."""
import signal, threading, time

from proxy import FaultProxy
from work_scene import *


class Faults(WorkScene):
    def setUp(self):
        super().setUp()
        self.proxy = FaultProxy(self.plane)
        self.addCleanup(self.proxy.close)

    def load(self, count, cpu=4):
        """Jobs that have to wait for each other, and the path of their queue."""
        queue = self.queues(cpu)
        names = [f"f{i}" for i in range(count)]
        self.create(*(job(n, "main", run_for="300ms") for n in names))
        return names, queue

    def all_ran(self, names, queue, seconds=90):
        self.finished(*names, seconds=seconds)
        self.each_ran_once(names)
        self.settles_at(queue, 0)

    def test_errors_of_every_kind_are_survived(self):
        d = self.daemon(self.proxy.url)
        faults = [self.proxy.answer(status, chance=0.1, method="POST|PATCH|PUT|DELETE") for status in (500, 409, 503)]
        faults.append(self.proxy.answer(429, chance=0.1, headers={"Retry-After": "1"}))
        names, queue = self.load(12)
        eventually(lambda: all(f.hits for f in faults), 60, what="each fault met")
        eventually(lambda: sum(f.hits for f in faults) > 20 or all(
            holds(w, "Finished") for w in self.workloads().values()), 60, what="many faults met")
        self.proxy.heal()
        self.all_ran(names, queue)
        self.assertTrue(d.running())

    def test_lost_answers_are_resolved_by_looking(self):
        d = self.daemon(self.proxy.url)
        fault = self.proxy.lose(method="POST|PATCH|PUT", chance=0.25)
        names, queue = self.load(12)
        eventually(lambda: fault.hits >= 12 or all(holds(w, "Finished") for w in self.workloads().values()) and
                   self.workloads(), 60, what="answers lost")
        self.assertGreater(fault.hits, 3)
        self.proxy.heal()
        self.all_ran(names, queue)
        self.assertGreater(d.metric("sluice_api_lost_answers_total"), 0)

    def test_slow_network_with_cut_watches(self):
        d = self.daemon(self.proxy.url)
        self.proxy.slow(0.2, chance=0.5)
        names, queue = self.load(12)
        cut = 0
        for _ in range(5):
            time.sleep(0.7)
            cut += self.proxy.cut_watches()
        self.assertGreater(cut, 10)
        self.all_ran(names, queue)
        self.assertTrue(d.running())

    def test_watch_that_is_too_old_is_listed_anew(self):
        d = self.daemon(self.proxy.url)
        names, queue = self.load(4)
        self.proxy.answer(410, path="watch=", times=8)
        self.proxy.cut_watches()
        self.create(job("late", "main"))
        self.all_ran(names + ["late"], queue)
        self.assertGreater(d.metric("sluice_api_relists_total"), 0)

    def test_api_server_restarts(self):
        d = self.daemon()
        names, queue = self.load(12)
        eventually(lambda: any(holds(w, "Admitted") for w in self.workloads().values()), what="work under way")
        self.plane.restart_apiserver(signal.SIGKILL)
        self.create(job("later", "main"))
        self.all_ran(names + ["later"], queue)
        self.assertTrue(d.running())

    def test_etcd_is_paused(self):
        d = self.daemon()
        names, queue = self.load(8)
        eventually(lambda: any(holds(w, "Admitted") for w in self.workloads().values()), what="work under way")
        etcd = self.plane.processes["etcd"]
        etcd.send_signal(signal.SIGSTOP)
        threading.Timer(4, etcd.send_signal, [signal.SIGCONT]).start()
        time.sleep(5)
        self.all_ran(names, queue)
        self.assertTrue(d.running())

    def test_daemon_is_killed_at_any_time(self):
        names, queue = self.load(12)
        for i in range(4):
            d = self.daemon()
            time.sleep(0.4 + 0.3 * i)
            d.kill()
        self.daemon()
        self.all_ran(names, queue)

    def test_daemon_without_a_server_waits_for_it(self):
        self.proxy.answer(503)
        d = ClusterDaemon(self.plane, self.proxy.url)
        self.daemons.append(d)
        d.start(wait=False)
        eventually(lambda: d.answers("/healthz"), what="alive")
        time.sleep(1)
        self.assertIsNone(d.answers("/readyz"))
        self.proxy.heal()
        names, queue = self.load(2)
        self.all_ran(names, queue)
