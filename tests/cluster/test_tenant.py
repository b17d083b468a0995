"""What a user with the role `edit` in a namespace can write there so that pods run that no Workload holds quota for: nothing.

Each function of TRICKS is one way to try. First with deploy/kubernetes as it is, where everything that names a queue is
held to its quota; then with the component all-jobs and manageJobsWithoutQueueName, where everything is."""
import os, random

from tenants import *

GATES = "spec.schedulingGates"
ADMISSION = "kueue.x-k8s.io/admission"
MANAGED = "kueue.x-k8s.io/managed"
TRICKS = []
ONLY_ALL = set()  # those with objects that name no queue, which by default are nobody's business


def trick(f):
    TRICKS.append(f)
    return f


def only_all(f):
    ONLY_ALL.add(f)
    return trick(f)


# --- owners -------------------------------------------------------------------------------------------------------
@trick
def a_job_owned_by_an_admitted_job(t):
    a = t.done(t.make(long_job("a", "100m")))
    yield t.runs("a")
    t.refused(t.make(long_job("b", "50", owners=[owner(a)])), "ownerReferences", "jobs/finalizers")
    t.refused(t.make(long_job("c", "50", queue=None, owners=[owner(a)])), "ownerReferences")


@trick
def a_job_owned_by_a_waiting_job(t):
    a = t.done(t.make(long_job("a", "50")))
    t.refused(t.make(long_job("b", "50", owners=[owner(a)])), "ownerReferences")
    yield t.waits("a")


@trick
def a_pod_owned_by_an_admitted_job(t):
    a = t.done(t.make(long_job("a", "100m")))
    yield t.runs("a")
    t.refused(t.make(plain_pod("b", "50", owners=[owner(a)])), "ownerReferences")


@trick
def a_pod_owned_by_a_kind_that_is_only_called_job(t):
    a = t.done(t.make(long_job("a", "100m")))
    yield t.runs("a")
    b = t.done(t.make(plain_pod("b", "50", owners=[owner(a, apiVersion="whatever.example/v1")])))
    if {"name": ADMISSION} not in b["spec"].get("schedulingGates", []):
        t.fault("its owner is taken for a Job: not gated")


@trick
def a_job_owned_by_a_kind_that_is_only_called_job_set(t):
    b = t.done(t.make(long_job("b", "50", owners=[
        {"apiVersion": "whatever.example/v1", "kind": "JobSet", "name": "x", "uid": "1", "controller": True}])))
    if not b["spec"].get("suspend"):
        t.fault("its owner is taken for a JobSet: not suspended")
    yield lambda: True


@trick
def a_job_owned_by_what_makes_no_jobs(t):
    """A ReplicaSet makes pods, and so does nobody else of apps."""
    for kind in ("Deployment", "ReplicaSet", "StatefulSet"):
        b = t.done(t.make(long_job("b-" + kind.lower(), "50", owners=[
            {"apiVersion": "apps/v1", "kind": kind, "name": "x", "uid": "1", "controller": True}])))
        if not b["spec"].get("suspend"):
            t.fault(f"owned by a {kind}: not suspended")
    yield lambda: True


@trick
def a_job_owned_by_a_cron_job_that_did_not_make_it(t):
    c = t.done(t.make({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"}, "spec": {
        "schedule": "0 0 1 1 *", "suspend": True, "jobTemplate": {"spec": long_job("c", "1")["spec"]}}}))
    t.done(t.make(long_job("b", "50", owners=[owner(c)])))
    yield t.waits("b")


@trick
def a_job_owned_by_a_job_set_of_the_tenants(t):
    s = t.done(t.make(job_set("s", "100m")))
    yield lambda: (w := t.workload_of("s")) and holds(w, "Admitted")
    t.refused(t.make(long_job("b", "50", queue=None, owners=[owner(s)])), "ownerReferences", "jobsets/finalizers")


