/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pods that a kind describes by fields of its own instead of a template: what admission adds goes into those fields, and what
 * it has added is taken out again. For each part a file says the field's path, and where all pod sets may share one, its. */
#include "base/check.h"
#include "controllers/adapters/adapter_inject.h"
#include "controllers/work/template.h"
#include <string.h>

/* The parts, and where a pod template has them. */
static const struct part {
    const char *name, *parent;
} parts[] = {{"labels", "metadata"},
             {"annotations", "metadata"},
             {"nodeSelector", "spec"},
             {"tolerations", "spec"},
             {"schedulingGates", "spec"}};
#define PART_COUNT (sizeof parts / sizeof parts[0])

/* "": the kind has no such field. */
static const char *path_of(const struct sl_place *p, const struct part *part)
{
    const struct sl_json *field = sl_json_get(sl_json_path(p->entry, "inject.fields"), part->name);
    return sl_json_text(field, sl_json_path_text(field, "path", ""));
}

static const char *shared_of(const struct sl_place *p, const struct part *part)
{
    return sl_json_path_text(sl_json_get(sl_json_path(p->entry, "inject.fields"), part->name),
                             "shared", "");
}

static const struct sl_json *value_at(const struct sl_json *job, const char *path)
{
    return path[0] == '\0' ? NULL : sl_json_path(job, path);
}

static void put_at(struct sl_json *job, const char *path, const struct sl_json *value)
{
    const char *last;
    if (sl_json_len(value) == 0 && sl_json_path(job, path) == NULL) {
        return;
    }
    struct sl_json *parent = sl_place_parent_make(job, path, &last);
    if (sl_json_len(value) == 0) {
        sl_json_remove(parent, last);
    } else {
        sl_json_set(parent, last, sl_json_clone(value));
    }
}

/* What the fields say, as a pod template. */
static struct sl_json *gathered_new(const struct sl_place *p, const struct sl_json *job)
{
    struct sl_json *template = sl_json_new_map();
    for (size_t i = 0; i < PART_COUNT; i++) {
        const struct sl_json *value = value_at(job, path_of(p, &parts[i]));
        if (sl_json_len(value) > 0) {
            sl_json_set(sl_json_path_make(template, parts[i].parent), parts[i].name,
                        sl_json_clone(value));
        }
    }
    return template;
}

/* A field inside of the pod template needs one that is whole. */
static void spread(const struct sl_place *p, struct sl_json *job, const struct sl_json *template)
{
    char own[SL_PLACE_PATH_SIZE];
    sl_place_template_path(p, job, own);
    size_t len = strlen(own);
    for (size_t i = 0; i < PART_COUNT; i++) {
        const char *path = path_of(p, &parts[i]);
        const struct sl_json *value =
            sl_json_get(sl_json_get(template, parts[i].parent), parts[i].name);
        if (path[0] == '\0') {
            continue;
        }
        if (len > 0 && strncmp(path, own, len) == 0 && path[len] == '.' && sl_json_len(value) > 0) {
            (void)sl_adapter_template_make(p, job);
        }
        put_at(job, path, value);
    }
}

/* What all pod sets share becomes each one's own: from now on they differ. What one says itself goes before. */
static void part_with_shared(const struct sl_places *all, const struct part *part,
                             const char *shared, struct sl_json *job)
{
    const char *last;
    struct sl_json *common = sl_json_clone(sl_json_path(job, shared));
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(shared_of(&all->at[i], part), shared) == 0) {
            const char *path = path_of(&all->at[i], part);
            struct sl_json *value = sl_json_clone(common);
            const struct sl_json *own = sl_json_path(job, path);
            if (sl_json_type(own) == SL_JSON_MAP) {
                sl_json_set_all(value, own);
            }
            put_at(job, path, value);
            sl_json_free(value);
        }
    }
    sl_json_free(common);
    struct sl_json *parent = sl_place_parent_make(job, shared, &last);
    sl_json_remove(parent, last);
}

enum sl_code sl_adapter_fields_inject(const struct sl_places *all, size_t index,
                                      struct sl_json *job, const struct sl_json *injection,
                                      struct sl_error *e)
{
    SL_PRE(all != NULL && index < all->count && job != NULL);
    const struct sl_place *p = &all->at[index];
    for (size_t i = 0; i < PART_COUNT; i++) {
        const char *shared = shared_of(p, &parts[i]);
        if (sl_json_type(value_at(job, shared)) == SL_JSON_MAP) {
            part_with_shared(all, &parts[i], shared, job);
        }
    }
    struct sl_json *template = gathered_new(p, job);
    enum sl_code code = sl_template_inject(template, injection, e);
    if (code == SL_CODE_OK) {
        spread(p, job, template);
    }
    sl_json_free(template);
    return code;
}

/* --- taking it out again ------------------------------------------------------------------------------- */

static bool has_item(const struct sl_json *list, const struct sl_json *item)
{
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (sl_json_equal(sl_json_at(list, i), item)) {
            return true;
        }
    }
    return false;
}

/* Of what is there now, that which was counted. */
static struct sl_json *kept_new(const struct sl_json *now, const struct sl_json *counted)
{
    struct sl_json *kept =
        sl_json_type(now) == SL_JSON_LIST ? sl_json_new_list() : sl_json_new_map();
    for (size_t i = 0; sl_json_type(now) == SL_JSON_LIST && i < sl_json_len(now); i++) {
        if (has_item(counted, sl_json_at(now, i))) {
            sl_json_append(kept, sl_json_clone(sl_json_at(now, i)));
        }
    }
    for (struct sl_json_member m = {0};
         sl_json_type(now) == SL_JSON_MAP && sl_json_each(now, &m);) {
        const struct sl_json *before = sl_json_get(counted, m.key);
        if (before != NULL) {
            sl_json_set(kept, m.key, sl_json_clone(before));
        }
    }
    return kept;
}

void sl_adapter_fields_restore(const struct sl_place *p, struct sl_json *job,
                               const struct sl_json *template)
{
    SL_PRE(p != NULL && job != NULL);
    for (size_t i = 0; i < PART_COUNT; i++) {
        const char *path = path_of(p, &parts[i]);
        const struct sl_json *now = value_at(job, path);
        if (now != NULL) {
            const struct sl_json *counted =
                sl_json_get(sl_json_get(template, parts[i].parent), parts[i].name);
            struct sl_json *kept = kept_new(now, counted);
            put_at(job, path, kept);
            sl_json_free(kept);
        }
    }
}
