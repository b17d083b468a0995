/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The tables of the configuration: every row is reached by its path, checked by its type, warned about when it
 * is to be, and described in docs/configuration.md. And the feature gates. */
#include "config_world.h"

/* The row of the longest path that `path` stands in, itself included, which has `missing`. */
static const struct sl_config_field *missing_of(const char *path)
{
    size_t count;
    const struct sl_config_field *rows = sl_config_fields(&count);
    const struct sl_config_field *found = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(rows[i].path);
        if (rows[i].missing != NULL && strncmp(rows[i].path, path, len) == 0 &&
            strchr(".[{", path[len]) != NULL) {
            found = found == NULL ? &rows[i] : found;
        }
    }
    return found;
}

/* {"a": [{"b": value}]} for the path a[].b; takes the value. `shown` is the path as it is reported. */
static struct sl_json *nest(const char *path, struct sl_json *value, struct sl_buf *shown)
{
    struct sl_json *inner = value;
    size_t len = strcspn(path, ".[{");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)len, path);
    bool list = path[len] == '[';
    bool map = path[len] == '{';
    sl_buf_print(shown, "%s%s%s", shown->len > 0 ? "." : "", name, list ? "[0]" : map ? "[k]" : "");
    size_t next = len + (list || map ? 2 : 0);
    if (path[next] == '.') {
        inner = nest(path + next + 1, value, shown);
    }
    struct sl_json *holder = inner;
    if (list) {
        holder = sl_json_new_list();
        sl_json_append(holder, inner);
    } else if (map) {
        holder = sl_json_new_map();
        sl_json_set(holder, "k", inner);
    }
    struct sl_json *object = sl_json_new_map();
    sl_json_set(object, name, holder);
    return object;
}

/* A version that has the field. */
static const char *version_with(const char *path)
{
    const struct sl_config new = {.old = false};
    return sl_config_other_version(&new, path) == NULL ? "config.kueue.x-k8s.io/v1beta2"
                                                       : "config.kueue.x-k8s.io/v1beta1";
}

static struct sl_config *load_value(const char *path, struct sl_json *value, struct sl_buf *shown)
{
    struct sl_json *document = nest(path, value, shown);
    if (strcmp(path, "apiVersion") != 0) {
        sl_json_set_text(document, "apiVersion", version_with(path));
    }
    if (strcmp(path, "kind") != 0) {
        sl_json_set_text(document, "kind", "Configuration");
    }
    struct sl_buf text = {0};
    sl_json_print(document, &text);
    struct sl_config *c = load(text.data);
    sl_buf_fini(&text);
    sl_json_free(document);
    return c;
}

static struct sl_json *value_of_other_type(enum sl_config_type type)
{
    bool text = type == SL_CONFIG_TEXT || type == SL_CONFIG_DURATION;
    return text                         ? sl_json_new_int(5)
           : type == SL_CONFIG_QUANTITY ? sl_json_new_list()
                                        : sl_json_new_text("x");
}

static void test_config_table_every_row_refuses_another_type(void **state)
{
    (void)state;
    size_t count;
    const struct sl_config_field *rows = sl_config_fields(&count);
    for (size_t i = 0; i < count; i++) {
        struct sl_buf shown = {0};
        struct sl_config *c = load_value(rows[i].path, value_of_other_type(rows[i].type), &shown);
        sl_buf_text(&shown, ": must be ");
        assert_items(c->errors, shown.data);
        sl_buf_fini(&shown);
        sl_config_free(c);
    }
}

static struct sl_json *value_of_type(const struct sl_config_field *row)
{
    char first[64];
    switch (row->type) {
    case SL_CONFIG_BOOL:
        return sl_json_new_bool(row->here == NULL || strcmp(row->here, "true") != 0);
    case SL_CONFIG_INT32:
    case SL_CONFIG_INT64:
    case SL_CONFIG_NUMBER:
    case SL_CONFIG_QUANTITY:
        return sl_json_new_int(2);
    case SL_CONFIG_DURATION:
        return sl_json_new_text("2s");
    case SL_CONFIG_TEXT:
        snprintf(first, sizeof first, "%.*s",
                 (int)strcspn(row->values == NULL ? "" : row->values, "|"),
                 row->values == NULL ? "" : row->values);
        return sl_json_new_text(row->values == NULL ? "a" : first);
    case SL_CONFIG_LIST:
    case SL_CONFIG_MAP:
    case SL_CONFIG_OBJECT:
        break;
    }
    return NULL;
}

