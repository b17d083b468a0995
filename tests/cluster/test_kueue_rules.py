"""Each rule of Kueue's webhooks (tests/kueue-rules.json) against the CRDs and policies of deploy/kubernetes on a real API
server: refused or not, and whether the sentence names the field. tests/unit/controllers/test_kueue_rules.c plays the same
table against the validation of standalone mode, with the exact paths."""
import re

from cluster_scene import *

TABLE = json.loads((ROOT / "tests/kueue-rules.json").read_text())
KINDS = TABLE["kinds"]
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def merged(base, patch):
    """RFC 7386"""
    if not isinstance(patch, dict):
        return patch
    out = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = merged(out.get(key), value)
    return out


def operated(base, operations):
    """RFC 6902, as far as the table goes"""
    out = json.loads(json.dumps(base))
    for o in operations:
        *path, last = [p.replace("~1", "/") for p in o["path"].split("/")[1:]]
        at = out
        for part in path:
            at = at[int(part)] if isinstance(at, list) else at.setdefault(part, {})
        if o["op"] == "remove":
            at.pop(last, None)
        elif isinstance(at, list) and last == "-":
            at.append(o["value"])
        else:
            at[int(last) if isinstance(at, list) else last] = o["value"]
    return out


def changed(base, patch):
    return operated(base, patch) if isinstance(patch, list) else merged(base, patch)


def said(field):
    """What a sentence has to name: the key in brackets, or the last name of the path."""
    keys = re.findall(r"\[([^]0-9][^]]*)\]", field)
    return keys[-1] if keys and "/" in keys[-1] else re.findall(r"[A-Za-z]+", field)[-1]


