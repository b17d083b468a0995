/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment, topologies of elastic jobs. */
#include "policy/flavors/flavors_scan.h"

#include "policy/common/settings.h"
#include "policy/requests/topology_request.h"

bool sl_flavors_cannot_grow(struct sl_topology_request request)
{
    return sl_settings.place_slices && request.elastic &&
           (request.together == SL_TOGETHER_REQUIRED || request.together == SL_TOGETHER_PREFERRED);
}

void sl_flavors_name_old(struct sl_topology_request request)
{
    sl_placement_question.keeps =
        sl_settings.place_slices && request.elastic && sl_assignment.replaces != SL_NO_ID;
    sl_placement_question.old = sl_assignment.replaces;
}
