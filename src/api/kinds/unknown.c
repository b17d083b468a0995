/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Members that no row of the kind's table names. They are kept, but the client gets a warning. */
#include <string.h>

#include "api/objects/schema.h"

#define TOLD_MAX 16u
#define KEY_SHOWN_MAX 100u

/* The walk: where it is, and what it found. */
struct walk {
    enum sl_kind kind;
    struct sl_buf path;
    struct sl_json *list;
};
static void visit(struct walk *w, const struct sl_node *node, const struct sl_json *v, bool open);

static void cut(struct sl_buf *path, size_t len)
{
    if (path->data != NULL) {
        path->data[len] = '\0';
        path->len = len;
    }
}

static const struct sl_node *child_of(const struct sl_node *node, const char *name)
{
    const struct sl_node *child = node->first;
    while (child != NULL && strcmp(child->name, name) != 0) {
        child = child->next;
    }
    return child;
}

/* Of a long name not more than this, and no half of a character. */
static int shown_len(const char *key)
{
    size_t len = strnlen(key, KEY_SHOWN_MAX + 1);
    if (len > KEY_SHOWN_MAX) {
        for (len = KEY_SHOWN_MAX; len > 0 && ((unsigned char)key[len] & 0xC0u) == 0x80u; len--) {
        }
    }
    return (int)len;
}

/* Of pods the tables name only what matters here: other members of theirs are no news. But what they ask for of resources
 * is known in full. */
static bool opens(const struct walk *w, const char *key, bool open)
{
    return open ? strcmp(key, "resources") != 0
                : strcmp(key, "template") == 0 ||
                      (w->kind == SL_KIND_POD && w->path.len == 0 && strcmp(key, "spec") == 0);
}

/* "$patch" and the like are words of strategic patches; claims of devices are left to the component
 * that allocates them. */
static bool is_foreign(const struct sl_node *node, const char *key)
{
    return key[0] == '$' || (strcmp(key, "claims") == 0 && strcmp(node->name, "resources") == 0);
}

/* A table without members leaves them open. */
static void visit_members(struct walk *w, const struct sl_node *node, const struct sl_json *v,
                          bool open)
{
    size_t len = w->path.len;
    for (struct sl_json_member m = {0}; node->first != NULL && sl_json_each(v, &m);) {
        const struct sl_node *child = child_of(node, m.key);
        if (m.value == NULL) {
            continue; /* a patch takes it away */
        }
        bool child_opens = opens(w, m.key, open);
        sl_buf_print(&w->path, "%s%.*s", len > 0 ? "." : "", shown_len(m.key), m.key);
        if (child != NULL) {
            visit(w, child, m.value, child_opens);
        } else if (!open && !is_foreign(node, m.key) && sl_json_len(w->list) < TOLD_MAX) {
            sl_json_append(w->list, sl_json_new_text(w->path.data == NULL ? "" : w->path.data));
        }
        cut(&w->path, len);
    }
}

static void visit_items(struct walk *w, const struct sl_node *node, const struct sl_json *v,
                        bool open)
{
    size_t len = w->path.len;
    for (size_t i = 0; i < sl_json_len(v); i++) {
        sl_buf_print(&w->path, "[%zu]", i);
        visit(w, node->item, sl_json_at(v, i), open);
        cut(&w->path, len);
    }
}

/* Values of another type than the table's are for the validation to refuse. */
static void visit(struct walk *w, const struct sl_node *node, const struct sl_json *v, bool open)
{
    if (node->field.type == SL_TYPE_OBJECT && sl_json_type(v) == SL_JSON_MAP) {
        visit_members(w, node, v, open);
    } else if (node->field.type == SL_TYPE_LIST && node->item != NULL &&
               sl_json_type(v) == SL_JSON_LIST) {
        visit_items(w, node, v, open);
    }
}

static bool is_told(const char *key)
{
    return strcmp(key, "metadata") != 0 && strcmp(key, "status") != 0;
}

static void find_unknown(enum sl_kind kind, const struct sl_node *root, const struct sl_json *o,
                         struct sl_json *list)
{
    struct sl_json *mine = sl_json_new_map();
    struct walk w = {.kind = kind, .list = list};
    for (struct sl_json_member m = {0}; sl_json_type(o) == SL_JSON_MAP && sl_json_each(o, &m);) {
        if (is_told(m.key) && m.value != NULL) {
            sl_json_set(mine, m.key, sl_json_ref(m.value));
        }
    }
    visit(&w, root, mine, false);
    sl_buf_fini(&w.path);
    sl_json_free(mine);
}

void sl_object_unknown(enum sl_kind kind, const struct sl_json *o, struct sl_json *list)
{
    find_unknown(kind, sl_schema(kind), o, list);
}

void sl_object_unknown_old(enum sl_kind kind, const struct sl_json *o, struct sl_json *list)
{
    find_unknown(kind, sl_schema_old(kind), o, list);
}
