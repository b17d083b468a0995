"""Foresight as a user has it: when things start, and what would happen, without anything being done."""
import concurrent.futures, datetime
from scene import *

SIMULATE = "/simulate"


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Foresight(Scene):
    def setUp(self):
        super().setUp()
        self.create(flavor("f"), {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "high"},
                                  "value": 100},
                    cluster_queue("team", {"f": {"cpu": "4"}}, preemption={"withinClusterQueue": "LowerPriority"}),
                    local_queue("main", "team"))

    def ask(self, body=None, expect=200):
        status, answer = self.daemon.request("POST", SIMULATE, body or {})
        self.assertEqual(status, expect, answer)
        return answer

    def sluicectl(self, *words, code=0, stdin=None):
        done = self.daemon.sluicectl(*words, stdin=stdin, check=code == 0)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def rows(self, answer, member):
        return {r["name"]: r for r in answer.get(member, [])}

    def name_of(self, job_name):
        return self.workload(job_name)["metadata"]["name"]

    def fill(self):
        """One runs for 6 s, and two wait for it, for each other."""
        self.create(job("first", cpu="4", run_for="6s"))
        self.admitted("first")
        self.create(job("second", cpu="3", run_for="3s"), job("third", cpu="3", run_for="60s"))
        self.refused("second", "WaitingForQuota")
        self.workload("third")

    def test_jobs_start_when_it_was_said(self):
        self.fill()
        answer = self.ask()
        self.assertEqual(answer["ended"], "NothingWaits")
        said = self.rows(answer, "workloads")
        for name in ("second", "third"):
            self.assertEqual(said[self.name_of(name)]["certainty"], "Exact")
            self.assertEqual(said[self.name_of(name)]["basis"], ["runFor"])
            began = seconds(condition(self.admitted(name), "Admitted")["lastTransitionTime"])
            self.assertLess(abs(began - seconds(said[self.name_of(name)]["start"])), 15)  # on a busy machine it comes later
        self.assertRegex(str(self.daemon.request("GET", "/metrics")[1]),
                         r'sluice_foresight_error_seconds_bucket{certainty="Exact",[^}]*le="[^"]*"} 2')
        self.assertGreater(said[self.name_of("third")]["waitMilliseconds"],
                           said[self.name_of("second")]["waitMilliseconds"] + 2900)

    def test_pending_says_when_each_starts(self):
        self.fill()
        table = self.sluicectl("pending", "--start")
        self.assertRegex(table, r"POS +PRIORITY +WORKLOAD +START +REASON")
        self.assertRegex(table, rf"{self.name_of('second')} +in \ds ")
        self.assertNotIn("START", self.sluicectl("pending"))
        items = json.loads(self.sluicectl("pending", "team", "--start", "-o", "json"))["items"]
        self.assertEqual([i["foreseen"]["certainty"] for i in items], ["Exact", "Exact"])

    def test_the_visibility_api_says_when_each_starts(self):
        self.fill()
        both = ("clusterqueues/team", "namespaces/default/localqueues/main")
        names = [self.name_of("second"), self.name_of("third")]
        for queue in both:
            path = f"/apis/visibility.kueue.x-k8s.io/v1beta2/{queue}/pendingworkloads"
            plain, said = self.daemon.get(path)["items"], self.daemon.get(path + "?start=true")["items"]
            self.assertEqual([i["metadata"]["name"] for i in said], names)
            for a, b in zip(plain, said):
                foreseen = b.pop("foreseen")
                self.assertEqual(a, b)  # what Kueue's clients read is the same
                self.assertEqual((foreseen["certainty"], foreseen["basis"]), ("Exact", ["runFor"]))
                self.assertGreater(foreseen["waitMilliseconds"], 0)
                self.assertGreater(seconds(foreseen["start"]), time.time() - 5)
            last = self.daemon.get(path + "?start=1&offset=1&limit=1")["items"]
            self.assertEqual([(i["metadata"]["name"], i["positionInClusterQueue"]) for i in last], [(names[1], 1)])
            self.assertEqual(self.daemon.request("GET", path + "?start=x")[0], 400)
            raw = self.daemon.kubectl("get", "--raw", path + "?start=true").stdout
            self.assertEqual(len(json.loads(raw)["items"]), 2)
        self.assertEqual(self.daemon.request("GET", path.replace("main", "none") + "?start=true")[0], 404)
        self.assertIn("sluice_foresight_failures_total 0", str(self.daemon.request("GET", "/metrics")[1]))

    def test_what_if_of_a_job_is_what_happens_then(self):
        self.create(job("low", cpu="3", run_for="60s"))
        self.admitted("low")
        urgent = job("urgent", cpu="2", run_for="1s", labels={"kueue.x-k8s.io/priority-class": "high"})
        said = json.loads(self.sluicectl("what-if", "-f", "-", "-o", "json", stdin=json.dumps(urgent)))
        asked = said["asked"][0]
        self.assertEqual(asked["admitted"], "AfterPreemption")
        self.assertEqual([v["name"] for v in asked["preempts"]], [self.name_of("low")])
        self.assertEqual(asked["podSets"][0]["flavors"], {"cpu": "f"})
        text = self.sluicectl("what-if", "-f", "-", stdin=json.dumps(urgent))
        self.assertRegex(text, r"default/job-urgent-\w+ would be admitted to ClusterQueue team now")
        self.assertIn(f"it would preempt default/{self.name_of('low')}", text)
        self.assertNotIn("urgent", self.workloads())
        self.create(urgent)
        self.was_evicted("low", "Preempted")
        self.admitted("urgent")

    def test_a_question_writes_nothing(self):
        self.fill()
        time.sleep(0.5)
        version = lambda: self.daemon.get(WORKLOADS)["metadata"]["resourceVersion"]
        before, events = version(), len(self.daemon.get("/api/v1/events")["items"])
        self.ask({"changes": [{"apply": job("new", cpu="1", namespace="default")}]})
        self.ask({"changes": [{"apply": job("bad", cpu="1", namespace="default",
                                            labels={"kueue.x-k8s.io/priority-class": "none"})}]}, expect=422)
        self.assertEqual((version(), len(self.daemon.get("/api/v1/events")["items"])), (before, events))

    def test_what_if_of_an_administrator(self):
        self.fill()
        self.assertRegex(self.sluicectl("what-if", "--quota", "team:f:cpu=10"),
                         r"2 would start sooner:\n +default/\S+ +now instead of in \ds")
        text = self.sluicectl("what-if", "--drain-queue", "team")
        self.assertRegex(text, r"1 would be evicted:\n +default/\S+ +ClusterQueueStopped; it would not start again: it is in no active queue")
        self.assertIn("2 would not start, as far as is known:", text)
        text = self.sluicectl("what-if", "--priority", f"{self.name_of('third')}=1000")
        self.assertRegex(text, r"third-\w+ would be admitted to ClusterQueue team now")
        self.assertIn("1 would start later:", text)
        self.assertIn("nothing would change", self.sluicectl("what-if", "--stop-queue", "team", "--quota", "team:f:cpu=4",
                                                        "--horizon", "1s"))

    def test_what_cannot_be_asked_is_said(self):
        for words, code, text in ((("what-if",), 2, "needs something that would be different"),
                                  (("what-if", "x"), 2, "takes options and no arguments"),
                                  (("what-if", "--quota", "team:f=1"), 1, "is not QUEUE:FLAVOR:RESOURCE=QUANTITY"),
                                  (("what-if", "--quota", "team:g:cpu=1"), 1, "has no quota of cpu in flavor g"),
                                  (("what-if", "--quota", "team"), 1, "is not NAME=VALUE"),
                                  (("what-if", "--drain", "n1"), 1, 'nodes "n1" not found'),
                                  (("what-if", "--drain", "a/b"), 1, "is no name of a Node"),
                                  (("what-if", "--add-nodes", "n1=x"), 1, "is not a number"),
                                  (("what-if", "--priority", "w=1"), 1, '"w" not found'),
                                  (("what-if", "--stop-queue", "none"), 1, '"none" not found'),
                                  (("what-if", "--drain-queue", "team", "--horizon", "soon"), 1, "not a duration"),
                                  (("what-if", "-f", "/nowhere"), 1, "/nowhere")):
            self.assertIn(text, self.sluicectl(*words, code=code))
        for body, expect in (({"changes": 1}, 400), ({"changes": [{}]}, 400), ({"limit": 0}, 400),
                             ({"horizonSeconds": "x"}, 400),
                             ({"changes": [{"apply": {"apiVersion": "v1", "kind": "Event"}}]}, 400),
                             ({"changes": [{"apply": job("j", queue="", namespace="default")}]}, 422),
                             ({"changes": [{}] * 1001}, 413)):
            self.ask(body, expect)
        self.assertEqual(self.daemon.request("GET", SIMULATE)[0], 405)

    def test_many_ask_at_once_and_the_daemon_goes_on(self):
        self.fill()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(self.daemon.request, "POST", SIMULATE, {}) for _ in range(40)]
            self.create(job("meanwhile", cpu="1", run_for="1s"))
            statuses = {a.result()[0] for a in answers}
        self.assertLessEqual(statuses, {200, 429})
        self.finished("meanwhile")
        page = str(self.daemon.request("GET", "/metrics")[1])
        self.assertRegex(page, r"sluice_foresight_questions_total [1-9]")
        self.assertIn("sluice_foresight_failures_total 0", page)


