"""The CRDs on a real API server: defaults, what they refuse, what they drop and what they keep."""
from cluster_scene import *

V = "kueue.x-k8s.io/v1beta2"


def obj(kind, name="x", **spec):
    return {"apiVersion": V, "kind": kind, "metadata": {"name": name}, "spec": spec}


def group(resources, **quota):
    return {"coveredResources": resources,
            "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "4", **quota}]}]}


POD = {"spec": {"containers": [{"name": "c", "image": "i"}]}}


class Crds(Scene):
    def test_defaults_are_those_of_kueue(self):
        spec = self.create(obj("ClusterQueue"))["spec"]
        self.assertEqual((spec["queueingStrategy"], spec["stopPolicy"]), ("BestEffortFIFO", "None"))
        self.assertEqual(spec["preemption"]["reclaimWithinCohort"], "Never")
        self.assertEqual(spec["preemption"]["withinClusterQueue"], "Never")
        self.assertEqual(spec["flavorFungibility"]["whenCanBorrow"], "MayStopSearch")
        self.assertEqual(spec["flavorFungibility"]["whenCanPreempt"], "TryNextFlavor")
        self.assertEqual(self.create(obj("LocalQueue", clusterQueue="x"))["spec"]["stopPolicy"], "None")
        spec = self.create(obj("Workload", podSets=[{"template": POD}]))["spec"]
        self.assertEqual((spec["active"], spec["podSets"][0]["name"], spec["podSets"][0]["count"]), (True, "main", 1))
        config = self.create(obj("ProvisioningRequestConfig", provisioningClassName="c"))["spec"]
        self.assertEqual(config["retryStrategy"],
                         {"backoffLimitCount": 3, "backoffBaseSeconds": 60, "backoffMaxSeconds": 1800})

    def test_rules_refuse_with_the_field(self):
        for bad, *parts in (
                (obj("ClusterQueue", resourceGroups=[group(["cpu"], borrowingLimit="1")]), "spec", "borrowingLimit"),
                (obj("ClusterQueue", resourceGroups=[group(["cpu", "memory"])]), "resourceGroups[0]", "same number"),
                (obj("ClusterQueue", queueingStrategy="LIFO"), "spec.queueingStrategy", "StrictFIFO"),
                (obj("ClusterQueue", preemption={"reclaimWithinCohort": "Never", "borrowWithinCohort": {
                    "policy": "LowerPriority"}}), "spec.preemption", "borrowWithinCohort"),
                (obj("ClusterQueue", flavorFungibility={"preference": "BorrowingOverPreemption"}),
                 "flavorFungibility", "preference"),
                (obj("Cohort", resourceGroups=[group(["cpu", "memory"])]), "resourceGroups[0]", "same number"),
                (obj("ResourceFlavor", topologyName="t"), "spec", "nodeLabel"),
                (obj("ResourceFlavor", tolerations=[{"effect": "NoSchedule"}]), "spec.tolerations", "Exists"),
                (obj("ResourceFlavor", tolerations=[{"key": "k", "tolerationSeconds": 1}]), "NoExecute"),
                (obj("ResourceFlavor", tolerations=[{"key": "k", "operator": "Exists", "value": "v"}]), "value"),
                (obj("ResourceFlavor", nodeTaints=[{"key": "k", "effect": "Never"}]), "effect"),
                (obj("Topology", levels=[{"nodeLabel": "a"}, {"nodeLabel": "a"}]), "spec.levels", "unique"),
                (obj("Topology", levels=[{"nodeLabel": "kubernetes.io/hostname"}, {"nodeLabel": "a"}]), "lowest"),
                (obj("Topology", levels=[]), "spec.levels"),
                (obj("AdmissionCheck"), "controllerName"),
                (obj("Workload", podSets=[]), "spec.podSets"),
                (obj("Workload", podSets=[{"template": POD, "count": 2, "minCount": 3}]), "minCount"),
                (obj("Workload", podSets=[{"template": POD}], priorityClassRef={
                    "group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "n"}), "priority"),
                (obj("Workload", podSets=[{"template": POD}], priority=1, priorityClassRef={
                    "group": "kueue.x-k8s.io", "kind": "PriorityClass", "name": "n"}), "WorkloadPriorityClass"),
                (obj("LocalQueue", clusterQueue="A_"), "spec.clusterQueue")):
            with self.subTest(parts=parts, kind=bad["kind"]):
                self.refuse(bad, *parts)

    def test_what_is_immutable_stays(self):
        self.create(obj("LocalQueue", clusterQueue="a"), obj("AdmissionCheck", controllerName="c/d"),
                    obj("Topology", levels=[{"nodeLabel": "rack"}]),
                    obj("Topology", "hosts", levels=[{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]),
                    obj("ResourceFlavor", topologyName="t", nodeLabels={"a": "b"}))
        self.not_patched(f"{KUEUE}/namespaces/{self.namespace}/localqueues/x", {"spec": {"clusterQueue": "b"}},
                         "immutable")
        self.not_patched(f"{KUEUE}/admissionchecks/x", {"spec": {"controllerName": "e"}}, "immutable")
        self.not_patched(f"{KUEUE}/topologies/x", {"spec": {"levels": [{"nodeLabel": "block"}]}}, "lowest level")
        self.patched(f"{KUEUE}/topologies/hosts", {"spec": {"levels": [
            {"nodeLabel": "block"}, {"nodeLabel": "kubernetes.io/hostname"}]}})
        self.not_patched(f"{KUEUE}/resourceflavors/x", {"spec": {"topologyName": "u"}}, "immutable")

    def test_misspelt_fields_are_refused_and_pods_are_kept_whole(self):
        bad = obj("ClusterQueue", resourceGroup=[])
        done = self.plane.kubectl("apply", "-f", "-", stdin=json.dumps(bad), check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('unknown field "spec.resourceGroup"', done.stderr)
        pod = {"metadata": {"labels": {"a": "b"}}, "spec": {
            "hostIPC": True, "containers": [{"name": "c", "image": "i", "stdin": True, "env": [
                {"name": "A", "value": "1"}]}]}}
        kept = self.create(obj("Workload", podSets=[{"template": pod}]))["spec"]["podSets"][0]["template"]
        self.assertEqual((kept["spec"]["hostIPC"], kept["spec"]["containers"][0]["env"]),
                         (True, [{"name": "A", "value": "1"}]))

    def test_v1beta1_is_refused_by_name(self):
        old = {**obj("ClusterQueue"), "apiVersion": "kueue.x-k8s.io/v1beta1"}
        done = self.plane.kubectl("apply", "-f", "-", stdin=json.dumps(old), check=False)
        self.assertIn('no matches for kind "ClusterQueue" in version "kueue.x-k8s.io/v1beta1"', done.stderr)

    def test_tables_have_the_columns_of_the_kinds(self):
        self.create(obj("ClusterQueue", "table", cohortName="hall"))
        line = self.plane.kubectl("get", "cq", "table", "-o", "wide").stdout
        self.assertIn("COHORT", line)
        self.assertIn("hall", line)
        self.create(obj("Workload", "row", queueName="line", podSets=[{"template": POD}]))
        lines = self.plane.kubectl("get", "wl", "-n", self.namespace).stdout.split("\n")
        self.assertEqual(lines[0].split()[:3], ["NAME", "QUEUE", "RESERVED"])
        self.assertEqual(lines[1].split()[:2], ["row", "line"])
