/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: sl_managed_apply, _create and _update with any objects, managedFields and what is applied.
 * Oracle: what is applied by force is in the object, and exactly its fields are the manager's; applying it again changes
 * nothing; applying it as another manager has no conflict; without force an object with conflicts stays; an update
 * that changes nothing leaves the managers alone; whoever applies nothing any more manages nothing.
 * Input: a byte for the kind, and a JSON list: the object, and two things to apply; when the first byte is odd, instead of a
 * text a program that builds these out of the words of the API. */
#include <string.h>
#include "api/fields/fields.h"
#include "api/fields/managed.h"
#include "fuzz/lib/check.h"
#include "fuzz/lib/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sl_json *managers_of(const struct sl_json *object)
{
    return sl_json_get(sl_json_get(object, "metadata"), "managedFields");
}

/* The caller frees it; NULL: conflicts. */
static struct sl_json *apply_new(enum sl_kind kind, struct sl_json *live,
                                 const struct sl_json *applied, const char *manager, bool force)
{
    struct sl_apply a = {.kind = kind,
                         .live = live,
                         .applied = applied,
                         .by = {.name = manager, .now_ms = 1000},
                         .force = force};
    struct sl_json *before = sl_json_clone(live), *given = sl_json_clone(applied);
    sl_managed_apply(&a);
    CHECK(sl_json_equal(live, before) && sl_json_equal(applied, given));
    CHECK((a.result == NULL) == (sl_json_len(a.conflicts) > 0));
    CHECK(a.result != NULL || !force);
    sl_json_free(a.conflicts);
    sl_json_free(given);
    sl_json_free(before);
    return a.result;
}

/* Members of the object that no manager has a say in: as the server takes them off what is applied. */
static void strip(struct sl_json *object)
{
    static const char *const own[] = {"uid", "resourceVersion", "name", "namespace",
                                      "managedFields"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        sl_json_remove(sl_json_get(object, "metadata"), own[i]);
    }
    if (sl_json_type(sl_json_get(object, "metadata")) != SL_JSON_MAP) {
        sl_json_set(object, "metadata", sl_json_new_map());
    }
}

static void check_applied(enum sl_kind kind, struct sl_json *live, const struct sl_json *applied)
{
    struct sl_json *once = apply_new(kind, live, applied, "a", true);
    struct sl_json *twice = apply_new(kind, once, applied, "a", false);
    CHECK(twice != NULL && sl_json_equal(once, twice));
    struct sl_json *other = apply_new(kind, once, applied, "b", false);
    CHECK(other != NULL);
    struct sl_json *none = sl_json_new_map();
    struct sl_json *left = apply_new(kind, once, none, "a", false);
    CHECK(left != NULL);
    for (size_t i = 0; i < sl_json_len(managers_of(left)); i++) {
        const struct sl_json *entry = sl_json_at(managers_of(left), i);
        CHECK(strcmp(sl_json_path_text(entry, "manager", ""), "a") != 0 ||
              strcmp(sl_json_path_text(entry, "operation", ""), "Apply") != 0 ||
              sl_json_path_text(entry, "subresource", "")[0] != '\0');
    }
    sl_json_free(left);
    sl_json_free(none);
    sl_json_free(other);
    sl_json_free(twice);
    sl_json_free(once);
}

static void check_update(enum sl_kind kind, struct sl_json *live, struct sl_json *changed)
{
    const struct sl_manager by = {.name = "u", .now_ms = 2000};
    struct sl_json *before = sl_json_clone(live), *object = sl_json_clone(changed);
    struct sl_json *managers = managers_of(live);
    sl_managed_update(kind, object, live, &by);
    CHECK(sl_json_equal(live, before));
    sl_json_free(object);
    object = sl_json_clone(live);
    sl_managed_update(kind, object, live, &by);
    CHECK(sl_json_equal(managers_of(object), managers) || sl_json_len(managers) < 2);
    sl_json_free(object);
    object = sl_json_clone(changed);
    sl_managed_create(kind, object, &by);
    CHECK(sl_json_len(managers_of(object)) <= 1);
    sl_json_free(object);
    sl_json_free(before);
}

static void check(enum sl_kind kind, struct sl_json *live, struct sl_json *first,
                  struct sl_json *second)
{
    strip(first);
    strip(second);
    if (sl_json_type(sl_json_get(live, "metadata")) != SL_JSON_MAP) {
        sl_json_set(live, "metadata", sl_json_new_map());
    }
    struct sl_json *one = apply_new(kind, live, first, "a", true);
    check_applied(kind, live, first);
    check_applied(kind, one, second);
    check_update(kind, one, live);
    struct sl_json *refused = apply_new(kind, one, second, "c", false);
    sl_json_free(refused);
    sl_json_free(one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct producer p = {data, size};
    uint32_t choice = producer_byte(&p);
    struct sl_json *parts[3] = {NULL, NULL, NULL};
    struct sl_json *list =
        choice % 2 != 0 ? NULL : sl_json_parse((const char *)p.data, p.left, NULL);
    bool maps = true;
    for (size_t i = 0; i < 3; i++) {
        parts[i] = choice % 2 != 0 ? value_build(&p, 0) : sl_json_clone(sl_json_at(list, i));
        maps = maps && sl_json_type(parts[i]) == SL_JSON_MAP;
    }
    if (maps) {
        check((enum sl_kind)(choice / 2 % SL_KIND_DEFINITION), parts[0], parts[1], parts[2]);
    }
    for (size_t i = 0; i < 3; i++) {
        sl_json_free(parts[i]);
    }
    sl_json_free(list);
    return 0;
}
