/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/defined/validations.h"

#include <string.h>

#include "api/cel/cel_rule.h"
#include "base/check.h"
#include "base/mem.h"

#define VALIDATIONS "x-kubernetes-validations"

enum place { ROOT, PROPERTY, ITEMS, ANY_MEMBER };

struct rule {
    const char *text, *message,
        *reason;               /* lent from the schema; message, reason: NULL where there is none */
    struct sl_cel *cel, *says; /* says: NULL where there is no messageExpression */
    char *field;               /* of fieldPath, as it is shown; owned */
};

/* A place of the schema that has rules, or has places with rules below it. */
struct node {
    enum place place;
    const char *name; /* of a property */
    const struct sl_json *schema;
    struct rule *rules;
    size_t count;
    bool asks_old; /* a rule here or below */
    struct node *below, *next;
};

struct sl_validations {
    struct sl_json *schema;
    struct node *root;
};

struct builder {
    struct sl_check *c; /* NULL: everything is good */
    size_t bytes;
};

/* --- from the schema -------------------------------------------------------------------------- */

static void refuse(const struct builder *b, const char *member, const struct sl_json *value,
                   const char *what, const char *why)
{
    if (b->c != NULL) {
        size_t up = sl_check_down(b->c, ".%s", member);
        sl_check_invalid(b->c, value, "%s%s", what, why);
        sl_check_up(b->c, up);
    }
}

static const struct sl_json *member_schema(const struct sl_json *schema, const char *name,
                                           bool *property)
{
    const struct sl_json *own = sl_json_get(sl_json_get(schema, "properties"), name);
    const struct sl_json *any = sl_json_get(schema, "additionalProperties");
    *property = own != NULL;
    return own != NULL ? own : sl_json_type(any) == SL_JSON_MAP ? any : NULL;
}

/* .name or ['name'] at *at, which moves behind it. False: it is neither. */
static bool read_step(const char **at, struct sl_buf *name)
{
    sl_buf_reset(name);
    if (**at == '.') {
        size_t len = strcspn(*at + 1, ".[");
        sl_buf_add(name, *at + 1, len);
        *at += 1 + len;
        return len > 0;
    }
    const char *end = strncmp(*at, "['", 2) == 0 ? strstr(*at + 2, "']") : NULL;
    if (end == NULL || end == *at + 2) {
        return false;
    }
    sl_buf_add(name, *at + 2, (size_t)(end - *at) - 2);
    *at = end + 2;
    return true;
}

/* The place that a fieldPath names, as it is shown: ".a[key]"; NULL: the schema has none such. */
static char *field_new(const struct sl_json *schema, const char *path)
{
    struct sl_buf name = {0}, shown = {0};
    bool property = false;
    while (*path != '\0' && schema != NULL) {
        schema = read_step(&path, &name) ? member_schema(schema, name.data, &property) : NULL;
        sl_buf_print(&shown, property ? ".%s" : "[%s]", name.data != NULL ? name.data : "");
    }
    sl_buf_fini(&name);
    char *field = schema != NULL && shown.len > 0 ? sl_mem_text(shown.data) : NULL;
    sl_buf_fini(&shown);
    return field;
}

static void check_reason(const struct builder *b, const struct sl_json *rule)
{
    static const char known[] =
        "FieldValueDuplicate|FieldValueForbidden|FieldValueInvalid|FieldValueRequired";
    static const char *const all[] = {"FieldValueDuplicate", "FieldValueForbidden",
                                      "FieldValueInvalid", "FieldValueRequired"};
    const char *reason = sl_json_path_text(rule, "reason", "FieldValueInvalid");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i], reason) == 0) {
            return;
        }
    }
    if (b->c != NULL) {
        size_t up = sl_check_down(b->c, ".reason");
        sl_check_not_supported(b->c, known, reason);
        sl_check_up(b->c, up);
    }
}

