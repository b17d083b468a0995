/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* metadata.managedFields: who has set which fields, by which operation. As in Kubernetes, objects without them are not
 * tracked before something is applied to them; what they have then is said to be there from before. */
#ifndef SL_API_MANAGED_H
#define SL_API_MANAGED_H
#include "api/objects/object.h"

#define SL_MANAGER_BYTES_MAX 128u
#define SL_MANAGERS_WEIGHT_MAX 8192u /* json.h; a field weighs 5 */

/* Who writes. */
struct sl_manager {
    const char *name;
    bool status, scale; /* by that subresource */
    int64_t now_ms;
};

/* Of an object that is made: all that it has is the manager's. */
void sl_managed_create(enum sl_kind kind, struct sl_json *object, const struct sl_manager *by);
/* Of a change from `old` to `object`, which may come with managedFields of its own: a list with one empty entry ends
 * tracking, one that makes no sense counts as none. */
void sl_managed_update(enum sl_kind kind, struct sl_json *object, struct sl_json *old,
                       const struct sl_manager *by);

struct sl_apply {
    enum sl_kind kind;
    struct sl_json *live;          /* lent; NULL: there is none */
    const struct sl_json *applied; /* lent */
    struct sl_manager by;
    bool force;
    struct sl_json *result; /* the object with its managedFields; the caller frees it */
    struct sl_json
        *conflicts; /* or a list of {manager, field}, which the caller frees: result is NULL then */
};
/* Merges, removes what is not applied any more, and takes over with `force` what others have set otherwise. */
void sl_managed_apply(struct sl_apply *a);
#endif
