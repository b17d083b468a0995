#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""llvm-cov's summary on stdin: lines and branches a room, then the files that are not reached in full."""
import json
import pathlib
import sys


def percent(covered, count):
    return 100 * covered / count if count else 100.0


def main():
    rooms, files = {}, []
    for file in json.load(sys.stdin)["data"][0]["files"]:
        path = pathlib.Path(file["filename"])
        if path.suffix != ".c":
            continue
        summary = file["summary"]
        counts = [summary[what][which] for what in ("lines", "branches") for which in ("covered", "count")]
        total = rooms.setdefault(path.parent.name, [0, 0, 0, 0])
        rooms[path.parent.name] = [a + b for a, b in zip(total, counts)]
        files.append((f"{path.parent.name}/{path.name}", counts))
    for room, (line, lines, branch, branches) in sorted(rooms.items()):
        print(f"{room:10} lines {line}/{lines} {percent(line, lines):.1f} %  "
              f"branches {branch}/{branches} {percent(branch, branches):.1f} %")
    for name, (line, lines, branch, branches) in sorted(files, key=lambda f: f[1][0] - f[1][1]):
        if line < lines:
            print(f"  {name:34} {lines - line:4} lines, {branches - branch:4} branches not reached")


if __name__ == "__main__":
    main()
