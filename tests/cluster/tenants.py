"""A tenant: a user with the role `edit` in one namespace, and what he writes there.

A *trick* is a generator function over a Tenant. It makes its moves, and yields what it waits for in between: many tricks
run side by side, each in a namespace with a queue of its own. Whatever a trick does, in the end everything that runs in
its namespace is held by an admitted Workload there (Tenant.uncovered)."""
import json, time

from patience import deadline
from work_scene import *

QUEUE = "kueue.x-k8s.io/queue-name"
ROLES = [{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "tenant-kinds"},
          "rules": [{"apiGroups": ["jobset.x-k8s.io"], "resources": ["jobsets"], "verbs": ["*"]}]}]
RBAC = "/apis/rbac.authorization.k8s.io/v1"
QUOTA = 2  # cpu
TRIES = 60


def owner(obj, **other):
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "name": obj["metadata"]["name"],
            "uid": obj["metadata"].get("uid", "0"), "controller": True, **other}


def plain_pod(name, cpu="1", queue="main", labels=None, annotations=None, owners=None, finalizers=None, **spec):
    meta = {"name": name, "labels": {**({QUEUE: queue} if queue else {}), **(labels or {})},
            "annotations": {"test/run-for": "600s", **(annotations or {})}}
    if owners:
        meta["ownerReferences"] = owners
    if finalizers:
        meta["finalizers"] = finalizers
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [
            {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": cpu}}}],
        **{k: v for k, v in spec.items() if v is not None}}}


def long_job(name, cpu="1", queue="main", owners=None, finalizers=None, pod_spec=None, **more):
    made = job(name, queue=queue, cpu=cpu, run_for="600s", **more)
    if owners:
        made["metadata"]["ownerReferences"] = owners
    if finalizers:
        made["metadata"]["finalizers"] = finalizers
    made["spec"]["template"]["spec"].update(pod_spec or {})
    return made


def job_set(name, cpu="1", queue="main", owners=None):
    made = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": {"name": name, "labels": {QUEUE: queue} if queue else {}},
            "spec": {"replicatedJobs": [{"name": "w", "replicas": 1, "template": {
                "spec": long_job("w", cpu, None)["spec"]}}]}}
    if owners:
        made["metadata"]["ownerReferences"] = owners
    return made


