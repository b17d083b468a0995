/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The admission policies as a configuration needs them. That API servers take them and that jobs come to what they should:
 * tests/cluster/test_policies_made.py. */
#include "t.h"

#include "cli/common/embed.h"
#include "cli/policies/policies_live.h"
#include "cli/policies/policy_kinds.h"
#include "controllers/adapters/adapter.h"
#include <stdio.h>
#include <string.h>

static struct sl_json *made(const struct sl_job_rules *rules, unsigned minor)
{
    struct sl_json *unsuspended = NULL;
    const struct sl_policies_wish wish = {.jobs = rules, .minor = minor};
    struct sl_json *all = sl_policies_make(&wish, &unsuspended);
    sl_json_free(unsuspended);
    return all;
}

static struct sl_json *object(const struct sl_json *all, const char *kind, const char *name)
{
    for (size_t i = 0; i < sl_json_len(all); i++) {
        struct sl_json *o = sl_json_at(all, i);
        if (strcmp(sl_json_path_text(o, "kind", ""), kind) == 0 &&
            strcmp(sl_json_path_text(o, "metadata.name", ""), name) == 0) {
            return o;
        }
    }
    return NULL;
}

static void load(const char *text)
{
    struct sl_error e = {0};
    if (sl_adapters_add("test.yaml", text, strlen(text), &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
}

static void load_kind(const char *api_version, const char *kind, const char *plural,
                      const char *suspend)
{
    char text[512];
    (void)snprintf(text, sizeof text,
                   "apiVersion: %s\nkind: %s\nplural: %s\nframework: test/%s\nsuspend: %s\n"
                   "podSets:\n- {name: main, template: spec.template, count: 1}\n"
                   "ready:\n- {condition: Ready}\nactive:\n- {path: status.active, in: [0], "
                   "default: 0, not: true}\n"
                   "finished:\n- when: [{condition: Done}]\n",
                   api_version, kind, plural, plural, suspend);
    load(text);
}

static bool mentions(const struct sl_json *all, const char *what)
{
    struct sl_buf text = {0};
    sl_json_print(all, &text);
    bool yes = strstr(text.data, what) != NULL;
    sl_buf_fini(&text);
    return yes;
}

/* Everything that the files name. */
static void load_all(void)
{
#define JOB(group, kind, plural)                                                                   \
    if (strcmp(group, "batch") != 0) {                                                             \
        load_kind(group "/v1", kind, plural,                                                       \
                  strcmp(group, "kubeflow.org") == 0 ? "spec.runPolicy.suspend" : "spec.suspend"); \
    }
#include "cli/policies/policy_jobs.def"
#undef JOB
}

static int forget(void **state)
{
    (void)state;
    sl_adapters_forget();
    return 0;
}

/* But for labels, and for the namespaces, which are all here. */
static size_t assert_items(const struct sl_json *all, const char *file, const void *data,
                           size_t len)
{
    struct sl_json *documents = sl_json_parse_yaml_own(data, len, NULL);
    const struct sl_json *items = sl_json_get(sl_json_at(documents, 0), "items");
    size_t count = sl_json_len(items);
    for (size_t i = 0; i < count; i++) {
        struct sl_json *expected = sl_json_at(items, i);
        const char *name = sl_json_path_text(expected, "metadata.name", "");
        struct sl_json *o = object(all, sl_json_path_text(expected, "kind", ""), name);
        assert_non_null(o);
        sl_json_remove(sl_json_get(o, "metadata"), "labels");
        sl_json_remove(sl_json_path(expected, "spec.matchConstraints"), "namespaceSelector");
        if (!sl_json_equal(o, expected)) {
            struct sl_buf text = {0};
            sl_json_print_yaml(o, &text);
            fail_msg("%s is not as in %s:\n%s", name, file, text.data);
        }
    }
    sl_json_free(documents);
    return count;
}

/* The one file that is not in the program, since the program makes it. */
static size_t assert_has_refused(const struct sl_json *all)
{
    static char text[262144];
    FILE *file = fopen("deploy/kubernetes/policies/refused.yaml", "r");
    assert_non_null(file);
    size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_in_range(len, 1, sizeof text - 1);
    return assert_items(all, "refused.yaml", text, len);
}

static void assert_as_in_files(const struct sl_json *all)
{
    size_t count = assert_has_refused(all);
    for (const struct sl_embedded *f = sl_policies_files; f->name != NULL; f++) {
        count += assert_items(all, f->name, f->data, f->size);
    }
    assert_int_equal(count, sl_json_len(all));
    assert_in_range(count, 20, 100);
}

/* A webhook does what mutating policies would: the others stay. */
static void test_policies_beside_a_webhook_only_refuse(void **state)
{
    (void)state;
    struct sl_json *unsuspended = NULL;
    const struct sl_job_rules jobs = {0};
    const struct sl_policies_wish wish = {.jobs = &jobs, .minor = 30, .webhook = true};
    struct sl_json *all = sl_policies_make(&wish, &unsuspended);
    assert_false(mentions(all, "MutatingAdmissionPolicy"));
    assert_non_null(object(all, "ValidatingAdmissionPolicy", "sluice-jobs"));
    assert_int_equal(sl_json_len(unsuspended), 0);
    sl_json_free(all);
    sl_json_free(unsuspended);
}

/* What deploy/kubernetes installs is what its configuration and the adapters of the image need. */
static void test_policies_of_what_is_shipped_are_those_of_the_files(void **state)
{
    (void)state;
    struct sl_error e = {0};
    assert_int_equal(sl_adapters_load("deploy/adapters", &e), SL_CODE_OK);
    struct sl_json *all = made(&(struct sl_job_rules){.elastic = true}, 36);
    assert_as_in_files(all);
    sl_json_free(all);
}

static void test_policies_leave_out_kinds_that_are_not_managed(void **state)
{
    (void)state;
    struct sl_json *all = made(&(struct sl_job_rules){0}, 36);
#define JOB(group, kind, plural)                                                                   \
    if (strcmp(group, "batch") != 0 && strcmp(group, "apps") != 0) {                               \
        assert_false(mentions(all, "\"" plural "\""));                                             \
        assert_false(mentions(all, "'" group "\\/" kind "'"));                                     \
        assert_false(mentions(all, "'" group "/" kind "'"));                                       \
    }
#include "cli/policies/policy_jobs.def"
#undef JOB
    assert_true(mentions(all, "\"jobs\""));
    assert_null(object(all, "MutatingAdmissionPolicy", "sluice-suspend-kubeflow-jobs"));
    assert_null(object(all, "MutatingAdmissionPolicyBinding", "sluice-suspend-kubeflow-jobs"));
    assert_non_null(object(all, "MutatingAdmissionPolicy", "sluice-gate-pods"));
    sl_json_free(all);
}

static void test_policies_gate_no_pods_where_pods_are_not_managed(void **state)
{
    (void)state;
    const char *const frameworks[] = {"batch/job"};
    struct sl_json *all = made(
        &(struct sl_job_rules){.manage_all = true, .framework_count = 1, .frameworks = frameworks},
        36);
    assert_null(object(all, "MutatingAdmissionPolicy", "sluice-gate-pods"));
    assert_null(object(all, "ValidatingAdmissionPolicy", "sluice-pods"));
    assert_non_null(object(all, "ValidatingAdmissionPolicy", "sluice-owners"));
    const struct sl_json *queue = object(all, "MutatingAdmissionPolicy", "sluice-default-queue");
    assert_int_equal(sl_json_len(sl_json_path(queue, "spec.matchConstraints.resourceRules")), 1);
    sl_json_free(all);
}

static bool has_rule_of(const struct sl_json *all, const char *kind, const char *policy,
                        const char *plural)
{
    const struct sl_json *rules =
        sl_json_path(object(all, kind, policy), "spec.matchConstraints.resourceRules");
    bool found = false;
    for (size_t i = 0; i < sl_json_len(rules); i++) {
        const struct sl_json *rule = sl_json_at(rules, i);
        found = found || (sl_json_has_text(sl_json_get(rule, "resources"), plural) &&
                          sl_json_has_text(sl_json_get(rule, "apiGroups"), "apps"));
    }
    return found;
}

/* Whether pods come as groups of their maker or alone, they are queued; where none are, that is not let pass for it. */
static void test_policies_of_what_makes_pods(void **state)
{
    (void)state;
    static const char *const makers[] = {"deployments", "statefulsets"};
    const char *const frameworks[] = {"batch/job"};
    struct sl_job_rules rules = {0};
    struct sl_json *alone = made(&rules, 36);
    struct sl_error e = {0};
    assert_int_equal(sl_adapters_load("deploy/adapters", &e), SL_CODE_OK);
    struct sl_json *groups = made(&rules, 36);
    rules = (struct sl_job_rules){.framework_count = 1, .frameworks = frameworks};
    struct sl_json *none = made(&rules, 36);
    for (size_t i = 0; i < 2; i++) {
        assert_true(
            has_rule_of(alone, "MutatingAdmissionPolicy", "sluice-pod-templates", makers[i]));
        assert_true(has_rule_of(none, "ValidatingAdmissionPolicy", "sluice-scaled", makers[i]));
    }
    assert_null(object(alone, "MutatingAdmissionPolicy", "sluice-pod-parents"));
    assert_true(
        has_rule_of(groups, "MutatingAdmissionPolicy", "sluice-pod-parents", "statefulsets"));
    assert_null(object(none, "MutatingAdmissionPolicy", "sluice-pod-templates"));
    assert_string_equal(
        sl_json_path_text(object(groups, "ValidatingAdmissionPolicy", "sluice-scaled"),
                          "spec.variables.0.expression", ""),
        "true");
    assert_string_equal(
        sl_json_path_text(object(none, "ValidatingAdmissionPolicy", "sluice-scaled"),
                          "spec.variables.0.expression", ""),
        "false");
    assert_true(has_rule_of(alone, "ValidatingAdmissionPolicy", "sluice-replicas", "deployments"));
    sl_json_free(alone);
    sl_json_free(groups);
    sl_json_free(none);
}

static void test_policies_without_jobs_suspend_none(void **state)
{
    (void)state;
    const char *const frameworks[] = {"pod"};
    struct sl_json *all =
        made(&(struct sl_job_rules){.framework_count = 1, .frameworks = frameworks}, 36);
    assert_null(object(all, "MutatingAdmissionPolicy", "sluice-suspend-jobs"));
    assert_null(object(all, "ValidatingAdmissionPolicy", "sluice-batch-jobs"));
    assert_false(mentions(all, "batch\\/Job") || mentions(all, "batch/Job'"));
    assert_non_null(object(all, "MutatingAdmissionPolicy", "sluice-gate-pods"));
    sl_json_free(all);
}

/* Who makes them says nothing but their names: the plural is guessed. */
static void test_policies_know_owners_that_are_managed_elsewhere(void **state)
{
    (void)state;
    static const char *const externals[] = {"Flow.v1.example.com", "Flow.v2.example.com",
                                            "Policy.v1.example.org", "Pass.v1.example.org",
                                            "AppWrapper.v1beta2.workload.codeflare.dev"};
    struct sl_job_rules rules = {.external_count = 5, .externals = externals};
    struct sl_json *all = made(&rules, 36);
    static const char *const policies[][2] = {{"MutatingAdmissionPolicy", "sluice-suspend-jobs"},
                                              {"MutatingAdmissionPolicy", "sluice-default-queue"},
                                              {"MutatingAdmissionPolicy", "sluice-gate-pods"},
                                              {"ValidatingAdmissionPolicy", "sluice-marked-pods"},
                                              {"ValidatingAdmissionPolicy", "sluice-owners"}};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        struct sl_buf text = {0};
        sl_json_print(object(all, policies[i][0], policies[i][1]), &text);
        assert_non_null(strstr(text.data, "['example.com/Flow', 'example.org/Policy', "
                                          "'example.org/Pass', "
                                          "'workload.codeflare.dev/AppWrapper', 'batch/Job'"));
        sl_buf_fini(&text);
    }
    assert_true(mentions(all, "{'example.com/Flow': 'flows', 'example.org/Policy': 'policies', "
                              "'example.org/Pass': 'passes', 'workload.codeflare.dev/AppWrapper': "
                              "'appwrappers', 'batch/Job': 'jobs'"));
    sl_json_free(all);
    struct sl_error e = {0};
    assert_int_equal(sl_adapters_load("deploy/adapters", &e), SL_CODE_OK);
    rules = (struct sl_job_rules){.external_count = 1, .externals = &externals[4], .elastic = true};
    all = made(&rules, 36); /* one that is managed here is there once */
    assert_as_in_files(all);
    sl_json_free(all);
}

static void test_policies_know_kinds_of_ones_own(void **state)
{
    (void)state;
    load_kind("example.com/v1", "Simulation", "simulations", "spec.suspend");
    load_kind("example.org/v1", "Render", "renders", "spec.runPolicy.suspend");
    load_kind("example.net/v1", "Model", "models", "spec.paused");
    struct sl_json *unsuspended = NULL;
    const struct sl_job_rules rules = {0};
    struct sl_json *all =
        sl_policies_make(&(struct sl_policies_wish){.jobs = &rules, .minor = 36}, &unsuspended);
    const struct sl_json *suspend =
        sl_json_path(object(all, "MutatingAdmissionPolicy", "sluice-suspend-jobs"),
                     "spec.matchConstraints.resourceRules");
    assert_true(mentions(suspend, "simulations") && !mentions(suspend, "renders") &&
                !mentions(suspend, "models"));
    const struct sl_json *start = object(all, "ValidatingAdmissionPolicy", "sluice-orphans");
    assert_true(mentions(start, "simulations") && mentions(start, "renders") &&
                mentions(start, "models"));
    struct sl_buf text = {0};
    sl_policy_owners_fit(
        "a in ['batch/Job', 'ray.io/RayJob'] ? {'batch/Job': 'jobs'} : 'x'",
        &(struct sl_policy_kinds){
            .count = 1,
            .rules = &rules,
            .at = {{.group = "example.com", .kind = "Simulation", .plural = "simulations"}}},
        &text);
    assert_string_equal(
        text.data,
        "a in ['example.com/Simulation'] ? {'example.com/Simulation': 'simulations'} : 'x'");
    sl_buf_fini(&text);
    assert_int_equal(sl_json_len(unsuspended), 1);
    assert_string_equal(sl_json_text(sl_json_at(unsuspended, 0), ""), "Model");
    sl_json_free(unsuspended);
    sl_json_free(all);
}

/* The rules of a kind of one's own, or of one that the files name, as CEL. */
static void test_policies_refuse_what_a_file_refuses(void **state)
{
    (void)state;
#define THING                                                                                      \
    "suspend: spec.suspend\npodSets:\n- {name: main, template: spec.template}\nready:\n- "         \
    "{condition: Ready}\nactive:\n- {condition: Ready}\n"
    load("apiVersion: example.com/v1\nkind: Simulation\nplural: simulations\n" THING
         "skip:\n- {path: spec.leave, filled: true}\nrefuse:\n"
         "- {when: [{path: spec.mode, in: [A, 1, true], default: A, not: true}, {path: "
         "'m[a.b/c].0', "
         "present: false}], field: spec.mode, text: it's wrong}\n"
         "- {when: [{condition: Done}], field: status, type: Forbidden, text: done}\n"
         "- {when: [{sum: spec.parts, of: [count], above: 3}], field: spec.parts, text: CEL "
         "cannot}\n");
    load("apiVersion: example.net/v1\nkind: Left\nplural: lefts\n" THING
         "skip:\n- {sum: spec.parts, of: [count], above: 3}\n"
         "refuse:\n- {when: [{condition: Done}], field: status, text: done}\n");
    load("apiVersion: ray.io/v1\nkind: RayJob\nplural: rayjobs\n" THING
         "refuse:\n- {when: [{condition: Done}], field: status, text: done}\n");
    struct sl_json *all = made(&(struct sl_job_rules){0}, 36);
    const char *name = "sluice-refused-simulations.example.com";
    const struct sl_json *policy = object(all, "ValidatingAdmissionPolicy", name);
    assert_non_null(policy);
    assert_non_null(object(all, "ValidatingAdmissionPolicyBinding", name));
    assert_non_null(object(all, "ValidatingAdmissionPolicy", "sluice-refused-rayjobs.ray.io"));
    assert_false(mentions(all, "sluice-refused-lefts") || mentions(all, "CEL cannot"));
    const struct sl_json *validations = sl_json_path(policy, "spec.validations");
    assert_int_equal(sl_json_len(validations), 2);
#define FIRST                                                                                      \
    "!(dyn(o)[?'spec'][?'mode'].orValue(dyn(null)) == null ? true : "                              \
    "dyn(o)[?'spec'][?'mode'].orValue(dyn(null)) in [dyn('A'), dyn(1), dyn(true)]) && "            \
    "(dyn(o)[?'m'][?'a.b/c'][?0].orValue(dyn(null)) == null)"
    assert_string_equal(
        sl_json_path_text(validations, "0.expression", ""),
        "![object].exists(o, " FIRST ") || (oldObject != null && [oldObject].exists(o, "
        "o.metadata.?labels[?'kueue.x-k8s.io/queue-name'].orValue('') != '' && " FIRST "))");
    assert_string_equal(sl_json_path_text(validations, "0.message", ""), "spec.mode: it's wrong");
    assert_string_equal(sl_json_path_text(validations, "1.message", ""), "status: Forbidden: done");
    assert_true(mentions(sl_json_path(policy, "spec.matchConditions"), "not-left-alone-0"));
    sl_json_free(all);
}

static void test_policies_for_all_jobs_do_not_ask_for_a_queue(void **state)
{
    (void)state;
    load_all();
    struct sl_json *all = made(&(struct sl_job_rules){.manage_all = true}, 36);
    const struct sl_json *variables = sl_json_path(
        object(all, "MutatingAdmissionPolicy", "sluice-suspend-jobs"), "spec.variables");
    assert_string_equal(
        sl_json_path_text(sl_json_find_by(variables, "name", "queue"), "expression", ""), "'any'");
    variables = sl_json_path(object(all, "MutatingAdmissionPolicy", "sluice-default-priority"),
                             "spec.variables");
    assert_string_not_equal(
        sl_json_path_text(sl_json_find_by(variables, "name", "queue"), "expression", ""), "'any'");
    sl_json_free(all);
}

/* With the feature gate the annotation counts, in Jobs and Workloads. */
static void test_policies_warn_of_elastic_jobs_where_none_can_be(void **state)
{
    (void)state;
    load_all();
    for (int on = 0; on < 2; on++) {
        struct sl_json *all = made(&(struct sl_job_rules){.elastic = on == 1}, 36);
        const struct sl_json *policy =
            object(all, "ValidatingAdmissionPolicy", "sluice-idle-fields");
        const struct sl_json *variable =
            sl_json_find_by(sl_json_path(policy, "spec.variables"), "name", "elastic");
        assert_string_equal(sl_json_path_text(variable, "expression", ""), on ? "true" : "false");
        sl_json_free(all);
    }
}

/* Each warning goes with its gate. */
static void test_policies_do_not_warn_of_what_a_gate_lets_count(void **state)
{
    (void)state;
    static const char *const fields[] = {
        "spec.concurrentAdmissionPolicy", "workload-allowed-resource-flavors",
        "spec.preemptionGates", "priority-boost", "safe-to-forcefully-delete"};
    static const struct {
        struct sl_idle_modes gates;
        const char *heeded; /* which of them */
    } rows[] = {{{.elastic = true}, "....."},
                {{.concurrent_admission = true}, "++..."},
                {{.preemption_gates = true}, "..+.."},
                {{.priority_boost = true}, "...+."},
                {{.failure_recovery = true}, "....+"}};
    load_all();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sl_json *all =
            made(&(struct sl_job_rules){.elastic = true, .heeded = rows[i].gates}, 36);
        const struct sl_json *list = sl_json_path(
            object(all, "ValidatingAdmissionPolicy", "sluice-idle-fields"), "spec.validations");
        for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++) {
            assert_int_equal(mentions(list, fields[k]), rows[i].heeded[k] == '.');
        }
        assert_true(mentions(list, "elastic-job has no effect"));
        sl_json_free(all);
    }
}

