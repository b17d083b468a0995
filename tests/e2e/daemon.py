"""Starts and stops a standalone sluiced on a free loopback port, and talks to it: by kubectl, sluicectl and HTTP."""
import http.client, json, os, pathlib, re, shutil, signal, socket, subprocess, tempfile, time

from patience import PATIENCE, deadline

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
if not BUILD.is_absolute():
    BUILD = ROOT / BUILD
KUBECTL = os.environ.get("KUBECTL", str(BUILD / "e2e/bin/kubectl"))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Daemon:
    """One data directory; start, stop and kill as often as a test likes."""

    def __init__(self, data=None, options=()):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sluice-e2e-"))
        self.data = pathlib.Path(data) if data else self.home / "data"
        self.options = list(options)
        self.port = free_port()
        self.process = None
        self.log_path = self.home / "log"

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self, wait=True):
        self.log = open(self.log_path, "ab")
        self.process = subprocess.Popen(
            [BUILD / "sluiced", "--standalone", "--data", self.data, "--listen", f"127.0.0.1:{self.port}", *self.options],
            stdout=self.log, stderr=self.log)
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self, seconds=30):
        end = deadline(seconds)
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError(f"sluiced exited with {self.process.returncode}:\n{self.log_text()[-3000:]}")
            try:
                if self.request("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.02)
        raise AssertionError("sluiced did not become ready:\n" + self.log_text()[-3000:])

    def stop(self, seconds=10):
        """SIGTERM; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(seconds)
        self.log.close()
        return code

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def close(self):
        if self.process and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.home, ignore_errors=True)

    def log_text(self):
        return self.log_path.read_text(errors="replace")

    def request(self, method, path, body=None, content_type="application/json", headers=None):
        """(status, parsed JSON or text)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            if isinstance(body, (dict, list)):
                body = json.dumps(body)
            connection.request(method, path, body, {"Content-Type": content_type, **(headers or {})})
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        try:
            return response.status, json.loads(text)
        except ValueError:
            return response.status, text

    def get(self, path):
        status, body = self.request("GET", path)
        assert status == 200, (status, body)
        return body

    def kubectl(self, *arguments, stdin=None, check=True, timeout=60):
        env = {**os.environ, "KUBECONFIG": "/dev/null", "HOME": str(self.home)}
        done = subprocess.run([KUBECTL, "--server", self.url, *arguments], input=stdin, text=True,
                              capture_output=True, timeout=timeout, env=env)
        if check and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def sluicectl(self, *arguments, stdin=None, check=True, timeout=60):
        env = {**os.environ, "SLUICE_SERVER": self.url}
        done = subprocess.run([BUILD / "sluicectl", *arguments], input=stdin, text=True, capture_output=True,
                              timeout=timeout, env=env)
        if check and done.returncode != 0:
            raise AssertionError(f"sluicectl {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done


def eventually(check, seconds=15, what="condition"):
    """The first true value of check(), polled; AssertionError when none came in `seconds` of a quiet machine. `what`: a
    text, or a function that makes it then."""
    end = deadline(seconds)
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {PATIENCE * seconds} s: {what() if callable(what) else what}")
        time.sleep(0.05)


KUEUE = "kueue.x-k8s.io/v1beta2"


def flavor(name, **spec):
    return {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": spec}


def cohort(name, **spec):
    return {"apiVersion": KUEUE, "kind": "Cohort", "metadata": {"name": name}, "spec": spec}


def cluster_queue(name, quotas, cohort_name=None, **spec):
    """quotas: {flavor: {resource: nominal}} in one resource group."""
    resources = sorted({r for q in quotas.values() for r in q})
    group = {"coveredResources": resources, "flavors": [
        {"name": f, "resources": [{"name": r, "nominalQuota": q[r]} for r in resources]} for f, q in quotas.items()]}
    body = {"namespaceSelector": {}, "resourceGroups": [group], **spec}
    if cohort_name:
        body["cohortName"] = cohort_name
    return {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": body}


def local_queue(name, queue, namespace="default"):
    return {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": name, "namespace": namespace},
            "spec": {"clusterQueue": queue}}


def job(name, queue="main", cpu="1", run_for="200ms", namespace="default", parallelism=1, labels=None, **template):
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": namespace,
                         "labels": {"kueue.x-k8s.io/queue-name": queue, **(labels or {})},
                         "annotations": {"sluice.dev/run-for": run_for}},
            "spec": {"parallelism": parallelism, "completions": parallelism, "template": {"spec": {
                "restartPolicy": "Never", **template,
                "containers": [{"name": "main", "image": "busybox", "resources": {"requests": {"cpu": cpu}}}]}}}}


def condition(obj, kind):
    for c in obj.get("status", {}).get("conditions", []):
        if c["type"] == kind:
            return c
    return None


def evictions(o):
    """The reasons for which a Workload was ever evicted."""
    return [e["reason"] for e in o.get("status", {}).get("schedulingStats", {}).get("evictions", [])]


def holds(obj, kind):
    c = condition(obj, kind)
    return c is not None and c["status"] == "True"


def milli(quantity):
    """cpu quantity text as milli units"""
    number, suffix = re.fullmatch(r"([\d.]+)([numk]?)", str(quantity)).groups()
    return int(float(number) * {"n": 1e-6, "u": 1e-3, "m": 1, "": 1e3, "k": 1e6}[suffix])