static void check_members(const struct builder *b, const struct sl_json *rule)
{
    static const char known[] = "|rule|message|messageExpression|reason|fieldPath|";
    for (struct sl_json_member m = {0}; sl_json_each(rule, &m);) {
        struct sl_buf name = {0};
        sl_buf_print(&name, "|%s|", m.key);
        if (strcmp(m.key, "optionalOldSelf") == 0 && sl_json_bool(m.value, true)) {
            refuse(b, m.key, m.value, "is not evaluated by this server", "");
        } else if (strcmp(m.key, "optionalOldSelf") != 0 && strstr(known, name.data) == NULL) {
            refuse(b, "", m.value, "is not known to this server: ", m.key);
        } else if (strstr(known, name.data) != NULL && sl_json_type(m.value) != SL_JSON_TEXT) {
            refuse(b, m.key, m.value, "must be a string", "");
        }
        sl_buf_fini(&name);
    }
}

/* Beside those at its ends. */
static bool has_breaks(const char *text)
{
    static const char blank[] = " \t\r\n";
    size_t at = strspn(text, blank), len = strlen(text);
    while (len > at && strchr(blank, text[len - 1]) != NULL) {
        len--;
    }
    return at + strcspn(text + at, "\r\n") < len;
}

static void check_message(const struct builder *b, const struct sl_json *rule)
{
    const char *message = sl_json_path_text(rule, "message", "");
    const char *text = sl_json_path_text(rule, "rule", "");
    if (has_breaks(message)) {
        refuse(b, "message", sl_json_get(rule, "message"), "must not contain line breaks", "");
    }
    if (has_breaks(text) && message[0] == '\0' && b->c != NULL) {
        size_t up = sl_check_down(b->c, ".message");
        sl_check_required(b->c, "message must be specified if rule contains line breaks");
        sl_check_up(b->c, up);
    }
}

/* NULL: complained of. */
static struct sl_cel *cel_new(const struct builder *b, const struct sl_json *rule,
                              const char *member, const struct sl_json *schema, bool says,
                              bool correlated)
{
    struct sl_error e = {0};
    struct sl_cel *cel = sl_cel_rule_new(sl_json_path_text(rule, member, ""), schema, says, &e);
    if (cel == NULL) {
        refuse(b, member, sl_json_get(rule, member),
               says ? "messageExpression compilation failed: " : "compilation failed: ", e.text);
    } else if (sl_cel_rule_asks_old(cel) && !correlated) {
        refuse(b, member, sl_json_get(rule, member),
               "oldSelf cannot be used on the uncorrelatable portion of the schema", "");
    }
    return cel;
}

static void read_rule(struct builder *b, struct rule *r, const struct sl_json *rule,
                      const struct sl_json *schema, bool correlated)
{
    const char *says = sl_json_path_text(rule, "messageExpression", NULL);
    const char *field = sl_json_path_text(rule, "fieldPath", NULL);
    r->text = sl_json_path_text(rule, "rule", "");
    r->message = sl_json_path_text(rule, "message", NULL);
    r->message = r->message != NULL && r->message[0] == '\0' ? NULL : r->message;
    r->reason = sl_json_path_text(rule, "reason", "FieldValueInvalid");
    b->bytes += strlen(r->text) + (says != NULL ? strlen(says) : 0);
    check_members(b, rule);
    check_reason(b, rule);
    check_message(b, rule);
    if (r->text[strspn(r->text, " \t\r\n")] == '\0') {
        if (b->c != NULL) {
            size_t up = sl_check_down(b->c, ".rule");
            sl_check_required(b->c, "rule is not specified");
            sl_check_up(b->c, up);
        }
        return;
    }
    if (b->bytes > SL_VALIDATIONS_BYTES_MAX) {
        refuse(b, "rule", NULL, "the rules of a schema have more than 65536 bytes together", "");
        return;
    }
    r->cel = cel_new(b, rule, "rule", schema, false, correlated);
    r->says = says != NULL ? cel_new(b, rule, "messageExpression", schema, true, correlated) : NULL;
    r->field = field != NULL ? field_new(schema, field) : NULL;
    if (field != NULL && r->field == NULL) {
        refuse(b, "fieldPath", sl_json_get(rule, "fieldPath"), "must be a valid path", "");
    }
}

