# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""What Frama-C's report says of each property once WP is done: WP counts goals, and a property without a goal is not
missed by it. A property is proved here, or it is a contract of another file's function, which is proved there.

`-then -report` prints sections ("Properties of Function 'f'", "Global Properties") of lines "[ STATUS ] property".
Extern means that Frama-C takes it for true: a clause with `admit`, an axiom, or a function without a body."""
import pathlib, re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
REPORT = ["-then", "-report"]


def declared():
    """What headers and specs name as functions. Their text is the same for the file that proves a contract and for
    those that rely on it; tests/lint/two_contracts.py sees that no other file declares a function of another one."""
    shared = sorted((ROOT / "src").rglob("*.h")) + sorted((ROOT / "specs").glob("*.acsl"))
    return {name for path in shared for name in re.findall(r"\b(\w+)\(", path.read_text())}


def judge(log, own):
    """Problems, and the functions whose contracts are taken for true. `own` are the functions with goals of this file."""
    problems, taken, section = [], set(), ""
    report = log.partition("[report] Computing properties status")[2]
    for line in report.splitlines():
        heading = re.match(r"--- (?:Properties of Function '(\w+)'|(Global Properties))", line)
        if heading:
            section = heading.group(1) or ""
        entry = re.match(r"\[([ \w.-]{9})\] (.*)", line)
        if not entry or entry.group(1).strip() == "Valid":
            continue
        if entry.group(1).strip() == "Extern" and section and section not in own:
            taken.add(section)
        else:
            problems.append(f"{section or 'global'}: {entry.group(2)} is {entry.group(1).strip()}")
    if "--- Status Report Summary" not in report:
        problems.append("Frama-C printed no report of what is proved")
    return problems, sorted(taken)


def unproved_elsewhere(taken, proved, headers):
    """Of the functions whose contracts were taken for true, those that no file proves."""
    return [name for name in taken if name not in proved or name not in headers]
