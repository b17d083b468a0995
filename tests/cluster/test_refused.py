"""What adapter files of one's own refuse: the policies that the daemon prints for them, on a real API server."""
import subprocess

from cluster_scene import *

FILE = """
apiVersion: example.com/v1
kind: Simulation
plural: simulations
suspend: spec.suspend
skip:
- {path: spec.leave, filled: true}
refuse:
- when: [{path: spec.mode, in: [Cluster, 1, true], default: Cluster, not: true}]
  field: spec.mode
  text: only Cluster
- when: [{path: spec.groups.0.name, in: [head]}]
  field: "spec.groups[0].name"
  type: Forbidden
  text: it's reserved
- when: [{path: "metadata.annotations[example.com/no.dots]", present: true}, {path: spec.limit, present: false}]
  field: spec.limit
  type: Required
  text: say how long
- when: [{path: spec.selector, filled: true}]
  field: spec.selector
  text: selects what is there
podSets:
- {name: main, template: spec.template}
ready: [{condition: Ready}]
active: [{condition: Ready}]
"""
CRD = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
       "metadata": {"name": "simulations.example.com"},
       "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"kind": "Simulation", "plural": "simulations", "singular": "simulation"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
QUEUE = {"kueue.x-k8s.io/queue-name": "main"}
NOTE = {"example.com/no.dots": "x"}

# spec, metadata, what the refusal says ("": accepted)
ROWS = (({}, {}, ""), ({"mode": "Cluster"}, {}, ""), ({"mode": True}, {}, ""), ({"mode": 1}, {}, ""),
        ({"mode": "Client"}, {}, "spec.mode: only Cluster"), ({"mode": 2}, {}, "spec.mode: only Cluster"),
        ({"mode": "Client"}, {"labels": {}}, ""),
        ({"mode": "Client", "leave": {"a": 1}}, {}, ""), ({"mode": "Client", "leave": {}}, {}, "spec.mode"),
        ({"groups": []}, {}, ""), ({"groups": [{"name": "w"}]}, {}, ""),
        ({"groups": [{"name": "head"}]}, {}, "spec.groups[0].name: Forbidden: it's reserved"),
        ({}, {"annotations": NOTE}, "spec.limit: Required value: say how long"),
        ({"limit": 1}, {"annotations": NOTE}, ""),
        ({"selector": {}}, {}, ""), ({"selector": "text"}, {}, ""),
        ({"selector": {"a": "b"}}, {}, "spec.selector: selects what is there"))


class Refused(Scene):
    def setUp(self):
        super().setUp()
        directory = self.plane.run / "own-adapters"
        directory.mkdir(exist_ok=True)
        (directory / "simulation.yaml").write_text(FILE)
        made = subprocess.run([BUILD / "sluiced", "--print-policies", "1.36", "--adapters", directory], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        self.policies = "---\n".join(d for d in made.split("---\n") if "name: sluice-refused-" in d)
        self.assertEqual(self.policies.count("name: sluice-refused-simulations.example.com"), 2)
        self.plane.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(CRD))
        self.plane.kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd", "simulations.example.com")
        self.plane.kubectl("apply", "--server-side", "-f", "-", stdin=self.policies)
        self.things = f"/apis/example.com/v1/namespaces/{self.namespace}/simulations"
        eventually(lambda: self.ask({"mode": "Client"})[0] == 403, 30, what="the policy in force")

    def tearDown(self):
        self.plane.kubectl("delete", "-f", "-", stdin=self.policies)
        self.plane.kubectl("delete", "crd", "simulations.example.com")
        super().tearDown()

    def ask(self, spec, metadata=None, dry="?dryRun=All"):
        return self.plane.request("POST", self.things + dry, {
            "apiVersion": "example.com/v1", "kind": "Simulation",
            "metadata": {"name": "a", "labels": QUEUE, **(metadata or {})}, "spec": spec})

    def test_what_a_file_refuses_is_refused_when_it_is_created(self):
        for spec, metadata, says in ROWS:
            with self.subTest(spec=spec, metadata=metadata):
                status, answer = self.ask(spec, metadata)
                self.assertEqual(status, 403 if says else 201, answer)
                if says:
                    self.assertIn(says, answer["message"])

    def test_what_was_stored_can_still_be_changed_but_not_become_wrong(self):
        self.assertEqual(self.ask({"mode": "Client"}, {"labels": {}}, "")[0], 201)
        path = f"{self.things}/a"
        self.not_patched(path, {"metadata": {"labels": QUEUE}}, "spec.mode: only Cluster")
        self.patched(path, {"spec": {"mode": "Cluster"}, "metadata": {"labels": QUEUE}})
        self.not_patched(path, {"spec": {"mode": "Client"}, "metadata": {"labels": {"kueue.x-k8s.io/queue-name": None}}},
                         "spec.mode: only Cluster")
        self.patched(path, {"spec": {"other": 1}})
