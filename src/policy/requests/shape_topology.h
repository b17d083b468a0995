/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For shape.c only: do two pod sets ask the same of the topology? Owns nothing. */
#ifndef SL_POLICY_SHAPE_TOPOLOGY_H
#define SL_POLICY_SHAPE_TOPOLOGY_H
#include <stdbool.h>
#include <stdint.h>

/* Of records of requests.h. */
/*@ terminates \true; exits \false; assigns \nothing; */
uint64_t sl_shape_topology_hash(uint32_t pod_set);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_shape_topology_equal(uint32_t a, uint32_t b);
#endif
