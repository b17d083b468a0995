/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How an admission says to which domains of a topology the pods of a pod set are assigned: the
 * compressed form of v1beta2 (levels, and slices of domains that share a prefix, a suffix, a value
 * or a count), and the plain rows behind it. */
#ifndef SL_API_TOPOLOGY_ASSIGNMENT_H
#define SL_API_TOPOLOGY_ASSIGNMENT_H
#include "api/json/json.h"

#define SL_ASSIGNMENT_LEVELS_MAX 16u
#define SL_ASSIGNMENT_VALUE_MAX 63u       /* of a universal value, prefix, root or suffix */
#define SL_ASSIGNMENT_SLICES_MAX 1000u    /* of an assignment */
#define SL_ASSIGNMENT_DOMAINS_MAX 100000u /* of a slice */
#define SL_ASSIGNMENT_HOSTNAME "kubernetes.io/hostname"

/* --- reading ---------------------------------------------------------------------------------- */

/* Is it well-formed? Otherwise INVALID with causes whose fields begin with `where` ("" is fine). */
enum sl_code sl_topology_assignment_check(const struct sl_json *assignment, const char *where,
                                          struct sl_error *e);

/* One row after the other, of an assignment that check accepts:
 *
 *     sl_assignment_reader_start(&r, assignment);
 *     while (sl_assignment_reader_next(&r)) { ... r.values[0 .. r.level_count - 1], r.count ... }
 *
 * The values are the reader's own until the next call. */
struct sl_assignment_reader {
    const struct sl_json *slices;
    const struct sl_json *slice;
    const struct sl_json *per_level;
    size_t slice_index;
    int64_t domain_count; /* of the slice */
    int64_t at;
    uint32_t level_count;
    char values[SL_ASSIGNMENT_LEVELS_MAX][3u * SL_ASSIGNMENT_VALUE_MAX + 1u];
    uint32_t count; /* pods on the row's domain */
};
void sl_assignment_reader_start(struct sl_assignment_reader *r, const struct sl_json *assignment);
bool sl_assignment_reader_next(struct sl_assignment_reader *r);

/* Levels of a well-formed assignment; lent. */
uint32_t sl_topology_assignment_levels(const struct sl_json *assignment,
                                       const char *levels[static SL_ASSIGNMENT_LEVELS_MAX]);

/* --- writing ---------------------------------------------------------------------------------- */

struct sl_assignment_rows { /* all lent */
    uint32_t level_count;
    const char *const *levels;
    uint32_t row_count;
    const char *const *values; /* of row i at level k: values[i * level_count + k] */
    const uint32_t *counts;    /* pods, at least one each */
};

/* The shorter of two forms: all rows in one slice, or a slice for each run of node names that begin
 * alike up to a '-'. The caller frees it. */
struct sl_json *sl_topology_assignment_new(const struct sl_assignment_rows *rows);
#endif
