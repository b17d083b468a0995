/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the registry itself writes into an object, whatever the client sent: identity, generation,
 * deletion marks, and the few system fields of the built-in kinds. */
#include "store/internal.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"

#define GENERATED_CHARS 5u
#define NAME_MAX_CHARS 63u

/* splitmix64 (Steele, Lea and Flood 2014): identities need to be different, not secret. */
static uint64_t random_next(struct sl_store *s)
{
    uint64_t z = s->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A UUID of version 8: it begins with the revision, so that UIDs are in the order in which objects were made, whatever the
 * clock says. Times of creation are whole seconds, and of two in one second the smaller UID goes first. */
static void make_uid(struct sl_store *s, char out[static 40])
{
    uint64_t order = s->revision + 1, a = random_next(s), b = random_next(s);
    (void)snprintf(out, 40, "%08x-%04x-8%03x-%04x-%012llx", (unsigned)(order >> 16),
                   (unsigned)order & 0xffff, (unsigned)a & 0xfff,
                   (unsigned)((b >> 48) & 0x3fff) | 0x8000u,
                   (unsigned long long)(b & 0xffffffffffffu));
}

void sl_prepare_name(struct sl_store *s, struct sl_json *object)
{
    /* No vowels and no 0, 1, 3: generated names spell nothing and are not misread. */
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    struct sl_json *metadata = sl_json_get(object, "metadata");
    const char *prefix = sl_json_text(sl_json_get(metadata, "generateName"), "");
    char name[NAME_MAX_CHARS + 1], suffix[GENERATED_CHARS + 1];
    for (size_t i = 0; i < GENERATED_CHARS; i++) {
        suffix[i] = letters[random_next(s) % (sizeof letters - 1)];
    }
    suffix[GENERATED_CHARS] = '\0';
    (void)snprintf(name, sizeof name, "%.*s%s", (int)(NAME_MAX_CHARS - GENERATED_CHARS), prefix,
                   suffix);
    sl_json_set_text(metadata, "name", name);
}

static bool has_generation(enum sl_kind kind)
{
    return kind != SL_KIND_NAMESPACE && kind != SL_KIND_NODE && kind != SL_KIND_EVENT &&
           kind != SL_KIND_CONFIG_MAP && kind != SL_KIND_SECRET && kind != SL_KIND_SERVICE_ACCOUNT;
}

static struct sl_json *list_of_one(const char *text)
{
    struct sl_json *list = sl_json_new_list();
    sl_json_append(list, sl_json_new_text(text));
    return list;
}

static void prepare_namespace(struct sl_json *object)
{
    struct sl_json *labels = sl_json_path_make(object, "metadata.labels");
    sl_json_set_text(labels, "kubernetes.io/metadata.name", sl_object_name(object));
    sl_json_set(sl_json_path_make(object, "spec"), "finalizers", list_of_one("kubernetes"));
    sl_json_set_text(sl_json_path_make(object, "status"), "phase", "Active");
}

static void set_system_fields(enum sl_kind kind, struct sl_json *object)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    struct sl_json *metadata = sl_json_path_make(object, "metadata");
    sl_json_set_text(object, "apiVersion", info->api_version);
    sl_json_set_text(object, "kind", info->kind);
    sl_json_remove(metadata, "selfLink");
}

void sl_prepare_create(struct sl_store *s, enum sl_kind kind, struct sl_json *object)
{
    char uid[40], now[32];
    set_system_fields(kind, object);
    struct sl_json *metadata = sl_json_get(object, "metadata");
    make_uid(s, uid);
    sl_clock_format(sl_clock_now_ms(), now);
    sl_json_set_text(metadata, "uid", uid);
    sl_json_set_text(metadata, "creationTimestamp", now);
    sl_json_remove(metadata, "deletionTimestamp");
    sl_json_remove(metadata, "deletionGracePeriodSeconds");
    sl_json_remove(metadata, "resourceVersion");
    sl_json_remove(metadata, "generation");
    if (has_generation(kind)) {
        sl_json_set_int(metadata, "generation", 1);
    }
    /* Kubelets register their node together with its status. */
    if (sl_kind_info(kind)->has_status && kind != SL_KIND_NODE) {
        sl_json_remove(object, "status");
    }
    if (kind == SL_KIND_NAMESPACE) {
        prepare_namespace(object);
    } else if (kind == SL_KIND_POD) {
        sl_json_set_text(sl_json_path_make(object, "status"), "phase", "Pending");
    }
    sl_admit_object(s, kind, object);
}

static void keep(struct sl_json *now, const struct sl_json *old, const char *key)
{
    struct sl_json *value = sl_json_get(old, key);
    if (value == NULL) {
        sl_json_remove(now, key);
    } else {
        sl_json_set(now, key, sl_json_ref(value));
    }
}

static bool all_equal(enum sl_kind kind, const struct sl_json *a, const struct sl_json *b)
{
    /* A kind of users without that subresource has its status like any other field. */
    bool own = kind >= SL_KIND_DEFINED && !sl_kind_info(kind)->has_status;
    for (struct sl_json_member m = {0}; sl_json_each(a, &m);) {
        bool counts = strcmp(m.key, "metadata") != 0 && (own || strcmp(m.key, "status") != 0) &&
                      strcmp(m.key, "apiVersion") != 0 && strcmp(m.key, "kind") != 0;
        if (counts && !sl_json_equal(m.value, sl_json_get(b, m.key))) {
            return false;
        }
    }
    return true;
}

static bool spec_differs(enum sl_kind kind, const struct sl_json *a, const struct sl_json *b)
{
    return !all_equal(kind, a, b) || !all_equal(kind, b, a);
}

void sl_prepare_update(enum sl_kind kind, struct sl_json *object, const struct sl_json *old)
{
    static const char *const kept[] = {"name",
                                       "namespace",
                                       "uid",
                                       "creationTimestamp",
                                       "deletionTimestamp",
                                       "deletionGracePeriodSeconds",
                                       "generation",
                                       "resourceVersion"};
    set_system_fields(kind, object);
    struct sl_json *metadata = sl_json_get(object, "metadata");
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        keep(metadata, sl_json_get(old, "metadata"), kept[i]);
    }
    if (kind == SL_KIND_NAMESPACE) { /* only its emptying takes spec.finalizers away */
        keep(object, old, "spec");
    }
    if (spec_differs(kind, object, old) && has_generation(kind)) {
        sl_json_set_int(metadata, "generation", sl_object_generation(old) + 1);
    }
    SL_POST(strcmp(sl_object_uid(object), sl_object_uid(old)) == 0);
}

bool sl_prepare_deletion(enum sl_kind kind, struct sl_json *object)
{
    if (sl_object_deleting(object)) {
        return false;
    }
    char now[32];
    struct sl_json *metadata = sl_json_get(object, "metadata");
    sl_clock_format(sl_clock_now_ms(), now);
    sl_json_set_text(metadata, "deletionTimestamp", now);
    sl_json_set_int(metadata, "deletionGracePeriodSeconds", 0);
    if (has_generation(kind)) {
        sl_json_set_int(metadata, "generation", sl_object_generation(object) + 1);
    }
    if (kind == SL_KIND_NAMESPACE) {
        sl_json_set_text(sl_json_path_make(object, "status"), "phase", "Terminating");
    }
    return true;
}

void sl_prepare_drop_finalizer(struct sl_json *object, const char *name)
{
    if (sl_object_drop_finalizer(object, name) &&
        sl_json_len(sl_json_path(object, "metadata.finalizers")) == 0) {
        sl_json_remove(sl_json_get(object, "metadata"), "finalizers");
    }
}
