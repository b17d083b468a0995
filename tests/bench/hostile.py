#!/usr/bin/env python3
"""Requests that are as much work as their limits let them be: for how long nothing else could be done, by the daemon's own
measure, and what it took of memory. Figures of this machine."""
import pathlib, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from daemon import *

JOBS = "/apis/batch/v1/namespaces/default/jobs"
HEAD = '{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"m"'
JSON, STRATEGIC, PATCH = "application/json", "application/strategic-merge-patch+json", "application/json-patch+json"
TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "victim"}, "spec": {"suspend": True, "template": TEMPLATE}}


def zeros(n):
    return "[" + ",".join(["0"] * n) + "]"


def operations(first, *rest):
    return "[" + ",".join([first, *rest]) + "]"


REQUESTS = {
    "empty maps": ("POST", JOBS, JSON, HEAD + '},"x":[' + ",".join(["{}"] * 26000) + "]}"),
    "too many maps": ("POST", JOBS, JSON, HEAD + '},"x":[' + ",".join(["{}"] * 1000000) + "]}"),
    "zeros": ("POST", JOBS, JSON, HEAD + '},"x":' + zeros(130000) + "}"),
    "unknown fields": ("POST", JOBS + "?fieldValidation=Strict", JSON, HEAD + "}," + ",".join(f'"x{i}":0' for i in range(65000)) + "}"),
    "labels": ("POST", JOBS, JSON, HEAD + ',"labels":{' + ",".join(f'"x{i}":"y"' for i in range(65000)) + "}}}"),
    "one long text": ("POST", JOBS, JSON, HEAD + ',"annotations":{"x":"' + "a" * 3000000 + '"}}}'),
    "finalizers": ("PATCH", JOBS + "/victim", STRATEGIC, '{"metadata":{"finalizers":[' + ",".join(f'"x.io/{i}"' for i in range(90000)) + "]}}"),
    "the same item again": ("PATCH", JOBS + "/victim", STRATEGIC, '{"spec":{"template":{"spec":{"containers":[' + ",".join(
        ['{"name":"c","env":[' + ",".join(f'{{"name":"e{i}"}}' for i in range(4000)) + "]}"] + ['{"name":"c","env":[{"name":"e1"}]}'] * 4000) + "]}}}}"),
    "insert in front": ("PATCH", JOBS + "/victim", PATCH, operations(f'{{"op":"add","path":"/x","value":{zeros(90000)}}}',
                                                                     *['{"op":"add","path":"/x/0","value":0}'] * 9000)),
    "move to and fro": ("PATCH", JOBS + "/victim", PATCH, operations(f'{{"op":"add","path":"/x","value":{zeros(90000)}}}',
                                                                     *['{"op":"move","from":"/x","path":"/y"}', '{"op":"move","from":"/y","path":"/x"}'] * 2000)),
}


def longest_ms(daemon):
    text = daemon.request("GET", "/metrics")[1]
    return next(int(l.split()[1]) for l in text.splitlines() if l.startswith("sluice_turn_longest_milliseconds "))


def peak_mib(daemon):
    status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) // 1024


print(f"{'request':24} {'bytes':>9} {'status':>7} {'longest turn':>13} {'peak memory':>12}")
for name, (method, path, kind, body) in REQUESTS.items():
    daemon = Daemon(options=["--log-level=error"]).start()
    try:
        assert daemon.request("POST", JOBS, JOB)[0] == 201
        status = daemon.request(method, path, body, kind)[0]
        print(f"{name:24} {len(body):9,} {status:7} {longest_ms(daemon):10} ms {peak_mib(daemon):8} MiB", flush=True)
    finally:
        daemon.close()
