# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""In which small ways a function of C can be changed: operators, constants, conditions, statements, what it returns; or
which words of one kind can be mistaken for each other: enumerators of one type, neighbouring arguments of one type. Only code is changed, never an annotation, a comment, a string or a line of the preprocessor."""
import dataclasses, functools, pathlib, re, subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

OPERATORS = [(r"<=", ["<", ">"]), (r">=", [">", "<"]), (r"==", ["!="]), (r"!=", ["=="]),
             (r"(?<![<>=!-])<(?![<=])", ["<=", ">="]), (r"(?<![<>=!-])>(?![>=])", [">=", "<="]),
             (r"&&", ["||"]), (r"\|\|", ["&&"]), (r"\+=", ["-="]), (r"-=", ["+="]), (r"\+\+", ["--"]), (r"--", ["++"]),
             (r" \+ ", [" - "]), (r" - ", [" + "]), (r" \* ", [" + "]), (r" / ", [" * "]), (r" % ", [" / "]),
             (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"])]
LVALUE = r"\w+(?:(?:\.|->)\w+|\[[^\[\]\n;]*(?:\[[^\[\]\n;]*\][^\[\]\n;]*)*\])*"
STATEMENT = rf"^[ \t]*(?!(?:return|else|struct|enum|const|static)\b)(?:\(void\))?{LVALUE}" \
            r"(?:\([^;]*\)|\s*[+-]?=[^;=]+|\+\+|--);|\b(?:break|continue);"
FUNCTION = r"^([a-z][\w \t\*]*?)\b(\w+)\([^;{}]*\)\s*\{"


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A change of text[start:end] in a function of a file."""
    path: str
    function: str
    start: int
    end: int
    to: str
    key: str  # names it when lines move: its source line with the change, and which of several alike it is

    def applied(self, text):
        return text[:self.start] + self.to + text[self.end:]


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    returns: str
    first: int  # with the comment before it, which is its contract if it is static
    start: int  # the body
    end: int


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def code_of(text):
    """The code alone, every other character a blank, so that offsets stay."""
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, code, flags=re.M)


def closing(code, at):
    """Where the bracket that opens at `at` closes."""
    pair = {"{": "}", "(": ")"}[code[at]]
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] == code[at]) - (code[i] == pair)
        if depth == 0:
            return i
    return len(code)


def functions(text):
    code = code_of(text)
    last = 0
    for m in re.finditer(FUNCTION, code, flags=re.M):
        if m.start() < last:
            continue
        end = closing(code, m.end() - 1)
        comment = text.find("/*", last, m.start())
        yield Function(m.group(2), m.group(1), comment if comment >= 0 else m.start(), m.end(), end)
        last = end + 1


def constants(body):
    """One more and one less; of a limit that has a name, too."""
    for m in re.finditer(r"\b(\d+)(u?l{0,2})\b", body, flags=re.I):
        number, suffix = int(m.group(1)), m.group(2)
        yield m.start(), m.end(), f"{number + 1}{suffix}"
        if number > 0:
            yield m.start(), m.end(), f"{number - 1}{suffix}"
    for m in re.finditer(r"\bSL_\w+_MAX\b", body):
        yield m.start(), m.end(), f"({m.group()} - 1)"
        yield m.start(), m.end(), f"({m.group()} + 1)"


def conditions(body):
    for m in re.finditer(r"\b(?:if|while) (?=\()", body):
        end = closing(body, m.end())
        yield m.end() + 1, end, f"!({body[m.end() + 1:end]})"
    for m in re.finditer(r"(?:return |(?<![=!<>])= |\(|, )([^;,?(){}]+) \? ", body):
        yield m.start(1), m.end(1), f"!({m.group(1)})"


def returned(body, returns):
    for m in re.finditer(r"\breturn ([^;]+);", body):
        what = m.group(1).strip()
        if what in ("true", "false") or re.fullmatch(r"\d+u?", what):
            continue
        if re.fullmatch(r"SL_OK|SL_(?:REFUSED|FULL)_\w+", what):
            to = "SL_REFUSED_BAD_ARGUMENT" if what == "SL_OK" else "SL_OK"
        elif "bool" in returns:
            to = f"!({what})"
        elif "sl_status" in returns:
            to = "SL_OK"
        elif "struct" in returns:
            continue
        else:
            to = "0"
        yield m.start(1), m.end(1), to


