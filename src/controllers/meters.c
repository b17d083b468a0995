/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Counters and histograms by series. */
#include "controllers/meters.h"
#include "base/mem.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct sl_meter_times {
    enum sl_meter_scale scale;
    uint64_t count;
    int64_t sum_us;
    uint64_t within[SL_METER_BOUNDS_MAX + 1]; /* of each bound alone; the last is beyond all */
};

static const int64_t call_bounds_us[] = {5000,   10000,   25000,   50000,   100000,  250000,
                                         500000, 1000000, 2500000, 5000000, 10000000};
#define CALL_BOUNDS (sizeof call_bounds_us / sizeof call_bounds_us[0])

static unsigned bounds_of(enum sl_meter_scale scale)
{
    switch (scale) {
    case SL_METER_WAITS:
        return 14;
    case SL_METER_RUNS:
        return SL_METER_BOUNDS_MAX;
    default:
        return CALL_BOUNDS;
    }
}

static int64_t bound_us(enum sl_meter_scale scale, unsigned i)
{
    if (scale == SL_METER_CALLS) {
        return call_bounds_us[i];
    }
    return i == 0 ? 1000000 : INT64_C(2500000) << (i - 1);
}

void sl_meters_init(struct sl_meters *m)
{
    *m = (struct sl_meters){.counts = sl_map_new(), .times = sl_map_new()};
}

void sl_meters_fini(struct sl_meters *m)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(m->times, &cursor, &key, &value)) {
        sl_mem_free(value.pointer);
    }
    sl_map_free(m->times);
    sl_map_free(m->counts);
    *m = (struct sl_meters){0};
}

#define SERIES_SIZE 1024
static void print_series(char out[static SERIES_SIZE], const char *metric, const char *value,
                         const char *labels)
{
    snprintf(out, SERIES_SIZE, "%s=\"%s\"%s}", metric, value, labels);
}

void sl_meters_count(struct sl_meters *m, const char *metric, const char *value, const char *labels)
{
    char key[SERIES_SIZE];
    union sl_map_value so_far = {0};
    print_series(key, metric, value, labels);
    (void)sl_map_get(m->counts, key, &so_far);
    so_far.number++;
    sl_map_put(m->counts, key, so_far);
}

static struct sl_meter_times *times_of(struct sl_meters *m, const char *key,
                                       enum sl_meter_scale scale)
{
    union sl_map_value value = {0};
    if (!sl_map_get(m->times, key, &value)) {
        struct sl_meter_times *times = sl_mem_new(1, sizeof *times);
        times->scale = scale;
        value.pointer = times;
        sl_map_put(m->times, key, value);
    }
    return value.pointer;
}

void sl_meters_time(struct sl_meters *m, const char *metric, const char *value, const char *labels,
                    enum sl_meter_scale scale, int64_t took_us)
{
    char key[SERIES_SIZE];
    print_series(key, metric, value, labels);
    struct sl_meter_times *times = times_of(m, key, scale);
    int64_t took = took_us > 0 ? took_us : 0;
    unsigned i = 0;
    while (i < bounds_of(scale) && took > bound_us(scale, i)) {
        i++;
    }
    times->within[i]++;
    times->count++;
    times->sum_us += took;
}

/* The labels of a series, without the brace that ends them. */
static int labels_of(const char *key, size_t name_len)
{
    return (int)strlen(key + name_len) - 1;
}

static void print_times(const char *key, const char *name, const char *role,
                        const struct sl_meter_times *times, struct sl_buf *out)
{
    size_t len = strlen(name);
    int labels = labels_of(key, len);
    uint64_t below = 0;
    for (unsigned i = 0; i < bounds_of(times->scale); i++) {
        int64_t bound = bound_us(times->scale, i);
        below += times->within[i];
        sl_buf_print(out, "%s_bucket%.*s,replica_role=\"%s\",le=\"%g\"} %" PRIu64 "\n", name,
                     labels, key + len, role, (double)bound / 1e6, below);
    }
    sl_buf_print(out, "%s_bucket%.*s,replica_role=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", name, labels,
                 key + len, role, times->count);
    sl_buf_print(out, "%s_sum%.*s,replica_role=\"%s\"} %" PRId64 ".%06" PRId64 "\n", name, labels,
                 key + len, role, times->sum_us / 1000000, times->sum_us % 1000000);
    sl_buf_print(out, "%s_count%.*s,replica_role=\"%s\"} %" PRIu64 "\n", name, labels, key + len,
                 role, times->count);
}

static bool is_of(const char *key, const char *name)
{
    size_t len = strlen(name);
    return strncmp(key, name, len) == 0 && key[len] == '{';
}

void sl_meters_print(const struct sl_meters *m, const char *name, const char *role,
                     struct sl_buf *out)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(m->counts, &cursor, &key, &value)) {
        if (is_of(key, name)) {
            sl_buf_print(out, "%.*s,replica_role=\"%s\"} %" PRIu64 "\n", labels_of(key, 0), key,
                         role, value.number);
        }
    }
    cursor = 0;
    while (sl_map_next(m->times, &cursor, &key, &value)) {
        if (is_of(key, name)) {
            print_times(key, name, role, value.pointer, out);
        }
    }
}
