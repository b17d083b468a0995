#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""How Kueue's suites end with Sluice and with Kueue's own manager, and why: the tables in docs/compatibility.md.

usage: table.py report SUITE sluice|kueue REPORT...   what fails, and why; with Sluice, a spec without a reason is an error
       table.py failed SUITE sluice|kueue REPORT...   the places of those, to run them again
       table.py record SUITE sluice|kueue REPORT...   keeps how all ended in records/, for the tables
       table.py write | check                         the tables of docs/compatibility.md, from records/ and reasons.txt

Of several reports of one suite the later ones are of failed specs that were run again, alone: what passes then has
failed by its timing. A reason is a line `SUITE FILE LINE,LINE... WHY`; one that no spec needs any more is an error, unless
it begins with "now and then"."""
import collections, datetime, json, pathlib, re, sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/compatibility.md"
PASSED, AGAIN, FAILED, UNKNOWN = "pass", "again", "FAIL", "-"
GOOD = (PASSED, AGAIN)
JOBS = ("job", "pod", "jobset", "raycluster", "rayjob", "mpijob", "trainjob", "pytorchjob", "tfjob", "xgboostjob", "paddlejob", "jaxjob", "appwrapper", "sparkapplication", "statefulset")
SUITES = ("conversion", "webhook/core", "webhook/jobs", "kueuectl", "controller/core", "scheduler",
          *(f"scheduler/{part}" for part in ("delayedadmission", "excluderesources", "fairsharing", "inadmissible", "podsready", "quotacheckstrategy", "resourcetransformations")),
          "tas", "controller/dra", "controller/failurerecovery", "controller/jobframework/setup", "controller/admissionchecks/provisioning", "controller/concurrentadmission", *(f"controller/jobs/{kind}" for kind in JOBS))
Suite = collections.namedtuple("Suite", "name dates specs")  # specs: {(place, text): {"sluice": state, "kueue": state}}


class Trouble(Exception):
    """Said to whom started this."""


def place_key(spec):
    """By file and line, as numbers."""
    name, _, line = spec[0].rpartition(":")
    return name, int(line), spec[1]


# --- Reports of Ginkgo ----------------------------------------------------------------------------------------------
def left_out(spec):
    """Not asked for, where a spec that a failed one before it has kept from running counts as failed."""
    return spec["State"] == "pending" or (spec["State"] == "skipped" and not spec.get("Failure", {}).get("Message"))


def specs_of(report, suite):
    """{(place in the suite, text): passed}; a spec that a loop makes several times passes if all do."""
    found = {}
    for part in report:
        for spec in part.get("SpecReports") or []:
            if spec["LeafNodeType"] != "It" or left_out(spec):
                continue
            at = spec["LeafNodeLocation"]
            name = at["FileName"].partition(f"/singlecluster/{suite}/")[2] or pathlib.Path(at["FileName"]).name
            key = f"{name}:{at['LineNumber']}", " ".join(spec["LeafNodeText"].split())
            found[key] = found.get(key, True) and spec["State"] == "passed"
    return found


def ended(reports, suite):
    """{spec: state}; what is only in a later report was left out of the first for its sake."""
    first, *later = ({k: ok for k, ok in specs_of(r, suite).items()} for r in reports)
    states = {k: PASSED if ok else FAILED for k, ok in first.items()}
    for again in later:
        for k, ok in again.items():
            if ok and states.get(k, FAILED) == FAILED:
                states[k] = AGAIN
            states.setdefault(k, FAILED)
    if not states:
        raise Trouble(f"{suite}: no spec in the report")
    return states


# --- Records and reasons --------------------------------------------------------------------------------------------
def path_of(suite, records):
    return records / f"{suite.replace('/', '-')}.txt"


def parse_record(name, text):
    """Lines `date WHO DAY`, and `SLUICE KUEUE PLACE TEXT`."""
    dates, specs = {}, {}
    for line in filter(None, text.splitlines()):
        words = line.split(" ", 3)
        if words[0] == "date":
            dates[words[1]] = words[2]
        elif line[0] != "#":
            specs[words[2], words[3] if len(words) > 3 else ""] = {"sluice": words[0], "kueue": words[1]}
    return Suite(name, dates, specs)


def print_record(suite):
    lines = ["# How the specs of a suite end with Sluice and with Kueue's own manager; made by tests/suites/table.py."]
    lines += [f"date {who} {day}" for who, day in sorted(suite.dates.items())]
    lines += [f"{s['sluice']} {s['kueue']} {place} {text}".rstrip() for (place, text), s in
              sorted(suite.specs.items(), key=lambda i: place_key(i[0]))]
    return "\n".join(lines) + "\n"


def merged(suite, who, states, day):
    """The record with what one of the two did; specs that neither has any more are left out."""
    other = "kueue" if who == "sluice" else "sluice"
    specs = {}
    for key in {*states, *(k for k, s in suite.specs.items() if s[other] != UNKNOWN)}:
        specs[key] = {other: suite.specs.get(key, {}).get(other, UNKNOWN), who: states.get(key, UNKNOWN)}
    return Suite(suite.name, {**suite.dates, who: day}, specs)


def parse_reasons(text):
    """[(suite, file, lines, why)]"""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line[0] == "#":
            continue
        words = re.fullmatch(r"(\S+) (\S+\.go) (\d+(?:,\d+)*) (\S.*)", line)
        if not words:
            raise Trouble(f"reasons.txt:{number}: not SUITE FILE LINE,LINE... WHY")
        suite, name, lines, why = words.groups()
        found.append((suite, name, [int(n) for n in lines.split(",")], why))
    return found


def why_of(reasons, suite):
    """{place: why} of one suite"""
    found = {}
    for name, file, lines, why in reasons:
        for line in lines if name == suite else ():
            place = f"{file}:{line}"
            if place in found:
                raise Trouble(f"{suite} {place} has two reasons")
            found[place] = why
    return found


def unexplained(states, why):
    return sorted((k for k, state in states.items() if state == FAILED and k[0] not in why), key=place_key)


def stale(states, why):
    """Reasons without a failing spec; what races may pass."""
    failing = {place for (place, _), state in states.items() if state == FAILED}
    return sorted(place for place, reason in why.items() if place not in failing and not reason.startswith("now and then"))


# --- The tables -----------------------------------------------------------------------------------------------------
def row(suite):
    """| suite | specs | Sluice passes | Kueue passes | of these | measured |; what was not measured is said so."""
    states = suite.specs.values()
    good, again = (sum(s["sluice"] in which for s in states) for which in (GOOD, (AGAIN,)))
    ours = f"{good}, {again} of them when run again alone" if again else good
    theirs = [s for s in states if s["kueue"] in GOOD]
    both = sum(s["sluice"] in GOOD for s in theirs)
    cells = [suite.name, len(states), ours if "sluice" in suite.dates else "not measured", len(theirs) if "kueue" in suite.dates else "not measured",
             both if len(suite.dates) == 2 else "", suite.dates.get("sluice", "")]
    return "|" + "|".join(f" {c} " if c != "" else " " for c in cells) + "|"


def scores(suites):
    head = ["| suite | specs | Sluice passes | Kueue passes | of these, Sluice passes | measured |",
            "| --- | --- | --- | --- | --- | --- |"]
    return "\n".join(head + [row(s) for s in suites])


def explanations(suites, reasons):
    """One row a reason; Kueue's own manager as a process of its own may fail just so."""
    lines = ["| suite | specs | why |", "| --- | --- | --- |"]
    for suite in suites:
        for name, file, numbers, why in reasons:
            if name != suite.name:
                continue
            places = {f"{file}:{n}" for n in numbers}
            kueue = [s["kueue"] for (place, _), s in suite.specs.items() if place in places]
            if kueue and all(k == FAILED for k in kueue):
                why += "; fails with Kueue's own manager, too"
            lines.append(f"| `{suite.name}` | `{file}` {', '.join(map(str, numbers))} | {why} |")
    return "\n".join(lines)


