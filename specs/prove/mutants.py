#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Would the proofs notice? Changes the kernel's C code (never its annotations) in one small place at a time and
proves the changed function again. A mutant is killed when some goal is then not proved, or when it does not
compile; a survivor is a hole in the contracts or an equivalent mutant. A goal that merely runs out of time
counts as unproved, so the score is an upper bound.

The sample is drawn with a seed, evenly over all mutants of all files. Equivalent ones are listed in
mutants-equivalent.txt with the reason, and are not drawn.

usage: mutants.py --build DIR [--count N] [--seed S] [--list] FILE..."""
import argparse, os, pathlib, random, re, signal, subprocess, sys, time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EQUIVALENT = HERE / "mutants-equivalent.txt"
CHANGES = [(r"<=", ["<", ">"]), (r">=", [">", "<"]), (r"==", ["!="]), (r"!=", ["=="]),
           (r"(?<![<>=!-])<(?![<=])", ["<=", ">="]), (r"(?<![<>=!-])>(?![>=])", [">=", "<="]),
           (r"&&", ["||"]), (r"\|\|", ["&&"]), (r"\+=", ["-="]), (r"-=", ["+="]),
           (r" \+ ", [" - "]), (r" - ", [" + "]), (r"\b0\b", ["1"]), (r"\b1u?\b", ["0", "2"]),
           (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]), (r"\bbreak;", [";"])]
STATEMENT = r"^[ \t]*[\w\[\]\.>-]+(?:\([^;]*\)|\s*[+-]?=[^;=]+|\+\+|--);"
UNPROVED = re.compile(r"Goal \S+ : (?!.*Valid)|\[(?:Failed|Timeout|Unknown)\]|\[kernel\] (?:User )?Error")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def code_of(text):
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, code, flags=re.M)


def functions(code):
    """(name, start of body, end of body)"""
    for m in re.finditer(r"^[a-z][\w \t\*]*?\b(\w+)\([^;{}]*\)\s*\{", code, flags=re.M):
        depth = 0
        for i in range(m.end() - 1, len(code)):
            depth += (code[i] == "{") - (code[i] == "}")
            if depth == 0:
                break
        yield m.group(1), m.end(), i


def mutants_of(path):
    """(path, function, start, end, replacement) of everything that can be changed in a file."""
    code = code_of(path.read_text())
    for name, start, end in functions(code):
        for pattern, replacements in CHANGES:
            for m in re.finditer(pattern, code[start:end]):
                for replacement in replacements:
                    yield path, name, start + m.start(), start + m.end(), replacement
        for m in re.finditer(STATEMENT, code[start:end], flags=re.M):
            if not re.match(r"\s*(?:return|break|enum|u?int)\b", m.group()):
                yield path, name, start + m.start(), start + m.end(), " ;"


def describe(mutant, text):
    path, name, start, end, replacement = mutant
    line = text.count("\n", 0, start) + 1
    old = " ".join(text[start:end].split())
    return f"{path}:{name}", f"{path}:{line} {name}: {old!r} -> {replacement.strip()!r}"


def key(mutant, text):
    """What names a mutant when lines move: function, its source line, and the change."""
    path, name, start, end, replacement = mutant
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    line = " ".join((text[first:start] + "{" + text[start:end] + "=>" + replacement + "}" + text[end:last]).split())
    return f"{name} {line}"


def unproved(mutant, text, args, env):
    """Why the changed file does not prove, or None if it does."""
    path, name, start, end, replacement = mutant
    changed = args.build / "prove/mutant" / path.name
    changed.parent.mkdir(parents=True, exist_ok=True)
    changed.write_text(text[:start] + replacement + text[end:])
    command = ["nice", "frama-c", "-wp", "-wp-rte", "-wp-model", "Typed", "-wp-par", "2", "-wp-prover", "z3,cvc5",
               "-wp-timeout", str(args.timeout), "-wp-fct", name, "-cpp-extra-args=-Isrc -I.",
               "-wp-cache", "replay", "-wp-cache-dir", str(ROOT / "specs/cache" / path.stem), str(changed)]
    process = subprocess.Popen(command, cwd=ROOT, env=env, text=True, start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + args.limit
    try:
        total = None
        for line in process.stdout:
            found = re.search(r"Proved goals:\s+(\d+) / (\d+)", line)
            total = found or total
            if UNPROVED.search(line):
                return line.strip()
            if time.monotonic() > deadline:
                return f"no end after {args.limit} s"
        if total is None:
            return "it does not compile"
        return None if total.group(1) == total.group(2) else total.group()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=4, help="seconds a solver has for one goal")
    parser.add_argument("--limit", type=int, default=120, help="seconds for one mutant")
    parser.add_argument("--list", action="store_true", help="only show what would be drawn")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    args.build = args.build.resolve()
    conf = args.build / "prove/why3.conf"
    if not conf.exists():
        subprocess.run([str(HERE / "why3-config.sh"), str(conf)], check=True)
    env = dict(os.environ, WHY3CONFIG=str(conf))
    equivalent = {line.split("  # ")[0].strip() for line in EQUIVALENT.read_text().splitlines()
                  if line and line[0] != "#"}
    texts = {path: path.read_text() for path in args.files}
    every = [m for path in args.files for m in mutants_of(path)]
    drawn = [m for m in every if key(m, texts[m[0]]) not in equivalent]
    skipped = len(every) - len(drawn)
    random.Random(args.seed).shuffle(drawn)
    drawn = drawn[:args.count]
    killed = 0
    for mutant in drawn:
        _, what = describe(mutant, texts[mutant[0]])
        if args.list:
            print(key(mutant, texts[mutant[0]]))
            continue
        started = time.monotonic()
        why = unproved(mutant, texts[mutant[0]], args, env)
        killed += why is not None
        print(f"  {'killed  ' if why else 'SURVIVED'} {time.monotonic() - started:5.1f} s  {what}", flush=True)
        if why is None:
            print(f"    {key(mutant, texts[mutant[0]])}")
    print(f"drawn from {len(every)} with seed {args.seed}; {skipped} listed as equivalent")
    print(f"{len(drawn)} mutants, {killed} killed")
    return not args.list and killed != len(drawn)


sys.exit(main())