class KueueRules(Scene):
    @classmethod
    def setUpClass(cls):
        """CRDs that take anything for the kinds of other projects, where they are not there yet."""
        cls.made = []
        for name, kind in KINDS.items():
            group, _, version = kind["base"]["apiVersion"].rpartition("/")
            if "." not in group or group == "kueue.x-k8s.io":
                continue
            crd = f"{kind['plural']}.{group}"
            status, _ = plane().request("POST", CRD, {
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": crd, "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"}},
                "spec": {"group": group, "scope": "Namespaced", "names": {
                    "kind": name, "listKind": name + "List", "plural": kind["plural"], "singular": name.lower()},
                    "versions": [{"name": version, "served": True, "storage": True, "subresources": {"status": {}},
                                  "schema": {"openAPIV3Schema": {"type": "object",
                                                                 "x-kubernetes-preserve-unknown-fields": True}}}]}})
            if status == 201:
                cls.made.append(crd)
        for crd in cls.made:
            eventually(lambda: any(c["type"] == "Established" and c["status"] == "True" for c in plane().get(
                f"{CRD}/{crd}").get("status", {}).get("conditions", [])), what=crd)
            name, _, group = crd.partition(".")
            kind = next(k for k in KINDS.values() if k["plural"] == name)
            path = f"/apis/{kind['base']['apiVersion']}/namespaces/default/{name}?dryRun=All"
            eventually(lambda: plane().request("POST", path, kind["base"])[0] != 503, what=path)

    @classmethod
    def tearDownClass(cls):
        for crd in cls.made:
            plane().request("DELETE", f"{CRD}/{crd}")

    def where(self, kind):
        base = kind["base"]
        core = "/api/" if "/" not in base["apiVersion"] else "/apis/"
        cluster = base["kind"] in ("ClusterQueue", "Cohort", "ResourceFlavor")
        scope = "" if cluster else f"namespaces/{self.namespace}/"
        return f"{core}{base['apiVersion']}/{scope}{kind['plural']}"

    def write(self, path, now, old):
        """From one object to another, its status apart."""
        if old is None:
            return self.plane.request("POST", path + "?dryRun=All", now)
        at = f"{path}/{now['metadata']['name']}"
        _, live = self.plane.request("GET", at)
        new = self.again(live, now)
        if now.get("spec") == old.get("spec"):
            new["spec"] = live.get("spec")
        if now.get("status", {}) != old.get("status", {}):
            answer = self.plane.request("PUT", at + "/status?dryRun=All", new)
            if answer[0] != 200:
                return answer
        return self.plane.request("PUT", at + "?dryRun=All", new)

    def again(self, live, new):
        """The object as it is to be, where Kubernetes has filled in its part. Its controllers write to its own kinds at any
        time, so that these are written whatever their version is."""
        ours = "." in new["apiVersion"]
        kept = {k: v for k, v in live["metadata"].items() if k == "finalizers" or (ours and k == "resourceVersion")}
        spec = new.get("spec") if ours else live["spec"] if new["kind"] == "Pod" else merged(live["spec"], new["spec"])
        return {**live, **new, "spec": spec, "metadata": {**new["metadata"], **kept}}

    def stored(self, path, old):
        """Make the object as it was, status and all; what is wrong with the answer, or None."""
        at = f"{path}/{old['metadata']['name']}"
        status, live = self.plane.request("POST", path, old)
        for part in ("", "/status") if "status" in old else ("",):
            if status not in (200, 201):
                return live["message"]
            status, live = self.plane.request("PUT", at + part, self.again(live, old))
        return None if status == 200 else live["message"]

    def complaint(self, row, kind, now, old, field):
        """What is wrong with the answer; None: it is as the table says."""
        path = self.where(kind)
        if old is not None:
            self.made_count = getattr(self, "made_count", 0) + 1
            old, now = [{**o, "metadata": {**o["metadata"], "name": f"rules-{self.made_count}"}} for o in (old, now)]
            failed = self.stored(path, old)
            if failed is not None:
                return f"cannot be made: {failed}"
        status, answer = self.write(path, now, old)
        if field is None:
            return None if status in (200, 201) else f"refused: {answer['message']}"
        if status in (200, 201):
            return f"accepted, not refused at {field}"
        says = row["cluster"]["says"] if isinstance(row.get("cluster"), dict) else field if "first" in row else said(field)
        if status not in (403, 422) or says not in answer["message"]:
            return f"{status}, and not about {says}: {answer['message']}"
        return None

    def objects(self, row, kind):
        old = merged(kind["base"], row["old"]) if "old" in row else None
        operations = isinstance(row["now"], list)
        return changed(old if operations and old else kind["base"], row["now"]), old

    def test_rules_of_kueue(self):
        wrong, played = [], 0
        for row in TABLE["rules"]:
            for name in row["kinds"]:
                if "none" in row or row.get("cluster") == "no":
                    continue
                field = None if row.get("cluster") == "accepted" else row.get("field")
                now, old = self.objects(row, KINDS[name])
                why = self.complaint(row, KINDS[name], now, old, field)
                played += 1
                if why:
                    wrong.append(f"{name}: {row['rule']}: {why}")
        self.assertGreater(played, 300)
        self.assertFalse(wrong, f"{len(wrong)} of {played}:\n" + "\n".join(wrong))

    def test_rules_of_kueue_about_topologies(self):
        wrong, played = [], 0
        for name, kind in KINDS.items():
            for row in TABLE["topology"]:
                sets = kind.get("sets", [])
                if (not sets or ("second" in row and len(sets) < 2) or ("counted" in row and "count" in kind)):
                    continue
                now = operated(kind["base"], [{"op": "add", "path": at, "value": row.get(which, {})}
                                              for (at, _), which in zip(sets, ("first", "second"))])
                field = sets[0][1] + row["field"] if "field" in row and "cluster" not in kind else None
                why = self.complaint(row, kind, now, None, field)
                played += 1
                if why:
                    wrong.append(f"{name}: {row['rule']}: {why}")
        self.assertGreater(played, 300)
        self.assertFalse(wrong, f"{len(wrong)} of {played}:\n" + "\n".join(wrong))

    # --- what is warned of ------------------------------------------------------------------------------------------
    def warned(self, obj):
        """The warnings at its creation."""
        return self.plane.kubectl("create", "-n", self.namespace, "--dry-run=server", "-f", "-", stdin=json.dumps(obj)).stderr

    def test_devices_of_claims_are_warned_of_in_every_kind(self):
        claims, words = [{"name": "gpu", "resourceClaimName": "gpu"}], "devices of a ResourceClaim are not counted"
        for name, kind in KINDS.items():
            if "sets" not in kind or name == "AppWrapper":
                continue
            at = kind.get("pods", kind["sets"][0][0].removesuffix("/metadata/annotations")) + "/spec/resourceClaims"
            says = self.warned(operated(kind["base"], [{"op": "add", "path": at, "value": claims}]))
            self.assertIn(words, says, name)
            self.assertNotIn(words, self.warned(kind["base"]), name)

    def test_mark_of_admission_on_a_pod_of_an_admitted_job_is_warned_of(self):
        pod = merged(KINDS["Pod"]["base"], {"metadata": {"labels": {"kueue.x-k8s.io/managed": "true"}}})
        self.assertNotIn("unexpected behaviour", self.warned(pod))
        pod["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "1",
                                               "controller": True}]
        self.assertIn("pod owner is managed by kueue", self.warned(pod))

    # --- what is set ------------------------------------------------------------------------------------------------
    def test_pods_of_deployments_get_their_queue_and_class(self):
        for name in ("Deployment", "StatefulSet"):
            kind, marks = KINDS[name], {"kueue.x-k8s.io/queue-name": "main", "kueue.x-k8s.io/priority-class": "high"}
            base = merged(kind["base"], {"metadata": {"labels": marks},
                                         "spec": {"template": {"metadata": {"labels": {k: None for k in marks}}}}})
            status, made = self.plane.request("POST", self.where(kind), base)
            self.assertEqual(status, 201, made)
            self.assertEqual(made["spec"]["template"]["metadata"]["labels"], {"a": "b", **marks})
            moved = {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "other"}}}
            made = self.patched(f"{self.where(kind)}/{made['metadata']['name']}", moved)
            self.assertEqual(made["spec"]["template"]["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "other")
            free = merged(base, {"metadata": {"name": "free", "labels": {k: None for k in marks}}})
            _, made = self.plane.request("POST", self.where(kind), free)
            self.assertEqual(made["spec"]["template"]["metadata"]["labels"], {"a": "b"})
