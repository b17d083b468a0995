#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Would the proofs notice? Changes the code of one function in one small way (mutations.py), if that compiles and
gives other machine code proves the function's goals again, and counts. Callers rely on its contract alone, so theirs
are as before. Each mutant is

  refuted    a run shows that a goal is false (refute.py); that is tried first;
  rejected   a goal is left at which a solver's search came to its end without a proof;
  late       goals are left at which no search came to its end: no rejection. With --again there is more time for them;
  outrun     the same, but one of them was proved before, and now is not in 20 times the time: no rejection either;
  survived   every goal is proved: a hole in the contract, unless the table explains it.

A search that ends: Z3 by triggers alone and to a limited depth, at several depths. One of them decides only where it
proves the same goal of the function as it stands at one level less, and of a goal that is new where it proves all of
them so; otherwise Z3 and cvc5 have to give up for themselves. Of goals that are the same as before the
cache knows the answer. What the function promises is asked first: it rejects nine of ten, at two thirds of the cost.

The table (specs/mutants.json) has an entry for each function of which all mutants were judged: what became of them,
what survived and why, and what one mutant takes. A run without --sample judges what is not in the table, or was of
another text, those with few goals first, and adds each function when it is judged. With --quick no solver is asked: what
no run refutes is late, at 0 seconds, and --left asks solvers about those. --again asks about all that
were late or outrun once more, with more time and about all of their goals. --known with --sample draws from functions
alone that are in the table as they stand and of which a mutant takes no more than --cost seconds, and none that was
late or outrun.

With --swaps mutants are others, and so is the table: enumerators and arguments of one type taken for each other.

usage: mutants.py --build DIR [--table FILE] [--sample N [--seed S] [--known]] [--functions a,b] [--changed COMMIT]
                  [--quick] [--left] [--again] [--swaps] FILE..."""
import argparse, atexit, concurrent.futures, json, os, pathlib, random, resource, shutil, signal, sys, time

import answers
import framac
import mutations
import refute
from judge import Judge, Unproved
from table import KINDS, ROOT, Table, digest, here, included, text_at


def goals_of():
    """{(path, function): how many goals it has}, of the manifest: those with few come first."""
    manifest = ROOT / "specs/manifest.json"
    files = json.loads(manifest.read_text())["files"] if manifest.exists() else {}
    return {(path, name): counts["goals"] for path, entry in files.items()
            for name, counts in entry["functions"].items()}


def choose(args, texts, table):
    """(whole functions [(path, function, mutants)], single mutants in the order of drawing)"""
    goals = goals_of()
    everything = sorted(((path, function, found) for path, text in texts.items()
                         for function, found in mutations.mutants_of(path, text, args.change) if found),
                        key=lambda row: goals.get((str(row[0]), row[1].name), 0))
    if args.functions:
        names = set(args.functions.split(","))
        missing = names - {function.name for _, function, _ in everything}
        if missing:
            sys.exit(f"mutants: no function {', '.join(sorted(missing))} in these files")
        everything = [row for row in everything if row[1].name in names]
    if args.again or args.left:
        most = args.more if args.again else 1
        return [], [m for path, f, found in everything if table.stands(path, texts[path], f)
                    for entry in [table.entry(path, f.name)] for m in found
                    if min(entry["outrun"].get(m.key, most), entry["late"].get(m.key, most)) < most]
    whole = everything if args.sample is None and not args.changed else []
    if args.changed:
        def then(path):
            return text_at(args.changed, path)
        before = {path: {f.name: digest(then(path), f, then) for f in mutations.functions(then(path))}
                  for path in texts}
        whole = [row for row in everything if before[row[0]].get(row[1].name) != digest(texts[row[0]], row[1])]
    elif not args.fresh:
        whole = [row for row in whole if not table.stands(row[0], texts[row[0]], row[1])]
    drawn = [row for row in everything if row not in whole] if args.sample is not None else []
    if args.known:
        drawn = [row for row in drawn if table.stands(row[0], texts[row[0]], row[1]) and
                 table.entry(row[0], row[1].name)["seconds"] <= args.cost]
    rest = [m for row in drawn for m in row[2]]
    if args.known:
        rest = [m for m in rest for entry in [table.entry(m.path, m.function)]
                if m.key not in entry["late"] and m.key not in entry["outrun"]]
    random.Random(args.seed).shuffle(rest)
    return whole, rest


class Report:
    def __init__(self, table, texts):
        self.table, self.texts, self.counts, self.unexplained, self.new, self.wrong = table, texts, {}, 0, 0, 0

    def tell(self, mutant, verdict, why, seconds):
        self.counts[verdict] = self.counts.get(verdict, 0) + 1
        line = self.texts[pathlib.Path(mutant.path)].count("\n", 0, mutant.start) + 1
        print(f"  {verdict:8} {seconds:6.1f} s  {mutant.path}:{line} {mutant.function}: {mutant.key[:160]}", flush=True)
        if verdict == "survived":
            explained = self.table.why(mutant)
            new = self.table.keep and not self.table.entry(mutant.path, mutant.function)
            self.unexplained += not explained and not new
            self.new += not explained and new
            otherwise = "not in the table yet" if new else "NOT EXPLAINED"
            print(f"           {'because: ' + explained if explained else otherwise}", flush=True)
        elif why:
            print(f"           {why[:160]}")
        if verdict == "refuted" and self.table.why(mutant):
            print("           THE TABLE SAYS THAT IT IS PROVED: the proofs or the runs are wrong")
            self.wrong += 1

    def end(self, shift):
        refuted, rejected, outrun, late, survived = (self.counts.get(kind, 0) for kind in KINDS)
        print(f"{sum(self.counts.values())} mutants: {refuted} refuted, {rejected} rejected, {outrun} outrun, {late} late, "
              f"{survived} survived ({survived - self.unexplained - self.new} of them explained, "
              f"{self.new} of functions that are not in the table yet)"
              + (f"; no time was left for {shift.skipped}" if shift.skipped else ""))
        bad = self.unexplained + self.table.unexplained() + shift.unproved + self.wrong
        print(f"mutants: {refuted + rejected + outrun + survived - self.unexplained - self.wrong} passed, {bad} failed")
        return bad > 0


def processor_time():
    """Of what was started and has ended; solvers that were stopped in the middle are not in it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Shift:
    """Judges mutants side by side until the time is up."""

    def __init__(self, args, judge, report):
        self.args, self.judge, self.report = args, judge, report
        self.begin, self.number, self.skipped, self.unproved = time.monotonic(), 0, 0, 0

    def timed(self, mutant, number):
        begin = time.monotonic()
        if self.args.budget and begin - self.begin > self.args.budget:
            return mutant, None, -1.0
        return mutant, self.judge.verdict(mutant, number), time.monotonic() - begin

    def judged(self, pool, mutants, note=lambda mutant, verdict: None):
        """[(mutant, (verdict, why, had), seconds)] of those that count, and whether all were judged."""
        results, first, skipped = [], self.number, self.skipped
        self.number += len(mutants)
        for mutant, verdict, seconds in pool.map(self.timed, mutants, range(first, self.number)):
            self.skipped += seconds < 0
            if verdict:
                results.append((mutant, verdict, seconds))
                note(mutant, verdict)
                self.report.tell(mutant, *verdict[:2], seconds)
        return results, self.skipped == skipped

    def run(self, whole, rest):
        table = self.report.table
        with concurrent.futures.ThreadPoolExecutor(max_workers=self.args.jobs) as pool:
            for path, function, found in whole:
                used = processor_time()
                try:
                    results, done = self.judged(pool, found)
                except Unproved as problem:
                    print(f"mutants: {problem}", flush=True)
                    self.unproved += 1
                    continue
                if done:
                    table.write(path, function.name, digest(self.judge.texts[path], function),
                                [(mutant, verdict[0], verdict[2]) for mutant, verdict, _ in results],
                                processor_time() - used)
            if self.args.again or self.args.left:
                self.judged(pool, rest, lambda mutant, verdict: table.judged_again(mutant, verdict[0], verdict[2]))
                return
            wanted, self.begin = self.args.sample or 0, time.monotonic()
            while wanted and rest:  # those that do not compile or change nothing are not counted
                batch, rest = rest[:wanted], rest[wanted:]
                results, done = self.judged(pool, batch)
                wanted -= len(results)
                if not done:
                    break


