#!/usr/bin/env python3
"""Runs the tests of this directory, with the control plane of tests/cluster; last line "helm: N passed, N failed".

usage: run.py [MODULE[.CLASS[.TEST]]]...    default: every test_*.py"""
import os, pathlib, sys, unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cluster")]
os.environ.setdefault("CLUSTER_RUN", str(HERE.parents[1] / os.environ.get("BUILD", "build") / "helm/cluster"))

names = sys.argv[1:] or sorted(p.stem for p in HERE.glob("test_*.py"))
suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromName(n) for n in names)
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses) + len(result.skipped)
print(f"helm: {max(0, result.testsRun - failed)} passed, {failed} failed")
sys.exit(failed > 0 or result.testsRun == 0)
