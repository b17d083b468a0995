#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Files of cases, as the runner and format.py read them: one case or a list of them gives the same reports, and a file that
cannot be read is refused with the name of the case that is to blame.

usage: test_cases.py RUNNER"""
import json, pathlib, subprocess, sys, tempfile, unittest

sys.dont_write_bytecode = True
import format

HERE = pathlib.Path(__file__).resolve().parent
RUNNER = sys.argv.pop(1)
RECORDED = sorted((HERE / "cases/quota").glob("*.json"))[:3]


class Cases(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.cases = [json.loads(path.read_text()) for path in RECORDED]
        self.ids = [case["id"] for case in self.cases]

    def run_on(self, *arguments):
        return subprocess.run([RUNNER, *map(str, arguments)], capture_output=True, text=True)

    def written(self, text):
        path = self.folder / "list.json"
        path.write_text(text if isinstance(text, str) else json.dumps(text, indent=1))
        return path

    def assert_refused(self, text, words):
        path = self.written(text)
        done = self.run_on(path)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertRegex(done.stderr, "^" + str(path) + ": " + words)

    # the runner

    def test_a_list_gives_the_reports_of_its_cases_one_by_one(self):
        apart, together = self.run_on(*RECORDED), self.run_on(self.written(self.cases))
        self.assertEqual(together.stdout, apart.stdout)
        self.assertIn("passed, 0 failed", together.stdout)
        for name in self.ids:
            self.assertIn(f" - {name}\n", together.stdout)

    def test_one_case_of_a_list_is_selected_by_its_id(self):
        done = self.run_on("--only", self.ids[1], self.written(self.cases))
        self.assertIn(f"ok 1 - {self.ids[1]}\n", done.stdout)
        self.assertNotIn(self.ids[0], done.stdout)

    def test_a_known_deviation_is_known_in_a_list_too(self):
        self.cases[1]["expect"] = {"available": {"none": {"such": {"cpu": 1}}}}
        known = self.folder / "known"
        known.write_text(f"{self.ids[1]} is another one here\n")
        done = self.run_on("--deviations", known, self.written(self.cases))
        self.assertIn(f"ok 2 - {self.ids[1]} # DEVIATES is another one here\n", done.stdout)
        self.assertEqual(done.returncode, 0)

    def test_a_case_that_fails_in_a_list_leaves_the_others_as_they_are(self):
        self.cases[0]["suite"] = "unknown"
        done = self.run_on(self.written(self.cases))
        self.assertIn(f"not ok 1 - {self.ids[0]}\n", done.stdout)
        self.assertIn(f"ok 2 - {self.ids[1]}\n", done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_malformed_text_is_told_with_the_case_and_the_place(self):
        text = json.dumps(self.cases, indent=1)
        start = text.index(f'"id": "{self.ids[1]}"')
        for broken in (text[:start] + '"x": 01, ' + text[start:], text[:start] + text[start:].replace('"suite":', '"suite"', 1)):
            self.assert_refused(broken, rf"case 2, {self.ids[1]}: malformed JSON at line \d+, column \d+: ")

    def test_a_case_that_breaks_before_its_id_is_told_by_the_one_before(self):
        first = json.dumps(self.cases[0])
        self.assert_refused(f'[{first}, {{"suite": ', f"case 2, after {self.ids[0]}: malformed JSON at line 1, ")
        self.assert_refused('[{"suite": ', "case 1, after none: malformed JSON at line 1, ")
        self.assert_refused(f"[{first},]", f"case 2, after {self.ids[0]}: malformed JSON at line 1, ")

    def test_what_is_no_list_of_cases_is_refused(self):
        self.assert_refused([self.cases[0], 7], f"case 2, after {self.ids[0]}: not an object\n$")
        self.assert_refused([self.cases[0], {"suite": "quota"}], f"case 2, after {self.ids[0]}: no id\n$")
        self.assert_refused([self.cases[0], self.cases[0]], f"case 2, {self.ids[0]}: another one has that id\n$")
        self.assert_refused([], "a list without cases\n$")
        self.assert_refused({"suite": "quota"}, "case 1, after none: no id\n$")

    def test_a_single_case_that_is_malformed_is_told_by_its_file(self):
        self.assert_refused('{"id": "x", ', "malformed JSON at line 1, ")

    def test_a_file_that_is_not_there_is_told(self):
        done = self.run_on(self.folder / "none.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("none.json: No such file or directory", done.stderr)

    # format.py

    def test_packed_and_unpacked_cases_are_what_they_were(self):
        out, apart = self.folder / "packed.json", self.folder / "apart"
        apart.mkdir()
        format.main(["--pack", str(out), str(RECORDED[2]), str(RECORDED[0])])
        format.main(["--pack", str(out), str(RECORDED[1])])
        self.assertEqual([case["id"] for case in format.cases(out)], sorted(self.ids))
        format.main(["--unpack", str(apart), str(out)])
        self.assertEqual({path.name: path.read_text() for path in apart.iterdir()}, {path.name: path.read_text() for path in RECORDED})

    def test_an_id_that_is_there_already_is_not_packed(self):
        out = self.folder / "packed.json"
        format.main(["--pack", str(out), str(RECORDED[0])])
        before = out.read_text()
        with self.assertRaisesRegex(SystemExit, f"another case has the id {self.ids[0]}"):
            format.main(["--pack", str(out), str(RECORDED[0])])
        self.assertEqual(out.read_text(), before)

    def checked(self, *paths):
        return subprocess.run([HERE / "format.py", "--check", *paths], capture_output=True, text=True)

    def test_the_check_wants_lists_in_order_and_ids_once(self):
        path = self.written(format.formatted(self.cases))
        self.assertEqual(self.checked(path).returncode, 0)
        self.assertIn(f"another case has the id {self.ids[0]}", self.checked(RECORDED[0], path).stdout)
        self.written(json.dumps(self.cases[::-1], indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        self.assertIn("not as tests/conformance/format.py writes it", self.checked(path).stdout)


if __name__ == "__main__":
    unittest.main(verbosity=0)
