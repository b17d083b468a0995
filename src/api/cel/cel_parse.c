/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From a text to its tree, by CEL's grammar. What is not evaluated is read all the same and becomes one node that
 * says what it is. */
#include "api/cel/cel_tree.h"
#include "base/check.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

static struct sl_cel_node *parse_choice(struct sl_cel_parser *p);

/* --- tokens ----------------------------------------------------------------------------------- */

static void advance(struct sl_cel_parser *p)
{
    sl_mem_free(p->t.decoded);
    p->t = sl_cel_next(&p->at);
    if (p->t.kind == SL_CEL_MALFORMED) {
        sl_cel_fail(p, p->t.what);
    }
}

static bool is_at(const struct sl_cel_parser *p, enum sl_cel_kind kind, const char *text)
{
    return p->wrong == NULL && p->t.kind == kind && p->t.len == strlen(text) &&
           memcmp(p->t.at, text, p->t.len) == 0;
}

static bool at_sign(const struct sl_cel_parser *p, const char *sign)
{
    return is_at(p, SL_CEL_SIGN, sign);
}

static bool take(struct sl_cel_parser *p, const char *sign)
{
    bool there = at_sign(p, sign);
    if (there) {
        advance(p);
    }
    return there;
}

static void expect(struct sl_cel_parser *p, const char *sign, const char *wrong)
{
    if (!take(p, sign)) {
        sl_cel_fail(p, wrong);
    }
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Up to the closing sign. Lists and maps, but not calls, may have a comma before it, and items that are optional: true. */
static bool parse_items(struct sl_cel_parser *p, struct sl_cel_node *to, const char *closing,
                        bool call, bool pairs)
{
    bool optional = false;
    while (p->wrong == NULL && !at_sign(p, closing)) {
        optional = (!call && take(p, "?")) || optional;
        sl_cel_add(p, to, parse_choice(p));
        if (pairs) {
            expect(p, ":", "expected \":\"");
            sl_cel_add(p, to, parse_choice(p));
        }
        if (!at_sign(p, closing)) {
            expect(p, ",", "expected \",\" or a closing bracket");
            if (call && at_sign(p, closing)) {
                sl_cel_fail(p, "expected an expression");
            }
        }
    }
    expect(p, closing, "expected a closing bracket");
    return optional;
}

static struct sl_cel_node *parse_list(struct sl_cel_parser *p)
{
    struct sl_cel_node *n = sl_cel_make(SL_CEL_LIST);
    return parse_items(p, n, "]", false, false) ? sl_cel_give_up(p, n, "optional values", "") : n;
}

static struct sl_cel_node *parse_map(struct sl_cel_parser *p, struct sl_cel_node *type)
{
    bool kept = p->rules && type == NULL;
    struct sl_cel_node *n = sl_cel_make(kept ? SL_CEL_MAP : SL_CEL_OTHER);
    if (type != NULL) {
        sl_cel_add(p, n, type);
    }
    advance(p);
    if (parse_items(p, n, "}", false, true) && kept) {
        return sl_cel_give_up(p, n, "optional values", "");
    }
    return kept ? n : sl_cel_give_up(p, n, type == NULL ? "maps" : "messages", "");
}

/* From behind the opening bracket. */
static struct sl_cel_node *parse_call(struct sl_cel_parser *p, struct sl_cel_node *on, char *name)
{
    struct sl_cel_node *call = sl_cel_make(SL_CEL_CALL);
    call->text = name;
    call->method = on != NULL;
    if (on != NULL) {
        sl_cel_add(p, call, on);
    }
    (void)parse_items(p, call, ")", true, false);
    return sl_cel_finish_call(p, call);
}

/* --- expressions, from the innermost ---------------------------------------------------------- */

static char *take_word(struct sl_cel_parser *p)
{
    char *word = sl_mem_text_n(p->t.at, p->t.len);
    advance(p);
    return word;
}

static bool is_reserved(const char *word)
{
    static const char *const words[] = {
        "as", "break", "const", "continue", "else",   "for", "function", "if",    "import",
        "in", "let",   "loop",  "package",  "return", "var", "void",     "while", "namespace"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i], word) == 0) {
            return true;
        }
    }
    return false;
}

static struct sl_cel_node *parse_word(struct sl_cel_parser *p)
{
    char *word = take_word(p);
    bool truth = strcmp(word, "true") == 0;
    if (truth || strcmp(word, "false") == 0 || strcmp(word, "null") == 0) {
        struct sl_cel_node *n = sl_cel_make(strcmp(word, "null") == 0 ? SL_CEL_NULL : SL_CEL_BOOL);
        n->number = truth;
        sl_mem_free(word);
        return n;
    }
    if (is_reserved(word)) {
        sl_cel_fail(p, "a reserved word");
    }
    if (take(p, "(")) {
        return parse_call(p, NULL, word);
    }
    struct sl_cel_node *n = sl_cel_make(SL_CEL_NAME);
    n->text = word;
    return n;
}

