/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Restraint: a workload that has preempted others again and again, and each time lost what it got
 * by it, is tried like any other, but finds no victims for a while. Owns who is restrained. */
#ifndef SL_POLICY_RESTRAINT_H
#define SL_POLICY_RESTRAINT_H
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

/* It is from now on, or no more; then its queue has to be woken. At first nobody is, nor is whoever
 * gets its slot next. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_restraint_set(sl_workload_id id, bool restrained);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_restraint_holds(sl_workload_id id);
#endif