static void read_rules(struct builder *b, struct node *n, bool correlated)
{
    const struct sl_json *rules = sl_json_get(n->schema, VALIDATIONS);
    n->count = sl_json_len(rules);
    n->rules = n->count > 0 ? sl_mem_new(n->count, sizeof *n->rules) : NULL;
    for (size_t i = 0; i < n->count; i++) {
        size_t up = b->c != NULL ? sl_check_down(b->c, "." VALIDATIONS "[%zu]", i) : 0;
        read_rule(b, &n->rules[i], sl_json_at(rules, i), n->schema, correlated);
        n->asks_old =
            n->asks_old || (n->rules[i].cel != NULL && sl_cel_rule_asks_old(n->rules[i].cel));
        if (b->c != NULL) {
            sl_check_up(b->c, up);
        }
    }
}

static void free_nodes(struct node *n)
{
    while (n != NULL) {
        struct node *next = n->next;
        free_nodes(n->below);
        for (size_t i = 0; i < n->count; i++) {
            sl_cel_free(n->rules[i].cel);
            sl_cel_free(n->rules[i].says);
            sl_mem_free(n->rules[i].field);
        }
        sl_mem_free(n->rules);
        sl_mem_free(n);
        n = next;
    }
}

static struct node *node_new(struct builder *b, enum place place, const char *name,
                             const struct sl_json *schema, bool correlated);

static void add_below(struct builder *b, struct node *n, enum place place, const char *name,
                      const struct sl_json *schema, bool correlated)
{
    size_t up = b->c == NULL        ? 0
                : place == PROPERTY ? sl_check_down(b->c, ".properties[%.60s]", name)
                                    : sl_check_down(b->c, ".%s", name);
    struct node *below = node_new(b, place, name, schema, correlated);
    if (b->c != NULL) {
        sl_check_up(b->c, up);
    }
    if (below != NULL) {
        below->next = n->below;
        n->below = below;
        n->asks_old = n->asks_old || below->asks_old;
    }
}

/* NULL: no rules are there or below. Items of a list are the same ones as before where it is a map by keys. */
static struct node *node_new(struct builder *b, enum place place, const char *name,
                             const struct sl_json *schema, bool correlated)
{
    struct node *n = sl_mem_new(1, sizeof *n);
    const struct sl_json *items = sl_json_get(schema, "items");
    const struct sl_json *any = sl_json_get(schema, "additionalProperties");
    *n = (struct node){.place = place, .name = name, .schema = schema};
    read_rules(b, n, correlated);
    for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(schema, "properties"), &m);) {
        add_below(b, n, PROPERTY, m.key, m.value, correlated);
    }
    if (sl_json_type(any) == SL_JSON_MAP) {
        add_below(b, n, ANY_MEMBER, "additionalProperties", any, correlated);
    }
    if (items != NULL) {
        bool by_keys = sl_json_len(sl_json_get(schema, "x-kubernetes-list-map-keys")) > 0;
        add_below(b, n, ITEMS, "items", items, correlated && by_keys);
    }
    if (n->count == 0 && n->below == NULL) {
        free_nodes(n);
        n = NULL;
    }
    return n;
}

/* What rules at the root see of every object besides. */
static void add_metadata(struct sl_json *schema)
{
    static const char *const texts[] = {"apiVersion", "kind", "metadata.properties.name",
                                        "metadata.properties.generateName"};
    struct sl_json *properties = sl_json_path_make(schema, "properties");
    sl_json_remove(properties, "metadata");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sl_json_set_text(sl_json_path_make(properties, texts[i]), "type", "string");
    }
    sl_json_set_text(sl_json_get(properties, "metadata"), "type", "object");
}

struct sl_validations *sl_validations_new(const struct sl_json *schema, struct sl_check *c)
{
    unsigned before = c != NULL ? c->e->cause_count : 0;
    struct builder b = {.c = c};
    struct sl_validations *rules = sl_mem_new(1, sizeof *rules);
    rules->schema = sl_json_clone(schema);
    add_metadata(rules->schema);
    rules->root = node_new(&b, ROOT, "", rules->schema, true);
    if (rules->root == NULL || (c != NULL && c->e->cause_count > before)) {
        sl_validations_free(rules);
        rules = NULL;
    }
    return rules;
}

