"""Devices that pods claim, in every kind that is queued: counted, or refused with a sentence. And what else is not supported
says so where it is written."""
import copy
from scene import *

RULES = json.loads((ROOT / "tests/kueue-rules.json").read_text())["kinds"]
KINDS = {name: kind for name, kind in RULES.items() if "sets" in kind}
QUEUED = {"kueue.x-k8s.io/queue-name": "main"}
CONFIG = """apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources:
  deviceClassMappings:
  - {name: gpus, deviceClassNames: [gpu.example.com]}
  - name: gpu.memory
    deviceClassNames: [mig.example.com]
    sources:
    - counter: {name: memory, driver: gpu.example.com, deviceSelector: {cel: {expression: "true"}}}
"""
MIG = "device.attributes['gpu.example.com'].type == 'mig'"


def template(name, count=2, **exactly):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": name, "namespace": "default"},
            "spec": {"spec": {"devices": {"requests": [
                {"name": "r", "exactly": {"deviceClassName": "gpu.example.com", "count": count, **exactly}}]}}}}


def device_class(name="gpu.example.com", **spec):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def resource_slice(name, *parts):
    """Parts of a card, each with its type and the memory that it takes."""
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": {
        "driver": "gpu.example.com", "nodeName": "n", "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"d{i}", "attributes": {"type": {"string": kind}}, "consumesCounters": [
            {"counterSet": "s", "counters": {"memory": {"value": memory}}}]} for i, (kind, memory) in enumerate(parts)]}}


def pod_specs(kind, obj):
    """Where a kind describes its pods: in the template that has their annotations, or beside those in a template of the rest."""
    for path, _ in kind["sets"]:
        at = obj
        for word in path.removesuffix("/annotations").removesuffix("/metadata").split("/")[1:]:
            at = at[int(word)] if word.isdigit() else at[word]
        yield at.get("template", at)["spec"]


def asking(name, kind, resources=None, **claim):
    obj = copy.deepcopy(kind["base"])
    obj["metadata"].update(name=name, namespace="default")
    for spec in pod_specs(kind, obj):
        if claim:
            spec["resourceClaims"] = [{"name": "c", **claim}]
        for container in spec["containers"]:
            container["resources"] = {"requests": {"cpu": "1m", **(resources or {})}}
    return obj


