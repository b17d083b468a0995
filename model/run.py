#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Checks the Promela models with Spin: every property holds in all reachable states, every known-bad variant has a
counterexample of the expected kind, and every statement of the models is reached.

usage: run.py --build DIR [--jobs N] [--keep] [NAME...]    NAME: a model or a variant; default: everything
Writes DIR/model.json; a run that is cut off (time, memory, depth) is a failure, never a result."""
import argparse, concurrent.futures, json, pathlib, re, resource, shutil, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEMORY_MB = 4096
SECONDS_MAX = 300
DEPTH = 1000000
SAFETY, FOUND_ASSERTION, FOUND_CYCLE = "assertions", "assertion violated", "acceptance cycle"

# (model, property, defines, guarantees): "assertions" are all asserts of the model and its freedom from deadlock.
HOLDS = [
    ("second_pass", SAFETY, {"TROUBLES": 4}, "G5 G9"),
    ("second_pass", "never_lost", {"TROUBLES": 3}, "G5 G13"),
    ("requeue", SAFETY, {"TROUBLES": 3}, "G8 G9"),
    ("requeue", "no_lost_wake", {"TROUBLES": 2}, "G13"),
    ("leadership", SAFETY, {"TROUBLES": 2}, "G3 G10"),
    ("leadership", SAFETY, {"TROUBLES": 1, "LATE_WATCHES": 1}, "G3 G10"),
    ("leadership", "progress", {"TROUBLES": 1}, "G13"),
    ("leadership", SAFETY, {"TROUBLES": 1, "ANY_DELAY": 1}, "G10"),
    ("leadership", "no_ghost", {"TROUBLES": 1, "ANY_DELAY": 1}, "G10"),
]

# (model, variant, property, troubles): Spin must find a counterexample.
BAD = [
    ("second_pass", "B1", "never_lost", 2), ("second_pass", "B2", SAFETY, 2), ("second_pass", "B3", SAFETY, 2),
    ("second_pass", "B4", "never_lost", 2), ("second_pass", "B5", SAFETY, 2), ("second_pass", "B7", "never_lost", 2),
    ("second_pass", "NO_GENERATION", SAFETY, 2), ("second_pass", "NO_GUARD", SAFETY, 2),
    ("second_pass", "CLEAR_FIRST", "never_lost", 2), ("second_pass", "NO_RETRY", "never_lost", 2),
    ("second_pass", "NO_ARM_AT_START", "never_lost", 2), ("second_pass", "NO_REREAD", "never_lost", 2),
    ("requeue", "B5", SAFETY, 2), ("requeue", "B6", "no_lost_wake", 2), ("requeue", "NO_GENERATION", SAFETY, 2),
    ("requeue", "BLIND_RESUME", SAFETY, 2), ("requeue", "PUT_BACK_TWICE", SAFETY, 2),
    ("requeue", "EAGER_WAKE", "no_lost_wake", 2), ("requeue", "NO_WAKE_WHEN_OFF", "no_lost_wake", 2),
    ("requeue", "NO_ADOPTION", "no_lost_wake", 2), ("requeue", "NO_REARM", "no_lost_wake", 2),
    ("requeue", "NO_NEXT_SCOUT", "no_lost_wake", 2),
    ("leadership", "COLD", SAFETY, 2), ("leadership", "NO_GUARD", SAFETY, 2), ("leadership", "NO_DEADLINE", SAFETY, 2),
    ("leadership", "EQUAL_TIMES", SAFETY, 2), ("leadership", "COUNT_FROM_ANSWER", SAFETY, 2),
    ("leadership", "NO_READING", SAFETY, 2), ("leadership", "LATE_REQUESTS", SAFETY, 2),
    ("leadership", "NO_REFRESH", SAFETY, 2), ("leadership", "NO_ADOPTION", "no_ghost", 1),
]
ALSO = {("leadership", "NO_ADOPTION"): {"ANY_DELAY": 1}, ("leadership", "NO_REFRESH"): {"LATE_WATCHES": 1}}

# Statements that no run reaches, by model: a part of the text -> why that is right.
UNREACHED = {"second_pass": {}, "requeue": {"assert(#)": "the monitor's: it is what must not happen"}, "leadership": {}}


class Failed(Exception):
    pass


def limit():
    size = (MEMORY_MB + 1024) << 20
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def call(command, cwd, seconds, **options):
    try:
        return subprocess.run(command, cwd=cwd, timeout=seconds, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, **options)
    except subprocess.TimeoutExpired:
        raise Failed(f"{command[0]}: not done after {seconds} s")


def build(directory, model, prop, defines):
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    flags = " ".join(f"-D{name}={value}" for name, value in defines.items())
    # -o3: statements are not merged, so that each is seen to be reached
    spin = call(["spin", "-o3", f"-Pcpp -I{ROOT} {flags}", "-a", str(ROOT / "model" / f"{model}.pml")], directory, 60)
    if spin.returncode != 0 or "rror" in spin.stdout.replace("errors: 0", ""):
        raise Failed("spin: " + spin.stdout.strip().split("\n")[0][:300])
    kind = ["-DSAFETY", "-DNOCLAIM"] if prop == SAFETY else ["-DNFAIR=4"]
    gcc = call(["gcc", "-O1", "-w", f"-DMEMLIM={MEMORY_MB}", *kind, "-o", "pan", "pan.c"], directory, 180)
    if gcc.returncode != 0:
        raise Failed("gcc: " + gcc.stdout.strip()[:300])


def number(pattern, text, default=0):
    found = re.search(pattern, text, flags=re.M)
    return float(found.group(1)) if found else default


def check(directory, model, prop, defines):
    """One verifier, built and run: its figures, and what it found (None: nothing, having looked everywhere)."""
    build(directory, model, prop, defines)
    command = ["./pan", f"-m{DEPTH}"] if prop == SAFETY else ["./pan", "-a", "-f", "-N", prop, f"-m{DEPTH}"]
    began = time.monotonic()
    pan = call(command, directory, SECONDS_MAX, preexec_fn=limit)
    text = pan.stdout
    (directory / "log").write_text(text)
    figures = {"seconds": round(time.monotonic() - began, 1), "states": int(number(r"^\s*([\d.e+]+) states, stored", text)),
               "transitions": int(number(r"^\s*([\d.e+]+) transitions", text)),
               "depth": int(number(r"depth reached (\d+)", text)), "memory_mb": round(number(r"^\s*([\d.]+)\s+total actual", text))}
    errors = re.search(r"errors: (\d+)", text)
    if errors is None:
        raise Failed(f"pan ended with {pan.returncode} and no verdict: " + text.strip()[-300:])
    for cut in ("max search depth too small", "out of memory", "memory limit", "-DMEMLIM", "too many processes",
                "resource temporarily unavailable"):
        if cut in text:
            raise Failed(f"cut off: {cut}")
    if int(errors.group(1)) == 0:
        if "Search not completed" in text or figures["states"] < 1000:
            raise Failed("nothing found, but not everything was looked at")
        if prop != SAFETY and "fairness enabled" not in text:
            raise Failed("fairness was not on")
        return figures, None, text
    found = re.search(r"^pan:\d+: (assertion violated|acceptance cycle|invalid end state)(.*)$", text, flags=re.M)
    return figures, found.group(1) + found.group(2)[:100] if found else "something else", text


def plain(text):
    """A statement without what differs between the copies of the inline that it stands in."""
    return re.sub(r"\b(w|head|other|r|\d+)\b", "#", text)


def statements(directory, text):
    """All statements of a verifier as (line, text), and those of which some copy was reached."""
    table = call(["./pan", "-d"], directory, 60).stdout
    unreached = set()
    process = None
    for line in text.split("\n"):
        if head := re.match(r"unreached in (?:proctype )?(\w+)", line):
            process = head.group(1)
        elif process and (one := re.match(r"\s+\S+:\d+, state (\d+),", line)):
            unreached.add((process, int(one.group(1))))
    every, reached = set(), set()
    for line in table.split("\n"):
        if head := re.match(r"(?:proctype|init|claim) ?:?(\w+)?", line):
            process = head.group(1) or "init"
        one = re.match(r"\s+state\s+(\d+) -\(tr.*\] (\S*?)([\w.]+):(\d+) => (.*)$", line)
        if not one or process in ("init",) or one.group(5).strip() in ("(1)", "else", "-end-") or one.group(3).endswith(".def"):
            continue
        key = (one.group(3), int(one.group(4)), plain(one.group(5).strip()))
        every.add(key)
        if (process, int(one.group(1))) not in unreached:
            reached.add(key)
    return every, reached


def label(job):
    return f"{job['model']:<12} {job['property']:<13} {job['variant'] or '-':<18}"


def run(job, base):
    name = "-".join([job["model"], job["property"], *(f"{k}{v}" for k, v in job["defines"].items())])
    directory = base / name
    try:
        figures, found, text = check(directory, job["model"], job["property"], job["defines"])
        job.update(figures)
        job["found"] = found
        if job["variant"]:
            wanted = FOUND_ASSERTION if job["property"] == SAFETY else FOUND_CYCLE
            job["passed"] = bool(found) and found.startswith(wanted)
            job["result"] = "counterexample" if job["passed"] else f"NOT FOUND ({found})"
        else:
            job["passed"] = found is None
            job["result"] = "holds" if found is None else f"BROKEN: {found}; see {directory}"
            if job["property"] == SAFETY and found is None:
                job["statements"] = statements(directory, text)
    except Failed as e:
        job.update({"passed": False, "result": f"NO RESULT: {e}"})
    return job


def report(job):
    print(f"{label(job)} {job.get('states', 0):>9} states  depth {job.get('depth', 0):>5} {job.get('seconds', 0):>6} s  "
          f"{job['result']}", flush=True)


def check_reached(jobs):
    """Every statement of a model is reached in one of its runs, or it is said why not."""
    results = []
    for model in sorted({j["model"] for j in jobs if "statements" in j}):
        every, reached = set(), set()
        for job in jobs:
            if job["model"] == model and "statements" in job:
                every |= job["statements"][0]
                reached |= job["statements"][1]
        dead = sorted(every - reached)
        excused = UNREACHED[model]
        unexplained = [d for d in dead if not any(part in d[2] for part in excused)]
        needless = [part for part in excused if not any(part in d[2] for d in dead)]
        for file, line, text in unexplained:
            print(f"{model}: never reached: {file}:{line} {text[:100]}")
        for part in needless:
            print(f"{model}: listed as never reached, but it is: {part}")
        print(f"{model:<12} {len(every)} statements, {len(every) - len(dead)} reached, {len(dead)} not")
        results.append({"model": model, "statements": len(every), "reached": len(every) - len(dead),
                        "passed": not unexplained and not needless})
    return results


def plan(names):
    jobs = [{"model": m, "property": p, "variant": None, "defines": d, "guarantees": g.split()} for m, p, d, g in HOLDS]
    jobs += [{"model": m, "property": p, "variant": v, "guarantees": [],
              "defines": {"TROUBLES": t, v: 1, **ALSO.get((m, v), {})}} for m, v, p, t in BAD]
    chosen = [j for j in jobs if not names or j["model"] in names or j["variant"] in names]
    if not chosen:
        sys.exit(f"model: nothing is called {' '.join(names)}")
    return chosen


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    for tool in ("spin", "gcc", "cpp"):
        if shutil.which(tool) is None:
            sys.exit(f"model: {tool} is missing: tests/setup.sh test\n0 passed, 1 failed")
    base = options.build.resolve() / "model"
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = []
        for job in pool.map(lambda j: run(j, base), plan(options.names)):
            report(job)
            jobs.append(job)
    reached = check_reached(jobs)
    passed = sum(j["passed"] for j in jobs) + sum(r["passed"] for r in reached)
    failed = len(jobs) + len(reached) - passed
    for job in jobs:
        job.pop("statements", None)
    version = call(["spin", "-V"], ROOT, 10).stdout.strip()
    record = {"spin": version, "seconds": round(time.monotonic() - began), "runs": jobs, "reached": reached,
              "passed": passed, "failed": failed}
    (options.build / "model.json").write_text(json.dumps(record, indent=1) + "\n")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
