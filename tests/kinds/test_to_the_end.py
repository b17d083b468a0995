"""Each kind from its creation to its end, by its project's CRD: queued, counted, started, ready, preempted, started again, ended."""
from real_scene import *

URGENT = {"kueue.x-k8s.io/priority-class": "urgent"}


class ToTheEnd(RealScene):
    def act(self, name):
        self.daemon()
        play = Play(self, name)
        queue = self.quota(play.cpus(), preemption={"withinClusterQueue": "LowerPriority"})
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": "urgent"},
                     "value": 100})
        made = play.put("k")
        if not play.grouped:
            self.assertEqual(at(made, play.suspend["path"]), play.suspend["on"], "suspended where it is created")
        self.starts(play, "k")
        self.settles_at(queue, play.cpus())
        self.becomes_ready(play, "k")
        kept = play.cpus()
        if hasattr(play, "given_back"):
            kept -= sum(play.given_back.values())
            play.tell("k", "ended")
            self.settles_at(queue, kept)
        self.is_preempted(play, queue, kept)
        self.ends(play, "k")
        self.settles_at(queue, 0)
        if "failed" in getattr(play, "status", {}):
            self.fails(play, queue)

    def is_preempted(self, play, queue, kept):
        self.create(job("urgent", "main", cpu=str(play.cpus()), run_for="3s", labels=URGENT))
        self.each(play, "k", lambda w: (condition(w, "Evicted") or {}).get("reason") == "Preempted", "preemption")
        if not play.grouped:
            eventually(lambda: play.suspended("k"), what="suspended")
            self.assertEqual(self.used(queue)[0], kept * 1000, "its quota is kept while its pods run")
        self.stop_pods("k")
        if not play.grouped:
            play.tell("k", "idle")
            eventually(lambda: at(play.get("k"), play.injected) is None, what="the template restored")
        self.finished("urgent", seconds=60)
        if play.kind == "LeaderWorkerSet":
            eventually(lambda: not self.pods_of("k"), what="the old pods gone")
        self.starts(play, "k")

    def fails(self, play, queue):
        play.put("f")
        self.starts(play, "f")
        play.tell("f", "failed")
        found, = self.each(play, "f", lambda w: holds(w, "Finished"), "the end")
        self.assertEqual(condition(found, "Finished")["reason"], "Failed")
        self.settles_at(queue, 0)


def play_of(name):
    return lambda self: self.act(name)


for play in table.plays():
    setattr(ToTheEnd, f"test_{play}", play_of(play))
