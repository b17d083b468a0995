#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""A file of policy owns arrays that no header can name, and its functions ask for an invariant of theirs that callers
do not show (docs/soundness.md, "hidden"). That it holds at every call rests on four things: the state at the start has
it (specs/prove/starts.py proves that), no other file can write what it speaks of without keeping it, and the rules here.

  keeps      a function that may write what such an invariant speaks of ensures it
  reenters   no chain of calls that leaves a file of the core comes back into it, where an invariant may be broken
             half-way; a file without variables of its own may be come back into
  indirect   the core calls no function by a pointer, so that the chains are all there are

usage: hidden_state.py BUILD [--print]     (--print lists the invariants, file by file)"""
import collections, concurrent.futures, functools, os, pathlib, re, subprocess, sys
import two_contracts as contracts

ROOT = pathlib.Path(".")


class Core:
    """The texts of the core, and what its predicates speak of."""

    def __init__(self):
        self.problems = []
        headers = [p for room in ("kernel", "policy") for p in sorted((ROOT / "src" / room).rglob("*.h"))]
        self.headers = {p: p.read_text() for p in headers}
        self.specs = [p.read_text() for p in sorted((ROOT / "specs").glob("*.acsl"))]
        self.sources = {p: p.read_text() for p in sorted((ROOT / "src/policy").rglob("*.c"))}
        self.predicates = contracts.predicates_of([*self.headers.values(), *self.specs])
        self.declared = {}
        for text in self.headers.values():
            self.declared.update(contracts.contracts_of(text))
        self.direct = {path: writes_itself(text) for path, text in self.sources.items()}
        self.kernels = externs(text for path, text in self.headers.items() if "kernel" in path.parts)
        self.shared = externs(self.headers.values()) - self.kernels

    def macros(self, text):
        return contracts.macros_of([*self.headers.values(), *self.specs, text])

    def speaks_of(self, predicate, text):
        return contracts.reach(predicate, {**self.predicates, **contracts.predicates_of([text])})

    def asking(self, invariant):
        return {path for path in self.sources if invariant in self.invariants(path)}

    @functools.lru_cache(None)
    def invariants(self, path):
        """What public functions of a .c ask for, and their headers do not say: {name as it is asked for}."""
        found = set()
        for name, (contract, _) in contracts.contracts_of(self.sources[path]).items():
            if name in self.declared:
                stands = conjuncts(self.declared[name][0], "requires")
                found |= conjuncts(contract, "requires") - stands
        return found


def externs(texts):
    return {v for text in texts for v in re.findall(r"\bextern [^;(]*?\b(\w+)\s*(?:\[[^;]*)?;", text)}


def writes_itself(text):
    """The variables that a file's own code may write: on the left of an assignment, or where their address is taken."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    left = r"\b(\w+)(?:\[[^;=]*?\]|\.\w+)*\s*(?:[-+*/|&^%]?=(?!=)|\+\+|--)"
    return set(re.findall(left, code)) | set(re.findall(r"(?:&|\bmem(?:set|cpy|move)\()(\w+)", code))


def conjuncts(contract, kind):
    return {part.strip() for clause in contracts.clauses(contract, kind) for part in clause.split("&&")}


def functions_of(core, path):
    """What each public function that a file defines may write, and all that it ensures: [(name, written, ensured)]."""
    text, macros, found = core.sources[path], core.macros(core.sources[path]), []
    own = contracts.contracts_of(text)
    predicates = {**core.predicates, **contracts.predicates_of([text])}
    for name in re.findall(r"^[a-z][\w \t*]*?\b(\w+)\([^;{}]*\)\s*\{", text, flags=re.M):
        if name in core.declared:
            both = [own.get(name, ("", set()))[0], core.declared[name][0]]
            writes = list(contracts.clauses(both[0], "assigns")) or list(contracts.clauses(both[1], "assigns"))
            words = {w for c in both for clause in contracts.clauses(c, "ensures") for w in contracts.words(clause)}
            found.append((name, set().union(set(), *(contracts.bases(w, macros) for w in writes)),
                          set().union(set(), *(contracts.reach(w, predicates) for w in words))))
    return found