/* Whatever else a document with only this field lacks: this field itself fits, and is warned about if it is to be. */
static void test_config_table_every_row_takes_its_type_and_warns_when_it_is_missing(void **state)
{
    (void)state;
    size_t count;
    const struct sl_config_field *rows = sl_config_fields(&count);
    for (size_t i = 0; i < count; i++) {
        struct sl_json *value = value_of_type(&rows[i]);
        if (value == NULL) {
            continue;
        }
        struct sl_buf shown = {0};
        struct sl_config *c = load_value(rows[i].path, value, &shown);
        struct sl_buf lines = {0};
        print_items(c->errors, &lines);
        sl_buf_text(&shown, ": must be ");
        assert_null(strstr(lines.data, shown.data));
        assert_null(strstr(lines.data, "unknown field"));
        const struct sl_config_field *missing = missing_of(rows[i].path);
        bool is_here = strcmp(rows[i].path, "integrations.frameworks[]") == 0;
        bool gated = strncmp(rows[i].path, "metrics.customLabels", 20) == 0; /* and it is off */
        assert_int_equal(sl_json_len(c->warnings), (missing != NULL && !is_here) || gated ? 1 : 0);
        if (missing != NULL && !is_here) {
            assert_items(c->warnings, missing->missing);
        }
        sl_buf_fini(&lines);
        sl_buf_fini(&shown);
        sl_config_free(c);
    }
}

static void test_config_table_values_that_are_so_here_need_no_warning(void **state)
{
    (void)state;
    struct sl_config *c =
        load_body("manageJobsWithoutQueueName: false\nleaderElection: {leaderElect: false}\n"
                  "pprofBindAddress: \"\"\nintegrations: {frameworks: [batch/job], "
                  "externalFrameworks: []}\nhealth: {livenessEndpointName: healthz}");
    assert_none(c->errors);
    assert_none(c->warnings);
    sl_config_free(c);
}

static void test_config_table_each_framework_that_is_missing_is_named(void **state)
{
    (void)state;
    struct sl_config *c = load_body(
        "integrations: {frameworks: [batch/job, statefulset, ray.io/rayjob, deployment]}");
    assert_none(c->errors);
    assert_int_equal(sl_json_len(c->warnings), 2);
    assert_items(c->warnings, "integrations.frameworks[1]: ");
    assert_items(c->warnings, "integrations.frameworks[2]: ");
    sl_config_free(c);
}

static void test_config_table_null_is_as_good_as_absent(void **state)
{
    (void)state;
    struct sl_config *c = load_body("fairSharing:\nwaitForPodsReady: {requeuingStrategy: null}\n"
                                    "featureGates: {PartialAdmission: null}\nresources: "
                                    "{transformations: [null], excludeResourcePrefixes: [null]}");
    assert_none(c->errors);
    assert_false(c->settings.policy.fair_sharing);
    assert_true(c->settings.policy.partial_admission);
    assert_int_equal(c->settings.transformation_count, 0);
    assert_int_equal(c->settings.excluded_prefix_count, 0);
    sl_config_free(c);
}

/* --- feature gates --- */

static bool *target_of(struct sl_config *c, const struct sl_config_gate *gate)
{
    return (bool *)(void *)((char *)c + gate->target);
}

/* A gate with what it needs, or without what needs it. */
static void add_gate(struct sl_buf *body, const char *name, bool on)
{
    size_t count;
    const struct sl_config_gate_need *needs = sl_config_gate_needs(&count);
    char start[80];
    (void)snprintf(start, sizeof start, "%.60s:", name);
    if (strstr(body->data, start) != NULL) {
        return;
    }
    sl_buf_print(body, "%s %s, ", start, on ? "true" : "false");
    for (size_t i = 0; i < count; i++) {
        if (strcmp(on ? needs[i].gate : needs[i].other, name) == 0) {
            add_gate(body, on ? needs[i].other : needs[i].gate, on);
        }
    }
}

static unsigned warnings_of(const struct sl_config *c, const char *gate)
{
    unsigned count = 0;
    char field[100];
    (void)snprintf(field, sizeof field, "featureGates[%.60s]", gate);
    for (size_t i = 0; i < sl_json_len(c->warnings); i++) {
        count += strcmp(sl_json_path_text(sl_json_at(c->warnings, i), "field", ""), field) == 0;
    }
    return count;
}