def changes(body, returns):
    """(start, end, replacement) in a body, code alone."""
    for pattern, replacements in OPERATORS:
        for m in re.finditer(pattern, body):
            for to in replacements:
                yield m.start(), m.end(), to
    yield from constants(body)
    yield from conditions(body)
    yield from returned(body, returns)
    for m in re.finditer(STATEMENT, body, flags=re.M):
        yield m.start(), m.end(), " ;"


@functools.lru_cache(None)
def declarations():
    """({enumerator: its type and place in it}, {type: its enumerators}, {function: types of its parameters}) of the kernel."""
    headers = sorted(p.relative_to(ROOT / "src") for p in (ROOT / "src/kernel").rglob("*.h"))
    text = subprocess.run(["gcc", "-E", "-P", "-Isrc", "-I.", "-"], cwd=ROOT, capture_output=True, text=True, check=True,
                          input="".join(f'#include "{h}"\n' for h in headers)).stdout
    types = {m.group(1): [e.split("=")[0].strip() for e in m.group(2).split(",") if e.strip()]
             for m in re.finditer(r"\benum (\w+)\s*\{([^}]*)\}", text)}
    # The last of some says how many there are; what a refusal is called no contract says.
    types = {name: [e for e in members if not re.search(r"_COUNT$|_REASONS$|^SL_CAUSES$", e)]
             for name, members in types.items() if name != "sl_status"}
    of = {e: (name, i) for name, members in types.items() for i, e in enumerate(members)}
    calls = {m.group(1): [re.sub(r"\b\w+$", "", p.strip()).strip() for p in m.group(2).split(",")]
             for m in re.finditer(r"^[a-z][\w ]*[\s*](\w+)\(([^;{}()]*)\)[^;{}]*;", text, flags=re.M)}
    return of, types, calls


def arguments(body, at):
    """[(start, end)] of a call whose bracket opens at `at`."""
    found, depth, start = [], 0, at + 1
    for i in range(at, closing(body, at) + 1):
        depth += (body[i] in "([{") - (body[i] in ")]}")
        if (body[i] == "," and depth == 1) or depth == 0:
            found.append((start + len(body[start:i]) - len(body[start:i].lstrip()), i))
            start = i + 1
    return found


def swaps(body, _):
    """Another enumerator of the same type, the one before and the one behind; two neighbours of a call's arguments."""
    of, types, calls = declarations()
    for m in re.finditer(r"\bSL_\w+\b", body):
        if m.group() in of and not re.search(r"\bcase\s+$", body[:m.start()]):
            name, i = of[m.group()]
            for to in {types[name][(i + 1) % len(types[name])], types[name][i - 1]} - {m.group()}:
                yield m.start(), m.end(), to
    for m in re.finditer(r"\b(\w+)\(", body):
        places = arguments(body, m.end() - 1) if m.group(1) in calls else []
        for i in range(len(places) - 1):
            (a, b), (c, d) = places[i], places[i + 1]
            if len(places) == len(calls[m.group(1)]) and calls[m.group(1)][i] == calls[m.group(1)][i + 1]:
                yield a, d, body[c:d].strip() + body[b:c] + " " + body[a:b].strip()


def key_of(text, start, end, to):
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    shown = "not" if to == f"!({text[start:end]})" else to
    line = text[first:start] + "{" + text[start:end] + "=>" + shown + "}" + text[end:last]
    return " ".join(line.split())


def mutants_of(path, text, change=changes):
    """[(function, its mutants)] of a file, none twice."""
    code = code_of(text)
    for function in functions(text):
        seen, count, found = set(), {}, []
        for start, end, to in change(code[function.start:function.end], function.returns):
            start, end = function.start + start, function.start + end
            if (start, end, to) in seen or code[start:end] == to:
                continue
            seen.add((start, end, to))
            key = key_of(text, start, end, to)
            count[key] = count.get(key, 0) + 1
            key = key if count[key] == 1 else f"{key} #{count[key]}"
            found.append(Mutant(str(path), function.name, start, end, to, key))
        yield function, found
