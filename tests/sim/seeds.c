/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Each run is a process of its own, since the core is one a process and a broken guarantee ends it; what it prints
 * and how it ended is its result. A failing seed is shrunk by leaving out ever smaller pieces of its events. */
#include "sim.h"
#include "base/clock.h"
#include "base/mem.h"
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES_MAX 16u
#define FAILURES_MAX 100u
#define RUN_S_MAX 600u /* of one seed, on a machine that has much else to do: longer is a hang */

static const char *temporary(void)
{
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st;
    (void)flag;
    (void)at;
    return remove(path);
}

/* A run under way. */
struct run {
    pid_t pid; /* 0: none */
    struct sim_options options;
    char dir[64];
    char output[96];
};

static void run_start(struct run *r, const struct sim_options *o, bool silent)
{
    r->options = *o;
    (void)snprintf(r->dir, sizeof r->dir, "%s/sluice-sim.XXXXXX", temporary());
    if (mkdtemp(r->dir) == NULL) {
        perror(r->dir);
        exit(2);
    }
    (void)snprintf(r->output, sizeof r->output, "%s/output", r->dir);
    r->options.dir = r->dir;
    (void)fflush(stdout);
    r->pid = fork();
    if (r->pid == 0) {
        if (silent &&
            (freopen(r->output, "w", stdout) == NULL || dup2(STDOUT_FILENO, STDERR_FILENO) < 0)) {
            _exit(2);
        }
        (void)alarm(RUN_S_MAX);
        sim_play(&r->options);
        (void)fflush(stdout);
        exit(0);
    }
}

