#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Asks every kind of instrument about every seeded defect of kernel, policy and engine, where run.py stops at the first
that rejects: what one kind alone sees hangs by a thread.

A defect has a column for each kind. The instruments of a column are those that its patch names, and then the kind's own
(units:ROOM, conformance, replay:TARGET, ...); they are asked until one rejects. tests/defects/matrix.json has what came
out, with a digest of the patch and of the files that it changes as they were: it is asked again when that differs. The
defects that were asked about least come first, and after --budget seconds no other one is begun.

usage: matrix.py --build DIR [--columns a,b] [--modules a,b] [--budget S] [--fresh] [--report] [DEFECT...]"""
import argparse, collections, hashlib, json, pathlib, re, sys, time

import instruments, run

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RECORD = HERE / "matrix.json"
MODULES = "kernel", "policy", "engine"
COLUMNS = "proof", "unit", "scenario", "conformance", "fuzz", "simulator", "explorer"
CORE_TARGETS = "cycle", "differential", "second_pass", "requeue", "topology", "placement", "preemption", "ledger", "doors", "verdicts"
TARGETS = {"kernel": CORE_TARGETS, "policy": CORE_TARGETS, "engine": ("objects", "journal")}
SECTION = """
## What every kind of instrument says

`make defects-matrix` asks each kind of instrument about each defect of kernel, policy and engine, and not only the first that
rejects it. `tests/defects/matrix.json` has the answers; a defect is asked about again when its patch or what it changes is
another. A cell says how many defects the kind rejects, of those of which that is known: those kinds that a patch names
reject it, of others it is known when they were asked. What one kind alone rejects hangs by a thread.

"""
NAMED = {"prove": "proof", "unit": "unit", "conformance": "conformance", "fuzz": "fuzz", "sim": "simulator", "explore": "explorer",
         "model": "model", "crash": "crash"}


def module(defect):
    """Where the first of its files lies. The tables of model/ are the kernel's."""
    first = defect["files"][0]
    return "kernel" if first.startswith("model/") else first.split("/")[1]


def column_of(instrument):
    if instrument.startswith("unit:scenarios/"):
        return "scenario"
    return NAMED.get(instrument.partition(":")[0])


def rooms(defect):
    """With tests of their own that may see it; the engine's tests use all three."""
    found = [name.split("/")[1] for name in defect["files"] if name.startswith("src/")] or ["kernel"]
    return list(dict.fromkeys([*found, "engine"]))


def columns(defect):
    """{column: its instruments, the cheapest first}"""
    found = {column: [] for column in COLUMNS}
    for instrument in defect["instruments"]:
        if column_of(instrument) in found:
            found[column_of(instrument)].append(instrument)
    if not found["proof"]:
        found["proof"] = [f"prove:{name}" for name in defect["files"] if re.match(r"src/(kernel|policy)/.*\.c$", name)]
    found["unit"] += [f"units:{room}" for room in rooms(defect)]
    found["scenario"].append("units:scenarios")
    found["conformance"] = ["conformance"]
    found["fuzz"] += [f"replay:{target}" for target in TARGETS.get(module(defect), ())]
    found["simulator"] = found["simulator"] or ["sim:20"]
    found["explorer"].append("worlds:5")
    return found


def digest(defect, root):
    mark = hashlib.sha256(defect["path"].read_bytes())
    for name in defect["files"]:
        mark.update(b"\0" + ((root / name).read_bytes() if (root / name).exists() else b""))
    return mark.hexdigest()[:16]


class Record:
    def __init__(self, path, root):
        self.path, self.root = path, root
        self.defects = json.loads(path.read_text()) if path.exists() else {}

    def of(self, defect):
        """{column: {"verdict", "by"}} of the defect as it stands."""
        entry = self.defects.get(defect["name"], {})
        return entry["columns"] if entry.get("digest") == digest(defect, self.root) else {}

    def last(self, defect):
        """The same, whatever has become of the files since: the page of defects does not change with each of them."""
        return self.defects.get(defect["name"], {}).get("columns", {})

    def note(self, defect, column, verdict, by):
        found = dict(self.of(defect), **{column: {"verdict": verdict, "by": by}})
        self.defects[defect["name"]] = {"digest": digest(defect, self.root), "module": module(defect), "columns": found}
        self.write()

    def forget(self, names):
        """What is no defect any more."""
        self.defects = {name: entry for name, entry in self.defects.items() if name in names}

    def write(self):
        self.path.write_text(json.dumps(self.defects, indent=1, sort_keys=True) + "\n")


def baselines(runner, names):
    """{instrument: why its verdict would mean nothing} of those that reject the tree as it is, or cannot run."""
    found = {name: runner.baseline(name) for name in dict.fromkeys(names)}
    return {name: problem for name, problem in found.items() if problem}


