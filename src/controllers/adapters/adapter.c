/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The framework over an adapter's document. */
#include "base/check.h"
#include "controllers/adapters/adapter_inject.h"
#include "controllers/adapters/adapter_with.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct sl_json *sl_adapter_doc(const struct sl_framework *f)
{
    return ((const struct sl_adapter *)f->self)->doc;
}

/* --- suspended or not ---------------------------------------------------------------------------------- */

/* A kind without a flag is suspended by a count of zero; an annotation keeps the count that is wanted. */
static bool by_count(const struct sl_json *doc)
{
    return sl_json_type(sl_json_get(doc, "suspend")) == SL_JSON_MAP;
}

static void set_count_at(struct sl_json *o, const char *path, int64_t count)
{
    const char *last;
    struct sl_json *parent = sl_place_parent_make(o, path, &last);
    sl_json_set_int(parent, last, count);
}

static int64_t kept_count(const struct sl_json *suspend, const struct sl_json *job)
{
    const char *kept = sl_object_annotation(job, sl_json_path_text(suspend, "keep", ""));
    long count = kept == NULL ? 0 : strtol(kept, NULL, 10);
    return count >= 0 && count <= INT32_MAX ? count : 0;
}

static void suspend_by_count(const struct sl_json *suspend, struct sl_json *job, bool on)
{
    char text[24];
    const char *path = sl_json_path_text(suspend, "zero", "");
    const char *keep = sl_json_path_text(suspend, "keep", "");
    struct sl_json *annotations = sl_json_path_make(job, "metadata.annotations");
    if (on) {
        snprintf(text, sizeof text, "%lld", (long long)sl_json_path_int(job, path, 1));
        sl_json_set_text(annotations, keep, text);
        set_count_at(job, path, 0);
    } else {
        set_count_at(job, path, kept_count(suspend, job));
        sl_json_remove(annotations, keep);
    }
}

static bool is_suspended(const struct sl_framework *f, const struct sl_json *job)
{
    const struct sl_json *suspend = sl_json_get(sl_adapter_doc(f), "suspend");
    if (by_count(sl_adapter_doc(f))) {
        return sl_json_path_int(job, sl_json_path_text(suspend, "zero", ""), 1) == 0;
    }
    return sl_json_path_bool(job, sl_json_text(suspend, ""), false);
}

static void suspend(const struct sl_framework *f, struct sl_json *job, bool on)
{
    const struct sl_json *where = sl_json_get(sl_adapter_doc(f), "suspend");
    if (by_count(sl_adapter_doc(f))) {
        suspend_by_count(where, job, on);
        return;
    }
    if (where == NULL) {
        return; /* its pods are gated */
    }
    const char *last;
    struct sl_json *parent = sl_place_parent_make(job, sl_json_text(where, ""), &last);
    sl_json_set_bool(parent, last, on);
}

/* --- how it goes --------------------------------------------------------------------------------------- */

static bool skips(const struct sl_framework *f, const struct sl_json *job)
{
    return sl_adapter_any_holds(sl_json_get(sl_adapter_doc(f), "skip"), job);
}

static bool is_on_hold(const struct sl_framework *f, const struct sl_json *job)
{
    return sl_adapter_all_hold(sl_json_get(sl_adapter_doc(f), "hold"), job);
}

static bool is_active(const struct sl_framework *f, const struct sl_json *job)
{
    return sl_adapter_any_holds(sl_json_get(sl_adapter_doc(f), "active"), job);
}

static bool are_ready(const struct sl_framework *f, const struct sl_json *job)
{
    struct sl_error lack = {0};
    struct sl_json *whole = sl_adapter_whole_new(f, job);
    bool ready = sl_adapter_check_with(f, job, &lack) == SL_CODE_OK &&
                 sl_adapter_all_hold(sl_json_get(sl_adapter_doc(f), "ready"), whole);
    sl_json_free(whole);
    return ready;
}

static const char *ending_message(const struct sl_json *ending, const struct sl_json *job)
{
    const struct sl_json *when = sl_json_get(ending, "when");
    const char *condition = sl_json_path_text(sl_json_at(when, 0), "condition", "");
    const char *fallback = sl_json_path_text(sl_condition_find(job, condition), "message", "");
    fallback = sl_json_path_text(ending, "text", fallback);
    return sl_json_path_text(job, sl_json_path_text(ending, "message", "-"), fallback);
}

