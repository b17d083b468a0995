#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Is whoever writes a field without effect warned of it, in standalone mode and on a cluster?

src/api/objects/idle.def is the one table. A field of a kind's spec (src/api/schema) that no code which acts on objects names
has to be in it, and a field that is in it must not be named there. The policy sluice-idle-fields says the same on a cluster.
Not looked at: pod templates beyond what Sluice reads of them, which are the kubelet's."""
import pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
POLICY = "deploy/kubernetes/policies/idle.yaml"
KINDS = ("cluster_queue", "cohort", "local_queue", "workload", "resource_flavor", "admission_check", "topology",
         "provisioning_request_config", "job")
ACTING = ("engine", "controllers", "cli")
PODS = ("spec.template.spec", "spec.podSets[].template.spec")
ON_A_CLUSTER = {("JOB", "spec.activeDeadlineSeconds"): "foresight reads it where Kubernetes acts on it",
                ("JOB", "spec.backoffLimit"): "sluicectl run writes it"}
BY_A_GATE = "only the feature gate "  # which some code looks at
OTHERS = {"spec.nodeTaints[].timeAdded": "Kubernetes notes it on nodes, it is no wish"}


def fields(kind):
    """The paths of a table's rows below spec."""
    text = subprocess.run(["cc", "-E", "-P", "-x", "c", "-Isrc", "-"], input=f'#include "api/schema/{kind}.def"\n',
                          capture_output=True, text=True, check=True, cwd=ROOT).stdout
    for m in re.finditer(r'SL_FIELD\(\s*((?:"[^"]*"\s*)+),', text):
        path = "".join(re.findall(r'"([^"]*)"', m.group(1)))
        if path.startswith("spec.") and not path.startswith(PODS) and path not in OTHERS:
            yield path


def named():
    """The words in the texts of the code that acts on objects."""
    words = set()
    for room in ACTING:
        for path in (ROOT / "src" / room).rglob("*.[ch]"):
            for text in re.findall(r'"((?:\\.|[^"\\\n])*)"', path.read_text()):
                words.update(re.findall(r"[A-Za-z]\w*", text))
    return words


def rows():
    """(both modes?, kind, where, member, why)"""
    text = (ROOT / "src/api/objects/idle.def").read_text()
    for m in re.finditer(r'^SL_IDLE(_ALONE)?\((\w+), "([^"]+)", "([^"]+)",\s*"?(.+?)"?\)$', text, re.M):
        yield (m.group(1) is None, *m.groups()[1:])


def main():
    bad, words, table = [], named(), list(rows())
    idle = {(kind, f"{where}.{member}") for _, kind, where, member, _ in table}
    for kind in KINDS:
        for path in fields(kind):
            parts = [re.sub(r"\W", "", part) for part in path.split(".")]
            listed = any((kind.upper(), ".".join(parts[:n + 1])) in idle for n in range(len(parts)))
            if not listed and not set(parts) <= words:
                bad.append(f"{kind}: nothing reads {path}, and src/api/objects/idle.def does not say so")
    for both_modes, kind, where, member, why in table:
        excepted = not both_modes and (kind, f"{where}.{member}") in ON_A_CLUSTER or why.startswith(BY_A_GATE)
        if where == "spec" and member in words and not excepted:
            bad.append(f"src/api/objects/idle.def says that {kind} {where}.{member} has no effect, and some code names it")
    policy = (ROOT / POLICY).read_text()
    both = [f"{where}.{member} has no effect: {why}" for on_cluster, _, where, member, why in table if on_cluster]
    bad += [f"{POLICY} does not say: {sentence}" for sentence in both if f'message: "{sentence}"' not in policy]
    said = len(re.findall(r"^      message:", policy, re.M))
    if not both or len(both) != said:
        bad.append(f"src/api/objects/idle.def has {len(both)} rows for clusters, {POLICY} {said} messages")
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
