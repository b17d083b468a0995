/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Images, block by block: blocks of zeros are left out, of the others the bytes that are zero. Most
 * of the core was never touched; pages that the kernel has not given us yet are not even looked at.
 */
#include "engine/journal/journal_image.h"
#include "base/check.h"
#include "engine/journal/journal.h"
#include "engine/journal/pack.h"
#include <fcntl.h>
#include <unistd.h>

#define BLOCK 4096u
#define BLOCK_WORDS (BLOCK / 8u)
#define LOOK_UP_MIN (64u * 1024u) /* smaller variables are looked at without asking the kernel */
#define LAST_AT 4u                /* of a part, where it says whether it is the last */
#define NO_FILE (-1)
/* A block at its longest: where it is, and for each word a byte that says which bytes follow. */
#define PACKED_MAX (6u + BLOCK_WORDS * 9u + 1u)

/* --- blocks ------------------------------------------------------------------------------------ */

/* The bytes of a block that is not all zeros, behind its place: for each word (of 8 bytes, little
 * end first) a byte whose bits say which of the word's bytes are not zero, and these; behind a byte
 * of no bits, how many more words of zeros follow. */
static size_t pack_words(const uint64_t *words, size_t count, unsigned char *out)
{
    unsigned char *at = out;
    for (size_t i = 0; i < count; i++) {
        uint64_t word = words[i];
        unsigned char *bits = at++;
        *bits = 0;
        if (word == 0) {
            size_t more = 0;
            while (more < 255 && i + 1 < count && words[i + 1] == 0) {
                more++;
                i++;
            }
            *at++ = (unsigned char)more;
            continue;
        }
        for (unsigned b = 0; b < 8; b++, word >>= 8u) {
            if ((word & 0xffu) != 0) {
                *bits = (unsigned char)(*bits | 1u << b);
                *at++ = (unsigned char)word;
            }
        }
    }
    return (size_t)(at - out);
}

static uint64_t unpack_word(struct unpack *u, uint8_t bits)
{
    uint64_t word = 0;
    for (unsigned b = 0; b < 8; b++) {
        if ((bits & 1u << b) != 0) {
            word |= (uint64_t)unpack_u8(u) << (8u * b);
        }
    }
    return word;
}

static bool unpack_words(struct unpack *u, uint64_t *words, size_t count)
{
    size_t i = 0;
    while (i < count && !u->failed) {
        uint8_t bits = unpack_u8(u);
        size_t zeros = bits == 0 ? 1u + unpack_u8(u) : 0;
        if (zeros > count - i) {
            return false;
        }
        if (bits != 0) {
            words[i++] = unpack_word(u, bits);
        }
        for (; zeros > 0; zeros--) {
            words[i++] = 0;
        }
    }
    return !u->failed;
}

static size_t block_size(const struct sl_core_span *s, uint64_t block)
{
    uint64_t left = s->size - block * BLOCK;
    return left < BLOCK ? (size_t)left : BLOCK;
}

static uint64_t block_count(const struct sl_core_span *s)
{
    return (s->size + BLOCK - 1) / BLOCK;
}

static bool all_zero(const uint64_t *words)
{
    uint64_t any = 0;
    for (size_t i = 0; i < BLOCK_WORDS; i++) {
        any |= words[i];
    }
    return any == 0;
}

static void take_block(uint32_t span, uint64_t block, struct sl_buf *out)
{
    const struct sl_core_span *s = &sl_core_spans[span];
    uint64_t words[BLOCK_WORDS];
    unsigned char packed[PACKED_MAX];
    size_t size = block_size(s, block);
    if (size < BLOCK) {
        memset(words, 0, sizeof words);
    }
    memcpy(words, s->at + block * BLOCK, size);
    if (s->initialised || !all_zero(words)) {
        pack_u16(out, (uint16_t)span);
        pack_u32(out, (uint32_t)block);
        sl_buf_add(out, (const char *)packed, pack_words(words, (size + 7) / 8, packed));
    }
}

/* --- untouched pages ---------------------------------------------------------------------------- */

#define PAGE_THERE (3ULL << 62) /* in memory, or swapped out */

/* Was this page ever written to? Without the kernel's answer: perhaps. */
static bool page_touched(struct sl_image_taker *t, uint64_t page)
{
    if (page < t->page || page - t->page >= t->page_count) {
        ssize_t got = pread(t->pages, t->flags, sizeof t->flags, (off_t)(page * 8));
        t->page = page;
        t->page_count = got < 8 ? 0 : (uint64_t)got / 8;
    }
    return t->page_count == 0 || (t->flags[page - t->page] & PAGE_THERE) != 0;
}

