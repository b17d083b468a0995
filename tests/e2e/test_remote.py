# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""A standalone daemon that others can reach: TLS, and a token for everybody. 127.0.0.2 stands for another machine's address."""
import base64, http.client, http.server, json, os, pathlib, shutil, ssl, stat, subprocess, tempfile, threading, unittest

import daemon

HOST = "127.0.0.2"
JOBS = "/apis/batch/v1/namespaces/default/jobs"


class Remote(daemon.Daemon):
    """Started with --allow-remote, or with what `flags` say."""

    def __init__(self, *flags, data=None):
        super().__init__(data=data)
        self.flags = flags or ("--allow-remote",)

    def start(self, wait=True):
        self.log = open(self.log_path, "ab")
        self.process = subprocess.Popen(
            [daemon.BUILD / "sluiced", "--standalone", "--data", self.data, "--listen", f"{HOST}:{self.port}", *self.flags],
            stdout=self.log, stderr=self.log)
        if wait:
            self.wait_ready()
        return self

    @property
    def kubeconfig(self):
        return self.data / "kubeconfig"

    def token(self):
        return (self.data / "token").read_text().strip()

    def request(self, method, path, body=None, content_type="application/json", headers=None):
        context = ssl.create_default_context()
        if (self.data / "tls/tls.crt").exists():
            context.load_verify_locations(self.data / "tls/tls.crt")
        connection = http.client.HTTPSConnection(HOST, self.port, timeout=30, context=context)
        try:
            connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": content_type, **(headers or {})})
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        return response.status, text

    def status(self, token=None, path=JOBS, method="GET", body=None):
        return self.request(method, path, body, headers={"Authorization": f"Bearer {token}"} if token is not None else {})[0]


