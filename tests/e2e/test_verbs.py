"""kueuectl's verbs as sluicectl has them: create, list, stop, resume, delete and drain; and shares and status."""
import datetime, http.server, json, os, subprocess, threading, unittest
from daemon import *


class Verbs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()
        cls.daemon.sluicectl("create", "resourceflavor", "f")
        cls.daemon.sluicectl("create", "clusterqueue", "team", "--nominal-quota", "f:cpu=2", "--cohort", "all")
        cls.daemon.sluicectl("create", "localqueue", "main", "-c", "team")

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def tearDown(self):
        self.ctl("resume", "cq", "team")
        self.ctl("delete", "workload", "--all", "-A", "--yes")
        eventually(lambda: self.rows("list", "workload") == [], what="no workloads")

    def ctl(self, *arguments, **options):
        return self.daemon.sluicectl(*arguments, **options)

    def rows(self, *arguments):
        """What a table has below its titles, by title."""
        lines = self.ctl(*arguments).stdout.splitlines()
        if not lines:
            return []
        starts = [m.start() for m in re.finditer(r"(?:^|(?<=   ))\S", lines[0])]
        cut = lambda line: [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None])]
        return [dict(zip(cut(lines[0]), cut(line))) for line in lines[1:]]

    def refused(self, *arguments, code=1, stdin=None):
        done = self.ctl(*arguments, check=False, stdin=stdin)
        self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
        return done.stderr

    def submit(self, name, *arguments):
        self.ctl("submit", "--queue", "main", "--name", name, "--run-for", "10m", *arguments)

    def workload(self, job):
        """The workload's name, as soon as there is one."""
        return eventually(lambda: self.ctl("list", "wl", "--for", f"job/{job}", "-oname").stdout, what=job).strip().split("/")[1]

    def admitted(self, job):
        name = self.workload(job)
        eventually(lambda: self.rows("list", "wl", "--for", f"job/{job}")[0]["STATUS"] == "ADMITTED", what=f"{job} to be admitted")
        return name

    def test_create_makes_what_kueuectl_makes(self):
        out = self.ctl("create", "cq", "made", "--cohort", "all", "--queuing-strategy", "StrictFIFO", "--namespace-selector", "a=b,c=d",
                       "--reclaim-within-cohort", "Any", "--preemption-within-cluster-queue", "LowerPriority",
                       "--nominal-quota", "f:cpu=9;memory=36Gi", "--borrowing-limit", "f:cpu=1", "--lending-limit", "f:memory=1Gi").stdout
        self.assertEqual(out, "clusterqueue.kueue.x-k8s.io/made created\n")
        spec = self.daemon.get(f"/apis/{KUEUE}/clusterqueues/made")["spec"]
        self.assertEqual(spec["resourceGroups"], [{"coveredResources": ["cpu", "memory"], "flavors": [{"name": "f", "resources": [
            {"name": "cpu", "nominalQuota": "9", "borrowingLimit": "1"}, {"name": "memory", "nominalQuota": "36Gi", "lendingLimit": "1Gi"}]}]}])
        self.assertEqual((spec["cohortName"], spec["queueingStrategy"]), ("all", "StrictFIFO"))
        self.assertEqual(spec["namespaceSelector"], {"matchLabels": {"a": "b", "c": "d"}})
        self.assertEqual((spec["preemption"]["reclaimWithinCohort"], spec["preemption"]["withinClusterQueue"]), ("Any", "LowerPriority"))
        self.assertIn("already exists", self.refused("create", "cq", "made"))
        self.ctl("delete", "cq", "made")

    def test_create_refuses_what_is_wrong(self):
        self.assertIn("--nominal-quota", self.refused("create", "cq", "x", "--nominal-quota", "cpu=1", code=2))
        self.assertIn("StrictLIFO", self.refused("create", "cq", "x", "--queuing-strategy", "StrictLIFO"))
        self.assertIn("takes one name", self.refused("create", "cq", code=2))
        self.assertIn("takes one name", self.refused("create", "rf", "a", "b", code=2))
        self.assertIn("create localqueue needs --clusterqueue", self.refused("create", "lq", "x", code=2))
        self.assertIn("clusterqueue, localqueue, resourceflavor", self.refused("create", code=2))
        self.assertIn('there is no command "create pod"', self.refused("create", "pod", "x", code=2))
        self.assertIn("--node-taints", self.refused("create", "rf", "x", "--node-taints", "a", code=2))
        self.assertIn("create resourceflavor has no option --cohort", self.refused("create", "rf", "x", "--cohort", "a", code=2))

    def test_create_local_queue_looks_for_its_cluster_queue(self):
        says = self.refused("create", "lq", "lost", "-c", "nosuch")
        self.assertIn('"nosuch" not found', says)
        self.assertIn("--ignore-unknown-cq", says)
        self.ctl("create", "lq", "lost", "-c", "nosuch", "-i", "-n", "default")
        self.assertEqual([r["NAME"] for r in self.rows("list", "lq", "-c", "nosuch")], ["lost"])
        self.ctl("delete", "lq", "lost")

    def test_dry_run_stores_nothing(self):
        for how in ("client", "server"):
            done = self.ctl("create", "cq", "dry", f"--dry-run={how}")
            self.assertEqual(done.stdout, f"clusterqueue.kueue.x-k8s.io/dry created ({how} dry run)\n")
            self.assertEqual(json.loads(self.ctl("create", "rf", "dry", "--dry-run", how, "-ojson").stdout)["kind"], "ResourceFlavor")
            done = self.ctl("stop", "cq", "team", "--dry-run", how, "-oyaml")
            self.assertIn("stopPolicy: HoldAndDrain", done.stdout)
        self.refused("get", "cq", "dry")
        self.assertEqual(self.daemon.get(f"/apis/{KUEUE}/clusterqueues/team")["spec"]["stopPolicy"], "None")
        self.submit("dry")
        name = self.workload("dry")
        self.assertEqual(self.ctl("delete", "wl", name, "--dry-run=client").stdout, "job.batch/dry deleted (client dry run)\n")
        self.assertEqual(self.ctl("delete", "job", "dry", "--dry-run").stdout, "job/dry deleted (dry run)\n")
        self.ctl("get", "job", "dry")

    def test_list_has_the_columns_and_filters_of_kueuectl(self):
        self.assertEqual(list(self.rows("list", "cq")[0]), ["NAME", "COHORT", "PENDING WORKLOADS", "ADMITTED WORKLOADS", "ACTIVE", "AGE"])
        self.assertEqual(list(self.rows("list", "lq")[0]), ["NAME", "CLUSTERQUEUE", "PENDING WORKLOADS", "ADMITTED WORKLOADS", "AGE"])
        self.assertEqual(list(self.rows("list", "rf")[0]), ["NAME", "NODE LABELS", "AGE"])
        self.ctl("create", "cq", "idle")
        self.ctl("create", "rf", "labelled", "--node-labels", "a=b,c=d")
        eventually(lambda: [r["NAME"] for r in self.rows("list", "cq", "--active")] == ["idle", "team"], what="two active queues")
        self.ctl("stop", "cq", "idle")
        eventually(lambda: [r["NAME"] for r in self.rows("list", "cq", "--active=false")] == ["idle"], what="an inactive one")
        self.assertEqual([r["NAME"] for r in self.rows("list", "cq", "--active")], ["team"])
        self.assertEqual([r["NODE LABELS"] for r in self.rows("list", "rf", "--field-selector", "metadata.name=labelled")], ["a=b, c=d"])
        self.assertIn("No localqueues found in namespace nosuch.", self.ctl("list", "lq", "-n", "nosuch").stderr)
        self.assertEqual(json.loads(self.ctl("list", "cq", "-ojson", "--active=false").stdout)["items"][0]["metadata"]["name"], "idle")
        self.ctl("delete", "cq", "idle")
        self.ctl("delete", "rf", "labelled")

    def test_list_workloads(self):
        self.submit("a", "--cpu", "2")
        self.admitted("a")
        self.submit("b", "--cpu", "2")
        self.submit("c", "--cpu", "2")
        self.workload("c")
        rows = eventually(lambda: (lambda r: r if len(r) == 3 and r[2]["POSITION IN QUEUE"] else None)(self.rows("list", "wl")), what="three")
        self.assertEqual(list(rows[0]), ["NAME", "JOB TYPE", "JOB NAME", "LOCALQUEUE", "CLUSTERQUEUE", "STATUS", "POSITION IN QUEUE", "EXEC TIME", "AGE"])
        self.assertEqual([(r["JOB TYPE"], r["JOB NAME"], r["LOCALQUEUE"], r["CLUSTERQUEUE"], r["STATUS"]) for r in rows],
                         [("job.batch", "a", "main", "team", "ADMITTED"), ("job.batch", "b", "main", "team", "PENDING"), ("job.batch", "c", "main", "team", "PENDING")])
        self.assertEqual({r["POSITION IN QUEUE"] for r in rows}, {"", "0", "1"})
        self.assertRegex(rows[0]["EXEC TIME"], r"^\d+s$")
        names = lambda *arguments: [r["JOB NAME"] for r in self.rows("list", "wl", *arguments)]
        self.assertEqual(names("--status", "pending"), ["b", "c"])
        self.assertEqual(names("--status", "Admitted", "--status", "finished"), ["a"])
        self.assertEqual(names("--status", "all"), ["a", "b", "c"])
        self.assertEqual(names("--for", "job/b"), ["b"])
        self.assertEqual(names("-q", "main", "-c", "team"), ["a", "b", "c"])
        self.assertEqual(names("-q", "nosuch"), [])
        self.assertEqual(names("-c", "nosuch", "-A"), [])
        self.assertIn("NAMESPACE", self.rows("list", "wl", "-A")[0])
        self.assertIn("--status", self.refused("list", "wl", "--status", "asleep", code=2))
        self.assertIn("KIND/NAME", self.refused("list", "wl", "--for", "b", code=2))
        self.assertIn('"nosuch" not found', self.refused("list", "wl", "--for", "job/nosuch"))
        self.assertIn('no kind "nosuch"', self.refused("list", "wl", "--for", "nosuch/b", code=2))

    def test_list_pods_of_a_job_and_of_a_group(self):
        def pod(name, owner=None, group=None):
            metadata = {"name": name, "namespace": "default", "labels": {"kueue.x-k8s.io/pod-group-name": group} if group else {}}
            if group:
                metadata["annotations"] = {"kueue.x-k8s.io/pod-group-total-count": "2"}
            if owner:
                metadata["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}]
            return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "c", "image": "i"}]}}

        self.submit("owner", "--cpu", "9")
        self.submit("below", "--cpu", "9")
        read = lambda name: json.loads(self.ctl("get", "job", name, "-ojson").stdout)
        owner = read("owner")
        self.daemon.request("PATCH", "/apis/batch/v1/namespaces/default/jobs/below", {"metadata": {"ownerReferences": [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "owner", "uid": owner["metadata"]["uid"]}]}}, "application/merge-patch+json")
        for o in (pod("own", owner), pod("grandchild", read("below")), pod("a", group="g"), pod("b", group="g"), pod("other")):
            self.ctl("apply", "-f", "-", stdin=json.dumps(o))
        names = lambda *arguments: [r["NAME"] for r in self.rows("list", "pods", *arguments)]
        self.assertEqual(names("--for", "job/owner"), ["grandchild", "own"])
        self.assertEqual(names("--for", "job/below"), ["grandchild"])
        self.assertEqual(names("--for", "pod/a"), ["a", "b"])
        self.assertEqual(names("--for", "pod/other"), ["other"])
        self.assertEqual(names("--for", "job/owner", "--field-selector", "metadata.name=own"), ["own"])
        self.assertEqual(self.ctl("list", "po", "--for", "job/below", "-oname").stdout, "pod/grandchild\n")
        self.assertIn("needs --for", self.refused("list", "pods", code=2))
        self.assertIn("takes only options", self.refused("list", "pods", "a", code=2))
        self.assertIn('"nosuch" not found', self.refused("list", "pods", "--for", "job/nosuch"))
        self.assertIn("KIND/NAME", self.refused("list", "pods", "--for", "owner", code=2))
        for name in ("own", "grandchild", "a", "b", "other"):
            self.ctl("delete", "pod", name)

    def test_stop_and_resume(self):
        self.submit("s")
        name = self.admitted("s")
        self.assertEqual(self.ctl("stop", "lq", "main", "--keep-already-running").stdout, "localqueue.kueue.x-k8s.io/main stopped\n")
        self.assertEqual(self.daemon.get(f"/apis/{KUEUE}/namespaces/default/localqueues/main")["spec"]["stopPolicy"], "Hold")
        self.assertEqual(self.rows("list", "wl")[0]["STATUS"], "ADMITTED")
        self.ctl("stop", "lq/main", "cq/team")
        eventually(lambda: self.rows("list", "wl")[0]["STATUS"] == "PENDING", what="the eviction")
        self.ctl("resume", "localqueue", "main")
        self.ctl("resume", "clusterqueue", "team")
        self.admitted("s")
        self.assertEqual(self.ctl("stop", "workload", name).stdout, f"workload.kueue.x-k8s.io/{name} stopped\n")
        eventually(lambda: self.rows("list", "wl")[0]["STATUS"] == "PENDING", what="the deactivation")
        self.assertEqual(self.ctl("resume", "workload", name).stdout, f"workload.kueue.x-k8s.io/{name} resumed\n")
        self.admitted("s")

    def test_stop_refuses_what_cannot_be_stopped(self):
        self.assertIn("not pod", self.refused("stop", "pod", "x", code=2))
        self.assertIn("stop which clusterqueue?", self.refused("stop", "cq", code=2))
        self.assertIn("--keep-already-running is of queues", self.refused("stop", "wl", "x", "--keep-already-running", code=2))
        self.assertIn('"nosuch" not found', self.refused("stop", "cq", "nosuch"))
        self.assertIn('"nosuch" not found', self.refused("resume", "wl", "nosuch", "--dry-run=client"))
        done = self.ctl("stop", "cq", "nosuch", "team", check=False)
        self.assertEqual((done.returncode, done.stdout), (1, "clusterqueue.kueue.x-k8s.io/team stopped\n"))

    def test_delete_workload_asks_and_takes_the_job_along(self):
        self.submit("d")
        name = self.workload("d")
        for answer in ("n\n", "", "yes\n"):
            done = self.ctl("delete", "workload", name, stdin=answer, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"job.batch/d associated with the default/{name} workload\nDo you want to proceed (y/n)? ", done.stdout)
            self.assertIn("Deletion is canceled", done.stdout)
        self.ctl("get", "job", "d")
        self.assertIn("job.batch/d deleted", self.ctl("delete", "workload", name, stdin="y\n").stdout)
        self.refused("get", "job", "d")
        eventually(lambda: self.ctl("get", "wl", name, check=False).returncode == 1, what="the workload's end")
        self.assertIn("not found", self.refused("delete", "workload", name))
        self.assertIn("--all", self.refused("delete", "workload", code=2))
        self.assertIn("do not go together", self.refused("delete", "workload", name, "--all", code=2))
        self.assertIn("only for delete workload", self.refused("delete", "job", "--all", code=2))

    def test_delete_workload_without_a_job_needs_no_question(self):
        alone = {"apiVersion": KUEUE, "kind": "Workload", "metadata": {"name": "alone", "namespace": "default"},
                 "spec": {"queueName": "main", "podSets": [{"name": "main", "count": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [
                     {"name": "c", "image": "i"}]}}}]}}
        self.ctl("apply", "-f", "-", stdin=json.dumps(alone))
        self.submit("beside")
        job = json.loads(self.ctl("get", "wl", self.workload("beside"), "-ojson").stdout)
        self.assertEqual(job["metadata"]["ownerReferences"][0]["name"], "beside")
        self.assertEqual(self.ctl("delete", "wl/alone").stdout, "workload.kueue.x-k8s.io/alone deleted\n")
        self.ctl("get", "job", "beside")

    def test_drain_waits_until_nothing_holds_quota(self):
        self.submit("slow")
        self.admitted("slow")
        out = self.ctl("drain", "team", "--keep-already-running", "--wait", "--timeout", "1s", check=False)
        self.assertEqual(out.returncode, 1)
        self.assertRegex(out.stdout, r"(?s)team draining\n.*team: 1 workload left: default/job-slow")
        self.assertIn("not empty after 1s", out.stderr)
        out = self.ctl("drain", "team", "--wait", "--timeout", "20s").stdout
        self.assertRegex(out, r"(?s)team draining\n.*team drained\n$")
        held = lambda: self.daemon.get(f"/apis/{KUEUE}/clusterqueues/team")["status"]["reservingWorkloads"]
        eventually(lambda: held() == 0, what="a status that says so")
        self.ctl("resume", "cq", "team")
        self.admitted("slow")

    def test_drain_as_one_document(self):
        one = json.loads(self.ctl("drain", "team", "-o", "json").stdout)
        self.assertEqual((one["kind"], one["spec"]["stopPolicy"]), ("ClusterQueue", "HoldAndDrain"))
        out = self.ctl("drain", "team", "--wait", "--timeout", "20s", "-o", "json")
        self.assertEqual(condition(json.loads(out.stdout), "Active")["status"], "False")
        self.assertIn("team drained", out.stderr)
        self.assertEqual(self.ctl("drain", "team", "-o", "name").stdout, "clusterqueue.kueue.x-k8s.io/team\n")
        self.ctl("resume", "cq", "team")

    def test_drain_refuses_what_is_wrong(self):
        self.assertIn("drain which ClusterQueue?", self.refused("drain", code=2))
        self.assertIn("only with --wait", self.refused("drain", "team", "--timeout", "1s", code=2))
        self.assertIn("--timeout", self.refused("drain", "team", "--wait", "--timeout", "soon", code=2))
        self.assertIn('"nosuch" not found', self.refused("drain", "nosuch", "--wait"))

    def test_shares_is_a_tree_and_one_document(self):
        self.ctl("create", "cq", "spare", "--nominal-quota", "f:cpu=3", "--cohort", "all")
        self.submit("big", "--cpu", "4")
        self.admitted("big")
        row = lambda: {r["QUEUE"]: (r["ENTITLED"], r["USED"], r["BORROWED"], r["LENT"]) for r in self.rows("shares")}
        wanted = {"cohort all": ("5", "4", "0", "2"), "spare": ("3", "0", "0", "<=2"), "team": ("2", "4", "2", "0")}
        eventually(lambda: row() == wanted, what="the shares")
        found = json.loads(self.ctl("shares", "-ojson").stdout)["items"]
        self.assertEqual([(i["kind"], i["name"], i.get("parent")) for i in found],
                         [("Cohort", "all", None), ("ClusterQueue", "spare", "all"), ("ClusterQueue", "team", "all")])
        self.assertEqual(found[1]["shares"][0]["lentAtMost"], "2")
        self.assertIn("takes no arguments", self.refused("shares", "team", code=2))
        self.ctl("delete", "cq", "spare")

    def test_status_of_a_standalone_daemon(self):
        self.submit("seen")
        self.admitted("seen")
        out = self.ctl("status").stdout
        self.assertRegex(out, rf"(?m)^server +{self.daemon.url}, v1.*sluice")
        self.assertRegex(out, r"(?m)^leader +standalone")
        self.assertRegex(out, r"(?m)^ClusterQueues +1, 1 of them active")
        self.assertRegex(out, r"(?m)^workloads +\d+ pending, 1 with quota")
        self.assertRegex(out, r"(?m)^last decision +\d+s ago: default/job-seen\S* \w+=\w+")
        self.assertRegex(out, r"(?m)^cycles +\d+ since the start, [\d.]+/s")
        self.assertRegex(out, r"(?m)^wait for admission +p50 [\d.]+ s, p99 [\d.]+ s, of \d+ since")
        self.assertNotIn("trouble", out)
        self.assertIs(json.loads(self.ctl("status", "-ojson").stdout)["healthy"], True)
        self.assertIn("takes no arguments", self.refused("status", "team", code=2))
        self.assertIn("cannot talk to", self.refused("--server", "http://127.0.0.1:1", "status"))

    def test_status_of_a_cluster(self):
        """The lease says who leads, and the API server passes on the leader's metrics."""
        now = datetime.datetime.now(datetime.timezone.utc)
        lease = {"spec": {"holderIdentity": "pod-a_1", "leaseDurationSeconds": 15, "renewTime": now.isoformat().replace("+00:00", "Z")}}
        page = "sluice_cycles_total 12\nsluice_writes_waiting 3\nsluice_writes_under_way 2\nsluice_write_conflicts_total 1\n"
        passed_on = "/apis/visibility.kueue.x-k8s.io/v1beta2/metrics"
        answers = {"/version": {"gitVersion": "v1.36.0"}, "/readyz": "ok",
                   "/apis/coordination.k8s.io/v1/namespaces/kueue-system/leases/c1f6bfd2.kueue.x-k8s.io": lease,
                   f"/apis/{KUEUE}/clusterqueues": {"items": []}, f"/apis/{KUEUE}/workloads": {"items": []},
                   passed_on: page, "/elsewhere": page, "/other": "up 1\n"}

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                found = answers.get(self.path)
                body = (found if isinstance(found, str) else json.dumps(found or {"message": f"{self.path} is not there", "reason": "NotFound"})).encode()
                self.send_response(404 if found is None else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}"
        out = self.ctl("--server", url, "status").stdout
        self.assertRegex(out, r"(?m)^leader +pod-a_1, renewed \d+s ago")
        self.assertRegex(out, r"(?m)^cycles +12 since the start, 0.0/s")
        self.assertRegex(out, r"(?m)^writes +3 waiting, 2 under way, 1 conflicts")
        self.assertRegex(out, r"(?m)^last decision +none yet")
        self.assertIn("nothing was admitted yet", out)
        del answers[passed_on]
        out = self.ctl("--server", url, "status").stdout
        self.assertRegex(out, r"(?m)^metrics +cannot be read: .*is not there \(see --metrics\)")
        self.assertIn("12 since the start", self.ctl("--server", url, "status", "--metrics", f"{url}/elsewhere").stdout)
        self.assertIn("these are no metrics of Sluice", self.ctl("--server", url, "status", "--metrics", f"{url}/other").stdout)
        answers["/elsewhere"] = page + "sluice_core_refusals_total 4\nsluice_turns_slow_total 1\n"
        done = self.ctl("--server", url, "status", "--metrics", f"{url}/elsewhere", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?s)trouble +events that the core refused: 4 .*\n +turns of more than a second: 1 ")
        for spec, says in (({**lease["spec"], "renewTime": "2020-01-01T00:00:00.000000Z"}, "renewed"), ({}, "none, renewed never ago")):
            lease["spec"] = spec
            done = self.ctl("--server", url, "status", check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stdout)
            self.assertIn("no instance leads: nothing is decided", done.stdout)
        del answers["/apis/coordination.k8s.io/v1/namespaces/kueue-system/leases/c1f6bfd2.kueue.x-k8s.io"], answers["/readyz"], answers[f"/apis/{KUEUE}/workloads"]
        out = self.ctl("--server", url, "status", check=False).stdout
        self.assertIn("the server is not ready", out)
        self.assertRegex(out, r"(?m)^leader .*is not there")
        self.assertIn("workloads is not there", out)


if __name__ == "__main__":
    unittest.main()