@trick
def owners_that_are_added_later(t):
    t.done(t.make(long_job("z", "100m")))
    a = t.done(t.make(long_job("a", "1")))
    yield t.runs("a")
    z = t.get("Job", "z")
    t.refused(t.change("Job", "a", {"metadata": {"ownerReferences": [owner(z)]}}), "ownerReferences")
    pod = t.pods_of("a")[0]["metadata"]["name"]
    t.refused(t.change("Pod", pod, {"metadata": {"ownerReferences": [owner(z)]}}), "ownerReferences")
    t.done(t.make(long_job("b", "2")))
    yield t.waits("b")


@trick
def an_owner_without_control(t):
    """Says who is to be deleted with whom, and nothing about quota: it is queued as any other."""
    a = t.done(t.make(long_job("a", "100m")))
    yield t.runs("a")
    t.done(t.make(long_job("b", "50", owners=[owner(a, controller=False)])))
    yield t.waits("b")


@trick
def a_pod_that_leaves_its_job(t):
    """Its job makes another in its place."""
    t.done(t.make(long_job("a", "2")))
    yield t.runs("a")
    pod = t.pods_of("a")[0]["metadata"]["name"]
    t.refused(t.change("Pod", pod, {"metadata": {"ownerReferences": None}}), "ownerReferences")
    for label in ("batch.kubernetes.io/controller-uid", "controller-uid", "batch.kubernetes.io/job-name"):
        for value in (None, "x"):
            t.refused(t.change("Pod", pod, {"metadata": {"labels": {label: value}}}), "metadata.labels")
    t.done(t.change("Pod", pod, {"metadata": {"labels": {"mine": "yes"}}}))
    yield t.runs("a")


@trick
def a_pod_that_leaves_a_job_with_a_selector_of_its_own(t):
    a = long_job("a", "2")
    a["spec"].update(manualSelector=True, selector={"matchLabels": {"my": "own"}})
    a["spec"]["template"]["metadata"]["labels"] = {"my": "own"}
    t.done(t.make(a))
    yield t.runs("a")
    pod = t.pods_of("a")[0]["metadata"]["name"]
    t.refused(t.change("Pod", pod, {"metadata": {"labels": {"my": None}}}), "metadata.labels")
    t.refused(t.change("Pod", pod, {"metadata": {"labels": {"my": "other"}}}), "metadata.labels")


@trick
def a_pod_that_a_job_adopts(t):
    """The job controller takes in what its selector finds."""
    t.done(t.make(long_job("a", "100m")))
    yield t.runs("a")
    marks = {k: v for k, v in t.pods_of("a")[0]["metadata"]["labels"].items() if "job" in k or "controller" in k}
    t.make(plain_pod("b", "50", labels=marks))
    yield lambda: True


@trick
def pods_that_are_orphaned(t):
    t.done(t.make(long_job("a", "2")))
    yield t.runs("a")
    t.refused(t.remove("Job", "a", {"propagationPolicy": "Orphan"}), "propagationPolicy")
    t.refused(t.remove("Job", "a", {"orphanDependents": True}), "propagationPolicy")
    t.refused(t.plane.request("DELETE", t.path("Job"), {"propagationPolicy": "Orphan"}, token="tenant-token"))
    t.refused(t.change("Job", "a", {"metadata": {"finalizers": ["orphan"]}}), "metadata.finalizers")
    t.refused(t.make(long_job("c", "2", finalizers=["orphan"])), "metadata.finalizers")
    yield t.runs("a")


@trick
def a_job_that_is_deleted(t):
    t.done(t.make(long_job("a", "2")))
    yield t.runs("a")
    t.done(t.make(long_job("b", "2")))
    yield t.waits("b")
    t.done(t.remove("Job", "a", {"propagationPolicy": "Foreground"}))
    yield t.runs("b")


