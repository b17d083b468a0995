#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Writes cases with one key a line, in order, so that a diff of two can be read. A file has one case, or a list of cases
in the order of their ids; no two cases have the same id.

usage: format.py [--check] FILE..
       format.py --pack FILE CASE..     the cases of all CASE files into one list, beside those that FILE has already
       format.py --unpack FOLDER FILE.. each case of the files into a file of its own, FOLDER/ID.json"""
import json, pathlib, sys


def cases(path):
    """The cases of a file, in its order."""
    root = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    return root if isinstance(root, list) else [root]


def formatted(value):
    if isinstance(value, list):
        value = sorted(value, key=lambda case: case["id"])
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def twice(paths):
    """The ids that two cases have, with the later file."""
    seen = set()
    for path in paths:
        for case in cases(path):
            if case["id"] in seen:
                yield case["id"], path
            seen.add(case["id"])


def check(paths):
    bad = 0
    for path in map(pathlib.Path, paths):
        text = path.read_text(encoding="utf-8")
        if text != formatted(json.loads(text)):
            bad += 1
            print(f"{path}: not as tests/conformance/format.py writes it")
    for name, path in twice(paths):
        bad += 1
        print(f"{path}: another case has the id {name}")
    return bad


def write(path, value):
    pathlib.Path(path).write_text(formatted(value), encoding="utf-8")


def pack(out, paths):
    sources = ([out] if pathlib.Path(out).exists() else []) + [path for path in paths if path != out]
    doubles = [f"{path}: another case has the id {name}" for name, path in twice(sources)]
    if doubles:
        sys.exit("\n".join(doubles))
    write(out, [case for path in sources for case in cases(path)])


def main(arguments):
    if arguments[:1] == ["--check"]:
        return check(arguments[1:])
    if arguments[:1] == ["--pack"]:
        pack(arguments[1], arguments[2:])
    elif arguments[:1] == ["--unpack"]:
        for path in arguments[2:]:
            for case in cases(path):
                write(pathlib.Path(arguments[1], case["id"] + ".json"), case)
    else:
        for path in arguments:
            write(path, json.loads(pathlib.Path(path).read_text(encoding="utf-8")))
    return 0


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
