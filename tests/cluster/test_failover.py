"""Two replicas, of which one leads: the other takes over, and nothing is lost or done twice."""
import os, signal, time

from work_scene import *

KILLS = int(os.environ.get("KILLS", "5"))


class Failover(WorkScene):
    config = {"leaderElection": QUICK_LEASE}

    def leading(self, seconds=30):
        return wait_for_leader(self.plane, self.daemons, seconds)

    def test_second_replica_waits_and_takes_over_when_the_first_ends(self):
        first = self.daemon()
        self.assertIs(self.leading(), first)
        second = self.daemon()
        queue = self.queues(2)
        self.create(job("before", "main"))
        self.finished("before")
        self.assertEqual((first.metric("sluice_leader"), second.metric("sluice_leader")), (1, 0))
        began = time.monotonic()
        self.assertEqual(first.stop(), 0)
        self.create(job("after", "main"))
        self.finished("after")
        self.assertLess(time.monotonic() - began, 10)
        self.assertIs(self.leading(), second)
        self.settles_at(queue, 0)

    def test_leader_that_is_frozen_stops_writing_when_it_wakes(self):
        first = self.daemon()
        self.leading()
        second = self.daemon()
        queue = self.queues(1)
        self.create(job("one", "main", run_for="1s"))
        self.admitted("one")
        first.process.send_signal(signal.SIGSTOP)
        eventually(lambda: self.leading() is second, what="the second leads")
        self.create(job("two", "main"), job("three", "main"))
        self.finished("one", "two", "three")
        first.process.send_signal(signal.SIGCONT)
        self.assertNotEqual(first.process.wait(10), 0, first.log()[-500:])
        self.assertIn("lost", first.log())
        self.each_ran_once(["one", "two", "three"])
        self.settles_at(queue, 0)

    def test_leader_is_killed_under_load(self):
        for _ in range(2):
            self.daemon()
        queue = self.queues(6)
        names = []
        for kill in range(KILLS):
            batch = [f"k{kill}-{i}" for i in range(8)]
            names += batch
            self.create(*(job(n, "main", run_for="700ms") for n in batch))
            leader = self.leading()
            eventually(lambda: any(holds(w, "Admitted") for n, w in self.workloads().items() if n in batch), 20,
                       what="work under way")
            leader.kill()
            self.daemon()
        self.finished(*names, seconds=90)
        self.each_ran_once(names)
        self.settles_at(queue, 0)
        self.assertEqual(sum(d.running() for d in self.daemons), 2)
