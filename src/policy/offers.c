/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Offers: per queue a singly linked list of cells. A link is an id plus one; 0 says "none". */
#include "policy/offers.h"

#include "kernel/ledger.h"

static struct sl_rules queue_rules[SL_NODES_MAX];
static uint32_t offer_first[SL_NODES_MAX];
static uint32_t offer_last[SL_NODES_MAX];

static uint32_t offer_owner[SL_CELLS_MAX]; /* link to the queue that offers the cell */
static uint32_t offer_next[SL_CELLS_MAX];
static uint32_t offer_group[SL_CELLS_MAX];

static uint32_t pods_link; /* link to the resource that counts pods */

enum sl_status sl_offers_set_rules(sl_node_id node, struct sl_rules rules)
{
    if (node >= SL_NODES_MAX) {
        return SL_REFUSED_NO_NODE_ID;
    }
    queue_rules[node] = rules;
    return SL_OK;
}

struct sl_rules sl_offers_rules(sl_node_id node)
{
    struct sl_rules none = {SL_BEST_EFFORT_FIFO, SL_MAY_STOP_SEARCH};
    return node < SL_NODES_MAX ? queue_rules[node] : none;
}

void sl_offers_clear(sl_node_id node)
{
    if (node >= SL_NODES_MAX) {
        return;
    }
    uint32_t link = offer_first[node];
    while (link != 0) {
        uint32_t next = offer_next[link - 1];
        offer_owner[link - 1] = 0;
        offer_next[link - 1] = 0;
        link = next;
    }
    offer_first[node] = 0;
    offer_last[node] = 0;
}

enum sl_status sl_offers_add(sl_node_id node, uint32_t group, sl_cell_id cell)
{
    if (node >= SL_NODES_MAX) {
        return SL_REFUSED_NO_NODE_ID;
    }
    if (cell >= SL_CELLS_MAX || sl_ledger_node_of(cell) != node) {
        return SL_REFUSED_PLAN_CLAIM;
    }
    if (group >= SL_GROUPS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (offer_owner[cell] != 0) {
        return SL_REFUSED_IN_USE;
    }
    offer_owner[cell] = node + 1;
    offer_group[cell] = group;
    if (offer_last[node] == 0) {
        offer_first[node] = cell + 1;
    } else {
        offer_next[offer_last[node] - 1] = cell + 1;
    }
    offer_last[node] = cell + 1;
    return SL_OK;
}

sl_cell_id sl_offers_first(sl_node_id node)
{
    return node < SL_NODES_MAX && offer_first[node] != 0 ? offer_first[node] - 1 : SL_NO_ID;
}

sl_cell_id sl_offers_next(sl_cell_id cell)
{
    return cell < SL_CELLS_MAX && offer_next[cell] != 0 ? offer_next[cell] - 1 : SL_NO_ID;
}

uint32_t sl_offers_group_of(sl_cell_id cell)
{
    return cell < SL_CELLS_MAX && offer_owner[cell] != 0 ? offer_group[cell] : SL_NO_ID;
}

void sl_offers_set_pods_resource(sl_resource_id resource)
{
    pods_link = resource == SL_NO_ID ? 0 : resource + 1;
}

sl_resource_id sl_offers_pods_resource(void)
{
    return pods_link != 0 ? pods_link - 1 : SL_NO_ID;
}

/* A cell has one successor and one owner, so a list that stays with its owner for no more steps
 * than there are cells, and ends at its last, holds none twice. */
static bool list_valid(sl_node_id node)
{
    uint32_t last = 0;
    uint32_t steps = 0;
    for (uint32_t link = offer_first[node]; link != 0; link = offer_next[link - 1]) {
        if (offer_owner[link - 1] != node + 1 || sl_ledger_node_of(link - 1) != node ||
            steps == SL_CELLS_MAX) {
            return false;
        }
        steps++;
        last = link;
    }
    return last == offer_last[node];
}

bool sl_offers_valid(void)
{
    for (sl_node_id node = 0; node < SL_NODES_MAX; node++) {
        if (offer_first[node] != 0 && !list_valid(node)) {
            return false;
        }
    }
    return true;
}
