/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drawing: columns as wide as the names in them, and no more lines than the terminal has. */
#include "cli/screen/board.h"
#include "base/check.h"
#include "api/objects/quantity.h"
#include <string.h>

#define BAR                                                                                        \
    20u /* characters for the nominal quota, and for what is borrowed; half of it on a narrow terminal */
#define BORROWED 10u
#define COLUMNS 3u       /* queue, flavor, resource */
#define NAME_WIDTH_MIN 8 /* of a column that is cut */
#define OVERALL_WIDTH 60u
#define OVERALL_LINES 3u /* with an empty one */
#define TEXT_SIZE 64u
#define OVER "  over its quota"

static const char *const phase_names[SL_BOARD_PHASES] = {"Pending", "QuotaReserved", "Admitted",
                                                         "Finished"};
static const char *const phase_colors[SL_BOARD_PHASES] = {"33", "36", "32", "90"};

/* How wide everything is. */
struct layout {
    int names[COLUMNS];
    unsigned bar, borrowed; /* characters for the nominal quota, and at most for what is borrowed */
    int used, nominal;
    int mark; /* behind the amounts */
};

static void repeat(struct sl_buf *out, char c, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        sl_buf_add(out, &c, 1);
    }
}

static void color(struct sl_buf *out, bool colors, const char *code)
{
    if (colors) {
        sl_buf_print(out, "\033[%sm", code);
    }
}

static void draw_overall(const struct sl_board *b, bool colors, struct sl_buf *out)
{
    static const char signs[SL_BOARD_PHASES] = {'.', '-', '#', '='};
    for (int p = 0; p < SL_BOARD_PHASES; p++) {
        color(out, colors, phase_colors[p]);
        sl_buf_print(out, "%c %s %u", signs[p], phase_names[p], b->count[p]);
        color(out, colors, "0");
        sl_buf_text(out, "  ");
    }
    sl_buf_print(out, "of %u\n", b->total);
    unsigned drawn = 0;
    unsigned seen = 0;
    for (int p = SL_BOARD_PHASES - 1; p >= 0; p--) {
        seen += b->count[p];
        unsigned upto = b->total == 0 ? 0 : (unsigned)((uint64_t)seen * OVERALL_WIDTH / b->total);
        color(out, colors, phase_colors[p]);
        repeat(out, signs[p], upto - drawn);
        color(out, colors, "0");
        drawn = upto;
    }
    sl_buf_text(out, "\n\n");
}

/* --- columns ------------------------------------------------------------------------------------------- */

static const char *name_of(const struct sl_board_row *row, unsigned column)
{
    return column == 0 ? row->queue : column == 1 ? row->flavor : row->resource;
}

static void amounts_of(const struct sl_board_row *row, char used[static TEXT_SIZE],
                       char nominal[static TEXT_SIZE])
{
    sl_quantity_print_amount(row->used, row->resource, used);
    sl_quantity_print_amount(row->nominal, row->resource, nominal);
}

/* Its ClusterQueue says that it is too much, and it is of this. */
static bool is_over(const struct sl_board_row *row)
{
    return row->exceeded && row->used > row->nominal;
}

static int wider(int width, const char *text)
{
    int len = (int)strlen(text);
    return len > width ? len : width;
}

static int sum(const struct layout *l)
{
    int bars = 1 + (int)l->bar + 1 + (int)l->borrowed;
    return l->names[0] + 1 + l->names[1] + 1 + l->names[2] + 1 + bars + 1 + l->used + 3 +
           l->nominal + l->mark;
}

/* Takes from the widest name first. */
static void narrow(struct layout *l, int width)
{
    if (sum(l) > width) {
        l->bar = BAR / 2;
        l->borrowed = BORROWED / 2;
    }
    while (sum(l) > width) {
        unsigned widest = 0;
        for (unsigned i = 1; i < COLUMNS; i++) {
            widest = l->names[i] > l->names[widest] ? i : widest;
        }
        if (l->names[widest] <= NAME_WIDTH_MIN) {
            return;
        }
        l->names[widest]--;
    }
}

static struct layout lay_out(const struct sl_board *b, unsigned rows, unsigned width)
{
    static const char *const headings[COLUMNS] = {"QUEUE", "FLAVOR", "RESOURCE"};
    struct layout l = {.bar = BAR, .borrowed = BORROWED, .used = 4, .nominal = 5};
    for (unsigned i = 0; i < COLUMNS; i++) {
        l.names[i] = wider(0, headings[i]);
        for (unsigned r = 0; r < rows; r++) {
            l.names[i] = wider(l.names[i], name_of(&b->rows[r], i));
        }
    }
    for (unsigned r = 0; r < rows; r++) {
        char used[TEXT_SIZE], nominal[TEXT_SIZE];
        amounts_of(&b->rows[r], used, nominal);
        l.used = wider(l.used, used);
        l.nominal = wider(l.nominal, nominal);
        l.mark = is_over(&b->rows[r]) ? (int)sizeof OVER - 1 : l.mark;
    }
    narrow(&l, (int)width);
    return l;
}

