#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""The theorem of the kernel (specs/theorems: start.c, doors.c, topology.c) leaves nothing out. Named rules:

  door    each function of the kernel that is called from outside and changes anything is called by a theorem
  inside  outside of the kernel nothing writes its variables, but the plans that it judges
  start   all of its variables are zero when the program starts

usage: doors.py BUILD"""
import pathlib, re, subprocess, sys

BUILD = pathlib.Path(sys.argv[1])
THEOREMS = ["specs/theorems/doors.c", "specs/theorems/topology.c"]
# Policy calls these in trials, which it takes back before the next door: its own contracts say so.
TRIALS = {"sl_trail_begin", "sl_trail_keep", "sl_trail_rollback", "sl_ledger_charge", "sl_ledger_release"}
# What the kernel is asked for: it believes none of it.
PLANS = {"sl_plan", "sl_topology_plan", "sl_preempt_plan"}
problems = []


def symbols(path, kinds):
    out = subprocess.run(["nm", str(path)], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in out.splitlines() if line.split()[-2] in kinds}


def code_of(path):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(), flags=re.S)


def doors(kernel, headers):
    """Functions that the rest of the program uses, and whose contract says that they assign something."""
    defined = set().union(*(symbols(o, "T") for o in kernel))
    used = set()
    for room in ("policy", "engine", "store", "kube", "server", "controllers", "runner", "cli", "api", "base"):
        for path in (BUILD / room).rglob("*.o"):
            used |= symbols(path, "U") & defined
    for name in sorted(used):
        contract = re.search(rf"/\*@((?:(?!\*/).)*)\*/\s*(?:SL_MUST_CHECK\s+)?[a-z][\w \t*]*?\b{name}\(", headers, flags=re.S)
        assigns = re.findall(r"^\s*assigns\s+(.*?);", contract.group(1) if contract else "", flags=re.S | re.M)
        if not assigns:
            problems.append(f"door: no header says what {name} assigns")
        elif assigns[0].strip() != r"\nothing":
            yield name


def check_writes(variables):
    for path in sorted(pathlib.Path("src").rglob("*.c")):
        if path.parts[1] == "kernel":
            continue
        for m in re.finditer(r"(\+\+|--)?\b(sl_\w+)((?:\[[^][]*(?:\[[^][]*\][^][]*)*\]|\.\w+)*)\s*([-+*/|&^]?=(?!=)|<<=|>>=|\+\+|--)?", code_of(path)):
            if (m.group(1) or m.group(4)) and m.group(2) in variables - PLANS:
                problems.append(f"inside: {path} writes {m.group(2)}")


def main():
    kernel = sorted((BUILD / "kernel").glob("*/*.o"))
    headers = "\n".join(p.read_text() for p in sorted(pathlib.Path("src/kernel").rglob("*.h")))
    theorems = " ".join(code_of(pathlib.Path(p)) for p in THEOREMS)
    found = list(doors(kernel, headers))
    for name in found:
        if name not in TRIALS and f"{name}(" not in theorems:
            problems.append(f"door: no theorem says that {name} keeps KernelInv")
    for name in sorted(TRIALS - set(found)):
        problems.append(f"door: {name} is excepted and no door")
    variables = set(re.findall(r"\bextern [^;(]*?\b(\w+)\s*(?:\[[^;]*)?;", headers))
    check_writes(variables)
    for path in kernel:
        for name in sorted(symbols(path, "dDgGsS")):
            problems.append(f"start: {name} of {path.name} is not zero at the start")
    for problem in problems:
        print(f"doors: {problem}")
    print(f"doors: {len(found)} doors into the kernel, {len(variables)} variables, {len(problems)} problems")
    return bool(problems) or not found or not variables


sys.exit(main())
