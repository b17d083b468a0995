# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Decisions are made on what is not durable yet. When the disk then refuses it, nothing of them is left: no process was started or
ended by them, nothing of them was told, and what is decided next is decided on what is stored."""
import re, resource, time, unittest
from runs import *

UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


class Ahead(Scene):
    def setUp(self):
        super().setUp()
        cq = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/cq"
        quota = [{"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": "1"}]
        status, body = self.daemon.request("PATCH", cq, quota, "application/json-patch+json")
        self.assertEqual(status, 200, body)

    def metric(self, name):
        text = self.daemon.request("GET", "/metrics")[1]
        return int(re.search(rf"^{name} (\d+)$", text, flags=re.M).group(1))

    def fill(self):
        """The log of the database does not grow any more: commits fail."""
        size = (self.daemon.data / "sluice.db-wal").stat().st_size
        resource.prlimit(self.daemon.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def make_room(self):
        resource.prlimit(self.daemon.process.pid, resource.RLIMIT_FSIZE, UNLIMITED)

    def refused(self):
        return eventually(lambda: self.metric("sluice_store_refusals_total") > 0 and self.metric("sluice_store_rereads_total") > 0, 30,
                          "a refused batch after which all is read again")

    def starts(self):
        path = self.daemon.home / "starts"
        return path.read_text().split() if path.exists() else []

    def note(self, name):
        return f"echo {name} >> {self.daemon.home}/starts"

    def admitted(self, name):
        items = self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads")["items"]
        of = [w for w in items if w["metadata"]["ownerReferences"][0]["name"] == name]
        return any(c["type"] == "Admitted" and c["status"] == "True" for w in of for c in w.get("status", {}).get("conditions", []))

    def test_the_next_one_is_not_started_by_an_end_that_is_not_stored(self):
        self.job("first", f"{self.note('first')}; while ! test -e {self.daemon.home}/end; do sleep 0.05; done")
        self.running("first")
        self.job("second", self.note("second"))
        eventually(lambda: self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads")["items"][1:], 10, "a Workload of the second")
        self.fill()
        (self.daemon.home / "end").touch()
        self.refused()
        time.sleep(3)
        self.assertEqual(self.starts(), ["first"])
        self.assertIsNone(self.condition("first", "Complete"))
        self.assertFalse(self.admitted("second"))
        self.assertEqual(self.pods("second"), [])
        self.make_room()
        self.complete("first")
        self.complete("second")
        self.assertEqual(self.starts(), ["first", "second"])
        self.assertEqual(self.metric("sluice_store_rereads_total"), 1)

    def test_a_deletion_that_is_not_stored_ends_nothing_and_frees_no_quota(self):
        self.job("first", f"{self.note('first')}; sleep 1000")
        self.running("first")
        self.job("second", f"{self.note('second')}; sleep 1000")
        eventually(lambda: self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads")["items"][1:], 10, "a Workload of the second")
        before = processes(self.mark)
        self.fill()
        status, body = self.daemon.request("DELETE", f"{JOBS}/first", {"propagationPolicy": "Background"})
        self.assertIn(status, (500, 503, 507), body)
        self.refused()
        time.sleep(2)
        self.assertEqual(set(before), set(before) & set(processes(self.mark)))
        self.assertTrue(self.admitted("first"))
        self.assertFalse(self.admitted("second"))
        self.make_room()
        self.job("third", "true")  # something is decided again
        eventually(lambda: len(self.daemon.get("/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads")["items"]) == 3, 20, "its Workload")
        self.assertFalse(self.admitted("second") or self.admitted("third"))
        self.assertEqual(self.starts(), ["first"])
        self.daemon.request("DELETE", f"{JOBS}/first", {"propagationPolicy": "Background"})
        self.running("second")
        self.assertEqual(self.starts(), ["first", "second"])


if __name__ == "__main__":
    unittest.main()
