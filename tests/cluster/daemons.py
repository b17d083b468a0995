"""Daemons in cluster mode beside the control plane, as the service account that deploy/kubernetes makes."""
import itertools, json, os, re, signal, subprocess, urllib.error, urllib.request

from cluster_scene import BUILD, eventually
from controlplane import die_with_parent, free_port

numbers = itertools.count(1)
QUICK_LEASE = {"leaderElect": True, "leaseDuration": "3s", "renewDeadline": "2s", "retryPeriod": "500ms"}


class ClusterDaemon:
    def __init__(self, plane, server=None, options=(), config=None, env=None):
        self.plane, self.options, self.env = plane, list(options), {**os.environ, **(env or {})}
        self.name = f"sluiced-{next(numbers)}"
        self.port = free_port()
        user = "system:serviceaccount:kueue-system:sluice-controller-manager"
        self.kubeconfig = plane.kubeconfig(self.name, user, "sluice-token", server)
        self.log_path = plane.run / "log" / f"{self.name}.log"
        self.config = None
        if config is not None:
            self.config = plane.run / f"{self.name}.yaml"
            self.config.write_text(json.dumps({"apiVersion": "config.kueue.x-k8s.io/v1beta2",
                                               "kind": "Configuration", "namespace": "kueue-system", **config}))

    def start(self, wait=True):
        command = [str(BUILD / "sluiced"), "--kubeconfig", str(self.kubeconfig), "--metricsPort", str(self.port),
                   *self.options]
        if self.config:
            command += ["--config", str(self.config)]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.env, preexec_fn=die_with_parent)
        if wait:
            self.wait_ready()
        return self

    def answers(self, path="/readyz"):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=2) as answer:
                return answer.read().decode() or "ok"
        except (OSError, urllib.error.HTTPError):
            return None

    def wait_ready(self, seconds=30):
        def ready():
            if self.process.poll() is not None:
                raise AssertionError(f"{self.name} ended with {self.process.returncode}:\n{self.log()[-3000:]}")
            return self.answers()

        eventually(ready, seconds, what=lambda: f"{self.name} ready\n{self.log()[-2000:]}")

    def running(self):
        return self.process.poll() is None

    def stop(self, sig=signal.SIGTERM, seconds=10):
        """The exit code."""
        if self.running():
            self.process.send_signal(sig)
        return self.process.wait(seconds)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        return self.log_path.read_text(errors="replace")

    def metric(self, name):
        """The sum of a metric over its labels."""
        text = self.answers("/metrics") or ""
        return sum(float(v) for v in re.findall(rf"(?m)^{name}(?:\{{[^}}]*\}})? ([0-9.e+-]+)$", text))


def leader_of(plane, daemons):
    """The daemon of those that holds the Lease, or None."""
    status, lease = plane.request("GET", "/apis/coordination.k8s.io/v1/namespaces/kueue-system/leases/"
                                         "c1f6bfd2.kueue.x-k8s.io")
    holder = lease.get("spec", {}).get("holderIdentity") if status == 200 else None
    for d in daemons:
        if holder and d.running() and f"identity={holder}" in d.log():
            return d
    return None


def wait_for_leader(plane, daemons, seconds=30):
    return eventually(lambda: leader_of(plane, daemons), seconds, what="a leader")
