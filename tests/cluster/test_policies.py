"""The policies of deploy/kubernetes on a real API server: what they set, what they refuse, and what they leave alone."""
from cluster_scene import *

QUEUE = "kueue.x-k8s.io/queue-name"


class Policies(Scene):
    def job_path(self, name):
        return f"/apis/batch/v1/namespaces/{self.namespace}/jobs/{name}"

    def pod(self, name, labels=None, annotations=None, **metadata):
        return {"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}, **metadata},
                "spec": {"containers": [{"name": "main", "image": "busybox"}]}}

    def gates(self, pod):
        return [g["name"] for g in pod["spec"].get("schedulingGates", [])]

    def default_queue(self):
        queue = local_queue("default", "cluster", self.namespace)
        self.create(queue)
        eventually(lambda: self.plane.request("POST", self.path({"kind": "Job", "metadata": {}}) + "?dryRun=All",
                                              {**job("probe"), "metadata": {"name": "probe"}})[1]
                   ["spec"].get("suspend"), what="default queue seen by the policies")

    # --- jobs ---------------------------------------------------------------------------------------------------
    def test_job_with_a_queue_is_suspended(self):
        made = self.plane.kubectl("create", "-n", self.namespace, "-o", "json", "-f", "-",
                                  stdin=json.dumps(job("queued", queue="main"))).stdout
        self.assertTrue(json.loads(made)["spec"]["suspend"])

    def test_job_without_a_queue_is_left_alone(self):
        made = self.create(job("free"))
        self.assertFalse(made["spec"]["suspend"])
        self.assertNotIn(QUEUE, made["metadata"]["labels"])
        eventually(lambda: self.plane.get(self.job_path("free")).get("status", {}).get("succeeded"), what="end")

    def test_job_owned_by_a_jobset_is_left_alone(self):
        owned = job("owned", queue="main")
        owned["metadata"]["ownerReferences"] = [{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
                                                 "name": "set", "uid": "1", "controller": True}]
        self.assertFalse(self.create(owned)["spec"]["suspend"])

    def test_job_in_a_namespace_with_a_default_queue_gets_it(self):
        self.default_queue()
        made = json.loads(self.plane.kubectl("create", "job", "-n", self.namespace, "hello", "--image=busybox", "-o",
                                             "json").stdout)
        self.assertEqual(made["metadata"]["labels"][QUEUE], "default")
        self.assertTrue(made["spec"]["suspend"])
        self.not_patched(self.job_path("hello"), {"metadata": {"labels": {QUEUE: None}}}, QUEUE, "default queue")

    def test_default_priority_class_is_set_on_what_is_queued(self):
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass",
                     "metadata": {"name": "default"}, "value": 7})
        path = self.path({"kind": "Job", "metadata": {}}) + "?dryRun=All"
        eventually(lambda: self.plane.request("POST", path, job("a", queue="q"))[1]["metadata"]["labels"].get(
            "kueue.x-k8s.io/priority-class") == "default", what="default class")
        kept = job("b", queue="q", labels={"kueue.x-k8s.io/priority-class": "high"})
        self.assertEqual(self.create(kept)["metadata"]["labels"]["kueue.x-k8s.io/priority-class"], "high")
        self.assertNotIn("kueue.x-k8s.io/priority-class", self.create(job("c"))["metadata"]["labels"])

    def test_queue_name_changes_only_while_suspended(self):
        self.create(job("moved", queue="one"))
        self.patched(self.job_path("moved"), {"metadata": {"labels": {QUEUE: "two"}}})
        self.patched(self.job_path("moved"), {"spec": {"suspend": False}})
        self.not_patched(self.job_path("moved"), {"metadata": {"labels": {QUEUE: "three"}}}, QUEUE, "immutable")
        self.create(job("running", run_for="60s"))
        self.not_patched(self.job_path("running"), {"metadata": {"labels": {QUEUE: "one"}}}, QUEUE, "immutable")

    def test_priority_class_is_not_removed_nor_added_late(self):
        name = "kueue.x-k8s.io/priority-class"
        self.create(job("high", queue="q", labels={name: "high"}), job("none", queue="q", suspend=True))
        self.not_patched(self.job_path("high"), {"metadata": {"labels": {name: None}}}, name, "removed")
        self.patched(self.job_path("none"), {"spec": {"suspend": False}})
        self.not_patched(self.job_path("none"), {"metadata": {"labels": {name: "high"}}}, name, "added")

    def test_bad_labels_and_annotations_are_refused_by_name(self):
        for labels, notes, template, parts in (
                ({QUEUE: "A_b"}, {}, {}, (QUEUE, "A_b")),
                ({QUEUE: "q", "kueue.x-k8s.io/max-exec-time-seconds": "0"}, {}, {}, ("max-exec-time-seconds", "0")),
                ({QUEUE: "q", "kueue.x-k8s.io/max-exec-time-seconds": "1h"}, {}, {}, ("max-exec-time-seconds", "1h")),
                ({QUEUE: "q", "kueue.x-k8s.io/prebuilt-workload-name": "A_b"}, {}, {}, ("prebuilt-workload-name",)),
                ({QUEUE: "q"}, {"kueue.x-k8s.io/job-min-parallelism": "3"}, {}, ("job-min-parallelism", "1 to 2")),
                ({QUEUE: "q"}, {"kueue.x-k8s.io/job-min-parallelism": "x"}, {}, ("job-min-parallelism", "x")),
                ({QUEUE: "q"}, {"kueue.x-k8s.io/job-completions-equal-parallelism": "yes"}, {}, ("true or false",)),
                ({QUEUE: "q"}, {"kueue.x-k8s.io/job-completions-equal-parallelism": "true"}, {}, ("Indexed",)),
                ({QUEUE: "q"}, {}, {"kueue.x-k8s.io/podset-required-topology": "a b"}, ("podset-required-topology", "a label of nodes")),
                ({QUEUE: "q"}, {}, {"kueue.x-k8s.io/podset-required-topology": "a",
                                    "kueue.x-k8s.io/podset-preferred-topology": "a"}, ("more than one topology annotation",)),
                ({QUEUE: "q"}, {}, {"kueue.x-k8s.io/podset-unconstrained-topology": "maybe"}, ("a boolean value",)),
                ({QUEUE: "q"}, {}, {"kueue.x-k8s.io/podset-slice-size": "2"}, ("podset-slice-size]: Forbidden",)),
                ({QUEUE: "q"}, {}, {"kueue.x-k8s.io/podset-slice-size": "4",
                                    "kueue.x-k8s.io/podset-slice-required-topology": "rack"}, ("pod set count 3",))):
            with self.subTest(parts=parts):
                self.refuse(job("bad", parallelism=3, labels=labels, annotations=notes, template=template), *parts)

    def test_admission_gates_are_named_at_creation_and_only_taken_away(self):
        gates = "kueue.x-k8s.io/admission-gated-by"
        for bad, part in (("nodomain", "example.com/gate"), ("a.com/x,", "example.com/gate"),
                          ("A.com/x", "example.com/gate"), ("a.com/" + 60 * "x", "63 characters"),
                          ("a.com/x,a.com/x", "duplicate")):
            with self.subTest(gates=bad):
                self.refuse(job("bad", queue="q", annotations={gates: bad}), gates, part)
                self.refuse({**self.pod("bad", {QUEUE: "q"}, {gates: bad})}, gates, part)
        self.create(job("gated", queue="q", annotations={gates: "a.com/x, b.com/y"}), job("free", queue="q"))
        self.not_patched(self.job_path("gated"), {"metadata": {"annotations": {gates: "b.com/y,c.com/z"}}},
                         "only remove gates")
        self.patched(self.job_path("gated"), {"metadata": {"annotations": {gates: "b.com/y"}}})
        self.patched(self.job_path("gated"), {"metadata": {"annotations": {gates: None}}})
        self.not_patched(self.job_path("free"), {"metadata": {"annotations": {gates: "a.com/x"}}}, "after creation")

    def test_prebuilt_workload_is_named_by_annotation_or_label(self):
        name = "kueue.x-k8s.io/prebuilt-workload-name"
        self.refuse(job("bad", queue="q", annotations={name: "A_b"}), name)
        self.create(job("made", queue="q", annotations={name: "one"}, labels={name: "two"}))
        self.patched(self.job_path("made"), {"metadata": {"labels": {name: "three"}}})
        self.patched(self.job_path("made"), {"spec": {"suspend": False}})
        self.patched(self.job_path("made"), {"metadata": {"labels": {name: "four"}}})  # the annotation counts
        self.not_patched(self.job_path("made"), {"metadata": {"annotations": {name: "five"}}}, name, "immutable")
        total, group = "kueue.x-k8s.io/pod-group-total-count", "kueue.x-k8s.io/pod-group-name"
        self.refuse(self.pod("member", {QUEUE: "q", group: "g"}, {total: "1", name: "h"}), "should be equal")
        self.create(self.pod("member", {QUEUE: "q", group: "g"}, {total: "1", name: "g"}))

    def test_component_all_jobs_holds_back_what_names_no_queue(self):
        overlay = self.plane.run / "all-jobs"
        overlay.mkdir(exist_ok=True)
        policies = os.path.relpath(ROOT / "deploy/kubernetes/policies", overlay.resolve())
        (overlay / "kustomization.yaml").write_text(json.dumps({
            "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": [policies],
            "components": [policies + "/all-jobs"]}))
        path = self.path({"kind": "Job", "metadata": {}}) + "?dryRun=All"
        try:
            self.plane.kubectl("apply", "--server-side", "--force-conflicts", "-k", overlay)
            eventually(lambda: self.plane.request("POST", path, job("probe"))[1]["spec"].get("suspend"),
                       what="policies for all jobs")
            for labels in ({}, {"team": "a"}):
                self.assertIn("kueue.x-k8s.io/admission", self.gates(self.create(self.pod("free", labels))))
                self.patched(f"/api/v1/namespaces/{self.namespace}/pods/free", {"metadata": {"finalizers": None}})
                self.plane.request("DELETE", f"/api/v1/namespaces/{self.namespace}/pods/free?gracePeriodSeconds=0")
        finally:
            self.plane.kubectl("apply", "--server-side", "--force-conflicts", "-k", ROOT / "deploy/kubernetes/policies")
            self.patch(f"/api/v1/namespaces/{self.namespace}/pods/free", {"metadata": {"finalizers": None}})
        eventually(lambda: not self.plane.request("POST", path, job("probe"))[1]["spec"].get("suspend"),
                   what="jobs without a queue left alone again")

    def test_partial_admission_fixes_parallelism_while_it_runs(self):
        self.create(job("part", queue="q", parallelism=3, annotations={"kueue.x-k8s.io/job-min-parallelism": "1"}))
        self.patched(self.job_path("part"), {"spec": {"suspend": False, "parallelism": 2}})
        self.not_patched(self.job_path("part"), {"spec": {"parallelism": 3}}, "spec.parallelism")

    # --- pods ---------------------------------------------------------------------------------------------------
    def test_pod_with_a_queue_is_gated_and_held(self):
        made = self.create(self.pod("alone", {QUEUE: "q"}))
        self.assertEqual(self.gates(made), ["kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology"])
        self.assertEqual(made["metadata"]["labels"]["kueue.x-k8s.io/managed"], "true")
        self.assertEqual(made["metadata"]["finalizers"], ["kueue.x-k8s.io/managed"])
        path = f"/api/v1/namespaces/{self.namespace}/pods/alone"
        self.not_patched(path, {"metadata": {"labels": {"kueue.x-k8s.io/managed": "no"}}}, "managed")
        self.patched(path, {"metadata": {"labels": {QUEUE: "r"}}})
        limit = "kueue.x-k8s.io/max-exec-time-seconds"
        self.not_patched(path, {"metadata": {"labels": {limit: "1h"}}}, limit, "1h")
        self.patched(path, {"metadata": {"labels": {limit: "60"}}})
        self.patched(path, {"spec": {"schedulingGates": None}, "metadata": {"finalizers": None}})
        self.not_patched(path, {"metadata": {"labels": {QUEUE: "s"}}}, QUEUE, "immutable")
        self.not_patched(path, {"metadata": {"labels": {limit: "61"}}}, limit, "immutable")

    def test_pod_without_a_queue_or_of_a_job_is_left_alone(self):
        made = self.create(self.pod("free"))
        self.assertEqual((self.gates(made), made["metadata"].get("finalizers")), ([], None))
        of_job = self.create(self.pod("of-job", {QUEUE: "q"}, ownerReferences=[
            {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "1", "controller": True}]))
        self.assertEqual(self.gates(of_job), [])

    def test_pod_group_needs_both_of_its_marks(self):
        group, total = "kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/pod-group-total-count"
        self.refuse(self.pod("a", {QUEUE: "q", group: "g"}), total, "together")
        self.refuse(self.pod("a", {QUEUE: "q"}, {total: "2"}), group, "together")
        self.refuse(self.pod("a", {QUEUE: "q", group: "g"}, {total: "0"}), total, "greater than 0")
        made = self.create(self.pod("a", {QUEUE: "q", group: "g", "rank": "1"}, {
            total: "2", "kueue.x-k8s.io/pod-group-pod-index-label": "rank"}))
        self.assertEqual(made["metadata"]["labels"]["kueue.x-k8s.io/pod-group-pod-index"], "1")
        path = f"/api/v1/namespaces/{self.namespace}/pods/a"
        self.not_patched(path, {"metadata": {"labels": {group: "h"}}}, group, "immutable")
        self.patched(path, {"metadata": {"finalizers": None}})

    # --- queues -------------------------------------------------------------------------------------------------
    def test_queues_and_flavors_are_guarded_from_the_beginning(self):
        """No daemon is there, and the finalizer is, once, as Kueue's webhooks put it on."""
        for kind, more in (("ClusterQueue", {}), ("ResourceFlavor", {"finalizers": ["a.com/x"]})):
            made = self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": "guarded", **more}, "spec": {}})
            self.assertEqual(made["metadata"]["finalizers"], [*more.get("finalizers", []), "kueue.x-k8s.io/resource-in-use"])
        self.assertNotIn("finalizers", self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort",
                                                    "metadata": {"name": "guarded"}, "spec": {}})["metadata"])

    def test_fields_without_effect_are_warned_of(self):
        queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "idle"},
                 "spec": {"concurrentAdmissionPolicy": {"migration": {"mode": "RetainFirstAdmission"}}, "resourceGroups": [
                     {"coveredResources": ["cpu"], "flavors": [
                         {"name": "f", "resources": [{"name": "cpu", "nominalQuota": "1"}]}]}]}}
        lost = job("lost", template={"kueue.x-k8s.io/safe-to-forcefully-delete": "true"})
        for o, says in ((queue, "spec.concurrentAdmissionPolicy has no effect"),
                        (lost, "safe-to-forcefully-delete has no effect")):
            eventually(lambda: says in self.plane.kubectl("create", "-n", self.namespace, "--dry-run=server", "-f", "-",
                                                          stdin=json.dumps(o)).stderr, what=says)

    def test_bad_quotas_are_refused_by_field(self):
        def queue(**spec):
            return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "q"},
                    "spec": spec}

        def group(resources, *flavors):
            return {"coveredResources": resources, "flavors": [
                {"name": f, "resources": [{"name": r, "nominalQuota": "4", **more} for r in resources]}
                for f, more in flavors]}

        for bad, parts in (
                (queue(resourceGroups=[group(["cpu"], ("f", {})), group(["cpu"], ("g", {}))]), ("covered",)),
                (queue(resourceGroups=[group(["cpu"], ("f", {})), group(["memory"], ("f", {}))]), ("flavor",)),
                (queue(resourceGroups=[group(["cpu"], ("f", {"nominalQuota": "-1"}))]), ("nominalQuota: Invalid value: must be greater than or equal to 0",)),
                (queue(resourceGroups=[group(["cpu"], ("f", {"borrowingLimit": "1"}))]), ("borrowingLimit must be absent",)),
                (queue(resourceGroups=[group(["cpu"], ("f", {"lendingLimit": "1"}))]), ("nil when cohort is empty",)),
                (queue(cohortName="c", resourceGroups=[group(["cpu"], ("f", {"lendingLimit": "5"}))]),
                 ("lendingLimit",)),
                (queue(fairSharing={"weight": "-1"}), ("weight",)),
                (queue(fairSharing={"weight": "1n"}), ("weight",)),
                (queue(fairSharing={"weight": "0.0000000001"}), ("weight",)),
                (queue(namespaceSelector={"matchLabels": {"no^=@": "x"}}), ("namespaceSelector",)),
                (queue(namespaceSelector={"matchLabels": {"team": "no spaces"}}), ("namespaceSelector",)),
                (queue(namespaceSelector={"matchExpressions": [{"key": "team", "operator": "In"}]}),
                 ("namespaceSelector",)),
                (queue(namespaceSelector={"matchExpressions": [{"key": "team", "operator": "Near"}]}),
                 ("namespaceSelector",)),
                (queue(resourceGroups=[{"coveredResources": ["cpu", "memory"], "flavors": [
                    {"name": "f", "resources": [{"name": "memory", "nominalQuota": "1"},
                                                {"name": "cpu", "nominalQuota": "1"}]}]}]), ("flavors[0].resources[0].name", "at the same place")),
                (queue(admissionChecksStrategy={"admissionChecks": [{"name": "a", "onFlavors": ["nope"]}]}),
                 ("onFlavors",)),
                ({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": "c"},
                  "spec": {"parentName": "c"}}, ("own parent",)),
                ({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": "c"},
                  "spec": {"resourceGroups": [group(["cpu"], ("f", {"lendingLimit": "1"}))]}}, ("nil when parent is empty",))):
            with self.subTest(parts=parts):
                self.refuse(bad, *parts)
        self.create(queue(cohortName="c", fairSharing={"weight": "2n"}, namespaceSelector={
            "matchLabels": {"example.com/team": "a_B.c", "kubernetes.io/metadata.name": ""},
            "matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["x"]},
                                 {"key": "team", "operator": "Exists"}]}, resourceGroups=[
            group(["cpu", "memory"], ("f", {"lendingLimit": "4", "borrowingLimit": "9"})), group(["gpu"], ("g", {}))]))

    def test_labels_of_flavors_have_names(self):
        def flavor(key):
            return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "labels"},
                    "spec": {"nodeLabels": {key: "x"}}}
        for bad in ("@abc", "a/b/c", "-a", "Team.example/x/"):
            with self.subTest(bad=bad):
                self.refuse(flavor(bad), "spec.nodeLabels")
        self.create(flavor("cloud.example.com/node_Pool.1"))

    def test_what_kueues_webhooks_refuse_is_forbidden(self):
        bad_pod = self.pod("p", {QUEUE: "A_b"})
        self.create(self.workload("held"))
        held = f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{self.namespace}/workloads/held"
        reserved = {"status": {"conditions": [{"type": "QuotaReserved", "status": "True", "reason": "r", "message": "",
                                               "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
        for status, answer in (self.post(job("j", queue="A_b")), self.post(bad_pod),
                               self.patch(held + "/status", reserved)):
            self.assertEqual((status, answer["reason"]), (403, "Forbidden"), answer)

    # --- workloads ----------------------------------------------------------------------------------------------
    def workload(self, name="w", count=2, **spec):
        return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": name},
                "spec": {"queueName": "q", "podSets": [{"name": "main", "count": count, "template": {"spec": {
                    "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}}], **spec}}

    def admission(self, cpu="2", pod_set="main", flavor_name="f"):
        return {"clusterQueue": "cq", "podSetAssignments": [
            {"name": pod_set, "count": 2, "flavors": {"cpu": flavor_name}, "resourceUsage": {"cpu": cpu}}]}

    def reserved(self, status="True"):
        return {"type": "QuotaReserved", "status": status, "reason": "QuotaReserved", "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z"}

    def test_workload_with_quota_is_fixed(self):
        self.create(self.workload())
        path = f"{KUEUE}/namespaces/{self.namespace}/workloads/w"
        status = path + "/status"
        self.not_patched(status, {"status": {"conditions": [self.reserved()]}}, "status.admission")
        self.not_patched(status, {"status": {"conditions": [self.reserved()],
                                             "admission": self.admission(pod_set="other")}}, "podSet")
        self.patched(path, {"spec": {"queueName": "r"}})
        self.patched(status, {"status": {"conditions": [self.reserved()], "admission": self.admission()}})
        self.not_patched(path, {"spec": {"queueName": "s"}}, "queueName is immutable")
        self.not_patched(path, {"spec": {"podSets": self.workload(count=3)["spec"]["podSets"]}}, "spec.podSets")
        self.not_patched(path, {"spec": {"priorityClassRef": {"group": "kueue.x-k8s.io", "name": "x",
                                                              "kind": "WorkloadPriorityClass"}, "priority": 1}},
                         "priorityClassRef is immutable")
        self.not_patched(status, {"status": {"admission": self.admission(flavor_name="g")}}, "status.admission")
        placed = self.admission()
        placed["podSetAssignments"][0]["topologyAssignment"] = {"levels": ["rack"], "slices": [
            {"domainCount": 1, "podCounts": {"universal": 2}, "valuesPerLevel": [{"universal": "r1"}]}]}
        self.patched(status, {"status": {"admission": placed}})
        self.patched(status, {"status": {"reclaimablePods": [{"name": "main", "count": 1}]}})
        self.not_patched(status, {"status": {"reclaimablePods": [{"name": "main", "count": 0}]}}, "cannot be less than 1")
        self.not_patched(status, {"status": {"reclaimablePods": [{"name": "main", "count": 3}]}}, "reclaimablePods")
        self.not_patched(status, {"status": {"reclaimablePods": [{"name": "x", "count": 1}]}}, "reclaimablePods")
        self.patched(status, {"status": {"conditions": [self.reserved("False")], "admission": None,
                                         "reclaimablePods": None}})
        self.patched(path, {"spec": {"queueName": "s"}})

    def test_admission_of_what_asks_for_nothing_may_lose_its_empty_parts(self):
        self.create(self.workload())
        status = f"{KUEUE}/namespaces/{self.namespace}/workloads/w/status"
        bare = {"clusterQueue": "cq", "podSetAssignments": [{"name": "main", "count": 2}]}
        empty = {"clusterQueue": "cq", "podSetAssignments": [
            {"name": "main", "count": 2, "flavors": {}, "resourceUsage": {}}]}
        self.patched(status, {"status": {"conditions": [self.reserved()], "admission": empty}})
        self.patched(status, {"status": {"admission": bare}})
        self.not_patched(status, {"status": {"admission": self.admission()}}, "status.admission")

    def test_bad_workloads_are_refused(self):
        two = self.workload()
        two["spec"]["podSets"] = [{**two["spec"]["podSets"][0], "name": n, "minCount": 1} for n in ("a", "b")]
        self.refuse(two, "minCount")
        for cpu, word in (("-1", "greater than or equal to 0"),):
            bad = self.workload()
            bad["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpu
            self.refuse(bad, word)
        bad = self.workload()
        bad["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]["pods"] = 1
        self.refuse(bad, "reserved")
        bad = self.workload()
        bad["spec"]["podSets"][0]["topologyRequest"] = {"podSetSliceSize": 2}
        self.refuse(bad, "podSetSliceSize")
        bad = self.workload()
        bad["metadata"]["annotations"] = {"kueue.x-k8s.io/priority-boost": "much"}
        self.refuse(bad, "priority-boost")
