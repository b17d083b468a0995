/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Goes over the document along the rows of config_fields.def: each member finds its row by its path,
 * with `[]` and `{}` in the place of indexes and keys. */
#include "base/check.h"
#include "cli/config/config_table.h"
#include <string.h>

/* The member that a value goes to; of a list, the members for its texts and for their number. */
#define TO(member)                                                                                 \
    .into = _Generic(((struct sl_config *)NULL)->member,                                           \
        bool: SL_CONFIG_INTO_BOOL,                                                                 \
        unsigned: SL_CONFIG_INTO_UNSIGNED,                                                         \
        int64_t: SL_CONFIG_INTO_MS,                                                                \
        double: SL_CONFIG_INTO_DOUBLE,                                                             \
        const char *: SL_CONFIG_INTO_TEXT,                                                         \
        const char *const *: SL_CONFIG_INTO_TEXTS),                                                \
    .at = offsetof(struct sl_config, member)
#define TO_LIST(member, count) TO(member), .count_at = offsetof(struct sl_config, count)
#define POSITIVE .positive = true
#define SL_CONFIG(path_, type_, ...) {.path = path_, .type = SL_CONFIG_##type_, __VA_ARGS__},
static const struct sl_config_field rows[] = {
#include "cli/config/config_fields.def"
};
#undef SL_CONFIG
#define ROW_COUNT (sizeof rows / sizeof rows[0])

struct walk {
    struct sl_config *config;
    struct sl_buf field;   /* as the user wrote it: a.b[3].c */
    struct sl_buf pattern; /* as the table has it: a.b[].c */
    bool warned;           /* a parent of this was warned about */
};
struct place {
    size_t field, pattern;
};

static void visit(struct walk *w, const struct sl_json *v);

const struct sl_config_field *sl_config_fields(size_t *count)
{
    *count = ROW_COUNT;
    return rows;
}

static struct place down(struct walk *w, const char *pattern, const char *field)
{
    struct place before = {w->field.len, w->pattern.len};
    bool dot = *pattern != '[' && *pattern != '{' && w->pattern.len > 0;
    sl_buf_print(&w->pattern, "%s%s", dot ? "." : "", pattern);
    sl_buf_print(&w->field, "%s%s", dot ? "." : "", field);
    return before;
}

static void up(struct walk *w, struct place before)
{
    w->field.len = before.field;
    w->field.data[before.field] = '\0';
    w->pattern.len = before.pattern;
    w->pattern.data[before.pattern] = '\0';
}

/* What the table says of a path: its own row, or the type of what leads to a row. False: unknown. */
static bool look_up(const char *pattern, struct sl_config_field *out)
{
    size_t len = strlen(pattern);
    bool known = false;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strncmp(rows[i].path, pattern, len) != 0) {
            continue;
        }
        char next = rows[i].path[len];
        if (next == '\0') {
            *out = rows[i];
            return true;
        }
        if (!known && (next == '.' || next == '[' || next == '{')) {
            *out = (struct sl_config_field){.type = next == '.'   ? SL_CONFIG_OBJECT
                                                    : next == '[' ? SL_CONFIG_LIST
                                                                  : SL_CONFIG_MAP};
            known = true;
        }
    }
    return known;
}

static bool is_here(const struct sl_config_field *row, const struct sl_json *v)
{
    bool scalar =
        row->type != SL_CONFIG_LIST && row->type != SL_CONFIG_MAP && row->type != SL_CONFIG_OBJECT;
    if (!scalar) {
        return sl_json_len(v) == 0;
    }
    struct sl_buf text = {0};
    if (sl_json_type(v) == SL_JSON_TEXT) {
        sl_buf_text(&text, sl_json_text(v, ""));
    } else {
        sl_json_print(v, &text);
    }
    bool same = text.len == 0 || (row->here != NULL && strcmp(text.data, row->here) == 0);
    sl_buf_fini(&text);
    return same;
}

