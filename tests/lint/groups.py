#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Groups of files that all need each other, room by room, from the symbols of the objects.

A group of more than five has to stand in groups.txt with its files and the reason, and nothing stands there that is
no group any more: what has been cut cannot grow together again. Nor does a file use what lies in a higher folder.

usage: groups.py BUILD [--print]"""
import pathlib, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent
ROOMS = "base kernel policy api webhook engine store kube server controllers runner cli".split()
LARGEST = 5


def symbols(build, room):
    """{file: (symbols that it has, symbols that it wants)}"""
    files = {}
    objects = sorted((build / room).rglob("*.o"))
    out = subprocess.run(["nm", "-A", "-g", *map(str, objects)], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        place, rest = line.split(":", 1)
        words = rest.split()
        has, wants = files.setdefault(str(pathlib.Path(place).relative_to(build / room).with_suffix("")), (set(), set()))
        (wants if words[-2] == "U" else has).add(words[-1])
    return files


def needs(files):
    """{file: files that it needs}"""
    home = {symbol: name for name, (has, _) in files.items() for symbol in has}
    return {name: {home[s] for s in wants if s in home and home[s] != name} for name, (_, wants) in files.items()}


def reached(graph, start):
    seen, left = set(), [start]
    while left:
        for name in graph[left.pop()] - seen:
            seen.add(name)
            left.append(name)
    return seen


def groups(graph):
    """Sets of files that reach each other, without those of one file."""
    from_each = {name: reached(graph, name) for name in graph}
    found = {frozenset(other for other in from_each[name] if name in from_each[other]) for name in graph}
    return [group for group in found if group]


def allowed():
    """{(room, files)} of groups.txt; a line is `room: file file ..`, what begins with # says why."""
    lines = [line for line in (HERE / "groups.txt").read_text().splitlines() if line and line[0] != "#"]
    return {(room, frozenset(names.split())) for room, names in (line.split(":") for line in lines)}


def uses_upward(room, graph):
    """What a file uses of a folder that folders.txt has above its own."""
    lines = dict(line.split(":") for line in (HERE / "folders.txt").read_text().splitlines() if ":" in line.split("#")[0])
    height = {folder: i for i, folder in enumerate(lines.get(room, "").split())}
    for name, others in sorted(graph.items()):
        for other in sorted(others):
            here, there = (height.get(str(pathlib.PurePath(of).parent), -1) for of in (name, other))
            if there > here >= 0:
                yield f"{room}/{name} uses {room}/{other}, which lies above it in folders.txt"


def main(build, show):
    found = {(room, group) for room in ROOMS for group in groups(needs(symbols(build, room)))}
    if show:
        for room, group in sorted(found, key=lambda g: -len(g[1])):
            print(f"{room}: {' '.join(sorted(group))}")
        return 0
    large = {(room, group) for room, group in found if len(group) > LARGEST}
    for room, group in sorted(large - allowed(), key=str):
        print(f"groups: {room} has {len(group)} files that all need each other: {' '.join(sorted(group))}")
    upward = [use for room in ROOMS for use in uses_upward(room, needs(symbols(build, room)))]
    for use in upward:
        print(f"groups: {use}")
    for room, group in sorted(allowed() - large, key=str):
        print(f"groups: groups.txt has a group of {len(group)} files in {room} that is none any more: {' '.join(sorted(group))}")
    return large != allowed() or bool(upward)


sys.exit(main(pathlib.Path(sys.argv[1]), "--print" in sys.argv))
