# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""What the tools have said, read from their outputs. A source that is not there is None: not run. Each kind of
evidence answers for one guarantee: (strength from 0 to 1 or None, short text, long text), None for "not run"; a text
of "" says that this kind has nothing about the guarantee."""
import json, math, pathlib, re

EXECUTIONS_FULL = 1e8  # as many executions fill a cell; fewer fill it by their logarithm
SEEDS_FULL = 10000
LAST = re.compile(r"(\d+) passed, (\d+) failed")


def load(path):
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None


def stage(build, name):
    """(passed, failed) of a stage's log, None when it has not run or has not ended."""
    path = build / "ci" / f"{name}.log"
    found = LAST.findall(path.read_text(errors="replace")) if path.exists() else []
    return (int(found[-1][0]), int(found[-1][1])) if found else None


def guarantees(path):
    """Rows of the table of guarantees: id, text, functions, what it says of proofs."""
    rows = {}
    for line in path.read_text().splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) == 5 and re.fullmatch(r"G\d+", cells[0]):
            rows[cells[0]] = {"text": cells[1], "functions": re.findall(r"`(\w+)`", cells[3]), "proof": cells[4]}
    return rows


def big(number):
    for size, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}".rstrip("0").rstrip(".") + f" {name}"
    return str(number)


def part(good, total):
    return good / total if total else 0.0


class Proof:
    title, unit, path, command = "proof", "goals proved", "specs/manifest.json", "make prove"

    def __init__(self, root, build):
        self.data = load(root / self.path)
        files = self.data["files"].items() if self.data else []
        self.functions = {name: dict(counts, file=file) for file, f in files for name, counts in f["functions"].items()}

    def says(self, _, row):
        known = [self.functions[f] for f in row["functions"] if f in self.functions]
        goals, proved = sum(k["goals"] for k in known), sum(k["proved"] for k in known)
        if not row["functions"]:
            return 0.0, "", "no function carries it"
        whole = row["proof"].startswith("proved") and not row["proof"].startswith("proved in part")
        missing = len(row["functions"]) - len(known)
        text = f"{proved} of {goals} goals of {len(known)} functions proved"
        text += f", {missing} functions without proof" if missing else ""
        text += "" if whole else "; " + row["proof"]
        return part(proved, goals) * part(len(known), len(row["functions"])) * (1.0 if whole else 0.6), f"{proved}", text

    def overall(self):
        return f"{self.data['proved']} of {self.data['goals']} goals in {len(self.data['files'])} files"


class Mutants:
    title, unit, path, command = "mutants", "rejected", "specs/mutants.json", "make prove-mutants"

    def __init__(self, root, build):
        self.data = load(root / self.path)
        files = self.data["files"].values() if self.data else []
        self.functions = {name: counts for f in files for name, counts in f.items()}

    def says(self, _, row):
        known = [self.functions[f] for f in row["functions"] if f in self.functions]
        if not known:
            return 0.0, "", "no function of the row was judged"
        made, killed = sum(k["mutants"] for k in known), sum(map(self.killed, known))
        text = f"{killed} of {made} mutants rejected, in {len(known)} of the row's {len(row['functions'])} functions"
        return part(killed, made) * part(len(known), len(row["functions"])), f"{killed}", text

    def overall(self):
        made = sum(k["mutants"] for k in self.functions.values())
        killed = sum(map(self.killed, self.functions.values()))
        return f"{killed} of {made} mutants of {len(self.functions)} functions rejected"

    @staticmethod
    def killed(counts):
        """By a goal that is not proved any more, or that a run shows to be false."""
        return counts["rejected"] + counts.get("refuted", 0)


class Models:
    title, unit, path, command = "models", "states", "BUILD/model.json", "make model"

    def __init__(self, root, build):
        self.data = load(build / "model.json")
        self.runs = self.data["runs"] if self.data else []

    def says(self, guarantee, _):
        runs = [r for r in self.runs if not r["variant"] and guarantee in r["guarantees"]]
        good = [r for r in runs if r["passed"]]
        if not runs:
            return 0.0, "", "no property of a model is about it"
        states = sum(r.get("states", 0) for r in good)
        return part(len(good), len(runs)), big(states), f"{len(good)} of {len(runs)} properties hold in {states} states"

    def overall(self):
        bad = [r for r in self.runs if r["variant"]]
        held = [r for r in self.runs if not r["variant"]]
        return (f"{sum(r['passed'] for r in held)} of {len(held)} properties hold, "
                f"{sum(r['passed'] for r in bad)} of {len(bad)} known-bad variants refuted")


