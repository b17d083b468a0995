/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Values of variables from ConfigMaps and Secrets. */
#include "runner/values.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/check.h"
#include "base/utf8.h"
#include "runner/plan.h"

struct filling {
    const struct sl_client *client;
    const char *ns;
    char path[224]; /* of what is at hand */
    size_t bytes;
    struct sl_json *read; /* "Kind/name" -> object: each is read once */
    struct sl_error *e;
};

static enum sl_code refuse(struct filling *f, enum sl_code code, const char *why)
{
    return sl_error_set(f->e, code, "%s: %s", f->path, why);
}

/* --- reading -------------------------------------------------------------------------------------------- */

/* *out is lent. */
static enum sl_code read_object(struct filling *f, enum sl_kind kind, const struct sl_json *ref,
                                const struct sl_json **out)
{
    char why[320], key[320];
    struct sl_json *object = NULL;
    const char *name = sl_json_path_text(ref, "name", "");
    (void)snprintf(key, sizeof key, "%s/%.253s", sl_kind_info(kind)->kind, name);
    *out = sl_json_get(f->read, key);
    if (*out != NULL) {
        return SL_CODE_OK;
    }
    if (f->client->get(f->client->self, kind, f->ns, name, &object, f->e) == SL_CODE_OK) {
        sl_json_set(f->read, key, object);
        *out = object;
        return SL_CODE_OK;
    }
    (void)snprintf(why, sizeof why, "there is no %s \"%.253s\" in the namespace",
                   sl_kind_info(kind)->kind, name);
    return refuse(f, SL_CODE_NOT_FOUND, why);
}

/* Appends the bytes of a value, of which those of Secrets are in base64. */
static enum sl_code read_value(struct filling *f, enum sl_kind kind, const struct sl_json *value,
                               struct sl_buf *out)
{
    const char *text = sl_json_text(value, "");
    sl_buf_text(out, "");
    if (kind != SL_KIND_SECRET) {
        sl_buf_text(out, text);
    } else if (!sl_base64_read(text, out)) {
        return refuse(f, SL_CODE_INVALID, "the value is not base64");
    }
    if (memchr(out->data, '\0', out->len) != NULL || !sl_utf8_valid(out->data, out->len)) {
        return refuse(f, SL_CODE_INVALID, "the value is not text, as that of a variable has to be");
    }
    return SL_CODE_OK;
}

static enum sl_code spend(struct filling *f, size_t bytes)
{
    f->bytes += bytes + SL_PLAN_BYTES_EACH;
    return f->bytes <= SL_PLAN_BYTES_MAX
               ? SL_CODE_OK
               : refuse(f, SL_CODE_INVALID,
                        "variables of the pod are larger than 512 KiB, where "
                        "each one counts 64 bytes besides");
}

/* --- writing -------------------------------------------------------------------------------------------- */

/* Of what follows "$" nothing is a variable's name. */
static void add_escaped(struct sl_buf *out, const char *value)
{
    for (const char *c = value; *c != '\0'; c++) {
        sl_buf_add(out, c, 1);
        if (*c == '$') {
            sl_buf_add(out, c, 1);
        }
    }
}

static enum sl_code add_variable(struct filling *f, enum sl_kind kind, const char *name,
                                 const struct sl_json *value, struct sl_json *env)
{
    struct sl_buf bytes = {0}, text = {0};
    enum sl_code code = read_value(f, kind, value, &bytes);
    code = code == SL_CODE_OK ? spend(f, strlen(name) + bytes.len) : code;
    if (code == SL_CODE_OK) {
        struct sl_json *variable = sl_json_new_map();
        sl_buf_text(&text, "");
        add_escaped(&text, bytes.data);
        sl_json_set_text(variable, "name", name);
        sl_json_set_text(variable, "value", text.data);
        sl_json_append(env, variable);
    }
    sl_buf_fini(&bytes);
    sl_buf_fini(&text);
    return code;
}

static enum sl_code add_object(struct filling *f, enum sl_kind kind, const struct sl_json *ref,
                               const char *prefix, struct sl_json *env)
{
    const struct sl_json *object = NULL;
    enum sl_code code = read_object(f, kind, ref, &object);
    for (struct sl_json_member m = {0};
         code == SL_CODE_OK && sl_json_each(sl_json_get(object, "data"), &m);) {
        struct sl_buf name = {0};
        sl_buf_print(&name, "%s%s", prefix, m.key);
        code = add_variable(f, kind, name.data, m.value, env);
        sl_buf_fini(&name);
    }
    return code;
}

static enum sl_code add_key(struct filling *f, enum sl_kind kind, const struct sl_json *ref,
                            const char *name, struct sl_json *env)
{
    char why[320];
    const struct sl_json *object = NULL;
    const char *key = sl_json_path_text(ref, "key", "");
    enum sl_code code = read_object(f, kind, ref, &object);
    const struct sl_json *data = sl_json_get(object, "data");
    if (code == SL_CODE_OK && (data == NULL || !sl_json_has(data, key))) {
        (void)snprintf(why, sizeof why, "there is no key \"%.253s\" in it", key);
        code = refuse(f, SL_CODE_NOT_FOUND, why);
    } else if (code == SL_CODE_OK) {
        code = add_variable(f, kind, name, sl_json_get(data, key), env);
    }
    return code;
}

