/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/cel/cel_check.h"
#include "api/cel/cel_value.h"
#include "base/buf.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct sl_cel_sort sl_cel_sort_plain(enum sl_cel_static type)
{
    return (struct sl_cel_sort){.type = type};
}

struct sl_cel_sort sl_cel_refuse(struct sl_cel_checker *c, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (c->wrong->len == 0) {
        sl_buf_text(c->wrong, text);
    }
    return sl_cel_sort_plain(SL_CEL_OF_ANY);
}

const char *sl_cel_sort_name(enum sl_cel_static type)
{
    static const char *const names[] = {[SL_CEL_OF_ANY] = "dyn",
                                        [SL_CEL_OF_NULL] = "null",
                                        [SL_CEL_OF_BOOL] = "bool",
                                        [SL_CEL_OF_INT] = "int",
                                        [SL_CEL_OF_REAL] = "double",
                                        [SL_CEL_OF_TEXT] = "string",
                                        [SL_CEL_OF_LIST] = "list",
                                        [SL_CEL_OF_MAP] = "map",
                                        [SL_CEL_OF_OBJECT] = "object",
                                        [SL_CEL_OF_QUANTITY] = "kubernetes.Quantity",
                                        [SL_CEL_OF_VERSION] = "kubernetes.Semver",
                                        [SL_CEL_OF_TYPE] = "type"};
    return names[type];
}

bool sl_cel_sorts_meet(enum sl_cel_static a, enum sl_cel_static b)
{
    bool maps = (a == SL_CEL_OF_MAP && b == SL_CEL_OF_OBJECT) ||
                (a == SL_CEL_OF_OBJECT && b == SL_CEL_OF_MAP);
    return a == b || a == SL_CEL_OF_ANY || b == SL_CEL_OF_ANY || maps;
}

/* --- schemas ---------------------------------------------------------------------------------- */

static struct sl_cel_sort of_format(struct sl_cel_checker *c, const char *format)
{
    static const char *const others[] = {"byte", "date", "date-time", "duration"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(others[i], format) == 0) {
            return sl_cel_refuse(c, "this server does not evaluate values of the format %s",
                                 format);
        }
    }
    return sl_cel_sort_plain(SL_CEL_OF_TEXT);
}

static struct sl_cel_sort of_schema(struct sl_cel_checker *c, const struct sl_json *schema)
{
    static const struct {
        const char *name;
        enum sl_cel_static type;
    } types[] = {{"boolean", SL_CEL_OF_BOOL},
                 {"integer", SL_CEL_OF_INT},
                 {"number", SL_CEL_OF_REAL},
                 {"array", SL_CEL_OF_LIST}};
    const char *type = sl_json_path_text(schema, "type", "");
    if (strcmp(type, "string") == 0) {
        return of_format(c, sl_json_path_text(schema, "format", ""));
    }
    if (strcmp(type, "object") == 0) {
        bool object = sl_cel_is_object(schema);
        return (struct sl_cel_sort){.type = object ? SL_CEL_OF_OBJECT : SL_CEL_OF_MAP,
                                    .schema = schema};
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, type) == 0) {
            return (struct sl_cel_sort){.type = types[i].type, .schema = schema};
        }
    }
    return sl_cel_sort_plain(SL_CEL_OF_ANY);
}

struct sl_cel_sort sl_cel_sort_of_item(struct sl_cel_checker *c, const struct sl_cel_sort *of)
{
    const struct sl_json *schema = sl_cel_item_schema(of->schema);
    return schema != NULL ? of_schema(c, schema)
                          : (struct sl_cel_sort){.type = of->item, .schema = of->item_schema};
}

/* --- names and members ------------------------------------------------------------------------ */