void sl_validations_free(struct sl_validations *rules)
{
    if (rules != NULL) {
        free_nodes(rules->root);
        sl_json_free(rules->schema);
        sl_mem_free(rules);
    }
}

/* --- of objects ------------------------------------------------------------------------------- */

struct asking {
    struct sl_check *c;
    uint64_t left;
    bool spent; /* it has been said */
};

static bool is_many(const struct sl_json *v)
{
    return sl_json_type(v) == SL_JSON_MAP || sl_json_type(v) == SL_JSON_LIST;
}

/* As a cluster says it: lists and maps are not shown. */
static void complain(struct sl_check *c, const struct rule *r, const struct sl_json *v,
                     const char *message)
{
    size_t up = c->len;
    if (r->field != NULL) {
        up = sl_check_down(c, "%s", r->field + (c->len == 0 && r->field[0] == '.' ? 1 : 0));
    }
    if (strcmp(r->reason, "FieldValueRequired") == 0) {
        sl_check_required(c, message);
    } else if (strcmp(r->reason, "FieldValueForbidden") == 0) {
        sl_check_forbidden(c, message);
    } else if (strcmp(r->reason, "FieldValueDuplicate") == 0) {
        sl_error_cause(c->e, r->reason, c->path, "Duplicate value: %.200s", message);
    } else if (is_many(v)) {
        sl_error_cause(c->e, r->reason, c->path, "Invalid value: %.220s", message);
    } else {
        sl_check_invalid(c, v, "%.200s", message);
    }
    sl_check_up(c, up);
}

/* Those steps count as the rules' own. */
static void spend(struct asking *a, size_t steps)
{
    a->left = steps < a->left ? a->left - steps : 0;
    if (a->left == 0 && !a->spent) {
        sl_check_forbidden(a->c, "validation failed due to running out of cost budget, no further "
                                 "validation rules will be run");
        a->spent = true;
    }
}

static void refuse_value(struct asking *a, const struct node *n, const struct rule *r,
                         const struct sl_json *v, const struct sl_json *old)
{
    struct sl_buf message = {0};
    bool said = r->says != NULL &&
                sl_cel_rule_say(r->says, n->schema, v, old, &a->left, &message) &&
                message.len > 0 && strpbrk(message.data, "\r\n") == NULL;
    if (!said) {
        sl_buf_reset(&message);
        sl_buf_print(&message, "%s%s", r->message != NULL ? "" : "failed rule: ",
                     r->message != NULL ? r->message : r->text);
    }
    complain(a->c, r, v, message.data);
    sl_buf_fini(&message);
}

static void ask_rule(struct asking *a, const struct node *n, const struct rule *r,
                     const struct sl_json *v, const struct sl_json *old)
{
    struct sl_buf why = {0};
    if (r->cel == NULL) { /* an earlier or later version took it */
        sl_error_cause(a->c->e, "FieldValueInvalid", a->c->path,
                       "Invalid value: the rule cannot be evaluated: %.100s", r->text);
        return;
    }
    if (a->spent || (old == NULL && sl_cel_rule_asks_old(r->cel))) {
        return;
    }
    if (old != NULL && !sl_cel_rule_asks_old(r->cel) && sl_json_equal(v, old)) {
        return; /* as it was when it was written */
    }
    enum sl_cel_answer answer = sl_cel_rule_ask(r->cel, n->schema, v, old, &a->left, &why);
    if (a->left == 0) {
        spend(a, 0);
    } else if (answer == SL_CEL_FAILED) {
        sl_error_cause(a->c->e, "FieldValueInvalid", a->c->path,
                       "Invalid value: \"%s\": %.100s evaluating rule: %.100s",
                       sl_json_path_text(n->schema, "type", "object"), why.data,
                       r->message != NULL ? r->message : r->text);
    } else if (answer == SL_CEL_NO) {
        refuse_value(a, n, r, v, old);
    }
    sl_buf_fini(&why);
}

