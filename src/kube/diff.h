/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What an update comes to as a merge patch (RFC 7386), and whether a patch is there already. */
#ifndef SL_KUBE_DIFF_H
#define SL_KUBE_DIFF_H
#include "api/objects/client.h"

/* The patch that an UPDATE or UPDATE_STATUS of `kind` with `body` comes to. An UPDATE means the object without its
 * status, where that is written apart, and without what is the server's own in metadata. */
struct sl_json *sl_diff_update(enum sl_verb verb, enum sl_kind kind, const struct sl_json *live,
                               const struct sl_json *body);
/* Does `live` hold all that `patch` (or a new object) says? Not its preconditions, and not its type. */
bool sl_diff_holds(const struct sl_json *live, const struct sl_json *patch);
#endif