class ForesightOfNodes(Scene):
    def node(self, name, rack):
        return {"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": name, "labels": {"pool": "a", "rack": rack, "kubernetes.io/hostname": name}},
                "status": {"allocatable": {"cpu": "4", "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}}

    def test_nodes_that_come_and_go(self):
        self.create({"apiVersion": KUEUE, "kind": "Topology", "metadata": {"name": "t"},
                     "spec": {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}},
                    {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "f"},
                     "spec": {"nodeLabels": {"pool": "a"}, "topologyName": "t"}},
                    self.node("n1", "r1"), cluster_queue("team", {"f": {"cpu": "100"}}), local_queue("main", "team"))
        self.create(job("runs", cpu="4", run_for="60s"))
        self.admitted("runs")
        self.create(job("waits", cpu="4", run_for="60s"))
        self.workload("waits")
        done = self.daemon.sluicectl("what-if", "--add-nodes", "n1=2")
        self.assertRegex(done.stdout, r"1 would start sooner:\n +default/job-waits-\w+ +now instead of in")
        done = self.daemon.sluicectl("what-if", "--drain", "n1", "-o", "json")
        answer = json.loads(done.stdout)
        self.assertIn(self.workloads()["waits"]["metadata"]["name"], [r["name"] for r in answer["unstarted"]], answer)




if __name__ == "__main__":
    unittest.main()
