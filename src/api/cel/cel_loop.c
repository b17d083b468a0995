/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* all, exists, exists_one, filter and map: an expression for each item of a list, or for each key of a map. */
#include "api/cel/cel_value.h"

struct loop {
    struct sl_cel_run *run;
    const struct sl_cel_node *node;
    struct sl_cel_binding item;
    struct sl_json *made;       /* of filter and map */
    struct sl_cel_value broken; /* all, exists: the first; NULL: none */
    unsigned found;
    bool decided;
};

/* all and exists forgive errors where another item decides, as && and || do. */
static void join(struct loop *l, const struct sl_cel_value *v, bool decides)
{
    if (v->type == SL_CEL_IS_BOOL) {
        l->decided = (v->number != 0) == decides;
    } else if (l->broken.type == SL_CEL_IS_NULL) {
        l->broken = sl_cel_is_broken(v) ? *v : sl_cel_no_overload();
    }
}

/* False: the first error ends it. */
static bool take(struct loop *l)
{
    const struct sl_cel_node *one = l->node->first->next, *two = one->next;
    struct sl_cel_value v = sl_cel_evaluate(l->run, one);
    enum sl_cel_loop which = (enum sl_cel_loop)l->node->number;
    if (which == SL_CEL_ALL || which == SL_CEL_EXISTS) {
        join(l, &v, which == SL_CEL_EXISTS);
        return true;
    }
    bool asks = which != SL_CEL_EACH || two != NULL;
    if (asks && v.type != SL_CEL_IS_BOOL) {
        l->broken = sl_cel_is_broken(&v) ? v : sl_cel_no_overload();
        return false;
    }
    if (asks && v.number == 0) {
        return true;
    }
    l->found++;
    v = which == SL_CEL_FILTER ? l->item.value : two != NULL ? sl_cel_evaluate(l->run, two) : v;
    if (sl_cel_is_broken(&v)) {
        l->broken = v;
        return false;
    }
    if (l->made != NULL) {
        (void)sl_cel_spend_text(l->run, &v);
        sl_json_append(l->made, sl_cel_to_json(&v));
    }
    return true;
}

/* False: no more is needed. */
static bool step(struct loop *l, struct sl_cel_value item)
{
    l->item.value = item;
    if (!sl_cel_spend(l->run, 1)) {
        l->broken = sl_cel_spent();
        return false;
    }
    return take(l) && !l->decided;
}

static void go_through(struct loop *l, const struct sl_cel_value *range)
{
    bool more = true;
    if (range->type == SL_CEL_IS_ITEMS) {
        for (size_t i = 0; i < sl_json_len(range->map) && more; i++) {
            more = step(l, sl_cel_item_at(range, i));
        }
        return;
    }
    for (struct sl_json_member m = {0}; more && sl_json_each(range->map, &m);) {
        more = step(l, sl_cel_text(m.key));
    }
}

struct sl_cel_value sl_cel_loop(struct sl_cel_run *run, const struct sl_cel_node *n)
{
    enum sl_cel_loop which = (enum sl_cel_loop)n->number;
    struct sl_cel_value range = sl_cel_evaluate(run, n->first), kept = {.type = SL_CEL_IS_NULL};
    struct loop l = {.run = run, .node = n, .broken = {.type = SL_CEL_IS_NULL}};
    if (sl_cel_is_broken(&range)) {
        return range;
    }
    if (range.type != SL_CEL_IS_ITEMS && range.type != SL_CEL_IS_MEMBERS) {
        return sl_cel_no_overload();
    }
    if (which == SL_CEL_FILTER || which == SL_CEL_EACH) {
        l.made = sl_json_new_list();
        kept = sl_cel_keep_made(run, l.made);
        kept.schema = which == SL_CEL_FILTER && range.type == SL_CEL_IS_ITEMS ? range.schema : NULL;
    }
    l.item = (struct sl_cel_binding){.name = n->text, .outer = run->bindings};
    run->bindings = &l.item;
    go_through(&l, &range);
    run->bindings = l.item.outer;
    if (l.decided) {
        return sl_cel_truth(which == SL_CEL_EXISTS);
    }
    if (l.broken.type != SL_CEL_IS_NULL) {
        return l.broken;
    }
    return l.made != NULL               ? kept
           : which == SL_CEL_EXISTS_ONE ? sl_cel_truth(l.found == 1)
                                        : sl_cel_truth(which == SL_CEL_ALL);
}
