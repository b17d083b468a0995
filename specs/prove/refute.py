# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Refutes a mutant by a run, where one is found: the unchanged core plays the fuzzers' inputs, and in a copy of the
process one call of one function is changed. Until that call everything is as it is proved, and after it again. So when
then the kernel makes a run-time error, or a checker of what every step keeps says no, or the call itself answers
otherwise than the function's contract fixes, a goal of the changed function is false. No prover is asked.

Which checkers count depends on the file, since not every predicate is proved to be kept by every function
(docs/guarantees.md): the ledger's by all, those of records, places, claims and second passes by all but the ledger's
own."""
import pathlib, random, re, subprocess

import clauses
import mutations

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CHECKED = "NodesChecked|ListsChecked|SparesChecked|LedgerChecked|ClaimsAddUp"
HOLDS = r"\\forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_own\[c\] == \\old\(sl_cell_own\[c\]\) [-+] " \
        r"(?:RowSum|PlanSum|VictimsHold|GoneHold|Promised)\([^()]*(?:\[[^()]*\])?\)$"
COMPILE = ["gcc", "-std=c17", "-D_GNU_SOURCE", "-O1", "-mcmodel=medium", "-w", "-Isrc", "-I.",
           "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
CALL = """
{kept}{returns}{name}({parameters});
static {returns}refute_changed_{name}({parameters})
{changed}
static {returns}refute_as_it_is_{name}({parameters})
{body}
{kept}__attribute__((no_sanitize("undefined"))) {returns}{name}({parameters})
{{
    if (refute_inside()) {{
        {give}refute_changed_{name}({arguments});{leave}
    }}
    struct refute_answer refute_told;
    if (refute_begin(&refute_told)) {{
        {olds}
        {take}refute_changed_{name}({arguments});
        {promised}
        refute_end({ok}, {answer});
        {back}
    }}
    {take}refute_as_it_is_{name}({arguments});
    refute_compare(&refute_told, {ok}, {answer});
    {back}
}}
"""


def contract_of(text, function, headers):
    """The function's annotation: just before it, or where a header declares it."""
    for header in headers:
        at = re.search(rf"\b{function.name}\(", mutations.code_of(header))
        if at:
            return header[max(header.rfind("/*@", 0, at.start()), 0):at.start()]
    last = text[function.first:function.start].rpartition("/*@")[2]
    return "" if re.match(r"\s*(ghost|predicate|logic|lemma|axiomatic|inductive)\b", last) else last


def fixed(contract):
    """What the contract leaves no choice about: sum of 1, the answer; 2, what workloads hold if it is done; 4 and 8,
    that this stays as it is if it is refused, and if not. Checkers write notes that no predicate of these reads."""
    promised = [" ".join(clause.split()) for clause in re.findall(r"\bensures\s+(?:\w+\s*:)?(.*?);(?=\s|$)(?! 0 <= c)",
                contract.partition("behavior")[0], flags=re.S)]
    only = rf"\\result <==> (?:{CHECKED})$"
    if re.search(r"\bassigns\s+\\nothing\s*;", contract) and "behavior" not in contract:
        only = r"\\result <==>|\\result == (?!.*(?:==>|\|\|))"
    same = r"OwnElsewhere\{(?:Old|Pre), ?Post\}\(-1\)|UsageSame\{Pre, ?Post\}"
    rows = ((1, only), (2, rf"(?:\\result == SL_OK ==> |\\result ==> )?(?:{HOLDS})"),
            (4, rf"(?:\\result != SL_OK ==> |!\\result ==> )?(?:{same})"), (8, same))
    return sum(bit for bit, row in rows if any(re.match(row, clause) for clause in promised))


def checkers(path):
    return 1 if re.search(r"/(ledger|trail)\w*\.c$", str(path)) else 2


