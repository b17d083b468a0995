/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The changes of topology, carried out for change.c. */
#ifndef SL_ENGINE_CHANGE_TOPOLOGY_H
#define SL_ENGINE_CHANGE_TOPOLOGY_H
#include "engine/change.h"
#include "engine/pack.h"

enum sl_change_tag {
    SL_TAG_CLAIM = 1,
    SL_TAG_POD_SET,
    SL_TAG_REQUEST,
    SL_TAG_EXCLUSION,
    SL_TAG_MIN_COUNT,
    SL_TAG_GROUP,
    SL_TAG_TOPOLOGY,
    SL_TAG_STAND_SET,
    SL_TAG_STAND,
    SL_TAG_STAND_REQUEST,
    SL_TAG_VERDICT,
    SL_TAG_SCORE,
    SL_TAG_FINGERPRINT
};

/* Rooms, trees, domains, masks, delayed offers. */
enum sl_status sl_change_perform_topology(const struct sl_change *c);
/* Behind a SL_TAG_TOPOLOGY: for the pod set added last. */
enum sl_status sl_change_add_topology(sl_workload_id id, struct unpack *u);
/* RESTORE: one entry of the list, behind its tag, into sl_topology_plan; begin empties that. */
void sl_change_begin_stands(sl_workload_id id);
enum sl_status sl_change_add_stand(uint8_t tag, struct unpack *u);
/* Afterwards, whether it was restored or not: what the policy has to know of it. */
void sl_change_end_stands(bool restored);
#endif
