/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The framework over an adapter's document. */
#include "base/check.h"
#include "controllers/adapters/adapter_doc.h"
#include "controllers/work/template.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 256

static const struct sl_json *doc_of(const struct sl_framework *f)
{
    return ((const struct sl_adapter *)f->self)->doc;
}

/* --- suspended or not ---------------------------------------------------------------------------------- */

/* A kind without a flag is suspended by a count of zero; an annotation keeps the count that is wanted. */
static bool by_count(const struct sl_json *doc)
{
    return sl_json_type(sl_json_get(doc, "suspend")) == SL_JSON_MAP;
}

/* The parent of what the path names, made when it is not there; *last is the last part of the path. */
static struct sl_json *parent_make(struct sl_json *o, const char *path, const char **last)
{
    char parent[PATH_SIZE] = "";
    const char *dot = strrchr(path, '.');
    *last = dot == NULL ? path : dot + 1;
    if (dot != NULL && (size_t)(dot - path) < sizeof parent) {
        memcpy(parent, path, (size_t)(dot - path));
        parent[dot - path] = '\0';
    }
    return sl_json_path_make(o, parent);
}

static void set_count_at(struct sl_json *o, const char *path, int64_t count)
{
    const char *last;
    struct sl_json *parent = parent_make(o, path, &last);
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
    const struct sl_json *suspend = sl_json_get(doc_of(f), "suspend");
    if (by_count(doc_of(f))) {
        return sl_json_path_int(job, sl_json_path_text(suspend, "zero", ""), 1) == 0;
    }
    return sl_json_path_bool(job, sl_json_text(suspend, ""), false);
}

static void suspend(const struct sl_framework *f, struct sl_json *job, bool on)
{
    const struct sl_json *where = sl_json_get(doc_of(f), "suspend");
    if (by_count(doc_of(f))) {
        suspend_by_count(where, job, on);
        return;
    }
    const char *last;
    struct sl_json *parent = parent_make(job, sl_json_text(where, ""), &last);
    sl_json_set_bool(parent, last, on);
}

/* --- how it goes --------------------------------------------------------------------------------------- */

static bool skips(const struct sl_framework *f, const struct sl_json *job)
{
    return sl_adapter_any_holds(sl_json_get(doc_of(f), "skip"), job);
}

static bool is_active(const struct sl_framework *f, const struct sl_json *job)
{
    return sl_adapter_any_holds(sl_json_get(doc_of(f), "active"), job);
}

