/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The one door to the core: each way in which its state changes is a call of calls.def, carried out
 * here and noted in the journal with its answer. Made again in the same order, the same calls make
 * the same state and the same answers (G11). */
#ifndef SL_ENGINE_CALLS_CALL_H
#define SL_ENGINE_CALLS_CALL_H
#include "base/buf.h"
#include "engine/calls/fields.h"
#include "engine/calls/item.h"
#include "engine/journal/journal_names.h"
#include "kernel/base/order.h"
#include "kernel/preempt/preempt.h"
#include "kernel/base/status.h"
#include "kernel/commit/transition.h"
#include "kernel/topology/topology.h"
#include "policy/requests/offers.h"
#include "policy/common/settings.h"
#include "policy/topology/trees.h"
#include "policy/fair/usage.h"

enum sl_call_kind {
#define SL_CALL(name, fields, does) SL_CALL_##name,
#include "engine/calls/calls.def"
    SL_CALL_KIND_COUNT
};

#define FIELD(type, name) type name;
#define VALUE(type, name, how) type name;
#define LIST(name) const struct sl_buf *name; /* items of items.def; NULL = none */
#define SL_CALL(name, fields, does)                                                                \
    struct sl_call_##name {                                                                        \
        fields                                                                                     \
    };
#include "engine/calls/calls.def"
#undef FIELD
#undef VALUE
#undef LIST

struct sl_call {
    enum sl_call_kind kind;
    union {
#define SL_CALL(name, fields, does) struct sl_call_##name name;
#include "engine/calls/calls.def"
    };
};

struct sl_engine;
/* Make a call: carry it out, note it, and draw what follows for tallies and decisions. A refusal is
 * noted and counted too; the caller says what it means. sl_call(g, now_ms, move_qnode, .node = n). */
#define sl_call(g, now_ms, name, ...)                                                              \
    sl_call_make((g), &(struct sl_call){.kind = SL_CALL_##name, .name = {__VA_ARGS__}}, (now_ms))
enum sl_status sl_call_make(struct sl_engine *g, struct sl_call *c, int64_t now_ms) SL_MUST_CHECK;

/* The same where the core cannot refuse; only the names of SL_TELL do. */
enum {
#define SL_CALL(name, fields, does)
#define SL_TELL(name, fields, does) SL_TELL_##name = SL_CALL_##name,
#include "engine/calls/calls.def"
};
#define sl_tell(g, now_ms, name, ...)                                                              \
    (void)sl_call_expect(                                                                          \
        (g), &(struct sl_call){.kind = (enum sl_call_kind)SL_TELL_##name, .name = {__VA_ARGS__}},  \
        (now_ms))
/* The same where a refusal would be a defect: the log says so, and the state stays as it was; with
 * settings.paranoid the process ends. */
#define sl_expect(g, now_ms, name, ...)                                                            \
    sl_call_expect((g), &(struct sl_call){.kind = SL_CALL_##name, .name = {__VA_ARGS__}}, (now_ms))
/* Whether it was carried out. */
bool sl_call_expect(struct sl_engine *g, struct sl_call *c, int64_t now_ms);
/* The same of an event of a workload as it is now: sl_send(g, id, now_ms, .kind = SL_EV_GATE). */
#define sl_send(g, id, at, ...)                                                                    \
    sl_send_event((g), (id), (struct sl_event){.now_ms = (at), __VA_ARGS__})
bool sl_send_event(struct sl_engine *g, sl_workload_id id, struct sl_event ev);

/* The workload whose record or queue the call may change; SL_NO_ID = none. */
sl_workload_id sl_call_subject(const struct sl_call *c);

/* Note a cycle and begin it; sl_cycle_next and sl_cycle_end do the rest. */
void sl_call_cycle(struct sl_engine *g, const struct sl_call_cycle *v);

/* Carry out only: what a replay does with the calls of a journal. The status is the answer; those
 * that move a workload's record say how, too. */
struct sl_transition sl_call_carry_out(struct sl_call *c) SL_MUST_CHECK;
void sl_call_begin_cycle(const struct sl_call_cycle *v);

/* --- record.c: as bytes of the journal, and in words ------------------------------------------ */
void sl_call_pack(struct sl_buf *out, const struct sl_call *c, enum sl_status answer);
/* False when the bytes are no call. A list is copied into `list`, which the call then lends. */
bool sl_call_unpack(const unsigned char *payload, size_t len, struct sl_call *out,
                    struct sl_buf *list, enum sl_status *answer);
/* Its name and its fields, ids by the names that the journal has for them. */
void sl_call_print(struct sl_buf *out, const struct sl_call *c,
                   const struct sl_journal_names *names);
const char *sl_call_name(enum sl_call_kind kind);
#endif
