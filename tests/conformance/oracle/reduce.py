#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Makes cases in which Sluice differs from Kueue small: the cycles after the first that differs go, then objects, gates and
parts of objects, as long as the case goes on to differ.

usage: reduce.py ORACLE_TEST OUT CASE... (answered cases; OUT gets the small ones)"""
import copy, json, os, pathlib, re, sys, tempfile

import agree
import corpus

RUNNER = os.environ.get("RUNNER", "build/sluice-conformance")
PART = 16


def cycle_of(lines):
    m = re.match(r"cycle (\d+) ", lines[0])
    return int(m.group(1)) if m else None


def without(case, *gone):
    """Without these objects and what cannot be without them."""
    names = {(o["kind"], o["metadata"]["name"]) for o in gone}
    out = copy.deepcopy(case)
    if any(kind == "ClusterQueue" for kind, _ in names):
        for o in out["objects"]:
            if o["kind"] == "LocalQueue" and ("ClusterQueue", o["spec"]["clusterQueue"]) in names:
                names.add(("LocalQueue", o["metadata"]["name"]))
    out["objects"] = [o for o in out["objects"] if (o["kind"], o["metadata"]["name"]) not in names and not (
        o["kind"] == "Workload" and ("LocalQueue", o["spec"]["queueName"]) in names)]
    left = {o["metadata"]["name"] for o in out["objects"]}
    if "secondPass" in out["run"]:
        out["run"]["secondPass"] = [k for k in out["run"]["secondPass"] if k.split("/")[1] in left]
    return out


def held(case):
    """(ClusterQueue, flavor) of those that run: a queue without a flavor that its Workloads hold differs for other reasons."""
    return {(w["status"]["admission"]["clusterQueue"], flavor) for w in case["objects"] if "admission" in w.get("status", {})
            for p in w["status"]["admission"]["podSetAssignments"] for flavor in p["flavors"].values()}


def smaller(case):
    """Cases with one thing less, the largest steps first."""
    kept = held(case)
    pods = [o for o in case["objects"] if o["kind"] in ("Workload", "ClusterQueue", "Node", "Pod")]
    size = len(pods) // 2
    while size > 1:
        for i in range(0, len(pods), size):
            yield without(case, *pods[i:i + size])
        size //= 2
    for o in case["objects"]:
        if o["kind"] not in ("Namespace", "Topology", "ResourceFlavor"):
            yield without(case, o)
    for name in case["featureGates"]:
        out = copy.deepcopy(case)
        del out["featureGates"][name]
        yield out
    if case["run"]["cycles"] > 1:
        for n in {1, case["run"]["cycles"] - 1}:
            out = copy.deepcopy(case)
            out["run"]["cycles"] = n
            yield out
    for i, o in enumerate(case["objects"]):
        spec = o["spec"]
        for key in [k for k in ("flavorFungibility", "cohortName", "parentName", "resourceGroups", "fairSharing", "preemption")
                    if k in spec and not (o["kind"] == "ClusterQueue" and k == "resourceGroups")]:
            out = copy.deepcopy(case)
            del out["objects"][i]["spec"][key]
            yield out
        for g, group in enumerate(spec.get("resourceGroups", [])):
            for f, flavor in enumerate(group["flavors"]):
                if len(group["flavors"]) > 1 and (o["metadata"]["name"], flavor["name"]) not in kept:
                    out = copy.deepcopy(case)
                    del out["objects"][i]["spec"]["resourceGroups"][g]["flavors"][f]
                    yield out
                for q, quota in enumerate(flavor["resources"]):
                    for key in [k for k in ("borrowingLimit", "lendingLimit") if k in quota]:
                        out = copy.deepcopy(case)
                        del out["objects"][i]["spec"]["resourceGroups"][g]["flavors"][f]["resources"][q][key]
                        yield out
        if o["kind"] == "Workload":
            for p, pods_of in enumerate(spec["podSets"]):
                if len(spec["podSets"]) > 1 and "admission" not in o.get("status", {}):
                    out = copy.deepcopy(case)
                    del out["objects"][i]["spec"]["podSets"][p]
                    yield out
                if "minCount" in pods_of:
                    out = copy.deepcopy(case)
                    del out["objects"][i]["spec"]["podSets"][p]["minCount"]
                    yield out
            if "status" in o and "admission" not in o["status"]:
                out = copy.deepcopy(case)
                del out["objects"][i]["status"]
                yield out


def unknown(lines, case):
    """What became a difference that README.md has is another case than the one to be reduced."""
    return not agree.overbooked(case) and not agree.lost_twice(case, lines)


def differing(oracle, cases, times=1):
    """Which of them differ, and how, by their place."""
    with tempfile.TemporaryDirectory() as scratch:
        given, out = pathlib.Path(scratch, "in"), pathlib.Path(scratch, "out")
        given.mkdir()
        for i, c in enumerate(cases):
            (given / f"{i:05}.json").write_text(json.dumps(c | {"id": f"{i:05}"}))
        told, _, _ = agree.differing(oracle, given, out, RUNNER, times)
        found = {int(k): (v, json.loads((out / f"{k}.json").read_text())) for k, v in told.items() if k not in agree.NOTED}
        agree.NOTED.clear()
        return {k: v for k, v in found.items() if unknown(*v)}


def end_after(case, lines):
    """The cycles after the first that differs go."""
    if cycle := cycle_of(lines):
        case["run"]["cycles"] = cycle


def reduce(oracle, case):
    """In parts of a few changes: what goes on to differ is the case from then on, and the next part is of it."""
    at = failed = 0
    while failed < 2:
        tried = list(smaller(case))
        if at >= len(tried):
            at, failed = 0, failed + 1
            continue
        hits = differing(oracle, tried[at:at + PART])
        if hits:
            first = min(hits)
            lines, case = hits[first]
            end_after(case, lines)
            at, failed = at + first, 0
        else:
            at += PART
    return case


def main(oracle, out, *paths):
    pathlib.Path(out).mkdir(parents=True, exist_ok=True)
    for p, case in [(p, case) for p in paths for case in corpus.cases(p)]:
        name = case["id"]
        end_after(case, agree.compare(RUNNER, ["--only", name, p])[name])
        case = reduce(oracle, case)
        lines, answered = differing(oracle, [case], 3).get(0, (["not reproduced"], case))
        answered["id"] = name
        (pathlib.Path(out) / f"{name}.json").write_text(json.dumps(answered, sort_keys=True))
        print(name, "|", "\n    ".join(lines[:6]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