def stop(number, _):
    framac.end_all()
    os._exit(128 + number)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--sample", type=int, help="so many mutants that count, drawn evenly over all")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--functions", default="", help="only these")
    parser.add_argument("--changed", help="every mutant of functions that are not as in that commit")
    parser.add_argument("--fresh", action="store_true", help="also what is in the table as it stands")
    parser.add_argument("--timeout", type=int, default=20, help="seconds a solver has for one goal, as in make prove")
    parser.add_argument("--more", type=int, default=60, help="the same with --again")
    parser.add_argument("--runs", type=int, default=20, help="seconds that runs have to refute a mutant; 0: none")
    parser.add_argument("--limit", type=int, default=900, help="seconds for one run of Frama-C")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    parser.add_argument("--quick", action="store_true", help="ask no solver")
    parser.add_argument("--left", action="store_true", help="ask solvers about those that --quick left")
    parser.add_argument("--again", action="store_true", help="more time for those that were outrun or late")
    parser.add_argument("--known", action="store_true", help="draw among functions in the table as they stand")
    parser.add_argument("--cost", type=float, default=10, help="with --known: of which a mutant takes no more seconds")
    parser.add_argument("--budget", type=int, default=0, help="seconds after which none of the changed functions' "
                        "mutants is begun, and the same again for those drawn")
    parser.add_argument("--keep", action="store_true", help="leave the table as it is, and tell of functions that are "
                        "not in it what survives, without failing")
    parser.add_argument("--swaps", dest="change", action="store_const", const=mutations.swaps, default=mutations.changes,
                        help="take words of one type for each other, instead of small changes")
    parser.add_argument("--list", action="store_true", help="only show what would be judged")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    args.build = args.build.resolve()
    (args.build / "prove").mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    texts = {path: (ROOT / path).read_text() for path in args.files}
    table = Table(args.table, args.keep)
    whole, rest = choose(args, texts, table)
    if args.list:
        for mutant in [m for row in whole for m in row[2]] + rest[:args.sample]:
            print(f"{mutant.path} {mutant.function}: {mutant.key}")
        return 0
    args.work = args.build / "prove/mutant" / str(os.getpid())  # others may be at work in the same directory
    atexit.register(shutil.rmtree, args.work, ignore_errors=True)
    args.env = framac.environment(args.work)
    answers.unpack(args.build)
    report = Report(table, texts)
    refuter = refute.Refuter(args.build, texts, lambda path: [here(h) for h in included(texts[path], here)],
                             args.runs) if args.runs else None
    shift = Shift(args, Judge(args, texts, refuter), report)
    try:
        shift.run(whole, rest)
    except Unproved as problem:
        sys.exit(f"mutants: {problem}")
    print("in the table: {1} of {0} functions as they stand; {2}".format(*table.prune(texts), table))
    return report.end(shift)


if __name__ == "__main__":
    sys.exit(main())
