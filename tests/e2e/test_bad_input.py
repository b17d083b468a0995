"""What is wrong is refused with a Kubernetes Status that names the field; nothing is half applied."""
import json, os, pathlib, re, resource, signal, sqlite3, subprocess, tempfile, unittest
from daemon import *

BASE = "/apis/kueue.x-k8s.io/v1beta2"


class BadInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def refuse(self, obj, path, status, reason, field=None, text=None, method="POST", content_type="application/json"):
        code, answer = self.daemon.request(method, path, obj, content_type)
        self.assertEqual(code, status, answer)
        self.assertEqual(answer["kind"], "Status")
        self.assertEqual(answer["reason"], reason)
        if field:
            fields = [c.get("field") for c in answer.get("details", {}).get("causes", [])]
            self.assertIn(field, fields, answer)
        if text:
            self.assertIn(text, answer["message"])
        return answer

    def test_malformed_json_names_the_line(self):
        self.refuse('{"kind": "ResourceFlavor",\n "oops" }', f"{BASE}/resourceflavors", 400, "BadRequest", text="line 2")

    def test_malformed_yaml_names_the_line(self):
        self.refuse("kind: ResourceFlavor\n  bad: [indent\n", f"{BASE}/resourceflavors", 400, "BadRequest", text="line",
                    content_type="application/yaml")

    def test_unknown_resource_is_not_found(self):
        self.refuse({}, f"{BASE}/unicorns", 404, "NotFound")

    def test_unknown_kind_through_kubectl(self):
        done = self.daemon.kubectl("apply", "--validate=false", "-f", "-", check=False,
                                   stdin='{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Unicorn","metadata":{"name":"u"}}')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Unicorn", done.stderr)

    def test_misspelt_field_through_kubectl(self):
        queue, work = cluster_queue("misspelt", {"f": {"cpu": "1"}}, cohort="c"), job("misspelt")
        work["spec"]["paralelism"] = work["spec"].pop("parallelism")
        for o, field in ((queue, "spec.cohort"), (work, "spec.paralelism")):
            done = self.daemon.kubectl("apply", "-f", "-", check=False, stdin=json.dumps(o))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f'strict decoding error: unknown field "{field}"', done.stderr)
            done = self.daemon.kubectl("apply", "--validate=warn", "-f", "-", stdin=json.dumps(o))
            self.assertIn(f"Warning: unknown field {field}", done.stderr)
            done = self.daemon.kubectl("replace", "-f", "-", check=False, stdin=json.dumps(o))
            self.assertIn("strict decoding error", done.stderr)
            done = self.daemon.kubectl("apply", "--validate=ignore", "-f", "-", stdin=json.dumps(o))
            self.assertNotIn(field, done.stderr)
        mended = cluster_queue("misspelt", {"f": {"cpu": "1"}}, cohort_name="c")
        self.daemon.kubectl("apply", "-f", "-", stdin=json.dumps(mended))
        self.assertNotIn("cohort", self.daemon.get(f"{BASE}/clusterqueues/misspelt")["spec"])

    def test_wrong_kind_in_the_body_is_a_bad_request(self):
        self.refuse(flavor("x"), f"{BASE}/cohorts", 400, "BadRequest")

    def test_invalid_quantity_names_the_field(self):
        self.refuse(cluster_queue("q", {"f": {"cpu": "4 apples"}}), f"{BASE}/clusterqueues", 422, "Invalid",
                    "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota")

    def test_negative_quota_is_refused(self):
        self.refuse(cluster_queue("q", {"f": {"cpu": "-1"}}), f"{BASE}/clusterqueues", 422, "Invalid",
                    "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota")

    def test_negative_count_is_refused(self):
        self.refuse(job("j", parallelism=-1), "/apis/batch/v1/namespaces/default/jobs", 422, "Invalid", "spec.parallelism")

    def test_absurd_count_is_refused(self):
        self.refuse(job("j", parallelism=2 ** 40), "/apis/batch/v1/namespaces/default/jobs", 422, "Invalid",
                    "spec.parallelism")

    def test_name_that_is_no_dns_label_is_refused(self):
        self.refuse(flavor("Not A Name"), f"{BASE}/resourceflavors", 422, "Invalid", "metadata.name")

    def test_all_complaints_come_at_once(self):
        q = cluster_queue("q", {"f": {"cpu": "x"}}, queueingStrategy="Random")
        answer = self.refuse(q, f"{BASE}/clusterqueues", 422, "Invalid")
        self.assertGreaterEqual(len(answer["details"]["causes"]), 2)

    def test_body_over_three_mebibytes_is_too_large(self):
        o = flavor("big")
        o["metadata"]["annotations"] = {"x": "y" * (3 * 1024 * 1024 + 1)}
        self.refuse(o, f"{BASE}/resourceflavors", 413, "RequestEntityTooLarge")
        self.assertEqual(self.daemon.request("GET", f"{BASE}/resourceflavors/big")[0], 404)

    def test_unknown_media_type_is_refused(self):
        self.refuse("<xml/>", f"{BASE}/resourceflavors", 415, "UnsupportedMediaType", content_type="application/xml")

    def test_unknown_namespace_is_not_found(self):
        self.refuse(local_queue("q", "cq", "nowhere"), f"{BASE}/namespaces/nowhere/localqueues", 404, "NotFound")

    def test_create_twice_already_exists(self):
        self.assertEqual(self.daemon.request("POST", f"{BASE}/resourceflavors", flavor("twice"))[0], 201)
        self.refuse(flavor("twice"), f"{BASE}/resourceflavors", 409, "AlreadyExists")

    def test_json_patch_whose_test_fails_changes_nothing(self):
        self.daemon.request("POST", f"{BASE}/resourceflavors", flavor("guarded"))
        patch = [{"op": "add", "path": "/spec/nodeLabels", "value": {"a": "b"}},
                 {"op": "test", "path": "/metadata/name", "value": "other"}]
        code, answer = self.daemon.request("PATCH", f"{BASE}/resourceflavors/guarded", patch, "application/json-patch+json")
        self.assertEqual(code, 422, answer)
        self.assertNotIn("nodeLabels", self.daemon.get(f"{BASE}/resourceflavors/guarded")["spec"])

    def test_cohort_that_is_its_own_parent_is_refused(self):
        self.refuse(cohort("self", parentName="self"), f"{BASE}/cohorts", 422, "Invalid", "spec.parentName")

    def test_unsupported_method_is_refused(self):
        self.refuse({}, f"{BASE}/resourceflavors", 405, "MethodNotAllowed", method="PUT")

    def test_deep_nesting_is_refused(self):
        self.refuse("[" * 5000, f"{BASE}/resourceflavors", 400, "BadRequest")

    def test_watch_from_a_lost_revision_is_gone(self):
        """The log of changes begins anew with each start: an older revision cannot be resumed from."""
        daemon = Daemon().start()
        try:
            for i in range(3):
                daemon.request("POST", f"{BASE}/resourceflavors", flavor(f"f{i}"))
            daemon.stop()
            daemon.start()
            code, answer = daemon.request("GET", f"{BASE}/resourceflavors?watch=1&resourceVersion=1&timeoutSeconds=2")
            text = answer if isinstance(answer, str) else json.dumps(answer)
            self.assertTrue(code == 410 or '"code":410' in text.replace(" ", ""), (code, text[:300]))
        finally:
            daemon.close()


