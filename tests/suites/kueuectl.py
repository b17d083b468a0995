#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""kueuectl, as Kueue's source makes it: each verb against the daemon standalone and on the control plane of tests/cluster,
and what it prints.

usage: KUEUE=~/kueue tests/suites/kueuectl.py [standalone|cluster|TEST]...     needs `make all cluster-tools`, and Go
environment: KUEUECTL: a kueuectl that is built already"""
import json, os, re, subprocess, sys, unittest

from places import *

CLUSTER_KINDS = ("clusterqueues", "cohorts", "resourceflavors")


def build():
    program = BUILD / "suites/bin/kubectl-kueue"
    if not program.exists():
        subprocess.run(["go", "build", "-buildvcs=false", "-o", program, "./cmd/kueuectl"], cwd=os.environ["KUEUE"], check=True,
                       env={**os.environ, "GOFLAGS": "-mod=vendor"})
    return program


def rows(text):
    """A table as it is printed: [{column: cell}], by where the columns begin."""
    head, *lines = text.splitlines()
    starts = [m.start() for m in re.finditer(r"(?<!\S)\S+( \S+)*", head)]
    cells = [[line[a:b].strip() for a, b in zip(starts, starts[1:] + [None])] for line in (head, *lines)]
    return [dict(zip(cells[0], c)) for c in cells[1:]]


class Scene(unittest.TestCase):
    """Each test begins with a flavor, a queue of 4 CPUs and a LocalQueue `user`."""

    def setUp(self):
        self.place = self.places()
        self.addCleanup(self.clear)
        self.place.apply(flavor("plain"), cluster_queue("main", {"plain": {"cpu": "4"}}), local_queue("user", "main"))

    def clear(self):
        for path in ("/apis/batch/v1/namespaces/default/jobs", f"{KUEUE}/namespaces/default/workloads", f"{KUEUE}/namespaces/default/localqueues",
                     *(f"{KUEUE}/{kind}" for kind in CLUSTER_KINDS)):
            for o in self.place.objects(path):
                self.place.request("DELETE", f"{path}/{o['metadata']['name']}?propagationPolicy=Background")
            eventually(lambda: not self.place.objects(path), 30, f"an end of {path}")

    def run_it(self, *arguments, stdin="", env=None):
        env = {**os.environ, "KUBECONFIG": str(self.place.kubeconfig), "PATH": f"{BUILD / 'e2e/bin'}:{os.environ['PATH']}", **(env or {})}
        return subprocess.run([PROGRAM, *arguments], input=stdin, text=True, capture_output=True, timeout=60, env=env)

    def ctl(self, *arguments, **more):
        """What it prints."""
        done = self.run_it(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def says(self, line, *arguments, **more):
        self.assertEqual(self.ctl(*arguments, **more), line + "\n")

    def refuses(self, line, *arguments):
        done = self.run_it(*arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(done.stderr.strip(), f"Error: {line}")

    def finds_nothing(self, where, *arguments):
        done = self.run_it(*arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", f"No resources found{where}\n"))

    def spec(self, kind, name):
        return self.place.get(f"{KUEUE}/{kind}/{name}")["spec"]

    def here(self, name):
        return self.spec("namespaces/default/localqueues", name)

    def listed(self, *arguments, **more):
        return rows(self.ctl("list", *arguments, **more))

    def names(self, *arguments):
        return [r["NAME"] for r in self.listed(*arguments)]

    def jobs(self, *names, cpu="2"):
        """The Workloads' names; the first two have room. One as large as one that waits may have no status yet."""
        for n in names:
            self.place.job(n, "user", cpu=cpu)
            self.place.until(lambda w: True, n, "a Workload")
        return [self.place.workloads()[n]["metadata"]["name"] for n in names]

    def admitted(self, name):
        return self.place.until(lambda w: holds(w, "Admitted"), name, "an admission")


