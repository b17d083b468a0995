/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Names to dense ids and back: the core deals in ids, never in strings. Owns the tables. An id that
 * was dropped is used again, the lowest last; for workloads the kernel's generation distinguishes
 * the incarnations. Same calls in the same order give the same ids (G11). */
#ifndef SL_ENGINE_INTERN_H
#define SL_ENGINE_INTERN_H
#include "kernel/base/types.h"

/* Quota nodes are named "cq/<name>" and "cohort/<name>", workloads and
 * accounts (of LocalQueues) "<namespace>/<name>". */
enum sl_intern_class {
    SL_INTERN_QNODE,
    SL_INTERN_FLAVOR,
    SL_INTERN_RESOURCE,
    SL_INTERN_CHECK,
    SL_INTERN_WORKLOAD,
    SL_INTERN_ACCOUNT,
    SL_INTERN_LEVEL,  /* label keys of nodes */
    SL_INTERN_FAMILY, /* of variants, by the UID of the Workload that owns them */
    SL_INTERN_CLASS_COUNT
};

struct sl_intern;
struct sl_intern *sl_intern_new(void);
void sl_intern_free(struct sl_intern *t);

uint32_t sl_intern_find(const struct sl_intern *t, enum sl_intern_class c,
                        const char *name); /* or SL_NO_ID */
/* The id of `name`, given out when there was none: *is_new. SL_NO_ID when the class is full
 * (`capacity`). */
uint32_t sl_intern_add(struct sl_intern *t, enum sl_intern_class c, const char *name, bool *is_new);
void sl_intern_drop(struct sl_intern *t, enum sl_intern_class c, uint32_t id);
/* NULL for an id that is not in use. Lent until it is dropped. */
const char *sl_intern_name(const struct sl_intern *t, enum sl_intern_class c, uint32_t id);
uint32_t sl_intern_count(const struct sl_intern *t, enum sl_intern_class c);
uint32_t sl_intern_capacity(enum sl_intern_class c);
#endif
