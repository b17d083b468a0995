/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Each rule of Kueue's webhooks (tests/kueue-rules.json) against the validation of standalone mode: refused or not, the path
 * of the field, and the kind of complaint. tests/cluster/test_kueue_rules.py plays the same table against a cluster. */
#include "t.h"
#include "controllers/adapters/adapter.h"
#include <stdio.h>
#include <string.h>

#define TABLE "tests/kueue-rules.json"

static struct sl_json *table;
static unsigned played, wrong;

static int setup(void **state)
{
    struct sl_error e = {0};
    struct sl_buf text = {0};
    char part[4096];
    size_t got;
    FILE *file = fopen(TABLE, "r");
    (void)state;
    assert_non_null(file);
    while ((got = fread(part, 1, sizeof part, file)) > 0) {
        sl_buf_add(&text, part, got);
    }
    fclose(file);
    table = sl_json_parse(text.data, text.len, &e);
    sl_buf_fini(&text);
    if (table == NULL || sl_adapters_load("deploy/adapters", &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sl_adapters_forget();
    sl_json_free(table);
    return 0;
}

/* A merge patch, or a list of operations. */
static struct sl_json *patched(const struct sl_json *base, const struct sl_json *patch)
{
    struct sl_error e = {0};
    struct sl_json *o = sl_json_clone(base);
    bool list = sl_json_type(patch) == SL_JSON_LIST;
    if (patch != NULL &&
        (list ? sl_patch_json(&o, patch, &e) : sl_patch_merge(&o, patch, &e)) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    return o;
}

static bool complained(const struct sl_error *e, const char *field, const char *type)
{
    char reason[64];
    snprintf(reason, sizeof reason, "FieldValue%s", type);
    for (unsigned i = 0; i < e->cause_count && i < SL_CAUSES_MAX; i++) {
        if (strcmp(e->causes[i].field, field) == 0 && strcmp(e->causes[i].reason, reason) == 0) {
            return true;
        }
    }
    return false;
}

/* field "": it is accepted. */
static void play(const char *kind_name, const char *rule, const struct sl_json *now,
                 const struct sl_json *old, const char *field, const char *type)
{
    struct sl_error e = {0};
    enum sl_kind kind = sl_kind_find_object(sl_json_path_text(now, "apiVersion", ""), kind_name);
    if (kind == SL_KIND_COUNT) {
        fail_msg("%s is not known", kind_name);
    }
    bool accepted = sl_object_validate(kind, now, old, &e) == SL_CODE_OK;
    played++;
    if (field[0] == '\0' ? !accepted : !complained(&e, field, type)) {
        wrong++;
        print_error("%s: %s: wanted %s %s, got %s\n", kind_name, rule, field, type,
                    accepted ? "nothing" : e.text);
    }
}

/* The object of the kind with its defaults; `before` is what operations change. */
static struct sl_json *object(const struct sl_json *kind, const struct sl_json *before,
                              const struct sl_json *patch)
{
    bool operations = before != NULL && sl_json_type(patch) == SL_JSON_LIST;
    struct sl_json *o = patched(operations ? before : sl_json_get(kind, "base"), patch);
    enum sl_kind known = sl_kind_find_object(sl_json_path_text(o, "apiVersion", ""),
                                             sl_json_path_text(o, "kind", ""));
    if (known != SL_KIND_COUNT && sl_kind_info(known)->namespaced) {
        sl_json_set_text(sl_json_path_make(o, "metadata"), "namespace", "ns");
    }
    sl_object_default(known, o);
    return o;
}

static void play_rule(const struct sl_json *row, const char *name)
{
    const struct sl_json *kind = sl_json_get(sl_json_get(table, "kinds"), name);
    const struct sl_json *alone = sl_json_get(row, "alone");
    if (sl_json_has(kind, "alone") || sl_json_has(row, "none")) {
        return;
    }
    struct sl_json *old =
        sl_json_has(row, "old") ? object(kind, NULL, sl_json_get(row, "old")) : NULL;
    struct sl_json *now = object(kind, old, sl_json_get(row, "now"));
    bool accepted = strcmp(sl_json_text(alone, ""), "accepted") == 0;
    const char *field = sl_json_path_text(alone, "field", sl_json_path_text(row, "field", ""));
    play(name, sl_json_path_text(row, "rule", ""), now, old, accepted ? "" : field,
         sl_json_path_text(alone, "type", sl_json_path_text(row, "type", "")));
    sl_json_free(now);
    sl_json_free(old);
}

static void test_kueue_rules_are_kept(void **state)
{
    (void)state;
    const struct sl_json *rules = sl_json_get(table, "rules");
    played = wrong = 0;
    for (size_t i = 0; i < sl_json_len(rules); i++) {
        const struct sl_json *row = sl_json_at(rules, i);
        for (size_t k = 0; k < sl_json_len(sl_json_get(row, "kinds")); k++) {
            play_rule(row, sl_json_text(sl_json_at(sl_json_get(row, "kinds"), k), ""));
        }
    }
    print_message("%u of %u rules fail\n", wrong, played);
    assert_in_range(played, 300, 1000);
    assert_int_equal(wrong, 0);
}

/* Annotations of the first pod set, and of the second of those kinds that have one. */
static void play_topology(const struct sl_json *row, const char *name, const struct sl_json *kind)
{
    const struct sl_json *sets = sl_json_get(kind, "sets");
    bool two = sl_json_len(sets) > 1;
    bool skip = (sl_json_has(row, "counted") && sl_json_has(kind, "count")) ||
                (sl_json_has(row, "second") && !two);
    struct sl_json *ops = sl_json_new_list();
    for (size_t i = 0; i < 2 && i < sl_json_len(sets) && !skip; i++) {
        struct sl_json *notes = sl_json_get(row, i == 0 ? "first" : "second");
        struct sl_json *op = sl_json_new_map();
        sl_json_set_text(op, "op", "add");
        sl_json_set(op, "path", sl_json_ref(sl_json_at(sl_json_at(sets, i), 0)));
        sl_json_set(op, "value", notes == NULL ? sl_json_new_map() : sl_json_ref(notes));
        sl_json_append(ops, op);
    }
    if (!skip) {
        char field[256] = "";
        if (sl_json_has(row, "field")) {
            snprintf(field, sizeof field, "%s%s",
                     sl_json_text(sl_json_at(sl_json_at(sets, 0), 1), ""),
                     sl_json_path_text(row, "field", ""));
        }
        struct sl_json *now = object(kind, NULL, ops);
        play(name, sl_json_path_text(row, "rule", ""), now, NULL, field,
             sl_json_path_text(row, "type", ""));
        sl_json_free(now);
    }
    sl_json_free(ops);
}

static void test_kueue_rules_of_topologies_are_kept_for_every_kind(void **state)
{
    (void)state;
    const struct sl_json *rows = sl_json_get(table, "topology");
    played = wrong = 0;
    for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(table, "kinds"), &m);) {
        for (size_t i = 0; sl_json_has(m.value, "sets") && i < sl_json_len(rows); i++) {
            play_topology(sl_json_at(rows, i), m.key, m.value);
        }
    }
    print_message("%u of %u rules fail\n", wrong, played);
    assert_in_range(played, 300, 1000);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kueue_rules_are_kept),
        cmocka_unit_test(test_kueue_rules_of_topologies_are_kept_for_every_kind),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
