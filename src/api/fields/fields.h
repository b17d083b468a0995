/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects as sets of fields (field_set.h), and merges and removals by such sets: what server-side apply is made of. */
#ifndef SL_API_FIELDS_H
#define SL_API_FIELDS_H
#include "api/fields/field_set.h"
#include "api/objects/object.h"

/* The fields that an object names: what is applied with it. The caller frees it. */
struct sl_json *sl_fields_of_new(enum sl_kind kind, const struct sl_json *object);

/* What a change does: fields with another value than before, that were not there, and that are not any more. Of what
 * comes and goes every level belongs to the set. Sorted; free with sl_fields_fini. */
struct sl_fields_change {
    struct sl_json *modified, *added, *removed;
};
void sl_fields_compare(enum sl_kind kind, struct sl_json *before, struct sl_json *after,
                       struct sl_fields_change *out);
void sl_fields_fini(struct sl_fields_change *change);

/* Puts what is applied into `object`: maps and lists by members and items, all else as a whole; null removes. */
void sl_fields_merge(enum sl_kind kind, struct sl_json *object, const struct sl_json *applied);
/* Removes what is in `last` and in no set of others any more. */
void sl_fields_prune(enum sl_kind kind, struct sl_json *object, const struct sl_json *last,
                     const struct sl_json *owned);
#endif
