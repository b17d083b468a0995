/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is refused. Kubernetes' own kinds and those of other projects are checked by others: here only what they say of queues. Of
 * fields without effect the policies warn, which every API server has that Sluice works with. */
#include "webhook/webhook.h"
#include "base/check.h"

#include <string.h>

/* The API server's object is one of a kind, whatever it says itself. */
static enum sl_kind kind_of(const struct sl_webhook_question *q)
{
    return sl_kind_find(q->group, q->version, q->resource);
}

enum sl_code sl_webhook_judge(const struct sl_webhook *w, const struct sl_webhook_question *q,
                              struct sl_error *e)
{
    SL_PRE(w != NULL && q != NULL && e != NULL);
    enum sl_kind kind = kind_of(q);
    bool update = strcmp(q->operation, "UPDATE") == 0;
    sl_error_clear(e);
    if (kind == SL_KIND_COUNT || q->object == NULL || sl_object_deleting(q->object) ||
        (!update && strcmp(q->operation, "CREATE") != 0)) {
        return SL_CODE_OK;
    }
    const struct sl_json *old = update ? q->old : NULL;
    if (strcmp(q->group, "kueue.x-k8s.io") == 0) {
        return sl_object_validate(kind, q->object, old, e);
    }
    enum sl_code code = sl_object_validate_marks(kind, q->object, old, e);
    bool job = sl_kind_is_job(kind);
    return code == SL_CODE_OK && job && old != NULL
               ? sl_admit_change(&w->world, q->ns, q->object, old, e)
               : code;
}
