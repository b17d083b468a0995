#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""deploy/kubernetes/policies/refused.yaml: the admission policies that sluiced makes of what the shipped adapter files refuse, so
that it is said once.

usage: refused.py BUILD [--check]"""
import pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILE = ROOT / "deploy/kubernetes/policies/refused.yaml"
HEAD = """# Made by make reference of the `refuse` of the files in deploy/adapters: change those.
apiVersion: v1
kind: List
items:
"""
LABELS = "  labels:\n    app.kubernetes.io/component: policies\n    app.kubernetes.io/name: sluice\n"  # kustomize sets them


def made(build):
    printed = subprocess.run([ROOT / build / "sluiced", "--print-policies", "1.36", "--adapters", ROOT / "deploy/adapters"],
                             check=True, capture_output=True, text=True).stdout
    text = HEAD
    for document in printed.split("---\n"):
        if "\n  name: sluice-refused-" in document:
            lines = [line for line in document.replace(LABELS, "").splitlines() if line]
            text += "- " + "\n  ".join(lines) + "\n"
    return text


def main(build, *how):
    text = made(build)
    if how != ("--check",):
        FILE.write_text(text)
    elif not FILE.exists() or FILE.read_text() != text:
        print("refused.yaml is not what the files in deploy/adapters refuse: make reference")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
