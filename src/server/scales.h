/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which kinds have the subresource scale: those that are built into Kubernetes with one, or whose own CRDs have one, be they
 * of users. */
#ifndef SL_SERVER_SCALES_H
#define SL_SERVER_SCALES_H
#include "api/objects/kinds.h"

/* Where a kind has it, as its type says or the CRD of its project. A selector is text, or a LabelSelector. */
struct sl_scale {
    const char *group, *kind, *spec, *status, *selector;
    bool one;      /* by default there is one */
    bool built_in; /* into Kubernetes */
    bool defined;  /* by users: fields that are absent are made */
};
/* NULL: it has none. As long as the kind is served. */
const struct sl_scale *sl_scales_find(enum sl_kind kind);
bool sl_scales_has(enum sl_kind kind);
#endif
