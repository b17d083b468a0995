"""kill -9 at random moments under load: what was acknowledged is there, nothing is admitted twice, and the ledger
equals the sum of the admissions. CRASHES=n rounds (default 50), SEED=n."""
import json, os, random, threading, time, unittest
from daemon import *

BASE = "/apis/kueue.x-k8s.io/v1beta2"
JOBS = "/apis/batch/v1/namespaces/default/jobs"


JOBS_A_LOAD = 30  # bounds a round: the quota of 8 cpu finishes about 80 jobs a second, whatever the disk can take


class Load(threading.Thread):
    """Creates, relabels and deletes jobs as fast as the daemon answers, and notes what was acknowledged."""

    def __init__(self, daemon, prefix, rng):
        super().__init__(daemon=True)
        self.server, self.prefix, self.rng = daemon, prefix, rng
        self.created, self.labelled, self.deleted, self.unsure = set(), {}, set(), set()
        self.running = True

    def run(self):
        for count in range(JOBS_A_LOAD):
            if not self.running:
                return
            try:
                self.step(f"{self.prefix}-{count}")
            except (OSError, http.client.HTTPException):
                return  # the daemon was killed

    def step(self, name):
        self.unsure.add(name)
        body = job(name, queue=self.rng.choice(["qa", "qb"]), cpu=self.rng.choice(["1", "2", "500m"]),
                   run_for=self.rng.choice(["10ms", "50ms", "200ms"]))
        code, _ = self.server.request("POST", JOBS, body)
        assert code == 201, code
        self.created.add(name)
        dice = self.rng.random()
        if dice < 0.2:
            code, _ = self.server.request("PATCH", f"{JOBS}/{name}", {"metadata": {"labels": {"mark": name}}},
                                          "application/merge-patch+json")
            if code == 200:
                self.labelled[name] = name
        elif dice < 0.3:
            self.created.discard(name)  # from here on unsure, until the answer
            code, _ = self.server.request("DELETE", f"{JOBS}/{name}")
            if code == 200:
                self.deleted.add(name)


class Crash(unittest.TestCase):
    def check_state(self, daemon, created, labelled, deleted, admissions):
        jobs = {j["metadata"]["name"]: j for j in daemon.get(JOBS)["items"]}
        self.assertEqual(created - set(jobs), set(), "acknowledged jobs are missing")
        self.assertEqual(deleted & set(jobs), set(), "deleted jobs are back")
        for name, mark in labelled.items():
            if name in jobs:
                self.assertEqual(jobs[name]["metadata"]["labels"].get("mark"), mark)
        for w in daemon.get(f"{BASE}/workloads")["items"]:
            c, uid = condition(w, "Admitted"), w["metadata"]["uid"]
            if c and c["status"] == "True":
                self.assertIn("admission", w["status"])
                first = admissions.setdefault(uid, c["lastTransitionTime"])
                self.assertEqual(first, c["lastTransitionTime"], f"{w['metadata']['name']} was admitted twice")

    def check_ledger(self, daemon):
        """The reservation that each queue reports is the sum over the admissions in the store."""
        def agrees():
            held = {}
            for w in daemon.get(f"{BASE}/workloads")["items"]:
                if holds(w, "QuotaReserved") and not holds(w, "Finished"):
                    a = w["status"]["admission"]
                    for p in a["podSetAssignments"]:
                        held[a["clusterQueue"]] = held.get(a["clusterQueue"], 0) + milli(p["resourceUsage"]["cpu"])
            for q in ("team-a", "team-b"):
                status = daemon.get(f"{BASE}/clusterqueues/{q}").get("status", {})
                said = sum(milli(r["total"]) for f in status.get("flavorsReservation", []) for r in f["resources"])
                if said != held.get(q, 0):
                    return False
            return True
        eventually(agrees, seconds=20, what="ledger equals the sum of admissions")

    def wait_until_at_rest(self, daemon):
        """Every workload finishes; what is left when none has finished for 30 s is named."""
        left, progress = None, time.monotonic()
        while True:
            unfinished = [w for w in daemon.get(f"{BASE}/workloads")["items"] if not holds(w, "Finished")]
            if not unfinished:
                return
            if left is None or len(unfinished) < left:
                left, progress = len(unfinished), time.monotonic()
            if time.monotonic() - progress > 30:
                self.fail(f"stuck: {left} workloads, the first is\n{json.dumps(unfinished[0], indent=1)}")
            time.sleep(1)

    def test_killed_again_and_again_loses_nothing(self):
        rounds, seed = int(os.environ.get("CRASHES", "50")), int(os.environ.get("SEED", "1"))
        rng = random.Random(seed)
        daemon = Daemon(options=["--log-level=warn"]).start()
        try:
            for o in (flavor("f"), cohort("all"), cluster_queue("team-a", {"f": {"cpu": "4"}}, "all"),
                      cluster_queue("team-b", {"f": {"cpu": "4"}}, "all"), local_queue("qa", "team-a"),
                      local_queue("qb", "team-b")):
                daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(o))
            created, labelled, deleted, admissions = set(), {}, set(), {}
            for turn in range(rounds):
                loads = [Load(daemon, f"r{turn}-{i}", random.Random(rng.random())) for i in range(3)]
                for l in loads:
                    l.start()
                time.sleep(rng.uniform(0.05, 0.6))
                daemon.kill()
                for l in loads:
                    l.running = False
                    l.join(10)
                    created |= l.created
                    labelled.update(l.labelled)
                    deleted |= l.deleted
                daemon.start()
                self.check_state(daemon, created, labelled, deleted, admissions)
            self.assertGreater(len(created), rounds)
            self.wait_until_at_rest(daemon)
            self.check_state(daemon, created, labelled, deleted, admissions)
            self.check_ledger(daemon)
            print(f"{rounds} kills, {len(created)} jobs acknowledged, {len(admissions)} admissions seen, seed {seed}")
        finally:
            daemon.close()


if __name__ == "__main__":
    unittest.main()
