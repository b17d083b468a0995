"""Standalone mode with `--run external`: Kubernetes' own controllers and scheduler, and kwok, run Jobs by Sluice's API server, which
admits them."""
import json, pathlib, signal, subprocess, time, unittest

from controlplane import die_with_parent, find, free_port
from work_scene import holds
from runs import Runs
from daemon import cluster_queue, eventually, flavor, local_queue

HERE = pathlib.Path(__file__).resolve().parent
JOBS = "/apis/batch/v1/namespaces/default/jobs"
PODS = "/api/v1/namespaces/default/pods"
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
# They want kinds that are not served here: volumes, claims of devices, Services, budgets of disruption.
PLUGINS_OFF = ("DefaultPreemption", "DynamicResources", "InterPodAffinity", "NodeVolumeLimits", "PodTopologySpread", "VolumeBinding",
               "VolumeRestrictions", "VolumeZone")
CONTROLLERS = "job-controller,garbage-collector-controller,ttl-after-finished-controller"


def job(name, pods=2, run_for="200ms", fail=False, **spec):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default", "labels": {
                "kueue.x-k8s.io/queue-name": "main"}},
            "spec": {"parallelism": pods, "completions": pods, "suspend": True, **spec, "template": {
                "metadata": {"annotations": {"test/run-for": run_for, "test/fail": "true" if fail else "false"}},
                "spec": {"restartPolicy": "Never", "containers": [
                    {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}}}


class External(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sluice = Runs(run="external").start()
        cls.addClassCleanup(cls.sluice.close)
        config = cls.sluice.kubeconfig
        cls.make({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}})  # where leaders have their Leases
        cls.begin("kwok", f"--kubeconfig={config}", "--manage-all-nodes=true", f"--config={HERE}/stages.yaml",
                  f"--server-address=127.0.0.1:{free_port()}", "--node-lease-duration-seconds=0")
        cls.controllers = cls.begin(
            "kube-controller-manager", f"--kubeconfig={config}", "--bind-address=127.0.0.1",
            f"--secure-port={free_port()}", f"--cert-dir={cls.sluice.home}/certs", f"--controllers={CONTROLLERS}", "--kube-api-content-type=application/json",
            "--kube-api-qps=1000", "--kube-api-burst=2000", "--concurrent-gc-syncs=2")
        scheduler = cls.sluice.home / "scheduler.yaml"
        scheduler.write_text(json.dumps({
            "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(config), "contentType": "application/json"},
            "profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": name} for name in PLUGINS_OFF]}}}]}))
        cls.begin("kube-scheduler", f"--config={scheduler}", "--bind-address=127.0.0.1", f"--secure-port={free_port()}",
                  f"--cert-dir={cls.sluice.home}/scheduler-certs")
        cls.make({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "kwok-0", "annotations": {"kwok.x-k8s.io/node": "fake"}},
                  "status": {"allocatable": {"cpu": "8", "pods": "50"}, "capacity": {"cpu": "8", "pods": "50"}}},
                 flavor("f"), cluster_queue("team", {"f": {"cpu": "2"}}), local_queue("main", "team"))

    @classmethod
    def begin(cls, name, *arguments):
        log = open(cls.sluice.home / f"{name}.log", "wb")
        process = subprocess.Popen([find(name), *arguments], stdout=log, stderr=log, preexec_fn=die_with_parent)

        def end():
            process.send_signal(signal.SIGKILL)
            process.wait()
            log.close()
        cls.addClassCleanup(end)
        return process

    @classmethod
    def make(cls, *objects):
        for o in objects:
            cls.sluice.kubectl("create", "-f", "-", stdin=json.dumps(o))

    def say(self):
        return (self.sluice.home / "kube-controller-manager.log").read_text(errors="replace")[-3000:]

    def job(self, name):
        return self.sluice.get(f"{JOBS}/{name}")

    def ended(self, name, how, seconds=60):
        try:
            return eventually(lambda: (lambda j: holds(j, how) and j)(self.job(name)), seconds, f"{name} is {how}")
        except AssertionError as e:
            raise AssertionError(f"{e}\n{self.job(name)}\n{self.say()}") from None

    def pods(self, name):
        return self.sluice.get(f"{PODS}?labelSelector=batch.kubernetes.io/job-name%3D{name}")["items"]

    def workloads(self, job):
        return [w for w in self.sluice.get(f"{KUEUE}/namespaces/default/workloads")["items"]
                if w["metadata"]["ownerReferences"][0]["name"] == job]

    def test_a_job_completes_by_the_controllers_of_kubernetes(self):
        self.make(job("done"))
        done = self.ended("done", "Complete")
        self.assertEqual(done["status"]["succeeded"], 2)
        self.assertEqual([p["status"]["phase"] for p in self.pods("done")], ["Succeeded"] * 2)
        self.assertEqual({p["spec"]["nodeName"] for p in self.pods("done")}, {"kwok-0"})
        workload = eventually(lambda: next((w for w in self.workloads("done") if holds(w, "Finished")), None), what="its Workload is finished")
        self.assertTrue(holds(workload, "Admitted"))

    def test_a_job_waits_for_quota_and_fails_by_itself(self):
        self.make(job("long", run_for="3s"))
        eventually(lambda: len(self.pods("long")) == 2, 60, "two pods")
        self.make(job("waits", backoffLimit=0, fail=True))
        eventually(lambda: self.job("waits")["metadata"].get("uid"), what="it is there")
        self.assertTrue(self.job("waits")["spec"]["suspend"])
        self.assertEqual(self.pods("waits"), [])
        self.ended("long", "Complete")
        self.ended("waits", "Failed")

    def test_what_a_deleted_job_has_made_is_collected(self):
        """Nothing of the daemon does that here: its pods, and its Workload, stay while the controllers stand still."""
        for policy in "background", "foreground":
            name = f"deleted-{policy}"
            self.make(job(name, pods=1, run_for="1h"))
            eventually(lambda: [p["status"].get("phase") for p in self.pods(name)] == ["Running"], 60, f"{name} runs")
            self.controllers.send_signal(signal.SIGSTOP)
            try:
                self.sluice.kubectl("delete", "job", name, f"--cascade={policy}", "--wait=false")
                time.sleep(1)
                self.assertEqual((len(self.pods(name)), len(self.workloads(name))), (1, 1))
            finally:
                self.controllers.send_signal(signal.SIGCONT)
            eventually(lambda: (self.pods(name), self.workloads(name)) == ([], []), 60, f"what {name} had made is deleted")
            eventually(lambda: self.sluice.request("GET", f"{JOBS}/{name}")[0] == 404, 60, f"{name} is deleted")

    def test_a_suspended_job_has_no_pods_and_goes_on_later(self):
        """As an administrator does it: the Workload is deactivated, and activated again."""
        self.make(job("paused", pods=2, run_for="1h"))
        eventually(lambda: len(self.pods("paused")) == 2, 60, "two pods")
        workload, = self.workloads("paused")
        name = workload["metadata"]["name"]
        for active, suspended, pods in ((False, True, 0), (True, False, 2)):
            self.sluice.kubectl("patch", "workload", name, "--type=merge", "-p", json.dumps({"spec": {"active": active}}))
            eventually(lambda: (self.job("paused")["spec"]["suspend"], len(self.pods("paused"))) == (suspended, pods), 60,
                       f"suspend is {suspended}, {pods} pods")
        self.sluice.kubectl("delete", "job", "paused")

    def test_what_is_finished_goes_in_time_with_its_pods(self):
        self.make(job("gone", pods=1, ttlSecondsAfterFinished=1))
        eventually(lambda: self.sluice.request("GET", f"{JOBS}/gone")[0] == 404, 60, "the Job is deleted")
        eventually(lambda: self.pods("gone") == [], 30, "its pods are deleted")

    def test_a_queued_pod_is_bound_once_it_is_admitted(self):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {
                   "name": "queued", "namespace": "default", "labels": {"kueue.x-k8s.io/queue-name": "main"},
                   "annotations": {"test/run-for": "200ms"}},
               "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}
        self.make(pod)
        def ended():
            now = self.sluice.get(f"{PODS}/queued")
            return now if now.get("status", {}).get("phase") == "Succeeded" else None
        pod = eventually(ended, 60, "the pod has succeeded")
        self.assertEqual((pod["spec"]["nodeName"], pod["spec"].get("schedulingGates", [])), ("kwok-0", []))

    def test_nothing_is_simulated(self):
        """A pod of which no scheduler takes care has no node, and does not run."""
        self.make({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone", "namespace": "default"},
                   "spec": {"schedulerName": "other", "containers": [{"name": "c", "image": "i"}]}})
        self.make(job("witness", pods=1))
        self.ended("witness", "Complete")
        pod = self.sluice.get(f"{PODS}/alone")
        self.assertEqual((pod["spec"].get("nodeName"), pod.get("status", {}).get("phase", "Pending")), (None, "Pending"))


if __name__ == "__main__":
    unittest.main()
