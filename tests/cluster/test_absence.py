"""Kinds that vanish and come back, lists that lie, objects that are hard to read: no quota is given out twice. What counts
is what can be seen at the pods: together they never ask for more than the queue has."""
import http.client, json, threading, time

from proxy import FaultProxy
from work_scene import *

JOBS = r"^/apis/batch/v1/jobs[?]"
WORKLOADS = r"^/apis/kueue.x-k8s.io/v1beta2/workloads[?]"
PODS = r"^/api/v1/pods[?]"


def empty(kind, api_version):
    return json.dumps({"kind": kind + "List", "apiVersion": api_version, "items": [], "metadata": {"resourceVersion": "999999"}})


class Absence(WorkScene):
    def setUp(self):
        super().setUp()
        self.proxy = FaultProxy(self.plane)
        self.addCleanup(self.proxy.close)
        self.most = 0
        self.over = threading.Event()
        self.watcher = threading.Thread(target=self.watch_pods, daemon=True)

    def tearDown(self):
        self.over.set()
        if self.watcher.is_alive():
            self.watcher.join(10)
        super().tearDown()

    def watch_pods(self):
        """Over a connection of its own: it is another thread."""
        server = http.client.HTTPSConnection("127.0.0.1", self.plane.port, timeout=30, context=self.plane.context)
        while not self.over.wait(0.2):
            server.request("GET", f"/api/v1/namespaces/{self.namespace}/pods", headers={"Authorization": "Bearer admin-token"})
            running = [p for p in json.loads(server.getresponse().read())["items"] if p.get("status", {}).get("phase") not in ("Succeeded", "Failed")]
            asked = sum(milli(c["resources"]["requests"]["cpu"]) for p in running for c in p["spec"]["containers"])
            self.most = max(self.most, asked)
        server.close()

    def one_runs(self, count=3):
        """Jobs of 2 cpu each in a queue of 2: one runs until it is deleted, the others wait."""
        self.d = self.daemon(self.proxy.url)
        self.queue = self.queues(2)
        self.create(job("first", "main", cpu="2", run_for="600s"))
        self.admitted("first")
        eventually(lambda: self.job("first")["status"].get("active"), what="the first job runs")
        self.uid = self.pods("first")[0]["metadata"]["uid"]
        self.create(*(job(f"next{i}", "main", cpu="2", run_for="600s") for i in range(count - 1)))
        eventually(lambda: len(self.workloads()) == count, what="workloads")
        self.watcher.start()

    def still_one(self):
        """The first job has kept its quota and its pod, and goes on to its end as if nothing had happened."""
        self.assertEqual([p["metadata"]["uid"] for p in self.pods()], [self.uid])
        self.assertEqual([n for n, w in self.workloads().items() if holds(w, "Finished") or holds(w, "Evicted")], [])
        self.assertEqual(self.most, 2000)
        self.settles_at(self.queue, 2)
        self.plane.request("DELETE", f"{self.job_path('first')}?propagationPolicy=Background")
        eventually(lambda: any(self.job(n)["status"].get("active") for n in self.workloads() if n != "first"), 40,
                   what="the next job runs")
        self.assertTrue(self.d.running())

    def fault(self, make, seconds=5):
        fault = make()
        self.proxy.cut_watches()
        time.sleep(seconds)
        self.assertGreater(fault.hits, 0)
        self.proxy.heal()

    def test_jobs_are_answered_with_404(self):
        self.one_runs()
        self.fault(lambda: self.proxy.answer(404, method="GET", path=JOBS))
        self.still_one()

    def test_workloads_are_answered_with_404(self):
        self.one_runs()
        self.fault(lambda: self.proxy.answer(404, method="GET", path=WORKLOADS))
        self.still_one()

    def lies(self, kind, version, path):
        """The watch is too old, and the list that follows has nothing."""
        self.one_runs()
        self.proxy.answer(410, method="GET", path=path.replace("[?]", "[?]watch"))
        self.fault(lambda: self.proxy.lie(empty(kind, version), method="GET", path=path))
        self.still_one()

    def test_list_of_jobs_is_empty(self):
        self.lies("Job", "batch/v1", JOBS)

    def test_list_of_workloads_is_empty(self):
        self.lies("Workload", "kueue.x-k8s.io/v1beta2", WORKLOADS)

    def test_list_of_pods_is_empty(self):
        self.lies("Pod", "v1", PODS)

    def test_daemon_starts_while_all_is_answered_with_404(self):
        self.one_runs()
        self.d.kill()
        self.proxy.answer(404)
        self.d = ClusterDaemon(self.plane, self.proxy.url)
        self.daemons.append(self.d)
        self.d.start(wait=False)
        eventually(lambda: self.d.answers("/healthz"), what="alive")
        time.sleep(3)
        self.assertIsNone(self.d.answers("/readyz"))
        self.proxy.heal()
        eventually(lambda: self.d.answers("/readyz"), 40, what="ready")
        self.still_one()

    def test_daemon_starts_while_a_workload_cannot_be_read(self):
        """What it holds is unknown then: nobody else gets quota until it has been read, and that is said."""
        self.one_runs()
        spoiled = self.plane.get("/apis/kueue.x-k8s.io/v1beta2/workloads")
        for w in spoiled["items"]:
            if holds(w, "Admitted"):
                w["status"] = "spoiled"
        self.d.kill()
        self.proxy.lie(json.dumps(spoiled), method="GET", path=WORKLOADS)
        self.d = self.daemon(self.proxy.url)
        time.sleep(5)
        self.assertIn("decisions wait", self.d.log())
        self.assertEqual([n for n, w in self.workloads().items() if holds(w, "QuotaReserved")], ["first"])
        self.proxy.heal()
        self.still_one()

    def test_strings_that_are_hard_to_read(self):
        """Whatever kube-apiserver takes."""
        self.one_runs()
        for i, text in enumerate(("a\0b", "\u2028\ud83d\ude00", "\x7f\x01\\u0000", "\ufffe\ufffd")):
            status, _ = self.plane.request("PATCH", self.job_path("first"), {"metadata": {"annotations": {f"x{i}": text}}},
                                           content_type="application/merge-patch+json")
            self.assertEqual(status, 200)
        time.sleep(3)
        self.assertEqual(self.d.metric("sluice_unreadable_objects"), 0)
        self.d.kill()
        self.d = self.daemon(self.proxy.url)
        time.sleep(2)
        self.still_one()
