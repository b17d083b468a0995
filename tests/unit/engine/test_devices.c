/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Devices that pods claim, or request as extended resources: how they count, why they cannot be counted, and when that is
 * looked at again. Last, many random pods against a count that is made in another way. */
#include "devices_scene.h"

static const struct sl_device_source counters[] = {
    {"gpu.memory", "gpu.example.com", "memory", "true", false}};
static const struct sl_device_mapping mappings[] = {{"gpu.example.com", "gpus", 0, NULL},
                                                    {"big.example.com", "gpus", 0, NULL},
                                                    {"nic.example.com", "example.com/nic", 0, NULL},
                                                    {"mig.example.com", "gpu.memory", 1, counters}};
static int setup_devices(void **state)
{
    (void)state;
    settings = sl_engine_settings_default();
    settings.device_mapping_count = sizeof mappings / sizeof mappings[0];
    settings.device_mappings = mappings;
    world_open_with(&w, NULL, &settings);
    return 0;
}

/* --- claims ----------------------------------------------------------------------------------- */

static void test_devices_of_templates_count_or_say_why_not(void **state)
{
    static const struct {
        const char *requests, *says; /* "": it counts */
        int64_t gpus, nics;
    } cases[] = {
        {EXACTLY("gpu.example.com", SOME(3)), "", 3, -1},
        {EXACTLY("gpu.example.com", ""), "", 1, -1},
        {EXACTLY("gpu.example.com", SOME(2)) "," EXACTLY("big.example.com", SOME(4)), "", 6, -1},
        {EXACTLY("gpu.example.com", SOME(1)) "," EXACTLY("nic.example.com", SOME(2)), "", 1, 2},
        {EXACTLY("gpu.example.com", ",\"adminAccess\":true" SOME(5)), "", -1, -1},
        {"", "", -1, -1},
        {EXACTLY("gpu.example.com", ",\"allocationMode\":\"All\""),
         AT ".devices.requests[0].exactly.allocationMode: Invalid value: \"All\": "
            "ResourceClaimTemplate t: AllocationMode 'All' is not supported",
         -1, -1},
        {EXACTLY("gpu.example.com", ",\"allocationMode\":\"Most\""),
         AT ".devices.requests[0].exactly.allocationMode: Invalid value: null: "
            "ResourceClaimTemplate t: unsupported allocation mode",
         -1, -1},
        {EXACTLY("gpu.example.com", "") ",{\"name\":\"r\",\"firstAvailable\":[{}]}",
         AT ".devices.requests[1]: Invalid value: null: ResourceClaimTemplate t: "
            "FirstAvailable device selection is not supported",
         -1, -1},
        {"{\"name\":\"r\"}",
         AT ".devices.requests[0]: Invalid value: null: ResourceClaimTemplate t: "
            "Exactly must be set if FirstAvailable is nil",
         -1, -1},
        {EXACTLY("tpu.example.com", ""),
         AT ".resourceClaimTemplateName: Not found: \"DeviceClass tpu.example.com is not mapped in "
            "DRA configuration for podset main\"",
         -1, -1},
        {EXACTLY("gpu.example.com", SOME(-1)),
         AT ": Invalid value: too many devices or different resources", -1, -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_template("t", cases[i].requests);
        assert_string_equal(trouble(workload_with(CLAIM("t"), "\"requests\":{\"cpu\":\"1\"}")),
                            cases[i].says);
        assert_true(amount_of("gpus") == cases[i].gpus);
        assert_true(amount_of("example.com/nic") == cases[i].nics);
        assert_true(amount_of("cpu") == 1000);
        assert_int_equal(got[0].pod_count, 2);
        assert_int_equal(got[0].spec_count, amount_of("gpus") < 0 ? 0 : 1); /* nodes have no gpus */
    }
}

static void test_devices_of_two_claims_of_one_template_count_twice(void **state)
{
    (void)state;
    put_template("t", EXACTLY("gpu.example.com", SOME(3)));
    put_template("u", EXACTLY("gpu.example.com", SOME(1)));
    assert_string_equal(trouble(workload_with(CLAIM("t") "," CLAIM("u") "," CLAIM("t"), "")), "");
    assert_true(amount_of("gpus") == 7);
}

static void test_devices_of_more_than_can_be_counted_are_too_many(void **state)
{
    (void)state;
    struct sl_error e = {0};
    put_template("t", EXACTLY("gpu.example.com", SOME(9223372036854775807)));
    assert_string_equal(trouble(workload_with(CLAIM("t") "," CLAIM("t"), "")), "");
    assert_true(amount_of("gpus") == INT64_MAX);
    assert_int_equal(sl_requests_check_size(w.engine, got, 1, &e), SL_CODE_INVALID);
}

static void test_devices_of_claims_that_name_no_template_are_refused(void **state)
{
    static const char *const cases[][2] = {
        {"{\"name\":\"c\",\"resourceClaimName\":\"x\"}",
         "KueueDRAIntegration feature does not support use of resource claims"},
        {CLAIM("t") ",{\"name\":\"d\",\"resourceClaimName\":\"x\"}",
         "KueueDRAIntegration feature does not support use of resource claims"},
        {"{\"name\":\"c\"}", AT ": Invalid value: null: names no ResourceClaimTemplate"},
        {CLAIM("other"),
         AT ": Internal error: failed to get claim spec for ResourceClaimTemplate other in podset "
            "main: ResourceClaimTemplate.resource.k8s.io \"other\" not found"}};
    (void)state;
    put_template("t", EXACTLY("gpu.example.com", ""));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(trouble(workload_with(cases[i][0], "")), cases[i][1]);
    }
    assert_string_equal(trouble(workload_with("", "\"claims\":[{\"name\":\"c\"}]")),
                        "KueueDRAIntegration feature does not support use of resource claims");
}

