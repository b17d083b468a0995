/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The table by which decisions are carried out, and its picture in the documentation. */
#include "t.h"
#include "controllers/control/write_steps.h"

static const char *const states[SL_WRITE_STATE_COUNT] = {"WAITING", "LOOKING", "SENT", "ENDED"};
static const char *const events[SL_WRITE_EVENT_COUNT] = {"TURN",    "UNSEEN",  "LATER",  "AFTER",
                                                         "NOTHING", "PATCH",   "DELETE", "CONFLICT",
                                                         "PART",    "WRITTEN", "ABSENT", "FAILED"};

/* When each event happens: at its turn, at the look, at the answer. */
static enum sl_write_state state_of(unsigned event)
{
    return event == SL_WRITE_TURN      ? SL_WRITE_WAITING
           : event < SL_WRITE_CONFLICT ? SL_WRITE_LOOKING
                                       : SL_WRITE_SENT;
}

static void test_write_steps_each_event_has_its_row_and_no_other(void **state)
{
    (void)state;
    for (unsigned e = 0; e < SL_WRITE_EVENT_COUNT; e++) {
        for (unsigned s = 0; s < SL_WRITE_STATE_COUNT; s++) {
            const struct sl_write_step *step =
                sl_write_step((enum sl_write_state)s, (enum sl_write_event)e);
            if ((step != NULL) != (s == state_of(e))) {
                fail_msg("%s in %s: %s", events[e], states[s], step == NULL ? "no row" : "a row");
            }
        }
    }
}

/* Whatever is refused, fails, is written in part or meets a conflict: nothing stays under way. */
static void test_write_steps_each_answer_ends_or_is_looked_at_again(void **state)
{
    (void)state;
    for (unsigned e = SL_WRITE_CONFLICT; e < SL_WRITE_EVENT_COUNT; e++) {
        const struct sl_write_step *step = sl_write_step(SL_WRITE_SENT, (enum sl_write_event)e);
        bool again = e == SL_WRITE_CONFLICT || e == SL_WRITE_PART;
        assert_non_null(step);
        if (step->next != (again ? SL_WRITE_LOOKING : SL_WRITE_ENDED)) {
            fail_msg("%s leads to %s", events[e], states[step->next]);
        }
    }
}

/* What is done fits where it leads: a look is taken when there is to be one, a write is sent before it is answered, and
 * whatever ends is ended. */
static void test_write_steps_what_is_done_leads_where_the_row_says(void **state)
{
    (void)state;
    for (unsigned e = 0; e < SL_WRITE_EVENT_COUNT; e++) {
        const struct sl_write_step *step = sl_write_step(state_of(e), (enum sl_write_event)e);
        assert_non_null(step);
        enum sl_write_state leads = step->action <= SL_WRITE_LOOK_ON     ? SL_WRITE_LOOKING
                                    : step->action == SL_WRITE_SET_ASIDE ? SL_WRITE_WAITING
                                    : step->action == SL_WRITE_SEND      ? SL_WRITE_SENT
                                                                         : SL_WRITE_ENDED;
        assert_int_equal(step->next, leads);
    }
}

/* Only these go back, and each has an end: so many tries, two parts at most, and a minute for what others give back. */
static void test_write_steps_only_conflicts_parts_and_turns_of_others_go_back(void **state)
{
    (void)state;
    for (unsigned e = 0; e < SL_WRITE_EVENT_COUNT; e++) {
        const struct sl_write_step *step = sl_write_step(state_of(e), (enum sl_write_event)e);
        bool back = step->next <= step->state;
        assert_int_equal(back, e == SL_WRITE_CONFLICT || e == SL_WRITE_PART || e == SL_WRITE_AFTER);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_steps_each_event_has_its_row_and_no_other),
        cmocka_unit_test(test_write_steps_each_answer_ends_or_is_looked_at_again),
        cmocka_unit_test(test_write_steps_what_is_done_leads_where_the_row_says),
        cmocka_unit_test(test_write_steps_only_conflicts_parts_and_turns_of_others_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
