#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Would the proofs notice? Changes the code of one function in one small way (mutations.py), if that compiles and
gives other machine code proves the function's goals again, and counts. Callers rely on its contract alone, so theirs
are as before. Each mutant is

  rejected   a goal is left at which a solver's search came to its end without a proof;
  outrun     a goal is left that was proved before, and now is not in 20 times the time;
  late       goals are left, all of which took long before or are new, and every solver's time was up at each, with
             more time as well: no rejection;
  survived   every goal is proved: a hole in the contract, unless the table explains it.

A search that ends: Z3 by triggers alone and to a limited depth. It decides only where it proves the same goal of the
function as it stands, at one level less; otherwise Z3 and cvc5 have to give up for themselves. Of goals that are the
same as before the cache of the proofs knows the answer.

The table (specs/mutants.json) has an entry for each function of which all mutants were judged, with what survived and
why; a run without --sample judges what is not in the table, or was of another text, and writes it.

usage: mutants.py --build DIR [--table FILE] [--sample N [--seed S]] [--functions a,b] [--changed COMMIT] FILE..."""
import argparse, concurrent.futures, functools, hashlib, json, os, pathlib, random, re, shutil, signal, subprocess
import sys, threading, time

import mutations

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CPP = ["-Isrc", "-I."]
SEARCH = "smt.auto_config=false smt.mbqi=false smt.case_split=3 smt.delay_units=true smt.arith.solver=2 " \
         "smt.qi.eager_threshold={0} smt.qi.lazy_threshold={0} pi.arith_weight=0 pi.non_nested_arith_weight=0"
SHALLOW, DEEP = 3, 4
SEARCH_S = 10
FACTOR = 20
KINDS = ("rejected", "outrun", "late", "survived")
SOLVER = """
[prover]
command = "{command}"
command_steps = "{command}"
driver = "{driver}"
editor = ""
in_place = false
interactive = false
name = "{name}"
shortcut = "{short}"
version = "{version}"
"""
started, lock = set(), threading.Lock()


class Unproved(Exception):
    pass


# --- Frama-C ---

def environment(build):
    """Why3 with Z3, cvc5, and the searches that end. Only Why3 stops them, when their processor time is used up."""
    plain, conf = build / "prove/why3.conf", build / "prove/mutants.conf"
    subprocess.run([str(HERE / "why3-config.sh"), str(plain)], check=True)
    version = {name: re.search(rf'name = "{name}"[^\[]*?version = "([^"]*)"', plain.read_text()).group(1)
               for name in ("Z3", "CVC5")}
    z3 = f"{shutil.which('z3')} -smt2 smt.random_seed=42 "
    cvc5 = f"{shutil.which('cvc5')} --lang=smt2 "
    rows = [("Z3", "z3", version["Z3"], z3 + "sat.random_seed=42 nlsat.randomize=false", "z3_471"),
            ("CVC5", "cvc5", version["CVC5"], cvc5, HERE / "cvc5.drv")]
    rows += [(f"Search{depth}", f"search{depth}", "1", z3 + SEARCH.format(depth), "z3_471")
             for depth in (SHALLOW, DEEP)]
    main = plain.read_text().split("[partial_prover]")[0].split("[prover]")[0]
    conf.write_text(main + "".join(
        SOLVER.format(name=name, short=short, version=number, command=command + " %f", driver=driver)
        for name, short, number, command, driver in rows))
    return dict(os.environ, WHY3CONFIG=str(conf))


def seconds(line):
    """What the solver took, of a line of Frama-C about a goal that is proved."""
    found = re.search(r" \(([\d.]+)(ms|s|')", line)
    return float(found.group(1)) * {"ms": 0.001, "s": 1, "'": 60}[found.group(2)] if found else 0.0


def judge_lines(lines):
    """Yields (goal, what the solvers said of it) as Frama-C goes along, and what it says that is no goal under None."""
    goal, said = None, []
    for line in lines:
        detail = re.match(r"  +(?:Z3|CVC5|Search\d)[^:]*: (\w+)", line)
        if goal and detail:
            said.append(detail.group(1))
            continue
        if goal:
            yield goal, said
            goal = None
        found = re.match(r"\[wp\] \[([\w]+)[^\]]*\] Goal (\S+)(?: : (\w+))?", line)
        if found and found.group(3):
            yield found.group(2), [found.group(3), seconds(line)]
        elif found:
            goal, said = found.group(2), []
        else:
            yield None, [line.rstrip()]
    if goal:
        yield goal, said


class Run:
    """One run of Frama-C on one function. It stops early when `enough` says so of a goal."""

    def __init__(self, args, path, function, options, enough=lambda goal, said, scheduled: False):
        self.said, self.scheduled, self.rejecting = {}, 0, None
        self.refused, self.problem = None, None  # by Frama-C; why the run is not complete
        command = ["nice", "frama-c", "-wp", "-wp-rte", "-wp-model", "Typed", "-wp-par", "1", "-wp-fct", function,
                   "-cpp-extra-args=" + " ".join(CPP), *options, str(path)]
        process = subprocess.Popen(command, cwd=ROOT, env=args.env, text=True, start_new_session=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        with lock:
            started.add(process)
        watch = threading.Timer(args.limit, end, [process])
        watch.start()
        ended = None
        try:
            for goal, said in judge_lines(process.stdout):
                if goal is None:
                    self.note(said[0])
                    ended = ended or re.search(r"Proved goals:|No goal generated", said[0])
                else:
                    self.said[goal] = said
                    if enough(goal, said, self.scheduled):
                        self.rejecting = goal
                        return
        finally:
            watch.cancel()
            end(process)
            process.stdout.close()
            with lock:
                started.discard(process)
        if not ended:
            self.problem = self.refused or f"it stopped, or {args.limit} s were not enough"

    def note(self, line):
        found = re.search(r"(\d+) goals scheduled", line)
        self.scheduled = int(found.group(1)) if found else self.scheduled
        if re.search(r"\[kernel\] (?:User )?Error|aborted", line):
            self.refused = line

    def unproved(self):
        return [goal for goal, said in self.said.items() if "Valid" not in said]


def end(process):
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def search(depth):
    return ["-wp-prover", f"search{depth}", "-wp-timeout", str(SEARCH_S), "-wp-cache", "none"]


def solvers(path, timeout):
    return ["-wp-prover", "z3,cvc5", "-wp-timeout", str(timeout),
            "-wp-cache", "replay", "-wp-cache-dir", str(ROOT / "specs/cache" / path.stem)]


# --- a mutant ---

class Before:
    """How the goals of a function do as it stands; asked once, and only what is needed."""

    def __init__(self, args, path, function):
        self.args, self.path, self.function, self.busy = args, path, function, threading.Lock()
        self.count, self.found, self.fast = 0, None, None

    def searched(self):
        """Goals that the shallow search proves."""
        with self.busy:
            if self.found is None:
                run = Run(self.args, self.path, self.function, search(SHALLOW))
                self.count = run.scheduled
                self.found = {goal for goal, said in run.said.items() if "Valid" in said}
            return self.found

    def quick(self):
        """Goals that the solvers prove in a small part of the time."""
        with self.busy:
            if self.fast is None:
                run = Run(self.args, self.path, self.function, solvers(self.path, self.args.timeout))
                if run.problem or run.unproved():
                    raise Unproved(f"{self.path}: {self.function} is not proved as it stands: make prove first "
                                   f"({run.problem or ', '.join(run.unproved())})")
                self.fast = {goal for goal, said in run.said.items() if said[1] * FACTOR <= self.args.timeout}
            return self.fast

    def has(self, goals, goal, count):
        """Is it among these, under the same name? Numbers in names count goals of a kind."""
        return goal in goals and (count == self.count or not re.search(r"_(?:part)?\d+$", goal))


class Judge:
    """Judges mutants, and remembers how the functions do as they stand."""

    def __init__(self, args, texts):
        self.args, self.texts, self.code, self.base = args, texts, {}, {}

    def machine_code(self, path):
        """What a compiler makes of it, or None when it does not take it."""
        done = subprocess.run(["gcc", "-std=c17", "-w", "-O2", "-S", "-o", "-", *CPP, str(path)], cwd=ROOT, text=True,
                              capture_output=True, check=False)
        return re.sub(r"^\s*\.file.*$", "", done.stdout, flags=re.M) if done.returncode == 0 else None

    def before(self, path, function):
        with lock:
            return self.base.setdefault((path, function), Before(self.args, path, function))

    def counts(self, path, changed):
        """Does it compile, and is it another program?"""
        with lock:
            if path not in self.code:
                self.code[path] = self.machine_code(ROOT / path)
        code = self.machine_code(changed)
        return code is not None and code != self.code[path]

    def verdict(self, mutant, number):
        """(verdict, why), or None for a mutant that does not count."""
        path = pathlib.Path(mutant.path)
        changed = self.args.build / "prove/mutant" / str(number) / path.name
        changed.parent.mkdir(parents=True, exist_ok=True)
        changed.write_text(mutant.applied(self.texts[path]))
        if not self.counts(path, changed):
            return None
        before = self.before(path, mutant.function)
        searched = before.searched()
        run = Run(self.args, changed, mutant.function, search(DEEP),
                  lambda goal, said, count: said[0] == "Unknown" and before.has(searched, goal, count))
        if run.refused or run.rejecting:
            return "rejected", run.refused or run.rejecting
        if run.problem or run.unproved():
            return self.prove(mutant, changed, path, before)
        return "survived", ""

    def prove(self, mutant, changed, path, before):
        """What the solvers make of it, first in the time that they have in the proofs."""
        quick = before.quick()
        for timeout in (self.args.timeout, self.args.more):
            run = Run(self.args, changed, mutant.function, solvers(path, timeout),
                      lambda goal, said, count: "Valid" not in said and
                      ("Unknown" in said or set(said) == {"Timeout"} and before.has(quick, goal, count)))
            if run.rejecting:
                return "rejected" if "Unknown" in run.said[run.rejecting] else "outrun", run.rejecting
            if run.problem:
                return "late", run.problem
            if not run.unproved():
                return "survived", ""
        return "late", ", ".join(run.unproved())


# --- which, and the table ---

@functools.cache
def here(path):
    return (ROOT / path).read_text() if (ROOT / path).exists() else ""


def digest(text, function, read=here):
    """Of a function's text with its contract, in the file and in the headers that it includes itself."""
    parts = [text[function.first:function.end]]
    for header in re.findall(r'^#include "(\S+\.h)"', text, flags=re.M):
        declared = read(f"src/{header}")
        for found in re.finditer(rf"\b{function.name}\(", mutations.code_of(declared)):
            comment = declared.rfind("/*@", 0, found.start())
            parts.append(declared[max(comment, 0):found.start()])
    return hashlib.sha256(" ".join(" ".join(parts).split()).encode()).hexdigest()[:16]