/* How a process ended, as a shell says it; `said` gets the end of what it printed. */
static int run_end(struct run *r, int status, char *said, size_t size)
{
    if (said != NULL) {
        FILE *f = fopen(r->output, "r");
        if (f != NULL && fseek(f, -(long)(size - 1), SEEK_END) != 0) {
            rewind(f);
        }
        size_t n = f == NULL ? 0 : fread(said, 1, size - 1, f);
        said[n] = '\0';
        if (f != NULL) {
            (void)fclose(f);
        }
    }
    (void)nftw(r->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    r->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int sim_seeds_one(const struct sim_options *o)
{
    struct run r;
    int status = 0;
    run_start(&r, o, false);
    (void)waitpid(r.pid, &status, 0);
    return run_end(&r, status, NULL, 0);
}

/* --- many --------------------------------------------------------------------------------------- */

static const char *mode_of(const struct sim_options *o)
{
    return o->replicas ? " --replicas" : o->ahead ? " --ahead" : "";
}

static void say_failure(const struct sim_options *o, int code, const char *said)
{
    (void)printf("seed %llu FAILED (exit %d): %s\n  replay: sluice-sim --seed %llu --steps %u "
                 "--queues %u%s%s\n"
                 "  shrink: the same with --shrink\n",
                 (unsigned long long)o->seed, code, said, (unsigned long long)o->seed, o->events,
                 o->queues, o->faults ? "" : " --no-faults", mode_of(o));
    (void)fflush(stdout);
}

static struct run *run_of(struct run *runs, unsigned count, pid_t pid)
{
    for (unsigned i = 0; i < count; i++) {
        if (runs[i].pid == pid) {
            return &runs[i];
        }
    }
    return NULL;
}

struct campaign {
    uint64_t base;
    unsigned count, processes, started, passed, failed;
    uint64_t failures[FAILURES_MAX]; /* seeds, the first ones */
    double hours, wall_s, cpu_s;
    unsigned long tally[SIM_TALLY_COUNT];
};

static void take_result(struct campaign *k, struct run *r, int status)
{
    char said[4096];
    double hours = 0;
    int code = run_end(r, status, said, sizeof said);
    if (code != 0) {
        say_failure(&r->options, code, said);
        if (k->failed < FAILURES_MAX) {
            k->failures[k->failed] = r->options.seed;
        }
        k->failed++;
        return;
    }
    const char *hash = strstr(said, "hash ");
    if (hash == NULL || sscanf(hash + 21, ", %lf", &hours) != 1) {
        (void)printf("seed %llu said nothing of how it went\n",
                     (unsigned long long)r->options.seed);
        k->failed++;
        return;
    }
    k->passed++;
    k->hours += hours;
    sim_tally_read(said, k->tally);
}

static double cpu_s(void)
{
    struct rusage u;
    (void)getrusage(RUSAGE_CHILDREN, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* For the page of evidence: tests/evidence. */
static int write_figures(const struct campaign *k, const struct sim_options *o, const char *path)
{
    FILE *f = fopen(path, "w");
    if (f == NULL) {
        perror(path);
        return 1;
    }
    (void)fprintf(f,
                  "{\n \"seeds\": %u,\n \"failed\": %u,\n \"base\": %llu,\n \"queues\": %u,\n"
                  " \"steps\": %u,\n \"faults\": %s,\n \"processes\": %u,\n"
                  " \"virtual_hours\": %.1f,\n \"wall_s\": %.1f,\n \"cpu_s\": %.1f,\n"
                  " \"failures\": [",
                  k->passed + k->failed, k->failed, (unsigned long long)k->base, o->queues,
                  o->events, o->faults ? "true" : "false", k->processes, k->hours, k->wall_s,
                  k->cpu_s);
    for (unsigned i = 0; i < k->failed && i < FAILURES_MAX; i++) {
        (void)fprintf(f, "%s%llu", i == 0 ? "" : ", ", (unsigned long long)k->failures[i]);
    }
    (void)fprintf(f, "],\n \"tally\": {");
    for (unsigned i = 0; i < SIM_TALLY_COUNT; i++) {
        (void)fprintf(f, "%s\n  \"%s\": %lu", i == 0 ? "" : ",", sim_tally_name((enum sim_tally)i),
                      k->tally[i]);
    }
    (void)fprintf(f, "\n }\n}\n");
    return fclose(f) == 0 ? 0 : 1;
}

static void say_sums(const struct campaign *k)
{
    (void)printf(
        "%.0f virtual hours in %.1f s of CPU time, %.1f s on %u processes: %.0f an hour of "
        "CPU time\n",
        k->hours, k->cpu_s, k->wall_s, k->processes, k->cpu_s > 0 ? k->hours * 3600 / k->cpu_s : 0);
    for (unsigned i = 0; i < SIM_TALLY_COUNT; i++) {
        (void)printf("%s%s %lu", i == 0 ? "" : ", ", sim_tally_name((enum sim_tally)i),
                     k->tally[i]);
    }
    (void)printf("\n%u passed, %u failed\n", k->passed, k->failed);
}

int sim_seeds_run(const struct sim_options *o, const struct sim_seeds *seeds)
{
    static struct run runs[PROCESSES_MAX];
    struct campaign k = {.base = seeds->base,
                         .count = seeds->count,
                         .processes =
                             seeds->processes > PROCESSES_MAX ? PROCESSES_MAX : seeds->processes};
    int64_t began_us = sl_clock_monotonic_us();
    while (k.passed + k.failed < k.count) {
        struct run *free_one = run_of(runs, k.processes, 0);
        if (free_one != NULL && k.started < k.count) {
            struct sim_options options = *o;
            options.seed = k.base + k.started++;
            run_start(free_one, &options, true);
            continue;
        }
        int status = 0;
        struct run *r = run_of(runs, k.processes, wait(&status));
        take_result(&k, r, status);
    }
    k.wall_s = (double)(sl_clock_monotonic_us() - began_us) / 1e6;
    k.cpu_s = cpu_s();
    int written = seeds->figures != NULL ? write_figures(&k, o, seeds->figures) : 0;
    say_sums(&k);
    return k.failed == 0 ? written : 1;
}

/* --- shrinking ---------------------------------------------------------------------------------- */

static int try(const struct sim_options *o, const bool *dropped, char *said, size_t size)
{
    struct run r;
    struct sim_options options = *o;
    int status = 0;
    options.dropped = dropped;
    options.print = false;
    run_start(&r, &options, true);
    (void)waitpid(r.pid, &status, 0);
    return run_end(&r, status, said, size);
}

/* Leave out each piece of that size that is not needed for the same end. */
static bool shrink_by(const struct sim_options *o, bool *dropped, unsigned size, int code)
{
    bool smaller = false;
    bool attempt[SIM_EVENTS_MAX];
    for (unsigned from = 0; from < o->events; from += size) {
        bool any = false;
        memcpy(attempt, dropped, sizeof attempt);
        for (unsigned i = from; i < from + size && i < o->events; i++) {
            any = any || !attempt[i];
            attempt[i] = true;
        }
        if (any && try(o, attempt, NULL, 0) == code) {
            memcpy(dropped, attempt, sizeof attempt);
            smaller = true;
        }
    }
    return smaller;
}

int sim_seeds_shrink(const struct sim_options *o)
{
    static bool dropped[SIM_EVENTS_MAX];
    char said[4096] = "";
    if (o->dropped != NULL) {
        memcpy(dropped, o->dropped, sizeof dropped);
    }
    int code = try(o, dropped, said, sizeof said);
    if (code == 0) {
        (void)printf("seed %llu does not fail\n", (unsigned long long)o->seed);
        return 0;
    }
    for (unsigned size = (o->events + 1) / 2; size > 0; size = size == 1 ? 0 : (size + 1) / 2) {
        while (shrink_by(o, dropped, size, code) && size == 1) {
        }
    }
    unsigned left = 0;
    (void)try(o, dropped, said, sizeof said);
    (void)printf("%s  shrunk: sluice-sim --seed %llu --steps %u --queues %u%s%s --keep ", said,
                 (unsigned long long)o->seed, o->events, o->queues, o->faults ? "" : " --no-faults",
                 mode_of(o));
    for (unsigned i = 0; i < o->events; i++) {
        if (!dropped[i]) {
            (void)printf("%s%u", left++ == 0 ? "" : ",", i);
        }
    }
    (void)printf("%s\n  %u of %u events are left\n", left == 0 ? "none" : "", left, o->events);
    return code;
}
