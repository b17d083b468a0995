/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Merge patches (RFC 7386) from two states of a value, and whether a patch is there already. */
#ifndef SL_KUBE_DIFF_H
#define SL_KUBE_DIFF_H
#include "api/objects/client.h"

/* What makes `after` of `before`, both maps; NULL when nothing does. Caller frees. */
struct sl_json *sl_diff_new(const struct sl_json *before, const struct sl_json *after);
/* The patch that an UPDATE or UPDATE_STATUS of `kind` with `body` comes to. An UPDATE means the object without its
 * status, where that is written apart, and without what is the server's own in metadata. */
struct sl_json *sl_diff_update(enum sl_verb verb, enum sl_kind kind, const struct sl_json *live,
                               const struct sl_json *body);
/* Does `live` hold all that `patch` (or a new object) says? Not its preconditions, and not its type. */
bool sl_diff_holds(const struct sl_json *live, const struct sl_json *patch);
#endif
