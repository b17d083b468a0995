#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""The state that the program starts with has every invariant that a file of policy keeps of its own arrays
(tests/lint/hidden_state.py says which these are). For each such file a theorem is written behind its text, and
those that define what it shares with others: an empty function that is the program's entry ensures them, where WP
knows of every variable that C begins with zero. What an invariant says of the kernel is left to
specs/theorems/start.c. Nothing is cached: each run asks the solvers.

usage: starts.py --build DIR [--jobs N] [FILE..]      The last line is "N goals, N proved"."""
import argparse, concurrent.futures, os, pathlib, re, subprocess, sys
import prove

sys.path.insert(0, str(prove.ROOT / "tests/lint"))
import two_contracts as contracts
import hidden_state

LIMIT_S = 120


def parts(core, text, invariant):
    """Its conjuncts that speak of policy's own state, and those that speak of the kernel's."""
    bodies = {name: body for t in [*core.headers.values(), *core.specs, text] for name, body in contracts.bodies_of(t).items()}
    plain = [c.strip() for c in bodies.get(invariant, "").split("&&")]
    if not all(re.fullmatch(r"\w+", c) for c in plain):
        plain = [invariant]
    foreign = {c for c in plain if core.speaks_of(c, text) & core.kernels}
    return [c for c in plain if c not in foreign], sorted(foreign)


def definers(core, text, invariants, path):
    """Files that define what the invariants share with others."""
    speaks = set().union(set(), *(core.speaks_of(i, text) for i in invariants)) & core.shared
    return [p for p, t in core.sources.items() if p != path
            and any(re.search(rf"^(?!extern|static)[a-z][\w ]*\b{v}(?:\[[^;]*)?;", t, flags=re.M) for v in speaks)]


def theorem(core, path, build):
    """The file to be proved, and what is left to the kernel's own theorem."""
    text, own, foreign = core.sources[path], [], []
    for invariant in sorted(i for i in core.invariants(path) if re.fullmatch(r"\w+", i)):
        ours, theirs = parts(core, text, invariant)
        own += [c for c in ours if c not in own]
        foreign += theirs
    lines = [f'#include "{p.relative_to("src")}"' for p in [*definers(core, text, own, path), path]]
    lines += ["/*@", "  terminates \\true;", "  exits \\false;", "  assigns \\nothing;"]
    lines += [f"  ensures {name}: {name};" for name in own]
    lines += ["*/", "void theorem_starts_sound(void)", "{", "}", ""]
    out = build / "prove/starts" / "_".join(path.parts)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines))
    return out, own, sorted(set(foreign))


def ask(path, env):
    """(goals, proved, what was said that should not have been)"""
    log = prove.run(["frama-c", *prove.OPTIONS, "-wp-prover", "z3,cvc5", "-wp-timeout", "20", "-main", "theorem_starts_sound",
                     "-wp-fct", "theorem_starts_sound", str(path)], LIMIT_S, env)
    total = re.search(r"Proved goals:\s+(\d+) / (\d+)", log)
    said = [line for line in log.splitlines() if prove.UNPROVED.search(line) or "Error" in line]
    return (int(total.group(2)), int(total.group(1)), said) if total else (1, 0, said + ["no goal was found"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    core, goals, proved = hidden_state.Core(), 0, 0
    env = prove.environment(args.build)
    started = (prove.ROOT / "specs/theorems/start.c").read_text()
    files = [p for p in core.sources if core.invariants(p) and p in (args.files or core.sources)]
    theorems = {p: theorem(core, p, args.build) for p in files}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        answers = pool.map(lambda p: ask(theorems[p][0], env), files)
        for path, (all_of_them, some, said) in zip(files, answers):
            foreign = theorems[path][2]
            said += [f"{name} is not in specs/theorems/start.c" for name in foreign
                     if not any(name in core.speaks_of(w, started) for w in contracts.words(started))]
            goals, proved = goals + all_of_them, proved + (some if not said else 0)
            for line in said:
                print(f"  {path}: {line}")
    print(f"{goals} goals, {proved} proved")
    return goals != proved or not goals


if __name__ == "__main__":
    sys.exit(main())
