/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Lists and maps in rules: literals, members, items, what is equal (sets and maps by keys in any order), and what + - * / % make. */
#include "api/cel/cel_value.h"
#include <string.h>

/* --- literals --------------------------------------------------------------------------------- */

static struct sl_cel_value map_new(struct sl_cel_run *run, const struct sl_cel_node *n)
{
    struct sl_json *map = sl_json_new_map();
    struct sl_cel_value kept = sl_cel_keep_made(run, map);
    for (const struct sl_cel_node *c = n->first; c != NULL; c = c->next->next) {
        struct sl_cel_value key = sl_cel_evaluate(run, c);
        struct sl_cel_value v = sl_cel_is_broken(&key) ? key : sl_cel_evaluate(run, c->next);
        if (sl_cel_is_broken(&v)) {
            return v;
        }
        if (key.type != SL_CEL_IS_TEXT) {
            return sl_cel_no_overload();
        }
        if (sl_json_has(map, key.text)) {
            return sl_cel_error(run, "Failed with repeated key");
        }
        sl_json_set(map, key.text, sl_cel_to_json(&v));
    }
    return kept;
}

struct sl_cel_value sl_cel_data_new(struct sl_cel_run *run, const struct sl_cel_node *n)
{
    if (n->op == SL_CEL_MAP) {
        return map_new(run, n);
    }
    struct sl_json *list = sl_json_new_list();
    struct sl_cel_value kept = sl_cel_keep_made(run, list);
    for (const struct sl_cel_node *c = n->first; c != NULL; c = c->next) {
        struct sl_cel_value v = sl_cel_evaluate(run, c);
        if (sl_cel_is_broken(&v)) {
            return v;
        }
        sl_json_append(list, sl_cel_to_json(&v));
    }
    return kept;
}

/* --- members and items ------------------------------------------------------------------------ */

/* Where a member of that name is: the name itself, or the one that is meant by it in an object. */
static const char *key_of(const struct sl_cel_value *of, const char *name,
                          char key[static SL_CEL_NAME_MAX])
{
    bool map = of->schema != NULL && !sl_cel_is_object(of->schema);
    return map || sl_json_has(of->map, name) || !sl_cel_unescape(name, key) ? name : key;
}

/* Of a field of an object null says that there is none; of a map's key it is a value. */
static bool is_there(const struct sl_cel_value *of, const char *key)
{
    return sl_json_get(of->map, key) != NULL ||
           (!sl_cel_is_object(of->schema) && sl_json_has(of->map, key));
}

bool sl_cel_data_has(const struct sl_cel_value *of, const char *name)
{
    char key[SL_CEL_NAME_MAX];
    return is_there(of, key_of(of, name, key));
}

static const struct sl_json *schema_of(const struct sl_json *schema, const char *key)
{
    return sl_cel_is_object(schema) ? sl_json_get(sl_json_get(schema, "properties"), key)
                                    : sl_cel_item_schema(schema);
}

struct sl_cel_value sl_cel_data_member(struct sl_cel_run *run, const struct sl_cel_value *of,
                                       const char *name)
{
    char buffer[SL_CEL_NAME_MAX];
    const char *key = key_of(of, name, buffer);
    if (!is_there(of, key)) {
        return sl_cel_error(run, "no such key: %.64s", key);
    }
    return sl_cel_of_json(sl_json_get(of->map, key), schema_of(of->schema, key));
}

struct sl_cel_value sl_cel_data_item(struct sl_cel_run *run, const struct sl_cel_value *of,
                                     const struct sl_cel_value *key)
{
    if (of->type == SL_CEL_IS_MEMBERS && key->type == SL_CEL_IS_TEXT) {
        return sl_json_has(of->map, key->text) ? sl_cel_of_json(sl_json_get(of->map, key->text),
                                                                schema_of(of->schema, key->text))
                                               : sl_cel_error(run, "no such key: %.64s", key->text);
    }
    if (of->type != SL_CEL_IS_ITEMS || key->type != SL_CEL_IS_INT) {
        return sl_cel_no_overload();
    }
    if (key->number < 0 || (uint64_t)key->number >= sl_json_len(of->map)) {
        return sl_cel_error(run, "index out of bounds: %lld", (long long)key->number);
    }
    return sl_cel_item_at(of, (size_t)key->number);
}

/* --- equality --------------------------------------------------------------------------------- */

static bool any_order(const struct sl_json *schema)
{
    return strcmp(sl_json_path_text(schema, "x-kubernetes-list-type", "atomic"), "atomic") != 0;
}

/* Is each item of `a` one of `b`? */
static struct sl_cel_value all_in(struct sl_cel_run *run, const struct sl_cel_value *a,
                                  const struct sl_cel_value *b)
{
    struct sl_cel_value found = sl_cel_truth(true);
    for (size_t i = 0; i < sl_json_len(a->map) && found.number != 0; i++) {
        struct sl_cel_value item = sl_cel_item_at(a, i);
        found = sl_cel_data_in(run, &item, b);
        if (sl_cel_is_broken(&found)) {
            return found;
        }
    }
    return found;
}

static struct sl_cel_value items_equal(struct sl_cel_run *run, const struct sl_cel_value *a,
                                       const struct sl_cel_value *b)
{
    if (any_order(a->schema) || any_order(b->schema)) {
        return all_in(run, a, b);
    }
    for (size_t i = 0; i < sl_json_len(a->map); i++) {
        struct sl_cel_value x = sl_cel_item_at(a, i), y = sl_cel_item_at(b, i);
        struct sl_cel_value same =
            sl_cel_spend(run, 1) ? sl_cel_equal(run, &x, &y) : sl_cel_spent();
        if (same.type != SL_CEL_IS_BOOL || same.number == 0) {
            return same;
        }
    }
    return sl_cel_truth(true);
}

