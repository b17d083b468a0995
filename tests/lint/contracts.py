#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""The kernel's annotations are complete. Named rules:

  contract    every function of src/kernel has a contract before it: in its header, or, if static, in the .c
  clauses     every contract says terminates, exits and assigns
  loop        every loop has `loop assigns` and `loop variant` right before it
  recursion   every recursive logic function is in contracts.txt with the reason why it terminates, and only
              those are; WP takes termination of logic functions on trust
  prover      no prover #ifdef, no admitted goal, no axiom

usage: contracts.py [ROOT]"""
import pathlib, re, sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
LISTED = ROOT / "tests/lint/contracts.txt"
problems = []


def bad(path, text, at, rule, what):
    problems.append(f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, at) + 1}: {rule}: {what}")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def code_of(text):
    """The C code alone, every other character a blank, so that offsets stay."""
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, code, flags=re.M)


def annotation_before(text, at):
    """The ACSL comment that ends right before `at`, or None."""
    head = text[:at].rstrip()
    if not head.endswith("*/"):
        line = head.rsplit("\n", 1)[-1].strip()
        return line if line.startswith("//@") else None
    start = head.rfind("/*")
    comment = head[start:]
    return comment if comment.startswith("/*@") else None


def function_heads(code, definitions):
    """(name, offset, is static) of each definition, or each prototype."""
    end = r"\s*\{" if definitions else r"\s*(?:SL_MUST_CHECK\s*)?;"
    for m in re.finditer(r"^(?!typedef|return|else)[a-z][\w \t\*]*?\b(\w+)\([^;{}]*\)" + end, code, flags=re.M):
        yield m.group(1), m.start(), m.group().startswith("static")


def check_contract(path, text, name, at):
    contract = annotation_before(text, at)
    if contract is None:
        bad(path, text, at, "contract", f"{name} has none")
        return
    for clause in ("terminates", "exits", "assigns"):
        if not re.search(rf"\b{clause}\b", contract):
            bad(path, text, at, "clauses", f"{name} does not say {clause}")


def check_loops(path, text, code):
    for m in re.finditer(r"\b(for|while)\s*\(", code):
        notes = annotation_before(text, m.start()) or ""
        for clause in ("loop assigns", "loop variant"):
            if clause not in notes:
                bad(path, text, m.start(), "loop", f"a loop without {clause}")


def logic_functions(text):
    """(name, body) of each logic function or predicate."""
    for m in re.finditer(r"\b(?:logic\s+\w+|predicate)\s+(\w+)\s*(?:\{[^}]*\})?\s*(?:\([^)]*\))?\s*=", text):
        end = re.compile(r";").search(text, m.end())
        yield m.group(1), m.start(), text[m.end():end.start() if end else len(text)]


def check_recursion(path, text, found):
    for name, at, body in logic_functions(text):
        if re.search(rf"\b{name}\b", re.sub(r"//[^\n]*", "", body)):
            found[name] = (path, text, at)


def main():
    listed = {}
    for line in LISTED.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, reason = line.partition(" ")
            listed[name] = reason.strip()
    recursive = {}
    kernel = sorted((ROOT / "src/kernel").rglob("*.[ch]"))
    for path in kernel:
        text = path.read_text()
        code = code_of(text)
        for name, at, is_static in function_heads(code, path.suffix == ".c"):
            if path.suffix == ".h" or is_static:
                check_contract(path, text, name, at)
        if path.suffix == ".c":
            check_loops(path, text, code)
    for path in kernel + sorted((ROOT / "specs").glob("*.acsl")):
        text = path.read_text()
        check_recursion(path, text, recursive)
        for m in re.finditer(r"__FRAMAC__|\badmit\b\s*[\w\\(]+\s*:|\baxiomatic\b|\baxiom\b", text):
            bad(path, text, m.start(), "prover", m.group())
    for name, (path, text, at) in recursive.items():
        if not listed.get(name):
            bad(path, text, at, "recursion", f"{name} is not in contracts.txt with its reason")
    for name in sorted(set(listed) - set(recursive)):
        problems.append(f"tests/lint/contracts.txt: recursion: no recursive logic function is named {name}")
    for problem in problems:
        print(problem)
    print(f"contracts: {len(kernel)} files, {len(recursive)} recursive logic functions, {len(problems)} problems")
    return bool(problems)


sys.exit(main())
