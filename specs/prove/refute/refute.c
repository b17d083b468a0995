/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Plays the fuzzers' inputs on the core, at its real size, with now and then one call of a changed function.
 * usage: refute CHECKERS ANSWER-FIXED SECONDS <list      CHECKERS: 0 none, 1 the ledger's, 2 all of the kernel's that
 *     are proved equal to what every step keeps. list: lines of a target and a file.
 * Prints one line: what was broken in which input, or how many calls were tried. Exit code 0; 2 when that failed. */
#include "specs/prove/refute/board.h"
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "fuzz/lib/state.h"
#include "fuzz/lib/world.h"
#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/commit/placement.h"
#include "kernel/lifecycle/second_pass.h"

enum { TRIES_MAX = 64, FIRST = 16, COPY_S = 1, HUNG_MAX = 12, INPUTS_MAX = 8192, REFUTED = 42 };

#define FUZZ(target, event, rooms, executions, what) int refute_##target(const uint8_t *data, size_t size);
#include "refute_targets.def"
#undef FUZZ

static const struct {
    const char *name;
    int (*play)(const uint8_t *data, size_t size);
} targets[] = {
#define FUZZ(target, event, rooms, executions, what) {#target, refute_##target},
#include "refute_targets.def"
#undef FUZZ
};

static struct refute_board *board;
/* Processor time that an input has: first little, then, when all had that, those that it was not enough for more. */
static const struct timeval first_time = {0, 250000}, second_time = {4, 0};
static struct input {
    char target[32], path[256];
    bool left;
} inputs[INPUTS_MAX];

static int checkers;
static bool fixed, inside, copied, ended;
static unsigned calls, tries; /* of this input */

void fuzz_state_reset(void)
{
    /* each input has a process of its own */
}

_Noreturn void refute_found(const char *why)
{
    (void)snprintf(board->why, sizeof board->why, "%s", why);
    _exit(REFUTED);
}

static void check_ledger(void)
{
    if (checkers > 0 && !sl_ledger_valid()) {
        refute_found("sl_ledger_valid says no");
    }
}

static void check(void)
{
    check_ledger();
    if (checkers < 2) {
        return;
    }
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        if (!sl_lifecycle_valid(id)) {
            refute_found("sl_lifecycle_valid says no");
        }
        if (!sl_place_agrees(id)) {
            refute_found("sl_place_agrees says no");
        }
    }
    if (!sl_commit_valid()) {
        refute_found("sl_commit_valid says no");
    }
    if (!sl_second_pass_valid()) {
        refute_found("sl_second_pass_valid says no");
    }
}

/* Only the kernel is built with traps. */
static void on_trap(int number)
{
    (void)number;
    refute_found("run-time error in the kernel");
}

/* Something that the harness demands is not so; it need not follow from a contract. Trials may be open. */
static void on_abort(int number)
{
    (void)number;
    if (ended) {
        check_ledger();
    }
    _exit(0);
}

bool refute_inside(void)
{
    return inside;
}

/* The first calls, and of the later ones ever fewer, spread over all. */
static bool worth_a_try(void)
{
    calls++;
    return tries < TRIES_MAX && (calls <= FIRST || calls * 2654435761u / 65536 % (calls / 8) == 0);
}

bool refute_compares(struct refute_answer *a)
{
    *a = (struct refute_answer){0};
    if (fixed) {
        board->tries++;
        (void)signal(SIGILL, on_trap);
        inside = true;
    }
    return fixed;
}

void refute_note(struct refute_answer *a, const void *answer, size_t size)
{
    inside = false;
    if (size > 0 && size <= sizeof a->bytes) {
        a->there = true;
        memcpy(a->bytes, answer, size);
    }
}

void refute_compare(const struct refute_answer *a, const void *answer, size_t size)
{
    if (a->there && memcmp(a->bytes, answer, size) != 0) {
        refute_found("another answer than the contract's");
    }
}

bool refute_begin(void)
{
    if (copied || !worth_a_try()) {
        return false;
    }
    tries++;
    board->tries++;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        _exit(1);
    }
    pid_t copy = fork();
    (void)close(ends[copy == 0 ? 0 : 1]);
    if (copy == 0) {
        refute_promises_open(board, ends[1]);
        (void)signal(SIGILL, on_trap);
        (void)signal(SIGABRT, on_abort);
        (void)alarm(COPY_S);
        inside = copied = true;
        return true;
    }
    refute_promises_serve(ends[0]);
    int status = 0;
    if (copy < 0 || waitpid(copy, &status, 0) != copy) {
        _exit(1);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == REFUTED) {
        _exit(REFUTED);
    }
    board->hung += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    if (board->hung == HUNG_MAX) { /* it may never end, which no run shows */
        _exit(0);
    }
    return false;
}

void refute_end(void)
{
    inside = false;
    ended = true;
}

void refute_between(void)
{
    if (ended) {
        check();
        _exit(0);
    }
}

static void play(const struct input *input, struct timeval most)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(input->path, "rb");
    if (file == NULL) {
        perror(input->path);
        _exit(1);
    }
    size_t size = fread(data, 1, sizeof data, file);
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        if (strcmp(targets[i].name, input->target) == 0) {
            (void)setitimer(ITIMER_PROF, &(struct itimerval){{0, 0}, most}, NULL);
            (void)targets[i].play(data, size);
            refute_between();
            _exit(0);
        }
    }
    fprintf(stderr, "refute: no target %s\n", input->target);
    _exit(1);
}

/* True when something was broken. */
static bool run(struct input *input, struct timeval most)
{
    pid_t copy = fork();
    if (copy == 0) {
        play(input, most);
    }
    int status = 0;
    if (copy < 0 || waitpid(copy, &status, 0) != copy) {
        perror("refute");
        exit(2);
    }
    input->left = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
    board->spoilt += !input->left && (!WIFEXITED(status) ||
                                      (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != REFUTED));
    return WIFEXITED(status) && WEXITSTATUS(status) == REFUTED;
}

/* The first of those that are left of which a run broke something, until the time is up; NULL when there is none. */
static const struct input *run_all(size_t count, struct timeval most, time_t end)
{
    for (size_t i = 0; i < count && time(NULL) < end && board->hung < HUNG_MAX; i++) {
        if (inputs[i].left && run(&inputs[i], most)) {
            return &inputs[i];
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    if (argc != 4) {
        return 2;
    }
    checkers = atoi(argv[1]);
    fixed = atoi(argv[2]) != 0;
    time_t end = time(NULL) + atoi(argv[3]);
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    while (count < INPUTS_MAX &&
           scanf("%31s %255s", inputs[count].target, inputs[count].path) == 2) {
        inputs[count++].left = true;
    }
    const struct input *by = run_all(count, first_time, end);
    by = by == NULL ? run_all(count, second_time, end) : by;
    if (by != NULL) {
        printf("refuted: %s: %s %s\n", board->why, by->target, by->path);
    } else {
        printf("tried %u calls, of which %u did not end; %u inputs failed\n", board->tries,
               board->hung, board->spoilt);
    }
    return 0;
}
