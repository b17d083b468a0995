/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which functions rules have, and of which types. */
#include "api/cel/cel_check.h"
#include "api/cel/cel_value.h"
#include "api/json/pattern.h"
#include <string.h>

#define ANY SL_CEL_OF_ANY
#define TEXT SL_CEL_OF_TEXT
#define INT SL_CEL_OF_INT
#define BOOL SL_CEL_OF_BOOL
#define LIST SL_CEL_OF_LIST
#define QUANTITY SL_CEL_OF_QUANTITY
#define VERSION SL_CEL_OF_VERSION

static const struct function {
    const char *name;
    bool method;
    unsigned count; /* of arguments, with that one on which it is called */
    enum sl_cel_static args[SL_CEL_ARGUMENTS_MAX], result;
} functions[] = {
    {"size", false, 1, {TEXT}, INT},
    {"size", true, 1, {TEXT}, INT},
    {"size", false, 1, {LIST}, INT},
    {"size", true, 1, {LIST}, INT},
    {"size", false, 1, {SL_CEL_OF_MAP}, INT},
    {"size", true, 1, {SL_CEL_OF_MAP}, INT},
    {"contains", true, 2, {TEXT, TEXT}, BOOL},
    {"startsWith", true, 2, {TEXT, TEXT}, BOOL},
    {"endsWith", true, 2, {TEXT, TEXT}, BOOL},
    {"matches", true, 2, {TEXT, TEXT}, BOOL},
    {"lowerAscii", true, 1, {TEXT}, TEXT},
    {"upperAscii", true, 1, {TEXT}, TEXT},
    {"trim", true, 1, {TEXT}, TEXT},
    {"indexOf", true, 2, {TEXT, TEXT}, INT},
    {"substring", true, 2, {TEXT, INT}, TEXT},
    {"substring", true, 3, {TEXT, INT, INT}, TEXT},
    {"replace", true, 3, {TEXT, TEXT, TEXT}, TEXT},
    {"split", true, 2, {TEXT, TEXT}, LIST},
    {"join", true, 1, {LIST}, TEXT},
    {"join", true, 2, {LIST, TEXT}, TEXT},
    {"int", false, 1, {TEXT}, INT},
    {"int", false, 1, {INT}, INT},
    {"int", false, 1, {SL_CEL_OF_REAL}, INT},
    {"double", false, 1, {TEXT}, SL_CEL_OF_REAL},
    {"double", false, 1, {INT}, SL_CEL_OF_REAL},
    {"double", false, 1, {SL_CEL_OF_REAL}, SL_CEL_OF_REAL},
    {"string", false, 1, {TEXT}, TEXT},
    {"string", false, 1, {INT}, TEXT},
    {"string", false, 1, {BOOL}, TEXT},
    {"string", false, 1, {SL_CEL_OF_REAL}, TEXT},
    {"type", false, 1, {ANY}, SL_CEL_OF_TYPE},
    {"isQuantity", false, 1, {TEXT}, BOOL},
    {"quantity", false, 1, {TEXT}, QUANTITY},
    {"semver", false, 1, {TEXT}, VERSION},
    {"compareTo", true, 2, {QUANTITY, QUANTITY}, INT},
    {"isGreaterThan", true, 2, {QUANTITY, QUANTITY}, BOOL},
    {"isLessThan", true, 2, {QUANTITY, QUANTITY}, BOOL},
    {"compareTo", true, 2, {VERSION, VERSION}, INT},
    {"isGreaterThan", true, 2, {VERSION, VERSION}, BOOL},
    {"isLessThan", true, 2, {VERSION, VERSION}, BOOL},
};
#undef ANY
#undef TEXT
#undef INT
#undef BOOL
#undef LIST
#undef QUANTITY
#undef VERSION

static bool takes(const struct function *f, const struct sl_cel_sort *args)
{
    for (unsigned i = 0; i < f->count; i++) {
        if (f->args[i] != SL_CEL_OF_ANY && args[i].type != SL_CEL_OF_ANY &&
            args[i].type != f->args[i]) {
            return false;
        }
    }
    return true;
}

/* Which patterns there will be has to be known before, as some cannot be matched. */
static void check_pattern(struct sl_cel_checker *c, const struct sl_cel_node *pattern)
{
    struct sl_error e = {0};
    if (pattern == NULL || pattern->op != SL_CEL_TEXT) {
        (void)sl_cel_refuse(c, "this server does not evaluate matches() of a pattern that is made");
    } else if (sl_pattern_check(pattern->text, &e) != SL_CODE_OK) {
        (void)sl_cel_refuse(c, "matches(): %.150s", e.text);
    }
}

static struct sl_cel_sort no_overload(struct sl_cel_checker *c, const struct sl_cel_node *n,
                                      const struct sl_cel_sort *args, unsigned count)
{
    struct sl_buf types = {0};
    sl_buf_text(&types, "");
    for (unsigned i = 0; i < count; i++) {
        sl_buf_print(&types, "%s%s", i > 0 ? ", " : "", sl_cel_sort_name(args[i].type));
    }
    struct sl_cel_sort sort = sl_cel_refuse(
        c, "found no matching overload for '%.64s' applied to '(%.100s)'", n->text, types.data);
    sl_buf_fini(&types);
    return sort;
}

struct sl_cel_sort sl_cel_sort_of_call(struct sl_cel_checker *c, const struct sl_cel_node *n)
{
    struct sl_cel_sort args[SL_CEL_ARGUMENTS_MAX];
    unsigned count = 0;
    bool known = false;
    for (const struct sl_cel_node *i = n->first; i != NULL; i = i->next) {
        if (count == SL_CEL_ARGUMENTS_MAX) {
            return sl_cel_refuse(c, "this server does not evaluate the function %.64s", n->text);
        }
        args[count++] = sl_cel_sort_of(c, i);
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        const struct function *f = &functions[i];
        bool same = strcmp(f->name, n->text) == 0 && f->method == n->method;
        known = known || same;
        if (!same || f->count != count || !takes(f, args)) {
            continue;
        }
        if (strcmp(f->name, "matches") == 0) {
            check_pattern(c, n->last);
        }
        struct sl_cel_sort result = {.type = f->result};
        result.item = strcmp(f->name, "split") == 0 ? SL_CEL_OF_TEXT : SL_CEL_OF_ANY;
        return result;
    }
    return known ? no_overload(c, n, args, count)
                 : sl_cel_refuse(c, "this server does not evaluate the function %.64s", n->text);
}
