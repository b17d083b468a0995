/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The turns of the loop. */
#include "cli/daemon/daemon_turns.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/effort.h"
#include "cli/pages/metrics.h"
#include <signal.h>
#include <time.h>

#define TIMER_MS_MAX 60000 /* a clock that is set is noticed within a minute */
#define LOG_MS 500
#define SLOW_NS 1000000000u
#define JUMP_MS 2000
#define TURN_MS 15 /* of controllers' work, then requests get their turn */

/* A terminal that is closed ends the daemon like Ctrl-C does. */
static const struct {
    int number;
    const char *name;
} ending[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};
#define ENDING_COUNT (sizeof ending / sizeof ending[0])
_Static_assert(SL_TURNS_SIGNALS == ENDING_COUNT + 1, "and SIGUSR2");

static void on_timer(uv_timer_t *handle)
{
    sl_turns_kick(handle->data);
}

/* Somebody has set the system's clock: times in objects are another's for a while. */
static void note_jump(struct sl_turns *t)
{
    int64_t off_ms = sl_clock_wall_ms() - sl_clock_now_ms();
    if (off_ms - t->off_ms > JUMP_MS || t->off_ms - off_ms > JUMP_MS) {
        sl_log(
            SL_LOG_WARN,
            "the system's clock was set; durations are unaffected, times approach it slowly, or at "
            "the next start",
            "off_ms", sl_log_number(off_ms), NULL);
        t->off_ms = off_ms;
    }
}

static void set_timer(struct sl_turns *t)
{
    note_jump(t);
    int64_t due_ms = sl_controllers_due_ms(t->controllers);
    int64_t now_ms = sl_clock_now_ms();
    int64_t wait_ms = due_ms <= now_ms ? 0 : due_ms - now_ms;
    if (wait_ms < 0 || wait_ms > TIMER_MS_MAX) {
        wait_ms = TIMER_MS_MAX;
    }
    uv_update_time(t->loop);
    uv_timer_start(&t->timer, on_timer, (uint64_t)wait_ms, 0);
}

/* The controllers' share of a turn: what it stages is written together. */
static void on_busy(uv_idle_t *handle)
{
    struct sl_turns *t = handle->data;
    uint64_t start_ns = uv_hrtime();
    do {
        if (t->may_go_on != NULL && !t->may_go_on(t->context)) {
            return;
        }
        bool more = sl_controllers_step(t->controllers, sl_clock_now_ms());
        more = (t->deliver != NULL && t->deliver(t->context)) || more;
        if (!more) {
            uv_idle_stop(&t->busy);
            set_timer(t);
            return;
        }
    } while (uv_hrtime() - start_ns < (uint64_t)TURN_MS * 1000000u);
}

static void on_log(uv_timer_t *handle)
{
    (void)handle; /* it is for on_turn that the loop wakes up */
}

/* The log's reader may be slow. */
static void catch_up(struct sl_turns *t)
{
    if (sl_log_catch_up()) {
        uv_timer_start(&t->log, on_log, LOG_MS, 0);
        uv_unref((uv_handle_t *)&t->log);
    }
}

static uint64_t cpu_ns(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void raise_to(uint64_t *most, uint64_t value)
{
    *most = value > *most ? value : *most;
}

/* What the last turn did itself: neither the disk nor other processes are in it. */
static void measure_work(struct sl_turns *t, bool first)
{
    uint64_t now_ns = cpu_ns();
    if (!first) {
        raise_to(&t->longest_cpu_ns, now_ns - t->turn_cpu_ns);
        raise_to(&t->longest_steps, sl_effort_steps - t->turn_steps);
    }
    t->turn_cpu_ns = now_ns;
    t->turn_steps = sl_effort_steps;
}

/* Once a turn, just before the loop waits. Its work is what the clock says, less what it waited. */
static void on_turn(uv_prepare_t *handle)
{
    struct sl_turns *t = handle->data;
    uint64_t now_ns = uv_hrtime(), idle_ns = uv_metrics_idle_time(t->loop);
    uint64_t busy_ns = now_ns - t->turn_ns - (idle_ns - t->idle_ns);
    bool first = t->turn_ns == 0;
    catch_up(t);
    measure_work(t, first);
    t->turn_ns = now_ns;
    t->idle_ns = idle_ns;
    if (first || busy_ns > now_ns) {
        return; /* or it waited a little less than it should */
    }
    raise_to(&t->longest_ns, busy_ns);
    if (busy_ns > SLOW_NS) {
        t->slow++;
        sl_log(SL_LOG_WARN, "a turn of the loop took long", "ms",
               sl_log_number((long long)(busy_ns / 1000000u)), NULL);
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct sl_turns *t = handle->data;
    if (number == SIGUSR2) {
        if (t->controllers != NULL) {
            sl_controllers_log_state(t->controllers);
        }
        t->dump(t->context);
        return;
    }
    for (size_t i = 0; i < ENDING_COUNT; i++) {
        if (ending[i].number == number) {
            t->signalled(t->context, ending[i].name);
            return;
        }
    }
}

void sl_turns_start(struct sl_turns *t)
{
    SL_PRE(t->loop != NULL && t->signalled != NULL && t->dump != NULL);
    uv_idle_init(t->loop, &t->busy);
    uv_timer_init(t->loop, &t->timer);
    t->busy.data = t->timer.data = t;
    uv_timer_init(t->loop, &t->log);
    (void)uv_loop_configure(t->loop, UV_METRICS_IDLE_TIME);
    uv_prepare_init(t->loop, &t->turn);
    t->turn.data = t;
    uv_prepare_start(&t->turn, on_turn);
    uv_unref((uv_handle_t *)&t->turn);
    for (size_t i = 0; i < SL_TURNS_SIGNALS; i++) {
        uv_signal_init(t->loop, &t->signals[i]);
        t->signals[i].data = t;
        uv_signal_start(&t->signals[i], on_signal, i < ENDING_COUNT ? ending[i].number : SIGUSR2);
    }
}

void sl_turns_kick(void *turns)
{
    struct sl_turns *t = turns;
    if (!t->stopped && t->controllers != NULL && t->busy.data != NULL) {
        uv_idle_start(&t->busy, on_busy);
    }
}

void sl_turns_stop(struct sl_turns *t)
{
    SL_PRE(t != NULL);
    t->stopped = true;
    uv_idle_stop(&t->busy);
    uv_timer_stop(&t->timer);
}

void sl_turns_close(struct sl_turns *t)
{
    SL_PRE(t != NULL);
    sl_turns_stop(t);
    uv_close((uv_handle_t *)&t->busy, NULL);
    uv_close((uv_handle_t *)&t->timer, NULL);
    uv_close((uv_handle_t *)&t->turn, NULL);
    uv_close((uv_handle_t *)&t->log, NULL);
    for (size_t i = 0; i < SL_TURNS_SIGNALS; i++) {
        uv_close((uv_handle_t *)&t->signals[i], NULL);
    }
}

void sl_turns_print(const struct sl_turns *t, struct sl_buf *out)
{
    SL_PRE(t != NULL);
    sl_metrics_value(out, "sluice_turn_longest_milliseconds", "The longest turn of the loop",
                     t->longest_ns / 1000000u);
    sl_metrics_value(out, "sluice_turn_longest_cpu_milliseconds",
                     "The most CPU time that one turn took", t->longest_cpu_ns / 1000000u);
    sl_metrics_value(out, "sluice_turn_longest_steps",
                     "The most work in one turn: values read, made, copied, compared, printed",
                     t->longest_steps);
    sl_metrics_value(out, "sluice_turns_slow_total", "Turns of more than a second", t->slow);
}
