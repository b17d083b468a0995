/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* When two workloads of one queue ask for the same: as many pods, the same requests, the same
 * flavors excluded, pod set by pod set. Where one of them finds no place the other finds none
 * either. Owns nothing. */
#ifndef SL_POLICY_SHAPE_H
#define SL_POLICY_SHAPE_H
#include "kernel/types.h"

uint64_t sl_shape_hash(sl_workload_id id);
bool sl_shape_equal(sl_workload_id a, sl_workload_id b);
#endif
