"""The webhook where the cluster has no MutatingAdmissionPolicy: it does what these would to the same objects, every replica serves
it, and a cluster without a daemon refuses what would have to be held back."""
import atexit, base64, datetime, http.client, ssl, subprocess

import cluster_scene
from controlplane import ControlPlane
import test_policies_made
from test_policies_made import ADAPTERS, QUEUE, TEAM
from work_scene import *

REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
MUTATING = REGISTRATION + "/mutatingwebhookconfigurations/sluice-mutating-webhook-configuration"
VALIDATING = REGISTRATION + "/validatingwebhookconfigurations/sluice-validating-webhook-configuration"
SECRET = "/api/v1/namespaces/kueue-system/secrets/sluice-webhook-server-cert"
LISTEN = ("--webhook-listen", "127.0.0.1:0")
VERSION = "1.33"
_older = None


def older():
    """A control plane of Kubernetes 1.33, which serves no MutatingAdmissionPolicy, with what docs/install.md says to apply."""
    global _older
    if _older is None:
        _older = ControlPlane(cluster_scene.BUILD / "cluster-older", nodes=1, version=VERSION)
        atexit.register(_older.stop)
        _older.start(install)
    return _older


def install():
    overlay = _older.run / "install"
    overlay.mkdir()
    page = (ROOT / "docs/install.md").read_text().split("## Older clusters")[1]
    kustomization = re.search(r"```yaml\n(.*?)```", page, re.DOTALL).group(1)
    (overlay / "kustomization.yaml").write_text(kustomization.replace("PATH", os.path.relpath(ROOT, overlay.resolve())))
    (overlay / "policies.yaml").write_text(print_policies())
    _older.kubectl("apply", "--server-side", "-k", overlay)
    _older.kubectl("apply", "--server-side", "-f", ROOT / "tests/cluster/other-crds.yaml")
    _older.kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd", "--all")


def print_policies():
    return subprocess.run([BUILD / "sluiced", "--print-policies", VERSION, "--webhook", "on", *ADAPTERS], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def put_policies(plane):
    plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=print_policies())


def hooks(plane, path):
    return plane.get(path).get("webhooks", [])


def registered(plane):
    return bool(hooks(plane, MUTATING) and hooks(plane, VALIDATING))


def silence(plane):
    """Nobody is asked any more: a namespace of the next test could not have its pods else."""
    for path in (MUTATING, VALIDATING):
        plane.request("PATCH", path, [{"op": "add", "path": "/webhooks", "value": []}], "application/json-patch+json")