static void test_devices_are_refused_or_ignored_as_the_gates_say(void **state)
{
    static const char disabled[] =
        "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled";
    (void)state;
    settings.devices = false;
    reopen();
    put_template("t", EXACTLY("gpu.example.com", ""));
    assert_string_equal(trouble(workload_with(CLAIM("t"), "")), disabled);
    settings.refuse_claims = false;
    reopen();
    put_template("t", EXACTLY("gpu.example.com", ""));
    assert_string_equal(trouble(workload_with(CLAIM("t"), "")), "");
    assert_true(amount_of("gpus") == -1);
    settings.devices = true;
    settings.device_mapping_count = 0;
    reopen();
    assert_string_equal(trouble(workload_with(CLAIM("t"), "")), AT
                        ".resourceClaimTemplateName: Not found: \"no DeviceClass is mapped in DRA "
                        "configuration for podset main\"");
    assert_false(sl_engine_counts_devices(w.engine));
}

/* --- extended resources ----------------------------------------------------------------------- */

#define FIRST "2027-01-01T00:00:00Z"
#define LATER "2027-01-02T00:00:00Z"

static void test_devices_behind_an_extended_resource_count_once(void **state)
{
    (void)state;
    put_template("t", EXACTLY("gpu.example.com", SOME(2)));
    const char *three = "\"limits\":{\"example.com/gpu\":\"3\"},\"requests\":{\"cpu\":\"1\"}";
    assert_string_equal(trouble(workload_with("", three)), "");
    assert_true(amount_of("example.com/gpu") == 3); /* no class: of a device plugin */
    put_class("own.example.com", "example.com/gpu", FIRST);
    assert_string_equal(trouble(workload_with("", three)), "");
    assert_true(amount_of("example.com/gpu") == 3); /* not mapped: it keeps its name */
    put_class("gpu.example.com", "example.com/gpu", LATER);
    assert_string_equal(trouble(workload_with(CLAIM("t"), three)), "");
    assert_true(amount_of("example.com/gpu") == -1);
    assert_true(amount_of("gpus") == 5);
    settings.extended_devices = false;
    reopen();
    put_class("gpu.example.com", "example.com/gpu", LATER);
    assert_string_equal(trouble(workload_with("", three)), "");
    assert_true(amount_of("example.com/gpu") == 3);
}

