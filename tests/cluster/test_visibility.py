"""The Visibility API behind the API server: who gets it, who does not, and who else is believed.

The API server reaches the daemons beside it by a Service that is a name, localhost."""
import base64, http.client, json, os, ssl, subprocess, threading, urllib.parse

from controlplane import find, free_port
from work_scene import *
from browser import Browser

GROUP = "/apis/visibility.kueue.x-k8s.io"
SERVICE = "visibility-local"


def setUpModule():
    global PORT
    PORT = free_port()
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": SERVICE, "namespace": "kueue-system"},
               "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"name": "https", "port": PORT}]}}
    assert plane().request("POST", "/api/v1/namespaces/kueue-system/services", service)[0] == 201
    manifests = plane().kubectl("kustomize", ROOT / "deploy/kubernetes/visibility").stdout
    for known, ours in (("sluice-visibility", SERVICE), ("port: 443", f"port: {PORT}")):
        assert known in manifests, manifests
        manifests = manifests.replace(known, ours)
    plane().kubectl("apply", "--server-side", "-f", "-", stdin=manifests)


def tearDownModule():
    plane().kubectl("delete", "-k", ROOT / "deploy/kubernetes/visibility")
    plane().request("DELETE", f"/api/v1/namespaces/kueue-system/services/{SERVICE}")


