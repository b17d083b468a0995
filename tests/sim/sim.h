/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The simulator: the daemon's store, engine and controllers with the standalone cluster, in one process, under one
 * virtual clock and one seed. A run is a world, then a program of events that all come from the seed alone, then
 * rest. What the modules share. */
#ifndef SL_TESTS_SIM_SIM_H
#define SL_TESTS_SIM_SIM_H
#include "controllers/control/controllers.h"
#include "store/store.h"

#define SIM_START_MS 1800000000000LL
#define SIM_EVENTS_MAX 4096u
#define SIM_EXIT_VIOLATION 1
#define SIM_QUEUES_DEFAULT 6u
#define SIM_CHECKS_MAX 3u

/* --- tally.c: what happened how often ------------------------------------------------------------ */
enum sim_tally {
#define SIM_TALLY(constant, name) constant,
#include "tally.def"
#undef SIM_TALLY
    SIM_TALLY_COUNT
};
void sim_tally(enum sim_tally what);
void sim_tally_add(enum sim_tally what, unsigned long n);
const char *sim_tally_name(enum sim_tally what);
void sim_tally_print(void);
/* Adds what the line that was printed says. */
void sim_tally_read(const char *said, unsigned long sums[SIM_TALLY_COUNT]);

/* --- chance.c: numbers that are a function of a seed ------------------------------------------- */
struct sim_chance {
    uint64_t state;
};
uint64_t sim_chance_next(struct sim_chance *c);
uint32_t sim_chance_below(struct sim_chance *c, uint32_t n); /* 0 .. n-1; n > 0 */
bool sim_chance_of(struct sim_chance *c, uint32_t percent);

