# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""What a contract in ACSL promises, as C that says whether it was kept. Integers are of 128 bits, so that nothing
overflows; what is old is read in the process that still has it (refute.h); predicates and logic functions become
functions of C. What is not understood is left out, never changed.

A quantifier is a loop between the bounds that it names. Where less of it can only make a promise weaker, the loop ends
early (refute_bound); elsewhere, and where a sum takes too long, the promise counts as kept (refute_step). So what is
said to be broken is broken."""
import functools, pathlib, re

SPECS = pathlib.Path(__file__).resolve().parent.parent
TOKEN = re.compile(r"\s*(\\\w+|[A-Za-z_]\w*|\d+(?:[uU]?[lL]{0,2})\b|<==>|==>|->|<=|>=|==|!=|&&|\|\||"
                   r"[-+*/%<>!?:()\[\].,;{}&|^~=])")
PARTS = r"\b(requires|terminates|exits|assigns|ensures|behavior|assumes|complete|disjoint|decreases)\b"
COMPARED = ("<", "<=", ">", ">=", "==", "!=")
SUMS = [["+", "-"], ["*", "/", "%"]]
CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*")
NOW, OLD = "0", "1"


class NotPlain(Exception):
    pass


# --- reading: trees as tuples ---

class Reader:
    def __init__(self, text):
        self.tokens, self.at, end = [], 0, 0
        text = text.strip()
        while end < len(text):
            found = TOKEN.match(text, end)
            if not found:
                raise NotPlain(text[end:])
            self.tokens.append(found.group(1))
            end = found.end()

    def next(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def any(self):
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def take(self, *wanted):
        return self.any() if self.next() in wanted else ""

    def need(self, *wanted):
        if self.next() not in wanted:
            raise NotPlain(f"{wanted} instead of {self.next()}")
        return self.any()

    def whole(self):
        tree = self.choice()
        if self.next():
            raise NotPlain(self.next())
        return tree

    def choice(self):
        tree = self.same()
        if self.take("?"):
            first = self.choice()
            self.need(":")
            tree = "if", tree, first, self.choice()
        return tree

    def same(self):
        tree = self.follows()
        while self.take("<==>"):
            tree = "iff", tree, self.follows()
        return tree

    def follows(self):
        tree = self.either()
        return ("imp", tree, self.follows()) if self.take("==>") else tree

    def either(self):
        trees = [self.both()]
        while self.take("||"):
            trees.append(self.both())
        return ("or", *trees) if len(trees) > 1 else trees[0]

    def both(self):
        trees = [self.compared()]
        while self.take("&&"):
            trees.append(self.compared())
        return ("and", *trees) if len(trees) > 1 else trees[0]

    def compared(self):
        """a <= b < c is two comparisons."""
        trees, operators = [self.sum(0)], []
        while operator := self.take(*COMPARED):
            operators.append(operator)
            trees.append(self.sum(0))
        return ("cmp", operators, trees) if operators else trees[0]

    def sum(self, level):
        if level == len(SUMS):
            return self.one()
        tree = self.sum(level + 1)
        while operator := self.take(*SUMS[level]):
            tree = "sum", operator, tree, self.sum(level + 1)
        return tree

    def one(self):
        if operator := self.take("!", "-"):
            return "not" if operator == "!" else "minus", self.one()
        if self.take("("):
            tree = self.choice()
            self.need(")")
            return tree
        word = self.any()
        if word in ("\\forall", "\\exists"):
            return self.quantified(word)
        if word in ("\\min", "\\max"):
            self.need("(")
            first, _, second = self.choice(), self.need(","), self.choice()
            self.need(")")
            return "if", ("cmp", ["<" if word == "\\min" else ">"], [first, second]), first, second
        if word in ("\\old", "\\at"):
            self.need("(")
            tree = self.choice()
            label = self.any() if word == "\\at" and self.need(",") else "Old"
            self.need(")")
            return "at", label, tree
        if word in ("\\true", "\\false"):
            return "number", "1" if word == "\\true" else "0"
        if re.match(r"\d", word):
            return "number", word
        if word != "\\result" and not re.match(r"[A-Za-z_]", word):
            raise NotPlain(word)
        return self.named(word)

    def quantified(self, word):
        kind, names = self.any(), [self.any()]
        while self.take(","):
            names.append(self.any())
        self.need(";")
        return "all" if word == "\\forall" else "some", kind, names, self.choice()

    def named(self, word):
        labels, values, parts = [], [], []
        if self.take("{"):
            labels.append(self.any())
            while self.need(",", "}") == ",":
                labels.append(self.any())
        if self.take("("):
            values.append(self.choice())
            while self.need(",", ")") == ",":
                values.append(self.choice())
            return "call", word, labels, values
        if labels:
            return "call", word, labels, values
        while operator := self.take("[", ".", "->"):
            parts.append((operator, self.choice() if operator == "[" else self.any()))
            if operator == "[":
                self.need("]")
        return "name", word, parts


@functools.cache
def definitions():
    """{(name, number of parameters): (labels, names of parameters, body)} of predicates and logic functions; none that
    is defined twice."""
    found, twice = {}, set()
    for path in sorted(SPECS.glob("*.acsl")):
        text = re.sub(r"//[^\n]*", " ", path.read_text())
        for name, labels, parameters, body in re.findall(
                r"\b(?:predicate|logic \w+)\s+(\w+)\s*(?:\{([^}]*)\})?\s*(?:\(([^)]*)\))?\s*="
                r"(.*?);\s*(?=(?:@?\s*)*(?:predicate|logic|axiom|lemma|\}|\*/|@\*/|/\*))", text, flags=re.S):
            names = [p.split()[-1] for p in parameters.split(",") if p.strip()]
            twice |= {(name, len(names))} & found.keys()
            found[name, len(names)] = [label.strip() for label in labels.split(",") if label.strip()], names, body
    return {key: found[key] for key in found if key not in twice}


# --- writing ---

class Scope:
    """What names mean: values that are the same at any time, labels, and the label that counts."""

    def __init__(self, values, labels, label):
        self.values, self.labels, self.label = values, labels, label

    def having(self, names):
        return Scope(self.values | set(names), self.labels, self.label)

    def at(self, name):
        if name not in self.labels:
            raise NotPlain(name)
        return Scope(self.values, self.labels, self.labels[name])


class Writer:
    """Expressions for trees, and the functions that these call; `bad` ones are not understood by the compiler. `sign`
    is 1 where a tree that holds less often weakens the promise no further than to be kept: 1 for the promise itself,
    -1 under a negation, 0 for both."""

    def __init__(self, bad=()):
        self.functions, self.bad, self.count = {}, set(bad), 0

    def write(self, tree, scope, sign):
        return getattr(self, "write_" + tree[0])(tree, scope, sign)

    def write_number(self, tree, _scope, _sign):
        return f"((__int128){tree[1]})"

    def write_if(self, tree, scope, sign):
        return f"({self.write(tree[1], scope, 0)} ? {self.write(tree[2], scope, sign)} : {self.write(tree[3], scope, sign)})"

    def write_iff(self, tree, scope, _sign):
        return f"(!{self.write(tree[1], scope, 0)} == !{self.write(tree[2], scope, 0)})"

    def write_imp(self, tree, scope, sign):
        return f"(!{self.write(tree[1], scope, -sign)} || {self.write(tree[2], scope, sign)})"

    def write_or(self, tree, scope, sign):
        operator = " || " if tree[0] == "or" else " && "
        return f"({operator.join(self.write(part, scope, sign) for part in tree[1:])})"

    write_and = write_or

    def write_not(self, tree, scope, sign):
        return f"(!{self.write(tree[1], scope, -sign)})"

    def write_minus(self, tree, scope, _sign):
        return f"(-{self.write(tree[1], scope, 0)})"

    def write_sum(self, tree, scope, _sign):
        return f"({self.write(tree[2], scope, 0)} {tree[1]} {self.write(tree[3], scope, 0)})"

    def write_cmp(self, tree, scope, _sign):
        values = [self.write(part, scope, 0) for part in tree[2]]
        pairs = [f"({a} {operator} {b})" for a, operator, b in zip(values, tree[1], values[1:])]
        return f"({' && '.join(pairs)})" if len(pairs) > 1 else pairs[0]

    def write_at(self, tree, scope, sign):
        return self.write(tree[2], scope.at(tree[1]), sign)

    def write_name(self, tree, scope, sign):
        _, word, parts = tree
        if (word, 0) in definitions() and word not in scope.values and not parts:
            return self.write_call(("call", word, [], []), scope, sign)
        text = "refute_result" if word == "\\result" else word
        for operator, part in parts:
            text += f"[(long){self.write(part, scope, 0)}]" if operator == "[" else operator + part
        if word == "\\result" or word in scope.values and not any(o != "." for o, _ in parts) or \
                CONSTANT.fullmatch(word) or scope.label == NOW:
            return f"((__int128){text})"
        if scope.label == OLD:
            return f"((__int128)REFUTE_OLD({text}))"
        return f"({scope.label} ? (__int128)REFUTE_OLD({text}) : (__int128){text})"

    def write_call(self, tree, scope, sign):
        _, word, labels, values = tree
        defined = word, len(values)
        if defined not in definitions() or word in self.bad:
            raise NotPlain(word)
        own = definitions()[defined][0]
        given = [scope.at(label).label for label in labels] or [scope.label] * max(len(own), 1)
        if len(given) != max(len(own), 1):
            raise NotPlain(word)
        self.define(defined, sign)
        values = [self.write(value, scope, 0) for value in values]
        return f"refute_{word}_{len(values)}{sign + 1}({', '.join(given + values)})"

    def define(self, defined, sign):
        word, count = defined
        key = defined, sign
        if key in self.functions:
            if self.functions[key] is None:
                raise NotPlain(word)
            return
        own, parameters, body = definitions()[defined]
        labels = {label: f"at_{label}" for label in own or ["L"]}
        self.functions[key] = ""  # it may call itself
        try:
            scope = Scope({f"v_{p}" for p in parameters}, {**labels, "Here": f"at_{(own or ['L'])[0]}"},
                          f"at_{(own or ['L'])[0]}")
            for parameter in parameters:
                body = re.sub(rf"(?<![\w.>\\]){parameter}\b", f"v_{parameter}", body)
            value = self.write(Reader(body).whole(), scope, sign)
        except NotPlain:
            self.functions[key] = None
            raise
        heads = ", ".join([f"int {label}" for label in labels.values()] + [f"__int128 v_{p}" for p in parameters])
        name = f"static REFUTE_PLAIN __int128 refute_{word}_{count}{sign + 1}({heads})"
        self.functions[key] = f"{name};", f"{name} {{ REFUTE_CALL({value}) }}"

    def write_all(self, tree, scope, sign):
        return self.loop(tree, scope, sign, conditions(tree[3]), 1, sign <= 0)

    def write_some(self, tree, scope, sign):
        parts = tree[3][1:] if tree[3][0] == "and" else [tree[3]]
        return self.loop(tree, scope, sign, parts, 0, sign >= 0)

    def loop(self, tree, scope, sign, guards, otherwise, exact):
        _, kind, names, body = tree
        inner, opened, closed = scope, "", ""
        for name in names:
            low, high = bounds(name, guards, kind)
            low, high = self.write(low, inner, 0), self.write(high, inner, 0)
            inner = inner.having([name])
            self.count += 1
            i = self.count
            opened += (f"({{ int ok_{i} = {otherwise}; __int128 end_{i} = {high}, {name} = {low}; "
                       f"for (end_{i} = refute_bound({name}, end_{i}, {int(exact)}); "
                       f"ok_{i} == {otherwise} && {name} < end_{i} && refute_step({int(exact)}); {name}++) ok_{i} = !!")
            closed = f"; ok_{i}; }})" + closed
        return opened + self.write(body, inner, sign) + closed

    def lines(self):
        made = [pair for pair in self.functions.values() if pair]
        return [pair[0] for pair in made] + [pair[1] for pair in made]


def conditions(tree):
    """Of a ==> b && c ==> d: a, b and c."""
    if tree[0] != "imp":
        return []
    return [*(tree[1][1:] if tree[1][0] == "and" else [tree[1]]), *conditions(tree[2])]


def bounds(name, guards, kind):
    """(first, one behind the last) that these say of a name."""
    low, high, one = None, None, ("number", "1")
    for guard in guards:
        if guard[0] != "cmp":
            continue
        for operator, a, b in zip(guard[1], guard[2], guard[2][1:]):
            if b == ("name", name, []) and operator in ("<", "<=") and not low:
                low = a if operator == "<=" else ("sum", "+", a, one)
            if a == ("name", name, []) and operator in ("<", "<=") and not high:
                high = b if operator == "<" else ("sum", "+", b, one)
    low = low or (("number", "0") if kind.startswith(("uint", "sl_")) else None)
    if not low or not high:
        raise NotPlain(f"no bounds of {name}")
    return low, high


# --- contracts ---

def conjuncts(tree):
    """A && B, and C ==> A && B, are two promises each."""
    if tree[0] == "and":
        return [part for each in tree[1:] for part in conjuncts(each)]
    if tree[0] == "imp":
        return [("imp", tree[1], part) for part in conjuncts(tree[2])]
    return [tree]


def trees(text, kind):
    """[(name, tree)] of the clauses of a kind, and whether all could be read."""
    found, whole, pieces = [], True, re.split(PARTS, text)
    for head, clause in zip(pieces[1::2], pieces[2::2]):
        if head != kind:
            continue
        name, clause = re.match(r"\s*(?:(\w+)\s*:(?!:))?(.*?);?\s*(?:\*/|@\*/)?\s*$", clause, flags=re.S).groups()
        try:
            found.append((name or kind, Reader(clause).whole()))
        except NotPlain:
            whole = False
    return found, whole


def promises(contract, parameters=(), bad=()):
    """([lines of C that define functions], [(name, expression)]) of what can be said in C."""
    scope = Scope(set(parameters), {"Pre": OLD, "Old": OLD, "Post": NOW, "Here": NOW}, NOW)
    writer, found, ways = Writer(bad), [], []
    contract = re.sub(r"//[^\n]*", " ", contract)
    common, *behaviors = re.split(r"\bbehavior\s+\w+\s*:", contract)

    def said(tree, sign, where):
        try:
            return writer.write(tree, where, sign)
        except NotPlain:
            return None

    def ensured(text):
        rows = [(name, said(part, 1, scope)) for name, tree in trees(text, "ensures")[0] for part in conjuncts(tree)]
        return [(name, value) for name, value in rows if value]

    found += ensured(common)
    for text in behaviors:
        assumed, whole = trees(text, "assumes")
        values = [said(tree, -1, scope.at("Old")) for _, tree in assumed]
        promised = ensured(text)
        if whole and None not in values:
            found += [(name, f"(!({' && '.join(values)}) || {value})") for name, value in promised]
        weaker = [said(tree, 1, scope.at("Old")) for _, tree in assumed] + [value for _, value in promised]
        ways.append(f"({' && '.join(['1', *(v for v in weaker if v)])})")
    if re.search(r"complete\s+behaviors", contract):
        found.append(("behaviors", f"({' || '.join(ways)})"))
    return writer.lines(), found
