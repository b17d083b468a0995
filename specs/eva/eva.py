#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Lets Frama-C's Eva look at code that reads bytes from outside: for every input up to a length, no run-time error.

A unit is a row of units.txt: a harness NAME.c with the function eva_NAME, sources, options, and one change of the
code (a "canary") that Eva has to notice, or its silence would mean nothing. What Eva cannot rule out is an alarm. Every alarm
that is left is a row of alarms.txt with its resolution; one that is not listed fails, and so does a row whose alarm
is gone. A function without body or contract, a harness that does not come to its end, and an Eva that is missing,
breaks down or runs out of time fail as well.

usage: eva.py --build DIR [--jobs N] [--list] [UNIT...]     --list prints the alarms as rows of alarms.txt"""
import argparse, concurrent.futures, csv, os, pathlib, re, shutil, signal, subprocess, sys, time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIMIT_S = 300
OPTIONS = ["-machdep", "gcc_x86_64", "-eva", "-eva-no-alloc-returns-null", "-eva-msg-key=-final-states",
           "-eva-split-return", "full", "-warn-special-float", "none"]
INCLUDE = "-Isrc -I. -include specs/eva/host.h -idirafter specs/eva/include"
ALWAYS = ["specs/eva/any.c", "specs/eva/libc.c"]
BAD = re.compile(r"[Nn]either code nor spec|missing-spec|No code nor implicit|User Error|Unexpected error|"
                 r"Analysis aborted|NON TERMINATING FUNCTION|syntax error|Degeneration")
REACHED = re.compile(r"(\d+) statements reached \(out of (\d+)\)")


def table(name, columns):
    """Rows of a text file, columns apart by '|', each without blanks around it."""
    rows = []
    for number, line in enumerate((HERE / name).read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        row = [part.strip() for part in line.split(" | ")]
        row[3:-1] = [" | ".join(row[3:-1])]  # C has a '|' as well
        if len(row) != columns or not all(row):
            sys.exit(f"eva: {name}:{number}: a row has {columns} columns")
        rows.append(row)
    return rows


def run(command, limit_s=LIMIT_S):
    """Its output and exit code; it dies when its time is up, and whatever it started with it."""
    process = subprocess.Popen(command, cwd=ROOT, env=dict(os.environ, PWD=str(ROOT)), text=True,
                               start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        return process.communicate(timeout=limit_s)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0] + f"\nstopped after {limit_s} s\n", 124


def analyse(unit, out, replaced=None):
    """Eva on one unit. Its alarms, complaints, and how much of the code it reached."""
    name, sources, options = unit[:3]
    out.mkdir(parents=True, exist_ok=True)
    include = INCLUDE
    files = [f"specs/eva/{name}.c", *sources.split(), *ALWAYS]
    if replaced:
        include = f"-I{out}/src {include}"
        files = [str(out / f) if f == replaced else f for f in files]
    report = out / "report.csv"
    report.unlink(missing_ok=True)
    text, code = run(["frama-c", *OPTIONS, *[o for o in options.split() if not o.startswith("-D") and o != "-"],
                      "-cpp-extra-args=" + " ".join([include, *[o for o in options.split() if o.startswith("-D")]]),
                      "-main", f"eva_{name}", *files, "-then", "-report-csv", str(report)])
    (out / "log").write_text(text)
    problems = [line for line in text.splitlines() if BAD.search(line)]
    if code != 0 or not report.exists():
        problems.append(f"Frama-C ended with {code}, see {out}/log")
        return set(), problems, (0, 1)
    alarms = set()
    with report.open() as rows:
        for row in csv.DictReader(rows, delimiter="\t"):
            if row["status"] not in ("Valid", "Considered valid", "Dead", "Valid but dead"):
                place = "specs/eva/" + row["file"] if row["directory"].endswith("eva") else row["file"]
                alarms.add((name, f"{place}:{row['function']}", row["property kind"], " ".join(row["property"].split())))
    reached = REACHED.search(text)
    return alarms, problems, (int(reached[1]), int(reached[2])) if reached else (0, 1)


def break_code(unit, out):
    """The unit's canary: a copy of one source, changed by sed."""
    path, change = unit[3], unit[4]
    target = out / path
    target.parent.mkdir(parents=True, exist_ok=True)
    text = (ROOT / path).read_text()
    changed = subprocess.run(["sed", "-E", change], input=text, text=True, capture_output=True, check=True).stdout
    if changed == text:
        sys.exit(f"eva: the canary of {unit[0]} changes nothing in {path}: {change}")
    target.write_text(changed)


def examine(unit, build):
    start = time.monotonic()
    alarms, problems, reached = analyse(unit, build / unit[0])
    broken = build / (unit[0] + "-canary")
    shutil.rmtree(broken, ignore_errors=True)
    break_code(unit, broken)
    more, _, _ = analyse(unit, broken, unit[3])
    return unit[0], alarms, problems, reached, more - alarms, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("units", nargs="*")
    args = parser.parse_args()
    build = args.build.resolve() / "eva"
    plugins = run(["frama-c", "-plugins"], 60)[0] if shutil.which("frama-c") else ""
    if not re.search(r"^Eva\b", plugins, re.M):
        sys.exit("eva: there is no frama-c with Eva here (Debian: frama-c-base)")
    units = [u for u in table("units.txt", 5) if not args.units or u[0] in args.units]
    unknown = set(args.units) - {u[0] for u in units}
    if unknown or not units:
        sys.exit(f"eva: no such unit: {' '.join(unknown)}")
    listed = {tuple(row[:4]): row[4] for row in table("alarms.txt", 5)}
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, alarms, problems, reached, noticed, seconds in pool.map(lambda u: examine(u, build), units):
            new = sorted(alarms - set(listed))
            gone = sorted(key for key in listed if key[0] == name and key not in alarms)
            if args.list:
                for row in sorted(alarms):
                    print(" | ".join([*row, listed.get(row, "?")]))
                continue
            bad = problems + [f"not in alarms.txt: {' | '.join(a)}" for a in new] \
                + [f"in alarms.txt, and gone: {' | '.join(a)}" for a in gone] \
                + ([] if noticed else ["the canary raises no alarm"])
            print(f"{name:10} {len(alarms):3} alarms, {len(alarms) - len(new):3} resolved, {len(new):3} unresolved; "
                  f"{100 * reached[0] // reached[1]:3} % of the statements reached; canary: {len(noticed)} alarms; "
                  f"{seconds:.0f} s", flush=True)
            for line in bad:
                print(f"  {line}")
            passed, failed = passed + (not bad), failed + bool(bad)
    if not args.list:
        print(f"eva: {passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
