#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Which instruments matrix.py asks about a defect, what it keeps of their answers, and what it counts."""
import argparse, contextlib, io, pathlib, subprocess, sys, tempfile, unittest

import instruments, matrix, run

PATCH = """# Broken: it is bad.
# Guarantee: G1
# Rejected-by: {by}
--- a/{file}
+++ b/{file}
@@ -1 +1 @@
-good
+bad
"""
FILE = "src/engine/turn/a.c"


def look(word, copy):
    """Rejects what is bad, when it has eyes; cannot say anything when it is broken."""
    text = (copy / FILE).read_text()
    return "failed" if word == "broken" else "rejected" if word == "sees" and "bad" in text or word == "always" else "accepted", text


class Matrix(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        (self.root / FILE).parent.mkdir(parents=True)
        (self.root / FILE).write_text("good\n")
        (self.root / ".gitignore").write_text("/build/\n*.patch\n")
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        run.ROOT, instruments.KINDS = self.root, {"look": look}
        self.args = argparse.Namespace(build=self.root / "build", every=True, fresh=False, budget=0, columns=["unit", "fuzz"])
        self.args.build.mkdir()
        self.defect = self.defect_in(FILE)
        self.record = matrix.Record(self.root / "matrix.json", self.root)

    def defect_in(self, file, by="look:sees", name="01-x"):
        path = self.root / f"{name}.patch"
        path.write_text(PATCH.format(by=by, file=file))
        return run.read(path)

    def ask(self, **wanted):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            failed = matrix.ask(self.args, self.record, [(self.defect, wanted)])
        return failed, self.record.of(self.defect), said.getvalue()

    def test_named_instruments_come_first_and_each_kind_has_its_own(self):
        found = matrix.columns(self.defect_in("src/policy/queues/a.c", "unit:policy/test_a unit:scenarios/test_b sim:60 fuzz:cycle:9 crash:3"))
        self.assertEqual(found["unit"], ["unit:policy/test_a", "units:policy", "units:engine"])
        self.assertEqual(found["scenario"], ["unit:scenarios/test_b", "units:scenarios"])
        self.assertEqual(found["simulator"], ["sim:60"])
        self.assertEqual(found["fuzz"][:2], ["fuzz:cycle:9", "replay:cycle"])
        self.assertEqual(found["proof"], ["prove:src/policy/queues/a.c"])
        self.assertEqual(matrix.columns(self.defect)["proof"], [])
        self.assertEqual(matrix.columns(self.defect)["simulator"], ["sim:20"])

    def test_tables_of_the_models_are_the_kernels(self):
        self.assertEqual(matrix.module(self.defect_in("model/lifecycle.def")), "kernel")

    def test_one_that_rejects_is_enough(self):
        failed, found, _ = self.ask(unit=["look:blind", "look:sees", "look:broken"], fuzz=["look:blind"])
        self.assertEqual(failed, 0)  # that another one cannot run does not matter then
        self.assertEqual(found, {"unit": {"verdict": "rejected", "by": "look:sees"}, "fuzz": {"verdict": "accepted", "by": None}})

    def test_what_could_not_be_asked_is_no_verdict(self):
        failed, found, said = self.ask(unit=["look:broken"], fuzz=["look:always"])
        self.assertEqual((failed, found), (2, {}))
        self.assertIn("look:always on the tree as it is: rejected", said)

    def test_the_tree_is_put_back(self):
        self.ask(unit=["look:sees"])
        self.assertEqual((self.args.build / "defects/tree" / FILE).read_text(), "good\n")

    def test_a_patch_that_does_not_fit_is_a_failure(self):
        self.defect = self.defect_in(FILE)
        self.defect["path"].write_text(self.defect["path"].read_text().replace("-good", "-gone"))
        failed, found, said = self.ask(unit=["look:sees"])
        self.assertEqual((failed, found), (1, {}))
        self.assertIn("does not apply", said)

    def test_only_what_is_not_known_is_asked(self):
        self.ask(unit=["look:sees"])
        self.assertEqual([list(wanted) for _, wanted in matrix.work(self.args, [self.defect], self.record)], [["fuzz"]])
        self.args.fresh = True
        self.assertEqual([list(wanted) for _, wanted in matrix.work(self.args, [self.defect], self.record)], [["unit", "fuzz"]])

    def test_those_come_first_of_which_least_is_known_and_fewest_kinds_are_named(self):
        seen = [self.defect_in(FILE, "unit:engine/a sim:9", "01-a"), self.defect_in(FILE, "unit:engine/a", "02-b"), self.defect]
        self.defect = self.defect_in(FILE, "conformance", "03-c")
        self.ask(unit=["look:sees"])
        self.assertEqual([defect["name"] for defect, _ in matrix.work(self.args, [*seen[:2], self.defect], self.record)],
                         ["02-b", "01-a", "03-c"])

    def test_a_file_that_changed_is_asked_about_again(self):
        self.ask(unit=["look:sees"], fuzz=["look:blind"])
        self.assertEqual(matrix.work(self.args, [self.defect], self.record), [])
        (self.root / FILE).write_text("good\nand more\n")
        self.assertEqual(self.record.of(self.defect), {})
        self.assertEqual(len(matrix.work(self.args, [self.defect], self.record)), 1)

    def test_what_is_no_defect_any_more_is_forgotten(self):
        self.ask(unit=["look:sees"])
        self.record.forget({"02-y"})
        self.assertEqual(self.record.defects, {})

    def test_the_report_counts_what_patches_name_and_what_is_on_record(self):
        self.defect = self.defect_in(FILE, "unit:engine/test_a")
        self.ask(fuzz=["look:blind"])
        said = matrix.report([self.defect], self.record)
        self.assertIn("| engine | 1 | 0 of 0 | 1 of 1 | 0 of 0 | 0 of 0 | 0 of 1 | 0 of 0 | 0 of 0 | 1 | 0 | 0 |", said)
        self.assertIn("* `01-x` by unit, not by fuzz\n", said)
        self.ask(conformance=["look:sees"])
        said = matrix.report([self.defect], self.record)
        self.assertIn("| 1 of 1 | 0 of 1 | 0 of 0 | 0 of 0 | 0 | 1 | 0 |", said)
        self.assertNotIn("01-x", said)

    def test_a_kind_without_a_column_counts(self):
        self.assertEqual(matrix.rejecting(self.defect_in(FILE, "model:a crash:3"), self.record), ["crash", "model"])

    def test_after_its_time_no_other_defect_is_begun(self):
        self.args.budget = 1e-9
        self.assertEqual(self.ask(unit=["look:sees"])[1], {})


if __name__ == "__main__":
    result = unittest.main(exit=False, argv=sys.argv[:1]).result
    bad = len(result.failures) + len(result.errors)
    print(f"defects, the matrix: {result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad != 0)