class Visibility(WorkScene):
    def setUp(self):
        super().setUp()
        self.options = ["--visibility-listen", f"127.0.0.1:{PORT}"]

    def available(self, version="v1beta2"):
        service = self.plane.get(f"/apis/apiregistration.k8s.io/v1/apiservices/{version}.visibility.kueue.x-k8s.io")
        return any(c["type"] == "Available" and c["status"] == "True" for c in service["status"]["conditions"])

    def served(self, **more):
        d = self.daemon(**more)
        for version in ("v1beta2", "v1beta1"):
            eventually(lambda: self.available(version), 60, what=f"{version} available")
        return d

    def waiting(self, count=3):
        """A queue of one CPU in which one job runs and `count` wait; what is said of them, by the API server."""
        queue = self.queues(1)
        self.create(job("first", "main", run_for="600s"))
        eventually(lambda: not self.job("first")["spec"]["suspend"], what="the first job runs")
        for i in range(count):
            self.create(job(f"next-{i}", "main"))
        self.queue = queue.rsplit("/", 1)[1]
        self.local = f"namespaces/{self.namespace}/localqueues/main/pendingworkloads"
        self.cluster = f"clusterqueues/{self.queue}/pendingworkloads"
        eventually(lambda: len(self.pending(self.cluster)) == count, what=f"{count} wait")

    def pending(self, path, version="v1beta2"):
        return self.plane.get(f"{GROUP}/{version}/{path}")["items"]

    # --- through the API server -----------------------------------------------------------------------------------
    def test_pending_workloads_by_kubectl(self):
        self.served()
        self.waiting()
        said = json.loads(self.plane.kubectl("get", "--raw", f"{GROUP}/v1beta2/{self.cluster}").stdout)
        self.assertEqual((said["kind"], said["apiVersion"]),
                         ("PendingWorkloadsSummary", "visibility.kueue.x-k8s.io/v1beta2"))
        self.assertEqual([i["positionInClusterQueue"] for i in said["items"]], [0, 1, 2])
        self.assertEqual(sorted(i["metadata"]["ownerReferences"][0]["name"] for i in said["items"]),
                         ["next-0", "next-1", "next-2"])
        self.assertEqual({i["localQueueName"] for i in said["items"]}, {"main"})
        one = self.pending(f"{self.local}?offset=1&limit=1", "v1beta1")
        self.assertEqual([i["positionInLocalQueue"] for i in one], [1])
        status, answer = self.plane.request("GET", f"{GROUP}/v1beta2/clusterqueues/nobody/pendingworkloads")
        self.assertEqual((status, answer["details"]["kind"]), (404, "clusterqueue"))
        self.assertEqual(self.plane.request("DELETE", f"{GROUP}/v1beta2/{self.cluster}")[0], 405)

    def test_discovery_and_openapi_are_merged(self):
        self.served()
        both = {f"visibility.kueue.x-k8s.io/{version}" for version in ("v1beta2", "v1beta1")}
        eventually(lambda: both <= set(self.plane.kubectl("api-versions").stdout.split()), 150,
                   what="both versions in the merged discovery")  # asked for once a minute, each by itself
        shown = self.plane.kubectl("api-resources", "--api-group=visibility.kueue.x-k8s.io", "--no-headers", check=False)
        self.assertNotIn("unable to retrieve", shown.stderr)
        index = eventually(lambda: {k: v for k, v in self.plane.get("/openapi/v3")["paths"].items()
                                    if "visibility" in k and k.endswith("v1beta2")}, 150, what="OpenAPI v3")
        document = self.plane.get(list(index.values())[0]["serverRelativeURL"])
        self.assertIn("io.k8s.kueue.visibility.v1beta2.PendingWorkloadsSummary", document["components"]["schemas"])
        eventually(lambda: "io.k8s.kueue.visibility.v1beta1.PendingWorkloadsSummary"
                   in self.plane.get("/openapi/v2")["definitions"], 150, what="OpenAPI v2")  # tried once a minute

    def test_users_see_what_their_roles_say(self):
        self.served()
        self.waiting(1)

        def sees(path):
            return self.plane.request("GET", f"{GROUP}/v1beta2/{path}", token="user-token")

        status, answer = sees(self.cluster)
        self.assertEqual((status, answer["kind"], answer["reason"]), (403, "Status", "Forbidden"))
        self.assertIn('User "jane" cannot get resource "clusterqueues/pendingworkloads"', answer["message"])
        self.assertEqual(sees(self.local)[0], 403)
        self.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                     "metadata": {"name": "jane", "namespace": self.namespace},
                     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
                     "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]})
        eventually(lambda: sees(self.local)[0] == 200, 30, what="her namespace's queue")
        self.assertEqual(sees(self.cluster)[0], 403)

    def test_users_ask_why_in_their_namespaces_and_see_no_names_of_others(self):
        self.served()
        self.waiting(1)
        there = self.namespace + "-other"
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": there}})
        self.create({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "main", "namespace": there},
                     "spec": {"clusterQueue": self.queue}})
        other = job("asker", "main")
        other["metadata"]["namespace"] = there
        self.create(other)
        why, named = f"namespaces/{there}/jobs/asker/why", f"clusterqueues/{self.queue}/why"

        def asks(path, token="user-token"):
            return self.plane.request("GET", f"{GROUP}/v1beta2/{path}", token=token)

        eventually(lambda: asks(why, "admin-token")[1].get("state") == "Pending", what="the other one waits")
        status, answer = asks(why)
        self.assertEqual((status, answer["reason"]), (403, "Forbidden"))
        self.assertIn('User "jane" cannot get resource "jobs/why"', answer["message"])
        self.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                     "metadata": {"name": "jane", "namespace": there},
                     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
                     "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]})
        answer = eventually(lambda: (lambda a: a[0] == 200 and a[1])(asks(why)), 30, what="her namespace's job")
        self.assertEqual(answer["kind"], "Explanation")
        self.assertEqual(answer["limits"][0]["holders"][0]["clusterQueue"], self.queue)
        self.assertNotIn("job-first", json.dumps(answer))
        self.assertEqual(asks(f"namespaces/{self.namespace}/jobs/first/why")[0], 403)
        self.assertEqual(asks(named)[0], 403)
        self.assertEqual(asks(f"{named}?namespace={there}&workload={answer['workload']}")[0], 403)
        status, answer = asks(f"{named}?namespace={there}&workload={answer['workload']}", "admin-token")
        self.assertEqual((status, answer["limits"][0]["holders"][0]["job"]), (200, {"kind": "Job", "name": "first"}))
        # Only the first of equal workloads has a condition and events; so has its Job, one.
        events = eventually(lambda: [e for e in self.plane.get(f"/api/v1/namespaces/{self.namespace}/events")["items"]
                                     if e["involvedObject"]["kind"] == "Job" and "more needed" in e["message"]], what="the Job's event")
        self.assertEqual([(e["involvedObject"]["name"], e["reason"], e["type"]) for e in events], [("next-0", "WaitingForQuota", "Normal")])
        self.assertIn("Position 1 of ", events[0]["message"])

    def test_what_would_happen_is_told_to_those_who_may_ask(self):
        self.served()
        self.waiting(1)
        asks = lambda token, body={}: self.plane.request("POST", f"{GROUP}/v1beta2/simulations", body, token=token)
        status, answer = asks("user-token")
        self.assertEqual((status, answer["reason"]), (403, "Forbidden"))
        self.assertIn('User "jane" cannot create resource "simulations"', answer["message"])
        self.assertEqual([w["namespace"] for w in asks("admin-token")[1]["workloads"]], [self.namespace])
        self.assertEqual(asks("admin-token", {"limit": 0})[0], 400)
        self.assertEqual(asks("admin-token", {"changes": [{"apply": {"x": "x" * (2 << 20)}}]})[0], 413)
        binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
        self.addCleanup(self.plane.request, "DELETE", f"{binding}/planner")
        self.plane.request("POST", binding, {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "planner"},
                                             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "sluice-foresight"},
                                             "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]})
        eventually(lambda: asks("user-token")[0] == 200, 30, what="the right to ask")

    def test_sluicectl_shows_users_of_a_namespace_what_waits_there(self):
        self.served()
        self.waiting(2)
        self.create(job("typo", "mein"), {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "jane", "namespace": self.namespace},
                                          "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
                                          "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]})
        env = {**os.environ, "KUBECONFIG": str(self.plane.run / "user.kubeconfig"), "HOME": str(self.plane.run)}
        ask = lambda *words: subprocess.run([BUILD / "sluicectl", *words, "-n", self.namespace], text=True, capture_output=True, env=env)
        shown = eventually(lambda: (lambda d: d if "did you mean main?" in d.stdout else None)(ask("pending")), 30, what="her queue and her mistake")
        self.assertEqual(shown.returncode, 0)
        self.assertEqual(shown.stderr, f"warning: ClusterQueues are not yours to see: these are the LocalQueues of namespace {self.namespace}\n")
        self.assertRegex(shown.stdout, r"(?m)^LocalQueue main: 2 pending\n.*\n +1 .*/job-next-\d-\w+ +WaitingForQuota: .*\n +2 ")
        one = ask("pending", "main")
        self.assertRegex(one.stdout, r"^LocalQueue main: 2 pending\n(.*\n){3}$")
        self.assertEqual([i["metadata"]["namespace"] for i in json.loads(ask("pending", "main", "-o", "json").stdout)["items"]], [self.namespace] * 2)
        wrong = ask("pending", "mein")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn('localqueue.visibility.kueue.x-k8s.io "mein" not found', wrong.stderr)

    # --- past the API server --------------------------------------------------------------------------------------
    def connect(self, certificate=None, client="127.0.0.1"):
        """To the daemon itself, from an address of this machine."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if certificate:
            pki = self.plane.run / "pki"
            context.load_cert_chain(pki / f"{certificate}.crt", pki / f"{certificate}.key")
        return http.client.HTTPSConnection("127.0.0.1", PORT, timeout=10, context=context, source_address=(client, 0))

    def direct(self, path, certificate=None, client="127.0.0.1", **headers):
        """The status of a request to the daemon itself."""
        connection = self.connect(certificate, client)
        connection.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})
        response = connection.getresponse()
        response.read()
        connection.close()
        return response.status

    def test_only_the_api_server_is_believed(self):
        self.served()
        self.waiting(1)
        path = f"{GROUP}/v1beta2/{self.cluster}"
        root = {"X_Remote_User": "admin", "X_Remote_Group": "system:masters"}
        self.plane.certify_client("front-proxy-client", "ca", "other-ca")
        self.plane.certify_client("somebody", "front-proxy-ca", "other-name")
        self.assertEqual(self.direct(path, "front-proxy-client", **root), 200)
        self.assertEqual(self.direct(path, **root), 401)
        self.assertEqual(self.direct(path, "other-ca", **root), 403)  # somebody by himself: his headers are nothing
        self.assertEqual(self.direct(path, "other-name", **root), 401)
        self.assertEqual(self.direct(path, "front-proxy-client"), 401)
        self.assertEqual(self.direct(path, "front-proxy-client", X_Remote_User="jane"), 403)
        self.assertEqual([self.direct(p) for p in ("/healthz", "/livez", "/readyz", "/metrics", "/apis")],
                         [200, 200, 200, 401, 401])

    def test_users_certificates_are_taken_as_the_api_server_takes_them(self):
        self.served()
        self.waiting(1)
        self.plane.certify_client("joe", "ca", "joe")
        self.plane.certify_client("joe", "front-proxy-ca", "joe-of-the-proxy")
        path = f"{GROUP}/v1beta2/{self.local}"
        self.assertEqual(self.direct(path, "joe"), 403)
        self.assertEqual(self.direct(path, "joe-of-the-proxy"), 401)
        self.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                     "metadata": {"name": "joe", "namespace": self.namespace},
                     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
                     "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "joe"}]})
        eventually(lambda: self.direct(path, "joe") == 200, 30, what="his namespace's queue")
        self.assertEqual(self.direct(f"{GROUP}/v1beta2/{self.cluster}", "joe"), 403)

    def test_tokens_are_reviewed_and_metrics_are_for_those_who_may(self):
        self.daemon()
        self.addCleanup(self.plane.request, "DELETE",
                        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/scraper")
        token = self.new_token()

        def scrape(token):
            return self.direct("/metrics", Authorization=f"Bearer {token}")

        self.assertEqual(scrape("nobody's"), 401)
        self.assertEqual(scrape("admin-token"), 200)
        self.assertEqual(scrape(token), 403)
        status, answer = self.plane.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "scraper"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kueue-metrics-reader"},
            "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}]})
        self.assertEqual(status, 201, answer)
        eventually(lambda: scrape(token) == 200, 20, what="the account may scrape")

    def new_token(self):
        status, answer = self.plane.request("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        self.assertEqual(status, 201, answer)
        return answer["status"]["token"]

    def test_guesses_keep_no_newcomer_out(self):
        """A flood of tokens that nobody knows, from a few addresses, and new good ones from another."""
        self.daemon()
        tokens = [self.new_token() for _ in range(20)]
        stop, answers = threading.Event(), {}
        self.addCleanup(stop.set)

        def guess(k):
            connection = self.connect(client=f"127.0.0.{2 + k % 6}")
            while not stop.is_set():
                connection.request("GET", "/metrics", headers={"Authorization": f"Bearer guess-{k}-{time.monotonic_ns()}"})
                response = connection.getresponse()
                response.read()
                answers[response.status] = answers.get(response.status, 0) + 1
            connection.close()

        threads = [threading.Thread(target=guess, args=(k,)) for k in range(24)]
        for t in threads:
            t.start()
        eventually(lambda: answers.get(429, 0) >= 20, 30, what="guesses that are refused")
        got = [self.direct("/metrics", client="127.0.0.99", Authorization=f"Bearer {t}") for t in tokens]
        stop.set()
        for t in threads:
            t.join()
        self.assertEqual(set(got), {403}, (got, answers))  # who it is is known, and that it has no right
        self.assertLessEqual(set(answers), {401, 429})

    def test_authority_of_the_api_server_may_change(self):
        self.served()
        where = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
        pki = self.plane.run / "pki"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "30", "-subj", "/CN=next-ca", "-keyout", "next-ca.key", "-out", "next-ca.crt"],
                       cwd=pki, check=True, capture_output=True)
        self.plane.certify_client("front-proxy-client", "next-ca", "next")
        user = {"X_Remote_User": "jane"}
        self.assertEqual(self.direct(f"{GROUP}/v1beta2", "next", **user), 401)
        both = self.plane.get(where)["data"]["requestheader-client-ca-file"] + (pki / "next-ca.crt").read_text()
        self.addCleanup(self.plane.request, "DELETE", where)  # the API server makes it anew
        self.patched(where, {"data": {"requestheader-client-ca-file": both}})
        eventually(lambda: self.direct(f"{GROUP}/v1beta2", "next", **user) == 200, 10, what="the new authority believed")
        self.assertEqual(self.direct(f"{GROUP}/v1beta2", "front-proxy-client", **user), 200)

    # --- its own certificate, and standbys ------------------------------------------------------------------------
    def test_certificate_of_ones_own_is_verified_by_the_api_server(self):
        pki = self.plane.run / "pki"
        home = self.plane.run / "tls"
        home.mkdir(exist_ok=True)
        self.plane.certify_client("visibility", "ca", "visibility")
        (pki / "visibility.names").write_text(f"subjectAltName=DNS:{SERVICE}.kueue-system.svc\n")
        subprocess.run(["openssl", "x509", "-req", "-in", "visibility.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
                        "-CAcreateserial", "-days", "30", "-extfile", "visibility.names", "-out", home / "tls.crt"],
                       cwd=pki, check=True, capture_output=True)
        (home / "tls.key").write_bytes((pki / "visibility.key").read_bytes())
        bundle = base64.b64encode((pki / "ca.crt").read_bytes()).decode()
        service = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.visibility.kueue.x-k8s.io"
        self.addCleanup(self.patch, service, {"spec": {"insecureSkipTLSVerify": True, "caBundle": None}})
        self.patched(service, {"spec": {"insecureSkipTLSVerify": False, "caBundle": bundle}})
        stranger = self.daemon()
        path = f"{GROUP}/v1beta2/clusterqueues/none/pendingworkloads"
        eventually(lambda: self.plane.request("GET", path)[0] == 503, what="a certificate made at start is not believed")
        stranger.stop()
        self.daemon(options=[*self.options, "--tls-dir", str(home)])
        eventually(lambda: self.plane.request("GET", path)[0] == 404, 60, what="one that is verified is")
        self.waiting(1)

    def test_mark_follows_the_leader_and_standbys_know_nothing(self):
        pods = "/api/v1/namespaces/kueue-system/pods"
        names = eventually(lambda: [p["metadata"]["name"] for p in self.plane.get(
            f"{pods}?labelSelector=app.kubernetes.io/name=sluice")["items"]][:2], what="pods")
        selector = self.plane.get("/api/v1/namespaces/kueue-system/services/sluice-visibility")["spec"]["selector"]
        query = urllib.parse.quote(",".join(f"{k}={v}" for k, v in selector.items()))

        def marked():
            return [p["metadata"]["name"] for p in self.plane.get(f"{pods}?labelSelector={query}")["items"]]

        def start(name, port):
            return self.daemon(options=["--visibility-listen", f"127.0.0.1:{port}"], config={"leaderElection": QUICK_LEASE},
                               env={"POD_NAME": name, "POD_NAMESPACE": "kueue-system"})

        first = start(names[0], free_port())
        eventually(lambda: marked() == names[:1], what="the leader marked")
        second = start(names[1], PORT)
        self.assertEqual(marked(), names[:1])
        self.assertEqual(self.direct(f"{GROUP}/v1beta2/clusterqueues/x/pendingworkloads", "front-proxy-client",
                                     X_Remote_User="a", X_Remote_Group="system:masters"), 503)
        first.stop()
        eventually(lambda: names[1] in marked(), 30, what="the next leader marked")
        again = start(names[0], free_port())  # in the same pod
        eventually(lambda: marked() == names[1:2], what="only the leader marked")
        self.assertTrue(second.running() and again.running())
        for d in (again, second):
            d.stop()

    # --- the web page, and the dump -------------------------------------------------------------------------------
    def proxy(self, user):
        """kubectl proxy with the page's files, as this user; its address."""
        port = free_port()
        process = subprocess.Popen([find("kubectl"), "proxy", f"--port={port}", f"--www={ROOT / 'src/ui'}", "--www-prefix=/ui/"],
                                   env={**os.environ, "KUBECONFIG": str(self.plane.run / f"{user}.kubeconfig")}, stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        url = f"http://127.0.0.1:{port}/ui/"
        eventually(lambda: subprocess.run(["curl", "-fs", url], capture_output=True).returncode == 0, what="kubectl proxy")
        return url

    def test_the_web_page_shows_what_its_user_may_see(self):
        self.served()
        self.waiting()
        browser = Browser()
        self.addCleanup(browser.close)
        sees = lambda text: browser.until(f"(document.body?.innerText || '').includes({json.dumps(text)})")
        self.assertEqual([self.direct(p) for p in ("/ui/", "/ui/app.js", "/ui/nosuch", "/ui", "/ui2", "/")], [200, 200, 404, 302, 401, 401])
        self.assertEqual(self.direct("/", Accept="text/html"), 302)
        browser.open(self.proxy("admin") + f"#/pending/{self.queue}")
        sees("3 pending")
        sees("insufficient unused quota for cpu")
        sees("What if")
        sees("run times are not known")  # an answer to what the page asked about starts
        self.create(job("one-more", "main"))
        sees("4 pending")
        browser.open("about:blank")
        browser.open(self.proxy("user"))
        sees("You may not list workloads of all namespaces: choose a namespace above.")
        sees("You may not list clusterqueues.")
        self.assertNotIn("What if", browser.text())
        self.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "jane", "namespace": self.namespace},
                     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
                     "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]})
        browser.run("(() => { const n = document.getElementById('namespace'); n.value = %s; n.dispatchEvent(new Event('change')); })()" % json.dumps(self.namespace))
        browser.key("3")
        sees("5 workloads")

    def test_the_dump_is_for_those_who_may_list_it(self):
        self.served()
        self.waiting(1)
        path = f"{GROUP}/v1beta2/dump"
        status, answer = self.plane.request("GET", path, token="user-token")
        self.assertEqual((status, answer["reason"]), (403, "Forbidden"))
        self.assertIn('User "jane" cannot list resource "dump"', answer["message"])
        self.assertEqual(self.direct(path), 401)
        dump = json.loads(self.plane.kubectl("get", "--raw", path).stdout)
        self.assertIn(self.queue, [q["metadata"]["name"] for q in dump["objects"]["ClusterQueue"]])
        self.assertEqual(len(dump["pending"][self.queue]["items"]), 1)
        self.assertIn("sluice_api_requests_total", dump["metrics"])
        path = f"{GROUP}/v1beta2/metrics"  # what `sluicectl status` reads
        status, answer = self.plane.request("GET", path, token="user-token")
        self.assertIn('User "jane" cannot list resource "metrics"', answer["message"])
        self.assertIn("\nsluice_api_requests_total ", self.plane.kubectl("get", "--raw", path).stdout)
