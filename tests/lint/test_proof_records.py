#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""What specs/prove/prove.py puts on record as proved, and what it then believes of the record."""
import argparse, contextlib, io, json, pathlib, sys, tempfile, unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "specs/prove"))
import prove

FILE, OTHER = "src/kernel/base/order.c", "src/kernel/commit/place.c"


def result(problems=(), goals=2, proved=2, mark="now", relies_on=()):
    return {"digest": mark, "goals": goals, "proved": proved, "functions": {"f": {"goals": goals, "proved": proved, "qed": 0}},
            "problems": list(problems), "relies_on": list(relies_on), "source": "1 s"}


class Records(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        prove.MANIFEST = self.directory / "manifest.json"
        (self.directory / "prove").mkdir()
        self.args = argparse.Namespace(fresh=False, fct="", smoke=False, cache="update", build=self.directory)
        self.write({FILE: result(mark="then"), OTHER: result()})

    def write(self, results):
        """What main does with results, and how many of them are bad."""
        with contextlib.redirect_stdout(io.StringIO()):
            return prove.settle({pathlib.Path(path): found for path, found in results.items()}, "write")

    def files(self):
        return json.loads(prove.MANIFEST.read_text())["files"]

    def believed(self, mark):
        return prove.known(pathlib.Path(FILE), self.args, mark)

    def test_what_is_proved_is_on_record_and_not_asked_again(self):
        self.assertEqual(self.write({FILE: result()}), 0)
        self.assertEqual(self.believed("now")["source"], "on record")
        self.assertIsNone(self.believed("other"))

    def test_smoke_tests_on_record_name_no_functions(self):
        on_record = {"digest": "now", "goals": 3, "proved": 3, "problems": [], "seconds": 0.0, "source": "on record"}
        self.assertEqual(prove.settle({pathlib.Path(FILE): on_record}, None), 0)

    def test_what_is_not_proved_is_not_on_record(self):
        self.write({FILE: result(["[wp] [Timeout] Goal f"], 2, 1)})
        self.assertEqual(list(self.files()), [OTHER])
        self.assertIsNone(self.believed("now"))

    def test_what_is_proved_with_a_warning_is_not_on_record(self):
        self.assertEqual(self.write({FILE: result(["Warning: Missing assigns clause"])}), 1)
        self.assertIsNone(self.believed("now"))

    def test_what_relies_on_a_contract_that_nobody_proves_is_not_on_record(self):
        self.assertEqual(self.write({FILE: result(relies_on=["sl_nobody"])}), 1)
        self.assertIsNone(self.believed("now"))

    def test_a_file_that_fails_is_as_proved_no_longer_believed_of_as_it_was(self):
        self.write({FILE: result(["[wp] [Timeout] Goal f"], 2, 1, mark="then")})
        self.assertIsNone(self.believed("then"))

    def test_sums_are_of_what_is_on_record(self):
        self.write({FILE: result(["unproved goals"], 7, 6)})
        self.assertEqual([json.loads(prove.MANIFEST.read_text())[key] for key in ("goals", "proved")], [2, 2])

    def test_a_record_of_goals_that_are_not_proved_is_not_believed(self):
        text = json.loads(prove.MANIFEST.read_text())
        text["files"][FILE].update(goals=3)
        prove.MANIFEST.write_text(json.dumps(text))
        self.assertIsNone(self.believed("then"))
        text["files"][FILE].update(goals=2)
        text["files"][FILE]["functions"]["f"]["proved"] = 1
        prove.MANIFEST.write_text(json.dumps(text))
        self.assertIsNone(self.believed("then"))

    def test_one_function_is_no_record_of_a_file(self):
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            prove.options(["--build", "x", "--fct", "f", "--manifest", "write", FILE])


if __name__ == "__main__":
    unittest.main()
