"""/metrics against Kueue's own families: names, types, labels and bounds, and what its documentation asks of them."""
import tempfile
import test_metrics
from scene import *

HERE = pathlib.Path(__file__).parent
CONFIG = """apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
waitForPodsReady: {timeout: 5m}
fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}
admissionFairSharing: {usageHalfLifeTime: 60s, usageSamplingInterval: 1s}
metrics: {enableClusterQueueResources: true}
"""
# What has no sample here, for the reason that docs/operations.md gives.
NOT_HERE = {"multikueue_workloads_admitted_total", "multikueue_workloads_dispatched_total"}
BOUNDS = {"default": [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
          "doubling": [0.01 * 2 ** i for i in range(11)],
          "14": [1] + [2.5 * 2 ** i for i in range(13)], "16": [1] + [2.5 * 2 ** i for i in range(15)]}
PREEMPTION = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}


def facts():
    """name -> (type, bounds, labels, kinds that its custom labels come from)"""
    rows = [line.split() for line in (HERE / "kueue_metrics.txt").read_text().splitlines() if not line.startswith("#")]
    return {name: (kind, bounds, set(labels.split(",")), [] if kinds == "-" else kinds.split(","))
            for name, kind, bounds, labels, kinds in rows}


def active_check(name):
    return {"apiVersion": KUEUE, "kind": "AdmissionCheck", "metadata": {"name": name},
            "spec": {"controllerName": "example.com/gate"}}


