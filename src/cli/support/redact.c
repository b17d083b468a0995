/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Takes secrets out of objects. */
#include "cli/support/redact.h"
#include "base/check.h"
#include <ctype.h>
#include <string.h>

#define KEY_MAX 512u /* longer than Kubernetes takes */

/* NULL at the end of each. */
static const char *const container_lists[] = {"containers", "initContainers", "ephemeralContainers",
                                              NULL};
static const char *const container_kept[] = {"name", "image", "resources", "restartPolicy", NULL};
static const char *const dropped[] = {"managedFields", "volumes", "imagePullSecrets",
                                      "volumeClaimTemplates", NULL};
static const char *const hidden[] = {"env",        "envFrom", "command",    "args",
                                     "entrypoint", "data",    "stringData", "binaryData",
                                     "runtimeEnv", "script",  NULL};
/* In lower case, anywhere in a name. */
static const char *const secrets[] = {"token",       "secret",     "password",      "passwd",
                                      "credential",  "cabundle",   "privatekey",    "apikey",
                                      "certificate", "kubeconfig", "authorization", NULL};
/* Texts that a kind of an adapter may keep. */
static const char *const plain[] = {
    "name", "image", "kind", "apiVersion", "restartPolicy", "priorityClassName", "queueName", NULL};
/* Whose members are labels or amounts. */
static const char *const plain_maps[] = {
    "labels", "matchLabels", "nodeSelector", "requests", "limits", "annotations", NULL};
static const char *const domains[] = {"kueue.x-k8s.io/", "sluice.dev/", "kubernetes.io/", "k8s.io/",
                                      NULL};

static bool has(const char *const *list, const char *text)
{
    for (; *list != NULL; list++) {
        if (strcmp(*list, text) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_secret(const char *key)
{
    char lower[KEY_MAX] = {0};
    for (size_t i = 0; key[i] != '\0' && i < KEY_MAX - 1; i++) {
        lower[i] = (char)tolower((unsigned char)key[i]);
    }
    for (const char *const *word = secrets; *word != NULL; word++) {
        if (strstr(lower, *word) != NULL) {
            return true;
        }
    }
    return false;
}

/* Ours and Kubernetes'; what was applied last has all that the object has. */
static bool is_known_annotation(const char *key)
{
    for (const char *const *domain = domains; *domain != NULL; domain++) {
        const char *at = strstr(key, *domain);
        if (at != NULL && (at == key || at[-1] == '.')) {
            return strstr(key, "last-applied") == NULL && !is_secret(key);
        }
    }
    return false;
}

static struct sl_json *annotations_new(const struct sl_json *from)
{
    struct sl_json *out = sl_json_new_map();
    for (struct sl_json_member m = {0}; sl_json_each(from, &m);) {
        if (is_known_annotation(m.key)) {
            sl_json_set(out, m.key, sl_json_clone(m.value));
        } else {
            sl_json_set_text(out, m.key, SL_REDACTED);
        }
    }
    return out;
}

/* strict: texts are kept by name alone. */
static struct sl_json *value_new(const struct sl_json *from, const char *key, bool strict);

static struct sl_json *container_new(const struct sl_json *from)
{
    struct sl_json *out = sl_json_new_map();
    for (struct sl_json_member m = {0}; sl_json_each(from, &m);) {
        if (has(container_kept, m.key)) {
            sl_json_set(out, m.key, sl_json_clone(m.value));
        } else {
            sl_json_set_text(out, m.key, SL_REDACTED);
        }
    }
    return out;
}

static struct sl_json *containers_new(const struct sl_json *from)
{
    struct sl_json *out = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(from); i++) {
        sl_json_append(out, container_new(sl_json_at(from, i)));
    }
    return out;
}

static void set_member(struct sl_json *out, const char *key, const struct sl_json *value,
                       bool strict)
{
    enum sl_json_type type = sl_json_type(value);
    if (has(dropped, key)) {
        return;
    }
    if (has(container_lists, key) && type == SL_JSON_LIST) {
        sl_json_set(out, key, containers_new(value));
    } else if (strcmp(key, "annotations") == 0 && type == SL_JSON_MAP) {
        sl_json_set(out, key, annotations_new(value));
    } else if (has(hidden, key) || is_secret(key)) {
        sl_json_set_text(out, key, SL_REDACTED);
    } else {
        sl_json_set(out, key, value_new(value, key, strict && !has(plain_maps, key)));
    }
}

static struct sl_json *value_new(const struct sl_json *from, const char *key, bool strict)
{
    struct sl_json *out;
    switch (sl_json_type(from)) {
    case SL_JSON_MAP:
        out = sl_json_new_map();
        for (struct sl_json_member m = {0}; sl_json_each(from, &m);) {
            set_member(out, m.key, m.value, strict);
        }
        return out;
    case SL_JSON_LIST:
        out = sl_json_new_list();
        for (size_t i = 0; i < sl_json_len(from); i++) {
            sl_json_append(out, value_new(sl_json_at(from, i), "", strict));
        }
        return out;
    case SL_JSON_TEXT:
        return strict && !has(plain, key) ? sl_json_new_text(SL_REDACTED) : sl_json_clone(from);
    default:
        return sl_json_clone(from);
    }
}

struct sl_json *sl_redact_new(enum sl_kind kind, const struct sl_json *object)
{
    SL_PRE(object != NULL);
    struct sl_json *out = sl_json_new_map();
    for (struct sl_json_member m = {0}; sl_json_each(object, &m);) {
        set_member(out, m.key, m.value, kind >= SL_KIND_CUSTOM && strcmp(m.key, "spec") == 0);
    }
    return out;
}
