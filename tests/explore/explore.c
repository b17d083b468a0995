/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Depth-first search through every history of a small world: the real kernel, policy and engine around a little cluster
 * (cluster.h), everything that may happen in any order (events.def), the guarantees asked after each step (rest.h). A
 * state that was seen before is not gone into again. First without troubles, then with one, and so on. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tests/explore/cluster.h"
#include "tests/explore/core.h"
#include "tests/explore/events.h"
#include "tests/explore/memory.h"
#include "tests/explore/rest.h"
#include "tests/explore/state.h"

#define SEEN_MAX (1u << 22) /* a power of two */
enum { DEPTH_MAX = 2000, PATH_TEXT = 65536, AUDITED = 16, FIRST_LIMIT = 6, LEVELS_MAX = 8 };

const struct world worlds[] = {
#define WORLD(name, text, ...) {#name, text, __VA_ARGS__},
#include "tests/explore/worlds.def"
#undef WORLD
};
const uint32_t world_count = sizeof worlds / sizeof worlds[0];

struct frame {
    struct snapshot snapshot;
    struct event next, came;
    uint64_t sum, successors; /* what the states after it come to */
    bool again;               /* it was seen before: only its successors are looked at */
};
/* The search's own, which no restore touches. */
struct search {
    struct snapshot start, root, aside;
    struct frame frames[DEPTH_MAX];
    uint32_t depth, deepest, limit;
    uint64_t seen_count, transitions, rests, audits, differences;
    double until_s;
    bool cut, out_of_time, audit; /* cut: there is more below the limit */
    sigjmp_buf back;
    char what[1024];
    struct event path[DEPTH_MAX];
    uint32_t length;
    uint64_t seen[SEEN_MAX], successors[SEEN_MAX];
    uint16_t depths
        [SEEN_MAX]; /* at which it was seen: it is gone into again from nearer to the beginning */
};
static struct search *search;

static double now_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- what is broken ----------------------------------------------------------------------------- */

void broken(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(search->what, sizeof search->what, format, args);
    va_end(args);
    siglongjmp(search->back, 1);
}

static void on_signal(int number)
{
    (void)snprintf(search->what, sizeof search->what, "the program stopped: %s", strsignal(number));
    siglongjmp(search->back, 1);
}

/* --- states ------------------------------------------------------------------------------------- */

/* Its place, or where it belongs. */
static uint64_t *place_of(uint64_t sum)
{
    uint64_t i = sum & (SEEN_MAX - 1);
    while (search->seen[i] != 0 && search->seen[i] != sum) {
        i = (i + 1) & (SEEN_MAX - 1);
    }
    return &search->seen[i];
}

static uint64_t sum_now(void)
{
    uint64_t sum = state_sum();
    return sum == 0 ? 1 : sum;
}

/* Names of queues whose status has changed are for nobody here. */
static void drop_touched(void)
{
    enum sl_kind kind;
    const char *ns, *name;
    while (sl_engine_next_touched(cluster.engine, &kind, &ns, &name)) {
    }
}

/* One event and what has to hold then. */
static void step(struct event e)
{
    event_happen(e);
    drop_touched();
    check_step(event_is_cycle(e));
    core_wipe();
}

/* What has to hold of a state that was not seen before. It is another one afterwards. */
static void look_at_rest(void)
{
    if (is_at_rest()) {
        search->rests++;
        check_rest();
        snapshot_take(&search->aside);
        probe_rest();
        core_wipe();
        snapshot_restore(&search->aside);
        probe_restart();
        core_wipe();
    }
}

static void push(struct event came, uint64_t sum, bool again)
{
    struct frame *f = &search->frames[search->depth];
    if (search->depth + 1 == DEPTH_MAX) {
        broken("a history of %u steps that does not come back to a state it was in", DEPTH_MAX);
    }
    f->next = EVENT_FIRST;
    f->came = came;
    f->sum = sum;
    f->successors = 0;
    f->again = again;
    snapshot_take(&f->snapshot);
    search->depth++;
    search->deepest = search->depth > search->deepest ? search->depth : search->deepest;
}

/* --- the search --------------------------------------------------------------------------------- */

/* All its successors are known. Seen before: they have to be the same. */
static void pop(struct frame *f)
{
    uint64_t *kept = &search->successors[place_of(f->sum) - search->seen];
    if (f->again) {
        search->audits++;
        search->differences += *kept != 0 && *kept != f->successors ? 1 : 0;
    } else {
        *kept = f->successors;
    }
    search->depth--;
}

static void note_path(struct event last)
{
    search->length = 0;
    for (uint32_t i = 1; i < search->depth; i++) {
        search->path[search->length++] = search->frames[i].came;
    }
    search->path[search->length++] = last;
}

static void go_into(struct event came, uint64_t sum)
{
    if (search->depth < search->limit) {
        push(came, sum, false);
    } else {
        search->cut = true;
    }
}

