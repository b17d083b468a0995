/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Mutation and crossover on whole events of FUZZ_EVENT bytes, for both engines: linked into the libFuzzer target,
 * and built as AFL++'s mutator library. Events are inserted, repeated, moved, dropped, or changed in one field. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t max, unsigned seed);

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return below == 0 ? 0 : (uint32_t)(random_state >> 33) % below;
}

/* Small numbers name things that exist more often than large ones. */
static uint8_t draw_byte(void)
{
    static const uint8_t odd[] = {0, 1, 2, 7, 8, 127, 128, 250, 251, 252, 253, 254, 255};
    switch (draw(4)) {
    case 0:
        return odd[draw(sizeof odd)];
    case 1:
        return (uint8_t)draw(8);
    default:
        return (uint8_t)draw(256);
    }
}

static void draw_event(uint8_t *event)
{
    for (size_t i = 0; i < FUZZ_EVENT; i++) {
        event[i] = draw_byte();
    }
}

static void change_field(uint8_t *event)
{
    uint8_t *at = event + draw(FUZZ_EVENT);
    switch (draw(4)) {
    case 0:
        *at = (uint8_t)(*at + 1);
        break;
    case 1:
        *at = (uint8_t)(*at - 1);
        break;
    case 2:
        *at ^= (uint8_t)(1u << draw(8));
        break;
    default:
        *at = draw_byte();
        break;
    }
}

/* Make room for `more` events at an event; how many there was room for. */
static size_t open_gap(uint8_t *data, size_t *count, size_t max, size_t at, size_t more)
{
    size_t fits = max - *count < more ? max - *count : more;
    memmove(data + (at + fits) * FUZZ_EVENT, data + at * FUZZ_EVENT, (*count - at) * FUZZ_EVENT);
    *count += fits;
    return fits;
}

static void insert_random(uint8_t *data, size_t *count, size_t max)
{
    size_t at = draw((uint32_t)*count + 1);
    size_t fits = open_gap(data, count, max, at, 1 + draw(3));
    for (size_t i = 0; i < fits; i++) {
        draw_event(data + (at + i) * FUZZ_EVENT);
    }
}

/* Some events once more, elsewhere. */
static void repeat_some(uint8_t *data, size_t *count, size_t max)
{
    uint8_t some[16 * FUZZ_EVENT];
    size_t from = draw((uint32_t)*count);
    size_t length = 1 + draw(16);
    length = length > *count - from ? *count - from : length;
    memcpy(some, data + from * FUZZ_EVENT, length * FUZZ_EVENT);
    size_t at = draw((uint32_t)*count + 1);
    size_t fits = open_gap(data, count, max, at, length);
    memcpy(data + at * FUZZ_EVENT, some, fits * FUZZ_EVENT);
}

static void drop_some(uint8_t *data, size_t *count)
{
    size_t at = draw((uint32_t)*count);
    size_t length = 1 + (draw(2) ? draw(16) : 0);
    length = length > *count - at ? *count - at : length;
    memmove(data + at * FUZZ_EVENT, data + (at + length) * FUZZ_EVENT,
            (*count - at - length) * FUZZ_EVENT);
    *count -= length;
}

static void swap_two(uint8_t *data, size_t count)
{
    uint8_t *a = data + draw((uint32_t)count) * FUZZ_EVENT;
    uint8_t *b = data + draw((uint32_t)count) * FUZZ_EVENT;
    for (size_t i = 0; i < FUZZ_EVENT; i++) {
        uint8_t byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

static void mutate_once(uint8_t *data, size_t *count, size_t max)
{
    uint32_t what = *count == 0 ? 0 : draw(8);
    switch (what) {
    case 0:
        insert_random(data, count, max);
        break;
    case 1:
        repeat_some(data, count, max);
        break;
    case 2:
        drop_some(data, count);
        break;
    case 3:
        swap_two(data, *count);
        break;
    default:
        change_field(data + draw((uint32_t)*count) * FUZZ_EVENT);
        break;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    size_t count = (size + FUZZ_EVENT - 1) / FUZZ_EVENT;
    size_t most = max / FUZZ_EVENT;
    if (most == 0) {
        return size;
    }
    count = count > most ? most : count;
    if (count * FUZZ_EVENT > size) {
        memset(data + size, 0, count * FUZZ_EVENT - size); /* the last event is whole */
    }
    random_state = seed;
    for (uint32_t rounds = 1 + draw(4); rounds > 0; rounds--) {
        mutate_once(data, &count, most);
    }
    return count * FUZZ_EVENT;
}

/* The beginning of one and the end of the other, or a part of one within the other. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t max, unsigned seed)
{
    random_state = seed;
    size_t a_count = a_size / FUZZ_EVENT, b_count = b_size / FUZZ_EVENT, most = max / FUZZ_EVENT;
    size_t head = draw((uint32_t)a_count + 1), from = draw((uint32_t)b_count + 1);
    size_t length = draw(2) ? b_count - from : draw((uint32_t)(b_count - from) + 1);
    size_t tail = draw(2) ? a_count - head : 0;
    head = head > most ? most : head;
    length = length > most - head ? most - head : length;
    tail = tail > most - head - length ? most - head - length : tail;
    memcpy(out, a, head * FUZZ_EVENT);
    memcpy(out + head * FUZZ_EVENT, b + from * FUZZ_EVENT, length * FUZZ_EVENT);
    memcpy(out + (head + length) * FUZZ_EVENT, a + (a_count - tail) * FUZZ_EVENT,
           tail * FUZZ_EVENT);
    return (head + length + tail) * FUZZ_EVENT;
}

#ifdef FUZZ_AFL_LIBRARY
static uint8_t *afl_out;
static size_t afl_room;
static unsigned afl_seed;

void *afl_custom_init(void *afl, unsigned seed);
size_t afl_custom_fuzz(void *context, uint8_t *buffer, size_t size, uint8_t **out,
                       const uint8_t *other, size_t other_size, size_t max);
void afl_custom_deinit(void *context);

void *afl_custom_init(void *afl, unsigned seed)
{
    (void)afl;
    afl_seed = seed;
    return &afl_seed; /* it asks for some address */
}

size_t afl_custom_fuzz(void *context, uint8_t *buffer, size_t size, uint8_t **out,
                       const uint8_t *other, size_t other_size, size_t max)
{
    (void)context;
    size_t need = max + FUZZ_EVENT;
    if (need > afl_room) {
        afl_out = realloc(afl_out, need);
        afl_room = need;
    }
    if (afl_out == NULL) {
        abort();
    }
    size_t taken = size > max ? max : size;
    memcpy(afl_out, buffer, taken);
    if (other != NULL && afl_seed % 4 == 0) {
        taken =
            LLVMFuzzerCustomCrossOver(buffer, size, other, other_size, afl_out, max, ++afl_seed);
    }
    *out = afl_out;
    return LLVMFuzzerCustomMutator(afl_out, taken, max, ++afl_seed);
}

void afl_custom_deinit(void *context)
{
    (void)context;
    free(afl_out);
}
#endif