static bool has_finished(const struct sl_framework *f, const struct sl_json *job, bool *success,
                         const char **message)
{
    const struct sl_json *endings = sl_json_get(sl_adapter_doc(f), "finished");
    for (size_t i = 0; i < sl_json_len(endings); i++) {
        const struct sl_json *ending = sl_json_at(endings, i);
        if (sl_adapter_all_hold(sl_json_get(ending, "when"), job)) {
            *success = sl_json_path_bool(ending, "success", true);
            *message = ending_message(ending, job);
            return true;
        }
    }
    return false;
}

/* --- pod sets ------------------------------------------------------------------------------------------ */

/* "$object" and "$index" in the name of a file's entry are replaced by the object's name and the
 * pod set's number. */
static void name_of(const struct sl_place *p, size_t index, const struct sl_json *job,
                    char out[static 64])
{
    struct sl_buf text = {0};
    const char *name =
        sl_json_path_text(sl_place_at(job, p->inner), sl_json_path_text(p->entry, "nameFrom", "-"),
                          sl_json_path_text(p->entry, "name", ""));
    while (*name != '\0') {
        if (strncmp(name, "$object", 7) == 0) {
            sl_buf_print(&text, "%s", sl_object_name(job));
            name += 7;
        } else if (strncmp(name, "$index", 6) == 0) {
            sl_buf_print(&text, "%zu", index);
            name += 6;
        } else {
            sl_buf_print(&text, "%c", tolower((unsigned char)*name++));
        }
    }
    snprintf(out, 64, "%.63s", text.data == NULL ? "" : text.data);
    sl_buf_fini(&text);
}

static struct sl_json *default_new(const struct sl_place *p, struct sl_json *whole)
{
    struct sl_json *item = sl_place_item_new(p, whole);
    const struct sl_expansion x = {.object = whole, .item = item};
    struct sl_json *template = sl_adapter_expand(sl_json_get(p->entry, "default"), &x);
    sl_json_free(item);
    return template;
}

/* The template that the object has, or the file's default, with the file's patches; made for `sets` where it is not the
 * object's own. NULL: there is none, or a patch does not fit. */
static const struct sl_json *template_of(const struct sl_place *p, struct sl_json *whole,
                                         struct sl_pod_sets *sets, const char *path,
                                         struct sl_error *e)
{
    struct sl_json *template = path[0] == '\0' ? NULL : sl_json_path(whole, path);
    bool given = sl_json_type(template) == SL_JSON_MAP;
    if (given && !sl_json_has(p->entry, "patches")) {
        return template;
    }
    if (!given && !sl_json_has(p->entry, "default")) {
        return NULL;
    }
    template = given ? sl_json_clone(template) : default_new(p, whole);
    enum sl_code code = sl_adapter_patch(p, whole, &template, e);
    sl_json_append(sets->made, template);
    return code == SL_CODE_OK ? template : NULL;
}

/* And with what the kind's controller adds to it. */
static const struct sl_json *completed(const struct sl_place *p, const struct sl_json *whole,
                                       struct sl_pod_sets *sets, const struct sl_json *template)
{
    const struct sl_json *adds = sl_json_get(p->entry, "adds");
    struct sl_json *made =
        template == NULL ? NULL : sl_adapter_completed_new(adds, whole, template);
    if (made != NULL) {
        sl_json_append(sets->made, made);
    }
    return made == NULL ? template : made;
}

/* As people write it: list[0], map[Key]. The keys of maps of pods begin with a capital, those of fields never do. */
static void shown(const char *path, char out[static 128])
{
    size_t len = 0;
    out[0] = '\0';
    while (*path != '\0' && len < 128) {
        size_t part = strcspn(path, ".");
        bool index = isdigit((unsigned char)path[0]) || isupper((unsigned char)path[0]);
        int written = snprintf(out + len, 128 - len, "%s%.*s%s",
                               index     ? "["
                               : len > 0 ? "."
                                         : "",
                               (int)part, path, index ? "]" : "");
        len += written > 0 ? (size_t)written : 0;
        path += part + (path[part] == '.');
    }
}

/* Why there is no such pod set: what a patch said, or what is not there. */
static enum sl_code no_set(const struct sl_pod_set *set, const char *path, struct sl_error *e)
{
    const char *what = set->template == NULL && path[0] != '\0' ? path : "podSets";
    if (e->code == SL_CODE_OK) {
        sl_error_cause(e, "FieldValueRequired", what, "%s",
                       set->template == NULL ? "a pod template is needed here"
                                             : "a pod set has no name");
        return sl_error_set(e, SL_CODE_INVALID, "%s: no pod set", what);
    }
    if (e->cause_count == 0) {
        sl_error_cause(e, "FieldValueInvalid", what, "%s", e->text);
    }
    return SL_CODE_INVALID;
}