class RemoteAccess(unittest.TestCase):
    def start(self, *flags, **rest):
        d = Remote(*flags, **rest)
        self.addCleanup(d.close)
        return d.start()

    def refused(self, *flags, code=1, data=None):
        """What it says when it does not start."""
        d = Remote(*flags, data=data)
        self.addCleanup(d.close)
        d.start(wait=False)
        self.assertEqual(d.process.wait(20), code, d.log_text())
        d.log.close()
        return d.log_text()

    def test_nobody_is_served_without_the_token(self):
        d = self.start()
        token = d.token()
        self.assertEqual(d.status(token), 200)
        self.assertEqual(d.status(), 401)
        for bad in ("", "x", token[:-1], token + "0", token.upper() if token.upper() != token else token.lower(), "0" * len(token)):
            self.assertEqual(d.status(bad), 401, bad)
        for path in ("/metrics", "/version", "/apis", "/openapi/v2", "/apis/visibility.kueue.x-k8s.io/v1beta2/"):
            self.assertEqual(d.status(path=path), 401, path)
        self.assertEqual(d.status(path=JOBS, method="POST", body={"metadata": {"name": "x"}}), 401)
        for path in ("/healthz", "/livez", "/readyz"):
            self.assertEqual(d.status(path=path), 200, path)

    def test_files_are_for_their_owner_and_stay(self):
        d = self.start()
        first = {name: (d.data / name).read_text() for name in ("token", "tls/tls.crt", "tls/tls.key", "kubeconfig")}
        for name in first:
            self.assertEqual(stat.S_IMODE((d.data / name).stat().st_mode), 0o600, name)
        self.assertGreaterEqual(len(d.token()), 32)
        self.assertEqual(d.stop(), 0)
        d.start()
        self.assertEqual({name: (d.data / name).read_text() for name in first}, first)
        self.assertNotIn(d.token(), d.log_text())

    def test_kubectl_and_sluicectl_use_the_kubeconfig(self):
        d = self.start()
        env = {**os.environ, "KUBECONFIG": str(d.kubeconfig), "HOME": str(d.home)}
        env.pop("SLUICE_SERVER", None)
        job = json.dumps(daemon.job("remote"))
        done = subprocess.run([daemon.KUBECTL, "apply", "-f", "-"], input=job, text=True, capture_output=True, env=env, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([daemon.BUILD / "sluicectl", "get", "jobs", "--kubeconfig", d.kubeconfig], text=True,
                              capture_output=True, env=env, timeout=60)
        self.assertIn("remote", done.stdout, done.stderr)
        env["SLUICE_KUBECONFIG"] = str(d.kubeconfig)
        done = subprocess.run([daemon.BUILD / "sluicectl", "get", "jobs"], text=True, capture_output=True, env=env, timeout=60)
        self.assertIn("remote", done.stdout, done.stderr)
        env["SLUICE_SERVER"] = f"http://{HOST}:{d.port}"
        done = subprocess.run([daemon.BUILD / "sluicectl", "get", "jobs"], text=True, capture_output=True, env=env, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not https", done.stderr)

    def openssl(self, *words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=self.home)

    def certify(self, name, *extensions):
        """name.crt and name.key, by an authority of our own."""
        key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout")
        if not (self.home / "ca.crt").exists():
            self.openssl("req", "-x509", *key, "ca.key", "-out", "ca.crt", "-subj", "/CN=ca", "-days", "2")
        self.openssl("req", *key, f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        (self.home / "extensions").write_text("\n".join(extensions))
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
                     "-out", f"{name}.crt", "-days", "2", "-extfile", "extensions")

    def test_sluicectl_uses_the_kubeconfig_of_a_cluster(self):
        """A client certificate, a certificate for another name than the address, and the namespace of the context."""
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sluice-remote-"))
        self.addCleanup(shutil.rmtree, self.home)
        self.certify("api.example", "subjectAltName=DNS:api.example")
        self.certify("admin")
        asked = []

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                subject = dict(pair[0] for pair in self.connection.getpeercert()["subject"])
                asked.append((subject["commonName"], self.path, self.headers["Authorization"]))
                body = json.dumps({"metadata": {"resourceVersion": "1"}, "items": []}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self.home / "ca.crt")
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(self.home / "api.example.crt", self.home / "api.example.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        kubeconfig = self.home / "kubeconfig"
        certificate = {"client-certificate": str(self.home / "admin.crt"), "client-key": str(self.home / "admin.key")}
        kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{server.server_port}", "tls-server-name": "api.example",
                                                   "certificate-authority": str(self.home / "ca.crt")}}],
            "users": [{"name": "u", "user": certificate}, {"name": "v", "user": {**certificate, "username": "me", "password": "secret"}}],
            "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "lab"}},
                         {"name": "there", "context": {"cluster": "c", "user": "v"}}]}))
        basic = "Basic " + base64.b64encode(b"me:secret").decode()
        for words, ns, secret in ((("get", "lq"), "lab", None), (("get", "lq", "-n", "shop"), "shop", None),
                                  (("get", "lq", "--context", "there"), "default", basic)):
            done = subprocess.run([daemon.BUILD / "sluicectl", "--kubeconfig", kubeconfig, *words], text=True, capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, f"No localqueues found in namespace {ns}.\n"))
            self.assertEqual(asked[-1], ("admin", f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{ns}/localqueues", secret))
        done = subprocess.run([daemon.BUILD / "sluicectl", "--kubeconfig", kubeconfig, "--context", "nosuch", "get", "lq"], text=True,
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nosuch", done.stderr)
        done = subprocess.run([daemon.BUILD / "sluicectl", "--kubeconfig", kubeconfig, "--context", "there", "--server", "http://127.0.0.1:1",
                               "get", "lq"], text=True, capture_output=True, timeout=60)
        self.assertIn("the password is not sent to http://127.0.0.1:1: not https", done.stderr)

    def serve(self, context):
        """A server that answers every GET with an empty list, and notes who asked."""
        asked = []

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.headers["Authorization"])
                body = json.dumps({"metadata": {"resourceVersion": "1"}, "items": []}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"https://127.0.0.1:{server.server_port}", asked

    def test_sluicectl_has_kubectls_ways_to_say_who_asks(self):
        """An exec plugin, a token file, several files in $KUBECONFIG, the one in the home directory, and a server that nobody vouches for."""
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sluice-remote-"))
        self.addCleanup(shutil.rmtree, self.home)
        self.certify("here", "subjectAltName=IP:127.0.0.1")
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.home / "here.crt", self.home / "here.key")
        url, asked = self.serve(context)
        env = {k: v for k, v in os.environ.items() if k not in ("SLUICE_SERVER", "SLUICE_KUBECONFIG", "KUBECONFIG")} | {"HOME": str(self.home)}

        def ask(config, code=0, **more):
            for name, part in config.items():
                (self.home / name).parent.mkdir(exist_ok=True)
                (self.home / name).write_text(json.dumps(part) if part else "")
            done = subprocess.run([daemon.BUILD / "sluicectl", "get", "lq"], text=True, capture_output=True, timeout=60, env=env | more)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stderr if code else asked[-1]

        cluster = {"clusters": [{"name": "c", "cluster": {"server": url, "certificate-authority": "ca.crt"}}]}
        here = {"contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}], "current-context": "x"}
        user = lambda **fields: {"users": [{"name": "u", "user": fields}]}
        (self.home / "secret").write_text("from-a-file\n")
        one = {"KUBECONFIG": str(self.home / "one")}
        self.assertEqual(ask({"one": cluster | here | user(tokenFile="secret")}, **one), "Bearer from-a-file")
        plugin = self.home / "plugin"
        plugin.write_text('#!/bin/sh\necho ran >>"${0%/*}/runs"\nprintf \'{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",'
                          ' "status": {"token": "%s-%s"}}\' "$1" "$WHO"\n')
        plugin.chmod(0o755)
        call = {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin", "args": ["for"], "env": [{"name": "WHO", "value": "me"}]}
        self.assertEqual(ask({"one": cluster | here | user(exec=call)}, **one), "Bearer for-me")
        self.assertEqual((self.home / "runs").read_text(), "ran\n")
        self.assertIn("nosuch", ask({"one": cluster | here | user(exec={**call, "command": "./nosuch"})}, code=1, **one))
        several = {"KUBECONFIG": ":".join(str(self.home / name) for name in ("missing", "one", "two"))}
        self.assertEqual(ask({"one": user(token="first"), "two": cluster | here | user(token="second")}, **several), "Bearer first")
        self.assertIn("ca.crt: it is empty", ask({".kube/config": cluster | here | user(token="home"), ".kube/ca.crt": None}, code=1))
        shutil.copy(self.home / "ca.crt", self.home / ".kube/ca.crt")
        self.assertEqual(ask({}), "Bearer home")
        done = subprocess.run([daemon.BUILD / "sluicectl", "help"], text=True, capture_output=True, env=env, timeout=60)
        self.assertIn("http://127.0.0.1:8088", done.stdout)
        blind = {"clusters": [{"name": "c", "cluster": {"server": url, "insecure-skip-tls-verify": True}}]}
        self.assertEqual(ask({"one": blind | here | user(token="t")}, **one), "Bearer t")
        unknown = {"clusters": [{"name": "c", "cluster": {"server": url}}]}
        before = len(asked)
        self.assertIn("cannot talk to", ask({"one": unknown | here | user(token="t")}, code=1, **one))
        self.assertEqual(len(asked), before)

    def test_sluicectl_as_a_plugin_and_with_kubectls_own_verbs(self):
        d = daemon.Daemon()
        self.addCleanup(d.close)
        d.start()
        d.sluicectl("create", "cq", "team")
        tools = d.home / "bin"
        tools.mkdir()
        (tools / "kubectl-sluice").symlink_to(daemon.BUILD / "sluicectl")
        (tools / "kubectl").symlink_to(daemon.KUBECTL)
        env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "SLUICE_SERVER": d.url, "HOME": str(d.home), "KUBECONFIG": ""}
        run = lambda *words, **more: subprocess.run(words, text=True, capture_output=True, timeout=60, env=env | more)
        self.assertRegex(run("kubectl", "sluice", "list", "cq").stdout, r"(?m)^team ")
        done = run(daemon.BUILD / "sluicectl", "patch", "cq", "team", "--type", "merge", "-p", '{"spec":{"cohortName":"zebra"}}')
        self.assertEqual((done.returncode, done.stdout), (0, "clusterqueue.kueue.x-k8s.io/team patched\n"), done.stderr)
        self.assertEqual(d.get(f"/apis/{daemon.KUEUE}/clusterqueues/team")["spec"]["cohortName"], "zebra")
        done = run(daemon.BUILD / "sluicectl", "edit", "cq", "team", EDITOR="sed -i s/zebra/other/")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(d.get(f"/apis/{daemon.KUEUE}/clusterqueues/team")["spec"]["cohortName"], "other")
        self.assertIn("usage: sluicectl patch", run(daemon.BUILD / "sluicectl", "patch", "--help").stdout)
        done = run(daemon.BUILD / "sluicectl", "patch", "cq", "team", "-p", "{}", PATH="/nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("patch needs kubectl, which cannot be run", done.stderr)

    def test_plain_http_is_not_served(self):
        d = self.start()
        connection = http.client.HTTPConnection(HOST, d.port, timeout=10)
        self.addCleanup(connection.close)
        with self.assertRaises((OSError, http.client.HTTPException)):
            connection.request("GET", JOBS, headers={"Authorization": f"Bearer {d.token()}"})
            connection.getresponse()

    def test_a_token_file_may_be_named_and_asked_for_on_loopback(self):
        d = Remote("--token-file", "TOKEN")
        self.addCleanup(d.close)
        d.home.mkdir(exist_ok=True)
        file = d.home / "own token"
        file.write_text("0123456789abcdef\n")
        file.chmod(0o600)
        d.flags = ("--token-file", str(file))
        d.start()
        self.assertEqual(d.status("0123456789abcdef"), 200)
        self.assertEqual(d.status(), 401)
        self.assertFalse((d.data / "token").exists())

    def test_what_is_no_secret_is_refused(self):
        d = Remote()
        self.addCleanup(d.close)
        d.home.mkdir(exist_ok=True)
        file = d.home / "token"
        file.write_text("0123456789abcdef\n")
        file.chmod(0o644)
        self.assertIn("can be read by others (mode 0644)", self.refused("--token-file", str(file)))
        file.chmod(0o600)
        for text in ("", "short\n", "0123456789 abcdef\n", "0123456789abcdef\n0123456789abcdef\n", "x" * 2000):
            file.write_text(text)
            self.assertIn("holds no token", self.refused("--token-file", str(file)))
        file.unlink()
        file.mkdir()
        self.assertIn("token", self.refused("--token-file", str(file)))
        self.assertIn("--tls-dir", self.refused("--tls-dir", "/nowhere", code=2))

    def test_without_them_loopback_is_as_it_was(self):
        d = daemon.Daemon()
        self.addCleanup(d.close)
        d.start()
        self.assertEqual(d.request("GET", JOBS)[0], 200)
        self.assertFalse((d.data / "token").exists())
        self.assertFalse((d.data / "kubeconfig").exists())


if __name__ == "__main__":
    unittest.main()
