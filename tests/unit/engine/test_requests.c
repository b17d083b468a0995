/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From Workloads to demands: counts, groups, limits of the namespace, overhead, excluded and
 * transformed resources. */
#include "engine/requests/requests.h"
#include "scene.h"

static struct sl_engine_settings settings;
static struct sl_requests got[SL_POD_SETS_MAX];
static uint32_t got_count;
static struct sl_error error;
static struct sl_buf whole; /* the last complaint in one sentence */

static int setup_requests(void **state)
{
    (void)state;
    settings = sl_engine_settings_default();
    return 0;
}

static void open_world(void)
{
    world_open_with(&w, NULL, &settings);
}

static enum sl_code read(struct sl_json *o)
{
    error = (struct sl_error){0};
    enum sl_code code = sl_requests_read(w.engine, o, got, &got_count, &error);
    sl_json_free(o);
    return code;
}

static struct sl_json *workload_of(const char *pod_sets)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"team\",\"name\":\"a\"},\"spec\":{\"queueName\":"
                   "\"lq\",\"podSets\":%s}}",
                   pod_sets);
    return world_parse(text);
}

/* One pod set with one pod, whose only container has these resources. */
static struct sl_json *workload_with(const char *resources, const char *more_spec)
{
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "[{\"name\":\"main\",\"count\":2,\"template\":{\"spec\":{\"containers\":[{"
                   "\"name\":\"c\",\"resources\":%s}]%s}}}]",
                   resources, more_spec);
    return workload_of(text);
}

/* Per pod, of the first pod set; -1 = not asked for. */
static int64_t amount_of(const char *resource)
{
    sl_resource_id id = sl_intern_find(w.engine->names, SL_INTERN_RESOURCE, resource);
    for (uint32_t i = 0; i < got[0].count; i++) {
        if (got[0].items[i].resource == id) {
            return got[0].items[i].per_pod;
        }
    }
    return -1;
}

/* Read and hold against the limits. */
static enum sl_code check(struct sl_json *o)
{
    sl_buf_reset(&whole);
    error = (struct sl_error){0};
    enum sl_code code = sl_requests_read(w.engine, o, got, &got_count, &error);
    if (code == SL_CODE_OK) {
        code = sl_requests_check_limits(w.engine, o, &whole, &error);
    }
    sl_json_free(o);
    return code;
}

static void expect_invalid(const char *field, const char *words)
{
    assert_true(error.cause_count > 0);
    assert_string_equal(error.causes[0].field, field);
    if (strstr(error.causes[0].text, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.causes[0].text, words);
    }
}

#define SPEC "spec.podSets[0].template.spec"

/* --- counts ----------------------------------------------------------------------------------- */

static struct sl_json *reclaimed(int count)
{
    struct sl_json *o = world_new_workload("team", "a", "lq", 5, "1500m");
    char text[100];
    (void)snprintf(text, sizeof text, "[{\"name\":\"main\",\"count\":%d}]", count);
    sl_json_set(sl_json_path_make(o, "status"), "reclaimablePods", world_parse(text));
    return o;
}

static void test_requests_reclaimable_pods_are_left_out(void **state)
{
    (void)state;
    open_world();
    assert_int_equal(read(reclaimed(2)), SL_CODE_OK);
    assert_int_equal(got[0].pod_count, 3);
    assert_int_equal(amount_of("cpu"), 1500);
    assert_int_equal(read(reclaimed(9)), SL_CODE_OK);
    assert_int_equal(got[0].pod_count, 0);
}

static void test_requests_reclaimable_pods_count_where_the_gate_is_off(void **state)
{
    (void)state;
    settings.policy.reclaimable_pods = false;
    open_world();
    assert_int_equal(read(reclaimed(2)), SL_CODE_OK);
    assert_int_equal(got[0].pod_count, 5);
}

/* The first pod set's PodSpec is changed so. */
static struct sl_json *with_claim(const char *member, const char *value)
{
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "1");
    struct sl_json *spec =
        sl_json_path(sl_json_at(sl_json_path(o, "spec.podSets"), 0), "template.spec");
    sl_json_set(spec, member, world_parse(value));
    return o;
}

