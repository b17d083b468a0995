/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* LocalQueues as accounts of admission fair sharing: what each has used lately is sampled from time
 * to time, kept in its status, and taken over from there after a restart. Where the settings say
 * nothing of it there are no accounts. Owns which account a LocalQueue has. */
#ifndef SL_ENGINE_ACCOUNTS_H
#define SL_ENGINE_ACCOUNTS_H
#include "engine/state.h"

/* How usage is remembered and weighed, for policy; before any object is seen. */
void sl_accounts_configure(struct sl_engine *g);
void sl_accounts_fini(struct sl_engine *g); /* the next engine may weigh otherwise */
/* The LocalQueue's object was seen: its account, made with what its status remembers, and weight.
 * INVALID with a cause when the weight is no quantity of zero or more. */
enum sl_code sl_accounts_take(struct sl_engine *g, struct sl_local_queue *q,
                              const struct sl_json *object, int64_t now_ms, struct sl_error *e);
/* The LocalQueue is forgotten, and its account with it. */
void sl_accounts_drop(struct sl_engine *g, struct sl_local_queue *q, int64_t now_ms);
/* The workload counts for its LocalQueue's account; to be called before it is attached. */
void sl_accounts_assign(struct sl_engine *g, sl_workload_id id, int64_t now_ms);
/* Sample all accounts, and arm the timer for the next time. */
void sl_accounts_sample(struct sl_engine *g, int64_t now_ms);
/* status.fairSharing of the LocalQueue, a new object; NULL when it has no account. */
struct sl_json *sl_accounts_status_new(const struct sl_engine *g, const struct sl_local_queue *q);
#endif
