"""sluicectl on a cluster, with the kubeconfig of an administrator: kueuectl's verbs, the tables of the CRDs, shares and status."""
import subprocess

from work_scene import *


class Sluicectl(WorkScene):
    config = {"leaderElection": {"leaderElect": True}}

    def ctl(self, *arguments, check=True):
        env = {**os.environ, "KUBECONFIG": str(self.plane.run / "admin.kubeconfig"), "HOME": str(self.plane.run)}
        for name in ("SLUICE_SERVER", "SLUICE_KUBECONFIG"):
            env.pop(name, None)
        done = subprocess.run([BUILD / "sluicectl", *arguments], text=True, capture_output=True, timeout=60, env=env)
        if check:
            self.assertEqual(done.returncode, 0, (arguments, done.stdout, done.stderr))
        return done

    def test_from_a_queue_that_is_created_to_one_that_is_drained(self):
        d = self.daemon()
        wait_for_leader(self.plane, [d])
        name, ns = f"{self.namespace}-ctl", ("-n", self.namespace)
        self.ctl("create", "rf", name)
        self.ctl("create", "cq", name, "--nominal-quota", f"{name}:cpu=2", "--cohort", name)
        self.ctl("create", "lq", "main", "-c", name, *ns)
        self.addCleanup(lambda: [self.ctl("delete", kind, name, check=False) for kind in ("cq", "rf")])
        self.create(*(job(n, "main", cpu="2", run_for="60s") for n in ("first", "second")))
        admitted = eventually(lambda: self.ctl("list", "wl", *ns, "--status", "admitted", "-oname").stdout, what="an admission", seconds=60)
        waiting = eventually(lambda: self.ctl("list", "wl", *ns, "-c", name, "--status", "pending", "-oname").stdout, what="one that waits")
        self.assertNotEqual(admitted, waiting)
        table = self.plane.kubectl("get", "cq", name, "-o", "wide").stdout.splitlines()
        self.assertEqual(re.split(r" {2,}", table[0].strip()),
                         ["NAME", "COHORT", "STRATEGY", "PENDING WORKLOADS", "ADMITTED WORKLOADS", "ACTIVE", "REASON", "SHARE"])
        self.assertIn("True", table[1])
        self.assertIn("Ready", table[1])
        self.assertRegex(self.plane.kubectl("get", "lq", *ns).stdout, r"(?s)ACTIVE.*True")
        self.assertRegex(self.plane.kubectl("get", "wl", *ns).stdout, r"(?s)AGE +REASON.*WaitingForQuota")
        eventually(lambda: re.search(rf"(?m)^  {name} .* cpu +2 +2 +0 +0$", self.ctl("shares").stdout), what="the shares")
        out = self.ctl("status", "--metrics", f"http://127.0.0.1:{d.port}/metrics").stdout
        self.assertRegex(out, r"(?m)^leader +\S+, renewed \d+s ago$")
        self.assertRegex(out, r"(?m)^cycles +[1-9]")
        self.ctl("stop", "wl", waiting.strip().split("/")[1], *ns)
        self.assertRegex(self.ctl("drain", name, "--wait", "--timeout", "30s").stdout, rf"(?s)/{name} draining\n.*/{name} drained\n$")
        self.settles_at(f"{KUEUE}/clusterqueues/{name}", 0)
        self.assertEqual([l.split()[0] for l in self.ctl("list", "cq", "--active=false").stdout.splitlines()[1:] if name in l], [name])
        self.ctl("delete", "wl", "--all", "--yes", *ns)
        eventually(lambda: not self.workloads(), what="no workloads")

    def test_what_only_the_daemon_knows_needs_its_api_services(self):
        wait_for_leader(self.plane, [self.daemon()])
        self.queues(1)
        self.create(*(job(n, "main", run_for="60s") for n in ("first", "second")))
        self.workload("second", lambda w: condition(w, "QuotaReserved"), "a reason")
        for words in (("why", "second"), ("pending", "--start"), ("what-if", "--stop-queue", f"{self.namespace}-main"), ("pending",)):
            done = self.ctl(*words, "-n", self.namespace, check=False)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn("its APIServices are missing (kubectl apply -k deploy/kubernetes/visibility)", done.stderr, words)
        self.assertIn('"pending": 1', self.ctl("dashboard", "-o", "json").stdout)


if __name__ == "__main__":
    import unittest
    unittest.main()
