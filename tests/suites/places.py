# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Where the programs of Kueue's users are tried: on a standalone daemon, and on the control plane of tests/cluster."""
import json, pathlib, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/cluster"), str(ROOT / "tests/e2e")]
from controlplane import die_with_parent  # noqa: E402,F401
from daemon import BUILD, Daemon, cluster_queue, cohort, condition, eventually, flavor, free_port, holds, local_queue  # noqa: E402,F401
import daemon as alone  # noqa: E402

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"


class Place:
    """`kubeconfig` leads there, as an administrator."""

    def objects(self, path):
        return self.get(path)["items"]

    def workloads(self, namespace="default"):
        """Job name -> its Workload."""
        items = self.objects(f"{KUEUE}/namespaces/{namespace}/workloads")
        return {w["metadata"]["ownerReferences"][0]["name"]: w for w in items if w["metadata"].get("ownerReferences")}

    def until(self, test, name, what, seconds=30):
        """The Workload of a job, once the test holds of it."""
        return eventually(lambda: (lambda w: w if w and test(w) else None)(self.workloads().get(name)), seconds, f"{what} of {name}")


class Standalone(Place):
    name, on_cluster = "standalone", False

    def __init__(self):
        self.daemon = Daemon().start()
        self.get, self.request = self.daemon.get, self.daemon.request
        self.kubeconfig = self.daemon.home / "kubeconfig"
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "s", "clusters": [{"name": "s", "cluster": {"server": self.daemon.url}}],
            "users": [{"name": "s", "user": {}}], "contexts": [{"name": "s", "context": {"cluster": "s", "user": "s"}}]}))

    def apply(self, *objects):
        for o in objects:
            self.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(o))

    def job(self, name, queue, cpu="1", run_for="1h"):
        self.apply(alone.job(name, queue, cpu=cpu, run_for=run_for))

    def close(self):
        self.daemon.close()


class Cluster(Place):
    """With the Visibility API behind the API server, as deploy/kubernetes has it."""
    name, on_cluster = "cluster", True

    def __init__(self, config=None):
        from daemons import ClusterDaemon
        import test_visibility
        self.plane = test_visibility.plane()
        test_visibility.setUpModule()
        self.daemon = ClusterDaemon(self.plane, options=["--visibility-listen", f"127.0.0.1:{test_visibility.PORT}"], config=config).start()
        pending = "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/none/pendingworkloads"
        eventually(lambda: '"clusterqueue"' in json.dumps(self.plane.request("GET", pending)[1]), 60, "the Visibility API")
        self.get, self.request = self.plane.get, self.plane.request
        self.kubeconfig = self.plane.run / "admin.kubeconfig"

    def apply(self, *objects):
        for o in objects:
            self.plane.kubectl("apply", "-f", "-", stdin=json.dumps(o))

    def job(self, name, queue, cpu="1", run_for="1h", namespace="default"):
        from cluster_scene import job
        self.plane.kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(job(name, queue, cpu=cpu, run_for=run_for)))

    def close(self):
        self.daemon.stop()