def priority(name, value):
    return {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": name}, "value": value}


def ranked(name, priority_class, **more):
    return job(name, labels={"kueue.x-k8s.io/priority-class": priority_class}, **more)


class Families(test_metrics.Watched):
    config = CONFIG

    def setUp(self):
        self.file = tempfile.NamedTemporaryFile("w", suffix=".yaml")
        self.file.write(self.config)
        self.file.flush()
        self.options = (*self.options, "--config", self.file.name)
        super().setUp()

    def tearDown(self):
        super().tearDown()
        self.file.close()

    def page(self):
        """name -> {type, labels, bounds} of what has samples."""
        _, text = self.daemon.request("GET", "/metrics")
        types = dict(re.findall(r"^# TYPE (\w+) (\w+)", text, re.M))
        found = {}
        for series in (line.rsplit(" ", 1)[0] for line in text.splitlines() if not line.startswith("#")):
            name, _, labels = series.partition("{")
            name = name if name in types else re.sub(r"_(bucket|count|sum)$", "", name)
            family = found.setdefault(name, {"type": types[name], "labels": set(), "bounds": set()})
            pairs = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels))
            family["bounds"] |= {float(pairs.pop("le"))} if "le" in pairs else set()
            family["labels"] |= set(pairs)
        return found

    def activate(self, name):
        self.patch(f"/apis/kueue.x-k8s.io/v1beta2/admissionchecks/{name}/status", {"status": {"conditions": [
            {"type": "Active", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})

    def answer(self, name, check):
        w = self.workload(name, lambda w: holds(w, "QuotaReserved"))
        self.patch(f"{WORKLOADS}/{w['metadata']['name']}/status", {"status": {"admissionChecks": [
            {"name": check, "state": "Ready", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})

    def checked(self):
        """A job in a queue with a check, which says Ready."""
        self.create(active_check("gate"), cluster_queue("checked", {"f": {"cpu": "4"}}, admissionChecksStrategy={
            "admissionChecks": [{"name": "gate"}]}), local_queue("checked", "checked"))
        self.activate("gate")
        self.create(job("c", queue="checked"))
        self.answer("c", "gate")
        self.finished("c")

    def preempted(self):
        """A job that runs makes way for one that counts more."""
        self.create(priority("low", 1), priority("high", 9), ranked("low", "low", run_for="1h"))
        self.workload("low", lambda w: holds(w, "PodsReady"), "start")
        self.create(ranked("high", "high", run_for="1h"))
        self.was_evicted("low", "Preempted")
        self.admitted("high")

    def gated(self):
        """A pod that waits for its admission."""
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default", "labels": {
            "kueue.x-k8s.io/queue-name": "open"}, "annotations": {"sluice.dev/run-for": "1h"}}, "spec": {
            "restartPolicy": "Never", "containers": [{"name": "c", "image": "example.com/work", "resources": {
                "requests": {"cpu": "1"}}}]}}
        self.create(cluster_queue("open", {"f": {"cpu": "4"}}), local_queue("open", "open"), pod)
        eventually(lambda: not self.daemon.get("/api/v1/namespaces/default/pods/p")["spec"].get("schedulingGates"),
                   what="the end of its gate")

    def contested(self):
        """Two queues want the quota back that a third has borrowed, in one cycle."""
        late = {"admissionChecks": [{"name": "late"}]}
        self.create(cluster_queue("borrower", {"f": {"cpu": "0"}}, "crowd"), local_queue("borrower", "borrower"))
        for name in ("left", "right"):
            self.create(cluster_queue(name, {"f": {"cpu": "1"}}, "crowd", preemption=PREEMPTION,
                                      admissionChecksStrategy=late), local_queue(name, name))
        self.create(job("loan", queue="borrower", cpu="2", run_for="1h"))
        self.admitted("loan")
        self.create(job("l", queue="left", run_for="1h"), job("r", queue="right", run_for="1h"), active_check("late"))
        self.activate("late")
        self.was_evicted("loan", "Preempted")

    def history(self):
        self.create(flavor("f"), cohort("org"), cluster_queue("team", {"f": {"cpu": "1"}}, "org", preemption=PREEMPTION,
                    admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"}), local_queue("main", "team"))
        self.create(job("a"))
        self.finished("a")
        self.preempted()
        self.create(job("big", cpu="2"))
        self.refused("big", "ExceedsMaxQuota")
        self.checked()
        self.gated()
        self.contested()


class Told(Families):
    maxDiff = None

    def agree(self, expected):
        """Each of these families has samples, and is what Kueue's is."""
        page = self.page()
        all_facts = facts()
        wrong = []
        for name in sorted(expected):
            kind, bounds, labels, _ = all_facts[name]
            is_ = page.get(name)
            own = {"name"} if name == "kueue_build_info" else set()
            if is_ is None:
                wrong.append(f"{name}: has no sample")
            elif (is_["type"], is_["labels"] - own) != (kind, labels):
                wrong.append(f"{name}: is a {is_['type']} with {sorted(is_['labels'])}")
            elif bounds != "-" and sorted(is_["bounds"]) != [*BOUNDS[bounds], float("inf")]:
                wrong.append(f"{name}: has the bounds {sorted(is_['bounds'])}")
        self.assertEqual(wrong, [])

    def test_each_family_of_kueue_is_there_or_it_is_said_why_not(self):
        self.history()
        self.agree(set(facts()) - NOT_HERE - {"kueue_admission_cycle_preemption_skips", "kueue_replaced_workload_slices_total"})
        self.assertEqual(NOT_HERE & set(self.page()), set())
        operations = (ROOT / "docs/operations.md").read_text().split("## Metrics\n")[1].split("\n## ")[0]
        lacks = operations.split("Sluice does not")[1]
        self.assertEqual([name for name in NOT_HERE if name.split("_", 1)[1] not in lacks], [])

    def test_what_kueue_tells_people_to_ask_for_is_there(self):
        all_facts = facts()
        queries = [q for q in (HERE / "kueue_queries.txt").read_text().splitlines() if not q.startswith("#")]
        self.assertGreater(len(queries), 20)
        for query in queries:
            names = {re.sub(r"_(bucket|count|sum)$", "", n) for n in re.findall(r"\bkueue_[a-z_]+", query)}
            self.assertEqual(names & NOT_HERE, set(), query)
            labels = set(re.findall(r'(\w+)!?=~?"', query))
            labels |= {x for by in re.findall(r"by \(([^)]*)\)", query) for x in re.split(r",\s*", by)}
            for name in names:
                known = all_facts[name][2] | {"le"}
                self.assertEqual({x for x in labels if x not in known and not x.startswith("custom_")}, set(), query)


class Skipped(Told):
    options = ("--feature-gates", "RecomputeAssignmentUponPreemptionTargetsOverlap=false")

    def test_each_family_of_kueue_is_there_or_it_is_said_why_not(self):
        self.create(flavor("f"))
        self.contested()
        self.agree({"kueue_admission_cycle_preemption_skips"})
        self.assertEqual(sum(float(v) for k, v in self.series().items() if "preemption_skips" in k), 1)

    def test_what_kueue_tells_people_to_ask_for_is_there(self):
        self.assertEqual([k for k in self.series() if "preemption_target_recomputations" in k], [])


class Custom(Families):
    """metrics.customLabels: each family has those of the objects that Kueue's has, but for what docs/operations.md says."""
    maxDiff = None
    config = CONFIG.replace("metrics: {", """metrics: {customLabels: [{name: team}, {name: place, sourceKind: LocalQueue},
  {name: branch, sourceKind: Cohort}, {name: sort, sourceKind: Workload, trackedValues: [batch]}], """)
    options = ("--feature-gates", "CustomMetricLabels=true")
    LABELS = {"ClusterQueue": "custom_team", "LocalQueue": "custom_place", "Cohort": "custom_branch", "Workload": "custom_sort"}

    def test_custom_labels_are_where_kueue_has_them(self):
        self.history()
        page, wrong = self.page(), []
        for name, (_, _, labels, kinds) in sorted(facts().items()):
            wanted = {self.LABELS[k] for k in kinds}
            wanted = set() if name == "kueue_cohort_subtree_admitted_active_workloads" else wanted
            if name in page and {x for x in page[name]["labels"] if x.startswith("custom_")} != wanted:
                wrong.append((name, page[name]["labels"]))
        self.assertEqual(wrong, [])

    def test_custom_labels_have_the_values_of_the_objects(self):
        for made, kind in ((cluster_queue("team", {"f": {"cpu": "1"}}, "org"), "team"), (local_queue("main", "team"), "place"),
                           (cohort("org"), "branch")):
            self.create({**made, "metadata": {**made["metadata"], "labels": {kind: f"x-{kind}"}}})
        self.create(flavor("f"), job("a"))
        self.finished("a")
        self.assertEqual(self.one("kueue_admitted_workloads_total", 'custom_team="x-team"'), 1)
        self.assertEqual(self.one("kueue_cluster_queue_nominal_quota", 'custom_team="x-team"'), 1)
        self.assertEqual(self.one("kueue_cohort_subtree_quota", 'custom_branch="x-branch"'), 1)
        self.assertEqual(self.one("kueue_local_queue_admitted_workloads_total", 'custom_place="x-place"',
                                  'custom_sort="kueue.x-k8s.io/_UNTRACKED_VALUE_"'), 1)
        self.patch(test_metrics.CQ, {"metadata": {"labels": {"team": "y"}}})
        eventually(lambda: self.one("kueue_cluster_queue_nominal_quota", 'cluster_queue="team"', 'custom_team="y"') == 1, what="the new value")

    def test_gauges_count_workloads_by_what_their_jobs_say(self):
        """Those that are admitted and those that wait, by the label that was copied from their jobs."""
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "1"}}), local_queue("main", "team"))
        for name, sort in (("a", "batch"), ("b", "batch"), ("c", "other")):
            self.create(job(name, labels={"sort": sort}, run_for="600s"))
        def gauges():
            found = [re.match(r"kueue_(pending|admitted_active|local_queue_admitted_active)_workloads\{.*custom_sort=\"([^\"]*)", k) for k in self.series()]
            return sorted((*m.groups(), float(self.series()[m.string])) for m in found if m)
        untracked = "kueue.x-k8s.io/_UNTRACKED_VALUE_"
        eventually(lambda: gauges() == [("admitted_active", "batch", 1), ("local_queue_admitted_active", "batch", 1),
                                        ("pending", "batch", 1), ("pending", untracked, 1)], what="gauges by label")
