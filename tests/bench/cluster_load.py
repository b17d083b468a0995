#!/usr/bin/env python3
"""Plays a load of tests/bench/load against an API server with a daemon beside it, and says what each workload cost: wall
time, requests of ours by what they were, our CPU, the API server's. FLOOR=1: no daemon, the generator admits each workload
with one patch; what that costs the API server is the least that there can be.

environment: LOAD (reference), DIVISOR (5), LIMIT (10m), FLOOR"""
import collections, itertools, json, os, pathlib, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent
os.environ.setdefault("DIVISOR", "5")
sys.path[:0] = [str(HERE.parent / "cluster"), str(HERE.parent / "e2e")]
import load
from controlplane import BUILD

os.environ.setdefault("CLUSTER_RUN", str(BUILD / "cluster-load"))
import cluster_scene, daemons

FLOOR = os.environ.get("FLOOR", "") not in ("", "0")
# What a daemon asks for whether there are workloads or not.
STANDING = {("watch", None), ("list", None), ("get", "leases"), ("update", "leases"), ("patch", "leases")}


def requests_of_ours(entries):
    """How many of each kind, as "verb resource code"."""
    counts = collections.Counter()
    for verb, _, kind, _, code, _ in entries:
        if (verb, None) not in STANDING and (verb, kind) not in STANDING:
            counts[f"{verb} {kind} {code}"] += 1
    return counts


def say(what, value, unit):
    print(f"{what:46s} {value:10.2f} {unit}", flush=True)


def main():
    plane = cluster_scene.plane()
    apiserver = plane.processes["kube-apiserver"]
    ours = None if FLOOR else daemons.ClusterDaemon(plane, options=["--log-level=warn"]).start()
    seen = sum(1 for _ in plane.audit())
    before = load.cpu_s(apiserver), load.cpu_s(ours.process) if ours else 0
    command = [load.build(), "--server", plane.url, "--token", "admin-token", "--ca", plane.run / "pki/ca.crt", "--load",
               load.HERE / f"{load.LOAD}.json", "--divisor", load.DIVISOR, "--limit", load.LIMIT]
    text = subprocess.run([*command, *(["--floor"] if FLOOR else [])], check=True, stdout=subprocess.PIPE, text=True).stdout
    print(text, end="")
    workloads = json.loads(text)["workloads"]
    say("API server's CPU a workload", 1000 * (load.cpu_s(apiserver) - before[0]) / workloads, "ms")
    if ours:
        say("our CPU a workload", 1000 * (load.cpu_s(ours.process) - before[1]) / workloads, "ms")
        say("our memory at most", load.peak_mib(ours.process), "MiB")
        counts = requests_of_ours(itertools.islice(plane.audit(), seen, None))
        say("requests of ours a workload", counts.total() / workloads, "")
        for what, count in counts.most_common():
            say(f"  {what}", count / workloads, "")
        ours.stop()


if __name__ == "__main__":
    main()
