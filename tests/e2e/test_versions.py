"""kubectl speaks v1beta1 to the standalone daemon, which stores v1beta2."""
import json, subprocess, threading, unittest
from daemon import *

OLD, NEW = "kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2"
# As Kueue's documentation had them while v1beta1 was its version, with each field that has moved since.
MANIFEST = """
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: default-flavor}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: AdmissionCheck
metadata: {name: sample-prov}
spec:
  controllerName: example.com/check
  retryDelayMinutes: 20
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: WorkloadPriorityClass
metadata: {name: high}
value: 10000
description: first
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Topology
metadata: {name: default}
spec:
  levels: [{nodeLabel: kubernetes.io/hostname}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Cohort
metadata: {name: all}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: cluster-queue}
spec:
  namespaceSelector: {}
  cohort: all
  flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: TryNextFlavor}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: default-flavor
      resources:
      - {name: cpu, nominalQuota: 9, borrowingLimit: 1}
      - {name: memory, nominalQuota: 36Gi}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: checked}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default-flavor, resources: [{name: cpu, nominalQuota: 9}]}]
  admissionChecks: [sample-prov]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: user-queue, namespace: default}
spec: {clusterQueue: cluster-queue}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ProvisioningRequestConfig
metadata: {name: prov}
spec: {provisioningClassName: check-capacity.autoscaling.x-k8s.io}
"""
WORKLOAD = """
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: by-hand, namespace: default}
spec:
  queueName: user-queue
  priority: 10000
  priorityClassName: high
  priorityClassSource: kueue.x-k8s.io/workloadpriorityclass
  podSets:
  - count: 1
    name: main
    template:
      spec:
        restartPolicy: Never
        containers: [{name: c, image: i, resources: {requests: {cpu: 1, memory: 1Gi}}}]
"""