def check_keeps(core, functions, users, path, invariant):
    """Of this file's functions, and of the others' where it speaks of variables that several files share; but for those
    that are called only by functions of files that ask for the invariant, and so have to bring it back themselves."""
    name = re.match(r"\w+", invariant).group()
    speaks = core.speaks_of(name, core.sources[path])
    for other, its in functions.items():
        about = (speaks if other == path else speaks & core.shared & core.direct[other]) - core.kernels
        for function, writes, ensured in its:
            hit = writes & about
            kept = set().union(set(), *(core.speaks_of(q, core.sources[path]) for q in speaks & ensured if name in ensured or q in core.predicates))
            helps = users.get(function) and users[function] <= core.asking(invariant)
            if hit - kept and not helps:
                core.problems.append(f"{other}: keeps: {function} may write {', '.join(sorted(hit))} and does not ensure {invariant}")


def call_graph(build, path):
    """{function: functions it calls}, and which of them the file has, as the compiler sees them without inlining."""
    out = build / "lint" / "_".join(path.with_suffix(".o").parts)
    out.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-std=c17", "-D_GNU_SOURCE", "-Isrc", "-I.", "-O0", "-fcallgraph-info", "-c", str(path), "-o", str(out)],
                   check=True)
    text = out.with_suffix(".ci").read_text()
    nodes = re.findall(r'node: \{ title: "([^"]+)" label: "[^"\\]*\\n([^:"]+):\d+:\d+"( shape : ellipse)?', text)
    has = {title for title, file, elsewhere in nodes if not elsewhere and file == str(path)}
    calls = collections.defaultdict(set)
    for source, target in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', text):
        calls[source].add(target)
    return has, calls


def graph_of(build):
    """{function: the file that has it}, {function: functions that it calls}."""
    files = [p for room in ("src/kernel", "src/policy") for p in sorted((ROOT / room).rglob("*.c"))]
    home, calls = {}, collections.defaultdict(set)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, (has, edges) in zip(files, pool.map(lambda p: call_graph(build, p), files)):
            home.update(dict.fromkeys(has, path))
            for source, targets in edges.items():
                calls[source] |= targets
    return home, dict(calls)


def check_chains(core, home, calls):
    from_each = {}
    for source, targets in sorted(calls.items()):
        if "__indirect_call" in targets:
            core.problems.append(f"indirect: {source} calls by a pointer")
        for target in sorted(t for t in targets if t in home and home.get(source) not in (None, home[t])):
            if target not in from_each:
                from_each[target] = reached(calls, target)
            back = sorted(f for f in from_each[target] if home.get(f) == home[source])
            if back and has_state(home[source]):
                core.problems.append(f"{home[source]}: reenters: {source} calls {target}, which comes back to {back[0]}")


def reached(calls, start):
    seen, left = {start}, [start]
    while left:
        for target in calls.get(left.pop(), set()) - seen:
            seen.add(target)
            left.append(target)
    return seen


def has_state(path):
    return re.search(r"^(?:static )?(?:const )?(?:struct |enum )?\w+ \w+(?:\[[^;=()]*\])*;", path.read_text(), flags=re.M)


def users_of(home, calls):
    """{function: the other files that call it}."""
    users = collections.defaultdict(set)
    for source, targets in calls.items():
        for target in targets:
            if target in home and home.get(source) != home[target]:
                users[target].add(home.get(source))
    return users


def check(build):
    core = Core()
    home, calls = graph_of(build)
    users = users_of(home, calls)
    functions = {path: functions_of(core, path) for path in core.sources}
    for path in core.sources:
        for invariant in sorted(core.invariants(path)):
            check_keeps(core, functions, users, path, invariant)
    check_chains(core, home, calls)
    return core


def main():
    core = check(pathlib.Path(sys.argv[1]))
    for path in core.sources if "--print" in sys.argv else ():
        if core.invariants(path):
            print(f"{path}: {', '.join(sorted(core.invariants(path)))}")
    for problem in core.problems:
        print(f"hidden state: {problem}")
    count = sum(len(core.invariants(path)) for path in core.sources)
    print(f"hidden state: {count} invariants, {len(core.problems)} problems")
    return bool(core.problems) or not count


if __name__ == "__main__":
    sys.exit(main())