static void visit(struct asking *a, const struct node *n, const struct sl_json *v,
                  const struct sl_json *old);

/* The item of the list before that has the same keys. */
static const struct sl_json *same_item(const struct node *list, const struct sl_json *item,
                                       const struct sl_json *old)
{
    const struct sl_json *keys = sl_json_get(list->schema, "x-kubernetes-list-map-keys");
    for (size_t i = 0; sl_json_len(keys) > 0 && i < sl_json_len(old); i++) {
        const struct sl_json *other = sl_json_at(old, i);
        size_t same = 0;
        while (same < sl_json_len(keys)) {
            const char *key = sl_json_text(sl_json_at(keys, same), "");
            if (!sl_json_equal(sl_json_get(item, key), sl_json_get(other, key))) {
                break;
            }
            same++;
        }
        if (same == sl_json_len(keys)) {
            return other;
        }
    }
    return NULL;
}

static void visit_member(struct asking *a, const struct node *n, const char *key,
                         const struct sl_json *v, const struct sl_json *old)
{
    size_t up = n->place == ANY_MEMBER
                    ? sl_check_down(a->c, "[%.100s]", key)
                    : sl_check_down(a->c, "%s%.100s", a->c->len > 0 ? "." : "", key);
    visit(a, n, sl_json_get(v, key), sl_json_get(old, key));
    sl_check_up(a->c, up);
}

static void visit_below(struct asking *a, const struct node *list, const struct node *n,
                        const struct sl_json *v, const struct sl_json *old)
{
    if (n->place == PROPERTY) {
        visit_member(a, n, n->name, v, old);
    } else if (n->place == ITEMS) {
        for (size_t i = 0; i < sl_json_len(v) && !a->spent; i++) {
            size_t up = sl_check_down(a->c, "[%zu]", i);
            spend(a, 1 + (n->asks_old ? sl_json_len(old) : 0));
            visit(a, n, sl_json_at(v, i),
                  n->asks_old ? same_item(list, sl_json_at(v, i), old) : NULL);
            sl_check_up(a->c, up);
        }
    } else {
        for (struct sl_json_member m = {0}; !a->spent && sl_json_each(v, &m);) {
            visit_member(a, n, m.key, v, old);
        }
    }
}

static void visit(struct asking *a, const struct node *n, const struct sl_json *v,
                  const struct sl_json *old)
{
    if (v == NULL || a->spent) {
        return;
    }
    for (size_t i = 0; i < n->count; i++) {
        ask_rule(a, n, &n->rules[i], v, old);
    }
    for (const struct node *below = n->below; below != NULL; below = below->next) {
        visit_below(a, n, below, v, old);
    }
}

/* Is a value perhaps not of its type, or are there too many of them? */
static bool are_types_open(const struct sl_error *e)
{
    static const char *const reasons[] = {"FieldValueRequired", "FieldValueTooLong",
                                          "FieldValueTooMany", "FieldValueTypeInvalid"};
    for (unsigned i = 0; i < e->cause_count && i < SL_CAUSES_MAX; i++) {
        for (size_t k = 0; k < sizeof reasons / sizeof reasons[0]; k++) {
            if (strcmp(e->causes[i].reason, reasons[k]) == 0) {
                return true;
            }
        }
    }
    return e->cause_count > SL_CAUSES_MAX;
}

void sl_validations_ask(const struct sl_validations *rules, struct sl_check *c)
{
    SL_PRE(rules != NULL && c != NULL);
    struct asking a = {.c = c, .left = SL_VALIDATIONS_STEPS_MAX};
    if (are_types_open(c->e)) {
        sl_error_cause(c->e, "FieldValueInvalid", "",
                       "Invalid value: null: some validation rules were not checked because the "
                       "object was invalid; correct the existing errors to complete validation");
        return;
    }
    visit(&a, rules->root, c->object, c->old);
}