# --- suspension and gates -----------------------------------------------------------------------------------------
@trick
def a_waiting_job_that_is_started(t):
    t.done(t.make(long_job("a", "2")))
    yield t.runs("a")
    t.done(t.make(long_job("b", "2")))
    yield t.waits("b")
    t.refused(t.change("Job", "b", {"spec": {"suspend": False}}), "spec.suspend", "queue")
    t.refused(t.change("Job", "b", {"spec": {"suspend": None}}), "spec.suspend")
    t.refused(t.change("Job", "b", {"spec": {"suspend": False, "parallelism": 10}}), "spec.suspend")


@trick
def a_waiting_job_set_that_is_started(t):
    t.done(t.make(job_set("s", "50")))
    yield t.waits("s")
    t.refused(t.change("JobSet", "s", {"spec": {"suspend": False}}), "spec.suspend")


@trick
def a_running_job_that_is_suspended_and_started(t):
    t.done(t.make(long_job("a", "2")))
    yield t.runs("a")
    t.done(t.change("Job", "a", {"spec": {"suspend": True}}))
    t.change("Job", "a", {"spec": {"suspend": False}})
    yield t.runs("a")


@trick
def a_job_that_loses_its_queue(t):
    t.done(t.make(long_job("a", "2")))
    yield t.runs("a")
    t.done(t.make(long_job("b", "2")))
    yield t.waits("b")
    t.refused(t.change("Job", "a", {"metadata": {"labels": {QUEUE: None}}}), "queue-name")
    t.refused(t.change("Job", "b", {"metadata": {"labels": {QUEUE: None}}, "spec": {"suspend": False}}))
    t.change("Job", "a", {"metadata": {"labels": {QUEUE: None}}, "spec": {"suspend": True}})
    t.change("Job", "a", {"spec": {"suspend": False}})


@only_all
def a_waiting_job_that_loses_its_queue(t):
    t.done(t.make(long_job("a", "50")))
    yield t.waits("a")
    t.change("Job", "a", {"metadata": {"labels": {QUEUE: None}}})
    t.refused(t.change("Job", "a", {"spec": {"suspend": False}}), "spec.suspend")


@trick
def gates_that_are_taken_off(t):
    t.done(t.make(plain_pod("a", "2")))
    yield t.runs("a", "Pod")
    t.done(t.make(plain_pod("b", "2")))
    yield t.waits("b")
    t.refused(t.change("Pod", "b", {"spec": {"schedulingGates": None}}), GATES)
    t.refused(t.change("Pod", "b", {"spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/topology"}]}},
                       how="merge"), GATES)


@trick
def a_managed_pod_that_is_managed_no_longer(t):
    t.done(t.make(plain_pod("a", "2")))
    yield t.runs("a", "Pod")
    t.done(t.make(plain_pod("b", "2")))
    yield t.waits("b")
    for name in ("a", "b"):
        t.refused(t.change("Pod", name, {"metadata": {"labels": {MANAGED: None}}}), MANAGED)
    t.refused(t.change("Pod", "b", {"metadata": {"labels": {MANAGED: None}}, "spec": {"schedulingGates": None}}))


@trick
def a_pod_with_a_suspending_parent(t):
    """Gated, but not marked: its parent is to have its Workload."""
    t.done(t.make(plain_pod("a", "50", annotations={"kueue.x-k8s.io/pod-suspending-parent": "x"})))
    t.refused(t.change("Pod", "a", {"spec": {"schedulingGates": None}}), GATES)
    yield lambda: True


@trick
def finalizers_that_are_removed(t):
    t.done(t.make(plain_pod("a", "2")))
    t.done(t.make(plain_pod("b", "2")))
    yield lambda: any(t.runs(n, "Pod")() for n in "ab")
    for name in ("a", "b"):
        t.change("Pod", name, {"metadata": {"finalizers": None}})
    yield lambda: any(t.runs(n, "Pod")() for n in "ab")


@trick
def finalizers_of_a_jobs_pods_that_are_removed(t):
    t.done(t.make(long_job("a", "1", parallelism=2)))
    yield lambda: len(t.pods_of("a")) == 2
    for p in t.pods_of("a"):
        t.change("Pod", p["metadata"]["name"], {"metadata": {"finalizers": None}})
    yield t.runs("a")