def judge(runner, defect, wanted):
    """Yields (column, verdict, the instrument that rejects, why it could not be asked, seconds) of {column: instruments}.
    The patch is applied once for all of them."""
    useless = baselines(runner, [name for names in wanted.values() for name in names])
    problem = runner.copy.apply(defect["path"])
    try:
        for column, names in wanted.items():
            start = time.monotonic()
            verdict, by, why = ("failed", None, problem) if problem else column_verdict(runner.copy.tree, names, useless)
            yield column, verdict, by, why, time.monotonic() - start
    finally:
        runner.copy.restore()


def column_verdict(tree, names, useless):
    """One that rejects is enough; that all accept counts only when all could be asked."""
    problems = [useless[name] for name in names if name in useless]
    for name in names:
        if name in useless:
            continue
        verdict, log, _ = instruments.ask(name, tree)
        if verdict == "rejected":
            return "rejected", name, ""
        if verdict == "failed":
            problems.append(f"{name} could not run\n{log}")
    return ("failed" if problems or not names else "accepted"), None, "\n".join(problems)


def rejecting(defect, record):
    """Kinds that reject it: those that its patch names, which `make defects EVERY=1` holds it to, and what is on record."""
    named = [column_of(instrument) for instrument in defect["instruments"]]
    found = [column for column, said in record.last(defect).items() if said["verdict"] == "rejected"]
    return sorted({*filter(None, named), *found})


def accepting(defect, record):
    return [column for column, said in sorted(record.last(defect).items()) if said["verdict"] == "accepted"]


def report(defects, record):
    """A row a module, and by name the defects that one kind alone rejects."""
    lines = ["| module | defects | " + " | ".join(COLUMNS) + " | by one kind | by two | by three or more |",
             "| --- " * (len(COLUMNS) + 5) + "|"]
    threads = []
    for name in MODULES:
        mine = [d for d in defects if module(d) == name]
        seen = {d["name"]: rejecting(d, record) for d in mine}
        known = {d["name"]: {*seen[d["name"]], *record.last(d)} for d in mine}
        cells = [f"{sum(c in s for s in seen.values())} of {sum(c in k for k in known.values())}" for c in COLUMNS]
        by = collections.Counter(map(len, seen.values()))
        lines.append(f"| {name} | {len(mine)} | " + " | ".join(cells) + f" | {by[1]} | {by[2]} | {sum(n for k, n in by.items() if k > 2)} |")
        threads += [d for d in mine if len(seen[d["name"]]) == 1]
    lines += ["", f"By one kind alone, as far as is known ({len(threads)}):", ""]
    for defect in threads:
        others = accepting(defect, record)
        lines.append(f"* `{defect['name']}` by {rejecting(defect, record)[0]}" + (f", not by {', '.join(others)}" if others else ""))
    return "\n".join(lines) + "\n"


def section(defects):
    """Of the page of defects."""
    return SECTION + report([d for d in defects if module(d) in MODULES], Record(RECORD, ROOT))


def work(args, defects, record):
    """[(defect, {column: instruments})] that is to be asked: those first of which least is known, and of these those whose
    patch names the fewest kinds."""
    found = []
    for defect in defects:
        known = {} if args.fresh else record.of(defect)
        wanted = {column: names for column, names in columns(defect).items()
                  if names and column not in known and column in args.columns}
        if wanted:
            kinds = {column_of(name) for name in defect["instruments"]}
            found.append((len(known), len(kinds), defect["name"], defect, wanted))
    return [row[3:] for row in sorted(found, key=lambda row: row[:3])]


def ask(args, record, rows):
    """How many columns could not be asked."""
    runner, begin, failed = run.Run(args), time.monotonic(), 0
    for i, (defect, wanted) in enumerate(rows):
        if args.budget and time.monotonic() - begin > args.budget:
            print(f"no time was left for {len(rows) - i} defects")
            break
        for column, verdict, by, problem, seconds in judge(runner, defect, wanted):
            print(f"{verdict:8} {defect['name']:44} {column:11} {by or '':40} {seconds:6.1f} s", flush=True)
            if verdict == "failed":
                failed += 1
                print("  " + problem.strip().replace("\n", "\n  "), flush=True)
            else:
                record.note(defect, column, verdict, by)
    return failed


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--columns", type=lambda text: text.split(","), default=list(COLUMNS))
    parser.add_argument("--modules", type=lambda text: text.split(","), default=list(MODULES))
    parser.add_argument("--budget", type=float, default=0)
    parser.add_argument("--fresh", action="store_true", help="also what is on record as it stands")
    parser.add_argument("--report", action="store_true", help="ask nothing")
    parser.add_argument("defects", nargs="*")
    return parser.parse_args(words)


def main():
    args = options()
    args.build, args.every = args.build.resolve(), True
    everything = [d for d in (run.read(path) for path in sorted(HERE.glob("*.patch"))) if module(d) in MODULES]
    defects = [d for d in everything if module(d) in args.modules]
    if args.defects:
        defects = run.chosen(defects, argparse.Namespace(defects=args.defects))
    record = Record(RECORD, ROOT)
    record.forget({d["name"] for d in everything})
    rows = [] if args.report else work(args, defects, record)
    failed = ask(args, record, rows) if rows else 0
    print(report(everything, record))
    print(f"matrix: {sum(bool(record.of(d)) for d in everything)} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
