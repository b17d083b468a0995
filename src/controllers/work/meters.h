/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is counted of decisions since the start: how often, and how long something took, each by its labels. Names
 * and labels are Kueue's; the bounds of the histograms too. Bounded in memory: what belongs to a queue is forgotten
 * with it, and where there are too many series a new one is counted nowhere, but how often that was. Values of labels
 * are names of objects, which need no escaping. */
#ifndef SL_CONTROLLERS_METERS_H
#define SL_CONTROLLERS_METERS_H
#include "base/buf.h"
#include "base/map.h"

#define SL_METER_BOUNDS_MAX 16u
#define SL_METER_SERIES_MAX 65536u /* about 0.4 KiB each */

/* The bounds of a histogram. */
enum sl_meter_scale {
    SL_METER_WAITS, /* 1 s, 2.5 s, and doubling to 10,240 s */
    SL_METER_RUNS,  /* to 40,960 s */
    SL_METER_CALLS, /* 5 ms to 10 s */
    SL_METER_BIRTHS /* 10 ms, and doubling to 10.24 s */
};

struct sl_meters {
    struct sl_map *families; /* name -> struct sl_meter_family */
    struct sl_map *owners;   /* -> the first of its series */
    uint32_t series, series_max;
    uint64_t dropped; /* how often something was not counted, for want of room */
};

/* One series. The labels as they are printed, without braces: `cluster_queue="a",priority_class="b"`. */
struct sl_series {
    const char *name;
    const char *owner; /* "namespace/name" of a LocalQueue, name of a ClusterQueue; "": none */
    const char *labels;
};
void sl_meters_init(struct sl_meters *m);
void sl_meters_fini(struct sl_meters *m);
void sl_meters_count(struct sl_meters *m, const struct sl_series *s);
/* A time before zero counts as zero. A name has one scale. */
void sl_meters_time(struct sl_meters *m, const struct sl_series *s, enum sl_meter_scale scale,
                    int64_t took_us);
/* The owner was deleted: its series end. */
void sl_meters_forget(struct sl_meters *m, const char *owner);
/* The same for each owner that begins so and is not to be kept. */
void sl_meters_sweep(struct sl_meters *m, const char *prefix,
                     bool (*keeps)(void *context, const char *owner), void *context);
/* All series of that name, each with the label of the role that this process has. */
void sl_meters_print(const struct sl_meters *m, const char *name, const char *role,
                     struct sl_buf *out);
#endif