class Tenant:
    PLURALS = {"Pod": "api/v1/namespaces/{ns}/pods", "Job": "apis/batch/v1/namespaces/{ns}/jobs",
               "CronJob": "apis/batch/v1/namespaces/{ns}/cronjobs",
               "JobSet": "apis/jobset.x-k8s.io/v1alpha2/namespaces/{ns}/jobsets",
               "Deployment": "apis/apps/v1/namespaces/{ns}/deployments",
               "StatefulSet": "apis/apps/v1/namespaces/{ns}/statefulsets",
               "ReplicaSet": "apis/apps/v1/namespaces/{ns}/replicasets"}

    def __init__(self, scene, namespace):
        self.scene, self.plane, self.ns, self.faults = scene, scene.plane, namespace, []
        scene.create({"apiVersion": "v1", "kind": "Namespace",
                      "metadata": {"name": namespace, "labels": {"test/tenants": "true"}}})
        for role in ("edit", "tenant-kinds"):
            self.admin("POST", f"{RBAC}/namespaces/{namespace}/rolebindings", {
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": role},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "alice"}]})
        queue = cluster_queue(namespace, {"tenants": {"cpu": QUOTA}})
        scene.create(queue, local_queue("main", namespace, namespace))

    def admin(self, method, path, body=None):
        return self.plane.request(method, path, body)

    # --- moves: (status, answer) ----------------------------------------------------------------------------
    def path(self, kind, name="", sub=""):
        base = "/" + self.PLURALS[kind].format(ns=self.ns)
        return base + (f"/{name}" if name else "") + (f"/{sub}" if sub else "")

    def make(self, obj):
        return self.plane.request("POST", self.path(obj["kind"]), obj, token="tenant-token")

    def change(self, kind, name, body, sub="", how="merge"):
        return self.plane.request("PATCH", self.path(kind, name, sub), body, f"application/{how}-patch+json",
                                  token="tenant-token")

    def remove(self, kind, name, options=None):
        return self.plane.request("DELETE", self.path(kind, name), options, token="tenant-token")

    def ask(self, method, path, body=None, how="application/json"):
        return self.plane.request(method, path, body, how, token="tenant-token")

    # --- what must come of them ------------------------------------------------------------------------------
    def fault(self, text):
        self.faults.append(text)

    def refused(self, answer, *parts):
        status, body = answer
        text = body.get("message", "") if isinstance(body, dict) else str(body)
        if status not in (400, 403, 404, 405, 422):
            self.fault(f"was not refused: {status}")
        for part in parts:
            if part not in text:
                self.fault(f"{part!r} is not in the refusal: {text}")

    def done(self, answer):
        """The object; the move is one that everybody may make."""
        if answer[0] not in (200, 201):
            self.fault(f"refused: {answer}")
        return answer[1]

    # --- what there is ---------------------------------------------------------------------------------------
    def get(self, kind, name):
        status, body = self.admin("GET", self.path(kind, name))
        return body if status == 200 else None

    def list(self, kind):
        return self.plane.get(self.path(kind))["items"]

    def workloads(self):
        return self.plane.get(f"{KUEUE}/namespaces/{self.ns}/workloads")["items"]

    def workload_of(self, name):
        return next((w for w in self.workloads() if any(
            o["name"] == name for o in w["metadata"].get("ownerReferences", []))), None)

    def runs(self, name, kind="Job"):
        """A condition to wait for."""
        if kind == "Pod":
            return lambda: (self.get("Pod", name) or {}).get("status", {}).get("phase") == "Running"
        return lambda: any(p["status"].get("phase") == "Running" for p in self.pods_of(name))

    def waits(self, name):
        return lambda: (w := self.workload_of(name)) and not holds(w, "QuotaReserved")

    def pods_of(self, name):
        return [p for p in self.list("Pod") if any(
            o["name"] == name for o in p["metadata"].get("ownerReferences", []))]

    def uncovered(self):
        """What runs without quota, in words; "" when nothing does. Pods on the way out are not counted."""
        pods = [p for p in self.list("Pod") if p["spec"].get("nodeName") and
                p["status"].get("phase") not in ("Succeeded", "Failed") and
                not p["metadata"].get("deletionTimestamp")]
        live = [w for w in self.workloads() if holds(w, "Admitted") and not holds(w, "Finished")]
        sets = [a for w in live for a in w["status"]["admission"]["podSetAssignments"]]
        running = sum(cpu_of(p) for p in pods)
        held = sum(milli(a.get("resourceUsage", {}).get("cpu", "0")) for a in sets)
        count = sum(a.get("count", 1) for a in sets)
        if running > held or len(pods) > count or running > QUOTA * 1000:
            return (f"{running}m cpu in {len(pods)} pods run, {held}m in {count} are held: " +
                    ", ".join(p["metadata"]["name"] for p in pods))
        return ""


def cpu_of(pod):
    return sum(milli(c.get("resources", {}).get("requests", {}).get("cpu", "0")) for c in pod["spec"]["containers"])


def play(tricks, seconds=40):
    """{tenant: generator}: all of them at once, each as far as what it waits for lets it; then nothing runs that is not
    covered, now and for some time. The faults of each tenant say what went wrong."""
    waiting = {t: None for t in tricks}
    end = deadline(seconds)
    while waiting and time.monotonic() < end:
        for tenant in list(waiting):
            test = waiting[tenant]
            if test is None or test():
                try:
                    waiting[tenant] = next(tricks[tenant])
                    end = deadline(seconds)
                except StopIteration:
                    del waiting[tenant]
        time.sleep(0.1)
    for tenant in waiting:
        tenant.fault("what it waits for does not come")
    time.sleep(1.5)  # for controllers that have not looked yet
    for tenant in tricks:
        found = settled(tenant)
        if found:
            tenant.fault(found)


def settled(tenant):
    """"" when in five looks in a row nothing runs that is not covered."""
    calm, found = 0, ""
    for _ in range(TRIES):
        found = tenant.uncovered()
        calm = 0 if found else calm + 1
        if calm == 5:
            return ""
        time.sleep(0.1 if calm else 0.25)
    return found or "it never settles"