static struct sl_cel_sort of_name(struct sl_cel_checker *c, const char *name)
{
    for (const struct sl_cel_name *n = c->names; n != NULL; n = n->outer) {
        if (strcmp(n->name, name) == 0) {
            return n->sort;
        }
    }
    if (strcmp(name, "self") == 0 || strcmp(name, "oldSelf") == 0) {
        c->asks_old = c->asks_old || name[0] == 'o';
        return of_schema(c, c->schema);
    }
    return sl_cel_type_named(name) ? sl_cel_sort_plain(SL_CEL_OF_TYPE)
                                   : sl_cel_refuse(c, "undeclared reference to '%.64s'", name);
}

static struct sl_cel_sort of_member(struct sl_cel_checker *c, const struct sl_cel_node *n)
{
    char key[SL_CEL_NAME_MAX];
    struct sl_cel_sort of = sl_cel_sort_of(c, n->first);
    if (of.type == SL_CEL_OF_ANY) {
        return of;
    }
    if (of.type == SL_CEL_OF_MAP) {
        return sl_cel_sort_of_item(c, &of);
    }
    if (of.type != SL_CEL_OF_OBJECT) {
        return sl_cel_refuse(c, "type '%s' does not support field selection",
                             sl_cel_sort_name(of.type));
    }
    const struct sl_json *schema = sl_cel_member_schema(of.schema, n->text, key);
    bool plain = sl_json_path_text(schema, "type", NULL) != NULL ||
                 sl_json_path_bool(schema, "x-kubernetes-int-or-string", false);
    return plain ? of_schema(c, schema) : sl_cel_refuse(c, "undefined field '%.64s'", n->text);
}

static struct sl_cel_sort of_item(struct sl_cel_checker *c, const struct sl_cel_node *n)
{
    struct sl_cel_sort of = sl_cel_sort_of(c, n->first), key = sl_cel_sort_of(c, n->first->next);
    bool list = of.type == SL_CEL_OF_LIST && sl_cel_sorts_meet(key.type, SL_CEL_OF_INT);
    bool map = of.type == SL_CEL_OF_MAP && sl_cel_sorts_meet(key.type, SL_CEL_OF_TEXT);
    return of.type == SL_CEL_OF_ANY ? of
           : list || map            ? sl_cel_sort_of_item(c, &of)
                                    : sl_cel_refuse(c,
                                                    "found no matching overload for '_[_]' applied "
                                                               "to '(%s, %s)'",
                                                    sl_cel_sort_name(of.type), sl_cel_sort_name(key.type));
}

/* --- literals --------------------------------------------------------------------------------- */

static void keep_item(struct sl_cel_checker *c, struct sl_cel_sort *of,
                      const struct sl_cel_sort *item, bool first)
{
    bool beyond = item->type == SL_CEL_OF_QUANTITY || item->type == SL_CEL_OF_VERSION ||
                  item->type == SL_CEL_OF_TYPE;
    if (beyond) {
        (void)sl_cel_refuse(c, "this server does not evaluate lists and maps of type '%s'",
                            sl_cel_sort_name(item->type));
    }
    if (!first && !sl_cel_sorts_meet(of->item, item->type)) {
        (void)sl_cel_refuse(c, "expected type '%s' but found '%s'", sl_cel_sort_name(of->item),
                            sl_cel_sort_name(item->type));
    }
    of->item_schema = first ? item->schema : of->item_schema == item->schema ? item->schema : NULL;
    of->item = first || of->item == item->type ? item->type : SL_CEL_OF_ANY;
    if (of->item == SL_CEL_OF_OBJECT && of->item_schema == NULL) {
        of->item = SL_CEL_OF_ANY;
    }
}

