/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Counters and histograms by family and labels, and the chain of each owner's series. */
#include "controllers/work/meters.h"
#include "base/check.h"
#include "base/mem.h"
#include <inttypes.h>
#include <string.h>

struct sl_meter_family {
    struct sl_map *series; /* labels -> struct meter */
};

struct times {
    enum sl_meter_scale scale;
    int64_t sum_us;
    uint64_t within[SL_METER_BOUNDS_MAX + 1]; /* of each bound alone; the last is beyond all */
};

struct meter {
    uint64_t count;
    struct times *times; /* NULL: it only counts */
    struct sl_meter_family *family;
    char *labels;
    struct meter *next; /* of the same owner */
};

struct bound {
    const char *text;
    int64_t us;
};
static const struct bound call_bounds[] = {{"0.005", 5000}, {"0.01", 10000}, {"0.025", 25000},
                                           {"0.05", 50000}, {"0.1", 100000}, {"0.25", 250000},
                                           {"0.5", 500000}, {"1", 1000000},  {"2.5", 2500000},
                                           {"5", 5000000},  {"10", 10000000}};
static const struct bound birth_bounds[] = {
    {"0.01", 10000},   {"0.02", 20000},   {"0.04", 40000},    {"0.08", 80000},
    {"0.16", 160000},  {"0.32", 320000},  {"0.64", 640000},   {"1.28", 1280000},
    {"2.56", 2560000}, {"5.12", 5120000}, {"10.24", 10240000}};
#define S INT64_C(1000000)
static const struct bound wait_bounds[SL_METER_BOUNDS_MAX] = {
    {"1", S},           {"2.5", S * 5 / 2},   {"5", S * 5},         {"10", S * 10},
    {"20", S * 20},     {"40", S * 40},       {"80", S * 80},       {"160", S * 160},
    {"320", S * 320},   {"640", S * 640},     {"1280", S * 1280},   {"2560", S * 2560},
    {"5120", S * 5120}, {"10240", S * 10240}, {"20480", S * 20480}, {"40960", S * 40960}};
#undef S

static unsigned bounds_of(enum sl_meter_scale scale, const struct bound **bounds)
{
    switch (scale) {
    case SL_METER_CALLS:
        *bounds = call_bounds;
        return sizeof call_bounds / sizeof call_bounds[0];
    case SL_METER_BIRTHS:
        *bounds = birth_bounds;
        return sizeof birth_bounds / sizeof birth_bounds[0];
    case SL_METER_WAITS:
    case SL_METER_RUNS:
        break;
    }
    *bounds = wait_bounds;
    return scale == SL_METER_WAITS ? 14 : SL_METER_BOUNDS_MAX;
}

void sl_meters_init(struct sl_meters *m)
{
    *m = (struct sl_meters){
        .families = sl_map_new(), .owners = sl_map_new(), .series_max = SL_METER_SERIES_MAX};
}

static void free_meter(struct meter *one)
{
    sl_mem_free(one->times);
    sl_mem_free(one->labels);
    sl_mem_free(one);
}

static void free_chain(struct sl_meters *m, struct meter *first)
{
    while (first != NULL) {
        struct meter *next = first->next;
        (void)sl_map_remove(first->family->series, first->labels, NULL);
        free_meter(first);
        m->series--;
        first = next;
    }
}

void sl_meters_fini(struct sl_meters *m)
{
    SL_PRE(m != NULL);
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(m->owners, &cursor, &key, &value)) {
        free_chain(m, value.pointer);
    }
    cursor = 0;
    while (sl_map_next(m->families, &cursor, &key, &value)) {
        struct sl_meter_family *family = value.pointer;
        sl_map_free(family->series);
        sl_mem_free(family);
    }
    sl_map_free(m->families);
    sl_map_free(m->owners);
    *m = (struct sl_meters){0};
}

static struct sl_meter_family *family_of(struct sl_meters *m, const char *name)
{
    union sl_map_value value = {0};
    if (!sl_map_get(m->families, name, &value)) {
        struct sl_meter_family *family = sl_mem_new(1, sizeof *family);
        family->series = sl_map_new();
        value.pointer = family;
        sl_map_put(m->families, name, value);
    }
    return value.pointer;
}

