#!/usr/bin/env python3
"""Runs test modules of this directory with unittest; last line "NAME: N passed, N failed".

usage: run.py NAME MODULE..."""
import pathlib, sys, unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
name, modules = sys.argv[1], sys.argv[2:]
suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromName(m) for m in modules)
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
print(f"{name}: {result.testsRun - failed - len(result.skipped)} passed, {failed} failed")
sys.exit(failed > 0 or result.testsRun == 0)