static struct sl_cel_sort of_literal(struct sl_cel_checker *c, const struct sl_cel_node *n)
{
    bool map = n->op == SL_CEL_MAP, first = true;
    struct sl_cel_sort of = {.type = map ? SL_CEL_OF_MAP : SL_CEL_OF_LIST};
    for (const struct sl_cel_node *i = n->first; i != NULL; i = i->next) {
        if (map) {
            struct sl_cel_sort key = sl_cel_sort_of(c, i);
            if (!sl_cel_sorts_meet(key.type, SL_CEL_OF_TEXT)) {
                return sl_cel_refuse(c, "this server does not evaluate maps with keys of type '%s'",
                                     sl_cel_sort_name(key.type));
            }
            i = i->next;
        }
        struct sl_cel_sort item = sl_cel_sort_of(c, i);
        keep_item(c, &of, &item, first);
        first = false;
    }
    return of;
}

/* --- operators -------------------------------------------------------------------------------- */

static struct sl_cel_sort no_overload(struct sl_cel_checker *c, const char *sign,
                                      const struct sl_cel_sort *a, const struct sl_cel_sort *b)
{
    return sl_cel_refuse(c, "found no matching overload for '%s' applied to '(%s%s%s)'", sign,
                         sl_cel_sort_name(a->type), b != NULL ? ", " : "",
                         b != NULL ? sl_cel_sort_name(b->type) : "");
}

static void need_bool(struct sl_cel_checker *c, const struct sl_cel_node *n, const char *sign)
{
    struct sl_cel_sort sort = sl_cel_sort_of(c, n);
    if (sort.type != SL_CEL_OF_BOOL && sort.type != SL_CEL_OF_ANY) {
        (void)no_overload(c, sign, &sort, NULL);
    }
}

static struct sl_cel_sort of_turned(struct sl_cel_checker *c, const struct sl_cel_node *n)
{
    if (n->op == SL_CEL_NOT) {
        need_bool(c, n->first, "!_");
        return sl_cel_sort_plain(SL_CEL_OF_BOOL);
    }
    struct sl_cel_sort a = sl_cel_sort_of(c, n->first);
    bool fits = a.type == SL_CEL_OF_INT || a.type == SL_CEL_OF_REAL || a.type == SL_CEL_OF_ANY;
    return fits ? a : no_overload(c, "-_", &a, NULL);
}

static struct sl_cel_sort of_joined(struct sl_cel_checker *c, const struct sl_cel_node *n)
{
    for (const struct sl_cel_node *part = n->first; part != NULL; part = part->next) {
        need_bool(c, part, n->op == SL_CEL_AND ? "_&&_" : "_||_");
    }
    return sl_cel_sort_plain(SL_CEL_OF_BOOL);
}

static struct sl_cel_sort of_choice(struct sl_cel_checker *c, const struct sl_cel_node *n)
{
    const struct sl_cel_node *yes = n->first->next;
    need_bool(c, n->first, "_?_:_");
    struct sl_cel_sort a = sl_cel_sort_of(c, yes), b = sl_cel_sort_of(c, yes->next);
    if (!sl_cel_sorts_meet(a.type, b.type)) {
        return no_overload(c, "_?_:_", &a, &b);
    }
    return a.type == b.type && a.schema == b.schema && a.item == b.item
               ? a
               : sl_cel_sort_plain(a.type == b.type && a.type <= SL_CEL_OF_TEXT ? a.type
                                                                                : SL_CEL_OF_ANY);
}

static bool is_number(enum sl_cel_static type)
{
    return type == SL_CEL_OF_INT || type == SL_CEL_OF_REAL;
}

static bool can_be_ordered(const struct sl_cel_sort *a, const struct sl_cel_sort *b)
{
    bool numbers = is_number(a->type) && is_number(b->type);
    bool plain = a->type == SL_CEL_OF_BOOL || a->type == SL_CEL_OF_TEXT || is_number(a->type) ||
                 a->type == SL_CEL_OF_ANY;
    return numbers ||
           (plain && (a->type == b->type || a->type == SL_CEL_OF_ANY || b->type == SL_CEL_OF_ANY));
}

