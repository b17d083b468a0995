# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""In which small ways a function of C can be changed: operators, constants, conditions, statements, what it returns.
Only code is changed, never an annotation, a comment, a string or a line of the preprocessor."""
import dataclasses, re

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


def key_of(text, start, end, to):
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    shown = "not" if to == f"!({text[start:end]})" else to
    line = text[first:start] + "{" + text[start:end] + "=>" + shown + "}" + text[end:last]
    return " ".join(line.split())


def mutants_of(path, text):
    """[(function, its mutants)] of a file, none twice."""
    code = code_of(text)
    for function in functions(text):
        seen, count, found = set(), {}, []
        for start, end, to in changes(code[function.start:function.end], function.returns):
            start, end = function.start + start, function.start + end
            if (start, end, to) in seen or code[start:end] == to:
                continue
            seen.add((start, end, to))
            key = key_of(text, start, end, to)
            count[key] = count.get(key, 0) + 1
            key = key if count[key] == 1 else f"{key} #{count[key]}"
            found.append(Mutant(str(path), function.name, start, end, to, key))
        yield function, found
