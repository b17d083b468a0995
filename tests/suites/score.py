#!/usr/bin/env python3
"""What a suite's report says, alone or against the list of what the real Kueue passes.

usage: score.py REPORT.json [PASSED.txt | --list]    --list prints the places of what passed, one a line"""
import collections, json, sys


def specs(path):
    for suite in json.load(open(path)):
        for s in suite.get("SpecReports") or []:
            if s["LeafNodeType"] == "It" and s["State"] not in ("skipped", "pending"):
                at = s["LeafNodeLocation"]
                yield f"{at['FileName'].split('/singlecluster/')[-1]}:{at['LineNumber']}", s["LeafNodeText"], s["State"] == "passed"


all_specs = list(specs(sys.argv[1]))
passed = [place for place, _, ok in all_specs if ok]
if sys.argv[2:] == ["--list"]:
    print("\n".join(sorted(passed)))
elif len(sys.argv) > 2:
    wanted = collections.Counter(open(sys.argv[2]).read().split())
    got = collections.Counter(passed) & wanted
    print(f"{sum(got.values())} of {sum(wanted.values())} specs that the real Kueue passes as a process of its own")
    for place in sorted(wanted - got):
        print("failed", place)
else:
    for place, text, ok in all_specs:
        if not ok:
            print("failed", place, text)
    print(f"{len(passed)} of {len(all_specs)} specs")
