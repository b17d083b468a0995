"""sluicectl history and usage: from the journal of a daemon, who preempted whom by which rule, and who held how much quota
for how long. No server is asked."""
import csv, decimal, io, json
from scene import *

PRIORITIES = [{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": name},
               "value": value} for name, value in (("low", 1), ("high", 100))]


def with_priority(o, name):
    o["metadata"]["labels"] = {**o["metadata"].get("labels", {}), "kueue.x-k8s.io/priority-class": name}
    return o


class Past(Scene):
    def ask(self, *arguments, check=True):
        done = self.daemon.sluicectl(*arguments, "--journal", str(self.daemon.data), check=False)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def events(self, *arguments):
        return json.loads(self.ask("history", *arguments, "-o", "json").stdout)["events"]

    def usage(self, *arguments):
        return json.loads(self.ask("usage", *arguments, "-o", "json").stdout)


class History(Past):
    """A job of low priority is preempted in its queue; another is reclaimed by the queue that had lent to it."""
    def setUp(self):
        super().setUp()
        self.create(*PRIORITIES, flavor("f"),
                    cluster_queue("lender", {"f": {"cpu": "2"}}, "both",
                                  preemption={"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}),
                    cluster_queue("borrower", {"f": {"cpu": "0"}}, "both"),
                    local_queue("lent", "lender"), local_queue("borrowed", "borrower"))

    def preempt(self):
        self.create(job("guest", "borrowed", cpu="2", run_for="60s"))
        self.admitted("guest")
        self.create(with_priority(job("low", "lent", cpu="2", run_for="60s"), "low"))
        self.was_evicted("guest", "Preempted")
        self.admitted("low")
        self.create(with_priority(job("high", "lent", cpu="2", run_for="300ms"), "high"))
        self.was_evicted("low", "Preempted")
        self.finished("high")
        self.admitted("low")

    def test_who_preempted_whom_and_by_which_rule(self):
        self.preempt()
        told = self.events()
        name = {k: w["metadata"]["name"] for k, w in self.workloads().items()}
        evicted = [(e["workload"]["name"], e["by"]["name"], e["rule"], e["reason"], e["clusterQueue"])
                   for e in told if e["event"] == "Evicted"]
        self.assertEqual(evicted, [
            (name["guest"], name["low"], "InCohortReclamation", "Preempted", "borrower"),
            (name["low"], name["high"], "InClusterQueue", "Preempted", "lender")])
        self.assertEqual([e["event"] for e in told if e["workload"]["name"] == name["high"]],
                         ["Queued", "QuotaReserved", "Admitted", "Finished"])
        self.assertEqual([e["event"] for e in told if e["workload"]["name"] == name["low"]],
                         ["Queued", "QuotaReserved", "Admitted", "Evicted", "Released", "Requeued",
                          "QuotaReserved", "Admitted"])
        reserved = next(e for e in told if e["event"] == "QuotaReserved")
        self.assertEqual(reserved["holds"], [{"flavor": "f", "resource": "cpu", "amount": "2"}])
        self.assertEqual([e["time"] for e in told], sorted(e["time"] for e in told))
        self.assertNotIn("Pending", [e["event"] for e in told])

    def test_one_job_a_queue_a_namespace_a_time(self):
        self.preempt()
        name = {k: w["metadata"]["name"] for k, w in self.workloads().items()}
        for target in ("low", "job/low", "default/low", name["low"], "workload/" + name["low"]):
            told = self.events(target)
            self.assertIn("Pending", [e["event"] for e in told], target)
            self.assertEqual({e["workload"]["name"] for e in told}, {name["low"], name["guest"]}, target)
            self.assertEqual([e["workload"]["name"] for e in told if e["workload"]["name"] != name["low"]],
                             [name["guest"]], "whom it has preempted")
        self.assertEqual({e["workload"]["name"] for e in self.events("-q", "borrower")}, {name["guest"]})
        self.assertEqual(len(self.events("-n", "default")), len(self.events()))
        middle = next(e["time"] for e in self.events("high") if e["event"] == "Admitted")
        late, early = self.events("--since", middle), self.events("--until", middle)
        self.assertEqual(early + late, self.events())
        self.assertTrue(early and late)
        self.assertEqual(self.events("--since", "2h"), self.events())
        self.assertEqual(self.events("--until", "1d"), [])

    def test_table_and_csv(self):
        self.preempt()
        table = self.ask("history", "--since", "1h").stdout
        self.assertRegex(table, r"^TIME +WORKLOAD +WHAT +QUEUE +REASON\n")
        self.assertRegex(table, r"(?m)^20\S+Z +default/job-guest-\S+ +Evicted +borrower +Preempted by default/job-low-\S+ "
                                r"\(InCohortReclamation\)$")
        self.assertRegex(table, r"(?m) QuotaReserved +lender +f: cpu=2$")
        wide = self.ask("history", "-o", "wide").stdout
        self.assertRegex(wide, r"^TIME .* RECORD\n20\S+ .* \d+\n")
        rows = list(csv.DictReader(io.StringIO(self.ask("history", "-o", "csv").stdout)))
        self.assertEqual([(r["time"], r["event"], r["workload"]) for r in rows],
                         [(e["time"], e["event"], e["workload"]["name"]) for e in self.events()])
        self.assertEqual([r["rule"] for r in rows if r["by"]], ["InCohortReclamation", "InClusterQueue"])

    def test_restart_tells_nothing_twice(self):
        self.preempt()
        before = self.events()
        self.daemon.stop()
        self.daemon.start()
        self.create(job("later", "lent", cpu="1"))
        self.refused("later", "WaitingForQuota")
        after = self.events()
        self.assertEqual(after[:len(before)], before)
        self.assertEqual([e["event"] for e in after[len(before):]], ["Queued"])

    def test_what_is_not_there(self):
        self.create(job("train", "lent"))
        self.finished("train")
        for words, text in (
                (["history", "trian"], "the journal knows no job or workload trian; did you mean train?"),
                (["history", "-q", "lendre"], "the journal knows no ClusterQueue lendre; did you mean lender?"),
                (["history", "-n", "defualt"], "no workload in namespace defualt; did you mean default?"),
                (["usage", "-q", "x"], "the journal knows no ClusterQueue x\n")):
            done = self.ask(*words, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertIn(text, done.stderr)
        for words, text in (
                (["history", "a", "b"], "history takes one workload or job"),
                (["history", "--since", "soon"], '--since: "soon" is neither a time'),
                (["history", "--since", "1h", "--until", "2h"], "--until: 2h is not after --since"),
                (["history", "--by", "queue"], "history has no option --by"),
                (["history", "-o", "name"], '--output "name" is not one of table, wide, json, yaml, csv'),
                (["usage", "x"], "usage takes no arguments"),
                (["usage", "--by", "user"], "neither Kubernetes nor the journal knows who made a workload"),
                (["usage", "--by", "queue,flavour"], '"flavour" is not one of queue, namespace, workload, flavor; '
                                                     "did you mean flavor?")):
            done = self.ask(*words, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(text, done.stderr)
        for command in ("history", "usage"):
            done = self.daemon.sluicectl(command, "--journal", "/nonexistent", check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot read /nonexistent", done.stderr)
            self.assertNotIn("--journal says", done.stderr)
            done = self.daemon.sluicectl(command, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot read sluice-data: ", done.stderr)
            self.assertIn("--journal says where it is", done.stderr)

    def test_cut_and_damaged_journals(self):
        self.create(job("train", "lent"), job("next", "lent"))
        self.finished("train")
        self.finished("next")
        self.daemon.stop()
        whole = self.events()
        file = next(self.daemon.data.rglob("journal-*.log"))
        data = file.read_bytes()
        file.write_bytes(data[:-7])
        done = self.ask("history", "-o", "json")
        self.assertIn("the journal ends within a record", done.stderr)
        self.assertEqual(json.loads(done.stdout)["events"], whole[:len(json.loads(done.stdout)["events"])])
        damaged = bytearray(data)
        damaged[len(data) * 3 // 4] ^= 1
        file.write_bytes(damaged)
        for command in ("history", "usage"):
            done = self.ask(command, "-o", "json", check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("not all of the journal can be reported: ", done.stderr)
            told = json.loads(done.stdout)
            self.assertFalse(told["journal"]["complete"])
            self.assertIn("damaged at offset", told["journal"]["missing"])
        file.write_bytes(data)
        done = self.ask("history", "--since", "2020-01-01")
        self.assertIn("the journal begins at 20", done.stderr)


class Usage(Past):
    def setUp(self):
        super().setUp()
        self.create(flavor("f"), flavor("g"),
                    cluster_queue("one", {"f": {"cpu": "2", "memory": "4Gi"}, "g": {"cpu": "4", "memory": "8Gi"}}),
                    cluster_queue("two", {"f": {"cpu": "2", "memory": "4Gi"}}),
                    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}},
                    local_queue("main", "one"), local_queue("main", "two", namespace="lab"),
                    local_queue("side", "two"))

    def run_jobs(self):
        self.create(*(job(f"a{i}", cpu="1500m", run_for=f"{100 + 70 * i}ms") for i in range(4)),
                    *(job(f"b{i}", "side", cpu="1", run_for="150ms") for i in range(3)),
                    *(job(f"c{i}", cpu="500m", run_for="90ms", namespace="lab") for i in range(2)))
        for name in ("a0", "a1", "a2", "a3", "b0", "b1", "b2"):
            self.finished(name)
        eventually(lambda: all(holds(w, "Finished") for w in self.daemon.get(
            WORKLOADS.replace("default", "lab"))["items"]), what="end in lab")

    def seconds(self, groups, resource="cpu"):
        return sum(decimal.Decimal(g["resourceSeconds"].get(resource, "0")) for g in groups)

    def by_hand(self):
        """From the history: what was held, from the reservation to the end."""
        since, sums = {}, {}
        for e in self.events():
            w = (e["workload"]["namespace"], e["workload"]["name"])
            at = decimal.Decimal(e["time"][17:26]) + 60 * int(e["time"][14:16])
            if e["event"] == "QuotaReserved":
                since[w] = at, e["holds"], e["clusterQueue"]
            elif e["event"] in ("Released", "Finished", "Deleted") and w in since:
                begun, held, queue = since.pop(w)
                for h in held:
                    if h["resource"] == "cpu":
                        key = queue, w[0], h["flavor"]
                        sums[key] = sums.get(key, 0) + (at - begun) % 3600 * milli(h["amount"]) / 1000
        self.assertEqual(since, {})
        return sums

    def test_sums_add_up_exactly(self):
        self.run_jobs()
        by_hand = self.by_hand()
        total = sum(by_hand.values())
        self.assertGreater(total, 1)
        for by in ("queue", "namespace", "workload", "flavor", "queue,namespace", "namespace,queue,flavor,workload"):
            told = self.usage("--by", by)
            self.assertEqual(self.seconds(told["groups"]), total, by)
            self.assertEqual(self.seconds([told["total"]]), total, by)
            self.assertEqual(told["total"]["workloads"], 9, by)
        told = self.usage("--by", "queue,namespace,flavor")
        self.assertEqual({(g["queue"], g["namespace"], g["flavor"]): self.seconds([g]) for g in told["groups"]}, by_hand)
        told = self.usage()
        self.assertEqual({g["queue"]: (g["workloads"], g["reservations"], g["evictions"]) for g in told["groups"]},
                         {"one": (4, 4, 0), "two": (5, 5, 0)})
        self.assertGreater(decimal.Decimal(told["groups"][0]["waitSeconds"]) +
                           decimal.Decimal(told["groups"][1]["waitSeconds"]), 0)
        only = self.usage("-n", "lab", "--by", "namespace")
        self.assertEqual([g["namespace"] for g in only["groups"]], ["lab"])
        self.assertEqual(self.usage("-q", "two")["total"]["workloads"], 5)
        middle = self.events()[len(self.events()) // 2]["time"]
        halves = [self.usage("--until", middle), self.usage("--since", middle)]
        self.assertEqual(sum(self.seconds([h["total"]]) for h in halves), total)
        self.assertEqual(halves[1]["since"], middle)

    def test_table_and_csv(self):
        self.run_jobs()
        table = self.ask("usage", "--by", "namespace").stdout.splitlines()
        self.assertRegex(table[0], r"^NAMESPACE +WORKLOADS +RESERVATIONS +EVICTIONS +WAIT-S +CPU-S$")
        self.assertRegex(table[1], r"^default +7 +7 +0 +[\d.]+ +[\d.]+$")
        self.assertRegex(table[3], r"^\(all\) +9 +9 +0 +[\d.]+ +[\d.]+$")
        self.assertRegex(table[5], r"^from 20\S+Z to 20\S+Z, quota held times seconds$")
        rows = list(csv.DictReader(io.StringIO(self.ask("usage", "--by", "namespace,flavor", "-o", "csv").stdout)))
        told = self.usage("--by", "namespace,flavor")
        self.assertEqual([(r["namespace"], r["flavor"], r["workloads"], r["cpu seconds"]) for r in rows],
                         [(g["namespace"], g["flavor"], str(g["workloads"]), g["resourceSeconds"]["cpu"])
                          for g in told["groups"]])
        self.assertNotIn("waitSeconds", rows[0], "waiting has no flavor")

    def test_what_is_held_goes_on_over_a_restart(self):
        self.create(job("long", cpu="1", run_for="3s"))
        self.admitted("long")
        self.daemon.stop()
        self.daemon.start()
        self.finished("long")
        held = self.by_hand()
        self.assertEqual(self.seconds([self.usage()["total"]]), sum(held.values()))
        self.assertGreater(sum(held.values()), decimal.Decimal(2))