/* A name that is cut says so by its last character. */
static void draw_name(const char *name, int width, struct sl_buf *out)
{
    bool cut = (int)strlen(name) > width;
    sl_buf_print(out, "%-*.*s%s ", cut ? width - 1 : width, cut ? width - 1 : width, name,
                 cut ? "~" : "");
}

/* --- rows ---------------------------------------------------------------------------------------------- */

/* [####......]  and, past the nominal quota, ++++ for what is borrowed. */
static void draw_bar(const struct sl_board_row *row, const struct layout *l, bool colors,
                     struct sl_buf *out)
{
    int64_t own = row->used < row->nominal ? row->used : row->nominal;
    int64_t over = row->used - own;
    uint64_t filled = row->nominal == 0 ? 0 : (uint64_t)((__int128)own * l->bar / row->nominal);
    uint64_t borrowed = over == 0           ? 0
                        : row->nominal == 0 ? l->borrowed
                                            : (uint64_t)((__int128)over * l->bar / row->nominal);
    borrowed = over > 0 && borrowed == 0 ? 1 : borrowed;
    borrowed = borrowed > l->borrowed ? l->borrowed : borrowed;
    sl_buf_text(out, "[");
    color(out, colors, "32");
    repeat(out, '#', filled);
    color(out, colors, "0");
    repeat(out, '.', l->bar - filled);
    sl_buf_text(out, "]");
    color(out, colors, "33");
    repeat(out, '+', borrowed);
    color(out, colors, "0");
    repeat(out, ' ', l->borrowed - borrowed);
}

static void draw_row(const struct sl_board_row *row, bool same_queue, const struct layout *l,
                     bool colors, struct sl_buf *out)
{
    char used[TEXT_SIZE], nominal[TEXT_SIZE];
    amounts_of(row, used, nominal);
    draw_name(same_queue ? "" : row->queue, l->names[0], out);
    draw_name(row->flavor, l->names[1], out);
    draw_name(row->resource, l->names[2], out);
    draw_bar(row, l, colors, out);
    sl_buf_print(out, " %*s / %s%s\n", l->used, used, nominal, is_over(row) ? OVER : "");
}

static void draw_rows(const struct sl_board *b, unsigned count, unsigned width, bool colors,
                      struct sl_buf *out)
{
    struct layout l = lay_out(b, count, width);
    draw_name("QUEUE", l.names[0], out);
    draw_name("FLAVOR", l.names[1], out);
    draw_name("RESOURCE", l.names[2], out);
    int bars = (int)(1 + l.bar + 1 + l.borrowed);
    sl_buf_print(out, "%-*.*s %*s / %s\n", bars, bars,
                 l.bar == BAR ? "# used  + borrowed  . free" : "# used + borrowed", l.used, "USED",
                 "QUOTA");
    for (unsigned i = 0; i < count; i++) {
        bool same = i > 0 && strcmp(b->rows[i].queue, b->rows[i - 1].queue) == 0;
        draw_row(&b->rows[i], same, &l, colors, out);
    }
    if (count < b->row_count + b->left_out) {
        sl_buf_print(out, "and %u more quotas\n", b->row_count + b->left_out - count);
    }
}

/* --- the whole ----------------------------------------------------------------------------------------- */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many rows and workloads are drawn: quotas go first, but for one workload that waits. */
static void share_out(const struct sl_board *b, unsigned height, unsigned *rows, unsigned *waiting)
{
    *rows = b->row_count;
    *waiting = b->waiting_count;
    if (height < SL_BOARD_HEIGHT_MIN) {
        return;
    }
    unsigned left = height - OVERALL_LINES - 1; /* and a heading */
    unsigned for_waiting = *waiting > 0 && left >= 5 ? 3 : 0;
    unsigned all = b->row_count + (b->left_out > 0 ? 1 : 0);
    bool fits = all + for_waiting <= left;
    *rows = fits ? b->row_count : least(b->row_count, left - for_waiting - 1);
    unsigned drawn = *rows + (*rows < b->row_count + b->left_out ? 1 : 0);
    *waiting = for_waiting == 0 ? 0 : least(*waiting, left - drawn - 2);
}

static void draw_waiting(const struct sl_board *b, unsigned count, unsigned width,
                         struct sl_buf *out)
{
    if (count > 0) {
        sl_buf_text(out, "\nWaiting, for example:\n");
    }
    for (unsigned i = 0; i < count; i++) {
        int len = width > 4 ? (int)width - 3 : 1;
        sl_buf_print(out, "  %.*s\n", len, b->waiting[i]);
    }
}

