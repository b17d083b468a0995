/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What an expression says of a device, or a rule of a value. As CEL has it, && and || forgive an error on one side where the
 * other side decides; values of different types are not equal, and cannot be ordered. */
#include "api/cel/cel_value.h"
#include "base/check.h"
#include <string.h>

static struct sl_cel_value foreign(const char *what)
{
    return (struct sl_cel_value){.type = SL_CEL_IS_FOREIGN, .text = what};
}

/* --- operators -------------------------------------------------------------------------------- */

static struct sl_cel_value needs_bool(struct sl_cel_value v)
{
    return v.type == SL_CEL_IS_BOOL || sl_cel_is_broken(&v) ? v : sl_cel_no_overload();
}

/* The first side that decides, else the first that cannot be evaluated, else the other truth. */
static struct sl_cel_value join(struct sl_cel_run *run, const struct sl_cel_node *n, bool decides)
{
    struct sl_cel_value broken = {.type = SL_CEL_IS_NULL};
    for (const struct sl_cel_node *c = n->first; c != NULL; c = c->next) {
        struct sl_cel_value v = needs_bool(sl_cel_evaluate(run, c));
        if (v.type == SL_CEL_IS_BOOL && (v.number != 0) == decides) {
            return v;
        }
        bool first = broken.type == SL_CEL_IS_NULL || v.type == SL_CEL_IS_FOREIGN;
        if (sl_cel_is_broken(&v) && first && broken.type != SL_CEL_IS_FOREIGN) {
            broken = v;
        }
    }
    return broken.type == SL_CEL_IS_NULL ? sl_cel_truth(!decides) : broken;
}

static bool is_map(const struct sl_cel_value *v)
{
    return v->type == SL_CEL_IS_DEVICE || v->type == SL_CEL_IS_DOMAINS ||
           v->type == SL_CEL_IS_NAMES;
}

struct sl_cel_value sl_cel_equal(struct sl_cel_run *run, const struct sl_cel_value *a,
                                 const struct sl_cel_value *b)
{
    int order;
    if (a->type == SL_CEL_IS_ITEMS || a->type == SL_CEL_IS_MEMBERS) {
        return sl_cel_data_equal(run, a, b);
    }
    if (sl_cel_are_numbers(a, b)) {
        return sl_cel_truth(sl_cel_compare(a, b, &order) && order == 0);
    }
    if (a->type != b->type) {
        return sl_cel_truth(false);
    }
    if (a->type == SL_CEL_IS_NULL) {
        return sl_cel_truth(true);
    }
    if (a->type == SL_CEL_IS_LIST || is_map(a)) {
        return foreign("comparing lists or maps");
    }
    return sl_cel_truth(sl_cel_compare(a, b, &order) && order == 0);
}

static struct sl_cel_value is_in(struct sl_cel_run *run, const struct sl_cel_value *v,
                                 const struct sl_cel_value *of)
{
    struct sl_cel_value found = sl_cel_truth(false);
    if (is_map(of) && of->type != SL_CEL_IS_DEVICE) {
        return v->type == SL_CEL_IS_TEXT ? sl_cel_truth(sl_cel_has_member(run, of, v->text))
                                         : sl_cel_no_overload();
    }
    if (of->type == SL_CEL_IS_ITEMS || of->type == SL_CEL_IS_MEMBERS) {
        return sl_cel_data_in(run, v, of);
    }
    if (of->type != SL_CEL_IS_LIST) {
        return sl_cel_no_overload();
    }
    for (const struct sl_cel_node *c = of->list->first; c != NULL; c = c->next) {
        struct sl_cel_value item = sl_cel_evaluate(run, c);
        struct sl_cel_value same = sl_cel_is_broken(&item) ? item : sl_cel_equal(run, v, &item);
        if (sl_cel_is_broken(&same)) {
            return same; /* a list with an error in it is one */
        }
        if (same.number != 0) {
            found = same;
        }
    }
    return found;
}

static struct sl_cel_value order(enum sl_cel_op op, const struct sl_cel_value *a,
                                 const struct sl_cel_value *b)
{
    int order;
    bool plain = a->type == SL_CEL_IS_BOOL || a->type == SL_CEL_IS_INT ||
                 a->type == SL_CEL_IS_TEXT || a->type == SL_CEL_IS_REAL;
    if (!plain || !sl_cel_compare(a, b, &order)) {
        return sl_cel_no_overload();
    }
    switch (op) {
    case SL_CEL_LESS:
        return sl_cel_truth(order < 0);
    case SL_CEL_LESS_EQUAL:
        return sl_cel_truth(order <= 0);
    case SL_CEL_MORE:
        return sl_cel_truth(order > 0);
    default:
        return sl_cel_truth(order >= 0);
    }
}

