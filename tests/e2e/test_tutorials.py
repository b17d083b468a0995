"""The pages for newcomers say what happens: each command is typed, each output compared (the rules are in tutorial.py)."""
import unittest
from daemon import ROOT
from tutorial import follow, matches, plain, steps


class Rules(unittest.TestCase):
    def test_commands_and_outputs_are_found(self):
        page = "text\n```console\n$ one \\\n    --more\nout\n$ two\n```\n```yaml\n$ no\n```\n```console\n$ three\n```\n"
        self.assertEqual([(c, lines) for c, lines, _, _ in steps(page)],
                         [("one \\\n    --more", ["out"]), ("two", []), ("three", [])])
        self.assertRaises(AssertionError, steps, "```console\nout\n```\n")

    def test_what_differs_between_runs_is_left_out(self):
        self.assertEqual(plain("first   Running   0/3     2s   1m30s "), "first Running 0/3 # #")
        self.assertEqual(plain("default/job-first-6e3a3  since 2026-11-26T17:24:40Z"), "default/job-first-##### since DATE")
        self.assertEqual(plain("(UID: 00000000-0034-80c9-acf9-f4def7d39c2d)"), "(UID: UID)")

    def test_what_means_something_is_not(self):
        for one, other in (("4 more needed", "2 more needed"), ("cpu: 4", "cpu: 40"), ("job/first", "job/second"),
                           ("wait-30s 1", "wait-40s 1"), ("8Gi", "9Gi"), ("1000m", "x")):
            self.assertNotEqual(plain(one), plain(other))

    def test_three_dots_are_any_lines(self):
        self.assertTrue(matches(["a", "...", "d"], ["a", "b", "c", "d"]))
        self.assertTrue(matches(["..."], []))
        self.assertFalse(matches(["a", "...", "d"], ["a", "b"]))
        self.assertFalse(matches([], ["warning: more than the page says"]))


class Tutorials(unittest.TestCase):
    maxDiff = None

    def page(self, name):
        different, _ = follow((ROOT / name).read_text())
        self.assertEqual(different, [], f"{name}: tests/e2e/tutorial.py --write {name} shows the difference")

    def test_readme(self):
        self.page("README.md")

    def test_recipes(self):
        self.page("docs/recipes.md")

    def test_user(self):
        self.page("docs/tutorial-user.md")

    def test_admin(self):
        self.page("docs/tutorial-admin.md")


if __name__ == "__main__":
    unittest.main()
