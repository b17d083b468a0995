#!/usr/bin/env python3
"""Requests that are as much work as their limits let them be, and others that are more: for how long nothing else could be
done, by the daemon's own measures, and what it took of memory. The processor's time and the steps are the daemon's own; the
longest turn has the disk and the machine's other load in it. Fails when a turn took more of the processor than LIMIT_MS.
Figures of this machine."""
import os, pathlib, sys, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from daemon import *

JOBS = "/apis/batch/v1/namespaces/default/jobs"
LIMIT_MS = int(os.environ.get("LIMIT_MS", "50"))
WEIGHT, BYTES = 16384, 3 << 19  # of a body: src/server/rest.h
HEAD = '{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"m"'
JSON, STRATEGIC, PATCH = "application/json", "application/strategic-merge-patch+json", "application/json-patch+json"
TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "victim"}, "spec": {"suspend": True, "template": TEMPLATE}}


def zeros(n):
    return "[" + ",".join(["0"] * n) + "]"


def operations(first, *rest):
    return "[" + ",".join([first, *rest]) + "]"


def job(meta="", pod="", more=""):
    return (HEAD + meta + '},"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]'
            + pod + "}}}" + more + "}")


def items(form, weight, most=WEIGHT - 100):
    """As many as weigh that much."""
    return ",".join(form.replace("#", str(i)) for i in range(most // weight))


REQUESTS = {
    "labels": ("POST", JOBS, JSON, job(',"labels":{' + items('"x#":"y"', 2) + "}")),
    "annotations": ("POST", JOBS, JSON, job(',"annotations":{' + items('"x#":"y"', 2) + "}")),
    "finalizers": ("PATCH", JOBS + "/victim", STRATEGIC, '{"metadata":{"finalizers":[' + items('"x.io/#"', 1) + "]}}"),
    "owners": ("POST", JOBS, JSON, job(',"ownerReferences":[' + items('{"apiVersion":"v1","kind":"Node","name":"n","uid":"u#"}', 12) + "]")),
    "node selector": ("POST", JOBS, JSON, job(',"labels":{"kueue.x-k8s.io/queue-name":"q"}', ',"nodeSelector":{' + items('"x#":"y"', 2) + "}")),
    "tolerations": ("POST", JOBS, JSON, job(',"labels":{"kueue.x-k8s.io/queue-name":"q"}', ',"tolerations":[' + items('{"key":"k#"}', 6) + "]")),
    "empty maps": ("POST", JOBS, JSON, job(more=',"x":[' + items("{}", 5) + "]")),
    "zeros": ("POST", JOBS, JSON, job(more=',"x":[' + items("0", 1) + "]")),
    "unknown fields": ("POST", JOBS + "?fieldValidation=Strict", JSON, job(more="," + items('"x#":0', 2))),
    "levels of a topology": ("POST", "/apis/kueue.x-k8s.io/v1beta2/topologies", JSON,
                             '{"metadata":{"name":"t"},"spec":{"levels":[' + items('{"nodeLabel":"l#"}', 6) + "]}}"),
    "labels of YAML": ("POST", JOBS, "application/yaml", "metadata:\n  name: m\n  labels:\n" + items("    x#: y", 2).replace(",", "\n")),
    "words of YAML": ("POST", JOBS, "application/yaml", "a: " + "a " * (BYTES // 2 - 10)),
    "one long text": ("POST", JOBS, JSON, job(pod=',"x":"' + "a" * (BYTES - 1000) + '"')),
    "escapes": ("POST", JOBS, JSON, job(pod=',"x":"' + "\\n" * (BYTES // 2 - 1000) + '"')),
    "the same item again": ("PATCH", JOBS + "/victim", STRATEGIC, '{"spec":{"template":{"spec":{"containers":[' + ",".join(
        ['{"name":"c","env":[' + ",".join(f'{{"name":"e{i}"}}' for i in range(1000)) + "]}"] + ['{"name":"c","env":[{"name":"e1"}]}'] * 600) + "]}}}}"),
    "insert in front": ("PATCH", JOBS + "/victim", PATCH, operations(f'{{"op":"add","path":"/x","value":{zeros(6000)}}}',
                                                                     *['{"op":"add","path":"/x/0","value":0}'] * 900)),
    "move to and fro": ("PATCH", JOBS + "/victim", PATCH, operations(f'{{"op":"add","path":"/x","value":{zeros(6000)}}}',
                                                                     *['{"op":"move","from":"/x","path":"/y"}', '{"op":"move","from":"/y","path":"/x"}'] * 450)),
    "65,000 labels": ("POST", JOBS, JSON, job(',"labels":{' + items('"x#":"y"', 2, 130000) + "}")),
    "90,000 finalizers": ("PATCH", JOBS + "/victim", STRATEGIC, '{"metadata":{"finalizers":[' + items('"x.io/#"', 1, 90000) + "]}}"),
    "500,000 maps": ("POST", JOBS, JSON, job(more=',"x":[' + ",".join(["{}"] * 500000) + "]")),
    "10,000 moves": ("PATCH", JOBS + "/victim", PATCH, operations(f'{{"op":"add","path":"/x","value":{zeros(90000)}}}',
                                                                  *['{"op":"move","from":"/x","path":"/y"}', '{"op":"move","from":"/y","path":"/x"}'] * 5000)),
    "a list of large ones": ("GET", JOBS, JSON, None),
    "a Table of them": ("GET", JOBS, JSON, None),
    "a selection of them": ("GET", JOBS + "?labelSelector=none", JSON, None),
    "to delete them": ("DELETE", JOBS, JSON, None),
    "what is pending": ("GET", "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/cq0/pendingworkloads?limit=10000", JSON, None),
    "a dump": ("GET", "/apis/visibility.kueue.x-k8s.io/v1beta2/dump", JSON, None),
    "starts of what is pending": ("GET", "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/cq0/pendingworkloads?start=true&limit=10000", JSON, None),
    "metrics of queues": ("GET", "/metrics", JSON, None),
}
PAGES = ("what is pending", "a dump", "starts of what is pending", "metrics of queues")
LARGE = ("a list of large ones", "a Table of them", "a selection of them", "to delete them")


QUEUES, PENDING = 2000, 10000


def create(daemon, path, objects):
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
    for o in objects:
        connection.request("POST", path, json.dumps(o), {"Content-Type": JSON})
        answer = connection.getresponse()
        assert answer.status == 201, answer.read()
        answer.read()
    connection.close()


def workload(i):
    spec = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "3", "memory": "1Gi"}}}]}
    return {"apiVersion": KUEUE, "kind": "Workload", "metadata": {"name": f"w{i}"},
            "spec": {"queueName": "lq", "podSets": [{"name": "main", "count": 1, "template": {"spec": spec}}]}}


def fill(daemon, name):
    """What the page shows."""
    base = f"/apis/{KUEUE}/"
    create(daemon, base + "resourceflavors", [flavor("f")])
    create(daemon, base + "clusterqueues", [cluster_queue(f"cq{i}", {"f": {"cpu": "1", "memory": "1Gi"}})
                                            for i in range(QUEUES if "metrics" in name else 1)])
    create(daemon, base + "namespaces/default/localqueues", [local_queue("lq", "cq0")])
    create(daemon, base + "namespaces/default/workloads", [workload(i) for i in range(0 if "metrics" in name else PENDING)])


def metrics(daemon, *names):
    text = dict(l.split() for l in daemon.request("GET", "/metrics")[1].splitlines() if l.startswith("sluice_turn"))
    return [int(text["sluice_turn_longest_" + n]) for n in names]


def peak_mib(daemon):
    status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) // 1024


def measure(name):
    """Of a daemon of its own: the most of a turn since its start is of this request."""
    method, path, kind, body = REQUESTS[name]
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"} if "Table" in name else {}
    daemon = Daemon(options=["--log-level=error"]).start()
    try:
        assert daemon.request("POST", JOBS, JOB)[0] == 201
        for i in range(20 if name in LARGE else 0):
            assert daemon.request("POST", JOBS, REQUESTS["labels"][3].replace('"m"', f'"m{i}"', 1))[0] == 201
        if name in PAGES:
            fill(daemon, name)
        status = daemon.request(method, path, body, kind, accept)[0]
        time.sleep(0.3)  # what follows from it
        return (len(body or ""), status, *metrics(daemon, "cpu_milliseconds", "steps", "milliseconds"), peak_mib(daemon))
    finally:
        daemon.close()


print(f"{'request':24} {'bytes':>9} {'status':>7} {'processor':>10} {'steps':>9} {'longest turn':>13} {'peak memory':>12}")
late = []
for name in REQUESTS:
    size, status, cpu_ms, steps, longest_ms, peak = measure(name)
    print(f"{name:24} {size:9,} {status:7} {cpu_ms:7} ms {steps:9,} {longest_ms:10} ms {peak:8} MiB", flush=True)
    late += [name] * (cpu_ms > LIMIT_MS)
if late:
    sys.exit(f"more than {LIMIT_MS} ms of the processor in one turn: {', '.join(late)}")
