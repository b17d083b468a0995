#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Runs the seeded defects: broken versions of Sluice, each of which some instrument has to reject.

A defect is a patch with a header of "# Key: text" lines: Broken, Guarantee, Rejected-by. The last names the
instruments, cheapest first, separated by blanks; instruments.py says what they are. They are asked in this order
until one rejects; with --every each of them has to. Before that an instrument must accept the tree as it is, or
its verdict means nothing. All happens in a copy of the tree, BUILD/defects/tree, which is built as needed. A
patch that does not apply exactly, or does not build, is a failure; so is a defect that nothing rejects.
BUILD/defects.json has the verdicts about this very tree.

usage: run.py --build DIR [--sample N] [--seed S] [--every] [--table write|check] [DEFECT...]"""
import argparse, json, pathlib, random, re, subprocess, sys, time

import instruments, tree
import matrix  # which imports this file in turn, and uses it only when it is called

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = ROOT / "docs/defects.md"
KEYS = ("Broken", "Guarantee", "Rejected-by")
INTRO = """# Seeded defects

Broken versions of Sluice, kept as patches under `tests/defects/`. An instrument that accepts what Sluice is and rejects none of
these would be no evidence. `make defects` applies each to a copy of the tree and asks the instruments named, the cheapest first,
until one rejects it; `EVERY=1` asks all of them. CI asks about a sample. This table is made of the patches' headers by
`make defects-table`, and `make defects` fails when it is not.

"""


def read(path):
    """A defect from its patch's header."""
    text = path.read_text()
    fields = dict(re.findall(r"^# ([A-Z][a-z-]+): (.*)$", text.split("\n--- ", 1)[0], re.MULTILINE))
    missing = [key for key in KEYS if not fields.get(key)]
    if missing:
        sys.exit(f"{path.name}: the header does not say {', '.join(missing)}")
    files = re.findall(r"^\+\+\+ b/(\S+)", text, re.MULTILINE)
    if not files:
        sys.exit(f"{path.name} changes nothing")
    return {"name": path.stem, "path": path, "broken": fields["Broken"], "guarantee": fields["Guarantee"],
            "instruments": fields["Rejected-by"].split(), "files": files}


def table(defects):
    rows = ["| defect | guarantee | what is broken | where | rejected by |", "| --- | --- | --- | --- | --- |"]
    for d in defects:
        link = f"[{d['name']}](../tests/defects/{d['name']}.patch)"
        where = ", ".join(f"`{f}`" for f in d["files"])
        asked = ", ".join(f"`{i}`" for i in d["instruments"])
        rows.append(f"| {link} | {d['guarantee']} | {d['broken']} | {where} | {asked} |")
    kinds = "\n".join(f"| `{form}` | {what} |" for form, what in instruments.FORMS)
    return INTRO + "\n".join(rows) + "\n\n| instrument | rejects when |\n| --- | --- |\n" + kinds + "\n" + matrix.section(defects)


class Run:
    def __init__(self, args):
        self.copy = tree.Copy(ROOT, args.build)
        self.copy.restore()
        self.mark = self.copy.digest()
        self.every = args.every
        self.record = args.build / "defects.json"
        self.baselines = args.build / "defects/baseline.json"
        self.accepted = self.load(self.baselines).get(self.mark, {})

    @staticmethod
    def load(path):
        return json.loads(path.read_text()) if path.exists() else {}

    def baseline(self, name):
        """Why the instrument's verdict would mean nothing, or "". What it said about this tree is remembered."""
        if name not in self.accepted:
            verdict, log, seconds = instruments.ask(name, self.copy.tree)
            if verdict != "accepted":
                return f"{name} on the tree as it is: {verdict}\n{log}"
            self.accepted[name] = round(seconds, 1)
            self.baselines.write_text(json.dumps({self.mark: self.accepted}, indent=1) + "\n")
        return ""

    def judge(self, defect):
        """(instrument that rejected or None, [{instrument, verdict, seconds}], problem)."""
        asked, by, problem = [], None, ""
        for name in defect["instruments"]:
            problem = self.baseline(name) or self.copy.apply(defect["path"])
            try:
                verdict, log, seconds = ("", "", 0.0) if problem else instruments.ask(name, self.copy.tree)
            finally:
                self.copy.restore()
            if problem:
                return None, asked, problem
            asked.append({"instrument": name, "verdict": verdict, "seconds": round(seconds, 1)})
            if verdict == "failed":
                return None, asked, f"{name} could not run\n{log}"
            by = by or (name if verdict == "rejected" else None)
            if by and not self.every:
                break
        missed = [a["instrument"] for a in asked if a["verdict"] != "rejected"]
        if not by or self.every and missed:
            problem = "not rejected by " + ", ".join(missed)
        return by, asked, problem

    def write(self, defect, by, asked, problem, total):
        """Verdicts about another tree are forgotten."""
        then = self.load(self.record)
        ran = then.get("defects", {}) if then.get("tree") == self.mark else {}
        ran[defect["name"]] = {"broken": defect["broken"], "guarantee": defect["guarantee"], "rejected_by": by,
                               "asked": asked, "ok": not problem}
        self.record.write_text(json.dumps({"tree": self.mark, "total": total, "defects": ran}, indent=1) + "\n")

    def one(self, defect, total):
        by, asked, problem = self.judge(defect)
        self.write(defect, by, asked, problem, total)
        seconds = sum(a["seconds"] for a in asked)
        print(f"{'FAILED' if problem else 'ok':6} {defect['name']:34} {defect['guarantee']:7} "
              f"{by or '-'} {seconds:.1f} s", flush=True)
        if problem:
            print("  " + problem.strip().replace("\n", "\n  "), flush=True)
        return not problem


def chosen(defects, args):
    """Those named, or a sample of those that are quick to judge, or all. Models take minutes."""
    if args.defects:
        wanted = [d for d in defects if any(d["name"] == n or d["name"].split("-")[0] == n for n in args.defects)]
        return wanted or sys.exit(f"no defect is called {' or '.join(args.defects)}")
    if args.sample:
        quick = [d for d in defects if not d["instruments"][0].startswith("model:")]
        return random.Random(args.seed).sample(quick, min(args.sample, len(quick)))
    return defects


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", action="store_true", help="each instrument named has to reject")
    parser.add_argument("--table", choices=["write", "check"])
    parser.add_argument("defects", nargs="*")
    args = parser.parse_args()
    args.build = args.build.resolve()
    defects = [read(path) for path in sorted(HERE.glob("*.patch"))]
    if args.table == "write":
        TABLE.write_text(table(defects))
        return 0
    passed = failed = 0
    if not TABLE.exists() or TABLE.read_text() != table(defects):
        print("docs/defects.md is not what the patches say: run make defects-table")
        failed += 1
    run, start = Run(args), time.monotonic()
    for problem in filter(None, (run.copy.would_apply(d["path"]) for d in defects)):
        print(problem)
        failed += 1
    if args.table == "check":
        return failed > 0
    for defect in chosen(defects, args):
        if run.one(defect, len(defects)):
            passed += 1
        else:
            failed += 1
    print(f"in {time.monotonic() - start:.0f} s")
    print(f"defects: {passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
