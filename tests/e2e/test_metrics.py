"""/metrics and counts as whoever watches the daemon sees them."""
import sys
from scene import *

CQ = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team"
LQ = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues/main"


class Watched(Scene):
    def series(self):
        """name{labels} -> value."""
        status, text = self.daemon.request("GET", "/metrics")
        self.assertEqual(status, 200)
        text = text if isinstance(text, str) else text.decode()
        return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))

    def one(self, name, *labels):
        """The value of the only series of that name which has these labels."""
        found = [v for k, v in self.series().items() if k.startswith(name + "{") and all(part in k for part in labels)]
        self.assertEqual(len(found), 1, (name, labels, found))
        return float(found[0])

    def one_queue(self, **spec):
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "1"}}, **spec), local_queue("main", "team"))

    def counts(self, path):
        return self.daemon.get(path).get("status", {}).get("pendingWorkloads")


class Monitoring(Watched):
    """docs/reference/metrics.md, the dashboard and the alerts against what a daemon says."""

    def families(self):
        """Family -> the names of its labels."""
        found = {}
        for key in self.series():
            name, _, labels = key.partition("{")
            found.setdefault(re.sub(r"_(bucket|count|sum)$", "", name), set()).update(re.findall(r'(\w+)="', labels))
        return found

    def test_what_is_said_is_documented_and_what_is_asked_for_is_said(self):
        sys.path.insert(0, str(ROOT / "tests/lint"))
        import metrics
        page = (ROOT / "docs/reference/metrics.md").read_text()
        self.create(flavor("f"), cohort("c"), cluster_queue("team", {"f": {"cpu": "1"}}, "c"), local_queue("main", "team"), job("a"), job("b", cpu="2"))
        self.finished("a")
        said = self.families()
        _, text = self.daemon.request("GET", "/metrics")
        types = re.findall(r"^# TYPE (\w+) (\w+)", text, re.M)
        self.assertGreater(len(types), 60)
        self.assertEqual([(name, kind) for name, kind in types if f"| `{name}` | {kind} |" not in page], [])
        about_labels = (ROOT / "docs/operations.md").read_text().split("## Metrics\n")[1].split("\n## ")[0]
        self.assertEqual({label for labels in said.values() for label in labels if f"`{label}`" not in about_labels}, {"le"})
        # What only a cluster has, or only happens seldom, has no series here.
        asked = 0
        for file, query in metrics.queries():
            names = re.findall(rf"\b({metrics.NAME})\b(?:\{{([^}}]*)\}})?", query)
            known = {"instance", "job", "le", *(label for n, _ in names for label in said.get(re.sub(r"_(bucket|count|sum)$", "", n), ()))}
            if not all(re.sub(r"_(bucket|count|sum)$", "", n) in said for n, _ in names):
                continue
            asked += 1
            labels = {label for _, chosen in names for label in re.findall(r"(\w+)=", chosen)}
            labels |= {label for by in re.findall(r"\b(?:by|on) \(([^)]*)\)", query) for label in re.split(r",\s*", by)}
            self.assertEqual(labels - known, set(), (file, query))
        self.assertGreater(asked, 25)


