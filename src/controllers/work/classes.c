/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workloads are read first and written afterwards: a write may change what is being listed. */
#include "controllers/work/classes.h"
#include "base/check.h"
#include "api/objects/object.h"
#include "base/mem.h"
#include <string.h>

struct found {
    const char *class_name;
    int64_t value;
    struct sl_json **workloads;
    size_t count;
};

void sl_classes_init(struct sl_classes *c, const struct sl_client *client)
{
    *c = (struct sl_classes){client, sl_map_new()};
}

void sl_classes_fini(struct sl_classes *c)
{
    SL_PRE(c != NULL);
    sl_map_free(c->values);
    *c = (struct sl_classes){0};
}

static void visit(void *context, struct sl_json *wl)
{
    struct found *f = context;
    const struct sl_json *ref = sl_json_path(wl, "spec.priorityClassRef");
    if (strcmp(sl_json_path_text(ref, "kind", ""), "WorkloadPriorityClass") == 0 &&
        strcmp(sl_json_path_text(ref, "name", ""), f->class_name) == 0 &&
        sl_json_path_int(wl, "spec.priority", 0) != f->value &&
        !sl_condition_true(wl, "Finished") && !sl_object_deleting(wl)) {
        f->workloads = sl_mem_grow(f->workloads, f->count + 1, sizeof *f->workloads);
        f->workloads[f->count++] = sl_json_clone(wl);
    }
}

static void write_priority(const struct sl_client *client, const struct sl_json *wl, int64_t value)
{
    struct sl_json *patch = sl_json_new_map();
    sl_json_set_int(sl_json_path_make(patch, "spec"), "priority", value);
    struct sl_write w = {.verb = SL_VERB_PATCH_MERGE,
                         .kind = SL_KIND_WORKLOAD,
                         .ns = sl_object_namespace(wl),
                         .name = sl_object_name(wl),
                         .body = patch,
                         .uid = sl_object_uid(wl)};
    client->write(client->self, &w, NULL, NULL);
    sl_json_free(patch);
}

static void carry_over(const struct sl_classes *c, const char *name, int64_t value)
{
    struct found f = {.class_name = name, .value = value};
    struct sl_error ignored = {0};
    (void)c->client->list(c->client->self, SL_KIND_WORKLOAD, "", visit, &f, &ignored);
    for (size_t i = 0; i < f.count; i++) {
        write_priority(c->client, f.workloads[i], value);
        sl_json_free(f.workloads[i]);
    }
    sl_mem_free(f.workloads);
}

void sl_classes_observe(struct sl_classes *c, enum sl_kind kind, const struct sl_json *object,
                        bool deleted)
{
    const char *name = sl_object_name(object);
    union sl_map_value old = {0};
    if (kind != SL_KIND_WORKLOAD_PRIORITY_CLASS) {
        return;
    }
    if (deleted) {
        return; /* its value stays in mind: another may come in its place */
    }
    int64_t value = sl_json_path_int(object, "value", 0);
    bool known = sl_map_get(c->values, name, &old);
    sl_map_put(c->values, name, (union sl_map_value){.number = (uint64_t)value});
    if (known && (int64_t)old.number != value) {
        carry_over(c, name, value);
    }
}