static void take(struct frame *f)
{
    note_path(f->next);
    search->transitions++;
    step(f->next);
    uint64_t sum = sum_now();
    uint64_t *place = place_of(sum);
    f->successors = f->successors * 1099511628211u + sum + f->next.kind * 7u + f->next.a;
    uint16_t *depth = &search->depths[place - search->seen];
    bool is_new = *place == 0;
    if (is_new || *depth > search->depth) {
        search->successors[place - search->seen] = 0;
        *place = sum;
        *depth = (uint16_t)search->depth;
        search->seen_count += is_new ? 1 : 0;
        go_into(f->next, sum);
        if (is_new) {
            look_at_rest();
        }
    } else if (search->audit && !f->again && sum % AUDITED == 0) {
        push(f->next, sum, true);
    }
}

static void go_on(void)
{
    while (search->depth > 0) {
        struct frame *f = &search->frames[search->depth - 1];
        bool full = search->seen_count > SEEN_MAX / 4 * 3;
        if (full || (search->transitions % 64 == 0 && now_s() > search->until_s)) {
            search->out_of_time = true;
            return;
        }
        snapshot_restore(&f->snapshot);
        if (event_next(&f->next)) {
            if (f->again) { /* one step, no farther */
                note_path(f->next);
                step(f->next);
                f->successors =
                    f->successors * 1099511628211u + sum_now() + f->next.kind * 7u + f->next.a;
            } else {
                take(f);
            }
        } else {
            pop(f);
        }
    }
}

static void begin(const struct world *world, uint32_t troubles)
{
    snapshot_restore(&search->start);
    core_wipe();
    cluster_open(world, troubles);
    drop_touched();
    check_step(false);
    core_wipe();
    snapshot_take(&search->root);
}

/* True: nothing is broken as far as was looked. */
static bool look_for(const struct world *world, uint32_t troubles)
{
    memset(search->seen, 0, sizeof search->seen);
    memset(search->depths, 0, sizeof search->depths);
    search->seen_count = 0;
    search->depth = 0;
    search->cut = false;
    if (sigsetjmp(search->back, 1) != 0) {
        return false;
    }
    begin(world, troubles);
    uint64_t sum = sum_now();
    *place_of(sum) = sum;
    search->seen_count = 1;
    push(EVENT_FIRST, sum, false);
    go_on();
    return true;
}

/* --- a history again ---------------------------------------------------------------------------- */

/* False: it breaks something. Events that cannot happen are left out. */
static bool play(const struct event *path, uint32_t length, bool tell)
{
    char name[32];
    if (sigsetjmp(search->back, 1) != 0) {
        return false;
    }
    snapshot_restore(&search->root);
    core_wipe();
    for (uint32_t i = 0; i < length; i++) {
        if (event_can(path[i])) {
            event_name(path[i], name, sizeof name);
            if (tell) {
                fprintf(stderr, "  %s\n", name);
            }
            step(path[i]);
            if (tell) {
                core_tell();
            }
        }
    }
    look_at_rest();
    return true;
}

/* Without every event that it does not need. */
static void shorten(void)
{
    struct event *tried = memory_new(sizeof search->path);
    for (bool shorter = true; shorter;) {
        shorter = false;
        for (uint32_t i = search->length; i-- > 0;) {
            memcpy(tried, search->path, i * sizeof *tried);
            memcpy(tried + i, search->path + i + 1, (search->length - i - 1) * sizeof *tried);
            if (!play(tried, search->length - 1, false)) {
                memcpy(search->path, tried, (search->length - 1) * sizeof *tried);
                search->length--;
                shorter = true;
            }
        }
    }
    (void)play(search->path, search->length, false); /* what it says */
}

static void print_path(const struct world *world, uint32_t troubles)
{
    char name[32];
    printf("  replay: WORLD=%s TROUBLES=%u EVENTS=\"", world->name, troubles);
    for (uint32_t i = 0; i < search->length; i++) {
        event_name(search->path[i], name, sizeof name);
        printf("%s%s", i > 0 ? " " : "", name);
    }
    printf("\"\n");
}

/* --- worlds ------------------------------------------------------------------------------------- */

static void tell_found(const struct world *world, uint32_t troubles, double seconds)
{
    uint32_t found = search->length;
    shorten();
    printf(
        "FAILED %-8s %s\n  after %llu states, %llu transitions, %.1f s; %u events, at first %u\n",
        world->name, search->what, (unsigned long long)search->seen_count,
        (unsigned long long)search->transitions, seconds, search->length, found);
    print_path(world, troubles);
}

/* How far the search has come with so many troubles. */
struct level {
    bool whole;
    uint32_t steps;
    uint64_t states;
};

/* All histories of so many troubles and steps. False: something is broken. */
static bool look_to(const struct world *world, uint32_t troubles, struct level *level)
{
    if (!look_for(world, troubles)) {
        return false;
    }
    if (!search->out_of_time) {
        *level = (struct level){!search->cut, search->limit, search->seen_count};
    }
    return true;
}

static void tell_levels(const struct level *levels, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (levels[i].whole) {
            printf(" %u: all, %llu;", i, (unsigned long long)levels[i].states);
        } else {
            printf(" %u: %u steps, %llu;", i, levels[i].steps,
                   (unsigned long long)levels[i].states);
        }
    }
}