class Metrics(Watched):
    def test_every_family_is_there_by_both_queues(self):
        self.one_queue()
        self.create(job("a"), job("b", cpu="2"))
        self.finished("a")
        self.refused("b", "ExceedsMaxQuota")
        of_cq, of_lq = ('cluster_queue="team"',), ('name="main"', 'namespace="default"')
        for name in ("finished_workloads_total", "quota_reserved_workloads_total", "admitted_workloads_total",
                     "finished_workloads", "execution_time_seconds_count", "admission_wait_time_seconds_count"):
            self.assertEqual(self.one(f"kueue_{name}", *of_cq), 1, name)
            self.assertEqual(self.one(f"kueue_local_queue_{name}", *of_lq), 1, name)
        for name in ("pending_workloads", "local_queue_pending_workloads"):
            labels = of_lq if "local" in name else of_cq
            self.assertEqual(self.one(f"kueue_{name}", 'status="inadmissible"', *labels), 1)
            self.assertEqual(self.one(f"kueue_{name}", 'status="active"', *labels), 0)
        self.assertEqual(self.one("kueue_local_queue_status", 'active="True"', *of_lq), 1)
        self.assertEqual(self.one("kueue_cluster_queue_borrowing_limit", *of_cq), float("inf"))

    def test_what_waits_in_a_stopped_cluster_queue_is_counted_and_in_a_stopped_local_queue_not(self):
        self.one_queue(stopPolicy="Hold")
        self.create(job("a"), job("b"))
        eventually(lambda: (self.counts(CQ), self.counts(LQ)) == (2, 2), what="both count")
        self.assertEqual(self.one("kueue_pending_workloads", 'status="inadmissible"'), 2)
        waiting = self.daemon.get("/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/team/pendingworkloads")
        self.assertEqual([w["positionInClusterQueue"] for w in waiting["items"]], [0, 1])
        self.patch(LQ, {"spec": {"stopPolicy": "Hold"}})
        eventually(lambda: (self.counts(CQ), self.counts(LQ)) == (0, 0), what="nobody waits")
        self.patch(LQ, {"spec": {"stopPolicy": "None"}})
        self.patch(CQ, {"spec": {"stopPolicy": "None"}})
        self.finished("a")
        self.finished("b")
        eventually(lambda: (self.counts(CQ), self.counts(LQ)) == (0, 0), what="nobody is left")

    def test_local_queue_that_is_gone_has_no_metrics(self):
        self.one_queue()
        self.create(job("a"))
        self.finished("a")
        self.assertTrue([k for k in self.series() if "local_queue" in k or "_info{cohort" in k])
        self.assertEqual(self.daemon.request("DELETE", LQ)[0], 200)
        eventually(lambda: not [k for k in self.series() if "local_queue" in k], what="the end of its series")

    def test_check_that_rejected_an_inactive_workload_is_asked_anew(self):
        self.create({"apiVersion": KUEUE, "kind": "AdmissionCheck", "metadata": {"name": "gate"},
                     "spec": {"controllerName": "example.com/gate"}})
        self.patch("/apis/kueue.x-k8s.io/v1beta2/admissionchecks/gate/status", {"status": {"conditions": [
            {"type": "Active", "status": "True", "reason": "Ready", "message": "",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
        self.one_queue(admissionChecksStrategy={"admissionChecks": [{"name": "gate"}]})
        self.create(job("a"))
        name = self.workload("a", lambda w: holds(w, "QuotaReserved"))["metadata"]["name"]
        report = lambda state: self.patch(f"{WORKLOADS}/{name}/status", {"status": {"admissionChecks": [
            {"name": "gate", "state": state, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
        self.patch(f"{WORKLOADS}/{name}", {"spec": {"active": False}})
        self.workload("a", lambda w: not holds(w, "QuotaReserved"), "release")
        report("Rejected")
        self.patch(f"{WORKLOADS}/{name}", {"spec": {"active": True}})
        w = self.workload("a", lambda w: holds(w, "QuotaReserved"), "reservation")
        self.assertEqual([c["state"] for c in w["status"]["admissionChecks"]], ["Pending"])
        report("Ready")
        self.finished("a")


class Cohorts(Watched):
    def test_a_cohort_has_what_lies_below_it(self):
        self.one_queue(cohortName="org")
        self.create(job("a", run_for="1h"))
        self.admitted("a")
        self.assertEqual(self.one("kueue_cohort_info", 'cohort="org"', 'root_cohort="org"'), 1)
        self.assertEqual(self.one("kueue_cluster_queue_info", 'cluster_queue="team"', 'parent_cohort="org"'), 1)
        self.assertEqual(self.one("kueue_cohort_subtree_quota", 'cohort="org"', 'flavor="f"', 'resource="cpu"'), 1)
        self.assertEqual(self.one("kueue_cohort_subtree_resource_reservations", 'cohort="org"'), 1)
        self.assertEqual(self.one("kueue_cohort_subtree_admitted_active_workloads", 'cohort="org"'), 1)


class Off(Watched):
    options = ("--feature-gates", "LocalQueueMetrics=false,MetricsForCohorts=false")

    def test_local_queues_and_cohorts_have_none(self):
        self.one_queue(cohortName="org")
        self.create(job("a"))
        self.finished("a")
        self.assertEqual(self.one("kueue_finished_workloads_total", 'cluster_queue="team"'), 1)
        self.assertFalse([k for k in self.series() if "local_queue" in k])
