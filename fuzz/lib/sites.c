/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/sites.h"
#include "fuzz/lib/check.h"
#include "kernel/topology/topology.h"
#include <string.h>

enum { MEASURES = 3 }; /* pods, CPU, memory */

static int64_t used[HOSTS][MEASURES], promised[HOSTS][MEASURES], wanted[HOSTS][MEASURES];
static uint32_t last_host; /* of this plan; HOSTS: none */

void sites_shift(sl_workload_id id, int sign)
{
    for (uint32_t i = 0; i < sl_booking_count(id); i++) {
        struct sl_booking b = sl_booking_at(id, i);
        CHECK(b.site < HOSTS && b.measure < MEASURES);
        used[b.site][b.measure] += sign * b.amount;
    }
}

void sites_hold(void)
{
    memset(used, 0, sizeof used);
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        sites_shift(id, 1);
    }
}

void sites_begin(sl_workload_id id)
{
    memset(promised, 0, sizeof promised);
    last_host = HOSTS;
    sites_ask_nothing(id);
}

void sites_ask_nothing(sl_workload_id id)
{
    memset(wanted, 0, sizeof wanted);
    sl_topology_plan.workload = id;
    sl_topology_plan.set_count = sl_topology_plan.row_count = 0;
}

static int64_t left(uint32_t host, sl_measure_id measure)
{
    int64_t free = sl_site_capacity_of(host, measure) - used[host][measure];
    return free > 0 ? free : 0;
}

static bool is_host(uint32_t host)
{
    return host < HOSTS && sl_domain_site(HOST + host) == host &&
           sl_domain_tree(HOST + host) == PLACED;
}

/* False: the host is not in the tree. */
static bool add_row(uint32_t host, uint32_t count, int64_t per_pod)
{
    struct sl_topology_set *set = &sl_topology_plan.sets[0];
    if (count == 0 || sl_domain_site(HOST + host) != host ||
        sl_domain_tree(HOST + host) != PLACED) {
        return false;
    }
    sl_topology_plan.rows[sl_topology_plan.row_count++] =
        (struct sl_topology_row){HOST + host, count};
    set->count += count;
    set->row_count++;
    wanted[host][SL_MEASURE_PODS] += count;
    wanted[host][CPU] += count * per_pod;
    return true;
}

/* Half of the time the one of before: what was promised there. */
static uint32_t choose_host(uint32_t where)
{
    uint32_t host = where % HOSTS;
    for (uint32_t i = 0; i < HOSTS && !is_host(host); i++) {
        host = (host + 1) % HOSTS;
    }
    last_host = where < 128 || !is_host(last_host) ? host : last_host;
    return last_host;
}

void sites_ask(struct producer *p, sl_workload_id id, bool all)
{
    uint32_t where = producer_byte(p), how = producer_byte(p);
    uint32_t host = choose_host(where);
    uint32_t pods = 1 + how % 4;
    int64_t cpu = how / 4 % 8;
    if (all) {
        int64_t most = left(host, SL_MEASURE_PODS) - how % 2;
        pods = most > 0 && most < 20 ? (uint32_t)most : 1;
        cpu = (left(host, CPU) - how / 2 % 2) / pods;
        cpu = cpu > 0 ? cpu : 0;
    }
    sites_ask_nothing(id);
    sl_topology_plan.sets[0] = (struct sl_topology_set){
        .tree = PLACED, .within = SL_NO_ID, .request_count = 1, .requests = {{CPU, cpu}}};
    (void)add_row(host, pods, cpu);
    if (how >= 192) {
        (void)add_row((host + 1 + how % (HOSTS - 1)) % HOSTS, 1 + how / 32 % 2, cpu);
    }
    sl_topology_plan.set_count = sl_topology_plan.row_count > 0;
}

void sites_promise(void)
{
    memset(promised, 0, sizeof promised);
    if (sl_topology_plan.set_count > 0 && sl_topology_promise() == SL_OK) {
        memcpy(promised, wanted, sizeof promised);
    }
}

void sites_take_promises(void)
{
    for (uint32_t h = 0; h < HOSTS; h++) {
        for (uint32_t m = 0; m < MEASURES; m++) {
            used[h][m] += promised[h][m];
        }
    }
}

bool sites_suffice(void)
{
    for (uint32_t h = 0; h < HOSTS; h++) {
        for (uint32_t m = 0; m < MEASURES; m++) {
            if (wanted[h][m] > 0 && used[h][m] + wanted[h][m] > sl_site_capacity_of(h, m)) {
                return false;
            }
        }
    }
    return true;
}
