"""The same steps of kubectl and of plain requests on a cluster's API server and on the standalone one. What they print differs
only in the steps that docs/api.md lists, and it lists no others."""
import json, os, pathlib, re, shutil, unittest, urllib.parse

from controlplane import BUILD, ROOT, ControlPlane
from cluster_scene import established  # noqa: F401  (puts tests/e2e on the path)
import daemon

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
CLASSES = f"{KUEUE}/workloadpriorityclasses"
QUEUES = f"{KUEUE}/namespaces/default/localqueues"
TEMPLATES = "/api/v1/namespaces/default/podtemplates"
SETS = "/apis/apps/v1/namespaces/default/statefulsets"
# Which the server of standalone mode then has, too.
DEPLOYMENTS = """apiVersion: apps/v1
kind: Deployment
plural: deployments
suspend: {zero: spec.replicas, keep: example.com/replicas}
podSets:
- name: main
  template: spec.template
  count: {path: spec.replicas, default: 1}
ready: [{condition: Available}]
active: [{path: status.replicas, in: [0], default: 0, not: true}]
finished: []
"""
BYTES = BUILD / "two-servers.bytes"
GADGETS = "/apis/example.com/v1/namespaces/default/gadgets"


def definition(plural, rules=(), version=(), scale=".spec.replicas"):
    kind = plural[:-1].capitalize()
    spec = {"type": "object", "x-kubernetes-validations": list(rules), "properties": {
        "replicas": {"type": "integer"}, "most": {"type": "integer", "x-kubernetes-validations": [
            {"rule": "self != 13", "message": "not thirteen"}]},
        "color": {"type": "string", "maxLength": 20}, "on": {"type": "boolean"},
        "names": {"type": "array", "maxItems": 9, "items": {"type": "string", "maxLength": 20}}}}
    status = {"type": "object", "properties": {"replicas": {"type": "integer"}, "selector": {"type": "string"}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.example.com"}, "spec": {
                "group": "example.com", "scope": "Namespaced", "names": {"plural": plural, "kind": kind, "singular": kind.lower()},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                    "type": "object", "properties": {"spec": spec, "status": status}}},
                    "subresources": {"status": {}, "scale": {"specReplicasPath": scale, "statusReplicasPath": ".status.replicas",
                                                             "labelSelectorPath": ".status.selector"}},
                    "selectableFields": [{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.on"}], **dict(version)}]}}


GADGET_RULES = [
    {"rule": "!has(self.replicas) || !has(self.most) || self.replicas <= self.most", "message": "more than most",
     "reason": "FieldValueForbidden", "fieldPath": ".replicas"},
    {"rule": "!has(self.names) || self.names.all(n, n.startsWith('a'))"},
    {"rule": "!has(self.color) || self.color.size() < 6", "message": "too long a color",
     "messageExpression": "'not ' + self.color"},
    {"rule": "!has(oldSelf.color) || has(self.color)", "message": "once a color, always a color"},
    {"rule": "!has(self.on) || self.on || self.names[3] == 'a'", "message": "off"},
]


def gadget(name, **spec):
    return {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


APPLY, MERGE = "application/apply-patch+yaml", "application/merge-patch+json"
JSON_PATCH, STRATEGIC = "application/json-patch+json", "application/strategic-merge-patch+json"


def wpc(name, labels=None, **more):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass",
            "metadata": {"name": name, **({"labels": labels} if labels else {})}, "value": 1, **more}


def queue(name, **spec):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": name, "namespace": "default"},
            "spec": {"clusterQueue": "none", **spec}}


def template(name, *containers, **metadata):
    return {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": name, "namespace": "default", **metadata},
            "template": {"spec": {"containers": list(containers)}}}


def stateful_set(name, replicas):
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name, "namespace": "default"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": {
                "metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "x", "image": "i"}]}}}}


def kubectl(title, *arguments, stdin=None):
    return title, "kubectl", arguments, stdin if stdin is None or isinstance(stdin, str) else json.dumps(stdin)


def ask(title, method, path, body=None, content_type="application/json"):
    return title, "ask", (method, path, content_type), body


def ssa(title, obj, *options):
    return kubectl(title, "apply", "--server-side", "-f", "-", *options, stdin=obj)


def pages(title, path, meanwhile, limit=1):
    """A list by pages, while things happen after the first one."""
    return title, "pages", (path, meanwhile, limit), None


def watch(title, path):
    """What a watch of a second begins with."""
    return title, "watch", (path + "&watch=1&timeoutSeconds=1",), None


def shown(title, kind, name):
    return kubectl(title, "get", kind, name, "-o", "jsonpath={range .metadata.managedFields[*]}{.manager} {.operation} "
                   "{.apiVersion} {.subresource} {.fieldsType} {.fieldsV1}{\"\\n\"}{end}")


X = {"name": "x", "image": "i", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}
STEPS = [
    # --- server-side apply of a custom resource
    ssa("apply creates", wpc("applied", labels={"a": "b"}, description="one")),
    shown("managers after apply", "workloadpriorityclass", "applied"),
    ssa("apply again", wpc("applied", labels={"a": "b"}, description="one")),
    ssa("apply with a conflict", wpc("applied", description="two"), "--field-manager=other"),
    ssa("apply with two conflicts", wpc("applied", labels={"a": "c"}, description="two"), "--field-manager=other"),
    ssa("apply what is there", wpc("applied", description="one"), "--field-manager=third"),
    shown("managers that share", "workloadpriorityclass", "applied"),
    ssa("apply by force", wpc("applied", description="two"), "--field-manager=other", "--force-conflicts"),
    shown("managers after force", "workloadpriorityclass", "applied"),
    ssa("apply less", wpc("applied"), "--force-conflicts"),
    shown("managers of less", "workloadpriorityclass", "applied"),
    kubectl("labels after less", "get", "workloadpriorityclass", "applied", "-o", "jsonpath={.metadata.labels}"),
    # --- other verbs
    kubectl("create", "create", "-f", "-", stdin=wpc("written", description="one")),
    kubectl("create twice", "create", "-f", "-", stdin=wpc("written")),
    kubectl("label", "label", "workloadpriorityclass", "written", "a=b"),
    kubectl("label that is there", "label", "workloadpriorityclass", "written", "a=c"),
    kubectl("annotate", "annotate", "workloadpriorityclass", "written", "a=b"),
    kubectl("patch", "patch", "workloadpriorityclass", "written", "--type=merge", "-p", '{"description":"two"}'),
    kubectl("patch by path", "patch", "workloadpriorityclass", "written", "--type=json", "-p",
            '[{"op":"replace","path":"/metadata/labels/a","value":"d"}]'),
    kubectl("patch by a path that is not there", "patch", "workloadpriorityclass", "written", "--type=json", "-p",
            '[{"op":"remove","path":"/metadata/labels/zzz"}]'),
    shown("managers of all verbs", "workloadpriorityclass", "written"),
    ssa("apply over other verbs", wpc("written", labels={"a": "e"}, description="three")),
    kubectl("client-side apply", "apply", "-f", "-", stdin=wpc("changed", description="one")),
    kubectl("client-side apply again", "apply", "-f", "-", stdin=wpc("changed", description="one")),
    kubectl("client-side apply of a change", "apply", "-f", "-", stdin=wpc("changed", description="two")),
    ssa("server-side after client-side apply", wpc("changed", description="three")),
    shown("managers after both", "workloadpriorityclass", "changed"),
    kubectl("server-side diff", "diff", "--server-side", "-f", "-", stdin=wpc("changed", description="four")),
    kubectl("diff of nothing", "diff", "--server-side", "-f", "-", stdin=wpc("changed", description="three")),
    kubectl("managers are hidden", "get", "workloadpriorityclass", "changed", "-o", "yaml"),
    # --- Kubernetes' own types: lists by keys
    kubectl("create a template", "create", "-f", "-", stdin=template("t", X)),
    kubectl("strategic patch", "patch", "podtemplate", "t", "-p", json.dumps(
        {"template": {"spec": {"containers": [{"name": "x", "env": [{"name": "B", "$patch": "delete"}]}]}}})),
    kubectl("environment after the patch", "get", "podtemplate", "t", "-o",
            "jsonpath={.template.spec.containers[0].env}"),
    ssa("apply a container", template("u", X), "--field-manager=a"),
    shown("managers of a container", "podtemplate", "u"),
    ssa("apply another container", template("u", {"name": "y", "image": "j"}), "--field-manager=b"),
    ssa("apply a conflict in a container", template("u", {"name": "x", "image": "j"}), "--field-manager=b"),
    ssa("apply less of a container", template("u", {"name": "x", "image": "i"}), "--field-manager=a"),
    kubectl("containers after less", "get", "podtemplate", "u", "-o",
            "jsonpath={range .template.spec.containers[*]}{.name} {.image} {.env} {end}"),
    # --- requests that are refused
    ask("apply without a manager", "PATCH", f"{CLASSES}/applied", "{}", APPLY),
    ask("force without apply", "PATCH", f"{CLASSES}/applied?force=true", "{}", MERGE),
    ask("managers in what is applied", "PATCH", f"{CLASSES}/applied?fieldManager=m",
        json.dumps({**wpc("applied"), "metadata": {"name": "applied", "managedFields": []}}), APPLY),
    ask("a manager's name that is too long", "PATCH", f"{CLASSES}/applied?fieldManager=" + 129 * "x", "{}", MERGE),
    ask("strategic patch of a custom resource", "PATCH", f"{CLASSES}/applied", "{}", STRATEGIC),
    ask("patch without a type", "PATCH", f"{CLASSES}/applied", "{}", "text/plain"),
    ask("get what is not there", "GET", f"{CLASSES}/none"),
    ask("delete with another uid", "DELETE", f"{CLASSES}/applied",
        json.dumps({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "x"}})),
    ask("delete with another version", "DELETE", f"{CLASSES}/applied",
        json.dumps({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"resourceVersion": "1"}})),
    ask("exact without a version", "GET", f"{CLASSES}?resourceVersionMatch=Exact"),
    ask("a match that is not known", "GET", f"{CLASSES}?resourceVersion=1&resourceVersionMatch=Sometimes"),
    ask("a version that is not a number", "GET", f"{CLASSES}?resourceVersion=x"),
    ask("a label selector that makes no sense", "GET", f"{CLASSES}?labelSelector=%2C%2C"),
    ask("a field selector of an unknown field", "GET", f"{CLASSES}?fieldSelector=spec.x%3Dy"),
    ask("initial events without a match", "GET", f"{CLASSES}?watch=1&sendInitialEvents=true"),
    ask("strict about a field", "POST", f"{CLASSES}?fieldValidation=Strict", json.dumps(wpc("strict", unknown=1))),
    ask("an unknown way to validate", "POST", f"{CLASSES}?fieldValidation=Maybe", json.dumps(wpc("strict"))),
    ask("an unknown dry run", "POST", f"{CLASSES}?dryRun=Some", json.dumps(wpc("dry"))),
    ask("a body that is not JSON", "POST", CLASSES, "{"),
    ask("a body of another kind", "POST", CLASSES, json.dumps(queue("q"))),
    ask("no name", "POST", CLASSES, json.dumps({**wpc("x"), "metadata": {}})),
    ask("dry run of a create", "POST", f"{CLASSES}?dryRun=All", json.dumps(wpc("dry"))),
    ask("nothing after a dry run", "GET", f"{CLASSES}/dry"),
    # --- reads
    kubectl("names", "get", "workloadpriorityclasses", "-o", "name"),
    kubectl("names by pieces", "get", "workloadpriorityclasses", "-o", "name", "--chunk-size=1"),
    pages("pages of one revision", CLASSES, [
        ("POST", CLASSES, json.dumps(wpc("between"))), ("DELETE", f"{CLASSES}/written", None), ("DELETE", f"{CLASSES}/between", None),
        ("POST", CLASSES, json.dumps(wpc("written", labels={"a": "d"})))]),
    pages("pages of what is selected", f"{CLASSES}?labelSelector=a", [("DELETE", f"{CLASSES}/written", None), (
        "POST", CLASSES, json.dumps(wpc("written", labels={"a": "d"})))]),
    watch("watch with initial events", f"{CLASSES}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"),
    watch("watch with initial events of what is selected", f"{CLASSES}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
          "&allowWatchBookmarks=true&labelSelector=a"),
    watch("watch from the beginning", f"{CLASSES}?resourceVersion=0"),
    ask("initial events of a list", "GET", f"{CLASSES}?sendInitialEvents=true"),
    kubectl("Workloads of a ClusterQueue", "get", "workloads", "--field-selector", "status.admission.clusterQueue=none", "-o", "name"),
    kubectl("Workloads by another field", "get", "workloads", "--field-selector", "spec.queueName=none", "-o", "name"),
    kubectl("Jobs by a field", "get", "jobs", "--field-selector", "status.successful=0", "-o", "name"),
    kubectl("pods by a field", "get", "pods", "--field-selector", "spec.nodeName=none,status.phase!=Running", "-o", "name"),
    ask("a continue that makes no sense", "GET", f"{CLASSES}?limit=1&continue=x"),
    kubectl("by a label", "get", "workloadpriorityclasses", "-l", "a=d", "-o", "name"),
    kubectl("by a field", "get", "workloadpriorityclasses", "--field-selector", "metadata.name=written", "-o", "name"),
    kubectl("wait for a deletion", "delete", "workloadpriorityclass", "written", "--wait"),
    kubectl("delete again", "delete", "workloadpriorityclass", "written"),
    kubectl("delete many", "delete", "workloadpriorityclasses", "--all"),
    # --- scale
    kubectl("create a StatefulSet", "create", "-f", "-", stdin=stateful_set("web", 1)),
    kubectl("scale", "scale", "statefulset", "web", "--replicas=3"),
    kubectl("scale from another number", "scale", "statefulset", "web", "--current-replicas=1", "--replicas=4"),
    kubectl("scale from this number", "scale", "statefulset", "web", "--current-replicas=3", "--replicas=4"),
    kubectl("replicas after scale", "get", "statefulset", "web", "-o", "jsonpath={.spec.replicas} {.metadata.generation}"),
    kubectl("who has scaled", "get", "statefulset", "web", "-o", "jsonpath={range .metadata.managedFields[?(@.subresource==\"scale\")]}"
            "{.manager} {.operation} {.apiVersion} {.fieldsV1}{end}"),
    kubectl("scale as a dry run", "scale", "statefulset", "web", "--replicas=9", "--dry-run=server"),
    kubectl("scale to nothing", "scale", "statefulset", "web", "--replicas=0"),
    kubectl("read a scale by kubectl", "get", "statefulset", "web", "--subresource=scale"),
    kubectl("patch a scale by kubectl", "patch", "statefulset", "web", "--subresource=scale", "--type=merge", "-p",
            '{"spec":{"replicas":4}}'),
    kubectl("scale at an older version", "scale", "statefulset", "web", "--resource-version=1", "--replicas=1"),
    kubectl("scale below zero by kubectl", "scale", "statefulset", "web", "--replicas=-1"),
    ask("read a scale", "GET", f"{SETS}/web/scale"),
    ask("scale below zero", "PATCH", f"{SETS}/web/scale", '{"spec":{"replicas":-1}}', MERGE),
    ask("scale by a word", "PATCH", f"{SETS}/web/scale", '{"spec":{"replicas":"many"}}', MERGE),
    ask("scale by a strategic merge patch", "PATCH", f"{SETS}/web/scale", '{"spec":{"replicas":5}}', STRATEGIC),
    ask("scale by a patch by paths", "PATCH", f"{SETS}/web/scale",
        '[{"op":"test","path":"/spec/replicas","value":5},{"op":"replace","path":"/spec/replicas","value":6}]', JSON_PATCH),
    ask("scale by a path that is not there", "PATCH", f"{SETS}/web/scale", '[{"op":"remove","path":"/spec/none"}]', JSON_PATCH),
    ask("scale by an unknown kind of patch", "PATCH", f"{SETS}/web/scale", "{}", "application/json"),
    ask("scale by an apply", "PATCH", f"{SETS}/web/scale?fieldManager=x&force=true",
        '{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"web"},"spec":{"replicas":7}}', APPLY),
    ask("delete a scale", "DELETE", f"{SETS}/web/scale"),
    ask("scale as another kind", "PUT", f"{SETS}/web/scale", json.dumps(stateful_set("web", 1))),
    ask("scale another uid", "PUT", f"{SETS}/web/scale", json.dumps({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "web", "uid": "x"}, "spec": {"replicas": 1}})),
    ask("scale by a name of another", "PUT", f"{SETS}/web/scale", json.dumps(
        {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "other"}, "spec": {"replicas": 1}})),
    ask("scale of another version", "PUT", f"{SETS}/web/scale", json.dumps(
        {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "web", "resourceVersion": "1"}, "spec": {"replicas": 1}})),
    ask("scale what is not there", "GET", f"{SETS}/none/scale"),
    kubectl("scale what is not there by kubectl", "scale", "statefulset", "none", "--replicas=1"),
    kubectl("scale a kind without scale", "scale", "podtemplate", "t", "--replicas=1"),
    # --- Deployments, whose status the steps write
    kubectl("create a Deployment by its generator", "create", "deployment", "api", "--image=i", "--replicas=2", "--dry-run=server"),
    kubectl("create a Deployment", "create", "-f", "-", stdin={**stateful_set("api", 2), "kind": "Deployment"}),
    kubectl("scale a Deployment", "scale", "deployment", "api", "--replicas=3"),
    kubectl("see a rollout that takes longer", "rollout", "status", "deployment", "api", "--timeout=1s"),
    kubectl("write a Deployment's status", "patch", "deployment", "api", "--subresource=status", "--type=merge", "-p",
            '{"status":{"observedGeneration":2,"replicas":3,"updatedReplicas":3,"availableReplicas":3,"readyReplicas":3,'
            '"conditions":[{"type":"Available","status":"True"}]}}'),
    kubectl("see a rollout", "rollout", "status", "deployment", "api", "--timeout=9s"),
    kubectl("wait for a condition", "wait", "--for=condition=Available", "deployment/api", "--timeout=9s"),
    kubectl("wait for a condition that does not come", "wait", "--for=condition=Other", "deployment/api", "--timeout=1s"),
    kubectl("wait for a value", "wait", "--for=jsonpath={.status.readyReplicas}=3", "deployment/api", "--timeout=9s"),
    kubectl("wait for what is not there", "wait", "--for=condition=Available", "deployment/none", "--timeout=1s"),
    kubectl("restart a rollout", "rollout", "restart", "deployment", "api"),
    kubectl("delete a Deployment", "delete", "deployment", "api", "--wait"),
    kubectl("wait for what has gone", "wait", "--for=delete", "deployment/api", "--timeout=9s"),
    kubectl("delete a StatefulSet", "delete", "statefulset", "web"),
    # --- ConfigMaps, Secrets, ServiceAccounts
    kubectl("create a ConfigMap by its generator", "create", "configmap", "cm", "--from-literal=a=b", f"--from-file=bytes={BYTES}"),
    kubectl("create a Secret by its generator", "create", "secret", "generic", "one", "--from-literal=p=q", f"--from-file=bytes={BYTES}"),
    kubectl("create a ServiceAccount by its generator", "create", "serviceaccount", "robot"),
    kubectl("see a ConfigMap", "get", "configmap", "cm", "-o", "yaml"),
    kubectl("see a Secret", "get", "secret", "one", "-o", "yaml"),
    kubectl("see a ServiceAccount", "get", "serviceaccount", "robot", "-o", "yaml"),
    kubectl("values in columns", "get", "configmap/cm", "secret/one", "serviceaccount/robot"),
    kubectl("describe a ConfigMap", "describe", "configmap", "cm"),
    kubectl("describe a Secret", "describe", "secret", "one"),
    kubectl("texts of a Secret", "apply", "-f", "-", stdin={"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "texts"}, "immutable": True,
                                                           "stringData": {"a": "b"}, "data": {"c": "ZA=="}}),
    kubectl("what became of the texts", "get", "secret", "texts", "-o", "jsonpath={.data}{.stringData}{.type}"),
    kubectl("change what is immutable", "patch", "secret", "texts", "--type=merge", "-p", '{"stringData":{"a":"c"}}'),
    kubectl("take back that it is immutable", "patch", "secret", "texts", "--type=merge", "-p", '{"immutable":false}'),
    kubectl("change a Secret's type", "patch", "secret", "one", "--type=merge", "-p", '{"type":"other"}'),
    kubectl("a key that is none", "patch", "configmap", "cm", "--type=merge", "-p", '{"data":{"a/b":"c"}}'),
    kubectl("a key twice", "patch", "configmap", "cm", "--type=merge", "-p", '{"data":{"bytes":"c"}}'),
    kubectl("a Secret that lacks a key", "create", "-f", "-", stdin={"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "half"},
                                                                    "type": "kubernetes.io/tls", "data": {"tls.crt": "AA=="}}),
    kubectl("a Secret that is not base64", "create", "-f", "-", stdin={"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "half"},
                                                                      "data": {"a": "?"}}),
    # --- kinds of users: rules, scale, fields
    kubectl("create a gadget", "create", "-f", "-", stdin=gadget("g", replicas=1, most=3, color="red", names=["a", "ab"], on=True)),
    kubectl("break a rule with a field and a reason", "create", "-f", "-", stdin=gadget("h", replicas=4, most=3)),
    kubectl("break a rule without a message", "create", "-f", "-", stdin=gadget("h", names=["a", "b"])),
    kubectl("break a rule that makes its message", "create", "-f", "-", stdin=gadget("h", color="yellow")),
    kubectl("break a rule of a number", "create", "-f", "-", stdin=gadget("h", most=13)),
    kubectl("break two rules", "create", "-f", "-", stdin=gadget("h", most=13, color="yellow")),
    kubectl("a rule that fails", "create", "-f", "-", stdin=gadget("h", on=False, names=["a"])),
    kubectl("a rule and a wrong type", "create", "-f", "-", stdin=gadget("h", most="x", color="yellow")),
    ask("the causes of a broken rule", "POST", GADGETS, json.dumps(gadget("h", replicas=4, most=3))),
    kubectl("break a rule of changes", "patch", "gadget", "g", "--type=merge", "-p", '{"spec":{"color":null}}'),
    kubectl("scale a gadget", "scale", "gadget", "g", "--replicas=2"),
    kubectl("scale a gadget against a rule", "scale", "gadget", "g", "--replicas=4"),
    kubectl("replicas of a gadget", "get", "gadget", "g", "-o", "jsonpath={.spec.replicas} {.metadata.generation}"),
    kubectl("write a gadget's status", "patch", "gadget", "g", "--subresource=status", "--type=merge", "-p",
            '{"status":{"replicas":2,"selector":"a=b"}}'),
    ask("read a gadget's scale", "GET", f"{GADGETS}/g/scale"),
    kubectl("create a gadget without replicas", "create", "-f", "-", stdin=gadget("i", color="blue")),
    ask("read a scale without replicas", "GET", f"{GADGETS}/i/scale"),
    kubectl("gadgets by a field", "get", "gadgets", "--field-selector", "spec.color=red", "-o", "name"),
    kubectl("gadgets by two fields", "get", "gadgets", "--field-selector", "spec.color!=red,spec.on!=true", "-o", "name"),
    kubectl("gadgets by a field that is absent", "get", "gadgets", "--field-selector", "spec.on=", "-o", "name"),
    kubectl("gadgets by another field", "get", "gadgets", "--field-selector", "spec.most=3", "-o", "name"),
    kubectl("a rule of a field that is not there", "create", "-f", "-", stdin=definition("others", [{"rule": "self.zzz > 1"}])),
    kubectl("a rule without an expression", "create", "-f", "-", stdin=definition("others", [{"rule": ""}])),
    kubectl("a rule with an unknown reason", "create", "-f", "-", stdin=definition("others", [{"rule": "true", "reason": "No"}])),
    kubectl("a rule with a path that is not there", "create", "-f", "-", stdin=definition(
        "others", [{"rule": "true", "fieldPath": ".zzz"}])),
    kubectl("a scale beside the spec", "create", "-f", "-", stdin=definition("others", scale=".status.replicas")),
    kubectl("a selectable field of another type", "create", "-f", "-", stdin=definition(
        "others", version={"selectableFields": [{"jsonPath": ".spec.names"}]})),
    kubectl("delete gadgets", "delete", "gadgets", "--all"),
    # --- finalizers
    kubectl("create with a finalizer", "create", "-f", "-", stdin={
        **wpc("held"), "metadata": {"name": "held", "finalizers": ["example.com/held"]}}),
    kubectl("delete what is held", "delete", "workloadpriorityclass", "held", "--wait=false"),
    kubectl("add a finalizer too late", "patch", "workloadpriorityclass", "held", "--type=merge", "-p",
            '{"metadata":{"finalizers":["example.com/held","example.com/more"]}}'),
    kubectl("let it go", "patch", "workloadpriorityclass", "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}'),
    kubectl("it has gone", "get", "workloadpriorityclass", "held"),
]
CHANGING = ((r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"), (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
            (r'("?resourceVersion"?: ?)"\d+"', r"\1RV"), (r"(?m)^(---|\+\+\+) .*$", r"\1 FILE"), (r"/tmp/\S+", "FILE"),
            (r"(version to be 1, was) \d+", r"\1 RV"), (r"(?m) +\d+s$", " AGE"), (r"https?://127\.0\.0\.1:\d+", "SERVER"))


def settled(text):
    """Managers come in the order of their times, of which two may be in one second or not."""
    for pattern, word in CHANGING:
        text = re.sub(pattern, word, text)
    lines = text.strip().split("\n")
    return "\n".join(sorted(lines) if all("FieldsV1" in line for line in lines) else lines)


class TwoServers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        BYTES.write_bytes(b"\0\xff")
        cls.plane = ControlPlane(BUILD / "two-servers", nodes=0)
        cls.plane.begin()
        cls.plane.kubectl("apply", "--server-side", "-k", ROOT / "deploy/kubernetes/crds")
        cls.plane.wait(lambda: cls.plane.request("GET", CLASSES)[0] == 200, "the CRDs served", 120)
        cls.alone = daemon.Daemon()
        kinds = cls.alone.home / "adapters"
        kinds.mkdir()
        shutil.copy(ROOT / "deploy/adapters/statefulset.yaml", kinds)
        (kinds / "deployment.yaml").write_text(DEPLOYMENTS)
        cls.alone.options = ["--adapters", str(kinds)]
        cls.alone.start()
        for server in (cls.plane, cls.alone):
            server.kubectl("create", "-f", "-", stdin=json.dumps(definition("gadgets", GADGET_RULES)))
        for server in (cls.plane, cls.alone):
            cls.plane.wait(lambda: server.request("GET", GADGETS)[0] == 200, "gadgets served", 60)  # noqa: B023

    @classmethod
    def tearDownClass(cls):
        cls.plane.stop()
        cls.alone.close()

    def run_on(self, server, step):
        _, how, what, body = step
        if how == "kubectl":
            done = server.kubectl(*what, stdin=body, check=False)
            return f"exit {done.returncode}\n{settled(done.stdout)}\n{settled(done.stderr)}"
        if how == "watch":
            _, text = server.request("GET", *what)
            events = [json.loads(line) for line in text.splitlines()] if isinstance(text, str) else [text]
            return "\n".join(f"{e['type']} {e['object']['kind']} {e['object']['metadata'].get('name')} "
                             f"{e['object']['metadata'].get('annotations')}" for e in events)
        if how == "pages":
            return self.read_pages(server, *what)
        method, path, content_type = what
        status, answer = server.request(method, path, body, content_type)
        if isinstance(answer, dict):
            answer = {k: v for k, v in answer.items() if k != "metadata"}
            (answer.get("details") or {}).pop("uid", None)
        return f"{status}\n{settled(json.dumps(answer, indent=1, sort_keys=True))}"

    @staticmethod
    def read_pages(server, path, meanwhile, limit):
        said, versions, token = [], set(), ""
        path += ("&" if "?" in path else "?") + f"limit={limit}"
        while True:
            status, answer = server.request("GET", path + (f"&continue={urllib.parse.quote(token)}" if token else ""))
            found = answer.get("metadata", {})
            said.append(f"{status} {[i['metadata']['name'] for i in answer.get('items', [])]} {found.get('remainingItemCount')}")
            versions.add(found.get("resourceVersion"))
            token = found.get("continue")
            if not token:
                return "\n".join([*said, f"{len(versions)} revision"])
            for method, where, body in meanwhile:
                said.append(str(server.request(method, where, body)[0]))
            meanwhile = []

    def test_same_steps_same_answers(self):
        """Which steps differ is in docs/api.md, and why; TWO_SERVERS=FILE writes down what both said."""
        page = (ROOT / "docs/api.md").read_text()
        listed = set(re.findall(r"(?m)^\| \*(.*?)\* \|", page))
        said, differing = [], set()
        for step in STEPS:
            there, here = self.run_on(self.plane, step), self.run_on(self.alone, step)
            if there != here:
                differing.add(step[0])
                said.append(f"=== {step[0]}\n--- a cluster's\n{there}\n--- standalone\n{here}\n")
        if "TWO_SERVERS" in os.environ:
            pathlib.Path(os.environ["TWO_SERVERS"]).write_text("\n".join(said))
        self.assertEqual(len({s[0] for s in STEPS}), len(STEPS), "each step has a title of its own")
        self.assertEqual(differing - listed, set(), "\n".join(said))
        self.assertEqual(listed - differing, set(), "docs/api.md lists steps that do not differ (any more)")


if __name__ == "__main__":
    unittest.main()
