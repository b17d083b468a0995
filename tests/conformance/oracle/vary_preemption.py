#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Random variations of the question whom to preempt: each is a recorded case of the suite preemption with two to twelve things changed.

usage: vary_preemption.py SEED COUNT CASES OUT      CASES: tests/conformance/cases"""
import copy, json, pathlib, random, sys

import corpus
from vary import POLICIES, WITHIN, FAIR, Variation as Scenario, amount, near


class Variation(Scenario):
    def running(self):
        return self.one("Workload")

    def change_priority(self):
        self.running()["spec"]["priority"] = self.r.choice([-5, -1, 0, 1, 5, 10])

    def change_own_priority(self):
        self.case["input"]["incoming"]["spec"]["priority"] = self.r.choice([-1, 0, 1, 5, 10])

    def change_own_request(self):
        pods = self.r.choice(self.case["input"]["incoming"]["spec"]["podSets"])
        requests = pods["template"]["spec"]["containers"][0].get("resources", {}).get("requests", {})
        if requests:
            name = self.r.choice(sorted(requests))
            requests[name] = amount(self.r, name, 1, 6)

    def change_use(self):
        """Of one pod set, what it asks for and what it has got."""
        w = self.running()
        i = self.r.randrange(len(w["spec"]["podSets"]))
        pods, given = w["spec"]["podSets"][i], w["status"]["admission"]["podSetAssignments"][i]
        requests = pods["template"]["spec"]["containers"][0].get("resources", {}).get("requests", {})
        if requests and pods["count"] == 1:
            name = self.r.choice(sorted(requests))
            requests[name] = given["resourceUsage"][name] = amount(self.r, name, 1, 6)

    def move(self):
        """To another queue that has quota of the same flavors."""
        w, queue = self.running(), self.one("ClusterQueue")
        has = {(f["name"], q["name"]) for g in queue["spec"].get("resourceGroups", []) for f in g["flavors"] for q in f.get("resources", [])}
        if all((f, n) in has for p in w["status"]["admission"]["podSetAssignments"] for n, f in p.get("flavors", {}).items()):
            w["status"]["admission"]["clusterQueue"] = queue["metadata"]["name"]

    def add_running(self):
        w, n = copy.deepcopy(self.running()), str(self.r.randint(10**5, 10**6 - 1))
        w["metadata"].update(name=f"wl-x{n}", uid=f"uid-{n}")
        w["spec"]["priority"] = self.r.choice([-5, -1, 0, 1, 5])
        self.case["objects"].append(w)

    def begin_eviction(self):
        conditions = self.running()["status"]["conditions"]
        if not any(c["type"] == "Evicted" for c in conditions):
            conditions.append({"type": "Evicted", "status": "True", "reason": "Preempted", "lastTransitionTime": self.case["now"]})

    def change_time(self):
        for c in self.running()["status"]["conditions"]:
            if c["type"] == "QuotaReserved":
                c["lastTransitionTime"] = f"2026-01-15T11:{self.r.randint(0, 59):02}:{self.r.randint(0, 59):02}Z"

    def quotas(self, o):
        return [q for g in o["spec"].get("resourceGroups", []) for f in g["flavors"] for q in f.get("resources", [])]

    def change_quota(self):
        o = self.r.choice(self.all("ClusterQueue") + self.all("Cohort"))
        if not self.quotas(o):
            return
        quota = self.r.choice(self.quotas(o))
        what = self.r.choice(["nominalQuota", "nominalQuota", "borrowingLimit", "lendingLimit", None])
        if what is None:
            quota.pop("borrowingLimit", None), quota.pop("lendingLimit", None)
        elif what == "nominalQuota" or o["spec"].get("cohortName") or o["spec"].get("parentName"):
            quota[what] = near(self.r, quota["name"], quota["nominalQuota"], 10)
        self.lend_no_more(quota)

    def change_policy(self):
        mine = [q for q in self.all("ClusterQueue") if q["metadata"]["name"] == self.case["input"]["clusterQueue"]]
        rules = mine[0]["spec"].setdefault("preemption", {})
        if self.r.random() < .4:
            rules["reclaimWithinCohort"] = self.r.choice(POLICIES)
        elif self.r.random() < .6:
            rules["withinClusterQueue"] = self.r.choice(WITHIN)
        elif not self.case["config"]["fairSharing"]["enable"]:
            rules["borrowWithinCohort"] = {"policy": "LowerPriority"}
            if self.r.random() < .5:
                rules["borrowWithinCohort"]["maxPriorityThreshold"] = self.r.choice([-1, 0, 5])
        if rules.get("reclaimWithinCohort", "Never") == "Never":
            rules.pop("borrowWithinCohort", None)

    def change_weight(self):
        o = self.r.choice(self.all("ClusterQueue") + self.all("Cohort"))
        o["spec"]["fairSharing"] = {"weight": self.r.choice(["0", "500m", "1", "2", "3"])}

    def change_cohort(self):
        if self.all("Cohort"):
            self.one("ClusterQueue")["spec"]["cohortName"] = self.one("Cohort")["metadata"]["name"]

    def change_sharing(self):
        if self.case["config"]["fairSharing"]["enable"]:
            self.case["config"]["fairSharing"] = self.r.choice([f for f in FAIR if f["enable"]])

    CHANGES = [(15, change_priority), (8, change_own_priority), (10, change_own_request), (15, change_use), (10, move), (15, add_running),
               (4, begin_eviction), (10, change_time), (20, change_quota), (12, change_policy), (8, change_weight), (6, change_cohort),
               (4, change_sharing)]

    def make(self):
        weights, changes = zip(*self.CHANGES)
        self.case["input"]["incoming"].pop("status", None)
        for i, w in enumerate(self.all("Workload")):
            w["metadata"]["uid"] = f"uid-{i:06}"
        for change in self.r.choices(changes, weights, k=self.r.randint(2, 12)):
            change(self)
        self.case.pop("variants", None)
        del self.case["expect"]
        return self.case


def main(seed, count, cases, out):
    r = random.Random(int(seed))
    bases = [b for b in corpus.recorded(cases, "preemption") if any(o["kind"] == "Workload" for o in b["objects"])]
    for i in range(int(count)):
        base = r.choice(bases)
        case = Variation(r, base).make()
        case.update(id=f"preemption-{seed}-{i:04}", source={"base": base["id"], "seed": int(seed), "index": i})
        pathlib.Path(out, case["id"] + ".json").write_text(json.dumps(case, sort_keys=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
