/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* JSON patch, RFC 6902, with JSON pointers, RFC 6901. Works on a copy: a patch that fails half-way
 * leaves no trace. Bounds: operations, depth of the outcome, and the work (base/effort.h), so that
 * a small patch costs little and delays no other request. */
#include "api/objects/object.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/effort.h"

#define OPERATIONS_MAX 10000u
#define DEPTH_MAX 64u
#define STEPS_MAX 40000u  /* of work; a copy of the largest object is less than half of that */
#define MOVED_PER_STEP 8u /* items of a list that close a gap together */

struct patch {
    struct sl_json *root; /* owned */
    size_t index;         /* of the operation at work */
    const char *op;
    const char *path;
    uint64_t begin; /* of its work */
    struct sl_error *e;
};

/* Where a pointer leads: a member or element of `parent`. `name` is owned. */
struct place {
    struct sl_json *parent;
    char *name;
    size_t index; /* in a list; its length for "-" */
    bool exists;
    bool whole; /* the pointer is "": the document itself */
};

static bool fail(const struct patch *p, enum sl_code code, const char *why)
{
    sl_error_set(p->e, code, "JSON patch operation %zu (%s %s): %s", p->index, p->op, p->path, why);
    return false;
}

static bool spend(struct patch *p, size_t steps)
{
    sl_effort_add(steps);
    return sl_effort_steps - p->begin <= STEPS_MAX ||
           fail(p, SL_CODE_TOO_LARGE,
                "the patch is too much work: it goes through more than 40000 values");
}

/* ~1 is a slash, ~0 a tilde, nothing else may follow a tilde. In place. */
static bool unescape(char *segment)
{
    char *to = segment;
    for (const char *from = segment; *from != '\0'; from++) {
        char c = *from;
        if (c == '~') {
            from++;
            if (*from != '0' && *from != '1') {
                return false;
            }
            c = *from == '0' ? '~' : '/';
        }
        *to++ = c;
    }
    *to = '\0';
    return true;
}

/* Decimal without leading zeros; "-" is the place behind the last element. */
static bool list_index(const char *segment, size_t count, size_t *index)
{
    if (strcmp(segment, "-") == 0) {
        *index = count;
        return true;
    }
    size_t len = strlen(segment);
    if (len == 0 || len > 9 || strspn(segment, "0123456789") != len ||
        (segment[0] == '0' && len > 1)) {
        return false;
    }
    *index = 0;
    for (; *segment != '\0'; segment++) {
        *index = *index * 10 + (size_t)(*segment - '0');
    }
    return true;
}

/* One step down; false when `at` has nothing of that name. */
static bool descend(struct place *at)
{
    if (sl_json_type(at->parent) == SL_JSON_LIST) {
        at->exists = list_index(at->name, sl_json_len(at->parent), &at->index) &&
                     at->index < sl_json_len(at->parent);
    } else {
        at->exists = sl_json_has(at->parent, at->name);
    }
    return at->exists;
}

static struct sl_json *value_at(const struct patch *p, const struct place *at)
{
    if (at->whole) {
        return p->root;
    }
    return sl_json_type(at->parent) == SL_JSON_LIST ? sl_json_at(at->parent, at->index)
                                                    : sl_json_get(at->parent, at->name);
}

/* Finds the place of a pointer. Everything but the last step must exist. */
static bool locate(const struct patch *p, const char *pointer, struct place *at)
{
    *at = (struct place){.parent = p->root, .whole = pointer[0] == '\0', .exists = true};
    if (at->whole) {
        return true;
    }
    if (pointer[0] != '/') {
        return fail(p, SL_CODE_BAD_REQUEST, "a path must be empty or start with '/'");
    }
    while (*pointer == '/') {
        if (at->name != NULL) {
            at->parent = at->exists ? value_at(p, at) : NULL;
            sl_mem_free(at->name);
        }
        size_t len = strcspn(++pointer, "/");
        at->name = sl_mem_text_n(pointer, len);
        pointer += len;
        if (!unescape(at->name)) {
            sl_mem_free(at->name);
            return fail(p, SL_CODE_BAD_REQUEST, "a '~' in a path must be followed by 0 or 1");
        }
        enum sl_json_type type = sl_json_type(at->parent);
        if (type != SL_JSON_MAP && type != SL_JSON_LIST) {
            sl_mem_free(at->name);
            return fail(p, SL_CODE_INVALID, "the path does not exist");
        }
        descend(at);
    }
    return true;
}