/* As the scheduler picks: the one made last, else the first by name; also when one of them goes. */
static void test_devices_are_of_the_class_that_the_scheduler_picks(void **state)
{
    (void)state;
    const char *one = "\"requests\":{\"example.com/x\":\"1\"}";
    put_class("nic.example.com", "example.com/x", FIRST);
    put_class("gpu.example.com", "example.com/x", FIRST);
    assert_string_equal(trouble(workload_with("", one)), "");
    assert_true(amount_of("gpus") == 1);
    put_class("nic.example.com", "example.com/x", LATER);
    assert_string_equal(trouble(workload_with("", one)), "");
    assert_true(amount_of("example.com/nic") == 1);
    world_delete(&w, SL_KIND_DEVICE_CLASS, "", "nic.example.com");
    assert_string_equal(trouble(workload_with("", one)), "");
    assert_true(amount_of("gpus") == 1);
    put_class("gpu.example.com", "", FIRST);
    assert_string_equal(trouble(workload_with("", one)), "");
    assert_true(amount_of("example.com/x") == 1);
}

/* What one is mapped to may be called as another. */
static void test_devices_that_swap_names_do_not_count_twice(void **state)
{
    (void)state;
    put_class("nic.example.com", "example.com/port", FIRST);
    put_class("gpu.example.com", "example.com/nic", FIRST);
    assert_string_equal(
        trouble(workload_with(
            "", "\"requests\":{\"example.com/port\":\"2\",\"example.com/nic\":\"3\"}")),
        "");
    assert_true(amount_of("example.com/nic") == 2);
    assert_true(amount_of("gpus") == 3);
    assert_true(amount_of("example.com/port") == -1);
}

static void test_devices_are_whole_and_not_shared_behind_extended_resources(void **state)
{
    (void)state;
    put_class("gpu.example.com", "example.com/gpu", FIRST);
    put_class("mig.example.com", "example.com/mig", FIRST);
    assert_string_equal(
        trouble(workload_with("", "\"requests\":{\"example.com/gpu\":\"500m\"}")),
        "spec.podSets[0].template.spec.containers[0].resources.requests.example.com/gpu: "
        "Invalid value: \"500m\": extended resource quantity must be an integer");
    assert_string_equal(
        trouble(workload_with("", "\"requests\":{\"example.com/mig\":\"1\"}")),
        "spec.podSets[0].template.spec.containers[0]: Invalid value: \"example.com/mig\": extended "
        "resource example.com/mig resolves to DeviceClass mig.example.com with counters "
        "configured; use ResourceClaimTemplates with CEL selectors for counter-based quota");
    assert_string_equal(trouble(workload_with("", "\"requests\":{\"example.com/other\":\"500m\"}")),
                        "");
}

/* --- in a queue ------------------------------------------------------------------------------- */

