#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""The page of evidence, made from a small tree with known numbers: each number is where it belongs, what has not run
is said, and what is bad is not painted as good."""
import json, pathlib, sys, tempfile, unittest

import evidence, sources

GUARANTEES = """
| id | guarantee | predicates | functions | evidence |
| --- | --- | --- | --- | --- |
| G1 | Only <moves> of the table happen. | `P` | `one` `two` | proved |
| G2 | Nothing leaks. | `P` | `three` | proved in part: not all |
| G3 | Nothing waits for ever. | | | not yet |
"""
FILES = {
    "docs/guarantees.md": GUARANTEES,
    "docs/soundness.md": "",
    "src/policy/guarantees/guarantee_rules.def": 'SL_RULE(A, 1, CORE, "a")\nSL_RULE(B, 1, CORE, "b")\n',
    "fuzz/whole_fuzz.c": '#include "fuzz/lib/world.h"\n',
    "fuzz/text_fuzz.c": "\n",
    "tests/defects/01-a.patch": "# Guarantee: G1\n",
    "tests/defects/02-b.patch": "# Guarantee: G1\n",
    "specs/manifest.json": json.dumps({"goals": 35, "proved": 33, "files": {"a.c": {"goals": 35, "proved": 33, "functions": {
        "one": {"goals": 10, "proved": 10}, "two": {"goals": 20, "proved": 20}, "three": {"goals": 5, "proved": 3}}}}}),
    "specs/mutants.json": json.dumps({"files": {"a.c": {"one": {"mutants": 8, "rejected": 4, "refuted": 2}}}}),
    "specs/smoke.json": json.dumps({"files": {"a.c": {"tests": 11}, "b.c": {"tests": 6}}}),
    "specs/swaps.json": json.dumps({"files": {"a.c": {"one": {"mutants": 5, "rejected": 3, "refuted": 1, "survived": {"x": "so"}}}}}),
    "specs/both.json": json.dumps({"alone_at_most": 3, "files": {"a.c": {
        "one": {"goals": 10, "simplified": 6, "both": 3, "z3": {"x": 1}, "cvc5": {}},
        "two": {"goals": 20, "simplified": 15, "both": 4, "z3": {}, "cvc5": {"y": 1}}}}}),
    "tests/defects/matrix.json": json.dumps({
        "01-a": {"columns": {"unit": {"verdict": "rejected"}, "fuzz": {"verdict": "rejected"}, "proof": {"verdict": "accepted"}}},
        "02-b": {"columns": {"unit": {"verdict": "rejected"}, "fuzz": {"verdict": "accepted"}}},
        "03-c": {"columns": {"unit": {"verdict": "accepted"}}}}),
    "build/model.json": json.dumps({"runs": [
        {"variant": None, "guarantees": ["G1"], "passed": True, "states": 2500},
        {"variant": None, "guarantees": ["G3"], "passed": False},
        {"variant": "B1", "guarantees": [], "passed": True}]}),
    "build/fuzz.json": json.dumps([{"target": "whole", "executions": 10000, "crashes": 0},
                                   {"target": "text", "executions": 777, "crashes": 0}]),
    "build/sim.json": json.dumps({"seeds": 99, "failed": 0, "virtual_hours": 4096.4, "cpu_s": 1800.0, "tally": {
        "decisions": 5000, "deaths_clean": 1, "deaths_crash": 2, "deaths_in_a_commit": 3, "deaths_power": 4,
        "writes_refused": 11, "answers_lost": 12, "reads_refused": 13, "disk_errors": 14, "syncs_that_lied": 15,
        "clock_jumps": 16}}),
    "build/defects.json": json.dumps({"defects": {"01-a": {"ok": True, "rejected_by": "unit:x", "asked": [{"seconds": 1.5}]}}}),
    "build/ci/conformance.log": "ok 1\n41 passed, 0 failed\nconformance: 42 passed, 1 failed\n",
}


class Evidence(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        for name, content in FILES.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(content)

    def page(self):
        return evidence.Page(self.root, self.root / "build")

    def says(self, title, guarantee):
        page = self.page()
        kind = next(k for k in page.kinds if k.title == title)
        return page.answer(kind, guarantee, page.rows[guarantee])

    def change(self, name, change):
        path = self.root / name
        data = json.loads(path.read_text())
        change(data)
        path.write_text(json.dumps(data))

    def test_goals_of_the_row_are_counted(self):
        strength, short, long = self.says("proof", "G1")
        self.assertEqual((strength, short), (1.0, "30"))
        self.assertIn("30 of 30 goals of 2 functions", long)

    def test_what_is_proved_in_part_is_weaker(self):
        strength, short, _ = self.says("proof", "G2")
        self.assertEqual(short, "3")
        self.assertAlmostEqual(strength, 3 / 5 * 0.6)

    def test_a_function_without_proof_weakens(self):
        self.change("specs/manifest.json", lambda m: m["files"]["a.c"]["functions"].pop("two"))
        strength, _, long = self.says("proof", "G1")
        self.assertEqual(strength, 0.5)
        self.assertIn("1 functions without proof", long)

    def test_mutants_count_only_judged_functions(self):
        strength, short, _ = self.says("mutants", "G1")
        self.assertEqual((strength, short), (6 / 8 * 1 / 2, "6"))
        self.assertEqual(self.says("mutants", "G3")[1], "")

    def test_a_broken_property_fills_nothing(self):
        self.assertEqual(self.says("models", "G1")[:2], (1.0, "2.5 k"))
        self.assertEqual(self.says("models", "G3")[0], 0.0)

    def test_only_targets_with_rules_count(self):
        strength, short, long = self.says("fuzzing", "G1")
        self.assertEqual((strength, short), (0.5, "10 k"))
        self.assertIn("2 rules", long)
        self.assertEqual(self.says("fuzzing", "G2")[1], "")

    def test_a_crash_fills_nothing(self):
        self.change("build/fuzz.json", lambda f: f[0].update(crashes=1))
        self.assertEqual(self.says("fuzzing", "G1")[:2], (0.0, "1 crashes"))

    def test_fuzzing_says_rates_and_refusals(self):
        self.change("build/fuzz.json", lambda f: f[0].update(engine="libfuzzer", rate=440.4, refused=12))
        self.change("build/fuzz.json", lambda f: f[1].update(engine="afl", rate=28000))
        said = evidence.sources.Fuzz(self.root, self.root / "build").overall()
        self.assertIn("12 plans of policy refused", said)
        self.assertIn("executions a second: text 28000 (afl), whole 440", said)

    def test_simulator_says_of_what_sorts_its_worlds_were(self):
        self.change("build/sim.json", lambda s: s["tally"].update(worlds_with_pods=7, worlds_with_slices=3))
        said = evidence.sources.Simulator(self.root, self.root / "build").overall()
        self.assertIn("; 7 worlds with pods, 3 worlds with slices;", said)

    def test_seeds_fill_by_their_logarithm(self):
        self.assertAlmostEqual(self.says("simulator", "G1")[0], 0.5, places=3)
        self.change("build/sim.json", lambda s: s.update(failed=1))
        self.assertEqual(self.says("simulator", "G1")[:2], (0.0, "1 failed"))

    def test_seeds_with_replicas_count_too(self):
        (self.root / "build/sim_replicas.json").write_text(json.dumps({"seeds": 9901, "failed": 0}))
        self.assertEqual(self.says("simulator", "G1")[:2], (1.0, "10 k"))
        self.assertIn("with two replicas 9901 seeds", evidence.sources.Simulator(self.root, self.root / "build").overall())
        (self.root / "build/sim_replicas.json").write_text(json.dumps({"seeds": 9901, "failed": 2}))
        self.assertEqual(self.says("simulator", "G1")[:2], (0.0, "2 failed"))

    def test_simulator_falls_back_to_the_stage(self):
        (self.root / "build/sim.json").unlink()
        (self.root / "build/ci/sim.log").write_text("7 passed, 0 failed\n")
        self.assertEqual(self.says("simulator", "G1")[1], "7")

    def test_defects_that_were_not_asked_about_weaken(self):
        strength, short, long = self.says("defects", "G1")
        self.assertEqual((strength, short), (0.5, "1/2"))
        self.assertIn("1 not asked about: unit:x", long)

    def test_the_page_shows_sums_and_escapes(self):
        self.page().write()
        page = (self.root / "build/evidence/index.html").read_text()
        for expected in ("33 of 35 goals in 1 files", "17 smoke tests in 2 files",
                         "both solvers prove 7 of 9 goals of 2 functions that need one; 2 are proved by one alone",
                         "4 of 5 changes rejected, 1 survived",
                         "6 answers of whole kinds about 3 defects, 3 times rejected", "10777 executions of 2 targets",
                         "1 of 2 properties hold, 1 of 1 known-bad variants refuted",
                         "99 seeds, 0 failed; 4096 virtual hours in 0.50 h of CPU time, 5000 decisions, 10 deaths",
                         "13 reads refused, 14 disk errors, 15 syncs that lied, 4 power cuts", "42 recorded outcomes of Kueue passed, 1 failed", "Only &lt;moves&gt;",
                         'href="../../specs/manifest.json"', 'href="../fuzz.json"'):
            self.assertIn(expected, page)
        self.assertNotIn("http", page)

    def test_a_missing_input_is_said_and_not_hidden(self):
        for name in FILES:
            if name.endswith((".json", ".log")):
                (self.root / name).unlink()
        page = self.page()
        page.write()
        self.assertEqual(page.missing(), ["proof", "mutants", "models", "fuzzing", "simulator", "defects", "smoke tests",
                                          "swapped words", "two solvers", "defects by kind", "conformance", "unit", "asan", "e2e", "cluster", "crash", "eva", "cbmc"])
        text = (self.root / "build/evidence/index.html").read_text()
        self.assertEqual(text.count('<rect class="none"'), 6 * 3 + 8)
        self.assertNotIn('<rect class="fill"', text)
        self.assertNotIn("0 failed", text)


if __name__ == "__main__":
    run = unittest.main(exit=False, argv=sys.argv[:1]).result
    bad = len(run.failures) + len(run.errors)
    print(f"evidence: {run.testsRun - bad} passed, {bad} failed")
    sys.exit(bad != 0)
