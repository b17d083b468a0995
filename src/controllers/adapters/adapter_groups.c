/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kinds whose pods come in groups: the file's `groups` as sl_grouping. */
#include "base/check.h"
#include "controllers/adapters/adapter_with.h"
#include <stdlib.h>
#include <string.h>

static const struct sl_json *groups_of(const struct sl_framework *f)
{
    return sl_json_get(sl_adapter_doc(f), "groups");
}

static bool all_hold(const struct sl_json *groups, const struct sl_json *object)
{
    const struct sl_json *surge = sl_json_get(groups, "surge");
    return surge != NULL && sl_adapter_all_hold(sl_json_get(surge, "when"), object);
}

static int64_t count_groups(const struct sl_framework *f, const struct sl_json *object)
{
    const struct sl_json *groups = groups_of(f);
    const struct sl_json *count = sl_json_get(groups, "count");
    int64_t wanted = count == NULL ? 1 : sl_adapter_number(count, object);
    int64_t more = all_hold(groups, object)
                       ? sl_adapter_number(sl_json_path(groups, "surge.count"), object)
                       : 0;
    wanted = wanted > more ? wanted : more;
    return wanted > 0 ? wanted : 0;
}

static int64_t size_of_groups(const struct sl_framework *f, const struct sl_json *object)
{
    int64_t size = sl_adapter_number(sl_json_get(groups_of(f), "size"), object);
    return size > 0 ? size : 0;
}

static const char *maker(const struct sl_framework *f, const struct sl_json *pod)
{
    const char *label = sl_json_path_text(groups_of(f), "parentLabel", NULL);
    const struct sl_json *owner = sl_object_controller_ref(pod);
    const char *name = label != NULL                      ? sl_object_label(pod, label)
                       : sl_object_ref_is(owner, f->kind) ? sl_json_path_text(owner, "name", NULL)
                                                          : NULL;
    return name == NULL || name[0] == '\0' ? NULL : name;
}

/* A whole number without a sign; -1: it is none. */
static int64_t index_in(const char *text)
{
    size_t digits = text == NULL ? 0 : strspn(text, "0123456789");
    return digits > 0 && digits < 10 && text[digits] == '\0' ? strtol(text, NULL, 10) : -1;
}

static bool has_set(const struct sl_framework *f, const struct sl_json *entry,
                    const struct sl_json *object)
{
    const struct sl_place p = {.entry = entry};
    struct sl_json *whole = sl_adapter_whole_new(f, object);
    bool has = sl_place_is_there(&p, whole);
    sl_json_free(whole);
    return has;
}

/* The pod set whose mark the pod has, or else the first that asks for none. */
static const char *pod_set_of(const struct sl_framework *f, const struct sl_json *object,
                              const struct sl_json *pod)
{
    const char *found = NULL;
    const struct sl_json *entries = sl_json_get(sl_adapter_doc(f), "podSets");
    for (size_t i = 0; i < sl_json_len(entries); i++) {
        const struct sl_json *entry = sl_json_at(entries, i);
        const char *mark = sl_json_path_text(entry, "podAnnotation", NULL);
        bool marked = mark != NULL && sl_object_annotation(pod, mark) != NULL;
        bool open = mark == NULL && found == NULL;
        if ((marked || open) && has_set(f, entry, object)) {
            found = sl_json_path_text(entry, "name", "");
            if (marked) {
                return found;
            }
        }
    }
    return found;
}

static bool place(const struct sl_framework *f, const struct sl_json *object,
                  const struct sl_json *pod, struct sl_group_place *out)
{
    const char *label = sl_json_path_text(groups_of(f), "indexLabel", NULL);
    *out =
        (struct sl_group_place){.index = label == NULL ? 0 : index_in(sl_object_label(pod, label)),
                                .pod_set = pod_set_of(f, object, pod)};
    return out->index >= 0 && out->pod_set != NULL;
}

void sl_adapter_group(struct sl_adapter *a)
{
    SL_PRE(a != NULL);
    const struct sl_json *groups = sl_json_get(a->doc, "groups");
    if (groups == NULL) {
        return;
    }
    a->grouping = (struct sl_grouping){.indexed = sl_json_has(groups, "count"),
                                       .fast = sl_json_path_bool(groups, "fast", false),
                                       .count = count_groups,
                                       .size = size_of_groups,
                                       .maker = maker,
                                       .place = place};
    a->framework.grouping = &a->grouping;
}
