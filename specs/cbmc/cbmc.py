#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Lets CBMC look at small instances of the core, and at a parser: for every input within them, what the guarantees
say, in C and by hand, without the contracts that the proofs are made of.

A unit is a row of units.txt: a harness NAME.c with the function look_NAME, sources, capacities that make the instance
small, options, and one change of the code (a "canary") that CBMC has to reject, or its consent would mean nothing.
A loop that needs more rounds than are looked at, a function without a body, and a CBMC that breaks down or runs out of
time fail. BUILD/cbmc.json has the results.

usage: cbmc.py --build DIR --tool CBMC [--jobs N] [UNIT...]"""
import argparse, concurrent.futures, json, os, pathlib, re, shutil, signal, subprocess, sys, time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIMIT_S = 300
CHECKS = ["--bounds-check", "--signed-overflow-check", "--conversion-check", "--div-by-zero-check",
          "--undefined-shift-check", "--unwinding-assertions"]
OPTIONS = ["--slice-formula", "--drop-unused-functions", "--object-bits", "8", "--verbosity", "6"]
# What goes wrong with the harness and not with the code.
AMISS = re.compile(r"no body for callee|unwinding assertion|recursion unwinding")


def rows():
    """The rows of units.txt, columns apart by '|', each without blanks around it."""
    units = []
    for number, line in enumerate((HERE / "units.txt").read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            unit = [part.strip() for part in line.split(" | ", 5)]
            if len(unit) != 6 or not all(unit):
                sys.exit(f"cbmc: units.txt:{number}: a row has 6 columns")
            units.append(unit)
    return units


def run(command, limit_s=LIMIT_S):
    """Its output and exit code; it dies when its time is up, and the solver with it."""
    process = subprocess.Popen(command, cwd=ROOT, text=True, start_new_session=True, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    try:
        return process.communicate(timeout=limit_s)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0] + f"\nstopped after {limit_s} s\n", 124


def shrink(limits, out):
    """Copies of the headers that say how much there is room for, with room for less."""
    shutil.rmtree(out, ignore_errors=True)
    for limit in limits.split():
        name, value = limit.split("=")
        define = re.compile(rf"^(#define SL_{name}) [^/\n]*", re.M)
        found = [h for h in ROOT.glob("src/**/*.h") if define.search(h.read_text())]
        if len(found) != 1:
            sys.exit(f"cbmc: {len(found)} headers define SL_{name}")
        copy = out / found[0].relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(define.sub(rf"\1 {value} ", (copy if copy.exists() else found[0]).read_text()))


def break_code(unit, out):
    """The unit's canary: a copy of one source, changed by sed."""
    name, path, change = unit[0], unit[4], unit[5]
    text = (ROOT / path).read_text()
    changed = subprocess.run(["sed", "-E", change], input=text, text=True, capture_output=True, check=True).stdout
    if changed == text:
        sys.exit(f"cbmc: the canary of {name} changes nothing in {path}: {change}")
    target = out / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(changed)
    return path


def look(tool, unit, out, broken=None):
    """CBMC's output on one unit, or on its canary, of which the first failure is enough."""
    name, sources, options = unit[0], unit[1], unit[3]
    files = [f"specs/cbmc/{name}.c", *[str(out / f) if f == broken else f for f in sources.split()]]
    text, code = run([tool, *files, f"-I{out}/src", "-Isrc", "-I.", "--function", f"look_{name}", *CHECKS, *OPTIONS,
                      *options.split(), *(["--stop-on-fail"] if broken else [])])
    (out / "log").write_text(text)
    return text, code


def examine(tool, unit, build):
    """Claims and checks that hold, what is wrong, what the canary broke, and the time of both looks."""
    start = time.monotonic()
    out = build / unit[0]
    shrink(unit[2], out)
    out.mkdir(parents=True, exist_ok=True)
    text, code = look(tool, unit, out)
    wrong = [line for line in text.splitlines() if line.endswith(": FAILURE")]
    total = re.search(r"\*\* 0 of (\d+) failed", text)
    if not wrong and (code != 0 or not total or "VERIFICATION SUCCESSFUL" not in text):
        wrong.append(f"CBMC ended with {code}, see {out}/log")
    canary = build / (unit[0] + "-canary")
    shrink(unit[2], canary)
    text, code = look(tool, unit, canary, break_code(unit, canary))
    noticed = re.search(r"Violated property:\n.*\n +(.*)", text)
    if code != 10 or not noticed or AMISS.search(noticed[1]):
        wrong.append(f"the canary is not rejected, see {canary}/log")
    return {"unit": unit[0], "checks": int(total[1]) if total else 0, "wrong": wrong,
            "canary": noticed[1] if noticed else "", "seconds": round(time.monotonic() - start, 1)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--tool", required=True, type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("units", nargs="*")
    args = parser.parse_args()
    build, tool = args.build.resolve(), str(args.tool.resolve())
    units = [u for u in rows() if not args.units or u[0] in args.units]
    unknown = set(args.units) - {u[0] for u in units}
    if unknown or not units:
        sys.exit(f"cbmc: no such unit: {' '.join(unknown)}")
    if not shutil.which("cadical"):
        sys.exit("cbmc: there is no cadical here (Debian: cadical)")
    version, code = run([tool, "--version"], 60)
    if code != 0:
        sys.exit(f"cbmc: {tool} does not start: {version}")
    results = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for result in pool.map(lambda u: examine(tool, u, build / "cbmc"), units):
            results.append(result)
            print(f"{result['unit']:10} {result['checks']:4} claims and checks hold; "
                  f"the canary is rejected: {result['canary'] or 'no'}; {result['seconds']:.0f} s", flush=True)
            for line in result["wrong"]:
                print(f"  {line}")
    failed = sum(1 for r in results if r["wrong"])
    (build / "cbmc.json").write_text(json.dumps({"version": version.split()[0], "units": results}, indent=1) + "\n")
    print(f"cbmc: {len(results) - failed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
