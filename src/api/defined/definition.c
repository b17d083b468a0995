/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/defined/definition.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "api/defined/validations.h"
#include "api/defined/structural.h"
#include "api/objects/format.h"
#include "api/validate/validate.h"
#include "base/check.h"

static const char *text_at(const struct sl_json *o, const char *path)
{
    return sl_json_path_text(o, path, "");
}

const struct sl_json *sl_definition_version(const struct sl_json *definition)
{
    return sl_json_at(sl_json_path(definition, "spec.versions"), 0);
}

/* --- what is asked of it ---------------------------------------------------------------------- */

static void refuse(struct sl_check *c, const char *path, const char *why)
{
    size_t up = sl_check_down(c, "%s", path);
    sl_check_forbidden(c, why);
    sl_check_up(c, up);
}

static void refuse_value(struct sl_check *c, const char *path, const char *why)
{
    size_t up = sl_check_down(c, "%s", path);
    sl_check_invalid(c, sl_json_path(c->object, path), "%s", why);
    sl_check_up(c, up);
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);
    return len >= n && strcmp(text + len - n, end) == 0;
}

static bool is_built_in(const char *group)
{
    for (int kind = 0; kind < (int)SL_KIND_CUSTOM; kind++) {
        if (strcmp(sl_kind_info((enum sl_kind)kind)->group, group) == 0) {
            return true;
        }
    }
    return ends_with(group, ".kueue.x-k8s.io") || strcmp(group, "authorization.k8s.io") == 0 ||
           strcmp(group, "authentication.k8s.io") == 0;
}

static void check_group(struct sl_check *c)
{
    const char *group = text_at(c->object, "spec.group");
    const char *problem = sl_format_check(SL_PATTERN_DNS_SUBDOMAIN, group);
    bool community = ends_with(group, ".k8s.io") || ends_with(group, ".kubernetes.io");
    if (group[0] == '\0') {
        return; /* the table complains */
    }
    if (problem != NULL) {
        refuse_value(c, "spec.group", problem);
    } else if (strchr(group, '.') == NULL) {
        refuse_value(c, "spec.group", "should be a domain with at least one dot");
    } else if (strlen(group) > 60) {
        refuse_value(c, "spec.group", "must be no more than 60 bytes");
    } else if (is_built_in(group)) {
        refuse(c, "spec.group", "the server itself serves this group");
    } else if (community && sl_object_annotation(c->object, "api-approved.kubernetes.io") == NULL) {
        size_t up = sl_check_down(c, "metadata.annotations[api-approved.kubernetes.io]");
        sl_check_required(c, "protected groups must have approval annotation "
                             "\"api-approved.kubernetes.io\", see "
                             "https://github.com/kubernetes/enhancements/pull/1111");
        sl_check_up(c, up);
    }
}

static void check_label(struct sl_check *c, const char *path)
{
    const char *text = text_at(c->object, path);
    char lower[64];
    size_t len = strlen(text), i = 0;
    for (; i < len && i < sizeof lower - 1; i++) {
        lower[i] = (char)tolower((unsigned char)text[i]);
    }
    lower[i] = '\0';
    const char *problem = sl_format_check(SL_PATTERN_DNS_LABEL, lower);
    bool kind = ends_with(path, "ind"); /* has capitals */
    if (text[0] != '\0' && len >= sizeof lower) {
        refuse_value(c, path, "must be no more than 63 characters");
    } else if (text[0] != '\0' && (problem != NULL || (!kind && strcmp(text, lower) != 0))) {
        refuse_value(c, path, problem != NULL ? problem : "must be in small letters");
    }
}

static void check_short_names(struct sl_check *c)
{
    const struct sl_json *names = sl_json_path(c->object, "spec.names.shortNames");
    size_t bytes = 0;
    for (size_t i = 0; i < sl_json_len(names); i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "spec.names.shortNames[%zu]", i);
        check_label(c, path);
        bytes += strlen(sl_json_text(sl_json_at(names, i), "")) + 1;
    }
    if (bytes > 64) {
        refuse(c, "spec.names.shortNames", "must be no more than 63 bytes together");
    }
}