@functools.cache
def text_at(commit, path):
    done = subprocess.run(["git", "show", f"{commit}:./{path}"], cwd=ROOT, text=True, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else ""


class Table:
    def __init__(self, path):
        self.path = path
        self.files = json.loads(path.read_text())["files"] if path and path.exists() else {}

    def entry(self, path, function):
        return self.files.get(str(path), {}).get(function, {})

    def why(self, mutant):
        """The explanation of a survivor, or nothing."""
        return self.entry(mutant.path, mutant.function).get("survived", {}).get(mutant.key, "")

    def write(self, path, function, mark, judged):
        if not self.path:
            return
        of = {kind: [mutant for mutant, verdict in judged if verdict == kind] for kind in KINDS}
        self.files.setdefault(str(path), {})[function] = {
            "digest": mark, "mutants": len(judged), "rejected": len(of["rejected"]), "outrun": len(of["outrun"]),
            "late": sorted(m.key for m in of["late"]), "survived": {m.key: self.why(m) for m in of["survived"]}}
        self.path.write_text(json.dumps({"files": self.files}, indent=1, sort_keys=True) + "\n")

    def prune(self, texts):
        """Forgets functions that are no longer there; how many there are, and how many are here as they stand."""
        marks = {path: {f.name: digest(text, f) for f in mutations.functions(text)} for path, text in texts.items()}
        for path, there in marks.items():
            kept = {name: entry for name, entry in self.files.pop(str(path), {}).items() if name in there}
            self.files.update({str(path): kept} if kept else {})
        known = sum(self.entry(path, name).get("digest") == mark for path in marks for name, mark in marks[path].items())
        return sum(len(there) for there in marks.values()), known

    def total(self):
        """(mutants, rejected, outrun, late, survived) of the whole table."""
        entries = [entry for functions in self.files.values() for entry in functions.values()]
        return (*(sum(e[kind] for e in entries) for kind in ("mutants", "rejected", "outrun")),
                *(sum(len(e[kind]) for e in entries) for kind in ("late", "survived")))

    def __str__(self):
        mutants, rejected, outrun, late, survived = self.total()
        share = 100 * (rejected + outrun) / mutants if mutants else 0
        return (f"{mutants} mutants, {rejected} rejected, {outrun} outrun ({share:.1f} %), {late} late, "
                f"{survived} survived")


def choose(args, texts, table):
    """(whole functions [(path, function, mutants)], single mutants in the order of drawing)"""
    everything = [(path, function, found) for path, text in texts.items()
                  for function, found in mutations.mutants_of(path, text)]
    if args.functions:
        names = set(args.functions.split(","))
        missing = names - {function.name for _, function, _ in everything}
        if missing:
            sys.exit(f"mutants: no function {', '.join(sorted(missing))} in these files")
        everything = [row for row in everything if row[1].name in names]
    whole = everything if args.sample is None else []
    if args.changed:
        def then(path):
            return text_at(args.changed, path)
        before = {path: {f.name: digest(then(path), f, then) for f in mutations.functions(then(path))}
                  for path in texts}
        whole = [(path, f, found) for path, f, found in everything
                 if before[path].get(f.name) != digest(texts[path], f)]
    elif not args.fresh:
        whole = [(path, f, found) for path, f, found in whole
                 if table.entry(path, f.name).get("digest") != digest(texts[path], f)]
    rest = [m for row in everything if row not in whole for m in row[2]] if args.sample is not None else []
    random.Random(args.seed).shuffle(rest)
    return whole, rest


class Report:
    def __init__(self, table, texts):
        self.table, self.texts, self.counts, self.unexplained = table, texts, {}, 0

    def tell(self, mutant, verdict, why, seconds):
        self.counts[verdict] = self.counts.get(verdict, 0) + 1
        line = self.texts[pathlib.Path(mutant.path)].count("\n", 0, mutant.start) + 1
        print(f"  {verdict:8} {seconds:6.1f} s  {mutant.path}:{line} {mutant.function}: {mutant.key[:160]}", flush=True)
        if verdict == "survived":
            explained = self.table.why(mutant)
            self.unexplained += not explained
            print(f"           {'because: ' + explained if explained else 'NOT EXPLAINED'}")
        elif why:
            print(f"           {why[:160]}")

    def end(self):
        rejected, outrun, late, survived = (self.counts.get(kind, 0) for kind in KINDS)
        print(f"{rejected + outrun + late + survived} mutants: {rejected} rejected, {outrun} outrun, {late} late, "
              f"{survived} survived ({survived - self.unexplained} of them explained)")
        print(f"mutants: {rejected + outrun + survived - self.unexplained} passed, {self.unexplained} failed")
        return self.unexplained > 0


def judge_all(args, judge, whole, rest, report):
    def timed(mutant, number):
        begin = time.monotonic()
        return mutant, judge.verdict(mutant, number), time.monotonic() - begin

    with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
        number = 0
        for path, function, found in whole:
            results = []
            for result in pool.map(timed, found, range(number, number + len(found))):
                results += [result] if result[1] else []
                if result[1]:
                    report.tell(result[0], *result[1], result[2])
            number += len(found)
            report.table.write(path, function.name, digest(judge.texts[path], function),
                               [(mutant, verdict[0]) for mutant, verdict, _ in results])
        wanted = args.sample or 0
        while wanted and rest:  # those that do not compile or change nothing are not counted
            batch, rest = rest[:wanted], rest[wanted:]
            for mutant, verdict, seconds in pool.map(timed, batch, range(number, number + len(batch))):
                if verdict:
                    report.tell(mutant, *verdict, seconds)
                    wanted -= 1
            number += len(batch)


def stop(number, _):
    for process in list(started):
        end(process)
    os._exit(128 + number)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--sample", type=int, help="so many mutants that count, drawn evenly over all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--functions", default="", help="only these")
    parser.add_argument("--changed", help="every mutant of functions that are not as in that commit")
    parser.add_argument("--fresh", action="store_true", help="also what is in the table as it stands")
    parser.add_argument("--timeout", type=int, default=20, help="seconds a solver has for one goal, as in make prove")
    parser.add_argument("--more", type=int, default=60, help="the same when all that is left ran out of time")
    parser.add_argument("--limit", type=int, default=900, help="seconds for one run of Frama-C")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    parser.add_argument("--list", action="store_true", help="only show what would be judged")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    args.build = args.build.resolve()
    (args.build / "prove").mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    texts = {path: (ROOT / path).read_text() for path in args.files}
    table = Table(args.table)
    table.prune(texts)
    whole, rest = choose(args, texts, table)
    if args.list:
        for mutant in [m for row in whole for m in row[2]] + rest[:args.sample]:
            print(f"{mutant.path} {mutant.function}: {mutant.key}")
        return 0
    args.env = environment(args.build)
    report = Report(table, texts)
    try:
        judge_all(args, Judge(args, texts), whole, rest, report)
    except Unproved as problem:
        sys.exit(f"mutants: {problem}")
    print("in the table: {1} of {0} functions as they stand; {2}".format(*table.prune(texts), table))
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
