"""Devices that pods claim, on a real API server: what it makes of templates and classes is what is counted."""
from work_scene import *

RESOURCE = "/apis/resource.k8s.io/v1"


def template(name, count, **more):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": name}, "spec": {"spec": {
        "devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.example.com", "count": count, **more}}]}}}}


def claiming(name, claim, parallelism=1):
    made = job(name, "main", run_for="30s", parallelism=parallelism)
    spec = made["spec"]["template"]["spec"]
    spec["resourceClaims"] = [{"name": "c", "resourceClaimTemplateName": claim}]
    spec["containers"][0]["resources"]["claims"] = [{"name": "c"}]
    return made


class Devices(WorkScene):
    config = {"resources": {"deviceClassMappings": [{"name": "gpus", "deviceClassNames": ["gpu.example.com"]}]}}

    def setUp(self):
        super().setUp()
        unique = f"{self.namespace}-main"
        self.create(flavor(unique), cluster_queue(unique, {unique: {"cpu": 9, "gpus": 8}}),
                    local_queue("main", unique, self.namespace))

    def tearDown(self):
        self.plane.request("DELETE", f"{RESOURCE}/deviceclasses/gpu.example.com")
        super().tearDown()

    def put(self, collection, obj):
        status, answer = self.plane.request("POST", f"{RESOURCE}/{collection}", obj)
        self.assertEqual(status, 201, answer)

    def templates(self, *objects):
        for obj in objects:
            self.put(f"namespaces/{self.namespace}/resourceclaimtemplates", obj)

    def waits(self, name, words):
        return self.workload(name, lambda w: words in (condition(w, "QuotaReserved") or {}).get("message", ""), f"says {words}")

    def test_claims_and_extended_resources_count_and_a_restart_knows_them(self):
        self.put("deviceclasses", {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {
            "name": "gpu.example.com"}, "spec": {"extendedResourceName": "example.com/gpu"}})
        self.templates(template("three", 3))
        first = self.daemon()
        self.create(claiming("a", "three", 2))
        w = self.workload("a", lambda w: holds(w, "Admitted"), "admission")
        self.assertEqual(w["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]["gpus"], "6")
        first.stop()
        self.daemon()
        self.create(claiming("b", "three"))
        self.waits("b", "insufficient unused quota for gpus")
        made = job("c", "main", run_for="30s")
        made["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"example.com/gpu": "2"}}
        self.create(made)
        w = self.workload("c", lambda w: holds(w, "Admitted"), "admission")
        self.assertEqual(w["status"]["admission"]["podSetAssignments"][0]["resourceUsage"], {"gpus": "2"})

    def test_template_that_comes_late_is_waited_for(self):
        self.daemon()
        self.create(claiming("a", "late"))
        self.waits("a", 'ResourceClaimTemplate.resource.k8s.io "late" not found')
        self.templates(template("late", 8))
        w = self.workload("a", lambda w: holds(w, "Admitted"), "admission")
        self.assertEqual(w["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]["gpus"], "8")

    def test_devices_that_come_late_are_waited_for(self):
        self.put("deviceclasses", {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {
            "name": "gpu.example.com"}, "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]}})
        self.templates(template("large", 1, selectors=[{"cel": {
            "expression": "device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0"}}]))
        self.daemon()
        self.create(claiming("a", "large"))
        self.waits("a", "insufficient matching devices for CEL selector in DeviceClass gpu.example.com: 0 device(s) match")
        try:
            self.put("resourceslices", {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {
                "name": f"{self.namespace}-s"}, "spec": {"driver": "gpu.example.com", "allNodes": True,
                "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "d", "capacity": {"memory": {"value": "80Gi"}}}]}})
            w = self.workload("a", lambda w: holds(w, "Admitted"), "admission")
            self.assertEqual(w["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]["gpus"], "1")
        finally:
            self.plane.request("DELETE", f"{RESOURCE}/resourceslices/{self.namespace}-s")


if __name__ == "__main__":
    unittest.main()
