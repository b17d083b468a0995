"""Admission checks with ProvisioningRequests: the test plays the cluster autoscaler."""
from work_scene import *

GROUP = "/apis/autoscaling.x-k8s.io/v1"


class Provisioning(WorkScene):
    def requests(self):
        return self.plane.get(f"{GROUP}/namespaces/{self.namespace}/provisioningrequests")["items"]

    def say(self, request, kind, message=""):
        """As the autoscaler does, by status."""
        status, answer = self.patch(
            f"{GROUP}/namespaces/{self.namespace}/provisioningrequests/{request['metadata']['name']}/status",
            {"status": {"conditions": [{"type": kind, "status": "True", "reason": kind, "message": message,
                                        "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
        self.assertEqual(status, 200, answer)

    def checked_queue(self):
        check = self.namespace
        for kind, name, spec in (
                ("ProvisioningRequestConfig", check, {"provisioningClassName": "check-capacity.autoscaling.x-k8s.io",
                                                         "retryStrategy": {"backoffBaseSeconds": 1}}),
                ("AdmissionCheck", check, {
                    "controllerName": "kueue.x-k8s.io/provisioning-request",
                    "parameters": {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig",
                                   "name": check}})):
            self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name},
                         "spec": spec})
        return self.queues(4, admissionChecksStrategy={"admissionChecks": [{"name": check}]})

    def test_job_starts_when_its_capacity_has_been_provisioned(self):
        self.daemon()
        queue = self.checked_queue()
        self.create(job("asks", "main", parallelism=2))
        request = eventually(self.requests, what="a request")[0]
        wl = self.workload("asks", lambda w: holds(w, "QuotaReserved"), "reservation")
        self.assertFalse(holds(wl, "Admitted"))
        self.assertEqual(request["spec"]["podSets"][0]["count"], 2)
        self.assertTrue(self.job("asks")["spec"]["suspend"])
        self.say(request, "Provisioned")
        self.finished("asks")
        self.settles_at(queue, 0)
        self.assertEqual(self.job("asks")["spec"]["template"]["metadata"]["annotations"]
                         ["autoscaling.x-k8s.io/consume-provisioning-request"], request["metadata"]["name"])

    def test_failed_request_is_tried_again(self):
        self.daemon()
        self.checked_queue()
        self.create(job("retries", "main"))
        first = eventually(self.requests, what="a request")[0]
        self.say(first, "Failed", "no such machines")
        second = eventually(lambda: [r for r in self.requests()
                                     if r["metadata"]["name"] != first["metadata"]["name"]], 30, what="another")[0]
        self.say(second, "Provisioned")
        self.finished("retries")