static void test_config_gates_are_all_known_with_both_values(void **state)
{
    (void)state;
    size_t count;
    const struct sl_config_gate *rows = sl_config_gate_rows(&count);
    assert_int_equal(count, 81); /* Kueue's eighty, and one of Sluice's own */
    for (size_t i = 0; i < 2 * count; i++) {
        const struct sl_config_gate *gate = &rows[i / 2];
        bool on = i % 2 == 1;
        struct sl_buf body = {0};
        sl_buf_text(&body, "featureGates: {");
        add_gate(&body, gate->name, on);
        sl_buf_text(&body, "}");
        struct sl_config *c = load_body(body.data);
        sl_buf_fini(&body);
        if (gate->locked && on != gate->preset) {
            assert_items(c->errors, "is locked to true");
        } else {
            assert_none(c->errors);
        }
        if (gate->way == SL_GATE_BOTH) {
            assert_int_equal(*target_of(c, gate), on != gate->turned);
        }
        bool other = gate->way != SL_GATE_BOTH && on != (gate->way == SL_GATE_ON);
        assert_int_equal(warnings_of(c, gate->name), other && !gate->locked ? 1 : 0);
        sl_config_free(c);
    }
}

static const struct sl_config_gate *row_of(const char *name)
{
    size_t count;
    const struct sl_config_gate *rows = sl_config_gate_rows(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    fail_msg("%s is not in the table", name);
    return NULL;
}

/* By the facts that are taken from Kueue. */
static void test_config_gates_are_those_of_kueue(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool preset;
        enum sl_config_gate_stage stage;
        bool locked;
    } facts[] = {
#define KUEUE_GATE(name, preset, stage, locked) {#name, preset, SL_GATE_##stage, locked},
#include "kueue_gates.def"
#undef KUEUE_GATE
    };
    assert_int_equal(sizeof facts / sizeof facts[0], 80);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const struct sl_config_gate *row = row_of(facts[i].name);
        if (row->preset != facts[i].preset || row->stage != facts[i].stage ||
            row->locked != facts[i].locked) {
            fail_msg("%s is not as in Kueue", facts[i].name);
        }
    }
}

static void test_config_gates_need_each_other_as_in_kueue(void **state)
{
    (void)state;
    static const char *const facts[][2] = {
#define KUEUE_NEEDS(gate, other) {#gate, #other},
#include "kueue_gates.def"
#undef KUEUE_NEEDS
    };
    size_t count;
    (void)sl_config_gate_needs(&count);
    assert_int_equal(count, sizeof facts / sizeof facts[0]);
    for (size_t i = 0; i < count; i++) {
        struct sl_buf words = {0};
        sl_buf_print(&words, "%s=true,%s=false", facts[i][0], facts[i][1]);
        struct sl_config *c = sl_config_load(NULL, words.data, false);
        sl_buf_reset(&words);
        sl_buf_print(&words,
                     "--feature-gates: %s is enabled, but depends on features that are disabled: "
                     "[%s]",
                     facts[i][0], facts[i][1]);
        assert_items(c->errors, words.data);
        sl_buf_fini(&words);
        sl_config_free(c);
    }
}

static void test_config_gates_of_a_stage_are_turned_together(void **state)
{
    (void)state;
    struct sl_config *c = sl_config_load(NULL, "AllAlpha=true,TASBalancedPlacement=false", false);
    assert_none(c->errors);
    assert_true(c->settings.priority_boost);
    assert_false(c->settings.policy.balanced_placement); /* it is named itself */
    assert_items(c->warnings,
                 "--feature-gates[MultiKueueClusterProfile]: this feature is not supported yet");
    sl_config_free(c);
    c = sl_config_load(NULL, "AllBeta=false", false);
    assert_none(c->errors);
    assert_false(c->settings.policy.topology);
    assert_false(c->settings.heed_gates);
    assert_true(c->jobs.no_queue_labels);
    assert_true(c->settings.policy.replace_several); /* Sluice's own */
    sl_config_free(c);
}

static void test_config_gates_absent_leave_kueues_defaults(void **state)
{
    (void)state;
    size_t count;
    const struct sl_config_gate *rows = sl_config_gate_rows(&count);
    struct sl_config *c = sl_config_load(NULL, NULL, false);
    /* The gate turns these on only together with a field; the gate itself has Kueue's default. */
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(sl_config_gate(c, rows[i].name), rows[i].preset);
        if (rows[i].way == SL_GATE_BOTH && !rows[i].unlike) {
            assert_int_equal(*target_of(c, &rows[i]), rows[i].preset != rows[i].turned);
        }
    }
    assert_true(c->settings.policy.prioritize_preemptors); /* unlike Kueue */
    assert_true(c->jobs.elastic);
    sl_config_free(c);
}

