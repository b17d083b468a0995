/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What differs between the versions besides whole admissions of topologies: names, and two fields that became one. */
#include "api/versions/reshape.h"

#include <stdio.h>
#include <string.h>

#define STRATEGY "admissionChecksStrategy"
#define CHECKS "admissionChecks"

bool sl_reshape_dropped(const struct sl_json *from, struct sl_json *to, struct sl_reshaping *r)
{
    (void)from;
    (void)to;
    (void)r;
    return true;
}

static void carry(const struct sl_json *from, const char *name, struct sl_json *to, const char *as)
{
    if (sl_json_has(from, name)) {
        sl_json_set(to, as, sl_json_clone(sl_json_get(from, name)));
    }
}

bool sl_reshape_renamed(const struct sl_json *from, struct sl_json *to, struct sl_reshaping *r)
{
    /* Of admissionChecks and admissionChecksStrategy only the second is in v1beta2. */
    const char *as = r->to_names[1] != NULL ? r->to_names[1] : r->to_names[0];
    carry(from, r->from_names[0], to, as);
    return true;
}

static bool refuse(struct sl_reshaping *r, const char *member, const char *why)
{
    char field[160];
    (void)snprintf(field, sizeof field, "%.100s.%.50s", r->path, member);
    sl_error_cause(r->e, "FieldValueInvalid", field, "%s", why);
    return false;
}

static struct sl_json *rule_new(const char *check)
{
    struct sl_json *rule = sl_json_new_map();
    sl_json_set_text(rule, "name", check);
    return rule;
}

/* Kueue takes the list where both are said. */
bool sl_reshape_checks_to_strategy(const struct sl_json *from, struct sl_json *to,
                                   struct sl_reshaping *r)
{
    const struct sl_json *checks = sl_json_get(from, CHECKS);
    if (sl_json_type(checks) != SL_JSON_LIST && checks != NULL) {
        return refuse(r, CHECKS, "must be a list of names");
    }
    if (sl_json_len(checks) == 0) {
        carry(from, STRATEGY, to, STRATEGY);
        return true;
    }
    struct sl_json *rules = sl_json_new_list();
    bool fits = true;
    for (size_t i = 0; i < sl_json_len(checks); i++) {
        const struct sl_json *check = sl_json_at(checks, i);
        if (sl_json_type(check) != SL_JSON_TEXT) {
            char member[48];
            (void)snprintf(member, sizeof member, CHECKS "[%zu]", i);
            fits = refuse(r, member, "must be the name of an AdmissionCheck");
        }
        sl_json_append(rules, rule_new(sl_json_text(check, "")));
    }
    struct sl_json *strategy = sl_json_new_map();
    sl_json_set(strategy, CHECKS, rules);
    sl_json_set(to, STRATEGY, strategy);
    return fits;
}

/* v1beta1 has two older words for MayStopSearch. */
bool sl_reshape_fungibility(const struct sl_json *from, struct sl_json *to, struct sl_reshaping *r)
{
    const char *name = r->from_names[0];
    const char *older = strcmp(name, "whenCanBorrow") == 0 ? "Borrow" : "Preempt";
    carry(from, name, to, name);
    if (strcmp(sl_json_text(sl_json_get(from, name), ""), older) == 0) {
        sl_json_set_text(to, name, "MayStopSearch");
    }
    return true;
}

static const struct {
    const char *source, *group, *kind;
} classes[] = {{"kueue.x-k8s.io/workloadpriorityclass", "kueue.x-k8s.io", "WorkloadPriorityClass"},
               {"scheduling.k8s.io/priorityclass", "scheduling.k8s.io", "PriorityClass"}};
#define CLASSES (sizeof classes / sizeof classes[0])

/* Without a source that is known the class says nothing. */
bool sl_reshape_class_to_ref(const struct sl_json *from, struct sl_json *to, struct sl_reshaping *r)
{
    const char *source = sl_json_text(sl_json_get(from, "priorityClassSource"), "");
    (void)r;
    for (size_t i = 0; i < CLASSES; i++) {
        if (strcmp(source, classes[i].source) == 0) {
            struct sl_json *ref = sl_json_new_map();
            sl_json_set_text(ref, "group", classes[i].group);
            sl_json_set_text(ref, "kind", classes[i].kind);
            carry(from, "priorityClassName", ref, "name");
            sl_json_set(to, "priorityClassRef", ref);
        }
    }
    return true;
}

bool sl_reshape_ref_to_class(const struct sl_json *from, struct sl_json *to, struct sl_reshaping *r)
{
    const struct sl_json *ref = sl_json_get(from, "priorityClassRef");
    (void)r;
    for (size_t i = 0; i < CLASSES; i++) {
        if (strcmp(sl_json_text(sl_json_get(ref, "group"), ""), classes[i].group) == 0 &&
            strcmp(sl_json_text(sl_json_get(ref, "kind"), ""), classes[i].kind) == 0) {
            carry(ref, "name", to, "priorityClassName");
            sl_json_set_text(to, "priorityClassSource", classes[i].source);
        }
    }
    return true;
}