static void check_names(struct sl_check *c)
{
    struct sl_buf name = {0}, list = {0};
    const char *list_kind = text_at(c->object, "spec.names.listKind");
    sl_buf_print(&name, "%s.%s", text_at(c->object, "spec.names.plural"),
                 text_at(c->object, "spec.group"));
    sl_buf_print(&list, "%sList", text_at(c->object, "spec.names.kind"));
    if (strcmp(sl_object_name(c->object), name.data) != 0) {
        refuse_value(c, "metadata.name", "must be spec.names.plural+\".\"+spec.group");
    }
    check_label(c, "spec.names.plural");
    check_label(c, "spec.names.singular");
    check_label(c, "spec.names.kind");
    check_short_names(c);
    if (strcmp(text_at(c->object, "spec.names.plural"), "namespaces") == 0) {
        refuse_value(c, "spec.names.plural", "paths of this name mean namespaces");
    }
    if (list_kind[0] != '\0' && strcmp(list_kind, list.data) != 0) {
        refuse_value(c, "spec.names.listKind", "must be the kind and List");
    }
    sl_buf_fini(&name);
    sl_buf_fini(&list);
}

static void check_columns(struct sl_check *c, const struct sl_json *version)
{
    const struct sl_json *columns = sl_json_get(version, "additionalPrinterColumns");
    for (size_t i = 0; i < sl_json_len(columns); i++) {
        char source[SL_DEFINITION_SOURCE_BYTES], path[96];
        (void)snprintf(path, sizeof path, "spec.versions[0].additionalPrinterColumns[%zu].jsonPath",
                       i);
        if (!sl_definition_source(text_at(c->object, path), source)) {
            refuse_value(c, path,
                         "must be a path of names and numbers such as .spec.a['b'][0].c, or "
                         ".status.conditions[?(@.type==\"T\")].status: others are not shown here");
        }
    }
}

/* A path of names under one of those fields. */
static void check_scale_path(struct sl_check *c, const char *member, const char *above,
                             const char *or_above)
{
    char path[96];
    (void)snprintf(path, sizeof path, "spec.versions[0].subresources.scale.%s", member);
    const char *given = text_at(c->object, path);
    bool plain = given[0] == '.' && strstr(given, "..") == NULL && !ends_with(given, ".") &&
                 strpbrk(given, "[]'\" ") == NULL;
    if (!plain) {
        refuse_value(c, path, "must be a path of names such as .spec.replicas");
    } else if (strncmp(given, above, strlen(above)) != 0 &&
               strncmp(given, or_above, strlen(or_above)) != 0) {
        refuse_value(c, path,
                     strcmp(above, or_above) != 0 ? "should be a json path under .spec or .status"
                     : above[2] == 'p'            ? "should be a json path under .spec"
                                                  : "should be a json path under .status");
    } else if (strlen(given) > SL_DEFINITION_SCALE_BYTES) {
        refuse_value(c, path, "must be no more than 60 bytes");
    }
}

static void check_scale(struct sl_check *c)
{
    static const char *const required[] = {"specReplicasPath", "statusReplicasPath"};
    const struct sl_json *scale =
        sl_json_path(sl_definition_version(c->object), "subresources.scale");
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        if (sl_json_path_text(scale, required[i], "")[0] == '\0') {
            size_t up = sl_check_down(c, "spec.versions[0].subresources.scale.%s", required[i]);
            sl_check_required(c, "");
            sl_check_up(c, up);
        } else {
            check_scale_path(c, required[i], i == 0 ? ".spec." : ".status.",
                             i == 0 ? ".spec." : ".status.");
        }
    }
    if (sl_json_get(scale, "labelSelectorPath") != NULL) {
        check_scale_path(c, "labelSelectorPath", ".spec.", ".status.");
    }
}

/* The schema of the field with that path, ".spec.a"; NULL: there is none. */
static const struct sl_json *schema_at(const struct sl_json *schema, const char *path)
{
    char name[SL_DEFINITION_SOURCE_BYTES];
    while (*path == '.' && schema != NULL) {
        size_t len = strcspn(path + 1, ".");
        (void)snprintf(name, sizeof name, "%.*s", len < sizeof name ? (int)len : 0, path + 1);
        schema = sl_json_get(sl_json_get(schema, "properties"), name);
        path += 1 + len;
    }
    return *path == '\0' ? schema : NULL;
}

