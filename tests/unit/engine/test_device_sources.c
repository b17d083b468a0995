/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Devices of the cluster: which of them a claim's selectors find, and what counts by their counters and capacities; when that
 * is looked at again. Last, random pools and requests against a count that is made in another way. */
#include "api/objects/quantity.h"
#include "devices_scene.h"

#define DRIVER "gpu.example.com"
#define OF_TYPE(type) "device.attributes['" DRIVER "'].type == '" type "'"

static const struct sl_device_source by_memory[] = {
    {"gpu.memory", DRIVER, "memory", "device.driver == '" DRIVER "'", false}};
static const struct sl_device_source by_compute[] = {
    {"gpu.compute", DRIVER, "compute", "device.driver == '" DRIVER "'", false}};
static const struct sl_device_source by_share[] = {
    {"gpu.share", "share.example.com", "share.example.com/memory", "true", true}};
static const struct sl_device_source by_regex[] = {
    {"gpu.memory", DRIVER, "memory", "device.driver.matches('^gpu')", false}};
static const struct sl_device_source by_typo[] = {
    {"gpu.memory", DRIVER, "memory", "device.driver =", false}};
static const struct sl_device_mapping mappings[] = {
    {"whole.example.com", "gpus", 0, NULL},
    {"mig.example.com", "gpu.memory", 1, by_memory},
    {"both.example.com", "gpu.memory", 1, by_memory},
    {"both.example.com", "gpu.compute", 1, by_compute},
    {"share.example.com", "gpu.share", 1, by_share},
    {"regex.example.com", "gpu.memory", 1, by_regex},
    {"typo.example.com", "gpu.memory", 1, by_typo}};

/* A class of these devices; `cel` NULL: of all. */
static void put_selecting(const char *name, const char *cel)
{
    char text[512];
    char selector[256] = "";
    if (cel != NULL) {
        (void)snprintf(selector, sizeof selector, "{\"cel\":{\"expression\":\"%s\"}}", cel);
    }
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"selectors\":[%s]}}", name,
                   selector);
    world_add(&w, SL_KIND_DEVICE_CLASS, text);
}

static void put_slice(const char *name, const char *driver, const char *pool, const char *devices)
{
    char text[8192];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"driver\":\"%s\",\"pool\":{%s},"
                   "\"devices\":[%s]}}",
                   name, driver, pool, devices);
    world_add(&w, SL_KIND_RESOURCE_SLICE, text);
}

#define POOL(name, generation, count)                                                              \
    "\"name\":\"" name "\",\"generation\":" #generation ",\"resourceSliceCount\":" #count
#define PART(name, type, memory)                                                                   \
    "{\"name\":\"" name "\",\"attributes\":{\"type\":{\"string\":\"" type                          \
    "\"}},\"consumesCounters\":[{\"counterSet\":\"s\",\"counters\":{\"memory\":{\"value\":"        \
    "\"" memory "\"}}}]}"
#define SHARED(name, value, policy)                                                                \
    "{\"name\":\"" name                                                                            \
    "\",\"allowMultipleAllocations\":true,\"capacity\":{\"share.example.com/memory\":{\"value\":"  \
    "\"" value "\"" policy "}}}"
#define SELECT(cel) ",\"selectors\":[{\"cel\":{\"expression\":\"" cel "\"}}]"
#define TAKE(amount) ",\"capacity\":{\"requests\":{\"share.example.com/memory\":\"" amount "\"}}"

static int setup_sources(void **state)
{
    (void)state;
    settings = sl_engine_settings_default();
    settings.device_mapping_count = sizeof mappings / sizeof mappings[0];
    settings.device_mappings = mappings;
    world_open_with(&w, NULL, &settings);
    put_selecting("whole.example.com", NULL);
    put_selecting("mig.example.com", OF_TYPE("mig"));
    put_selecting("both.example.com", NULL);
    put_selecting("share.example.com", NULL);
    put_selecting("regex.example.com", NULL);
    put_selecting("typo.example.com", NULL);
    return 0;
}

/* A card and three parts of it, and of another driver two that can be shared. */
static void put_devices(void)
{
    put_slice("a", DRIVER, POOL("p", 1, 1),
              PART("card", "gpu", "40320Mi") "," PART("small-0", "mig", "4864Mi") "," PART(
                  "small-1", "mig", "4864Mi") "," PART("large", "mig", "20Gi"));
}