static bool can_be_in(struct sl_cel_checker *c, const struct sl_cel_sort *a,
                      const struct sl_cel_sort *b)
{
    struct sl_cel_sort item = sl_cel_sort_of_item(c, b);
    return b->type == SL_CEL_OF_ANY ||
           (b->type == SL_CEL_OF_LIST && sl_cel_sorts_meet(a->type, item.type)) ||
           (b->type == SL_CEL_OF_MAP && sl_cel_sorts_meet(a->type, SL_CEL_OF_TEXT));
}

static struct sl_cel_sort of_relation(struct sl_cel_checker *c, const struct sl_cel_node *n)
{
    static const char *const signs[] = {
        [SL_CEL_EQUAL] = "_==_",      [SL_CEL_UNEQUAL] = "_!=_", [SL_CEL_LESS] = "_<_",
        [SL_CEL_LESS_EQUAL] = "_<=_", [SL_CEL_MORE] = "_>_",     [SL_CEL_MORE_EQUAL] = "_>=_",
        [SL_CEL_IN] = "@in"};
    struct sl_cel_sort a = sl_cel_sort_of(c, n->first), b = sl_cel_sort_of(c, n->first->next);
    bool fits = n->op == SL_CEL_IN ? can_be_in(c, &a, &b)
                : n->op == SL_CEL_EQUAL || n->op == SL_CEL_UNEQUAL
                    ? sl_cel_sorts_meet(a.type, b.type)
                    : can_be_ordered(&a, &b);
    return fits ? sl_cel_sort_plain(SL_CEL_OF_BOOL) : no_overload(c, signs[n->op], &a, &b);
}

static bool is_set(const struct sl_cel_sort *s)
{
    const char *type = sl_json_path_text(s->schema, "x-kubernetes-list-type", "atomic");
    return s->type == SL_CEL_OF_LIST && strcmp(type, "atomic") != 0;
}

static struct sl_cel_sort of_sum(struct sl_cel_checker *c, const struct sl_cel_node *n)
{
    static const char *const signs[] = {[SL_CEL_PLUS] = "_+_",
                                        [SL_CEL_LESS_BY] = "_-_",
                                        [SL_CEL_TIMES] = "_*_",
                                        [SL_CEL_OVER] = "_/_",
                                        [SL_CEL_REST] = "_%_"};
    struct sl_cel_sort a = sl_cel_sort_of(c, n->first), b = sl_cel_sort_of(c, n->first->next);
    enum sl_cel_static type = a.type == SL_CEL_OF_ANY ? b.type : a.type;
    bool joined = n->op == SL_CEL_PLUS && (type == SL_CEL_OF_TEXT || type == SL_CEL_OF_LIST);
    bool fits = type == SL_CEL_OF_ANY || type == SL_CEL_OF_INT || joined ||
                (type == SL_CEL_OF_REAL && n->op != SL_CEL_REST);
    bool same = a.type == b.type || a.type == SL_CEL_OF_ANY || b.type == SL_CEL_OF_ANY;
    if (!fits || !same) {
        return no_overload(c, signs[n->op], &a, &b);
    }
    if (is_set(&a) || is_set(&b)) {
        return sl_cel_refuse(c,
                             "this server does not evaluate sums of lists that are sets or maps");
    }
    struct sl_cel_sort sum = a.type == SL_CEL_OF_ANY ? b : a;
    if (type == SL_CEL_OF_LIST &&
        (a.schema != b.schema || a.item != b.item || a.item_schema != b.item_schema)) {
        sum = sl_cel_sort_plain(SL_CEL_OF_LIST); /* of any items */
    }
    return sum;
}

/* --- loops and names -------------------------------------------------------------------------- */

