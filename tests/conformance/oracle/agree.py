#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Has Kueue and Sluice answer cases, and says which differ, and where first. Where they differ Kueue is asked twice more, and
what it does not answer alike three times is left out, as is what the API would refuse: conditions without a reason. Left out,
too, is what Kueue answers otherwise when all weights of fair sharing are multiplied by the same number (it compares rounded
shares), or, with SHUFFLED, when candidates of a preemption are listed in another order before they are sorted.

usage: agree.py ORACLE_TEST IN OUT [RUNNER [SHUFFLED]]
ORACLE_TEST: the test binary of README.md, or - to compare what OUT has already; IN: cases; OUT: gets the answered cases;
RUNNER: build/sluice-conformance unless given; SHUFFLED: the same of a Kueue with shuffle.sed"""
import collections, fractions, json, os, pathlib, re, subprocess, sys, tempfile


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


def as_it_is(case):
    return case


def with_weights(factor):
    """The same shares of everything, in other numbers."""

    def of(case):
        named = {o["metadata"]["name"] for o in case["objects"] if o["kind"] == "Cohort"}
        wanted = {o["spec"][key] for o in case["objects"] for key in ("cohortName", "parentName") if key in o["spec"]}
        for name in sorted(wanted - named):
            case["objects"].append({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": name}, "spec": {}})
        for o in case["objects"]:
            if o["kind"] in ("ClusterQueue", "Cohort"):
                weight = o["spec"].get("fairSharing", {}).get("weight", "1")
                milli = fractions.Fraction(weight.removesuffix("m")) * (1 if weight.endswith("m") else 1000)
                o["spec"]["fairSharing"] = {"weight": f"{int(milli * factor)}m"}
        return case

    return of


def ask_again(oracle, given, out, names, change=as_it_is, times=2):
    """Those that Kueue does not answer alike when it is asked again. Their answers in out go."""
    unlike = set()
    with tempfile.TemporaryDirectory() as scratch:
        for n in range(times):
            copies, again = pathlib.Path(scratch, f"in{n}"), pathlib.Path(scratch, str(n))
            copies.mkdir()
            for name in names:
                (copies / name).write_text(json.dumps(change(json.loads((given / name).read_text()))))
            ask(oracle, copies, again)
            for name in names:
                told = [in_order(json.loads((p / name).read_text())["expect"]) if (p / name).exists() else None for p in (out, again)]
                if told[0] is None or told[0] != told[1]:
                    unlike.add(name)
    for name in unlike:
        (out / name).unlink(missing_ok=True)
    return unlike


FACTORS = [fractions.Fraction(n, 10) for n in (7, 11, 90)]  # each rounds another way


def is_fair(given, name):
    return json.loads((given / name).read_text())["config"].get("fairSharing", {}).get("enable", False)


def unsettled(oracle, shuffled, given, out, names):
    """Those that Kueue might as well answer otherwise, by why."""
    found = {"not alike": ask_again(oracle, given, out, names)}
    names = [n for n in names if n not in found["not alike"]]
    fair = [n for n in names if is_fair(given, n)]
    found["rounded shares"] = set().union(*(ask_again(oracle, given, out, fair, with_weights(f), 1) for f in FACTORS)) if fair else set()
    names = [n for n in names if n not in found["rounded shares"]]
    found["order of candidates"] = ask_again(shuffled, given, out, names, times=6) if shuffled and names else set()
    return found


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


def overbooked_then(oracle, case, lines):
    """Has it, at the end or when the first cycle that differs was over?"""
    if overbooked(case):
        return True
    first = re.match(r"cycle (\d+) ", lines[0])
    if not first or int(first.group(1)) == case["run"]["cycles"] or oracle == "-":
        return False
    with tempfile.TemporaryDirectory() as scratch:
        given, out = pathlib.Path(scratch, "in"), pathlib.Path(scratch, "out")
        given.mkdir()
        short = case | {"run": case["run"] | {"cycles": int(first.group(1))}}
        (given / "short.json").write_text(json.dumps(short))
        ask(oracle, given, out)
        return (out / "short.json").exists() and overbooked(json.loads((out / "short.json").read_text()))


def lost_twice(case, lines):
    """Is a Workload whose node is lost preempted in the same cycle, the first, and is that what differs first?"""
    heads = "cycle 1 " if case["run"]["cycles"] > 1 else ""
    preempted = (case["expect"].get("cycles") or [case["expect"]])[0]["preempted"] or []
    for key in case["run"].get("secondPass", []):
        lists = "(preempted|evicted|events)" if any(p["key"] == key for p in preempted) else "preempted"
        if any(re.match(heads + lists + ": ", line) and json.dumps(key) in line for line in lines):
            return True
    return False


def writes_unseen(oracle, runner, case):
    """Do they agree when Kueue sees between cycles what it wrote itself?"""
    if case["run"].get("deliverUpdates", True) or oracle == "-":
        return False
    with tempfile.TemporaryDirectory() as scratch:
        given, out = pathlib.Path(scratch, "in"), pathlib.Path(scratch, "out")
        given.mkdir()
        (given / "seen.json").write_text(json.dumps(case | {"run": case["run"] | {"deliverUpdates": True}}))
        ask(oracle, given, out)
        return not any(compare(runner, [out]).values())


def known(oracle, runner, case, lines):
    """Which of the differences of README.md it is that can be told from the outcome; None = none."""
    if overbooked_then(oracle, case, lines):
        return "overbooked"
    if lost_twice(case, lines):
        return "node lost and preempted"
    return "own writes unseen" if writes_unseen(oracle, runner, case) else None


def differing(oracle, given, out, runner, times=3, shuffled=None):
    """What differs of the cases in given, by their ids, and of how many; out gets the answers. Those that differ are asked
    about again: what Kueue might answer otherwise says nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        copies = pathlib.Path(scratch)
        for f in given.glob("*.json"):
            os.symlink(f.resolve(), copies / f.name)
        ask(oracle, copies, out)
    told = compare(runner, [out])
    names = [k + ".json" for k, v in told.items() if v]
    for name in [n for n in names if says_no_reason(out / n)]:
        (out / name).unlink()
        names.remove(name)
        told.pop(name.removesuffix(".json"))
    found = unsettled(oracle, shuffled, given, out, names) if names and times > 1 else {}
    UNSETTLED.update({why: len(those) for why, those in found.items()})
    unlike = set().union(*found.values())
    told = {k: v for k, v in told.items() if k + ".json" not in unlike}
    if times > 1:
        note_known(oracle, runner, out, told)
    return {k: v for k, v in told.items() if v}, len(told), len(unlike)