/* Of what only a gate lets count nobody is warned where it is on. */
static void test_config_gates_that_are_on_let_fields_count(void **state)
{
    (void)state;
    struct sl_config *c = sl_config_load(NULL, NULL, false);
    assert_true(c->jobs.heeded.elastic);
    assert_false(c->jobs.heeded.concurrent_admission || c->jobs.heeded.preemption_gates ||
                 c->jobs.heeded.priority_boost || c->jobs.heeded.failure_recovery);
    sl_config_free(c);
    c = sl_config_load(NULL, "ConcurrentAdmission=true,PriorityBoost=true", false);
    assert_true(c->jobs.heeded.concurrent_admission && c->jobs.heeded.preemption_gates &&
                c->jobs.heeded.priority_boost);
    assert_false(c->jobs.heeded.failure_recovery);
    sl_config_free(c);
    c = sl_config_load(NULL, "FailureRecoveryPolicy=true,ElasticJobsViaWorkloadSlices=false",
                       false);
    assert_true(c->jobs.heeded.failure_recovery);
    assert_false(c->jobs.heeded.elastic || c->jobs.heeded.preemption_gates);
    sl_config_free(c);
}

static void test_config_gates_that_are_unknown_or_unfit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *body, *complaint;
    } cases[] = {
        {"featureGates: {partialAdmission: true}",
         "featureGates[partialAdmission]: unknown feature gate"},
        {"featureGates: {PartialAdmission: \"true\"}",
         "featureGates[PartialAdmission]: must be true or false, not \"true\""},
        {"featureGates: [PartialAdmission]", "featureGates: must be a map, not a list"},
        {"featureGates: {TLSOptions: false}", "featureGates[TLSOptions]: is locked to true"},
        {"featureGates: {FlavorFungibility: false}",
         "featureGates: FlavorFungibilityPreserveScanProgress is enabled, but depends on features "
         "that are disabled: [FlavorFungibility]"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_config *c = load_body(cases[i].body);
        assert_int_equal(sl_json_len(c->errors), 1);
        assert_items(c->errors, cases[i].complaint);
        sl_config_free(c);
    }
}

static void test_config_gates_warn_when_sluice_does_otherwise(void **state)
{
    (void)state;
    struct sl_config *c = load_body("featureGates: {MultiKueueClusterProfile: true, "
                                    "VisibilityOnDemand: false, MultiKueue: false}");
    assert_none(c->errors);
    assert_int_equal(sl_json_len(c->warnings), 2);
    assert_items(c->warnings,
                 "featureGates[MultiKueueClusterProfile]: this feature is not supported yet");
    assert_items(c->warnings,
                 "featureGates[VisibilityOnDemand]: this feature cannot be turned off");
    sl_config_free(c);
}

static void test_config_gates_come_from_the_command_line_as_well(void **state)
{
    (void)state;
    struct sl_config *c = sl_config_load(NULL,
                                         "PartialAdmission=false,,PrioritizePreemptorWorkloads=T,"
                                         "DisableWaitForPodsReady=1",
                                         false);
    assert_none(c->errors);
    assert_false(c->settings.policy.partial_admission);
    assert_true(c->settings.policy.prioritize_preemptors);
    assert_false(c->settings.wait_for_pods_ready);
    sl_config_free(c);
}

static void test_config_gates_of_the_command_line_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *words, *complaint;
    } cases[] = {
        {"PartialAdmission", "--feature-gates: \"PartialAdmission\" needs =true or =false"},
        {"PartialAdmission=yes", "--feature-gates: \"PartialAdmission\" needs"},
        {"=true", "unknown feature gate"},
        {"Partial=true", "--feature-gates[Partial]: unknown feature gate"},
        {"TLSOptions=0", "--feature-gates[TLSOptions]: is locked to true"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_config *c = sl_config_load(NULL, cases[i].words, false);
        assert_int_equal(sl_json_len(c->errors), 1);
        assert_items(c->errors, cases[i].complaint);
        sl_config_free(c);
    }
    struct sl_config *c =
        load_with_gates(HEAD "featureGates: {MultiKueue: false}\n", "MultiKueue=false");
    assert_items(c->errors, "featureGates: cannot be given together with --feature-gates");
    sl_config_free(c);
}

static void test_config_gates_of_a_feature_need_its_field_too(void **state)
{
    (void)state;
    struct sl_config *c = load_body("admissionFairSharing: {usageHalfLifeTime: 1h}\n"
                                    "featureGates: {AdmissionFairSharing: false}");
    assert_none(c->errors);
    assert_false(c->settings.policy.admission_fair_sharing);
    sl_config_free(c);
    c = load_body("waitForPodsReady: {blockAdmission: true}\n"
                  "featureGates: {DisableWaitForPodsReady: true}");
    assert_false(c->settings.policy.block_until_ready);
    sl_config_free(c);
}

