"""After all other tests: the daemon was never forbidden anything, and has no right that it did not use."""
from cluster_scene import *

# Used, but not in the audit log: owners are looked at when what they own is created.
# Webhooks are asked for, and there are none: that is an answer too.
UNSEEN = {("get", "admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
          ("get", "admissionregistration.k8s.io", "validatingwebhookconfigurations"),
          ("update", "batch", "jobs/finalizers"), ("update", "", "pods/finalizers"),
          ("delete", "", "podtemplates"),
          ("update", "kueue.x-k8s.io", "workloads/finalizers"),
          ("update", "autoscaling.x-k8s.io", "provisioningrequests/finalizers")}


class Rights(unittest.TestCase):
    def test_nothing_was_forbidden(self):
        asked = set(plane().audit())
        self.assertGreater(len(asked), 0, "this is the last test of a whole run")
        refused = {a for a in asked if a[4] in (401, 403) and "being terminated" not in a[5]}
        self.assertEqual(sorted(refused), [])

    def test_every_right_was_used(self):
        used = {(verb, group, kind) for verb, group, kind, _, code, _ in plane().audit() if code < 400} | UNSEEN
        used |= {("get", group, kind.split("/")[0]) for verb, group, kind in used
                 if verb in ("create", "patch", "list")}  # after conflicts and lost answers; what a list lacks
        roles = [plane().get("/apis/rbac.authorization.k8s.io/v1/clusterroles/sluice-controller"),
                 plane().get("/apis/rbac.authorization.k8s.io/v1/namespaces/kueue-system/roles/"
                             "sluice-leader-election"),
                 plane().get("/apis/rbac.authorization.k8s.io/v1/clusterroles/sluice-provisioning"),
                 plane().get("/apis/rbac.authorization.k8s.io/v1/clusterroles/sluice-devices"),
                 plane().get("/apis/rbac.authorization.k8s.io/v1/clusterroles/sluice-visibility")]
        given = {(verb, group, kind) for role in roles for rule in role["rules"] for group in rule["apiGroups"]
                 for kind in rule["resources"] for verb in rule["verbs"]}
        self.assertEqual(sorted(given - used), [])