def filled(page, parts):
    """The page with the parts between `<!-- NAME: made by ... -->` and `<!-- end -->`."""
    for name, text in parts.items():
        pattern = re.compile(rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end -->)", re.S)
        if len(pattern.findall(page)) != 1:
            raise Trouble(f"docs/compatibility.md: not one place for {name}")
        page = pattern.sub(lambda m: f"{m[1]}{text}\n{m[2]}", page)
    return page


def problems(suites, reasons):
    """What keeps the tables from being true."""
    known = {s.name for s in suites}
    found = [f"{name}: a reason for a suite without a record" for name in sorted({r[0] for r in reasons} - known)]
    for suite in suites:
        states = {k: s["sluice"] for k, s in suite.specs.items()}
        why = why_of(reasons, suite.name)
        found += [f"{suite.name}: {place} fails and has no reason: {text}" for place, text in unexplained(states, why)]
        found += [f"{suite.name}: {place} has a reason, but does not fail" for place in stale(states, why)]
    return found


def load(here):
    """(suites in the order of the table, reasons)"""
    suites = [parse_record(n, path_of(n, here / "records").read_text()) for n in SUITES if path_of(n, here / "records").exists()]
    return suites, parse_reasons((here / "reasons.txt").read_text())


# --- Commands -------------------------------------------------------------------------------------------------------
def report(suite, who, states, why):
    """Prints the failing specs; how many have no reason. Kueue's own need none."""
    for place, text in sorted((k for k, s in states.items() if s == FAILED), key=place_key):
        print(f"failed {place} {text}" + (f"\n    {why.get(place, 'NO REASON IS LISTED')}" if who == "sluice" else ""))
    for place in stale(states, why):
        print(f"passed {place} though a reason for its failure is listed")
    good, again = (sum(s in which for s in states.values()) for which in (GOOD, (AGAIN,)))
    bad = len(unexplained(states, why)) if who == "sluice" else 0
    print(f"{suite}: {good} of {len(states)} specs passed, {again} of them when run again; {len(states) - good - bad} failed"
          + (f" with a reason, {bad} without" if who == "sluice" else ""))
    return bad