class Marks(unittest.TestCase):
    """Labels and annotations about queues are refused, and stay, as the policies of deploy/kubernetes do it."""
    JOBS, PODS = "/apis/batch/v1/namespaces/default/jobs", "/api/v1/namespaces/default/pods"
    IMMUTABLE = "field is immutable"

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def send(self, method, path, obj):
        return self.daemon.request(method, path, obj, "application/merge-patch+json" if method == "PATCH" else
                                   "application/json")

    def change(self, path, refused=None, labels=None, spec=None):
        patch = {"metadata": {"labels": {f"kueue.x-k8s.io/{k}": v for k, v in (labels or {}).items()}}, "spec": spec or {}}
        code, answer = self.send("PATCH", path, patch)
        self.assertEqual(code, 422 if refused else 200, answer)
        if refused:
            self.assertIn(refused, answer["message"])
            self.assertIn(f"metadata.labels[kueue.x-k8s.io/{next(iter(labels))}]", answer["message"])

    def make(self, path, obj, refused=None):
        code, answer = self.send("POST", path, obj)
        self.assertEqual(code, 422 if refused else 201, answer)
        if refused:
            self.assertIn(f"[kueue.x-k8s.io/{refused[0]}]", answer["details"]["causes"][0]["field"])
            self.assertIn(refused[1], answer["message"])

    def job(self, name, notes=None, **labels):
        made = job(name, run_for="60s", labels={f"kueue.x-k8s.io/{k.replace('_', '-')}": v for k, v in labels.items()})
        made["metadata"]["annotations"].update({f"kueue.x-k8s.io/{k}": v for k, v in (notes or {}).items()})
        return made

    def pod(self, name, labels=None, notes=None):
        def marks(of):
            return {f"kueue.x-k8s.io/{k}": v for k, v in (of or {}).items()}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": name, "labels": marks({"queue-name": "main", **(labels or {})}), "annotations": marks(notes)},
            "spec": {"containers": [{"name": "c", "image": "i"}]}}

    def test_what_jobs_cannot_say(self):
        self.make(self.JOBS, self.job("a", queue_name="Bad_Q"), ("queue-name", "must be the name of a LocalQueue"))
        self.make(self.JOBS, self.job("a", max_exec_time_seconds="abc"), ("max-exec-time-seconds", "greater than 0"))
        self.make(self.JOBS, self.job("a", prebuilt_workload_name="Bad_W"), ("prebuilt-workload-name", "a Workload"))
        for value, why in (("maybe", "true or false"), ("true", "Indexed")):
            self.make(self.JOBS, self.job("a", {"job-completions-equal-parallelism": value}),
                      ("job-completions-equal-parallelism", why))

    def test_what_jobs_cannot_change(self):
        self.make(self.JOBS, self.job("b", priority_class="high"))
        path = f"{self.JOBS}/b"
        self.change(path, labels={"queue-name": "other"})
        self.change(path, "cannot be removed", {"priority-class": None})
        self.make(self.JOBS, self.job("free", queue_name=""))
        self.change(f"{self.JOBS}/free", self.IMMUTABLE, {"queue-name": "other"})

    def test_what_pods_cannot_say(self):
        group, total = "pod-group-name", "pod-group-total-count"
        self.make(self.PODS, self.pod("a", notes={total: "2"}), (group, "set together"))
        self.make(self.PODS, self.pod("a", {group: "g"}), (total, "set together"))
        self.make(self.PODS, self.pod("a", {group: "g"}, {total: "x"}), (total, "greater than 0"))
        self.make(self.PODS, self.pod("a", {"queue-name": "Bad_Q"}), ("queue-name", "must be the name of a LocalQueue"))

    def test_what_pods_cannot_change(self):
        kept = self.pod("b")  # though the daemon deletes it as soon as it runs without quota
        kept["metadata"]["finalizers"] = ["example.com/kept"]
        self.make(self.PODS, kept)
        path = f"{self.PODS}/b"
        self.change(path, labels={"queue-name": "other"})
        self.change(path, "can only be 'true'", {"managed": "no"})
        self.change(path, spec={"schedulingGates": None})
        self.change(path, self.IMMUTABLE, {"queue-name": "main"})


