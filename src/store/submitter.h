/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whose jobs and pods these are, in writes that clients asked for (struct sl_write: submitter). What this program writes itself
 * is not judged. */
#ifndef SL_STORE_SUBMITTER_H
#define SL_STORE_SUBMITTER_H
#include "store/internal.h"

/* Who has submitted a new job or pod, where that is guarded; else that is not known. FORBIDDEN: a user who may not says as
 * which user it runs, or whose Job it is a pod of. */
enum sl_code sl_submitter_note(struct sl_store *s, const struct sl_write *w, struct sl_json *object,
                               struct sl_error *e);
/* It stays so. FORBIDDEN: it is another user's. */
enum sl_code sl_submitter_keep(struct sl_store *s, const struct sl_write *w,
                               const struct sl_json *old, struct sl_json *object,
                               struct sl_error *e);
/* Forgets what an object says of it. Did it say anything? */
bool sl_submitter_forget(struct sl_json *object);
#endif
