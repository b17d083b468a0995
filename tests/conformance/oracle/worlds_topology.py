# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Random worlds with nodes and topologies for worlds.py: racks and blocks, slices, groups of pod sets, failed nodes. Under fair
sharing there is one tree of cohorts and no second pass: Kueue serves trees in random order, and forgets second passes."""
from worlds import World

LEVELS = [f"example.com/{name}" for name in ("dc", "block", "rack")]
HOST = "kubernetes.io/hostname"


class TopologyWorld(World):
    suite = "generated-tas"
    sharing = 1

    def __init__(self, r):
        super().__init__(r)
        self.room = {}

    def make_flavors(self):
        self.fancy, self.memory = False, self.chance(.3)
        self.levels = LEVELS[self.r.randint(0, 3):] + [HOST]
        if len(self.levels) > 2 and self.chance(.12):
            self.levels.pop()
        self.add("Topology", "topo", {"levels": [{"nodeLabel": level} for level in self.levels]})
        self.pools = ["a", "b"][:self.r.choice([1, 1, 2])]
        self.flavors = {"cpu": [f"tas-{p}" for p in self.pools]}
        for p in self.pools:
            spec = {"nodeLabels": {"pool": p}, "topologyName": "topo"}
            if self.chance(.1):
                spec["tolerations"] = [{"key": "maint", "operator": "Exists"}]
            self.add("ResourceFlavor", f"tas-{p}", spec)
        if self.chance(.2):
            self.flavors["cpu"].append("plain")
            self.add("ResourceFlavor", "plain", {})
        self.flavors["example.com/gpu"] = []
        self.make_nodes()

    def roots(self):
        return 1

    def choose_config(self):
        if self.chance(.3):
            super().choose_config()
        self.fair = self.config["fairSharing"]["enable"]

    def make_cohorts(self):
        super().make_cohorts()
        if self.fair and not self.cohorts:
            self.add("Cohort", "c0-0", {})
            self.cohorts.append("c0-0")

    def make_nodes(self):
        for i in range(self.r.randint(2, 16)):
            dc, block, rack = f"d{i // 8}", f"d{i // 8}b{i // 4 % 2}", f"d{i // 8}b{i // 4 % 2}r{i // 2 % 2}"
            name, pool = f"n{i:02}", self.r.choice(self.pools)
            labels = dict(zip(LEVELS, (dc, block, rack))) | {HOST: name, "pool": pool}
            cpu, pods = self.r.choice([1, 2, 2, 3, 4, 4, 6, 8]), self.r.choice([2, 3, 10, 10, 10, 110])
            spec = {"taints": [{"key": "maint", "value": "x", "effect": "NoSchedule"}]} if self.chance(.05) else {}
            if self.chance(.03):
                spec["unschedulable"] = True
            ready = self.chance(.97)
            room = {"cpu": str(cpu), "memory": f"{2 * cpu}Gi", "pods": str(pods)}
            node = self.add("Node", name, spec, api="v1", status={
                "allocatable": room, "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]})
            node["metadata"]["labels"] = labels
            if ready and not spec:
                self.room[name] = [cpu, 2 * cpu, pods, pool, labels]
            if self.chance(.06):
                self.add("Pod", f"other-{i}", {"nodeName": name, "containers": [
                    {"name": "c", "resources": {"requests": {"cpu": "1"}}}]}, api="v1", namespaced=True, status={"phase": "Running"})

    def request(self, p):
        if self.chance(.2):
            return None
        level = self.r.choice(self.levels)
        request = self.r.choice([{"required": level}, {"preferred": level}, {"unconstrained": True}])
        if self.chance(.25):
            size = self.r.choice([1, 2, 2, 3, 4])
            below = self.levels[self.levels.index(level):] if "unconstrained" not in request else self.levels
            request |= {"podSetSliceRequiredTopology": self.r.choice(below), "podSetSliceSize": size}
            p["count"] = size * self.r.randint(1, 4)
            p.pop("minCount", None)
        return request

    def pod_sets(self, running):
        out = super().pod_sets(running)
        if len(out) == 2 and not running and self.chance(.4):
            level, kind = self.r.choice(self.levels), self.r.choice(["required", "preferred"])
            for p in out:
                p.pop("minCount", None)
                p["topologyRequest"] = {"podSetGroupName": "grp", kind: level}
            out[0]["count"] = 1
            return out
        for p in out:
            if request := self.request(p):
                p["topologyRequest"] = request
        return out

    def admits(self, p, flavor, spec):
        """A flavor takes pod sets with a request for a topology when it has one, and others when it has none, or when all
        flavors of the queue have one."""
        mixed = any(f["name"] == "plain" for group in spec["resourceGroups"] for f in group["flavors"])
        return flavor != "plain" if "topologyRequest" in p else flavor == "plain" or not mixed

    def where(self, p):
        """The nodes that pods of a running pod set may stand on, and in portions of how many: all slices in one domain."""
        request, names = p.get("topologyRequest", {}), sorted(self.room)
        self.r.shuffle(names)
        slices = request.get("podSetSliceRequiredTopology")
        for level in (request.get("required"), slices if slices != HOST else None):
            if level and names:
                domain = self.room[names[0]][4][level]
                names = [n for n in names if self.room[n][4][level] == domain]
        return names, request["podSetSliceSize"] if slices == HOST else 1

    def assign(self, p, spec):
        a = super().assign(p, spec)
        flavor = a and a["flavors"]["cpu"]
        if not a or not self.admits(p, flavor, spec):
            return None
        if flavor == "plain":
            return a
        requests = p["template"]["spec"]["containers"][0]["resources"]["requests"]
        cpu, memory = int(requests["cpu"]), int(requests.get("memory", "0Gi").removesuffix("Gi"))
        per, left = {}, p["count"]
        names, size = self.where(p)
        for name in names:
            room = self.room[name]
            fits = min(room[0] // cpu, room[1] // memory if memory else 99, room[2]) if room[3] == flavor[-1] else 0
            n = min(fits, left) // size * size
            if n > 0:
                per[name], left = n, left - n
                room[0], room[1], room[2] = room[0] - n * cpu, room[1] - n * memory, room[2] - n
        if left:
            return None
        if self.levels[-1] == HOST:
            levels, domains = [HOST], sorted(([n], c) for n, c in per.items())
        else:
            levels, sums = self.levels, {}
            for n, c in per.items():
                key = tuple(self.room[n][4][level] for level in levels)
                sums[key] = sums.get(key, 0) + c
            domains = sorted((list(k), c) for k, c in sums.items())
        a["topologyAssignment"] = {"levels": levels, "slices": [
            {"domainCount": 1, "podCounts": {"universal": c}, "valuesPerLevel": [{"universal": v} for v in values]}
            for values, c in domains]}
        return a

    def admit(self, w, queue, spec):
        super().admit(w, queue, spec)
        status = w.get("status", {})
        if self.fair or "stopPolicy" in spec or "admission" not in status or len(status["conditions"]) > 2 or not self.chance(.12) or self.levels[-1] != HOST:
            return
        nodes = [s["valuesPerLevel"][0]["universal"] for a in status["admission"]["podSetAssignments"]
                 for s in a.get("topologyAssignment", {}).get("slices", [])]
        if nodes:
            status["unhealthyNodes"] = [{"name": self.r.choice(nodes)}]
            self.run.setdefault("secondPass", []).append(f"{self.namespace}/{w['metadata']['name']}")
