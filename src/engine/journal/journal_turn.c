/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Images of the running core into its journal. */
#include "engine/journal/journal_turn.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/journal/journal_image.h"
#include "engine/journal/journal_names.h"
#include "engine/state.h"

static void note_image(struct sl_engine *g, int64_t now_ms)
{
    struct sl_image_taker taker;
    struct sl_buf part = {0};
    bool more = true;
    sl_image_begin(&taker, g->cycle);
    while (more) {
        more = sl_image_take(&taker, &part);
        (void)sl_journal_append(g->journal, SL_JOURNAL_IMAGE, now_ms, &part);
        more = sl_journal_flush(g->journal) && more;
    }
    sl_image_end(&taker);
    sl_buf_fini(&part);
}

static void note_names(struct sl_engine *g, int64_t now_ms)
{
    struct sl_buf payload = {0};
    for (unsigned c = 0; c < SL_INTERN_CLASS_COUNT; c++) {
        enum sl_intern_class class = (enum sl_intern_class)c;
        uint32_t left = sl_intern_count(g->names, class);
        for (uint32_t id = 0; left > 0; id++) {
            const char *name = sl_intern_name(g->names, class, id);
            if (name != NULL) {
                left--;
                sl_buf_reset(&payload);
                sl_journal_name_pack(&payload, class, id, name);
                (void)sl_journal_append(g->journal, SL_JOURNAL_NAME, now_ms, &payload);
            }
        }
    }
    sl_buf_fini(&payload);
}

static void take_image(struct sl_engine *g, int64_t now_ms)
{
    struct sl_error e = {0};
    int64_t begin_us = sl_clock_monotonic_us();
    if (sl_journal_begin_image(g->journal, now_ms, &e) != SL_CODE_OK) {
        sl_log(SL_LOG_WARN, "journal not rotated, tried again later", "error", e.text, NULL);
        return;
    }
    note_image(g, now_ms);
    note_names(g, now_ms);
    if (!sl_journal_end_image(g->journal)) {
        sl_log(SL_LOG_WARN, "no image of the core in the journal, tried again later", NULL);
        return;
    }
    sl_log(SL_LOG_INFO, "image of the core in the journal", "sequence",
           sl_log_number((long long)sl_journal_sequence(g->journal)), "bytes",
           sl_log_number((long long)sl_journal_image_bytes(g->journal)), "us",
           sl_log_number(sl_clock_monotonic_us() - begin_us), NULL);
}

void sl_journal_end_turn(struct sl_engine *g, int64_t now_ms)
{
    SL_PRE(g != NULL);
    if (sl_journal_flush(g->journal) && sl_journal_wants_image(g->journal, now_ms)) {
        take_image(g, now_ms);
    }
}
