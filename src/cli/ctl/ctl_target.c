/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kinds that the server serves and the table does not have: those of adapters. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
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
