/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Partial admission: the search for the largest counts between each pod set's count and its least
 * count that do. One number is searched for, by halving: how many pods are taken away in all; each
 * pod set gives its proportion of them, rounded down. Owns the search at hand. (Owned by
 * flavors.h, written here: sl_flavors_counts.)
 *
 *     sl_reducer_begin(id);
 *     while (sl_reducer_next()) { ... try sl_flavors_counts ...; sl_reducer_report(they_fit); }
 *     if (sl_reducer_found()) { ... sl_flavors_counts are the answer; try them once more ... }
 */
#ifndef SL_POLICY_REDUCER_H
#define SL_POLICY_REDUCER_H
#include "kernel/base/types.h"
#include "policy/flavors/flavors.h"
#include "specs/hidden.acsl"

/* A workload none of whose pod sets may be reduced has nothing to try. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_reducer_begin(sl_workload_id id);
/* Put the next counts to try into sl_flavors_counts; false = the search is over. */
/*@
  terminates \true; exits \false; assigns sl_hidden, sl_flavors_counts[0 .. SL_POD_SETS_MAX - 1];
*/
bool sl_reducer_next(void);
/* Did they fit? Once after each next that said true. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_reducer_report(bool fits);
/* After the search: did any fit? Then the largest that did are in sl_flavors_counts; the counts
 * that were tried last need not be these. */
/*@
  terminates \true; exits \false; assigns sl_hidden, sl_flavors_counts[0 .. SL_POD_SETS_MAX - 1];
*/
bool sl_reducer_found(void);
#endif