def note_known(oracle, runner, out, told):
    for k, v in told.items():
        if v and k not in NOTED and (why := known(oracle, runner, json.loads((out / (k + ".json")).read_text()), v)):
            NOTED[k] = why


NOTED = {}  # cases that differ for a reason of README.md, and which: Kueue gives more than there is, for one
UNSETTLED = collections.Counter()


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
            NOTED[at] = "over quota"
    return out


def main(oracle, given, out, runner="build/sluice-conformance", shuffled=None):
    if oracle == "-":
        told = compare(runner, [out])
        note_known(oracle, runner, pathlib.Path(out), told)
        differ, count, unlike = {k: v for k, v in told.items() if v}, len(told), 0
    else:
        differ, count, unlike = differing(oracle, pathlib.Path(given), pathlib.Path(out), runner, shuffled=shuffled)
    for k, v in differ.items():
        if k not in NOTED:
            print(k, "|", v[0][:200])
    why = collections.Counter(NOTED[k] for k in differ if k in NOTED)
    print(f"# {count} answered, {unlike} that Kueue might answer otherwise {dict(UNSETTLED)}; "
          f"{sum(why.values())} differ for a known reason {dict(why)}, {len(differ) - sum(why.values())} else")


if __name__ == "__main__":
    main(*sys.argv[1:])
