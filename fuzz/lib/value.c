/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/value.h"

#include "fuzz/lib/check.h"

enum { DEPTH_MAX = 8, MEMBERS_MAX = 6 };

static const char *const words[] = {"apiVersion",
                                    "kind",
                                    "metadata",
                                    "name",
                                    "namespace",
                                    "labels",
                                    "annotations",
                                    "uid",
                                    "resourceVersion",
                                    "generation",
                                    "creationTimestamp",
                                    "deletionTimestamp",
                                    "finalizers",
                                    "ownerReferences",
                                    "spec",
                                    "status",
                                    "podSets",
                                    "count",
                                    "minCount",
                                    "template",
                                    "containers",
                                    "resources",
                                    "requests",
                                    "limits",
                                    "cpu",
                                    "memory",
                                    "queueName",
                                    "priority",
                                    "active",
                                    "resourceGroups",
                                    "coveredResources",
                                    "flavors",
                                    "nominalQuota",
                                    "borrowingLimit",
                                    "lendingLimit",
                                    "cohortName",
                                    "parentName",
                                    "queueingStrategy",
                                    "preemption",
                                    "reclaimWithinCohort",
                                    "withinClusterQueue",
                                    "borrowWithinCohort",
                                    "policy",
                                    "namespaceSelector",
                                    "matchLabels",
                                    "matchExpressions",
                                    "key",
                                    "operator",
                                    "values",
                                    "clusterQueue",
                                    "stopPolicy",
                                    "fairSharing",
                                    "weight",
                                    "flavorFungibility",
                                    "whenCanBorrow",
                                    "nodeLabels",
                                    "nodeTaints",
                                    "tolerations",
                                    "topologyName",
                                    "levels",
                                    "nodeLabel",
                                    "conditions",
                                    "type",
                                    "reason",
                                    "message",
                                    "lastTransitionTime",
                                    "admission",
                                    "podSetAssignments",
                                    "topologyRequest",
                                    "required",
                                    "preferred",
                                    "admissionChecks",
                                    "controllerName",
                                    "parameters",
                                    "parallelism",
                                    "completions",
                                    "suspend",
                                    "value",
                                    "x"};
static const char *const texts[] = {"",
                                    "main",
                                    "1",
                                    "500m",
                                    "1Gi",
                                    "-1",
                                    "True",
                                    "False",
                                    "In",
                                    "NotIn",
                                    "Exists",
                                    "cpu",
                                    "Never",
                                    "Any",
                                    "LowerPriority",
                                    "BestEffortFIFO",
                                    "StrictFIFO",
                                    "Hold",
                                    "HoldAndDrain",
                                    "2026-01-01T00:00:00Z",
                                    "kueue.x-k8s.io/v1beta2",
                                    "a/b",
                                    "A_",
                                    "9223372036854775808",
                                    "NoSchedule",
                                    "kubernetes.io/hostname"};

const char *value_word(struct producer *p)
{
    return words[producer_below(p, sizeof words / sizeof words[0])];
}

const char *value_text(struct producer *p)
{
    return texts[producer_below(p, sizeof texts / sizeof texts[0])];
}

struct sl_json *value_build(struct producer *p, unsigned depth)
{
    uint32_t what = producer_below(p, depth == 0 ? 1 : depth > DEPTH_MAX ? 6 : 12);
    struct sl_json *v;
    switch (depth == 0 ? 6 : what) {
    case 0:
        return sl_json_new_int((int64_t)producer_byte(p) - 8);
    case 1:
        return sl_json_new_int(producer_int64(p));
    case 2:
        return sl_json_new_bool(producer_byte(p) % 2 != 0);
    case 3:
        return sl_json_new_null();
    case 4:
    case 5:
        return sl_json_new_text(value_text(p));
    case 9:
    case 10:
    case 11:
        v = sl_json_new_list();
        for (uint32_t n = producer_below(p, 4); n > 0; n--) {
            sl_json_append(v, value_build(p, depth + 1));
        }
        return v;
    default:
        v = sl_json_new_map();
        for (uint32_t n = producer_below(p, MEMBERS_MAX); n > 0; n--) {
            const char *word = value_word(p);
            sl_json_set(v, word, value_build(p, depth + 1));
        }
        return v;
    }
}

void value_check_as_json(const struct sl_json *v)
{
    struct sl_buf text = {0};
    struct sl_error e = {0};
    sl_json_print(v, &text);
    struct sl_json *back = sl_json_parse(text.data, text.len, &e);
    CHECK(back != NULL && sl_json_equal(back, v));
    sl_json_free(back);
    sl_buf_fini(&text);
}

void value_check_printed(const struct sl_json *v)
{
    struct sl_buf text = {0};
    struct sl_error e = {0};
    value_check_as_json(v);
    sl_json_print_pretty(v, &text);
    struct sl_json *back = sl_json_parse(text.data, text.len, &e);
    CHECK(back != NULL && sl_json_equal(back, v));
    sl_json_free(back);
    back = sl_json_clone(v);
    CHECK(sl_json_equal(back, v));
    sl_json_free(back);
    sl_buf_fini(&text);
}
