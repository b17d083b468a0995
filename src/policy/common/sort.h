/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Sorting workloads: by a rank given with each, lower first, then in the order of order.h, or in
 * that of their queue times alone. In place, without recursion. Owns the list; the next caller
 * overwrites it. */
#ifndef SL_POLICY_SORT_H
#define SL_POLICY_SORT_H
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_sort_clear(void);
/* What does not fit in (more than SL_WORKLOADS_MAX) is left out. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_sort_add(sl_workload_id id, uint32_t rank, uint32_t tag);
/* Sorts all of them; or begins, and sorts as many of the first as are wanted. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_sort_run(bool priority_counts);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_sort_begin(bool priority_counts);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_sort_reach(uint32_t wanted);

/*@ terminates \true; exits \false; assigns \nothing; ensures bound: \result <= SL_WORKLOADS_MAX; */
uint32_t sl_sort_count(void);
/*@ terminates \true; exits \false; assigns \nothing; */
sl_workload_id sl_sort_at(uint32_t index); /* SL_NO_ID beyond what is sorted */
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_sort_tag(uint32_t index); /* what was given with it; 0 beyond */
#endif
