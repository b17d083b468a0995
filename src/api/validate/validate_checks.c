/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of Topology, AdmissionCheck, Node, Pod, ConfigMap and Secret that tables cannot say. */
#include <string.h>

#include "api/validate/validate.h"
#include "base/base64.h"
#include "base/check.h"

#define LEVELS_MAX 8u /* more are too many, as the table says */
#define HOSTNAME "kubernetes.io/hostname"
#define VALUE_BYTES_MAX 1048576u /* of all values of a ConfigMap or Secret together, as they are */

static const char *level_at(const struct sl_json *levels, size_t i)
{
    return sl_json_path_text(sl_json_at(levels, i), "nodeLabel", "");
}

/* Nodes have one host name each, so nothing can be below that level, and workloads placed on hosts
 * stay valid whatever the levels above are called. */
static bool ends_at_hosts(const struct sl_json *levels)
{
    size_t count = sl_json_len(levels);
    return count > 0 && strcmp(level_at(levels, count - 1), HOSTNAME) == 0;
}

static void check_level(struct sl_check *c, const struct sl_json *levels, size_t i)
{
    const char *label = level_at(levels, i);
    size_t before = 0;
    while (before < i && strcmp(level_at(levels, before), label) != 0) {
        before++;
    }
    size_t up = sl_check_down(c, "[%zu].nodeLabel", i);
    if (label[0] != '\0' && before < i) {
        sl_check_duplicate(c, label);
    }
    if (strcmp(label, HOSTNAME) == 0 && i + 1 < sl_json_len(levels)) {
        sl_check_invalid(c, sl_json_get(sl_json_at(levels, i), "nodeLabel"),
                         "the kubernetes.io/hostname label can only be used at the lowest level "
                         "of topology");
    }
    sl_check_up(c, up);
}

void sl_check_topology(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *levels = sl_json_path(c->object, "spec.levels");
    const struct sl_json *old = sl_json_path(c->old, "spec.levels");
    size_t up = sl_check_down(c, "spec.levels");
    for (size_t i = 0; i < sl_json_len(levels) && i < LEVELS_MAX; i++) {
        check_level(c, levels, i);
    }
    if (old != NULL && !sl_json_equal(levels, old) &&
        !(ends_at_hosts(levels) && ends_at_hosts(old))) {
        sl_check_invalid(c, levels,
                         "levels are mutable only when kubernetes.io/hostname is the lowest level "
                         "both before and after the change");
    }
    sl_check_up(c, up);
}

/* As Kueue's pattern of kinds: a DNS label in any case that begins with a letter. */
static bool is_kind(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t len = strlen(text);
    return len > 0 && strchr(letters, text[0]) != NULL && text[len - 1] != '-' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == len;
}

void sl_check_admission_check(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *kind = sl_json_path(c->object, "spec.parameters.kind");
    size_t up = sl_check_down(c, "spec.parameters.kind");
    if (sl_json_text(kind, "")[0] != '\0' && !is_kind(sl_json_text(kind, ""))) {
        sl_check_invalid(c, kind, "must be letters, digits and '-', beginning with a letter");
    }
    sl_check_up(c, up);
}

void sl_check_node(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *taints = sl_json_path(c->object, "spec.taints");
    sl_check_unique_taints(c, "spec.taints", taints);
}

/* Placement relies on it: gates only ever open, and a pod stays on the node that it was given. */
static void check_gates(struct sl_check *c)
{
    const struct sl_json *gates = sl_json_path(c->object, "spec.schedulingGates");
    const struct sl_json *old = sl_json_path(c->old, "spec.schedulingGates");
    for (size_t i = 0; c->old != NULL && i < sl_json_len(gates); i++) {
        const char *name = sl_json_path_text(sl_json_at(gates, i), "name", "");
        if (sl_json_find_by(old, "name", name) == NULL) {
            size_t up = sl_check_down(c, "spec.schedulingGates[%zu]", i);
            sl_check_forbidden(c, "only deletion is allowed");
            sl_check_up(c, up);
        }
    }
}

void sl_check_pod(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *node = sl_json_path(c->object, "spec.nodeName");
    const char *old = sl_json_path_text(c->old, "spec.nodeName", "");
    size_t up = sl_check_down(c, "spec.nodeName");
    if (old[0] != '\0') {
        sl_check_immutable(c, node, sl_json_path(c->old, "spec.nodeName"));
    } else if (sl_json_text(node, "")[0] != '\0' &&
               sl_json_len(sl_json_path(c->object, "spec.schedulingGates")) > 0) {
        sl_check_forbidden(c, "cannot be set until all schedulingGates have been cleared");
    }
    sl_check_up(c, up);
    check_gates(c);
    sl_check_pod_marks(c);
}