class Devices(Scene):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sluice-devices-"))
        config = self.home / "kueue.yaml"
        config.write_text(CONFIG)
        self.options = ("--adapters", str(ROOT / "deploy/adapters"), "--config", str(config))
        super().setUp()
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "100", "memory": "1Ti", "gpus": "1000", "example.com/other": "9", "gpu.memory": "50Gi"}}),
                    local_queue("main", "team"))

    def tearDown(self):
        super().tearDown()
        shutil.rmtree(self.home)

    def apply(self, obj):
        """What is warned of."""
        done = self.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(obj))
        return done.stderr

    def counted(self, name):
        """What a pod of each pod set counts, and which of them ask for devices."""
        w = self.admitted(name)
        gpus = [int(s.get("resourceUsage", {}).get("gpus", 0)) / s["count"] for s in w["status"]["admission"]["podSetAssignments"]]
        return gpus, [any(word in json.dumps(s["template"]) for word in ("resourceClaims", "example.com/"))
                      for s in w["spec"]["podSets"]]

    def assert_counts(self, name, kind, devices):
        gpus, asks = self.counted(name)
        self.assertEqual(sum(asks), len(kind["sets"]))
        self.assertEqual(gpus, [devices if a else 0 for a in asks])

    def waits(self, name, words):
        return self.workload(name, lambda w: words in (condition(w, "QuotaReserved") or {}).get("message", "") and
                             condition(w, "QuotaReserved")["reason"] == "Misconfigured", f"refusal with {words}")

    def test_every_kind_counts_what_its_pods_claim_or_says_that_it_cannot(self):
        self.create(device_class(extendedResourceName="example.com/gpu"), template("two"))
        for kind_name, kind in KINDS.items():
            with self.subTest(kind_name):
                low = kind_name.lower()
                self.assertNotIn("ResourceClaim", self.apply(asking(f"{low}-a", kind, resourceClaimTemplateName="two")))
                self.assert_counts(f"{low}-a", kind, 2)
                self.apply(asking(f"{low}-b", kind, {"example.com/gpu": "3"}))
                self.assert_counts(f"{low}-b", kind, 3)
                warned = self.apply(asking(f"{low}-c", kind, resourceClaimName="mine"))
                self.assertIn("the devices of a ResourceClaim are not counted", warned)
                self.waits(f"{low}-c", "does not support use of resource claims")
                self.apply(asking(f"{low}-d", kind, resourceClaimTemplateName="none"))
                self.waits(f"{low}-d", 'ResourceClaimTemplate.resource.k8s.io "none" not found')

    def test_group_of_pods_counts_each_of_them(self):
        self.create(device_class(), template("two"))
        for i in range(2):
            pod = asking(f"g-{i}", KINDS["Pod"], resourceClaimTemplateName="two")
            pod["metadata"]["labels"]["kueue.x-k8s.io/pod-group-name"] = "g"
            pod["metadata"]["annotations"]["kueue.x-k8s.io/pod-group-total-count"] = "2"
            self.create(pod)
        w = eventually(lambda: next((w for w in self.daemon.get(WORKLOADS)["items"] if holds(w, "Admitted")), None), what="group")
        self.assertEqual(w["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]["gpus"], "4")

    def test_quota_of_devices_is_waited_for_and_a_template_that_comes_late_too(self):
        self.create(device_class(), template("many", 600))
        self.create(asking("a", KINDS["Pod"], resourceClaimTemplateName="many"))
        self.admitted("a")
        self.create(asking("b", KINDS["Pod"], resourceClaimTemplateName="many"))
        self.refused("b", "WaitingForQuota")
        self.create(asking("c", KINDS["Pod"], resourceClaimTemplateName="late"))
        self.waits("c", "not found")
        self.create(template("late", 7))
        self.assertEqual(self.counted("c")[0], [7])
        self.create(template("all", 1, allocationMode="All"))
        self.create(asking("d", KINDS["Pod"], resourceClaimTemplateName="all"))
        self.waits("d", "AllocationMode 'All' is not supported")
        self.create(asking("e", KINDS["Pod"], {"example.com/fast": "1"}))
        self.refused("e", "NoMatchingFlavor")
        self.create(device_class("gpu.example.com", extendedResourceName="example.com/fast"))
        self.assertEqual(self.counted("e")[0], [1])

    def test_parts_of_devices_count_by_their_counters_once_they_are_there(self):
        self.create(device_class("mig.example.com", selectors=[{"cel": {"expression": MIG}}]),
                    template("two", 2, deviceClassName="mig.example.com"))
        self.create(asking("a", KINDS["Pod"], resourceClaimTemplateName="two"))
        self.waits("a", "0 device(s) match but 2 requested")
        slice = resource_slice("s", ("gpu", "40Gi"), ("mig", "4864Mi"), ("mig", "10Gi"))
        self.assertEqual(self.apply(slice), "")
        used = self.admitted("a")["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]
        self.assertEqual(used["gpu.memory"], "20Gi")
        self.create(asking("b", KINDS["Pod"], resourceClaimTemplateName="two"))
        self.admitted("b")
        self.create(asking("c", KINDS["Pod"], resourceClaimTemplateName="two"))
        self.refused("c", "WaitingForQuota")
        self.daemon.kill()
        self.daemon.start()
        usage = eventually(lambda: self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team")["status"].get("flavorsUsage"), what="usage")
        self.assertIn({"name": "gpu.memory", "total": "40Gi", "borrowed": "0"}, usage[0]["resources"])
        self.assertIn("s ", self.daemon.kubectl("get", "resourceslices.resource.k8s.io").stdout)

    def test_selectors_that_no_device_fits_are_waited_for_and_what_is_not_evaluated_is_not(self):
        for name, cel in (("mig", MIG), ("regex", "device.driver.matches('gpu')")):
            self.create(template(name, 1, selectors=[{"cel": {"expression": cel}}]))
        self.create(device_class(), resource_slice("s", ("gpu", "40Gi")))
        self.create(asking("a", KINDS["Pod"], resourceClaimTemplateName="regex"))
        self.assertEqual(self.counted("a")[0], [1])
        self.create(asking("b", KINDS["Pod"], resourceClaimTemplateName="mig"))
        self.waits("b", "0 device(s) match in the cluster but 1 requested")
        self.create(resource_slice("t", ("mig", "10Gi")))
        self.assertEqual(self.counted("b")[0], [1])

    def test_restart_keeps_what_was_counted_also_when_the_template_is_gone(self):
        self.create(device_class(), template("many", 600))
        self.create(asking("a", KINDS["Pod"], resourceClaimTemplateName="many"))
        self.admitted("a")
        self.daemon.kubectl("delete", "resourceclaimtemplates.resource.k8s.io", "many")
        self.daemon.kill()
        self.daemon.start()
        self.create(template("more", 500))
        self.create(asking("b", KINDS["Pod"], resourceClaimTemplateName="more"))
        self.refused("b", "WaitingForQuota")
        self.assertEqual(self.counted("a")[0], [600])


class Unsupported(Scene):
    """What Kueue can do, and Sluice cannot, says so where it is written: nothing of it runs outside of quota."""
    options = ("--adapters", str(ROOT / "deploy/adapters"))

    def warned(self, obj):
        return self.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(obj)).stderr

    def test_fields_and_annotations_without_effect_are_warned_of(self):
        queue = cluster_queue("team", {"f": {"cpu": "9"}}, concurrentAdmissionPolicy={
            "migration": {"mode": "TryPreferredFlavors"}})
        work = {"apiVersion": KUEUE, "kind": "Workload", "metadata": {"name": "w", "namespace": "default"}, "spec": {
            "queueName": "main", "preemptionGates": [{"name": "a"}], "podSets": [{"name": "main", "count": 1, "template": {
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}]}}
        for obj, words in (
                (queue, "only the feature gate ConcurrentAdmission lets it count"),
                (work, "only the feature gate MultiKueueOrchestratedPreemption lets it count"),
                (lost(asking("lost", KINDS["Job"])), "only the feature gate FailureRecoveryPolicy lets it count")):
            self.assertIn(words, self.warned(obj))

    def test_gates_of_what_is_not_supported_are_warned_of(self):
        home = pathlib.Path(tempfile.mkdtemp(prefix="sluice-gates-"))
        try:
            for gate in ("MultiKueueClusterProfile", "FastQuotaReleaseInPodIntegration"):
                file = home / "kueue.yaml"
                file.write_text(f"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {{{gate}: true}}\n")
                done = subprocess.run([BUILD / "sluiced", "--check-config", file], capture_output=True, text=True, timeout=20)
                self.assertIn(f"featureGates[{gate}]: this feature is not supported yet", done.stdout + done.stderr)
        finally:
            shutil.rmtree(home)

    def test_claims_are_refused_with_a_sentence_where_no_class_is_mapped(self):
        self.create(flavor("f"), cluster_queue("team", {"f": {"cpu": "9"}}), local_queue("main", "team"))
        self.create(template("two"), asking("a", KINDS["Job"], resourceClaimTemplateName="two"))
        w = self.refused("a", "Misconfigured")
        self.assertIn("no DeviceClass is mapped in DRA configuration", condition(w, "QuotaReserved")["message"])

    def test_kind_without_an_adapter_is_refused(self):
        connect = {"apiVersion": "sparkoperator.k8s.io/v1alpha1", "kind": "SparkConnect",
                   "metadata": {"name": "s", "namespace": "default", "labels": QUEUED}, "spec": {}}
        done = self.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(connect), check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("SparkConnect", done.stderr)


def lost(obj):
    obj["spec"]["template"]["metadata"]["annotations"]["kueue.x-k8s.io/safe-to-forcefully-delete"] = "true"
    return obj


if __name__ == "__main__":
    unittest.main()