class Versions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()
        cls.applied = cls.daemon.kubectl("apply", "-f", "-", stdin=MANIFEST)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def old(self, resource, name, *more):
        kind, _, group = resource.partition(".")
        return json.loads(self.daemon.kubectl("get", f"{resource}.v1beta1.kueue.x-k8s.io", name, *more, "-o", "json").stdout)

    def new(self, resource, name):
        return json.loads(self.daemon.kubectl("get", f"{resource}.kueue.x-k8s.io", name, "-o", "json").stdout)

    def test_both_versions_are_found_and_v1beta2_is_preferred(self):
        group = self.daemon.get("/apis/kueue.x-k8s.io")
        self.assertEqual([v["groupVersion"] for v in group["versions"]], [NEW, OLD])
        self.assertEqual(group["preferredVersion"]["groupVersion"], NEW)
        names = {r["name"] for r in self.daemon.get("/apis/kueue.x-k8s.io/v1beta1")["resources"]}
        self.assertEqual(names, {r["name"] for r in self.daemon.get("/apis/kueue.x-k8s.io/v1beta2")["resources"]})
        self.assertIn(NEW, self.daemon.kubectl("api-versions").stdout)
        self.assertIn(OLD, self.daemon.kubectl("api-versions").stdout)

    def test_old_manifests_are_applied_with_a_warning_and_then_unchanged(self):
        self.assertIn("clusterqueue.kueue.x-k8s.io/cluster-queue created", self.applied.stdout)
        self.assertIn("This version is deprecated. Use v1beta2 instead.", self.applied.stderr)
        again = self.daemon.kubectl("apply", "-f", "-", stdin=MANIFEST).stdout
        self.assertEqual({line.split()[-1] for line in again.splitlines()}, {"unchanged"}, again)

    def test_they_are_given_back_as_they_were(self):
        spec = self.old("clusterqueues", "cluster-queue")["spec"]
        self.assertEqual(spec["cohort"], "all")
        self.assertEqual(spec["flavorFungibility"]["whenCanBorrow"], "Borrow")
        self.assertEqual(self.old("clusterqueues", "checked")["spec"]["admissionChecks"], ["sample-prov"])
        self.assertEqual(self.old("admissionchecks", "sample-prov")["spec"]["retryDelayMinutes"], 20)
        text = self.daemon.kubectl("get", "clusterqueues.v1beta1.kueue.x-k8s.io", "-o", "yaml").stdout
        self.assertGreaterEqual(text.count("apiVersion: kueue.x-k8s.io/v1beta1"), 2)
        self.assertNotIn("apiVersion: kueue.x-k8s.io/v1beta2", text)
        self.assertIn("\n    cohort: all\n", text)
        self.assertNotIn("cohortName", text.replace("kubectl.kubernetes.io", ""))

    def test_they_are_stored_in_v1beta2(self):
        spec = self.new("clusterqueues", "cluster-queue")["spec"]
        self.assertEqual(spec["cohortName"], "all")
        self.assertEqual(spec["flavorFungibility"]["whenCanBorrow"], "MayStopSearch")
        self.assertEqual(self.new("clusterqueues", "checked")["spec"]["admissionChecksStrategy"],
                         {"admissionChecks": [{"name": "sample-prov"}]})

    def test_a_workload_of_an_old_client_is_admitted_and_seen_in_both(self):
        self.daemon.kubectl("create", "-f", "-", stdin=WORKLOAD)
        admitted = eventually(lambda: (lambda w: holds(w, "Admitted") and w)(self.old("workloads", "by-hand")))
        self.assertEqual(admitted["spec"]["priorityClassName"], "high")
        self.assertEqual(self.new("workloads", "by-hand")["spec"]["priorityClassRef"],
                         {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"})
        usage = eventually(lambda: self.old("localqueues", "user-queue").get("status", {}).get("flavorUsage"))
        self.assertEqual(usage[0]["name"], "default-flavor")
        self.daemon.kubectl("delete", "workloads.v1beta1.kueue.x-k8s.io", "by-hand", "--timeout=10s")

    def test_patches_in_the_old_version(self):
        self.daemon.kubectl("create", "-f", "-", stdin=json.dumps({
            "apiVersion": NEW, "kind": "ClusterQueue", "metadata": {"name": "patched"}, "spec": {
                "cohortName": "a", "concurrentAdmissionPolicy": {"migration": {"mode": "RetainFirstAdmission"}}, "resourceGroups": [
                    {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "1"}]}]}]}}))
        patch = ("patch", "clusterqueues.v1beta1.kueue.x-k8s.io", "patched")
        self.daemon.kubectl(*patch, "--type=merge", "-p", '{"spec":{"cohort":"b"}}')
        self.assertEqual(self.new("clusterqueues", "patched")["spec"]["cohortName"], "b")
        self.daemon.kubectl(*patch, "--type=json", "-p", '[{"op":"replace","path":"/spec/cohort","value":"c"}]')
        self.daemon.kubectl("label", "clusterqueues.v1beta1.kueue.x-k8s.io", "patched", "a=b")
        done = self.daemon.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=me", "-f", "-", stdin=json.dumps(
            {"apiVersion": OLD, "kind": "ClusterQueue", "metadata": {"name": "patched"}, "spec": {"stopPolicy": "Hold"}}))
        self.assertIn("serverside-applied", done.stdout)
        stored = self.new("clusterqueues", "patched")
        self.assertEqual((stored["spec"]["cohortName"], stored["spec"]["stopPolicy"], stored["metadata"]["labels"]),
                         ("c", "Hold", {"a": "b"}))
        self.assertEqual(stored["spec"]["concurrentAdmissionPolicy"], {"migration": {"mode": "RetainFirstAdmission"}},
                         "a field that v1beta1 lacks survives writes in v1beta1")
        self.assertNotIn("annotations", stored["metadata"])

    def test_replace_dry_run_and_conflict(self):
        self.daemon.kubectl("create", "-f", "-", stdin=json.dumps(
            {"apiVersion": OLD, "kind": "Cohort", "metadata": {"name": "replaced"}, "spec": {"parentName": "all"}}))
        cohort = self.old("cohorts", "replaced")
        cohort["spec"]["parentName"] = "other"
        self.daemon.kubectl("replace", "--dry-run=server", "-f", "-", stdin=json.dumps(cohort))
        self.assertEqual(self.new("cohorts", "replaced")["spec"]["parentName"], "all")
        self.daemon.kubectl("replace", "-f", "-", stdin=json.dumps(cohort))
        self.assertEqual(self.new("cohorts", "replaced")["spec"]["parentName"], "other")
        done = self.daemon.kubectl("replace", "-f", "-", stdin=json.dumps(cohort), check=False)
        self.assertIn("Conflict", done.stderr)

    def test_a_status_is_written_in_the_old_version(self):
        self.daemon.kubectl("create", "-f", "-", stdin=WORKLOAD.replace("by-hand", "counted").replace("user-queue", "none"))
        self.daemon.kubectl("patch", "workloads.v1beta1.kueue.x-k8s.io", "counted", "--subresource=status", "--type=merge", "-p",
                            '{"status":{"accumulatedPastExexcutionTimeSeconds":7}}')
        self.assertEqual(self.new("workloads", "counted")["status"]["accumulatedPastExecutionTimeSeconds"], 7)
        self.daemon.kubectl("delete", "workload", "counted", "--timeout=10s")

    def test_watch_in_the_old_version(self):
        path = "/apis/kueue.x-k8s.io/v1beta1/clusterqueues?watch=true&timeoutSeconds=1&allowWatchBookmarks=true"
        seen = []
        thread = threading.Thread(target=lambda: seen.append(self.daemon.request("GET", path)[1]))
        thread.start()
        self.daemon.kubectl("label", "cq", "checked", f"now={time.time_ns()}")
        thread.join()
        events = [json.loads(line) for line in seen[0].splitlines()] if isinstance(seen[0], str) else [seen[0]]
        self.assertGreaterEqual(len(events), 2)
        self.assertEqual({e["object"]["apiVersion"] for e in events}, {OLD})
        self.assertIn(["sample-prov"], [e["object"]["spec"].get("admissionChecks") for e in events])

    def test_tables_and_metadata_in_the_old_version(self):
        self.assertRegex(self.daemon.kubectl("get", "clusterqueues.v1beta1.kueue.x-k8s.io").stdout, r"cluster-queue +all ")
        rows = self.daemon.request("GET", "/apis/kueue.x-k8s.io/v1beta1/clusterqueues?includeObject=Object", headers={
            "Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"})[1]["rows"]
        self.assertEqual({r["object"]["apiVersion"] for r in rows}, {OLD})
        items = self.daemon.request("GET", "/apis/kueue.x-k8s.io/v1beta1/clusterqueues", headers={
            "Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"})[1]["items"]
        self.assertFalse([i for i in items if "sluice.dev/v1beta1-fields" in i["metadata"].get("annotations", {})])

    def test_explain_knows_the_old_fields(self):
        self.assertIn("cohort", self.daemon.kubectl("explain", "clusterqueues.spec.cohort", "--api-version", OLD).stdout)
        self.assertIn("Borrow", self.daemon.kubectl(
            "explain", "clusterqueues.spec.flavorFungibility.whenCanBorrow", "--api-version", OLD).stdout)

    def refused(self, spec, strict=True):
        body = {"apiVersion": OLD, "kind": "ClusterQueue", "metadata": {"name": "bad"}, "spec": spec}
        status, answer = self.daemon.request("POST", "/apis/kueue.x-k8s.io/v1beta1/clusterqueues?fieldValidation=" +
                                             ("Strict" if strict else "Warn"), body)
        self.assertGreaterEqual(status, 400, answer)
        return answer["message"]

    def test_refusals_have_the_names_of_the_old_version(self):
        self.assertIn("spec.cohort: Invalid value", self.refused({"cohort": "Not A Name"}))
        self.assertNotIn("cohortName", self.refused({"cohort": "Not A Name"}))
        self.assertIn('unknown field "spec.cohortName"', self.refused({"cohortName": "a"}))
        self.assertIn('ClusterQueue in version "v1beta1"', self.refused({"cohortName": "a"}))
        self.assertIn("spec.admissionChecks: must be a list of names", self.refused({"admissionChecks": "a"}, strict=False))
        status, answer = self.daemon.request("POST", "/apis/kueue.x-k8s.io/v1beta1/clusterqueues",
                                             {"apiVersion": NEW, "kind": "ClusterQueue", "metadata": {"name": "bad"}})
        self.assertEqual(status, 400)
        self.assertIn(f"does not match the expected API version ({OLD})", answer["message"])

    def test_what_is_not_there_is_not_found(self):
        self.assertIn("NotFound", self.daemon.kubectl("get", "clusterqueues.v1beta1.kueue.x-k8s.io", "nosuch", check=False).stderr)
        status, _ = self.daemon.request("PATCH", "/apis/kueue.x-k8s.io/v1beta1/clusterqueues/nosuch", {"spec": {}},
                                        content_type="application/merge-patch+json")
        self.assertEqual(status, 404)
        self.assertEqual(self.daemon.request("GET", "/apis/kueue.x-k8s.io/v1beta1/jobs")[0], 404)
        self.assertEqual(self.daemon.request("GET", "/apis/kueue.x-k8s.io/v1alpha1/clusterqueues")[0], 404)
        self.assertEqual(self.daemon.request("GET", "/apis/batch/v1beta1/jobs")[0], 404)


    def test_sluicectl_reads_files_in_the_old_version(self):
        old = json.dumps({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": OLD, "kind": "ClusterQueue", "metadata": {"name": "by-file"}, "spec": {"cohort": "all"}}]})
        self.assertIn("by-file", self.daemon.sluicectl("apply", "-f", "-", stdin=old).stdout)
        self.assertEqual(self.new("clusterqueues", "by-file")["spec"]["cohortName"], "all")
        bad = old.replace('"cohort": "all"', '"admissionChecks": 5')
        done = self.daemon.sluicectl("apply", "-f", "-", stdin=bad, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("spec.admissionChecks: must be a list of names", done.stderr)
        self.daemon.sluicectl("delete", "-f", "-", stdin=old)
        self.assertIn("NotFound", self.daemon.kubectl("get", "cq", "by-file", check=False).stderr)

    def test_what_cannot_be_said_in_the_old_version_is_an_error_and_not_left_out(self):
        self.daemon.kubectl("create", "-f", "-", stdin=WORKLOAD.replace("by-hand", "wide").replace("user-queue", "none"))
        path = "/apis/kueue.x-k8s.io/v1beta{}/namespaces/default/workloads"
        slices = [{"domainCount": 60000, "valuesPerLevel": [{"universal": "a"}], "podCounts": {"universal": 1}}] * 2
        assignment = {"name": "main", "topologyAssignment": {"levels": ["kubernetes.io/hostname"], "slices": slices}}
        def refused(what):
            """The answer; an admission by a queue that is not there does not last, so it is written before each look."""
            status, answer = self.daemon.request(
                "PATCH", path.format(2) + "/wide/status", {"status": {"admission": {
                    "clusterQueue": "cluster-queue", "podSetAssignments": [assignment]}}}, content_type="application/merge-patch+json")
            self.assertEqual(status, 200, answer)
            status, answer = self.daemon.request("GET", path.format(1) + what)
            return answer if status == 500 else None

        for one in ("/wide", ""):
            answer = eventually(lambda: refused(one), what="a refusal")
            self.assertIn("wide cannot be shown in v1beta1: status.admission.podSetAssignments[0].topologyAssignment.slices: "
                          "these are too many domains", answer["message"])
        status, answer = self.daemon.request("PATCH", path.format(1) + "/wide", {"metadata": {"labels": {"a": "b"}}},
                                             content_type="application/merge-patch+json")
        self.assertEqual(status, 500, answer)
        self.daemon.request("GET", path.format(1) + "?watch=true&timeoutSeconds=1")
        self.assertIn("an event is not passed to a watch", self.daemon.log_text())
        self.daemon.kubectl("delete", "workload", "wide", "--timeout=10s")


if __name__ == "__main__":
    unittest.main()
