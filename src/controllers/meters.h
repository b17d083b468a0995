/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is counted of decisions since the start: how often, and how long something took, each by its labels. Names
 * and labels are Kueue's; the bounds of the histograms too. A series is known by its name with its labels, as in
 * `name{a="b",c="d"}`; values of labels are names of objects, which need no escaping. */
#ifndef SL_CONTROLLERS_METERS_H
#define SL_CONTROLLERS_METERS_H
#include "base/buf.h"
#include "base/map.h"

#define SL_METER_BOUNDS_MAX 15u

/* The bounds of a histogram. */
enum sl_meter_scale {
    SL_METER_WAITS, /* 1 s, 2.5 s, and doubling to 10,240 s */
    SL_METER_RUNS,  /* to 40,960 s */
    SL_METER_CALLS  /* 5 ms to 10 s */
};

struct sl_meters {
    struct sl_map *counts; /* series -> how often */
    struct sl_map *times;  /* series -> struct sl_meter_times */
};
void sl_meters_init(struct sl_meters *m);
void sl_meters_fini(struct sl_meters *m);
/* `metric` ends with the name of its first label, whose value is `value`; `labels` are the others, each with its
 * comma in front. */
void sl_meters_count(struct sl_meters *m, const char *metric, const char *value,
                     const char *labels);
/* A time before zero counts as zero. */
void sl_meters_time(struct sl_meters *m, const char *metric, const char *value, const char *labels,
                    enum sl_meter_scale scale, int64_t took_us);
/* All series of that name, each with the label of the role that this process has. */
void sl_meters_print(const struct sl_meters *m, const char *name, const char *role,
                     struct sl_buf *out);
#endif