struct one {
    const char *request, *says; /* "": it counts */
    int64_t amount;             /* -1: nothing */
};

static void expect_counts(const char *resource, const struct one *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_template("t", all[i].request);
        const char *says = trouble(workload_with(CLAIM("t"), ""));
        if (strcmp(says, all[i].says) != 0 || amount_of(resource) != all[i].amount) {
            fail_msg("%s: \"%s\", %lld", all[i].request, says, (long long)amount_of(resource));
        }
    }
}
#define EXPECT(resource, all) expect_counts(resource, all, sizeof(all) / sizeof((all)[0]))

/* --- devices that a claim finds --------------------------------------------------------------- */

#define NOT_ENOUGH(class, found, wanted)                                                           \
    ".exactly.selectors: Internal error: ResourceClaimTemplate t: insufficient matching devices "  \
    "for CEL selector in DeviceClass " class ": " found                                            \
                                             " device(s) match in the cluster but " wanted         \
                                             " requested"

static void test_sources_selectors_find_devices_or_the_claim_waits(void **state)
{
    (void)state;
    static const struct one all[] = {
        {EXACTLY("whole.example.com", SOME(3) SELECT(OF_TYPE("mig"))), "", 3},
        {EXACTLY("whole.example.com", SOME(4) SELECT(OF_TYPE("mig"))),
         AT ".devices.requests[0]" NOT_ENOUGH("whole.example.com", "3", "4"), -1},
        {EXACTLY("whole.example.com", SELECT(OF_TYPE("tpu"))),
         AT ".devices.requests[0]" NOT_ENOUGH("whole.example.com", "0", "1"), -1},
        /* no device twice */
        {EXACTLY("whole.example.com", SOME(2) SELECT(OF_TYPE("mig"))) "," EXACTLY(
             "whole.example.com", SELECT(OF_TYPE("mig"))),
         "", 3},
        {EXACTLY("whole.example.com", SOME(2) SELECT(OF_TYPE("mig"))) "," EXACTLY(
             "whole.example.com", SOME(2) SELECT(OF_TYPE("mig"))),
         AT ".devices.requests[1]" NOT_ENOUGH("whole.example.com", "1", "2"), -1},
        {EXACTLY("whole.example.com", SELECT("device.attributes['" DRIVER "'].model == 'x'")),
         AT ".devices.requests[0].exactly.selectors: Invalid value: null: ResourceClaimTemplate t: "
            "CEL evaluation failed for DeviceClass whole.example.com: no such key: model",
         -1},
        {EXACTLY("whole.example.com", SELECT("device.driver =")),
         AT ".devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: "
            "ResourceClaimTemplate t: \"device.driver =\": CEL compilation failed: at character "
            "15: a character that CEL does not have",
         -1},
        {EXACTLY("other.example.com", SELECT("true")),
         AT ".devices.requests[0]: Internal error: ResourceClaimTemplate t: failed to get "
            "DeviceClass other.example.com: DeviceClass.resource.k8s.io \"other.example.com\" "
            "not found",
         -1},
        {EXACTLY("other.example.com", ""),
         AT ".resourceClaimTemplateName: Not found: \"DeviceClass other.example.com is not mapped "
            "in DRA configuration for podset main\"",
         -1},
        /* the count does not depend on what cannot be evaluated */
        {EXACTLY("whole.example.com", SOME(9) SELECT("device.driver.matches('^gpu')")), "", 9},
        {EXACTLY("whole.example.com", ",\"selectors\":[{}]"), "", 1}};
    put_devices();
    EXPECT("gpus", all);
    put_selecting("whole.example.com", "device.driver ==");
    static const struct one broken[] = {
        {EXACTLY("whole.example.com", SELECT("true")),
         AT ".devices.requests[0][0].cel.expression: Invalid value: ResourceClaimTemplate t: "
            "\"device.driver ==\": DeviceClass whole.example.com has invalid CEL selector: at "
            "character 17: expected an expression",
         -1}};
    EXPECT("gpus", broken);
}

/* --- counters --------------------------------------------------------------------------------- */

#define MI (1024 * 1024LL)
#define GI (1024 * MI)

