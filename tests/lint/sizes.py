#!/usr/bin/env python3
"""Files and functions stay small: prints each one over its limit, then the medians; fails on any.

usage: sizes.py [ROOT]    limits: docs/CONTRIBUTING.md"""
import pathlib, re, statistics, sys

CORE = {"kernel", "policy"}
FILE_MAX = {True: 400, False: 600}
HEADER_MAX = 250
FUNCTION_MAX = {True: 50, False: 70}
FOLDER_MAX = 15


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def functions(text):
    """(name, first line, code lines) of each function; comments and ACSL inside a body do not count."""
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, code, flags=re.M)
    for m in re.finditer(r"^[a-z][\w \t\*]*?\b(\w+)\([^;{}]*\)\s*\n?\{", code, flags=re.M):
        depth, i = 0, m.end() - 1
        while i < len(code):
            depth += {"{": 1, "}": -1}.get(code[i], 0)
            if depth == 0:
                break
            i += 1
        body = code[m.end():i].split("\n")
        yield m.group(1), code.count("\n", 0, m.start()) + 1, sum(1 for line in body if line.strip()) + 2


def crowded(root):
    """Folders with too many modules; a module is a source with its header and its table. A schema's files are data."""
    bad = 0
    for folder in sorted({path.parent for path in root.glob("src/*/*/*.[ch]")} - {root / "src/api/schema"}):
        modules = {path.stem for path in folder.iterdir()}
        if len(modules) > FOLDER_MAX:
            bad += 1
            print(f"{folder}: {len(modules)} modules, limit {FOLDER_MAX}")
    return bad


def main(root):
    bad, file_lengths, function_lengths = 0, [], []
    for path in sorted(root.glob("src/**/*.[ch]")):
        core = path.relative_to(root).parts[1] in CORE
        text = path.read_text()
        lines = text.count("\n")
        limit = HEADER_MAX if path.suffix == ".h" and not core else FILE_MAX[core]
        if lines > limit:
            bad += 1
            print(f"{path}: {lines} lines, limit {limit}")
        if path.suffix == ".c":
            file_lengths.append(lines)
            for name, line, length in functions(text):
                function_lengths.append(length)
                if length > FUNCTION_MAX[core]:
                    bad += 1
                    print(f"{path}:{line}: {name} has {length} lines, limit {FUNCTION_MAX[core]}")
    bad += crowded(root)
    p95 = statistics.quantiles(function_lengths, n=20)[-1]
    print(f"sizes: {len(file_lengths)} files, median {statistics.median(file_lengths):.0f} lines; "
          f"{len(function_lengths)} functions, median {statistics.median(function_lengths):.0f}, p95 {p95:.0f}")
    return bad > 0


sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
