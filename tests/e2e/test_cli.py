"""sluicectl: output for people, -o for programs, exit codes."""
import json, pathlib, subprocess, tempfile, unittest
from daemon import *


class Cli(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()
        cls.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(flavor("f")))
        cls.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(cluster_queue("team", {"f": {"cpu": "2"}})))
        cls.daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(local_queue("main", "team")))

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def ctl(self, *arguments, **options):
        return self.daemon.sluicectl(*arguments, **options)

    def test_version_names_client_and_server(self):
        self.assertRegex(self.ctl("version").stdout, r"(?s)\d+\.\d+.*\d+\.\d+")

    def test_apply_yaml_with_many_documents(self):
        out = self.ctl("apply", "-f", "-", stdin="""
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: one}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: two
spec:
  nodeLabels:
    zone: "1"   # a string, not a number
""").stdout
        self.assertIn("resourceflavor/one created", out)
        self.assertIn("resourceflavor/two created", out)
        self.assertEqual(json.loads(self.ctl("get", "rf", "two", "-o", "json").stdout)["spec"]["nodeLabels"], {"zone": "1"})

    def test_bad_document_is_named_and_the_others_are_applied(self):
        with tempfile.TemporaryDirectory() as d:
            path = pathlib.Path(d) / "mixed.yaml"
            path.write_text("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: good}\n---\n"
                            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: BAD NAME}\n")
            done = self.ctl("apply", "-f", str(path), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("resourceflavor/good created", done.stdout)
        self.assertIn("mixed.yaml", done.stderr)
        self.assertIn("metadata.name", done.stderr)

    def test_malformed_yaml_names_file_and_line(self):
        with tempfile.TemporaryDirectory() as d:
            path = pathlib.Path(d) / "broken.yaml"
            path.write_text("kind: X\n  a: [1,\n")
            done = self.ctl("apply", "-f", str(path), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"broken\.yaml.*line \d|broken\.yaml:\d")

    def test_submit_makes_a_job_that_runs(self):
        done = self.ctl("submit", "--queue", "main", "--cpu", "1", "--run-for", "100ms", "--name", "quick")
        self.assertIn("quick", done.stdout)
        self.assertEqual(done.stderr, "")
        eventually(lambda: holds(self.daemon.get("/apis/batch/v1/namespaces/default/jobs/quick"), "Complete"),
                   what="completion")

    def test_help_is_a_command_too(self):
        self.assertEqual(self.ctl("help").stdout, self.ctl("--help").stdout)

    def test_get_formats(self):
        self.assertRegex(self.ctl("get", "cq").stdout, r"NAME\s+COHORT")
        self.assertEqual(json.loads(self.ctl("get", "cq", "team", "-o", "json").stdout)["kind"], "ClusterQueue")
        self.assertIn("kind: ClusterQueue", self.ctl("get", "cq", "team", "-o", "yaml").stdout)
        self.assertRegex(self.ctl("get", "lq", "-A").stdout, r"NAMESPACE\s+NAME")

    def test_what_prints_no_objects_refuses_to(self):
        for command in (("version",), ("delete", "cq", "nosuch")):
            done = self.ctl(*command, "-o", "json", check=False)
            self.assertEqual(done.returncode, 2, command)
            self.assertIn(f"{command[0]} has no option --output", done.stderr)

    def test_each_form_is_one_document(self):
        self.ctl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "form"}}))
        data = lambda *words: json.loads(self.ctl(*words, "-o", "json").stdout)
        one = data("describe", "cq", "team")
        self.assertEqual((one["kind"], one["object"]["kind"], one["object"]["metadata"]["name"]), ("Description", "ClusterQueue", "team"))
        self.assertIsInstance(one["events"], list)
        both = data("describe", "cq/team", "lq/main")
        self.assertEqual((both["kind"], [i["object"]["kind"] for i in both["items"]]), ("List", ["ClusterQueue", "LocalQueue"]))
        self.assertEqual(self.ctl("describe", "cq/team", "lq/main", "-o", "name").stdout,
                         "clusterqueue.kueue.x-k8s.io/team\nlocalqueue.kueue.x-k8s.io/main\n")
        self.assertTrue(self.ctl("describe", "cq", "team", "-o", "yaml").stdout.startswith("apiVersion: sluice.dev/v1\n"))
        self.assertIn("form", [n["metadata"]["name"] for n in data("node", "list")["items"]])
        self.assertIn("node/form\n", self.ctl("node", "list", "-o", "name").stdout)
        failed = data("node", "fail", "form")
        self.assertEqual((failed["kind"], failed["spec"]["taints"][0]["key"]), ("Node", "node.kubernetes.io/not-ready"))
        self.assertEqual(self.ctl("node", "recover", "form", "-o", "name").stdout, "node/form\n")
        self.assertEqual(self.ctl("node", "recover", "form").stdout, "node/form is already ready\n")
        self.ctl("delete", "node", "form")
        self.assertIn("not one of table, json, yaml, name", self.ctl("node", "list", "-o", "wide", check=False).stderr)

    def test_get_several_kinds_and_names(self):
        out = self.ctl("get", "cq,lq").stdout
        self.assertRegex(out, r"(?s)clusterqueue.kueue.x-k8s.io/team .*\n\nNAME .*localqueue.kueue.x-k8s.io/main +team")
        self.assertEqual(self.ctl("get", "cq/team", "lq/main", "-oname").stdout,
                         "clusterqueue.kueue.x-k8s.io/team\nlocalqueue.kueue.x-k8s.io/main\n")
        done = self.ctl("get", "lq", "nosuch", "main", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^main +team")
        self.assertIn("nosuch", done.stderr)
        both = json.loads(self.ctl("get", "cq,lq", "-ojson").stdout)
        self.assertLessEqual({"ClusterQueue", "LocalQueue"}, {o["kind"] for o in both["items"]})

    def test_delete_and_describe_several(self):
        for name in ("gone-a", "gone-b"):
            self.ctl("apply", "-f", "-", stdin=json.dumps(flavor(name)))
        out = self.ctl("describe", "rf", "gone-a", "gone-b").stdout
        self.assertIn("name: gone-a", out)
        self.assertIn("name: gone-b", out)
        done = self.ctl("delete", "rf", "gone-a", "nosuch", "gone-b", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "resourceflavor/gone-a deleted\nresourceflavor/gone-b deleted\n")
        self.assertIn("nosuch", done.stderr)

    def first_lines(self, *arguments):
        """What is printed while it runs."""
        child = subprocess.Popen([BUILD / "sluicectl", "--server", self.daemon.url, *arguments], stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child.stdout

    def test_get_watches_as_well(self):
        self.assertRegex(self.first_lines("get", "lq", "main", "-w").readline(), r"^EVENT +NAME +CLUSTERQUEUE")
        self.assertEqual(self.first_lines("watch", "lq", "-oname").readline(), "localqueue.kueue.x-k8s.io/main\n")
        data = self.first_lines("get", "lq", "main", "-woyaml")
        self.assertEqual(data.readline(), "apiVersion: kueue.x-k8s.io/v1beta2\n")
        done = self.ctl("get", "cq,lq", "-w", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("one kind", done.stderr)

    def test_each_command_has_a_help_with_examples(self):
        for command in ("get", "submit", "pending", "replay"):
            out = self.ctl(command, "--help").stdout
            self.assertIn(f"usage: sluicectl {command}", out)
            self.assertIn("Examples:", out)
            self.assertEqual(out, self.ctl("help", command).stdout)
        self.assertNotIn("--cpu", self.ctl("get", "--help").stdout)
        done = self.ctl("help", "pnding", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn('there is no command "pnding"; did you mean pending?', done.stderr)
        self.assertRegex(self.ctl("--version").stdout, r"^sluicectl \d+\.\d+")

    def test_a_mistyped_kind_is_guessed(self):
        done = self.ctl("get", "clusterqueu", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn('there is no kind "clusterqueu"; did you mean clusterqueue?', done.stderr)

    def test_apply_and_submit_can_be_quiet_and_print_names(self):
        text = json.dumps(flavor("hushed"))
        self.assertEqual(self.ctl("apply", "-q", "-f", "-", stdin=text).stdout, "")
        self.assertEqual(self.ctl("apply", "-oname", "-f", "-", stdin=text).stdout, "resourceflavor.kueue.x-k8s.io/hushed\n")
        self.assertEqual(self.ctl("submit", "--queue", "main", "--name", "hush", "-q").stdout, "")
        self.assertEqual(self.ctl("submit", "--queue", "main", "--name", "named", "-oname").stdout, "job.batch/named\n")
        self.ctl("delete", "job", "hush", "named", "-q")

    def test_submit_dry_run_stores_nothing(self):
        out = self.ctl("submit", "--queue", "main", "--name", "trial", "--gpu", "1", "--label", "team=a", "--dry-run", "-ojson")
        job = json.loads(out.stdout)
        self.assertEqual(job["metadata"]["labels"]["team"], "a")
        self.assertEqual(job["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"], {"nvidia.com/gpu": "1"})
        self.assertIn("could be submitted", self.ctl("submit", "--queue", "main", "--name", "trial", "--dry-run").stdout)
        self.assertEqual(self.ctl("get", "job", "trial", check=False).returncode, 1)
        many = json.loads(self.ctl("submit", "--queue", "main", "--count", "2", "--dry-run", "-ojson").stdout)
        self.assertEqual(len(many["items"]), 2)

    def test_submit_waits_until_the_jobs_have_ended(self):
        done = self.ctl("submit", "--queue", "main", "--name", "good", "--count", "2", "--run-for", "100ms", "--wait")
        self.assertIn("job/good-1 complete\n", done.stdout)
        self.assertIn("job/good-2 complete\n", done.stdout)
        done = self.ctl("submit", "--queue", "main", "--name", "bad", "--run-for", "100ms", "--fail", "--wait", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("job/bad failed", done.stdout)

    def test_submit_says_that_a_job_it_waits_for_was_deleted(self):
        lines = self.first_lines("submit", "--queue", "nosuch", "--name", "brief-wait", "--wait")
        self.assertIn("submitted", lines.readline())
        eventually(lambda: self.ctl("get", "job", "brief-wait", check=False).returncode == 0, what="the job")
        self.ctl("delete", "job", "brief-wait")
        self.assertEqual(lines.readline(), "job/brief-wait was deleted\n")

    def test_submit_waits_over_a_restart_of_the_server(self):
        daemon = Daemon().start()
        self.addCleanup(daemon.close)
        for o in (flavor("f"), cluster_queue("team", {"f": {"cpu": "2"}}), local_queue("main", "team")):
            daemon.sluicectl("apply", "-f", "-", stdin=json.dumps(o))
        child = subprocess.Popen([BUILD / "sluicectl", "--server", daemon.url, "submit", "--queue", "main", "--name", "patient",
                                  "--run-for", "2s", "--wait"], stdout=subprocess.PIPE, text=True)
        for close in (child.stdout.close, child.wait, child.kill):
            self.addCleanup(close)
        self.assertIn("submitted", child.stdout.readline())
        daemon.kill()
        daemon.start()
        self.assertEqual(child.stdout.readline(), "job/patient complete\n")
        self.assertEqual(child.wait(5), 0)

    def test_submit_guesses_names_that_do_not_exist(self):
        priority = {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "urgent"}, "value": 10}
        self.ctl("apply", "-f", "-", stdin=json.dumps(priority))
        done = self.ctl("submit", "--queue", "mian", "--priority-class", "urgnet", "--dry-run")
        self.assertIn("LocalQueue mian does not exist in namespace default; the job waits until it does; did you mean main?", done.stderr)
        self.assertIn("WorkloadPriorityClass urgnet does not exist; the job waits until it does; did you mean urgent?", done.stderr)
        self.ctl("submit", "--queue", "mian", "--name", "lost")
        eventually(lambda: "LocalQueue mian doesn't exist; did you mean main?" in self.ctl("pending").stdout, what="the hint")
        self.ctl("delete", "job", "lost")
        self.ctl("delete", "workloadpriorityclass", "urgent")

    def test_pending_shows_the_first_ones_and_counts_the_others(self):
        self.ctl("apply", "-f", "-", stdin=json.dumps(cluster_queue("long", {"f": {"cpu": "0"}})))
        self.ctl("apply", "-f", "-", stdin=json.dumps(local_queue("long", "long")))
        self.ctl("submit", "--queue", "long", "--name", "row", "--count", "5", "-q")
        out = eventually(lambda: (lambda t: "long: 5 pending" in t and t)(self.ctl("pending", "long", "--limit", "2").stdout), what="five")
        self.assertRegex(out, r"(?s)long: 5 pending, the first 2 of them\n.*row-1.*row-2")
        self.assertNotIn("row-3", out)
        self.assertNotIn("in no ClusterQueue", self.ctl("pending", "--limit", "2").stdout)
        data = json.loads(self.ctl("pending", "long", "--limit", "2", "-ojson").stdout)
        self.assertEqual((len(data["items"]), data["metadata"]["remainingItemCount"]), (2, 3))
        self.assertEqual(self.ctl("pending", "--limit=-1", check=False).returncode, 2)
        self.ctl("delete", "job", *(f"row-{i}" for i in range(1, 6)))

    def test_an_option_that_has_no_effect_is_refused(self):
        done = self.ctl("topology", "-n", "default", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("topology has no option --namespace", done.stderr)

    def test_watch_has_a_heading_above_what_there_is(self):
        watch = subprocess.Popen([BUILD / "sluicectl", "--server", self.daemon.url, "watch", "lq", "main"],
                                 stdout=subprocess.PIPE, text=True)
        self.addCleanup(watch.stdout.close)
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        self.assertRegex(watch.stdout.readline(), r"^EVENT +NAME +CLUSTERQUEUE")
        self.assertRegex(watch.stdout.readline(), r"^PRESENT +main +team")

    def test_describe_shows_the_object(self):
        out = self.ctl("describe", "cq", "team").stdout
        self.assertIn("team", out)
        self.assertIn("Active", out)

    def test_pending_tells_of_workloads_that_no_queue_lists(self):
        done = self.ctl("submit", "--queue", "nosuch", "--name", "astray", "--cpu", "1")
        self.assertIn("warning: LocalQueue nosuch does not exist in namespace default", done.stderr)
        out = eventually(lambda: (lambda text: "astray" in text and text)(self.ctl("pending").stdout), what="the stray")
        self.assertRegex(out, r"(?s)in no ClusterQueue: 1 pending.*default/job-astray-\S+ +Misconfigured: LocalQueue nosuch doesn't exist")
        self.ctl("delete", "job", "astray")

    def test_pending_prints_one_document_whatever_waits(self):
        self.ctl("apply", "-f", "-", stdin=json.dumps(cluster_queue("second", {"f": {"cpu": "2"}})))
        self.ctl("submit", "--queue", "nosuch", "--name", "apart", "--cpu", "1")
        def summaries():
            found = json.loads(self.ctl("pending", "-o", "json").stdout)
            self.assertEqual(found["kind"], "List")
            return {s.get("title", s["metadata"]["name"]): s["items"] for s in found["items"]}
        found = eventually(lambda: (lambda all: all if "in no ClusterQueue" in all else None)(summaries()), what="the stray")
        self.assertLessEqual({"team", "second"}, set(found))
        self.assertIn("job-apart", found["in no ClusterQueue"][0]["metadata"]["name"])
        one = json.loads(self.ctl("pending", "second", "-o", "json").stdout)
        self.assertEqual((one["kind"], one["metadata"]["name"]), ("PendingWorkloadsSummary", "second"))
        self.assertEqual(self.ctl("pending", "-o", "yaml").stdout.count("\nkind: List"), 1)
        self.ctl("delete", "job", "apart")
        self.ctl("delete", "cq", "second")

    def test_pending_shows_who_is_in_no_line_of_the_queue(self):
        self.ctl("apply", "-f", "-", stdin=json.dumps(local_queue("halted", "team")))
        self.ctl("submit", "--queue", "halted", "--name", "wide", "--cpu", "9")
        eventually(lambda: "job-wide" in self.ctl("pending", "team").stdout, what="the queue's list")
        stopped = {**local_queue("halted", "team"), "spec": {"clusterQueue": "team", "stopPolicy": "Hold"}}
        self.ctl("apply", "-f", "-", stdin=json.dumps(stopped))
        eventually(lambda: "team, not in line: 1 pending" in self.ctl("pending", "team").stdout, what="who is not in line")
        self.assertNotIn("job-wide", self.ctl("pending", "-n", "elsewhere").stdout)
        self.assertIn("job-wide", self.ctl("pending", "-n", "default").stdout)
        self.ctl("delete", "job", "wide")
        self.ctl("delete", "lq", "halted")

    def test_pending_names_jobs_that_have_no_workload(self):
        self.ctl("submit", "--queue", "main", "--name", "ghost", "--priority-class", "nosuch")
        out = eventually(lambda: (lambda text: "WorkloadPriorityClassNotFound" in text and text)(self.ctl("pending").stdout), what="the Job")
        self.assertRegex(out, r"(?s)Jobs without a Workload: 1 pending.*default/ghost +WorkloadPriorityClassNotFound: .*nosuch")
        self.ctl("delete", "job", "ghost")

    def test_pending_shows_who_has_quota_and_waits_for_a_check(self):
        check = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck", "metadata": {"name": "by-hand"}, "spec": {"controllerName": "example.com/by-hand"}}
        checked = cluster_queue("checked", {"f": {"cpu": "2"}})
        checked["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": "by-hand"}]}
        for o in (check, checked, local_queue("checked", "checked")):
            self.ctl("apply", "-f", "-", stdin=json.dumps(o))
        active = {"status": {"conditions": [{"type": "Active", "status": "True", "reason": "r", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
        self.daemon.request("PATCH", "/apis/kueue.x-k8s.io/v1beta2/admissionchecks/by-hand/status", active, "application/merge-patch+json")
        self.ctl("submit", "--queue", "checked", "--name", "held", "--cpu", "1")
        for arguments in ((), ("checked",)):
            eventually(lambda: "admission check by-hand is Pending" in self.ctl("pending", *arguments).stdout, what=f"the open check {arguments}")
        self.ctl("delete", "job", "held")

    def test_recovered_node_is_never_ready_with_a_taint_that_evicts(self):
        self.ctl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}))
        before = self.daemon.get("/api/v1/nodes")["metadata"]["resourceVersion"]
        self.ctl("node", "fail", "n1")
        self.ctl("node", "recover", "n1")
        _, text = self.daemon.request("GET", f"/api/v1/nodes?watch=1&timeoutSeconds=1&resourceVersion={before}")
        states = []
        for line in text.splitlines():
            node = json.loads(line)["object"]
            ready = any(c["type"] == "Ready" and c["status"] == "True" for c in node.get("status", {}).get("conditions", []))
            states.append((ready, any(t["effect"] == "NoExecute" for t in node.get("spec", {}).get("taints", []))))
        self.assertIn((False, True), states)
        self.assertEqual(states[-1], (True, False))
        self.assertNotIn((True, True), states)
        self.ctl("delete", "node", "n1")

    def test_a_local_queue_says_which_cluster_queue_it_misses(self):
        for name, spec, says in [("lost", {"clusterQueue": "nosuch"}, "ClusterQueue nosuch doesn't exist"),
                                 ("blank", {}, "names no ClusterQueue")]:
            queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": name}, "spec": spec}
            self.ctl("apply", "-f", "-", stdin=json.dumps(queue))
            self.ctl("submit", "--queue", name, "--name", f"in-{name}")
            eventually(lambda: "ClusterQueueDoesNotExist" in self.ctl("describe", "lq", name).stdout, what=f"LocalQueue {name}")
            eventually(lambda: says in self.ctl("pending").stdout, what=f"pending: {says}")
            self.ctl("delete", "job", f"in-{name}")
            self.ctl("delete", "lq", name)

    def test_dashboard_until_done_ends_when_what_is_left_cannot_start(self):
        self.ctl("submit", "--queue", "nosuch", "--name", "stuck", "--cpu", "1")
        out = self.ctl("dashboard", "--until-done").stdout
        self.assertIn("the others cannot start at present", out)
        self.ctl("delete", "job", "stuck")

    def test_apply_guesses_names_that_do_not_exist(self):
        queue = cluster_queue("typo", {"spto": {"cpu": "1"}}, admissionChecksStrategy={"admissionChecks": [{"name": "nosuch"}]})
        done = self.ctl("apply", "-f", "-", stdin="---\n".join(json.dumps(o) + "\n" for o in (queue, local_queue("typo", "tpyo"), flavor("spot"))))
        self.assertIn("warning: ResourceFlavor spto does not exist; ClusterQueue typo waits until it does; did you mean spot?", done.stderr)
        self.assertIn("warning: ClusterQueue tpyo does not exist; LocalQueue typo waits until it does; did you mean typo?", done.stderr)
        self.assertIn("warning: AdmissionCheck nosuch does not exist; ClusterQueue typo waits until it does\n", done.stderr)
        self.ctl("delete", "lq", "typo")
        self.ctl("delete", "cq", "typo")
        done = self.ctl("apply", "-f", "-", stdin="---\n".join(json.dumps(o) + "\n" for o in (cluster_queue("late", {"later": {"cpu": "1"}}), flavor("later"))))
        self.assertEqual(done.stderr, "")
        self.ctl("delete", "cq", "late")

    def test_apply_warns_of_a_misspelt_field(self):
        done = self.ctl("apply", "-f", "-", stdin=json.dumps({**flavor("typo"), "spec": {"nodelabels": {"a": "b"}}}))
        self.assertIn("Warning: unknown field spec.nodelabels", done.stderr)

    def test_apply_says_that_a_file_has_no_objects(self):
        done = self.ctl("apply", "-f", "-", stdin="# nothing\n", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no objects in it", done.stderr)

    def test_delete_removes(self):
        self.ctl("apply", "-f", "-", stdin=json.dumps(flavor("brief")))
        self.ctl("delete", "rf", "brief")
        done = self.ctl("get", "rf", "brief", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not found", done.stderr)

    def test_unknown_command_is_a_usage_error(self):
        done = self.ctl("frobnicate", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("frobnicate", done.stderr)

    def test_unreachable_server_is_said(self):
        done = self.ctl("--server", "http://127.0.0.1:1", "get", "cq", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("127.0.0.1:1", done.stderr)


if __name__ == "__main__":
    unittest.main()