/* Rows right below a path that must not be absent in `v`. */
static void check_required(struct walk *w, const struct sl_json *v)
{
    size_t len = w->pattern.len;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const char *rest = rows[i].path + len;
        if (!rows[i].required || sl_config_may_lack(w->config, rows[i].path) ||
            (len > 0 && (strncmp(rows[i].path, w->pattern.data, len) != 0 || *rest++ != '.')) ||
            strpbrk(rest, ".[{") != NULL || sl_json_get(v, rest) != NULL) {
            continue;
        }
        struct place before = down(w, rest, rest);
        sl_config_refuse(w->config, w->field.data, "required");
        up(w, before);
    }
}

static void visit_members(struct walk *w, const struct sl_json *v, bool map)
{
    struct sl_buf shown = {0};
    for (struct sl_json_member m = {0}; sl_json_each(v, &m);) {
        sl_buf_reset(&shown);
        sl_buf_print(&shown, map ? "[%.100s]" : "%.100s", m.key);
        /* A key with a dot in it is no path. */
        bool word = map || strpbrk(m.key, ".[{") == NULL;
        struct place before = down(w, map ? "{}" : word ? m.key : "?", shown.data);
        visit(w, m.value);
        up(w, before);
    }
    sl_buf_fini(&shown);
    if (!map) {
        check_required(w, v);
    }
}

static const char *item_key(const struct sl_config_field *row, const struct sl_json *item)
{
    return sl_json_text(row->distinct ? item : sl_json_get(item, row->distinct_by), NULL);
}

static void check_distinct(struct walk *w, const struct sl_config_field *row,
                           const struct sl_json *list, size_t index)
{
    const char *key = item_key(row, sl_json_at(list, index));
    for (size_t i = 0; key != NULL && i < index; i++) {
        const char *other = item_key(row, sl_json_at(list, i));
        if (other != NULL && strcmp(other, key) == 0) {
            const char *by = row->distinct ? "" : row->distinct_by;
            struct place before = down(w, row->distinct ? "[]" : by, by);
            sl_config_refuse(w->config, w->field.data, "\"%.64s\" is there twice", key);
            up(w, before);
            return;
        }
    }
}

static void visit_items(struct walk *w, const struct sl_config_field *row, const struct sl_json *v)
{
    for (size_t i = 0; i < sl_json_len(v); i++) {
        struct sl_buf index = {0};
        sl_buf_print(&index, "[%zu]", i);
        struct place before = down(w, "[]", index.data);
        sl_buf_fini(&index);
        visit(w, sl_json_at(v, i));
        if (row->distinct || row->distinct_by != NULL) {
            check_distinct(w, row, v, i);
        }
        up(w, before);
    }
}

/* null is as good as absent, as in every Kubernetes object. */
static void visit(struct walk *w, const struct sl_json *v)
{
    struct sl_config_field row;
    const char *other = sl_config_other_version(w->config, w->pattern.data);
    if (other != NULL) {
        sl_config_refuse(w->config, w->field.data, "unknown field: only %s has it", other);
        return;
    }
    if (!look_up(w->pattern.data, &row)) {
        sl_config_refuse(w->config, w->field.data, "unknown field");
        return;
    }
    size_t refused = sl_json_len(w->config->errors);
    if (v == NULL || !sl_config_check_value(w->config, w->field.data, &row, v)) {
        return;
    }
    if (sl_json_len(w->config->errors) == refused) {
        sl_config_put(w->config, &row, v);
    }
    bool warned = w->warned;
    bool works = row.missing == NULL || (row.cluster && w->config->cluster.on);
    if (!works && !warned && !is_here(&row, v)) {
        sl_config_warn(w->config, w->field.data, "%s", row.missing);
        w->warned = true;
    }
    if (row.type == SL_CONFIG_OBJECT || row.type == SL_CONFIG_MAP) {
        visit_members(w, v, row.type == SL_CONFIG_MAP);
    } else if (row.type == SL_CONFIG_LIST) {
        visit_items(w, &row, v);
    }
    w->warned = warned;
}

void sl_config_read_fields(struct sl_config *c)
{
    SL_PRE(sl_json_type(c->document) == SL_JSON_MAP);
    struct walk w = {.config = c};
    visit_members(&w, c->document, false);
    sl_buf_fini(&w.field);
    sl_buf_fini(&w.pattern);
}
