/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Defaults: what the tables say, and the few that depend on other fields. */
#include <string.h>

#include "api/objects/quantity.h"
#include "api/objects/schema.h"
#include "base/base64.h"

static void fill(const struct sl_node *node, struct sl_json *v)
{
    if (!node->has_presets) {
        return;
    }
    for (size_t i = 0; node->item != NULL && i < sl_json_len(v); i++) {
        fill(node->item, sl_json_at(v, i));
    }
    if (node->item != NULL || sl_json_type(v) != SL_JSON_MAP) {
        return;
    }
    for (const struct sl_node *child = node->first; child != NULL; child = child->next) {
        struct sl_json *value = child->has_presets ? sl_json_get(v, child->name) : NULL;
        if (value == NULL && child->preset != NULL) {
            value = sl_json_clone(child->preset);
            sl_json_set(v, child->name, value);
        }
        fill(child, value);
    }
}

/* The canonical text of a quantity; NULL where it is that already or is none. */
static struct sl_json *canonical(const struct sl_json *v)
{
    struct sl_quantity q;
    char text[64];
    if (v == NULL || sl_quantity_read(v, &q, NULL) != SL_CODE_OK) {
        return NULL;
    }
    sl_quantity_print(q, text);
    return strcmp(sl_json_text(v, ""), text) == 0 ? NULL : sl_json_new_text(text);
}

/* Built-in kinds have their quantities rewritten, as Kubernetes does; custom ones keep the
 * user's text. */
static void rewrite(const struct sl_node *node, struct sl_json *v)
{
    if (!node->has_quantities || v == NULL) {
        return;
    }
    if (node->field.type == SL_TYPE_LIST) {
        for (size_t i = 0; i < sl_json_len(v); i++) {
            rewrite(node->item, sl_json_at(v, i));
        }
        return;
    }
    bool map = node->field.type == SL_TYPE_MAP;
    for (struct sl_json_member m = {0}; map && sl_json_each(v, &m);) {
        struct sl_json *text =
            node->item->field.type == SL_TYPE_QUANTITY ? canonical(m.value) : NULL;
        if (text != NULL) {
            sl_json_set(v, m.key,
                        text); /* replaces the value of the entry at hand: the walk goes on */
        }
    }
    for (const struct sl_node *child = node->first; child != NULL; child = child->next) {
        rewrite(child, sl_json_get(v, child->name));
    }
}

/* Without both counts a job is one pod; with a parallelism alone it is a work queue without a
 * count. */
static void default_job(struct sl_json *o)
{
    struct sl_json *spec = sl_json_get(o, "spec");
    if (sl_json_type(spec) == SL_JSON_MAP && sl_json_get(spec, "completions") == NULL &&
        sl_json_get(spec, "parallelism") == NULL) {
        sl_json_set_int(spec, "completions", 1);
    }
}

/* Kubernetes reads null as an empty text. */
static bool is_texts(const struct sl_json *map)
{
    bool fine = sl_json_type(map) == SL_JSON_MAP;
    for (struct sl_json_member m = {0}; fine && sl_json_each(map, &m);) {
        fine = m.value == NULL || sl_json_type(m.value) == SL_JSON_TEXT;
    }
    return fine;
}

/* Base64 may come in lines. */
static void add_without_breaks(struct sl_buf *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c != '\n' && *c != '\r') {
            sl_buf_add(out, c, 1);
        }
    }
}

static bool is_plain(const struct sl_json *map, bool base64)
{
    bool plain = true;
    for (struct sl_json_member m = {0}; plain && sl_json_each(map, &m);) {
        plain = m.value != NULL && (!base64 || strpbrk(sl_json_text(m.value, ""), "\r\n") == NULL);
    }
    return plain;
}

/* Values as they are kept. A copy: what is there may be what is stored, too. */
static void clean_values(struct sl_json *o, const char *member, bool base64)
{
    const struct sl_json *values = sl_json_get(o, member);
    if (!is_texts(values) || is_plain(values, base64)) {
        return;
    }
    struct sl_json *clean = sl_json_new_map();
    for (struct sl_json_member m = {0}; sl_json_each(values, &m);) {
        struct sl_buf text = {0};
        sl_buf_text(&text, "");
        if (base64) {
            add_without_breaks(&text, sl_json_text(m.value, ""));
        } else {
            sl_buf_text(&text, sl_json_text(m.value, ""));
        }
        sl_json_set_text(clean, m.key, text.data);
        sl_buf_fini(&text);
    }
    sl_json_set(o, member, clean);
}

/* What was written as text becomes part of the data, and goes before what was there. Of anything else the validation complains. */
static void merge_texts(struct sl_json *secret)
{
    const struct sl_json *texts = sl_json_get(secret, "stringData"),
                         *before = sl_json_get(secret, "data");
    if (texts == NULL) {
        sl_json_remove(secret, "stringData");
    }
    if (!is_texts(texts) || (before != NULL && sl_json_type(before) != SL_JSON_MAP)) {
        return;
    }
    struct sl_json *data = before == NULL ? sl_json_new_map() : sl_json_clone(before);
    for (struct sl_json_member m = {0}; sl_json_each(texts, &m);) {
        const char *text = sl_json_text(m.value, "");
        struct sl_buf base64 = {0};
        sl_buf_text(&base64, "");
        sl_base64_print(text, strlen(text), &base64);
        sl_json_set_text(data, m.key, base64.data);
        sl_buf_fini(&base64);
    }
    sl_json_set(secret, "data", data);
    sl_json_remove(secret, "stringData");
}

static void default_values(enum sl_kind kind, struct sl_json *o)
{
    bool secret = kind == SL_KIND_SECRET;
    clean_values(o, "data", secret);
    if (secret) {
        merge_texts(o);
    } else {
        clean_values(o, "binaryData", true);
    }
    if (secret && sl_json_path_text(o, "type", "")[0] == '\0') {
        sl_json_remove(o, "type"); /* for its default */
    }
}

void sl_object_default(enum sl_kind kind, struct sl_json *o)
{
    const struct sl_node *schema = sl_schema(kind);
    if (kind == SL_KIND_JOB) {
        default_job(o);
    }
    if (kind == SL_KIND_SECRET || kind == SL_KIND_CONFIG_MAP) {
        default_values(kind, o);
    }
    fill(schema, o);
    if (strcmp(sl_kind_info(kind)->group, "kueue.x-k8s.io") != 0) {
        rewrite(schema, o);
    }
}

/* A pod of a group may have its number in a label of another name: then it has it in ours as well. */
static void copy_index(struct sl_json *pod)
{
    const char *from = sl_object_annotation(pod, "kueue.x-k8s.io/pod-group-pod-index-label");
    const char *index = from == NULL ? NULL : sl_object_label(pod, from);
    if (index != NULL) {
        struct sl_json *kept = sl_json_new_text(index);
        sl_json_set(sl_json_path(pod, "metadata.labels"), "kueue.x-k8s.io/pod-group-pod-index",
                    kept);
    }
}

void sl_object_default_new(enum sl_kind kind, struct sl_json *o)
{
    const char *queue = sl_object_label(o, "kueue.x-k8s.io/queue-name");
    struct sl_json *spec = sl_json_get(o, "spec");
    if (kind == SL_KIND_JOB && queue != NULL && queue[0] != '\0' &&
        sl_json_type(spec) == SL_JSON_MAP) {
        sl_json_set_bool(spec, "suspend", true);
    }
    if (kind == SL_KIND_POD && queue != NULL && queue[0] != '\0') {
        copy_index(o);
    }
    sl_object_default(kind, o);
}
