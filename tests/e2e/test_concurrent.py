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

    def uses(self, cpu):
        """Of the first flavor."""
        eventually(lambda: self.daemon.get(f"{QUEUES}/cq")["status"]["flavorsUsage"][0]["resources"][0]["total"] == cpu, what=f"{cpu} cpu")

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

    def test_gates_of_look_alikes_open_too(self):
        """All ask for the same: what is found out for the first says nothing of the gates of the others."""
        self.queue({"reservation": "3", "spot": "0"}, policy("RetainFirstAdmission"), preemption={"withinClusterQueue": "LowerPriority"})
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": "high"},
                     "value": 100})
        low, high = [f"low-{i}" for i in range(3)], [f"high-{i}" for i in range(3)]
        self.create(*(job(n, cpu="1", run_for="10m") for n in low))
        for name in low:
            self.runs_on(name, "reservation")
        self.create(*(job(n, cpu="1", run_for="10m", labels={"kueue.x-k8s.io/priority-class": "high"}) for n in high))
        for name in high:
            self.runs_on(name, "reservation")

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

    def test_why_names_the_variants_and_figures_count_the_parent(self):
        self.queue({"reservation": "1", "spot": "2"})
        self.create(job("a", cpu="5"))
        eventually(lambda: set(self.variants("a")) == {"reservation", "spot"}, what="variants")
        name = self.parent("a")["metadata"]["name"]

        parts = ["Workload:", name, "Variants:\n  reservation: Pending", self.variants("a")["reservation"]["metadata"]["name"],
                 "1 cpu", "  spot: Pending", "2 cpu"]
        text = self.daemon.sluicectl("why", "a").stdout
        at = 0
        for part in parts:
            self.assertIn(part, text[at:], text)
            at = text.index(part, at)
        metrics = self.daemon.request("GET", "/metrics")[1]
        counts = [line.rsplit(" ", 1)[1] for line in metrics.splitlines() if line.startswith("kueue_unadmitted_workloads{")]
        self.assertEqual(counts, ["1"], metrics)

    def what_if(self, *documents):
        said = json.loads(self.daemon.sluicectl("what-if", "-f", "-", "-o", "json", stdin="\n".join(map(json.dumps, documents))).stdout)
        return {row["flavor"]: row for row in said["asked"]}

    def test_what_if_asks_about_each_variant(self):
        self.queue({"reservation": "1", "spot": "2"}, policy("RetainFirstAdmission"), preemption={"withinClusterQueue": "LowerPriority"})
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": "high"},
                     "value": 100})
        rows = self.what_if(job("a", cpu="2", run_for="10m"))
        self.assertEqual([(f, row["admitted"]) for f, row in rows.items()], [("reservation", "Unknown"), ("spot", "Now")])
        self.assertEqual(rows["spot"]["podSets"][0]["flavors"], {"cpu": "spot"})
        self.assertEqual(self.daemon.get(WORKLOADS)["items"], [])
        self.create(job("b", cpu="1", run_for="10m"))
        self.runs_on("b", "reservation")
        rows = self.what_if(job("a", cpu="1", run_for="1m", labels={"kueue.x-k8s.io/priority-class": "high"}))
        self.assertEqual({f: row["admitted"] for f, row in rows.items()}, {"reservation": "Unknown", "spot": "Now"})
        rows = self.what_if(self.parent("b"))
        self.assertEqual({f: row["admitted"] for f, row in rows.items()}, {"reservation": "Already", "spot": "Unknown"})

    def test_a_restart_takes_no_quota_for_parents(self):
        self.queue({"reservation": "1", "spot": "0"})
        self.create(job("a", cpu="1", run_for="10m"))
        self.runs_on("a", "reservation")
        self.daemon.stop()
        self.daemon.start()
        self.runs_on("a", "reservation")
        self.holders(1)

    # --- the parent is what its user changes
    def moved(self, name, queue):
        self.patch(f"{JOBS}/{name}", {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": queue}}})

    def second_queue(self, concurrent):
        q = cluster_queue("cq2", {"reservation": {"cpu": "5"}, "spot": {"cpu": "5"}})
        if concurrent:
            q["spec"]["concurrentAdmissionPolicy"] = concurrent
        self.create(q, local_queue("second", "cq2"))

    def test_no_more_pods_run_than_its_variant_has_quota_for(self):
        self.queue({"reservation": "0", "spot": "0"})
        o = job("a", cpu="1", parallelism=1, run_for="10m")
        o["spec"]["completions"] = 10
        self.create(o)
        eventually(lambda: len(self.variants("a")) == 2, what="variants")
        self.patch(f"{JOBS}/a", {"spec": {"parallelism": 4}})
        self.quota(0, "3")
        eventually(lambda: all(v["spec"]["podSets"][0]["count"] == 4 for v in self.variants("a").values()) and
                   len(self.variants("a")) == 2, what="variants of 4 pods")
        time.sleep(0.5)
        self.assertTrue(self.daemon.get(f"{JOBS}/a")["spec"]["suspend"])
        self.quota(0, "4")
        self.runs_on("a", "reservation")
        self.uses("4")

    def test_fewer_pods_fit_at_once(self):
        self.queue({"reservation": "5", "spot": "0"})
        self.create(job("a", cpu="1", parallelism=8, run_for="10m"))
        eventually(lambda: len(self.variants("a")) == 2, what="variants")
        self.patch(f"{JOBS}/a", {"spec": {"parallelism": 3}})
        self.runs_on("a", "reservation")

    def test_it_goes_to_another_queue(self):
        self.queue({"reservation": "0", "spot": "0"})
        self.second_queue(policy())
        self.create(job("a", cpu="1", run_for="10m"))
        eventually(lambda: len(self.variants("a")) == 2, what="variants")
        self.moved("a", "second")
        self.runs_on("a", "reservation")

    def test_it_is_an_ordinary_one_in_a_queue_without_policy(self):
        self.queue({"reservation": "0", "spot": "0"})
        self.second_queue(None)
        self.create(job("a", cpu="1", run_for="10m"))
        eventually(lambda: len(self.variants("a")) == 2, what="variants")
        self.moved("a", "second")
        eventually(lambda: not self.daemon.get(f"{JOBS}/a")["spec"]["suspend"], what="it runs")
        self.assertEqual(self.variants("a"), {})
        self.assertNotIn(PARENT, self.parent("a")["metadata"].get("labels", {}))

    def test_its_priority_is_that_of_its_variants(self):
        self.queue({"reservation": "0", "spot": "0"})
        for name, value in (("low", 1), ("high", 9)):
            self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": name},
                         "value": value})
        self.create(job("a", cpu="1", run_for="10m", labels={"kueue.x-k8s.io/priority-class": "low"}))
        eventually(lambda: [v["spec"].get("priority") for v in self.variants("a").values()] == [1, 1], what="low variants")
        self.patch(f"{JOBS}/a", {"metadata": {"labels": {"kueue.x-k8s.io/priority-class": "high"}}})
        eventually(lambda: [v["spec"].get("priority") for v in self.variants("a").values()] == [9, 9], what="high variants")

    def test_pods_that_are_not_needed_again_give_back_their_quota(self):
        self.queue({"reservation": "4", "spot": "0"})
        self.create(job("a", cpu="1", parallelism=4, run_for="10m"))
        self.runs_on("a", "reservation")
        self.patch(f"{WORKLOADS}/{self.parent('a')['metadata']['name']}/status",
                   {"status": {"reclaimablePods": [{"name": "main", "count": 3}]}})
        self.uses("1")

    def test_its_pods_get_what_checks_add(self):
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck", "metadata": {"name": "ac"},
                     "spec": {"controllerName": "example.com/mine"}})
        self.patch("/apis/kueue.x-k8s.io/v1beta2/admissionchecks/ac/status", {"status": {"conditions": [
            {"type": "Active", "status": "True", "reason": "A", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
        self.queue({"reservation": "5", "spot": "0"}, admissionChecksStrategy={"admissionChecks": [{"name": "ac"}]})
        self.create(job("a", cpu="1", run_for="10m"))
        eventually(lambda: len(self.variants("a")) == 2 and holds(self.variants("a")["reservation"], "QuotaReserved"), what="quota")
        self.patch(f"{WORKLOADS}/{self.variants('a')['reservation']['metadata']['name']}/status", {"status": {"admissionChecks": [
            {"name": "ac", "state": "Ready", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
             "podSetUpdates": [{"name": "main", "nodeSelector": {"booked": "yes"}}]}]}})
        self.runs_on("a", "reservation")
        self.assertEqual(self.daemon.get(f"{JOBS}/a")["spec"]["template"]["spec"].get("nodeSelector"), {"booked": "yes"})

    def test_elastic_jobs_have_no_variants_and_grow(self):
        self.queue({"reservation": "5", "spot": "0"})
        o = job("a", cpu="1", parallelism=3, run_for="10m")
        o["spec"]["completions"] = 20
        o["metadata"].setdefault("annotations", {})["kueue.x-k8s.io/elastic-job"] = "true"
        self.create(o)
        self.uses("3")
        self.patch(f"{JOBS}/a", {"spec": {"parallelism": 5}})
        self.uses("5")

    # --- what comes late, and goes early
    def test_a_queue_comes_after_its_job(self):
        q = cluster_queue("cq", {"reservation": {"cpu": "5"}, "spot": {"cpu": "5"}})
        q["spec"]["concurrentAdmissionPolicy"] = policy()
        self.create(flavor("reservation"), flavor("spot"), q, job("a", cpu="1", run_for="10m"))
        eventually(lambda: self.parent("a"), what="its Workload")
        self.create(local_queue("main", "cq"))
        self.runs_on("a", "reservation")

    def test_what_ends_without_its_queue_gives_back_its_quota(self):
        self.queue({"reservation": "5", "spot": "5"})
        self.create(job("a", cpu="1", run_for="3s"), job("b", cpu="1", run_for="10m"))
        self.runs_on("a", "reservation")
        self.runs_on("b", "reservation")
        self.daemon.request("DELETE", "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues/main")
        self.holders(1)
        self.patch(f"{QUEUES}/cq", {"spec": {"stopPolicy": "HoldAndDrain"}})
        self.holders(0)
        self.assertTrue(self.daemon.get(f"{JOBS}/b")["spec"]["suspend"])

    def test_all_sixteen_flavors_are_others_and_one_variant_holds_quota(self):
        self.queue({f"f{i:02}": "5" for i in range(16)}, policy("RetainFirstAdmission"))
        self.create(*(flavor(f"g{i:02}") for i in range(16)), job("a", cpu="1", run_for="10m"))
        self.runs_on("a", "f00")
        groups = self.daemon.get(f"{QUEUES}/cq")["spec"]["resourceGroups"]
        groups[0]["flavors"] = [{"name": f"g{i:02}", "resources": [{"name": "cpu", "nominalQuota": "5"}]} for i in range(16)]
        self.patch(f"{QUEUES}/cq", {"spec": {"resourceGroups": groups}})

        def done():
            held = [f for f, v in self.variants("a").items() if holds(v, "QuotaReserved")]
            self.assertLessEqual(len(held), 1, held)
            return held and held[0].startswith("g")
        eventually(done, 60, what="a variant of a new flavor")

    def test_without_the_gate_the_job_counts_once(self):
        self.queue({"reservation": "5", "spot": "0"})
        self.create(job("a", cpu="1", run_for="10m"), job("w", cpu="3", run_for="10m"))
        self.runs_on("a", "reservation")
        self.runs_on("w", "reservation")
        self.daemon.stop()
        self.daemon.options = []
        self.daemon.start()
        self.holders(2)
        self.quota(0, "30")
        time.sleep(0.5)
        self.holders(2)


if __name__ == "__main__":
    unittest.main()