static void check_selectable_field(struct sl_check *c, const struct sl_json *version,
                                   const struct sl_json *fields, size_t i)
{
    const struct sl_json *given = sl_json_get(sl_json_at(fields, i), "jsonPath");
    const char *path = sl_json_text(given, "");
    const struct sl_json *field = schema_at(sl_json_path(version, "schema.openAPIV3Schema"), path);
    const char *type = sl_json_path_text(field, "type", "");
    size_t up = sl_check_down(c, "spec.versions[0].selectableFields[%zu].jsonPath", i);
    bool twice = false;
    for (size_t k = 0; k < i; k++) {
        twice = twice || strcmp(text_at(sl_json_at(fields, k), "jsonPath"), path) == 0;
    }
    if (path[0] == '\0') {
        sl_check_required(c, "");
    } else if (strncmp(path, ".metadata", strlen(".metadata")) == 0) {
        sl_check_invalid(c, given, "must not point to fields in metadata");
    } else if (strcmp(type, "string") != 0 && strcmp(type, "boolean") != 0 &&
               strcmp(type, "integer") != 0) {
        sl_check_invalid(c, given,
                         "must point to a field of type string, boolean or integer. Enum string "
                         "fields and strings with formats are allowed.");
    } else if (strpbrk(path, "[],=! ") != NULL || strlen(path) >= SL_DEFINITION_SOURCE_BYTES) {
        sl_check_invalid(c, given, "must be a path of names such as .spec.color");
    } else if (twice) {
        sl_check_duplicate(c, path);
    }
    sl_check_up(c, up);
}

static void check_selectable(struct sl_check *c, const struct sl_json *version)
{
    const struct sl_json *fields = sl_json_get(version, "selectableFields");
    size_t count = sl_json_len(fields);
    if (fields != NULL && sl_json_type(fields) != SL_JSON_LIST) {
        refuse_value(c, "spec.versions[0].selectableFields", "must be a list");
    } else if (count > 8) {
        size_t up = sl_check_down(c, "spec.versions[0].selectableFields");
        sl_error_cause(c->e, "FieldValueTooMany", c->path,
                       "Too many: %zu: must have at most 8 items", count);
        sl_check_up(c, up);
    } else {
        for (size_t i = 0; i < count; i++) {
            check_selectable_field(c, version, fields, i);
        }
    }
}

static void check_version(struct sl_check *c)
{
    const struct sl_json *version = sl_definition_version(c->object);
    const char *name = text_at(version, "name");
    const char *problem = sl_format_check(SL_PATTERN_DNS_LABEL, name);
    if (name[0] != '\0' && (problem != NULL || strlen(name) > 20)) {
        refuse_value(c, "spec.versions[0].name",
                     problem != NULL ? problem : "must be no more than 20 bytes");
    }
    if (!sl_json_path_bool(version, "storage", true)) {
        refuse_value(c, "spec.versions[0].storage",
                     "must have exactly one version marked as storage version");
    }
    if (!sl_json_path_bool(version, "served", true)) {
        refuse_value(c, "spec.versions[0].served", "the only version has to be served");
    }
    if (sl_json_path(version, "subresources.scale") != NULL) {
        check_scale(c);
    }
    check_selectable(c, version);
    check_columns(c, version);
    const struct sl_json *schema = sl_json_path(version, "schema.openAPIV3Schema");
    if (schema != NULL) {
        size_t up = sl_check_down(c, "spec.versions[0].schema.openAPIV3Schema");
        unsigned before = c->e->cause_count;
        sl_structural_check(c, schema);
        if (c->e->cause_count == before) {
            sl_validations_free(sl_validations_new(schema, c));
        }
        sl_check_up(c, up);
    }
}

static void check_versions(struct sl_check *c)
{
    size_t count = sl_json_len(sl_json_path(c->object, "spec.versions"));
    if (count > 1) {
        size_t up = sl_check_down(c, "spec.versions");
        sl_error_cause(c->e, "FieldValueTooMany", c->path,
                       "Too many: %zu: must have at most 1 items: this server serves one version "
                       "of each kind",
                       count);
        sl_check_up(c, up);
    } else if (count == 1) {
        check_version(c);
    }
    if (strcmp(text_at(c->object, "spec.conversion.strategy"), "Webhook") == 0) {
        refuse(c, "spec.conversion.strategy", "webhooks are not called by this server");
    }
    if (sl_json_path_bool(c->object, "spec.preserveUnknownFields", false)) {
        refuse_value(c, "spec.preserveUnknownFields", "must be false");
    }
}

