#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Random worlds that nobody recorded, for the oracle to say what Kueue makes of them: cohorts three and four levels deep with
limits on every level, several flavors and pod sets, partial admission, all policies of preemption, both kinds of fair sharing,
and several cycles in a row. The same seed gives the same worlds.

usage: worlds.py PROFILE SEED COUNT OUT
PROFILE: quota, usage (admission fair sharing), topology (worlds_topology.py), deep and deep-topology (worlds_deep.py)"""
import json, pathlib, random, sys

API = "kueue.x-k8s.io/v1beta2"
GPU = "example.com/gpu"
PRIORITIES = [-20, -10, 0, 0, 0, 10, 10, 50, 100]
# Switched off one at a time; the last two are off unless a world switches them on.
GATES_OFF = ["RecomputeAssignmentUponPreemptionTargetsOverlap", "PrioritySortingWithinCohort", "PartialAdmission",
             "SchedulingEquivalenceHashing", "FlavorFungibilityPreserveScanProgress", "FairSharingPreemptWithinNominal",
             "FairSharingPrioritizeNonBorrowing", "UnadmittedWorkloadsObservability", "FlavorFungibility",
             "TASRecomputeAssignmentWithinSchedulingCycle", "TASProfileMixed"]
GATES_ON = ["PrioritizePreemptorWorkloads", "TASBalancedPlacement"]
STRATEGIES = [None, None, ["LessThanOrEqualToFinalShare", "LessThanInitialShare"], ["LessThanInitialShare"],
              ["LessThanOrEqualToFinalShare"]]


def quantity(resource, n):
    return f"{n}Gi" if resource == "memory" else str(n)


def condition(kind, reason, at, status="True"):
    return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": at, "observedGeneration": 1}


class World:
    """One world of the profile `quota`; others change some of its parts."""
    namespace = "team-ns"
    suite = "generated-quota"
    sharing = .95  # how many ClusterQueues are in a cohort

    def __init__(self, r):
        self.r, self.objects, self.queues, self.taken, self.used, self.quota = r, [], [], set(), {}, {}
        self.config = {"fairSharing": {"enable": False}}
        self.run = {"cycles": r.choice([1, 2, 3, 4, 5, 6, 8]), "finishEvictions": True}

    def chance(self, p):
        return self.r.random() < p

    def add(self, kind, name, spec, api=API, namespaced=False, **rest):
        meta = {"name": name} | ({"namespace": self.namespace} if namespaced else {})
        self.objects.append({"apiVersion": api, "kind": kind, "metadata": meta, "spec": spec} | rest)
        return self.objects[-1]

    # --- flavors and quotas

    def make_flavors(self):
        self.fancy = self.chance(.3)
        self.flavors = {"cpu": [f"f{i}" for i in range(self.r.choice([1, 2, 2, 3, 3, 4]))]}
        self.flavors[GPU] = [f"g{i}" for i in range(self.r.randint(1, 2))] if self.chance(.35) else []
        for name in self.flavors["cpu"] + self.flavors[GPU]:
            spec = {}
            if self.fancy and self.chance(.5):
                spec["nodeLabels"] = {"tier": name}
            if self.fancy and self.chance(.25):
                effect = self.r.choice(["NoSchedule", "NoExecute", "PreferNoSchedule"])
                spec["nodeTaints"] = [{"key": "tier", "value": name, "effect": effect}]
            if self.fancy and self.chance(.1):
                spec["tolerations"] = [{"key": "tier", "operator": "Exists"}]
            self.add("ResourceFlavor", name, spec)
        self.memory = self.chance(.35)

    def quotas(self, flavor, resources, high, limits):
        out = []
        for name in resources:
            q = {"name": name, "nominalQuota": quantity(name, n := self.r.choice([0, 0, *range(1, high)]))}
            if limits and self.chance(.3):
                q["borrowingLimit"] = quantity(name, self.r.choice([0, 1, 2, 3, 4, 6, 8]))
            if limits and self.chance(.3):
                q["lendingLimit"] = quantity(name, self.r.randint(0, n))
            self.quota[flavor, name] = self.quota.get((flavor, name), 0) + n
            out.append(q)
        return {"name": flavor, "resources": out}

    def groups(self, high, limits, whole):
        """Resource groups; those of a cohort need not have all flavors."""
        out = []
        for first, names in self.flavors.items():
            covered = [first] + (["memory"] if first == "cpu" and self.memory else [])
            if not names or (first == GPU and self.chance(.2)):
                continue
            chosen = names if self.chance(.6) else self.r.sample(names, self.r.randint(1, len(names)))
            if self.chance(.15):
                chosen = self.r.sample(chosen, len(chosen))
            out.append({"coveredResources": covered, "flavors": [self.quotas(f, covered, high, limits) for f in chosen]})
        return out if whole or out else []

    # --- cohorts and queues

    def roots(self):
        return self.r.choice([1, 1, 2])

    def depths(self):
        return self.r.choice([0, 1, 2, 3, 3, 4, 4])

    def make_cohorts(self):
        self.cohorts = []
        weighted = self.config["fairSharing"]["enable"] and self.chance(.5)
        level = [None]
        for depth in range(self.depths()):
            made = []
            for i in range(self.roots() if depth == 0 else self.r.choice([2, 2, 3])):
                name, parent = f"c{depth}-{i}", self.r.choice(level)
                spec = {"parentName": parent} if parent else {}
                if self.chance(.5):
                    spec["resourceGroups"] = self.groups(8, parent is not None, False)
                if weighted and self.chance(.6):
                    spec["fairSharing"] = {"weight": self.r.choice(["500m", "1", "2", "3", "0"])}
                if spec or self.chance(.7):
                    self.add("Cohort", name, spec)
                made.append(name)
                self.cohorts.append(name)
            level = made

    def preemption(self):
        rules = {"withinClusterQueue": self.r.choice(["Never", "LowerPriority", "LowerPriority", "LowerOrNewerEqualPriority"]),
                 "reclaimWithinCohort": self.r.choice(["Never", "LowerPriority", "Any", "Any"])}
        if rules["reclaimWithinCohort"] != "Never" and self.chance(.4):
            rules["borrowWithinCohort"] = {"policy": "LowerPriority"}
            if self.chance(.6):
                rules["borrowWithinCohort"]["maxPriorityThreshold"] = self.r.choice([-10, 0, 10, 50])
        return rules

    def fungibility(self):
        out = {key: self.r.choice(["MayStopSearch", "TryNextFlavor"]) for key in ("whenCanBorrow", "whenCanPreempt")}
        if self.chance(.35):
            out["preference"] = self.r.choice(["BorrowingOverPreemption", "PreemptionOverBorrowing", "PreemptionOverBorrowing"])
        return out

    def local_queues(self, queue):
        self.add("LocalQueue", f"lq-{queue}", {"clusterQueue": queue}, namespaced=True)
        return [f"lq-{queue}"]

    def make_queues(self):
        for i in range(self.r.randint(2, 8)):
            name = f"q{i}"
            cohort = self.r.choice(self.cohorts[-5:] + self.cohorts) if self.cohorts and self.chance(self.sharing) else None
            spec = {"namespaceSelector": {}, "preemption": self.preemption(), "flavorFungibility": self.fungibility(),
                    "queueingStrategy": self.r.choice(["StrictFIFO", "BestEffortFIFO", "BestEffortFIFO"]),
                    "resourceGroups": self.groups(13, cohort is not None, True)}
            if cohort:
                spec["cohortName"] = cohort
            if self.config["fairSharing"]["enable"] and self.chance(.6):
                spec["fairSharing"] = {"weight": self.r.choice(["0", "500m", "1", "2", "4"])}
            if self.chance(.02):
                spec["stopPolicy"] = self.r.choice(["Hold", "HoldAndDrain"])
            if self.chance(.02):
                spec["namespaceSelector"] = {"matchLabels": {"dep": "other"}}
            self.add("ClusterQueue", name, spec)
            self.queues.append((name, spec, self.local_queues(name)))

    # --- workloads

    def moment(self):
        while True:
            at = f"2026-01-15T11:{self.r.randint(0, 59):02}:{self.r.randint(0, 59):02}Z"
            if at not in self.taken:
                self.taken.add(at)
                return at

    def pod_sets(self, running):
        out = []
        gpu = bool(self.flavors[GPU]) and self.chance(.4)
        for i in range(self.r.choice([1, 1, 1, 2, 2, 3])):
            requests = {"cpu": str(self.r.choice([1, 1, 1, 2, 2, 3, 4]))}
            if self.memory and self.chance(.7):
                requests["memory"] = quantity("memory", self.r.randint(1, 3))
            if gpu and self.chance(.7):
                requests[GPU] = str(self.r.randint(1, 2))
            pod = {"containers": [{"name": "c", "resources": {"requests": requests}}], "restartPolicy": "Never"}
            self.place_by_flavor(pod)
            p = {"name": f"p{i}", "count": self.r.choice([1, 1, 2, 2, 3, 4, 6, 8]), "template": {"spec": pod}}
            if not running and p["count"] > 1 and not any("minCount" in o for o in out) and self.chance(.3):
                p["minCount"] = self.r.randint(1, p["count"] - 1)
            out.append(p)
        return out

    def place_by_flavor(self, pod):
        if self.fancy and self.chance(.3):
            pod["tolerations"] = [{"key": "tier", "operator": "Exists"}]
        if self.fancy and self.chance(.12):
            pod["nodeSelector"] = {"tier": self.r.choice(self.flavors["cpu"])}
        elif self.fancy and self.chance(.12):
            term = {"key": "tier", "operator": self.r.choice(["In", "NotIn"]), "values": [self.r.choice(self.flavors["cpu"])]}
            pod["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                                                {"nodeSelectorTerms": [{"matchExpressions": [term]}]}}}

    def workload(self, i, running):
        queue, spec, locals_ = self.r.choice(self.queues)
        n = self.r.randint(10**5, 10**6 - 1)
        w = self.add("Workload", f"{'run' if running else 'wl'}-{n % 1000:03}-{i}", {
            "active": True, "podSets": self.pod_sets(running), "queueName": self.r.choice(locals_),
            "priority": self.r.choice(PRIORITIES)}, namespaced=True)
        w["metadata"].update(uid=f"uid-{n:06}-{i:02}", generation=1, creationTimestamp=self.moment(),
                             labels={"kueue.x-k8s.io/job-uid": f"job-{n}-{i}"})
        if running:
            self.admit(w, queue, spec)
        elif self.chance(.15):
            self.has_been_evicted(w)
        elif self.chance(.12):
            w["status"] = {"conditions": [condition("QuotaReserved", "PendingEvaluation", self.moment(), "False")]}

    def has_been_evicted(self, w):
        reason, at = self.r.choice(["Preempted", "PodsReadyTimeout", "AdmissionCheck"]), self.moment()
        conditions = [condition("Evicted", reason, at)]
        if reason == "Preempted" and self.chance(.5):
            conditions += [condition("QuotaReserved", "PendingEvaluation", at, "False"),
                           condition("Admitted", "NoReservation", at, "False"), condition("Requeued", reason, at)]
        if reason == "Preempted":
            conditions.append(condition("Preempted", "InClusterQueue", at))
            conditions[-1].pop("observedGeneration")
        w["status"] = {"conditions": conditions}

    def assign(self, p, spec):
        """Flavors of the queue for a pod set of somebody who runs, or None where it does not cover a resource."""
        requests, flavors = p["template"]["spec"]["containers"][0]["resources"]["requests"], {}
        for group in spec["resourceGroups"]:
            flavor = self.r.choice(group["flavors"])["name"]
            flavors |= {name: flavor for name in group["coveredResources"] if name in requests}
        if set(flavors) != set(requests):
            return None
        usage = {name: quantity(name, p["count"] * int(requests[name].removesuffix("Gi"))) for name in requests}
        return {"name": p["name"], "count": p["count"], "flavors": flavors, "resourceUsage": usage}

    def admit(self, w, queue, spec):
        """Most worlds are not over what all their quotas allow together."""
        assignments = [self.assign(p, spec) for p in w["spec"]["podSets"]]
        if None in assignments:
            self.objects.remove(w)
            return
        used = dict(self.used)
        for a in assignments:
            for name, flavor in a["flavors"].items():
                used[flavor, name] = used.get((flavor, name), 0) + int(a["resourceUsage"][name].removesuffix("Gi"))
        if any(n > self.quota[key] for key, n in used.items()) and self.chance(.9):
            self.objects.remove(w)
            return
        self.used, at = used, self.moment()
        conditions = [condition("QuotaReserved", "QuotaReserved", at), condition("Admitted", "Admitted", at)]
        if self.chance(.06) and "stopPolicy" not in spec:
            conditions += [condition("Evicted", "Preempted", "2026-01-15T11:59:30Z"),
                           condition("Preempted", "InClusterQueue", "2026-01-15T11:59:30Z")]
            conditions[-1].pop("observedGeneration")
        w["status"] = {"admission": {"clusterQueue": queue, "podSetAssignments": assignments}, "conditions": conditions}

    def make_workloads(self):
        for i in range(self.r.randint(2, 16)):
            self.workload(i, True)
        for i in range(self.r.randint(2, 14)):
            self.workload(50 + i, False)

    # --- the whole

    def choose_config(self):
        if self.chance(.45):
            self.config["fairSharing"] = {"enable": True}
            if strategies := self.r.choice(STRATEGIES):
                self.config["fairSharing"]["preemptionStrategies"] = strategies

    def gates(self):
        if self.chance(.4):
            return {}
        out = {self.r.choice(GATES_OFF): False}
        return self.more_gates(out)

    def more_gates(self, out):
        if self.chance(.2):
            out[self.r.choice(GATES_OFF)] = False
        if self.chance(.15):
            out[self.r.choice(GATES_ON)] = True
        if "FlavorFungibility" in out:
            out["FlavorFungibilityPreserveScanProgress"] = False
        return out

    def make(self):
        self.add("Namespace", self.namespace, {}, api="v1")["metadata"]["labels"] = {"dep": "eng"}
        self.choose_config()
        self.make_flavors()
        self.make_cohorts()
        self.make_queues()
        self.make_workloads()
        return {"suite": self.suite, "now": "2026-01-15T12:00:00Z", "featureGates": self.gates(), "config": self.config,
                "objects": self.objects, "run": self.run}


class UsageWorld(World):
    """Of LocalQueues that have used quota before. Usage does not decay within a world, as nobody sums it up there."""
    namespace = "default"

    def __init__(self, r):
        super().__init__(r)
        afs = {"usageHalfLifeTime": r.choice(["10s", "5m", "1h", "0s"]), "usageSamplingInterval": r.choice(["1s", "5m"])}
        if r.random() < .5:
            afs["resourceWeights"] = r.choice([{"cpu": 2, "memory": 1}, {"cpu": 0, GPU: 4}, {"cpu": 0.5, GPU: 2}])
        self.config["admissionFairSharing"] = afs
        self.run["initialLocalQueueUsage"] = {}
        if r.random() < .5:
            self.run.update(stepSeconds=0)
            if r.random() < .5:
                self.run.update(deliverUpdates=False)

    def local_queues(self, queue):
        names = [f"lq-{queue}-{i}" for i in range(self.r.randint(1, 4))]
        for name in names:
            self.add("LocalQueue", name, {"clusterQueue": queue, "fairSharing": {"weight": self.r.choice(["1", "1", "2", "500m", "3", "0"])}},
                     namespaced=True)
            if self.chance(.7):
                self.run["initialLocalQueueUsage"][name] = {"cpu": str(self.r.randint(0, 20))}
        if self.chance(.85):
            self.objects[-len(names) - 1]["spec"]["admissionScope"] = {"admissionMode": "UsageBasedAdmissionFairSharing"}
        return names


def profiles():
    from worlds_topology import TopologyWorld
    from worlds_deep import DeepTopologyWorld, DeepWorld
    return {"quota": World, "usage": UsageWorld, "topology": TopologyWorld, "deep": DeepWorld, "deep-topology": DeepTopologyWorld}


def main(profile, seed, count, out):
    world = profiles()[profile]
    for i in range(int(count)):
        name = f"{profile}-{seed}-{i:05}"
        case = world(random.Random(name)).make()
        case.update(id=name, source={"world": profile, "seed": int(seed), "index": i})
        pathlib.Path(out, name + ".json").write_text(json.dumps(case, sort_keys=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
