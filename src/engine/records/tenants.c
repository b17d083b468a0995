/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rows in one pool, each in the doubly linked list of its site and in the list of its workload.
 * Links are one more than the row: zeroed memory has none. */
#include "engine/records/tenants.h"
#include "base/check.h"
#include "base/mem.h"

struct row {
    sl_workload_id workload;
    sl_site_id site;
    uint32_t next; /* of the site */
    uint32_t prev;
    uint32_t next_of; /* of the workload; of a free row: the next free one */
    bool lost;
};

struct sl_tenants {
    struct row *rows;
    uint32_t row_count;
    uint32_t row_cap;
    uint32_t first_free;
    uint32_t *sites; /* first row of each */
    uint32_t site_cap;
    uint32_t *workloads;
    uint32_t workload_cap;
};

struct sl_tenants *sl_tenants_new(void)
{
    return sl_mem_new(1, sizeof(struct sl_tenants));
}

void sl_tenants_free(struct sl_tenants *t)
{
    if (t != NULL) {
        sl_mem_free(t->rows);
        sl_mem_free(t->sites);
        sl_mem_free(t->workloads);
        sl_mem_free(t);
    }
}

static uint32_t take_row(struct sl_tenants *t)
{
    if (t->first_free != 0) {
        uint32_t row = t->first_free - 1;
        t->first_free = t->rows[row].next_of;
        return row;
    }
    t->rows = sl_mem_reach(t->rows, &t->row_cap, 64, t->row_count, sizeof *t->rows);
    return t->row_count++;
}

/* Rows of one workload come one after the other, so that one on the same site is the site's
 * first. */
static void add(struct sl_tenants *t, sl_workload_id id, sl_site_id site)
{
    t->sites = sl_mem_reach(t->sites, &t->site_cap, 64, site, sizeof *t->sites);
    uint32_t head = t->sites[site];
    if (head != 0 && t->rows[head - 1].workload == id) {
        return;
    }
    uint32_t row = take_row(t);
    t->rows[row] =
        (struct row){.workload = id, .site = site, .next = head, .next_of = t->workloads[id]};
    if (head != 0) {
        t->rows[head - 1].prev = row + 1;
    }
    t->sites[site] = row + 1;
    t->workloads[id] = row + 1;
}

static void clear(struct sl_tenants *t, sl_workload_id id)
{
    while (t->workloads[id] != 0) {
        uint32_t row = t->workloads[id] - 1;
        struct row *r = &t->rows[row];
        t->workloads[id] = r->next_of;
        if (r->prev != 0) {
            t->rows[r->prev - 1].next = r->next;
        } else {
            t->sites[r->site] = r->next;
        }
        if (r->next != 0) {
            t->rows[r->next - 1].prev = r->prev;
        }
        r->next_of = t->first_free;
        t->first_free = row + 1;
    }
}

void sl_tenants_list(struct sl_tenants *t, sl_workload_id id)
{
    SL_PRE(t != NULL);
    uint32_t count = sl_topology_assignment_count(id);
    t->workloads = sl_mem_reach(t->workloads, &t->workload_cap, 64, id, sizeof *t->workloads);
    clear(t, id);
    for (uint32_t i = 0; i < count; i++) {
        sl_site_id site = sl_domain_site(sl_topology_assignment_at(id, i).domain);
        SL_ASSERT(site != SL_NO_ID);
        add(t, id, site);
    }
}

bool sl_tenants_listed(const struct sl_tenants *t, sl_workload_id id)
{
    SL_PRE(t != NULL);
    return id < t->workload_cap && t->workloads[id] != 0;
}

static uint32_t row_of(uint32_t link)
{
    return link == 0 ? SL_NO_ID : link - 1;
}

uint32_t sl_tenants_first(const struct sl_tenants *t, sl_site_id site)
{
    SL_PRE(t != NULL);
    return site < t->site_cap ? row_of(t->sites[site]) : SL_NO_ID;
}

uint32_t sl_tenants_next(const struct sl_tenants *t, uint32_t row)
{
    SL_PRE(t != NULL);
    return row_of(t->rows[row].next);
}

uint32_t sl_tenants_first_of(const struct sl_tenants *t, sl_workload_id id)
{
    SL_PRE(t != NULL);
    return id < t->workload_cap ? row_of(t->workloads[id]) : SL_NO_ID;
}

uint32_t sl_tenants_next_of(const struct sl_tenants *t, uint32_t row)
{
    SL_PRE(t != NULL);
    return row_of(t->rows[row].next_of);
}

sl_workload_id sl_tenants_workload(const struct sl_tenants *t, uint32_t row)
{
    SL_PRE(t != NULL);
    return t->rows[row].workload;
}

sl_site_id sl_tenants_site(const struct sl_tenants *t, uint32_t row)
{
    SL_PRE(t != NULL);
    return t->rows[row].site;
}

uint32_t sl_tenants_find(const struct sl_tenants *t, sl_workload_id id, sl_site_id site)
{
    uint32_t row = sl_tenants_first(t, site);
    while (row != SL_NO_ID && t->rows[row].workload != id) {
        row = row_of(t->rows[row].next);
    }
    return row;
}

void sl_tenants_note_loss(struct sl_tenants *t, uint32_t row)
{
    SL_PRE(t != NULL);
    t->rows[row].lost = true;
}

bool sl_tenants_has_lost(const struct sl_tenants *t, uint32_t row)
{
    SL_PRE(t != NULL);
    return t->rows[row].lost;
}
