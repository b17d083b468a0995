/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kubernetes' protobuf encoding, read only, for the few built-in kinds that kubectl creates in no
 * other: Namespace, Job, PriorityClass and the reviews of access. What the table of fields does not
 * know is refused, never dropped. */
#ifndef SL_SERVER_PROTOBUF_H
#define SL_SERVER_PROTOBUF_H
#include "api/json/json.h"

#define SL_PROTOBUF_TYPE "application/vnd.kubernetes.protobuf"

/* NULL and UNSUPPORTED_MEDIA or BAD_REQUEST when it cannot be read, TOO_LARGE when its values weigh more (json.h) than
 * `weight_max`. */
struct sl_json *sl_protobuf_parse(const char *data, size_t len, size_t weight_max,
                                  struct sl_error *e);
#endif
