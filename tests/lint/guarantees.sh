#!/bin/bash
# docs/guarantees.md is true: its predicates and functions exist, and what it calls proved is proved in full by
# specs/manifest.json.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec python3 - <<'END'
import json, pathlib, re, sys

problems = []
specs = "\n".join(p.read_text() for p in pathlib.Path("specs").glob("*.acsl"))
headers = "\n".join(p.read_text() for p in pathlib.Path("src").rglob("*.h"))
manifest = json.loads(pathlib.Path("specs/manifest.json").read_text())
functions = {}
for name, file in manifest["files"].items():
    for function, counts in file["functions"].items():
        functions.setdefault(function, []).append((name, counts))

rows = {}
for line in pathlib.Path("docs/guarantees.md").read_text().splitlines():
    cells = [cell.strip() for cell in line.split("|")]
    if len(cells) != 7 or not re.fullmatch(r"G\d+", cells[1]):
        continue
    number, sentence, predicates, named, evidence = cells[1:6]
    rows[number] = evidence
    if not sentence:
        problems.append(f"{number}: no sentence")
    kind = re.match(r"proved in part: \S|proved$|checked at run time|not yet", evidence)
    if not kind:
        problems.append(f"{number}: unknown evidence: {evidence[:40]}")
    claims_proof = evidence.startswith("proved")
    for predicate in re.findall(r"`(\w+)`", predicates):
        if not re.search(rf"\b(?:predicate|logic\s+\w+)\s+{predicate}\b", specs):
            problems.append(f"{number}: no predicate {predicate} in specs/")
    names = re.findall(r"`(\w+)`", named)
    if claims_proof and not names:
        problems.append(f"{number}: proved, but by no function")
    for function in names:
        if not re.search(rf"\b{function}\(", headers):
            problems.append(f"{number}: no header declares {function}")
        if not claims_proof:
            continue
        entries = functions.get(function, [])
        if not entries:
            problems.append(f"{number}: {function} has no goals in specs/manifest.json")
        for name, counts in entries:
            if counts["proved"] != counts["goals"] or not counts["goals"]:
                problems.append(f"{number}: {function}: {counts['proved']} of {counts['goals']} goals in {name}")
for n in range(1, 14):
    if f"G{n}" not in rows:
        problems.append(f"G{n}: no row")
for problem in problems:
    print(f"guarantees: {problem}")
proved = sum(e == "proved" for e in rows.values())
print(f"guarantees: {len(rows)} rows, {proved} proved, {len(problems)} problems")
sys.exit(bool(problems))
END
