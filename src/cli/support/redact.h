/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects as they may be shown to strangers: without what their owners may hold secret. */
#ifndef SL_CLI_REDACT_H
#define SL_CLI_REDACT_H
#include "api/objects/object.h"

#define SL_REDACTED "REDACTED"

/* Of a container remains what scheduling needs (name, image, resources); environment, commands and volumes do not.
 * Annotations of others than Kubernetes, Kueue and Sluice have no values any more, fields named like a secret have none, and
 * neither has any text in the spec of a kind that an adapter brought: nothing is known of what it means. Messages of
 * conditions and events stay. The caller frees it. */
struct sl_json *sl_redact_new(enum sl_kind kind, const struct sl_json *object);
#endif
