/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The names of a journal: the names of its ids, from its name records. Owns the texts. */
#ifndef SL_ENGINE_ROLL_H
#define SL_ENGINE_ROLL_H
#include "base/buf.h"
#include "engine/journal/intern.h"
#include <stddef.h>

struct sl_roll {
    struct {
        char **items;
        size_t count;
    } of[SL_INTERN_CLASS_COUNT];
};

/* What a name record says. */
void sl_roll_pack(struct sl_buf *out, enum sl_intern_class c, uint32_t id, const char *name);
/* A name record; an id that was given out again has its new name from here on. False: it is none. */
bool sl_roll_add(struct sl_roll *r, const unsigned char *payload, size_t len);
/* The name, without "cq/" or "cohort/"; "?" for one that the journal does not know. */
const char *sl_roll_name(const struct sl_roll *r, enum sl_intern_class c, uint32_t id);
void sl_roll_fini(struct sl_roll *r);
#endif