class Webhooks(WorkScene):
    control_plane = staticmethod(older)
    options = LISTEN

    def tearDown(self):
        super().tearDown()
        silence(self.plane)

    def webhook(self, options=(), **keywords):
        daemon = self.daemon(options=[*LISTEN, *ADAPTERS, *options], **keywords)
        eventually(lambda: registered(self.plane), what="registered")
        return daemon

    def port(self, daemon):
        return int(eventually(lambda: re.search(r'port=(\d+) pages="webhook', daemon.log()), what="served").group(1))

    def ask(self, daemon, path, body, content_type="application/json"):
        """(status, answer, certificate) of the daemon itself, believed by the authority that is in the Secret."""
        authority = base64.b64decode(self.plane.get(SECRET)["data"]["ca.crt"]).decode()
        connection = http.client.HTTPSConnection("127.0.0.1", self.port(daemon), timeout=5,
                                                 context=ssl.create_default_context(cadata=authority))
        connection.request("POST", path, body if isinstance(body, str) else json.dumps(body), {"Content-Type": content_type})
        certificate = connection.sock.getpeercert()
        response = connection.getresponse()
        return response.status, json.loads(response.read()), certificate

    def review(self, obj, resource="jobs", group="batch"):
        return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {
            "uid": "u", "operation": "CREATE", "namespace": self.namespace, "object": obj,
            "resource": {"group": group, "version": "v1", "resource": resource}}}

    # --- jobs and pods --------------------------------------------------------------------------------------------
    def test_jobs_run_by_the_webhook_where_policies_cannot_mutate(self):
        daemon = self.webhook()
        self.assertIn("MutatingAdmissionPolicy is not served", daemon.log())
        self.queues(4)
        made = self.create(job("a", queue="main"))
        self.assertTrue(made["spec"]["suspend"])
        self.assertFalse(self.create(job("free"))["spec"]["suspend"])
        self.finished("a")
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {QUEUE: "main"}}, "spec": {
            "restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}
        made = self.create(pod)
        self.assertEqual([g["name"] for g in made["spec"]["schedulingGates"]],
                         ["kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology"])
        self.admitted("p")
        eventually(lambda: not self.plane.get(f"/api/v1/namespaces/{self.namespace}/pods/p")["spec"].get("schedulingGates"),
                   what="gates gone")
        self.plane.request("DELETE", f"/api/v1/namespaces/{self.namespace}/pods/p")
        eventually(lambda: "admission policies are those that the configuration needs" in daemon.log(), what="policies fit")

    def test_default_queue_and_class_of_the_webhook(self):
        self.webhook()
        self.queues(4, name="default")
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": "default"},
                     "value": 7})
        path = self.job_path() + "?dryRun=All"
        wanted = {QUEUE: "default", "kueue.x-k8s.io/priority-class": "default"}
        eventually(lambda: wanted.items() <= self.plane.request("POST", path, job("d"))[1]["metadata"]["labels"].items(),
                   what="both defaults")
        made = self.create(job("d"))
        self.assertTrue(made["spec"]["suspend"])
        self.not_patched(self.job_path("d"), {"metadata": {"labels": {QUEUE: None}}}, "default queue")

    def test_mistakes_are_refused_with_their_field(self):
        self.webhook()
        self.queues(4)
        status, answer = self.post({**cluster_queue("two", {}), "spec": {"queueingStrategy": "Random"}})
        self.assertIn(status, (403, 422), answer)
        self.refuse(job("a", queue="A_b"), "metadata.labels[kueue.x-k8s.io/queue-name]")
        bad = job("b", queue="main", template={"kueue.x-k8s.io/podset-required-topology": "x",
                                               "kueue.x-k8s.io/podset-preferred-topology": "y"})
        self.refuse(bad, "topology")

    # --- who is down, who leads -----------------------------------------------------------------------------------
    def test_without_a_daemon_what_would_be_held_back_is_refused(self):
        daemon = self.webhook(config={"managedJobsNamespaceSelector": TEAM})
        other = self.namespace[:55] + "-o"
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": other}})
        self.patched(f"/api/v1/namespaces/{self.namespace}", {"metadata": {"labels": {"team": "queued"}}})
        self.is_asked()
        daemon.kill()
        status, answer = self.dry(job("a", queue="main"))
        self.assertEqual(status, 500, answer)
        self.assertIn('failed calling webhook "mjobs.sluice.dev"', answer["message"])
        status, answer = self.plane.request("POST", f"/apis/batch/v1/namespaces/{other}/jobs", job("a", queue="main"))
        self.assertEqual(status, 201, answer)
        again = self.webhook(config={"managedJobsNamespaceSelector": TEAM})
        eventually(lambda: self.dry(job("a", queue="main"))[0] == 201, what="asked again")
        self.assertTrue(again.running())
        self.plane.request("DELETE", f"/api/v1/namespaces/{other}")

    def dry(self, obj):
        return self.plane.request("POST", self.job_path() + "?dryRun=All", obj)

    def is_asked(self):
        """The API server hears of another address a moment after it is written."""
        eventually(lambda: self.dry(job("a", queue="main"))[1].get("spec", {}).get("suspend"), what="the webhook is asked")

    def test_every_replica_serves_and_the_next_leader_takes_over(self):
        config = {"leaderElection": QUICK_LEASE}
        two = [self.webhook(config=config), self.daemon(options=LISTEN, config=config)]
        first = wait_for_leader(self.plane, two)
        second = next(d for d in two if d is not first)
        certificates = []
        for d in two:
            status, answer, certificate = self.ask(d, "/mutate", self.review(job("a", queue="q")))
            self.assertEqual((status, answer["response"]["allowed"]), (200, True))
            self.assertIn("patch", answer["response"])
            certificates.append(certificate)
        self.assertEqual(certificates[0], certificates[1])
        first.kill()
        url = f"https://127.0.0.1:{self.port(second)}/mutate"
        eventually(lambda: hooks(self.plane, MUTATING)[0]["clientConfig"].get("url") == url, 30, what="the other is asked")
        self.is_asked()

    # --- certificates ---------------------------------------------------------------------------------------------
    def test_certificates_are_renewed_before_they_end(self):
        daemon = self.webhook()
        first = self.plane.get(SECRET)["data"]
        self.assertEqual(hooks(self.plane, MUTATING)[0]["clientConfig"]["caBundle"], first["ca.crt"])
        daemon.stop()
        self.put_certificate_that_ends_in_days(30, first)
        daemon = self.webhook()
        second = eventually(lambda: (lambda d: d if d["tls.crt"] != self.ending else None)(self.plane.get(SECRET)["data"]),
                            what="a new certificate")
        self.assertEqual((second["ca.crt"], second["ca.key"]), (first["ca.crt"], first["ca.key"]))
        self.assertIn('reason="the certificate ends"', daemon.log())
        _, _, certificate = self.ask(daemon, "/mutate", self.review(job("a", queue="q")))
        ends = datetime.datetime.strptime(certificate["notAfter"], "%b %d %H:%M:%S %Y %Z")
        self.assertGreater((ends - datetime.datetime.utcnow()).days, 300)
        self.is_asked()

    def put_certificate_that_ends_in_days(self, days, data):
        pki = self.plane.run / "pki"
        for name in ("ca.crt", "ca.key"):
            (pki / f"webhook-{name}").write_bytes(base64.b64decode(data[name]))
        (pki / "webhook-names").write_text("subjectAltName=IP:127.0.0.1\n")
        for arguments in (
                ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=x", "-keyout",
                 "webhook.key", "-out", "webhook.csr"],
                ["x509", "-req", "-in", "webhook.csr", "-CA", "webhook-ca.crt", "-CAkey", "webhook-ca.key", "-CAcreateserial",
                 "-days", str(days), "-extfile", "webhook-names", "-out", "webhook.crt"]):
            subprocess.run(["openssl", *arguments], cwd=pki, check=True, capture_output=True)
        put = {f"tls.{part}": base64.b64encode((pki / f"webhook.{part}").read_bytes()).decode() for part in ("crt", "key")}
        self.ending = put["tls.crt"]
        self.patched(SECRET, {"data": put})

    def test_a_spoiled_secret_is_made_anew(self):
        self.patched(SECRET, {"data": {"tls.crt": "AAAA", "ca.key": "AAAA"}})
        self.webhook()
        self.is_asked()

    def test_certificates_of_files_are_used_and_their_authority_registered(self):
        self.webhook().stop()
        data = self.plane.get(SECRET)["data"]
        self.put_certificate_that_ends_in_days(20, data)
        directory = self.plane.run / "webhook-files"
        directory.mkdir(exist_ok=True)
        for member, name in (("webhook.crt", "tls.crt"), ("webhook.key", "tls.key"), ("webhook-ca.crt", "ca.crt")):
            (directory / name).write_bytes((self.plane.run / "pki" / member).read_bytes())
        silence(self.plane)
        daemon = self.webhook(config={"webhook": {"certDir": str(directory)}, "internalCertManagement": {"enable": False}})
        self.assertEqual(hooks(self.plane, MUTATING)[0]["clientConfig"]["caBundle"], data["ca.crt"])
        self.is_asked()
        self.assertNotIn("certificate is made", daemon.log())
        self.assertEqual(self.plane.get(SECRET)["data"]["tls.crt"], self.ending)

    # --- what is no review ----------------------------------------------------------------------------------------
    def test_what_is_no_review_gets_a_clear_answer(self):
        daemon = self.webhook()
        for body, status, text in (("{", 400, ""), ("[]", 400, "has to be an AdmissionReview"), ("{}", 400, "kind: has to be"),
                                   ("\x00\xff", 400, ""), ('{"a":' * 5000, 400, "")):
            got, answer, _ = self.ask(daemon, "/validate", body)
            self.assertEqual(got, status, answer)
            self.assertIn(text, answer["message"])
        large = job("a", queue="q", annotations={f"example.com/{i}": "x" * 200 for i in range(20000)})
        status, answer, _ = self.ask(daemon, "/mutate", self.review(large))
        self.assertEqual((status, "patch" in answer["response"]), (200, True))
        self.assertEqual(daemon.metric("sluice_webhook_malformed_total"), 2)

    def test_the_oldest_version_of_tls_is_obeyed(self):
        daemon = self.webhook(config={"tls": {"minVersion": "VersionTLS13"}})
        self.assertEqual(self.ask(daemon, "/validate", "{")[0], 400)
        old = ssl.create_default_context()
        old.check_hostname, old.verify_mode, old.maximum_version = False, ssl.CERT_NONE, ssl.TLSVersion.TLSv1_2
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            http.client.HTTPSConnection("127.0.0.1", self.port(daemon), timeout=5, context=old).request("GET", "/")

    # --- on, off, auto --------------------------------------------------------------------------------------------
    def test_off_tells_the_api_server_so(self):
        self.webhook().stop()
        daemon = self.daemon(options=["--webhook", "off"])
        eventually(lambda: not hooks(self.plane, MUTATING) and not hooks(self.plane, VALIDATING), what="not asked any more")
        self.assertIn("--webhook off", daemon.log())
        eventually(lambda: self.dry(job("a", queue="main"))[1].get("spec", {}).get("suspend") is False, what="let through")

    def test_what_others_change_is_put_back(self):
        self.webhook().stop()
        silence(self.plane)
        self.webhook()