def record(suite, who, states):
    path = path_of(suite, HERE / "records")
    path.parent.mkdir(exist_ok=True)
    known = parse_record(suite, path.read_text() if path.exists() else "")
    path.write_text(print_record(merged(known, who, states, datetime.date.today().isoformat())))
    return 0


def tables(here, page, write):
    suites, reasons = load(here)
    for problem in (found := problems(suites, reasons)):
        print(problem)
    old = page.read_text()
    new = filled(old, {"scores": scores(suites), "reasons": explanations(suites, reasons)})
    if write:
        page.write_text(new)
    elif new != old:
        found.append("")
        print("docs/compatibility.md is not what tests/suites/table.py write makes")
    return len(found)


def main(arguments):
    command, *rest = arguments or [""]
    if command in ("write", "check") and not rest:
        return tables(HERE, PAGE, command == "write")
    if command in ("report", "failed", "record") and len(rest) > 2 and rest[1] in ("sluice", "kueue"):
        suite, who, *files = rest
        states = ended([json.loads(pathlib.Path(f).read_text()) for f in files], suite)
        if command == "record":
            return record(suite, who, states)
        why = why_of(parse_reasons((HERE / "reasons.txt").read_text()), suite) if who == "sluice" else {}
        if command == "report":
            return report(suite, who, states, why)
        print("".join(f"{place}\n" for place in dict.fromkeys(k[0] for k in unexplained(states, why))), end="")
        return 0
    sys.exit(__doc__)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]) > 0)
    except Trouble as trouble:
        sys.exit(f"table.py: {trouble}")
