"""What the chart renders, without a cluster: the manifests of kustomize by default, and what each value changes in them."""
import shutil, unittest

from helm_scene import *

OF_RELEASE = {"helm.sh/chart", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "app.kubernetes.io/version"}
DEPLOYMENT = ("Deployment", NAMESPACE, "sluice-controller-manager")
METRICS = ("Service", NAMESPACE, "sluice-metrics")
CONFIG = ("ConfigMap", NAMESPACE, "sluice-config")
BUDGET = ("PodDisruptionBudget", NAMESPACE, "sluice-controller-manager")
NETWORK = ("NetworkPolicy", NAMESPACE, "sluice-controller-manager")


def parsed(text):
    """The Configuration, as an object."""
    return next(iter(objects(text.rstrip() + "\nmetadata: {name: x}\n").values()))


def without_release(found):
    """Without the labels of a release, what helm alone has a use for, and the names by which kustomize follows contents."""
    for o in found.values():
        meta = o["metadata"]
        for label in OF_RELEASE:
            meta.get("labels", {}).pop(label, None)
        if o["kind"] == "CustomResourceDefinition":
            meta.get("annotations", {}).pop("helm.sh/resource-policy", None)
        if o["kind"] == "ConfigMap" and "config.yaml" in o["data"]:
            meta["name"] = "sluice-config"
            o["data"] = parsed(o["data"]["config.yaml"])
        if o["kind"] == "Deployment":
            template = o["spec"]["template"]
            template["metadata"]["labels"].pop("app.kubernetes.io/instance", None)
            template["metadata"].pop("annotations", None)
            template["spec"]["volumes"][0]["configMap"]["name"] = "sluice-config"
            template["spec"]["containers"][0].pop("imagePullPolicy", None)
        if o["kind"] == "Service":
            o["spec"].setdefault("type", "ClusterIP")
        for key in ("annotations", "labels"):
            if meta.get(key) == {}:
                del meta[key]
    return {(o["kind"], o["metadata"].get("namespace", ""), o["metadata"]["name"]): o for o in found.values()}


