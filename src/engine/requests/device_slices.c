/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A driver publishes the devices of a pool in one slice or several, all of one generation; while it replaces them, some of
 * the new ones are missing. Kept is what counts: who publishes, which pool, and the devices. */
#include "engine/requests/device_slices.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

struct sl_device_slices {
    struct sl_map *slices; /* name -> {driver, pool, devices}, a struct sl_json * */
    struct sl_device_row *rows;
    size_t row_count;
    bool listed; /* the rows are of these slices */
};

struct sl_device_slices *sl_device_slices_new(void)
{
    struct sl_device_slices *s = sl_mem_new(1, sizeof *s);
    s->slices = sl_map_new();
    return s;
}

void sl_device_slices_free(struct sl_device_slices *s)
{
    SL_PRE(s != NULL);
    sl_map_free_with(s->slices, sl_json_free_value);
    sl_mem_free(s->rows);
    sl_mem_free(s);
}

static void copy(struct sl_json *to, const struct sl_json *spec, const char *member)
{
    const struct sl_json *v = sl_json_get(spec, member);
    if (v != NULL) {
        sl_json_set(to, member, sl_json_clone(v));
    }
}

bool sl_device_slices_take(struct sl_device_slices *s, const struct sl_json *object, bool deleted)
{
    SL_PRE(s != NULL);
    const char *name = sl_object_name(object);
    const struct sl_json *spec = sl_json_get(object, "spec");
    struct sl_json *old = sl_map_find(s->slices, name);
    struct sl_json *fresh = NULL;
    if (!deleted) {
        fresh = sl_json_new_map();
        copy(fresh, spec, "driver");
        copy(fresh, spec, "pool");
        copy(fresh, spec, "devices");
    }
    if (fresh == NULL ? old == NULL : old != NULL && sl_json_equal(old, fresh)) {
        sl_json_free(fresh);
        return false;
    }
    if (fresh == NULL) {
        (void)sl_map_remove(s->slices, name, NULL);
    } else {
        sl_map_put(s->slices, name, (union sl_map_value){.pointer = fresh});
    }
    sl_json_free(old);
    s->listed = false;
    return true;
}

/* --- as a list -------------------------------------------------------------------------------- */

struct slice {
    const char *name, *driver, *pool;
    int64_t generation, expected; /* slices of that generation */
    const struct sl_json *devices;
    bool complete;
};

static int by_pool(const void *a, const void *b)
{
    const struct slice *x = a;
    const struct slice *y = b;
    int order = strcmp(x->driver, y->driver);
    order = order != 0 ? order : strcmp(x->pool, y->pool);
    if (order == 0 && x->generation != y->generation) {
        return x->generation > y->generation ? -1 : 1;
    }
    return order != 0 ? order : strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct slice *)a)->name, ((const struct slice *)b)->name);
}

static size_t list(const struct sl_device_slices *s, struct slice *all)
{
    size_t count = 0;
    for (struct sl_map_item e = {0}; sl_map_each(s->slices, &e);) {
        const struct sl_json *v = e.value.pointer;
        all[count++] = (struct slice){.name = e.key,
                                      .driver = sl_json_path_text(v, "driver", ""),
                                      .pool = sl_json_path_text(v, "pool.name", ""),
                                      .generation = sl_json_path_int(v, "pool.generation", 0),
                                      .expected = sl_json_path_int(v, "pool.resourceSliceCount", 1),
                                      .devices = sl_json_get(v, "devices")};
    }
    return count;
}

static bool same_pool(const struct slice *a, const struct slice *b)
{
    return strcmp(a->driver, b->driver) == 0 && strcmp(a->pool, b->pool) == 0;
}

/* The newest come first in their pool. */
static void mark_complete(struct slice *all, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t newest = i;
        size_t end = i;
        while (end < count && same_pool(&all[end], &all[i])) {
            newest += all[end].generation == all[i].generation;
            end++;
        }
        for (size_t k = i; k < newest; k++) {
            all[k].complete = (int64_t)(newest - i) == all[i].expected;
        }
        i = end;
    }
}

static void add_rows(struct sl_device_slices *s, const struct slice *all, size_t count)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += sl_json_len(all[i].devices);
    }
    sl_mem_free(s->rows);
    s->rows = sl_mem_new(total + 1, sizeof *s->rows);
    s->row_count = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sl_json_len(all[i].devices); k++) {
            s->rows[s->row_count++] =
                (struct sl_device_row){.driver = all[i].driver,
                                       .device = sl_json_at(all[i].devices, k),
                                       .complete = all[i].complete};
        }
    }
}

const struct sl_device_row *sl_device_slices_rows(struct sl_device_slices *s, size_t *count)
{
    SL_PRE(s != NULL && count != NULL);
    if (!s->listed) {
        struct slice *all = sl_mem_new(sl_map_count(s->slices) + 1, sizeof *all);
        size_t slices = list(s, all);
        qsort(all, slices, sizeof *all, by_pool);
        mark_complete(all, slices);
        qsort(all, slices, sizeof *all, by_name);
        add_rows(s, all, slices);
        sl_mem_free(all);
        s->listed = true;
    }
    *count = s->row_count;
    return s->rows;
}