/* --- docs/configuration.md --- */

static void read_text(const char *file, struct sl_buf *out)
{
    FILE *f = fopen(file, "rb");
    assert_non_null(f);
    char chunk[4096];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) {
        sl_buf_add(out, chunk, n);
    }
    fclose(f);
}

static void print_field(const struct sl_config_field *row, struct sl_buf *out)
{
    static const char *const types[] = {
        [SL_CONFIG_LIST] = "list",         [SL_CONFIG_MAP] = "map",
        [SL_CONFIG_OBJECT] = "object",     [SL_CONFIG_TEXT] = "text",
        [SL_CONFIG_BOOL] = "true, false",  [SL_CONFIG_INT32] = "integer",
        [SL_CONFIG_INT64] = "integer",     [SL_CONFIG_NUMBER] = "number",
        [SL_CONFIG_QUANTITY] = "quantity", [SL_CONFIG_DURATION] = "duration"};
    const struct sl_config_field *missing = missing_of(row->path);
    sl_buf_print(out, "| `%s` | %s | ", row->path, types[row->type]);
    if (missing == NULL) {
        sl_buf_text(out, "yes |\n");
    } else if (missing->cluster) {
        sl_buf_print(out, "on a cluster only: %s |\n", missing->missing);
    } else if (missing->here != NULL) {
        sl_buf_print(out, "only `%s`: %s |\n", missing->here, missing->missing);
    } else {
        sl_buf_print(out, "no: %s |\n", missing->missing);
    }
}

static void assert_described(const char *text, const char *line)
{
    if (strstr(text, line) == NULL) {
        fail_msg("docs/configuration.md lacks this line: %s", line);
    }
}

static void test_config_documentation_has_every_field_and_gate(void **state)
{
    (void)state;
    static const char *const ways[] = {
        [SL_GATE_OFF] = "always off", [SL_GATE_ON] = "always on", [SL_GATE_BOTH] = "yes"};
    struct sl_buf text = {0};
    read_text("docs/configuration.md", &text);
    size_t count;
    const struct sl_config_field *rows = sl_config_fields(&count);
    struct sl_buf line = {0};
    for (size_t i = 0; i < count; i++) {
        sl_buf_reset(&line);
        print_field(&rows[i], &line);
        assert_described(text.data, line.data);
    }
    const struct sl_config_gate *gates = sl_config_gate_rows(&count);
    for (size_t i = 0; i < count; i++) {
        sl_buf_reset(&line);
        sl_buf_print(&line, "| `%s` | %s | %s |\n", gates[i].name, gates[i].preset ? "on" : "off",
                     ways[gates[i].way]);
        assert_described(text.data, line.data);
    }
    sl_buf_fini(&line);
    sl_buf_fini(&text);
}

static void test_config_example_is_accepted(void **state)
{
    (void)state;
    struct sl_config *c = sl_config_load("deploy/examples/config/kueue-config.yaml", NULL, false);
    assert_none(c->errors);
    assert_none(c->warnings);
    assert_true(c->settings.policy.fair_sharing);
    sl_config_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_table_every_row_refuses_another_type),
        cmocka_unit_test(test_config_table_every_row_takes_its_type_and_warns_when_it_is_missing),
        cmocka_unit_test(test_config_table_values_that_are_so_here_need_no_warning),
        cmocka_unit_test(test_config_table_each_framework_that_is_missing_is_named),
        cmocka_unit_test(test_config_table_null_is_as_good_as_absent),
        cmocka_unit_test(test_config_gates_are_all_known_with_both_values),
        cmocka_unit_test(test_config_gates_are_those_of_kueue),
        cmocka_unit_test(test_config_gates_need_each_other_as_in_kueue),
        cmocka_unit_test(test_config_gates_of_a_stage_are_turned_together),
        cmocka_unit_test(test_config_gates_absent_leave_kueues_defaults),
        cmocka_unit_test(test_config_gates_that_are_on_let_fields_count),
        cmocka_unit_test(test_config_gates_that_are_unknown_or_unfit_are_refused),
        cmocka_unit_test(test_config_gates_warn_when_sluice_does_otherwise),
        cmocka_unit_test(test_config_gates_come_from_the_command_line_as_well),
        cmocka_unit_test(test_config_gates_of_the_command_line_that_do_not_fit_are_refused),
        cmocka_unit_test(test_config_gates_of_a_feature_need_its_field_too),
        cmocka_unit_test(test_config_documentation_has_every_field_and_gate),
        cmocka_unit_test(test_config_example_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
