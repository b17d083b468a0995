/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which kinds have the subresource scale: those that are built into Kubernetes with one, or whose own CRDs have one. */
#ifndef SL_SERVER_SCALES_H
#define SL_SERVER_SCALES_H
#include "api/objects/kinds.h"

/* Where a kind has it, as its type says or the CRD of its project. A selector is text, or a LabelSelector. */
struct sl_scale {
    const char *group, *kind, *spec, *status, *selector;
    bool one;      /* by default there is one */
    bool built_in; /* into Kubernetes */
};
const struct sl_scale *sl_scales_find(enum sl_kind kind); /* NULL: it has none */
bool sl_scales_has(enum sl_kind kind);
#endif