/* One more than INT64_MAX is there for its negative. */
static struct sl_cel_node *parse_number(struct sl_cel_parser *p, bool negative)
{
    struct sl_cel_node *n = sl_cel_make(SL_CEL_INT);
    uint64_t most = (uint64_t)INT64_MAX + (negative ? 1u : 0u);
    if (p->t.digits > most) {
        sl_cel_fail(p, "a number of more than 64 bits");
    } else {
        n->number = negative ? -1 - (int64_t)(p->t.digits - 1) : (int64_t)p->t.digits;
        n->number = p->t.digits == 0 ? 0 : n->number;
    }
    advance(p);
    return n;
}

static struct sl_cel_node *parse_primary(struct sl_cel_parser *p)
{
    struct sl_cel_node *n = NULL;
    (void)take(p, "."); /* a name from the root: there is no other place */
    if (p->wrong != NULL) {
        return sl_cel_make(SL_CEL_NULL);
    }
    if (p->t.kind == SL_CEL_WORD) {
        return parse_word(p);
    }
    if (p->t.kind == SL_CEL_DIGITS) {
        return parse_number(p, false);
    }
    if (p->t.kind == SL_CEL_STRING) {
        n = sl_cel_make(SL_CEL_TEXT);
        n->text = p->t.decoded;
        p->t.decoded = NULL;
        advance(p);
        return n;
    }
    if (p->t.kind == SL_CEL_FRACTION && p->rules) {
        n = sl_cel_make(SL_CEL_REAL);
        n->real = strtod(p->t.at, NULL);
        advance(p);
        return n;
    }
    if (p->t.kind == SL_CEL_UNREAD || p->t.kind == SL_CEL_FRACTION) {
        n = sl_cel_give_up(p, NULL, p->t.what, "");
        advance(p);
        return n;
    }
    if (take(p, "(")) {
        n = parse_choice(p);
        expect(p, ")", "expected \")\"");
        return n;
    }
    if (take(p, "[")) {
        return parse_list(p);
    }
    if (at_sign(p, "{")) {
        return parse_map(p, NULL);
    }
    sl_cel_fail(p, "expected an expression");
    return sl_cel_make(SL_CEL_NULL);
}

static struct sl_cel_node *parse_dot(struct sl_cel_parser *p, struct sl_cel_node *on)
{
    bool optional = take(p, "?");
    if (p->t.kind != SL_CEL_WORD) {
        sl_cel_fail(p, "expected a name");
        return on;
    }
    char *name = take_word(p);
    if (take(p, "(")) {
        return parse_call(p, on, name);
    }
    struct sl_cel_node *n = sl_cel_make_of(p, SL_CEL_MEMBER, on, NULL);
    n->text = name;
    return optional ? sl_cel_give_up(p, n, "optional values", "") : n;
}

static struct sl_cel_node *parse_member(struct sl_cel_parser *p)
{
    struct sl_cel_node *n = parse_primary(p);
    while (p->wrong == NULL) {
        if (take(p, ".")) {
            n = parse_dot(p, n);
        } else if (take(p, "[")) {
            bool optional = take(p, "?");
            n = sl_cel_make_of(p, SL_CEL_ITEM, n, parse_choice(p));
            n = optional ? sl_cel_give_up(p, n, "optional values", "") : n;
            expect(p, "]", "expected \"]\"");
        } else if (at_sign(p, "{") && (n->op == SL_CEL_NAME || n->op == SL_CEL_MEMBER)) {
            n = parse_map(p, n);
        } else {
            break;
        }
    }
    return n;
}

static struct sl_cel_node *parse_unary(struct sl_cel_parser *p)
{
    bool minus = at_sign(p, "-");
    const char *sign = minus ? "-" : "!";
    bool odd = false;
    while (take(p, sign)) {
        odd = !odd;
        if (minus && p->t.kind == SL_CEL_DIGITS) {
            return parse_number(p, odd);
        }
    }
    struct sl_cel_node *n = parse_member(p);
    return odd ? sl_cel_make_of(p, minus ? SL_CEL_MINUS : SL_CEL_NOT, n, NULL) : n;
}

struct sign {
    const char *sign;
    enum sl_cel_op op;
};

/* From left to right. */
static struct sl_cel_node *parse_left(struct sl_cel_parser *p, const struct sign *signs,
                                      struct sl_cel_node *(*parse_part)(struct sl_cel_parser *p))
{
    struct sl_cel_node *n = parse_part(p);
    for (const struct sign *s = signs; p->wrong == NULL && s->sign != NULL;) {
        if (take(p, s->sign)) {
            n = sl_cel_make_of(p, s->op, n, parse_part(p));
            s = signs;
        } else {
            s++;
        }
    }
    return n;
}

