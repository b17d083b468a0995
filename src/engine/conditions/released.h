/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Releases that are not written yet. An admission may not be replaced in the object, only removed
 * and set again: where a workload reserves again before its release was written, that release is
 * still written as it was, and the reservation after it. */
#ifndef SL_ENGINE_RELEASED_H
#define SL_ENGINE_RELEASED_H
#include "engine/state.h"

/* The state of a workload when its newest release was decided. */
struct sl_released {
    struct sl_workload record;
    struct sl_words words; /* of its newest decisions then */
    uint64_t sequence;     /* of that decision */
};

/* Its release was decided just now. */
void sl_released_note(struct sl_engine *g, sl_workload_id id, uint64_t sequence);
void sl_released_drop(struct sl_workload_entry *e);

/* What a decision up to the release is about, once there is a newer reservation; else NULL: it is
 * about the live record. */
const struct sl_released *sl_released_of(const struct sl_engine *g, sl_workload_id id,
                                         uint64_t sequence);
/* The same for its write, given the live object: while that holds what was released, every decision
 * has to write the release first. */
const struct sl_released *sl_released_to_write(struct sl_engine *g, const struct sl_decision *d,
                                               const struct sl_json *workload);
/* Does the object say that it holds nothing, though the record holds quota, and is all that was
 * decided about it written and seen? Then another client has removed the reservation. */
bool sl_released_by_others(const struct sl_engine *g, sl_workload_id id,
                           const struct sl_json *workload);
/* Has another client decided about it, all of what was decided here being written? Then its object holds a reservation
 * that the record knows nothing of (perhaps the last leader's, which was on its way for long), or that of a
 * holder says that it is evicted though the record does not, or the other way round: its job does what the object says. */
bool sl_decided_by_others(const struct sl_engine *g, sl_workload_id id,
                          const struct sl_json *workload);
/* Of a reservation: the same while the decision is being carried out, which is the only one and says but that the workload waits: there is
 * nothing to write, and the object is read once that is answered. */
bool sl_reserved_meanwhile(const struct sl_engine *g, const struct sl_decision *d,
                           const struct sl_json *workload);
/* Versions of one object grow. */
uint64_t sl_released_version(const struct sl_json *workload);
/* Nothing that the engine has written since is missing in it. */
bool sl_released_is_current(const struct sl_engine *g, sl_workload_id id,
                            const struct sl_json *workload);
/* Was that which made the live object `written` only what had to come first: a release, or why it is deactivated? Then
 * the decision itself is still to be carried out, by another patch. To be asked once per write. */
bool sl_released_in_part(struct sl_engine *g, const struct sl_decision *d,
                         const struct sl_json *written);
/* The decision has been carried out. */
void sl_released_written(struct sl_engine *g, const struct sl_decision *d);
#endif