static void test_requests_claims_are_refused_wherever_they_are_made(void **state)
{
    static const char *const usage[][2] = {
        {"resourceClaims", "[{\"name\":\"gpu\",\"resourceClaimTemplateName\":\"t\"}]"},
        {"resourceClaims", "[{\"name\":\"gpu\",\"resourceClaimName\":\"c\"}]"},
        {"containers", "[{\"name\":\"c\",\"resources\":{\"claims\":[{\"name\":\"gpu\"}]}}]"},
        {"initContainers", "[{\"name\":\"c\",\"resources\":{\"claims\":[{\"name\":\"gpu\"}]}}]"}};
    (void)state;
    settings.devices = false;
    open_world();
    for (size_t i = 0; i < sizeof usage / sizeof usage[0]; i++) {
        struct sl_json *o = with_claim(usage[i][0], usage[i][1]);
        error = (struct sl_error){0};
        assert_int_equal(sl_requests_check_claims(w.engine, o, &whole, &error), SL_CODE_INVALID);
        expect_invalid(SPEC, "DRA resources");
        sl_json_free(o);
    }
    struct sl_json *none = with_claim("resourceClaims", "[]");
    assert_int_equal(sl_requests_check_claims(w.engine, none, &whole, &error), SL_CODE_OK);
    sl_json_free(none);
}

static void test_requests_negative_count_is_refused(void **state)
{
    (void)state;
    open_world();
    assert_int_equal(read(world_new_workload("team", "a", "lq", -1, "1")), SL_CODE_INVALID);
    expect_invalid("spec.podSets[0].count", "from 0");
}

static void test_requests_totals_saturate_and_are_too_large(void **state)
{
    (void)state;
    open_world();
    assert_int_equal(read(world_new_workload("team", "a", "lq", 3, "9000000000000000")),
                     SL_CODE_OK);
    assert_true(sl_requests_total(&got[0], 0) == INT64_MAX);
    assert_int_equal(sl_requests_check_size(w.engine, got, 1, &error), SL_CODE_INVALID);
    expect_invalid("spec.podSets[0].template.spec", "larger than 2^60");
}

/* As sums they would not even be held by what counts in 10^-9. */
static void test_requests_of_containers_too_large_together_stay_large(void **state)
{
    (void)state;
    open_world();
    assert_int_equal(
        read(workload_of("[{\"name\":\"main\",\"count\":1,\"template\":{\"spec\":{"
                         "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1e30\"}}},"
                         "{\"resources\":{\"requests\":{\"cpu\":\"1e30\"}}}]}}}]")),
        SL_CODE_OK);
    assert_int_equal(amount_of("cpu"), INT64_MAX);
    assert_int_equal(sl_requests_check_size(w.engine, got, got_count, &error), SL_CODE_INVALID);
    expect_invalid(SPEC, "larger than 2^60");
}

static void test_requests_nineteen_pod_sets_are_too_many(void **state)
{
    (void)state;
    struct sl_buf sets = {0};
    open_world();
    for (int i = 0; i < 19; i++) {
        sl_buf_text(&sets, i == 0 ? "[{}" : ",{}");
    }
    sl_buf_text(&sets, "]");
    assert_int_equal(read(workload_of(sets.data)), SL_CODE_INVALID);
    expect_invalid("spec.podSets", "more than 18");
    sl_buf_fini(&sets);
}

static void test_requests_least_counts_and_groups_are_read(void **state)
{
    (void)state;
    open_world();
    assert_int_equal(
        read(workload_of(
            "[{\"name\":\"a\",\"count\":4,\"minCount\":2,\"topologyRequest\":{\"podSetGroupName\":"
            "\"g\"}},{\"name\":\"b\",\"count\":3},{\"name\":\"c\",\"count\":1,\"topologyRequest\":{"
            "\"podSetGroupName\":\"g\"}}]")),
        SL_CODE_OK);
    assert_int_equal(got_count, 3);
    assert_int_equal(got[0].min_count, 2);
    assert_int_equal(got[1].min_count, 3);
    assert_int_equal(got[0].group, 0);
    assert_int_equal(got[1].group, SL_NO_ID);
    assert_int_equal(got[2].group, 0);
}

