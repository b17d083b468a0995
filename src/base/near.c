/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "base/near.h"
#include "base/check.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define LEN_MAX 63u
#define DISTANCE_MAX 3u

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The optimal string alignment distance, row by row; three rows are kept. */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    unsigned rows[3][LEN_MAX + 1];
    for (unsigned j = 0; j <= b_len; j++) {
        rows[0][j] = j;
    }
    for (unsigned i = 1; i <= a_len; i++) {
        unsigned *now = rows[i % 3];
        const unsigned *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (unsigned j = 1; j <= b_len; j++) {
            unsigned changed = last[j - 1] + !same(a[i - 1], b[j - 1]);
            now[j] = least(changed, least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
                now[j] = least(now[j], before[j - 2] + 1);
            }
        }
    }
    return rows[a_len % 3][b_len];
}

void sl_near_start(struct sl_near *n, const char *word)
{
    SL_PRE(n != NULL && word != NULL);
    *n = (struct sl_near){.word = word};
}

/* One letter in three may be wrong. */
void sl_near_try(struct sl_near *n, const char *candidate)
{
    SL_PRE(candidate != NULL);
    size_t len = strlen(n->word), other_len = strlen(candidate);
    if (len == 0 || len > LEN_MAX || other_len == 0 || other_len > LEN_MAX) {
        return;
    }
    unsigned d = distance(n->word, len, candidate, other_len);
    bool near = d <= DISTANCE_MAX && 3 * d <= len;
    if (near && (n->best == NULL || d < n->distance)) {
        n->best = candidate;
        n->distance = d;
    }
}

void sl_near_print(const struct sl_near *n, struct sl_buf *out)
{
    SL_PRE(n != NULL);
    if (n->best != NULL) {
        sl_buf_print(out, "; did you mean %s?", n->best);
    }
}
