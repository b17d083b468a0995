# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""What tests of pods as processes share: a daemon with --run processes, its token, and the processes that carry a mark."""
import http.client, json, pathlib, ssl, subprocess, unittest
import daemon
from daemon import eventually

JOBS = "/apis/batch/v1/namespaces/default/jobs"
PODS = "/api/v1/namespaces/default/pods"
QUEUES = [
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "any"}},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "cq"},
     "spec": {"namespaceSelector": {}, "preemption": {"withinClusterQueue": "LowerPriority"},
              "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
                  {"name": "any", "resources": [{"name": "cpu", "nominalQuota": "4"}]}]}]}},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "lq", "namespace": "default"},
     "spec": {"clusterQueue": "cq"}},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": "high"}, "value": 100}]


class Runs(daemon.Daemon):
    def __init__(self, options=(), run="processes"):
        super().__init__(options=["--run", run, *options])

    @property
    def kubeconfig(self):
        return self.data / "kubeconfig"

    def request(self, method, path, body=None, content_type="application/json", headers=None):
        if not self.kubeconfig.exists():
            raise OSError("not yet")
        context = ssl.create_default_context(cafile=str(self.data / "tls/tls.crt"))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=context)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               {"Content-Type": content_type, "Authorization": f"Bearer {(self.data / 'token').read_text().strip()}",
                                **(headers or {})})
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        try:
            return response.status, json.loads(text)
        except ValueError:
            return response.status, text

    def command(self, *arguments):
        return [daemon.KUBECTL, "--kubeconfig", str(self.kubeconfig), *arguments]

    def kubectl(self, *arguments, stdin=None, check=True, timeout=60):
        done = subprocess.run(self.command(*arguments), input=stdin, text=True, capture_output=True, timeout=timeout)
        if check and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done


def processes(mark):
    """Those that have this variable in their environment: NAME=VALUE."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            pass
    return found


class Scene(unittest.TestCase):
    options = ()
    serial = 0

    def setUp(self):
        self.daemon = Runs(options=self.options)
        self.addCleanup(self.clean)
        self.daemon.start()
        Scene.serial += 1
        self.mark = f"SLUICE_TEST={id(self)}-{Scene.serial}"
        for o in QUEUES:
            self.daemon.kubectl("create", "-f", "-", stdin=json.dumps(o))

    def clean(self):
        """No process of a test stays, whatever became of it."""
        if self.daemon.process and self.daemon.process.poll() is None:
            self.daemon.kill()
        import os, signal
        for pid in processes(getattr(self, "mark", "?")):
            os.kill(pid, signal.SIGKILL)
        self.daemon.close()

    def job(self, name, script, policy="Never", queue="lq", labels=None, resources=None, pod=None, container=None, **spec):
        key, value = self.mark.split("=")
        one = {"name": "c", "image": "example.com/none", "command": ["sh", "-c", script],
               "env": [{"name": key, "value": value}], "resources": {"requests": resources or {"cpu": "1"}}, **(container or {})}
        one["env"] = [{"name": key, "value": value}] + [e for e in one["env"] if e["name"] != key]
        if resources and any("/" in r for r in resources):
            one["resources"]["limits"] = resources
        body = {"apiVersion": "batch/v1", "kind": "Job",
                "metadata": {"name": name, "namespace": "default",
                             "labels": {"kueue.x-k8s.io/queue-name": queue, **(labels or {})} if queue else labels or {}},
                "spec": {"template": {"spec": {"restartPolicy": policy, "containers": [one], **(pod or {})}}, **spec}}
        status, answer = self.daemon.request("POST", JOBS, body)
        self.assertEqual(status, 201, answer)
        return answer

    def status(self, name):
        status, body = self.daemon.request("GET", f"{JOBS}/{name}")
        return body.get("status", {}) if status == 200 else None

    def condition(self, name, kind):
        return next((c for c in (self.status(name) or {}).get("conditions", []) if c["type"] == kind and c["status"] == "True"), None)

    def complete(self, name, seconds=30):
        return eventually(lambda: self.condition(name, "Complete"), seconds, f"the end of {name}: {self.status(name)}")

    def failed(self, name, reason, seconds=30):
        got = eventually(lambda: self.condition(name, "Failed"), seconds, f"the failure of {name}")
        self.assertEqual(got["reason"], reason, got)
        return got

    def pods(self, name):
        status, body = self.daemon.request("GET", f"{PODS}?labelSelector=job-name%3D{name}")
        self.assertEqual(status, 200, body)
        return body["items"]

    def running(self, name, count=1, seconds=20):
        eventually(lambda: sum(p["status"].get("phase") == "Running" for p in self.pods(name)) == count, seconds, f"{count} pods of {name} run")
        return self.pods(name)

    def log(self, name, *arguments):
        return self.daemon.kubectl("logs", f"job/{name}", *arguments).stdout

    def ended(self, what="all processes of the test have ended", seconds=15):
        eventually(lambda: not processes(self.mark), seconds, what)
