#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Random variations of recorded scenarios, for the oracle to say what Kueue makes of them: each is a recorded case of
one of the suites with one to eight things changed. The same seed gives the same cases.

usage: vary.py SEED COUNT CASES OUT [SUITE...]
CASES: tests/conformance/cases; SUITE: generated-quota and generated-tas unless given, also cycle and tas"""
import copy, json, pathlib, random, sys

import corpus

POLICIES = ["Never", "LowerPriority", "Any"]
WITHIN = ["Never", "LowerPriority", "LowerOrNewerEqualPriority"]
SEARCH = ["MayStopSearch", "TryNextFlavor"]
FAIR = [{"enable": True}, {"enable": False}, {"enable": True, "preemptionStrategies": ["LessThanOrEqualToFinalShare"]},
        {"enable": True, "preemptionStrategies": ["LessThanInitialShare"]}]


NOT_PLAYED = {"SchedulerLibraryIntegration", "ElasticJobsViaWorkloadSlices", "ConcurrentAdmission"}
PREFERENCES = ["BorrowingOverPreemption", "PreemptionOverBorrowing"]


def amount(r, resource, low, high):
    return f"{r.randint(low, high)}{'Gi' if resource == 'memory' else ''}"


def number(quantity):
    """Of amounts as they are in the cases; small ones count for nothing."""
    digits = quantity.rstrip("GiMkm")
    return int(digits) if quantity == digits or quantity.endswith("Gi") else 0


def near(r, resource, quantity, high):
    """Another amount, of the size of this one where it is a large one."""
    return amount(r, resource, 0, high if number(quantity or "0") <= high else 2 * number(quantity))


def can_be_varied(case):
    return (not set(case["run"]) - {"cycles", "finishEvictions", "secondPass", "stepSeconds"}
            and not set(case["config"]) - {"fairSharing"}
            and not {o["kind"] for o in case["objects"]} & {"LimitRange"}
            and not set(case["featureGates"]) & NOT_PLAYED)


class Variation:
    def __init__(self, r, case):
        self.r, self.case = r, copy.deepcopy(case)

    def all(self, kind):
        return [o for o in self.case["objects"] if o["kind"] == kind]

    def one(self, kind):
        return self.r.choice(self.all(kind))

    def pending(self):
        """A workload without a reservation."""
        waiting = [w for w in self.all("Workload") if "admission" not in w.get("status", {})]
        return self.r.choice(waiting) if waiting else None

    def change_count(self):
        if w := self.pending():
            pods = self.r.choice(w["spec"]["podSets"])
            request = pods.get("topologyRequest", {})
            layers = [layer["size"] for layer in request.get("podsetSliceRequiredTopologyConstraints", [])]
            slices = request.get("podSetSliceSize") or max(layers, default=1)
            pods["count"] = slices * self.r.randint(1, 9 if slices == 1 else 4)
            if "minCount" in pods:
                pods["minCount"] = min(pods["minCount"], pods["count"])

    def change_priority(self):
        if self.all("Workload"):
            self.one("Workload")["spec"]["priority"] = self.r.choice([-5, 0, 5, 10, 20, 100])

    def change_request(self):
        if w := self.pending():
            container = self.r.choice(w["spec"]["podSets"])["template"]["spec"]["containers"][0]
            name = self.r.choice(sorted(container["resources"]["requests"]))
            container["resources"]["requests"][name] = amount(self.r, name, 1, 5)

    def add_workload(self):
        if w := self.pending():
            w, n = copy.deepcopy(w), str(self.r.randint(10**5, 10**6 - 1))
            w["metadata"].update(name=f"wl-x{n}", uid=f"uid-{n}", labels={"kueue.x-k8s.io/job-uid": f"job-{n}"},
                                 creationTimestamp=f"2026-01-15T11:{self.r.randint(0, 59):02}:{self.r.randint(0, 59):02}Z")
            queue = self.one("LocalQueue")["metadata"]
            w["metadata"]["namespace"] = queue["namespace"]
            w["spec"].update(queueName=queue["name"], priority=self.r.choice([0, 10, 20]))
            w.pop("status", None)
            self.case["objects"].append(w)

    def add_twin(self):
        """Another one that asks for the same quota, and to the hash for the same or for something else."""
        if w := self.pending():
            w, n = copy.deepcopy(w), str(self.r.randint(10**5, 10**6 - 1))
            w["metadata"].update(name=f"wl-t{n}", uid=f"uid-{n}", labels={"kueue.x-k8s.io/job-uid": f"job-{n}"},
                                 creationTimestamp=f"2026-01-15T11:{self.r.randint(0, 59):02}:{self.r.randint(0, 59):02}Z")
            w.pop("status", None)
            pod = self.r.choice(w["spec"]["podSets"])["template"]["spec"]
            what, value = self.r.choice([
                ("tolerations", [{"key": "any", "operator": "Exists"}]), ("runtimeClassName", "other"), ("priority", 1),
                ("topologySpreadConstraints", [{"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule"}]),
                ("affinity", {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k"}]}}),
                ("ports", [{"containerPort": 80}]), ("image", "other"), ("nodeSelector", {})])
            (pod["containers"][0] if what in ("ports", "image") else pod)[what] = value
            self.case["objects"].append(w)

    def change_quota(self):
        queue = self.one("ClusterQueue")["spec"]
        quota = self.r.choice(self.r.choice(self.r.choice(queue["resourceGroups"])["flavors"])["resources"])
        what = self.r.choice(["nominalQuota", "nominalQuota", "borrowingLimit", "lendingLimit", None])
        if what is None:
            quota.pop("borrowingLimit", None), quota.pop("lendingLimit", None)
        elif queue.get("cohortName") or what == "nominalQuota":
            quota[what] = near(self.r, quota["name"], quota["nominalQuota"], 12)
        self.lend_no_more(quota)

    @staticmethod
    def lend_no_more(quota):
        """What is lent is at most what there is."""
        if number(quota.get("lendingLimit", "0")) > number(quota["nominalQuota"]):
            quota["lendingLimit"] = quota["nominalQuota"]

    def change_policy(self):
        queue = self.one("ClusterQueue")["spec"]
        rules, which = queue.setdefault("preemption", {}), self.r.randint(0, 4)
        if which == 0:
            rules["reclaimWithinCohort"] = self.r.choice(POLICIES)
            if rules["reclaimWithinCohort"] == "Never":
                rules.pop("borrowWithinCohort", None)
        elif which == 1:
            rules["withinClusterQueue"] = self.r.choice(WITHIN)
        elif which == 2 and rules.get("reclaimWithinCohort", "Never") != "Never":
            rules["borrowWithinCohort"] = {"policy": "LowerPriority"}
            if self.r.random() < .5:
                rules["borrowWithinCohort"]["maxPriorityThreshold"] = self.r.choice([0, 5, 10])
        elif which == 3:
            queue["flavorFungibility"] = {"whenCanBorrow": self.r.choice(SEARCH), "whenCanPreempt": self.r.choice(SEARCH)}
            if self.r.random() < .2:
                queue["flavorFungibility"]["preference"] = self.r.choice(PREFERENCES)
        else:
            queue["queueingStrategy"] = self.r.choice(["StrictFIFO", "BestEffortFIFO"])

    def change_weight(self):
        self.one("ClusterQueue")["spec"]["fairSharing"] = {"weight": self.r.choice(["0", "500m", "1", "2", "3"])}

    def change_cohort(self):
        if not self.all("Cohort"):
            return
        if self.r.random() < .5:
            self.one("ClusterQueue")["spec"]["cohortName"] = self.one("Cohort")["metadata"]["name"]
            return
        for group in self.one("Cohort")["spec"].get("resourceGroups", []):
            quota = self.r.choice(self.r.choice(group["flavors"])["resources"])
            quota["nominalQuota"] = near(self.r, quota["name"], quota["nominalQuota"], 10)
            self.lend_no_more(quota)

    def change_minimum(self):
        if w := self.pending():
            pods = self.r.choice(w["spec"]["podSets"])
            if pods["count"] > 1 and "podSetGroupName" not in pods.get("topologyRequest", {}):
                pods["minCount"] = self.r.randint(1, pods["count"] - 1)

    def change_flavors(self):
        group = self.r.choice(self.one("ClusterQueue")["spec"]["resourceGroups"])
        self.r.shuffle(group["flavors"])
        if len(group["flavors"]) > 1 and self.r.random() < .3:
            group["flavors"].pop()

    def change_tolerance(self):
        flavor, w = self.one("ResourceFlavor"), self.pending()
        pod = self.r.choice(w["spec"]["podSets"])["template"]["spec"] if w else {}
        if self.r.random() < .3:
            flavor.setdefault("spec", {})["nodeTaints"] = [{"key": "kept", "value": "back", "effect": "NoSchedule"}]
        elif self.r.random() < .5:
            pod["tolerations"] = [{"key": "kept", "operator": "Exists"}]
        elif labels := flavor.get("spec", {}).get("nodeLabels"):
            pod["nodeSelector"] = dict([self.r.choice(sorted(labels.items()))])

    def add_pod_set(self):
        w = self.pending()
        if w and len(w["spec"]["podSets"]) < 3:
            pods = copy.deepcopy(self.r.choice(w["spec"]["podSets"]))
            if "podSetGroupName" not in pods.get("topologyRequest", {}):
                pods["name"] = f"extra-{len(w['spec']['podSets'])}"
                w["spec"]["podSets"].append(pods)

    def remove_node(self):
        if len(self.all("Node")) > 1:
            self.case["objects"].remove(self.one("Node"))

    def change_node(self):
        if self.all("Node"):
            if self.r.random() < .2:
                self.one("Node").setdefault("spec", {})["unschedulable"] = True
                return
            room = self.one("Node")["status"]["allocatable"]
            room["cpu"] = str(self.r.randint(1, 8))
            if self.r.random() < .3:
                room["pods"] = str(self.r.randint(1, 8))

    def change_topology_request(self):
        w = self.pending() if self.all("Topology") else None
        if w is None:
            return
        levels = [level["nodeLabel"] for level in self.one("Topology")["spec"]["levels"]]
        pods = self.r.choice(w["spec"]["podSets"])
        if "podSetGroupName" in pods.get("topologyRequest", {}):
            return
        request = self.r.choice([{"required": self.r.choice(levels)}, {"preferred": self.r.choice(levels)}, {"unconstrained": True}])
        if self.r.random() < .3:
            size = self.r.randint(1, 3)
            request.update(podSetSliceRequiredTopology=self.r.choice(levels), podSetSliceSize=size)
            pods["count"] = size * self.r.randint(1, 4)
            pods.pop("minCount", None)
        pods["topologyRequest"] = request

    CHANGES = [(20, change_count), (10, change_priority), (10, change_request), (10, add_workload), (20, change_quota),
               (10, change_policy), (5, change_weight), (5, change_cohort), (5, change_node), (5, change_topology_request),
               (5, change_minimum), (4, change_flavors), (4, change_tolerance), (4, add_pod_set), (4, add_twin), (2, remove_node)]

    def put_in_order(self):
        """Without two that are equally old: Kueue has no order for them."""
        taken = set()
        for i, w in enumerate(self.all("Workload")):
            made = w["metadata"].get("creationTimestamp")
            if made is None or made in taken:
                w["metadata"]["creationTimestamp"] = made = f"2026-01-14T10:{i // 60:02}:{i % 60:02}Z"
            w["metadata"].setdefault("uid", f"uid-{i:06}")
            taken.add(made)

    def can_go_on(self):
        """Is whoever runs as complete as if it had been admitted by a scheduler? Others are good for a single cycle."""
        running = [w for w in self.all("Workload") if "admission" in w.get("status", {})]
        return all(w["spec"].get("queueName") and any(c["type"] == "Admitted" for c in w["status"]["conditions"]) for w in running)

    def make(self, gates):
        self.put_in_order()
        weights, changes = zip(*self.CHANGES)
        for change in self.r.choices(changes, weights, k=self.r.randint(1, 8)):
            change(self)
        if self.r.random() < .3:
            self.case["featureGates"] = self.r.choice(gates)
        if self.r.random() < .2 and not self.case["run"].get("secondPass"):
            self.case["config"] = {"fairSharing": self.r.choice(FAIR)}
        if not self.case["run"].get("secondPass") and self.r.random() < .4 and self.can_go_on():
            self.case["run"] = {"cycles": self.r.randint(1, 6), "finishEvictions": True}
        for key in ("expect", "variants", "expectServerSideApply"):
            self.case.pop(key, None)
        return self.case


def main(seed, count, cases, out, *suites):
    r = random.Random(int(seed))
    bases = [b for b in corpus.recorded(cases, *(suites or ("generated-quota", "generated-tas"))) if can_be_varied(b)]
    gates = [b["featureGates"] for b in bases]
    for i in range(int(count)):
        base = r.choice(bases)
        case = Variation(r, base).make(gates)
        case.update(id=f"varied-{seed}-{i:04}", source={"base": base["id"], "seed": int(seed), "index": i})
        pathlib.Path(out, case["id"] + ".json").write_text(json.dumps(case, sort_keys=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
