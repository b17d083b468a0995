#!/usr/bin/env python3
"""Runs the tests of this directory on one control plane; last line "cluster: N passed, N failed".

usage: run.py [MODULE[.CLASS[.TEST]]]...    default: every test_*.py"""
import pathlib, sys, time, unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


class Timed(unittest.TextTestResult):
    def startTest(self, test):
        self.began = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        self.stream.writeln(f"        {time.monotonic() - self.began:.1f} s")


names = sys.argv[1:] or sorted(p.stem for p in HERE.glob("test_*.py"))
suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromName(n) for n in names)
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Timed).run(suite)
failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses) + len(result.skipped)
print(f"cluster: {result.testsRun - failed} passed, {failed} failed")
sys.exit(failed > 0 or result.testsRun == 0)
