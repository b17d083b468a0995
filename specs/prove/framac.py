# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Runs of Frama-C on one function with solvers of one's own, read line by line while they go on."""
import os, pathlib, re, shutil, signal, subprocess, threading
import answers

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CPP = ["-Isrc", "-I."]
SEARCH = "smt.auto_config=false smt.mbqi=false smt.case_split=3 smt.delay_units=true smt.arith.solver=2 " \
         "smt.qi.eager_threshold={0} smt.qi.lazy_threshold={0} pi.arith_weight=0 pi.non_nested_arith_weight=0"
DEPTHS = 1, 2, 3, 4
DEPTHS = 1, 2, 3, 4
SEARCH_S = 5
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


def environment(directory):
    """Why3 with Z3, cvc5, and the searches that end. Only Why3 stops them, when their processor time is used up. Written
    to files in that directory."""
    plain, conf = directory / "why3.conf", directory / "mutants.conf"
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


def end_all():
    for process in list(started):
        end(process)


def search(args, path, depths):
    """Depths of which a goal's answer is in the build directory's cache if it was asked before."""
    cache = args.build / "prove/mutants-cache" / path.stem
    cache.mkdir(parents=True, exist_ok=True)
    return ["-wp-prover", ",".join(f"search{depth}" for depth in depths), "-wp-timeout", str(SEARCH_S),
            "-wp-cache", "update", "-wp-cache-dir", str(cache)]


def solvers(args, path, timeout):
    return ["-wp-prover", "z3,cvc5", "-wp-timeout", str(timeout),
            "-wp-cache", "replay", "-wp-cache-dir", str(answers.directory(args.build, path.stem))]
