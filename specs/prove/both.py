#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Do two solvers prove what the guarantees rest on? Of the functions that docs/guarantees.md names, and of the theorem
of the kernel, each goal that is left to solvers is asked of Z3 alone and of cvc5 alone. An error of one of them then
cannot hide where the other one agrees.

specs/both.json has what came out, function by function, with the digest of its file's text: a file is asked again when
that changes, or with --fresh, which also believes no answer that was kept in specs/answers.txt and
specs/both_answers.txt. Goals that one solver alone proves are listed there by name. How many there may be is its
number `alone_at_most`: it falls with what is found and is never raised but by hand. With --keep nothing is written.

usage: both.py --build DIR [--jobs N] [--fresh] [--keep] [--timeout S] [FILE...]"""
import argparse, concurrent.futures, json, pathlib, re, shutil, signal, sys, time

import answers
import framac
import prove

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE, RECORD, TEXT = ROOT / "docs/guarantees.md", ROOT / "specs/both.json", ROOT / "specs/both_answers.txt"
PLACE = "both"
LEMMAS = "(lemmas)"
SOLVERS = {"z3": "Z3", "cvc5": "CVC5"}  # as an option, and in what Frama-C says


def named(page):
    """Functions of the page's two tables of which something is proved, guarantees first and in their order."""
    found = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 7 and re.fullmatch(r"G\d+", cells[1]) and cells[5].startswith("proved"):
            found += re.findall(r"`(\w+)`", cells[4])
        elif len(cells) == 6 and re.match(r"equal|implies", cells[4]):
            found += re.findall(r"`(\w+)`", cells[3])
    return list(dict.fromkeys(found))


def theorems(page):
    """The files of theorems that the page names, some without the folder."""
    return [f"specs/theorems/{name}" for name in dict.fromkeys(re.findall(r"`(?:specs/theorems/)?(\w+\.c)`", page))]


def wanted(page, files):
    """({file: functions} in order of importance, the theorems' files as a whole; functions that no file proves). `files` are
    the manifest's."""
    home = {name: path for path, entry in files.items() for name in entry["functions"] if name != LEMMAS}
    found, homeless = {}, []
    for name in named(page):
        if name in home:
            found.setdefault(home[name], []).append(name)
        else:
            homeless.append(name)
    for path in theorems(page):
        if path in files:
            found[path] = sorted(files[path]["functions"])
        else:
            homeless.append(path)
    return found, homeless


class Asked:
    """What Frama-C's report says of the functions of a file, asked of both solvers: entries of the record, and problems.
    The report counts the goals of a property, and how many of them each solver has proved."""

    def __init__(self, functions, mark, report, problems=()):
        self.problems, self.entries = list(problems), {}
        sections = dict(report.get("wp:functions", {}), **{LEMMAS: report.get("wp:axiomatics", {}).get("", {})})
        for name in functions:
            entry = self.entries[name] = {"digest": mark, "goals": 0, "simplified": 0, "both": 0, **{s: {} for s in SOLVERS}}
            for property_, provers in sorted(sections.get(name, {}).items()):
                if property_ != "wp:section":
                    self.count(entry, property_, provers)
            if not entry["goals"]:
                self.problems.append(f"{name}: no goal was found")

    def count(self, entry, name, provers):
        goals, proved, simplified = provers["wp:main"]["total"], provers["wp:main"].get("valid", 0), provers.get("qed", {}).get("valid", 0)
        by = {solver: sum(counts.get("valid", 0) for key, counts in provers.items() if key.startswith(f"{said}:"))
              for solver, said in SOLVERS.items()}
        entry["goals"] += goals
        entry["simplified"] += simplified
        if proved != goals:
            self.problems.append(f"{name}: {goals - proved} of {goals} goals are proved by neither")
            return
        left = goals - simplified  # each of which at least one has proved
        entry["both"] += sum(by.values()) - left
        for solver, other in (SOLVERS, tuple(SOLVERS)[::-1]):
            if by[other] < left:
                entry[solver][name] = left - by[other]


def alone_in(entries):
    return sum(count for entry in entries.values() for solver in SOLVERS for count in entry[solver].values())


class Record:
    def __init__(self, path):
        self.path = path
        there = json.loads(path.read_text()) if path.exists() else {}
        self.files, self.at_most = there.get("files", {}), there.get("alone_at_most")

    def stands(self, path, functions, mark):
        entries = self.files.get(path, {})
        return all(entries.get(name, {}).get("digest") == mark for name in functions)

    def missing(self, files):
        return [path for path, functions in files.items() if not all(name in self.files.get(path, {}) for name in functions)]

    def alone(self):
        return sum(alone_in(entries) for entries in self.files.values())

    def sums(self):
        return [sum(entry[key] for entries in self.files.values() for entry in entries.values())
                for key in ("goals", "simplified", "both")]

    def settle(self, files):
        """Forgets what the page names no longer, and lowers the number where it can; a problem, or nothing."""
        self.files = {path: {name: self.files[path][name] for name in functions if name in self.files[path]}
                      for path, functions in files.items() if path in self.files}
        alone = self.alone()
        if self.at_most is not None and alone > self.at_most:
            return f"{alone} goals are proved by one solver alone, and were {self.at_most}"
        if not self.missing(files):
            self.at_most = alone
        return ""

    def write(self):
        self.path.write_text(json.dumps({"alone_at_most": self.at_most, "files": self.files}, indent=1, sort_keys=True) + "\n")