static void test_policies_are_for_the_namespaces_of_the_configuration(void **state)
{
    (void)state;
    struct sl_json *selector = sl_json_parse("{\"matchLabels\":{\"team\":\"a\"}}", 27, NULL);
    struct sl_json *unsuspended = NULL;
    const struct sl_job_rules rules = {0};
    struct sl_json *all = sl_policies_make(
        &(struct sl_policies_wish){.jobs = &rules, .namespaces = selector, .minor = 36},
        &unsuspended);
    static const char *const names[] = {"sluice-scaled", "sluice-train-jobs", "sluice-claims"};
    assert_true(sl_json_equal(
        selector, sl_json_path(object(all, "MutatingAdmissionPolicy", "sluice-gate-pods"),
                               "spec.matchConstraints.namespaceSelector")));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_true(
            sl_json_equal(selector, sl_json_path(object(all, "ValidatingAdmissionPolicy", names[i]),
                                                 "spec.matchConstraints.namespaceSelector")));
    }
    assert_false(mentions(all, "\"NotIn\""));
    sl_json_free(unsuspended);
    sl_json_free(selector);
    sl_json_free(all);
}

static void test_policies_are_of_the_version_that_is_served(void **state)
{
    (void)state;
    static const struct {
        unsigned minor;
        const char *version; /* NULL: none */
    } rows[] = {{30, NULL},      {31, NULL},      {32, "v1alpha1"}, {33, "v1alpha1"},
                {34, "v1beta1"}, {35, "v1beta1"}, {36, "v1"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sl_json *all = made(&(struct sl_job_rules){0}, rows[i].minor);
        char wanted[64];
        (void)snprintf(wanted, sizeof wanted, "admissionregistration.k8s.io/%s",
                       rows[i].version == NULL ? "" : rows[i].version);
        const struct sl_json *policy =
            object(all, "MutatingAdmissionPolicy", "sluice-suspend-jobs");
        const struct sl_json *binding =
            object(all, "MutatingAdmissionPolicyBinding", "sluice-suspend-jobs");
        assert_true((policy == NULL) == (rows[i].version == NULL) &&
                    (binding == NULL) == (policy == NULL));
        if (policy != NULL) {
            assert_string_equal(sl_json_path_text(policy, "apiVersion", ""), wanted);
            assert_string_equal(sl_json_path_text(binding, "apiVersion", ""), wanted);
        }
        assert_string_equal(
            sl_json_path_text(object(all, "ValidatingAdmissionPolicy", "sluice-jobs"), "apiVersion",
                              ""),
            "admissionregistration.k8s.io/v1");
        sl_json_free(all);
    }
}

static void test_policies_say_what_none_of_them_suspends(void **state)
{
    (void)state;
    struct sl_json *unsuspended = NULL;
    const struct sl_job_rules rules = {0};
    struct sl_json *all =
        sl_policies_make(&(struct sl_policies_wish){.jobs = &rules, .minor = 31}, &unsuspended);
    assert_int_equal(sl_json_len(unsuspended), 1);
    assert_string_equal(sl_json_text(sl_json_at(unsuspended, 0), ""), "Job");
    sl_json_free(unsuspended);
    sl_json_free(all);
}

static void test_policies_differ_by_what_is_missing_changed_or_too_much(void **state)
{
    (void)state;
    struct sl_json *wanted = made(&(struct sl_job_rules){0}, 36);
    struct sl_json *live = sl_json_clone(wanted);
    struct sl_json *names = sl_policies_differing(wanted, live);
    assert_int_equal(sl_json_len(names), 0);
    sl_json_free(names);

    sl_json_set_text(sl_json_path_make(object(live, "ValidatingAdmissionPolicy", "sluice-jobs"),
                                       "spec.matchConstraints"),
                     "matchPolicy", "Equivalent"); /* a default */
    struct sl_json *other = sl_json_clone(object(live, "ValidatingAdmissionPolicy", "sluice-jobs"));
    sl_json_set_text(sl_json_get(other, "metadata"), "name", "of-somebody-else");
    sl_json_append(live, other);
    names = sl_policies_differing(wanted, live);
    assert_int_equal(sl_json_len(names), 0);
    sl_json_free(names);

    sl_json_append(sl_json_path(object(live, "ValidatingAdmissionPolicy", "sluice-start"),
                                "spec.matchConditions"),
                   sl_json_new_map());
    sl_json_set_text(object(live, "ValidatingAdmissionPolicy", "sluice-orphans"), "spec", "");
    sl_json_set_text(
        sl_json_get(object(live, "MutatingAdmissionPolicy", "sluice-gate-pods"), "metadata"),
        "name", "sluice-of-yesterday");
    names = sl_policies_differing(wanted, live);
    assert_int_equal(sl_json_len(names), 4);
    assert_true(sl_json_has_text(names, "sluice-start") &&
                sl_json_has_text(names, "sluice-orphans"));
    assert_true(sl_json_has_text(names, "sluice-gate-pods") &&
                sl_json_has_text(names, "sluice-of-yesterday"));
    sl_json_free(names);
    sl_json_free(live);
    sl_json_free(wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_policies_beside_a_webhook_only_refuse, forget),
        cmocka_unit_test_teardown(test_policies_of_what_is_shipped_are_those_of_the_files, forget),
        cmocka_unit_test_teardown(test_policies_leave_out_kinds_that_are_not_managed, forget),
        cmocka_unit_test_teardown(test_policies_gate_no_pods_where_pods_are_not_managed, forget),
        cmocka_unit_test_teardown(test_policies_without_jobs_suspend_none, forget),
        cmocka_unit_test_teardown(test_policies_of_what_makes_pods, forget),
        cmocka_unit_test_teardown(test_policies_know_owners_that_are_managed_elsewhere, forget),
        cmocka_unit_test_teardown(test_policies_know_kinds_of_ones_own, forget),
        cmocka_unit_test_teardown(test_policies_refuse_what_a_file_refuses, forget),
        cmocka_unit_test_teardown(test_policies_for_all_jobs_do_not_ask_for_a_queue, forget),
        cmocka_unit_test_teardown(test_policies_warn_of_elastic_jobs_where_none_can_be, forget),
        cmocka_unit_test_teardown(test_policies_do_not_warn_of_what_a_gate_lets_count, forget),
        cmocka_unit_test_teardown(test_policies_are_for_the_namespaces_of_the_configuration,
                                  forget),
        cmocka_unit_test_teardown(test_policies_are_of_the_version_that_is_served, forget),
        cmocka_unit_test_teardown(test_policies_differ_by_what_is_missing_changed_or_too_much,
                                  forget),
        cmocka_unit_test_teardown(test_policies_say_what_none_of_them_suspends, forget)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