def caller(text, function, changed, promised):
    """The text with the function's two bodies, and one that chooses: for each call of the function. `promised` is of
    clauses.promises; each has a line of its own."""
    head = next(m for m in re.finditer(mutations.FUNCTION, mutations.code_of(text), flags=re.M)
                if m.end() == function.start)
    kept, returns = re.match(r"((?:static |inline )*)(.*)", head.group(1), flags=re.S).groups()
    parameters = text[head.end(2) + 1:text.rindex(")", 0, function.start)]
    names = re.findall(r"(\w+)(?:\[\w*\])*\s*(?:,|$)", parameters) if parameters != "void" else []
    void, start, after = returns.strip() == "void", function.start - 1, function.end + 1
    scalar = not void and "struct" not in returns
    made = CALL.format(
        kept=kept, returns=returns, name=function.name, parameters=parameters, arguments=", ".join(names),
        body=text[start:after], changed=changed[start:after + len(changed) - len(text)],
        olds="\n".join(f"__int128 refute_old_{i} = {old};" for i, old in enumerate(promised[0])),
        promised="\n".join(f'if (!{promise}) refute_broken("{name}");' for name, promise in promised[1]),
        give="" if void else "return ", leave="\n        return;" if void else "",
        take="" if void else f"{returns}refute_result = ",
        answer="&refute_result, sizeof refute_result" if scalar else "0, 0",
        ok="refute_result == SL_OK" if "sl_status" in returns else "refute_result" if "bool" in returns else "1",
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
            mine = [path.relative_to(ROOT) for kind in ("corpus", "regress")
                    for path in sorted((ROOT / "fuzz" / kind / target).glob("*"))]
            draw.shuffle(mine)
            inputs += [(i, target, path) for i, path in enumerate(mine)]  # in turn, as time may not be enough for all
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

    def plain(self, path, function, directory):
        """Those promises that a compiler understands: others name what only the proofs have."""
        key = path, function.name
        olds, promises = self.known.get(key) or clauses.promises(contract_of(self.texts[path], function,
                                                                             self.headers(path)))
        while key not in self.known:
            source = directory / "refute.c"
            source.write_text(caller(self.texts[path], function, self.texts[path], (olds, promises)))
            done = subprocess.run([*COMPILE, "-fsyntax-only", str(source)], cwd=ROOT, check=False, text=True,
                                  capture_output=True)
            if done.returncode == 0:
                self.known[key] = olds, promises
                break
            bad = {source.read_text().splitlines()[int(line) - 1].strip()
                   for line in re.findall(r"refute\.c:(\d+):\d+: error", done.stderr)}
            gone = {f"refute_old_{i}" for i, old in enumerate(olds) if f"__int128 refute_old_{i} = {old};" in bad}
            left = [(name, promise) for name, promise in promises
                    if not any(promise in line for line in bad) and not gone & set(re.findall(r"refute_old_\d+", promise))]
            olds = ["0" if f"refute_old_{i}" in gone else old for i, old in enumerate(olds)]
            if left == promises and not gone:
                raise RuntimeError(f"{path}: {function.name}: {done.stderr}")
            promises = left
        return self.known[key]

    def played(self, path, function, changed, directory, inputs):
        """What the program says of a text of the file."""
        source, own, program = directory / "refute.c", directory / "refute.o", directory / "refute"
        promised = self.plain(path, function, directory)
        source.write_text(caller(self.texts[path], function, changed, promised))
        subprocess.run([*COMPILE, "-c", "-o", str(own), str(source)], cwd=ROOT, check=True)
        others = [str(o) for o in self.objects if o != self.build / path.with_suffix(".o")]
        subprocess.run(["gcc", "-mcmodel=medium", "-o", str(program), str(own), *others], check=True)
        answer = fixed(contract_of(self.texts[path], function, self.headers(path)))
        done = subprocess.run([str(program), str(checkers(path)), str(answer), str(self.seconds)], cwd=ROOT,
                              input=inputs, text=True, capture_output=True, check=True)
        program.unlink()
        return done.stdout.strip()