def cache_of(args, name):
    """Both solvers' answers, and what is known from the proofs; what is not asked for any more goes."""
    own, known = answers.directory(args.build, name, PLACE), answers.directory(args.build, name)
    own.mkdir(parents=True, exist_ok=True)
    for path in known.glob("*.json"):
        if not (own / path.name).exists():
            shutil.copy(path, own)
    return ["-wp-session", str(own.parent), "-wp-cache", "replay" if args.keep else "cleanup"]


def ask(args, path, functions, mark):
    """(what came out, seconds)"""
    begin, name = time.monotonic(), prove.name_of(ROOT / path)
    report = args.own / f"{name}.json"
    report.unlink(missing_ok=True)
    only = [] if path.startswith("specs/theorems/") else ["-wp-fct", ",".join(functions)]
    log = prove.run(["frama-c", *prove.OPTIONS, "-wp-run-all-provers", "-wp-prover", ",".join(SOLVERS), "-wp-par", "1",
                     "-wp-timeout", str(args.timeout), "-wp-report-json", str(report), *only,
                     *(["-wp-cache", "none"] if args.fresh else cache_of(args, name)), path], args.limit, args.env)
    (args.own / f"{name}.log").write_text(log)
    found = json.loads(report.read_text()) if report.exists() else {}
    return Asked(functions, mark, found, prove.warnings(log)), time.monotonic() - begin


def tell(path, asked, seconds):
    goals, alone = (sum(e["goals"] for e in asked.entries.values()), alone_in(asked.entries))
    print(f"  {path:44} {goals:4} goals, {alone:3} by one solver alone {seconds:6.1f} s", flush=True)
    for problem in asked.problems:
        print(f"    {problem}")


def judge(args, record, files, marks):
    """Asks what is not on record as it stands; the number of problems."""
    stale = [path for path, functions in files.items() if args.fresh or not record.stands(path, functions, marks[path])]
    if args.files:
        stale = [path for path in stale if path in args.files]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
        for path, (asked, seconds) in zip(stale, pool.map(lambda path: ask(args, path, files[path], marks[path]), stale)):
            tell(path, asked, seconds)
            bad += len(asked.problems)
            if not asked.problems:
                record.files[path] = asked.entries
                if not args.keep:
                    record.write()
    return bad


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=2, help="files at a time")
    parser.add_argument("--timeout", type=int, default=10, help="seconds of processor time that a solver has for one goal")
    parser.add_argument("--limit", type=int, default=1800, help="seconds for one file")
    parser.add_argument("--fresh", action="store_true", help="ask about everything, and believe no answer that was kept")
    parser.add_argument("--keep", action="store_true", help="write nothing")
    parser.add_argument("files", nargs="*", help="only these; all that are named otherwise")
    return parser.parse_args(words)


def main():
    args = options()
    args.build = args.build.resolve()
    args.own = args.build / "prove/alone"
    args.own.mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, prove.stop)
    answers.unpack(args.build)
    answers.unpack(args.build, TEXT, PLACE)
    args.env = framac.environment(args.own)
    tools, record = prove.tools(False), Record(RECORD)
    files, homeless = wanted(PAGE.read_text(), prove.files_of_manifest())
    marks = {path: prove.digest(prove.preprocessed(path), prove.OPTIONS + [str(args.timeout), tools]) for path in files}
    bad = judge(args, record, files, marks)
    problem = record.settle(files)
    if problem:
        print(f"  {problem}:")
        print("\n".join(f"    {solver} {goal}" for entries in record.files.values() for entry in entries.values()
                        for solver in SOLVERS for goal in entry[solver]))
    elif not args.keep:
        record.write()
    if not args.keep and not args.fresh:
        answers.pack(args.build, TEXT, PLACE)
    missing = homeless + [path for path in record.missing(files) if not args.files]
    for name in missing:
        print(f"  {name}: not on record")
    goals, simplified, both = record.sums()
    bad += bool(problem) + len(missing)
    print(f"{goals} goals of {sum(map(len, files.values()))} functions: {simplified} need no solver, both solvers prove {both}, one alone "
          f"{record.alone()} (at most {record.at_most})")
    print(f"prove-both: {simplified + both} passed, {bad} failed")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
