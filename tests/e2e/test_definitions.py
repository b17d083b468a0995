"""Kinds that users define, by a real kubectl: as in Kubernetes' own guide to CustomResourceDefinitions."""
import json, os, subprocess, unittest
from daemon import *

NAME = "crontabs.stable.example.com"


def definition(**more):
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": NAME},
            "spec": {"group": "stable.example.com", "scope": "Namespaced",
                     "names": {"plural": "crontabs", "singular": "crontab", "kind": "CronTab", "shortNames": ["ct"], "categories": ["all"]},
                     "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                                   "additionalPrinterColumns": [
                                       {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"},
                                       {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}],
                                   "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                                       "spec": {"type": "object", "required": ["cronSpec"], "description": "When and what.", "properties": {
                                           "cronSpec": {"type": "string", "pattern": r"^(\d+|\*)(/\d+)?(\s+(\d+|\*)(/\d+)?){4}$"},
                                           "image": {"type": "string", "description": "What runs."},
                                           "replicas": {"type": "integer", "minimum": 1, "maximum": 10, "default": 1}}},
                                       "status": {"type": "object", "properties": {"runs": {"type": "integer"}}}}}}}], **more}}


def crontab(name, **spec):
    return {"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": name},
            "spec": {"cronSpec": "* * * * */5", "image": "my-cron", **spec}}


class Definitions(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon().start()
        self.kubectl = self.daemon.kubectl
        self.apply(definition())
        self.kubectl("wait", "--for=condition=established", "crd/" + NAME, "--timeout=10s")

    def tearDown(self):
        self.daemon.close()

    def apply(self, obj, *options, check=True):
        return self.kubectl("apply", "-f", "-", *options, stdin=json.dumps(obj), check=check)

    def get(self, name):
        return json.loads(self.kubectl("get", "crontab", name, "-o", "json").stdout)

    def test_what_a_new_definition_refuses_can_still_be_deleted(self):
        self.kubectl("create", "-f", "-", stdin=json.dumps({**crontab("old"), "metadata": {"name": "old", "finalizers": ["example.com/held"]}}))
        stricter = definition()
        spec = stricter["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        spec["properties"]["image"]["maxLength"] = 3
        spec["x-kubernetes-validations"] = [{"rule": "self.replicas > 5\n"}]
        self.apply(stricter)
        self.kubectl("label", "ct", "old", "a=b")
        self.assertIn("Too long", self.kubectl(
            "patch", "ct", "old", "--type=merge", "-p", '{"spec":{"cronSpec":"* * * * *"}}', check=False).stderr)
        self.kubectl("delete", "ct", "old", "--wait=false")
        self.kubectl("patch", "ct", "old", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        self.assertIn("NotFound", self.kubectl("get", "ct", "old", check=False).stderr)

    def test_objects_are_applied_listed_changed_and_deleted(self):
        self.assertIn("crontab.stable.example.com/a created", self.apply(crontab("a")).stdout)
        self.assertIn("unchanged", self.apply(crontab("a")).stdout)
        self.assertEqual(self.get("a")["spec"]["replicas"], 1)
        self.assertIn("configured", self.apply(crontab("a", replicas=3)).stdout)
        self.assertEqual(self.get("a")["metadata"]["generation"], 2)
        head, row = self.kubectl("get", "ct").stdout.splitlines()
        self.assertEqual(head.split(), ["NAME", "REPLICAS", "AGE"])
        self.assertEqual(row.split()[:2], ["a", "3"])
        self.assertIn("crontab.stable.example.com/a", self.kubectl("get", "all").stdout)
        self.kubectl("patch", "ct", "a", "--type=merge", "-p", '{"spec":{"replicas":4}}')
        self.kubectl("patch", "ct", "a", "--subresource=status", "--type=merge", "-p", '{"status":{"runs":7}}')
        self.kubectl("label", "ct", "a", "team=x")
        self.assertEqual(self.kubectl("get", "ct", "-l", "team=x", "-o", "jsonpath={.items[*].status.runs}").stdout, "7")
        self.kubectl("apply", "--server-side", "-f", "-", "--field-manager=other", stdin=json.dumps(crontab("b")))
        self.kubectl("delete", "ct", "a")
        self.assertEqual(self.kubectl("get", "ct", "-o", "name").stdout, "crontab.stable.example.com/b\n")

    def test_what_is_wrong_is_said(self):
        refused = self.apply(crontab("a", replicas=11), check=False)
        self.assertIn('The CronTab "a" is invalid: spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10',
                      refused.stderr)
        self.assertIn('unknown field "spec.typo"', self.apply(crontab("a", typo=1), check=False).stderr)
        self.apply(crontab("a", typo=1), "--validate=false")
        self.assertNotIn("typo", self.get("a")["spec"])
        bad = definition(conversion={"strategy": "Webhook", "webhook": {}})
        self.assertIn("spec.conversion.strategy: Forbidden: webhooks are not called by this server", self.apply(bad, check=False).stderr)

    def test_discovery_and_explain(self):
        self.assertRegex(self.kubectl("api-resources", "--api-group=stable.example.com").stdout,
                         r"crontabs +ct +stable.example.com/v1 +true +CronTab")
        self.assertIn("What runs.", self.kubectl("explain", "crontab.spec.image").stdout)
        self.assertIn("stable.example.com/v1", self.kubectl("api-versions").stdout)
        self.assertIn(NAME, self.kubectl("get", "crd").stdout)

    def test_a_watch_sees_objects_and_ends_with_the_definition(self):
        self.apply(crontab("a"))
        watch = subprocess.Popen([KUBECTL, "--server", self.daemon.url, "get", "ct", "--watch", "-o", "name"], stdout=subprocess.PIPE,
                                 text=True, env={**os.environ, "KUBECONFIG": "/dev/null", "HOME": str(self.daemon.home)})
        self.assertEqual(watch.stdout.readline(), "crontab.stable.example.com/a\n")
        self.apply(crontab("b"))
        self.assertEqual(watch.stdout.readline(), "crontab.stable.example.com/b\n")
        self.kubectl("delete", "crd", NAME, "--timeout=20s")
        watch.communicate(timeout=20)
        gone = self.kubectl("get", "ct", check=False)
        self.assertRegex(gone.stderr, "doesn't have a resource type|could not find the requested resource")  # by what kubectl has cached

    def test_objects_outlive_a_restart_and_not_their_definition(self):
        self.apply(crontab("a"))
        self.daemon.stop()
        self.daemon.start()
        self.assertEqual(self.get("a")["spec"]["image"], "my-cron")
        self.kubectl("delete", "crd", NAME, "--timeout=20s")
        self.apply(definition())
        self.assertEqual(self.kubectl("get", "ct", "-o", "name").stdout, "")


if __name__ == "__main__":
    unittest.main()
