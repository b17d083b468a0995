/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Delivery of what is staged inside of this process, so that all that comes of one change becomes durable by
 * one commit. A batch is a prefix of what happens: what is built on a staged write is staged after it, and lost with it.
 * What is then in memory only cannot be lost with it: it is thrown away whole, and made again from what is durable. That
 * costs as much as a start, so where a commit has failed nothing is delivered ahead for a while. */
#include "store/internal.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

void sl_store_deliver_ahead(struct sl_store *s, sl_store_again_fn *again, void *context)
{
    SL_PRE(s != NULL);
    s->ahead.again = again;
    s->ahead.context = context;
}

static bool delivers(const struct sl_store *s)
{
    return s->ahead.again != NULL && !s->ahead.losing && s->broken.code == SL_CODE_OK &&
           !sl_db_lost(s) && s->damage.code == SL_CODE_OK && sl_clock_now_ms() >= s->ahead.calm_ms;
}

void sl_ahead_wake(struct sl_store *s)
{
    SL_PRE(s != NULL);
    if (s->wake != NULL && delivers(s)) {
        s->wake(s->wake_context);
    }
}

bool sl_store_deliver(struct sl_store *s)
{
    SL_PRE(!s->in_commit && !s->log.publishing && !s->ahead.delivering);
    if (!delivers(s) || (s->log.published == s->revision && s->reply_count == 0)) {
        return false;
    }
    const struct sl_error none = {.code = SL_CODE_OK};
    struct sl_replies replies = sl_client_take(s); /* of what is delivered now */
    s->ahead.delivered = s->ahead.delivered || sl_db_staged(s);
    s->ahead.delivering = true;
    sl_events_publish(s, s->revision);
    sl_client_answer(replies, SL_CODE_OK, &none);
    s->ahead.delivering = false;
    return true;
}

/* Who is refused may ask for something else, which is refused as well: none of it would rest on what there is. */
static void refuse_all(struct sl_store *s, struct sl_replies replies, const struct sl_error *e)
{
    s->ahead.losing = true;
    sl_client_answer(replies, e->code, e);
    while (s->reply_count > 0) {
        sl_client_answer(sl_client_take(s), e->code, e);
    }
    s->ahead.losing = false;
}

void sl_ahead_lose(struct sl_store *s, struct sl_replies replies, const struct sl_error *e)
{
    SL_PRE(s->ahead.again != NULL && e != NULL && !s->in_batch);
    sl_log(SL_LOG_WARN,
           "what was decided since the last commit is forgotten, all objects are read again", NULL);
    refuse_all(s, replies, e);
    sl_events_forget_lost(s);
    s->ahead.again(s->ahead.context);
}

bool sl_store_is_durable(const struct sl_store *s, const struct sl_json *object)
{
    SL_PRE(object != NULL);
    return strtoull(sl_object_resource_version(object), NULL, 10) <= s->durable;
}

void sl_store_forget_watches(struct sl_store *s)
{
    SL_PRE(!s->log.publishing);
    for (size_t i = 0; i < s->watcher_count; i++) {
        s->watchers[i] = (struct sl_store_watcher){.id = 0};
    }
    s->late_count = 0;
}