/* A queue of four gpus. */
static void add_queue(void)
{
    world_add_flavor(&w, "spot", "{}");
    world_add(
        &w, SL_KIND_CLUSTER_QUEUE,
        "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},"
        "\"resourceGroups\":[{\"coveredResources\":[\"gpus\"],\"flavors\":[{\"name\":\"spot\","
        "\"resources\":[{\"name\":\"gpus\",\"nominalQuota\":\"4\"}]}]}]}}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
}

static void test_devices_of_a_template_that_comes_later_are_waited_for(void **state)
{
    (void)state;
    add_queue();
    add("a", CLAIM("t"));
    world_expect(&w, "a", "QuotaReserved", "False", "Misconfigured");
    expect_message("a", "\"t\" not found");
    put_template("unrelated", EXACTLY("gpu.example.com", ""));
    assert_false(sl_engine_wants_requests(w.engine));
    put_template("t", EXACTLY("gpu.example.com", ",\"allocationMode\":\"All\""));
    look_again("a");
    expect_message("a", "AllocationMode 'All'");
    put_template("t", EXACTLY("gpu.example.com", SOME(2)));
    look_again("a");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(sl_json_path_text(world_workload(&w, "a"),
                                          "status.admission.podSetAssignments.0.resourceUsage.gpus",
                                          ""),
                        "4");
    add("b", CLAIM("t"));
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota");
}

/* Who runs keeps what was counted when it was admitted, whatever becomes of the template. */
static void test_devices_of_who_runs_stay_counted_when_its_template_goes(void **state)
{
    (void)state;
    add_queue();
    put_template("t", EXACTLY("gpu.example.com", SOME(2)));
    add("a", CLAIM("t"));
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_delete(&w, SL_KIND_RESOURCE_CLAIM_TEMPLATE, "team", "t");
    look_again("a");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    put_template("u", EXACTLY("gpu.example.com", ""));
    add("b", CLAIM("u"));
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    world_settle(&w);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

static void test_devices_of_a_class_that_is_new_are_counted_again(void **state)
{
    (void)state;
    add_queue();
    struct sl_json *o = workload_with("", "\"requests\":{\"example.com/gpu\":\"1\"}");
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "NoMatchingFlavor");
    put_class("gpu.example.com", "example.com/gpu", FIRST);
    look_again("a");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    put_class("gpu.example.com", "example.com/gpu", FIRST); /* as it was */
    assert_false(sl_engine_wants_requests(w.engine));
}

/* --- against a count made in another way ------------------------------------------------------ */

#define TEMPLATES 6
#define REQUESTS 3
#define CLASSES 5

static uint32_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

/* Class k is mapped to target[k] of `names`, and stands behind ext k with its bit of `backed`; the last is not mapped. */
static const char *const classes[CLASSES] = {
    "gpu.example.com", "big.example.com", "nic.example.com", "mig.example.com", "tpu.example.com"};
static const char *const names[] = {"gpus", "example.com/nic", "gpu.memory"};
static const int target[CLASSES] = {0, 0, 1, -2, -1}; /* -1: not mapped, -2: by source */

struct plain {
    uint32_t request_count;
    struct {
        uint32_t class, count;
        bool admin, all;
    } requests[REQUESTS];
};

static struct plain templates[TEMPLATES];
static uint32_t backed;

static void add_random_objects(void)
{
    backed = 0;
    for (uint32_t t = 0; t < TEMPLATES; t++) {
        char name[8], text[512] = "";
        size_t len = 0;
        templates[t].request_count = below(REQUESTS + 1);
        for (uint32_t r = 0; r < templates[t].request_count; r++) {
            uint32_t class = below(8) == 0 ? below(CLASSES) : below(3);
            uint32_t count = 1 + below(9);
            bool admin = below(6) == 0, all = below(20) == 0;
            templates[t].requests[r].class = class;
            templates[t].requests[r].count = count;
            templates[t].requests[r].admin = admin;
            templates[t].requests[r].all = all;
            len += (size_t)snprintf(
                text + len, sizeof text - len,
                "%s{\"name\":\"r%u\",\"exactly\":{\"deviceClassName\":\"%s\",\"count\":%u,"
                "\"adminAccess\":%s,\"allocationMode\":\"%s\"}}",
                r == 0 ? "" : ",", r, classes[class], count, admin ? "true" : "false",
                all ? "All" : "ExactCount");
        }
        (void)snprintf(name, sizeof name, "t%u", t);
        put_template(name, text);
    }
    for (uint32_t k = 0; k < CLASSES; k++) {
        char extended[32] = "";
        if (below(2) == 0) {
            backed |= 1u << k;
            (void)snprintf(extended, sizeof extended, "example.com/ext%u", k);
        }
        put_class(classes[k], extended, FIRST);
    }
}

/* What a pod should count for: of the three names, and of each extended resource under its own. */
struct count {
    int64_t named[3], own[CLASSES];
    bool refused;
};

static void count_template(struct count *c, uint32_t t)
{
    for (uint32_t r = 0; r < templates[t].request_count; r++) {
        int to = target[templates[t].requests[r].class];
        if (templates[t].requests[r].admin) {
            continue;
        }
        if (templates[t].requests[r].all || to < 0) {
            c->refused = true;
            return;
        }
        c->named[to] += templates[t].requests[r].count;
    }
}

static void count_extended(struct count *c, uint32_t k, int64_t asked)
{
    bool behind = (backed & 1u << k) != 0;
    if (behind && target[k] == -2) {
        c->refused = true;
    } else if (behind && target[k] >= 0) {
        c->named[target[k]] += asked;
    } else {
        c->own[k] += asked;
    }
}

static int64_t zero_if_none(const char *resource)
{
    int64_t amount = amount_of(resource);
    return amount < 0 ? 0 : amount;
}

static void check_random_pod(void)
{
    struct count expected = {0};
    char claims[512] = "", requests[512] = "\"requests\":{\"cpu\":\"1\"";
    size_t claims_len = 0, requests_len = strlen(requests);
    uint32_t claim_count = below(4);
    for (uint32_t i = 0; i < claim_count; i++) {
        uint32_t t = below(TEMPLATES + (below(5) == 0)); /* the last one is not there */
        claims_len += (size_t)snprintf(claims + claims_len, sizeof claims - claims_len,
                                       "%s{\"name\":\"c%u\",\"resourceClaimTemplateName\":\"t%u\"}",
                                       i == 0 ? "" : ",", i, t);
        if (t == TEMPLATES) {
            expected.refused = true;
        } else {
            count_template(&expected, t);
        }
    }
    for (uint32_t k = 0; k < CLASSES; k++) {
        int64_t asked = below(3) == 0 ? below(5) : 0;
        if (asked > 0) {
            requests_len +=
                (size_t)snprintf(requests + requests_len, sizeof requests - requests_len,
                                 ",\"example.com/ext%u\":\"%lld\"", k, (long long)asked);
            count_extended(&expected, k, asked);
        }
    }
    (void)snprintf(requests + requests_len, sizeof requests - requests_len, "}");
    const char *says = trouble(workload_with(claims, requests));
    assert_int_equal(says[0] != '\0', expected.refused);
    assert_true(amount_of("cpu") == 1000);
    for (uint32_t i = 0; !expected.refused && i < 3; i++) {
        assert_true(zero_if_none(names[i]) == expected.named[i]);
    }
    for (uint32_t k = 0; !expected.refused && k < CLASSES; k++) {
        char extended[32];
        (void)snprintf(extended, sizeof extended, "example.com/ext%u", k);
        assert_true(zero_if_none(extended) == expected.own[k]);
    }
}

static void test_devices_of_random_pods_count_as_added_up_plainly(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        seed = round;
        add_random_objects();
        for (int i = 0; i < 20; i++) {
            check_random_pod();
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_devices, teardown_devices)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_devices_of_templates_count_or_say_why_not),
        TEST(test_devices_of_two_claims_of_one_template_count_twice),
        TEST(test_devices_of_more_than_can_be_counted_are_too_many),
        TEST(test_devices_of_claims_that_name_no_template_are_refused),
        TEST(test_devices_are_refused_or_ignored_as_the_gates_say),
        TEST(test_devices_behind_an_extended_resource_count_once),
        TEST(test_devices_are_of_the_class_that_the_scheduler_picks),
        TEST(test_devices_that_swap_names_do_not_count_twice),
        TEST(test_devices_are_whole_and_not_shared_behind_extended_resources),
        TEST(test_devices_of_a_template_that_comes_later_are_waited_for),
        TEST(test_devices_of_who_runs_stay_counted_when_its_template_goes),
        TEST(test_devices_of_a_class_that_is_new_are_counted_again),
        TEST(test_devices_of_random_pods_count_as_added_up_plainly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
