#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Has Kueue and Sluice answer cases, and says which differ, and where first. Where they differ Kueue is asked twice more, and
what it does not answer alike three times is left out, as is what the API would refuse: conditions without a reason.

usage: agree.py ORACLE_TEST IN OUT [RUNNER]
ORACLE_TEST: the test binary of README.md, or - to compare what OUT has already; IN: cases; OUT: gets the answered cases; RUNNER: build/sluice-conformance unless given"""
import collections, json, os, pathlib, re, subprocess, sys, tempfile


def ask(oracle, given, out):
    """Once. A case that Kueue ends in a panic ends the others too: it is left out and they are asked again."""
    out.mkdir(parents=True, exist_ok=True)
    env = os.environ | {"ORACLE_IN": str(given), "ORACLE_OUT": str(out), "TEST_LOG_LEVEL": "3"}
    while True:
        done = subprocess.run([oracle, "-test.run", "TestOracle"], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if "panic:" not in done.stdout:
            return
        culprit = re.findall(r"--- FAIL: TestOracle/(\S+\.json)", done.stdout)
        print(f"# Kueue panics: {culprit}", file=sys.stderr)
        if not culprit:
            sys.exit(done.stdout[-2000:])
        for name in culprit:
            (given / name).unlink(missing_ok=True)
        for f in out.glob("*.json"):
            (given / f.name).unlink(missing_ok=True)


def in_order(value):
    if isinstance(value, dict):
        return {k: in_order(v) for k, v in value.items()}
    if isinstance(value, list):
        return sorted((in_order(v) for v in value), key=lambda v: json.dumps(v, sort_keys=True))
    return value


def ask_again(oracle, given, out, names):
    """Those that Kueue does not answer alike twice more. Their answers in out go."""
    unlike = set()
    with tempfile.TemporaryDirectory() as scratch:
        for n in ("1", "2"):
            copies, again = pathlib.Path(scratch, "in" + n), pathlib.Path(scratch, n)
            copies.mkdir()
            for name in names:
                os.symlink((given / name).resolve(), copies / name)
            ask(oracle, copies, again)
            for name in names:
                told = [in_order(json.loads((p / name).read_text())["expect"]) if (p / name).exists() else None for p in (out, again)]
                if told[0] is None or told[0] != told[1]:
                    unlike.add(name)
    for name in unlike:
        (out / name).unlink(missing_ok=True)
    return unlike


def says_no_reason(path):
    """The API would refuse what Kueue writes there."""
    told = json.loads(path.read_text())["expect"]
    return any(e.get("reason") is None for e in told["events"] or [] if e["type"] == "Warning") or any(
        c.get("reason") == "" for w in told["workloads"] for c in w["status"].get("conditions", []))


def number(quantity):
    return int(str(quantity).removesuffix("Gi"))


def stands(assignment):
    """Which pods stand where: (values of the domain, amounts of one pod, how many)."""
    for pods in assignment["podSetAssignments"]:
        for piece in pods.get("topologyAssignment", {}).get("slices", []):
            n, count = piece["domainCount"], piece["podCounts"]
            for i in range(n):
                values = [v["universal"] if "universal" in v else
                          v["individual"].get("prefix", "") + v["individual"]["roots"][i] + v["individual"].get("suffix", "")
                          for v in piece["valuesPerLevel"]]
                each = {k: number(q) / pods["count"] for k, q in pods["resourceUsage"].items()}
                yield values, each | {"pods": 1}, count["universal"] if "universal" in count else count["individual"][i]


def overbooked(case):
    """Has Kueue put more on a domain than its nodes take? Its cases have whole cpus and Gi only."""
    topology = [o for o in case["objects"] if o["kind"] == "Topology"]
    if not topology:
        return False
    levels = [level["nodeLabel"] for level in topology[0]["spec"]["levels"]]
    room = collections.Counter()
    for o in case["objects"]:
        if o["kind"] == "Node":
            values = tuple(o["metadata"]["labels"].get(level) for level in levels)
            for name, q in o["status"]["allocatable"].items():
                room[values[-1:] if levels[-1] == "kubernetes.io/hostname" else values, name] += number(q)
        elif o["kind"] == "Pod":
            room[(o["spec"]["nodeName"],), "cpu"] -= 1
            room[(o["spec"]["nodeName"],), "pods"] -= 1
    for held in case["expect"]["assignments"].values():
        for values, each, count in stands(held):
            for name, amount in each.items():
                room[tuple(values), name] -= amount * count
    return any(n < 0 for n in room.values())


def differing(oracle, given, out, runner, times=3):
    """What differs of the cases in given, by their ids, and of how many; out gets the answers. Those that differ are asked
    about twice more: what Kueue does not answer alike says nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        copies = pathlib.Path(scratch)
        for f in given.glob("*.json"):
            os.symlink(f.resolve(), copies / f.name)
        ask(oracle, copies, out)
    told = compare(runner, [out])
    NOTED.update(k for k, v in told.items() if v and overbooked(json.loads((out / (k + ".json")).read_text())))
    names = [k + ".json" for k, v in told.items() if v]
    for name in [n for n in names if says_no_reason(out / n)]:
        (out / name).unlink()
        names.remove(name)
        told.pop(name.removesuffix(".json"))
    unlike = ask_again(oracle, given, out, names) if names and times > 1 else set()
    return {k: v for k, v in told.items() if v and k + ".json" not in unlike}, len(told), len(unlike)


NOTED = set()  # cases in which Kueue gives more than there is, and the kernel refuses: README.md


def compare(runner, paths):
    """Of each case: what differs, in the runner's words."""
    out, at = {}, None
    done = subprocess.run([runner, *map(str, paths)], stdout=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        if m := re.match(r"(not ok|ok) \d+ - (\S+)", line):
            at = m.group(2)
            out[at] = []
        elif line.startswith("# ") and at and not re.match(r"# (\d+ skipped|note: )", line):
            out[at].append(line[2:])
        elif line.startswith("# note: ") and at:
            NOTED.add(at)
    return out


def main(oracle, given, out, runner="build/sluice-conformance"):
    if oracle == "-":
        told = compare(runner, [out])
        NOTED.update(k for k, v in told.items() if v and overbooked(json.loads((pathlib.Path(out) / (k + ".json")).read_text())))
        differ, count, unlike = {k: v for k, v in told.items() if v}, len(told), 0
    else:
        differ, count, unlike = differing(oracle, pathlib.Path(given), pathlib.Path(out), runner)
    for k, v in differ.items():
        if k not in NOTED:
            print(k, "|", v[0][:200])
    listed = NOTED & set(differ)
    print(f"# {count - unlike} answered, {unlike} not alike; {len(listed)} differ since the kernel refused, {len(differ) - len(listed)} else")


if __name__ == "__main__":
    main(*sys.argv[1:])