@trick
def a_node_that_is_named(t):
    t.refused(t.make(plain_pod("a", "2", nodeName="kwok-0")))
    t.done(t.make(plain_pod("b", "50")))
    t.refused(t.ask("POST", t.path("Pod", "b", "binding"), {
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "b"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "kwok-0"}}))
    yield lambda: True


# --- more than was asked for --------------------------------------------------------------------------------------
@trick
def more_pods_than_were_admitted(t):
    t.done(t.make(long_job("a", "1", completions=10)))
    yield t.runs("a")
    t.refused(t.change("Job", "a", {"spec": {"parallelism": 10}}), "spec.parallelism")
    t.done(t.change("Job", "a", {"spec": {"suspend": True, "parallelism": 10}}))
    yield lambda: not t.pods_of("a") and t.waits("a")()


@trick
def pods_after_none(t):
    t.done(t.make(long_job("a", "1", parallelism=0)))
    b = long_job("b", "1", parallelism=0)
    b["spec"]["completions"] = 10
    t.done(t.make(b))
    yield lambda: t.workload_of("b")
    for name in "ab":
        t.change("Job", name, {"spec": {"parallelism": 10}})
        t.change("Job", name, {"spec": {"suspend": False}})
        t.change("Job", name, {"spec": {"suspend": False, "parallelism": 10}})


@trick
def more_completions_at_once(t):
    a = long_job("a", "1")
    a["spec"].update(completionMode="Indexed", parallelism=10, completions=1)
    t.done(t.make(a))
    yield t.runs("a")
    t.refused(t.change("Job", "a", {"spec": {"completions": 10}}), "spec.parallelism")


@trick
def a_waiting_job_that_grows(t):
    t.done(t.make(long_job("a", "2")))
    yield t.runs("a")
    t.done(t.make(long_job("b", "2")))
    yield t.waits("b")
    t.change("Job", "b", [{"op": "replace", "path": "/spec/template/spec/containers/0/resources/requests/cpu",
                           "value": "20"}], how="json")
    t.done(t.remove("Job", "a", {"propagationPolicy": "Background"}))
    yield lambda: not t.pods_of("a")


@trick
def a_running_job_that_is_suspended_and_grows(t):
    t.done(t.make(long_job("a", "2")))
    yield t.runs("a")
    for _ in range(3):
        t.change("Job", "a", [{"op": "add", "path": "/spec/suspend", "value": True}, {
            "op": "replace", "path": "/spec/template/spec/containers/0/resources/requests/cpu", "value": "20"}],
            how="json")
        t.change("Job", "a", {"spec": {"suspend": True}})
        t.change("Job", "a", [{"op": "replace", "path": "/spec/template/spec/containers/0/resources/requests/cpu",
                               "value": "20"}], how="json")
        time.sleep(0.3)


@trick
def pods_that_grow_where_they_stand(t):
    t.done(t.make(long_job("a", "1")))
    t.done(t.make(plain_pod("b", "1")))
    yield lambda: t.runs("a")() and t.runs("b", "Pod")()
    grown = {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "30"}}}]}}
    for name in (t.pods_of("a")[0]["metadata"]["name"], "b"):
        t.refused(t.change("Pod", name, grown, "resize", "strategic"))


