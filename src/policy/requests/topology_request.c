/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One record beside each pod set record of requests.h; requests in lists from a pool. A link is an
 * index plus one; 0 says "none". */
#include "policy/requests/topology_request.h"

#define REQUESTS_MAX 8388608u /* of all pod sets together */

struct layer {
    sl_level_id level;
    uint32_t size;
};
struct record {
    bool given;
    bool asked;
    bool elastic;
    enum sl_together together;
    sl_level_id level;
    sl_mask_id mask;
    uint32_t rank_group;
    uint32_t layer_count;
    struct layer layers[SL_LAYERS_MAX];
    uint32_t first_request;
};
static struct record records[SL_REQUESTS_POD_SETS];

static struct sl_measure_amount requests[REQUESTS_MAX];
static uint32_t request_next[REQUESTS_MAX];
static uint32_t request_free;
static uint32_t request_limit; /* beyond it, never used */

/* clang-format off */
#define POOL                                                                                       \
    requests[0 .. REQUESTS_MAX - 1], request_next[0 .. REQUESTS_MAX - 1], request_free,            \
        request_limit
/* clang-format on */

/*@
  // Every link is none or names a request, so that following it is safe.
  predicate RequestLinks{L} = request_free <= REQUESTS_MAX && request_limit <= REQUESTS_MAX &&
    (\forall integer i; 0 <= i < REQUESTS_MAX ==> request_next[i] <= REQUESTS_MAX) &&
    (\forall integer p; 0 <= p < SL_REQUESTS_POD_SETS ==>
       records[p].first_request <= REQUESTS_MAX && records[p].layer_count <= SL_LAYERS_MAX);
*/

/*@ requires links: RequestLinks; terminates \true; exits \false;
    assigns request_free, request_limit;
    ensures links: RequestLinks; ensures known: \result <= REQUESTS_MAX; */
static uint32_t take_request(void)
{
    uint32_t link = request_free;
    if (link != 0) {
        request_free = request_next[link - 1];
    } else if (request_limit < REQUESTS_MAX) {
        link = ++request_limit;
    }
    return link;
}

/*@ requires links: RequestLinks && link <= REQUESTS_MAX; terminates \true; exits \false;
    assigns request_free, request_next[0 .. REQUESTS_MAX - 1]; ensures links: RequestLinks; */
