/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Keyed work queue: a binary heap over (due time, arrival) and a map from key to item. */
#include "controllers/work/work.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

#define NOT_WAITING SIZE_MAX

struct item {
    char *key;
    int64_t due_ms;
    uint64_t arrival;
    size_t heap_index; /* NOT_WAITING while it is only busy */
    bool busy;
    bool again; /* added while busy, for due_ms */
};

struct sl_work {
    struct sl_map *items;
    struct item **heap;
    uint32_t heap_count, heap_cap;
    uint64_t arrivals;
};

struct sl_work *sl_work_new(void)
{
    struct sl_work *w = sl_mem_new(1, sizeof *w);
    w->items = sl_map_new();
    return w;
}

static void item_free(void *value)
{
    struct item *it = value;
    sl_mem_free(it->key);
    sl_mem_free(it);
}

void sl_work_free(struct sl_work *w)
{
    if (w == NULL) {
        return;
    }
    sl_map_free_with(w->items, item_free);
    sl_mem_free(w->heap);
    sl_mem_free(w);
}

static bool before(const struct item *a, const struct item *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->arrival < b->arrival;
}

static void put(struct sl_work *w, size_t index, struct item *it)
{
    w->heap[index] = it;
    it->heap_index = index;
}

static void sift_up(struct sl_work *w, size_t index)
{
    struct item *it = w->heap[index];
    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (!before(it, w->heap[parent])) {
            break;
        }
        put(w, index, w->heap[parent]);
        index = parent;
    }
    put(w, index, it);
}

static void sift_down(struct sl_work *w, size_t index)
{
    struct item *it = w->heap[index];
    for (;;) {
        size_t child = 2 * index + 1;
        if (child >= w->heap_count) {
            break;
        }
        if (child + 1 < w->heap_count && before(w->heap[child + 1], w->heap[child])) {
            child++;
        }
        if (!before(w->heap[child], it)) {
            break;
        }
        put(w, index, w->heap[child]);
        index = child;
    }
    put(w, index, it);
}

static void push(struct sl_work *w, struct item *it)
{
    SL_PRE(it->heap_index == NOT_WAITING);
    w->heap = sl_mem_reach(w->heap, &w->heap_cap, 64, w->heap_count, sizeof(struct item *));
    put(w, w->heap_count++, it);
    sift_up(w, it->heap_index);
}

static struct item *find(const struct sl_work *w, const char *key)
{
    return sl_map_find(w->items, key);
}

static struct item *item_new(struct sl_work *w, const char *key, int64_t due_ms)
{
    struct item *it = sl_mem_new(1, sizeof *it);
    *it = (struct item){.key = sl_mem_text(key),
                        .due_ms = due_ms,
                        .arrival = w->arrivals++,
                        .heap_index = NOT_WAITING};
    sl_map_put(w->items, key, (union sl_map_value){.pointer = it});
    return it;
}

void sl_work_add(struct sl_work *w, const char *key, int64_t due_ms)
{
    struct item *it = find(w, key);
    if (it == NULL) {
        push(w, item_new(w, key, due_ms));
    } else if (it->busy) {
        it->due_ms = it->again && it->due_ms < due_ms ? it->due_ms : due_ms;
        it->again = true;
    } else if (due_ms < it->due_ms) {
        it->due_ms = due_ms;
        sift_up(w, it->heap_index);
    }
}

const char *sl_work_take(struct sl_work *w, int64_t now_ms)
{
    SL_PRE(w != NULL);
    if (w->heap_count == 0 || w->heap[0]->due_ms > now_ms) {
        return NULL;
    }
    struct item *it = w->heap[0];
    w->heap_count--;
    if (w->heap_count > 0) {
        put(w, 0, w->heap[w->heap_count]);
        sift_down(w, 0);
    }
    it->heap_index = NOT_WAITING;
    it->busy = true;
    it->again = false;
    return it->key;
}

void sl_work_done(struct sl_work *w, const char *key)
{
    struct item *it = find(w, key);
    SL_PRE(it != NULL && it->busy);
    it->busy = false;
    if (it->again) {
        it->again = false;
        it->arrival = w->arrivals++;
        push(w, it);
        return;
    }
    sl_map_remove(w->items, it->key, NULL);
    item_free(it);
}

int64_t sl_work_due_ms(const struct sl_work *w)
{
    SL_PRE(w != NULL);
    return w->heap_count == 0 ? SL_WORK_NEVER : w->heap[0]->due_ms;
}

size_t sl_work_count(const struct sl_work *w)
{
    SL_PRE(w != NULL);
    return sl_map_count(w->items);
}

void sl_key_print(const char *ns, const char *name, char out[static SL_KEY_SIZE])
{
    snprintf(out, SL_KEY_SIZE, "%s/%s", ns, name);
}

bool sl_key_parse(const char *text, struct sl_key *out)
{
    const char *slash = strchr(text, '/');
    if (slash == NULL) {
        return false;
    }
    size_t ns_size = (size_t)(slash - text);
    size_t name_size = strlen(slash + 1);
    if (ns_size >= sizeof out->ns || name_size >= sizeof out->name) {
        return false;
    }
    memcpy(out->ns, text, ns_size);
    out->ns[ns_size] = '\0';
    memcpy(out->name, slash + 1, name_size + 1);
    return true;
}
