#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Writes cases with one key a line, in order, so that a diff of two can be read.

usage: format.py [--check] FILE.."""
import json, pathlib, sys


def formatted(text):
    return json.dumps(json.loads(text), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main(check, paths):
    other = [path for path in map(pathlib.Path, paths) if path.read_text(encoding="utf-8") != formatted(path.read_text(encoding="utf-8"))]
    for path in other:
        if check:
            print(f"{path}: not as tests/conformance/format.py writes it")
        else:
            path.write_text(formatted(path.read_text(encoding="utf-8")), encoding="utf-8")
    return check and bool(other)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv, [name for name in sys.argv[1:] if name != "--check"]))
