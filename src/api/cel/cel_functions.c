/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The functions: size, contains, startsWith, endsWith, lowerAscii of texts; quantity and semver, and
 * compareTo, isGreaterThan and isLessThan of what they make. cel_parse.c knows them by name. */
#include "api/cel/cel_value.h"
#include "base/check.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

/* --- versions --------------------------------------------------------------------------------- */

static bool is_part(char c)
{
    return isalnum((unsigned char)c) != 0 || c == '-';
}

/* A number without a zero before it. */
static bool read_number(const char **at, uint64_t *n)
{
    const char *start = *at;
    *n = 0;
    for (; isdigit((unsigned char)**at) != 0; (*at)++) {
        if (__builtin_mul_overflow(*n, (uint64_t)10, n) ||
            __builtin_add_overflow(*n, (uint64_t)(**at - '0'), n)) {
            return false;
        }
    }
    return *at != start && (*start != '0' || *at == start + 1);
}

/* Parts with dots between them, up to where they end. */
static bool read_parts(const char **at, bool numbers_plain)
{
    for (;;) {
        const char *start = *at;
        bool digits = true;
        for (; is_part(**at); (*at)++) {
            digits = digits && isdigit((unsigned char)**at) != 0;
        }
        if (*at == start || (numbers_plain && digits && *start == '0' && *at != start + 1)) {
            return false;
        }
        if (**at != '.') {
            return true;
        }
        (*at)++;
    }
}

bool sl_cel_read_version(const char *text, struct sl_cel_version *out)
{
    const char *at = text;
    for (unsigned i = 0; i < 3; i++) {
        if ((i > 0 && *at++ != '.') || !read_number(&at, &out->numbers[i])) {
            return false;
        }
    }
    out->pre = *at == '-' ? at + 1 : "";
    if (*at == '-') {
        at++;
        if (!read_parts(&at, true)) {
            return false;
        }
    }
    if (*at == '+') {
        at++;
        if (!read_parts(&at, false)) {
            return false;
        }
    }
    return *at == '\0';
}

static int sign_of(bool less, bool more)
{
    return less ? -1 : more ? 1 : 0;
}

/* Numbers come before words. */
static int compare_part(const char *a, size_t a_len, const char *b, size_t b_len)
{
    bool a_digits = strspn(a, "0123456789") >= a_len;
    bool b_digits = strspn(b, "0123456789") >= b_len;
    if (a_digits != b_digits) {
        return a_digits ? -1 : 1;
    }
    if (a_digits && a_len != b_len) {
        return a_len < b_len ? -1 : 1; /* without zeros before them */
    }
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return order != 0 ? sign_of(order<0, order> 0) : sign_of(a_len<b_len, a_len> b_len);
}

/* A version comes after those that lead to it. */
static int compare_pre(const char *a, const char *b)
{
    if (*a == '\0' || *b == '\0') {
        return sign_of(*a != '\0' && *b == '\0', *a == '\0' && *b != '\0');
    }
    for (;;) {
        size_t a_len = strcspn(a, ".+");
        size_t b_len = strcspn(b, ".+");
        int order = compare_part(a, a_len, b, b_len);
        bool a_more = a[a_len] == '.';
        bool b_more = b[b_len] == '.';
        if (order != 0 || !a_more || !b_more) {
            return order != 0 ? order : sign_of(!a_more && b_more, a_more && !b_more);
        }
        a += a_len + 1;
        b += b_len + 1;
    }
}

static int compare_versions(const struct sl_cel_version *a, const struct sl_cel_version *b)
{
    for (unsigned i = 0; i < 3; i++) {
        if (a->numbers[i] != b->numbers[i]) {
            return a->numbers[i] < b->numbers[i] ? -1 : 1;
        }
    }
    return compare_pre(a->pre, b->pre);
}

static bool is_number(const struct sl_cel_value *v)
{
    return v->type == SL_CEL_IS_INT || v->type == SL_CEL_IS_REAL;
}

bool sl_cel_are_numbers(const struct sl_cel_value *a, const struct sl_cel_value *b)
{
    return is_number(a) && is_number(b);
}

/* False: one of them is not a number. */
static bool compare_reals(const struct sl_cel_value *a, const struct sl_cel_value *b, int *order)
{
    double x = a->type == SL_CEL_IS_REAL ? a->real : (double)a->number;
    double y = b->type == SL_CEL_IS_REAL ? b->real : (double)b->number;
    *order = sign_of(x<y, x> y);
    return !isnan(x) && !isnan(y);
}

bool sl_cel_compare(const struct sl_cel_value *a, const struct sl_cel_value *b, int *order)
{
    if (sl_cel_are_numbers(a, b) && (a->type == SL_CEL_IS_REAL || b->type == SL_CEL_IS_REAL)) {
        return compare_reals(a, b, order);
    }
    if (a->type != b->type) {
        return false;
    }
    switch (a->type) {
    case SL_CEL_IS_BOOL:
    case SL_CEL_IS_INT:
        *order = sign_of(a->number<b->number, a->number> b->number);
        return true;
    case SL_CEL_IS_TYPE:
    case SL_CEL_IS_TEXT: {
        int bytes = strcmp(a->text, b->text);
        *order = sign_of(bytes<0, bytes> 0);
        return true;
    }
    case SL_CEL_IS_QUANTITY:
        *order = sign_of(a->quantity.nano<b->quantity.nano, a->quantity.nano> b->quantity.nano);
        return true;
    case SL_CEL_IS_VERSION:
        *order = compare_versions(&a->version, &b->version);
        return true;
    default:
        return false;
    }
}

/* --- calls ------------------------------------------------------------------------------------ */

