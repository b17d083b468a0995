/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who is where in a topology: the nodes of one flavor, a line for each rack (each domain above the lowest level), a
 * character for each node, and a legend of the workloads. Read from the objects themselves. Pure functions. */
#ifndef SL_CLI_PICTURE_H
#define SL_CLI_PICTURE_H
#include "api/objects/object.h"

#define SL_PICTURE_LEVELS_MAX 16u
#define SL_PICTURE_WAITING_MAX 8u /* shown by name */

/* Lists of items; all lent. */
struct sl_picture_source {
    const struct sl_json *flavor;   /* the ResourceFlavor */
    const struct sl_json *topology; /* the Topology that it names */
    const struct sl_json *nodes, *workloads;
};
/* A domain of the lowest level; mostly a node. */
struct sl_picture_cell {
    const char *values[SL_PICTURE_LEVELS_MAX]; /* lent from the nodes' labels */
    uint32_t nodes, failed, closed; /* of its nodes: not ready; ready and not for new pods */
    uint32_t workload;              /* the first one there + 1; 0 = none */
    uint32_t last;                  /* and the last one */
    uint32_t workload_count, pods;
};
struct sl_picture_workload {
    const struct sl_json *object; /* lent */
    uint32_t pods, cells;
    char mark;
};
struct sl_picture {
    const char *flavor, *topology;
    uint32_t level_count;
    const char *levels[SL_PICTURE_LEVELS_MAX];
    struct sl_picture_cell *cells; /* in order of their values */
    size_t cell_count;
    struct sl_picture_workload *workloads;
    size_t workload_count;
};
/* Everything in the source stays lent until fini. */
void sl_picture_fill(struct sl_picture *p, const struct sl_picture_source *source);
void sl_picture_fini(struct sl_picture *p);
/* Many lines, none longer than `width` where that is possible; ANSI colours when asked. */
void sl_picture_draw(const struct sl_picture *p, bool colors, unsigned width, struct sl_buf *out);
/* The same as data: its domains in that order, and its workloads. */
struct sl_json *sl_picture_json_new(const struct sl_picture *p);
/* A line for each workload that asks for a topology and has no place, and why; nothing when there is none. */
void sl_picture_draw_waiting(const struct sl_json *workloads, unsigned width, struct sl_buf *out);
#endif
