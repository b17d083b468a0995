/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The names of a journal's ids, from its name records. Owns the texts. */
#ifndef SL_ENGINE_JOURNAL_NAMES_H
#define SL_ENGINE_JOURNAL_NAMES_H
#include "base/buf.h"
#include "engine/journal/intern.h"
#include <stddef.h>

struct sl_journal_names {
    struct {
        char **items;
        uint32_t cap;
    } of[SL_INTERN_CLASS_COUNT];
};

/* What a name record says. */
void sl_journal_name_pack(struct sl_buf *out, enum sl_intern_class c, uint32_t id,
                          const char *name);
/* A name record; an id that was given out again has its new name from here on. False: it is none. */
bool sl_journal_name_add(struct sl_journal_names *n, const unsigned char *payload, size_t len);
/* The name, without "cq/" or "cohort/"; "?" for one that the journal does not know. */
const char *sl_journal_name(const struct sl_journal_names *n, enum sl_intern_class c, uint32_t id);
void sl_journal_names_fini(struct sl_journal_names *n);
#endif