/* Objects are there under these names, and have been stored in that version. */
static void check_changes(struct sl_check *c)
{
    static const char *const fixed[] = {"spec.group", "spec.scope", "spec.names.plural",
                                        "spec.names.kind"};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        size_t up = sl_check_down(c, "%s", fixed[i]);
        sl_check_immutable(c, sl_json_path(c->object, fixed[i]), sl_json_path(c->old, fixed[i]));
        sl_check_up(c, up);
    }
    const struct sl_json *stored = sl_json_get(sl_definition_version(c->old), "name");
    if (!sl_json_equal(stored, sl_json_get(sl_definition_version(c->object), "name"))) {
        size_t up = sl_check_down(c, "status.storedVersions[0]");
        sl_check_invalid(c, stored, "must appear in spec.versions");
        sl_check_up(c, up);
    }
    if (sl_object_deleting(c->old) && sl_object_has_finalizer(c->old, SL_DEFINITION_FINALIZER) &&
        !sl_object_has_finalizer(c->object, SL_DEFINITION_FINALIZER)) {
        refuse(c, "metadata.finalizers",
               "the server takes " SL_DEFINITION_FINALIZER " away when no objects are left");
    }
}

static void check_definition(const void *self, const struct sl_json *o, const struct sl_json *old,
                             struct sl_error *e)
{
    struct sl_check c = {.e = e, .object = o, .old = old};
    (void)self;
    if (e->cause_count > 0) {
        return; /* the rest would only be a consequence */
    }
    check_group(&c);
    check_names(&c);
    check_versions(&c);
    if (old != NULL) {
        check_changes(&c);
    }
}

void sl_definition_rules(void)
{
    sl_object_rule_set(SL_KIND_DEFINITION, check_definition, NULL);
}

enum sl_code sl_definition_refuse(const struct sl_json *definition, const char *field,
                                  const char *why, struct sl_error *e)
{
    SL_PRE(e != NULL);
    struct sl_check c = {.e = e, .object = definition};
    refuse_value(&c, field, why);
    return sl_check_end(&c, SL_KIND_DEFINITION);
}

const char *sl_definition_shared(const struct sl_json *definition, const struct sl_json *other)
{
    static const char *const names[] = {"spec.names.kind", "spec.names.plural",
                                        "spec.names.singular"};
    if (strcmp(text_at(definition, "spec.group"), text_at(other, "spec.group")) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            bool kinds = (i == 0) == (k == 0);
            if (kinds && strcmp(text_at(definition, names[i]), text_at(other, names[k])) == 0) {
                return names[i];
            }
        }
    }
    return NULL;
}

/* --- what the server writes ------------------------------------------------------------------- */

void sl_definition_default(struct sl_json *definition)
{
    struct sl_json *names = sl_json_path(definition, "spec.names");
    const char *kind = text_at(names, "kind");
    if (sl_json_type(names) != SL_JSON_MAP || kind[0] == '\0') {
        return;
    }
    struct sl_buf text = {0};
    if (sl_json_get(names, "singular") == NULL) {
        sl_buf_text(&text, kind);
        for (size_t i = 0; i < text.len; i++) {
            text.data[i] = (char)tolower((unsigned char)text.data[i]);
        }
        sl_json_set_text(names, "singular", text.data);
        sl_buf_reset(&text);
    }
    if (sl_json_get(names, "listKind") == NULL) {
        sl_buf_print(&text, "%sList", kind);
        sl_json_set_text(names, "listKind", text.data);
    }
    sl_buf_fini(&text);
    struct sl_json *conversion = sl_json_path_make(definition, "spec.conversion");
    if (sl_json_get(conversion, "strategy") == NULL) {
        sl_json_set_text(conversion, "strategy", "None");
    }
}

