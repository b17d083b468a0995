#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Random variations of the question which flavors to give: each is a recorded case of the suite flavors with one to ten things changed.

usage: vary_flavors.py SEED COUNT CASES OUT      CASES: tests/conformance/cases"""
import copy, json, pathlib, random, sys

import corpus
from vary import PREFERENCES, SEARCH, Variation as Scenario, near, number

GATES = ["FlavorFungibility", "UnadmittedWorkloadsObservability"]


class Variation(Scenario):
    def queue(self):
        return [q for q in self.all("ClusterQueue") if q["metadata"]["name"] == self.case["input"]["clusterQueue"]][0]

    def offers(self, queue):
        return [(f["name"], q) for g in queue["spec"].get("resourceGroups", []) for f in g["flavors"] for q in f.get("resources", [])]

    def requests(self):
        pods = self.r.choice(self.case["input"]["podSets"])
        return pods["template"]["spec"]["containers"][0].get("resources", {}).get("requests", {})

    def change_request(self):
        requests = self.requests()
        if requests:
            name = self.r.choice(sorted(requests))
            requests[name] = near(self.r, name, requests[name], 6)

    def add_request(self):
        flavor, quota = self.r.choice(self.offers(self.queue()))
        self.requests()[quota["name"]] = near(self.r, quota["name"], quota["nominalQuota"], 4)

    def change_count(self):
        pods = self.r.choice(self.case["input"]["podSets"])
        if "reclaimablePods" not in self.case["input"]:
            pods["count"] = self.r.randint(1, 5)

    def add_pod_set(self):
        sets = self.case["input"]["podSets"]
        if len(sets) < 3 and "topologyRequest" not in sets[0]:
            pods = copy.deepcopy(self.r.choice(sets))
            pods["name"] = f"extra-{len(sets)}"
            sets.append(pods)

    def change_quota(self):
        queue = self.r.choice(self.all("ClusterQueue"))
        if not self.offers(queue):
            return
        flavor, quota = self.r.choice(self.offers(queue))
        what = self.r.choice(["nominalQuota", "nominalQuota", "borrowingLimit", "lendingLimit", None])
        if what is None:
            quota.pop("borrowingLimit", None), quota.pop("lendingLimit", None)
        elif what == "nominalQuota" or queue["spec"].get("cohortName"):
            quota[what] = near(self.r, quota["name"], quota["nominalQuota"], 10)
        self.lend_no_more(quota)

    def change_usage(self):
        queue = self.r.choice(self.all("ClusterQueue"))
        if not self.offers(queue):
            return
        flavor, quota = self.r.choice(self.offers(queue))
        unit = 1000 if quota["name"] == "cpu" else 1 << 30 if quota["nominalQuota"].endswith("Gi") else 1
        used = self.case["input"].setdefault("usage", {}).setdefault(queue["metadata"]["name"], {}).setdefault(flavor, {})
        used[quota["name"]] = unit * self.r.randint(0, 2 + number(quota["nominalQuota"]))

    def change_prospect(self):
        stub = self.case["input"]["preemptionOracle"]
        possibility, after = self.r.choice(["NoCandidates", "Preempt", "Reclaim"]), self.r.choice([0, 0, 1])
        if self.r.random() < .3:
            stub["default"] = {"possibility": possibility, "borrowingAfter": after}
            return
        flavor, quota = self.r.choice(self.offers(self.queue()))
        stub["results"] = [p for p in stub.get("results", []) if (p["flavor"], p["resource"]) != (flavor, quota["name"])]
        stub["results"].append({"flavor": flavor, "resource": quota["name"], "possibility": possibility, "borrowingAfter": after})

    def change_search(self):
        spec = self.queue()["spec"]
        spec["flavorFungibility"] = {"whenCanBorrow": self.r.choice(SEARCH), "whenCanPreempt": self.r.choice(SEARCH)}
        if self.r.random() < .4:
            spec["flavorFungibility"]["preference"] = self.r.choice(PREFERENCES)

    def change_policy(self):
        rules = self.queue()["spec"].setdefault("preemption", {})
        rules["reclaimWithinCohort"] = self.r.choice(["Never", "LowerPriority", "Any"])
        rules["withinClusterQueue"] = self.r.choice(["Never", "LowerPriority"])
        rules.pop("borrowWithinCohort", None)
        if rules["reclaimWithinCohort"] != "Never" and self.r.random() < .4:
            rules["borrowWithinCohort"] = {"policy": "LowerPriority"}

    def change_order(self):
        groups = self.queue()["spec"].get("resourceGroups", [])
        if groups:
            self.r.shuffle(self.r.choice(groups)["flavors"])

    def change_pod(self):
        pod = self.r.choice(self.case["input"]["podSets"])["template"]["spec"]
        labelled = [f["spec"]["nodeLabels"] for f in self.all("ResourceFlavor") if f.get("spec", {}).get("nodeLabels")]
        if self.r.random() < .4:
            pod["tolerations"] = [{"operator": "Exists"}]
        elif labelled:
            pod["nodeSelector"] = dict(self.r.choice(labelled))

    def change_sharing(self):
        self.case.setdefault("config", {})["fairSharing"] = {"enable": self.r.random() < .5}

    def change_gate(self):
        gate = self.r.choice(GATES)
        self.case["featureGates"][gate] = False

    CHANGES = [(12, change_request), (8, add_request), (8, change_count), (8, add_pod_set), (15, change_quota), (20, change_usage),
               (15, change_prospect), (12, change_search), (8, change_policy), (5, change_order), (5, change_pod), (3, change_sharing), (2, change_gate)]

    def make(self):
        weights, changes = zip(*self.CHANGES)
        for change in self.r.choices(changes, weights, k=self.r.randint(1, 10)):
            change(self)
        self.case.pop("variants", None)
        del self.case["expect"]
        return self.case


def is_asked(case):
    """By an assigner that has all objects, of a new workload."""
    has = {o["metadata"]["name"] for o in case.get("objects", []) if o["kind"] == "ResourceFlavor"}
    offered = {f["name"] for o in case.get("objects", []) if o["kind"] == "ClusterQueue" for g in o["spec"].get("resourceGroups", []) for f in g["flavors"]}
    return offered and not offered - has and not set(case["input"]) & {"annotations", "replacedWorkloadSlice"}


def main(seed, count, cases, out):
    r = random.Random(int(seed))
    bases = [b for b in corpus.recorded(cases, "flavors") if is_asked(b)]
    for i in range(int(count)):
        base = r.choice(bases)
        case = Variation(r, base).make()
        case.update(id=f"flavors-{seed}-{i:04}", source={"base": base["id"], "seed": int(seed), "index": i})
        pathlib.Path(out, case["id"] + ".json").write_text(json.dumps(case, sort_keys=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
