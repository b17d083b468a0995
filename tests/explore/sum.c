/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "base/clock.h"
#include "tests/explore/cluster.h"
#include "tests/explore/state.h"
#include <stdlib.h>
#include <string.h>

#define NEAR_MS (1LL << 33) /* whatever lies no farther from now is a time */
enum { BEHIND_MAX = 3, STAMP = 20 };

static void mix(struct sum *s, uint32_t where, uint64_t word)
{
    uint64_t x = s->hash ^ (word + 0x9e3779b97f4a7c15u * (where + 1u));
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    s->hash = x * 0xd6e8feb86659fd93u;
}

void sum_number(struct sum *s, uint32_t where, uint32_t group, uint64_t n, bool aged)
{
    if (s->count == SUM_NUMBERS) {
        broken("more numbers in a state than the explorer has room for");
    }
    s->numbers[s->count++] =
        (struct sum_number){.where = where, .group = group, .n = n, .aged = aged};
}

static bool is_time(const struct sum *s, uint64_t word)
{
    int64_t ms = (int64_t)word;
    return ms > s->now_ms - NEAR_MS && ms < s->now_ms + NEAR_MS;
}

void sum_word(struct sum *s, uint32_t where, uint64_t word)
{
    if (is_time(s, word)) {
        sum_number(s, where, 0, word, false);
    } else if (word != 0) {
        mix(s, where, word);
    }
}

void sum_bytes(struct sum *s, uint32_t where, const void *at, size_t size)
{
    const unsigned char *bytes = at;
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        if (word != 0) {
            sum_word(s, where + (uint32_t)i, word);
        }
    }
    for (; i < size; i++) {
        if (bytes[i] != 0) {
            mix(s, where + (uint32_t)i, bytes[i]);
        }
    }
}

/* --- texts -------------------------------------------------------------------------------------- */

static bool is_stamp(const char *t)
{
    return t[0] == '2' && strlen(t) >= STAMP && t[4] == '-' && t[10] == 'T' && t[19] == 'Z';
}

static size_t length_of_version(const char *t)
{
    static const char key[] = "\"resourceVersion\":\"";
    return strncmp(t, key, sizeof key - 1) != 0
               ? 0
               : sizeof key - 1 + strspn(t + sizeof key - 1, "0123456789");
}

void sum_text(struct sum *s, uint32_t where, const char *text)
{
    for (const char *t = text; *t != '\0'; t++) {
        char stamp[STAMP + 1] = {0};
        if (*t == '"') {
            t += length_of_version(t);
        }
        if (is_stamp(t)) {
            memcpy(stamp, t, STAMP);
            sum_number(s, where + (uint32_t)(t - text), 0, (uint64_t)sl_clock_parse(stamp), false);
            t += STAMP - 1;
        } else {
            mix(s, where, (unsigned char)*t);
        }
    }
}

/* --- numbers ------------------------------------------------------------------------------------ */

static int by_group(const void *a, const void *b)
{
    const struct sum_number *x = a, *y = b;
    return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
                                : (x->n > y->n) - (x->n < y->n);
}

/* Of a group, sorted: what stands for each of its numbers. Their places come in no order, so that they are added up. */
static uint64_t sum_of_group(const struct sum *s, const struct sum_number *first, uint32_t count)
{
    uint64_t total = 0;
    uint64_t rank = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct sum_number *m = &first[i];
        uint64_t behind = first[count - 1].n - m->n;
        struct sum one = {.hash = m->group};
        rank += i > 0 && m->n != first[i - 1].n ? 1 : 0;
        uint64_t value = m->aged ? (behind < BEHIND_MAX ? behind : BEHIND_MAX) : rank;
        if (m->group == 0 && (int64_t)m->n > s->now_ms) {
            value = (1ULL << 40) + m->n - (uint64_t)s->now_ms;
        }
        mix(&one, m->where, value);
        total += one.hash;
    }
    return total;
}

uint64_t sum_end(struct sum *s)
{
    qsort(s->numbers, s->count, sizeof s->numbers[0], by_group);
    for (uint32_t first = 0, end = 0; first < s->count; first = end) {
        while (end < s->count && s->numbers[end].group == s->numbers[first].group) {
            end++;
        }
        mix(s, s->numbers[first].group, sum_of_group(s, &s->numbers[first], end - first));
    }
    return s->hash;
}
