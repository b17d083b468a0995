#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""What tests/suites/table.py makes of reports, records and reasons."""
import contextlib, io, json, pathlib, sys, tempfile, unittest, unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/suites"))
import table


def spec(line, state, text="Should do", file="queue_test.go", message="", kind="It"):
    return {"LeafNodeType": kind, "LeafNodeText": text, "State": state, "Failure": {"Message": message},
            "LeafNodeLocation": {"FileName": f"/home/me/kueue/test/integration/singlecluster/webhook/core/{file}", "LineNumber": line}}


def report(*specs):
    return [{"SpecReports": list(specs)}]


FIRST = report(spec(10, "passed"), spec(20, "failed", "Should  wait\nlong"), spec(30, "failed"), spec(9, "failed"), spec(40, "skipped"),
               spec(50, "skipped", message="Spec skipped because an earlier spec in an ordered container failed"),
               spec(60, "pending"), spec(70, "passed", kind="BeforeSuite"), spec(80, "passed"), spec(80, "timedout"))
AGAIN = report(spec(20, "passed", "Should wait long"), spec(30, "failed"), spec(50, "passed"), spec(10, "skipped"))
PAGE = "# P\n<!-- scores: made by X -->\nold\n<!-- end -->\ntext\n<!-- reasons: made by X -->\n<!-- end -->\nend\n"
RECORD = """# about
date sluice 2026-01-02
date kueue 2026-01-01
pass pass a_test.go:9 Should a
again FAIL a_test.go:10 Should b
FAIL pass b_test.go:5 Should c
FAIL FAIL b_test.go:50 Should d
- pass b_test.go:60 Should e
"""
REASONS = "# about\nwebhook/core b_test.go 5 reads the process\n\nwebhook/core b_test.go 50 writes a cache\n"


class Reports(unittest.TestCase):
    def test_what_passed_what_failed_and_what_was_not_run_because_of_that(self):
        states = table.ended([FIRST], "webhook/core")
        self.assertEqual({place: state for (place, _), state in states.items()}, {
            "queue_test.go:10": "pass", "queue_test.go:20": "FAIL", "queue_test.go:30": "FAIL", "queue_test.go:9": "FAIL",
            "queue_test.go:50": "FAIL", "queue_test.go:80": "FAIL"})
        self.assertIn(("queue_test.go:20", "Should wait long"), states)

    def test_what_passes_when_it_is_run_again_failed_by_its_timing(self):
        states = {place: state for (place, _), state in table.ended([FIRST, AGAIN], "webhook/core").items()}
        self.assertEqual([states[f"queue_test.go:{n}"] for n in (10, 20, 30, 50)], ["pass", "again", "FAIL", "again"])

    def test_an_empty_report_is_no_good_news(self):
        with self.assertRaisesRegex(table.Trouble, "no spec in the report"):
            table.ended([report(spec(1, "skipped"))], "webhook/core")


class Records(unittest.TestCase):
    def test_a_record_is_read_as_it_was_written_in_the_order_of_lines(self):
        suite = table.parse_record("webhook/core", RECORD)
        self.assertEqual(suite.specs["b_test.go:60", "Should e"], {"sluice": "-", "kueue": "pass"})
        text = table.print_record(suite)
        self.assertEqual(table.parse_record("webhook/core", text), suite)
        self.assertLess(text.index("a_test.go:9"), text.index("a_test.go:10"))

    def test_one_of_the_two_is_measured_again(self):
        suite = table.parse_record("webhook/core", RECORD)
        new = table.merged(suite, "sluice", {("a_test.go:9", "Should a"): "FAIL", ("c_test.go:1", "Should f"): "pass"}, "2026-02-01")
        self.assertEqual(new.dates, {"sluice": "2026-02-01", "kueue": "2026-01-01"})
        self.assertEqual(new.specs["a_test.go:9", "Should a"], {"sluice": "FAIL", "kueue": "pass"})
        self.assertEqual(new.specs["c_test.go:1", "Should f"], {"sluice": "pass", "kueue": "-"})
        self.assertEqual(new.specs["b_test.go:50", "Should d"], {"sluice": "-", "kueue": "FAIL"})
        gone = table.merged(table.parse_record("s", "date sluice x\npass - a_test.go:1 T\n"), "sluice", {("a_test.go:2", "T"): "pass"}, "y")
        self.assertEqual(list(gone.specs), [("a_test.go:2", "T")])


class Reasons(unittest.TestCase):
    states = {("b_test.go:5", "T"): "FAIL", ("b_test.go:6", "T"): "FAIL", ("b_test.go:7", "T"): "again", ("b_test.go:8", "T"): "pass"}

    def test_a_failing_spec_needs_a_reason_and_a_reason_a_failing_spec(self):
        why = table.why_of(table.parse_reasons("s b_test.go 5,8 it reads logs\nother b_test.go 6 not this suite\n"), "s")
        self.assertEqual(why, {"b_test.go:5": "it reads logs", "b_test.go:8": "it reads logs"})
        self.assertEqual(table.unexplained(self.states, why), [("b_test.go:6", "T")])
        self.assertEqual(table.stale(self.states, why), ["b_test.go:8"])
        self.assertEqual(table.stale(self.states, {"b_test.go:8": "now and then: it races"}), [])

    def test_one_reason_a_spec_and_each_line_whole(self):
        with self.assertRaisesRegex(table.Trouble, "two reasons"):
            table.why_of(table.parse_reasons("s b_test.go 5 one\ns b_test.go 4,5 two\n"), "s")
        for line in ("s b_test.go why", "s b_test.go 5", "s b_test.go 5, 6 why", "b_test.go 5 why it fails"):
            with self.assertRaisesRegex(table.Trouble, "reasons.txt:1"):
                table.parse_reasons(line + "\n")


