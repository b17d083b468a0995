/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Samples of a page of metrics. */
#include "cli/screen/samples.h"
#include "base/check.h"
#include <stddef.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#define BUCKETS_MAX 64u

/* What follows a name in a line: its labels ("" = none), and the value. False: it is not that series'. */
static bool read_line(const char *line, const char *name, const char **labels, double *value)
{
    size_t len = strlen(name);
    if (strncmp(line, name, len) != 0 || (line[len] != '{' && line[len] != ' ')) {
        return false;
    }
    const char *end = line + strcspn(line, "\n"), *space = end;
    while (space > line && *space != ' ') {
        space--;
    }
    *labels = line[len] == '{' ? line + len : "";
    *value = strtod(space, NULL);
    return true;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line == '\n' ? line + 1 : line;
}

bool sl_samples_sum(const char *page, const char *name, double *out)
{
    SL_PRE(page != NULL && name != NULL);
    bool any = false;
    *out = 0;
    for (const char *line = page; *line != '\0'; line = next_line(line)) {
        const char *labels;
        double value;
        if (read_line(line, name, &labels, &value)) {
            *out += value;
            any = true;
        }
    }
    return any;
}

/* --- histograms ---------------------------------------------------------------------------------------- */

struct bucket {
    double limit, count; /* count: of all that are not above the limit */
    bool infinite;
};
struct buckets {
    struct bucket items[BUCKETS_MAX];
    size_t count;
};

/* In ascending order. */
static void add(struct buckets *b, double limit, bool infinite, double count)
{
    size_t at = 0;
    while (at < b->count && (infinite ? !b->items[at].infinite
                                      : !b->items[at].infinite && b->items[at].limit < limit)) {
        at++;
    }
    bool same = at < b->count && b->items[at].infinite == infinite &&
                (infinite || !(b->items[at].limit > limit));
    if (same) {
        b->items[at].count += count;
    } else if (b->count < BUCKETS_MAX) {
        memmove(b->items + at + 1, b->items + at, (b->count - at) * sizeof b->items[0]);
        b->items[at] = (struct bucket){limit, count, infinite};
        b->count++;
    }
}

/* The value of the label le, and not of one whose name ends so. */
static const char *limit_of(const char *labels)
{
    for (const char *at = labels; *at != '\0' && *at != '\n'; at++) {
        if ((*at == '{' || *at == ',') && strncmp(at + 1, "le=\"", 4) == 0) {
            return at + 5;
        }
    }
    return NULL;
}

static void read_buckets(const char *page, const char *name, struct buckets *b)
{
    char full[256];
    SL_PRE(strlen(name) + sizeof "_bucket" <= sizeof full);
    (void)snprintf(full, sizeof full, "%s_bucket", name);
    for (const char *line = page; *line != '\0'; line = next_line(line)) {
        const char *labels;
        double count;
        if (!read_line(line, full, &labels, &count)) {
            continue;
        }
        const char *limit = limit_of(labels);
        if (limit != NULL) {
            bool infinite = strncmp(limit, "+Inf", 4) == 0;
            add(b, infinite ? 0 : strtod(limit, NULL), infinite, count);
        }
    }
}

bool sl_samples_quantile(const char *page, const char *name, double quantile, double *out,
                         bool *beyond)
{
    SL_PRE(page != NULL && name != NULL && out != NULL && beyond != NULL);
    struct buckets b = {.count = 0};
    read_buckets(page, name, &b);
    double total = b.count == 0 ? 0 : b.items[b.count - 1].count;
    double rank = quantile * total, below = 0, from = 0;
    if (!(total > 0)) {
        return false;
    }
    size_t at = 0;
    while (at + 1 < b.count && b.items[at].count < rank) {
        below = b.items[at].count;
        from = b.items[at].limit;
        at++;
    }
    const struct bucket *found = &b.items[at];
    *beyond = found->infinite;
    double width = found->limit - from, inside = found->count - below;
    *out = found->infinite ? from : inside > 0 ? from + width * (rank - below) / inside : from;
    return true;
}
