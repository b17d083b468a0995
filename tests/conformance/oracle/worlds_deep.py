# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Random worlds for worlds.py in which much comes together: cohorts three and four levels deep, several flavors and pod sets,
limits of lending, partial admission, four to ten cycles; half of them with admission fair sharing, half with fair sharing, each
of the four gates that change a cycle off in one of four, and PreemptionOverBorrowing in half of the ClusterQueues."""
from worlds import UsageWorld, World
from worlds_topology import TopologyWorld

SWITCHED = ["RecomputeAssignmentUponPreemptionTargetsOverlap", "PrioritySortingWithinCohort", "PartialAdmission",
            "TASRecomputeAssignmentWithinSchedulingCycle"]


class Deep:
    sharing = 1

    def __init__(self, r):
        super().__init__(r)
        self.run["cycles"] = r.choice([4, 5, 6, 7, 8, 10])

    def depths(self):
        return self.r.choice([3, 4])

    def gates(self):
        out = {name: False for name in SWITCHED if self.chance(.25)}
        return self.more_gates(out)

    def fungibility(self):
        out = super().fungibility()
        out.pop("preference", None)
        if self.chance(.7):
            out["preference"] = self.r.choice(["BorrowingOverPreemption", "PreemptionOverBorrowing", "PreemptionOverBorrowing"])
        return out

    def make_workloads(self):
        """More that wait than there is room for, in few queues: contests in every cycle."""
        super().make_workloads()
        for i in range(self.r.randint(3, 10)):
            self.workload(80 + i, False)


class DeepWorld(Deep, UsageWorld):
    """Every other one without admission fair sharing."""

    def __init__(self, r):
        super().__init__(r)
        self.run.pop("deliverUpdates", None)
        self.usage = self.chance(.5)
        if not self.usage:
            del self.config["admissionFairSharing"], self.run["initialLocalQueueUsage"]

    def local_queues(self, queue):
        return super().local_queues(queue) if self.usage else World.local_queues(self, queue)

    def make_flavors(self):
        super().make_flavors()
        if len(self.flavors["cpu"]) == 1:
            self.flavors["cpu"].append("f9")
            self.add("ResourceFlavor", "f9", {})


class DeepTopologyWorld(Deep, TopologyWorld):
    def make_flavors(self):
        super().make_flavors()
        if len(self.flavors["cpu"]) == 1:
            self.flavors["cpu"].append("plain")
            self.add("ResourceFlavor", "plain", {})