static int64_t number_of(const struct sl_place *p, const char *field, int64_t absent,
                         const struct sl_json *item)
{
    const struct sl_json *number = sl_json_get(p->entry, field);
    return number == NULL ? absent : sl_adapter_number(number, item);
}

static enum sl_code fill_set(struct sl_pod_sets *sets, const struct sl_place *p,
                             struct sl_json *whole, struct sl_error *e)
{
    char path[SL_PLACE_PATH_SIZE];
    struct sl_pod_set *set = &sets->at[sets->count];
    struct sl_json *item = sl_place_counted_new(p, whole);
    const struct sl_json *sub = sl_json_get(p->entry, "subGroups");
    sl_place_template_path(p, whole, path);
    *set = (struct sl_pod_set){.template = template_of(p, whole, sets, path, e),
                               .count = number_of(p, "count", 1, item)};
    set->template = completed(p, whole, sets, set->template);
    shown(path, set->where);
    set->notes_where = sl_json_text(sl_json_path(p->entry, "inject.fields.annotations"), NULL);
    name_of(p, sets->count, whole, set->name);
    set->index_label = sl_json_text(sl_json_get(p->entry, "indexLabel"), NULL);
    set->index_offset = number_of(p, "indexOffset", 0, item);
    if (sub != NULL) {
        set->sub_group_label = sl_json_path_text(sub, "label", NULL);
        set->sub_group_count = sl_adapter_number(sl_json_get(sub, "count"), item);
    }
    sl_json_free(item);
    if (set->template == NULL || set->name[0] == '\0') {
        return no_set(set, path, e);
    }
    sets->count++;
    return SL_CODE_OK;
}

/* As the object will be when it is not suspended by its count. */
static const struct sl_json *unsuspended(const struct sl_framework *f, const struct sl_json *job,
                                         struct sl_pod_sets *out)
{
    if (!by_count(sl_adapter_doc(f)) || !is_suspended(f, job)) {
        return job;
    }
    struct sl_json *copy = sl_json_clone(job);
    suspend(f, copy, false);
    sl_json_append(out->made, copy);
    return copy;
}

/* What the file says that it cannot count: better not run at all than outside of quota. */
static enum sl_code check_countable(const struct sl_framework *f, const struct sl_json *job,
                                    struct sl_error *e)
{
    struct sl_error causes = {0};
    sl_adapter_refuse(sl_json_get(sl_adapter_doc(f), "refuse"), job, NULL, &causes);
    if (causes.cause_count > 0) {
        *e = causes;
        return SL_CODE_INVALID;
    }
    return SL_CODE_OK;
}

static enum sl_code read_sets_of(const struct sl_framework *f, struct sl_json *whole,
                                 struct sl_pod_sets *out, struct sl_error *e)
{
    struct sl_places places;
    sl_places_find(sl_adapter_doc(f), whole, &places);
    if (places.count == 0 || places.count > SL_POD_SETS_MAX) {
        sl_error_cause(e, "FieldValueInvalid", "spec", "%zu pod sets, must be from 1 to %u",
                       places.count, SL_POD_SETS_MAX);
        return SL_CODE_INVALID;
    }
    enum sl_code code = check_countable(f, whole, e);
    for (size_t i = 0; code == SL_CODE_OK && i < places.count; i++) {
        code = fill_set(out, &places.at[i], whole, e);
    }
    return code;
}

static enum sl_code read_pod_sets(const struct sl_framework *f, const struct sl_json *job,
                                  struct sl_pod_sets *out, struct sl_error *e)
{
    *out = (struct sl_pod_sets){.made = sl_json_new_list()};
    const struct sl_json *wanted = unsuspended(f, job, out);
    if (by_count(sl_adapter_doc(f)) && is_suspended(f, wanted)) {
        return sl_error_set(e, SL_CODE_GONE, "no pods are wanted");
    }
    enum sl_code code = sl_adapter_check_with(f, wanted, e);
    struct sl_json *whole = sl_adapter_whole_new(f, wanted);
    sl_json_append(out->made, whole); /* what the pod sets point into */
    return code == SL_CODE_OK ? read_sets_of(f, whole, out, e) : code;
}

/* --- the rest ------------------------------------------------------------------------------------------ */

/* How many pods each is: as the file says, or else the factors of `count` after the first. */
static int64_t pods_of_each(const struct sl_json *entry, const struct sl_json *set)
{
    const struct sl_json *times = sl_json_path(entry, "reclaimable.times");
    const struct sl_json *count = sl_json_get(entry, "count");
    struct sl_json *rest = sl_json_new_list();
    for (size_t i = 1; times == NULL && i < sl_json_len(count); i++) {
        sl_json_append(rest, sl_json_ref(sl_json_at(count, i)));
    }
    int64_t pods = sl_adapter_number(times == NULL ? rest : times, set);
    sl_json_free(rest);
    return pods;
}

