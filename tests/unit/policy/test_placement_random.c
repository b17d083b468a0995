/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Random clusters and questions: a place is found exactly when counting says that there is one, and
 * the kernel takes every plan. */
#include "place_world.h"

static uint64_t seed = 20261121;

static uint32_t below(uint32_t limit)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(seed >> 33) % limit;
}

struct question {
    enum sl_together together;
    uint32_t depth; /* at which pods stay together */
    uint32_t count;
    uint32_t layers;
    struct sl_topology_layer layer[2];
};

static struct question random_question(void)
{
    static const enum sl_together ways[] = {SL_TOGETHER_REQUIRED, SL_TOGETHER_PREFERRED,
                                            SL_TOGETHER_UNCONSTRAINED};
    struct question q = {.together = ways[below(3)], .depth = below(3), .count = 1 + below(30)};
    uint32_t inner = 1 + below(3);
    uint32_t outer = inner * (1 + below(3));
    uint32_t from = q.together == SL_TOGETHER_UNCONSTRAINED ? 0 : q.depth;
    uint32_t depth = from + below(3 - from);
    q.layers = below(3);
    if (q.layers == 2 && depth == 2) {
        q.layers = 1;
    }
    if (q.layers > 0) {
        q.layer[0] = (struct sl_topology_layer){.depth = depth, .size = outer};
        q.layer[1] = (struct sl_topology_layer){.depth = 2, .size = inner};
        q.count = (q.count + outer - 1) / outer * outer;
    }
    return q;
}

static void ask(const struct question *q, int64_t cpu)
{
    struct sl_topology_request d = pw_requests(cpu);
    d.together = q->together;
    if (q->together != SL_TOGETHER_UNCONSTRAINED) {
        d.level = pw_levels.ids[q->depth];
    }
    for (uint32_t i = 0; i < q->layers; i++) {
        pw_slices(&d, pw_levels.ids[q->layer[i].depth], q->layer[i].size);
    }
    sl_requests_clear(PLACED);
    sl_placement_question.set_count = 0;
    pw_ask(&d, q->count);
}

/* --- counting, the plain way ------------------------------------------------------------------ */

static uint32_t node_pods[NODES];

/* Whole slices of the domain of that depth which begins at this node. */
static uint32_t slices_in(const struct question *q, uint32_t depth, uint32_t node)
{
    const uint32_t width[] = {4, 2, 1};
    uint32_t outer_depth = q->layers > 0 ? q->layer[0].depth : 2;
    uint32_t outer_size = q->layers > 0 ? q->layer[0].size : 1;
    uint32_t inner_size = q->layers > 1 ? q->layer[1].size : 1;
    uint32_t slices = 0;
    for (uint32_t at = node; at < node + width[depth]; at += width[outer_depth]) {
        uint32_t pods = 0;
        for (uint32_t n = at; n < at + width[outer_depth]; n += 2) {
            uint32_t rack = 0; /* inner slices also round what racks give to a block */
            for (uint32_t k = n; k < n + 2 && k < at + width[outer_depth]; k++) {
                rack += node_pods[k] / inner_size * inner_size;
            }
            pods += rack;
        }
        slices += pods / outer_size;
    }
    return slices;
}

static bool has_place(const struct question *q)
{
    const uint32_t width[] = {4, 2, 1};
    uint32_t need = q->count / (q->layers > 0 ? q->layer[0].size : 1);
    uint32_t all = 0;
    for (uint32_t node = 0; node < NODES; node += width[q->depth]) {
        if (q->together == SL_TOGETHER_REQUIRED && slices_in(q, q->depth, node) >= need) {
            return true;
        }
    }
    for (uint32_t node = 0; node < NODES; node += width[0]) {
        all += slices_in(q, 0, node);
    }
    return q->together != SL_TOGETHER_REQUIRED && all >= need;
}

static void fill_rooms(int64_t cpu)
{
    for (uint32_t n = 0; n < NODES; n++) {
        int64_t pods = below(8);
        int64_t capacity = below(60);
        pw_capacity(n, pods, capacity);
        node_pods[n] = (uint32_t)(capacity / cpu < pods ? capacity / cpu : pods);
    }
}

static uint32_t run(uint32_t rounds)
{
    uint32_t found_count = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        int64_t cpu = 1 + below(20);
        struct question q = random_question();
        fill_rooms(cpu);
        ask(&q, cpu);
        bool found = sl_placement_find();
        assert_int_equal(found, has_place(&q));
        if (found) {
            assert_int_equal(sl_topology_check(), SL_OK);
            found_count++;
        } else {
            assert_int_equal(sl_placement_failure.miss, SL_PLACEMENT_NO_FIT);
        }
    }
    return found_count;
}

static void test_placement_finds_a_place_exactly_when_there_is_one(void **state)
{
    (void)state;
    uint32_t found = run(20000);
    assert_in_range(found, 5000, 15000);
}

static void test_placement_balanced_loses_no_place(void **state)
{
    (void)state;
    sl_settings.balanced_placement = true;
    uint32_t found = run(20000);
    assert_in_range(found, 5000, 15000);
}

static void test_placement_without_mixed_profile_loses_no_place(void **state)
{
    (void)state;
    sl_settings.profile_mixed = false;
    uint32_t found = run(5000);
    assert_in_range(found, 1000, 4000);
}

/* Leader and workers: whatever is found, the kernel takes. */
static void test_placement_of_leaders_is_always_in_form(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        int64_t cpu = 1 + below(20);
        struct question q = random_question();
        fill_rooms(cpu);
        sl_settings.balanced_placement = below(2) == 0;
        ask(&q, cpu);
        struct sl_topology_request workers =
            sl_topology_request_of(sl_placement_question.sets[0].record);
        struct sl_topology_request leader = pw_requests(1 + below(40));
        leader.together = workers.together;
        leader.level = workers.level;
        leader.rank_group = 5;
        workers.rank_group = 5;
        sl_requests_clear(PLACED);
        sl_placement_question.set_count = 0;
        pw_ask(&workers, q.count);
        pw_ask(&leader, 1);
        if (sl_placement_find()) {
            assert_int_equal(sl_topology_check(), SL_OK);
            assert_int_equal(sl_topology_plan.sets[1].row_count, 1);
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, pw_open, pw_close)
    const struct CMUnitTest tests[] = {
        TEST(test_placement_finds_a_place_exactly_when_there_is_one),
        TEST(test_placement_balanced_loses_no_place),
        TEST(test_placement_without_mixed_profile_loses_no_place),
        TEST(test_placement_of_leaders_is_always_in_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
