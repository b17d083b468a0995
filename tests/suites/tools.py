#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Kueue's importer and kueue-populator, as its source makes them, on the control plane of tests/cluster where Sluice is.

usage: KUEUE=~/kueue tests/suites/tools.py [TEST]...     needs `make all cluster-tools`, and Go"""
import json, os, pathlib, subprocess, sys, unittest

from places import *
from work_scene import WorkScene
import cluster_scene
import test_policies_made

WITHOUT, WITH = ({"integrations": {"frameworks": list}} for list in (["batch/job"], ["batch/job", "pod"]))


def built(name, source, *flags):
    program = BUILD / "suites/bin" / name
    if not program.exists():
        subprocess.run(["go", "build", "-buildvcs=false", *flags, "-o", program, f"./{source}"], cwd=os.environ["KUEUE"], check=True,
                       env={**os.environ, "GOFLAGS": "-mod=vendor"})
    return program


def populator(port):
    """It would listen on every address of this machine: told not to by an overlay of its main file."""
    main = pathlib.Path(os.environ["KUEUE"]) / "cmd/experimental/kueue-populator/main.go"
    text = main.read_text()
    assert '":8081"' in text, main
    ours = BUILD / "suites/populator-main.go"
    ours.write_text(text.replace('HealthProbeBindAddress: ":8081",', f'HealthProbeBindAddress: "127.0.0.1:{port}", Metrics: metricsserver.Options{{BindAddress: "0"}},')
                    .replace('"sigs.k8s.io/controller-runtime/pkg/log/zap"',
                             '"sigs.k8s.io/controller-runtime/pkg/log/zap"\n\tmetricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"'))
    overlay = BUILD / "suites/populator.json"
    overlay.write_text(json.dumps({"Replace": {str(main): str(ours)}}))
    (BUILD / "suites/bin/populator").unlink(missing_ok=True)
    return built("populator", "cmd/experimental/kueue-populator", "-overlay", overlay)


class Scene(WorkScene):
    def env(self):
        return {**os.environ, "KUBECONFIG": str(self.plane.run / "admin.kubeconfig")}

    def local_queues(self, namespace):
        return {q["metadata"]["name"]: q for q in self.plane.get(f"{KUEUE}/namespaces/{namespace}/localqueues")["items"]}


class Importer(Scene):
    """Pods that run already come under a quota, and new ones wait for what they leave. It is to be run while nothing queues
    pods, as with Kueue: the policies are those of a configuration without them until it has been."""
    printed, put, apply = (getattr(test_policies_made.MadePolicies, name) for name in ("printed", "put", "apply"))

    def setUp(self):
        super().setUp()
        self.put(self.printed(WITHOUT, ()))
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        probe = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"kueue.x-k8s.io/queue-name": "main"}},
                 "spec": {"containers": [{"name": "c", "image": "i"}]}}
        self.gated = lambda: "schedulingGates" in self.plane.request("POST", path + "?dryRun=All", probe)[1].get("spec", {})
        eventually(lambda: not self.gated(), 20, "policies that leave pods alone")

    def tearDown(self):
        self.plane.request("DELETE", self.pod_path() + "?gracePeriodSeconds=0")
        super().tearDown()
        self.apply("-k", ROOT / "deploy/kubernetes/policies")
        self.plane.wait(cluster_scene.policies_work, "the policies of deploy/kubernetes in force again")

    def queue_pods(self):
        self.put(self.printed(WITH, ()))
        eventually(self.gated, 20, "policies for pods")
        self.daemon(config=WITH)

    def pod_path(self, name=""):
        return f"/api/v1/namespaces/{self.namespace}/pods" + (f"/{name}" if name else "")

    def pod(self, name, **labels):
        self.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels, "annotations": {"test/run-for": "1h"}},
                     "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [
                         {"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "2"}}}]}})

    def phase(self, name):
        return self.plane.get(self.pod_path(name)).get("status", {}).get("phase")

    def run_import(self, *more):
        done = subprocess.run([built("importer", "cmd/importer"), "import", "-n", self.namespace, "--queuelabel", "team",
                               "--queuemapping", "a=main,b=gone", *more], env=self.env(), capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def prepared(self):
        self.queues(5)
        for name in ("one", "two"):
            self.pod(name, team="a")
        for name in ("one", "two"):
            eventually(lambda: self.phase(name) == "Running", 30, f"{name} runs")

    def imported(self):
        code, said = self.run_import()
        self.assertEqual(code, 0, said)
        self.assertIn('"dry-run" is enabled by default', said)
        self.assertEqual(self.workloads(), {}, "nothing is done yet")
        code, said = self.run_import("--dry-run=false")
        self.assertEqual(code, 0, said)

    def counted(self, queue):
        """Both hold quota as the importer wrote it, and run on; a third waits, and starts when one of them ends."""
        eventually(lambda: self.used(queue) == (4000, 4000), 30, "what both use is counted")
        for name in ("one", "two"):
            w = self.workload(name, lambda w: holds(w, "Admitted"))
            self.assertEqual((condition(w, "QuotaReserved")["reason"], condition(w, "Admitted")["reason"]), ("Imported", "Imported"))
        self.pod("three", **{"kueue.x-k8s.io/queue-name": "main"})
        self.workload("three", lambda w: (condition(w, "QuotaReserved") or {}).get("status") == "False", "a wait")
        self.assertEqual([self.phase(n) for n in ("one", "two", "three")], ["Running", "Running", "Pending"])
        self.plane.request("DELETE", self.pod_path("one"))
        eventually(lambda: self.phase("three") == "Running", 30, "the third runs")
        self.assertEqual(self.phase("two"), "Running")

    def test_before_sluice_is_started(self):
        self.prepared()
        self.imported()
        self.queue_pods()
        self.counted(f"{KUEUE}/clusterqueues/{self.namespace}-main")

    def test_while_sluice_leaves_pods_alone(self):
        self.daemon(config=WITHOUT)
        self.prepared()
        self.imported()
        self.stop_daemons()
        self.queue_pods()
        self.counted(f"{KUEUE}/clusterqueues/{self.namespace}-main")

    def test_what_it_refuses(self):
        self.daemon(config=WITHOUT)
        self.prepared()
        self.pod("lost", team="b")
        code, said = self.run_import("--dry-run=false")
        self.assertEqual(code, 1)
        self.assertIn("local queue", said.lower())


class Populator(Scene):
    def test_a_local_queue_for_each_namespace_that_a_queue_serves(self):
        d = self.daemon()
        config = self.plane.run / "populator.yaml"
        config.write_text(json.dumps({"localQueueName": "all", "managedJobsNamespaceSelector": {"matchLabels": {"team": "a"}}}))
        with open(self.plane.run / "log/populator.log", "wb") as log:
            program = subprocess.Popen([populator(free_port()), "--config", config], env=self.env(), stdout=log, stderr=log, preexec_fn=die_with_parent)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        path = f"/api/v1/namespaces/{self.namespace}"
        self.create(flavor("f"), cluster_queue("everyone", {"f": {"cpu": "4"}}, namespaceSelector={"matchLabels": {"team": "a"}}))
        self.assertNotIn("all", self.local_queues(self.namespace))
        self.patched(path, {"metadata": {"labels": {"team": "a"}}})
        queue = eventually(lambda: self.local_queues(self.namespace).get("all"), 30, "a LocalQueue")
        self.assertEqual((queue["spec"]["clusterQueue"], queue["metadata"]["labels"]), ("everyone", {"kueue.x-k8s.io/auto-generated": "true"}))
        eventually(lambda: condition(self.local_queues(self.namespace)["all"], "Active")["status"] == "True", 20, "that it is active")
        self.create(cluster_scene.job("j", "all"))
        self.finished("j")
        events = self.plane.get("/apis/events.k8s.io/v1/namespaces/default/events")["items"]
        self.assertIn("LocalQueueCreated", {e["reason"] for e in events if e["regarding"]["name"] == "everyone"})
        self.assertTrue(d.running() and program.poll() is None)


if __name__ == "__main__":
    if "KUEUE" not in os.environ:
        sys.exit(__doc__)
    test = unittest.main(exit=False, verbosity=2, argv=sys.argv)
    bad = len(test.result.failures) + len(test.result.errors)
    print(f"tools: {test.result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad > 0)