static void test_sources_counters_count_the_most_that_a_device_takes(void **state)
{
    (void)state;
    static const struct one all[] = {
        {EXACTLY("mig.example.com", ""), "", 20 * GI},
        {EXACTLY("mig.example.com", SOME(3)), "", 60 * GI},
        {EXACTLY("mig.example.com", SELECT("device.attributes['" DRIVER "'].type != 'mig'")),
         AT ".devices.requests[0]" NOT_ENOUGH("mig.example.com", "0", "1"), -1},
        {EXACTLY("mig.example.com", SOME(4)),
         AT ".devices.requests[0]: Internal error: insufficient matching devices for counter "
            "driver: 3 device(s) match but 4 requested",
         -1},
        {EXACTLY("mig.example.com", ",\"adminAccess\":true"), "", -1},
        {EXACTLY("both.example.com", ""),
         AT ".devices.requests[0]: Internal error: matched devices have no consumesCounters entry "
            "for counter \"compute\"",
         40320 * MI},
        {EXACTLY("regex.example.com", ""),
         AT ".devices.requests[0]: Invalid value: null: the deviceSelector cannot be evaluated for "
            "device card: it depends on the function matches, which Sluice does not support",
         -1},
        {EXACTLY("typo.example.com", ""),
         AT ".devices.requests[0][0].cel.expression: Invalid value: \"device.driver =\": "
            "deviceSelector CEL compilation failed: at character 15: a character that CEL does not "
            "have",
         -1},
        {EXACTLY("mig.example.com", "") "," EXACTLY("whole.example.com", SOME(2)), "", 20 * GI}};
    put_devices();
    EXPECT("gpu.memory", all);
    assert_true(amount_of("gpus") == 2);
    assert_int_equal(got[0].spec_count, 0); /* nodes have none of them */
}

static void test_sources_that_cannot_be_told_of_a_device_are_refused(void **state)
{
    (void)state;
    static const struct one of_request[] = {
        {EXACTLY("mig.example.com", SELECT("device.driver.matches('x')")),
         AT ".devices.requests[0]: Invalid value: null: the request selector cannot be evaluated "
            "for device small-0: it depends on the function matches, which Sluice does not support",
         -1}};
    static const struct one of_class[] = {
        {EXACTLY("mig.example.com", ""),
         AT ".devices.requests[0]: Internal error: CEL evaluation error in DeviceClass selector "
            "for device card: no such key: model",
         -1}};
    static const struct one unknown[] = {
        {EXACTLY("mig.example.com", ""),
         AT ".devices.requests[0]: Internal error: failed to get DeviceClass mig.example.com: "
            "DeviceClass.resource.k8s.io \"mig.example.com\" not found",
         -1}};
    put_devices();
    EXPECT("gpu.memory", of_request);
    put_selecting("mig.example.com", "device.attributes['" DRIVER "'].model == 'x'");
    assert_true(sl_engine_settle_requests(w.engine));
    EXPECT("gpu.memory", of_class);
    world_delete(&w, SL_KIND_DEVICE_CLASS, "", "mig.example.com");
    assert_true(sl_engine_settle_requests(w.engine));
    EXPECT("gpu.memory", unknown);
}

/* Two counters of one class count by two mappings. */
static void test_sources_of_two_mappings_of_a_class_both_count(void **state)
{
    (void)state;
    put_slice(
        "a", DRIVER, POOL("p", 1, 1),
        "{\"name\":\"d\",\"consumesCounters\":[{\"counterSet\":\"s\",\"counters\":{\"memory\":{"
        "\"value\":\"1Gi\"},\"compute\":{\"value\":\"7\"}}},{\"counterSet\":\"t\",\"counters\":{"
        "\"memory\":{\"value\":\"2500m\"},\"compute\":{\"value\":\"-5\"}}}]}");
    put_template("t", EXACTLY("both.example.com", ""));
    assert_string_equal(trouble(workload_with(CLAIM("t"), "")), "");
    assert_true(amount_of("gpu.memory") == GI);
    assert_true(amount_of("gpu.compute") == 7);
    put_slice(
        "a", DRIVER, POOL("p", 1, 1),
        "{\"name\":\"d\",\"consumesCounters\":[{\"counterSet\":\"s\",\"counters\":{\"memory\":{"
        "\"value\":\"2500m\"},\"compute\":{\"value\":\"-5\"}}}]}");
    assert_true(sl_engine_settle_requests(w.engine));
    assert_string_equal(trouble(workload_with(CLAIM("t"), "")), "");
    assert_true(amount_of("gpu.memory") == 3); /* rounded up */
    assert_true(amount_of("gpu.compute") == 0);
}