class Rules:
    """Guarantees that are checked after every step, by name of the list of rules."""

    def __init__(self, root):
        text = (root / "src/policy/guarantees/guarantee_rules.def").read_text()
        self.count = {}
        for number in re.findall(r"^SL_RULE\(\w+, (\d+),", text, re.MULTILINE):
            self.count[f"G{number}"] = self.count.get(f"G{number}", 0) + 1


class Fuzz:
    title, unit, path, command = "fuzzing", "executions", "BUILD/fuzz.json", "make fuzz"

    def __init__(self, root, build):
        self.data = load(build / "fuzz.json")
        self.rules = Rules(root)
        self.checked = {p.name[:-len("_fuzz.c")] for p in (root / "fuzz").glob("*_fuzz.c")
                        if re.search(r"fuzz_guarantees_|fuzz/lib/world\.h", p.read_text())}

    def says(self, guarantee, _):
        rules = self.rules.count.get(guarantee, 0)
        if not rules:
            return 0.0, "", "no rule is checked after a step"
        runs = [r for r in self.data if r["target"] in self.checked]
        done, crashes = sum(r["executions"] for r in runs), sum(r["crashes"] or 0 for r in runs)
        strength = 0.0 if crashes or not done else min(1.0, math.log10(done) / math.log10(EXECUTIONS_FULL))
        targets = ", ".join(sorted({r["target"] for r in runs}))
        short = f"{crashes} crashes" if crashes else big(done)
        return strength, short, f"{rules} rules after each step of {done} executions ({targets}), {crashes} crashes"

    def overall(self):
        rates = ", ".join(f"{r['target']} {r['rate']:.0f}" + (f" ({r['engine']})" if r.get("engine") != "libfuzzer" else "")
                          for r in sorted(self.data, key=lambda r: r["target"]) if r.get("rate"))
        refused = sum(r.get("refused") or 0 for r in self.data)
        return (f"{sum(r['executions'] for r in self.data)} executions of {len({r['target'] for r in self.data})} targets, "
                f"{sum(r['crashes'] or 0 for r in self.data)} crashes"
                + (f", {refused} plans of policy refused by the kernel, each for a reason that is known" if refused else "")
                + (f"; executions a second: {rates}" if rates else ""))


SIMULATED = (("writes_refused", "writes refused"), ("answers_lost", "answers lost"), ("reads_refused", "reads refused"),
             ("disk_errors", "disk errors"), ("syncs_that_lied", "syncs that lied"), ("deaths_power", "power cuts"),
             ("deaths_in_a_commit", "torn commits"), ("clock_jumps", "clock jumps"))


class Simulator:
    title, unit, path, command = "simulator", "seeds", "BUILD/sim.json", "make sim"

    def __init__(self, root, build):
        self.data = load(build / "sim.json")
        ended = stage(build, "sim")
        if self.data is None and ended:
            self.data, self.path = {"seeds": sum(ended), "failed": ended[1]}, "BUILD/ci/sim.log"
        self.replicas = load(build / "sim_replicas.json") or {"seeds": 0, "failed": 0}
        self.rules = Rules(root)

    def says(self, guarantee, _):
        rules = self.rules.count.get(guarantee, 0)
        if not rules:
            return 0.0, "", "no rule is checked after a step"
        seeds, failed = (self.data[key] + self.replicas[key] for key in ("seeds", "failed"))
        strength = 0.0 if failed or not seeds else min(1.0, math.log10(1 + seeds) / math.log10(1 + SEEDS_FULL))
        return strength, f"{failed} failed" if failed else big(seeds), f"{rules} rules after each step of {seeds} seeds, {failed} failed"

    def overall(self):
        text = f"{self.data['seeds']} seeds, {self.data['failed']} failed"
        if "tally" in self.data:  # a stage's log says no more than that
            tally = self.data["tally"]
            deaths = sum(n for name, n in tally.items() if name.startswith("deaths_"))
            text += (f"; {self.data['virtual_hours']:.0f} virtual hours in {self.data['cpu_s'] / 3600:.2f} h of CPU time, "
                     f"{tally['decisions']} decisions, {deaths} deaths of the process, faults: ")
            text += ", ".join(f"{tally[name]} {words}" for name, words in SIMULATED)
            worlds = [(name, n) for name, n in tally.items() if name.startswith("worlds_")]
            text += "".join(f"{'; ' if i == 0 else ', '}{n} {name.replace('_', ' ')}" for i, (name, n) in enumerate(worlds))
        return text + "; with two replicas {seeds} seeds, {failed} failed".format(**self.replicas)


