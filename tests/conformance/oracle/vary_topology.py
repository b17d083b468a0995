#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Random variations of recorded questions about topologies: each is a case of the suite topology with one to eight things changed.
The second form turns the reasons that the oracle wrote down in words into the numbers that cases have.

usage: vary_topology.py SEED COUNT CASES OUT      CASES: tests/conformance/cases
       vary_topology.py reasons DIR"""
import copy, json, pathlib, random, re, sys

import corpus

GATES = ["TASBalancedPlacement", "TASRespectNodeAffinityPreferred"]


class Variation:
    def __init__(self, r, case):
        self.r, self.case, self.input = r, copy.deepcopy(case), None
        self.input = self.case["input"]

    def nodes(self):
        return [o for o in self.case["objects"] if o["kind"] == "Node"]

    def pods(self):
        return self.r.choice(self.input["podSets"])

    def change_room(self):
        room = self.r.choice(self.nodes())["status"].setdefault("allocatable", {})
        what = self.r.choice(["cpu", "cpu", "cpu", "pods", "memory"])
        room[what] = f"{self.r.randint(0, 8)}{'Gi' if what == 'memory' else ''}"

    def change_all_rooms(self):
        for node in self.nodes():
            node["status"].setdefault("allocatable", {})["cpu"] = str(self.r.randint(1, 6))

    def change_health(self):
        node = self.r.choice(self.nodes())
        if self.r.random() < .4:
            node.setdefault("spec", {})["unschedulable"] = True
        elif self.r.random() < .5:
            node.setdefault("spec", {})["taints"] = [{"key": "maint", "value": "x", "effect": self.r.choice(["NoSchedule", "PreferNoSchedule"])}]
        else:
            node["status"]["conditions"] = [{"type": "Ready", "status": "False"}]

    def remove_node(self):
        if len(self.nodes()) > 2 and "workload" not in self.input:
            self.case["objects"].remove(self.r.choice(self.nodes()))

    def add_node(self):
        """Beside another one, in its lowest domain or in a new one."""
        node, n = copy.deepcopy(self.r.choice(self.nodes())), self.r.randint(100, 999)
        node["metadata"]["name"] = f"n{n}"
        labels, levels = node["metadata"].setdefault("labels", {}), self.input["levels"]
        if "kubernetes.io/hostname" in labels:
            labels["kubernetes.io/hostname"] = f"n{n}"
        if self.r.random() < .3:
            labels[self.r.choice(levels)] = f"d{n}"
        node["status"].setdefault("allocatable", {})["cpu"] = str(self.r.randint(1, 6))
        if not any(o["metadata"]["name"] == f"n{n}" for o in self.nodes()):
            self.case["objects"].append(node)

    def add_pod(self):
        self.case["objects"].append({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"other-{self.r.randrange(10**6)}", "namespace": "other"},
            "spec": {"nodeName": self.r.choice(self.nodes())["metadata"]["name"],
                     "containers": [{"name": "c", "resources": {"requests": {"cpu": f"{self.r.randint(1, 8)}00m"}}}]}})

    def use_before(self):
        node, levels = self.r.choice(self.nodes()), self.input["levels"]
        values = [node["metadata"].get("labels", {}).get(level) for level in levels]
        if None not in values and not {"workload", "aggregatedDomainUsage"} & set(self.input):
            if levels[-1] == "kubernetes.io/hostname":
                values = values[-1:]
            self.input.setdefault("priorOwnUsage", []).append(
                {"values": values, "singlePodRequests": {"cpu": 1000 * self.r.randint(1, 2)}, "count": self.r.randint(1, 2)})

    def change_count(self):
        pods = self.pods()
        request = pods["podSet"].get("topologyRequest") or {}
        if pods.get("podSetGroupName") and pods["count"] == 1 or "workload" in self.input:
            return
        sizes = [c["size"] for c in request.get("podsetSliceRequiredTopologyConstraints", [])]
        size = request.get("podSetSliceSize") or (sizes[0] if sizes else 1)
        pods["count"] = size * self.r.randint(1, max(2, 12 // size))

    def change_requests(self):
        amounts = self.pods()["singlePodRequests"]
        amounts["cpu"] = self.r.choice([300, 500, 1000, 1000, 2000, 3000])
        if self.r.random() < .2:
            amounts["memory"] = self.r.randint(1, 3) << 30

    def change_request(self):
        pods, levels = self.pods(), self.input["levels"]
        if pods.get("podSetGroupName") or "workload" in self.input or pods.get("previousAssignment"):
            return
        top = self.r.randrange(len(levels))
        request = self.r.choice([{"required": levels[top]}, {"preferred": levels[top]}, {"unconstrained": True}])
        if self.r.random() < .5:
            size, low = self.r.randint(1, 4), self.r.randrange(top if "unconstrained" not in request else 0, len(levels))
            request.update(podSetSliceRequiredTopology=levels[low], podSetSliceSize=size)
            pods["count"] = size * self.r.randint(1, 5)
        pods["podSet"]["topologyRequest"], pods["implied"] = request, False

    def add_leader(self):
        pods = self.input["podSets"]
        if len(pods) != 1 or "workload" in self.input or not pods[0]["podSet"].get("topologyRequest") or pods[0].get("previousAssignment"):
            return
        leader = copy.deepcopy(pods[0])
        request = leader["podSet"]["topologyRequest"]
        for key in ("podSetSliceRequiredTopology", "podSetSliceSize", "podsetSliceRequiredTopologyConstraints"):
            request.pop(key, None)
        leader["podSet"]["name"], pods[0]["podSet"]["name"] = "leader", "workers"
        leader["count"], leader["singlePodRequests"] = 1, {"cpu": self.r.choice([500, 1000, 2000])}
        leader["podSetGroupName"] = pods[0]["podSetGroupName"] = "group"
        pods.insert(0, leader)

    def change_gate(self):
        gate = self.r.choice(GATES)
        self.case["featureGates"][gate] = not self.case["featureGates"].get(gate, False)

    CHANGES = [(20, change_room), (10, change_all_rooms), (5, change_health), (5, remove_node), (10, add_node), (5, add_pod), (8, use_before),
               (15, change_count), (10, change_requests), (15, change_request), (5, add_leader), (4, change_gate)]

    def make(self):
        weights, changes = zip(*self.CHANGES)
        for change in self.r.choices(changes, weights, k=self.r.randint(1, 8)):
            change(self)
        del self.case["expect"]
        return self.case


def vary(seed, count, cases, out):
    r = random.Random(int(seed))
    bases = [b for b in corpus.recorded(cases, "topology") if any(o["kind"] == "Node" for o in b["objects"])]
    for i in range(int(count)):
        base = r.choice(bases)
        case = Variation(r, base).make()
        case.update(id=f"topology-{seed}-{i:04}", source={"base": base["id"], "seed": int(seed), "index": i})
        pathlib.Path(out, case["id"] + ".json").write_text(json.dumps(case, sort_keys=True))


def failure(words):
    numbers, total = {}, re.search(r"Total nodes: (\d+)(?:; excluded: (.*))?", words)
    if total:
        numbers["totalNodes"] = int(total[1])
        causes = re.findall(r'(resource "[^"]+"|taint "[^"]+"|[A-Za-z]+): (\d+)', total[2] or "")
        if causes:
            numbers["excluded"] = {cause.replace('"', ""): int(n) for cause, n in causes}
    some = re.search(r"allows to fit only (\d+) out of (\d+) (pod|slice)\(s\)", words)
    none = re.search(r"doesn't allow to fit any of (\d+) (pod|slice)\(s\)", words)
    if some or none:
        fit, (of, unit) = (int(some[1]), some.groups()[1:]) if some else (0, none.groups())
        return {"fit": fit, "of": int(of), "unit": unit, **numbers}
    if levels := re.findall(r"(\d+)/(\d+) slice\(s\) fit on level ([^;\s]+?)[;.](?=\s)", words + "; "):
        return {"levels": [{"fit": int(fit), "of": int(of), "level": level} for fit, of, level in levels], **numbers}
    if total:
        return {"words": words, **numbers}
    kinds = {"no topology domains at level": "noDomainsAtLevel", "is above the podset topology": "sliceAbovePodSet",
             "contains the stale domain": "staleDomain"}
    found = [kind for start, kind in kinds.items() if start in words]
    return {"kind": found[0]} if found else {"kind": "other", **({"words": words} if words else {})}


def reasons(folder):
    for f in pathlib.Path(folder).glob("*.json"):
        case = json.loads(f.read_text())
        for answer in case["expect"]["podSets"].values():
            if "reason" in answer:
                answer["failure"] = failure(answer.pop("reason"))
            if (found := answer.get("topologyAssignment")) and "Levels" in found:
                answer["topologyAssignment"] = {"levels": found["Levels"],
                                                "domains": [{"values": d["Values"], "count": d["Count"]} for d in found["Domains"] or []]}
        f.write_text(json.dumps(case, sort_keys=True))


if __name__ == "__main__":
    reasons(*sys.argv[2:]) if sys.argv[1] == "reasons" else vary(*sys.argv[1:])