bool sl_cel_evaluate_both(struct sl_cel_run *run, const struct sl_cel_node *n,
                          struct sl_cel_value *a, struct sl_cel_value *b)
{
    *a = sl_cel_evaluate(run, n->first);
    if (sl_cel_is_broken(a)) {
        return false;
    }
    *b = sl_cel_evaluate(run, n->first->next);
    if (sl_cel_is_broken(b)) {
        *a = *b;
        return false;
    }
    return true;
}

static struct sl_cel_value relate(struct sl_cel_run *run, const struct sl_cel_node *n)
{
    struct sl_cel_value a, b;
    if (!sl_cel_evaluate_both(run, n, &a, &b)) {
        return a;
    }
    if (!sl_cel_spend_text(run, &a) || !sl_cel_spend_text(run, &b)) {
        return sl_cel_spent();
    }
    if (n->op == SL_CEL_IN) {
        return is_in(run, &a, &b);
    }
    if (n->op != SL_CEL_EQUAL && n->op != SL_CEL_UNEQUAL) {
        return order(n->op, &a, &b);
    }
    struct sl_cel_value same = sl_cel_equal(run, &a, &b);
    return sl_cel_is_broken(&same) ? same
                                   : sl_cel_truth((same.number != 0) == (n->op == SL_CEL_EQUAL));
}

static struct sl_cel_value turn(struct sl_cel_run *run, const struct sl_cel_node *n)
{
    struct sl_cel_value v = sl_cel_evaluate(run, n->first);
    if (sl_cel_is_broken(&v)) {
        return v;
    }
    if (n->op == SL_CEL_NOT) {
        return v.type == SL_CEL_IS_BOOL ? sl_cel_truth(v.number == 0) : sl_cel_no_overload();
    }
    if (v.type == SL_CEL_IS_REAL) {
        return sl_cel_real(-v.real);
    }
    if (v.type != SL_CEL_IS_INT) {
        return sl_cel_no_overload();
    }
    if (v.number == INT64_MIN) {
        return sl_cel_error(run, "integer overflow");
    }
    v.number = -v.number;
    return v;
}

static struct sl_cel_value choose(struct sl_cel_run *run, const struct sl_cel_node *n)
{
    struct sl_cel_value v = needs_bool(sl_cel_evaluate(run, n->first));
    if (sl_cel_is_broken(&v)) {
        return v;
    }
    const struct sl_cel_node *yes = n->first->next;
    return sl_cel_evaluate(run, v.number != 0 ? yes : yes->next);
}

/* --- names ------------------------------------------------------------------------------------ */

static struct sl_cel_value look_up(struct sl_cel_run *run, const char *name)
{
    for (const struct sl_cel_binding *b = run->bindings; b != NULL; b = b->outer) {
        if (strcmp(b->name, name) == 0) {
            return b->value;
        }
    }
    if (run->field != NULL) {
        bool old = strcmp(name, "oldSelf") == 0;
        return old || strcmp(name, "self") == 0
                   ? sl_cel_of_json(old ? run->field->old : run->field->self, run->field->schema)
                   : (struct sl_cel_value){.type = SL_CEL_IS_TYPE, .text = name};
    }
    if (strcmp(name, "device") == 0) {
        return (struct sl_cel_value){.type = SL_CEL_IS_DEVICE};
    }
    return sl_cel_error(run, "undeclared reference to '%.64s'", name);
}

static struct sl_cel_value item(struct sl_cel_run *run, const struct sl_cel_node *n)
{
    struct sl_cel_value of = sl_cel_evaluate(run, n->first);
    if (sl_cel_is_broken(&of)) {
        return of;
    }
    struct sl_cel_value key = sl_cel_evaluate(run, n->first->next);
    if (sl_cel_is_broken(&key)) {
        return key;
    }
    if (of.type == SL_CEL_IS_ITEMS || of.type == SL_CEL_IS_MEMBERS) {
        return sl_cel_data_item(run, &of, &key);
    }
    if (of.type == SL_CEL_IS_LIST) {
        return foreign("items of lists");
    }
    bool fits =
        key.type == SL_CEL_IS_TEXT && (of.type == SL_CEL_IS_DOMAINS || of.type == SL_CEL_IS_NAMES);
    return fits ? sl_cel_member(run, &of, key.text) : sl_cel_no_overload();
}

