"""What is in deploy/: the manifests, the image's files, the systemd unit."""
import pathlib, shutil, ssl, subprocess, tempfile, urllib.error, urllib.request

from controlplane import die_with_parent, free_port
from work_scene import *


class Deploy(Scene):
    def test_replicas_of_the_deployment_start_under_the_restricted_standard(self):
        path = "/apis/apps/v1/namespaces/kueue-system/deployments/sluice-controller-manager"
        eventually(lambda: self.plane.get(path)["status"].get("readyReplicas") == 2, what="two replicas ready")
        enforced = self.plane.get("/api/v1/namespaces/kueue-system")["metadata"]["labels"]
        self.assertEqual(enforced["pod-security.kubernetes.io/enforce"], "restricted")
        budget = self.plane.get("/apis/policy/v1/namespaces/kueue-system/poddisruptionbudgets/"
                                "sluice-controller-manager")
        eventually(lambda: self.plane.get("/apis/policy/v1/namespaces/kueue-system/poddisruptionbudgets/"
                                          "sluice-controller-manager")["status"]["disruptionsAllowed"] == 1,
                   what=f"one disruption allowed by {budget['spec']}")

    def test_policies_have_no_type_errors(self):
        for policy in self.plane.get("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies")["items"]:
            with self.subTest(policy["metadata"]["name"]):
                name = policy["metadata"]["name"]
                status = eventually(lambda: self.plane.get(
                    f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/{name}").get("status"),
                    what="type check")
                self.assertEqual(status["typeChecking"].get("expressionWarnings", []), [])

    def test_manifests_apply_again_without_a_change(self):
        done = self.plane.kubectl("diff", "--server-side", "-k", ROOT / "deploy/kubernetes", check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def network(self, *components):
        """The NetworkPolicy, rendered with these components of manager/."""
        overlay = self.plane.run / "network"
        overlay.mkdir(exist_ok=True)
        manager = os.path.relpath(ROOT / "deploy/kubernetes/manager", overlay.resolve())
        (overlay / "kustomization.yaml").write_text(json.dumps({
            "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": [manager],
            "components": [f"{manager}/{c}" for c in components]}))
        made = self.plane.kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-o", "json",
                                  "-k", overlay).stdout
        return next(o["spec"] for o in json.loads(made)["items"] if o["kind"] == "NetworkPolicy")

    def test_network_lets_nobody_in_but_for_an_api_and_marked_namespaces(self):
        """What rules say; no network is here to obey them."""
        spec = self.network()
        self.assertEqual(sorted(spec["policyTypes"]), ["Egress", "Ingress"])
        anyone = [p["port"] for rule in spec["ingress"] if not rule.get("from") for p in rule["ports"]]
        self.assertEqual(anyone, [8082])
        strict = self.network("apiserver-only")
        self.assertEqual([r for r in strict["ingress"] if not r.get("from")], [])
        self.assertEqual([r for r in strict["egress"] if not r.get("to")], [])

    def test_users_see_workloads_but_not_quotas(self):
        self.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                     "metadata": {"name": "jane", "namespace": self.namespace},
                     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
                     "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]})
        def sees(path):
            return self.plane.request("GET", path, token="user-token")[0]

        eventually(lambda: sees(f"{KUEUE}/namespaces/{self.namespace}/workloads") == 200, what="right to look")
        self.assertEqual(sees(f"{KUEUE}/clusterqueues"), 403)
        status, _ = self.plane.request("POST", f"{KUEUE}/namespaces/{self.namespace}/localqueues", {}, token="user-token")
        self.assertEqual(status, 403)

    def test_recipe_for_users_gives_the_rights_that_it_says(self):
        """Its commands are typed, with the answers of kubectl auth can-i that stand beside them."""
        recipe = (ROOT / "docs/recipes.md").read_text().split("## Let users submit")[1].split("\n## ")[0]
        commands = re.findall(r"(?m)^kubectl (.*?)(?: +# (yes|no))?$", recipe)
        self.assertEqual([answer for _, answer in commands], ["", "yes", "yes", "no", "no", ""])
        self.plane.kubectl("create", "namespace", "vision")
        self.addCleanup(self.plane.kubectl, "delete", "namespace", "vision", "--wait=false")
        self.addCleanup(self.plane.kubectl, "delete", "clusterrolebinding", "queues")
        for command, answer in commands:
            eventually(lambda: answer in self.plane.kubectl(*command.split(), check=not answer).stdout.split() or not answer, 20, what=f"{answer} to {command}")
        for right in ("create clusterqueues.kueue.x-k8s.io", "patch localqueues.kueue.x-k8s.io"):
            eventually(lambda: self.plane.kubectl("auth", "can-i", *right.split(), "--as=bob", check=False).stdout.strip() == "yes", 20, what=right)


CHROOT = ["chroot", "--userspec=65532:65532"] if os.geteuid() == 0 else ["unshare", "-r", "chroot"]


class Image(WorkScene):
    """The files of the image, as a root directory of their own; the daemon in it runs as nobody."""

    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="sluice-rootfs-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        subprocess.run([ROOT / "deploy/container/rootfs.sh", BUILD / "sluiced", self.root], check=True)
        self.root.chmod(0o755)

    def run_image(self, *arguments, **env):
        self.log_path = self.plane.run / "log/image.log"
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([*CHROOT, self.root, "/usr/bin/sluiced", *arguments],
                                            env={"PATH": "/usr/bin:/usr/sbin:/bin:/sbin", **env},
                                            preexec_fn=die_with_parent, stdout=log, stderr=log)
        self.addCleanup(self.process.kill)

    def ready(self, port):
        self.assertIsNone(self.process.poll(), self.log_path.read_text())
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2).status == 200
        except OSError:
            return False

    def test_standalone_daemon_needs_nothing_of_the_machine(self):
        port = free_port()
        self.run_image("--standalone", "--data", "/tmp/data", "--listen", f"127.0.0.1:{port}")
        eventually(lambda: self.ready(port), what="ready in the image's files")
        self.process.terminate()
        self.assertEqual(self.process.wait(10), 0)
        self.assertFalse((self.root / "bin/sh").exists())

    def show_certificate(self, name):
        """Puts one into the directory of --tls-dir; its text."""
        home = self.root / "visibility"
        home.mkdir(exist_ok=True)
        self.plane.certify_client(name, "ca")
        for kind in ("crt", "key"):
            (home / f"next.{kind}").write_text((self.plane.run / f"pki/{name}.{kind}").read_text())
            (home / f"next.{kind}").chmod(0o644)
            (home / f"next.{kind}").rename(home / f"tls.{kind}")
        return (home / "tls.crt").read_text()

    def guarded(self, url, context):
        """Metrics are for those who show a token of an account with kueue-metrics-reader, as Kueue's are."""
        def get(token=None):
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            try:
                answer = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10, context=context)
                return answer.status, answer.read().decode()
            except urllib.error.HTTPError as e:
                return e.code, ""
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "scraper", "namespace": "kueue-system"}}
        self.plane.request("POST", "/api/v1/namespaces/kueue-system/serviceaccounts", account)
        _, token = self.plane.request("POST", "/api/v1/namespaces/kueue-system/serviceaccounts/scraper/token",
                                      {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        token = token["status"]["token"]
        self.assertEqual([get()[0], get("guess")[0]], [401, 401])
        self.plane.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "scraper-of-the-image"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kueue-metrics-reader"},
            "subjects": [{"kind": "ServiceAccount", "name": "scraper", "namespace": "kueue-system"}]})
        page = eventually(lambda: (lambda status, text: text if status == 200 else None)(*get(token)), 30, what="metrics")
        self.assertIn("sluice_leader 1", page)
        self.assertIn("kueue_admitted_workloads_total{", page)

    def test_arguments_of_the_deployment_work_with_a_token_of_the_pod(self):
        deployment = self.plane.get("/apis/apps/v1/namespaces/kueue-system/deployments/sluice-controller-manager")
        container = deployment["spec"]["template"]["spec"]["containers"][0]
        ports = {":8081": free_port(), ":8443": free_port()}
        config = (ROOT / "deploy/kubernetes/manager/config.yaml").read_text()
        for known, port in ports.items():
            self.assertIn(known, config)
            config = config.replace(f'"{known}"', f'"127.0.0.1:{port}"')
        config += "tls: {minVersion: VersionTLS13}\n"
        (self.root / "etc/sluice").mkdir()
        (self.root / "etc/sluice/config.yaml").write_text(config)
        account = self.root / "var/run/secrets/kubernetes.io/serviceaccount"
        account.mkdir(parents=True)
        status, token = self.plane.request(
            "POST", "/api/v1/namespaces/kueue-system/serviceaccounts/sluice-controller-manager/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}})
        self.assertEqual(status, 201, token)
        (account / "token").write_text(token["status"]["token"])
        (account / "namespace").write_text("kueue-system")
        shutil.copy(self.plane.run / "pki/ca.crt", account / "ca.crt")
        visibility = free_port()
        certificate = self.show_certificate("first")
        self.run_image(*container["args"], f"--visibility-listen=127.0.0.1:{visibility}", "--tls-dir=/visibility",
                       KUBERNETES_SERVICE_HOST="127.0.0.1",
                       KUBERNETES_SERVICE_PORT=str(self.plane.port))
        eventually(lambda: self.ready(ports[":8081"]), what="ready at the address of the probes")
        queue = self.queues(1)
        self.create(job("real", "main"))
        self.finished("real")
        self.settles_at(queue, 0)
        alone = ssl.create_default_context()
        alone.check_hostname, alone.verify_mode = False, ssl.CERT_NONE # the certificate is the daemon's own
        self.guarded(f"https://127.0.0.1:{ports[':8443']}/metrics", alone)
        old = ssl.create_default_context()
        old.check_hostname, old.verify_mode, old.maximum_version = False, ssl.CERT_NONE, ssl.TLSVersion.TLSv1_2
        for port in (ports[':8443'], visibility):
            with self.assertRaises((ssl.SSLError, urllib.error.URLError, ConnectionError)):
                urllib.request.urlopen(f"https://127.0.0.1:{port}/metrics", timeout=5, context=old)
        health = urllib.request.urlopen(f"https://127.0.0.1:{visibility}/readyz", timeout=5, context=alone)
        self.assertEqual(health.status, 200)
        self.assertEqual(ssl.get_server_certificate(("127.0.0.1", visibility)), certificate)
        certificate = self.show_certificate("second")  # as a mounted Secret changes
        eventually(lambda: ssl.get_server_certificate(("127.0.0.1", visibility)) == certificate, 10,
                   what="the new certificate")
        lease = self.plane.get("/apis/coordination.k8s.io/v1/namespaces/kueue-system/leases/c1f6bfd2.kueue.x-k8s.io")
        self.assertTrue(lease["spec"]["holderIdentity"])
        self.process.terminate()
        self.assertEqual(self.process.wait(10), 0, self.log_path.read_text())


class Unit(unittest.TestCase):
    def test_systemd_unit_is_valid_and_hardened(self):
        unit = (ROOT / "deploy/systemd/sluice.service").read_text()
        with tempfile.TemporaryDirectory(prefix="sluice-unit-") as home:
            path = os.path.join(home, "sluice.service")
            with open(path, "w") as f:
                f.write(unit.replace("/usr/local/bin/sluiced", str(BUILD / "sluiced")))
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=15", path],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
