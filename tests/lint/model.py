#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Makes docs/lifecycle.md from model/{lifecycle,steps,rules}.def.

usage: model.py [--check]    --check writes nothing and fails when a file is not what it would write"""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PHASES = ["ABSENT", "PENDING", "QUOTA_RESERVED", "ADMITTED", "EVICTED", "FINISHED"]
QUOTA = {"TAKE": "counts from now", "KEEP": "as before", "DROP": "counts no more"}
RESET = {"NONE": "", "CREATION": "everything", "RESERVATION": "eviction history", "EVICTION": "**row E**",
         "RELEASE": "the reservation, run time added", "UNWRITTEN": "the reservation", "DELETION": "the incarnation"}
REQUEUED = {"KEEP": "", "BY_REASON": "by the eviction's reason", "REACTIVATED": "True if it was False",
            "BACKOFF": "True", "RESTARTED": "True"}


def entries(name, macro):
    text = re.sub(r"/\*.*?\*/", "", (ROOT / "model" / name).read_text(), flags=re.S)
    found = re.findall(rf"^{macro}\((.*)\)\s*$", text, flags=re.M)
    if len(found) != text.count(macro + "("):
        sys.exit(f"model: model/{name} has a {macro} that is not on one line")
    return [[part.strip().strip('"') for part in re.split(r',\s*(?=(?:[^"]*"[^"]*")*[^"]*$)', row)] for row in found]


def short(constant):
    return re.sub(r"^SL_(PHASE|STEP|QUOTA|RESET|REQUEUING)_", "", constant)


def title(phase):
    return "".join(word.capitalize() for word in phase.split("_"))


def read():
    steps = {short(constant): text for constant, text in entries("steps.def", "SL_STEP")}
    rules = {int(number): text for number, text in entries("rules.def", "SL_RULE")}
    rows, seen = [], set()
    for number, *columns in entries("lifecycle.def", "SL_ROW"):
        row = [int(number), *map(short, columns)]
        if row[1] not in PHASES or row[3] not in PHASES or row[2] not in steps or row[0] not in rules:
            sys.exit(f"model: unknown phase, step or rule in {row}")
        if (row[1], row[2]) in seen:
            sys.exit(f"model: two rows for {row[1]}, {row[2]}")
        seen.add((row[1], row[2]))
        rows.append(row)
    unused = set(steps) - {row[2] for row in rows}
    if unused or set(rules) != {row[0] for row in rows}:
        sys.exit(f"model: steps without a row {sorted(unused)}, or rules without one")
    return steps, rules, rows


def document(steps, rules, rows):
    out = ["# The lifecycle of a workload", "",
           "<!-- made by tests/lint/model.sh from model/*.def: change those -->", "",
           "A workload is in exactly one phase. An event is first judged on the live record and becomes a *step*;",
           "the table says where each step leads. Whatever has no row is refused, with a reason code and without",
           "any effect. The table is proved against `specs/lifecycle_table.acsl`, and the whole transition against",
           "`specs/lifecycle.acsl`, which are written without it.", "", "```mermaid", "stateDiagram-v2",
           "    [*] --> Pending: created"]
    edges = {}
    for _, source, step, to, *_ in rows:
        if source != to and source != "ABSENT":
            edges.setdefault((source, to), []).append(step)
    for (source, to), found in edges.items():
        if to == "ABSENT":
            continue
        label = " / ".join(step.lower().replace("_", " ") for step in found)
        out.append(f"    {title(source)} --> {title(to)}: {label}")
    out += ["    Finished --> [*]: deleted", "```", "",
            "Any phase ends with the deletion of the object, not only Finished.", "",
            "**Row E**, what every eviction resets: the Evicted condition takes the reason and the time, the",
            "eviction is counted, every admission check starts again as pending (one that asked to retry counts",
            "one more try), and failed nodes are forgotten.", "",
            "Usage counts while quota is reserved, the workload is active and it is not finished.", "",
            "## The table", "", "| rule | from | step | to | usage | resets | Requeued |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for number, source, step, to, quota, reset, requeued in rows:
        out.append(f"| {number} | {title(source)} | {steps[step]} | {title(to)} | {QUOTA[quota]} | {RESET[reset]} "
                   f"| {REQUEUED[requeued]} |")
    out += ["", "## The rules", ""]
    out += [f"- **{number}** {rules[number]}" for number in sorted(rules)]
    return "\n".join(out) + "\n"


def main(check):
    steps, rules, rows = read()
    path, text = ROOT / "docs/lifecycle.md", document(steps, rules, rows)
    if check and (not path.exists() or path.read_text() != text):
        print("model: docs/lifecycle.md is stale: run tests/lint/model.sh")
        return True
    if not check:
        path.write_text(text)
    return False


sys.exit(main(sys.argv[1:] == ["--check"]))
