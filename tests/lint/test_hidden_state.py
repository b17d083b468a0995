#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Each rule of hidden_state.py, on a little core that breaks it."""
import os, pathlib, sys, tempfile, unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import hidden_state

HEADER = "/*@ assigns sl_hidden; */\nvoid sl_a_put(int n);\n/*@ assigns sl_hidden; */\nvoid sl_a_clear(void);\nvoid sl_b(void);\n"
OWNER = """#include "policy/x/a.h"
static int count;
/*@ predicate Few{L} = count <= 9 && \\forall integer i; 0 <= i < count ==> 0 <= i; */
/*@ requires few: Few; assigns count; ensures few: Few; */
void sl_a_put(int n)
{
    count = n < 9 ? n : 9;
}
/*@ requires few: Few; assigns count;%s */
void sl_a_clear(void)
{
    count = 0;%s
}
"""
OTHER = '#include "policy/x/a.h"\nvoid sl_b(void)\n{\n    %s\n}\n'


class Rules(unittest.TestCase):
    def problems(self, ensures=" ensures few: Few;", calls="", others=""):
        with tempfile.TemporaryDirectory() as name:
            here, root = os.getcwd(), pathlib.Path(name)
            (root / "src/policy/x").mkdir(parents=True)
            (root / "src/policy/x/a.h").write_text(HEADER)
            (root / "src/policy/x/a.c").write_text(OWNER % (ensures, calls))
            (root / "src/policy/x/b.c").write_text(OTHER % others)
            try:
                os.chdir(root)
                return [p.split(": ", 1)[1] for p in hidden_state.check(pathlib.Path("build")).problems]
            finally:
                os.chdir(here)

    def test_a_core_that_keeps_them_is_let_through(self):
        self.assertEqual(self.problems(), [])

    def test_what_writes_and_does_not_ensure(self):
        self.assertEqual(self.problems(ensures=""), ["keeps: sl_a_clear may write count and does not ensure Few"])

    def test_a_chain_that_comes_back(self):
        self.assertEqual(self.problems(calls="\n    sl_b();", others="sl_a_put(1);"),
                         ["reenters: sl_a_clear calls sl_b, which comes back to sl_a_put"])

    def test_a_call_by_a_pointer(self):
        self.assertEqual(self.problems(others="void (*f)(int) = sl_a_put;\n    f(1);"), ["sl_b calls by a pointer"])


if __name__ == "__main__":
    unittest.main()
