#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""The dashboard and the alert rules ask for no metric family that the sources do not have.

usage: metrics.py"""
import json, pathlib, re, sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from reference import ROOT, metric_families

MONITORING = ROOT / "deploy/kubernetes/monitoring"
NAME = r"(?:kueue|sluice|process)_[a-z_]+"


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


def main():
    found, problems, count = metric_families(), [], 0
    for file, query in queries():
        count += 1
        names = set(re.findall(rf"\b{NAME}\b", query))
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
    sys.exit(main())