static void test_requests_reach_the_demand_with_counts_and_groups(void **state)
{
    (void)state;
    open_world();
    world_add_basics(&w);
    struct sl_json *o = workload_of(
        "[{\"name\":\"a\",\"count\":4,\"minCount\":2,\"topologyRequest\":{\"podSetGroupName\":"
        "\"g\"},\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\""
        ":{\"cpu\":\"100\"}}}]}}},{\"name\":\"b\",\"count\":1,\"topologyRequest\":{"
        "\"podSetGroupName\":\"g\"},\"template\":{\"spec\":{\"containers\":[]}}}]");
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    sl_workload_id id = sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, "team/a");
    uint32_t first = sl_requests_first_pod_set(id);
    assert_int_equal(sl_requests_min_count(first), 2);
    assert_int_equal(sl_requests_group(first), 0);
    assert_int_equal(sl_requests_group(sl_requests_next_pod_set(first)), 0);
    /* Made again for other flavors it stays so. */
    world_add_flavor(&w, "spot", "{\"nodeLabels\":{\"a\":\"b\"}}");
    first = sl_requests_first_pod_set(id);
    assert_int_equal(sl_requests_min_count(first), 2);
    assert_int_equal(sl_requests_group(first), 0);
    assert_int_equal(sl_requests_per_pod(sl_requests_first(first)), 100000);
}

static void use_up_names(void)
{
    char name[32];
    for (uint32_t i = 0; sl_intern_count(w.engine->names, SL_INTERN_RESOURCE) <
                         sl_intern_capacity(SL_INTERN_RESOURCE);
         i++) {
        (void)snprintf(name, sizeof name, "example.com/r%u", i);
        (void)sl_name_take(w.engine, SL_INTERN_RESOURCE, name, 1);
    }
}

static void test_requests_of_more_resources_than_there_are_names_for_are_refused(void **state)
{
    (void)state;
    open_world();
    world_add_basics(&w);
    use_up_names();
    assert_int_equal(read(workload_with("{\"requests\":{\"example.com/r1\":\"2\"}}", "")),
                     SL_CODE_OK);
    assert_int_equal(read(workload_with("{\"requests\":{\"cpu\":\"1\",\"one/more\":\"2\"}}", "")),
                     SL_CODE_INVALID);
    expect_invalid(SPEC, "as many different resource names as the daemon can hold");
    struct sl_json *o = workload_with("{\"requests\":{\"cpu\":\"1\",\"one/more\":\"2\"}}", "");
    assert_int_equal(world_put(&w, SL_KIND_WORKLOAD, o, NULL), SL_CODE_INVALID);
    world_add_workload(&w, "b", "lq", 1, "2");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Misconfigured");
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

/* What settings leave out of quota is still asked of nodes, by name. */
static void test_requests_left_out_of_quota_need_names_too(void **state)
{
    (void)state;
    static const char *prefixes[] = {"one/"};
    settings.excluded_prefixes = prefixes;
    settings.excluded_prefix_count = 1;
    open_world();
    use_up_names();
    assert_int_equal(read(workload_with("{\"requests\":{\"cpu\":\"1\",\"one/more\":\"2\"}}", "")),
                     SL_CODE_INVALID);
    expect_invalid(SPEC, "as many different resource names as the daemon can hold");
}

/* --- limits ----------------------------------------------------------------------------------- */

static void add_range(const char *name, const char *limits)
{
    char text[1024];
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"namespace\":\"team\",\"name\":\"%s\"},\"spec\":{\"limits\":%s}}", name,
        limits);
    world_add(&w, SL_KIND_LIMIT_RANGE, text);
}

static void test_requests_defaults_of_the_namespace_fill_in(void **state)
{
    (void)state;
    open_world();
    add_range("b", "[{\"type\":\"Container\",\"defaultRequest\":{\"cpu\":\"9\"}}]");
    add_range("a", "[{\"type\":\"Container\",\"defaultRequest\":{\"cpu\":\"2\"},\"default\":{"
                   "\"memory\":\"1Gi\"}}]");
    assert_int_equal(read(workload_with("{}", "")), SL_CODE_OK);
    assert_int_equal(amount_of("cpu"), 2000); /* the first by name */
    assert_int_equal(amount_of("memory"), 1073741824);
    assert_int_equal(read(workload_with("{\"requests\":{\"cpu\":\"3\"}}", "")), SL_CODE_OK);
    assert_int_equal(amount_of("cpu"), 3000);
}

