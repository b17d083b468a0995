"""Elastic jobs with places: pods that run stay on their nodes, and only those that come are placed."""
import unittest
from daemon import *
from test_topology import HOST, RACK, TOPOLOGY, Hall, job

ELASTIC = "kueue.x-k8s.io/elastic-job"
JOBS = "/apis/batch/v1/namespaces/hall/jobs"
SLICES = "/apis/kueue.x-k8s.io/v1beta2/namespaces/hall/workloads"


def elastic(name, pods, **more):
    o = job(name, pods, {TOPOLOGY % "unconstrained": "true"}, indexed=False, completions=50, **more)
    o["metadata"]["annotations"][ELASTIC] = "true"
    return o


class Placed(Hall):
    """Twelve nodes that take one of these pods each."""
    options = ("--feature-gates", "ElasticJobsViaWorkloadSlices=true,ElasticJobsViaWorkloadSlicesWithTAS=true")

    def scale(self, name, pods):
        status, answer = self.daemon.request("PATCH", f"{JOBS}/{name}", {"spec": {"parallelism": pods}},
                                             "application/merge-patch+json")
        self.assertEqual(status, 200, answer)

    def places(self, name):
        """Of the one slice that holds quota: host -> pods."""
        live = [w for w in self.daemon.get(SLICES)["items"]
                if w["metadata"]["ownerReferences"][0]["name"] == name and not holds(w, "Finished") and holds(w, "Admitted")]
        self.assertEqual(len(live), 1, live)
        places = {}
        for s in live[0]["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"]["slices"]:
            values = s["valuesPerLevel"][-1]
            hosts = values["individual"]["roots"] if "individual" in values else [values["universal"]] * s["domainCount"]
            prefix = values.get("individual", {}).get("prefix", "")
            suffix = values.get("individual", {}).get("suffix", "")
            counts = s["podCounts"].get("individual") or [s["podCounts"]["universal"]] * s["domainCount"]
            for host, count in zip(hosts, counts):
                places[prefix + host + suffix] = places.get(prefix + host + suffix, 0) + count
        return places

    def standing(self, name):
        """The uid of each pod that runs -> its node."""
        return {p["metadata"]["uid"]: p["spec"]["nodeName"] for p in self.pods(name)}

    def grown(self, name, pods):
        eventually(lambda: len(self.standing(name)) == pods, what=f"{pods} pods of {name} run")
        now = self.standing(name)
        self.assertEqual(sorted(now.values()), sorted(self.places(name)))
        return now

    def test_a_job_grows_where_there_is_room_for_the_difference_alone(self):
        self.submit(elastic("a", 6))
        before = self.grown("a", 6)
        self.submit(job("b", 4, {TOPOLOGY % "unconstrained": "true"}, indexed=False))
        self.running("b", 4)
        self.scale("a", 8)
        after = self.grown("a", 8)
        self.assertEqual({uid: after.get(uid) for uid in before}, before)
        self.assertFalse(set(after.values()) & {p["spec"]["nodeName"] for p in self.pods("b")})
        for p in self.pods("a"):
            self.assertEqual(p["spec"]["nodeSelector"][HOST], p["spec"]["nodeName"])

    def test_a_slice_without_room_waits_and_its_job_runs_on(self):
        self.submit(elastic("a", 6), job("b", 5, {TOPOLOGY % "unconstrained": "true"}, indexed=False))
        before = self.grown("a", 6)
        self.running("b", 5)
        self.scale("a", 8)

        def refusal():
            return next((c for w in self.daemon.get(SLICES)["items"] if w["spec"]["podSets"][0]["count"] == 8
                         and (c := condition(w, "QuotaReserved")) and c["status"] == "False"), None)
        self.assertEqual(eventually(refusal, what="refusal of the slice")["reason"], "WaitingForQuota")
        self.assertEqual(self.standing("a"), before)
        self.daemon.kubectl("delete", "job", "b", "-n", "hall")
        after = self.grown("a", 8)
        self.assertEqual({uid: after.get(uid) for uid in before}, before)

    def test_a_workload_whose_pods_must_be_together_is_refused_by_name(self):
        template = job("t", 1, {})["spec"]["template"]
        for kind in ("required", "preferred"):
            self.submit({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
                         "metadata": {"name": kind, "namespace": "hall", "annotations": {ELASTIC: "true"}},
                         "spec": {"queueName": "hall", "podSets": [{"name": "main", "count": 2, "topologyRequest": {kind: RACK},
                                                                    "template": template}]}})
            why = eventually(lambda: condition(self.daemon.get(f"{SLICES}/{kind}"), "QuotaReserved"), what="an answer")
            self.assertEqual((why["status"], why["reason"]), ("False", "TopologyPlacementFailed"))
            self.assertIn(f"{kind} topology is not supported with ElasticJobsViaWorkloadSlices", why["message"])

    def test_places_are_known_again_after_a_restart(self):
        self.submit(elastic("a", 4))
        self.grown("a", 4)
        self.scale("a", 6)
        before = self.grown("a", 6)
        self.daemon.kill()
        self.daemon.start()
        self.scale("a", 8)
        after = self.grown("a", 8)
        self.assertEqual({uid: after.get(uid) for uid in before}, before)

    def test_a_job_shrinks_and_grows_again(self):
        self.submit(elastic("a", 4))
        self.grown("a", 4)
        self.scale("a", 2)
        eventually(lambda: len(self.standing("a")) == 2, what="two pods run")
        before = self.standing("a")
        self.scale("a", 5)
        eventually(lambda: len(self.standing("a")) == 5, what="five pods run")
        after = self.standing("a")
        self.assertEqual({uid: after.get(uid) for uid in before}, before)
        self.assertEqual(sum(self.places("a").values()), 5)
        self.assertEqual(len(set(after.values())), 5)


if __name__ == "__main__":
    unittest.main()
