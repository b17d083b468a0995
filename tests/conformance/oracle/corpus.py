# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Reads files of cases: one case each, or a list of them."""
import json, pathlib


def cases(path):
    root = json.loads(pathlib.Path(path).read_text())
    return root if isinstance(root, list) else [root]


def recorded(folder, *suites):
    """All cases of the suites below the folder, in the order of the files' names."""
    return [case for suite in suites for path in sorted(pathlib.Path(folder, suite).glob("*.json")) for case in cases(path)]