@trick
def what_is_asked_for_in_other_places(t):
    t.done(t.make(long_job("level", "100m", pod_spec={"resources": {"requests": {"cpu": "20"}}})))
    t.done(t.make(long_job("sidecar", "100m", pod_spec={"initContainers": [
        {"name": "s", "image": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "20"}}}]})))
    limits = long_job("limits")
    limits["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "20"}}
    t.done(t.make(limits))
    foreign = long_job("foreign", "100m")
    foreign["spec"]["template"]["spec"]["containers"][0]["resources"] = {
        "requests": {"cpu": "1", "example.com/gpu": "8"}, "limits": {"example.com/gpu": "8"}}
    t.done(t.make(foreign))
    for name in ("level", "sidecar", "limits", "foreign"):
        yield t.waits(name)


@trick
def numbers_that_overflow(t):
    for i, (cpu, pods) in enumerate((("9223372036854775807", 1), ("9223372036854775807", 2147483647), ("1e30", 1),
                                     ("0.0000000001", 2147483647), ("9223372036854775", 1000), ("1n", 1000000000))):
        t.done(t.make(long_job(f"h{i}", cpu, parallelism=pods)))
        yield t.waits(f"h{i}")


# --- Workloads of others ------------------------------------------------------------------------------------------
@trick
def the_workload_of_another(t):
    t.done(t.make(long_job("a", "2")))
    yield t.runs("a")
    name = t.workload_of("a")["metadata"]["name"]
    mark = "kueue.x-k8s.io/prebuilt-workload-name"
    t.done(t.make(long_job("b", "2", labels={mark: name})))
    t.done(t.make(long_job("c", "2", annotations={mark: name})))
    group = {"kueue.x-k8s.io/pod-group-name": name}
    t.make(plain_pod("d", "2", labels=group, annotations={"kueue.x-k8s.io/pod-group-total-count": "1"}))
    t.make(plain_pod("e", "2", labels={mark: name}))
    for job_name in "bc":
        t.refused(t.change("Job", job_name, {"spec": {"suspend": False}}))
    yield t.runs("a")


@trick
def what_belongs_to_the_administrator(t):
    t.done(t.make(long_job("a", "1")))
    yield t.runs("a")
    name = t.workload_of("a")["metadata"]["name"]
    mine = f"{KUEUE}/namespaces/{t.ns}"
    merge = "application/merge-patch+json"
    lease = "/apis/coordination.k8s.io/v1/namespaces/kueue-system/leases/c1f6bfd2.kueue.x-k8s.io"
    for method, path, body, how in (
            ("PATCH", f"{mine}/workloads/{name}", {"spec": {"priority": 1000}}, merge),
            ("PATCH", f"{mine}/workloads/{name}/status", {"status": {"reclaimablePods": [
                {"name": "main", "count": 1}]}}, merge),
            ("DELETE", f"{mine}/workloads/{name}", None, merge),
            ("POST", f"{mine}/workloads", {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
                                           "metadata": {"name": "w"}, "spec": {"podSets": []}}, "application/json"),
            ("POST", f"{mine}/localqueues", local_queue("l", "main", t.ns), "application/json"),
            ("PATCH", f"{KUEUE}/clusterqueues/{t.ns}", {"spec": {"stopPolicy": "Hold"}}, merge),
            ("GET", f"{KUEUE}/clusterqueues/{t.ns}", None, merge),
            ("PATCH", t.path("Job", "a", "status"), {"status": {"succeeded": 1}}, merge),
            ("PATCH", f"/api/v1/namespaces/{t.ns}", {"metadata": {"labels": {"test/tenants": "false"}}}, merge),
            ("PATCH", "/api/v1/nodes/kwok-0", {"metadata": {"labels": {"x": "y"}}}, merge),
            ("PATCH", lease, {"spec": {"holderIdentity": "me"}}, merge),
            ("GET", f"{KUEUE}/namespaces/default/workloads", None, merge)):
        t.refused(t.ask(method, path, body, how), "forbidden")
    pod = t.pods_of("a")[0]["metadata"]["name"]
    t.refused(t.change("Pod", pod, {"status": {"phase": "Succeeded"}}, "status"), "forbidden")


@trick
def annotations_that_say_strange_things(t):
    t.done(t.make(long_job("a", "2")))
    yield t.runs("a")
    for text in ('{"metadata":{"annotations":{"x":"a\\u0000b"}}}', '{"metadata":{"annotations":{"x":"\\ud800"}}}',
                 json.dumps({"metadata": {"annotations": {"x": "[" * 5000}}}),
                 json.dumps({"metadata": {"annotations": {"kueue.x-k8s.io/workload": "x",
                                                          "kueue.x-k8s.io/stopping": "true",
                                                          "kueue.x-k8s.io/admission-gated-by": "a.com/x"}}})):
        t.change("Job", "a", text)
        t.change("Pod", t.pods_of("a")[0]["metadata"]["name"], text)
    t.done(t.make(long_job("b", "2")))
    yield t.waits("b")


@trick
def jobs_of_somebody_elses_controller(t):
    t.make(long_job("a", "2", managedBy="example.com/x"))
    t.done(t.make(long_job("b", "2")))
    yield lambda: any(holds(w, "Admitted") for w in t.workloads())


# --- what is not counted ------------------------------------------------------------------------------------------
def claimed(made, **claim):
    spec = made["spec"].get("template", made)["spec"]
    spec["resourceClaims"] = [{"name": "gpu", **claim}]
    spec["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
    return made


@trick
def devices_that_are_claimed(t):
    t.done(t.make(claimed(long_job("a", "1"), resourceClaimTemplateName="gpus")))
    t.done(t.make(claimed(plain_pod("b", "1"), resourceClaimName="gpu")))
    for name, says in (("a", "no DeviceClass is mapped"), ("b", "does not support use of resource claims")):
        yield lambda: (w := t.workload_of(name)) and says in (
            condition(w, "QuotaReserved") or {}).get("message", "")
        reason = condition(t.workload_of(name), "QuotaReserved")["reason"]
        if reason not in ("Misconfigured", "Inadmissible"):  # the latter without Kueue's granular reasons
            t.fault(f"its Workload says {reason}")
    t.done(t.make(long_job("c", "2")))
    yield t.runs("c")


@trick
def devices_that_a_job_sets_pods_claim(t):
    made = job_set("s", "1")
    claimed(made["spec"]["replicatedJobs"][0]["template"], resourceClaimTemplateName="gpus")
    t.done(t.make(made))
    yield lambda: (w := t.workload_of("s")) and "no DeviceClass is mapped" in (
        condition(w, "QuotaReserved") or {}).get("message", "")


def scaled(kind, name, labels=None, pod_labels=None, replicas=3):
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "labels": labels or {}}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": name}}, **(
            {"serviceName": "x"} if kind == "StatefulSet" else {}),
        "template": {"metadata": {"labels": {"app": name, **(pod_labels or {})}}, "spec": {
            "terminationGracePeriodSeconds": 0, "containers": [
                {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}]}}}}