/* --- story.c: what happened, line by line; the same seed gives the same story ------------------- */
void sim_story_begin(bool print);
void sim_story_tell(const char *who, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t sim_story_hash(void);
unsigned long sim_story_lines(void);
/* Something that must never be: says it, with the story's end, and ends the process. */
void sim_story_violation(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* --- events.c: the program that a seed stands for ---------------------------------------------- */
enum sim_event_kind {
#define SIM_EVENT(constant, weight, text) constant,
#include "events.def"
#undef SIM_EVENT
    SIM_EVENT_COUNT
};
struct sim_event {
    int64_t at_ms; /* after the start */
    enum sim_event_kind kind;
    uint64_t seed; /* of what it does: it does not depend on what happened before */
};

struct sim_options {
    uint64_t seed;
    unsigned events; /* how many the seed stands for */
    unsigned queues;
    bool faults;
    bool replicas; /* two of the daemon of a cluster, see replicas.h */
    bool ahead;    /* what is staged is told before it is durable (store/ahead.c) */
    bool print;
    const bool *dropped; /* by event; NULL = none */
    const char *dir;     /* for the store; the caller's to make and to remove */
};

struct sim_replicas;
/* --- relay.c: the client interface with faults -------------------------------------------------- */
struct sim_relay;

/* --- all together ------------------------------------------------------------------------------- */
struct sim {
    const struct sim_options *options;
    struct sl_engine_settings settings;
    struct sl_job_rules job_rules;
    int64_t now_ms;
    struct sl_store *store;
    struct sl_engine *engine;
    struct sl_controllers *controllers;
    struct sim_relay *relay;
    struct sim_replicas *replicas; /* then there is no engine, controllers, relay: replicas.h */
    bool kicked;
    bool lost;               /* what was told ahead is: it has to begin again */
    bool troubled_before;    /* the last commit failed by a fault of the disk */
    bool spoiled;            /* power was cut from a disk that lied: the database may be damaged */
    struct sim_chance turns; /* when a turn ends with a commit */
    struct sim_chance rot;   /* what becomes of the database between two lives */
    struct sl_map *told;     /* workload -> what the story last said of it */
    struct sl_map *ended;    /* workloads that had finished when they were last told of */
    struct sl_map *seen;     /* workload -> its newest version that was told in this life */
    uint64_t told_watch;
    unsigned lives; /* how often it was opened */
    unsigned long turn_count, job_count, pod_count, settled_count;
    bool has_topology, has_slices, has_check, has_provisioning, has_pods, has_elastic;
    bool has_several_checks; /* a queue did ask for more than one, at some time */
    unsigned
        check_count; /* of checks that somebody else answers; those after the first come with it */
};

struct sim_relay *sim_relay_new(struct sim *s, const struct sl_client *behind);
void sim_relay_free(
    struct sim_relay *r); /* replies that wait are lost, as those of a dead process */
struct sl_client sim_relay_client(struct sim_relay *r);
/* Hand out what is due; true when something was. */
bool sim_relay_deliver(struct sim_relay *r);
int64_t sim_relay_due_ms(const struct sim_relay *r);
/* The next `count` writes fail with that chance; with `applied`, some of them after they were carried out. */
void sim_relay_fail(struct sim_relay *r, uint64_t seed, unsigned count, unsigned percent);
/* Until then what watches tell and writes answer comes late, by up to delay_ms. */
void sim_relay_delay(struct sim_relay *r, uint64_t seed, int64_t until_ms, int64_t delay_ms);
/* The next `count` reads fail with that chance. */
void sim_relay_blind(struct sim_relay *r, uint64_t seed, unsigned count, unsigned percent);
void sim_relay_calm(struct sim_relay *r); /* no faults any more */

/* --- recall.c: what was told is there when the store comes back ----------------------------------- */
void sim_recall_begin(struct sim *s); /* from what is there now on */
void sim_recall_watch(struct sim *s); /* the commits of the store that is open */
void sim_recall_failed(void);         /* a commit did */
/* After a restart; with `lost`, a disk that lied has lost power. */
void sim_recall_check(struct sim *s, bool lost);
void sim_recall_compare(struct sim *s); /* what is there, with what was told last */
bool sim_recall_sound(struct sim *s);

/* --- mirror.c: objects against their records ------------------------------------------------------ */
void sim_mirror_told(struct sim *s, bool deleted, const struct sl_json *workload);
void sim_mirror_look(struct sim *s);   /* at an instant at which nothing is left to do */
void sim_mirror_forget(struct sim *s); /* what comes next need not follow what was told */

/* --- life.c: the process: opened, stepped, ended, killed ---------------------------------------- */
void sim_life_open(struct sim *s);
void sim_life_close(struct sim *s);
/* From now on the story tells of Workloads. */
void sim_life_tell(struct sim *s);
/* Everything that can be done now, then everything that becomes due until `until_ms`; the clock is there then. */
void sim_life_run(struct sim *s, int64_t until_ms);
/* The next thing is due then; INT64_MAX = never. */
int64_t sim_life_due_ms(const struct sim *s);
enum sim_death {
    SIM_DEATH_CLEAN, /* as by SIGTERM: all is written */
    SIM_DEATH_CRASH, /* what was not committed is lost */
    SIM_DEATH_TORN,  /* in the middle of a commit: a part of its writes is there */
    SIM_DEATH_POWER  /* any of these, and what was not synced is lost as well */
};
void sim_life_restart(struct sim *s, enum sim_death death);

/* --- objects.c: reading and writing the store as an administrator ------------------------------- */
/* The text is JSON with printf's marks, kind by its constant; told in the story, with its error when refused. */
enum sl_code sim_create(struct sim *s, enum sl_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum sl_code sim_create_object(struct sim *s, enum sl_kind kind,
                               struct sl_json *object); /* takes it */
enum sl_code sim_patch(struct sim *s, enum sl_kind kind, const struct sl_json *of, bool status,
                       struct sl_json *patch); /* takes the patch */
enum sl_code sim_delete(struct sim *s, enum sl_kind kind, const struct sl_json *object,
                        const char *propagation);
struct sl_json *sim_list(struct sim *s, enum sl_kind kind); /* a list value; the caller's */
struct sl_json *sim_pick(struct sim *s, enum sl_kind kind,
                         struct sim_chance *c); /* NULL = none; the caller's */

/* --- stands.c: where pods stand by what the store says; nobody is put where there is no room -------- */
void sim_placed_begin(struct sim *s);                    /* with the store that is open */
void sim_placed_see(const struct sl_json *w, bool gone); /* a Workload that changed, or is gone */
/* Is a node given to more than it ever had? Then it says where. */
bool sim_placed_exceeded(struct sl_buf *where);
void sim_placed_end(void);

/* --- world.c, admin.c, events.c, rest.c, audit.c ------------------------------------------------- */
void sim_world_settings(struct sim *s);
void sim_world_make(struct sim *s);
void sim_world_tally(const struct sim *s); /* of what sort it was */
/* Quotas and policies into a spec that has, or has not, its cohortName. */
void sim_world_queue_spec(struct sim *s, struct sim_chance *c, struct sl_json *spec);
/* These make what is missing. */
void sim_world_local_queue(struct sim *s, unsigned number);
void sim_world_topology(struct sim *s, bool racks);
void sim_world_flavors(struct sim *s);
void sim_world_checks(struct sim *s);
void sim_world_others_checks(struct sim *s);
const char *sim_world_check_name(unsigned number); /* below SIM_CHECKS_MAX */
void sim_world_node(struct sim *s, unsigned number, struct sim_chance *c);
void sim_job_make(struct sim *s, struct sim_chance *c);
unsigned sim_events_make(const struct sim_options *o, struct sim_event *out);
void sim_events_play(struct sim *s, const struct sim_event *e);
const char *sim_events_name(enum sim_event_kind kind);
/* After every turn: all guarantees. */
void sim_audit_turn(struct sim *s);
/* Let everything come to rest, then look: all that can run has run, nothing leaks, a restart changes nothing. */
void sim_rest(struct sim *s);
uint64_t sim_fingerprint(struct sim *s); /* changes when a Workload, Job, Pod or queue does */
/* A fresh look at all queues serves nobody. */
void sim_probe_wake_ups(struct sim *s);
/* One run from beginning to end. */
void sim_play(const struct sim_options *o);

/* --- seeds.c: many runs, each in a process of its own ------------------------------------------- */
struct sim_seeds {
    uint64_t base;
    unsigned count, processes;
    const char *figures; /* a file for the sums, as JSON; NULL = none */
};
int sim_seeds_run(const struct sim_options *o, const struct sim_seeds *seeds);
int sim_seeds_one(const struct sim_options *o); /* the exit status */
int sim_seeds_shrink(const struct sim_options *o);
#endif