static struct sl_cel_value member(struct sl_cel_run *run, const struct sl_cel_node *n)
{
    struct sl_cel_value of = sl_cel_evaluate(run, n->first);
    if (sl_cel_is_broken(&of)) {
        return of;
    }
    if (n->op == SL_CEL_HAS && of.type == SL_CEL_IS_NAMES) {
        return sl_cel_truth(sl_cel_has_member(run, &of, n->text));
    }
    if (n->op == SL_CEL_HAS && of.type == SL_CEL_IS_MEMBERS) {
        return sl_cel_truth(sl_cel_data_has(&of, n->text));
    }
    struct sl_cel_value v = of.type == SL_CEL_IS_MEMBERS ? sl_cel_data_member(run, &of, n->text)
                                                         : sl_cel_member(run, &of, n->text);
    return n->op == SL_CEL_HAS && !sl_cel_is_broken(&v) ? sl_cel_truth(true) : v;
}

/* A list is evaluated where it is used: with the names of that place, and each time. */
static struct sl_cel_value no_list(struct sl_cel_value v)
{
    return v.type == SL_CEL_IS_LIST ? foreign("lists with names") : v;
}

/* Evaluated once, and an error only where the name is used. */
static struct sl_cel_value bind(struct sl_cel_run *run, const struct sl_cel_node *n)
{
    struct sl_cel_binding b = {
        .name = n->text, .value = no_list(sl_cel_evaluate(run, n->first)), .outer = run->bindings};
    run->bindings = &b;
    struct sl_cel_value v = no_list(sl_cel_evaluate(run, n->first->next));
    run->bindings = b.outer;
    return v;
}

struct sl_cel_value sl_cel_evaluate(struct sl_cel_run *run, const struct sl_cel_node *n)
{
    if (!sl_cel_spend(run, 1)) {
        return sl_cel_spent();
    }
    switch (n->op) {
    case SL_CEL_NULL:
        return (struct sl_cel_value){.type = SL_CEL_IS_NULL};
    case SL_CEL_BOOL:
        return sl_cel_truth(n->number != 0);
    case SL_CEL_INT:
        return sl_cel_whole(n->number);
    case SL_CEL_REAL:
        return sl_cel_real(n->real);
    case SL_CEL_TEXT:
        return sl_cel_text(n->text);
    case SL_CEL_MAP:
        return sl_cel_data_new(run, n);
    case SL_CEL_LIST:
        return run->field != NULL ? sl_cel_data_new(run, n)
                                  : (struct sl_cel_value){.type = SL_CEL_IS_LIST, .list = n};
    case SL_CEL_NAME:
        return look_up(run, n->text);
    case SL_CEL_MEMBER:
    case SL_CEL_HAS:
        return member(run, n);
    case SL_CEL_ITEM:
        return item(run, n);
    case SL_CEL_CALL:
        return sl_cel_call(run, n);
    case SL_CEL_BIND:
        return bind(run, n);
    case SL_CEL_NOT:
    case SL_CEL_MINUS:
        return turn(run, n);
    case SL_CEL_AND:
        return join(run, n, false);
    case SL_CEL_OR:
        return join(run, n, true);
    case SL_CEL_CHOICE:
        return choose(run, n);
    case SL_CEL_PLUS:
    case SL_CEL_LESS_BY:
    case SL_CEL_TIMES:
    case SL_CEL_OVER:
    case SL_CEL_REST:
        return sl_cel_compute(run, n);
    case SL_CEL_LOOP:
        return sl_cel_loop(run, n);
    case SL_CEL_OTHER:
        return foreign(n->text);
    default:
        return relate(run, n);
    }
}

enum sl_cel_answer sl_cel_select(const struct sl_cel *c, const struct sl_cel_device *d,
                                 struct sl_buf *why)
{
    SL_PRE(c != NULL && d != NULL && d->driver != NULL);
    struct sl_cel_run run = {.device = d};
    struct sl_cel_value v = sl_cel_evaluate(&run, c->root);
    enum sl_cel_answer answer = v.type == SL_CEL_IS_FOREIGN ? SL_CEL_FOREIGN
                                : v.type != SL_CEL_IS_BOOL  ? SL_CEL_FAILED
                                : v.number != 0             ? SL_CEL_YES
                                                            : SL_CEL_NO;
    if (why != NULL && sl_cel_is_broken(&v)) {
        sl_buf_text(why, v.text);
    } else if (why != NULL && answer == SL_CEL_FAILED) {
        sl_buf_text(why, "the result is not a bool");
    }
    sl_json_free(run.kept);
    return answer;
}
