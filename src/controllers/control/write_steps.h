/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The table of how a decision is carried out: which state follows which event, and what is done then. The rows are in
 * write_steps.def; workloads.c says what happens, and does it. */
#ifndef SL_CONTROLLERS_CONTROL_WRITE_STEPS_H
#define SL_CONTROLLERS_CONTROL_WRITE_STEPS_H

enum sl_write_state {
    SL_WRITE_WAITING, /* for the decision before it about the same Workload, or for what others give back */
    SL_WRITE_LOOKING, /* at the live Workload, to ask the engine what is to be written */
    SL_WRITE_SENT,    /* a write is under way */
    SL_WRITE_ENDED,   /* the engine knows how it ended */
    SL_WRITE_STATE_COUNT
};
enum sl_write_event {
    SL_WRITE_TURN, /* what it waited for has been written */
    /* at the look */
    SL_WRITE_UNSEEN,  /* there is no such Workload, or it cannot be read */
    SL_WRITE_LATER,   /* sl_engine_write: what the object says must be told first */
    SL_WRITE_AFTER,   /* what it takes was given back by others, which must be written first */
    SL_WRITE_NOTHING, /* it is so already, or nothing of it is written */
    SL_WRITE_PATCH,
    SL_WRITE_DELETE,
    /* at the answer */
    SL_WRITE_CONFLICT, /* somebody else was faster, and not too often yet */
    SL_WRITE_PART,     /* sl_engine_written: only what had to come first was written */
    SL_WRITE_WRITTEN,
    SL_WRITE_ABSENT, /* what was to be deleted was gone */
    SL_WRITE_FAILED, /* refused, or the outcome is unknown: the engine decides it once more in its time */
    SL_WRITE_EVENT_COUNT
};
enum sl_write_action {
    SL_WRITE_LOOK,
    SL_WRITE_LOOK_AGAIN, /* and count the conflict */
    SL_WRITE_LOOK_ON,    /* and log the part */
    SL_WRITE_SET_ASIDE,  /* until its turn comes again */
    SL_WRITE_SEND,
    SL_WRITE_TELL,      /* people, and end */
    SL_WRITE_TELL_SAID, /* the same of what was so already */
    SL_WRITE_COMPLAIN,  /* and end */
    SL_WRITE_END,       /* the engine is answered; the next one about the Workload has its turn */
    SL_WRITE_ACTION_COUNT
};
struct sl_write_step {
    enum sl_write_state state;
    enum sl_write_event event;
    enum sl_write_state next;
    enum sl_write_action action;
};
/* NULL: that does not happen in that state. */
const struct sl_write_step *sl_write_step(enum sl_write_state state, enum sl_write_event event);
#endif
