/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "server/attributes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

const char *sl_attributes_verb(const char *method, bool named, bool watch)
{
    SL_PRE(method != NULL);
    static const struct {
        const char *method, *named, *all;
    } verbs[] = {{"GET", "get", "list"},       {"HEAD", "get", "list"},
                 {"POST", "create", "create"}, {"PUT", "update", "update"},
                 {"PATCH", "patch", "patch"},  {"DELETE", "delete", "deletecollection"}};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(method, verbs[i].method) == 0) {
            bool reads = i < 2;
            return reads && watch ? "watch" : named ? verbs[i].named : verbs[i].all;
        }
    }
    return "";
}

static void read_path(struct sl_attributes *a, const char *method)
{
    for (size_t i = 0; method[i] != '\0' && i < sizeof a->verb - 1; i++) {
        a->verb[i] = (char)tolower((unsigned char)method[i]);
    }
}

static bool is_odd(const struct sl_attributes_path *path)
{
    bool odd = strstr(path->text, "//") != NULL;
    for (size_t i = 0; i < path->count; i++) {
        odd = odd || strchr(path->segments[i], '/') != NULL;
    }
    return odd;
}

static void read_resource(struct sl_attributes *a, const struct sl_attributes_path *path, bool core)
{
    const char *const *s = path->segments;
    size_t count = path->count, at = core ? 2 : 3;
    a->group = core ? "" : s[1];
    a->version = s[at - 1];
    if (strcmp(s[at], "namespaces") == 0 && count > at + 1) {
        /* A namespace itself counts as being in it. */
        bool itself = count == at + 2 || (count == at + 3 && strcmp(s[at + 2], "status") == 0);
        a->ns = s[at + 1];
        at += itself ? 0 : 2;
    }
    a->kind = s[at];
    a->name = count > at + 1 ? s[at + 1] : "";
    a->subresource = count > at + 2 ? s[at + 2] : "";
}

struct sl_attributes sl_attributes_of(const char *method, const struct sl_attributes_path *path,
                                      bool watch)
{
    SL_PRE(method != NULL && path != NULL);
    struct sl_attributes a = {.path = path->text,
                              .odd = is_odd(path),
                              .group = "",
                              .version = "",
                              .ns = "",
                              .kind = "",
                              .name = "",
                              .subresource = ""};
    bool core = path->count > 2 && strcmp(path->segments[0], "api") == 0;
    a.resource = core || (path->count > 3 && strcmp(path->segments[0], "apis") == 0);
    if (a.resource) {
        read_resource(&a, path, core);
        (void)snprintf(a.verb, sizeof a.verb, "%s",
                       sl_attributes_verb(method, a.name[0] != '\0', watch));
    } else {
        read_path(&a, method);
    }
    return a;
}

bool sl_attributes_only_read(const struct sl_attributes *a)
{
    static const char *const verbs[] = {"get", "list", "watch", "head"};
    SL_PRE(a != NULL);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(a->verb, verbs[i]) == 0) {
            return true;
        }
    }
    return false;
}

enum sl_code sl_attributes_forbid(const struct sl_attributes *a, const char *user,
                                  struct sl_error *e)
{
    SL_PRE(a != NULL && user != NULL);
    if (!a->resource) {
        return sl_error_set(e, SL_CODE_FORBIDDEN, "forbidden: User \"%s\" cannot %s path \"%s\"",
                            user, a->verb, a->path);
    }
    char where[300] = "at the cluster scope", name[300] = "";
    if (a->ns[0] != '\0') {
        (void)snprintf(where, sizeof where, "in the namespace \"%.253s\"", a->ns);
    }
    if (a->name[0] != '\0') {
        (void)snprintf(name, sizeof name, " \"%.253s\"", a->name);
    }
    return sl_error_set(e, SL_CODE_FORBIDDEN,
                        "%s%s%s%s is forbidden: User \"%s\" cannot %s resource \"%s%s%s\" in "
                        "API group \"%s\" %s",
                        a->kind, a->group[0] != '\0' ? "." : "", a->group, name, user, a->verb,
                        a->kind, a->subresource[0] != '\0' ? "/" : "", a->subresource, a->group,
                        where);
}
