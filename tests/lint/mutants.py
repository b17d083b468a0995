#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Tests of specs/prove/mutants.py and what it is made of: what is changed, how answers of solvers are read, what the table keeps, and what
becomes of mutants of specs/prove/canary_mutants.c.

usage: mutants.py BUILD"""
import argparse, contextlib, io, json, pathlib, re, sys, tempfile, unittest, unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "specs/prove"))
import answers
import clauses
import framac
import mutants
import mutations
import refute
from judge import Before, Judge, Unproved
from table import Table, digest, here, included

CANARY = pathlib.Path("specs/prove/canary_mutants.c")
BUILD = pathlib.Path(sys.argv.pop()).resolve()
OWN = BUILD / "canary"


def keys(source):
    return {m.key for _, found in mutations.mutants_of("x.c", source) for m in found}


class What(unittest.TestCase):
    def test_annotations_comments_strings_and_preprocessor_stay(self):
        source = 'int f(int a)\n{\n    /*@ assert a < 1; */\n    g("a < 1"); // a < 1\n#if 0 < 1\n    h(a);\n#endif\n}\n'
        self.assertEqual({key.split("=>")[0] for key in keys(source)}, {'{ g("a < 1");', "{ h(a);"})

    def test_every_kind_of_change(self):
        source = "bool f(int a)\n{\n    if (a <= 3) {\n        b[a + 1] = 2;\n    }\n    return a == 4;\n}\n"
        self.assertEqual(keys(source), {
            "if (a {<==><} 3) {", "if (a {<==>>} 3) {", "if (a <= {3=>4}) {", "if (a <= {3=>2}) {", "if ({a <= 3=>not}) {",
            "b[a{ + => - }1] = 2;", "b[a + {1=>2}] = 2;", "b[a + {1=>0}] = 2;", "b[a + 1] = {2=>3};",
            "b[a + 1] = {2=>1};", "{ b[a + 1] = 2;=> ;}", "return a {===>!=} 4;", "return a == {4=>5};",
            "return a == {4=>3};", "return {a == 4=>not};"})

    def test_status_and_limits(self):
        source = "enum sl_status f(int a)\n{\n    if (a == SL_X_MAX) {\n        return SL_OK;\n    }\n    return g(a);\n}\n"
        found = keys(source)
        self.assertIn("return {SL_OK=>SL_REFUSED_BAD_ARGUMENT};", found)
        self.assertIn("return {g(a)=>SL_OK};", found)
        self.assertIn("if (a == {SL_X_MAX=>(SL_X_MAX - 1)}) {", found)

    def test_words_of_one_type_taken_for_each_other(self):
        source = "void f(int a, int b)\n{\n    switch (a) {\n    case SL_QUOTA_TAKE:\n        g(SL_QUOTA_DROP, SL_OK);\n    }\n" \
                 "    sl_ledger_find_cell(a, b, 3);\n}\n"
        found = {m.key for _, ms in mutations.mutants_of("x.c", source, mutations.swaps) for m in ms}
        self.assertEqual({key for key in found if "g(" in key},
                         {"g({SL_QUOTA_DROP=>SL_QUOTA_KEEP}, SL_OK);", "g({SL_QUOTA_DROP=>SL_QUOTA_TAKE}, SL_OK);"})
        self.assertEqual(len(found), 2)  # ids of cells, flavors and resources are of different types

    def test_neighbouring_arguments_of_one_type_change_places(self):
        source = "int f(int a)\n{\n    return sl_requeue_delay_ms(g(a, 1), h(2), 3, 4);\n}\n"
        found = {m.key for _, ms in mutations.mutants_of("x.c", source, mutations.swaps) for m in ms}
        self.assertEqual(found, {"return sl_requeue_delay_ms({g(a, 1), h(2)=>h(2), g(a, 1)}, 3, 4);",
                                 "return sl_requeue_delay_ms(g(a, 1), h(2), {3, 4=>4, 3});"})

    def test_changes_alike_on_equal_lines_have_names_of_their_own(self):
        self.assertEqual(keys("void f(void)\n{\n    g();\n    g();\n}\n"), {"{ g();=> ;}", "{ g();=> ;} #2"})

    def test_a_function_is_known_by_its_text(self):
        one, other = "/*@ a */\nint f(void)\n{\n    g();\n}\n", "/*@ b */\nint f(void)\n{\n    g();\n}\n"
        marks = [digest(text, next(mutations.functions(text))) for text in (one, "\n" + one, other)]
        self.assertEqual(marks[0], marks[1])
        self.assertNotEqual(marks[0], marks[2])

    def test_a_function_is_known_by_its_contract_in_a_header(self):
        text = '#include "kernel/x.h"\nint f(void)\n{\n    g();\n}\n'
        function = next(mutations.functions(text))
        contracts = "/*@ a */\nint f(void);\n", "/*@ b */\nint f(void);\n", "/*@ a */\nint f(void);\nint g(void);\n"
        around = {"src/kernel/x.h": '#include "kernel/y.h"\n', "src/kernel/y.h": '#include "kernel/x.h"\n'}
        for headers in ([{"src/kernel/x.h": header} for header in contracts],
                        [{**around, "src/kernel/y.h": around["src/kernel/y.h"] + header} for header in contracts]):
            marks = [digest(text, function, read.get) for read in headers]
            self.assertEqual(marks[0], marks[2])
            self.assertNotEqual(marks[0], marks[1])


class Answers(unittest.TestCase):
    def test_each_goal_has_its_answers(self):
        log = ["[wp] [Z3 4.8.12] Goal a : Valid (Qed:2ms) (40ms) (108752) (cached)\n", "[wp] [Qed] Goal b : Valid (2ms)\n",
               "[wp] [Failed] Goal c\n", "  Z3 4.8.12: Timeout (Qed:1ms) (5s)\n", "  CVC5 1.0.3: Unknown (Qed:1ms)\n",
               "[wp] [Search4 1] Goal d : Unknown (Qed:1ms)\n", "[wp] Proved goals:   2 / 4\n"]
        found = [row for row in framac.judge_lines(log) if row[0]]
        self.assertEqual(found, [("a", {"Z3": "Valid"}, 0.04), ("b", {"Qed": "Valid"}, 0.002),
                                 ("c", {"Z3": "Timeout", "CVC5": "Unknown"}, 0.0), ("d", {"Search4": "Unknown"}, 0.0)])

    def test_a_solver_that_failed_is_asked_again(self):
        with tempfile.TemporaryDirectory() as name:
            where = answers.directory(pathlib.Path(name), "m")
            where.mkdir(parents=True)
            (where / "a.json").write_text('{ "prover": "Z3", "verdict": "failed" }')
            (where / "b.json").write_text('{ "prover": "Z3", "verdict": "valid", "time": 1., "steps": 7 }')
            with unittest.mock.patch("answers.ANSWERS", pathlib.Path(name, "answers.txt")):
                answers.pack(pathlib.Path(name))
                self.assertEqual(answers.ANSWERS.read_text(), "m b Z3 valid 1.0 7\n")
            self.assertEqual([p.name for p in where.iterdir()], ["b.json"])

    def test_a_goal_with_a_number_is_the_same_only_among_as_many(self):
        before = Before(None, "x.c", "f")
        before.count = 7
        goals = {"rte_2": 3, "ensures": 2}
        self.assertEqual(before.of(goals, "rte_2", 7), 3)
        self.assertIsNone(before.of(goals, "rte_2", 6))
        self.assertEqual(before.of(goals, "ensures", 6), 2)

    def test_a_new_goal_is_judged_only_where_a_search_proves_all_that_there_were(self):
        for left, depth in (({}, 3), ({"Search1": "Unknown"}, None)):
            before = Before(None, "x.c", "f")
            said = {"rte": {"Qed": "Valid"}, "ensures": {"Search3": "Valid"}, **({"rte_2": left} if left else {})}
            with unittest.mock.patch("judge.search"), unittest.mock.patch("judge.Run") as run:
                run.return_value.said, run.return_value.scheduled, run.return_value.problem = said, len(said), None
                run.return_value.unproved.return_value = ["rte_2"] if left else []
                self.assertEqual(before.depth("rte_3", 9), depth)
                self.assertEqual(before.depth("ensures", 9), 3)
                self.assertEqual(before.depth("rte", 9), 1)


class Patience(unittest.TestCase):
    """Of a mutant with these answers of searches, where each goal of the function as it stands takes a search of depth 1."""

    def judged(self, answers, again=False):
        def run(_args, _path, _function, _options, enough):
            goals = [f"goal {i}" for i in range(len(answers))]
            asked = (goal for goal, said in zip(goals, answers) if enough(goal, said, len(goals)))
            return argparse.Namespace(refused=None, problem=None, rejecting=next(asked, None), unproved=lambda: goals)

        judge = Judge(argparse.Namespace(again=again), {})
        judge.before = lambda *_: argparse.Namespace(depth=lambda *_: 1)
        with unittest.mock.patch("judge.search"), unittest.mock.patch("judge.Run", run):
            found = judge.by_search(argparse.Namespace(path="x.c", function="f"), "x.c")
        return found and found[0]

    def test_a_search_that_ends_one_level_deeper_rejects(self):
        self.assertEqual(self.judged([{"Search1": "Timeout", "Search2": "Unknown"}]), "rejected")
        self.assertIsNone(self.judged([{"Search1": "Unknown", "Search2": "Timeout"}]))

    def test_after_two_goals_without_an_answer_it_is_left_until_it_is_asked_again(self):
        answers = [{"Search2": "Timeout"}, {"Search2": "Timeout"}, {"Search2": "Unknown"}]
        self.assertEqual(self.judged(answers), "late")
        self.assertEqual(self.judged(answers, again=True), "rejected")


class Canary(unittest.TestCase):
    """Runs the solvers."""

    def setUp(self):
        text = (ROOT / CANARY).read_text()
        args = argparse.Namespace(build=OWN, work=OWN / "prove/mutant", timeout=5, more=5, limit=300, again=False, quick=False)
        (OWN / "prove").mkdir(parents=True, exist_ok=True)
        args.env = framac.environment(OWN / "prove")
        self.judge = Judge(args, {CANARY: text})
        self.mutants = {m.key: m for _, found in mutations.mutants_of(CANARY, text) for m in found}

    def verdict(self, key):
        found = self.judge.verdict(self.mutants[key], 0)
        return found and found[0]

    def test_a_contract_that_says_all_rejects(self):
        self.assertEqual(self.verdict("return a > UINT32_MAX - b ? UINT32_MAX : a{ + => - }b; // a + b"), "rejected")

    def test_a_contract_that_says_little_lets_survive(self):
        self.assertEqual(self.verdict("return a > {8=>7} ? 9 : a;"), "survived")

    def test_without_a_contract_everything_survives(self):
        self.assertEqual(self.verdict("return a{ * => + }2u;"), "survived")

    def test_a_function_that_is_not_proved_judges_nothing(self):
        with self.assertRaises(Unproved):
            self.verdict("return a {<=>>=} 3;")

    def test_what_is_the_same_program_does_not_count(self):
        self.assertIsNone(self.verdict("return a {>=>>=} 5 ? 5 : a;"))


class Runs(unittest.TestCase):
    """Runs the core with one call of a changed function."""

    def refuted(self, file, name, key):
        path = pathlib.Path("src/kernel") / file
        text = (ROOT / path).read_text()
        headers = [here(h) for h in included(text, here)]
        directory = OWN / "refute"
        directory.mkdir(parents=True, exist_ok=True)
        found = {m.key: m for f, ms in mutations.mutants_of(path, text) if f.name == name for m in ms}
        refuter = refute.Refuter(BUILD, {path: text}, lambda _: headers, 20)
        return refuter.refuted(found[key], directory) or ""

    def without_promises(self, *mutant):
        with unittest.mock.patch.object(clauses, "promises", lambda *_: ([], [])):
            return self.refuted(*mutant)

    def test_a_checker_says_no(self):
        self.assertIn("sl_ledger_valid says no", self.without_promises(
            "ledger/ledger_move.c", "unlink_cells", "{ sl_chain_unlink(link - 1);=> ;}"))

    def test_another_answer_than_the_only_one(self):
        self.assertIn("another answer", self.without_promises(
            "ledger/ledger_check.c", "is_quota", "return amount >= {0=>1} && amount <= SL_AMOUNT_UNLIMITED;"))

    def test_a_run_time_error(self):
        self.assertIn("run-time error", self.refuted("ledger/ledger_move.c", "unlink_cells",
                      "for (uint32_t link = sl_qnode_first[qnode]; link {!==>==} 0; link = sl_cell_next[link - 1]) {"))

    def test_a_promise_that_is_not_kept(self):
        self.assertIn("ensures up", self.refuted("ledger/ledger_move.c", "move", "return {status=>SL_OK};"))

    def test_a_promise_about_what_was_before(self):
        self.assertIn("ensures own", self.refuted("preempt/preempt_trial.c", "charge_promises", "if ({status != SL_OK=>not}) {"))

    def test_what_survives_the_proofs_is_not_refuted(self):
        self.assertEqual(self.refuted(
            "commit/workload_usage.c", "sl_usage_reduce", "return {status=>SL_OK};"), "")


class Clauses(unittest.TestCase):
    """What contracts become in C; casts and the names of loops are left out here."""

    def said(self, text, contract=""):
        functions, found = clauses.promises(contract or f"/*@ requires a: b;\n ensures {text};\n*/", ["p"])
        return [re.sub(r"\(\(__int128\)(REFUTE_OLD\([^()]*\)|[^()]*)\)", r"\1", value) for _, value in found]

    def test_each_part_is_a_promise(self):
        self.assertEqual(self.said("x: a < b && !c"), ["(a < b)", "(!c)"])
        self.assertEqual(self.said("\\result ==> a && b"), ["(!refute_result || a)", "(!refute_result || b)"])

    def test_what_hangs_together_stays_together(self):
        self.assertEqual(self.said("a || b && c"), ["(a || (b && c))"])
        self.assertEqual(self.said("a <==> b && c"), ["(!a == !(b && c))"])
        self.assertEqual(self.said("a ==> b ==> c"), ["(!a || (!b || c))"])
        self.assertEqual(self.said("a == (b ? c : d)"), ["(a == (b ? c : d))"])
        self.assertEqual(self.said("a == \\min(b, c)"), ["(a == ((b < c) ? b : c))"])
        self.assertEqual(self.said("a - 1 - b < c * 2"), ["(((a - 1) - b) < (c * 2))"])

    def test_comparisons_in_a_row(self):
        self.assertEqual(self.said("0 <= a < b"), ["((0 <= a) && (a < b))"])

    def test_what_was_before_the_call(self):
        self.assertEqual(self.said("a == \\old(b) + 1"), ["(a == (REFUTE_OLD(b) + 1))"])
        self.assertEqual(self.said("a == \\at(b[p], Pre)"), ["(a == ((__int128)REFUTE_OLD(b[(long)p])))"])
        self.assertEqual(self.said("a == \\old(p + SL_X_MAX)"), ["(a == (p + SL_X_MAX))"])

    def loops(self, clause):
        """Of each loop: its bounds, and whether it has to go to its end."""
        return re.findall(r"end_\d+ = (?!refute)(.*?), \w+ = (.*?); for .*?refute_bound\(\w+, \w+, (\d)\)", self.said(clause)[0])

    def test_a_loop_may_end_early_only_where_that_weakens_the_promise(self):
        every, some = "(\\forall integer i; 0 <= i < a ==> b[i])", "(\\exists integer i; 0 < i <= a && b[i])"
        self.assertEqual(self.loops(every), [("a", "0", "0")])
        self.assertEqual(self.loops(some), [("(a + 1)", "(0 + 1)", "1")])
        self.assertEqual(self.loops(f"{every} ==> c"), [("a", "0", "1")])
        self.assertEqual(self.loops(f"!{some}"), [("(a + 1)", "(0 + 1)", "0")])
        self.assertEqual(self.loops(f"c <==> {every}"), [("a", "0", "1")])
        self.assertEqual(self.loops(f"c <==> {some}"), [("(a + 1)", "(0 + 1)", "1")])

    def test_predicates_become_functions(self):
        with unittest.mock.patch.object(clauses, "definitions", lambda: {
                ("Same", 1): (["A", "B"], ["x"], "\\at(a[x], A) == \\at(a[x], B)"), ("sum", 1): (["L"], ["n"], "n <= 0 ? 0 : sum(n - 1) + a[n - 1]"),
                ("Odd", 0): ([], [], "\\separated(a, b)")}):
            self.assertEqual(self.said("Same{Pre,Post}(p) && Odd"), ["refute_Same_12(1, 0, p)"])
            functions, _ = clauses.promises("/*@ ensures sum(p) == \\old(sum(p)); */", ["p"])
            self.assertEqual(len(functions), 2)  # declared and defined
            self.assertIn("refute_sum_11(at_L, ", functions[1])

    def test_behaviors(self):
        contract = ("/*@ behavior done: assumes a; ensures x: b; behavior refused: assumes Unknown(c); ensures d;"
                    " complete behaviors; */")
        self.assertEqual(self.said("", contract), ["(!(REFUTE_OLD(a)) || b)", "((1 && REFUTE_OLD(a) && b) || (1 && d))"])

    def test_what_is_not_understood_is_left_out(self):
        for clause in ("Unknown(a)", "a ==> Unknown{Pre,Post}(a)", "\\forall integer i; b[i] == 0", "a == \\at(b, Somewhere)",
                       "a || \\valid(b)", "\\let x = a; x < b", "a <==> (\\exists integer i; b[i] == 0)"):
            self.assertEqual(self.said(clause), [], clause)

    def test_a_contract_that_leaves_one_answer(self):
        for clause, nothing, something in (
                ("\\result <==> Sound(a)", True, False), ("\\result == sum(a)", True, False),
                ("\\result <==> LedgerChecked", True, True), ("\\result == SL_OK <==> a", False, False),
                ("a ==> \\result == b", False, False), ("\\result == a || b", False, False)):
            for assigned, fixed in (("\\nothing", nothing), ("x", something)):
                contract = f"/*@ assigns {assigned};\n ensures result: {clause};\n*/"
                self.assertEqual(refute.fixed(contract, True), fixed, contract)
        self.assertTrue(refute.fixed("assigns \\nothing; ensures \\result == 1 <==> a;", True))
        self.assertFalse(refute.fixed("assigns \\nothing; ensures \\result == 1 <==> a;", False))


class TheTable(unittest.TestCase):
    def test_it_keeps_explanations_and_counts(self):
        path = OWN / "prove/table.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        one, two = (mutations.Mutant("x.c", "f", 0, 1, "", key) for key in ("one", "two"))
        table = Table(path)
        table.write("x.c", "f", "mark", [(one, "rejected", 5), (two, "survived", 5)], 6.0)
        table.files["x.c"]["f"]["survived"]["two"] = "the order does not matter"
        path.write_text(json.dumps({"files": table.files}))
        again = Table(path)
        table.files["x.c"]["f"]["survived"]["two"] = "forgotten"
        table.write("x.c", "f", "mark", [(one, "outrun", 20), (two, "survived", 5)], 6.0)
        again.read()
        self.assertEqual(again.why(two), "the order does not matter")
        self.assertEqual(again.total(), (2, 0, 0, 1, 0, 1))
        self.assertEqual(str(again), "2 mutants, 0 refuted and 0 rejected (0.0 %), 1 outrun, 0 late, 1 survived, "
                                     "0 of these not explained")
        self.assertEqual(again.entry("x.c", "f")["outrun"], {"one": 20})
        self.assertEqual(again.entry("x.c", "f")["seconds"], 3)
        again.judged_again(one, "late", 0)  # nobody was asked
        self.assertEqual(again.total(), (2, 0, 0, 1, 0, 1))
        again.judged_again(one, "refuted", 0)
        self.assertEqual(again.total(), (2, 1, 0, 0, 0, 1))
        self.assertEqual(again.prune({pathlib.Path("x.c"): "void g(void)\n{\n}\n"}), (1, 0))
        self.assertEqual(again.files, {})

    def test_what_survives_of_a_function_that_is_not_in_the_table_fails_only_where_the_table_is_written(self):
        for keep, failed in ((True, 0), (False, 1)):
            report = mutants.Report(Table(None, keep), {pathlib.Path("x.c"): "a\n"})
            with contextlib.redirect_stdout(io.StringIO()):
                report.tell(mutations.Mutant("x.c", "f", 0, 1, "", "one"), "survived", "", 1.0)
            self.assertEqual((report.unexplained, report.new), (failed, 1 - failed))

    def test_a_survivor_that_a_run_refutes_fails(self):
        table = Table(None)
        table.files = {"x.c": {"f": {"survived": {"one": "it is the same"}}}}
        report = mutants.Report(table, {pathlib.Path("x.c"): "a\n"})
        with contextlib.redirect_stdout(io.StringIO()):
            report.tell(mutations.Mutant("x.c", "f", 0, 1, "", "one"), "refuted", "sl_ledger_valid says no", 1.0)
        self.assertEqual(report.wrong, 1)

    def test_a_survivor_without_an_explanation_is_counted(self):
        table = Table(None)
        table.files = {"x.c": {"f": {"survived": {"one": "", "two": "it is the same"}}}}
        self.assertEqual(table.unexplained(), 1)


if __name__ == "__main__":
    unittest.main()