static void test_requests_other_namespaces_have_no_defaults(void **state)
{
    (void)state;
    open_world();
    world_add(&w, SL_KIND_LIMIT_RANGE,
              "{\"metadata\":{\"namespace\":\"other\",\"name\":\"r\"},\"spec\":{\"limits\":[{"
              "\"type\":\"Container\",\"defaultRequest\":{\"cpu\":\"9\"}}]}}");
    assert_int_equal(read(workload_with("{}", "")), SL_CODE_OK);
    assert_int_equal(amount_of("cpu"), -1);
}

#define ABOVE "requests must not be above the limitRange max"
#define BELOW "requests must not be below the limitRange min"

static void test_requests_above_or_below_the_range_are_refused(void **state)
{
    (void)state;
    open_world();
    add_range("a", "[{\"type\":\"Container\",\"max\":{\"cpu\":\"5\"},\"min\":{\"cpu\":\"1\"}}]");
    add_range("b", "[{\"type\":\"Container\",\"max\":{\"cpu\":\"4\"},\"min\":{\"cpu\":\"2\"}}]");
    assert_int_equal(check(workload_with("{\"requests\":{\"cpu\":\"4\"}}", "")), SL_CODE_OK);
    assert_int_equal(check(workload_with("{\"requests\":{\"cpu\":\"4500m\"}}", "")),
                     SL_CODE_INVALID);
    expect_invalid(SPEC ".containers[0]", ABOVE);
    assert_int_equal(check(workload_with("{\"requests\":{\"cpu\":\"1500m\"}}", "")),
                     SL_CODE_INVALID);
    expect_invalid(SPEC ".containers[0]", BELOW);
    assert_int_equal(check(workload_with("{\"requests\":{\"memory\":\"1\"}}", "")), SL_CODE_OK);
}

static void test_requests_of_the_whole_pod_are_held_against_its_range(void **state)
{
    (void)state;
    open_world();
    add_range("a", "[{\"type\":\"Pod\",\"max\":{\"cpu\":\"4\"},\"min\":{\"cpu\":\"2\"}}]");
    assert_int_equal(
        check(workload_with("{\"requests\":{\"cpu\":\"3\"}}", ",\"overhead\":{\"cpu\":\"2\"}")),
        SL_CODE_INVALID);
    expect_invalid(SPEC, "requests must not be above the limitRange max");
    assert_string_equal(whole.data,
                        "resources didn't satisfy LimitRange constraints: " SPEC
                        ": Invalid value: [\"cpu\"]: requests must not be above the limitRange "
                        "max");
    assert_int_equal(check(workload_with("{\"requests\":{\"cpu\":\"1\"}}", "")), SL_CODE_INVALID);
    expect_invalid(SPEC, "requests must not be below the limitRange min");
}

static void test_requests_above_their_own_limit_are_refused(void **state)
{
    (void)state;
    open_world();
    assert_int_equal(
        check(workload_with("{\"requests\":{\"cpu\":\"2\"},\"limits\":{\"cpu\":\"1\"}}", "")),
        SL_CODE_INVALID);
    expect_invalid(SPEC ".containers[0]", "requests must not exceed its limits");
    assert_string_equal(whole.data,
                        "resources validation failed: " SPEC ".containers[0]: Invalid value: "
                        "[\"cpu\"]: requests must not exceed its limits");
    assert_int_equal(check(workload_with("{}", ",\"resources\":{\"requests\":{\"cpu\":\"2\"},"
                                               "\"limits\":{\"cpu\":\"1\"}}")),
                     SL_CODE_INVALID);
    expect_invalid(SPEC ".resources", "requests must not exceed its limits");
}