static bool are_ready(const struct sl_framework *f, const struct sl_json *job)
{
    return sl_adapter_all_hold(sl_json_get(doc_of(f), "ready"), job);
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
    const struct sl_json *endings = sl_json_get(doc_of(f), "finished");
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

/* One pod set of one job: its entry in the file and its path in the object. */
struct place {
    const struct sl_json *entry;
    char outer[PATH_SIZE]; /* the item of the first list that `each` names; "" without one */
    char inner[PATH_SIZE]; /* of the last one */
};
struct places {
    size_t count;
    struct place at[SL_POD_SETS_MAX + 1]; /* one more than allowed, to notice too many */
};

static void join(char out[static PATH_SIZE], const char *base, const char *path)
{
    char joined[PATH_SIZE * 2];
    snprintf(joined, sizeof joined, "%s%s%s", base, base[0] != '\0' && path[0] != '\0' ? "." : "",
             path);
    snprintf(out, PATH_SIZE, "%.*s", PATH_SIZE - 1, joined);
}

static const struct sl_json *at_path(const struct sl_json *job, const char *path)
{
    return path[0] == '\0' ? job : sl_json_path(job, path);
}

/* The template's path; "" when the object has none. */
static void template_path(const struct place *p, const struct sl_json *job,
                          char out[static PATH_SIZE])
{
    const struct sl_json *template = sl_json_get(p->entry, "template");
    if (sl_json_type(template) == SL_JSON_MAP) {
        char within[PATH_SIZE];
        const char *named =
            sl_json_path_text(at_path(job, p->inner), sl_json_path_text(template, "at", ""), "");
        join(within, p->outer, sl_json_path_text(template, "in", ""));
        join(out, within, named);
    } else if (template != NULL) {
        join(out, p->inner, sl_json_text(template, ""));
    } else {
        out[0] = '\0';
    }
}

static bool is_there(const struct place *p, const struct sl_json *job)
{
    char path[PATH_SIZE];
    template_path(p, job, path);
    bool optional = sl_json_path_bool(p->entry, "optional", false);
    return sl_adapter_all_hold(sl_json_get(p->entry, "when"), at_path(job, p->inner)) &&
           (!optional || sl_json_type(sl_json_path(job, path)) == SL_JSON_MAP);
}

static void add_place(struct places *all, const struct place *p, const struct sl_json *job)
{
    if (all->count <= SL_POD_SETS_MAX && is_there(p, job)) {
        all->at[all->count++] = *p;
    }
}

/* One place for each item of a list inside the item of another. */
static void add_inner(struct places *all, struct place *p, const char *list,
                      const struct sl_json *job)
{
    char path[PATH_SIZE];
    join(path, p->outer, list);
    size_t count = sl_json_len(sl_json_path(job, path));
    for (size_t i = 0; i < count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        join(p->inner, path, number);
        add_place(all, p, job);
    }
}

static void add_each(struct places *all, const struct sl_json *entry, const struct sl_json *job)
{
    const struct sl_json *each = sl_json_get(entry, "each");
    bool nested = sl_json_type(each) == SL_JSON_LIST;
    const char *list = sl_json_text(nested ? sl_json_at(each, 0) : each, "");
    size_t count = sl_json_len(sl_json_path(job, list));
    for (size_t i = 0; i < count; i++) {
        char number[24];
        struct place p = {.entry = entry};
        snprintf(number, sizeof number, "%zu", i);
        join(p.outer, list, number);
        join(p.inner, list, number);
        if (nested) {
            add_inner(all, &p, sl_json_text(sl_json_at(each, 1), ""), job);
        } else {
            add_place(all, &p, job);
        }
    }
}

static void find_places(const struct sl_framework *f, const struct sl_json *job, struct places *out)
{
    const struct sl_json *entries = sl_json_get(doc_of(f), "podSets");
    out->count = 0;
    for (size_t i = 0; i < sl_json_len(entries); i++) {
        const struct sl_json *entry = sl_json_at(entries, i);
        if (sl_json_has(entry, "each")) {
            add_each(out, entry, job);
        } else {
            const struct place p = {.entry = entry};
            add_place(out, &p, job);
        }
    }
}

/* "$object" and "$index" in the name of a file's entry are replaced by the object's name and the
 * pod set's number. */
static void name_of(const struct place *p, size_t index, const struct sl_json *job,
                    char out[static 64])
{
    struct sl_buf text = {0};
    const char *name =
        sl_json_path_text(at_path(job, p->inner), sl_json_path_text(p->entry, "nameFrom", "-"),
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

/* The template that the object has, or the file's default, made for `sets`. NULL: there is none. */
static const struct sl_json *template_of(const struct place *p, const struct sl_json *job,
                                         struct sl_pod_sets *sets, const char *path)
{
    const struct sl_json *given = path[0] == '\0' ? NULL : sl_json_path(job, path);
    const struct sl_json *pattern = sl_json_get(p->entry, "default");
    if (sl_json_type(given) == SL_JSON_MAP || pattern == NULL) {
        return sl_json_type(given) == SL_JSON_MAP ? given : NULL;
    }
    struct sl_json *made = sl_adapter_expand(pattern, job, NULL);
    sl_json_append(sets->made, made);
    return made;
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

static enum sl_code fill_set(struct sl_pod_sets *sets, const struct place *p,
                             const struct sl_json *job, struct sl_error *e)
{
    char path[PATH_SIZE];
    struct sl_pod_set *set = &sets->at[sets->count];
    const struct sl_json *item = at_path(job, p->inner);
    const struct sl_json *sub = sl_json_get(p->entry, "subGroups");
    const struct sl_json *count = sl_json_get(p->entry, "count");
    template_path(p, job, path);
    *set = (struct sl_pod_set){.template = template_of(p, job, sets, path),
                               .count = count == NULL ? 1 : sl_adapter_number(count, item)};
    shown(path, set->where);
    name_of(p, sets->count, job, set->name);
    set->index_label = sl_json_text(sl_json_get(p->entry, "indexLabel"), NULL);
    if (sub != NULL) {
        set->sub_group_label = sl_json_path_text(sub, "label", NULL);
        set->sub_group_count = sl_adapter_number(sl_json_get(sub, "count"), item);
    }
    if (set->template == NULL || set->name[0] == '\0') {
        const char *what = set->template == NULL ? path : "podSets";
        sl_error_cause(e, "FieldValueRequired", what, "%s",
                       set->template == NULL ? "a pod template is needed here"
                                             : "a pod set has no name");
        return sl_error_set(e, SL_CODE_INVALID, "%s: no pod set", what);
    }
    sets->count++;
    return SL_CODE_OK;
}

/* As the object will be when it is not suspended by its count. */
static const struct sl_json *unsuspended(const struct sl_framework *f, const struct sl_json *job,
                                         struct sl_pod_sets *out)
{
    if (!by_count(doc_of(f)) || !is_suspended(f, job)) {
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
    const struct sl_json *refusals = sl_json_get(doc_of(f), "refuse");
    for (size_t i = 0; i < sl_json_len(refusals); i++) {
        const struct sl_json *refusal = sl_json_at(refusals, i);
        if (sl_adapter_all_hold(sl_json_get(refusal, "when"), job)) {
            sl_error_cause(e, "FieldValueInvalid", sl_json_path_text(refusal, "field", ""), "%s",
                           sl_json_path_text(refusal, "text", ""));
            return SL_CODE_INVALID;
        }
    }
    return SL_CODE_OK;
}

static enum sl_code read_pod_sets(const struct sl_framework *f, const struct sl_json *job,
                                  struct sl_pod_sets *out, struct sl_error *e)
{
    struct places places;
    *out = (struct sl_pod_sets){.made = sl_json_new_list()};
    const struct sl_json *wanted = unsuspended(f, job, out);
    if (by_count(doc_of(f)) && is_suspended(f, wanted)) {
        return sl_error_set(e, SL_CODE_GONE, "no pods are wanted");
    }
    find_places(f, wanted, &places);
    if (places.count == 0 || places.count > SL_POD_SETS_MAX) {
        sl_error_cause(e, "FieldValueInvalid", "spec", "%zu pod sets, must be from 1 to %u",
                       places.count, SL_POD_SETS_MAX);
        return SL_CODE_INVALID;
    }
    enum sl_code code = check_countable(f, wanted, e);
    for (size_t i = 0; code == SL_CODE_OK && i < places.count; i++) {
        code = fill_set(out, &places.at[i], wanted, e);
    }
    return code;
}

/* --- what admission adds ------------------------------------------------------------------------------- */

/* Take out what was put into a list of the object: the items with the same key, or the whole list. */
static void clear_list(const struct sl_json *inject, const struct place *p, struct sl_json *job)
{
    char path[PATH_SIZE];
    const char *last;
    const char *key = sl_json_path_text(inject, "key", "");
    const char *ours = sl_json_path_text(sl_json_get(inject, "item"), key, "");
    join(path, p->outer, sl_json_path_text(inject, "list", ""));
    struct sl_json *list = sl_json_path(job, path);
    for (size_t i = sl_json_len(list); key[0] != '\0' && i-- > 0;) {
        if (strcmp(sl_json_path_text(sl_json_at(list, i), key, ""), ours) == 0) {
            sl_json_remove_at(list, i);
        }
    }
    if (list != NULL && (key[0] == '\0' || sl_json_len(list) == 0)) {
        struct sl_json *parent = parent_make(job, path, &last);
        sl_json_remove(parent, last);
    }
}

static void add_item(const struct sl_json *inject, const struct place *p, struct sl_json *job,
                     const struct sl_json *injection)
{
    char path[PATH_SIZE];
    const char *last;
    join(path, p->outer, sl_json_path_text(inject, "list", ""));
    struct sl_json *parent = parent_make(job, path, &last);
    if (sl_json_type(sl_json_get(parent, last)) != SL_JSON_LIST) {
        sl_json_set(parent, last, sl_json_new_list());
    }
    sl_json_append(sl_json_get(parent, last),
                   sl_adapter_expand(sl_json_get(inject, "item"), job, injection));
}

/* Is it the first pod set whose additions go into that list? */
static bool is_first_of_list(const struct places *all, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (all->at[i].entry == all->at[index].entry &&
            strcmp(all->at[i].outer, all->at[index].outer) == 0) {
            return false;
        }
    }
    return true;
}

static struct sl_json *template_make(const struct place *p, struct sl_json *job)
{
    char path[PATH_SIZE];
    template_path(p, job, path);
    struct sl_json *given = sl_json_path(job, path);
    if (sl_json_type(given) == SL_JSON_MAP) {
        return given;
    }
    const char *last;
    struct sl_json *parent = parent_make(job, path, &last);
    sl_json_set(parent, last, sl_adapter_expand(sl_json_get(p->entry, "default"), job, NULL));
    return sl_json_get(parent, last);
}

static enum sl_code inject(const struct sl_framework *f, struct sl_json *job, size_t index,
                           const struct sl_json *injection, struct sl_error *e)
{
    struct places all;
    find_places(f, job, &all);
    if (index >= all.count) {
        return sl_error_set(e, SL_CODE_CONFLICT, "pod set %zu is not there any more", index);
    }
    const struct place *p = &all.at[index];
    const struct sl_json *list = sl_json_get(p->entry, "inject");
    if (list == NULL) {
        return sl_template_inject(template_make(p, job), injection, e);
    }
    if (is_first_of_list(&all, index)) {
        clear_list(list, p, job);
    }
    add_item(list, p, job, injection);
    return SL_CODE_OK;
}

static void restore(const struct sl_framework *f, struct sl_json *job, size_t index,
                    const struct sl_json *pod_set)
{
    struct places all;
    char path[PATH_SIZE];
    find_places(f, job, &all);
    if (index >= all.count) {
        return;
    }
    const struct place *p = &all.at[index];
    template_path(p, job, path);
    struct sl_json *template = path[0] == '\0' ? NULL : sl_json_path(job, path);
    if (sl_json_has(p->entry, "inject")) {
        clear_list(sl_json_get(p->entry, "inject"), p, job);
    } else if (sl_json_type(template) == SL_JSON_MAP) {
        sl_template_restore(template, sl_json_get(pod_set, "template"));
    }
}

/* --- the rest ------------------------------------------------------------------------------------------ */

static int64_t reclaimable(const struct sl_framework *f, const struct sl_json *job, size_t index)
{
    struct places all;
    find_places(f, job, &all);
    if (index >= all.count) {
        return 0;
    }
    const struct place *p = &all.at[index];
    const struct sl_json *rule = sl_json_get(p->entry, "reclaimable");
    const struct sl_json *items = sl_json_path(job, sl_json_path_text(rule, "list", "-"));
    const char *key = sl_json_path_text(rule, "key", "name");
    const char *ours = sl_json_path_text(at_path(job, p->inner), key, "");
    for (size_t i = 0; i < sl_json_len(items); i++) {
        const struct sl_json *item = sl_json_at(items, i);
        if (strcmp(sl_json_path_text(item, key, ""), ours) == 0) {
            int64_t ended = sl_json_path_int(item, sl_json_path_text(rule, "of", ""), 0);
            int64_t times = sl_adapter_number(sl_json_get(rule, "times"), at_path(job, p->inner));
            int64_t pods;
            bool over = __builtin_mul_overflow(ended, times, &pods);
            return !over ? pods : (ended > 0) == (times > 0) ? INT64_MAX : INT64_MIN;
        }
    }
    return 0;
}

/* The first of the paths that holds one, or the first template that names one. */
static const char *priority_class(const struct sl_framework *f, const struct sl_json *job)
{
    const struct sl_json *paths = sl_json_get(doc_of(f), "priorityClass");
    for (size_t i = 0; i < sl_json_len(paths); i++) {
        const char *name = sl_json_path_text(job, sl_json_text(sl_json_at(paths, i), ""), "");
        if (name[0] != '\0') {
            return name;
        }
    }
    struct places all;
    find_places(f, job, &all);
    for (size_t i = 0; i < all.count; i++) {
        char path[PATH_SIZE];
        template_path(&all.at[i], job, path);
        const struct sl_json *template = path[0] == '\0' ? NULL : sl_json_path(job, path);
        const char *name = sl_json_path_text(template, "spec.priorityClassName", "");
        if (name[0] != '\0') {
            return name;
        }
    }
    return "";
}

/* The file says GROUP/KIND: versions of one kind are one to its controller. "*" is every kind. */
static bool makes(const struct sl_framework *f, enum sl_kind kind)
{
    const struct sl_json *kinds = sl_json_get(doc_of(f), "makes");
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
        .makes = makes,
        .skips = skips,
        .suspended = is_suspended,
        .suspend = suspend,
        .active = is_active,
        .pods_ready = are_ready,
        .finished = has_finished,
        .pod_sets = read_pod_sets,
        .inject = inject,
        .restore = restore,
        .reclaimable = reclaimable,
        .priority_class = priority_class};
}
