/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Where the cycle has brought anything about: heads that are held in these trees take part in the
 * next. Owns the list of the trees. */
#include "policy/cycle/cycle_steps.h"

#include "policy/queues/turns.h"

static sl_qnode_id
    progress[SL_QNODES_MAX]; /* roots of trees where somebody was served or evicted */
static uint32_t progress_count;
static bool has_progress[SL_QNODES_MAX];

/* clang-format off */
#define PROGRESS                                                                                   \
    progress[0 .. SL_QNODES_MAX - 1], progress_count, has_progress[0 .. SL_QNODES_MAX - 1]
/* clang-format on */

/*@
  // The list names qnodes only.
  predicate ProgressListed{L} = progress_count <= SL_QNODES_MAX &&
    \forall integer i; 0 <= i < SL_QNODES_MAX ==> progress[i] < SL_QNODES_MAX;
*/

/*@ requires listed: ProgressListed; terminates \true; exits \false; assigns PROGRESS;
    ensures listed: ProgressListed; */
static void note(sl_qnode_id root)
{
    if (root < SL_QNODES_MAX && !has_progress[root] && progress_count < SL_QNODES_MAX) {
        has_progress[root] = true;
        progress[progress_count] = root;
        progress_count++;
    }
}

/*@ requires listed: ProgressListed; terminates \true; exits \false; assigns sl_hidden, PROGRESS;
    ensures listed: ProgressListed; */
void sl_cycle_progress(sl_qnode_id root)
{
    sl_turns_renew(root);
    note(root);
}

/*@ requires listed: ProgressListed; terminates \true; exits \false; assigns sl_hidden, PROGRESS;
    ensures listed: ProgressListed; */
void sl_cycle_give_up(sl_qnode_id root)
{
    sl_turns_note_free(root);
    note(root);
}

/*@ requires listed: ProgressListed; requires qnodes: QnodesLinked; terminates \true; exits \false;
    assigns sl_hidden, PROGRESS; ensures listed: ProgressListed; */
void sl_cycle_rouse(void)
{
    /*@ loop invariant listed: ProgressListed;
        loop assigns progress_count, has_progress[0 .. SL_QNODES_MAX - 1], sl_hidden;
        loop variant progress_count; */
    while (progress_count != 0) {
        progress_count--;
        has_progress[progress[progress_count]] = false;
        sl_turns_rouse(progress[progress_count]);
    }
}
