/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The state that the parts of placement share; its headers say what it means. */
#include "policy/search/placement_state.h"

#include "policy/search/placement_balance.h"

struct sl_placement_question sl_placement_question;
uint32_t sl_placement_failed_count;
sl_site_id sl_placement_failed[SL_UNHEALTHY_MAX];
struct sl_placing sl_placing;
struct sl_spot_list sl_chosen;
int64_t sl_fit_pods[SL_SPOTS_MAX];
int64_t sl_fit_slices[SL_SPOTS_MAX];
int64_t sl_fit_score[SL_SPOTS_MAX];
int64_t sl_fit_pods_led[SL_SPOTS_MAX];
int64_t sl_fit_slices_led[SL_SPOTS_MAX];
uint32_t sl_fit_leaders[SL_SPOTS_MAX];
int64_t sl_placement_own[SL_CAPACITIES_MAX];
bool sl_placement_has_own;
struct sl_spot_list sl_balance_domains;
struct sl_spot_list sl_balance_picked;
