"""The web page in a real Chromium: what it shows, by keys and on narrow screens, and that no text becomes markup."""
import http.client, json, re, ssl
from browser import Browser
from scene import *

UI = ROOT / "src/ui"
HOSTILE = "<img src=x onerror='window.hit=1'><script>window.hit=2</script>"
# What the server answers, but for the word "evil" wherever it is: no API server would let such names in.
POISON = """
const real = window.fetch;
window.fetch = async (...a) => {
    const r = await real(...a);
    if (!r.ok || String(a[0]).includes("watch=1")) return r;
    return new Response((await r.text()).replaceAll("evil", %s), {status: r.status});
};""" % json.dumps(json.dumps(HOSTILE)[1:-1])
# Ten thousand that wait, without the minutes that it takes to submit them.
CROWD = """
const real = window.fetch;
window.fetch = async (...a) => {
    const url = new URL(a[0], location);
    if (!url.pathname.endsWith("/pendingworkloads")) return real(...a);
    const offset = Number(url.searchParams.get("offset")), items = [];
    for (let i = offset; i < Math.min(10000, offset + 1000); i++) {
        items.push({metadata: {name: `job-many-${i}`, namespace: "default", creationTimestamp: "2026-01-01T00:00:00Z"}, priority: 0,
            localQueueName: "main", positionInClusterQueue: i, positionInLocalQueue: i, message: `insufficient quota, ${i} more needed`});
    }
    return new Response(JSON.stringify({items}));
};"""
# A daemon that explains and foresees, whatever this one does.
ORACLE = """
const real = window.fetch, evil = %s;
const waits = {namespace: "default", name: "NAME", clusterQueue: "team", start: new Date(Date.now() + 654000).toISOString(), certainty: "Latest", basis: ["maximumExecutionTime"]};
window.asked = [];
window.fetch = async (...a) => {
    const url = new URL(a[0], location), json = (o) => new Response(JSON.stringify(o));
    if (url.pathname.endsWith("/why")) return json({summary: "Position 1 of 1 " + evil, limits: [{message: "2 cpu more needed", holdersInAll: 7, holders: [
        {namespace: "default", name: "w", job: {name: evil}, clusterQueue: "team", amount: "2", priority: 5, since: new Date().toISOString(), because: "Never"}]}],
        preemption: {message: "preempts no workloads"}, remedies: ["2 cpu is released " + evil]});
    if (!url.pathname.endsWith("/simulations")) return real(...a);
    const body = JSON.parse(a[1].body);
    window.asked.push(body);
    return json(!body.changes ? {workloads: [waits], counts: {workloads: 1}} : {now: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z", counts: {asked: 1, later: 3, evicted: 1},
        asked: [{...waits, admitted: "AfterPreemption", preempts: [{...waits, name: evil}], podSets: [{name: "main", count: 2, flavors: {cpu: "f"}}]}],
        later: [{...waits, startBefore: new Date().toISOString()}], evicted: [{...waits, evicted: "2026-01-01T00:00:00Z", evictedFor: evil}]});
};""" % json.dumps(HOSTILE)
# Frames while the list is scrolled, a hundred as fast as a wheel and then to its end: how long each took, and how many
# rows there were.
SCROLL = """new Promise((done) => {
    const box = document.querySelector(".scroll"), times = [];
    let last = performance.now(), rows = 0, at = 0;
    const step = (now) => {
        times.push(now - last);
        last = now;
        rows = Math.max(rows, box.querySelectorAll(".row").length);
        at += 1;
        box.scrollTop = at < 100 ? at * 150 : (box.scrollHeight - box.clientHeight) * (at - 99) / 21;
        if (at < 120) requestAnimationFrame(step);
        else requestAnimationFrame(() => requestAnimationFrame(() =>
            done({times: times.slice(1), rows, end: box.innerText.includes("job-many-9999")})));
    };
    requestAnimationFrame(step);
})"""
CONTRAST = """(() => {
    const style = getComputedStyle(document.documentElement);
    const light = (name) => {
        const n = parseInt(style.getPropertyValue(name).trim().slice(1).replace(/^(.)(.)(.)$/, "$1$1$2$2$3$3"), 16);
        const part = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        return 0.2126 * part(n >> 16) + 0.7152 * part((n >> 8) & 255) + 0.0722 * part(n & 255);
    };
    const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const found = {};
    for (const text of ["--text", "--dim", "--link", "--bad", "--over", "--good"])
        for (const ground of ["--page", "--band", "--at"])
            if (!(["--over", "--good"].includes(text) && ground !== "--page")) found[text + " on " + ground] = ratio(text, ground);
    return found;
})()"""
UNNAMED = """[...document.querySelectorAll("a, button, input, select")].filter((e) => !e.matches(".hidden *") &&
    !(e.innerText || "").trim() && !e.getAttribute("aria-label") && !(e.labels && e.labels.length)).map((e) => e.outerHTML)"""