class Tables(unittest.TestCase):
    def setUp(self):
        self.suite, self.reasons = table.parse_record("webhook/core", RECORD), table.parse_reasons(REASONS)

    def test_the_score(self):
        self.assertEqual(table.row(self.suite), "| webhook/core | 5 | 2, 1 of them when run again alone | 3 | 1 | 2026-01-02 |")
        alone = table.parse_record("tas", "date sluice 2026-01-02\npass - a_test.go:9 T\n")
        self.assertEqual(table.row(alone), "| tas | 1 | 1 | not measured | | 2026-01-02 |")
        theirs = table.parse_record("tas", "date kueue 2026-01-02\n- pass a_test.go:9 T\n- FAIL a_test.go:10 T\n")
        self.assertEqual(table.row(theirs), "| tas | 2 | not measured | 1 | | |")

    def test_why_and_whether_kueue_fails_too(self):
        rows = table.explanations([self.suite], self.reasons).splitlines()
        self.assertEqual(rows[2:], ["| `webhook/core` | `b_test.go` 5 | reads the process |",
                                    "| `webhook/core` | `b_test.go` 50 | writes a cache; fails with Kueue's own manager, too |"])

    def test_the_page_is_filled_between_its_marks_alone(self):
        page = table.filled(PAGE, {"scores": "S", "reasons": "R"})
        self.assertEqual(page, PAGE.replace("old\n", "S\n").replace("made by X -->\n<!-- end", "made by X -->\nR\n<!-- end"))
        self.assertEqual(table.filled(page, {"scores": "S", "reasons": "R"}), page)
        with self.assertRaisesRegex(table.Trouble, "not one place for other"):
            table.filled(PAGE, {"other": ""})

    def test_what_keeps_the_tables_from_being_true(self):
        self.assertEqual(table.problems([self.suite], self.reasons), [])
        more = table.parse_reasons(REASONS + "webhook/core a_test.go 9 nothing\ntas a_test.go 1 nothing\n")
        self.assertEqual(table.problems([self.suite], more), ["tas: a reason for a suite without a record",
                                                              "webhook/core: a_test.go:9 has a reason, but does not fail"])
        self.assertEqual(table.problems([self.suite], self.reasons[:1]),
                         ["webhook/core: b_test.go:50 fails and has no reason: Should d"])


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        (self.home / "reasons.txt").write_text("webhook/core queue_test.go 9,30,80 it reads logs\n")
        (self.home / "page.md").write_text(PAGE)
        for name, content in (("first", FIRST), ("again", AGAIN)):
            (self.home / f"{name}.json").write_text(json.dumps(content))
        for patch in (unittest.mock.patch.object(table, "HERE", self.home), unittest.mock.patch.object(table, "PAGE", self.home / "page.md")):
            patch.start()
            self.addCleanup(patch.stop)

    def run_with(self, *arguments):
        """(whether it ended well, what it printed)"""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = table.main([str(a) for a in arguments])
        return code == 0, out.getvalue()

    def test_a_spec_that_fails_without_a_reason_makes_the_run_fail(self):
        good, said = self.run_with("report", "webhook/core", "sluice", self.home / "first.json")
        self.assertFalse(good)
        self.assertEqual(self.run_with("failed", "webhook/core", "sluice", self.home / "first.json"), (True, "queue_test.go:20\nqueue_test.go:50\n"))
        self.assertIn("failed queue_test.go:20 Should wait long\n    NO REASON IS LISTED", said)
        self.assertIn("webhook/core: 1 of 6 specs passed, 0 of them when run again; 3 failed with a reason, 2 without", said)
        good, said = self.run_with("report", "webhook/core", "sluice", self.home / "first.json", self.home / "again.json")
        self.assertTrue(good, said)
        self.assertIn("webhook/core: 3 of 6 specs passed, 2 of them when run again; 3 failed with a reason, 0 without", said)

    def test_kueue_needs_no_reason(self):
        self.assertEqual(self.run_with("failed", "webhook/core", "kueue", self.home / "first.json")[1].count("queue_test.go"), 5)
        good, said = self.run_with("report", "webhook/core", "kueue", self.home / "first.json", self.home / "again.json")
        self.assertTrue(good)
        self.assertIn("webhook/core: 3 of 6 specs passed, 2 of them when run again; 3 failed\n", said)

    def test_from_reports_to_the_page(self):
        for who in ("sluice", "kueue"):
            self.assertTrue(self.run_with("record", "webhook/core", who, self.home / "first.json", self.home / "again.json")[0])
        self.assertFalse(self.run_with("check")[0], "the page is old")
        self.assertTrue(self.run_with("write")[0])
        self.assertTrue(self.run_with("check")[0])
        self.assertIn("| webhook/core | 6 | 3, 2 of them when run again alone | 3 | 3 |", (self.home / "page.md").read_text())
        (self.home / "reasons.txt").write_text("webhook/core queue_test.go 9,30 it reads logs\n")
        good, said = self.run_with("check")
        self.assertFalse(good)
        self.assertIn("queue_test.go:80 fails and has no reason", said)


if __name__ == "__main__":
    unittest.main()
