/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluice-sim: options. */
#include "sim.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: sluice-sim --seed S [--ahead|--replicas] [--steps N] [--queues N] [--no-faults] "
    "[--keep 0,3,..] [--quiet | --shrink]\n"
    "       sluice-sim --seeds N [--ahead|--replicas] [--base B] [--processes P] [--steps N] "
    "[--queues N] [--no-faults] [--figures FILE]\n"
    "The first plays one seed and prints its story; with --shrink it looks "
    "for the fewest events that still fail.\n"
    "The second plays the seeds B .. B+N-1, says which fail, and writes "
    "the sums to FILE as JSON.\n";

static unsigned long long number(const char *text, unsigned long long max)
{
    char *end = NULL;
    unsigned long long n = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || n > max) {
        (void)fprintf(stderr, "sluice-sim: \"%s\" is no number up to %llu\n%s", text, max, usage);
        exit(2);
    }
    return n;
}

/* All but the events that are named are dropped. */
static const bool *keep(const char *list)
{
    static bool dropped[SIM_EVENTS_MAX];
    char *text = strdup(list);
    memset(dropped, true, sizeof dropped);
    for (char *one = strtok(text, ","); one != NULL; one = strtok(NULL, ",")) {
        if (strcmp(one, "none") != 0) {
            dropped[number(one, SIM_EVENTS_MAX - 1)] = false;
        }
    }
    free(text);
    return dropped;
}

int main(int argc, char **argv)
{
    enum {
        SEED = 1,
        SEEDS,
        BASE,
        PROCESSES,
        STEPS,
        QUEUES,
        NO_FAULTS,
        KEEP,
        QUIET,
        SHRINK,
        FIGURES,
        TWO,
        AHEAD
    };
    static const struct option names[] = {
        {"seed", 1, NULL, SEED},           {"seeds", 1, NULL, SEEDS},
        {"base", 1, NULL, BASE},           {"steps", 1, NULL, STEPS},
        {"queues", 1, NULL, QUEUES},       {"processes", 1, NULL, PROCESSES},
        {"keep", 1, NULL, KEEP},           {"quiet", 0, NULL, QUIET},
        {"no-faults", 0, NULL, NO_FAULTS}, {"shrink", 0, NULL, SHRINK},
        {"figures", 1, NULL, FIGURES},     {"replicas", 0, NULL, TWO},
        {"ahead", 0, NULL, AHEAD},         {NULL, 0, NULL, 0}};
    struct sim_options o = {
        .events = 120, .queues = SIM_QUEUES_DEFAULT, .faults = true, .print = true};
    struct sim_seeds seeds = {.base = 1, .processes = 1};
    bool given = false, shrink = false;
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (c) {
        case SEED:
            o.seed = number(optarg, UINT64_MAX);
            given = true;
            break;
        case SEEDS:
            seeds.count = (unsigned)number(optarg, 10000000);
            break;
        case BASE:
            seeds.base = number(optarg, UINT64_MAX);
            break;
        case PROCESSES:
            seeds.processes = (unsigned)number(optarg, 16);
            break;
        case STEPS:
            o.events = (unsigned)number(optarg, SIM_EVENTS_MAX);
            break;
        case QUEUES:
            o.queues = (unsigned)number(optarg, 1000);
            break;
        case NO_FAULTS:
            o.faults = false;
            break;
        case KEEP:
            o.dropped = keep(optarg);
            break;
        case QUIET:
            o.print = false;
            break;
        case FIGURES:
            seeds.figures = optarg;
            break;
        case TWO:
            o.replicas = true;
            break;
        case AHEAD:
            o.ahead = true;
            break;
        case SHRINK:
            shrink = true;
            break;
        default:
            (void)fputs(usage, stderr);
            return 2;
        }
    }
    if (given == (seeds.count > 0) || seeds.processes == 0 || o.queues == 0 || optind < argc) {
        (void)fputs(usage, stderr);
        return 2;
    }
    if (seeds.count > 0) {
        o.print = false;
        return sim_seeds_run(&o, &seeds);
    }
    return shrink ? sim_seeds_shrink(&o) : sim_seeds_one(&o);
}
