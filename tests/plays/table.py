#!/usr/bin/env python3
"""The table of kinds and promises in docs/jobs.md: of what held in the plays (tests/e2e/test_plays.py, and for Kubernetes' own kinds
tests/cluster/test_own_plays.py), which keep it in held.json.

usage: table.py write | check"""
import json, pathlib, sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/jobs.md"
BEGIN, END = "<!-- made by tests/plays/table.py -->\n", "<!-- until here -->\n"
PROMISES = ["counts", "suspend, restore", "reclaimable pods", "PodsReady", "finish", "priority class", "partial admission", "prebuilt",
            "topology request", "ranks", "pod set groups", "managedBy", "elastic"]


def all_plays():
    """Name -> play."""
    return {p.stem: json.loads(p.read_text()) for p in sorted(HERE.glob("*.json")) if p.stem != "held"}


def plays(groups=None):
    """The names of those that adapter files describe; of kinds whose pods come in groups, or of the others, or of all."""
    return [n for n, play in all_plays().items() if "kubernetes" not in play and groups in (None, "group" in play)]


def held():
    return json.loads((HERE / "held.json").read_text())


def said(name):
    return held().get(name)


def write(name, play, promises):
    all_of_them = held()
    all_of_them[name] = sorted(promises)
    (HERE / "held.json").write_text("{\n" + ",\n".join(
        f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(all_of_them.items())) + "\n}\n")


def made():
    """The table, its reasons below, and what is wrong."""
    reasons, rows, wrong = [], [], []
    everywhere = json.loads((HERE / "held.json").read_text())
    common = dict(line.split(": ", 1) for line in (HERE / "lacks.txt").read_text().splitlines() if line[:1] not in ("", "#"))
    for name, play in sorted(all_plays().items(), key=lambda item: ("kubernetes" not in item[1], item[0])):
        cells = []
        lacks = {**common, **play.get("lacks", {})}
        for promise in PROMISES:
            if promise in everywhere.get(name, []):
                cells.append("yes")
                if promise in play.get("lacks", {}):
                    wrong.append(f"tests/plays/{name}.json: {promise} held, and has a reason why not")
                continue
            if promise not in lacks:
                wrong.append(f"tests/plays/{name}.json: {promise} did not hold, and lacks says no reason")
            reason = lacks.get(promise, "?")
            if reason not in reasons:
                reasons.append(reason)
            cells.append(f"[{reasons.index(reason) + 1}]")
        rows.append(f"| {play.get('row') or play['object']['kind']} | " + " | ".join(cells) + " |")
    head = ["| | " + " | ".join(PROMISES) + " |", "| --- |" + " --- |" * len(PROMISES)]
    notes = [f"{i}. {reason}" for i, reason in enumerate(reasons, 1)]
    return "\n".join(head + rows + [""] + notes) + "\n", wrong


def main(what):
    text, wrong = made()
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    new = before + BEGIN + text + END + rest.partition(END)[2]
    if what == "write":
        PAGE.write_text(new)
    elif new != page:
        wrong.append("docs/jobs.md is not what the plays say: run make plays")
    print("\n".join(wrong + [f"plays: {len(all_plays())} kinds, {len(wrong)} problems"]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