static void tell_good(const struct world *world, const struct level *levels, uint32_t count,
                      double seconds)
{
    printf("ok     %-8s states by troubles", world->name);
    tell_levels(levels, count);
    printf(" %llu transitions, %llu at rest, depth %u, %.0f s",
           (unsigned long long)search->transitions, (unsigned long long)search->rests,
           search->deepest, seconds);
    if (search->audit) {
        printf(", %llu audited, %llu differ", (unsigned long long)search->audits,
               (unsigned long long)search->differences);
    }
    printf("\n");
}

/* Few steps without troubles, with one and so on, then more steps, until all is seen or time is up. */
static bool explore(const struct world *world, double seconds, uint32_t troubles_max)
{
    double began_s = now_s();
    struct level levels[LEVELS_MAX] = {0};
    uint32_t most = troubles_max != UINT32_MAX ? troubles_max : world->troubles;
    uint32_t count = most < LEVELS_MAX ? most + 1 : LEVELS_MAX;
    uint32_t whole = 0;
    search->deepest = 0;
    search->transitions = search->rests = search->audits = search->differences = 0;
    search->until_s = began_s + seconds;
    search->out_of_time = false;
    for (search->limit = FIRST_LIMIT; whole < count && !search->out_of_time;
         search->limit += search->limit / 4) {
        for (uint32_t i = whole; i < count && !search->out_of_time; i++) {
            if (!levels[i].whole && !look_to(world, i, &levels[i])) {
                tell_found(world, i, now_s() - began_s);
                return false;
            }
        }
        while (whole < count && levels[whole].whole) {
            whole++;
        }
    }
    tell_good(world, levels, count, now_s() - began_s);
    return true;
}

static bool replay(const struct world *world, uint32_t troubles, const char *events)
{
    search->length = 0;
    if (sigsetjmp(search->back, 1) == 0) {
        begin(world, troubles);
    }
    for (const char *at = events; *at != '\0'; at += strcspn(at, " "), at += strspn(at, " ")) {
        if (search->length == DEPTH_MAX || !event_read(at, &search->path[search->length++])) {
            fprintf(stderr, "no event: %s\n", at);
            exit(2);
        }
    }
    bool good = play(search->path, search->length, true);
    printf("%s %s\n", good ? "ok    " : "FAILED", good ? world->name : search->what);
    return good;
}

/* --- the program -------------------------------------------------------------------------------- */

static void prepare(void)
{
    static const int signals[] = {SIGABRT, SIGSEGV, SIGFPE, SIGBUS};
    setvbuf(stdout, memory_new(PATH_TEXT), _IOLBF, PATH_TEXT);
    search = memory_new(sizeof *search);
    for (uint32_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};
        (void)sigaction(signals[i], &action, NULL);
    }
    core_begin();
    snapshot_take(&search->start);
}

struct options {
    const char *world, *events;
    double seconds;
    uint32_t troubles;
};

static bool read_option(struct options *o, const char *name, const char *value)
{
    if (strcmp(name, "--world") == 0) {
        o->world = value;
    } else if (strcmp(name, "--events") == 0) {
        o->events = value;
    } else if (strcmp(name, "--seconds") == 0) {
        o->seconds = strtod(value, NULL);
    } else if (strcmp(name, "--troubles") == 0) {
        o->troubles = (uint32_t)strtoul(value, NULL, 10);
    } else {
        return false;
    }
    return true;
}

static uint32_t left_to_do(const struct options *o, uint32_t from)
{
    uint32_t left = 0;
    for (uint32_t i = from; i < world_count; i++) {
        left += o->world == NULL || strcmp(o->world, worlds[i].name) == 0 ? 1 : 0;
    }
    return left;
}

/* What a world does not need of its time is the others'. */
static int explore_all(const struct options *o)
{
    uint32_t passed = 0, failed = 0;
    double until_s = now_s() + o->seconds;
    for (uint32_t i = 0; i < world_count; i++) {
        if (o->world != NULL && strcmp(o->world, worlds[i].name) != 0) {
            continue;
        }
        double share_s = (until_s - now_s()) / left_to_do(o, i);
        bool good = o->events != NULL ? replay(&worlds[i], o->troubles, o->events)
                                      : explore(&worlds[i], share_s, o->troubles);
        passed += good ? 1 : 0;
        failed += good ? 0 : 1;
    }
    printf("explore: %u passed, %u failed\n", passed, failed);
    return failed != 0 || passed == 0;
}

int main(int argc, char **argv)
{
    struct options o = {.seconds = 60, .troubles = UINT32_MAX};
    prepare();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--audit") == 0) {
            search->audit = true;
        } else if (i + 1 >= argc || !read_option(&o, argv[i], argv[i + 1])) {
            fprintf(stderr, "usage: explore [--world NAME] [--seconds S] [--troubles N] [--events "
                            "\"E...\"] [--audit]\n");
            return 2;
        } else {
            i++;
        }
    }
    return explore_all(&o);
}
