#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Every metric family that the sources name is in docs/monitoring.md, with the text that the daemon says of it, and the
dashboard and the alert rules name no other.

usage: metrics.py [--write]    --write makes the table in docs/monitoring.md again"""
import json, pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/monitoring.md"
MONITORING = ROOT / "deploy/kubernetes/monitoring"
BEGIN, END = "<!-- made by tests/lint/metrics.py --write -->\n", "<!-- end -->\n"
NAME = r"(?:kueue|sluice|process)_[a-z_]+"
ONLY = {"src/cli/daemon/daemon.c": "standalone", "src/cli/daemon/daemon_cluster.c": "in a cluster"}


def joined(path):
    """The source on one line, with neighbouring literals as one."""
    return re.sub(r'"\s+"', "", re.sub(r"\s+", " ", path.read_text()))


def families():
    """name -> (type, text, where)"""
    found, problems = {}, []
    sources = [p for p in sorted((ROOT / "src").glob("**/*.c")) if "sl_metrics_help" in p.read_text() or "sl_metrics_value" in p.read_text()]
    for path in sources:
        text, name = joined(path), str(path.relative_to(ROOT))
        for macro, family in re.findall(rf'#define (\w+) "({NAME})"', text):
            text = re.sub(rf"\b{macro}\b", f'"{family}"', text)
        here = {}
        for family, says in re.findall(rf'sl_metrics_value\( ?out, "({NAME})", "([^"]*)"', text):
            here[family] = ("counter" if family.endswith("_total") else "gauge", says)
        for family, kind, says in re.findall(rf'sl_metrics_help\(out, "({NAME})", "(\w+)", "([^"]*)"', text):
            here[family] = (kind, says)
        for family, says in re.findall(rf'\{{"({NAME})", "([^"]*)", print_', text):
            here[family] = ("gauge", says)
        for family, says in re.findall(rf'\{{"({NAME})", NULL, "([^"]*)"\}}', text):
            here[family] = ("counter" if family.endswith("_total") else "histogram", says)
        for end, says in re.findall(r'\{BOTH\("([a-z_]+)"\), "([^"]*)"\}', text):
            for whose in ("kueue_", "kueue_local_queue_"):
                here[whose + end] = ("counter" if end.endswith("_total") else "histogram", says)
        variables = dict(re.findall(rf'struct family (\w+) = \{{out, "({NAME})"', text))
        for variable, kind, says in re.findall(r'sl_metrics_help\(out, (\w+)\.metric, "(\w+)", "([^"]*)"', text):
            here[variables[variable]] = (kind, says)
        for family in set(re.findall(rf'"({NAME})"', text)) - set(here) - {"kueue_", "kueue_local_queue_"}:
            problems.append(f"{name}: {family} has no text that this script finds")
        found.update({family: (*says, ONLY.get(name, "")) for family, says in here.items()})
    return found, problems


def table(found):
    lines = ["| family | type | says |", "| --- | --- | --- |"]
    for family, (kind, says, where) in sorted(found.items()):
        lines.append(f"| `{family}` | {kind} | {says}{f' ({where})' if where else ''} |")
    return "\n".join(lines) + "\n"


def queries():
    """(file, PromQL) of the dashboard's panels and variables and of the alerts."""
    def walk(value):
        if isinstance(value, dict):
            for key, inner in value.items():
                if key in ("expr", "query", "definition") and isinstance(inner, str):
                    yield inner
                else:
                    yield from walk(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from walk(inner)
    dashboard = MONITORING / "dashboard.json"
    yield from ((dashboard.name, q) for q in walk(json.loads(dashboard.read_text())) if q != "prometheus")
    alerts = MONITORING / "alerts.yaml"
    for expression in re.findall(r"^ +expr: (?:\|-?\n((?: {8,}.*\n)+)|(.*)\n)", alerts.read_text(), re.M):
        yield alerts.name, "".join(expression)


def main(argv):
    found, problems = families()
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    made = before + BEGIN + table(found) + END + rest.split(END)[1]
    if argv == ["--write"]:
        PAGE.write_text(made)
    elif page != made:
        problems.append("docs/monitoring.md: the table of families is old: tests/lint/metrics.py --write")
    count = 0
    for file, query in queries():
        count += 1
        names = {n for n in re.findall(rf"\b{NAME}\b", query)}
        if not names:
            problems.append(f"{file}: no family in {query}")
        for name in sorted(names):
            if name not in found and re.sub(r"_(bucket|count|sum)$", "", name) not in found:
                problems.append(f"{file}: there is no family {name}")
    for problem in problems:
        print(f"metrics: {problem}")
    print(f"metrics: {len(found)} families, {count} queries, {len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
