/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Numbers and texts as little-endian bytes, for the journal. Reading never runs past the end: a
 * reader that is asked for more than there is answers zero and remembers that it failed. */
#ifndef SL_ENGINE_PACK_H
#define SL_ENGINE_PACK_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void pack_number(struct sl_buf *b, uint64_t value, unsigned bytes)
{
    char out[8];
    for (unsigned i = 0; i < bytes; i++) {
        out[i] = (char)(unsigned char)(value >> (8u * i));
    }
    sl_buf_add(b, out, bytes);
}

static inline void pack_u8(struct sl_buf *b, uint8_t v)
{
    pack_number(b, v, 1);
}

static inline void pack_u16(struct sl_buf *b, uint16_t v)
{
    pack_number(b, v, 2);
}

static inline void pack_u32(struct sl_buf *b, uint32_t v)
{
    pack_number(b, v, 4);
}

static inline void pack_u64(struct sl_buf *b, uint64_t v)
{
    pack_number(b, v, 8);
}

static inline void pack_i64(struct sl_buf *b, int64_t v)
{
    pack_number(b, (uint64_t)v, 8);
}

/* u32 length, then the bytes without a NUL. */
static inline void pack_text(struct sl_buf *b, const char *text)
{
    size_t len = strlen(text);
    pack_u32(b, (uint32_t)len);
    sl_buf_add(b, text, len);
}

struct unpack {
    const unsigned char *at;
    const unsigned char *end;
    bool failed;
};

static inline uint64_t unpack_number(struct unpack *u, unsigned bytes)
{
    if ((size_t)(u->end - u->at) < bytes) {
        u->failed = true;
        u->at = u->end;
        return 0;
    }
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) {
        value |= (uint64_t)u->at[i] << (8u * i);
    }
    u->at += bytes;
    return value;
}

static inline uint8_t unpack_u8(struct unpack *u)
{
    return (uint8_t)unpack_number(u, 1);
}

static inline uint16_t unpack_u16(struct unpack *u)
{
    return (uint16_t)unpack_number(u, 2);
}

static inline uint32_t unpack_u32(struct unpack *u)
{
    return (uint32_t)unpack_number(u, 4);
}

static inline uint64_t unpack_u64(struct unpack *u)
{
    return unpack_number(u, 8);
}

static inline int64_t unpack_i64(struct unpack *u)
{
    return (int64_t)unpack_number(u, 8);
}

/* Lends the bytes (not NUL-terminated); *len is 0 when it failed. */
static inline const char *unpack_text(struct unpack *u, size_t *len)
{
    uint32_t n = unpack_u32(u);
    if (u->failed || (size_t)(u->end - u->at) < n) {
        u->failed = true;
        u->at = u->end;
        *len = 0;
        return "";
    }
    const char *text = (const char *)u->at;
    u->at += n;
    *len = n;
    return text;
}
#endif