class Create(Scene):
    def test_resource_flavor(self):
        self.says("resourceflavor.kueue.x-k8s.io/small created", "create", "resourceflavor", "small", "--node-labels", "zone=a,disk=ssd",
                  "--node-taints", "gpu=yes:NoSchedule", "--tolerations", "gpu=yes:NoSchedule,spot:NoExecute")
        self.assertEqual(self.spec("resourceflavors", "small"), {
            "nodeLabels": {"zone": "a", "disk": "ssd"}, "nodeTaints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
            "tolerations": [{"key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoSchedule"},
                            {"key": "spot", "operator": "Exists", "effect": "NoExecute"}]})
        self.refuses('resourceflavors.kueue.x-k8s.io "small" already exists', "create", "rf", "small")

    def test_cluster_queue(self):
        self.says("clusterqueue.kueue.x-k8s.io/team created", "create", "clusterqueue", "team", "--cohort", "org", "--queuing-strategy", "StrictFIFO",
                  "--namespace-selector", "team=a", "--reclaim-within-cohort", "Any", "--preemption-within-cluster-queue", "LowerPriority",
                  "--nominal-quota", "plain:cpu=4;memory=8Gi", "--borrowing-limit", "plain:cpu=2;memory=1Gi", "--lending-limit", "plain:cpu=1;memory=0")
        spec = self.spec("clusterqueues", "team")
        self.assertEqual({k: spec[k] for k in ("cohortName", "queueingStrategy", "namespaceSelector", "stopPolicy", "resourceGroups")}, {
            "cohortName": "org", "queueingStrategy": "StrictFIFO", "namespaceSelector": {"matchLabels": {"team": "a"}}, "stopPolicy": "None",
            "resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": [{"name": "plain", "resources": [
                {"name": "cpu", "nominalQuota": "4", "borrowingLimit": "2", "lendingLimit": "1"},
                {"name": "memory", "nominalQuota": "8Gi", "borrowingLimit": "1Gi", "lendingLimit": "0"}]}]}]})
        self.assertEqual({k: spec["preemption"][k] for k in ("reclaimWithinCohort", "withinClusterQueue")},
                         {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"})
        self.refuses('clusterqueues.kueue.x-k8s.io "team" already exists', "create", "cq", "team")

    def test_local_queue(self):
        self.says("localqueue.kueue.x-k8s.io/mine created", "create", "localqueue", "mine", "-c", "main", "-n", "default")
        self.assertEqual(self.here("mine")["clusterQueue"], "main")
        self.refuses('clusterqueues.kueue.x-k8s.io "nowhere" not found', "create", "lq", "lost", "-c", "nowhere")
        self.says("localqueue.kueue.x-k8s.io/lost created", "create", "lq", "lost", "-c", "nowhere", "--ignore-unknown-cq")

    def test_a_dry_run_leaves_nothing(self):
        self.says("resourceflavor.kueue.x-k8s.io/dry created (client dry run)", "create", "rf", "dry", "--dry-run=client")
        self.says("resourceflavor.kueue.x-k8s.io/dry created (server dry run)", "create", "rf", "dry", "--dry-run=server")
        made = json.loads(self.ctl("create", "lq", "dry", "-c", "main", "--dry-run=server", "-o", "json"))
        self.assertEqual((made["kind"], made["spec"]), ("LocalQueue", {"clusterQueue": "main", "stopPolicy": "None"}))
        self.assertIn("clusterQueue: main", self.ctl("create", "lq", "dry", "-c", "main", "--dry-run=client", "-o", "yaml"))
        self.assertEqual([o["metadata"]["name"] for o in self.place.objects(f"{KUEUE}/resourceflavors")], ["plain"])
        self.assertEqual([o["metadata"]["name"] for o in self.place.objects(f"{KUEUE}/namespaces/default/localqueues")], ["user"])


class List(Scene):
    def test_queues_and_flavors(self):
        self.place.apply(cluster_queue("held", {"plain": {"cpu": "1"}}, "org", stopPolicy="Hold"),
                         {**flavor("ssd", nodeLabels={"disk": "ssd"}), "metadata": {"name": "ssd", "labels": {"kind": "disk"}}})
        self.jobs("a", "b", "c")
        eventually(lambda: self.listed("cq")[1]["PENDING WORKLOADS"] == "1", 10, "a status of the queue")
        queue = {r.pop("NAME"): r for r in self.listed("clusterqueue")}
        self.assertTrue(all(re.fullmatch(r"\d+s|\d+m\d*s?", r.pop("AGE")) for r in queue.values()), queue)
        self.assertEqual(queue, {"held": {"COHORT": "org", "PENDING WORKLOADS": "0", "ADMITTED WORKLOADS": "0", "ACTIVE": "false"},
                                 "main": {"COHORT": "", "PENDING WORKLOADS": "1", "ADMITTED WORKLOADS": "2", "ACTIVE": "true"}})
        self.assertEqual((self.names("cq", "--active=true"), self.names("cq", "--active=false")), (["main"], ["held"]))
        one = eventually(lambda: [r for r in self.listed("localqueue") if r["PENDING WORKLOADS"] == "1"], 10, "a status of the LocalQueue")[0]
        self.assertEqual((one["NAME"], one["CLUSTERQUEUE"], one["ADMITTED WORKLOADS"]), ("user", "main", "2"))
        self.assertEqual(self.listed("lq", "-A")[0]["NAMESPACE"], "default")
        self.assertEqual([(r["NAME"], r["NODE LABELS"]) for r in self.listed("rf")], [("plain", ""), ("ssd", "disk=ssd")])
        self.assertEqual(self.names("rf", "--selector", "kind=disk"), ["ssd"])
        self.assertEqual(self.names("cq", "--field-selector", "metadata.name=held"), ["held"])
        self.assertEqual([o["metadata"]["name"] for o in json.loads(self.ctl("list", "lq", "-o", "json"))["items"]], ["user"])
        self.finds_nothing("", "list", "cq", "--selector", "none=such")
        self.finds_nothing(" in kube-system namespace.", "list", "lq", "-n", "kube-system")
        self.assertEqual([r["NAME"] for r in self.listed("rf", env={"KUEUECTL_LIST_REQUEST_LIMIT": "1"})], ["plain", "ssd"], "pages of one")

    def test_workloads(self):
        a, b, c, d = self.jobs("a", "b", "c", "d")
        self.admitted("a"), self.admitted("b")
        eventually(lambda: self.listed("workload")[-1]["POSITION IN QUEUE"] == "1", 10, "a place in the queue")
        seen = {r["NAME"]: r for r in self.listed("workload")}
        self.assertEqual({n: (r["JOB TYPE"], r["JOB NAME"], r["LOCALQUEUE"], r["CLUSTERQUEUE"], r["STATUS"], r["POSITION IN QUEUE"]) for n, r in seen.items()},
                         {a: ("job", "a", "user", "main", "ADMITTED", ""), b: ("job", "b", "user", "main", "ADMITTED", ""),
                          c: ("job", "c", "user", "main", "PENDING", "0"), d: ("job", "d", "user", "main", "PENDING", "1")})
        self.assertTrue(seen[a]["EXEC TIME"] and not seen[c]["EXEC TIME"])
        self.assertEqual(self.names("kwl", "--status", "pending"), [c, d])
        self.assertEqual(self.names("workload", "--status", "admitted", "--status", "pending"), [a, b, c, d])
        self.finds_nothing(" in default namespace.", "list", "workload", "--status", "finished")
        self.assertEqual(self.names("workload", "--clusterqueue", "main"), [a, b], "of those with an admission")
        self.assertEqual(self.names("workload", "--localqueue", "user", "-A"), [a, b, c, d])
        self.assertEqual(self.names("workload", "--for", "job/c"), [c])
        self.assertEqual(self.names("workload", "--field-selector", "status.admission.clusterQueue=main"), [a, b], "a field of the CRD")

    def test_pods(self):
        self.jobs("a")
        self.admitted("a")
        if self.place.on_cluster:
            eventually(lambda: self.run_it("list", "pods", "--for", "job/a").stdout, 20, "a pod")
            self.assertRegex(self.names("pods", "--for", "job/a")[0], "^a-")
        else:
            self.finds_nothing(" in default namespace.", "list", "pods", "--for", "job/a")


class StopAndResume(Scene):
    def test_workload(self):
        name, = self.jobs("a")
        self.admitted("a")
        self.says(f"workload.kueue.x-k8s.io/{name} stopped", "stop", "workload", name)
        self.place.until(lambda w: not w["spec"]["active"] and not holds(w, "Admitted"), "a", "an eviction")
        self.says(f"workload.kueue.x-k8s.io/{name} resumed", "resume", "workload", name)
        self.assertTrue(self.admitted("a")["spec"]["active"])

    def stop_and_resume(self, kind, short, name, spec):
        self.jobs("a", "b", "c")
        self.admitted("a"), self.admitted("b")
        said = f"{kind}.kueue.x-k8s.io/{name}"
        for dry in ("client", "server"):
            self.says(f"{said}  ({dry} dry run)", "stop", kind, name, "--dry-run", dry)
        self.assertEqual(spec(name)["stopPolicy"], "None")
        self.says(said, "stop", short, name, "--keep-already-running")
        self.assertEqual(spec(name)["stopPolicy"], "Hold")
        self.place.until(lambda w: (condition(w, "QuotaReserved") or {}).get("reason") in ("Inadmissible", "Pending", "Suspended"), "c", "a hold")
        self.assertTrue(holds(self.place.workloads()["a"], "Admitted"))
        self.says(said, "stop", kind, name)
        self.assertEqual(spec(name)["stopPolicy"], "HoldAndDrain")
        for job in "ab":
            self.place.until(lambda w: not holds(w, "Admitted"), job, "an eviction")
        self.says(said, "resume", short, name)
        self.assertEqual(spec(name)["stopPolicy"], "None")
        eventually(lambda: sum(holds(w, "Admitted") for w in self.place.workloads().values()) == 2, 30, "two admissions")

    def test_local_queue(self):
        self.stop_and_resume("localqueue", "lq", "user", self.here)

    def test_cluster_queue(self):
        self.stop_and_resume("clusterqueue", "cq", "main", lambda name: self.spec("clusterqueues", name))


class Delete(Scene):
    def test_workload_and_its_job(self):
        a, b = self.jobs("a", "b")
        asked = (f"This operation will also delete:\n  - jobs.batch/a associated with the default/{a} workload\n"
                 "Do you want to proceed (y/n)? ")
        self.says(asked + "Deletion is canceled", "delete", "workload", a, stdin="n\n")
        self.says("jobs.batch/a deleted (server dry run)", "delete", "workload", a, "--yes", "--dry-run=server")
        self.assertEqual(sorted(self.place.workloads()), ["a", "b"])
        self.says(asked + "jobs.batch/a deleted", "delete", "workload", a, stdin="y\n")
        self.gone(a)
        self.says("jobs.batch/b deleted", "delete", "kwl", "--all", "-y")
        eventually(lambda: not self.place.workloads(), 30, "an end of both")

    def gone(self, name):
        """It deletes the job and leaves the Workload to whoever collects garbage. On a cluster a Job leaves what it owns
        where it is, unless the request says otherwise: the Workload is finished then, as with Kueue."""
        workloads = f"{KUEUE}/namespaces/default/workloads"
        if self.place.on_cluster:
            eventually(lambda: (condition(self.place.get(f"{workloads}/{name}"), "Finished") or {}).get("reason") == "OwnerNotFound", 30, "an end")
            self.assertEqual(self.names("workload", "--status", "finished"), [name])
            self.says(f"workload.kueue.x-k8s.io/{name} deleted", "delete", "workload", name)
        eventually(lambda: self.place.request("GET", f"{workloads}/{name}")[0] == 404, 30, "an end of the Workload")

    def test_workload_without_a_job(self):
        self.place.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "alone", "namespace": "default"},
                          "spec": {"queueName": "user", "podSets": [{"name": "main", "count": 1, "template": {"spec": {
                              "restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}}]}})
        self.says("workload.kueue.x-k8s.io/alone deleted", "delete", "workload", "alone", "-y")
        done = self.run_it("delete", "workload", "alone", "-y")
        self.assertEqual((done.returncode, done.stderr), (0, 'workloads.kueue.x-k8s.io "alone" not found\n'))


class PassThrough(Scene):
    """To kubectl, which is in PATH."""

    def test_get(self):
        name, = self.jobs("a")
        for kind, one in (("workload", name), ("kwl", name), ("clusterqueue", "main"), ("cq", "main"), ("localqueue", "user"), ("lq", "user"),
                          ("resourceflavor", "plain"), ("rf", "plain")):
            self.assertEqual(self.ctl("get", kind, one, "-o", "jsonpath={.metadata.name}"), one)
        self.assertEqual(rows(self.ctl("get", "cq"))[0]["NAME"], "main")

    def test_describe(self):
        name, = self.jobs("a")
        self.admitted("a")
        text = eventually(lambda: (lambda t: t if " Admitted " in t else None)(self.ctl("describe", "workload", name)), 20, "an event")
        for part in (f"Name:         {name}", "Cluster Queue:  main", "Quota reserved in ClusterQueue main", "Admitted by ClusterQueue main"):
            self.assertIn(part, text)
        self.assertIn("Can admit new workloads", self.ctl("describe", "cq", "main"))

    def test_edit_and_patch(self):
        self.says("localqueue.kueue.x-k8s.io/user patched", "patch", "lq", "user", "--type=merge", "-p", '{"spec":{"stopPolicy":"Hold"}}')
        self.assertEqual(self.here("user")["stopPolicy"], "Hold")
        self.says("localqueue.kueue.x-k8s.io/user edited", "edit", "lq", "user", env={"KUBE_EDITOR": "sed -i s/Hold/None/"})
        self.assertEqual(self.here("user")["stopPolicy"], "None")
        self.says("resourceflavor.kueue.x-k8s.io/plain patched", "patch", "rf", "plain", "--type=json",
                  "-p", '[{"op":"add","path":"/spec/nodeLabels","value":{"a":"b"}}]')
        self.assertEqual(self.spec("resourceflavors", "plain"), {"nodeLabels": {"a": "b"}})

    def test_delete(self):
        for kind, name in (("localqueue", "user"), ("clusterqueue", "main"), ("resourceflavor", "plain")):
            self.assertIn(f'{kind}.kueue.x-k8s.io "{name}" deleted', self.ctl("delete", kind, name))
        self.assertEqual(self.place.objects(f"{KUEUE}/resourceflavors"), [])


class Around(Scene):
    def test_version(self):
        """It looks for a Deployment kueue-controller-manager: that is Kueue's own, and with Sluice there is none."""
        text = self.ctl("version")
        self.assertRegex(text, r"\AClient Version: v\S+\n\Z")

    def test_completions(self):
        self.place.apply(cluster_queue("held", {"plain": {"cpu": "1"}}, stopPolicy="Hold"))
        name, = self.jobs("a")
        eventually(lambda: self.ctl("__complete", "stop", "cq", "").splitlines()[:2] == ["main", ":4"], 10, "one that is active")
        self.assertEqual(self.ctl("__complete", "resume", "cq", "").splitlines()[0], "held")
        self.assertEqual(self.ctl("__complete", "stop", "workload", "").splitlines()[0], name)
        self.assertIn("default", self.ctl("__complete", "list", "lq", "-n", "").splitlines())


def main(words):
    modes = {"standalone": Standalone, "cluster": Cluster}
    wanted = [w for w in words if w not in modes]
    ran = bad = 0
    for mode in [w for w in words if w in modes] or modes:
        place = modes[mode]()
        Scene.places = lambda self: place
        try:
            tests = unittest.defaultTestLoader.loadTestsFromNames(wanted, sys.modules[__name__]) if wanted else \
                unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
            print(f"{mode}:", flush=True)
            result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(tests)
        finally:
            place.close()
        ran, bad = ran + result.testsRun, bad + len(result.failures) + len(result.errors)
    print(f"kueuectl: {ran - bad} passed, {bad} failed")
    return bad


if __name__ == "__main__":
    if not {"KUEUE", "KUEUECTL"} & set(os.environ):
        sys.exit(__doc__)
    PROGRAM = os.environ.get("KUEUECTL") or build()
    sys.exit(main(sys.argv[1:]) > 0)