static struct sl_cel_sort of_loop(struct sl_cel_checker *c, const struct sl_cel_node *n)
{
    struct sl_cel_sort range = sl_cel_sort_of(c, n->first), item;
    const struct sl_cel_node *one = n->first->next;
    enum sl_cel_loop which = (enum sl_cel_loop)n->number;
    if (range.type != SL_CEL_OF_LIST && range.type != SL_CEL_OF_MAP &&
        range.type != SL_CEL_OF_ANY) {
        return sl_cel_refuse(c, "expression of type '%s' cannot be range of a comprehension",
                             sl_cel_sort_name(range.type));
    }
    item = range.type == SL_CEL_OF_MAP ? sl_cel_sort_plain(SL_CEL_OF_TEXT)
                                       : sl_cel_sort_of_item(c, &range);
    struct sl_cel_name name = {.name = n->text, .sort = item, .outer = c->names};
    struct sl_cel_sort made = {.type = SL_CEL_OF_LIST};
    c->names = &name;
    if (which != SL_CEL_EACH || one->next != NULL) {
        need_bool(c, one, "_&&_");
    }
    if (which == SL_CEL_EACH) {
        struct sl_cel_sort each = sl_cel_sort_of(c, one->next != NULL ? one->next : one);
        keep_item(c, &made, &each, true);
    } else if (which == SL_CEL_FILTER) {
        keep_item(c, &made, &item, true);
        made = range.type == SL_CEL_OF_LIST ? range : made;
    }
    c->names = name.outer;
    return which == SL_CEL_EACH || which == SL_CEL_FILTER ? made
                                                          : sl_cel_sort_plain(SL_CEL_OF_BOOL);
}

static struct sl_cel_sort of_bind(struct sl_cel_checker *c, const struct sl_cel_node *n)
{
    struct sl_cel_name name = {
        .name = n->text, .sort = sl_cel_sort_of(c, n->first), .outer = c->names};
    c->names = &name;
    struct sl_cel_sort sort = sl_cel_sort_of(c, n->first->next);
    c->names = name.outer;
    return sort;
}

static struct sl_cel_sort of_has(struct sl_cel_checker *c, const struct sl_cel_node *n)
{
    (void)of_member(c, n);
    return sl_cel_sort_plain(SL_CEL_OF_BOOL);
}

struct sl_cel_sort sl_cel_sort_of(struct sl_cel_checker *c, const struct sl_cel_node *n)
{
    switch (n->op) {
    case SL_CEL_NULL:
        return sl_cel_sort_plain(SL_CEL_OF_NULL);
    case SL_CEL_BOOL:
        return sl_cel_sort_plain(SL_CEL_OF_BOOL);
    case SL_CEL_INT:
        return sl_cel_sort_plain(SL_CEL_OF_INT);
    case SL_CEL_REAL:
        return sl_cel_sort_plain(SL_CEL_OF_REAL);
    case SL_CEL_TEXT:
        return sl_cel_sort_plain(SL_CEL_OF_TEXT);
    case SL_CEL_LIST:
    case SL_CEL_MAP:
        return of_literal(c, n);
    case SL_CEL_NAME:
        return of_name(c, n->text);
    case SL_CEL_MEMBER:
        return of_member(c, n);
    case SL_CEL_HAS:
        return of_has(c, n);
    case SL_CEL_ITEM:
        return of_item(c, n);
    case SL_CEL_CALL:
        return sl_cel_sort_of_call(c, n);
    case SL_CEL_BIND:
        return of_bind(c, n);
    case SL_CEL_NOT:
    case SL_CEL_MINUS:
        return of_turned(c, n);
    case SL_CEL_AND:
    case SL_CEL_OR:
        return of_joined(c, n);
    case SL_CEL_CHOICE:
        return of_choice(c, n);
    case SL_CEL_PLUS:
    case SL_CEL_LESS_BY:
    case SL_CEL_TIMES:
    case SL_CEL_OVER:
    case SL_CEL_REST:
        return of_sum(c, n);
    case SL_CEL_LOOP:
        return of_loop(c, n);
    case SL_CEL_OTHER:
        return sl_cel_refuse(c, "this server does not evaluate %s", n->text);
    default:
        return of_relation(c, n);
    }
}