/* --- ConfigMaps and Secrets, as Kubernetes has them ----------------------------------------------- */

/* Values are not repeated: they may be secret. */
static void complain(struct sl_check *c, const char *member, const char *key, const char *why)
{
    size_t up = sl_check_down(c, "%s[%s]", member, key);
    sl_error_cause(c->e, "FieldValueInvalid", c->path, "Invalid value: %s", why);
    sl_check_up(c, up);
}

static void check_base64(struct sl_check *c, const char *member, size_t *bytes)
{
    for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(c->object, member), &m);) {
        struct sl_buf value = {0};
        if (sl_base64_read(sl_json_text(m.value, ""), &value)) {
            *bytes += value.len;
        } else {
            complain(c, member, m.key, "is not base64");
        }
        sl_buf_fini(&value);
    }
}

static void check_size(struct sl_check *c, size_t bytes)
{
    if (bytes > VALUE_BYTES_MAX) {
        sl_error_cause(c->e, "FieldValueTooLong", "data", "Too long: may not be more than %u bytes",
                       VALUE_BYTES_MAX);
    }
}

/* `members`: what may not change once that was promised. */
static void check_promise(struct sl_check *c, const char *const *members, size_t count)
{
    if (!sl_json_path_bool(c->old, "immutable", false)) {
        return;
    }
    size_t up = sl_check_down(c, "immutable");
    if (!sl_json_path_bool(c->object, "immutable", false)) {
        sl_check_forbidden(c, "field is immutable when `immutable` is set");
    }
    sl_check_up(c, up);
    for (size_t i = 0; i < count; i++) {
        const struct sl_json *now = sl_json_get(c->object, members[i]);
        const struct sl_json *old = sl_json_get(c->old, members[i]);
        bool both_empty = sl_json_len(now) == 0 && sl_json_len(old) == 0;
        up = sl_check_down(c, "%s", members[i]);
        if (!both_empty && !sl_json_equal(now, old)) {
            sl_check_forbidden(c, "field is immutable when `immutable` is set");
        }
        sl_check_up(c, up);
    }
}

void sl_check_config_map(struct sl_check *c)
{
    SL_PRE(c != NULL);
    static const char *const members[] = {"data", "binaryData"};
    const struct sl_json *data = sl_json_get(c->object, "data");
    size_t bytes = 0;
    for (struct sl_json_member m = {0}; sl_json_each(data, &m);) {
        bytes += strlen(sl_json_text(m.value, ""));
    }
    for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(c->object, "binaryData"), &m);) {
        if (sl_json_get(data, m.key) != NULL) {
            complain(c, "data", m.key, "duplicate of key present in binaryData");
        }
    }
    check_base64(c, "binaryData", &bytes);
    check_size(c, bytes);
    check_promise(c, members, 2);
}

static void require_keys(struct sl_check *c, const char *const keys[2])
{
    for (size_t k = 0; k < 2 && keys[k] != NULL; k++) {
        if (sl_json_get(sl_json_get(c->object, "data"), keys[k]) == NULL) {
            size_t up = sl_check_down(c, "data[%s]", keys[k]);
            sl_check_required(c, "");
            sl_check_up(c, up);
        }
    }
}

/* What secrets of a type need: of the keys one, or all. */
static void check_type(struct sl_check *c)
{
    static const struct {
        const char *type, *keys[2];
        bool one_is_enough;
    } types[] = {{"kubernetes.io/dockercfg", {".dockercfg", NULL}, false},
                 {"kubernetes.io/dockerconfigjson", {".dockerconfigjson", NULL}, false},
                 {"kubernetes.io/basic-auth", {"username", "password"}, true},
                 {"kubernetes.io/ssh-auth", {"ssh-privatekey", NULL}, false},
                 {"kubernetes.io/tls", {"tls.crt", "tls.key"}, false}};
    const char *type = sl_json_path_text(c->object, "type", "");
    const struct sl_json *data = sl_json_get(c->object, "data");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        bool any = false;
        for (size_t k = 0; k < 2 && types[i].keys[k] != NULL; k++) {
            any = any || sl_json_get(data, types[i].keys[k]) != NULL;
        }
        if (strcmp(type, types[i].type) == 0 && !(types[i].one_is_enough && any)) {
            require_keys(c, types[i].keys);
        }
    }
}

void sl_check_secret(struct sl_check *c)
{
    SL_PRE(c != NULL);
    static const char *const members[] = {"data"};
    size_t bytes = 0;
    check_base64(c, "data", &bytes);
    check_size(c, bytes);
    check_type(c);
    check_promise(c, members, 1);
}
