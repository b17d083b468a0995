"""Releases on a real API server: one of Kueue's chart is upgraded to ours and rolled back; ours is changed, removed and installed again.

The daemon runs beside the control plane with the rights that the chart gives; pods of Deployments are fakes. In the place of a Kueue that runs,
the tests write what it would have written. One class, in the order of the names: each goes on from where the last has left the release."""
import re

import helm_scene
import test_takeover
import work_scene
from cluster_scene import KUEUE, eventually, job, local_queue, cluster_queue, flavor, condition, policies_work
from helm_scene import CHART, KUEUE_CHART, NAMESPACE, ROOT, json

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
HOOKS = [f"{ADMISSION}/mutatingwebhookconfigurations/kueue-mutating-webhook-configuration",
         f"{ADMISSION}/validatingwebhookconfigurations/kueue-validating-webhook-configuration"]
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}.kueue.x-k8s.io"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/kueue-batch-admin-role"
IMAGE = "--set=controllerManager.manager.image.repository=registry.example/sluice"


def helm(*arguments, release="kueue"):
    return helm_scene.helm(arguments[0], release, *arguments[1:], "--namespace", NAMESPACE,
                           kubeconfig=helm_scene.cluster_scene._plane.run / "admin.kubeconfig")


def silence_kueue():
    """No Kueue runs here that would answer: its webhooks stay, but ask nobody."""
    for path in HOOKS:
        status, answer = helm_scene.cluster_scene._plane.request("PATCH", path, {"webhooks": []}, "application/merge-patch+json")
        assert status == 200, answer


def kueue_first():
    """Before the controllers start: the garbage collector looks for new kinds only every 30 s."""
    plane = helm_scene.cluster_scene._plane
    helm_scene.only_others()
    helm("install", KUEUE_CHART, "--set=controllerManager.manager.podAnnotations.of=ours")
    silence_kueue()
    plane.kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd", "--all")


helm_scene.cluster_scene.install = kueue_first


