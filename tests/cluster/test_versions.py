"""deploy/kubernetes/v1beta1 on a real API server: its CRDs are taken, and objects go to v1beta2 and back by the webhook's answers."""
import base64, http.server, ssl, subprocess, threading

from cluster_scene import *
from test_crds import POD, obj

import importlib.util
_manifests = importlib.util.spec_from_file_location("e2e_versions", ROOT / "tests/e2e/test_versions.py")
e2e = importlib.util.module_from_spec(_manifests)
_manifests.loader.exec_module(e2e)

OLD = "/apis/kueue.x-k8s.io/v1beta1"


class Converter(http.server.BaseHTTPRequestHandler):
    """POST /convert, answered by sl_convert_review."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = subprocess.run([BUILD / "convert-tool"], input=body, capture_output=True, check=True).stdout
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Versions(Scene):
    @classmethod
    def setUpClass(cls):
        p = plane()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(p.run / "pki/apiserver.crt", p.run / "pki/apiserver.key")
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Converter)
        cls.server.socket = context.wrap_socket(cls.server.socket, server_side=True)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.crds = [crd for crd in cls.made() if crd["kind"] == "CustomResourceDefinition"]
        for crd in cls.crds:
            crd["spec"]["conversion"]["webhook"]["clientConfig"] = {
                "url": f"https://127.0.0.1:{cls.server.server_port}/convert",
                "caBundle": base64.b64encode((p.run / "pki/ca.crt").read_bytes()).decode()}
        p.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-",
                  stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": cls.crds}))
        eventually(lambda: all(p.request("GET", f"{OLD}/{crd['spec']['names']['plural']}")[0] == 200 for crd in cls.crds), 30,
                   what="v1beta1 of each kind")

    @classmethod
    def made(cls):
        """The CRDs as kustomize makes them with the component."""
        overlay = plane().run / "v1beta1"
        overlay.mkdir(exist_ok=True)
        at = os.path.relpath(ROOT / "deploy/kubernetes", overlay.resolve())
        (overlay / "kustomization.yaml").write_text(json.dumps({
            "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": [f"{at}/crds"],
            "components": [f"{at}/v1beta1"]}))
        made = plane().kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-o", "json", "-k", overlay)
        return json.loads(made.stdout)["items"]

    @classmethod
    def tearDownClass(cls):
        plane().kubectl("apply", "--server-side", "--force-conflicts", "-k", ROOT / "deploy/kubernetes/crds")
        eventually(lambda: plane().request("GET", f"{OLD}/cohorts")[0] == 404, 30, what="v1beta1 gone")
        plane().kubectl("api-resources")  # others read what kubectl remembers of both versions
        cls.server.shutdown()
        cls.server.server_close()

    def old(self, path):
        status, answer = self.plane.request("GET", f"{OLD}/{path}")
        self.assertEqual(status, 200, answer)
        return answer

    def new(self, path):
        return self.plane.get(f"{KUEUE}/{path}")

    def test_crds_have_both_versions_and_store_the_new_one(self):
        self.assertEqual(len(self.crds), 9)
        for crd in self.crds:
            with self.subTest(crd["metadata"]["name"]):
                live = self.plane.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + crd["metadata"]["name"])
                self.assertEqual([(v["name"], v["storage"]) for v in live["spec"]["versions"]], [("v1beta2", True), ("v1beta1", False)])
                self.assertEqual(live["status"]["storedVersions"], ["v1beta2"])
                self.assertFalse([c for c in live["status"]["conditions"] if c["type"] == "NonStructuralSchema" and c["status"] == "True"])

    def test_manifests_of_the_old_version_are_applied_and_given_back(self):
        manifest = e2e.MANIFEST.replace("namespace: default", f"namespace: {self.namespace}")
        done = self.plane.kubectl("apply", "-f", "-", stdin=manifest)
        self.assertIn("clusterqueue.kueue.x-k8s.io/cluster-queue created", done.stdout)
        self.assertIn("This version is deprecated. Use v1beta2 instead.", done.stderr)
        again = self.plane.kubectl("apply", "-f", "-", stdin=manifest).stdout
        self.assertEqual({line.split()[-1] for line in again.splitlines()}, {"unchanged"}, again)
        self.assertEqual(self.new("clusterqueues/cluster-queue")["spec"]["cohortName"], "all")
        spec = self.old("clusterqueues/cluster-queue")["spec"]
        self.assertEqual((spec["cohort"], spec["flavorFungibility"]["whenCanBorrow"]), ("all", "Borrow"))
        self.assertEqual(self.old("clusterqueues/checked")["spec"]["admissionChecks"], ["sample-prov"])
        self.assertEqual({i["apiVersion"] for i in self.old("clusterqueues")["items"]}, {"kueue.x-k8s.io/v1beta1"})

    def test_what_only_the_new_version_has_survives_writes_in_the_old(self):
        policy = {"migration": {"mode": "RetainFirstAdmission"}}
        group = {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "1"}]}]}
        self.create(obj("ClusterQueue", "kept", cohortName="a", concurrentAdmissionPolicy=policy, resourceGroups=[group]))
        self.patched(f"{OLD}/clusterqueues/kept", {"spec": {"cohort": "b"}})
        kept = self.new("clusterqueues/kept")
        self.assertEqual((kept["spec"]["cohortName"], kept["spec"]["concurrentAdmissionPolicy"]), ("b", policy))
        self.assertNotIn("annotations", kept["metadata"])

    def test_admissions_go_both_ways(self):
        self.create(obj("Workload", "w", podSets=[{"template": POD, "count": 3}], priority=1, priorityClassRef={
            "group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "p"}))
        path = f"namespaces/{self.namespace}/workloads/w"
        self.assertEqual(self.old(path)["spec"]["priorityClassName"], "p")
        domains = [{"values": ["b1", "n-1"], "count": 2}, {"values": ["b1", "n-2"], "count": 1}]
        assigned = {"levels": ["block", "kubernetes.io/hostname"], "domains": domains}
        self.patched(f"{OLD}/{path}/status", {"status": {"accumulatedPastExexcutionTimeSeconds": 7, "admission": {
            "clusterQueue": "q", "podSetAssignments": [{"name": "main", "count": 3, "topologyAssignment": assigned}]}}})
        status = self.new(path)["status"]
        self.assertEqual(status["accumulatedPastExecutionTimeSeconds"], 7)
        made = status["admission"]["podSetAssignments"][0]["topologyAssignment"]
        self.assertEqual(sum(s["domainCount"] for s in made["slices"]), 2)
        self.assertEqual(self.old(path)["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"], assigned)

    def refused(self, body, *parts, path=None):
        body = {**body, "apiVersion": "kueue.x-k8s.io/v1beta1"}
        status, answer = self.plane.request("POST", OLD + "/" + (path or "clusterqueues"), body)
        self.assertGreaterEqual(status, 400, answer)
        for part in parts:
            self.assertIn(part, answer["message"])

    def test_rules_hold_in_the_old_version(self):
        quota = {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [
            {"name": "cpu", "nominalQuota": "4", "borrowingLimit": "1"}]}]}
        self.refused(obj("ClusterQueue", "bad", cohort="A_b"), "spec.cohort: Invalid value")
        self.refused(obj("ClusterQueue", "bad", resourceGroups=[quota]), "borrowingLimit must be absent when cohort is empty")
        broken = obj("ClusterQueue", "bad")
        broken["metadata"]["annotations"] = {"sluice.dev/v1beta2-fields": "{"}
        self.refused(broken, "must be a JSON object of fields of v1beta2")
        broken["metadata"]["annotations"] = {"sluice.dev/v1beta2-fields": json.dumps(
            {"spec": {"concurrentAdmissionPolicy": {"migration": {"mode": "Never"}}}})}
        self.refused(broken, "spec.concurrentAdmissionPolicy.migration.mode: Unsupported value")
        work = f"namespaces/{self.namespace}/workloads"
        self.refused(obj("Workload", "bad", podSets=[{"template": POD}], priorityClassName="p"),
                     "priority should not be nil when priorityClassName is set", path=work)
        self.refused(obj("Workload", "bad", podSets=[{"template": POD}], priorityClassSource="other"),
                     "spec.priorityClassSource: Unsupported value", path=work)

    def test_the_source_of_a_class_is_immutable_while_quota_is_reserved(self):
        self.create(obj("Workload", "w", podSets=[{"template": POD}], priority=1, priorityClassRef={
            "group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "p"}))
        path = f"{OLD}/namespaces/{self.namespace}/workloads/w"
        self.patched(path + "/status", {"status": {
            "admission": {"clusterQueue": "q", "podSetAssignments": [{"name": "main"}]}, "conditions": [
                {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": "",
                 "lastTransitionTime": "2026-01-02T03:04:05Z"}]}})
        self.not_patched(path, {"spec": {"priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass"}},
                         "priorityClassSource is immutable while workload quota reserved")
        self.not_patched(path, {"spec": {"priorityClassName": "q"}}, "priorityClassName is immutable while workload quota reserved")


if __name__ == "__main__":
    unittest.main()
