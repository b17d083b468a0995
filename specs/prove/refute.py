# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Refutes a mutant by a run, where one is found: the unchanged core plays the fuzzers' inputs, and in a copy of the
process one call of one function is changed. Until that call everything is as it is proved, and after it again. So when
then the kernel makes a run-time error, or a promise of the function's contract is not kept (clauses.py), or the call
answers otherwise than the contract fixes, or a checker of what every step keeps says no, a goal of the changed function
is false. No prover is asked.

Which checkers count depends on the file, since not every predicate is proved to be kept by every function
(docs/guarantees.md): the ledger's by all, those of records, places, claims and second passes by all but the ledger's
own."""
import pathlib, random, re, subprocess

import clauses
import mutations

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CHECKED = "QnodesChecked|ListsChecked|SparesChecked|LedgerChecked|UsageAddsUp"
COMPILE = ["gcc", "-std=c17", "-D_GNU_SOURCE", "-O1", "-mcmodel=medium", "-w", "-Isrc", "-I.",
           "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
CALL = """
{kept}{returns}{name}({parameters});
{functions}
static {returns}refute_changed_{name}({parameters})
{changed}
static {returns}refute_as_it_is_{name}({parameters})
{body}
{kept}REFUTE_PLAIN {returns}{name}({parameters})
{{
    if (refute_inside()) {{
        {give}refute_changed_{name}({arguments});{leave}
    }}
    struct refute_answer refute_answered;
    if (refute_compares(&refute_answered)) {{
        {take}refute_changed_{name}({arguments});
        refute_note(&refute_answered, {answer});
    }} else if (refute_begin()) {{
        {take}refute_changed_{name}({arguments});
        {promised}
        refute_end();
        {back}
    }}
    {take}refute_as_it_is_{name}({arguments});
    refute_compare(&refute_answered, {answer});
    {back}
}}
"""


def contract_of(text, function, headers):
    """The function's annotation: just before it, or where a header declares it."""
    for header in headers:
        at = re.search(rf"\b{function.name}\(", mutations.code_of(header))
        if at:
            return header[max(header.rfind("/*@", 0, at.start()), 0):at.start()].partition("*/")[0]
    last = text[function.first:function.start].rpartition("/*@")[2].partition("*/")[0]
    return "" if re.match(r"\s*(ghost|predicate|logic|lemma|axiomatic|inductive)\b", last) else last


def fixed(contract, boolean):
    """Does the contract leave only one answer, and is nothing else done? Checkers write notes that no predicate of
    these reads."""
    if "behavior" in contract:
        return False
    promised = [" ".join(clause.split()) for clause in re.findall(r"\bensures\s+(?:\w+\s*:)?([^;]*);", contract)]
    same = r"\\result (?:== 1 )?<==>" if boolean else r"\\result <==>"
    only = rf"{same}|\\result == (?!.*(?:==>|\|\|))"
    if not re.search(r"\bassigns\s+\\nothing\s*;", contract):
        only = rf"{same} (?:{CHECKED})$"
    return any(re.match(only, clause) for clause in promised)


def checkers(path):
    """As refute.c takes it."""
    return 1 if re.search(r"/(ledger|trail)\w*\.c$", str(path)) else 2


def parameters_of(text, function):
    """(the text in brackets, names)"""
    head = head_of(text, function)
    parameters = text[head.end(2) + 1:text.rindex(")", 0, function.start)]
    return parameters, re.findall(r"(\w+)(?:\[\w*\])*\s*(?:,|$)", parameters) if parameters != "void" else []


def head_of(text, function):
    return next(m for m in re.finditer(mutations.FUNCTION, mutations.code_of(text), flags=re.M)
                if m.end() == function.start)


def caller(text, function, changed, promised):
    """The text with the function's two bodies, and one that chooses at each call. `promised` is of clauses.promises;
    each has a line of its own."""
    head = head_of(text, function)
    kept, returns = re.match(r"((?:static |inline )*)(.*)", head.group(1), flags=re.S).groups()
    parameters, names = parameters_of(text, function)
    void, start, after = returns.strip() == "void", function.start - 1, function.end + 1
    scalar = not void and "struct" not in returns
    made = CALL.format(
        kept=kept, returns=returns, name=function.name, parameters=parameters, arguments=", ".join(names),
        body=text[start:after], changed=changed[start:after + len(changed) - len(text)],
        functions="\n".join(promised[0]),
        promised="\n".join(f'REFUTE_PROMISE({i}, "{name}", {promise});' for i, (name, promise) in enumerate(promised[1])),
        give="" if void else "return ", leave="\n        return;" if void else "",
        take="" if void else f"{returns}refute_result = ",
        answer="&refute_result, sizeof refute_result" if scalar else "0, 0",
        back="return;" if void else "return refute_result;")
    return f'#include "specs/prove/refute/refute.h"\n{text[:head.start()]}{made}{text[after:]}'