/* While a driver replaces a pool, its devices are those of neither generation. */
static void test_sources_devices_of_incomplete_pools_do_not_count(void **state)
{
    (void)state;
    put_template("t", EXACTLY("mig.example.com", SOME(2)));
    put_slice("a", DRIVER, POOL("p", 1, 2), PART("one", "mig", "1Gi"));
    assert_non_null(strstr(trouble(workload_with(CLAIM("t"), "")), "0 device(s) match but 2"));
    put_slice("b", DRIVER, POOL("p", 1, 2), PART("two", "mig", "2Gi"));
    put_slice("c", DRIVER, POOL("q", 1, 2), PART("three", "mig", "9Gi"));
    assert_true(sl_engine_settle_requests(w.engine));
    assert_string_equal(trouble(workload_with(CLAIM("t"), "")), "");
    assert_true(amount_of("gpu.memory") == 4 * GI);
    put_slice("b", DRIVER, POOL("p", 2, 2), PART("two", "mig", "2Gi"));
    assert_true(sl_engine_settle_requests(w.engine));
    assert_non_null(strstr(trouble(workload_with(CLAIM("t"), "")), "0 device(s) match but 2"));
    put_slice("d", DRIVER, POOL("p", 2, 2), PART("one", "mig", "3Gi"));
    assert_true(sl_engine_settle_requests(w.engine));
    assert_string_equal(trouble(workload_with(CLAIM("t"), "")), "");
    assert_true(amount_of("gpu.memory") == 6 * GI);
}

/* --- capacities ------------------------------------------------------------------------------- */

#define DEFAULT ",\"requestPolicy\":{\"default\":\"10Gi\"}"
#define VALUES                                                                                     \
    ",\"requestPolicy\":{\"default\":\"10Gi\",\"validValues\":[\"10Gi\",\"20Gi\",\"40Gi\"]}"
#define RANGE                                                                                      \
    ",\"requestPolicy\":{\"default\":\"5Gi\",\"validRange\":{\"min\":\"5Gi\",\"max\":\"41Gi\","    \
    "\"step\":\"5Gi\"}}"
#define MAX_ONLY ",\"requestPolicy\":{\"validRange\":{\"max\":\"8Gi\",\"step\":\"5Gi\"}}"

static void test_sources_capacities_count_what_a_device_gives(void **state)
{
    (void)state;
    static const char unfit[] =
        AT ".devices.requests[0]: Invalid value: null: capacity request cannot be satisfied by any "
           "matched device's RequestPolicy for dimension \"share.example.com/memory\"";
    static const struct {
        const char *devices;
        struct one one;
    } all[] = {
        {SHARED("a", "80Gi", ""), {EXACTLY("share.example.com", TAKE("20Gi")), "", 20 * GI}},
        {SHARED("a", "80Gi", ""), {EXACTLY("share.example.com", ""), "", 80 * GI}},
        {SHARED("a", "80Gi", DEFAULT), {EXACTLY("share.example.com", ""), "", 10 * GI}},
        {SHARED("a", "80Gi", VALUES), {EXACTLY("share.example.com", TAKE("15Gi")), "", 20 * GI}},
        {SHARED("a", "80Gi", VALUES), {EXACTLY("share.example.com", TAKE("40Gi")), "", 40 * GI}},
        {SHARED("a", "80Gi", VALUES), {EXACTLY("share.example.com", TAKE("50Gi")), unfit, -1}},
        {SHARED("a", "80Gi", RANGE), {EXACTLY("share.example.com", TAKE("3Gi")), "", 5 * GI}},
        {SHARED("a", "80Gi", RANGE), {EXACTLY("share.example.com", TAKE("11Gi")), "", 15 * GI}},
        {SHARED("a", "80Gi", RANGE), {EXACTLY("share.example.com", TAKE("40Gi")), "", 40 * GI}},
        {SHARED("a", "80Gi", RANGE), {EXACTLY("share.example.com", TAKE("41Gi")), unfit, -1}},
        {SHARED("a", "80Gi", MAX_ONLY), {EXACTLY("share.example.com", TAKE("7Gi")), "", 7 * GI}},
        {SHARED("a", "80Gi", MAX_ONLY), {EXACTLY("share.example.com", ""), unfit, -1}},
        {SHARED("a", "80Gi", VALUES) "," SHARED("b", "100Gi", DEFAULT),
         {EXACTLY("share.example.com", TAKE("50Gi")), "", 50 * GI}},
        {SHARED("a", "40Gi", "") "," SHARED("b", "80Gi", ""),
         {EXACTLY("share.example.com", SOME(2)), "", 160 * GI}},
        {SHARED("a", "80Gi", ""),
         {EXACTLY("share.example.com", SOME(2)),
          AT ".devices.requests[0]: Internal error: insufficient matching devices for capacity "
             "driver: 1 device(s) match but 2 requested",
          -1}},
        {"{\"name\":\"a\"}",
         {EXACTLY("share.example.com", TAKE("1Gi")),
          AT ".devices.requests[0]: Internal error: matched devices have no capacity dimension "
             "\"share.example.com/memory\"",
          -1}}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        put_slice("s", "share.example.com", POOL("p", 1, 1), all[i].devices);
        (void)sl_engine_settle_requests(w.engine);
        expect_counts("gpu.share", &all[i].one, 1);
    }
}

