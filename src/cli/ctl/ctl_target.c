/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which objects the arguments name; also of kinds that the server serves and the table does not have: those of adapters. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/near.h"
#include <string.h>
#include <strings.h>

struct wanted {
    const char *api_version; /* NULL: any */
    const char *name;        /* kind, plural, singular or short name */
};

static bool is_named(const struct sl_json *resource, const char *name)
{
    static const char *const members[] = {"kind", "name", "singularName"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (strcasecmp(sl_json_path_text(resource, members[i], ""), name) == 0) {
            return true;
        }
    }
    return sl_json_has_text(sl_json_get(resource, "shortNames"), name);
}

/* A subresource has a slash in its name; what is not namespaced is no job. */
static enum sl_kind take(const struct sl_json *resources, const char *api_version,
                         const struct wanted *w)
{
    for (size_t i = 0; i < sl_json_len(resources); i++) {
        const struct sl_json *resource = sl_json_at(resources, i);
        const char *plural = sl_json_path_text(resource, "name", "");
        enum sl_kind kind = SL_KIND_COUNT;
        struct sl_error e = {0};
        if (strchr(plural, '/') == NULL && sl_json_path_bool(resource, "namespaced", false) &&
            is_named(resource, w->name) &&
            sl_kind_register(api_version, sl_json_path_text(resource, "kind", ""), plural, &kind,
                             &e) == SL_CODE_OK) {
            return kind;
        }
    }
    return SL_KIND_COUNT;
}

static enum sl_kind look_into(struct sl_ctl *c, const char *api_version, const struct wanted *w)
{
    struct sl_buf path = {0};
    struct sl_json *list = NULL;
    struct sl_error e = {0};
    enum sl_kind kind = SL_KIND_COUNT;
    sl_buf_print(&path, "/apis/%s", api_version);
    if (sl_remote_get(c->remote, path.data, &list, &e) == SL_CODE_OK) {
        kind = take(sl_json_get(list, "resources"), api_version, w);
    }
    sl_json_free(list);
    sl_buf_fini(&path);
    return kind;
}

enum sl_kind sl_ctl_discover(struct sl_ctl *c, const char *api_version, const char *name)
{
    SL_PRE(c != NULL);
    const struct wanted w = {api_version, name};
    struct sl_json *groups = NULL;
    struct sl_error e = {0};
    enum sl_kind kind = SL_KIND_COUNT;
    if (c->remote == NULL) {
        return kind;
    }
    if (api_version != NULL) {
        return strchr(api_version, '/') == NULL ? kind : look_into(c, api_version, &w);
    }
    if (sl_remote_get(c->remote, "/apis", &groups, &e) == SL_CODE_OK) {
        const struct sl_json *list = sl_json_get(groups, "groups");
        for (size_t i = 0; i < sl_json_len(list) && kind == SL_KIND_COUNT; i++) {
            kind = look_into(
                c, sl_json_path_text(sl_json_at(list, i), "preferredVersion.groupVersion", ""), &w);
        }
    }
    sl_json_free(groups);
    return kind;
}

/* --- arguments ----------------------------------------------------------------------------------------- */

#define KINDS_MAX 16u
#define KIND_LEN_MAX 63u

static void add(struct sl_ctl_targets *t, enum sl_kind kind, const char *name)
{
    t->several_kinds = t->several_kinds || (t->count > 0 && t->items[t->count - 1].kind != kind);
    t->items[t->count++] = (struct sl_ctl_target){kind, name};
}

static void no_kind(const char *name)
{
    struct sl_near near;
    struct sl_buf hint = {0};
    sl_near_start(&near, name);
    for (size_t i = 0; i < (size_t)sl_kind_end(); i++) {
        sl_near_try(&near, sl_kind_info((enum sl_kind)i)->singular);
        sl_near_try(&near, sl_kind_info((enum sl_kind)i)->plural);
    }
    sl_near_print(&near, &hint);
    sl_ctl_misused("there is no kind \"%s\"%s", name, hint.data == NULL ? "" : hint.data);
    sl_buf_fini(&hint);
}

/* The kind called by the first `len` bytes. SL_KIND_COUNT: none, and said. */
static enum sl_kind kind_of(struct sl_ctl *c, const char *text, size_t len)
{
    char name[KIND_LEN_MAX + 1];
    (void)snprintf(name, sizeof name, "%.*s", (int)len, text);
    enum sl_kind kind = sl_kind_find_name(name);
    kind = kind == SL_KIND_COUNT ? sl_ctl_discover(c, NULL, name) : kind;
    if (kind == SL_KIND_COUNT) {
        no_kind(name);
    }
    return kind;
}

/* KIND/NAME, each word by itself. */
static bool add_pairs(struct sl_ctl *c, struct sl_ctl_targets *t)
{
    for (unsigned i = 0; i < c->arguments.count; i++) {
        const char *word = c->arguments.items[i], *slash = strchr(word, '/');
        if (slash == NULL || slash[1] == '\0') {
            sl_ctl_misused("%s: \"%s\" beside KIND/NAME: each has to be of that form", c->command,
                           word);
            return false;
        }
        enum sl_kind kind = kind_of(c, word, (size_t)(slash - word));
        if (kind == SL_KIND_COUNT) {
            return false;
        }
        add(t, kind, slash + 1);
    }
    return true;
}

/* KIND,KIND and the names, which are looked for in each kind. */
static bool add_kinds(struct sl_ctl *c, struct sl_ctl_targets *t)
{
    unsigned kinds = 0;
    for (const char *at = c->arguments.items[0]; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        enum sl_kind kind = kind_of(c, at, strcspn(at, ","));
        if (kind == SL_KIND_COUNT) {
            return false;
        }
        if (kinds++ == KINDS_MAX) {
            sl_ctl_misused("%s takes at most %u kinds", c->command, KINDS_MAX);
            return false;
        }
        for (unsigned i = 1; i < c->arguments.count; i++) {
            add(t, kind, c->arguments.items[i]);
        }
        if (c->arguments.count == 1) {
            add(t, kind, "");
        }
    }
    return true;
}

bool sl_ctl_targets(struct sl_ctl *c, struct sl_ctl_targets *out)
{
    SL_PRE(c != NULL);
    *out = (struct sl_ctl_targets){0};
    if (c->arguments.count == 0) {
        sl_ctl_misused("%s which kind of object?", c->command);
        return false;
    }
    out->items = sl_mem_new(c->arguments.count * (KINDS_MAX + 1), sizeof *out->items);
    return strchr(c->arguments.items[0], '/') != NULL ? add_pairs(c, out) : add_kinds(c, out);
}

void sl_ctl_targets_fini(struct sl_ctl_targets *t)
{
    sl_mem_free(t->items);
    *t = (struct sl_ctl_targets){0};
}

void sl_ctl_name(enum sl_kind kind, const char *name, struct sl_buf *out)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    sl_buf_print(out, "%s%s%s/%s", info->singular, info->group[0] == '\0' ? "" : ".", info->group,
                 name);
}
