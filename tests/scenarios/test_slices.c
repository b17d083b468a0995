/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Scenarios S52 and S53: a failed node that held a part of a slice. Two blocks of two racks of three
 * nodes, two cpu each. */
#include "scene.h"

#define BLOCK "example.com/block"

static struct world w;
static struct sl_engine_settings settings;

/* "b1r1n1" stands in rack "b1r1" of block "b1". */
static void add_node(int block, int rack, int node)
{
    char text[600];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"b%dr%dn%d\",\"labels\":{\"kubernetes.io/hostname\":"
                   "\"b%dr%dn%d\",\"" RACK "\":\"b%dr%d\",\"" BLOCK "\":\"b%d\"}},\"spec\":{},"
                   "\"status\":{\"allocatable\":{\"cpu\":\"2\",\"pods\":\"9\"},\"conditions\":[{"
                   "\"type\":\"Ready\",\"status\":\"True\"}]}}",
                   block, rack, node, block, rack, node, block, rack, block);
    world_add(&w, SL_KIND_NODE, text);
}

static int setup(void **state)
{
    (void)state;
    settings = sl_engine_settings_default();
    world_open_with(&w, NULL, &settings);
    for (int i = 0; i < 12; i++) {
        add_node(1 + i / 6, 1 + i / 3 % 2, 1 + i % 3);
    }
    world_add(&w, SL_KIND_TOPOLOGY,
              "{\"metadata\":{\"name\":\"blocks\"},\"spec\":{\"levels\":[{\"nodeLabel\":\"" BLOCK
              "\"},{\"nodeLabel\":\"" RACK "\"},{\"nodeLabel\":\"kubernetes.io/hostname\"}]}}");
    world_add_flavor(&w, "tas", "{\"topologyName\":\"blocks\"}");
    world_add_cluster_queue(&w, "cq", "tas", "24", "");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_check(&w);
    world_close(&w);
    return 0;
}

/* Pods of the workload on nodes whose names begin so. */
static unsigned pods_on(const char *workload, const char *prefix)
{
    unsigned sum = 0;
    char name[64];
    unsigned count;
    int used;
    const char *at = scene_where(&w, workload);
    while (sscanf(at, "%63[^=]=%u%n", name, &count, &used) == 2) {
        const char *start = name[0] == ' ' ? name + 1 : name;
        sum += strncmp(start, prefix, strlen(prefix)) == 0 ? count : 0;
        at += used;
    }
    return sum;
}

static void first_node_of(const char *workload, const char *prefix, char out[static 64])
{
    const char *at = strstr(scene_where(&w, workload), prefix);
    assert_non_null(at);
    (void)snprintf(out, 64, "%.*s", (int)strcspn(at, "="), at);
}

/* Slices of four pods, each within one rack; the block as a whole holds them. */
static void test_S52_part_of_a_slice_is_replaced_in_the_domain_of_its_slice(void **state)
{
    (void)state;
    char failed[64];
    scene_add(&w, "a", 8,
              "{\"required\":\"" BLOCK "\",\"podSetSliceRequiredTopology\":\"" RACK
              "\",\"podSetSliceSize\":4}",
              0);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    const char *block = pods_on("a", "b1") == 8 ? "b1" : "b2";
    char rack[8];
    (void)snprintf(rack, sizeof rack, "%sr1", block);
    assert_int_equal(pods_on("a", rack), 4);
    first_node_of("a", rack, failed);
    scene_delete_node(&w, failed);
    world_pass(&w, SETTLE_MS);
    assert_string_equal(scene_marked(&w, "a"), failed);
    world_pass(&w, SECOND);
    assert_string_equal(scene_marked(&w, "a"), "");
    assert_int_equal(pods_on("a", failed), 0);
    assert_int_equal(pods_on("a", rack), 4);
    assert_int_equal(pods_on("a", block), 8);
    scene_expect_untouched(&w, "a");
}

/* Slices of four in a rack, made of slices of two on a node: both pods of the inner slice move to one
 * node of the same rack, the rest stays. */
static void test_S53_layers_of_slices_confine_it_to_the_innermost_broken_one(void **state)
{
    (void)state;
    char failed[64];
    scene_add(&w, "a", 8,
              "{\"required\":\"" BLOCK "\",\"podsetSliceRequiredTopologyConstraints\":[{"
              "\"topology\":\"" RACK "\",\"size\":4},{\"topology\":\"kubernetes.io/hostname\","
              "\"size\":2}]}",
              0);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    char rack[8];
    (void)snprintf(rack, sizeof rack, "%sr2", pods_on("a", "b1") == 8 ? "b1" : "b2");
    assert_int_equal(pods_on("a", rack), 4);
    first_node_of("a", rack, failed);
    assert_int_equal(pods_on("a", failed), 2);
    scene_delete_node(&w, failed);
    world_pass(&w, SETTLE_MS);
    world_pass(&w, SECOND);
    assert_int_equal(pods_on("a", failed), 0);
    assert_int_equal(pods_on("a", rack), 4);
    char kept[64];
    first_node_of("a", rack, kept);
    assert_int_equal(pods_on("a", kept), 2);
    scene_expect_untouched(&w, "a");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_S52_part_of_a_slice_is_replaced_in_the_domain_of_its_slice),
        TEST(test_S53_layers_of_slices_confine_it_to_the_innermost_broken_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