static struct meter *add_meter(struct sl_meters *m, struct sl_meter_family *family,
                               const struct sl_series *s)
{
    struct meter *one = sl_mem_new(1, sizeof *one);
    one->family = family;
    one->labels = sl_mem_text(s->labels);
    one->next = sl_map_find(m->owners, s->owner);
    sl_map_put(m->owners, s->owner, (union sl_map_value){.pointer = one});
    sl_map_put(family->series, s->labels, (union sl_map_value){.pointer = one});
    m->series++;
    return one;
}

/* NULL: there is no room for another one. */
static struct meter *meter_of(struct sl_meters *m, const struct sl_series *s)
{
    struct sl_meter_family *family = family_of(m, s->name);
    struct meter *known = sl_map_find(family->series, s->labels);
    if (known != NULL) {
        return known;
    }
    if (m->series >= m->series_max) {
        m->dropped++;
        return NULL;
    }
    return add_meter(m, family, s);
}

void sl_meters_count(struct sl_meters *m, const struct sl_series *s)
{
    struct meter *one = meter_of(m, s);
    if (one != NULL) {
        one->count++;
    }
}

void sl_meters_time(struct sl_meters *m, const struct sl_series *s, enum sl_meter_scale scale,
                    int64_t took_us)
{
    struct meter *one = meter_of(m, s);
    const struct bound *bounds;
    unsigned count = bounds_of(scale, &bounds);
    int64_t took = took_us > 0 ? took_us : 0;
    unsigned i = 0;
    if (one == NULL) {
        return;
    }
    if (one->times == NULL) {
        one->times = sl_mem_new(1, sizeof *one->times);
        one->times->scale = scale;
    }
    while (i < count && took > bounds[i].us) {
        i++;
    }
    one->times->within[i]++;
    one->times->sum_us += took;
    one->count++;
}

void sl_meters_forget(struct sl_meters *m, const char *owner)
{
    SL_PRE(m != NULL);
    union sl_map_value first;
    if (sl_map_remove(m->owners, owner, &first)) {
        free_chain(m, first.pointer);
    }
}

void sl_meters_sweep(struct sl_meters *m, const char *prefix,
                     bool (*keeps)(void *context, const char *owner), void *context)
{
    SL_PRE(m != NULL && keeps != NULL);
    for (struct sl_map_item e = {0}; sl_map_each(m->owners, &e);) {
        if (strncmp(e.key, prefix, strlen(prefix)) == 0 && !keeps(context, e.key)) {
            struct meter *first = e.value.pointer;
            (void)sl_map_remove(m->owners, e.key, NULL);
            free_chain(m, first);
        }
    }
}

static void add_number(struct sl_buf *out, uint64_t n)
{
    char text[24];
    size_t at = sizeof text;
    text[--at] = '\n';
    do {
        text[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    sl_buf_add(out, text + at, sizeof text - at);
}

/* One line of a histogram, without the number: the pieces one by one, since there are many such lines. */
static void add_series(struct sl_buf *out, const char *const pieces[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sl_buf_text(out, pieces[i]);
    }
}

static void print_times(const char *name, const char *role, const struct meter *one,
                        struct sl_buf *out)
{
    const struct times *times = one->times;
    const struct bound *bounds;
    unsigned bound_count = bounds_of(times->scale, &bounds);
    uint64_t below = 0;
    for (unsigned i = 0; i <= bound_count; i++) {
        below += times->within[i];
        add_series(out,
                   (const char *const[]){name, "_bucket{", one->labels, ",replica_role=\"", role,
                                         "\",le=\"", i < bound_count ? bounds[i].text : "+Inf",
                                         "\"} "},
                   8);
        add_number(out, below);
    }
    sl_buf_print(out, "%s_sum{%s,replica_role=\"%s\"} %" PRId64 ".%06" PRId64 "\n", name,
                 one->labels, role, times->sum_us / 1000000, times->sum_us % 1000000);
    sl_buf_print(out, "%s_count{%s,replica_role=\"%s\"} %" PRIu64 "\n", name, one->labels, role,
                 one->count);
}

void sl_meters_print(const struct sl_meters *m, const char *name, const char *role,
                     struct sl_buf *out)
{
    SL_PRE(m != NULL);
    const struct sl_meter_family *family = sl_map_find(m->families, name);
    for (struct sl_map_item e = {0}; family != NULL && sl_map_each(family->series, &e);) {
        const struct meter *one = e.value.pointer;
        if (one->times != NULL) {
            print_times(name, role, one, out);
        } else {
            sl_buf_print(out, "%s{%s,replica_role=\"%s\"} %" PRIu64 "\n", name, e.key, role,
                         one->count);
        }
    }
}