class WithoutPolicies(test_policies_made.MadePolicies):
    """The matrix of the policies, with the webhook in their place."""
    control_plane = staticmethod(older)
    rows = (test_policies_made.ROWS[1], test_policies_made.ROWS[3])
    test_policies_for_more_than_is_managed_are_told = test_all_jobs_are_those_of_the_component = None

    def tearDown(self):
        super(test_policies_made.MadePolicies, self).tearDown()
        silence(self.plane)
        self.plane.request("DELETE", f"/api/v1/namespaces/{self.other}")
        put_policies(self.plane)

    def printed(self, config, options):
        return super().printed(config, [*options, "--webhook", "on"])

    def put(self, policies):
        kinds = ("validatingadmissionpolicy",)
        for kind in kinds:
            wanted = set(re.findall(r"^  name: (sluice-\S+)$", policies, re.MULTILINE))
            names = self.plane.kubectl("get", kind, "-o", "name").stdout.split()
            gone = [n.split("/")[1] for n in names if n.split("/")[1].startswith("sluice-") and n.split("/")[1] not in wanted]
            if gone:
                self.plane.kubectl("delete", kind + "binding", *gone)
                self.plane.kubectl("delete", kind, *gone)
        self.assertNotIn("MutatingAdmissionPolicy", policies)
        self.apply("-f", "-", stdin=policies)

    def dry(self, path, obj):
        """The API server may ask the daemon of the row before for a moment."""
        def asked():
            status, answer = self.plane.request("POST", path + "?dryRun=All", obj)
            self.assertIn(status, (201, 500), answer)
            return answer if status == 201 else None

        return eventually(asked, what="the webhook answers")

    def held_by(self, config, options):
        silence(self.plane)  # of the daemon before
        daemon = self.daemon(config=config, options=[*options, *LISTEN])
        eventually(lambda: registered(self.plane), what="registered")
        return daemon