class Refuter:
    """Of the kernel's files {path: text}; `headers` gives the texts of what a file includes. `make refute-objects` has
    built the rest of the core."""

    def __init__(self, build, texts, headers, seconds):
        self.build, self.texts, self.headers, self.seconds = build / "refute", texts, headers, seconds
        self.known, self.objects = {}, sorted(self.build.rglob("*.o"))
        targets = re.findall(r"FUZZ\((\w+)", (self.build / "refute_targets.def").read_text())
        draw, inputs = random.Random(1), []
        for target in targets:
            mine = []
            for kind in (ROOT / "fuzz/regress", build / "fuzz/seeds"):  # what somebody chose comes first
                found = sorted((kind / target).glob("*"))
                mine += draw.sample(found, len(found))
            share = 3 if target == "doors" else 1  # its inputs take their time
            inputs += [(i * share, target, path) for i, path in enumerate(mine)]  # in turn, if there is not time for all
        self.inputs = "".join(f"{target} {path}\n" for _, target, path in sorted(inputs))

    def refuted(self, mutant, directory):
        """What a run with this mutant broke; None when none was found. The same run without it must break nothing."""
        path = pathlib.Path(mutant.path)
        text = self.texts[path]
        function = next(f for f in mutations.functions(text) if f.name == mutant.function)
        said = self.played(path, function, mutant.applied(text), directory, self.inputs)
        if not said.startswith("refuted: "):
            return None
        why, one = re.match(r"refuted: (.*): (\S+ \S+)$", said).groups()
        again = self.played(path, function, text, directory, one + "\n")
        if not again.startswith("tried "):
            raise RuntimeError(f"{path}: {function.name} is refuted as it stands ({again})")
        return f"{why} ({one})"

    def asked(self, path, function, directory):
        """(the promises that a compiler understands, since others name what only the proofs have; whether the answer is
        fixed)"""
        key, bad, source = (path, function.name), set(), directory / "refute.c"
        if key in self.known:
            return self.known[key]
        contract = contract_of(self.texts[path], function, self.headers(path))
        while True:
            functions, promised = clauses.promises(contract, parameters_of(self.texts[path], function)[1], bad)
            promised = [row for row in promised if row not in bad]
            source.write_text(caller(self.texts[path], function, self.texts[path], (functions, promised)))
            done = subprocess.run([*COMPILE, "-fsyntax-only", str(source)], cwd=ROOT, check=False, text=True,
                                  capture_output=True)
            if done.returncode == 0:
                self.known[key] = (functions, promised), fixed(contract, "bool" in function.returns)
                return self.known[key]
            lines, before = source.read_text().splitlines(), len(bad)
            for number in re.findall(r"refute\.c:(\d+):\d+: error", done.stderr):
                line = lines[int(number) - 1]
                bad.update(re.findall(r"^static REFUTE_PLAIN __int128 refute_(\w+)_\d+\(", line))
                bad.update(row for row in promised if line.endswith(f"{row[1]});"))
            if len(bad) == before:
                raise RuntimeError(f"{path}: {function.name}: {done.stderr}")

    def played(self, path, function, changed, directory, inputs):
        """What the program says of a text of the file."""
        source, own, program = directory / "refute.c", directory / "refute.o", directory / "refute"
        promised, answer = self.asked(path, function, directory)
        source.write_text(caller(self.texts[path], function, changed, promised))
        subprocess.run([*COMPILE, "-c", "-o", str(own), str(source)], cwd=ROOT, check=True)
        others = [str(o) for o in self.objects if o != self.build / path.with_suffix(".o")]
        subprocess.run(["gcc", "-mcmodel=medium", "-o", str(program), str(own), *others], check=True)
        done = subprocess.run([str(program), str(checkers(path)), str(int(answer)), str(self.seconds)], cwd=ROOT,
                              input=inputs, text=True, capture_output=True, check=True)
        program.unlink()
        return done.stdout.strip()
