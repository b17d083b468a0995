/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Quota questions: what is available in a ClusterQueue, and dominant resource shares. */
#include "conformance.h"
#include "policy/fair/shares.h"
#include <stdio.h>
#include <string.h>

enum question { AVAILABLE, POTENTIAL };

/* As Kueue says it: what a cut of quotas has made negative is nothing, and there is no end of what
 * is not limited. */
static int64_t shown(sl_cell_id cell, enum question question)
{
    int64_t amount = question == AVAILABLE ? sl_ledger_available(cell) : sl_ledger_potential(cell);
    return amount >= SL_AMOUNT_UNLIMITED ? INT64_MAX : amount < 0 ? 0 : amount;
}

/* Of the cells that the answer names, and so none besides. */
static void expect_cells(const struct conf_world *w, const char *what,
                         const struct sl_json *expected, enum question question)
{
    void *it = NULL;
    const char *queue;
    struct sl_json *flavors;
    while (sl_json_next(expected, &it, &queue, &flavors)) {
        sl_qnode_id node = conf_queue_node(w, queue);
        void *f = NULL;
        const char *flavor;
        struct sl_json *resources;
        while (sl_json_next(flavors, &f, &flavor, &resources)) {
            void *r = NULL;
            const char *resource;
            struct sl_json *amount;
            while (sl_json_next(resources, &r, &resource, &amount)) {
                char path[512];
                sl_cell_id cell = conf_cell(w, node, flavor, resource);
                (void)snprintf(path, sizeof path, "%s[%s][%s][%s]", what, queue, flavor, resource);
                conf_expect_int(path, sl_json_int(amount, 0), shown(cell, question));
            }
        }
    }
}

static void run_available(const struct conf_case *c, const struct conf_world *w)
{
    void *it = NULL;
    const char *queue;
    struct sl_json *usage;
    expect_cells(w, "potentiallyAvailable", sl_json_get(c->expect, "potentiallyAvailable"),
                 POTENTIAL);
    while (sl_json_next(sl_json_get(c->input, "usage"), &it, &queue, &usage)) {
        conf_charge(w, conf_queue_node(w, queue), usage);
    }
    expect_cells(w, "available", sl_json_get(c->expect, "available"), AVAILABLE);
}

/* "ClusterQueue/name" or "Cohort/name". */
static sl_qnode_id named_node(const struct conf_world *w, const char *name)
{
    const char *slash = strchr(name, '/');
    return sl_qnode_find(w->g, strncmp(name, "ClusterQueue/", 13) == 0, slash + 1);
}

static void expect_share(const struct conf_world *w, const char *name,
                         const struct sl_json *expected)
{
    char path[512];
    struct sl_share share = sl_shares_of(named_node(w, name));
    const char *resource = share.borrowed == 0 ? "" : conf_resource_name(w, share.resource);
    (void)snprintf(path, sizeof path, "%s.weightedShare", name);
    conf_expect_int(path, sl_json_path_int(expected, "weightedShare", 0), sl_shares_shown(share));
    (void)snprintf(path, sizeof path, "%s.dominantResource", name);
    conf_expect_text(path, sl_json_path_text(expected, "dominantResource", ""), resource);
    (void)snprintf(path, sizeof path, "%s.borrowing", name);
    conf_expect_bool(path, sl_json_path_bool(expected, "borrowing", false), share.borrowed > 0);
}

static void run_shares(const struct conf_case *c, const struct conf_world *w)
{
    void *it = NULL;
    const char *name;
    struct sl_json *expected;
    sl_qnode_id node = conf_queue_node(w, sl_json_path_text(c->input, "clusterQueue", ""));
    conf_charge(w, node, sl_json_get(c->input, "usage"));
    conf_charge(w, node, sl_json_get(c->input, "additionalRequest"));
    while (sl_json_next(sl_json_get(c->expect, "shares"), &it, &name, &expected)) {
        expect_share(w, name, expected);
    }
}

void conf_run_quota(const struct conf_case *c)
{
    struct conf_world w;
    conf_world_open(&w, c, NULL);
    if (strcmp(sl_json_path_text(c->input, "op", ""), "available") == 0) {
        run_available(c, &w);
    } else {
        run_shares(c, &w);
    }
}
