/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Parents are marked, and variants made and deleted, so that there is one for each flavor of the queue. */
#include "api/kinds/variant.h"
#include "base/fnv1a.h"
#include "controllers/variants/family.h"
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 254

bool sl_family_label_parent(struct sl_family *f, bool on)
{
    struct sl_json *patch = sl_json_new_map();
    sl_json_set(sl_json_path_make(patch, "metadata.labels"), SL_LABEL_PARENT,
                on ? sl_json_new_text("true") : sl_json_new_null());
    struct sl_write w =
        sl_reconciler_write_of(SL_VERB_PATCH_MERGE, SL_KIND_WORKLOAD, f->parent, patch);
    sl_reconciler_write(f->r, &w, NULL);
    sl_json_free(patch);
    return true;
}

/* Of the parent and the flavor: made again, it is the same. */
static void print_name(const struct sl_family *f, const char *flavor, char out[static NAME_SIZE])
{
    const char *uid = sl_object_uid(f->parent);
    uint64_t hash = sl_fnv1a(SL_FNV1A_BASIS, uid, strlen(uid));
    hash = sl_fnv1a(hash, flavor, strlen(flavor));
    (void)snprintf(out, NAME_SIZE, "%.180s-%.50s-%05x", sl_object_name(f->parent), flavor,
                   (unsigned)(hash & 0xfffffu));
}

static void own(struct sl_json *metadata, const struct sl_json *parent)
{
    struct sl_json *owner = sl_json_new_map();
    sl_json_set_text(owner, "apiVersion", sl_kind_info(SL_KIND_WORKLOAD)->api_version);
    sl_json_set_text(owner, "kind", sl_kind_info(SL_KIND_WORKLOAD)->kind);
    sl_json_set_text(owner, "name", sl_object_name(parent));
    sl_json_set_text(owner, "uid", sl_object_uid(parent));
    sl_json_set_bool(owner, "controller", true);
    sl_json_set_bool(owner, "blockOwnerDeletion", true);
    struct sl_json *owners = sl_json_new_list();
    sl_json_append(owners, owner);
    sl_json_set(metadata, "ownerReferences", owners);
}

/* Preemption is one variant's at a time: each has a gate. */
static void add_gate(struct sl_json *spec)
{
    struct sl_json *gate = sl_json_new_map();
    sl_json_set_text(gate, "name", SL_VARIANT_GATE);
    if (sl_json_get(spec, "preemptionGates") == NULL) {
        sl_json_set(spec, "preemptionGates", sl_json_new_list());
    }
    sl_json_append(sl_json_get(spec, "preemptionGates"), gate);
}

struct sl_json *sl_family_variant_new(const struct sl_family *f, const char *flavor)
{
    char name[NAME_SIZE];
    print_name(f, flavor, name);
    struct sl_json *o = sl_object_new(SL_KIND_WORKLOAD, sl_object_namespace(f->parent), name);
    struct sl_json *metadata = sl_json_path_make(o, "metadata");
    const struct sl_json *labels = sl_json_path(f->parent, "metadata.labels");
    const struct sl_json *annotations = sl_json_path(f->parent, "metadata.annotations");
    if (labels != NULL) {
        sl_json_set(metadata, "labels", sl_json_clone(labels));
        sl_json_remove(sl_json_get(metadata, "labels"), SL_LABEL_PARENT);
    }
    if (annotations != NULL) {
        sl_json_set(metadata, "annotations", sl_json_clone(annotations));
    }
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), SL_ANNOTATION_ALLOWED_FLAVORS,
                     flavor);
    own(metadata, f->parent);
    sl_json_set(o, "spec", sl_json_clone(sl_json_get(f->parent, "spec")));
    add_gate(sl_json_get(o, "spec"));
    return o;
}

/* Not before all fit into a family beside those that are leaving. */
bool sl_family_make(struct sl_family *f)
{
    bool made = false;
    size_t spare = SL_VARIANT_FLAVORS_MAX - f->flavor_count;
    for (size_t i = 0; i < f->flavor_count && f->leaving_count <= spare; i++) {
        if (f->variants[i] != NULL || sl_condition_true(f->parent, "Finished")) {
            continue;
        }
        struct sl_json *o = sl_family_variant_new(f, f->flavors[i]);
        struct sl_note note = {
            .kind = SL_KIND_WORKLOAD, .about = f->parent, .reason = "CreatedVariant"};
        (void)snprintf(note.message, sizeof note.message, "Variant Workload \"%s/%.253s\" created",
                       sl_object_namespace(o), sl_object_name(o));
        struct sl_write w = sl_reconciler_write_of(SL_VERB_CREATE, SL_KIND_WORKLOAD, o, o);
        w.uid = NULL;
        sl_reconciler_write(f->r, &w, &note);
        sl_json_free(o);
        made = true;
    }
    return made;
}

bool sl_family_drop_stale(struct sl_family *f)
{
    for (size_t i = 0; i < f->stale_count; i++) {
        const char *flavor = sl_object_annotation(f->stale[i], SL_ANNOTATION_ALLOWED_FLAVORS);
        struct sl_note note = {
            .kind = SL_KIND_WORKLOAD, .about = f->parent, .reason = "DeletedVariant"};
        (void)snprintf(note.message, sizeof note.message,
                       "Variant Workload \"%.200s\" deleted; flavor \"%.200s\" no longer in "
                       "ClusterQueue, or the parent changed",
                       sl_object_name(f->stale[i]), flavor == NULL ? "" : flavor);
        struct sl_write w =
            sl_reconciler_write_of(SL_VERB_DELETE, SL_KIND_WORKLOAD, f->stale[i], NULL);
        sl_reconciler_write(f->r, &w, &note);
    }
    return f->stale_count > 0;
}

static bool passes(struct sl_json *patch, const char *field, const struct sl_json *from,
                   const struct sl_json *to)
{
    const struct sl_json *wanted = sl_json_get(sl_json_get(from, "spec"), field);
    if (sl_json_equal(wanted, sl_json_get(sl_json_get(to, "spec"), field))) {
        return false;
    }
    sl_json_set(sl_json_path_make(patch, "spec"), field,
                wanted == NULL ? sl_json_new_null() : sl_json_clone(wanted));
    return true;
}

/* It may change at any time. */
bool sl_family_pass_priority(struct sl_family *f)
{
    bool written = false;
    for (size_t i = 0; i < f->flavor_count; i++) {
        struct sl_json *patch = sl_json_new_map();
        bool priority = passes(patch, "priority", f->parent, f->variants[i]);
        bool class = passes(patch, "priorityClassRef", f->parent, f->variants[i]);
        if (f->variants[i] != NULL && !sl_condition_true(f->variants[i], "Finished") &&
            (priority || class)) {
            struct sl_write w = sl_reconciler_write_of(SL_VERB_PATCH_MERGE, SL_KIND_WORKLOAD,
                                                       f->variants[i], patch);
            sl_reconciler_write(f->r, &w, NULL);
            written = true;
        }
        sl_json_free(patch);
    }
    return written;
}
