/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A node that was deleted, or says nothing of itself, has failed at once; on any other a pod that is
 * still under way may yet end by itself. */
#include "policy/verdicts/node_failure.h"

enum sl_node_verdict sl_node_failure_judge(struct sl_node_sight s)
{
    if (!s.one) {
        return SL_NODE_GOOD;
    }
    if (!s.exists || s.ready == SL_READY_UNSAID) {
        return SL_NODE_FAILED;
    }
    if (s.ready == SL_READY_YES && s.toleration == SL_TOLERATED) {
        return SL_NODE_GOOD;
    }
    bool at_once = s.ready == SL_READY_NOT || s.toleration == SL_TOLERATED_NOT;
    bool late = s.toleration == SL_TOLERATED_FOR_A_TIME && s.lost;
    return !s.under_way && (at_once || late) ? SL_NODE_FAILED : SL_NODE_OPEN;
}

enum sl_node_step sl_node_failure_step(struct sl_node_case c)
{
    if (!c.admitted || !c.replaces) {
        return SL_NODE_STEP_NONE;
    }
    if (c.marked) {
        return c.verdict == SL_NODE_GOOD ? SL_NODE_STEP_UNMARK : SL_NODE_STEP_NONE;
    }
    bool stays = c.single && c.skip_single;
    return c.verdict == SL_NODE_FAILED && !stays ? SL_NODE_STEP_MARK : SL_NODE_STEP_NONE;
}
