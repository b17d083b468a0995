/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading and making what every Kubernetes object has: apiVersion, kind, metadata. */
#include "api/objects/object.h"

#include <stdint.h>

#include "base/clock.h"
#include <string.h>

static const char *metadata_text(const struct sl_json *o, const char *key)
{
    return sl_json_text(sl_json_get(sl_json_get(o, "metadata"), key), "");
}

const char *sl_object_name(const struct sl_json *o)
{
    return metadata_text(o, "name");
}

const char *sl_object_namespace(const struct sl_json *o)
{
    return metadata_text(o, "namespace");
}

const char *sl_object_uid(const struct sl_json *o)
{
    return metadata_text(o, "uid");
}

char *sl_object_key_new(const struct sl_json *o)
{
    struct sl_buf key = {0};
    sl_buf_print(&key, "%s/%s", sl_object_namespace(o), sl_object_name(o));
    return sl_buf_take(&key);
}

const char *sl_object_resource_version(const struct sl_json *o)
{
    return metadata_text(o, "resourceVersion");
}

int64_t sl_object_generation(const struct sl_json *o)
{
    return sl_json_int(sl_json_get(sl_json_get(o, "metadata"), "generation"), 0);
}

int64_t sl_object_created_ms(const struct sl_json *o)
{
    return sl_clock_parse(metadata_text(o, "creationTimestamp"));
}

bool sl_object_deleting(const struct sl_json *o)
{
    return metadata_text(o, "deletionTimestamp")[0] != '\0';
}

const char *sl_object_label(const struct sl_json *o, const char *key)
{
    return sl_json_text(sl_json_get(sl_json_get(sl_json_get(o, "metadata"), "labels"), key), NULL);
}

const char *sl_object_annotation(const struct sl_json *o, const char *key)
{
    return sl_json_text(sl_json_get(sl_json_get(sl_json_get(o, "metadata"), "annotations"), key),
                        NULL);
}

bool sl_object_has_finalizer(const struct sl_json *o, const char *name)
{
    return sl_json_has_text(sl_json_path(o, "metadata.finalizers"), name);
}

bool sl_object_drop_finalizer(struct sl_json *o, const char *name)
{
    struct sl_json *list = sl_json_path(o, "metadata.finalizers");
    size_t index = sl_json_find_text(list, name);
    if (index == sl_json_len(list)) {
        return false;
    }
    sl_json_remove_at(list, index);
    return true;
}

const struct sl_json *sl_object_controller_ref(const struct sl_json *o)
{
    const struct sl_json *refs = sl_json_get(sl_json_get(o, "metadata"), "ownerReferences");
    for (size_t i = 0; i < sl_json_len(refs); i++) {
        const struct sl_json *ref = sl_json_at(refs, i);
        if (sl_json_bool(sl_json_get(ref, "controller"), false)) {
            return ref;
        }
    }
    return NULL;
}

bool sl_object_ref_is(const struct sl_json *ref, enum sl_kind kind)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    return strcmp(sl_json_path_text(ref, "kind", ""), info->kind) == 0 &&
           strcmp(sl_json_path_text(ref, "apiVersion", ""), info->api_version) == 0;
}

struct sl_json *sl_object_new(enum sl_kind kind, const char *ns, const char *name)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "apiVersion", info->api_version);
    sl_json_set_text(o, "kind", info->kind);
    struct sl_json *metadata = sl_json_new_map();
    sl_json_set(o, "metadata", metadata);
    if (name[0] != '\0') {
        sl_json_set_text(metadata, "name", name);
    }
    if (ns[0] != '\0') {
        sl_json_set_text(metadata, "namespace", ns);
    }
    return o;
}
