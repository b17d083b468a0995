#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""The judge of seeded defects, on a tree of one file and with an instrument that rejects the word "bad": whatever goes
wrong is a failure, and nothing else counts as a rejection."""
import argparse, json, pathlib, subprocess, sys, tempfile, unittest

import instruments, run, tree

PATCH = """# Broken: it is {what}.
# Guarantee: G1
# Rejected-by: {by}
--- a/src/a.c
+++ b/src/a.c
@@ -1,2 +1,2 @@
-{old}
+{what}
 last
"""


def look(word, copy):
    """Rejects the word; cannot say anything of what is odd."""
    text = (copy / "src/a.c").read_text()
    return ("failed" if "odd" in text else "rejected" if word in text else "accepted"), text


class Judge(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        (self.root / "src").mkdir()
        (self.root / "src/a.c").write_text("good\nlast\n")
        (self.root / ".gitignore").write_text("/build/\n*.patch\n")
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        run.ROOT = self.root
        instruments.KINDS = {"look": look}
        self.args = argparse.Namespace(build=self.root / "build", every=False)
        self.args.build.mkdir()

    def judge(self, what="bad", by="look:bad", old="good", every=False):
        path = self.root / "01-x.patch"
        path.write_text(PATCH.format(what=what, by=by, old=old))
        self.args.every = every
        runner = run.Run(self.args)
        result = runner.judge(run.read(path))
        self.assertEqual((runner.copy.tree / "src/a.c").read_text(), "good\nlast\n")
        return result

    def test_defect_is_rejected_by_the_first_that_sees_it(self):
        by, asked, problem = self.judge(by="look:blind look:bad look:never")
        self.assertEqual((by, [a["verdict"] for a in asked], problem), ("look:bad", ["accepted", "rejected"], ""))

    def test_defect_that_nobody_rejects_is_a_failure(self):
        by, _, problem = self.judge(what="fine")
        self.assertEqual((by, problem), (None, "not rejected by look:bad"))

    def test_every_instrument_has_to_reject_when_asked(self):
        self.assertEqual(self.judge(by="look:bad look:blind", every=True)[2], "not rejected by look:blind")

    def test_patch_that_does_not_fit_is_a_failure(self):
        self.assertIn("does not apply", self.judge(old="gone")[2])

    def test_instrument_that_rejects_what_is_good_means_nothing(self):
        self.assertIn("on the tree as it is: rejected", self.judge(by="look:good")[2])

    def test_instrument_that_cannot_run_is_no_rejection(self):
        by, _, problem = self.judge(what="odd")
        self.assertIsNone(by)
        self.assertIn("could not run", problem)

    def test_unknown_instrument_is_a_failure(self):
        self.assertIn("there is no instrument oracle", self.judge(by="oracle:x")[2])

    def test_header_without_a_guarantee_is_refused(self):
        path = self.root / "01-x.patch"
        path.write_text(PATCH.format(what="bad", by="look:bad", old="good").replace("# Guarantee: G1\n", ""))
        with self.assertRaisesRegex(SystemExit, "does not say Guarantee"):
            run.read(path)

    def test_restored_file_counts_as_changed(self):
        copy = tree.Copy(self.root, self.args.build)
        copy.restore()
        broken = copy.tree / "src/a.c"
        broken.write_text("bad\nlast\n")
        before = broken.stat().st_mtime_ns
        copy.restore()
        self.assertEqual(broken.read_text(), "good\nlast\n")
        self.assertGreaterEqual(broken.stat().st_mtime_ns, before)

    def test_verdicts_about_another_tree_are_forgotten(self):
        path = self.root / "01-x.patch"
        path.write_text(PATCH.format(what="bad", by="look:bad", old="good"))
        defect = run.read(path)
        for text, kept in (("good\nlast\n", ["01-x"]), ("good\nlast\nmore\n", ["other"])):
            (self.root / "src/a.c").write_text(text)
            runner = run.Run(self.args)
            runner.write(dict(defect, name=kept[0]), "look:bad", [], "", 1)
            record = json.loads((self.args.build / "defects.json").read_text())
            self.assertEqual(list(record["defects"]), kept)


if __name__ == "__main__":
    result = unittest.main(exit=False, argv=sys.argv[:1]).result
    bad = len(result.failures) + len(result.errors)
    print(f"defects, the judge: {result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad != 0)