class Chart(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="sluice-chart-")
        self.addCleanup(shutil.rmtree, self.home)

    def render(self, *options, **tree):
        return rendered(values(self.home, **tree), *options)

    def container(self, **tree):
        return self.render(**tree)[DEPLOYMENT]["spec"]["template"]["spec"]["containers"][0]

    def refused(self, *parts, **tree):
        done = run("template", "kueue", CHART, "--namespace", NAMESPACE, values(self.home, **tree))
        self.assertNotEqual(done.returncode, 0)
        for part in parts:
            self.assertIn(part, done.stderr)

    def same(self, helms, kustomizes):
        self.assertEqual(sorted(set(kustomizes) - set(helms)), [])
        self.assertEqual(sorted(set(helms) - set(kustomizes)), [])
        for key, o in kustomizes.items():
            with self.subTest(key):
                self.assertEqual(helms[key], o)

    def test_by_default_it_is_what_kustomize_has_object_by_object(self):
        wanted = {**kustomized(""), **kustomized("visibility")}
        del wanted[("Namespace", "", NAMESPACE)] # helm's --create-namespace
        helms = without_release(rendered("--set=controllerManager.manager.image.tag=latest"))
        wanted = without_release(wanted)
        for key in (k for k in wanted if k[0] == "APIService"): # applied by itself, so without the label of the whole
            self.assertEqual(helms[key]["metadata"].pop("labels"), {"app.kubernetes.io/name": "sluice"})
        self.same(helms, wanted)

    def test_the_webhook_comes_where_policies_cannot_mutate(self):
        webhook = without_release(kustomized("webhook"))
        now, older = rendered(), without_release(rendered("--kube-version=1.33.0"))
        self.assertEqual(set(webhook) & set(now), set())
        for key, o in webhook.items():
            with self.subTest(key):
                o["metadata"].setdefault("labels", {})["app.kubernetes.io/name"] = "sluice"
                self.assertEqual(older[key], o)
        for options, there in ((("--set=webhook.enabled=true",), True), (("--set=webhook.enabled=false", "--kube-version=1.33.0"), False),
                               (("--set=enableV1beta1=true",), True)):
            with self.subTest(options):
                self.assertEqual(set(webhook) <= set(rendered(*options)), there)
        self.assertNotIn(("NetworkPolicy", NAMESPACE, "sluice-webhook"), rendered("--set=webhook.enabled=true,networkPolicy.enabled=false"))

    def test_crds_with_v1beta1_are_those_of_the_component(self):
        at = os.path.relpath(ROOT / "deploy/kubernetes", os.path.realpath(self.home))
        with open(os.path.join(self.home, "kustomization.yaml"), "w") as f:
            json.dump({"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": [f"{at}/crds"],
                       "components": [f"{at}/v1beta1"]}, f)
        wanted = without_release(kustomized(self.home))
        self.assertEqual(len(wanted), 9)
        helms = without_release(rendered("--set=enableV1beta1=true"))
        for key, o in wanted.items():
            with self.subTest(key):
                self.assertEqual([v["name"] for v in helms[key]["spec"]["versions"]], ["v1beta2", "v1beta1"])
                self.assertEqual(helms[key]["spec"], o["spec"])
        elsewhere = template("--set=enableV1beta1=true", namespace="queues")
        self.assertNotIn("kueue-system", elsewhere)

    def test_a_packed_chart_has_the_manifests_in_it(self):
        helm("package", CHART, "--destination", self.home)
        (packed,) = [name for name in os.listdir(self.home) if name.endswith(".tgz")]
        self.assertEqual(template(chart=os.path.join(self.home, packed)), template())

    def test_monitoring_is_what_kustomize_has_and_the_right_to_find_it(self):
        more = without_release(rendered("--set=enablePrometheus=true,controllerManager.manager.image.tag=latest"))
        for key in rendered():
            more.pop(key, None)
        self.assertEqual({k[2] for k in more if k[0] in ("Role", "RoleBinding")}, {"sluice-prometheus"})
        wanted = without_release(kustomized("monitoring"))
        for key in wanted:
            with self.subTest(key):
                self.assertEqual(more[key]["spec" if "spec" in more[key] else "data"], wanted[key]["spec" if "spec" in wanted[key] else "data"])

    def test_everything_is_marked_as_the_releases(self):
        for key, o in rendered("--set=enablePrometheus=true,enableCertManager=true,enableVisibilityAPF=true").items():
            with self.subTest(key):
                labels = o["metadata"]["labels"]
                self.assertEqual((labels["app.kubernetes.io/managed-by"], labels["app.kubernetes.io/instance"],
                                  labels["app.kubernetes.io/name"]), ("Helm", "kueue", "sluice"))

    def test_users_objects_outlive_the_release(self):
        for key, o in rendered().items():
            kept = o["metadata"].get("annotations", {}).get("helm.sh/resource-policy") == "keep"
            self.assertEqual(kept, key[0] == "CustomResourceDefinition", key)

    def test_another_namespace_is_meant_everywhere(self):
        text = template(namespace="queues")
        self.assertNotIn("kueue-system", text)
        self.assertEqual(parsed(objects(text)[("ConfigMap", "queues", "sluice-config")]["data"]["config.yaml"])["namespace"], "queues")
        self.assertIn(("RoleBinding", "kube-system", "sluice-authentication-reader"), objects(text))

    def test_roles_are_named_as_kueues_chart_names_them(self):
        for release, options, prefix in (("kueue", [], "kueue"), ("my-kueue", [], "my-kueue"), ("queues", [], "kueue"),
                                         ("queues", ["--set=fullnameOverride=q"], "q"), ("a-batch", ["--set=nameOverride=batch"], "a-batch")):
            with self.subTest(release=release, options=options):
                roles = {k[2] for k in rendered(*options, release=release) if k[0] == "ClusterRole"}
                self.assertIn(f"{prefix}-batch-admin-role", roles)
                self.assertEqual([r for r in roles if not r.startswith((f"{prefix}-", "sluice-"))], [])

    def test_values_of_the_deployment(self):
        pull, spread, taint = [{"name": "s"}], [{"maxSkew": 1}], [{"key": "t", "operator": "Exists"}]
        found = self.render(controllerManager={
            "replicas": 5, "imagePullSecrets": pull, "strategy": {"type": "Recreate"}, "hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet",
            "nodeSelector": {"a": "b"}, "tolerations": taint, "affinity": {"nodeAffinity": {}}, "topologySpreadConstraints": spread,
            "featureGates": [{"name": "PartialAdmission", "enabled": False}, {"name": "TopologyAwareScheduling", "enabled": True}],
            "livenessProbe": {"periodSeconds": 99}, "readinessProbe": {"failureThreshold": 9}, "podDisruptionBudget": {"minAvailable": 2},
            "manager": {"priorityClassName": "high", "podAnnotations": {"n": "o"}, "resources": {"requests": {"cpu": "3"}}, "logLevel": 4,
                        "image": {"repository": "r.example/sluice", "tag": "t", "pullPolicy": "Always"},
                        "podSecurityContext": {"runAsUser": 7}, "containerSecurityContext": {"privileged": False}}})
        spec = found[DEPLOYMENT]["spec"]
        pod = spec["template"]["spec"]
        c = pod["containers"][0]
        self.assertEqual((spec["replicas"], spec["strategy"], pod["hostNetwork"], pod["dnsPolicy"]), (5, {"type": "Recreate"}, True, "ClusterFirstWithHostNet"))
        self.assertEqual((pod["imagePullSecrets"], pod["nodeSelector"], pod["tolerations"]), (pull, {"a": "b"}, taint))
        self.assertEqual((pod["affinity"], pod["topologySpreadConstraints"], pod["priorityClassName"]), ({"nodeAffinity": {}}, spread, "high"))
        self.assertEqual((pod["securityContext"]["runAsUser"], pod["securityContext"]["runAsNonRoot"]), (7, True))
        self.assertEqual((c["securityContext"]["privileged"], c["securityContext"]["readOnlyRootFilesystem"]), (False, True))
        self.assertEqual((c["image"], c["imagePullPolicy"], c["resources"]), ("r.example/sluice:t", "Always", {"requests": {"cpu": "3"}}))
        self.assertEqual(c["args"][-2:], ["--zap-log-level=4", "--feature-gates=PartialAdmission=false,TopologyAwareScheduling=true"])
        self.assertEqual((c["livenessProbe"]["periodSeconds"], c["livenessProbe"]["httpGet"]["path"]), (99, "/healthz"))
        self.assertEqual(c["readinessProbe"]["failureThreshold"], 9)
        self.assertEqual(spec["template"]["metadata"]["annotations"]["n"], "o")
        self.assertEqual({k: v for k, v in found[BUDGET]["spec"].items() if k != "selector"}, {"minAvailable": 2})

    def test_zero_is_a_value(self):
        self.assertEqual(self.render(controllerManager={"replicas": 0})[DEPLOYMENT]["spec"]["replicas"], 0)
        self.assertIn("--zap-log-level=0", self.container(controllerManager={"manager": {"logLevel": 0}})["args"])

    def test_what_is_not_wanted_is_not_made(self):
        found = self.render(enableCRDs=False, enableVisibilityAPIServices=False, enableVisibilityAuthReaderRoleBinding=False, networkPolicy={"enabled": False},
                            admissionPolicies={"enabled": False}, controllerManager={"podDisruptionBudget": {"enabled": False}})
        kinds = {k[0] for k in found}
        self.assertEqual(kinds, {"ClusterRole", "ClusterRoleBinding", "ConfigMap", "Deployment", "Role", "RoleBinding", "Service", "ServiceAccount"})
        self.assertEqual({k[1] for k in found} - {""}, {NAMESPACE})

    def test_ports_are_those_of_the_configuration(self):
        text = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nmetrics: {bindAddress: ':9999'}\nhealth: {healthProbeBindAddress: '[::]:9998'}\n"
        found = self.render(managerConfig={"controllerManagerConfigYaml": text})
        ports = {p["name"]: p["containerPort"] for p in found[DEPLOYMENT]["spec"]["template"]["spec"]["containers"][0]["ports"]}
        self.assertEqual((ports["metrics"], ports["health"], ports["visibility"]), (9999, 9998, 8082))
        self.assertEqual(next(p for p in found[METRICS]["spec"]["ports"] if p["targetPort"] == "metrics")["port"], 9999)
        self.assertEqual({p["port"] for r in found[NETWORK]["spec"]["ingress"] for p in r["ports"]}, {9999, 8082})
        self.assertEqual(parsed(found[CONFIG]["data"]["config.yaml"])["namespace"], NAMESPACE)
        other = self.render(managerConfig={"controllerManagerConfigYaml": text + "manageJobsWithoutQueueName: true\n"})
        sums = [f[DEPLOYMENT]["spec"]["template"]["metadata"]["annotations"]["checksum/config"] for f in (found, other)]
        self.assertNotEqual(*sums, "pods are not made anew when the Configuration changes")
        found = self.render(metricsService={"ports": [{"name": "m", "port": 1}], "type": "NodePort", "labels": {"a": "b"}, "annotations": {"c": "d"}})[METRICS]
        self.assertEqual((found["spec"]["ports"], found["spec"]["type"], found["metadata"]["labels"]["a"], found["metadata"]["annotations"]),
                         ([{"name": "m", "port": 1}], "NodePort", "b", {"c": "d"}))

    def test_a_certificate_of_cert_manager_is_served_and_checked(self):
        found = self.render(enableCertManager=True, kubernetesClusterDomain="k8s.example")
        self.assertIn(("Issuer", NAMESPACE, "sluice-selfsigned"), found)
        certificate = found[("Certificate", NAMESPACE, "sluice-visibility-cert")]["spec"]
        service = found[("APIService", "", "v1beta2.visibility.kueue.x-k8s.io")]
        self.assertIn(f"{service['spec']['service']['name']}.{NAMESPACE}.svc", certificate["dnsNames"])
        self.assertIn(f"sluice-visibility.{NAMESPACE}.svc.k8s.example", certificate["dnsNames"])
        self.assertNotIn("insecureSkipTLSVerify", service["spec"])
        self.assertEqual(service["metadata"]["annotations"], {"cert-manager.io/inject-ca-from": f"{NAMESPACE}/sluice-visibility-cert"})
        pod = found[DEPLOYMENT]["spec"]["template"]["spec"]
        mounts = {m["name"]: m["mountPath"] for m in pod["containers"][0]["volumeMounts"]}
        self.assertIn({"name": "visibility", "secret": {"secretName": certificate["secretName"]}}, pod["volumes"])
        self.assertIn(f"--tls-dir={mounts['visibility']}", pod["containers"][0]["args"])
        mine = {"name": "mine", "kind": "ClusterIssuer", "group": "cert-manager.io"}
        found = self.render(enableCertManager=True, certManager={"issuerRef": mine})
        self.assertEqual(found[("Certificate", NAMESPACE, "sluice-visibility-cert")]["spec"]["issuerRef"], mine)
        self.assertNotIn("Issuer", {k[0] for k in found})

    def test_flow_of_the_visibility_api(self):
        found = rendered("--set=enableVisibilityAPF=true")
        schema = found[("FlowSchema", "", "sluice-visibility")]["spec"]
        self.assertIn(("PriorityLevelConfiguration", "", schema["priorityLevelConfiguration"]["name"]), found)
        self.assertEqual(schema["rules"][0]["resourceRules"][0]["apiGroups"], ["visibility.kueue.x-k8s.io"])

    def test_policies_are_of_the_version_that_is_served(self):
        def versions(*options):
            return {o["apiVersion"].split("/")[1] for k, o in rendered(*options).items() if k[0].startswith("MutatingAdmissionPolicy")}

        for minor, wanted in ((30, set()), (33, set()), (35, set()), (36, {"v1"})):
            with self.subTest(minor):
                self.assertEqual(versions(f"--kube-version=1.{minor}"), wanted)
        served = "--api-versions=v1/Pod"
        self.assertEqual(versions(served), set()) # a cluster that was asked, and has none
        self.assertEqual(versions(served, "--api-versions=admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicy"), {"v1beta1"})

    def test_policies_that_were_printed_take_the_place_of_the_shipped(self):
        config = os.path.join(self.home, "config.yaml")
        with open(config, "w") as f:
            f.write("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nintegrations: {frameworks: [batch/job]}\n")
        printed = subprocess.run([BUILD / "sluiced", "--print-policies", "1.36", "--config", config], capture_output=True, text=True, check=True).stdout
        path = os.path.join(self.home, "policies.yaml")
        with open(path, "w") as f:
            f.write(printed)
        found = {k: o["spec"] for k, o in rendered(f"--set-file=admissionPolicies.manifest={path}").items() if "AdmissionPolicy" in k[0]}
        self.assertEqual(found, {k: o["spec"] for k, o in objects(printed).items()})
        self.assertNotIn(("MutatingAdmissionPolicy", "", "sluice-gate-pods"), found)

    def test_what_cannot_be_meant_is_refused(self):
        self.refused("KueueViz is not in this chart", enableKueueViz=True)
        self.refused("Kueue's own program", controllerManager={"manager": {"image": {"repository": "registry.k8s.io/kueue/kueue"}}})
        self.refused("additional properties 'replica' not allowed", controllerManager={"replica": 3})
        self.refused("is not YAML", managerConfig={"controllerManagerConfigYaml": "a: [b"})
        self.refused('namespace is "other"', managerConfig={"controllerManagerConfigYaml": "namespace: other"})
        self.refused("only one of them", controllerManager={"featureGates": [{"name": "A", "enabled": True}]},
                     managerConfig={"controllerManagerConfigYaml": "featureGates: {B: true}"})
        self.refused("admissionPolicies.manifest", admissionPolicies={"manifest": "a: [b"})

    def test_all_values_of_kueues_chart_are_known(self):
        """Its values.yaml as a whole, which is what many keep a copy of, but for the name of the image."""
        done = run("template", "kueue", CHART, f"--values={KUEUE_CHART / 'values.yaml'}")
        self.assertIn("Kueue's own program", done.stderr)
        found = rendered(f"--values={KUEUE_CHART / 'values.yaml'}", "--set=controllerManager.manager.image.repository=r.example/sluice")
        config = parsed(found[CONFIG]["data"]["config.yaml"])
        self.assertEqual(config["leaderElection"]["resourceName"], "c1f6bfd2.kueue.x-k8s.io")
        path = os.path.join(self.home, "config.yaml")
        with open(path, "w") as f:
            f.write(found[CONFIG]["data"]["config.yaml"])
        done = subprocess.run([BUILD / "sluiced", "--check-config", path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
