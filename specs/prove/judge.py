# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""What the proofs say of a mutant; mutants.py tells what the verdicts mean."""
import pathlib, re, subprocess, threading

from framac import CPP, DEPTHS, ROOT, Run, SEARCH_S, search, solvers

PROMISES = ("-wp-prop=@ensures,@invariant,@assert",)
PATIENCE = 2  # goals at which no search ends, until a mutant is left for --again
FACTOR = 20


class Unproved(Exception):
    pass


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
                run = Run(self.args, self.path, self.function, solvers(self.args, self.path, self.args.timeout))
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
        self.lock = threading.Lock()

    def machine_code(self, path):
        """What a compiler makes of it, or None when it does not take it."""
        done = subprocess.run(["gcc", "-std=c17", "-w", "-O2", "-S", "-o", "-", *CPP, str(path)], cwd=ROOT, text=True,
                              capture_output=True, check=False)
        return re.sub(r"^\s*\.file.*$", "", done.stdout, flags=re.M) if done.returncode == 0 else None

    def before(self, path, function, part=()):
        with self.lock:
            return self.base.setdefault((path, function, part), Before(self.args, path, function, part))

    def counts(self, path, changed):
        """Does it compile, and is it another program?"""
        with self.lock:
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

        run = Run(self.args, changed, mutant.function, solvers(self.args, changed, timeout), enough)
        if run.rejecting:
            kind = "rejected" if "Unknown" in run.said[run.rejecting].values() else "outrun"
            return kind, run.rejecting, timeout
        if run.problem or run.unproved():
            return "late", run.problem or ", ".join(run.unproved()), timeout
        return "survived", "", timeout