static void list_insert(struct sl_json *list, size_t index, struct sl_json *value)
{
    size_t count = sl_json_len(list);
    sl_json_append(list, NULL);
    for (size_t i = count; i > index; i--) {
        sl_json_put_at(list, i, sl_json_ref(sl_json_at(list, i - 1)));
    }
    sl_json_put_at(list, index, value);
}

/* Takes `value`, also on failure. */
static bool add_at(struct patch *p, struct place *at, struct sl_json *value)
{
    if (at->whole) {
        sl_json_free(p->root);
        p->root = value;
        return true;
    }
    if (sl_json_type(at->parent) == SL_JSON_MAP) {
        sl_json_set(at->parent, at->name, value);
        return true;
    }
    size_t index;
    if (!list_index(at->name, sl_json_len(at->parent), &index) || index > sl_json_len(at->parent)) {
        sl_json_free(value);
        return fail(p, SL_CODE_INVALID, "the list has no such index");
    }
    if (!spend(p, sl_json_len(at->parent) - index)) {
        sl_json_free(value);
        return false;
    }
    list_insert(at->parent, index, value);
    return true;
}

static bool remove_at(struct patch *p, const struct place *at)
{
    if (at->whole) {
        return fail(p, SL_CODE_INVALID, "the whole document cannot be removed");
    }
    if (sl_json_type(at->parent) == SL_JSON_LIST) {
        if (!spend(p, (sl_json_len(at->parent) - at->index) / MOVED_PER_STEP)) {
            return false;
        }
        sl_json_remove_at(at->parent, at->index);
    } else {
        sl_json_remove(at->parent, at->name);
    }
    return true;
}

/* Takes `value`. */
static void replace_at(struct patch *p, const struct place *at, struct sl_json *value)
{
    if (at->whole) {
        sl_json_free(p->root);
        p->root = value;
    } else if (sl_json_type(at->parent) == SL_JSON_LIST) {
        sl_json_put_at(at->parent, at->index, value);
    } else {
        sl_json_set(at->parent, at->name, value);
    }
}

static bool must_exist(const struct patch *p, const struct place *at)
{
    return at->exists || fail(p, SL_CODE_INVALID, "the path does not exist");
}

/* The value at the end of the operation's path must not end deeper than what can be parsed
 * again. */
static bool fits_depth(struct patch *p, const struct sl_json *value)
{
    unsigned levels = 0;
    if (sl_json_values(value, STEPS_MAX) >= STEPS_MAX || !spend(p, 0)) {
        return spend(p, STEPS_MAX);
    }
    for (const char *c = p->path; *c != '\0'; c++) {
        levels += *c == '/';
    }
    return (levels <= DEPTH_MAX && !sl_json_deeper_than(value, DEPTH_MAX - levels)) ||
           fail(p, SL_CODE_INVALID, "the outcome is nested deeper than 64 levels");
}

