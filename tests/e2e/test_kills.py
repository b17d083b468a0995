# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""kill -9 of the daemon, its launcher, supervisors and programs, at random moments while clients write: KILLS times (25), by SEED. No
process is orphaned, no acknowledged write is lost, and every job comes to its end."""
import collections, json, os, pathlib, random, signal, threading, time, unittest

from daemon import eventually
from runs import JOBS, Scene, processes

ROUND = 10  # kills between two looks at everything
LEAVES = ("true", "setsid sleep 1000 & true", "(setsid sh -c 'trap \"\" TERM; sleep 1000' &) ; true")


def children(pid):
    try:
        return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


class Client(threading.Thread):
    """Writes without a pause, and keeps what was acknowledged."""

    def __init__(self, scene, choice):
        super().__init__(daemon=True)
        self.scene, self.choice = scene, choice
        self.stopped, self.paused = threading.Event(), threading.Event()
        self.made, self.labels, self.deleted, self.unsure = {}, {}, set(), set()
        self.acknowledged = collections.Counter()
        self.serial, self.lock = 0, threading.Lock()

    def write(self, what, method, path, body=None, content_type="application/json"):
        try:
            status, answer = self.scene.daemon.request(method, path, body, content_type)
        except (OSError, ValueError) as e:
            return None, e  # not acknowledged: it may have been done
        if status in (200, 201):
            self.acknowledged[what] += 1
        return status, answer

    def step(self):
        self.serial += 1
        name, key, value = f"j{self.serial}", *self.scene.mark.split("=")
        script = f"sleep {self.choice.random() / 2:.2f}; echo {name} >> {self.scene.daemon.home}/ran; {self.choice.choice(LEAVES)}"
        status, answer = self.write("created", "POST", JOBS, {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "lq"}},
            "spec": {"backoffLimit": 1000, "template": {"spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [
                {"name": "c", "image": "none", "command": ["sh", "-c", script], "env": [{"name": key, "value": value}],
                 "resources": {"requests": {"cpu": "1"}}}]}}}})
        if status != 201:
            self.unsure.add(name)
            return
        self.made[name] = answer["metadata"]["uid"]
        if self.choice.random() < 0.5:
            label = str(self.choice.randrange(1 << 30))
            status, _ = self.write("changed", "PATCH", f"{JOBS}/{name}", {"metadata": {"labels": {"mark": label}}}, "application/merge-patch+json")
            self.labels[name] = label if status == 200 else None
        if self.choice.random() < 0.2:
            status, _ = self.write("deleted", "DELETE", f"{JOBS}/{name}", {"propagationPolicy": "Background"})
            (self.deleted if status == 200 else self.unsure).add(name)

    def run(self):
        while not self.stopped.is_set():
            if self.paused.is_set():
                time.sleep(0.01)
                continue
            with self.lock:
                self.step()
            time.sleep(self.choice.random() / 4)


class Kills(Scene):
    def victims(self):
        """What can be killed now: by its kind, lists of processes that die together."""
        daemon = self.daemon.process.pid
        launchers = [p for p in children(daemon) if name_of(p) == "sluice-launcher"]
        supervisors = [int(p.read_text().split()[0]) for p in (self.daemon.data / "pods").glob("*/lock") if p.read_text().split()]
        supervisors = [p for p in supervisors if name_of(p) == "sluice-shim"]
        programs = processes(self.mark)
        kinds = {"daemon": [[daemon]], "launcher": [[p] for p in launchers], "supervisor": [[p] for p in supervisors],
                 "program": [[p] for p in programs], "daemon and supervisor": [[daemon, p] for p in supervisors],
                 "daemon and program": [[daemon, p] for p in programs], "all supervisors and the daemon": [[daemon, *launchers, *supervisors]]}
        return {k: v for k, v in kinds.items() if v}

    def kill_one(self, choice):
        kinds = self.victims()
        kind = choice.choice(sorted(kinds))
        for pid in choice.choice(kinds[kind]):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.killed[kind] += 1
        if "daemon" in kind or kind == "launcher":
            self.daemon.process.wait(20)  # without its launcher it ends by itself
            self.daemon.log.close()
            self.daemon.start()

    def look(self, client, seed):
        client.paused.set()
        with client.lock:
            pass
        for name, uid in client.made.items():
            if name in client.deleted or name in client.unsure:
                continue
            with self.subTest(seed=seed, job=name):
                status, job = self.daemon.request("GET", f"{JOBS}/{name}")
                self.assertEqual((status, job.get("metadata", {}).get("uid")), (200, uid), "an acknowledged job was lost")
                if client.labels.get(name):
                    self.assertEqual(job["metadata"]["labels"].get("mark"), client.labels[name], "an acknowledged change was lost")
                self.complete(name, 120)
                self.assertEqual(self.status(name)["succeeded"], 1)
        ran = (self.daemon.home / "ran").read_text().split() if (self.daemon.home / "ran").exists() else []
        kept = [n for n in client.made if n not in client.deleted and n not in client.unsure]
        self.assertEqual([n for n in kept if n not in ran], [], f"complete, and did not run; seed {seed}")
        for name in client.deleted:
            eventually(lambda: self.status(name) is None, 60, f"{name} is gone, as was acknowledged; seed {seed}")
        self.daemon.request("DELETE", JOBS, {"propagationPolicy": "Background"})
        eventually(lambda: not self.daemon.get(JOBS)["items"], 120, f"all jobs are gone; seed {seed}")
        self.ended(f"all processes have ended; seed {seed}", 30)
        eventually(lambda: not list((self.daemon.data / "pods").iterdir()), 60, f"all directories are gone; seed {seed}")
        self.assertEqual(self.supervisors(), [], f"a supervisor is left; seed {seed}")
        self.jobs += len(kept)
        self.runs += len(ran)
        (self.daemon.home / "ran").unlink(missing_ok=True)
        for known in (client.made, client.labels, client.deleted, client.unsure):
            known.clear()
        client.paused.clear()

    def supervisors(self):
        """Of this test's daemon: they have its directory open."""
        return [p for p in map(int, filter(str.isdigit, os.listdir("/proc"))) if name_of(p) == "sluice-shim" and self.is_ours(p)]

    def is_ours(self, pid):
        try:
            return any(os.readlink(f).startswith(str(self.daemon.data)) for f in pathlib.Path(f"/proc/{pid}/fd").iterdir())
        except OSError:
            return False

    def test_kills_orphan_and_lose_nothing(self):
        seed = int(os.environ.get("SEED", "0")) or random.randrange(1 << 30)
        kills = int(os.environ.get("KILLS", "25"))
        choice = random.Random(seed)
        self.killed, self.jobs, self.runs = collections.Counter(), 0, 0
        client = Client(self, random.Random(seed + 1))
        client.start()
        start = time.monotonic()
        try:
            for i in range(kills):
                time.sleep(choice.random() / 2)
                self.kill_one(choice)
                if i % ROUND == ROUND - 1 or i == kills - 1:
                    self.look(client, seed)
        finally:
            client.stopped.set()
        print(json.dumps({"seed": seed, "kills": dict(self.killed), "acknowledged": dict(client.acknowledged), "jobs_complete": self.jobs,
                          "runs": self.runs, "seconds": round(time.monotonic() - start)}), flush=True)
        self.assertEqual(sum(self.killed.values()), kills)


if __name__ == "__main__":
    unittest.main()
