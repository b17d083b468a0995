"""The proxy that the tests of faults stand on does what they believe it does."""
import http.client, urllib.request

from cluster_scene import *
from proxy import FaultProxy


class Proxy(Scene):
    def setUp(self):
        super().setUp()
        self.proxy = FaultProxy(self.plane)
        self.addCleanup(self.proxy.close)

    def ask(self, path, method="GET", body=None):
        request = urllib.request.Request(self.proxy.url + path, method=method, data=body and json.dumps(body).encode(),
                                         headers={"Authorization": "Bearer admin-token",
                                                  "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as e:
            return e.code, json.loads(e.read())

    def test_proxy_passes_on_answers_and_counts_faults(self):
        path = f"/api/v1/namespaces/{self.namespace}"
        self.assertEqual(self.ask(path)[1]["metadata"]["name"], self.namespace)
        fault = self.proxy.answer(429, path="namespaces", times=1, headers={"Retry-After": "1"})
        self.assertEqual(self.ask(path)[0], 429)
        self.assertEqual(self.ask(path)[0], 200)
        self.assertEqual(fault.hits, 1)

    def test_lost_answer_was_carried_out(self):
        self.proxy.lose(method="POST", times=1)
        queue = local_queue("lost", "q", self.namespace)
        with self.assertRaises((OSError, http.client.HTTPException)):
            self.ask(self.path(queue), "POST", queue)
        self.assertEqual(self.ask(self.path(queue) + "/lost")[0], 200)

    def test_watches_are_passed_on_and_cut(self):
        stream = urllib.request.urlopen(urllib.request.Request(
            f"{self.proxy.url}{KUEUE}/namespaces/{self.namespace}/localqueues?watch=1&resourceVersion=0",
            headers={"Authorization": "Bearer admin-token"}), timeout=10)
        self.create(local_queue("seen", "q", self.namespace))
        self.assertEqual(json.loads(stream.readline())["object"]["metadata"]["name"], "seen")
        self.assertEqual(self.proxy.cut_watches(), 1)
        with self.assertRaises((OSError, http.client.HTTPException)):
            if stream.readline() == b"":
                raise ConnectionResetError