@trick
def a_queue_for_what_is_not_queued(t):
    for kind in ("Deployment", "StatefulSet"):
        t.done(t.make(scaled(kind, kind.lower(), {QUEUE: "main"}, replicas=2)))  # its pods get the queue
        made = t.done(t.change(kind, kind.lower(), {"spec": {"template": {"metadata": {"labels": {QUEUE: None}}}}}))
        if made["spec"]["template"]["metadata"]["labels"].get(QUEUE) != "main":
            t.fault("its pods lose the queue")
        t.refused(t.change(kind, kind.lower(), {"metadata": {"labels": {QUEUE: None}}}), QUEUE)
    # those of the Deployment one by one, those of the StatefulSet together
    yield lambda: sum(s["count"] for w in t.workloads() if holds(w, "Admitted") for s in w["spec"]["podSets"]) == 2


@only_all
def pods_of_others_that_name_no_queue(t):
    for kind in ("Deployment", "StatefulSet", "ReplicaSet"):
        t.done(t.make(scaled(kind, kind.lower())))
    t.done(t.make(plain_pod("alone", "50", queue=None)))
    t.done(t.make(long_job("job", "50", queue=None)))
    yield lambda: len(t.list("Pod")) >= 6


@only_all
def the_gates_of_a_pod_that_names_no_queue(t):
    t.done(t.make(plain_pod("a", "50", queue=None)))
    t.refused(t.change("Pod", "a", {"spec": {"schedulingGates": None}}), GATES)
    yield lambda: True


