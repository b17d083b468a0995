#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Only the files of core_users.txt know the core (kernel, policy) outside of it, and each as little as it says. A line
is a kind and a file:

  types  includes headers of the core, for types and constants alone
  reads  uses functions that change nothing of the core (their contracts say `assigns \\nothing`), to name, show or check
  asks   uses functions of policy that decide on plain values: policy/verdicts, and those of restraint.h that are pure
  calls  uses functions that change the core, and others

A file that includes a header of the core, or whose object uses one of its functions, without such a line fails; so does
a line that says more than the file needs. layers.awk takes the files of other rooms than the engine from here as well.

usage: core_users.py BUILD"""
import pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LISTED = ROOT / "tests/lint/core_users.txt"
ROOMS = ("engine", "controllers", "cli")
CORE = ("kernel", "policy")
PURE = ("policy/verdicts/", "policy/preemption/restraint.h")
INCLUDE = re.compile(r'^\s*#\s*include\s+"((?:kernel|policy)/[^"]+)"', re.M)
PROTOTYPE = re.compile(r"/\*@((?:(?!\*/).)*)\*/\s*(?!typedef|extern)[a-z][\w \t\*]*?\b(sl_\w+)\(", re.S)


def kinds_of_functions():
    """The kind that a user of each public function has to have."""
    kinds = {}
    for room in CORE:
        for path in sorted((ROOT / "src" / room).glob("**/*.h")):
            name = str(path.relative_to(ROOT / "src"))
            for contract, function in PROTOTYPE.findall(path.read_text()):
                nothing = re.search(r"\bassigns\s+\\nothing\s*;", contract)
                kinds[function] = "asks" if name.startswith(PURE) and nothing else "reads" if nothing else "calls"
    # Assigns the caller's arrays alone.
    kinds["sl_pod_places_find"] = "asks"
    return kinds


def symbols(option, objects):
    """(object, symbol) of each line of nm."""
    out = subprocess.run(["nm", "-A", option, *map(str, objects)], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        where, _, rest = line.rpartition(":")
        fields = rest.split()
        if option == "-u" or fields[-2] == "T":
            yield where, fields[-1]


def needs(build):
    """The kinds that each file needs; {} for one that includes headers alone."""
    found = {}
    for room in ROOMS:
        for path in sorted((ROOT / "src" / room).glob("**/*.[ch]")):
            if INCLUDE.search(path.read_text()):
                found[str(path.relative_to(ROOT / "src"))] = set()
    kinds = kinds_of_functions()
    core = {s for _, s in symbols("--defined-only", [o for r in CORE for o in sorted((build / r).glob("**/*.o"))])}
    sources = {str((build / p.relative_to(ROOT / "src")).with_suffix(".o")): str(p.relative_to(ROOT / "src"))
               for r in ROOMS for p in sorted((ROOT / "src" / r).glob("**/*.c"))}
    for where, symbol in symbols("-u", [o for o in sources if pathlib.Path(o).exists()]):
        if symbol in core:
            found.setdefault(sources[where], set()).add(kinds.get(symbol, "calls"))
    return found


def main(build):
    problems, listed = [], {}
    for line in LISTED.read_text().splitlines():
        kind, *files = line.split("#")[0].split() or [None]
        for file in files:
            listed.setdefault(file, set()).add(kind)
    found = needs(build)
    for file in sorted(set(found) | set(listed)):
        need = found.get(file)
        has = listed.get(file, set())
        if need is None:
            problems.append(f"{file} needs nothing of the core: strike it out")
            continue
        need = need - {"reads"} if "calls" in need else need or {"types"}
        problems += [f"{file} {kind} of the core: list it so" for kind in sorted(need - has)]
        problems += [f"{file} is listed as {kind}, and needs less" for kind in sorted(has - need)]
    for problem in problems:
        print(f"core_users.txt: {problem}")
    count = {kind: sum(kind in kinds for kinds in listed.values()) for kind in ("types", "reads", "asks", "calls")}
    print(f"core users: {len(listed)} files: " + ", ".join(f"{n} {kind}" for kind, n in count.items()))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