static bool block_touched(struct sl_image_taker *t, const struct sl_core_span *s, uint64_t block)
{
    if (s->size < LOOK_UP_MIN || s->initialised || t->pages == NO_FILE) {
        return true;
    }
    uint64_t at = (uint64_t)(uintptr_t)s->at + block * BLOCK;
    uint64_t last = at + block_size(s, block) - 1;
    for (uint64_t page = at / t->page_size; page <= last / t->page_size; page++) {
        if (page_touched(t, page)) {
            return true;
        }
    }
    return false;
}

/* --- taking ------------------------------------------------------------------------------------- */

void sl_image_begin(struct sl_image_taker *t, uint64_t cycle)
{
    SL_PRE(t != NULL);
    *t = (struct sl_image_taker){.cycle = cycle, .page_size = (uint64_t)sysconf(_SC_PAGESIZE)};
    t->pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

static void begin_part(struct sl_image_taker *t, struct sl_buf *out)
{
    sl_buf_reset(out);
    pack_u32(out, t->number++);
    pack_u8(out, 0);
    pack_u64(out, t->cycle);
    SL_PRE(strlen(sl_core_digest) == SL_IMAGE_DIGEST_SIZE);
    sl_buf_add(out, sl_core_digest, SL_IMAGE_DIGEST_SIZE);
}

bool sl_image_take(struct sl_image_taker *t, struct sl_buf *out)
{
    SL_PRE(t != NULL);
    begin_part(t, out);
    for (; t->span < sl_core_span_count; t->span++, t->block = 0) {
        const struct sl_core_span *s = &sl_core_spans[t->span];
        for (; t->block < block_count(s); t->block++) {
            if (out->len + PACKED_MAX > SL_JOURNAL_RECORD_MAX) {
                return true;
            }
            if (block_touched(t, s, t->block)) {
                take_block(t->span, t->block, out);
            }
        }
    }
    out->data[LAST_AT] = 1;
    return false;
}

void sl_image_end(struct sl_image_taker *t)
{
    SL_PRE(t != NULL);
    if (t->pages != NO_FILE) {
        (void)close(t->pages);
        t->pages = NO_FILE;
    }
}

/* --- putting ------------------------------------------------------------------------------------ */

static bool look(struct unpack *u, struct sl_image_part *out)
{
    out->number = unpack_u32(u);
    uint8_t last = unpack_u8(u);
    out->last = last != 0;
    out->cycle = unpack_u64(u);
    if (u->failed || last > 1 || (size_t)(u->end - u->at) < SL_IMAGE_DIGEST_SIZE) {
        return false;
    }
    memcpy(out->digest, u->at, SL_IMAGE_DIGEST_SIZE);
    out->digest[SL_IMAGE_DIGEST_SIZE] = '\0';
    u->at += SL_IMAGE_DIGEST_SIZE;
    return strspn(out->digest, "0123456789abcdef") == SL_IMAGE_DIGEST_SIZE;
}

bool sl_image_look(const unsigned char *payload, size_t len, struct sl_image_part *out)
{
    struct unpack u = {payload, payload + len, false};
    return look(&u, out);
}

struct block {
    uint32_t span;
    uint64_t number;
    uint64_t words[BLOCK_WORDS];
};

static bool unpack_block(struct unpack *u, struct block *out)
{
    out->span = unpack_u16(u);
    out->number = unpack_u32(u);
    if (u->failed || out->span >= sl_core_span_count ||
        out->number >= block_count(&sl_core_spans[out->span])) {
        return false;
    }
    size_t size = block_size(&sl_core_spans[out->span], out->number);
    return unpack_words(u, out->words, (size + 7) / 8);
}

bool sl_image_put(const unsigned char *payload, size_t len)
{
    struct unpack u = {payload, payload + len, false};
    struct sl_image_part part;
    struct block b;
    bool good = look(&u, &part);
    while (good && u.at < u.end) {
        good = unpack_block(&u, &b);
        if (good) {
            const struct sl_core_span *s = &sl_core_spans[b.span];
            memcpy(s->at + b.number * BLOCK, b.words, block_size(s, b.number));
        }
    }
    return good;
}
