#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""What specs/prove/both.py asks two solvers about, and what it makes of their answers."""
import argparse, contextlib, io, json, pathlib, sys, tempfile, unittest, unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "specs/prove"))
import both

PAGE = """
| G1 | Words. | `P` | `sl_b` `sl_a` | proved |
| G2 | Words. | `P` | `sl_a` `sl_gone` | proved in part: some |
| G3 | Words. | | `sl_tested` | checked at run time |
| is it sound | G1 | `sl_check` | equal to `P` |
| is it tested | G1 | `sl_not` | no: tested |

It is a theorem (`specs/theorems/t.c`, and `gone.c`; see `t.c`).
"""
FILES = {"src/b.c": {"functions": {"sl_b": {}, "sl_other": {}}}, "src/a.c": {"functions": {"sl_a": {}, "(lemmas)": {}}},
         "src/check.c": {"functions": {"sl_check": {}, "sl_not": {}, "sl_tested": {}}},
         "specs/theorems/t.c": {"functions": {"theorem_x": {}, "(lemmas)": {}}},
         "specs/theorems/unnamed.c": {"functions": {"theorem_y": {}}}}


def counts(goals, qed=0, z3=None, cvc5=None, proved=None):
    """Of a property, as Frama-C reports it; a solver that was not asked is not there."""
    found = {"wp:main": {"total": goals, "valid": goals if proved is None else proved}}
    found.update({"qed": {"total": qed, "valid": qed}} if qed else {})
    found.update({"Z3:4.8.12": {"total": goals, "valid": z3}} if z3 is not None else {})
    found.update({"CVC5:1.0.3": {"total": goals, "valid": cvc5}} if cvc5 is not None else {})
    return found


def judged(functions=("sl_a",), **properties):
    section = {**properties, "wp:section": counts(99)}
    return both.Asked(functions, "now", {"wp:functions": {"sl_a": section, "sl_other": {"other": counts(1, proved=0)}}})


class Page(unittest.TestCase):
    def test_what_is_proved_is_asked_about_in_the_pages_order(self):
        files, homeless = both.wanted(PAGE, FILES)
        self.assertEqual(list(files.items()), [("src/b.c", ["sl_b"]), ("src/a.c", ["sl_a"]), ("src/check.c", ["sl_check"]),
                                               ("specs/theorems/t.c", ["(lemmas)", "theorem_x"])])
        self.assertEqual(homeless, ["sl_gone", "specs/theorems/gone.c"])

    def test_the_page_names_functions(self):
        names = both.named((ROOT / "docs/guarantees.md").read_text())
        self.assertIn("sl_ledger_reserve", names)
        self.assertIn("sl_topology_valid", names)
        self.assertNotIn("sl_engine_valid", names)

    def test_the_page_names_theorems(self):
        names = both.theorems((ROOT / "docs/guarantees.md").read_text())
        self.assertIn("specs/theorems/doors.c", names)
        self.assertTrue(all((ROOT / name).exists() for name in names), names)


class Answers(unittest.TestCase):
    def test_goals_are_counted_by_who_proves_them(self):
        asked = judged(x=counts(1, 0, 1, 1), y=counts(1, 0, 1, 0), exits=counts(2, 2))
        self.assertEqual(asked.entries, {"sl_a": {"digest": "now", "goals": 4, "simplified": 2, "both": 1, "z3": {"y": 1}, "cvc5": {}}})
        self.assertEqual(asked.problems, [])

    def test_of_a_property_of_several_goals_each_solver_may_lack_others(self):
        entry = judged(x=counts(9, 2, 6, 4)).entries["sl_a"]
        self.assertEqual([entry[key] for key in ("simplified", "both", "z3", "cvc5")], [2, 3, {"x": 3}, {"x": 1}])
        self.assertEqual(both.alone_in({"sl_a": entry}), 4)

    def test_a_solver_that_says_nothing_proves_nothing(self):
        self.assertEqual(judged(x=counts(1, 0, 1)).entries["sl_a"]["z3"], {"x": 1})

    def test_a_goal_that_neither_proves_is_a_problem(self):
        self.assertEqual(judged(x=counts(3, 1, 1, 1, 2)).problems, ["x: 1 of 3 goals are proved by neither"])

    def test_a_function_without_a_goal_is_a_problem(self):
        self.assertEqual(judged().problems, ["sl_a: no goal was found"])
        self.assertEqual(both.Asked(["sl_a"], "now", {}, ["it stopped"]).problems, ["it stopped", "sl_a: no goal was found"])

    def test_lemmas_are_a_section_of_their_own(self):
        asked = both.Asked(["(lemmas)"], "now", {"wp:axiomatics": {"": {"l": counts(1, 0, 0, 1)}}})
        self.assertEqual(asked.entries["(lemmas)"]["cvc5"], {"l": 1})


