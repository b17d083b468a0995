/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* JSON patches (RFC 6902) that make one value of another: for those who may only say what they change. */
#include "api/objects/object.h"
#include "base/check.h"

#include <stdio.h>

static void differ(struct sl_buf *path, const struct sl_json *before, const struct sl_json *after,
                   struct sl_json *out);

static void add_step(struct sl_buf *path, const char *name)
{
    sl_buf_text(path, "/");
    for (; *name != '\0'; name++) {
        if (*name == '~' || *name == '/') {
            sl_buf_text(path, *name == '~' ? "~0" : "~1");
        } else {
            sl_buf_add(path, name, 1);
        }
    }
}

static void end_step(struct sl_buf *path, size_t len)
{
    path->len = len;
    path->data[len] = '\0';
}

static void add_operation(const char *op, const struct sl_buf *path, const struct sl_json *value,
                          struct sl_json *out)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "op", op);
    sl_json_set_text(o, "path", path->data == NULL ? "" : path->data);
    if (value != NULL) {
        sl_json_set(o, "value", sl_json_clone(value));
    }
    sl_json_append(out, o);
}

static void differ_maps(struct sl_buf *path, const struct sl_json *before,
                        const struct sl_json *after, struct sl_json *out)
{
    size_t len = path->len;
    for (struct sl_json_member m = {0}; sl_json_each(before, &m);) {
        add_step(path, m.key);
        const struct sl_json *now = sl_json_get(after, m.key);
        if (m.value != NULL && now == NULL) {
            add_operation("remove", path, NULL, out);
        } else if (m.value != NULL) {
            differ(path, m.value, now, out);
        }
        end_step(path, len);
    }
    for (struct sl_json_member m = {0}; sl_json_each(after, &m);) {
        add_step(path, m.key);
        if (m.value != NULL && sl_json_get(before, m.key) == NULL) {
            add_operation("add", path, m.value, out);
        }
        end_step(path, len);
    }
}

/* Of lists that begin alike what follows is added; any other difference replaces the list. */
static void differ_lists(struct sl_buf *path, const struct sl_json *before,
                         const struct sl_json *after, struct sl_json *out)
{
    size_t len = path->len, same = 0, count = sl_json_len(before);
    while (same < count && sl_json_equal(sl_json_at(before, same), sl_json_at(after, same))) {
        same++;
    }
    if (same < count) {
        add_operation("replace", path, after, out);
        return;
    }
    add_step(path, "-");
    for (size_t i = count; i < sl_json_len(after); i++) {
        add_operation("add", path, sl_json_at(after, i), out);
    }
    end_step(path, len);
}

static void differ(struct sl_buf *path, const struct sl_json *before, const struct sl_json *after,
                   struct sl_json *out)
{
    enum sl_json_type type = sl_json_type(after);
    if (sl_json_equal(before, after)) {
        return;
    }
    if (type == sl_json_type(before) && type == SL_JSON_MAP) {
        differ_maps(path, before, after, out);
    } else if (type == sl_json_type(before) && type == SL_JSON_LIST) {
        differ_lists(path, before, after, out);
    } else {
        add_operation("replace", path, after, out);
    }
}

struct sl_json *sl_patch_json_between_new(const struct sl_json *before, const struct sl_json *after)
{
    SL_PRE(before != NULL && after != NULL);
    struct sl_json *out = sl_json_new_list();
    struct sl_buf path = {0};
    differ(&path, before, after, out);
    sl_buf_fini(&path);
    return out;
}
