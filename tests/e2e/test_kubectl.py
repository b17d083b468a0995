"""kubectl's verbs against the standalone daemon."""
import json, subprocess, threading, time, unittest
from daemon import *


class Kubectl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()
        for o in (flavor("default-flavor"), cluster_queue("team", {"default-flavor": {"cpu": "4"}}),
                  local_queue("main", "team")):
            cls.daemon.kubectl("create", "--validate=false", "-f", "-", stdin=json.dumps(o))

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def apply(self, obj):
        return self.daemon.kubectl("apply", "--validate=false", "-f", "-", stdin=json.dumps(obj)).stdout

    def get(self, *arguments):
        return json.loads(self.daemon.kubectl("get", *arguments, "-o", "json").stdout)

    def workload_of(self, name):
        """The Workload of a Job, once there is one."""
        def find():
            for w in self.get("workloads")["items"]:
                if any(r["name"] == name for r in w["metadata"].get("ownerReferences", [])):
                    return w
        return eventually(find, what=f"workload of job {name}")

    def test_api_resources_lists_every_kind(self):
        out = self.daemon.kubectl("api-resources").stdout
        for kind in ("Namespace", "Node", "Pod", "Event", "Job", "PriorityClass", "ResourceFlavor", "Cohort",
                     "ClusterQueue", "LocalQueue", "Workload", "WorkloadPriorityClass"):
            self.assertRegex(out, rf"\b{kind}\b")

    def test_version_names_the_server(self):
        self.assertIn("Server Version", self.daemon.kubectl("version").stdout)

    def test_auth_can_i_says_yes(self):
        self.assertEqual(self.daemon.kubectl("auth", "can-i", "create", "workloads.kueue.x-k8s.io").stdout.strip(), "yes")
        self.assertIn("[*]", self.daemon.kubectl("auth", "can-i", "--list").stdout)

    def test_get_prints_kueues_columns(self):
        out = self.daemon.kubectl("get", "clusterqueues").stdout
        self.assertRegex(out, r"NAME\s+COHORT\s+PENDING WORKLOADS")
        self.assertRegex(out, r"team\s")
        out = self.daemon.kubectl("get", "localqueues").stdout
        self.assertRegex(out, r"NAME\s+CLUSTERQUEUE\s+PENDING WORKLOADS\s+ADMITTED WORKLOADS")

    def test_short_names_work(self):
        self.assertIn("team", self.daemon.kubectl("get", "cq").stdout)
        self.assertIn("main", self.daemon.kubectl("get", "lq").stdout)

    def test_apply_creates_then_leaves_unchanged_then_configures(self):
        o = flavor("applied", nodeLabels={"zone": "a"})
        self.assertIn("created", self.apply(o))
        self.assertIn("unchanged", self.apply(o))
        o["spec"]["nodeLabels"]["zone"] = "b"
        self.assertIn("configured", self.apply(o))
        self.assertEqual(self.get("resourceflavor", "applied")["spec"]["nodeLabels"], {"zone": "b"})

    def test_job_runs_to_completion_and_wait_sees_it(self):
        self.apply(job("runs"))
        self.daemon.kubectl("wait", "--for=condition=complete", "--timeout=20s", "job/runs")
        w = eventually(lambda: (lambda x: holds(x, "Finished") and x)(self.workload_of("runs")))
        self.assertEqual(condition(w, "Finished")["reason"], "Succeeded")
        self.assertTrue(holds(w, "QuotaReserved"))
        self.assertTrue(holds(w, "Admitted"))

    def test_cluster_queue_whose_jobs_have_finished_can_be_deleted(self):
        self.apply(cluster_queue("brief", {"default-flavor": {"cpu": "1"}}))
        self.apply(local_queue("brief", "brief"))
        self.apply(job("last", queue="brief"))
        eventually(lambda: holds(self.workload_of("last"), "Finished"), what="the end of the job")
        self.daemon.kubectl("delete", "clusterqueue", "brief", "--timeout=10s")
        self.assertTrue(holds(self.workload_of("last"), "Finished"))

    def test_describe_shows_conditions_and_events(self):
        self.apply(job("described"))
        self.daemon.kubectl("wait", "--for=condition=complete", "--timeout=20s", "job/described")
        name = self.workload_of("described")["metadata"]["name"]
        out = eventually(lambda: (lambda t: "QuotaReserved" in t.split("Events:")[-1] and t)(
            self.daemon.kubectl("describe", "workload", name).stdout), what="events in describe")
        self.assertIn("Admitted", out)

    def test_patch_merge_and_json(self):
        self.apply(flavor("patched"))
        self.daemon.kubectl("patch", "rf", "patched", "--type=merge", "-p", '{"spec":{"nodeLabels":{"a":"1"}}}')
        self.daemon.kubectl("patch", "rf", "patched", "--type=json", "-p",
                            '[{"op":"add","path":"/spec/nodeLabels/b","value":"2"}]')
        self.assertEqual(self.get("rf", "patched")["spec"]["nodeLabels"], {"a": "1", "b": "2"})

    def test_json_patch_that_cannot_be_applied_says_why(self):
        self.apply(flavor("unpatched"))
        done = self.daemon.kubectl("patch", "rf", "unpatched", "--type=json", "-p",
                                   '[{"op":"remove","path":"/spec/nosuch"}]', check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("JSON patch operation 0", done.stderr)
        self.assertIn("the path does not exist", done.stderr)

    def test_replace_with_stale_resource_version_conflicts(self):
        self.apply(flavor("stale"))
        old = self.get("rf", "stale")
        self.daemon.kubectl("label", "rf", "stale", "moved=on")
        old["spec"]["nodeLabels"] = {"lost": "update"}
        done = self.daemon.kubectl("replace", "--validate=false", "-f", "-", stdin=json.dumps(old), check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Conflict", done.stderr)
        self.assertNotIn("nodeLabels", self.get("rf", "stale")["spec"])

    def test_generate_name_makes_distinct_names(self):
        o = flavor("x")
        o["metadata"] = {"generateName": "made-"}
        names = {self.daemon.kubectl("create", "--validate=false", "-o", "name", "-f", "-",
                                     stdin=json.dumps(o)).stdout.strip() for _ in range(3)}
        self.assertEqual(len(names), 3)
        self.assertTrue(all("/made-" in n for n in names))

    def test_label_selectors_choose(self):
        for name, tier in (("sel-a", "gold"), ("sel-b", "silver"), ("sel-c", "gold")):
            o = flavor(name)
            o["metadata"]["labels"] = {"tier": tier}
            self.apply(o)
        names = lambda sel: [i["metadata"]["name"] for i in self.get("rf", "-l", sel)["items"]]
        self.assertEqual(names("tier=gold"), ["sel-a", "sel-c"])
        self.assertEqual(names("tier in (silver)"), ["sel-b"])
        self.assertEqual(names("tier,tier!=gold"), ["sel-b"])

    def test_field_selector_chooses(self):
        self.apply(flavor("only-me"))
        items = self.get("rf", "--field-selector", "metadata.name=only-me")["items"]
        self.assertEqual([i["metadata"]["name"] for i in items], ["only-me"])

    def test_watch_prints_changes_as_they_happen(self):
        process = subprocess.Popen([KUBECTL, "--server", self.daemon.url, "get", "rf", "--watch"], text=True,
                                   stdout=subprocess.PIPE, env={**os.environ, "KUBECONFIG": "/dev/null"})
        lines = []
        threading.Thread(target=lambda: lines.extend(iter(process.stdout.readline, "")), daemon=True).start()
        try:
            eventually(lambda: any("default-flavor" in l for l in lines), what="initial list")
            self.apply(flavor("seen-by-watch"))
            eventually(lambda: any("seen-by-watch" in l for l in lines), what="watched creation")
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_delete_job_collects_its_workload(self):
        self.apply(job("deleted", run_for="60s"))
        name = self.workload_of("deleted")["metadata"]["name"]
        self.daemon.kubectl("delete", "job", "deleted", "--timeout=20s")
        eventually(lambda: self.daemon.kubectl("get", "workload", name, check=False).returncode != 0,
                   what="workload collected")

    def test_delete_then_get_is_not_found(self):
        self.apply(flavor("gone"))
        self.daemon.kubectl("delete", "rf", "gone", "--timeout=20s")
        done = self.daemon.kubectl("get", "rf", "gone", check=False)
        self.assertIn("NotFound", done.stderr)

    def test_namespaces_separate_names(self):
        self.daemon.kubectl("create", "namespace", "other")
        self.apply(local_queue("main", "team", "other"))
        out = self.daemon.kubectl("get", "lq", "-A").stdout
        self.assertRegex(out, r"default\s+main")
        self.assertRegex(out, r"other\s+main")

    def test_unknown_fields_survive(self):
        o = flavor("kept")
        o["spec"]["futureField"] = {"deep": [1, "two", None, 3.5]}
        o["metadata"]["annotations"] = {"x.example/y": "z"}
        self.daemon.kubectl("create", "--validate=false", "-f", "-", stdin=json.dumps(o))
        self.daemon.kubectl("label", "rf", "kept", "touched=yes")
        self.assertEqual(self.get("rf", "kept")["spec"]["futureField"], {"deep": [1, "two", None, 3.5]})

    def test_dry_run_changes_nothing(self):
        self.daemon.kubectl("create", "--validate=false", "--dry-run=server", "-f", "-", stdin=json.dumps(flavor("dry")))
        self.assertNotEqual(self.daemon.kubectl("get", "rf", "dry", check=False).returncode, 0)

    def test_status_subresource_is_apart_from_spec(self):
        self.apply(cluster_queue("apart", {"default-flavor": {"cpu": "1"}}))
        self.daemon.kubectl("patch", "cq", "apart", "--type=merge", "-p", '{"status":{"pendingWorkloads":99}}')
        self.assertNotEqual(self.get("cq", "apart").get("status", {}).get("pendingWorkloads"), 99)


class Containers(unittest.TestCase):
    """What kubectl asks of containers, of which there are none."""

    def test_logs_and_exec_say_why_not(self):
        daemon = Daemon().start()
        self.addCleanup(daemon.close)
        daemon.kubectl("run", "alone", "--image=busybox")
        for words in (("logs", "alone"), ("exec", "alone", "--", "ls"), ("attach", "alone")):
            done = daemon.kubectl(*words, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("without --run processes standalone mode starts no containers", done.stdout + done.stderr, words)


class Explain(unittest.TestCase):
    """kubectl explain describes every kind and field, with defaults and with what has no effect."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def explain(self, *arguments):
        """As one line: it is wrapped for a terminal."""
        return " ".join(self.daemon.kubectl("explain", *arguments).stdout.split())

    def test_nothing_is_left_undescribed(self):
        for kind in ("clusterqueues", "localqueues", "cohorts", "resourceflavors", "topologies", "admissionchecks", "jobs",
                     "workloadpriorityclasses", "provisioningrequestconfigs.kueue.x-k8s.io", "workloads.status", "pods.spec"):
            out = self.explain(kind)
            self.assertNotIn("<empty>", out, kind)
            self.assertNotIn("<no description>", out, kind)

    def test_defaults_and_fields_without_effect(self):
        self.assertIn("Default: None.", self.explain("clusterqueue.spec.stopPolicy"))
        self.assertIn("Has no effect: only the feature gate", self.explain("clusterqueue.spec.concurrentAdmissionPolicy"))
        self.assertIn("Has no effect: jobs are simulated", self.explain("job.spec.backoffLimit"))


if __name__ == "__main__":
    unittest.main()
