#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Is a feature gate on where what it stands for is done, and off where it is not?

src/cli/config/config_gates.def says for each of Kueue's gates whether it can be set here; docs/configuration.md has the same table
(tests/unit/cli/test_config_table.c compares them). A gate that can be set is looked up in the code by its member. For one
that is always on, and one that is always off though Kueue has it on, this file says by which words the code can be told:
they have to be there, or must not be. The parts of the code are named by globs."""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ON = {
    "FinishOrphanedWorkloads": ("src/controllers/jobs/job_leftovers.c", "OwnerNotFound"),
    "ManagedJobsNamespaceSelectorAlwaysRespected": ("src/controllers/**/*.c", "namespace_selector|managed_namespaces|selector"),
    "PodIntegrationValidateGroupOwner": ("src/controllers/jobs/jobs.c", "report_conflict"),
    "RejectUpdatesToCQWithInvalidOnFlavors": ("deploy/kubernetes/policies/queues.yaml", "onFlavors"),
    "RemoveFinalizersWithStrictPatch": ("src/controllers/**/*.c", "resourceVersion"),
    "SkipAncestorCheckForDeletedWorkloads": ("src/controllers/jobs/jobs.c", "sl_object_deleting"),
    "SparkApplicationIntegration": ("deploy/adapters/*.yaml", "kind: SparkApplication"),
    "TASAssignmentsEncodingByHostnamePrefix": ("src/api/objects/topology_compact.c", "prefix"),
    "TASCacheNodeMatchResults": ("src/policy/topology/masks.c", "mask"),
    "TASCacheTopologyTree": ("src/policy/topology/trees.c", "tree"),
    "TASCachingRemainingResources": ("src/kernel/topology/topology_capacity.c", "capacity"),
    "TASReplaceNodeOnNodeTaints": ("src/engine/**/node_*.c", "NoExecute|taint"),
    "LWSImmutableGroupSize": ("deploy/kubernetes/policies/jobs.yaml", "leaderWorkerTemplate.size"),
    "TASReplaceNodeOnPodTermination": ("src/engine/decisions/node_health.c", "pod"),
    "TASValidateWorkloadSliceSize": ("src/api/validate/topology_request.c", "slice|Slice"),
    "TLSOptions": ("src/cli/config/config_fields.def", "tls"),
    "ValidateRayAndSparkJobUpdates": ("deploy/kubernetes/policies/jobs.yaml", "rayjobs|RayJob"),
    "VectorizedResourceRequests": ("src/policy/requests/requests.c", "request"),
    "VisibilityOnDemand": ("src/cli/pages/visibility.c", "pendingworkloads"),
    "WorkloadIdentifierAnnotations": ("src/controllers/work/framework.c", "prebuilt"),
    "WorkloadPriorityClassDefaulting": ("deploy/kubernetes/policies/defaults.yaml", "sluice-default-priority"),
    "WorkloadValidateResourcesAreNonNegative": ("src/api/**/*.c", "negative"),
    "WorkloadValidationForPodSetMetadata": ("src/api/schema/pod_template.def", "labels"),
}
OFF = {
    "DeferRayServiceFinalizationForRedisCleanup": ("src/controllers/**/*.c", "[Rr]edis"),
    "MetricForWorkloadCreationLatency": ("src/c*/**/*.c", "creation_latency"),
    "MultiKueue": ("src/controllers/**/*.c", "MultiKueueConfig"),
    "MultiKueueAdaptersForCustomJobs": ("src/controllers/**/*.c", "MultiKueueConfig"),
    "MultiKueueIncrementalDispatcherConfig": ("src/controllers/**/*.c", "incremental"),
    "MultiKueueIncrementalDispatcherRespectConfigOrder": ("src/controllers/**/*.c", "incremental"),
    "MultiKueueKubeConfigPathValidation": ("src/controllers/**/*.c", "MultiKueueCluster"),
    "MultiKueueRemoteSpecSync": ("src/controllers/**/*.c", "MultiKueueCluster"),
}


def found(where, words):
    files = list(ROOT.glob(where))
    return bool(files), any(re.search(words, f.read_text()) for f in files)


def main():
    problems = []
    rows = re.findall(r"^SL_GATE\((\w+), (true|false), [A-Z]+, (?:(ON|OFF|LOCKED)|(?:UNLIKE, )?(?:UN)?SET\(([\w.]+)\))\)$",
                      (ROOT / "src/cli/config/config_gates.def").read_text(), re.MULTILINE)
    code = "\n".join(f.read_text() for f in (ROOT / "src").rglob("*.[ch]"))
    for name, preset, way, member in rows:
        fixed_on = way in ("ON", "LOCKED")
        table = ON if fixed_on else OFF if way == "OFF" and preset == "true" else None
        if member and not re.search(rf"\b{member.split('.')[-1]}\b", code):
            problems.append(f"{name}: nobody reads {member}")
        if table is None:
            continue
        if name not in table:
            problems.append(f"{name}: is always {'on' if fixed_on else 'off'}, and it is not said here how that can be told")
            continue
        there, so = found(*table[name])
        if not there:
            problems.append(f"{name}: there is no {table[name][0]}")
        elif so != fixed_on:
            problems.append(f"{name}: is always {'on' if fixed_on else 'off'}, and {table[name][0]} "
                            f"{'has nothing' if fixed_on else 'has something'} of {table[name][1]}")
    known = {name for name, *_ in rows}
    problems += [f"{name}: is no gate" for name in (*ON, *OFF) if name not in known]
    for problem in problems:
        print(f"gates: {problem}")
    return bool(problems) or len(rows) != 80


sys.exit(main())
