/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Devices that are given out by their numbers. */
#include "runner/devices.h"
#include "api/objects/quantity.h"
#include "base/map.h"
#include "base/mem.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum sl_code add(struct sl_devices *d, const char *item, struct sl_error *e)
{
    const char *equal = strchr(item, '=');
    const char *digits = equal == NULL ? "" : equal + 1;
    size_t n = strlen(digits);
    long count = n > 0 && n < 4 && strspn(digits, "0123456789") == n ? strtol(digits, NULL, 10) : 0;
    char *name = sl_mem_text_n(item, equal == NULL ? 0 : (size_t)(equal - item));
    bool ok = count >= 1 && count <= SL_DEVICES_MAX && strchr(name, '/') != NULL &&
              strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-/") == strlen(name);
    if (ok) {
        sl_json_set_int(d->counts, name, count);
    } else {
        (void)sl_error_set(e, SL_CODE_BAD_REQUEST,
                           "--devices: \"%.64s\" is not RESOURCE=COUNT with a count from 1 to %d, "
                           "as in nvidia.com/gpu=4",
                           item, SL_DEVICES_MAX);
    }
    sl_mem_free(name);
    return ok ? SL_CODE_OK : SL_CODE_BAD_REQUEST;
}

enum sl_code sl_devices_init(struct sl_devices *d, const char *list, struct sl_error *e)
{
    *d = (struct sl_devices){.counts = sl_json_new_map(), .held = sl_map_new()};
    char *text = sl_mem_text(list == NULL ? "" : list);
    enum sl_code code = SL_CODE_OK;
    for (char *rest = text, *item; code == SL_CODE_OK && (item = strsep(&rest, ",")) != NULL;) {
        code = item[0] == '\0' && list == NULL ? SL_CODE_OK : add(d, item, e);
    }
    sl_mem_free(text);
    return code;
}

void sl_devices_fini(struct sl_devices *d)
{
    sl_json_free(d->counts);
    sl_map_free_with(d->held, sl_json_free_value);
    *d = (struct sl_devices){.counts = NULL};
}

/* Devices have no fractions, and requests of them are their limits. */
static int64_t wanted(const struct sl_json *spec, const char *resource)
{
    const struct sl_json *containers = sl_json_get(spec, "containers");
    int64_t sum = 0;
    for (size_t i = 0; i < sl_json_len(containers); i++) {
        struct sl_quantity q;
        const struct sl_json *resources = sl_json_get(sl_json_at(containers, i), "resources");
        const struct sl_json *value = sl_json_get(sl_json_get(resources, "limits"), resource);
        value = value != NULL ? value : sl_json_get(sl_json_get(resources, "requests"), resource);
        if (value != NULL && sl_quantity_read(value, &q, NULL) == SL_CODE_OK) {
            sum += sl_quantity_value(q);
        }
    }
    return sum;
}

static bool is_taken(const struct sl_devices *d, const char *resource, int64_t number)
{
    for (struct sl_map_item e = {0}; sl_map_each(d->held, &e);) {
        const struct sl_json *numbers = sl_json_get(e.value.pointer, resource);
        for (size_t i = 0; i < sl_json_len(numbers); i++) {
            if (sl_json_int(sl_json_at(numbers, i), -1) == number) {
                return true;
            }
        }
    }
    return false;
}

static struct sl_json *pick_new(const struct sl_devices *d, const char *resource, int64_t count,
                                int64_t want)
{
    struct sl_json *numbers = sl_json_new_list();
    for (int64_t n = 0; n < count && (int64_t)sl_json_len(numbers) < want; n++) {
        if (!is_taken(d, resource, n)) {
            sl_json_append(numbers, sl_json_new_int(n));
        }
    }
    return numbers;
}

/* A resource with a / in its name that is not listed is a device that is not there. */
static bool all_known(const struct sl_devices *d, const struct sl_json *spec, struct sl_error *e)
{
    static const char *const parts[] = {"limits", "requests"};
    const struct sl_json *containers = sl_json_get(spec, "containers");
    for (size_t i = 0; i < sl_json_len(containers); i++) {
        for (size_t p = 0; p < 2; p++) {
            const struct sl_json *amounts =
                sl_json_get(sl_json_get(sl_json_at(containers, i), "resources"), parts[p]);
            for (struct sl_json_member m = {0}; sl_json_each(amounts, &m);) {
                if (strchr(m.key, '/') != NULL && !sl_json_has(d->counts, m.key)) {
                    (void)sl_error_set(e, SL_CODE_BAD_REQUEST,
                                       "this machine has no %.100s: see --devices", m.key);
                    return false;
                }
            }
        }
    }
    return true;
}

const struct sl_json *sl_devices_take(struct sl_devices *d, const char *uid,
                                      const struct sl_json *pod_spec, struct sl_error *e)
{
    struct sl_json *all = sl_map_find(d->held, uid);
    if (all != NULL) {
        return all;
    }
    if (!all_known(d, pod_spec, e)) {
        return NULL;
    }
    all = sl_json_new_map();
    for (struct sl_json_member m = {0}; sl_json_each(d->counts, &m);) {
        int64_t want = wanted(pod_spec, m.key);
        struct sl_json *numbers = pick_new(d, m.key, sl_json_int(m.value, 0), want);
        int64_t got = (int64_t)sl_json_len(numbers);
        sl_json_set(all, m.key, numbers);
        if (got < want) {
            (void)sl_error_set(e, SL_CODE_BAD_REQUEST,
                               "it asks for %" PRId64 " %.100s, and %" PRId64 " are free", want,
                               m.key, got);
            sl_json_free(all);
            return NULL;
        }
    }
    sl_map_put(d->held, uid, (union sl_map_value){.pointer = all});
    return all;
}

void sl_devices_keep(struct sl_devices *d, const char *uid, const struct sl_json *numbers)
{
    if (sl_json_len(numbers) > 0 && sl_map_find(d->held, uid) == NULL) {
        sl_map_put(d->held, uid, (union sl_map_value){.pointer = sl_json_clone(numbers)});
    }
}

void sl_devices_give_back(struct sl_devices *d, const char *uid)
{
    union sl_map_value old;
    if (sl_map_remove(d->held, uid, &old)) {
        sl_json_free(old.pointer);
    }
}