# --- whatever comes to mind ---------------------------------------------------------------------------------------
STRANGE = ["kueue.x-k8s.io/prebuilt-workload-name", "kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/managed",
           "kueue.x-k8s.io/podset", "kueue.x-k8s.io/local-queue-name", "kueue.x-k8s.io/job-uid",
           "kueue.x-k8s.io/priority-class", "kueue.x-k8s.io/max-exec-time-seconds", "job-name",
           "batch.kubernetes.io/controller-uid", QUEUE]
NOTES = ["kueue.x-k8s.io/pod-group-total-count", "kueue.x-k8s.io/pod-suspending-parent", "kueue.x-k8s.io/workload",
         "kueue.x-k8s.io/stopping", "kueue.x-k8s.io/admission-gated-by", "kueue.x-k8s.io/is-group-workload",
         "kueue.x-k8s.io/pod-group-fast-admission", "kueue.x-k8s.io/job-min-parallelism",
         "kueue.x-k8s.io/pod-group-serving", "kueue.x-k8s.io/retriable-in-group"]


class Whim:
    """Random moves of a tenant: objects with parts of other objects, and changes of what is there."""

    def __init__(self, t, seed):
        self.t, self.random, self.made = t, random.Random(seed), 0

    def there(self):
        return [o for kind in ("Job", "Pod") for o in ({**o, "kind": kind, "apiVersion": "x"} for o in self.t.list(kind))]

    def value(self):
        names = [w["metadata"]["name"] for w in self.t.workloads()] + [o["metadata"]["uid"] for o in self.there()]
        return self.random.choice(["main", "true", "false", "1", "x", "", *names])

    def marks(self, keys):
        return {k: self.value() for k in self.random.sample(keys, self.random.choice((0, 0, 0, 1, 2)))}

    def owners(self):
        others = [o for o in self.there() if o["kind"] == "Job"]
        if not others or self.random.random() < 0.7:
            return None
        version = self.random.choice(["batch/v1", "batch/v1", "whatever.example/v1", "jobset.x-k8s.io/v1alpha2"])
        kind = self.random.choice(["Job", "Job", "JobSet", "ReplicaSet"])
        return [owner(self.random.choice(others), apiVersion=version, kind=kind,
                      controller=self.random.random() < 0.8)]

    def meta(self):
        return {"labels": self.marks(STRANGE), "annotations": self.marks(NOTES), "owners": self.owners(),
                "finalizers": self.random.choice([None, None, None, ["orphan"], ["foregroundDeletion"]])}

    def make(self):
        self.made += 1
        cpu = self.random.choice(["100m", "1", "1", "2", "3", "50"])
        if self.random.random() < 0.4:
            return self.t.make(plain_pod(f"p{self.made}", cpu, nodeName=self.random.choice(
                [None, None, None, "kwok-0"]), **self.meta()))
        return self.t.make(long_job(f"j{self.made}", cpu, parallelism=self.random.choice([0, 1, 1, 2]), **self.meta()))

    def change(self):
        some = self.there()
        if not some:
            return None
        o = self.random.choice(some)
        name, meta = o["metadata"]["name"], self.meta()
        body = self.random.choice([
            {"spec": {"suspend": False}}, {"spec": {"suspend": True}}, {"spec": {"parallelism": 5}},
            {"spec": {"suspend": True, "parallelism": 3}}, {"spec": {"suspend": False, "parallelism": 4}},
            {"spec": {"schedulingGates": None}}, {"metadata": {"finalizers": None}},
            {"metadata": {"ownerReferences": meta["owners"]}}, {"metadata": {"labels": {QUEUE: None}}},
            {"metadata": {"labels": {self.random.choice(STRANGE): self.random.choice([None, self.value()])}}},
            {"metadata": {"annotations": {self.random.choice(NOTES): self.random.choice([None, self.value()])}}}])
        if self.random.random() < 0.1:
            return self.t.remove(o["kind"], name, {"propagationPolicy": self.random.choice(
                ["Background", "Foreground", "Orphan"])})
        return self.t.change(o["kind"], name, body)

    def play(self, moves):
        for _ in range(moves):
            self.make() if self.random.random() < 0.45 else self.change()
            time.sleep(self.random.choice((0, 0, 0, 0.05, 0.3)))
            yield lambda: True


