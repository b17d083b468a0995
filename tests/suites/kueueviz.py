#!/usr/bin/env python3
"""KueueViz, Kueue's own dashboard, against Sluice: its backend is built from Kueue's source and asked for every view, with the
daemon standalone and on the control plane of tests/cluster. Prints what each view lacks.

usage: KUEUE=~/kueue tests/suites/kueueviz.py [standalone] [cluster]      needs `make all cluster-tools`, and Go
environment: KUEUEVIZ: a backend that is built already"""
import base64, json, os, pathlib, shutil, socket, struct, subprocess, sys, time, urllib.request

from places import *

QUEUES = (flavor("viz"), cohort("org"), cluster_queue("viz", {"viz": {"cpu": "4"}}, "org"), local_queue("viz", "viz"))


def build():
    """Copied, and told to listen to this machine alone."""
    home = BUILD / "suites/kueueviz"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(pathlib.Path(os.environ["KUEUE"]) / "cmd/kueueviz/backend", home)
    server = home / "config/server.go"
    text = server.read_text()
    assert 'Sprintf(":%s"' in text, server
    server.write_text(text.replace('Sprintf(":%s"', 'Sprintf("127.0.0.1:%s"'))
    subprocess.run(["go", "build", "-o", "kueueviz", "."], cwd=home, check=True)
    return home / "kueueviz"