class Defects:
    title, unit, path, command = "defects", "rejected", "BUILD/defects.json", "make defects"

    def __init__(self, root, build):
        self.data = load(build / "defects.json")
        self.known = {}
        for path in sorted((root / "tests/defects").glob("*.patch")):
            found = re.search(r"^# Guarantee: (.*)$", path.read_text(), re.MULTILINE)
            self.known[path.stem] = found.group(1) if found else ""

    def says(self, guarantee, _):
        names = [n for n, g in self.known.items() if g == guarantee]
        if not names:
            return 0.0, "", "no seeded defect breaks it"
        ran = [self.data["defects"][n] for n in names if n in self.data["defects"]]
        good = [r for r in ran if r["ok"]]
        by = ", ".join(sorted({r["rejected_by"] for r in good}))
        text = f"{len(good)} of {len(names)} seeded defects rejected, {len(names) - len(ran)} not asked about"
        return part(len(good), len(names)), f"{len(good)}/{len(names)}", text + (f": {by}" if by else "")

    def overall(self):
        ran = self.data["defects"].values()
        return f"{sum(r['ok'] for r in ran)} of {len(self.known)} seeded defects rejected, {len(ran)} asked about"


KINDS = (Proof, Mutants, Models, Fuzz, Simulator, Defects)
# Of the whole, not of one guarantee: a stage's log in BUILD/ci, how it is made, what is counted.
STAGES = (("conformance", "make conformance", "recorded outcomes of Kueue"), ("unit", "make unit", "unit tests and scenarios"),
          ("asan", "make asan", "unit tests under sanitizers"), ("e2e", "make e2e-standalone", "tests with a real kubectl"),
          ("cluster", "make cluster-e2e", "tests on a real control plane"), ("crash", "make crash", "crashes under load"),
          ("eva", "make eva", "parsers that Eva looks at, and its canaries"),
          ("cbmc", "make cbmc", "small instances of the core that CBMC looks at, and its canaries"))


def smoke(root):
    """What passed the search for contradictions and dead code."""
    data = load(root / "specs/smoke.json")
    return data and f"{sum(f['tests'] for f in data['files'].values())} smoke tests in {len(data['files'])} files"


def swaps(root):
    """What became of words of one type taken for each other."""
    data = load(root / "specs/swaps.json")
    entries = [entry for functions in data["files"].values() for entry in functions.values()] if data else []
    rejected = sum(entry["rejected"] + entry["refuted"] for entry in entries)
    return data and f"{rejected} of {sum(e['mutants'] for e in entries)} changes rejected, {sum(len(e['survived']) for e in entries)} survived"


def both(root):
    """What two solvers prove, each for itself."""
    data = load(root / "specs/both.json")
    entries = [entry for functions in data["files"].values() for entry in functions.values()] if data else []
    alone = sum(count for entry in entries for solver in ("z3", "cvc5") for count in entry[solver].values())
    left = sum(entry["goals"] - entry["simplified"] for entry in entries)
    return data and (f"both solvers prove {left - alone} of {left} goals of {len(entries)} functions that need one; "
                     f"{alone} are proved by one alone")


def kinds_of_defects(root):
    """What instruments say of defects whose patches do not name them."""
    data = load(root / "tests/defects/matrix.json")
    said = [said["verdict"] for entry in (data or {}).values() for said in entry["columns"].values()]
    return data and f"{len(said)} answers of whole kinds about {len(data)} defects, {said.count('rejected')} times rejected"


# What is kept in the repository beside the proofs: title, what it says, where, made by.
RECORDS = (("smoke tests", smoke, "specs/smoke.json", "make prove-smoke"),
           ("swapped words", swaps, "specs/swaps.json", "make prove-mutants SWAPS=1"),
           ("two solvers", both, "specs/both.json", "make prove-both"),
           ("defects by kind", kinds_of_defects, "tests/defects/matrix.json", "make defects-matrix"))
