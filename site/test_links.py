#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Tests of links.py and hooks.py's reading of links: what they must find, and what is no link."""
import pathlib, tempfile, unittest

import links


class Texts(unittest.TestCase):
    def broken(self, **files):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory).resolve()
            for name, text in files.items():
                (root / f"{name}.md").write_text(text)
            return [(line, link, why) for line, link, why in links.broken_in_text(pathlib.Path("a.md"), files["a"], root)]

    def test_a_file_that_is_not_there(self):
        self.assertEqual(self.broken(a="x\n[b](c.md)"), [(2, "c.md", "no such file")])

    def test_a_heading_that_is_not_there(self):
        self.assertEqual(self.broken(a="[b](b.md#two)", b="# One"), [(1, "b.md#two", "no such heading")])
        self.assertEqual(self.broken(a="# One\n[here](#two)"), [(2, "#two", "no such heading")])

    def test_headings_as_github_names_them(self):
        self.assertEqual(links.slug("What `sluicectl why` says, and how"), "what-sluicectl-why-says-and-how")
        self.assertEqual(links.slug("A - b"), "a---b")
        self.assertEqual(links.anchors("# One\n## One\n```\n# not one\n```\n"), {"one", "one-1"})

    def test_what_is_good_and_what_is_no_link(self):
        self.assertEqual(self.broken(a="[b](b.md#one) [web](https://example.com/x) `[c](none.md)`\n```\n[d](none.md)\n```\n",
                                     b="# One"), [])


class Sites(unittest.TestCase):
    def complaints(self, **files):
        with tempfile.TemporaryDirectory() as directory:
            for name, text in files.items():
                path = pathlib.Path(directory, name.replace("__", "/") + ".html")
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            return links.check_site(pathlib.Path(directory))[1]

    def test_broken_links_and_headings(self):
        self.assertEqual(self.complaints(a='<a href="b.html">'), ["a.html: b.html: no such file"])
        self.assertEqual(self.complaints(a='<a href="d/b.html#x">', d__b='<h1 id="y">'), ["a.html: d/b.html#x: no such heading"])
        self.assertEqual(self.complaints(index='<h1 id="y">', d__b='<a href="../index.html#y"><a href="..">'), [])

    def test_nothing_is_loaded_from_another_site(self):
        self.assertEqual(self.complaints(a='<script src="https://example.com/x.js"></script>'),
                         ["a.html: loads https://example.com/x.js from another site"])


if __name__ == "__main__":
    unittest.main()