void sl_definition_settle(struct sl_json *definition, int64_t now_ms)
{
    struct sl_json *status = sl_json_path_make(definition, "status");
    struct sl_json *stored = sl_json_new_list();
    SL_PRE(sl_definition_version(definition) != NULL);
    sl_json_append(stored, sl_json_new_text(text_at(sl_definition_version(definition), "name")));
    sl_json_set(status, "storedVersions", stored);
    sl_json_set(status, "acceptedNames", sl_json_clone(sl_json_path(definition, "spec.names")));
    (void)sl_condition_set(status, "NamesAccepted", true, "NoConflicts", "no conflicts found", 0,
                           now_ms);
    (void)sl_condition_set(status, "Established", true, "InitialNamesAccepted",
                           "the initial names have been accepted", 0, now_ms);
    if (sl_object_deleting(definition)) {
        (void)sl_condition_set(status, "Terminating", true, "InstanceDeletionInProgress",
                               "CustomResource deletion is in progress", 0, now_ms);
    }
}

/* --- columns ---------------------------------------------------------------------------------- */

/* A step by name: with a dot before it, or in brackets where it has one. */
static bool add_step(struct sl_buf *out, const char *name, size_t len)
{
    if (len == 0 || memchr(name, '[', len) != NULL || memchr(name, ']', len) != NULL) {
        return false;
    }
    bool dots = memchr(name, '.', len) != NULL;
    sl_buf_text(out, dots ? "[" : out->len > 0 ? "." : "");
    sl_buf_add(out, name, len);
    sl_buf_text(out, dots ? "]" : "");
    return true;
}

/* .name, where a backslash takes the meaning of a dot away. */
static const char *read_name(const char *at, struct sl_buf *out)
{
    struct sl_buf name = {0};
    for (; *at != '\0' && *at != '.' && *at != '['; at++) {
        at += at[0] == '\\' && at[1] != '\0';
        sl_buf_add(&name, at, 1);
    }
    bool good = name.len > 0 && add_step(out, name.data, name.len);
    sl_buf_fini(&name);
    return good ? at : NULL;
}

/* ['name'], ["name"] or [0] */
static const char *read_bracket(const char *at, struct sl_buf *out)
{
    const char *close = strchr(at, ']');
    char quote = at[1];
    if (close == NULL) {
        return NULL;
    }
    size_t len = (size_t)(close - at) - 1;
    if ((quote == '\'' || quote == '"') && len > 2 && close[-1] == quote) {
        return add_step(out, at + 2, len - 2) ? close + 1 : NULL;
    }
    if (len == 0 || strspn(at + 1, "0123456789") != len) {
        return NULL;
    }
    sl_buf_add(out, at, len + 2);
    return close + 1;
}

/* What is behind .status.conditions: of which type, and which member of it. */
static bool read_condition(const char *at, struct sl_buf *out)
{
    static const char head[] = "[?(@.type==";
    char quote = at[sizeof head - 1];
    const char *type = at + sizeof head;
    size_t len = strncmp(at, head, sizeof head - 1) == 0 && (quote == '"' || quote == '\'')
                     ? strcspn(type, "\"'.")
                     : 0;
    const char *rest = type + len;
    if (len == 0 || rest[0] != quote || strncmp(rest + 1, ")].", 3) != 0 ||
        rest[4 + strspn(rest + 4, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")] !=
            '\0') {
        return false;
    }
    sl_buf_text(out, "?");
    sl_buf_add(out, type, len);
    sl_buf_print(out, ".%s", rest + 4);
    return true;
}

bool sl_definition_source(const char *json_path, char out[static SL_DEFINITION_SOURCE_BYTES])
{
    static const char conditions[] = ".status.conditions";
    struct sl_buf source = {0};
    const char *at = json_path;
    SL_PRE(json_path != NULL);
    bool good = json_path[0] == '.';
    if (strncmp(at, conditions, sizeof conditions - 1) == 0 && at[sizeof conditions - 1] == '[' &&
        at[sizeof conditions] == '?') {
        good = read_condition(at + sizeof conditions - 1, &source);
        at = "";
    }
    while (good && *at != '\0') {
        at = *at == '.' ? read_name(at + 1, &source) : read_bracket(at, &source);
        good = at != NULL;
    }
    good = good && source.len > 0 && source.len < SL_DEFINITION_SOURCE_BYTES;
    if (good) {
        memcpy(out, source.data, source.len + 1);
    }
    sl_buf_fini(&source);
    return good;
}
