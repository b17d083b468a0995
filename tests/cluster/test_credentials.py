"""A daemon whose kubeconfig has an exec plugin that takes its time: the leader renews its lease all the while."""
import pathlib, time

from work_scene import *

PLUGIN = """#!/usr/bin/env python3
import datetime, json, os, sys, time
runs = os.path.join(os.path.dirname(sys.argv[0]), "plugin.runs")
first = not os.path.exists(runs)
time.sleep(0 if first else 4)
open(runs, "a").write("run\\n")
end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=30)
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {
    "token": "sluice-token", "expirationTimestamp": end.strftime("%Y-%m-%dT%H:%M:%SZ")}}))
"""


class Credentials(WorkScene):
    config = {"leaderElection": QUICK_LEASE}

    def test_leader_stays_one_while_its_plugin_is_slow(self):
        plugin, runs = self.plane.run / "plugin", self.plane.run / "plugin.runs"
        runs.unlink(missing_ok=True)
        plugin.write_text(PLUGIN)
        plugin.chmod(0o755)
        d = ClusterDaemon(self.plane, config=self.config)
        self.daemons.append(d)
        kubeconfig = json.loads(d.kubeconfig.read_text())
        kubeconfig["users"][0]["user"] = {"exec": {"apiVersion": "client.authentication.k8s.io/v1",
                                                   "command": str(plugin), "interactiveMode": "Never"}}
        d.kubeconfig.write_text(json.dumps(kubeconfig))
        d.start()
        wait_for_leader(self.plane, [d])
        status = pathlib.Path(f"/proc/{d.process.pid}/status").read_text()
        self.assertRegex(status, r"Seccomp:\t2\n")  # although it has to run a program
        self.assertRegex(status, r"NoNewPrivs:\t1\n")
        lease = "/apis/coordination.k8s.io/v1/namespaces/kueue-system/leases/c1f6bfd2.kueue.x-k8s.io"
        before = self.plane.get(lease)["spec"]
        eventually(lambda: runs.read_text().count("run") >= 2, 40, what="the plugin run again")
        time.sleep(1)
        after = self.plane.get(lease)["spec"]
        self.assertTrue(d.running())
        self.assertEqual(after["holderIdentity"], before["holderIdentity"])
        self.assertEqual(after.get("leaseTransitions"), before.get("leaseTransitions"))
        self.assertGreater(after["renewTime"], before["renewTime"])
        self.queues(1)
        self.create(job("one", "main"))
        self.finished("one")
