# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""What a contract in ACSL promises, as expressions of C, as far as it speaks of plain values: no quantifiers, and of
predicates and logic functions only such as are plain themselves. What is not understood is left out, never changed.
Integers are of 128 bits, so that nothing overflows; what is old is kept in variables before the call."""
import functools, pathlib, re

SPECS = pathlib.Path(__file__).resolve().parent.parent

TOKEN = re.compile(r"\s*(\\\w+|[A-Za-z_]\w*|\d+[uUlL]*|<==>|==>|->|<=|>=|==|!=|&&|\|\||[-+*/%<>!?:()\[\].,;{}&|^~=])")
LEVELS = [["||"], ["&&"]]
COMPARED = ("<", "<=", ">", ">=", "==", "!=")
SUMS = [["+", "-"], ["*", "/", "%"]]


class NotPlain(Exception):
    pass


@functools.cache
def definitions():
    """{name: (parameters, body)} of predicates and logic functions of at most one state."""
    found = {}
    for path in sorted(SPECS.glob("*.acsl")):
        text = re.sub(r"//[^\n@]*|/\*(?!@).*?\*/", " ", path.read_text(), flags=re.S)
        for name, labels, parameters, body in re.findall(
                r"\b(?:predicate|logic \w+)\s+(\w+)\s*(?:\{([^}]*)\})?\s*(?:\(([^)]*)\))?\s*=([^;]*);", text):
            if "," not in labels:
                found[name] = [p.split()[-1] for p in parameters.split(",") if p.strip()], " ".join(body.split())
    return found


class Reader:
    """Of `names`, parameters of predicates, the values are known."""

    def __init__(self, text, olds, names=None, depth=0):
        self.tokens, self.at, self.olds, self.names, self.depth = [], 0, olds, names or {}, depth
        end = 0
        text = text.strip()
        while end < len(text):
            found = TOKEN.match(text, end)
            if not found:
                raise NotPlain(text[end:])
            self.tokens.append(found.group(1))
            end = found.end()

    def next(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *wanted):
        if self.next() not in wanted:
            return ""
        self.at += 1
        return self.tokens[self.at - 1]

    def need(self, wanted):
        if not self.take(wanted):
            raise NotPlain(f"{wanted} instead of {self.next()}")

    def whole(self):
        value = self.choice()
        if self.next():
            raise NotPlain(self.next())
        return value

    def choice(self):
        value = self.same()
        if self.take("?"):
            first = self.choice()
            self.need(":")
            value = f"({value} ? {first} : {self.choice()})"
        return value

    def same(self):
        value = self.follows()
        while self.take("<==>"):
            value = f"(!{value} == !{self.follows()})"
        return value

    def follows(self):
        value = self.joined(0)
        return f"(!{value} || {self.follows()})" if self.take("==>") else value

    def joined(self, level):
        if level == len(LEVELS):
            return self.compared()
        value = self.joined(level + 1)
        while operator := self.take(*LEVELS[level]):
            value = f"({value} {operator} {self.joined(level + 1)})"
        return value

    def compared(self):
        """a <= b < c is two comparisons."""
        value, parts = self.sum(0), []
        while operator := self.take(*COMPARED):
            other = self.sum(0)
            parts.append(f"({value} {operator} {other})")
            value = other
        return f"({' && '.join(parts)})" if len(parts) > 1 else (parts or [value])[0]

    def sum(self, level):
        if level == len(SUMS):
            return self.one()
        value = self.sum(level + 1)
        while operator := self.take(*SUMS[level]):
            value = f"({value} {operator} {self.sum(level + 1)})"
        return value

    def one(self):
        if operator := self.take("!", "-"):
            return f"({operator}{self.one()})"
        if self.take("("):
            value = self.choice()
            self.need(")")
            return value
        if self.next() in ("\\old", "\\at"):
            return self.old()
        word = self.next()
        self.at += 1
        if word in ("\\true", "\\false"):
            return "1" if word == "\\true" else "0"
        if word == "\\result":
            word = "refute_result"
        elif re.fullmatch(r"\d+[uUlL]*", word):
            return f"((__int128){word})"
        elif not re.fullmatch(r"[A-Za-z_]\w*", word):
            raise NotPlain(word)
        elif word in self.names:
            return self.names[word]
        elif word in definitions():
            return self.defined(word)
        return f"((__int128){word}{self.parts()})"

    def defined(self, word):
        parameters, body = definitions()[word]
        label = "Here"
        if self.take("{"):
            label = self.next()
            self.at += 1
            self.need("}")
        values = []
        if parameters:
            self.need("(")
            values.append(self.choice())
            while self.take(","):
                values.append(self.choice())
            self.need(")")
        if len(values) != len(parameters) or label not in ("Here", "Post", "L", "Pre", "Old") or self.depth > 9:
            raise NotPlain(word)
        value = Reader(body, self.olds, dict(zip(parameters, values)), self.depth + 1).whole()
        return self.kept(value) if label in ("Pre", "Old") else value

    def kept(self, value):
        if "refute_" in value:
            raise NotPlain("an answer that is old")
        self.olds.append(value)
        return f"refute_old_{len(self.olds) - 1}"

    def parts(self):
        text = ""
        while operator := self.take("[", ".", "->"):
            if operator == "[":
                text += f"[(long){self.choice()}]"
                self.need("]")
            else:
                text += operator + self.next()
                self.at += 1
        if self.next() in ("(", "{"):
            raise NotPlain("a predicate or a logic function")
        return text

    def old(self):
        of_label = self.take("\\at")
        self.at += not of_label
        self.need("(")
        value = self.choice()
        if of_label:
            self.need(",")
            if not self.take("Pre", "Old"):
                raise NotPlain(self.next())
        self.need(")")
        return self.kept(value)


def split(text, operators):
    """At operators outside of brackets."""
    parts, depth, last, tokens = [], 0, 0, list(TOKEN.finditer(text))
    for token in tokens:
        word = token.group(1)
        depth += (word in "([{") - (word in ")]}") if len(word) == 1 else 0
        if depth == 0 and word in operators:
            parts.append(text[last:token.start(1)])
            last = token.end()
    return [*parts, text[last:]]


def conjuncts(clause):
    """A && B, and C ==> A && B, are two promises each."""
    sides = split(clause, ("==>",))
    if len(split(clause, ("<==>", "?"))) > 1 or len(split(sides[-1], ("||",))) > 1:
        return [clause]
    return ["==>".join([*sides[:-1], part]) for part in split(sides[-1], ("&&",))]


def plain(kind, text, olds):
    """([(name, expression)], whether that is all) of the clauses of a kind. A clause is read up to its first semicolon:
    what stands before a quantifier is said for itself."""
    found, whole = [], True
    for name, clause in re.findall(rf"\b{kind}\s+(?:(\w+)\s*:)?([^;]*);", text):
        for part in conjuncts(" ".join(clause.split())):
            kept = len(olds)
            try:
                found.append((name or kind, Reader(part, olds).whole()))
            except NotPlain:
                del olds[kept:]
                whole = False
    return found, whole


def joined(clauses):
    return f"({' && '.join(['1', *(clause for _, clause in clauses)])})"


def promises(contract):
    """([what is to be kept before the call], [(name, expression)]) of those that are plain."""
    olds = []
    common, *behaviors = re.split(r"\bbehavior\s+\w+\s*:", contract)
    found, _ = plain("ensures", common, olds)
    ways = []
    for text in behaviors:
        assumed, whole = plain("assumes", text, olds)
        olds.append(joined(assumed))
        applies = f"refute_old_{len(olds) - 1}"
        ensured, _ = plain("ensures", text, olds)
        ways.append(f"({applies} && {joined(ensured)})")
        found += [(name, f"(!{applies} || {clause})") for name, clause in ensured if whole]
    if "complete behaviors;" in contract:
        found.append(("behaviors", f"({' || '.join(ways)})"))
    return olds, found