void sl_board_draw(const struct sl_board *b, bool colors, unsigned width, unsigned height,
                   struct sl_buf *out)
{
    SL_PRE(b != NULL);
    unsigned rows, waiting;
    share_out(b, height, &rows, &waiting);
    draw_overall(b, colors, out);
    draw_rows(b, rows, width, colors, out);
    draw_waiting(b, waiting, width, out);
}

/* All rows and all that wait, and of these lines a part. */
static void draw_part(const struct sl_board *b, unsigned *top, bool colors, unsigned width,
                      unsigned height, struct sl_buf *out)
{
    struct sl_buf all = {0};
    unsigned lines = 0, at = 0;
    draw_rows(b, b->row_count, width, colors, &all);
    draw_waiting(b, b->waiting_count, width, &all);
    for (const char *c = all.data; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    unsigned shown = height - 1; /* and a line that says which */
    *top = lines > shown ? least(*top, lines - shown) : 0;
    unsigned last = least(*top + shown, lines);
    for (const char *line = all.data; *line != '\0'; at++) {
        size_t len = strcspn(line, "\n") + 1;
        if (at >= *top && at < last) {
            sl_buf_add(out, line, len);
        }
        line += len;
    }
    sl_buf_print(out, "lines %u to %u of %u\n", *top + 1, last, lines);
    sl_buf_fini(&all);
}

void sl_board_draw_from(const struct sl_board *b, unsigned *top, bool colors, unsigned width,
                        unsigned height, struct sl_buf *out)
{
    SL_PRE(b != NULL && top != NULL);
    if (*top == 0 || height < SL_BOARD_HEIGHT_MIN) {
        *top = 0;
        sl_board_draw(b, colors, width, height, out);
        return;
    }
    draw_overall(b, colors, out);
    draw_part(b, top, colors, width, height - OVERALL_LINES, out);
}

void sl_board_line(const struct sl_board *b, struct sl_buf *out)
{
    SL_PRE(b != NULL);
    sl_buf_print(out, "pending %2u  reserved %2u  admitted %2u  finished %2u  |",
                 b->count[SL_BOARD_PENDING], b->count[SL_BOARD_RESERVED],
                 b->count[SL_BOARD_ADMITTED], b->count[SL_BOARD_FINISHED]);
    for (unsigned i = 0; i < b->row_count; i++) {
        const struct sl_board_row *row = &b->rows[i];
        if (strcmp(row->resource, b->rows[0].resource) != 0) {
            continue; /* one resource is enough for a line */
        }
        char used[TEXT_SIZE], nominal[TEXT_SIZE];
        amounts_of(row, used, nominal);
        bool same = i > 0 && strcmp(row->queue, b->rows[i - 1].queue) == 0;
        sl_buf_print(out, "%s%s %s %s/%s", same ? ", " : "  ", same ? "" : row->queue, row->flavor,
                     used, nominal);
    }
}

/* --- data ---------------------------------------------------------------------------------------------- */

static struct sl_json *row_json_new(const struct sl_board_row *row)
{
    struct sl_json *o = sl_json_new_map();
    char used[TEXT_SIZE], nominal[TEXT_SIZE];
    amounts_of(row, used, nominal);
    sl_json_set_text(o, "clusterQueue", row->queue);
    sl_json_set_text(o, "cohort", row->cohort);
    sl_json_set_text(o, "flavor", row->flavor);
    sl_json_set_text(o, "resource", row->resource);
    sl_json_set_text(o, "nominalQuota", nominal);
    sl_json_set_text(o, "used", used);
    sl_json_set_bool(o, "exceeded", is_over(row));
    return o;
}

struct sl_json *sl_board_json_new(const struct sl_board *b)
{
    SL_PRE(b != NULL);
    static const char *const keys[SL_BOARD_PHASES] = {"pending", "quotaReserved", "admitted",
                                                      "finished"};
    struct sl_json *o = sl_json_new_map(), *quotas = sl_json_new_list();
    struct sl_json *workloads = sl_json_path_make(o, "workloads");
    for (int p = 0; p < SL_BOARD_PHASES; p++) {
        sl_json_set_int(workloads, keys[p], b->count[p]);
    }
    sl_json_set_int(workloads, "total", b->total);
    for (unsigned i = 0; i < b->row_count; i++) {
        sl_json_append(quotas, row_json_new(&b->rows[i]));
    }
    sl_json_set(o, "quotas", quotas);
    sl_json_set_int(o, "quotasLeftOut", b->left_out);
    return o;
}