static void test_sources_more_than_can_be_counted_is_too_much(void **state)
{
    (void)state;
    struct sl_error e = {0};
    put_slice("s", "share.example.com", POOL("p", 1, 1),
              SHARED("a", "9E", "") "," SHARED("b", "9E", ""));
    put_template("t", EXACTLY("share.example.com", SOME(2)));
    assert_string_equal(trouble(workload_with(CLAIM("t"), "")), "");
    assert_true(amount_of("gpu.share") == INT64_MAX);
    assert_int_equal(sl_requests_check_size(w.engine, got, 1, &e), SL_CODE_INVALID);
}

/* --- in a queue ------------------------------------------------------------------------------- */

static void add_memory_queue(const char *quota, const char *flavor)
{
    char text[512];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},"
                   "\"resourceGroups\":[{\"coveredResources\":[\"gpu.memory\"],\"flavors\":[{"
                   "\"name\":\"%s\",\"resources\":[{\"name\":\"gpu.memory\",\"nominalQuota\":"
                   "\"%s\"}]}]}]}}",
                   flavor, quota);
    world_add(&w, SL_KIND_CLUSTER_QUEUE, text);
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
}

static const char *usage_of(const char *name)
{
    return sl_json_path_text(sl_json_path(world_workload(&w, name),
                                          "status.admission.podSetAssignments.0.resourceUsage"),
                             "[gpu.memory]", "");
}

static void test_sources_devices_that_come_later_are_waited_for(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    add_memory_queue("100Gi", "spot");
    sl_quantity_count_bytes("gpu.memory");
    put_template("t", EXACTLY("mig.example.com", SELECT(OF_TYPE("mig"))));
    add("a", CLAIM("t"));
    world_expect(&w, "a", "QuotaReserved", "False", "Misconfigured");
    expect_message("a", "0 device(s) match in the cluster but 1 requested");
    put_slice("b", "share.example.com", POOL("p", 1, 1), SHARED("a", "80Gi", ""));
    assert_true(sl_engine_wants_requests(w.engine)); /* and then it makes no difference */
    assert_false(sl_engine_settle_requests(w.engine));
    put_devices();
    look_again("a");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(usage_of("a"), "40Gi");
    put_devices(); /* as they were */
    assert_false(sl_engine_wants_requests(w.engine));
    world_delete(&w, SL_KIND_RESOURCE_SLICE, "", "a");
    look_again("a"); /* what runs stays counted as it was admitted */
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    add("b", CLAIM("t"));
    world_expect(&w, "b", "QuotaReserved", "False", "Misconfigured");
}

