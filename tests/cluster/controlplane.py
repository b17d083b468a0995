"""A real control plane on free loopback ports: etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok.

It has its own CA, tokens and RBAC, and an audit log. Each program dies with the test run; what a run that was
killed has left behind is stopped, by pid, when the next one starts in the same directory."""
import ctypes, datetime, http.client, json, os, pathlib, shutil, signal, socket, ssl, subprocess, sys, time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "tests/e2e"))
from patience import PATIENCE, deadline  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
if not BUILD.is_absolute():
    BUILD = ROOT / BUILD
BIN = pathlib.Path(os.environ.get("CLUSTER_BIN", BUILD / "e2e/bin"))
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kubectl")
CONTROLLERS = ("job-controller,cronjob-controller,garbage-collector-controller,namespace-controller,"
               "serviceaccount-controller,root-ca-certificate-publisher-controller,pod-garbage-collector-controller,"
               "clusterrole-aggregation-controller,node-lifecycle-controller,taint-eviction-controller,deployment-controller,replicaset-controller,"
               "statefulset-controller,disruption-controller,ttl-after-finished-controller,"
               "validatingadmissionpolicy-status-controller")
NAMESPACE = "kueue-system"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:sluice-controller-manager"
USERS = {  # token: (user, groups)
    "admin-token": ("admin", "system:masters"),
    "sluice-token": (ACCOUNT, f"system:serviceaccounts,system:serviceaccounts:{NAMESPACE},system:authenticated"),
    "user-token": ("jane", "system:authenticated"),
    "tenant-token": ("alice", "system:authenticated"),
    "controllers-token": ("system:kube-controller-manager", "system:authenticated"),
}
AUDIT = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
"""


def find(name):
    """A program that was built; a missing one is an error, never a skip. Debian's etcd (3.4) would not do: without
    progress requests for watches, clients of this API server fall back to slow retries."""
    if not os.access(BIN / name, os.X_OK):
        raise SystemExit(f"{BIN / name} is missing: `make cluster-tools` builds it")
    return str(BIN / name)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class ControlPlane:
    def __init__(self, directory, nodes=3, version=None):
        """`version`: what an API server of Kubernetes 1.N served, by default."""
        self.version = version
        self.run = pathlib.Path(directory)
        self.nodes = nodes
        self.processes = {}
        self.commands = {}
        self.connection = None
        self.starts = []  # when the API server was up but not ready: it knows no roles then and forbids everything

    # --- life ---------------------------------------------------------------------------------------------------
    def begin(self, needed=("etcd", "kube-apiserver", "kubectl")):
        """etcd and the API server alone."""
        programs = {name: find(name) if name in needed else name for name in PROGRAMS}
        self.stop_leftovers()
        shutil.rmtree(self.run, ignore_errors=True)
        for part in ("pki", "log", "pid", "etcd"):
            (self.run / part).mkdir(parents=True)
        self.etcd_port, self.peer_port, self.port = free_port(), free_port(), free_port()
        self.certify()
        self.context = ssl.create_default_context(cafile=self.run / "pki/ca.crt")
        for token, (user, _) in USERS.items():
            self.kubeconfig(token.removesuffix("-token"), user, token)
        self.list_commands(programs)
        self.spawn("etcd")
        self.wait(lambda: self.reachable(self.etcd_port), "etcd")
        self.start_apiserver()

    def start(self, install=lambda: None):
        """`install` is called when the API server is up, before any controller looks at what there is."""
        self.begin(PROGRAMS)
        install()
        for name in ("kube-controller-manager", "kube-scheduler", "kwok"):
            self.spawn(name)
        for i in range(self.nodes):
            self.add_node(f"kwok-{i}")
        self.wait(lambda: self.request("GET", "/api/v1/namespaces/default/serviceaccounts/default")[0] == 200,
                  "the default service account")
        self.wait(lambda: all(ready(n) for n in self.get("/api/v1/nodes")["items"]), "nodes ready")
        return self

    def stop(self):
        for name in reversed(list(self.processes)):
            self.halt(name)

    def stop_leftovers(self):
        for path in self.run.glob("pid/*"):
            pid = path.read_text().strip()
            try:
                command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if str(self.run) in command:
                os.kill(int(pid), signal.SIGKILL)

    def spawn(self, name):
        log = open(self.run / "log" / f"{name}.log", "ab")
        self.processes[name] = subprocess.Popen(self.commands[name], cwd=self.run, stdin=subprocess.DEVNULL,
                                                stdout=log, stderr=log, preexec_fn=die_with_parent)
        log.close()
        (self.run / "pid" / name).write_text(str(self.processes[name].pid))

    def halt(self, name, sig=signal.SIGTERM):
        process = self.processes.pop(name, None)
        if process is None:
            return
        process.send_signal(sig)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        (self.run / "pid" / name).unlink(missing_ok=True)

    def start_apiserver(self):
        began = now()
        self.spawn("kube-apiserver")
        self.wait(lambda: self.request("GET", "/readyz")[0] == 200, "kube-apiserver", 120)
        self.starts.append((began, now()))

    def restart_apiserver(self, sig=signal.SIGKILL):
        self.halt("kube-apiserver", sig)
        self.start_apiserver()

    def wait(self, test, what, seconds=60):
        end = deadline(seconds)
        while time.monotonic() < end:
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise SystemExit(f"{name} exited with {process.returncode}:\n{self.log_of(name)[-3000:]}")
            try:
                if test():
                    return
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.1)
        raise SystemExit(f"control plane: not within {PATIENCE * seconds} s: {what}")

    def log_of(self, name):
        return (self.run / "log" / f"{name}.log").read_text(errors="replace")

    @staticmethod
    def reachable(port):
        with socket.create_connection(("127.0.0.1", port), 1):
            return True

    # --- what the programs need ---------------------------------------------------------------------------------
    def certify(self):
        def ossl(*arguments):
            subprocess.run(["openssl", *map(str, arguments)], cwd=self.run / "pki", check=True, capture_output=True)

        ossl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", 30,
             "-subj", "/CN=test-ca", "-keyout", "ca.key", "-out", "ca.crt", "-addext",
             "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        ossl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
             "/CN=kube-apiserver", "-keyout", "apiserver.key", "-out", "apiserver.csr")
        (self.run / "pki/names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc\n")
        ossl("x509", "-req", "-in", "apiserver.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days",
             30, "-extfile", "names", "-out", "apiserver.crt")
        # How the API server proves itself to the servers of aggregated APIs.
        ossl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", 30,
             "-subj", "/CN=front-proxy-ca", "-keyout", "front-proxy-ca.key", "-out", "front-proxy-ca.crt", "-addext",
             "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        self.certify_client("front-proxy-client", "front-proxy-ca")
        ossl("genrsa", "-out", "sa.key", 2048)
        ossl("rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub")
        (self.run / "pki/tokens.csv").write_text("".join(
            f'{token},{user},{token},"{groups}"\n' for token, (user, groups) in USERS.items()))
        (self.run / "audit.yaml").write_text(AUDIT)

    def certify_client(self, name, ca, signed=None):
        """A client certificate with that name; RUN/pki/SIGNED.crt and .key."""
        signed = signed or name
        pki = self.run / "pki"
        for arguments in (
                ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                 "-keyout", f"{signed}.key", "-out", f"{signed}.csr"],
                ["x509", "-req", "-in", f"{signed}.csr", "-CA", f"{ca}.crt", "-CAkey", f"{ca}.key",
                 "-CAcreateserial", "-days", "30", "-out", f"{signed}.crt"]):
            subprocess.run(["openssl", *arguments], cwd=pki, check=True, capture_output=True)

    def kubeconfig(self, name, user, token, server=None):
        """Writes RUN/NAME.kubeconfig and returns its path."""
        path = self.run / f"{name}.kubeconfig"
        cluster = {"server": server or self.url, "certificate-authority": str(self.run / "pki/ca.crt")}
        if cluster["server"].startswith("http:"):
            del cluster["certificate-authority"]
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}]}))
        return path

    def list_commands(self, programs):
        etcd = f"http://127.0.0.1:{self.etcd_port}"
        peer = f"http://127.0.0.1:{self.peer_port}"
        admin = self.run / "admin.kubeconfig"
        emulated = [f"--emulated-version={self.version}"] if self.version else []

        def controller(name, *more, config=admin):
            return [programs[name], f"--kubeconfig={config}", f"--authentication-kubeconfig={admin}",
                    f"--authorization-kubeconfig={admin}", "--leader-elect=false", "--bind-address=127.0.0.1",
                    f"--secure-port={free_port()}", f"--cert-dir={self.run}/pki/{name}", "--kube-api-qps=1000",
                    "--kube-api-burst=2000", *more]

        self.commands = {
            "etcd": [programs["etcd"], "--name=t", f"--data-dir={self.run}/etcd", f"--listen-client-urls={etcd}",
                     f"--advertise-client-urls={etcd}", f"--listen-peer-urls={peer}",
                     f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=t={peer}", "--log-level=warn",
                     "--unsafe-no-fsync"],
            "kube-apiserver": [
                programs["kube-apiserver"], f"--etcd-servers={etcd}", "--bind-address=127.0.0.1",
                f"--secure-port={self.port}", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
                "--service-cluster-ip-range=10.0.0.0/16", "--authorization-mode=RBAC", "--allow-privileged=true",
                f"--tls-cert-file={self.run}/pki/apiserver.crt",
                f"--tls-private-key-file={self.run}/pki/apiserver.key", f"--client-ca-file={self.run}/pki/ca.crt",
                f"--token-auth-file={self.run}/pki/tokens.csv",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={self.run}/pki/sa.pub",
                f"--service-account-signing-key-file={self.run}/pki/sa.key",
                f"--requestheader-client-ca-file={self.run}/pki/front-proxy-ca.crt",
                "--requestheader-allowed-names=front-proxy-client",
                "--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
                "--requestheader-extra-headers-prefix=X-Remote-Extra-",
                f"--proxy-client-cert-file={self.run}/pki/front-proxy-client.crt",
                f"--proxy-client-key-file={self.run}/pki/front-proxy-client.key",
                "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
                f"--audit-policy-file={self.run}/audit.yaml", f"--audit-log-path={self.run}/log/audit.jsonl",
                *emulated],
            "kube-controller-manager": controller(
                "kube-controller-manager", f"--service-account-private-key-file={self.run}/pki/sa.key",
                f"--root-ca-file={self.run}/pki/ca.crt", "--use-service-account-credentials=true",
                f"--controllers={CONTROLLERS}", *emulated, config=self.run / "controllers.kubeconfig"),
            "kube-scheduler": controller("kube-scheduler", *emulated),
            "kwok": [programs["kwok"], f"--kubeconfig={admin}", "--manage-all-nodes=true",
                     f"--config={HERE}/stages.yaml", f"--server-address=127.0.0.1:{free_port()}",
                     "--node-lease-duration-seconds=40"],
        }

    # --- talking to it ------------------------------------------------------------------------------------------
    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def request(self, method, path, body=None, content_type="application/json", token="admin-token"):
        """(status, parsed JSON or text), over one connection that is made anew when it broke."""
        text = json.dumps(body) if isinstance(body, (dict, list)) else body
        for fresh in (self.connection is None, True):
            if fresh:
                self.connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30,
                                                              context=self.context)
            try:
                self.connection.request(method, path, text, {"Content-Type": content_type,
                                                             "Authorization": f"Bearer {token}"})
                response = self.connection.getresponse()
                answer = response.read().decode()
                break
            except (OSError, http.client.HTTPException):
                self.connection.close()
                self.connection = None
                if fresh:
                    raise
        try:
            return response.status, json.loads(answer)
        except ValueError:
            return response.status, answer

    def get(self, path):
        for _ in range(100):
            status, body = self.request("GET", path)
            if status != 429: # its caches are not filled yet
                break
            time.sleep(0.1)
        assert status == 200, (path, status, body)
        return body

    def kubectl(self, *arguments, stdin=None, check=True, user="admin", timeout=180):
        env = {**os.environ, "KUBECONFIG": str(self.run / f"{user}.kubeconfig"), "HOME": str(self.run)}
        done = subprocess.run([find("kubectl"), *map(str, arguments)], input=stdin, text=True, capture_output=True,
                              timeout=PATIENCE * timeout, env=env)
        if check and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(map(str, arguments))}: exit {done.returncode}\n"
                                 f"{done.stdout}{done.stderr}")
        return done

    def add_node(self, name, labels=None, cpu="64"):
        room = {"cpu": cpu, "memory": "256Gi", "pods": "1000"}
        node = {"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"},
                             "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
                                        **(labels or {})}},
                "status": {"allocatable": room, "capacity": room}}
        status, answer = self.request("POST", "/api/v1/nodes", node)
        assert status in (201, 409), answer

    def audit(self, user=ACCOUNT):
        """What the audit log has of a user: (verb, group, resource[/subresource], name, code, message) of each
        request."""
        for line in open(self.run / "log/audit.jsonl", errors="replace"):
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            at = entry["requestReceivedTimestamp"]
            if (entry["user"].get("username") == user and entry["stage"] == "ResponseComplete" and
                    not any(begin <= at <= end for begin, end in self.starts)):
                ref = entry.get("objectRef", {})
                kind = "/".join(filter(None, (ref.get("resource"), ref.get("subresource"))))
                yield (entry["verb"], ref.get("apiGroup", ""), kind or entry["requestURI"], ref.get("name", ""),
                       entry["responseStatus"]["code"], entry["responseStatus"].get("message", ""))


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def ready(node):
    return any(c["type"] == "Ready" and c["status"] == "True" for c in node.get("status", {}).get("conditions", []))