static void test_requests_range_that_goes_lets_the_workload_in(void **state)
{
    (void)state;
    open_world();
    world_add_basics(&w);
    add_range("a", "[{\"type\":\"Container\",\"max\":{\"cpu\":\"1\"}}]");
    world_add_workload(&w, "a", "lq", 1, "2");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Misconfigured");
    assert_non_null(strstr(w.last_message, "must not be above"));
    world_delete(&w, SL_KIND_LIMIT_RANGE, "team", "a");
    (void)world_observe(&w, SL_KIND_WORKLOAD, world_workload(&w, "a"), NULL);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_requests_class_adds_its_overhead(void **state)
{
    (void)state;
    open_world();
    world_add(&w, SL_KIND_RUNTIME_CLASS,
              "{\"metadata\":{\"name\":\"vm\"},\"handler\":\"vm\",\"overhead\":{\"podFixed\":{"
              "\"cpu\":\"250m\"}}}");
    const char *cpu = "{\"requests\":{\"cpu\":\"1\"}}";
    assert_int_equal(read(workload_with(cpu, ",\"runtimeClassName\":\"vm\"")), SL_CODE_OK);
    assert_int_equal(amount_of("cpu"), 1250);
    assert_int_equal(read(workload_with(cpu, ",\"runtimeClassName\":\"vm\",\"overhead\":{\"cpu\":"
                                             "\"1\"}")),
                     SL_CODE_OK);
    assert_int_equal(amount_of("cpu"), 2000); /* its own comes first */
    world_delete(&w, SL_KIND_RUNTIME_CLASS, "", "vm");
    assert_int_equal(read(workload_with(cpu, ",\"runtimeClassName\":\"vm\"")), SL_CODE_OK);
    assert_int_equal(amount_of("cpu"), 1000);
}

/* --- excluded and transformed ----------------------------------------------------------------- */

static void test_requests_excluded_prefixes_are_not_asked_for(void **state)
{
    (void)state;
    static const char *const prefixes[] = {"example.com/", "net"};
    settings.excluded_prefix_count = 2;
    settings.excluded_prefixes = prefixes;
    open_world();
    assert_int_equal(
        read(workload_with("{\"requests\":{\"cpu\":1,\"network\":5,\"example.com/x\":7}}", "")),
        SL_CODE_OK);
    assert_int_equal(got[0].count, 1);
    assert_int_equal(amount_of("cpu"), 1000);
}

static const struct sl_transformation_output mig[] = {{"accelerator-memory", 5000},
                                                      {"credits", 250}};

static void use_transformation(const struct sl_transformation *t, size_t count)
{
    settings.transformations = t;
    settings.transformation_count = count;
    open_world();
}

static void test_requests_replaced_resource_becomes_its_outputs(void **state)
{
    (void)state;
    const struct sl_transformation t = {
        .input = "mig", .retain = false, .output_count = 2, .outputs = mig};
    use_transformation(&t, 1);
    assert_int_equal(read(workload_with("{\"requests\":{\"mig\":2,\"credits\":1}}", "")),
                     SL_CODE_OK);
    assert_int_equal(amount_of("mig"), -1);
    assert_int_equal(amount_of("accelerator-memory"), 10);
    assert_int_equal(amount_of("credits"), 2); /* 1 + 0.5, rounded up */
}

static void test_requests_retained_resource_stays_beside_its_outputs(void **state)
{
    (void)state;
    const struct sl_transformation t = {
        .input = "mig", .retain = true, .output_count = 2, .outputs = mig};
    use_transformation(&t, 1);
    assert_int_equal(read(workload_with("{\"requests\":{\"mig\":4}}", "")), SL_CODE_OK);
    assert_int_equal(amount_of("mig"), 4);
    assert_int_equal(amount_of("credits"), 1);
}

static void test_requests_multiplied_outputs_leave_what_is_retained(void **state)
{
    (void)state;
    static const struct sl_transformation_output out[] = {{"total-memory", 1000}};
    const struct sl_transformation t = {.input = "gpu-memory",
                                        .retain = true,
                                        .multiply_by = "gpu",
                                        .output_count = 1,
                                        .outputs = out};
    use_transformation(&t, 1);
    assert_int_equal(read(workload_with("{\"requests\":{\"gpu-memory\":40,\"gpu\":3}}", "")),
                     SL_CODE_OK);
    assert_int_equal(amount_of("gpu-memory"), 40);
    assert_int_equal(amount_of("total-memory"), 120);
    assert_int_equal(read(workload_with("{\"requests\":{\"gpu-memory\":40}}", "")), SL_CODE_OK);
    assert_int_equal(amount_of("total-memory"), 40);
}

static void test_requests_allowance_never_eats_what_was_asked_for(void **state)
{
    (void)state;
    static const struct sl_transformation_output charge[] = {{"credits", 1000}};
    static const struct sl_transformation_output allowance[] = {{"credits", -4000}};
    const struct sl_transformation t[] = {
        {.input = "cpu", .retain = true, .output_count = 1, .outputs = charge},
        {.input = "gpu", .retain = true, .output_count = 1, .outputs = allowance}};
    use_transformation(t, 2);
    assert_int_equal(read(workload_with("{\"requests\":{\"cpu\":6,\"gpu\":1}}", "")), SL_CODE_OK);
    assert_int_equal(amount_of("credits"), 2);
    assert_int_equal(read(workload_with("{\"requests\":{\"cpu\":1,\"gpu\":1,\"credits\":7}}", "")),
                     SL_CODE_OK);
    assert_int_equal(amount_of("credits"), 7);
}

static void test_requests_transformation_too_large_is_refused(void **state)
{
    (void)state;
    static const struct sl_transformation_output out[] = {{"x", 1500}};
    const struct sl_transformation t = {.input = "memory",
                                        .retain = true,
                                        .multiply_by = "memory",
                                        .output_count = 1,
                                        .outputs = out};
    use_transformation(&t, 1);
    assert_int_equal(read(workload_with("{\"requests\":{\"memory\":\"1000000Pi\"}}", "")),
                     SL_CODE_INVALID);
    expect_invalid(SPEC, "cannot be transformed");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_requests, teardown)

/* One of several that wait alike asks for less: it is no longer like them, and is tried at once. */
static void test_requests_that_shrink_while_pending_are_tried(void **state)
{
    (void)state;
    open_world();
    world_add_basics(&w);
    world_add_workload(&w, "first", "lq", 1, "6");
    world_settle(&w);
    world_add_workload(&w, "a", "lq", 5, "1");
    world_add_workload(&w, "b", "lq", 5, "1");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "WaitingForQuota");
    struct sl_json *smaller = sl_json_clone(world_workload(&w, "a"));
    sl_json_set_int(sl_json_path(smaller, "spec.podSets.0"), "count", 4);
    sl_json_set_int(sl_json_get(smaller, "metadata"), "generation", 2);
    (void)world_put(&w, SL_KIND_WORKLOAD, smaller, NULL);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_null(sl_json_path(world_workload(&w, "b"), "status.admission"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_requests_reclaimable_pods_are_left_out),
        TEST(test_requests_reclaimable_pods_count_where_the_gate_is_off),
        TEST(test_requests_claims_are_refused_wherever_they_are_made),
        TEST(test_requests_negative_count_is_refused),
        TEST(test_requests_totals_saturate_and_are_too_large),
        TEST(test_requests_of_containers_too_large_together_stay_large),
        TEST(test_requests_nineteen_pod_sets_are_too_many),
        TEST(test_requests_least_counts_and_groups_are_read),
        TEST(test_requests_reach_the_demand_with_counts_and_groups),
        TEST(test_requests_of_more_resources_than_there_are_names_for_are_refused),
        TEST(test_requests_left_out_of_quota_need_names_too),
        TEST(test_requests_defaults_of_the_namespace_fill_in),
        TEST(test_requests_other_namespaces_have_no_defaults),
        TEST(test_requests_above_or_below_the_range_are_refused),
        TEST(test_requests_of_the_whole_pod_are_held_against_its_range),
        TEST(test_requests_above_their_own_limit_are_refused),
        TEST(test_requests_range_that_goes_lets_the_workload_in),
        TEST(test_requests_class_adds_its_overhead),
        TEST(test_requests_excluded_prefixes_are_not_asked_for),
        TEST(test_requests_replaced_resource_becomes_its_outputs),
        TEST(test_requests_retained_resource_stays_beside_its_outputs),
        TEST(test_requests_multiplied_outputs_leave_what_is_retained),
        TEST(test_requests_allowance_never_eats_what_was_asked_for),
        TEST(test_requests_transformation_too_large_is_refused),
        TEST(test_requests_that_shrink_while_pending_are_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