/* What another Workload's claim of the same text counted for before is not what it counts for now. */
static void test_sources_what_is_new_counts_by_the_devices_of_now(void **state)
{
    (void)state;
    put_slice("s", DRIVER, POOL("p", 1, 1), PART("a", "mig", "8Gi"));
    put_template("t", EXACTLY("mig.example.com", ""));
    assert_string_equal(trouble(workload_with(CLAIM("t"), "")), "");
    put_slice("s", DRIVER, POOL("p", 1, 1), PART("a", "mig", "9Gi"));
    assert_string_equal(trouble(workload_with(CLAIM("t"), "")), "");
    assert_true(amount_of("gpu.memory") == 9 * GI);
    assert_true(sl_engine_settle_requests(w.engine)); /* others have it by what was */
    assert_false(sl_engine_settle_requests(w.engine));
    put_slice("s", DRIVER, POOL("p", 2, 1), PART("a", "mig", "9Gi"));
    assert_string_equal(trouble(workload_with(CLAIM("t"), "")), "");
    assert_false(sl_engine_settle_requests(w.engine)); /* another generation of the same */
}

/* With fewer pods there are fewer devices. */
static void test_sources_count_for_each_pod_that_is_admitted(void **state)
{
    (void)state;
    settings.policy.partial_admission = true;
    world_add_flavor(&w, "spot", "{}");
    add_memory_queue("70Gi", "spot");
    put_devices();
    put_template("t", EXACTLY("mig.example.com", ""));
    struct sl_json *o = workload_with(CLAIM("t"), "");
    struct sl_json *set = sl_json_path(o, "spec.podSets.0");
    sl_json_set_int(set, "count", 5);
    sl_json_set_int(set, "minCount", 1);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_int_equal(
        sl_json_path_int(world_workload(&w, "a"), "status.admission.podSetAssignments.0.count", 0),
        3);
    assert_string_equal(usage_of("a"), "60Gi");
}