class View:
    """A WebSocket of the backend; each message is the whole view."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.file = self.socket.makefile("rb")
        status = self.file.readline()
        while self.file.readline() not in (b"\r\n", b""):
            pass
        if b" 101 " not in status:
            raise AssertionError(status.decode().strip() or "no answer")

    def next(self):
        """Control frames are passed over."""
        while True:
            head = self.file.read(2)
            if len(head) < 2:
                raise AssertionError("it was closed without a message")
            length = head[1] & 127
            if length > 125:
                length = struct.unpack(">H" if length == 126 else ">Q", self.file.read(2 if length == 126 else 8))[0]
            body = self.file.read(length)
            if head[0] & 15 == 8:
                raise AssertionError(f"it was closed: {body[2:].decode(errors='replace')}")
            if head[0] & 15 == 1:
                return json.loads(body)


def has(value, *path):
    """What is there, or an AssertionError that names the path."""
    for i, step in enumerate(path):
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            raise AssertionError(f"no {'.'.join(map(str, path[:i + 1]))}") from None
    if value in (None, "", [], {}):
        raise AssertionError(f"{'.'.join(map(str, path))} is empty")
    return value


def named(items, name):
    for item in items or []:
        if item.get("name") == name or item.get("metadata", {}).get("name") == name:
            return item
    raise AssertionError(f"{name} is not listed")


def equal(is_, wanted):
    if is_ != wanted:
        raise AssertionError(f"{is_}, not {wanted}")


class Views:
    """One method a view; a failure says what it lacks."""

    def __init__(self, port, runs, waits, on_cluster):
        self.port, self.runs, self.waits, self.on_cluster = port, runs, waits, on_cluster

    def see(self, path):
        return View(self.port, f"/ws/{path}").next()

    def namespaces(self):
        has(self.see("namespaces"), "namespaces")

    def workloads(self):
        items = has(self.see("workloads"), "workloads", "items")
        equal(has(named(items, self.runs), "status", "admission", "clusterQueue"), "viz")
        has(named(items, self.waits), "status", "conditions", 0, "message")

    def dashboard(self):
        view = self.see("workloads/dashboard")
        equal(named(has(view, "clusterQueues"), "viz")["pendingWorkloads"], 1)
        has(view, "flavors"), has(view, "queues")
        one = named(has(view, "workloads", "items"), self.runs)
        if self.on_cluster:
            has(one, "pods", 0, "status", "phase")

    def workload(self):
        equal(has(self.see(f"workload/default/{self.runs}"), "status", "admission", "podSetAssignments", 0, "flavors", "cpu"), "viz")

    def events_of_a_workload(self):
        reasons = {e["reason"] for e in self.see(f"workload/default/{self.runs}/events")}
        equal({"QuotaReserved", "Admitted"} - reasons, set())

    def local_queues(self):
        one = named(self.see("local-queues"), "viz")
        equal((one["status"]["admittedWorkloads"], one["status"]["pendingWorkloads"]), (1, 1))
        has(one, "status", "flavorsUsage", 0, "resources", 0, "total"), has(one, "status", "conditions", 0, "reason")

    def local_queue(self):
        equal(has(self.see("local-queue/default/viz"), "spec", "clusterQueue"), "viz")
        equal(len(self.see("local-queue/default/viz/workloads")), 2)

    def cluster_queues(self):
        one = named(self.see("cluster-queues"), "viz")
        equal((one["cohort"], one["admittedWorkloads"], one["pendingWorkloads"], one["reservingWorkloads"], one["flavors"]), ("org", 1, 1, 1, ["viz"]))
        equal(float(has(one, "flavorsUsage", 0, "resources", 0, "total")), 3)

    def cluster_queue(self):
        view = self.see("cluster-queue/viz")
        equal(named(has(view, "status", "conditions") and [{**c, "name": c["type"]} for c in view["status"]["conditions"]], "Active")["status"], "True")
        has(named(has(view, "queues"), "viz"), "usage")

    def cohorts(self):
        equal(has(named(self.see("cohorts"), "org"), "clusterQueues", 0, "name"), "viz")

    def cohort(self):
        equal(has(self.see("cohort/org"), "clusterQueues", 0, "status", "admittedWorkloads"), 1)

    def resource_flavors(self):
        named(self.see("resource-flavors"), "viz")

    def resource_flavor(self):
        has(self.see("resource-flavor/viz"), "queues", 0)

    def objects_as_yaml(self):
        for kind, name in (("workload", self.runs), ("localqueue", "viz"), ("clusterqueue", "viz"), ("cohort", "org"), ("resourceflavor", "viz")):
            namespace = "default" if kind in ("workload", "localqueue") else ""
            url = f"http://127.0.0.1:{self.port}/api/{kind}/{name}?namespace={namespace}&output=yaml"
            answer = json.loads(urllib.request.urlopen(url, timeout=10).read())
            assert f"name: {name}" in answer["content"], kind

    def changes_as_they_come(self):
        view = View(self.port, "/ws/cluster-queues")
        view.next()
        self.submit("another")
        eventually(lambda: named(view.next(), "viz")["pendingWorkloads"] == 2, 20, "a third workload")


def look(place):
    """(passed, failed)"""
    place.apply(*QUEUES)
    port = free_port()
    env = {**os.environ, "KUBECONFIG": str(place.kubeconfig), "KUEUEVIZ_PORT": str(port), "GIN_MODE": "release",
           "KUEUEVIZ_ALLOWED_ORIGINS": f"http://127.0.0.1:{port}"}
    with open(BUILD / f"suites/kueueviz-{place.name}.log", "wb") as log:
        backend = subprocess.Popen([PROGRAM], env=env, stdout=log, stderr=log, preexec_fn=die_with_parent)
    try:
        place.job("runs", "viz", cpu="3"), place.until(lambda w: "admission" in w.get("status", {}), "runs", "an admission")
        place.job("waits", "viz", cpu="3"), place.until(lambda w: w.get("status", {}).get("conditions"), "waits", "a reason")
        eventually(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0, 30, "the backend")
        time.sleep(2)  # statuses of queues come up to a second later
        views = Views(port, *(place.workloads()[n]["metadata"]["name"] for n in ("runs", "waits")), place.on_cluster)
        views.submit = lambda name: place.job(name, "viz", cpu="3")
        passed = failed = 0
        for name in [n for n, v in vars(Views).items() if callable(v) and n not in ("__init__", "see")]:
            try:
                getattr(views, name)()
                passed, told = passed + 1, "ok"
            except (AssertionError, OSError) as trouble:
                failed, told = failed + 1, f"LACKS {trouble}"
            print(f"  {name.replace('_', ' '):24} {told}")
        return passed, failed
    finally:
        backend.terminate()
        backend.wait(20)


if __name__ == "__main__":
    MODES = {"standalone": Standalone, "cluster": Cluster}
    if set(sys.argv[1:]) - set(MODES) or not {"KUEUE", "KUEUEVIZ"} & set(os.environ):
        sys.exit(__doc__)
    (BUILD / "suites").mkdir(parents=True, exist_ok=True)
    PROGRAM = os.environ.get("KUEUEVIZ") or build()
    good = bad = 0
    for mode in sys.argv[1:] or MODES:
        print(f"{mode}:")
        place = MODES[mode]()
        try:
            passed, failed = look(place)
        finally:
            place.close()
        good, bad = good + passed, bad + failed
    print(f"kueueviz: {good} passed, {bad} failed")
    sys.exit(bad > 0)