class Records(unittest.TestCase):
    FILES = {"src/a.c": ["sl_a"], "src/b.c": ["sl_b"]}

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = pathlib.Path(directory.name) / "both.json"
        self.args = argparse.Namespace(fresh=False, keep=False, jobs=1, files=[])
        self.asked = []

    def ask(self, alone, only=(), marks=None, **changed):
        """(problems, record) of a run in which so many goals of each function are proved by Z3 alone."""
        def answer(_, path, functions, mark):
            self.asked.append(path)
            said = {f"ensures_{i}": counts(1, 0, 1, 0) for i in range(alone)}
            return both.Asked(functions, mark, {"wp:functions": {functions[0]: dict(said, exits=counts(1, 1))}}), 1.0
        args = argparse.Namespace(**{**vars(self.args), "files": list(only), **changed})
        self.asked, record = [], both.Record(self.path)
        with unittest.mock.patch("both.ask", answer), contextlib.redirect_stdout(io.StringIO()):
            bad = both.judge(args, record, self.FILES, marks or {"src/a.c": "1", "src/b.c": "1"})
        problem = record.settle(self.FILES)
        if not problem and not args.keep:
            record.write()
        return bad + bool(problem), both.Record(self.path)

    def test_only_what_changed_is_asked_again(self):
        self.ask(1)
        self.ask(1)
        self.assertEqual(self.asked, [])
        self.ask(1, marks={"src/a.c": "2", "src/b.c": "1"})
        self.assertEqual(self.asked, ["src/a.c"])
        self.ask(1, marks={"src/a.c": "2", "src/b.c": "1"}, fresh=True)
        self.assertEqual(self.asked, ["src/a.c", "src/b.c"])

    def test_the_number_is_set_when_everything_was_asked(self):
        self.assertIsNone(self.ask(2, only=["src/a.c"])[1].at_most)
        self.assertEqual(self.ask(2)[1].at_most, 4)

    def test_the_number_falls_and_does_not_rise(self):
        self.ask(2)
        self.assertEqual(self.ask(1, fresh=True)[1].at_most, 2)
        bad, record = self.ask(2, marks={"src/a.c": "2", "src/b.c": "1"})
        self.assertEqual((bad, record.at_most), (1, 2))

    def test_what_fails_is_not_on_record(self):
        with unittest.mock.patch("both.Asked", lambda functions, mark, report: argparse.Namespace(entries={}, problems=["bad"])):
            bad, record = self.ask(1)
        self.assertEqual((bad, record.files), (2, {}))

    def test_to_keep_is_to_write_nothing(self):
        self.ask(2)
        then = self.path.read_text()
        self.ask(1, fresh=True, keep=True)
        self.assertEqual(self.path.read_text(), then)

    def test_what_the_page_names_no_longer_is_forgotten(self):
        self.ask(1)
        text = json.loads(self.path.read_text())
        text["files"]["src/c.c"] = text["files"]["src/a.c"]
        self.path.write_text(json.dumps(text))
        self.assertEqual(list(self.ask(1)[1].files), ["src/a.c", "src/b.c"])


if __name__ == "__main__":
    unittest.main()
