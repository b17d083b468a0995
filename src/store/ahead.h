/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the store's clients in this process get, and when: events and answers after a commit, or ahead of it. */
#ifndef SL_STORE_AHEAD_H
#define SL_STORE_AHEAD_H
#include "store/store.h"

#define SL_STORE_CALM_MS 60000 /* what is read again then may be large: once a minute at most */

struct sl_store_reply;
struct sl_store_ahead {
    sl_store_again_fn *again; /* NULL: nothing is delivered before it is durable */
    void *context;
    bool delivered;  /* something of the batch that is open: the inside is ahead of the files */
    bool delivering; /* now; nothing is committed meanwhile */
    bool losing;     /* writes are refused: those who ask for them are about to begin again */
    int64_t calm_ms; /* until then nothing is delivered ahead: a commit has failed */
};

/* --- events.c -------------------------------------------------------------------------------- */
/* Delivers up to that revision, staged ones too. */
void sl_events_publish(struct sl_store *s, uint64_t revision);
void sl_events_forget_lost(struct sl_store *s); /* all watches begin again */

/* --- client.c -------------------------------------------------------------------------------- */
/* The writes that wait for an answer, and their answers: OK, or the error by which what they staged is lost. */
struct sl_replies {
    struct sl_store_reply *at;
    size_t count;
};
struct sl_replies sl_client_take(struct sl_store *s);
void sl_client_answer(struct sl_replies replies, enum sl_code code, const struct sl_error *e);
bool sl_client_is_late(const struct sl_store *s); /* is there something to try again now? */
void sl_client_try_late(struct sl_store *s);

/* --- ahead.c --------------------------------------------------------------------------------- */
/* The batch is lost, and some of it was delivered: all writes that were asked for are refused, and all who use the client
 * interface begin again. */
void sl_ahead_lose(struct sl_store *s, struct sl_replies replies, const struct sl_error *e);
void sl_ahead_wake(struct sl_store *s); /* something was staged that can be delivered */
#endif
