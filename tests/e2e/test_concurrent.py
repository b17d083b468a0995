"""Concurrent admission: a Workload is tried in all flavors of its queue, by a variant for each."""
import time, unittest
from scene import *

ALLOWED = "kueue.x-k8s.io/workload-allowed-resource-flavors"
PARENT = "kueue.x-k8s.io/concurrent-admission-parent"
GATE = "kueue.x-k8s.io/concurrent-admission"
QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"


def policy(mode="TryPreferredFlavors", last=None):
    migration = {"mode": mode, **({"constraints": {"lastAcceptableFlavorName": last}} if last else {})}
    return {"migration": migration}


class Concurrent(Scene):
    options = ("--feature-gates", "ConcurrentAdmission=true")

    def queue(self, quotas, concurrent=None, **more):
        """Of flavors in this order, with so much cpu each."""
        q = cluster_queue("cq", {name: {"cpu": cpu} for name, cpu in quotas.items()}, **more)
        q["spec"]["concurrentAdmissionPolicy"] = concurrent or policy()
        self.create(*(flavor(name) for name in quotas), q, local_queue("main", "cq"))

    def quota(self, index, cpu):
        spec = self.daemon.get(f"{QUEUES}/cq")["spec"]
        spec["resourceGroups"][0]["flavors"][index]["resources"][0]["nominalQuota"] = cpu
        self.patch(f"{QUEUES}/cq", {"spec": {"resourceGroups": spec["resourceGroups"]}})

    def parent(self, name):
        return next(w for w in self.daemon.get(WORKLOADS)["items"] if w["metadata"]["name"] == name or
                    any(o["kind"] == "Job" and o["name"] == name for o in w["metadata"].get("ownerReferences", [])))

    def variants(self, name):
        uid = self.parent(name)["metadata"]["uid"]
        return {w["metadata"]["annotations"][ALLOWED]: w for w in self.daemon.get(WORKLOADS)["items"]
                if any(o["uid"] == uid for o in w["metadata"].get("ownerReferences", []))}

    def runs_on(self, name, where):
        """Its job runs, and so its Workload says, with what the variant of that flavor was given."""
        def done():
            parent = self.parent(name)
            sets = parent.get("status", {}).get("admission", {}).get("podSetAssignments")
            return (holds(parent, "Admitted") and sets[0]["flavors"]["cpu"] == where and
                    not self.daemon.get(f"{JOBS}/{name}")["spec"]["suspend"] and
                    [f for f, v in self.variants(name).items() if holds(v, "Admitted")] == [where])
        eventually(done, what=f"{name} on {where}")

    def holders(self, count):
        """Parents hold nothing themselves."""
        def done():
            status = self.daemon.get(f"{QUEUES}/cq")["status"]
            return status["reservingWorkloads"] == status["admittedWorkloads"] == count
        eventually(done, what=f"{count} that hold quota")

    def stays(self, name, where):
        end = time.monotonic() + 1
        while time.monotonic() < end:
            self.assertTrue(holds(self.parent(name), "Admitted"))
            time.sleep(0.1)
        self.runs_on(name, where)

    def is_off(self, name, where):
        return self.variants(name)[where]["spec"].get("active", True) is False

    def test_a_variant_for_each_flavor(self):
        self.queue({"reservation": "5", "spot": "5"})
        self.create(job("a", cpu="1", run_for="10m"))
        eventually(lambda: set(self.variants("a")) == {"reservation", "spot"}, what="variants")
        self.runs_on("a", "reservation")
        parent = self.parent("a")
        self.assertEqual(parent["metadata"]["labels"][PARENT], "true")
        self.assertFalse(parent["status"].get("admissionChecks"))
        for variant in self.variants("a").values():
            self.assertNotIn(PARENT, variant["metadata"].get("labels", {}))
            self.assertEqual([g["name"] for g in variant["spec"]["preemptionGates"]], [GATE])
        eventually(lambda: self.is_off("a", "spot"), what="the other is switched off")
        self.holders(1)

    def test_it_moves_to_a_better_flavor(self):
        self.queue({"reservation": "0", "spot": "5"})
        self.create(job("a", cpu="1", run_for="10m"))
        self.runs_on("a", "spot")
        self.quota(0, "5")
        self.runs_on("a", "reservation")
        eventually(lambda: self.is_off("a", "spot"), what="spot is switched off")

    def test_but_not_below_the_last_acceptable_flavor(self):
        self.queue({"reservation": "0", "on-demand": "0", "spot": "5"}, policy(last="reservation"))
        self.create(job("a", cpu="1", run_for="10m"))
        self.runs_on("a", "spot")
        eventually(lambda: self.is_off("a", "on-demand"), what="on-demand is switched off")
        self.quota(1, "5")
        self.stays("a", "spot")
        self.quota(0, "5")
        self.runs_on("a", "reservation")

    def test_nor_where_the_first_admission_stays(self):
        self.queue({"reservation": "0", "spot": "5"}, policy("RetainFirstAdmission"))
        self.create(job("a", cpu="1", run_for="10m"))
        self.runs_on("a", "spot")
        eventually(lambda: self.is_off("a", "reservation"), what="reservation is switched off")
        self.quota(0, "5")
        self.stays("a", "spot")

    def test_gates_open_one_after_the_other(self):
        self.queue({"reservation": "1", "spot": "1"}, policy("RetainFirstAdmission"),
                   preemption={"withinClusterQueue": "LowerPriority"})
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": "high"},
                     "value": 100})
        self.create(job("low-0", cpu="1", run_for="10m"), job("low-1", cpu="1", run_for="10m"))
        eventually(lambda: all(holds(self.parent(n), "Admitted") for n in ("low-0", "low-1")), what="low priorities")
        self.create(job("a", cpu="1", run_for="10m", labels={"kueue.x-k8s.io/priority-class": "high"}))

        def is_open(where):
            gates = self.variants("a")[where].get("status", {}).get("preemptionGates", [])
            return any(g["name"] == GATE and g["position"] == "Open" for g in gates)
        eventually(lambda: "reservation" in self.variants("a") and is_open("reservation"), what="the first gate")
        self.assertFalse(is_open("spot"))
        self.runs_on("a", "reservation")

    def test_flavors_come_and_go(self):
        self.queue({"reservation": "5", "spot": "0"})
        self.create(flavor("on-demand"), job("a", cpu="1", run_for="10m"))
        self.runs_on("a", "reservation")
        groups = self.daemon.get(f"{QUEUES}/cq")["spec"]["resourceGroups"]
        groups[0]["flavors"].append({"name": "on-demand", "resources": [{"name": "cpu", "nominalQuota": "0"}]})
        self.patch(f"{QUEUES}/cq", {"spec": {"resourceGroups": groups}})
        eventually(lambda: set(self.variants("a")) == {"reservation", "spot", "on-demand"}, what="a third variant")
        groups[0]["flavors"] = [{"name": "spot", "resources": [{"name": "cpu", "nominalQuota": "5"}]}]
        self.patch(f"{QUEUES}/cq", {"spec": {"resourceGroups": groups}})
        self.runs_on("a", "spot")
        self.assertEqual(set(self.variants("a")), {"spot"})

    def test_what_ends_ends_with_its_variants(self):
        self.queue({"reservation": "5", "spot": "5"})
        self.create(job("a", cpu="1", run_for="1s"))
        eventually(lambda: holds(self.parent("a"), "Finished"), what="the end")
        eventually(lambda: all(holds(v, "Finished") for v in self.variants("a").values()), what="that of its variants")
        self.holders(0)

    def test_switched_off_with_its_variants(self):
        self.queue({"reservation": "5", "spot": "5"})
        self.create(job("a", cpu="1", run_for="10m"))
        self.runs_on("a", "reservation")
        self.patch(f"{WORKLOADS}/{self.parent('a')['metadata']['name']}", {"spec": {"active": False}})
        eventually(lambda: self.daemon.get(f"{JOBS}/a")["spec"]["suspend"], what="the stop")
        eventually(lambda: all(self.is_off("a", f) for f in ("reservation", "spot")), what="variants switched off")
        eventually(lambda: not holds(self.parent("a"), "QuotaReserved"), what="quota")
        self.patch(f"{WORKLOADS}/{self.parent('a')['metadata']['name']}", {"spec": {"active": True}})
        self.runs_on("a", "reservation")

    def test_a_restart_takes_no_quota_for_parents(self):
        self.queue({"reservation": "1", "spot": "0"})
        self.create(job("a", cpu="1", run_for="10m"))
        self.runs_on("a", "reservation")
        self.daemon.stop()
        self.daemon.start()
        self.runs_on("a", "reservation")
        self.holders(1)


if __name__ == "__main__":
    unittest.main()
