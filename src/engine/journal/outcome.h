/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a cycle decided about one of its heads, as bytes of the journal: a replay has to come to the
 * same ones. */
#ifndef SL_ENGINE_OUTCOME_H
#define SL_ENGINE_OUTCOME_H
#include "base/buf.h"
#include "engine/journal/journal_names.h"
#include <stdbool.h>
#include <stddef.h>

/* From sl_cycle_outcome and what belongs to it, right after sl_cycle_next. */
void sl_outcome_pack(struct sl_buf *out);

/* In words, with names of the journal: what, why, with which flavors, which workloads it evicts.
 * False when the bytes are not an outcome; the part that could be read is there. */
bool sl_outcome_print(const void *payload, size_t len, const struct sl_journal_names *names,
                      struct sl_buf *out);
#endif
