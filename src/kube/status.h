/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a server's refusal says, and the addresses of what we ask for. */
#ifndef SL_KUBE_STATUS_H
#define SL_KUBE_STATUS_H
#include "api/objects/kinds.h"
#include "kube/transport.h"

/* From the HTTP status and the metav1.Status in the body, causes included; UNAVAILABLE when there
 * was no answer. OK, and `e` cleared, for 2xx. NOT_FOUND only where the body names what does not
 * exist: a 404 that names nothing comes from a server that does not know the kind, or from a proxy,
 * and says nothing about objects. It is UNAVAILABLE. */
enum sl_code sl_status_read(const struct sl_response *r, struct sl_error *e);
/* /api/v1/... or /apis/<group>/<version>/...; ns "" = of all namespaces, name "" = all, part: "status" or "". */
void sl_status_path(struct sl_buf *out, enum sl_kind kind, const char *ns, const char *name,
                    const char *part);
/* Percent-encodes all but what is allowed in every part of an address. */
void sl_status_escape(struct sl_buf *out, const char *text, size_t len);
#endif