/* Nodes have none of what counts only towards quota: pods are placed by what their spec requests. */
static void test_sources_do_not_count_on_nodes(void **state)
{
    (void)state;
    world_add(
        &w, SL_KIND_TOPOLOGY,
        "{\"metadata\":{\"name\":\"racks\"},\"spec\":{\"levels\":[{\"nodeLabel\":\"rack\"}]}}");
    world_add_flavor(&w, "spot", "{\"topologyName\":\"racks\",\"nodeLabels\":{\"gpu\":\"yes\"}}");
    for (int i = 0; i < 2; i++) {
        char text[512];
        (void)snprintf(
            text, sizeof text,
            "{\"metadata\":{\"name\":\"n%d\",\"labels\":{\"rack\":\"r%d\",\"gpu\":\"yes\"}},"
            "\"status\":{\"allocatable\":{\"cpu\":\"1\",\"pods\":\"9\"},\"conditions\":[{"
            "\"type\":\"Ready\",\"status\":\"True\"}]}}",
            i, i);
        world_add(&w, SL_KIND_NODE, text);
    }
    world_add(
        &w, SL_KIND_CLUSTER_QUEUE,
        "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":[{"
        "\"coveredResources\":[\"cpu\",\"gpu.memory\"],\"flavors\":[{\"name\":\"spot\","
        "\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"9\"},{\"name\":\"gpu.memory\","
        "\"nominalQuota\":\"100Gi\"}]}]}]}}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    put_devices();
    put_template("t", EXACTLY("mig.example.com", ""));
    struct sl_json *o = workload_with(CLAIM("t"), "\"requests\":{\"cpu\":\"1\"}");
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest",
                world_parse("{\"preferred\":\"rack\"}"));
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(usage_of("a"), "40Gi");
    assert_non_null(sl_json_path(world_workload(&w, "a"),
                                 "status.admission.podSetAssignments.0.topologyAssignment"));
}

/* Of so many different claims some are not remembered, and then any change of devices may matter. */
static void test_sources_claims_that_are_not_remembered_are_counted_again(void **state)
{
    (void)state;
    put_devices();
    for (int i = 0; i < 4100; i++) {
        char request[256];
        (void)snprintf(request, sizeof request, EXACTLY("whole.example.com", ",\"count\":%d"), i);
        put_template("t", request);
        (void)trouble(workload_with(CLAIM("t"), ""));
    }
    (void)sl_engine_settle_requests(w.engine);
    for (int i = 0; i < 4100; i++) {
        char name[16], request[256];
        (void)snprintf(name, sizeof name, "t%d", i);
        (void)snprintf(request, sizeof request, EXACTLY("whole.example.com", ",\"count\":%d"), i);
        put_template(name, request);
        struct sl_json *o = workload_with(CLAIM("t"), "");
        sl_json_set_text(sl_json_path(o, "spec.podSets.0.template.spec.resourceClaims.0"),
                         "resourceClaimTemplateName", name);
        (void)trouble(o);
    }
    assert_false(sl_engine_settle_requests(w.engine));
    put_slice("b", "share.example.com", POOL("p", 1, 1), SHARED("a", "80Gi", ""));
    assert_true(sl_engine_settle_requests(w.engine));
}

/* --- against a count made in another way ------------------------------------------------------ */

static uint32_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

/* Pools of up to three slices, some of which are missing or old; parts of two types. */
static uint32_t fit_count, fit_most;

static void add_part(struct sl_buf *out, bool counts)
{
    bool mig = below(3) != 0;
    uint32_t memory = 1 + below(50);
    sl_buf_print(out,
                 "%s{\"name\":\"d%u\",\"attributes\":{\"type\":{\"string\":\"%s\"}},"
                 "\"consumesCounters\":[{\"counterSet\":\"s\",\"counters\":{\"memory\":{\"value\":"
                 "\"%uMi\"}}}]}",
                 out->len == 0 ? "" : ",", below(1000000), mig ? "mig" : "gpu", memory);
    if (counts && mig) {
        fit_count++;
        fit_most = memory > fit_most ? memory : fit_most;
    }
}

static void put_random_pool(uint32_t pool)
{
    uint32_t slices = 1 + below(3);
    uint32_t missing = below(3) == 0;
    bool ours = below(4) != 0;
    for (uint32_t k = 0; k < slices + 1; k++) {
        bool old = k == slices; /* of the generation before */
        char name[32], text[128];
        struct sl_buf devices = {0};
        for (uint32_t n = below(4); n > 0; n--) {
            add_part(&devices, ours && missing == 0 && !old);
        }
        (void)snprintf(name, sizeof name, "p%u-%u", pool, k);
        (void)snprintf(text, sizeof text,
                       "\"name\":\"p%u\",\"generation\":%u,\"resourceSliceCount\":%u", pool,
                       old ? 4 : 5, slices + missing);
        put_slice(name, ours ? DRIVER : "share.example.com", text,
                  devices.data == NULL ? "" : devices.data);
        sl_buf_fini(&devices);
    }
}

static void test_sources_of_random_pools_count_as_added_up_plainly(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 200; round++) {
        char request[256];
        seed = round;
        fit_count = fit_most = 0;
        reopen();
        put_selecting("mig.example.com", OF_TYPE("mig"));
        for (uint32_t pool = 0; pool < 4; pool++) {
            put_random_pool(pool);
        }
        uint32_t count = 1 + below(6);
        (void)snprintf(request, sizeof request, EXACTLY("mig.example.com", ",\"count\":%u"), count);
        put_template("t", request);
        const char *says = trouble(workload_with(CLAIM("t"), ""));
        assert_int_equal(says[0] == '\0', fit_count >= count);
        if (fit_count >= count) {
            assert_true(amount_of("gpu.memory") == (int64_t)count * fit_most * MI);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_sources, teardown_devices)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sources_selectors_find_devices_or_the_claim_waits),
        TEST(test_sources_counters_count_the_most_that_a_device_takes),
        TEST(test_sources_that_cannot_be_told_of_a_device_are_refused),
        TEST(test_sources_of_two_mappings_of_a_class_both_count),
        TEST(test_sources_devices_of_incomplete_pools_do_not_count),
        TEST(test_sources_capacities_count_what_a_device_gives),
        TEST(test_sources_more_than_can_be_counted_is_too_much),
        TEST(test_sources_devices_that_come_later_are_waited_for),
        TEST(test_sources_what_is_new_counts_by_the_devices_of_now),
        TEST(test_sources_count_for_each_pod_that_is_admitted),
        TEST(test_sources_do_not_count_on_nodes),
        TEST(test_sources_claims_that_are_not_remembered_are_counted_again),
        TEST(test_sources_of_random_pools_count_as_added_up_plainly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