class StartUp(unittest.TestCase):
    """A data directory that cannot be used ends the start with a clear message and a non-zero exit."""

    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sluice-e2e-"))

    def tearDown(self):
        shutil.rmtree(self.home, ignore_errors=True)

    def start(self, data, preexec=None):
        return subprocess.run([BUILD / "sluiced", "--standalone", "--data", data, "--listen", f"127.0.0.1:{free_port()}"],
                              capture_output=True, text=True, timeout=20, preexec_fn=preexec)

    def test_file_instead_of_directory(self):
        (self.home / "file").write_text("x")
        done = self.start(self.home / "file")
        self.assertEqual(done.returncode, 1)
        self.assertIn("file", done.stderr)

    def test_read_only_directory(self):
        done = self.start("/proc/sluice-data")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/proc/sluice-data", done.stderr)

    def test_newer_version(self):
        d = Daemon(self.home / "data").start()
        d.stop()
        database = next(p for p in (self.home / "data").iterdir() if p.suffix in (".db", ".sqlite"))
        with sqlite3.connect(database) as db:
            if db.execute("PRAGMA user_version").fetchone()[0] > 0:
                db.execute("PRAGMA user_version = 999")
            else:
                db.execute("UPDATE meta SET value = 999 WHERE key LIKE '%schema%' OR key LIKE '%version%'")
        done = self.start(self.home / "data")
        d.close()
        self.assertEqual(done.returncode, 1)
        self.assertIn("newer", done.stderr)

    def test_directory_in_use(self):
        d = Daemon(self.home / "data").start()
        done = self.start(self.home / "data")
        d.close()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "in use|locked|another")

    def metric(self, d, name):
        return int(re.search(rf"^{name} (\d+)$", d.request("GET", "/metrics")[1], flags=re.M).group(1))

    def test_full_disk_refuses_writes_and_loses_nothing(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
        d = Daemon(self.home / "data")
        d.log = open(d.log_path, "ab")
        d.process = subprocess.Popen([BUILD / "sluiced", "--standalone", "--data", d.data, "--listen",
                                      f"127.0.0.1:{d.port}", "--log-level=error"], stdout=d.log, stderr=d.log, preexec_fn=limit)
        try:
            d.wait_ready()
            stored, refused = [], 0
            for i in range(400):
                o = flavor(f"f{i}")
                o["metadata"]["annotations"] = {"x": "y" * 4000}
                code, answer = d.request("POST", f"{BASE}/resourceflavors", o)
                if code == 201:
                    stored.append(f"f{i}")
                else:
                    self.assertIn(code, (500, 503, 507), answer)
                    self.assertEqual(answer["kind"], "Status")
                    refused += 1
                    if refused > 3:
                        break
            self.assertGreater(refused, 0)
            self.assertEqual(d.request("GET", "/healthz")[0], 200)
            self.assertGreaterEqual(self.metric(d, "sluice_store_refusals_total"), refused)
            self.assertEqual(self.metric(d, "sluice_store_refusing"), 1)
            self.assertIn("cannot write to the database: ", answer["message"])
            names = {i["metadata"]["name"] for i in d.get(f"{BASE}/resourceflavors")["items"]}
            self.assertEqual(names, set(stored))  # reads go on
            resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            code, answer = d.request("POST", f"{BASE}/resourceflavors", flavor("with-room-again"))
            self.assertEqual(code, 201, answer)
            stored.append("with-room-again")
            self.assertEqual(self.metric(d, "sluice_store_refusing"), 0)
            d.kill()
            d.start()
            names = {i["metadata"]["name"] for i in d.get(f"{BASE}/resourceflavors")["items"]}
            self.assertEqual(names, set(stored))
            self.assertEqual(self.metric(d, "sluice_store_refusals_total"), 0)
        finally:
            d.close()

    def test_unknown_option(self):
        done = subprocess.run([BUILD / "sluiced", "--nonsense"], capture_output=True, text=True, timeout=10)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nonsense", done.stderr)

    def test_port_in_use(self):
        d = Daemon(self.home / "data").start()
        done = subprocess.run([BUILD / "sluiced", "--standalone", "--data", self.home / "other", "--listen",
                               f"127.0.0.1:{d.port}"], capture_output=True, text=True, timeout=20)
        d.close()
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(d.port), done.stderr)


if __name__ == "__main__":
    unittest.main()
