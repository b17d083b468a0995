#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""What of the core nobody reaches, against the list that explains it.

usage: coverage.py EXPORT.json EXPORT.lcov EXPLAINED     llvm-cov's exports as json and as lcov; fuzz/unreached.txt

Prints lines and branches a room, then a file each what is not reached and not explained, in the words of the list,
and what is explained and yet reached, or not there at all. Either fails.
"""
import collections
import json
import pathlib
import re
import sys

NEVER = "never called"


def in_src(path):
    """Room, folder and file."""
    parts = pathlib.Path(path).parts
    return "/".join(parts[len(parts) - parts[::-1].index("src"):])


def percent(covered, count):
    return 100 * covered / count if count else 100.0


class Source:
    """A file of the core: its text, how often each line ran, and how far its functions go."""

    def __init__(self, path):
        self.name = in_src(path)
        self.text = path.read_text().splitlines()
        self.lines = {}
        self.functions = []
        self.totals = []

    def words(self, line, column, end, end_column):
        if line == end:
            found = self.text[line - 1][column - 1:end_column - 1]
        else:
            found = " ".join([self.text[line - 1][column - 1:], *self.text[line:end - 1],
                              self.text[end - 1][:end_column - 1]])
        return re.sub(r"\s+", " ", found).strip()


def read_lines(path, sources):
    current = None
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("SF:"):
            current = sources.get(line[3:])
        elif line.startswith("DA:") and current is not None:
            number, count = line[3:].split(",")[:2]
            current.lines[int(number)] = int(count)


def read_export(path, sources):
    data = json.loads(pathlib.Path(path).read_text())["data"][0]
    for file in data["files"]:
        if file["filename"].endswith(".c"):
            source = sources[file["filename"]] = Source(pathlib.Path(file["filename"]))
            source.totals = [file["summary"][what][which] for what in ("lines", "branches")
                             for which in ("covered", "count")]
    merged = {}
    for function in data["functions"]:
        source = sources.get(function["filenames"][0])
        if source is None:
            continue
        name = function["name"].rsplit(":", 1)[-1]
        own = [r for r in function["regions"] if r[5] == 0]
        first, last = min(r[0] for r in own), max(r[2] for r in own)
        known = merged.setdefault((source.name, name), {"source": source, "name": name, "first": first, "last": last,
                                                        "count": 0, "branches": collections.OrderedDict()})
        known["count"] += function["count"]
        for branch in function.get("branches", []):
            if branch[6] == 0:
                sides = known["branches"].setdefault(tuple(branch[:4]), [0, 0])
                sides[0] += branch[4]
                sides[1] += branch[5]
    for function in merged.values():
        function["source"].functions.append(function)


def line_groups(source, function):
    """Runs of lines that never ran, as (first, last)."""
    groups = []
    for number in range(function["first"], function["last"] + 1):
        if source.lines.get(number, 1) == 0:
            if groups and all(source.lines.get(n, 0) == 0 for n in range(groups[-1][1], number)):
                groups[-1][1] = number
            else:
                groups.append([number, number])
    return groups


def unreached(source, function):
    """Its entries: sides of branches that were never taken, and lines that do not follow from one of these."""
    if function["count"] == 0:
        return [NEVER]
    groups = line_groups(source, function)
    dead = {n for first, last in groups for n in range(first, last + 1)}
    entries, ends = [], set()
    for (line, column, end, end_column), (true, false) in function["branches"].items():
        if true and false or (not true and not false and line in dead):
            continue
        words = source.words(line, column, end, end_column)
        entries += [f"{side} {words}" for side, count in (("T", true), ("F", false)) if not count]
        ends.add(end)
    for first, _ in groups:
        if first - 1 not in ends and first not in ends:
            words = re.sub(r"\s+", " ", source.text[first - 1]).strip()
            entries.append(f"line {words}")
    return entries


def read_explained(path):
    """(file, function) -> Counter of entries. A reason is a paragraph of `# ` lines in front of its entries."""
    explained, reason = {}, ""
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if line.startswith("#"):
            reason += line[1:].strip()
            continue
        if not line.strip():
            reason = ""
            continue
        match = re.match(r"(\S+\.c) (\w+): (.+)$", line)
        if match is None or not reason:
            sys.exit(f"{path}:{number}: {'no reason stands before' if match else 'not FILE FUNCTION: ENTRY'}: {line}")
        entries = explained.setdefault(match.group(1, 2), collections.Counter())
        entries[match.group(3)] += 1
    return explained


def main():
    sources = {}
    read_export(sys.argv[1], sources)
    read_lines(sys.argv[2], sources)
    explained = read_explained(sys.argv[3])
    rooms, found, reported = {}, {}, 0
    for path, source in sources.items():
        room = in_src(path).split("/")[0]
        rooms[room] = [a + b for a, b in zip(rooms.get(room, [0] * 4), source.totals)]
        for function in source.functions:
            entries = collections.Counter(unreached(source, function))
            if entries:
                found[source.name, function["name"]] = entries
    for room, (line, lines, branch, branches) in sorted(rooms.items()):
        print(f"{room:10} lines {line}/{lines} {percent(line, lines):.1f} %  "
              f"branches {branch}/{branches} {percent(branch, branches):.1f} %")
    for source in sorted(sources.values(), key=lambda s: s.name):
        line, lines, branch, branches = source.totals
        new = [(f["name"], e) for f in source.functions
               for e in (found.get((source.name, f["name"]), collections.Counter())
                         - explained.get((source.name, f["name"]), collections.Counter())).elements()]
        if new:
            print(f"{source.name}: {lines - line} lines and {branches - branch} branches not reached; not explained:")
            for name, entry in new:
                print(f"{source.name} {name}: {entry}")
        reported += len(new)
    stale = 0
    for key, entries in explained.items():
        for entry in (entries - found.get(key, collections.Counter())).elements():
            print(f"explained, but reached or not there: {key[0]} {key[1]}: {entry}")
            stale += 1
    known = sum(e.total() for e in explained.values()) - stale
    print(f"explained {known}, not explained {reported}, explained and reached {stale}")
    return 1 if reported or stale or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