class Page(Scene):
    browser_options = ()
    scheme = "http"

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(options=cls.browser_options)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        super().setUp()
        self.browser.said.clear()
        self.browser.messages.clear()
        self.scripts = []

    def tearDown(self):
        for script in self.scripts:
            self.browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
        self.browser.open("about:blank")
        super().tearDown()

    def before(self, script):
        """In each page that is opened, before its own scripts."""
        self.scripts.append(self.browser.call("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"])

    def open(self, where=""):
        self.browser.open("about:blank")
        self.browser.open(f"{self.scheme}://127.0.0.1:{self.daemon.port}/ui/{where}")

    def sees(self, text, where="body"):
        self.browser.until(f"(document.querySelector({json.dumps(where)})?.innerText || '').includes({json.dumps(text)})")

    def no_complaints(self):
        """Neither of scripts nor of the policy; that an endpoint is not offered is one of the answers."""
        self.assertEqual([s for s in self.browser.said if "status of 404" not in s and "status of 405" not in s], [])

    def two_teams(self):
        self.create(flavor("f"), cohort("company"),
                    cluster_queue("team", {"f": {"cpu": "4"}}, "company"),
                    cluster_queue("others", {"f": {"cpu": "4"}}, "company"), local_queue("main", "team"))


class Files(Page):
    def raw(self, method, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=30)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    def test_a_browser_is_led_to_the_page_and_other_clients_get_what_they_got(self):
        for path in ("/", "/ui"):
            status, headers, _ = self.raw("GET", path, Accept="text/html,application/xhtml+xml,*/*;q=0.8")
            self.assertEqual((status, headers["Location"]), (302, "ui/"))
        for accept in ({}, {"Accept": "application/json"}, {"Accept": "*/*"}):
            status, _, body = self.raw("GET", "/", **accept)
            self.assertEqual(status, 200)
            self.assertIn("/api", json.loads(body)["paths"])
        self.assertEqual(self.raw("GET", "/apis", Accept="text/html")[0], 200)
        self.assertEqual(self.raw("POST", "/", Accept="text/html")[0], 405)

    def test_each_file_is_served_as_it_is_and_only_once(self):
        types = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
        for file in UI.iterdir():
            status, headers, body = self.raw("GET", f"/ui/{file.name}")
            self.assertEqual((status, body), (200, file.read_bytes()), file.name)
            self.assertEqual(headers["Content-Type"].split(";")[0], types[file.suffix[1:]])
            self.assertEqual(self.raw("GET", f"/ui/{file.name}", **{"If-None-Match": headers["ETag"]})[::2], (304, b""))
            self.assertEqual(self.raw("GET", f"/ui/{file.name}", **{"If-None-Match": '"other"'})[0], 200)
        self.assertEqual(self.raw("GET", "/ui/")[2], (UI / "index.html").read_bytes())
        self.assertEqual(self.raw("HEAD", "/ui/")[::2], (200, b""))
        for path in ("/ui/nosuch", "/ui/../version", "/ui/%2e%2e/version", "/ui//"):
            self.assertEqual(self.raw("GET", path)[0], 404, path)
        self.assertEqual(self.raw("PUT", "/ui/app.js")[0], 405)

    def test_the_policy_lets_nothing_in_from_elsewhere(self):
        policy = self.raw("GET", "/ui/")[1]["Content-Security-Policy"]
        for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"):
            self.assertIn(part, policy)
        self.assertNotIn("unsafe", policy)
        for file in UI.iterdir():
            text = file.read_text()
            self.assertEqual(re.findall(r"https?://(?!www\.w3\.org/2000/svg)[^\s\"]*", text), [], file.name)
            self.assertIsNone(re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function", text), file.name)


class Views(Page):
    def test_the_tree_follows_what_happens(self):
        self.two_teams()
        self.open()
        self.sees("company")
        self.sees("0 / 4")
        self.create(job("a", cpu="6", run_for="60s"), job("b", cpu="4", run_for="60s"))
        self.sees("6 / 4 +2")
        self.browser.until("[...document.querySelectorAll('.tree tr')].find((r) => r.innerText.includes('team')).querySelector('td.number').innerText === '1'")
        self.assertEqual(self.browser.run("document.querySelectorAll('.tree .over').length"), 1)
        self.patch("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team", {"spec": {"stopPolicy": "Hold"}})
        self.sees("Held")
        self.no_complaints()
        self.assertEqual([m for m in self.browser.messages if not m.startswith(("about:", f"http://127.0.0.1:{self.daemon.port}/"))], [])

    def test_a_queue_has_its_quotas_and_leads_to_what_waits_there(self):
        self.two_teams()
        self.create(job("a", cpu="8", run_for="60s"), job("low", cpu="3"), job("big", cpu="9"))
        self.refused("low", "WaitingForQuota")
        self.open("#/queues/queue/team")
        self.sees("ClusterQueue team", "aside")
        self.sees("default/main", "aside")
        self.browser.run("[...document.querySelectorAll('aside a')].find((a) => a.innerText.startsWith('Pending')).click()")
        self.sees("2 pending")
        listed = self.daemon.get("/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/team/pendingworkloads")["items"]
        self.assertEqual(self.browser.run("[...document.querySelectorAll('.space .c-name')].map((e) => e.innerText)"),
                         [i["metadata"]["ownerReferences"][0]["name"] for i in listed])
        self.sees("insufficient unused quota for cpu in flavor f")
        self.no_complaints()

    def test_a_workload_has_its_history(self):
        self.two_teams()
        self.create(job("a", cpu="1", run_for="100ms"))
        self.finished("a")
        self.open("#/workloads")
        self.sees("Finished")
        self.browser.run("document.querySelector('.space .row').click()")
        self.sees("History")
        self.sees("QuotaReserved", ".line")
        self.sees("event", ".line")
        times = self.browser.run("[...document.querySelectorAll('.line time')].map((t) => t.dateTime)")
        self.assertEqual(times, sorted(times, reverse=True))
        self.no_complaints()

    def test_a_topology_is_a_picture_with_its_failed_nodes(self):
        nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{r}{i}", "labels": {
            "pool": "p", "rack": f"r{r}", "kubernetes.io/hostname": f"n{r}{i}"}},
            "status": {"allocatable": {"cpu": "2", "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}}
            for r in range(2) for i in range(3)]
        self.create({"apiVersion": KUEUE, "kind": "Topology", "metadata": {"name": "t"},
                     "spec": {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}},
                    flavor("f", topologyName="t", nodeLabels={"pool": "p"}), *nodes,
                    cluster_queue("team", {"f": {"cpu": "100"}}), local_queue("main", "team"))
        j = job("a", cpu="2", run_for="60s", parallelism=3)
        j["spec"]["template"]["metadata"] = {"annotations": {"kueue.x-k8s.io/podset-required-topology": "rack"}}
        self.create(j)
        self.admitted("a")
        self.daemon.sluicectl("node", "fail", "n10")
        self.open("#/topology")
        self.browser.until("document.querySelectorAll('.picture .full-5').length === 3 && document.querySelectorAll('.picture .failed').length === 1")
        self.assertEqual(self.browser.run("document.querySelectorAll('.picture .cell').length"), 6)
        self.assertIn("failed", self.browser.run("document.querySelector('.picture .failed').getAttribute('aria-label')"))
        self.browser.run("[...document.querySelectorAll('aside button')].find((b) => b.innerText === 'Show').click()")
        self.browser.until("document.querySelectorAll('.picture .lit').length === 3")
        self.browser.run("document.querySelector('.picture .full-5').focus()")
        self.browser.key("ArrowRight")
        self.browser.key("Enter")
        self.sees("2 of 2 cpu used", "aside")
        self.no_complaints()

    def test_keys_reach_everything(self):
        self.two_teams()
        self.create(*(job(f"j{i}", cpu="9") for i in range(5)))
        self.refused("j0", "ExceedsMaxQuota")
        self.open()
        self.sees("others")
        self.browser.key("/")
        self.assertEqual(self.browser.run("document.activeElement.id"), "filter")
        self.browser.type("team")
        self.browser.until("!document.querySelector('.tree').innerText.includes('others')")
        self.browser.key("Escape")
        self.sees("others")
        self.browser.key("2")
        self.sees("5 pending")
        self.browser.run("document.querySelector('.scroll').focus()")
        self.browser.key("ArrowDown")
        self.browser.key("Enter")
        self.browser.until("location.hash.startsWith('#/workload/default/job-j')")
        self.sees("History")
        self.browser.key("Escape")
        self.sees("5 pending")
        shown = self.browser.run("[...document.querySelectorAll('header a, header input')].map((e) => { e.focus(); "
                                 "return e.matches(':focus-visible') && getComputedStyle(e).outlineStyle; })")
        self.assertGreater(len(shown), 5)
        self.assertEqual(set(shown), {"solid"})
        self.no_complaints()

    def test_contrast_names_and_narrow_screens(self):
        self.two_teams()
        self.create(job("a", cpu="9"))
        for scheme in ("light", "dark"):
            self.browser.scheme(scheme)
            self.open()
            self.sees("company")
            self.assertEqual({k: round(v, 2) for k, v in self.browser.run(CONTRAST).items() if v < 4.5}, {}, scheme)
        try:
            self.browser.size(360, 700, mobile=True)
            for where, text in (("", "company"), ("#/queues/queue/team", "ClusterQueue"), ("#/pending", "1 pending"), ("#/workloads", "1 workloads"), ("#/topology", "no Topologies")):
                self.open(where)
                self.sees(text)
                self.assertLessEqual(self.browser.run("Math.max(document.documentElement.scrollWidth, document.querySelector('main').scrollWidth)"), 360, where)
                self.assertEqual(self.browser.run(UNNAMED), [], where)
        finally:
            self.browser.size(1280, 800)
            self.browser.scheme("light")
        self.no_complaints()

    def test_ten_thousand_scroll_smoothly(self):
        self.two_teams()
        self.before(CROWD)
        self.open("#/pending/team")
        self.sees("10,000 pending")
        self.browser.call("Performance.enable", timeDomain="threadTicks")
        before = self.browser.work()
        seen = self.browser.run(SCROLL, seconds=90)
        each = (self.browser.work() - before) * 1000 / 120
        self.assertTrue(seen["end"])
        self.assertLess(seen["rows"], 100)
        times = sorted(seen["times"])
        print(f"scrolling: {each:.1f} ms of work a frame; frames of {times[len(times) // 2]:.0f} ms, the longest {times[-1]:.0f} ms")
        self.browser.key("/")
        self.browser.type("many-777")
        self.sees("11 of 10,000 pending")
        self.no_complaints()

    def test_a_daemon_that_comes_back_is_followed_again(self):
        self.two_teams()
        self.open()
        self.sees("Live", "header")
        self.daemon.stop()
        self.sees("Connection lost", "header")
        self.daemon.start()
        self.create(cluster_queue("later", {"f": {"cpu": "1"}}))
        self.sees("later")
        self.sees("Live", "header")


class Hostile(Page):
    def test_no_text_becomes_markup(self):
        self.create(flavor("evil-f", topologyName="evil-t", nodeLabels={"kubernetes.io/hostname": "evil-n"}), cohort("evil-cohort"),
                    {"apiVersion": KUEUE, "kind": "Topology", "metadata": {"name": "evil-t"},
                     "spec": {"levels": [{"nodeLabel": "kubernetes.io/hostname"}]}},
                    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "evil-n", "labels": {"kubernetes.io/hostname": "evil-n"}},
                     "status": {"allocatable": {"cpu": "20", "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}},
                    cluster_queue("evil-q", {"evil-f": {"cpu": "4"}}, "evil-cohort"), local_queue("main", "evil-q"),
                    job("evil-runs", cpu="1", run_for="60s"), job("evil-waits", cpu="9"), job("waits", cpu="10"))
        w = self.refused("waits", "ExceedsMaxQuota")
        self.admitted("evil-runs")
        name = w["metadata"]["name"]
        self.patch(f"{WORKLOADS}/{name}/status", {"status": {"conditions": [*w["status"]["conditions"], {
            "type": "Other", "status": "True", "reason": "Told", "message": HOSTILE, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
        self.create({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "hostile", "namespace": "default"}, "type": "Normal",
                     "reason": "Told", "message": HOSTILE, "involvedObject": {"kind": "Workload", "name": name, "namespace": "default", "uid": w["metadata"]["uid"]}})
        self.before(POISON)
        for where, text in (("", "<img src=x"), ("#/queues", "<script>"), ("#/pending", "<img src=x"), ("#/workloads", "<img src=x"),
                            ("#/topology", "<img src=x"), (f"#/workload/default/{name}", "<script>window.hit=2</script>"),
                            ("#/queues/queue/%3Cimg%20src%3Dx%20onerror%3D'window.hit%3D1'%3E", "<img src=x"),
                            ("#/pending/%3Cimg%20src%3Dx%20onerror%3D'window.hit%3D3'%3E", "pending"), ("#/%zz/%00", "Queue")):
            self.open(where)
            self.sees(text)
            self.assertEqual(self.browser.run("[window.hit, document.querySelectorAll('main img, main script').length]"), [None, 0], where)
        self.assertEqual([s for s in self.browser.said if "Content Security" in s or "Trusted" in s or "dialog" in s], [])


class Foresight(Page):
    """What is shown where the daemon explains and foresees; and that nothing of it is where it does not."""

    def waiting(self):
        self.two_teams()
        self.create(job("waits", cpu="9"))
        return self.refused("waits", "ExceedsMaxQuota")["metadata"]["name"]

    def test_nothing_is_shown_that_is_not_offered(self):
        self.before("const real = window.fetch; window.fetch = async (...a) => /visibility.kueue.x-k8s.io.v1beta2$|why$/.test(a[0])"
                    " ? new Response('{\"message\": \"the server could not find the requested resource\"}', {status: 404}) : real(...a);")
        name = self.waiting()
        self.open(f"#/workload/default/{name}")
        self.sees("History")
        self.assertNotIn("Why it waits", self.browser.text())
        self.open("#/pending")
        self.sees("1 pending")
        self.assertNotIn("Starts", self.browser.text())
        self.assertNotIn("What if", self.browser.text())

    def test_why_and_when(self):
        name = self.waiting()
        self.before(ORACLE.replace("NAME", name))
        self.open(f"#/workload/default/{name}")
        for text in ("at the latest in 10m", "by maximum execution times", "2 cpu more needed", "and 6 more", "preempts no workloads", f"2 cpu is released {HOSTILE}"):
            self.sees(text, ".why")
        self.open("#/pending")
        self.sees("at the latest in 10m", ".space")
        self.assertEqual(self.browser.run("[window.hit, document.querySelectorAll('main img, main script').length]"), [None, 0])
        self.no_complaints()

    def test_what_if(self):
        self.before(ORACLE.replace("NAME", self.waiting()))
        self.open("#/whatif")
        self.sees("default/main")
        forms = {"job": ("", {"kind": "Job"}), "quota": ("document.querySelector('[name=value]').value = '1';", {"kind": "ClusterQueue"}),
                 "stopped": ("", {"kind": "ClusterQueue"}), "nodes": ("document.querySelector('[name=names]').value = 'n1, n2';", {"kind": "Node"})}
        for kind, (entry, changed) in forms.items():
            self.browser.run("(() => { const k = document.querySelector('[name=kind]'); k.value = '%s'; k.dispatchEvent(new Event('change')); %s window.asked = [];"
                             "document.querySelector('form .main').click(); })()" % (kind, entry))
            self.browser.until("window.asked.length === 1")
            self.sees("Admitted after preemption")
            self.sees("and 2 more")
            self.sees(HOSTILE)
            changes = self.browser.run("window.asked[0].changes")
            self.assertEqual(len(changes), 2 if kind == "nodes" else 1)
            self.assertEqual((changes[0].get("apply") or changes[0]["delete"])["kind"], changed["kind"])
            if kind == "quota":
                self.assertEqual(changes[0]["apply"]["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"], "1")
            if kind == "stopped":
                self.assertEqual(changes[0]["apply"]["spec"]["stopPolicy"], "Hold")
        self.browser.run("(() => { const k = document.querySelector('[name=kind]'); k.value = 'other'; k.dispatchEvent(new Event('change'));"
                         "document.querySelector('textarea').value = '{'; document.querySelector('form .main').click(); })()")
        self.browser.until("document.querySelector('.alert') !== null")
        self.assertEqual(self.browser.run("[window.hit, document.querySelectorAll('main img, main script').length]"), [None, 0])
        self.assertEqual(self.browser.run(UNNAMED), [])
        self.no_complaints()


class WithToken(Page):
    """A daemon that others can reach: the page's files are open, what they show needs the token."""
    browser_options = ("--ignore-certificate-errors",)
    scheme = "https"

    def setUp(self):
        unittest.TestCase.setUp(self)
        self.scripts = []
        self.browser.said.clear()
        self.daemon = Daemon()
        token = self.daemon.home / "token"
        self.daemon.options = ["--token-file", str(token)]
        token.write_text("a-token-of-enough-letters-0123456789\n")
        token.chmod(0o600)
        self.daemon.start(wait=False)

    def raw(self, path, **headers):
        context = ssl._create_unverified_context()

        def ask():
            try:
                connection = http.client.HTTPSConnection("127.0.0.1", self.daemon.port, timeout=10, context=context)
                connection.request("GET", path, headers=headers)
                return connection.getresponse().status
            except OSError:
                return None
        return eventually(ask, what="an answer")

    def test_the_page_asks_for_the_token(self):
        self.assertEqual(self.raw("/ui/"), 200)
        self.assertEqual(self.raw("/", Accept="text/html"), 302)
        for path in ("/", "/api", "/metrics", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues", "/ui2", "//ui/", "/apis/../ui/app.js"):
            self.assertEqual(self.raw(path), 401, path)
        self.open()
        self.sees("only requests with its token")
        self.browser.run("document.querySelector('#notices input').focus()")
        self.browser.type("a-token-of-enough-letters-0123456789")
        self.browser.key("Enter")
        self.sees("There are no ClusterQueues")
        self.sees("Live", "header")
        self.assertEqual(self.browser.run("[document.cookie, localStorage.length]"), ["", 0])


if __name__ == "__main__":
    unittest.main()
