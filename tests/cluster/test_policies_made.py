"""The policies that the daemon prints for a configuration, and a daemon with that configuration, agree about every job: what is
held back has a Workload, and what is managed does not run without one."""
import subprocess

from work_scene import *

QUEUE = "kueue.x-k8s.io/queue-name"
POLICIES = ("mutatingadmissionpolicy", "validatingadmissionpolicy")
TEAM = {"matchLabels": {"team": "queued"}}
ADAPTERS = ("--adapters", str(ROOT / "deploy/adapters"))

# frameworks (None: all), adapters, manageJobsWithoutQueueName
ROWS = ((None, True, False), (["batch/job"], True, True), (["pod"], False, True), (["jobset.x-k8s.io/jobset"], True, False),
        (None, False, True))


class MadePolicies(WorkScene):
    rows = ROWS

    def setUp(self):
        super().setUp()
        self.other = self.namespace[:55] + "-other"
        self.patched(f"/api/v1/namespaces/{self.namespace}", {"metadata": {"labels": {"team": "queued"}}})
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.other}})

    def tearDown(self):
        super().tearDown()
        self.plane.request("DELETE", f"/api/v1/namespaces/{self.other}")
        self.apply("-k", ROOT / "deploy/kubernetes/policies")
        self.plane.wait(policies_work, "the policies of deploy/kubernetes in force again")

    def apply(self, *arguments, stdin=None):
        self.plane.kubectl("apply", "--server-side", "--force-conflicts", *arguments, stdin=stdin)

    # --- the world of a row ---------------------------------------------------------------------------------------
    def printed(self, config, options):
        path = self.plane.run / "policies.yaml"
        path.write_text(json.dumps({"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **config}))
        made = subprocess.run([BUILD / "sluiced", "--print-policies", "1.36", "--config", path, *options], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        return made

    def put(self, policies):
        """These, and no other of ours."""
        for kind in POLICIES:
            wanted = set(re.findall(rf"^kind: {kind}$.*?^  name: (sluice-\S+)$", policies, re.MULTILINE | re.DOTALL | re.I))
            self.assertGreater(len(wanted), 1)
            names = self.plane.kubectl("get", kind, "-o", "name").stdout.split()
            gone = [n.split("/")[1] for n in names if n.split("/")[1].startswith("sluice-") and n.split("/")[1] not in wanted]
            if gone:
                self.plane.kubectl("delete", kind + "binding", *gone)
                self.plane.kubectl("delete", kind, *gone)
        self.apply("-f", "-", stdin=policies)

    def probe(self, kind, namespace, queue):
        template = {"spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [
            {"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}]}}
        name = f"{kind.lower()}-{'q' if queue else 'n'}"
        labels = {QUEUE: "main"} if queue else {}
        if kind == "Pod":
            return f"/api/v1/namespaces/{namespace}/pods", {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": template["spec"]}
        if kind == "Job":
            return f"/apis/batch/v1/namespaces/{namespace}/jobs", {
                "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": labels},
                "spec": {"template": template}}
        return f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{namespace}/jobsets", {
            "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": name, "labels": labels},
            "spec": {"replicatedJobs": [{"name": "a", "replicas": 1, "template": {"spec": {"template": template}}}]}}

    @staticmethod
    def held(obj):
        return bool(obj["spec"].get("suspend") or obj["spec"].get("schedulingGates"))

    LISTS = ("/apis/batch/v1/namespaces/{}/jobs", "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets",
             "/api/v1/namespaces/{}/pods")

    def clear(self):
        lists = [path.format(n) for n in (self.namespace, self.other) for path in (*self.LISTS, KUEUE + "/namespaces/{}/workloads")]
        for path in lists:
            self.plane.request("DELETE", path + "?propagationPolicy=Background")
        eventually(lambda: not any(self.plane.get(path)["items"] for path in lists), 20, what="all gone")

    # --- the tests ------------------------------------------------------------------------------------------------
    def test_what_is_held_back_has_a_workload(self):
        self.queues(100)
        self.jobsets_are_known()
        for frameworks, adapters, manage_all in self.rows:
            with self.subTest(frameworks=frameworks, adapters=adapters, all=manage_all):
                try:
                    self.row(frameworks, adapters, manage_all)
                finally:
                    self.clear()
                    self.stop_daemons()

    def row(self, frameworks, adapters, manage_all):
        config = {"managedJobsNamespaceSelector": TEAM, "manageJobsWithoutQueueName": manage_all}
        if frameworks:
            config["integrations"] = {"frameworks": frameworks}
        options = ADAPTERS if adapters else ()
        listed = {"Job": not frameworks or "batch/job" in frameworks, "Pod": not frameworks or "pod" in frameworks,
                  "JobSet": adapters and (not frameworks or "jobset.x-k8s.io/jobset" in frameworks)}
        cases = [(kind, namespace, queue, listed[kind] and namespace == self.namespace and (queue or manage_all))
                 for kind in listed for namespace in (self.namespace, self.other) for queue in (True, False)]
        self.put(self.printed(config, options))
        daemon = self.held_by(config, options)
        for kind, namespace, queue, managed in cases:
            path, obj = self.probe(kind, namespace, queue)
            eventually(lambda: self.held(self.dry(path, obj)) == managed, 20,
                       what=f"{kind} in {namespace}, queue {queue}: held back when it is created: {managed}")
        daemon = daemon or self.daemon(config=config, options=options)
        eventually(lambda: "admission policies are those that the configuration needs" in daemon.log(), what="that said")
        for kind, namespace, queue, managed in cases:
            path, obj = self.probe(kind, namespace, queue)
            status, answer = self.plane.request("POST", path, obj)
            self.assertEqual(status, 201, answer)
        managed = {self.probe(k, n, q)[1]["metadata"]["name"] for k, n, q, m in cases if m}
        unmanaged = {self.probe(k, n, q)[1]["metadata"]["name"] for k, n, q, m in cases if not m and n == self.namespace}
        eventually(lambda: managed <= self.owners(self.namespace), 20, what=f"Workloads of {sorted(managed)}")
        eventually(lambda: not self.held_without_one(), 20, what="a Workload for all that is held back")
        self.assertEqual(self.owners(self.namespace) & unmanaged, set())
        self.assertEqual(self.owners(self.other), set())

    def held_by(self, config, options):
        """The daemon that holds jobs back; None: policies do."""

    def owners(self, namespace):
        workloads = self.plane.get(f"{KUEUE}/namespaces/{namespace}/workloads")["items"]
        return {w["metadata"]["ownerReferences"][0]["name"] for w in workloads}

    def held_without_one(self):
        """Also what others make of the probes: the pods of a Job."""
        objects = [o for n in (self.namespace, self.other) for p in self.LISTS for o in self.plane.get(p.format(n))["items"]]
        held = {o["metadata"]["name"] for o in objects if self.held(o)}
        return held - self.owners(self.namespace)

    def dry(self, path, obj):
        status, answer = self.plane.request("POST", path + "?dryRun=All", obj)
        self.assertEqual(status, 201, answer)
        return answer

    def test_policies_for_more_than_is_managed_are_told(self):
        self.apply("-k", ROOT / "deploy/kubernetes/policies")
        daemon = self.daemon(config={"integrations": {"frameworks": ["batch/job"]}})
        eventually(lambda: "admission policies are not those that the configuration needs" in daemon.log(), what="warning")
        said = next(line for line in daemon.log().splitlines() if "admission policies are not" in line)
        for part in ("sluice-suspend-jobs", "sluice-gate-pods", "--print-policies 1."):
            self.assertIn(part, said)
        self.assertNotIn("sluice-batch-jobs", said)

    def test_all_jobs_are_those_of_the_component(self):
        """deploy/kubernetes/policies/all-jobs patches what the configuration's manageJobsWithoutQueueName makes."""
        overlay = self.plane.run / "all-jobs"
        overlay.mkdir(exist_ok=True)
        policies = os.path.relpath(ROOT / "deploy/kubernetes/policies", overlay)
        (overlay / "kustomization.yaml").write_text(f"resources: [{policies}]\ncomponents: [{policies}/all-jobs]\n")
        patched = self.expressions(self.plane.kubectl("kustomize", "--load-restrictor=LoadRestrictionsNone", overlay).stdout)
        made = self.expressions(self.printed({"manageJobsWithoutQueueName": True}, ADAPTERS))
        for policy, variable in (("sluice-suspend-jobs", "queue"), ("sluice-gate-pods", "queued"), ("sluice-start", "queued"),
                                 ("sluice-suspend-kubeflow-jobs", "queue"), ("sluice-resize-pods", "queued"),
                                 ("sluice-orphans", "queued"), ("sluice-default-priority", "queue")):
            self.assertEqual(made[policy][variable], patched[policy][variable], policy)

    def expressions(self, documents):
        """{policy: {variable: expression}}"""
        read = self.plane.kubectl("create", "--dry-run=client", "-o", "json", "-f", "-", stdin=documents).stdout
        found, at, decoder = {}, 0, json.JSONDecoder()
        while at < len(read.rstrip()):
            obj, at = decoder.raw_decode(read, at)
            at += len(read[at:]) - len(read[at:].lstrip())
            for item in obj.get("items", [obj]):
                found.setdefault(item["metadata"]["name"], {}).update(
                    {v["name"]: v["expression"] for v in item["spec"].get("variables", [])})
        return found
