/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whose jobs and pods these are, where that counts (struct sl_write: submitter). */
#ifndef SL_STORE_SUBMITTER_H
#define SL_STORE_SUBMITTER_H
#include "api/objects/client.h"

/* Who has submitted a new job or pod. FORBIDDEN: a user who may not says as which user it runs. */
enum sl_code sl_submitter_note(const struct sl_write *w, struct sl_json *object,
                               struct sl_error *e);
/* It stays so. FORBIDDEN: it is another user's. */
enum sl_code sl_submitter_keep(const struct sl_write *w, const struct sl_json *old,
                               struct sl_json *object, struct sl_error *e);
#endif