static void give_requests(uint32_t link)
{
    /*@
      loop invariant links: RequestLinks && link <= REQUESTS_MAX;
      loop assigns steps, link, request_free, request_next[0 .. REQUESTS_MAX - 1];
      loop variant SL_TOPOLOGY_REQUESTS_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < SL_TOPOLOGY_REQUESTS_MAX; steps++) {
        uint32_t next = request_next[link - 1];
        request_next[link - 1] = request_free;
        request_free = link;
        link = next;
    }
}

/*@ requires links: RequestLinks; terminates \true; exits \false;
    assigns request_free, request_next[0 .. REQUESTS_MAX - 1], records[pod_set];
    ensures links: RequestLinks; */
void sl_topology_request_drop(uint32_t pod_set)
{
    if (pod_set < SL_REQUESTS_POD_SETS) {
        give_requests(records[pod_set].first_request);
        records[pod_set] = (struct record){0};
    }
}

/* In the order of their measures, as a plan has them. */
/*@ requires links: RequestLinks && pod_set < SL_REQUESTS_POD_SETS && 1 <= link <= REQUESTS_MAX;
    terminates \true; exits \false;
    assigns records[pod_set].first_request, request_next[0 .. REQUESTS_MAX - 1];
    ensures links: RequestLinks; */
static void insert_request(uint32_t pod_set, uint32_t link)
{
    uint32_t before = 0;
    uint32_t at = records[pod_set].first_request;
    /*@
      loop invariant links: before <= REQUESTS_MAX && at <= REQUESTS_MAX;
      loop assigns steps, before, at;
      loop variant SL_TOPOLOGY_REQUESTS_MAX - steps;
    */
    for (uint32_t steps = 0; at != 0 && steps < SL_TOPOLOGY_REQUESTS_MAX &&
                             requests[at - 1].measure < requests[link - 1].measure;
         steps++) {
        before = at;
        at = request_next[at - 1];
    }
    request_next[link - 1] = at;
    if (before == 0) {
        records[pod_set].first_request = link;
    } else {
        request_next[before - 1] = link;
    }
}

/*@ requires links: RequestLinks && pod_set < SL_REQUESTS_POD_SETS &&
      request.layer_count <= SL_LAYERS_MAX;
    terminates \true; exits \false; assigns records[pod_set];
    ensures links: RequestLinks; */
static void copy_head(uint32_t pod_set, struct sl_topology_request request)
{
    records[pod_set] = (struct record){.given = true,
                                       .asked = request.asked,
                                       .elastic = request.elastic,
                                       .together = request.together,
                                       .level = request.level,
                                       .mask = request.mask,
                                       .rank_group = request.rank_group,
                                       .layer_count = request.layer_count};
    /*@
      loop assigns i, records[pod_set].layers[0 .. SL_LAYERS_MAX - 1];
      loop variant request.layer_count - i;
    */
    for (uint32_t i = 0; i < request.layer_count; i++) {
        records[pod_set].layers[i].level = request.layers[i].level;
        records[pod_set].layers[i].size = request.layers[i].size;
    }
}

/*@ requires links: RequestLinks; terminates \true; exits \false;
    assigns POOL, records[pod_set]; ensures links: RequestLinks; */
enum sl_status sl_topology_request_keep(uint32_t pod_set, struct sl_topology_request request)
{
    sl_topology_request_drop(pod_set);
    copy_head(pod_set, request);
    /*@
      loop invariant links: RequestLinks;
      loop assigns i, POOL, records[pod_set].first_request;
      loop variant request.request_count - i;
    */
    for (uint32_t i = 0; i < request.request_count; i++) {
        uint32_t link = take_request();
        if (link == 0) {
            sl_topology_request_drop(pod_set);
            return SL_FULL_WORKLOADS;
        }
        requests[link - 1] = request.requests[i];
        insert_request(pod_set, link);
    }
    return SL_OK;
}

/*@ requires links: RequestLinks; terminates \true; exits \false; assigns \nothing; */
struct sl_topology_request sl_topology_request_of(uint32_t pod_set)
{
    struct sl_topology_request request = {
        .level = SL_NO_ID, .mask = SL_NO_ID, .rank_group = SL_NO_ID};
    if (pod_set >= SL_REQUESTS_POD_SETS || !records[pod_set].given) {
        return request;
    }
    request.together = records[pod_set].together;
    request.level = records[pod_set].level;
    request.asked = records[pod_set].asked;
    request.elastic = records[pod_set].elastic;
    request.mask = records[pod_set].mask;
    request.rank_group = records[pod_set].rank_group;
    request.layer_count = records[pod_set].layer_count;
    /*@
      loop assigns i, request.layers[0 .. SL_LAYERS_MAX - 1];
      loop variant SL_LAYERS_MAX - i;
    */
    for (uint32_t i = 0; i < records[pod_set].layer_count && i < SL_LAYERS_MAX; i++) {
        request.layers[i].level = records[pod_set].layers[i].level;
        request.layers[i].size = records[pod_set].layers[i].size;
    }
    uint32_t link = records[pod_set].first_request;
    /*@
      loop invariant links: link <= REQUESTS_MAX &&
        request.request_count <= SL_TOPOLOGY_REQUESTS_MAX;
      loop assigns i, link, request.request_count,
                   request.requests[0 .. SL_TOPOLOGY_REQUESTS_MAX - 1];
      loop variant SL_TOPOLOGY_REQUESTS_MAX - i;
    */
    for (uint32_t i = 0; link != 0 && i < SL_TOPOLOGY_REQUESTS_MAX; i++) {
        request.requests[i] = requests[link - 1];
        request.request_count = i + 1;
        link = request_next[link - 1];
    }
    return request;
}

/*@ requires links: RequestLinks; terminates \true; exits \false;
    assigns records[pod_set].mask; ensures links: RequestLinks; */
enum sl_status sl_topology_request_set_mask(uint32_t pod_set, sl_mask_id mask)
{
    if (pod_set >= SL_REQUESTS_POD_SETS || !records[pod_set].given ||
        (mask != SL_NO_ID && mask >= SL_MASKS_MAX)) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    records[pod_set].mask = mask;
    return SL_OK;
}