/* Of one pod set: as many as the item with its key says. */
static int64_t reclaimable_of(const struct sl_json *entry, const struct sl_json *job,
                              const struct sl_json *set)
{
    const struct sl_json *rule = sl_json_get(entry, "reclaimable");
    const struct sl_json *items = sl_json_path(job, sl_json_path_text(rule, "list", "-"));
    const char *key = sl_json_path_text(rule, "key", "name");
    const char *ours = sl_json_path_text(set, key, "");
    const struct sl_json *item = sl_json_find_by(items, key, ours);
    if (item == NULL) {
        return 0;
    }
    int64_t ended = sl_json_path_int(item, sl_json_path_text(rule, "of", ""), 0);
    int64_t times = pods_of_each(entry, set);
    int64_t pods;
    bool over = __builtin_mul_overflow(ended, times, &pods);
    return !over ? pods : (ended > 0) == (times > 0) ? INT64_MAX : INT64_MIN;
}

static int64_t reclaimable(const struct sl_framework *f, const struct sl_json *job, size_t index)
{
    struct sl_places all;
    int64_t pods = 0;
    struct sl_json *whole = sl_adapter_whole_new(f, job);
    sl_places_find(sl_adapter_doc(f), whole, &all);
    if (index < all.count) {
        struct sl_json *item = sl_place_item_new(&all.at[index], whole);
        pods = reclaimable_of(all.at[index].entry, job, item);
        sl_json_free(item);
    }
    sl_json_free(whole);
    return pods;
}

/* The first template that names one; the text is the job's, or that of an object that it refers to. */
static const char *class_of_templates(const struct sl_framework *f, struct sl_json *whole)
{
    struct sl_places all;
    const char *name = "";
    sl_places_find(sl_adapter_doc(f), whole, &all);
    for (size_t i = 0; i < all.count && name[0] == '\0'; i++) {
        char path[SL_PLACE_PATH_SIZE];
        sl_place_template_path(&all.at[i], whole, path);
        const struct sl_json *template = path[0] == '\0' ? NULL : sl_json_path(whole, path);
        name = sl_json_path_text(template, "spec.priorityClassName", "");
    }
    return name;
}

/* The first of the paths that holds one, or the first template that names one. */
static const char *priority_class(const struct sl_framework *f, const struct sl_json *job)
{
    const struct sl_json *paths = sl_json_get(sl_adapter_doc(f), "priorityClass");
    for (size_t i = 0; i < sl_json_len(paths); i++) {
        const char *name = sl_json_path_text(job, sl_json_text(sl_json_at(paths, i), ""), "");
        if (name[0] != '\0') {
            return name;
        }
    }
    struct sl_json *whole = sl_adapter_whole_new(f, job);
    const char *name = class_of_templates(f, whole);
    sl_json_free(whole); /* not what is in it */
    return name;
}

/* The file says GROUP/KIND: versions of one kind are one to its controller. "*" is every kind. */
static bool makes(const struct sl_framework *f, enum sl_kind kind)
{
    const struct sl_json *kinds = sl_json_get(sl_adapter_doc(f), "makes");
    const struct sl_kind_info *info = sl_kind_info(kind);
    struct sl_buf name = {0};
    sl_buf_print(&name, "%s/%s", info->group, info->kind);
    bool yes = sl_json_has_text(kinds, name.data) || sl_json_has_text(kinds, "*");
    sl_buf_fini(&name);
    return yes;
}

void sl_adapter_init(struct sl_adapter *a)
{
    SL_PRE(a != NULL);
    a->framework = (struct sl_framework){
        .kind = a->framework.kind,
        .name = sl_json_path_text(a->doc, "framework", sl_json_path_text(a->doc, "kind", "")),
        .self = a,
        .restored_later = strcmp(sl_json_path_text(a->doc, "restoreWhen", ""), "inactive") == 0,
        .elastic = sl_json_path_bool(a->doc, "elastic", false),
        .refers = sl_json_has(a->doc, "with") ? sl_adapter_refers : NULL,
        .makes = makes,
        .skips = skips,
        .suspended = is_suspended,
        .suspend = suspend,
        .on_hold = sl_json_has(a->doc, "hold") ? is_on_hold : NULL,
        .active = is_active,
        .pods_ready = are_ready,
        .finished = has_finished,
        .pod_sets = read_pod_sets,
        .inject = sl_adapter_inject,
        .restore = sl_adapter_restore,
        .reclaimable = reclaimable,
        .priority_class = priority_class};
    sl_adapter_group(a);
}