/* add, replace, remove, test: one path. */
static bool apply_simple(struct patch *p, const struct sl_json *operation)
{
    const struct sl_json *value = sl_json_get(operation, "value");
    if (strcmp(p->op, "remove") != 0 && !sl_json_has(operation, "value")) {
        return fail(p, SL_CODE_BAD_REQUEST, "the operation needs a value");
    }
    struct place at;
    if (!fits_depth(p, value) || !locate(p, p->path, &at)) {
        return false;
    }
    bool done = true;
    if (strcmp(p->op, "add") == 0) {
        done = add_at(p, &at, sl_json_clone(value));
    } else if (!must_exist(p, &at)) {
        done = false;
    } else if (strcmp(p->op, "replace") == 0) {
        replace_at(p, &at, sl_json_clone(value));
    } else if (strcmp(p->op, "remove") == 0) {
        done = remove_at(p, &at);
    } else if (!sl_json_equal(value_at(p, &at), value)) {
        done = fail(p, SL_CODE_INVALID, "the test failed");
    }
    sl_mem_free(at.name);
    return done;
}

static bool is_prefix(const char *from, const char *path)
{
    size_t len = strlen(from);
    return strncmp(from, path, len) == 0 && path[len] == '/';
}

/* move and copy: a place to take from first, then a path to add at. */
static bool apply_transfer(struct patch *p, const struct sl_json *operation)
{
    const char *from = sl_json_text(sl_json_get(operation, "from"), NULL);
    bool move = strcmp(p->op, "move") == 0;
    if (from == NULL) {
        return fail(p, SL_CODE_BAD_REQUEST, "the operation needs a from");
    }
    if (move && is_prefix(from, p->path)) {
        return fail(p, SL_CODE_INVALID, "a value cannot be moved into itself");
    }
    struct place source, target;
    if (!locate(p, from, &source)) {
        return false;
    }
    struct sl_json *value = NULL;
    bool done = must_exist(p, &source) && fits_depth(p, value_at(p, &source));
    if (done && move) {
        value = sl_json_ref(value_at(p, &source));
        done = remove_at(p, &source);
    } else if (done) {
        value = sl_json_clone(value_at(p, &source));
        done = spend(p, 0);
    }
    sl_mem_free(source.name);
    if (!done || !locate(p, p->path, &target)) {
        sl_json_free(value);
        return false;
    }
    done = add_at(p, &target, value);
    sl_mem_free(target.name);
    return done;
}

static bool apply(struct patch *p, const struct sl_json *operation)
{
    p->op = sl_json_text(sl_json_get(operation, "op"), "?");
    p->path = sl_json_text(sl_json_get(operation, "path"), NULL);
    if (p->path == NULL) {
        p->path = "?";
        return fail(p, SL_CODE_BAD_REQUEST, "the operation needs a path");
    }
    static const char *const simple[] = {"add", "replace", "remove", "test"};
    for (size_t i = 0; i < sizeof simple / sizeof simple[0]; i++) {
        if (strcmp(p->op, simple[i]) == 0) {
            return apply_simple(p, operation);
        }
    }
    if (strcmp(p->op, "move") == 0 || strcmp(p->op, "copy") == 0) {
        return apply_transfer(p, operation);
    }
    return fail(p, SL_CODE_BAD_REQUEST, "unknown operation");
}

enum sl_code sl_patch_json(struct sl_json **o, const struct sl_json *patch, struct sl_error *e)
{
    struct sl_error local;
    struct patch p = {.begin = sl_effort_steps, .e = e != NULL ? e : &local};
    if (sl_json_type(patch) != SL_JSON_LIST) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "a JSON patch must be a list of operations");
    }
    size_t count = sl_json_len(patch);
    if (count > OPERATIONS_MAX) {
        return sl_error_set(e, SL_CODE_TOO_LARGE,
                            "a JSON patch may have %u operations, this has %zu", OPERATIONS_MAX,
                            count);
    }
    p.root = sl_json_clone(*o);
    for (; p.index < count; p.index++) {
        if (!apply(&p, sl_json_at(patch, p.index))) {
            sl_json_free(p.root);
            return p.e->code;
        }
    }
    if (sl_json_type(p.root) != SL_JSON_MAP) {
        sl_json_free(p.root);
        return sl_error_set(e, SL_CODE_INVALID, "the outcome of the JSON patch is not an object");
    }
    sl_json_free(*o);
    *o = p.root;
    return SL_CODE_OK;
}