static int64_t characters(const char *text)
{
    int64_t n = 0;
    for (; *text != '\0'; text++) {
        n += ((unsigned char)*text & 0xC0u) != 0x80u;
    }
    return n;
}

static struct sl_cel_value size_of(const struct sl_cel_value *v)
{
    int64_t n = 0;
    if (v->type == SL_CEL_IS_TEXT) {
        return sl_cel_whole(characters(v->text));
    }
    if (v->type == SL_CEL_IS_LIST) {
        for (const struct sl_cel_node *c = v->list->first; c != NULL; c = c->next) {
            n++;
        }
        return sl_cel_whole(n);
    }
    if (v->type == SL_CEL_IS_ITEMS || v->type == SL_CEL_IS_MEMBERS) {
        return sl_cel_whole((int64_t)sl_json_len(v->map));
    }
    return v->type == SL_CEL_IS_DOMAINS || v->type == SL_CEL_IS_NAMES
               ? (struct sl_cel_value){.type = SL_CEL_IS_FOREIGN, .text = "the size of maps"}
               : sl_cel_no_overload();
}

static struct sl_cel_value make(struct sl_cel_run *run, const char *name,
                                const struct sl_cel_value *v)
{
    struct sl_cel_value made = {.type = SL_CEL_IS_QUANTITY};
    if (v->type != SL_CEL_IS_TEXT) {
        return sl_cel_no_overload();
    }
    if (strcmp(name, "quantity") == 0) {
        return sl_quantity_parse(v->text, &made.quantity, NULL) == SL_CODE_OK
                   ? made
                   : sl_cel_error(run, "%.64s is not a quantity", v->text);
    }
    made.type = SL_CEL_IS_VERSION;
    return sl_cel_read_version(v->text, &made.version)
               ? made
               : sl_cel_error(run, "%.64s is not a semantic version", v->text);
}

static struct sl_cel_value lower(struct sl_cel_run *run, const struct sl_cel_value *v)
{
    struct sl_buf text = {0};
    if (v->type != SL_CEL_IS_TEXT) {
        return sl_cel_no_overload();
    }
    for (const char *at = v->text; *at != '\0'; at++) {
        char c = *at >= 'A' && *at <= 'Z' ? (char)(*at + ('a' - 'A')) : *at;
        sl_buf_add(&text, &c, 1);
    }
    struct sl_cel_value made = {.type = SL_CEL_IS_TEXT,
                                .text = sl_cel_keep(run, text.data == NULL ? "" : text.data)};
    sl_buf_fini(&text);
    return made;
}

static struct sl_cel_value compare(const char *name, const struct sl_cel_value *a,
                                   const struct sl_cel_value *b)
{
    int order;
    bool made = a->type == SL_CEL_IS_QUANTITY || a->type == SL_CEL_IS_VERSION;
    if (!made || !sl_cel_compare(a, b, &order)) {
        return sl_cel_no_overload();
    }
    return strcmp(name, "compareTo") == 0       ? sl_cel_whole(order)
           : strcmp(name, "isGreaterThan") == 0 ? sl_cel_truth(order > 0)
                                                : sl_cel_truth(order < 0);
}

static struct sl_cel_value look_in(const char *name, const struct sl_cel_value *a,
                                   const struct sl_cel_value *b)
{
    if (a->type != SL_CEL_IS_TEXT || b->type != SL_CEL_IS_TEXT) {
        return sl_cel_no_overload();
    }
    size_t a_len = strlen(a->text);
    size_t b_len = strlen(b->text);
    if (strcmp(name, "contains") == 0) {
        return sl_cel_truth(strstr(a->text, b->text) != NULL);
    }
    bool front = strcmp(name, "startsWith") == 0;
    return sl_cel_truth(b_len <= a_len &&
                        memcmp(front ? a->text : a->text + (a_len - b_len), b->text, b_len) == 0);
}

/* False: not one of those that devices have, too. */
static bool is_shared(const char *name)
{
    static const char *const names[] = {"size",       "quantity",  "semver",    "contains",
                                        "startsWith", "endsWith",  "compareTo", "isGreaterThan",
                                        "isLessThan", "lowerAscii"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static struct sl_cel_value call_rule(struct sl_cel_run *run, const struct sl_cel_node *n)
{
    struct sl_cel_value args[SL_CEL_ARGUMENTS_MAX];
    size_t count = 0;
    for (const struct sl_cel_node *c = n->first; c != NULL; c = c->next) {
        SL_ASSERT(count < SL_CEL_ARGUMENTS_MAX); /* the check knows no longer ones */
        args[count] = sl_cel_evaluate(run, c);
        if (sl_cel_is_broken(&args[count])) {
            return args[count];
        }
        count++;
    }
    return sl_cel_call_rule(run, n->text, args, count);
}

struct sl_cel_value sl_cel_call(struct sl_cel_run *run, const struct sl_cel_node *n)
{
    const char *name = n->text;
    if (run->field != NULL && !is_shared(name)) {
        return call_rule(run, n);
    }
    struct sl_cel_value a = sl_cel_evaluate(run, n->first);
    if (sl_cel_is_broken(&a)) {
        return a;
    }
    if (!sl_cel_spend_text(run, &a)) {
        return sl_cel_spent();
    }
    if (strcmp(name, "size") == 0) {
        return size_of(&a);
    }
    if (!n->method) {
        return make(run, name, &a);
    }
    if (strcmp(name, "lowerAscii") == 0) {
        return lower(run, &a);
    }
    struct sl_cel_value b = sl_cel_evaluate(run, n->first->next);
    if (sl_cel_is_broken(&b)) {
        return b;
    }
    bool ordered = strcmp(name, "compareTo") == 0 || strncmp(name, "is", 2) == 0;
    return ordered ? compare(name, &a, &b) : look_in(name, &a, &b);
}