class SameAsPolicies(WorkScene):
    """What policies and webhook make of the same objects, on one control plane."""
    options = (*LISTEN, "--webhook", "on")

    def test_policies_and_webhook_make_the_same_of_each_object(self):
        self.create(local_queue("default", "none", self.namespace))
        bare = self.namespace[:55] + "-bare"
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": bare}})
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": "default"},
                     "value": 7})
        table = [(path.format(n), obj) for n in (self.namespace, bare) for path, obj in self.objects()]
        eventually(lambda: self.made(*table[0])["metadata"]["labels"].get("kueue.x-k8s.io/priority-class"), what="defaults")
        try:
            by_policies = [self.made(*row) for row in table]
            self.plane.kubectl("delete", "mutatingadmissionpolicybinding", "--all")
            eventually(lambda: self.made(*table[0])["metadata"].get("labels", {}).get(QUEUE) is None, what="no policies")
            self.plane.kubectl("apply", "--server-side", "-k", ROOT / "deploy/kubernetes/webhook")
            self.daemon(options=[*self.options, *ADAPTERS])
            eventually(lambda: registered(self.plane), what="registered")
            eventually(lambda: self.made(*table[0])["metadata"]["labels"].get("kueue.x-k8s.io/priority-class"), what="asked")
            for row, wanted in zip(table, by_policies):
                with self.subTest(path=row[0], obj=row[1]["metadata"], spec=row[1]["spec"]):
                    self.assertEqual(self.made(*row), wanted)
            changed = sum(self.made(*row) != wanted for row, wanted in zip(table[1:], by_policies))
            self.assertGreater(changed, len(table) // 2, "the objects differ from each other")
        finally:
            self.stop_daemons()
            self.plane.kubectl("delete", "-k", ROOT / "deploy/kubernetes/webhook", check=False)
            self.plane.kubectl("apply", "--server-side", "--force-conflicts", "-k", ROOT / "deploy/kubernetes/policies")
            self.plane.wait(policies_work, "the policies in force again")
            self.plane.request("DELETE", f"/api/v1/namespaces/{bare}")

    def objects(self):
        """(path of the kind in a namespace, object)"""
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
        jobs, sets, pods, mpis = ("/apis/batch/v1/namespaces/{}/jobs", "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets",
                                  "/api/v1/namespaces/{}/pods", "/apis/kubeflow.org/v1/namespaces/{}/pytorchjobs")
        owner = {"name": "o", "uid": "1", "controller": True}
        owners = ([], [{**owner, "apiVersion": "batch/v1", "kind": "Job"}],
                  [{**owner, "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}],
                  [{**owner, "apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet"}],
                  [{**owner, "apiVersion": "apps/v1", "kind": "ReplicaSet"}],
                  [{**owner, "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "controller": False}])
        labels = ({}, {QUEUE: "q"}, {QUEUE: ""}, {QUEUE: "q", "kueue.x-k8s.io/priority-class": "high"},
                  {"other": "label", QUEUE: "q"})
        for owned in owners:
            for marks in labels:
                metadata = {"name": "x", "labels": marks, **({"ownerReferences": owned} if owned else {})}
                yield jobs, {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}
                yield pods, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
                yield sets, {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata,
                             "spec": {"replicatedJobs": []}}
        for spec in ({}, {"suspend": False}, {"suspend": True}):
            yield jobs, {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x", "labels": {QUEUE: "q"}},
                         "spec": {"template": template, **spec}}
        for policy in ({}, {"runPolicy": {}}, {"runPolicy": {"suspend": False}}, {"runPolicy": {"suspend": True}}):
            yield mpis, {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
                         "metadata": {"name": "x", "labels": {QUEUE: "q"}}, "spec": policy}
        for kind in ("Deployment", "StatefulSet"):
            for marks in labels:
                for given in ({}, {QUEUE: "q"}, {QUEUE: "old", "kueue.x-k8s.io/priority-class": "low"}):
                    spec = {"selector": {"matchLabels": {"a": "b"}}, "serviceName": "s", "template": {
                        "metadata": {"labels": {"a": "b", **given}}, "spec": {**template["spec"], "restartPolicy": "Always"}}}
                    if kind == "Deployment":
                        del spec["serviceName"]
                    yield "/apis/apps/v1/namespaces/{}/" + kind.lower() + "s", {
                        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "x", "labels": marks}, "spec": spec}
        together = {"annotations": {"kueue.x-k8s.io/podset-group-name": "g"}}
        for marks in labels:
            for leader in ({}, {"leaderTemplate": template}, {"leaderTemplate": {**template, "metadata": together}}):
                for worker in (template, {**template, "metadata": {"labels": {"a": "b"}}}, {**template, "metadata": together},
                               {**template, "metadata": {"annotations": {"kueue.x-k8s.io/pod-suspending-parent": "x"}}}):
                    yield "/apis/leaderworkerset.x-k8s.io/v1/namespaces/{}/leaderworkersets", {
                        "apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
                        "metadata": {"name": "x", "labels": marks},
                        "spec": {"leaderWorkerTemplate": {"size": 2, **leader, "workerTemplate": worker}}}
        gates = [{"name": "a.b/c"}, {"name": "kueue.x-k8s.io/topology"}]
        for metadata, spec in (({"finalizers": ["a.b/c"]}, {"schedulingGates": gates}),
                               ({"finalizers": ["kueue.x-k8s.io/managed"]}, {"schedulingGates": gates[:1]}),
                               ({"annotations": {"kueue.x-k8s.io/pod-suspending-parent": "x"}}, {}),
                               ({"annotations": {"kueue.x-k8s.io/pod-group-pod-index-label": "i"}}, {})):
            for marks in ({QUEUE: "q", "i": "3"}, {"i": "3"}, {QUEUE: "q", "kueue.x-k8s.io/managed": "true"}):
                yield pods, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "labels": marks, **metadata},
                             "spec": {**template["spec"], **spec}}

    def made(self, path, obj):
        """What would be stored, without what is never twice the same."""
        status, answer = eventually(lambda: (lambda s, a: (s, a) if s != 503 else None)(
            *self.plane.request("POST", path + "?dryRun=All", obj)), what="kinds known to admission")
        self.assertIn(status, (201, 403, 422), answer)
        if status != 201:
            return {"metadata": {"labels": {}}, "status": status}
        for member in ("uid", "creationTimestamp", "managedFields", "generation"):
            answer["metadata"].pop(member, None)
        return json.loads(re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|kube-api-access-\w+|20[0-9T:-]+Z", "*",
                                 json.dumps(answer)))


class Conversion(WorkScene):
    """v1beta1 of the CRDs, converted by the daemon, where policies suspend jobs: the webhook is served for that alone."""
    options = LISTEN

    def setUp(self):
        super().setUp()
        overlay = self.plane.run / "converted"
        overlay.mkdir(exist_ok=True)
        at = os.path.relpath(ROOT / "deploy/kubernetes", overlay.resolve())
        (overlay / "kustomization.yaml").write_text(json.dumps({
            "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": [f"{at}/crds"],
            "components": [f"{at}/v1beta1"]}))
        self.plane.kubectl("apply", "--server-side", "--force-conflicts", "-k", overlay)
        self.plane.kubectl("apply", "--server-side", "-k", ROOT / "deploy/kubernetes/webhook")

    def tearDown(self):
        super().tearDown()
        self.plane.kubectl("delete", "-k", ROOT / "deploy/kubernetes/webhook")
        self.plane.kubectl("replace", "-k", ROOT / "deploy/kubernetes/crds")
        eventually(lambda: self.plane.request("GET", f"{self.OLD}/cohorts")[0] == 404, 30, what="v1beta1 gone")
        self.plane.kubectl("api-resources")  # others read what kubectl remembers of both versions

    OLD, CRDS = "/apis/kueue.x-k8s.io/v1beta1", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    OF_OLD = ("clusterqueues", "localqueues", "resourceflavors", "workloads")

    def test_v1beta1_is_converted_by_the_daemon(self):
        daemon = self.daemon()
        self.assertIn("the webhook is off", eventually(lambda: daemon.log() if "webhook is" in daemon.log() else None))
        self.queues(4, cohortName="all")
        name = f"{self.namespace}-main"
        old = eventually(lambda: (lambda s, a: a if s == 200 else None)(
            *self.plane.request("GET", f"{self.OLD}/clusterqueues/{name}")), 30, what="v1beta1 is served")
        self.assertEqual((old["apiVersion"], old["spec"]["cohort"]), ("kueue.x-k8s.io/v1beta1", "all"))
        old["spec"]["cohort"] = "other"
        status, answer = eventually(lambda: (lambda s, a: (s, a) if s != 409 else None)(
            *self.plane.request("PUT", f"{self.OLD}/clusterqueues/{name}", {**old, "metadata": {
                **old["metadata"], "resourceVersion": self.plane.get(f"{KUEUE}/clusterqueues/{name}")["metadata"]["resourceVersion"]}})))
        self.assertEqual(status, 200, answer)
        self.assertEqual(self.plane.get(f"{KUEUE}/clusterqueues/{name}")["spec"]["cohortName"], "other")
        for plural in ("workloads", "localqueues", "topologies", "admissionchecks", "resourceflavors"):
            eventually(lambda: self.plane.request("GET", f"{self.OLD}/{plural}")[0] == 200, what=plural)
        self.assertGreater(daemon.metric("sluice_webhook_conversions_total"), 2)
        self.assertEqual(daemon.metric("sluice_webhook_reviews_total"), 0)
        self.create(job("a", queue="main"))
        self.finished("a")

    def stored(self, version, conversion):
        """The CRDs keep objects in that version, converted so."""
        for kind in self.OF_OLD:
            path = f"{self.CRDS}/{kind}.kueue.x-k8s.io"
            versions = self.plane.get(path)["spec"]["versions"]
            for v in versions:
                v["storage"] = v["name"] == version
            self.patched(path, {"spec": {"versions": versions, "conversion": conversion}})

    def test_what_an_older_kueue_has_stored_in_v1beta1_is_read_at_start(self):
        """Nothing can be listed before the API server knows who converts it, and no daemon decides before it has listed."""
        name = self.namespace + "-old"
        webhook = self.plane.get(f"{self.CRDS}/workloads.kueue.x-k8s.io")["spec"]["conversion"]
        webhook["webhook"]["clientConfig"] = {"service": {"name": "sluice-webhook-service", "namespace": "kueue-system", "path": "/convert"}}
        self.stored("v1beta1", {"strategy": "None", "webhook": None})
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}
        for path, kind, spec in (
                ("resourceflavors", "ResourceFlavor", {}), ("clusterqueues", "ClusterQueue", {"namespaceSelector": {}, "cohort": "all", "resourceGroups": [
                    {"coveredResources": ["cpu"], "flavors": [{"name": name, "resources": [{"name": "cpu", "nominalQuota": "4"}]}]}]}),
                (f"namespaces/{self.namespace}/localqueues", "LocalQueue", {"clusterQueue": name}),
                (f"namespaces/{self.namespace}/workloads", "Workload", {"queueName": name, "podSets": [{"name": "main", "count": 1, "template": template}],
                                                                       "priority": 7, "priorityClassName": "high", "priorityClassSource": "scheduling.k8s.io/priorityclass"})):
            made = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": kind, "metadata": {"name": name}, "spec": spec}
            eventually(lambda: self.plane.request("POST", f"{self.OLD}/{path}", made)[0] in (201, 409), 30, what=f"a {kind} of v1beta1")
        self.stored("v1beta2", {"strategy": "Webhook", **webhook})
        for plural in self.OF_OLD:
            eventually(lambda: self.plane.request("GET", f"{KUEUE}/{plural}")[0] != 200, 30, what=f"nobody who converts {plural}")
        daemon = self.daemon()
        wl = eventually(lambda: (lambda s, a: a if s == 200 and holds(a, "Admitted") else None)(
            *self.plane.request("GET", f"{KUEUE}/namespaces/{self.namespace}/workloads/{name}")), 30, what="admission")
        self.assertEqual((wl["apiVersion"], wl["spec"]["priorityClassRef"]["name"]), ("kueue.x-k8s.io/v1beta2", "high"))
        self.assertEqual(self.plane.get(f"{KUEUE}/clusterqueues/{name}")["spec"]["cohortName"], "all")
        self.assertGreater(daemon.metric("sluice_webhook_conversions_total"), 3)
        for path in (f"namespaces/{self.namespace}/workloads", f"namespaces/{self.namespace}/localqueues", "clusterqueues", "resourceflavors"):
            self.plane.request("DELETE", f"{KUEUE}/{path}/{name}")
            eventually(lambda: self.plane.request("GET", f"{KUEUE}/{path}/{name}")[0] == 404, what=f"{path} gone")
        for kind in self.OF_OLD:  # nothing is stored in v1beta1 any more
            self.patched(f"{self.CRDS}/{kind}.kueue.x-k8s.io/status", {"status": {"storedVersions": ["v1beta2"]}})
