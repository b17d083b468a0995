/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Calls with lists, carried out for carry.c. A list that is no such list, or holds too much, is
 * refused whole: BAD_ARGUMENT or FULL_USAGE, and what the core says of its items. */
#ifndef SL_ENGINE_CALLS_CARRY_H
#define SL_ENGINE_CALLS_CARRY_H
#include "engine/calls/call.h"

/* What the workload asks for, in the place of what it asked for before; nothing when refused. */
enum sl_status sl_carry_requests(const struct sl_call_request *v);
enum sl_status sl_carry_request_mask(const struct sl_call_request_mask *v);
enum sl_status sl_carry_mask(const struct sl_call_mask *v);
/* Amounts, and the nodes that its pods are on. */
struct sl_transition sl_carry_restore(const struct sl_call_restore *v);
/* Whose place it takes; of none when refused. */
enum sl_status sl_carry_slice(const struct sl_call_slice *v);
enum sl_status sl_carry_sample(const struct sl_call_usage_sample *v);
#endif
