#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""What way.py makes of what a daemon has written down, and of the page that it checks."""
import collections, contextlib, io, pathlib, struct, sys, tempfile, unittest

sys.dont_write_bytecode = True
import way

PAGE = """
## Before
`engine/other/before.c`
## The way of a plain Job

1. It arrives: `server/{http,serve}.c`, with `server/no_source.h` and `text.c`.
2. It is read: `engine/turn/engine.c`.

These are 3 files; 1
more are helpers.

## After
`engine/other/after.c`
"""
ENTERED = collections.Counter({("src/server/http.c", "on_request"): 2, ("src/server/serve.c", "serve"): 1,
                               ("src/engine/turn/engine.c", "observe"): 3, ("src/engine/turn/engine.c", "note"): 1,
                               ("src/base/buf.c", "add"): 9, ("src/engine/calls/calls.def", "pack"): 1})
BEFORE = collections.Counter({("src/server/http.c", "on_request"): 1, ("src/engine/turn/engine.c", "note"): 1})


class Way(unittest.TestCase):
    def test_files_are_own_machinery_or_helpers(self):
        files = way.by_file(ENTERED, BEFORE)
        self.assertEqual({file: kind for file, (kind, _) in files.items()},
                         {"src/server/http.c": "machinery", "src/server/serve.c": "own", "src/engine/turn/engine.c": "own",
                          "src/base/buf.c": "helper"})

    def test_the_report_counts_files_functions_and_calls(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            way.report(way.by_file(ENTERED, BEFORE), True, BEFORE)
        self.assertRegex(out.getvalue(), r"(?m)^engine +1 +1 +0 +0 +2 +4$")
        self.assertRegex(out.getvalue(), r"(?m)^all +4 +2 +1 +1 +5 +16$")
        self.assertRegex(out.getvalue(), r"(?m)^    observe +3  own$")

    def test_the_page_names_files_in_its_section(self):
        self.assertEqual(way.named_files(PAGE), ["src/server/http.c", "src/server/serve.c", "src/engine/turn/engine.c"])

    def test_a_star_names_the_sources_of_a_folder(self):
        folder = pathlib.Path(way.ROOT, "src/engine/decisions")
        named = way.named_files(PAGE.replace("`engine/turn/engine.c`", "`engine/decisions/*.c`"))
        self.assertEqual(named[2:], [f"src/engine/decisions/{path.name}" for path in sorted(folder.glob("*.c"))])
        self.assertGreater(len(named), 3)

    def complaints(self, page, more=()):
        entered = ENTERED | {place: 1 for place in more}
        return way.check_page(page, way.by_file(entered, BEFORE), {file for file, _ in entered})

    def test_a_page_that_is_right_has_no_complaints(self):
        self.assertEqual(self.complaints(PAGE), [])

    def test_a_file_that_the_page_lacks_is_told(self):
        self.assertEqual(self.complaints(PAGE, [("src/store/db.c", "run")]),
                         ["src/store/db.c is entered, and docs/architecture.md does not name it",
                          'docs/architecture.md does not say: "These are 4 files; 1 more are helpers"'])

    def test_a_file_that_is_not_entered_is_told(self):
        self.assertEqual(self.complaints(PAGE.replace("http,", "http,tls,")),
                         ["src/server/tls.c is named in docs/architecture.md, and is not entered"])

    def test_a_file_that_is_named_twice_is_told(self):
        self.assertEqual(self.complaints(PAGE.replace("read:", "read: `server/http.c`,")),
                         ["src/server/http.c is named twice in docs/architecture.md"])

    def test_a_door_that_has_another_name_now_is_told(self):
        with self.assertRaisesRegex(SystemExit, "not entered, or called otherwise now: sl_store_commit"):
            way.doors(ENTERED)
        every = {("src/x.c", name): 2 for name in way.DOORS.values()}
        self.assertIn("2 commits, 2 writes", way.doors(every))

    def trace(self, *entries):
        with tempfile.TemporaryDirectory() as folder:
            self.file = pathlib.Path(folder, "trace")
            self.file.write_bytes(struct.pack("Q16I", len(entries), *entries, *[0] * (16 - len(entries))))
            return way.Trace(self.file)

    def test_what_was_written_down_is_read_and_too_much_is_told(self):
        trace = self.trace(16, 32, 48)
        self.assertEqual(trace.entries(1, 3), (32, 48))
        with self.assertRaisesRegex(SystemExit, "more functions were entered than the file takes"):
            trace.entries(0, 17)

    def test_a_daemon_is_quiet_when_it_only_does_what_it_does_without_a_cause(self):
        trace, counts = self.trace(16, 32, 48, 16, 16, 16), iter([1, 2, 3, 4, 5])
        way.QUIET_S = 0.1
        trace.count = lambda: next(counts, 6)
        self.assertEqual(trace.quiet({16}), 3)

    def test_a_daemon_that_does_not_become_quiet_is_told(self):
        trace, counts = self.trace(*[32] * 16), iter(range(16))
        trace.count = lambda: next(counts, 16)
        with self.assertRaisesRegex(SystemExit, "the daemon is not quiet after 0.1 s"):
            trace.quiet({16}, 0.1)


if __name__ == "__main__":
    unittest.main(verbosity=0)
