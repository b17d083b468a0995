"""Roles for people: those of Kueue, by name, with its labels and rights (kueue_roles.json), so that what binds them goes on."""
import collections

from cluster_scene import *

ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
# The same page by way of the API server, where `sluicectl status` asks for it.
MORE = {"kueue-metrics-reader": {("visibility.kueue.x-k8s.io", "metrics", verb) for verb in ("get", "list")}}


def rights(rules):
    return {(group, resource, verb) for r in rules or [] for group in r.get("apiGroups", [""])
            for resource in r.get("resources", r.get("nonResourceURLs")) for verb in r["verbs"]}


class Roles(unittest.TestCase):
    def setUp(self):
        self.plane = plane()
        self.known = json.loads((ROOT / "tests/cluster/kueue_roles.json").read_text())
        self.there = {r["metadata"]["name"]: r for r in self.plane.get(ROLES)["items"]}

    def test_each_role_of_kueue_is_there_with_its_labels_and_rights(self):
        self.assertEqual(sorted(set(self.known) - set(self.there)), [])
        for name, kueue in self.known.items():
            with self.subTest(name):
                role = self.there[name]
                self.assertEqual({k: v for k, v in role["metadata"].get("labels", {}).items() if "app.kubernetes.io" not in k}, kueue["labels"])
                selectors = role.get("aggregationRule", {}).get("clusterRoleSelectors", [])
                self.assertEqual([s["matchLabels"] for s in selectors], kueue.get("aggregates", []))
                if not selectors:
                    self.assertEqual(rights(role["rules"]), rights(kueue["rules"]) | MORE.get(name, set()))

    def test_roles_that_gather_others_have_what_kueues_have(self):
        for label, name in (("batch-admin", "kueue-batch-admin-role"), ("batch-user", "kueue-batch-user-role")):
            wanted = set().union(*(rights(r["rules"]) for r in self.known.values() if f"rbac.kueue.x-k8s.io/{label}" in r["labels"]))
            self.assertTrue(wanted)
            eventually(lambda: wanted <= rights(self.plane.get(f"{ROLES}/{name}")["rules"]), 20, what=f"{name} gathered")

    def test_submitting_gives_no_right_over_queues(self):
        self.assertTrue(rights(eventually(lambda: self.plane.get(f"{ROLES}/kueue-batch-user-role")["rules"], what="gathered")))
        writes = collections.defaultdict(set)
        for name in ("kueue-batch-user-role", "view", "edit", "admin"):
            for group, resource, verb in rights(self.plane.get(f"{ROLES}/{name}")["rules"]):
                if group == "kueue.x-k8s.io" and verb not in ("get", "list", "watch"):
                    writes[name].add((resource, verb))
        self.assertEqual(writes, {})

    def test_whoever_runs_the_queues_may_change_every_kind_of_ours(self):
        kinds = {r["name"] for r in self.plane.get(KUEUE)["resources"] if "/" not in r["name"]} - {"multikueueclusters", "multikueueconfigs"}
        self.assertGreaterEqual(len(kinds), 9)
        eventually(lambda: {("kueue.x-k8s.io", k, v) for k in kinds for v in ("create", "update", "patch", "delete")} <=
                   rights(self.plane.get(f"{ROLES}/kueue-batch-admin-role")["rules"]), 20, what="all kinds")