struct sl_cel_value sl_cel_data_equal(struct sl_cel_run *run, const struct sl_cel_value *a,
                                      const struct sl_cel_value *b)
{
    if (a->type != b->type || sl_json_len(a->map) != sl_json_len(b->map)) {
        return sl_cel_truth(false);
    }
    if (a->type == SL_CEL_IS_ITEMS) {
        return items_equal(run, a, b);
    }
    for (struct sl_json_member m = {0}; sl_json_each(a->map, &m);) {
        if (!sl_json_has(b->map, m.key)) {
            return sl_cel_truth(false);
        }
        struct sl_cel_value x = sl_cel_of_json(m.value, schema_of(a->schema, m.key));
        struct sl_cel_value y =
            sl_cel_of_json(sl_json_get(b->map, m.key), schema_of(b->schema, m.key));
        struct sl_cel_value same =
            sl_cel_spend(run, 1) ? sl_cel_equal(run, &x, &y) : sl_cel_spent();
        if (same.type != SL_CEL_IS_BOOL || same.number == 0) {
            return same;
        }
    }
    return sl_cel_truth(true);
}

struct sl_cel_value sl_cel_data_in(struct sl_cel_run *run, const struct sl_cel_value *v,
                                   const struct sl_cel_value *of)
{
    if (of->type == SL_CEL_IS_MEMBERS) {
        return v->type == SL_CEL_IS_TEXT ? sl_cel_truth(sl_json_has(of->map, v->text))
                                         : sl_cel_no_overload();
    }
    struct sl_cel_value same = sl_cel_truth(false);
    for (size_t i = 0; i < sl_json_len(of->map) && same.number == 0; i++) {
        struct sl_cel_value item = sl_cel_item_at(of, i);
        same = sl_cel_spend(run, 1) && sl_cel_spend_text(run, &item) ? sl_cel_equal(run, v, &item)
                                                                     : sl_cel_spent();
        if (sl_cel_is_broken(&same)) {
            return same;
        }
    }
    return same;
}

/* --- what + - * / % make of them ------------------------------------------------------------------ */

static struct sl_cel_value whole(struct sl_cel_run *run, enum sl_cel_op op, int64_t a, int64_t b)
{
    int64_t n = 0;
    bool beyond = false;
    if ((op == SL_CEL_OVER || op == SL_CEL_REST) && b == 0) {
        return sl_cel_error(run, op == SL_CEL_OVER ? "division by zero" : "modulus by zero");
    }
    switch (op) {
    case SL_CEL_PLUS:
        beyond = __builtin_add_overflow(a, b, &n);
        break;
    case SL_CEL_LESS_BY:
        beyond = __builtin_sub_overflow(a, b, &n);
        break;
    case SL_CEL_TIMES:
        beyond = __builtin_mul_overflow(a, b, &n);
        break;
    default:
        beyond = a == INT64_MIN && b == -1;
        n = beyond ? 0 : op == SL_CEL_OVER ? a / b : a % b;
    }
    return beyond ? sl_cel_error(run, "integer overflow") : sl_cel_whole(n);
}

static struct sl_cel_value real(enum sl_cel_op op, double a, double b)
{
    return op == SL_CEL_PLUS      ? sl_cel_real(a + b)
           : op == SL_CEL_LESS_BY ? sl_cel_real(a - b)
           : op == SL_CEL_TIMES   ? sl_cel_real(a * b)
           : op == SL_CEL_OVER    ? sl_cel_real(a / b)
                                  : sl_cel_no_overload();
}

static struct sl_cel_value join_texts(struct sl_cel_run *run, const char *a, const char *b)
{
    struct sl_buf text = {0};
    sl_buf_print(&text, "%s%s", a, b);
    struct sl_cel_value v = sl_cel_text(sl_cel_keep(run, text.data));
    sl_buf_fini(&text);
    return v;
}

static struct sl_cel_value join_lists(struct sl_cel_run *run, const struct sl_cel_value *a,
                                      const struct sl_cel_value *b)
{
    struct sl_json *list = sl_json_new_list();
    struct sl_cel_value kept = sl_cel_keep_made(run, list);
    const struct sl_cel_value *const both[] = {a, b};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < sl_json_len(both[k]->map); i++) {
            struct sl_cel_value item = sl_cel_item_at(both[k], i);
            if (!sl_cel_spend(run, 1) || !sl_cel_spend_text(run, &item)) {
                return sl_cel_spent();
            }
            sl_json_append(list, sl_cel_to_json(&item));
        }
    }
    kept.schema = a->schema == b->schema ? a->schema : NULL;
    return kept;
}

struct sl_cel_value sl_cel_compute(struct sl_cel_run *run, const struct sl_cel_node *n)
{
    struct sl_cel_value a, b;
    if (!sl_cel_evaluate_both(run, n, &a, &b)) {
        return a;
    }
    if (a.type != b.type ||
        (a.type != SL_CEL_IS_INT && a.type != SL_CEL_IS_REAL && n->op != SL_CEL_PLUS)) {
        return sl_cel_no_overload();
    }
    switch (a.type) {
    case SL_CEL_IS_INT:
        return whole(run, n->op, a.number, b.number);
    case SL_CEL_IS_REAL:
        return real(n->op, a.real, b.real);
    case SL_CEL_IS_TEXT:
        return join_texts(run, a.text, b.text);
    case SL_CEL_IS_ITEMS:
        return join_lists(run, &a, &b);
    default:
        return sl_cel_no_overload();
    }
}
