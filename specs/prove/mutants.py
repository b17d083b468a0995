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

usage: mutants.py --build DIR [--table FILE] [--sample N [--seed S] [--known]] [--functions a,b] [--changed COMMIT]
                  [--quick] [--left] [--again] FILE..."""
import argparse, atexit, concurrent.futures, fcntl, functools, hashlib, json, os, pathlib, random, re, resource, shutil
import signal, subprocess, sys, threading, time

import mutations
import refute

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CPP = ["-Isrc", "-I."]
SEARCH = "smt.auto_config=false smt.mbqi=false smt.case_split=3 smt.delay_units=true smt.arith.solver=2 " \
         "smt.qi.eager_threshold={0} smt.qi.lazy_threshold={0} pi.arith_weight=0 pi.non_nested_arith_weight=0"
DEPTHS = 1, 2, 3, 4
SEARCH_S = 5
PROMISES = ("-wp-prop=@ensures,@invariant,@assert",)
PATIENCE = 2  # goals at which no search ends, until a mutant is left for --again
FACTOR = 20
KINDS = ("refuted", "rejected", "outrun", "late", "survived")
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
             for depth in DEPTHS]
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
    """Yields (goal, {solver: its word}, seconds) as Frama-C goes along, and what it says that is no goal under None."""
    goal, said = None, {}
    for line in lines:
        detail = re.match(r"  +(Z3|CVC5|Search\d)[^:]*: (\w+)", line)
        if goal and detail:
            said[detail.group(1)] = detail.group(2)
            continue
        if goal:
            yield goal, said, 0.0
            goal = None
        found = re.match(r"\[wp\] \[(\w+)[^\]]*\] Goal (\S+)(?: : (\w+))?", line)
        if found and found.group(3):
            yield found.group(2), {found.group(1): found.group(3)}, seconds(line)
        elif found:
            goal, said = found.group(2), {}
        else:
            yield None, line.rstrip(), 0.0
    if goal:
        yield goal, said, 0.0


class Run:
    """One run of Frama-C on one function. It stops early when `enough` says so of a goal."""

    def __init__(self, args, path, function, options, enough=lambda goal, said, scheduled: False):
        self.said, self.took, self.scheduled, self.rejecting = {}, {}, 0, None
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
            for goal, said, took in judge_lines(process.stdout):
                if goal is None:
                    self.note(said)
                    ended = ended or re.search(r"Proved goals:|No goal generated", said)
                else:
                    self.said[goal], self.took[goal] = said, took
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
        return [goal for goal, said in self.said.items() if "Valid" not in said.values()]


def end(process):
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def search(args, path, depths):
    """Depths of which a goal's answer is in the build directory's cache if it was asked before."""
    cache = args.build / "prove/mutants-cache" / path.stem
    cache.mkdir(parents=True, exist_ok=True)
    return ["-wp-prover", ",".join(f"search{depth}" for depth in depths), "-wp-timeout", str(SEARCH_S),
            "-wp-cache", "update", "-wp-cache-dir", str(cache)]


def solvers(path, timeout):
    return ["-wp-prover", "z3,cvc5", "-wp-timeout", str(timeout),
            "-wp-cache", "replay", "-wp-cache-dir", str(ROOT / "specs/cache" / path.stem)]


# --- a mutant ---

class Before:
    """How the goals of a function do as it stands; asked once, and only what is needed."""

    def __init__(self, args, path, function, part=()):
        self.args, self.path, self.function, self.part, self.busy = args, path, function, part, threading.Lock()
        self.count, self.found, self.deepest, self.times = 0, None, None, None

    def searched(self):
        """{goal that a search proves, or the simplifier without any: at which depth}"""
        with self.busy:
            if self.found is None:
                options = [*search(self.args, self.path, DEPTHS[:-1]), *self.part]
                run = Run(self.args, self.path, self.function, options)
                self.count, self.found = run.scheduled, {}
                for goal, said in run.said.items():
                    proved = [solver for solver, word in said.items() if word == "Valid"]
                    self.found.update({goal: int(re.sub(r"\D", "", solver) or 1) for solver in proved})
                if not run.problem and not run.unproved():
                    self.deepest = max(self.found.values(), default=None)
            return self.found

    def depth(self, goal, count):
        """At which depth a search proves the goal, and for one that is new all of them; None when it does not."""
        return self.of(self.searched(), goal, count) or self.deepest

    def took(self):
        """{goal: what it took to be proved}"""
        with self.busy:
            if self.times is None:
                run = Run(self.args, self.path, self.function, solvers(self.path, self.args.timeout))
                if run.problem or run.unproved():
                    raise Unproved(f"{self.path}: {self.function} is not proved as it stands: make prove first "
                                   f"({run.problem or ', '.join(run.unproved())})")
                self.times = run.took
            return self.times

    def of(self, goals, goal, count):
        """What is known here of that goal, under the same name. Numbers in names count goals of a kind."""
        return goals.get(goal) if count == self.count or not re.search(r"_(?:part)?\d+$", goal) else None


class Judge:
    """Judges mutants, and remembers how the functions do as they stand. Without a refuter nothing is run."""

    def __init__(self, args, texts, refuter=None):
        self.args, self.texts, self.refuter, self.code, self.base = args, texts, refuter, {}, {}

    def machine_code(self, path):
        """What a compiler makes of it, or None when it does not take it."""
        done = subprocess.run(["gcc", "-std=c17", "-w", "-O2", "-S", "-o", "-", *CPP, str(path)], cwd=ROOT, text=True,
                              capture_output=True, check=False)
        return re.sub(r"^\s*\.file.*$", "", done.stdout, flags=re.M) if done.returncode == 0 else None

    def before(self, path, function, part=()):
        with lock:
            return self.base.setdefault((path, function, part), Before(self.args, path, function, part))

    def counts(self, path, changed):
        """Does it compile, and is it another program?"""
        with lock:
            if path not in self.code:
                self.code[path] = self.machine_code(ROOT / path)
        code = self.machine_code(changed)
        return code is not None and code != self.code[path]

    def verdict(self, mutant, number):
        """(verdict, why, seconds that the solvers had: 0 when none was asked), or None for one that does not count."""
        path = pathlib.Path(mutant.path)
        changed = self.args.work / str(number) / path.name
        changed.parent.mkdir(parents=True, exist_ok=True)
        changed.write_text(mutant.applied(self.texts[path]))
        if not self.counts(path, changed):
            return None
        why = self.refuter and self.refuter.refuted(mutant, changed.parent)
        if why:
            return "refuted", why, 0
        if self.args.quick:
            return "late", "no run refutes it", 0
        found = None if self.args.again else self.by_search(mutant, changed, PROMISES)
        if not found or found[0] == "survived":
            found = self.by_search(mutant, changed)
        return found or self.by_time(mutant, changed, self.args.more if self.args.again else SEARCH_S)

    def by_search(self, mutant, changed, part=()):
        """What the searches make of these goals; None when they leave some of them open."""
        before, left = self.before(pathlib.Path(mutant.path), mutant.function, part), []

        def enough(goal, said, count):
            depth = before.depth(goal, count)
            if not depth or "Valid" in said.values():
                return False
            if any(word == "Unknown" and int(solver[-1]) > depth for solver, word in said.items()):
                return True
            left.append(goal)
            return len(left) >= PATIENCE and not self.args.again

        run = Run(self.args, changed, mutant.function, [*search(self.args, changed, DEPTHS), *part], enough)
        if run.refused or run.rejecting:
            why = run.refused or run.rejecting
            return ("late" if why in left else "rejected"), why, SEARCH_S
        return None if run.problem or run.unproved() else ("survived", "", SEARCH_S)

    def by_time(self, mutant, changed, timeout):
        """What Z3 and cvc5 make of it."""
        before = self.before(pathlib.Path(mutant.path), mutant.function)
        took = before.took()

        def enough(goal, said, count):
            then = before.of(took, goal, count)
            said = set(said.values())
            return "Valid" not in said and ("Unknown" in said or said == {"Timeout"} and
                                            then is not None and then * FACTOR <= timeout)

        run = Run(self.args, changed, mutant.function, solvers(changed, timeout), enough)
        if run.rejecting:
            kind = "rejected" if "Unknown" in run.said[run.rejecting].values() else "outrun"
            return kind, run.rejecting, timeout
        if run.problem or run.unproved():
            return "late", run.problem or ", ".join(run.unproved()), timeout
        return "survived", "", timeout


# --- which, and the table ---

@functools.cache
def here(path):
    return (ROOT / path).read_text() if (ROOT / path).exists() else ""


def included(text, read):
    """The headers of a file, those first that it includes itself."""
    found, sources = [], [text]
    while sources:
        for header in re.findall(r'^#include "(\S+\.h)"', sources.pop(0), flags=re.M):
            if f"src/{header}" not in found:
                found.append(f"src/{header}")
                sources.append(read(f"src/{header}"))
    return found


def digest(text, function, read=here):
    """Of a function's text with its contract, in the file and in its headers."""
    parts = [text[function.first:function.end]]
    for header in included(text, read):
        declared = read(header)
        for found in re.finditer(rf"\b{function.name}\(", mutations.code_of(declared)):
            comment = declared.rfind("/*@", 0, found.start())
            parts.append(declared[max(comment, 0):found.start()])
    return hashlib.sha256(" ".join(" ".join(parts).split()).encode()).hexdigest()[:16]


