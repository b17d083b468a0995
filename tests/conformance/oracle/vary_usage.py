#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Random variations of the recorded scenarios of usage-based admission fair sharing, for the oracle to say what Kueue makes
of them. Nothing reaches the queues between cycles and no time goes by, as in the recorded ones. The same seed gives the
same cases.

usage: vary_usage.py SEED COUNT CASES OUT
CASES: tests/conformance/cases"""
import copy, json, pathlib, random, sys

import corpus
from vary import Variation, amount

WEIGHTS = ["0", "500m", "1", "1", "1500m", "2", "3"]
RESOURCE_WEIGHTS = [{}, {"cpu": 1}, {"cpu": 2, "memory": 1}, {"cpu": 0, "memory": 1}, {"cpu": 0.5, "memory": 0.25}]


class UsageVariation(Variation):
    """Of usage, weights and requests, and of what the queue does with them."""

    def queue_names(self):
        return [q["metadata"]["name"] for q in self.all("LocalQueue")]

    def change_used(self):
        used = {name: amount(self.r, name, 0, 12) for name in self.r.sample(["cpu", "memory"], self.r.randint(1, 2))}
        self.case["run"].setdefault("initialLocalQueueUsage", {})[self.r.choice(self.queue_names())] = used

    def change_local_weight(self):
        self.one("LocalQueue")["spec"]["fairSharing"] = {"weight": self.r.choice(WEIGHTS)}

    def change_resource_weights(self):
        weights = self.r.choice(RESOURCE_WEIGHTS)
        self.case["config"]["admissionFairSharing"]["resourceWeights"] = weights

    def change_resources(self):
        requests = self.one("Workload")["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]
        requests.update({name: amount(self.r, name, 1, 5) for name in self.r.sample(["cpu", "memory"], self.r.randint(1, 2))})

    def change_strategy(self):
        self.one("ClusterQueue")["spec"]["queueingStrategy"] = self.r.choice(["StrictFIFO", "BestEffortFIFO"])

    def add_queue(self):
        """Another ClusterQueue with a LocalQueue, in a cohort with the first."""
        first = self.all("ClusterQueue")[0]
        number = len(self.all("ClusterQueue")) + 1
        first["spec"]["cohortName"] = "shared"
        queue, local = copy.deepcopy(first), copy.deepcopy(self.one("LocalQueue"))
        queue["metadata"]["name"], local["metadata"]["name"] = f"cq{number}", f"lq-of-{number}"
        local["spec"]["clusterQueue"] = f"cq{number}"
        if self.r.random() < .3:
            queue["spec"].pop("admissionScope", None)
        self.case["objects"] += [queue, local]

    CHANGES = [(20, change_used), (10, change_local_weight), (8, change_resource_weights), (20, Variation.add_workload),
               (10, change_resources), (8, Variation.change_count), (8, Variation.change_priority), (8, Variation.change_quota),
               (5, change_strategy), (5, Variation.change_policy), (5, add_queue)]

    def make_usage(self):
        gates = self.case["featureGates"]
        case = self.make([gates])
        case["featureGates"] = gates
        case["config"]["fairSharing"] = self.r.choice([{"enable": True}, {"enable": False}])
        case["run"] = {"cycles": self.r.randint(1, 6), "deliverUpdates": False, "stepSeconds": 0,
                       "initialLocalQueueUsage": case["run"].get("initialLocalQueueUsage", {})}
        return case


def main(seed, count, cases, out):
    r = random.Random(int(seed))
    bases = [c for c in corpus.recorded(cases, "cycle") if "initialLocalQueueUsage" in c["run"] and "deleteLocalQueueFromAPIBeforeCycles" not in c["run"]]
    for i in range(int(count)):
        base = r.choice(bases)
        varied = UsageVariation(r, base)
        for _ in range(r.randint(0, 3)):
            varied.add_workload()
        config = varied.case["config"]["admissionFairSharing"]
        case = varied.make_usage()
        case["config"]["admissionFairSharing"] = config
        case.update(id=f"varied-usage-{seed}-{i:04}", source={"base": base["id"], "seed": int(seed), "index": i})
        pathlib.Path(out, case["id"] + ".json").write_text(json.dumps(case, sort_keys=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
