#!/usr/bin/env python3
"""Runs the tests of a folder, this one or one beside it, on one control plane; last line "FOLDER: N passed, N failed".

usage: run.py [--of FOLDER] [MODULE[.CLASS[.TEST]]]...    default: every test_*.py of cluster"""
import pathlib, sys, time, unittest

HERE = pathlib.Path(__file__).resolve().parent
names = sys.argv[1:]
tests = HERE
if names[:1] == ["--of"]:
    tests, names = HERE.parent / names[1], names[2:]
sys.path[:0] = [str(tests), str(HERE)]


class Timed(unittest.TextTestResult):
    def startTest(self, test):
        self.began = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        self.stream.writeln(f"        {time.monotonic() - self.began:.1f} s")


names = names or sorted(p.stem for p in tests.glob("test_*.py"))
suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromName(n) for n in names)
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Timed).run(suite)
failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses) + len(result.skipped)
print(f"{tests.name}: {result.testsRun - failed} passed, {failed} failed")
sys.exit(failed > 0 or result.testsRun == 0)