static struct sl_cel_node *parse_product(struct sl_cel_parser *p)
{
    static const struct sign signs[] = {
        {"*", SL_CEL_TIMES}, {"/", SL_CEL_OVER}, {"%", SL_CEL_REST}, {.sign = NULL}};
    return parse_left(p, signs, parse_unary);
}

static struct sl_cel_node *parse_sum(struct sl_cel_parser *p)
{
    static const struct sign signs[] = {{"+", SL_CEL_PLUS}, {"-", SL_CEL_LESS_BY}, {.sign = NULL}};
    return parse_left(p, signs, parse_product);
}

static struct sl_cel_node *parse_arithmetic(struct sl_cel_parser *p)
{
    if (p->rules) {
        return parse_sum(p);
    }
    struct sl_cel_node *n = parse_unary(p);
    bool any = false;
    while (take(p, "+") || take(p, "-") || take(p, "*") || take(p, "/") || take(p, "%")) {
        sl_cel_node_free(parse_unary(p));
        any = true;
    }
    return any ? sl_cel_give_up(p, n, "arithmetic", "") : n;
}

static bool take_relation(struct sl_cel_parser *p, enum sl_cel_op *op)
{
    static const struct sign signs[] = {{"==", SL_CEL_EQUAL}, {"!=", SL_CEL_UNEQUAL},
                                        {"<", SL_CEL_LESS},   {"<=", SL_CEL_LESS_EQUAL},
                                        {">", SL_CEL_MORE},   {">=", SL_CEL_MORE_EQUAL}};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (take(p, signs[i].sign)) {
            *op = signs[i].op;
            return true;
        }
    }
    if (is_at(p, SL_CEL_WORD, "in")) {
        advance(p);
        *op = SL_CEL_IN;
        return true;
    }
    return false;
}

static struct sl_cel_node *parse_relation(struct sl_cel_parser *p)
{
    enum sl_cel_op op;
    struct sl_cel_node *n = parse_arithmetic(p);
    while (take_relation(p, &op)) {
        n = sl_cel_make_of(p, op, n, parse_arithmetic(p));
    }
    return n;
}

static struct sl_cel_node *parse_chain(struct sl_cel_parser *p, const char *sign, enum sl_cel_op op,
                                       struct sl_cel_node *(*parse_part)(struct sl_cel_parser *p))
{
    struct sl_cel_node *n = parse_part(p);
    if (at_sign(p, sign)) {
        n = sl_cel_make_of(p, op, n, NULL);
    }
    while (take(p, sign)) {
        sl_cel_add(p, n, parse_part(p));
    }
    return n;
}

static struct sl_cel_node *parse_and(struct sl_cel_parser *p)
{
    return parse_chain(p, "&&", SL_CEL_AND, parse_relation);
}

static struct sl_cel_node *parse_or(struct sl_cel_parser *p)
{
    return parse_chain(p, "||", SL_CEL_OR, parse_and);
}

static struct sl_cel_node *parse_choice(struct sl_cel_parser *p)
{
    if (p->depth >= SL_CEL_DEPTH_MAX) {
        sl_cel_fail(p, "nested too deep");
        return sl_cel_make(SL_CEL_NULL);
    }
    p->depth++;
    struct sl_cel_node *n = parse_or(p);
    if (take(p, "?")) {
        n = sl_cel_make_of(p, SL_CEL_CHOICE, n, parse_or(p));
        expect(p, ":", "expected \":\"");
        sl_cel_add(p, n, parse_choice(p));
    }
    p->depth--;
    return n;
}

struct sl_cel *sl_cel_read_new(const char *text, bool rules, struct sl_error *e)
{
    SL_PRE(text != NULL);
    struct sl_cel_parser p = {.start = text, .at = text, .rules = rules};
    advance(&p);
    struct sl_cel_node *root = parse_choice(&p);
    if (p.t.kind != SL_CEL_END) {
        sl_cel_fail(&p, "expected an operator");
    }
    sl_mem_free(p.t.decoded);
    if (p.wrong != NULL) {
        sl_error_set(e, SL_CODE_INVALID, "at character %zu: %s", p.wrong_at + 1, p.wrong);
        sl_cel_node_free(root);
        sl_mem_free(p.foreign);
        return NULL;
    }
    struct sl_cel *c = sl_mem_new(1, sizeof *c);
    c->root = root;
    c->foreign = p.foreign;
    return c;
}

struct sl_cel *sl_cel_parse_new(const char *text, struct sl_error *e)
{
    return sl_cel_read_new(text, false, e);
}

void sl_cel_free(struct sl_cel *c)
{
    if (c != NULL) {
        sl_cel_node_free(c->root);
        sl_mem_free(c->foreign);
        sl_mem_free(c);
    }
}

const char *sl_cel_foreign(const struct sl_cel *c)
{
    SL_PRE(c != NULL);
    return c->foreign;
}
