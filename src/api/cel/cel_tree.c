/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Nodes of an expression, and what calls become. */
#include "api/cel/cel_tree.h"
#include "base/buf.h"
#include "base/mem.h"
#include <string.h>

void sl_cel_fail(struct sl_cel_parser *p, const char *wrong)
{
    if (p->wrong == NULL) {
        p->wrong = wrong;
        p->wrong_at = (size_t)(p->t.at - p->start);
    }
}

void sl_cel_node_free(struct sl_cel_node *n)
{
    while (n != NULL) {
        struct sl_cel_node *next = n->next;
        sl_cel_node_free(n->first);
        sl_mem_free(n->text);
        sl_mem_free(n);
        n = next;
    }
}

struct sl_cel_node *sl_cel_make(enum sl_cel_op op)
{
    struct sl_cel_node *n = sl_mem_new(1, sizeof *n);
    n->op = op;
    n->depth = 1;
    return n;
}

void sl_cel_add(struct sl_cel_parser *p, struct sl_cel_node *n, struct sl_cel_node *child)
{
    if (n->last == NULL) {
        n->first = child;
    } else {
        n->last->next = child;
    }
    n->last = child;
    n->depth = n->depth > child->depth ? n->depth : child->depth + 1;
    if (n->depth > SL_CEL_DEPTH_MAX) {
        sl_cel_fail(p, "nested too deep");
    }
}

struct sl_cel_node *sl_cel_make_of(struct sl_cel_parser *p, enum sl_cel_op op,
                                   struct sl_cel_node *first, struct sl_cel_node *second)
{
    struct sl_cel_node *n = sl_cel_make(op);
    sl_cel_add(p, n, first);
    if (second != NULL) {
        sl_cel_add(p, n, second);
    }
    return n;
}

/* A node in place of what is not evaluated. */
struct sl_cel_node *sl_cel_give_up(struct sl_cel_parser *p, struct sl_cel_node *n, const char *what,
                                   const char *name)
{
    struct sl_buf text = {0};
    struct sl_cel_node *other = sl_cel_make(SL_CEL_OTHER);
    sl_buf_print(&text, "%s%s", what, name);
    other->text = sl_buf_take(&text);
    if (p->foreign == NULL) {
        p->foreign = sl_mem_text(other->text);
    }
    sl_cel_node_free(n);
    return other;
}

/* --- calls ------------------------------------------------------------------------------------ */

static const struct function {
    const char *name;
    bool method;
    unsigned count; /* of arguments */
} functions[] = {{"size", false, 1},         {"size", true, 0},       {"quantity", false, 1},
                 {"semver", false, 1},       {"contains", true, 1},   {"startsWith", true, 1},
                 {"endsWith", true, 1},      {"lowerAscii", true, 0}, {"compareTo", true, 1},
                 {"isGreaterThan", true, 1}, {"isLessThan", true, 1}};

static bool is_known(const char *name, bool method, unsigned count)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        const struct function *f = &functions[i];
        if (strcmp(f->name, name) == 0 && f->method == method && f->count == count) {
            return true;
        }
    }
    return false;
}

static unsigned count_of(const struct sl_cel_node *n)
{
    unsigned count = 0;
    for (const struct sl_cel_node *c = n->first; c != NULL; c = c->next) {
        count++;
    }
    return count;
}

/* has(a.b) asks for a member instead of using it. */
static struct sl_cel_node *make_has(struct sl_cel_parser *p, struct sl_cel_node *call)
{
    struct sl_cel_node *member = call->first;
    if (member == NULL || member->next != NULL ||
        (member->op != SL_CEL_MEMBER && member->op != SL_CEL_OTHER)) {
        sl_cel_fail(p, "has() takes one member");
    } else if (member->op == SL_CEL_MEMBER) {
        member->op = SL_CEL_HAS;
    }
    call->first = NULL;
    sl_cel_node_free(call);
    return member == NULL ? sl_cel_make(SL_CEL_NULL) : member;
}

/* cel.bind(name, init, expression) */
static bool is_bind(const struct sl_cel_node *call)
{
    const struct sl_cel_node *on = call->first;
    return call->method && strcmp(call->text, "bind") == 0 && on->op == SL_CEL_NAME &&
           strcmp(on->text, "cel") == 0 && count_of(call) == 4 && on->next->op == SL_CEL_NAME;
}

static struct sl_cel_node *make_bind(struct sl_cel_node *call)
{
    struct sl_cel_node *on = call->first;
    struct sl_cel_node *name = on->next;
    sl_mem_free(call->text);
    call->op = SL_CEL_BIND;
    call->text = name->text;
    name->text = NULL;
    call->first = name->next;
    name->next = NULL;
    sl_cel_node_free(on);
    return call;
}

/* list.all(name, expression) and the like: the name becomes the loop's. NULL: it is none of these. */
static struct sl_cel_node *make_loop(struct sl_cel_node *call, unsigned count)
{
    static const char *const names[] = {[SL_CEL_ALL] = "all",
                                        [SL_CEL_EXISTS] = "exists",
                                        [SL_CEL_EXISTS_ONE] = "exists_one",
                                        [SL_CEL_FILTER] = "filter",
                                        [SL_CEL_EACH] = "map"};
    struct sl_cel_node *name = call->method ? call->first->next : NULL;
    for (size_t i = 0; name != NULL && i < sizeof names / sizeof names[0]; i++) {
        bool fits = count == 2 || (count == 3 && i == SL_CEL_EACH);
        if (fits && name->op == SL_CEL_NAME && strcmp(call->text, names[i]) == 0) {
            sl_mem_free(call->text);
            call->op = SL_CEL_LOOP;
            call->number = (int64_t)i;
            call->text = name->text;
            name->text = NULL;
            call->first->next = name->next;
            name->next = NULL;
            sl_cel_node_free(name);
            return call;
        }
    }
    return NULL;
}

struct sl_cel_node *sl_cel_finish_call(struct sl_cel_parser *p, struct sl_cel_node *call)
{
    unsigned count = count_of(call) - (call->method ? 1u : 0u);
    if (p->wrong != NULL) {
        return call;
    }
    if (!call->method && strcmp(call->text, "has") == 0) {
        return make_has(p, call);
    }
    if (is_bind(call)) {
        return make_bind(call);
    }
    if (p->rules) {
        struct sl_cel_node *loop = make_loop(call, count);
        return loop != NULL ? loop : call; /* sl_cel_check knows which functions there are */
    }
    if (is_known(call->text, call->method, count)) {
        return call;
    }
    struct sl_buf name = {0};
    sl_buf_print(&name, "%.64s", call->text);
    struct sl_cel_node *other = sl_cel_give_up(p, call, "the function ", name.data);
    sl_buf_fini(&name);
    return other;
}