@functools.cache
def text_at(commit, path):
    done = subprocess.run(["git", "show", f"{commit}:./{path}"], cwd=ROOT, text=True, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else ""


class Table:
    def __init__(self, path, keep=False):
        self.path, self.keep, self.files = path, keep, {}
        self.read()

    def read(self):
        if self.path and self.path.exists():
            self.files = json.loads(self.path.read_text())["files"]

    def entry(self, path, function):
        return self.files.get(str(path), {}).get(function, {})

    def stands(self, path, text, function):
        """Was the function judged as it is?"""
        return self.entry(path, function.name).get("digest") == digest(text, function)

    def why(self, mutant):
        """The explanation of a survivor, or nothing."""
        return self.entry(mutant.path, mutant.function).get("survived", {}).get(mutant.key, "")

    def change(self, path, function, make):
        """Replaces an entry by what `make` makes of it. Others may have written meanwhile, explanations above all."""
        if not self.path or self.keep:
            return
        guard = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(guard, fcntl.LOCK_EX)
            self.read()
            self.files.setdefault(str(path), {})[function] = make(self.entry(path, function))
            self.path.write_text(json.dumps({"files": self.files}, indent=1, sort_keys=True) + "\n")
        finally:
            os.close(guard)

    def write(self, path, function, mark, judged, took=0.0):
        """Of a whole function: judged is [(mutant, verdict, seconds that the solvers had)]."""
        def make(before):
            whys = before.get("survived", {})
            of = {kind: [m.key for m, verdict, _ in judged if verdict == kind] for kind in KINDS}
            had = {m.key: seconds for m, _, seconds in judged}
            return {"digest": mark, "mutants": len(judged), "rejected": len(of["rejected"]),
                    "refuted": len(of["refuted"]),
                    "seconds": round(took / max(len(judged), 1), 1),
                    "outrun": {key: had[key] for key in of["outrun"]}, "late": {key: had[key] for key in of["late"]},
                    "survived": {key: whys.get(key, "") for key in of["survived"]}}

        self.change(path, function, make)

    def judged_again(self, mutant, verdict, had):
        """Of one that was outrun or late."""
        def make(entry):
            if verdict == "late" and not had:
                return entry  # nobody was asked
            entry["outrun"].pop(mutant.key, None)
            entry["late"].pop(mutant.key, None)
            if verdict in ("refuted", "rejected"):
                entry[verdict] = entry.get(verdict, 0) + 1
            elif verdict == "survived":
                entry["survived"][mutant.key] = ""
            else:
                entry[verdict][mutant.key] = had
            return entry

        self.change(mutant.path, mutant.function, make)

    def prune(self, texts):
        """Forgets what is not as it was judged; how many functions there are, and how many are here."""
        there = known = 0
        for path, text in texts.items():
            found = {f.name: f for f in mutations.functions(text)}
            kept = {name: entry for name, entry in self.files.pop(str(path), {}).items()
                    if name in found and entry["digest"] == digest(text, found[name])}
            self.files.update({str(path): kept} if kept else {})
            there, known = there + len(found), known + len(kept)
        return there, known

    def total(self):
        """(mutants, refuted, rejected, outrun, late, survived) of the whole table."""
        entries = [entry for functions in self.files.values() for entry in functions.values()]
        return (*(sum(e.get(kind, 0) for e in entries) for kind in ("mutants", "refuted", "rejected")),
                *(sum(len(e[kind]) for e in entries) for kind in ("outrun", "late", "survived")))

    def unexplained(self):
        return sum(not why for functions in self.files.values() for e in functions.values()
                   for why in e["survived"].values())

    def __str__(self):
        mutants, refuted, rejected, outrun, late, survived = self.total()
        share = 100 * (refuted + rejected) / max(mutants, 1)
        return (f"{mutants} mutants, {refuted} refuted and {rejected} rejected ({share:.1f} %), {outrun} outrun, "
                f"{late} late, {survived} survived, {self.unexplained()} of these not explained")


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
                         for function, found in mutations.mutants_of(path, text)),
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
    for process in list(started):
        end(process)
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
    args.env = environment(args.build)
    args.work = args.build / "prove/mutant" / str(os.getpid())  # others may be at work in the same directory
    atexit.register(shutil.rmtree, args.work, ignore_errors=True)
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