class Release(work_scene.WorkScene):
    config = {}
    options = ("--adapters", str(ROOT / "deploy/adapters"))
    admit_as_kueue, two_queues = test_takeover.Takeover.admit_as_kueue, test_takeover.Takeover.two_queues

    def create(self, *objects):
        """As Kueue's webhook would, a Job is suspended."""
        for o in objects:
            if o["kind"] == "Job":
                o["spec"].setdefault("suspend", True)
        return super().create(*objects)

    def exists(self, path):
        status, _ = self.plane.request("GET", path)
        self.assertIn(status, (200, 404))
        return status == 200

    def uid(self, path):
        return self.plane.get(path)["metadata"]["uid"]

    def names(self, path):
        return {o["metadata"]["name"] for o in self.plane.get(path)["items"]}

    def sluice_is_installed(self, yes=True):
        self.assertEqual("sluice-controller-manager" in self.names(DEPLOYMENTS), yes)
        for kind, name in (("validating", "sluice-jobs"), ("validating", "sluice-start"), ("mutating", "sluice-suspend-jobs")):
            self.assertEqual(name in self.names(f"{ADMISSION}/{kind}admissionpolicies"), yes, name)

    def kueue_is_installed(self, yes=True):
        self.assertEqual("kueue-controller-manager" in self.names(DEPLOYMENTS), yes)
        self.assertEqual([self.exists(path) for path in HOOKS], [yes, yes])
        conversion = self.plane.get(CRD.format("workloads"))["spec"]["conversion"]
        service = conversion.get("webhook", {}).get("clientConfig", {}).get("service", {})
        self.assertEqual(service.get("name") == "kueue-webhook-service", yes, conversion)

    def conversion(self, plural):
        """The versions that are served, and who converts them."""
        spec = self.plane.get(CRD.format(plural))["spec"]
        return [v["name"] for v in spec["versions"] if v["served"]], spec["conversion"]["webhook"]["clientConfig"]["service"]["name"]

    def may_make_queues(self):
        return self.plane.request("POST", f"{KUEUE}/resourceflavors?dryRun=All", flavor("any"), token="user-token")[0] == 201

    def seen(self):
        """What a user would notice: each Job, Workload and pod, by its UID, and what the Workloads' status says of quota."""
        workloads = self.workloads()
        return {"jobs": {o["metadata"]["uid"]: o["spec"]["suspend"] for o in self.plane.get(self.job_path())["items"]},
                "workloads": {n: (w["metadata"]["uid"], w["status"].get("admission")) for n, w in workloads.items() if n in self.running},
                "pods": sorted(p["metadata"]["uid"] for p in self.pods()), "evicted": [n for n, w in workloads.items() if condition(w, "Evicted")]}

    def decides(self):
        """A daemon beside, which finds the policies that it needs, and a job of now that runs to its end."""
        d = self.daemon()
        eventually(lambda: "admission policies are" in d.log() or "admission policies do not" in d.log(), what="the comparison of policies")
        self.assertIn("admission policies are those that the configuration needs", d.log())
        return d

    def test_1_a_release_of_kueue_is_upgraded_and_rolled_back_and_no_job_notices(self):
        self.kueue_is_installed()
        self.sluice_is_installed(False)
        status, answer = self.plane.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "metadata": {"name": "queues"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kueue-batch-admin-role"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]})
        self.assertEqual(status, 201, answer)
        eventually(self.may_make_queues, what="jane's right")
        multi = f"{KUEUE}/multikueueconfigs"
        status, answer = self.plane.request("POST", multi, {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "MultiKueueConfig",
                                                            "metadata": {"name": "mk"}, "spec": {"clusters": ["w1"]}})
        self.assertEqual(status, 201, answer)
        multi = {multi + "/mk": self.uid(multi + "/mk"), ROLE: self.uid(ROLE), CRD.format("workloads"): self.uid(CRD.format("workloads"))}
        name = self.two_queues()
        self.admit_as_kueue("running", name, name, run_for="600s")
        self.create(job("waits", "main", cpu="2", parallelism=2, run_for="600s")) # for room
        self.running = ("running",)
        eventually(lambda: len(self.pods("running")) == 2, what="its pods")
        before = self.seen()

        done = helm_scene.run("upgrade", "kueue", CHART, "--reuse-values", "--namespace", NAMESPACE, kubeconfig=self.plane.run / "admin.kubeconfig")
        self.assertIn("use --reset-then-reuse-values", done.stderr)
        self.kueue_is_installed()
        # Objects of an older Kueue's are stored in v1beta1 until each has been written again.
        self.patched(CRD.format("clusterqueues") + "/status", {"status": {"storedVersions": ["v1beta1", "v1beta2"]}})
        done = helm_scene.run("upgrade", "kueue", CHART, IMAGE, "--reset-then-reuse-values", "--namespace", NAMESPACE,
                              kubeconfig=self.plane.run / "admin.kubeconfig")
        self.assertIn("clusterqueues.kueue.x-k8s.io: objects are stored in v1beta1 (status.storedVersions): set enableV1beta1=true", done.stderr)
        self.kueue_is_installed()
        helm("upgrade", CHART, IMAGE, "--reset-then-reuse-values", "--set=enableV1beta1=true")
        self.kueue_is_installed(False)
        self.sluice_is_installed()
        self.assertEqual(self.conversion("clusterqueues"), (["v1beta2", "v1beta1"], "sluice-webhook-service"))
        template = self.plane.get(f"{DEPLOYMENTS}/sluice-controller-manager")["spec"]["template"]
        self.assertEqual(template["metadata"]["annotations"]["of"], "ours") # the user's values are taken over
        self.plane.wait(policies_work, "the policies in force")
        self.assertEqual({path: self.uid(path) for path in multi}, multi)
        eventually(self.may_make_queues, what="jane's right")
        d = self.decides()
        self.settles_at(f"{KUEUE}/clusterqueues/{name}", 2)
        self.workload("waits", lambda w: condition(w, "QuotaReserved"), "a decision")
        self.create(job("small", "main", run_for="100ms"))
        self.finished("small")
        after = self.seen()
        self.assertEqual({k: after[k] for k in ("workloads", "evicted")}, {k: before[k] for k in ("workloads", "evicted")})
        self.assertLessEqual(set(before["pods"]), set(after["pods"]))
        self.assertLessEqual(before["jobs"].items(), after["jobs"].items())

        self.assertEqual(d.stop(), 0)
        before = self.seen()
        helm("rollback", "1") # what was refused is no revision
        silence_kueue()
        self.kueue_is_installed()
        self.sluice_is_installed(False)
        self.assertEqual({path: self.uid(path) for path in multi}, multi)
        eventually(self.may_make_queues, what="jane's right")
        self.assertEqual(self.seen(), before)

        # Nothing is left in v1beta1, and no client of it.
        self.patched(CRD.format("clusterqueues") + "/status", {"status": {"storedVersions": ["v1beta2"]}})
        helm("upgrade", CHART, IMAGE)
        self.kueue_is_installed(False)
        self.plane.wait(policies_work, "the policies in force")
        self.decides()
        self.settles_at(f"{KUEUE}/clusterqueues/{name}", 2)
        self.assertEqual(self.seen(), before)

    def test_2_values_change_and_come_back(self):
        d = self.daemon()
        queue = self.queues(4)
        self.create(job("kept", "main", run_for="600s"))
        self.admitted("kept")
        eventually(lambda: len(self.pods("kept")) == 1, what="its pod")
        self.running = ("kept",)
        before = self.seen()
        path = f"{DEPLOYMENTS}/sluice-controller-manager"
        old = self.plane.get(path)["spec"]
        config = "kind: Configuration\napiVersion: config.kueue.x-k8s.io/v1beta2\nintegrations: {frameworks: [batch/job]}\n"
        config = self.plane.run / "values.json", {"managerConfig": {"controllerManagerConfigYaml": config}, "controllerManager": {"replicas": 3}}
        config[0].write_text(json.dumps(config[1]))
        notes = helm("upgrade", CHART, "--reuse-values", f"--values={config[0]}", "--set=enableVisibilityAPF=true,webhookService.type=ClusterIP")
        for part in ("sluiced --print-policies 1.36", "have no effect here: webhookService.", "kueue-batch-admin-role"):
            self.assertIn(part, notes)
        new = self.plane.get(path)["spec"]
        self.assertEqual((old["replicas"], new["replicas"]), (2, 3))
        key = "checksum/config"
        self.assertNotEqual(old["template"]["metadata"]["annotations"][key], new["template"]["metadata"]["annotations"][key])
        self.assertIn("batch/job", self.plane.get(f"/api/v1/namespaces/{NAMESPACE}/configmaps/sluice-config")["data"]["config.yaml"])
        self.assertTrue(self.exists("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/sluice-visibility"))
        helm("rollback")
        back = self.plane.get(path)["spec"]
        self.assertEqual((back["replicas"], back["template"]), (2, old["template"]))
        self.assertFalse(self.exists("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/sluice-visibility"))
        self.assertTrue(d.running())
        self.settles_at(queue, 1)
        self.assertEqual(self.seen(), before)

    def test_3_what_users_made_outlives_the_release(self):
        self.daemon()
        queue = self.queues(4)
        self.create(job("kept", "main", run_for="600s"))
        self.admitted("kept")
        eventually(lambda: len(self.pods("kept")) == 1, what="its pod")
        self.running = ("kept",)
        before = self.seen(), self.uid(queue), self.uid(CRD.format("clusterqueues"))
        self.stop_daemons()
        helm("uninstall")
        self.sluice_is_installed(False)
        for group, kinds in (("/apis/rbac.authorization.k8s.io/v1", ("clusterroles", "clusterrolebindings")), (f"/api/v1/namespaces/{NAMESPACE}", ("services", "configmaps")),
                             ("/apis/apiregistration.k8s.io/v1", ("apiservices",)), (ADMISSION, ("mutatingadmissionpolicybindings", "validatingadmissionpolicybindings"))):
            for kind in kinds:
                self.assertEqual([n for n in self.names(f"{group}/{kind}") if "sluice" in n or "kueue" in n and n != "queues" and "v1beta" not in n], [], kind)
        self.assertEqual((self.seen(), self.uid(queue), self.uid(CRD.format("clusterqueues"))), before)
        self.assertTrue(self.exists(CRD.format("multikueueconfigs")))
        helm("install", CHART, IMAGE)
        self.sluice_is_installed()
        self.plane.wait(policies_work, "the policies in force")
        self.decides()
        self.settles_at(queue, 1)
        self.create(job("after", "main", run_for="100ms"))
        self.finished("after")
        after = self.seen()
        self.assertEqual(after["workloads"], before[0]["workloads"])
        self.assertLessEqual(set(before[0]["pods"]), set(after["pods"]))

    def test_4_kueues_chart_can_be_installed_again(self):
        """Without a rollback: the CRDs have outlived the release, and Kueue's take their place."""
        queue = self.queues(4)
        before = self.uid(queue)
        helm("uninstall")
        helm("install", KUEUE_CHART)
        silence_kueue()
        self.kueue_is_installed()
        self.assertEqual({v["name"]: v["storage"] for v in self.plane.get(CRD.format("workloads"))["spec"]["versions"]}, {"v1beta1": False, "v1beta2": True})
        self.assertEqual(self.uid(queue), before)
        helm("upgrade", CHART, IMAGE)
        self.kueue_is_installed(False)
        self.sluice_is_installed()
        self.assertEqual(self.uid(queue), before)

    def test_5_a_kueue_that_was_applied_is_taken_over_as_well(self):
        """As docs/migration.md says it, for those who have Kueue by its manifests and want Sluice by helm."""
        queue = self.queues(4)
        before = self.uid(queue)
        helm("uninstall")
        self.plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=helm_scene.template(chart=KUEUE_CHART))
        silence_kueue()
        self.kueue_is_installed()
        done = helm_scene.run("install", "kueue", CHART, "--namespace", NAMESPACE, kubeconfig=self.plane.run / "admin.kubeconfig")
        self.assertIn("cannot be imported into the current release", done.stderr)
        self.plane.kubectl("replace", "-k", ROOT / "deploy/kubernetes/crds") # helm would leave the conversion webhook in
        helm("install", CHART, IMAGE, "--take-ownership")
        self.plane.kubectl("delete", "mutatingwebhookconfiguration/kueue-mutating-webhook-configuration",
                           "validatingwebhookconfiguration/kueue-validating-webhook-configuration")
        self.plane.kubectl("delete", "-n", NAMESPACE, "deployment/kueue-controller-manager")
        self.kueue_is_installed(False)
        self.sluice_is_installed()
        self.assertEqual(self.uid(queue), before)
        self.decides()
        self.create(job("after", "main", run_for="100ms"))
        self.finished("after")

    def test_6_kustomize_takes_over_as_well(self):
        """The steps of docs/migration.md, typed."""
        queue = self.queues(4)
        before = self.uid(queue)
        helm("uninstall")
        helm("install", KUEUE_CHART, "--take-ownership") # of what the last test has left of an applied one
        silence_kueue()
        steps = re.findall(r"`(kubectl [^`]*)`", (ROOT / "docs/migration.md").read_text().split("\n## Over\n")[1].split("\n## Back\n")[0].replace("\n   ", " "))
        typed = [s for s in steps if s.split()[1] not in ("get",)]
        self.assertEqual([s.split()[1] for s in typed], ["-n", "delete", "delete", "replace", "apply", "apply"])
        for step in typed:
            self.plane.kubectl(*(str(ROOT / w) if w.startswith("deploy/") else w for w in step.split()[1:]))
        self.assertEqual([self.exists(path) for path in HOOKS], [False, False])
        self.sluice_is_installed()
        self.assertEqual(self.uid(queue), before)
        self.assertEqual(self.plane.get(ROLE)["metadata"]["labels"]["app.kubernetes.io/name"], "sluice")
        self.decides()
        self.create(job("after", "main", run_for="100ms"))
        self.finished("after")
