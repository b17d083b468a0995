/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Shares as a table, and as data. */
#include "base/check.h"
#include "base/grid.h"
#include "cli/screen/shares.h"
#include <inttypes.h>
#include <stdio.h>

static void print_amount(__int128 nano, enum sl_quantity_format format, char out[static 64])
{
    sl_quantity_print((struct sl_quantity){nano, format}, out);
}

static void add_amount(struct sl_grid *g, __int128 nano, const struct sl_share *s, bool at_most)
{
    char amount[64], text[70];
    print_amount(nano, s->format, amount);
    (void)snprintf(text, sizeof text, "%s%s", at_most ? "<=" : "", amount);
    sl_grid_add(g, text);
}

static void add_name(struct sl_grid *g, const struct sl_shares_node *n)
{
    struct sl_buf name = {0};
    sl_buf_print(&name, "%*s%s%s%s", (int)(2 * n->depth), "", n->is_cohort ? "cohort " : "",
                 n->name, n->in_cycle ? " (in a cycle)" : "");
    sl_grid_add(g, name.data);
    sl_buf_fini(&name);
}

static void print_weight(const struct sl_shares_node *n, char out[static 64])
{
    struct sl_quantity q;
    bool given = n->weight != NULL && sl_quantity_read(n->weight, &q, NULL) == SL_CODE_OK;
    (void)snprintf(out, 64, "%s", n->weighted_share >= 0 ? "1" : "-");
    if (given) {
        sl_quantity_print(q, out);
    }
}

static void add_weight(struct sl_grid *g, const struct sl_shares_node *n)
{
    char weight[64];
    print_weight(n, weight);
    sl_grid_add(g, weight);
    if (n->weighted_share >= 0) {
        sl_grid_add_number(g, n->weighted_share);
    } else {
        sl_grid_add(g, "-");
    }
}

/* The name and what it has as a whole are in its first row only. */
static void add_rows(struct sl_grid *g, const struct sl_shares_node *n)
{
    size_t rows = n->share_count == 0 ? 1 : n->share_count;
    for (size_t i = 0; i < rows; i++) {
        if (i == 0) {
            add_name(g, n);
            add_weight(g, n);
        } else {
            sl_grid_add(g, "");
            sl_grid_add(g, "");
            sl_grid_add(g, "");
        }
        if (n->share_count == 0) {
            for (unsigned k = 0; k < 6; k++) {
                sl_grid_add(g, "-");
            }
            continue;
        }
        const struct sl_share *s = &n->shares[i];
        sl_grid_add(g, s->flavor);
        sl_grid_add(g, s->resource);
        add_amount(g, s->entitled, s, false);
        add_amount(g, s->used, s, false);
        add_amount(g, s->borrowed, s, false);
        add_amount(g, s->lent, s, !s->lent_exactly);
    }
}

void sl_shares_print(const struct sl_shares *s, struct sl_buf *out)
{
    SL_PRE(s != NULL);
    static const char *const titles[] = {"Queue",    "Weight", "Share",    "Flavor", "Resource",
                                         "Entitled", "Used",   "Borrowed", "Lent"};
    struct sl_grid *g = sl_grid_new(sizeof titles / sizeof titles[0]);
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        sl_grid_add_title(g, titles[i]);
    }
    for (size_t i = 0; i < s->count; i++) {
        add_rows(g, &s->nodes[i]);
    }
    sl_grid_print(g, out);
    sl_grid_free(g);
}

static void set_amount(struct sl_json *map, const char *name, __int128 nano,
                       const struct sl_share *s)
{
    char text[64];
    print_amount(nano, s->format, text);
    sl_json_set_text(map, name, text);
}

static struct sl_json *share_json_new(const struct sl_share *s)
{
    struct sl_json *map = sl_json_new_map();
    sl_json_set_text(map, "flavor", s->flavor);
    sl_json_set_text(map, "resource", s->resource);
    set_amount(map, "entitled", s->entitled, s);
    set_amount(map, "used", s->used, s);
    set_amount(map, "borrowed", s->borrowed, s);
    set_amount(map, s->lent_exactly ? "lent" : "lentAtMost", s->lent, s);
    return map;
}

/* A list in the order of the tree; `parent` names the cohort above. */
struct sl_json *sl_shares_json_new(const struct sl_shares *s)
{
    SL_PRE(s != NULL);
    struct sl_json *list = sl_json_new_list();
    const char *above[64] = {0};
    for (size_t i = 0; i < s->count; i++) {
        const struct sl_shares_node *n = &s->nodes[i];
        struct sl_json *item = sl_json_new_map(), *shares = sl_json_new_list();
        unsigned depth = n->depth < 63 ? n->depth : 63;
        above[depth] = n->name;
        sl_json_set_text(item, "kind", n->is_cohort ? "Cohort" : "ClusterQueue");
        sl_json_set_text(item, "name", n->name);
        if (depth > 0) {
            sl_json_set_text(item, "parent", above[depth - 1]);
        }
        if (n->weight != NULL) {
            char weight[64];
            print_weight(n, weight);
            sl_json_set_text(item, "weight", weight);
        }
        if (n->weighted_share >= 0) {
            sl_json_set_int(item, "weightedShare", n->weighted_share);
        }
        for (size_t k = 0; k < n->share_count; k++) {
            sl_json_append(shares, share_json_new(&n->shares[k]));
        }
        sl_json_set(item, "shares", shares);
        sl_json_append(list, item);
    }
    return list;
}