/* --- the sources of a container ------------------------------------------------------------------------- */

struct source {
    const char *field;
    enum sl_kind kind;
};
static const struct source from_all[] = {{"configMapRef", SL_KIND_CONFIG_MAP},
                                         {"secretRef", SL_KIND_SECRET}};
static const struct source from_key[] = {{"configMapKeyRef", SL_KIND_CONFIG_MAP},
                                         {"secretKeyRef", SL_KIND_SECRET}};

/* Which of the two it is; NULL: neither. */
static const struct source *source_of(const struct source pair[2], const struct sl_json *from)
{
    for (size_t i = 0; i < 2; i++) {
        if (sl_json_get(from, pair[i].field) != NULL) {
            return &pair[i];
        }
    }
    return NULL;
}

/* `name` is that of the variable, or NULL: all keys. Puts the path back. */
static bool add_from(struct filling *f, const struct source *source, const struct sl_json *from,
                     const char *name, struct sl_json *env)
{
    const struct sl_json *ref = sl_json_get(from, source->field);
    size_t len = strlen(f->path);
    (void)snprintf(f->path + len, sizeof f->path - len, ".%s", source->field);
    const char *prefix = sl_json_path_text(from, "prefix", "");
    enum sl_code code = SL_CODE_OK;
    if (sl_json_path_text(ref, "name", "")[0] == '\0') {
        code = refuse(f, SL_CODE_INVALID, "has no name");
    } else if (name != NULL && sl_json_path_text(ref, "key", "")[0] == '\0') {
        code = refuse(f, SL_CODE_INVALID, "has no key");
    } else if (name == NULL && strchr(prefix, '=') != NULL) {
        code = refuse(f, SL_CODE_INVALID, "the prefix has a = in it");
    } else if (f->client == NULL && name != NULL) {
        struct sl_json *unknown = sl_json_new_map();
        sl_json_set_text(unknown, "name", name);
        sl_json_append(env, unknown);
    } else if (f->client != NULL) {
        code = name == NULL ? add_object(f, source->kind, ref, prefix, env)
                            : add_key(f, source->kind, ref, name, env);
    }
    if (code == SL_CODE_NOT_FOUND && sl_json_path_bool(ref, "optional", false)) {
        sl_error_clear(f->e);
        code = SL_CODE_OK;
    }
    f->path[len] = '\0';
    return code == SL_CODE_OK;
}

/* One of `env` or of `envFrom`, into the new list. What comes from elsewhere than the two kinds is left as it is. */
static bool take_one(struct filling *f, const struct sl_json *entry, bool all, struct sl_json *env)
{
    const struct sl_json *from = all ? entry : sl_json_get(entry, "valueFrom");
    const struct source *source = source_of(all ? from_all : from_key, from);
    if (source == NULL && all) {
        return refuse(f, SL_CODE_INVALID, "names no ConfigMap and no Secret") == SL_CODE_OK;
    }
    if (source == NULL) {
        sl_json_append(env, sl_json_clone(entry));
        return true;
    }
    return add_from(f, source, from, all ? NULL : sl_json_path_text(entry, "name", ""), env);
}

static bool fill_container(struct filling *f, const char *path, struct sl_json *container)
{
    static const char *const lists[] = {"envFrom", "env"};
    struct sl_json *env = sl_json_new_list();
    bool fine = true;
    for (size_t l = 0; l < 2; l++) {
        const struct sl_json *list = sl_json_get(container, lists[l]);
        for (size_t i = 0; fine && i < sl_json_len(list); i++) {
            (void)snprintf(f->path, sizeof f->path, "%.120s.%s[%zu]%s", path, lists[l], i,
                           l == 0 ? "" : ".valueFrom");
            fine = take_one(f, sl_json_at(list, i), l == 0, env);
        }
    }
    sl_json_remove(container, "envFrom");
    sl_json_set(container, "env", env);
    return fine;
}

static bool fill(struct filling *f, struct sl_json *pod, const char *path)
{
    static const char *const lists[] = {"initContainers", "containers"};
    bool fine = true;
    for (size_t l = 0; l < 2; l++) {
        struct sl_json *list = sl_json_get(sl_json_get(pod, "spec"), lists[l]);
        for (size_t i = 0; fine && i < sl_json_len(list); i++) {
            char container[160];
            (void)snprintf(container, sizeof container, "%.120s.%s[%zu]", path, lists[l], i);
            fine = fill_container(f, container, sl_json_at(list, i));
        }
    }
    return fine;
}

struct sl_json *sl_values_new(const struct sl_json *pod, const char *path,
                              const struct sl_client *client, struct sl_error *e)
{
    SL_PRE(e != NULL);
    struct filling f = {
        .client = client, .ns = sl_object_namespace(pod), .read = sl_json_new_map(), .e = e};
    struct sl_json *filled = sl_json_clone(pod);
    if (!fill(&f, filled, path)) {
        sl_json_free(filled);
        filled = NULL;
    }
    sl_json_free(f.read);
    return filled;
}
