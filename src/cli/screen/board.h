/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the dashboard shows: how many workloads are in which phase, and how much of which quota is in use. Counted
 * from the objects themselves, so that one frame agrees with itself. Pure functions. */
#ifndef SL_CLI_BOARD_H
#define SL_CLI_BOARD_H
#include "api/objects/object.h"

#define SL_BOARD_ROWS_MAX 256u
#define SL_BOARD_WAITING_MAX 64u

enum sl_board_phase {
    SL_BOARD_PENDING,
    SL_BOARD_RESERVED,
    SL_BOARD_ADMITTED,
    SL_BOARD_FINISHED,
    SL_BOARD_PHASES
};
struct sl_board_row { /* one quota: of a ClusterQueue for a flavor and resource */
    char queue[64], cohort[64], flavor[64], resource[64];
    int64_t nominal, used; /* in the core's units */
    bool exceeded;         /* its ClusterQueue says that it holds more than it may */
};
struct sl_board {
    unsigned count[SL_BOARD_PHASES];
    unsigned total;
    struct sl_board_row rows[SL_BOARD_ROWS_MAX];
    unsigned row_count;
    unsigned left_out;                       /* quotas that have no row any more */
    char waiting[SL_BOARD_WAITING_MAX][256]; /* some that wait, and why */
    unsigned waiting_count;
};
/* From the items of two lists. All workloads are counted; rows and those that wait are the ones with `filter` in their names (and
 * reasons), whatever the case; "": all. */
void sl_board_fill(struct sl_board *b, const struct sl_json *workloads,
                   const struct sl_json *cluster_queues, const char *filter);
/* The whole picture, many lines; ANSI colours when asked. No line is wider than `width` if that is at least
 * SL_BOARD_WIDTH_MIN, and there are at most `height` lines if that is at least SL_BOARD_HEIGHT_MIN; 0: any number. */
#define SL_BOARD_WIDTH_MIN 80u
#define SL_BOARD_HEIGHT_MIN 6u
void sl_board_draw(const struct sl_board *b, bool colors, unsigned width, unsigned height,
                   struct sl_buf *out);
/* The same from a line of the rows and of those that wait, which are one below the other then; *top is lowered to the last one that
 * leaves no line empty. 0: as above. */
void sl_board_draw_from(const struct sl_board *b, unsigned *top, bool colors, unsigned width,
                        unsigned height, struct sl_buf *out);
/* One line without a line end: for logs and pipes. */
void sl_board_line(const struct sl_board *b, struct sl_buf *out);
/* The same as data. */
struct sl_json *sl_board_json_new(const struct sl_board *b);
#endif
