#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""A function that has a contract in its header and another in its .c file is proved with both together, but callers in
other files see the header's alone. So the .c's contract may only speak of what the file owns. Named rules:

  requires   a precondition of the .c stands in the header, too, or names nothing but what the .c file defines, or is an
             invariant of policy's own state
  assigns    a location of the .c is one of the header's, a variable of the file, or policy's own: never the kernel's
  declares   a .c, or a theorem, declares no function that it does not define, in C or in ghost code: its contract would
             be believed, and nobody would prove it

usage: two_contracts.py [ROOT]"""
import pathlib, re, sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 and __name__ == "__main__" else ".")
CLAUSE = r"\b(?:requires|assigns|frees|allocates|ensures|terminates|exits|decreases|assumes|behavior|complete|disjoint|ghost)\b"
# Words of ACSL and C that belong to nobody.
NOBODYS = set("integer boolean true false forall exists at old result nothing let valid separated max min sizeof "
              "Pre Here uint32_t int64_t uint64_t bool struct enum unsigned int".split())
problems = []


def words(text):
    return {w for w in re.findall(r"[A-Za-z_]\w*", text) if w not in NOBODYS}


def without_line_comments(contract):
    return " ".join(re.sub(r"//[^\n]*", " ", contract).split())


def clauses(contract, kind):
    """The bodies of all clauses of a kind, without their names."""
    for m in re.finditer(rf"\b{kind}\b(.*?);", without_line_comments(contract)):
        yield re.sub(r"^\s*\w+\s*:(?!:)\s*", "", m.group(1)).strip()


def contracts_of(text):
    """{function: the contract right before its declaration or definition}."""
    found = {}
    for m in re.finditer(r"/\*@((?:(?!\*/).)*)\*/\s*(?:SL_MUST_CHECK\s+)?([a-z][\w \t\*]*?)\b(\w+)\(([^;{}]*)\)\s*[;{]", text, flags=re.S):
        if re.search(CLAUSE, m.group(1)) and not re.match(r"\s*(?:predicate|logic|lemma|ghost)\b", m.group(1)):
            found[m.group(3)] = (m.group(1), words(m.group(4)))
    return found


def macros_of(texts):
    found = {}
    for text in texts:
        for m in re.finditer(r"^[ \t]*#define[ \t]+(\w+)(?:\([^)]*\))?((?:[^\n]*\\\n)*[^\n]*)", text, flags=re.M):
            found[m.group(1)] = m.group(2).replace("\\\n", " ")
    return found


def expanded(text, macros, depth=6):
    for _ in range(depth):
        text = re.sub(r"\b[A-Z]\w+\b", lambda m: macros.get(m.group(), m.group()), text)
    return text


def bases(locations, macros):
    """The variables that a list of locations begins with."""
    flat = re.sub(r"\[[^][]*\]", "", re.sub(r"\[[^][]*\]", "", expanded(locations, macros)))
    return {w for part in flat.split(",") for w in re.findall(r"[A-Za-z_]\w*", part)[:1]} - {"nothing"}


def defined_in(text):
    """What a .c file calls its own: variables, functions, macros, predicates and logic functions."""
    return (set(re.findall(r"^static [^;={(]*?\b(\w+)\s*(?:\[|;|=|\()", text, flags=re.M)) |
            set(re.findall(r"^static [^;={(]*\{[^}]*\}\s*(\w+)", text, flags=re.M)) |
            set(re.findall(r"#define (\w+)", text)) |
            set(re.findall(r"\b(?:predicate|logic\s+\w+)\s+(\w+)", text)))


def bodies_of(text):
    """{predicate or logic function: its body}; the body goes on behind the semicolons of its quantifiers."""
    ends = r";(?=\s*(?://[^\n]*\s*)*(?:predicate\b|logic\b|lemma\b|axiomatic\b|\*/|@/|\}))"
    return {m.group(1): re.sub(r"//[^\n]*", "", m.group(2))
            for m in re.finditer(rf"\b(?:predicate|logic\s+\w+)\s+(\w+)[^=;]*=(.*?){ends}", text, flags=re.S)}


def predicates_of(texts):
    """{predicate or logic function: the words of its body}."""
    return {name: words(body) for text in texts for name, body in bodies_of(text).items()}


def reach(word, predicates):
    """All that a predicate speaks of, through others too."""
    seen, left = set(), [word]
    while left:
        w = left.pop()
        if w not in seen:
            seen.add(w)
            left += predicates.get(w, ())
    return seen


def check(path, text, header, kernels, macros, predicates):
    """Every function of the .c that the headers have a contract of."""
    own = defined_in(text)
    for name, (contract, parameters) in contracts_of(text).items():
        if name not in header:
            continue
        said = header[name][0]
        stands = {part.strip() for c in clauses(said, "requires") for part in c.split("&&")}
        for clause in {part.strip() for c in clauses(contract, "requires") for part in c.split("&&")}:
            foreign = {w for w in words(clause) if w not in own and not w.isupper() and not re.fullmatch(r"SL_\w+|[a-z]", w)}
            # An invariant of policy's own state, which each of a package's files keeps: docs/soundness.md, "hidden".
            foreign = {w for w in foreign if w not in predicates or reach(w, predicates) & kernels}
            if clause not in stands and (foreign or parameters & words(clause)):
                problems.append(f"{path}: requires: {name} asks for `{clause}`, which its header does not say")
        promised = set().union(set(), *(bases(c, macros) for c in clauses(said, "assigns")))
        for clause in clauses(contract, "assigns"):
            for base in sorted(bases(clause, macros) - promised - own):
                if base in kernels or not base.startswith("sl_"):
                    problems.append(f"{path}: assigns: {name} writes {base}, which its header does not say")


def check_declarations(path, text):
    """Prototypes with a contract right before them, and ghost functions."""
    prototype = r"(?:\*/|@/)\s*(?:SL_MUST_CHECK\s+)?(?:static\s+)?(?:struct\s+|enum\s+)?(?!return\b)[a-z]\w*[\s*]+(\w+)\([^;{}]*\)\s*(?:SL_MUST_CHECK\s*)?"
    bodies = set(re.findall(prototype + r"\{", text)) | set(re.findall(r"^[a-z][\w \t*]*?\b(\w+)\([^;{}]*\)\s*\{", text, flags=re.M))
    for name in re.findall(prototype + r";", text):
        if name not in bodies:
            problems.append(f"{path}: declares: {name}, which it does not define")


def main():
    headers = {p: p.read_text() for p in sorted((ROOT / "src").glob("kernel/**/*.h")) + sorted((ROOT / "src").glob("policy/**/*.h"))}
    specs = [p.read_text() for p in sorted((ROOT / "specs").glob("*.acsl"))]
    kernels = {v for p, t in headers.items() if "kernel" in p.parts for v in re.findall(r"\bextern [^;(]*?\b(\w+)\s*(?:\[[^;]*)?;", t)}
    predicates = predicates_of([*headers.values(), *specs])
    declared = {}
    for text in headers.values():
        declared.update(contracts_of(text))
    sources, both = [p for room in ("src/kernel", "src/policy", "specs/theorems") for p in sorted((ROOT / room).rglob("*.c"))], 0
    for path in sources:
        text = path.read_text()
        macros = macros_of([*headers.values(), *specs, text])
        check(path.relative_to(ROOT), text, declared, kernels, macros, predicates)
        check_declarations(path.relative_to(ROOT), text)
        both += len(set(contracts_of(text)) & set(declared))
    for problem in problems:
        print(f"two contracts: {problem}")
    print(f"two contracts: {both} functions of {len(sources)} files, {len(problems)} problems")
    return bool(problems) or not both


if __name__ == "__main__":
    sys.exit(main())
