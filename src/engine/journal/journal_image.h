/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An image of the core: all of its state, as bytes for the journal, and back (docs/decisions/0018).
 * The state is the variables of kernel and policy; they hold numbers and ids, no addresses. Images
 * are cut into parts of at most SL_JOURNAL_RECORD_MAX bytes. */
#ifndef SL_ENGINE_JOURNAL_IMAGE_H
#define SL_ENGINE_JOURNAL_IMAGE_H
#include "base/buf.h"
#include <stdbool.h>
#include <stdint.h>

/* Made by journal_core.sh when the program is built: every variable of the core, by name of file and
 * variable. */
struct sl_core_span {
    unsigned char *at;
    uint64_t size;
    bool initialised; /* not with zeros */
};
extern const struct sl_core_span sl_core_spans[];
extern const uint32_t sl_core_span_count;
/* Of the core's text and of names and sizes in the table: with another one an image means something
 * else. */
extern const char sl_core_digest[];

#define SL_IMAGE_DIGEST_SIZE 16u

struct sl_image_part {
    uint32_t number; /* from 0 */
    bool last;
    uint64_t cycle; /* how many there had been since the start */
    char digest[SL_IMAGE_DIGEST_SIZE + 1];
};

/* --- taking one ------------------------------------------------------------------------------- */
struct sl_image_taker { /* where it goes on, and which pages were touched, as the kernel says */
    uint64_t cycle;
    uint32_t number, span;
    uint64_t block;
    int pages;
    uint64_t page_size, page, page_count, flags[512];
};
void sl_image_begin(struct sl_image_taker *t, uint64_t cycle);
/* The next part, in place of what `out` held. True: there are more. */
bool sl_image_take(struct sl_image_taker *t, struct sl_buf *out);
void sl_image_end(struct sl_image_taker *t);

/* --- putting one into an untouched core -------------------------------------------------------- */
/* What a part says of itself; false: it is none. */
bool sl_image_look(const unsigned char *payload, size_t len, struct sl_image_part *out);
/* Its bytes, into the core; of an image of this very core. False: some do not belong there. */
bool sl_image_put(const unsigned char *payload, size_t len);
#endif