class Tenants(WorkScene):
    """Everything that names a queue."""
    config = {"managedJobsNamespaceSelector": {"matchLabels": {"test/tenants": "true"}}}
    everything = False

    def setUp(self):
        super().setUp()
        self.tenants = []
        self.create(flavor("tenants"))
        for role in ROLES:
            self.plane.request("POST", f"{RBAC}/clusterroles", role)
        self.daemon(options=["--adapters", str(ROOT / "deploy/adapters")])

    def tearDown(self):
        for t in self.tenants:
            for kind in ("Deployment", "StatefulSet", "ReplicaSet", "JobSet", "Job", "Pod"):
                self.plane.request("DELETE", t.path(kind) + "?gracePeriodSeconds=0&propagationPolicy=Background")
            self.plane.request("DELETE", f"/api/v1/namespaces/{t.ns}")
        super().tearDown()

    def tenant(self, name):
        t = Tenant(self, f"{self.namespace[:20].strip('-')}-{name}"[:63].strip("-"))
        self.tenants.append(t)
        return t

    def names(self):
        return [f for f in TRICKS if self.everything or f not in ONLY_ALL]

    def test_what_names_a_queue_runs_only_with_quota(self):
        self.try_all()

    def whims(self):
        """Seeds of five tenants: TENANT_SEED=n for others."""
        first = int(os.environ.get("TENANT_SEED", "1"))
        players = {}
        for seed in range(first, first + 5):
            t = self.tenant(f"w{seed}")
            t.trick = f"seed {seed}"
            players[t] = Whim(t, seed).play(40)
        play(players)
        for t in players:
            with self.subTest(trick=t.trick):
                self.assertFalse(t.faults, "\n".join(t.faults))

    def try_all(self):
        chosen = os.environ.get("TRICKS", "").split()
        players = {}
        for i, f in enumerate(self.names()):
            if not chosen or f.__name__ in chosen:
                t = self.tenant(f"t{i}-{f.__name__.replace('_', '-')}")
                t.trick = f.__name__
                players[t] = f(t)
        play(players)
        for t in players:
            with self.subTest(trick=t.trick):
                self.assertFalse(t.faults, "\n".join(t.faults))


class TenantsOfAll(Tenants):
    """Everything there is."""
    config = {**Tenants.config, "manageJobsWithoutQueueName": True}
    everything = True
    test_what_names_a_queue_runs_only_with_quota = None

    def test_everything_runs_only_with_quota(self):
        self.try_all()

    def test_whims_run_nothing_without_quota(self):
        self.whims()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        overlay = plane().run / "tenants"
        overlay.mkdir(exist_ok=True)
        policies = os.path.relpath(ROOT / "deploy/kubernetes/policies", overlay.resolve())
        (overlay / "kustomization.yaml").write_text(json.dumps({
            "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": [policies],
            "components": [policies + "/all-jobs"]}))
        plane().kubectl("apply", "--server-side", "--force-conflicts", "-k", overlay)
        eventually(cls.probe, what="policies for all jobs")

    @classmethod
    def tearDownClass(cls):
        plane().kubectl("apply", "--server-side", "--force-conflicts", "-k", ROOT / "deploy/kubernetes/policies")
        eventually(lambda: not cls.probe(), what="jobs without a queue left alone again")
        super().tearDownClass()

    @staticmethod
    def probe():
        path = "/apis/batch/v1/namespaces/default/jobs?dryRun=All"
        return plane().request("POST", path, job("probe"))[1]["spec"].get("suspend")
