/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Converting an object row by row. One rule keeps all: what would not come back by itself is kept in an annotation, and
 * what was kept counts for as long as the rest still says the same. */
#include "api/versions/versions.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/objects/object.h"
#include "api/versions/kept.h"
#include "api/versions/reshape.h"
#include "base/check.h"

#define PATH_MAX_BYTES 512

#define N(...)                                                                                     \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define SL_DIFFERENCE(kind_, where_, old_, new_, up_, down_)                                       \
    {.kind = kind_,                                                                                \
     .where = where_,                                                                              \
     .old_names = old_,                                                                            \
     .new_names = new_,                                                                            \
     .up = sl_reshape_##up_,                                                                       \
     .down = sl_reshape_##down_},
static const struct sl_difference differences[] = {
#include "api/schema/versions.def"
};
#define DIFFERENCES (sizeof differences / sizeof differences[0])

struct work {
    const struct sl_difference *row;
    bool up;
    /* What the version before had no field for: paths, and members there. And of the version after. */
    const struct sl_json *taken;
    struct sl_json *kept;
    struct sl_json *restored; /* names of members that were taken */
    uint32_t domains_left;
    struct sl_error *e;
};

struct place { /* of a map in the object */
    char key
        [PATH_MAX_BYTES]; /* in what is kept, where items go by their names: in another order, they are the same */
    char field[PATH_MAX_BYTES]; /* for complaints, where they go by their numbers */
};

static const char *const *names(const struct work *w, bool from)
{
    return w->up == from ? w->row->old_names : w->row->new_names;
}

/* --- one row, at one map of the object ---------------------------------------------------------- */

static struct sl_json *members_new(const struct sl_json *map, const char *const *wanted)
{
    struct sl_json *members = sl_json_new_map();
    for (size_t i = 0; wanted[i] != NULL; i++) {
        if (sl_json_has(map, wanted[i])) {
            sl_json_set(members, wanted[i], sl_json_ref(sl_json_get(map, wanted[i])));
        }
    }
    return members;
}

static void drop_members(struct sl_json *map, const char *const *unwanted)
{
    for (size_t i = 0; unwanted[i] != NULL; i++) {
        sl_json_remove(map, unwanted[i]);
    }
}

/* `from` in the other version; NULL when it cannot be read. */
static struct sl_json *reshaped_new(struct work *w, const struct sl_json *from, bool forth,
                                    const char *path, struct sl_error *e)
{
    struct sl_reshaping r = {.from_names = names(w, forth),
                             .to_names = names(w, !forth),
                             .path = path,
                             .domains_left = forth ? &w->domains_left : NULL,
                             .e = e};
    struct sl_json *to = sl_json_new_map();
    if (!(w->up == forth ? w->row->up : w->row->down)(from, to, &r)) {
        sl_json_free(to);
        return NULL;
    }
    return to;
}

/* Does `there`, made into the version of `here`, say the same? */
static bool says(struct work *w, const struct sl_json *there, bool forth,
                 const struct sl_json *here)
{
    struct sl_json *back = reshaped_new(w, there, forth, "", NULL);
    bool same = back != NULL && sl_json_equal(back, here);
    sl_json_free(back);
    return same;
}

/* What was kept of these members when the object was converted the other way, and still counts. */
static struct sl_json *restored_new(struct work *w, const struct sl_json *from, const char *key)
{
    struct sl_json *members = members_new(sl_json_get(w->taken, key), names(w, false));
    if (sl_json_len(members) == 0 || !says(w, members, false, from)) {
        sl_json_free(members);
        return NULL;
    }
    return members;
}

static bool has_many_forms(const struct work *w)
{
    return w->row->up == sl_reshape_domains_to_slices;
}

static void keep_unless_it_returns(struct work *w, const struct sl_json *from,
                                   const struct sl_json *to, const struct place *at)
{
    if (!has_many_forms(w) && !says(w, to, false, from)) {
        struct sl_json *kept = sl_json_get(w->kept, at->key);
        if (kept == NULL) {
            kept = sl_json_new_map();
            sl_json_set(w->kept, at->key, kept);
        }
        sl_json_set_all(kept, from);
    }
}

static void convert_map(struct work *w, struct sl_json *map, const struct place *at)
{
    struct sl_json *from = members_new(map, names(w, true));
    struct sl_json *to = restored_new(w, from, at->key);
    for (struct sl_json_member m = {0}; sl_json_each(to, &m);) {
        sl_json_append(w->restored, sl_json_new_text(m.key));
    }
    to = to != NULL ? to : reshaped_new(w, from, true, at->field, w->e);
    if (to != NULL) {
        keep_unless_it_returns(w, from, to, at);
        drop_members(map, names(w, true));
        drop_members(map, names(w, false)); /* a field that this version does not have */
        sl_json_set_all(map, to);
    }
    sl_json_free(to);
    sl_json_free(from);
}

/* --- all maps of a row -------------------------------------------------------------------------- */

static void walk(struct work *w, struct sl_json *at, const char *where, const struct place *here);

static bool go(char to[static PATH_MAX_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool go(char to[static PATH_MAX_BYTES], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(to, PATH_MAX_BYTES, format, args);
    va_end(args);
    return len >= 0 && len < PATH_MAX_BYTES;
}

static void walk_items(struct work *w, struct sl_json *list, const char *where,
                       const struct place *here)
{
    for (size_t i = 0; sl_json_type(list) == SL_JSON_LIST && i < sl_json_len(list); i++) {
        struct sl_json *item = sl_json_at(list, i);
        const char *name = sl_json_text(sl_json_get(item, "name"), "");
        struct place at;
        bool fits = *name != '\0' ? go(at.key, "%s[%s]", here->key, name)
                                  : go(at.key, "%s[#%zu]", here->key, i);
        if (go(at.field, "%s[%zu]", here->field, i) && fits) {
            walk(w, item, where, &at);
        } else {
            sl_error_cause(w->e, "FieldValueInvalid", at.field, "its name is too long");
        }
    }
}

static void walk(struct work *w, struct sl_json *at, const char *where, const struct place *here)
{
    if (*where == '\0') {
        if (sl_json_type(at) == SL_JSON_MAP) {
            convert_map(w, at, here);
        }
        return;
    }
    size_t len = strcspn(where, ".[");
    bool items = where[len] == '[';
    const char *rest = where + len + (items ? 2 : 0);
    const char *dot = here->key[0] != '\0' ? "." : "";
    struct place next;
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)len, where);
    rest += *rest == '.';
    if (!go(next.key, "%s%s%s", here->key, dot, name) ||
        !go(next.field, "%s%s%s", here->field, dot, name)) {
        sl_error_cause(w->e, "FieldValueInvalid", here->field, "a name on the way is too long");
    } else if (items) {
        walk_items(w, sl_json_get(at, name), rest, &next);
    } else {
        walk(w, sl_json_get(at, name), rest, &next);
    }
}

/* --- objects and lists -------------------------------------------------------------------------- */

static const enum sl_kind converted[] = {
    SL_KIND_RESOURCE_FLAVOR, SL_KIND_COHORT,          SL_KIND_CLUSTER_QUEUE,
    SL_KIND_LOCAL_QUEUE,     SL_KIND_WORKLOAD,        SL_KIND_WORKLOAD_PRIORITY_CLASS,
    SL_KIND_TOPOLOGY,        SL_KIND_ADMISSION_CHECK, SL_KIND_PROVISIONING_REQUEST_CONFIG};

static bool is_version(const char *api_version)
{
    return strcmp(api_version, SL_VERSION_OLD) == 0 || strcmp(api_version, SL_VERSION_NEW) == 0;
}

/* "WorkloadList" is that of Workloads. */
static bool is_list_of(const char *kind, const char *of)
{
    size_t len = strlen(of);
    return strncmp(kind, of, len) == 0 && strcmp(kind + len, "List") == 0;
}

enum sl_kind sl_version_kind(const char *api_version, const char *kind)
{
    for (size_t i = 0; is_version(api_version) && i < sizeof converted / sizeof converted[0]; i++) {
        const char *known = sl_kind_info(converted[i])->kind;
        if (strcmp(kind, known) == 0 || is_list_of(kind, known)) {
            return converted[i];
        }
    }
    return SL_KIND_COUNT;
}

/* What an API server has checked by the rules of v1beta1 is stored as it comes from here: what the annotation brought back
 * has to obey the rules of v1beta2, or could be anything. */
static void check_restored(const struct work *w, enum sl_kind kind, const struct sl_json *o)
{
    struct sl_error found = {0};
    if (!w->up || sl_json_len(w->restored) == 0 ||
        sl_object_validate(kind, o, NULL, &found) == SL_CODE_OK) {
        return;
    }
    for (unsigned i = 0; i < found.cause_count && i < SL_CAUSES_MAX; i++) {
        for (size_t k = 0; k < sl_json_len(w->restored); k++) {
            if (strstr(found.causes[i].field, sl_json_text(sl_json_at(w->restored, k), "")) !=
                NULL) {
                sl_error_cause(w->e, found.causes[i].reason, found.causes[i].field,
                               "%.180s (from annotation %s)", found.causes[i].text,
                               SL_VERSION_KEPT_NEW);
            }
        }
    }
}

bool sl_version_has_old(enum sl_kind kind)
{
    for (size_t i = 0; i < sizeof converted / sizeof converted[0]; i++) {
        if (converted[i] == kind) {
            return true;
        }
    }
    return false;
}

static void convert_object(struct sl_json *o, enum sl_kind kind, const char *to, struct sl_error *e)
{
    struct work w = {
        .up = strcmp(to, SL_VERSION_NEW) == 0, .domains_left = SL_DOMAINS_IN_FULL_MAX, .e = e};
    struct sl_json *taken = sl_version_kept_take(o, w.up, e);
    w.taken = taken;
    w.kept = sl_json_new_map();
    w.restored = sl_json_new_list();
    for (size_t i = 0; i < DIFFERENCES; i++) {
        w.row = &differences[i];
        if (w.row->kind == kind) {
            walk(&w, o, w.row->where, &(struct place){0});
        }
    }
    sl_json_set_text(o, "apiVersion", to);
    sl_version_kept_put(o, w.up, w.kept, e);
    check_restored(&w, kind, o);
    sl_json_free(w.restored);
    sl_json_free(w.kept);
    sl_json_free(taken);
}

/* An item may leave out apiVersion and kind, since its list says them. */
static bool is_item(const struct sl_json *item, enum sl_kind kind, const char *version)
{
    const char *of = sl_kind_info(kind)->kind;
    return sl_json_type(item) == SL_JSON_MAP &&
           is_version(sl_json_text(sl_json_get(item, "apiVersion"), version)) &&
           strcmp(sl_json_text(sl_json_get(item, "kind"), of), of) == 0;
}

static void convert_list(struct sl_json *list, enum sl_kind kind, const char *to,
                         struct sl_error *e)
{
    const char *version = sl_json_text(sl_json_get(list, "apiVersion"), "");
    struct sl_json *items = sl_json_get(list, "items");
    for (size_t i = 0; sl_json_type(items) == SL_JSON_LIST && i < sl_json_len(items); i++) {
        struct sl_json *item = sl_json_at(items, i);
        if (!is_item(item, kind, version)) {
            char field[40];
            (void)snprintf(field, sizeof field, "items[%zu]", i);
            sl_error_cause(e, "FieldValueInvalid", field, "must be a %s", sl_kind_info(kind)->kind);
        } else if (strcmp(sl_json_text(sl_json_get(item, "apiVersion"), version), to) != 0) {
            convert_object(item, kind, to, e);
        }
    }
    sl_json_set_text(list, "apiVersion", to);
}

static void convert_any(struct sl_json *o, enum sl_kind kind, const char *to, struct sl_error *e)
{
    if (is_list_of(sl_json_text(sl_json_get(o, "kind"), ""), sl_kind_info(kind)->kind)) {
        convert_list(o, kind, to, e);
    } else if (strcmp(sl_json_text(sl_json_get(o, "apiVersion"), ""), to) != 0) {
        convert_object(o, kind, to, e);
    }
}

struct sl_json *sl_version_convert_new(const struct sl_json *object, const char *to,
                                       struct sl_error *e)
{
    SL_PRE(is_version(to));
    struct sl_error mine = {0};
    struct sl_error *error = e != NULL ? e : &mine;
    const char *version = sl_json_text(sl_json_get(object, "apiVersion"), "");
    const char *kind = sl_json_text(sl_json_get(object, "kind"), "");
    enum sl_kind known = sl_version_kind(version, kind);
    sl_error_clear(error);
    if (sl_json_type(object) != SL_JSON_MAP) {
        (void)sl_error_set(error, SL_CODE_BAD_REQUEST, "this is no object");
        return NULL;
    }
    if (known == SL_KIND_COUNT) {
        (void)sl_error_set(error, SL_CODE_BAD_REQUEST,
                           is_version(version)
                               ? "kind \"%2$.80s\" of %1$.80s is not converted"
                               : "apiVersion \"%.80s\" of kind \"%.80s\" is not converted",
                           version, kind);
        return NULL;
    }
    struct sl_json *copy = sl_json_clone(object);
    convert_any(copy, known, to, error);
    if (error->code != SL_CODE_OK) {
        (void)sl_error_set(error, error->code, "%s: %s", error->causes[0].field,
                           error->causes[0].text);
        sl_json_free(copy);
        return NULL;
    }
    return copy;
}
