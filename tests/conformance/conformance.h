/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The conformance runner: recorded cases in, TAP out. Every case, and every variant of one, runs in
 * a process of its own, since the core's state is file-scope; what differs goes to its standard
 * output. */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H
#include "api/objects/client.h"
#include "api/objects/object.h"
#include "controllers/control/workloads.h"
#include "engine/quota/settings.h"
#include "engine/state.h"

/* One case in one variant. Everything is lent by the file's JSON. */
struct conf_case {
    char id[96];
    const char *suite;
    const struct sl_json *root;
    const struct sl_json *gates;  /* those that differ from the defaults */
    const struct sl_json *expect; /* as conf_expect_new made it */
    const struct sl_json *input;
    int64_t now_ms;
    bool verbose;
};

/* How the process of a case ends. */
enum conf_end { CONF_PASSED = 0, CONF_FAILED = 1, CONF_SKIPPED = 2 };

/* --- cases.c: files ----------------------------------------------------------------------------- */
/* The cases of a file's text, which is one case or a list of them, as a list that the caller frees. NULL: an error that
 * names the case which cannot be read. */
struct sl_json *conf_cases_new(const char *text, size_t len, struct sl_error *e);

/* --- select.c: what cannot be run, and what is known to differ -------------------------------- */
/* NULL, or what the case needs that there is not. */
const char *conf_skip_reason(const struct conf_case *c);
/* The reason given in the file of deviations, NULL when the id is not listed. */
const char *conf_deviation(const struct sl_json *deviations, const char *id);
struct sl_json *conf_deviations_new(const char *path);

/* --- applied.c: what is expected ---------------------------------------------------------------- */
/* Of a case (part = root) or a variant of it, as a real API server would have it. */
struct sl_json *conf_expect_new(const struct sl_json *root, const struct sl_json *part);

/* --- settings.c ------------------------------------------------------------------------------- */
/* Kueue's defaults with the case's gates and config; strings are the case's. */
struct sl_engine_settings conf_settings(const struct conf_case *c);
/* Do the defaults say the same as the recorded list of gates? Differences are reported. */
void conf_check_defaults(const struct sl_json *gates);

/* --- compare.c: reports ----------------------------------------------------------------------- */
extern unsigned conf_differences;
void conf_differ(const char *path, const char *expected, const char *got);
void conf_differ_json(const char *path, const struct sl_json *expected, const struct sl_json *got);
void conf_expect_int(const char *path, int64_t expected, int64_t got);
void conf_expect_bool(const char *path, bool expected, bool got);
void conf_expect_text(const char *path, const char *expected, const char *got);
/* Lists as multisets of values; missing and surplus items are reported one by one. */
void conf_expect_set(const char *path, const struct sl_json *expected, const struct sl_json *got);
/* Maps of maps of ... of integers, zeroes as good as absent. */
void conf_expect_amounts(const char *path, const struct sl_json *expected,
                         const struct sl_json *got);
/* resource -> quantity, by value, zeroes as good as absent. */
void conf_expect_quantities(const char *path, const struct sl_json *expected,
                            const struct sl_json *got);
/* The lists of Workloads: status, and spec where it was recorded. */
void conf_expect_workloads(const struct sl_json *expected, const struct sl_json *got);
/* status.admission, by meaning. */
void conf_expect_admission(const char *path, const struct sl_json *expected,
                           const struct sl_json *got);
/* A pod set's topologyAssignment, by domain; see compare_topology.c. */
void conf_expect_topology(const char *path, const struct sl_json *expected,
                          const struct sl_json *got);
void conf_show(const char *what, const struct sl_json *value); /* as "# what: value" */

/* --- store.c: the API in memory, behind the daemon's own workload controller ------------------ */
struct conf_store {
    struct sl_client client;
    struct sl_json *workloads; /* a list, sorted by key */
    struct sl_json *changed;   /* key -> true: to be delivered: written, or refused to be */
    struct sl_json *events;    /* {key, type, reason} */
    struct sl_json *preempted; /* {key, reason}: the condition became true */
    struct sl_json *evicted;
    struct sl_json *drained;   /* key -> true: evicted for its queue before the first cycle */
    enum sl_code status_error; /* with which every write of a status fails */
    struct sl_recorder *recorder;
    struct sl_workloads controller;
};
void conf_store_open(struct conf_store *s, struct sl_engine *g);
struct sl_json *conf_store_find(const struct conf_store *s, const char *key); /* or NULL */
void conf_store_put(struct conf_store *s, struct sl_json *workload); /* becomes the store's */
/* Carry out whatever the engine has decided. */
void conf_store_carry_out(struct conf_store *s);

/* --- notes.c: events, and who was preempted and evicted --------------------------------------- */
/* Of the whole run. A warning that only repeats one says nothing new and is not compared. */
void conf_expect_notes(const struct sl_json *expect, const struct conf_store *s);
/* Of one cycle; asked of each, in order. */
void conf_expect_cycle_notes(const char *prefix, const struct sl_json *expect,
                             const struct conf_store *s);

/* --- world.c: an engine that knows the case's objects ----------------------------------------- */
struct conf_world {
    struct sl_engine *g;
    struct sl_engine_settings settings;
    struct conf_store store;
    bool in_cycles; /* of a suite of whole cycles */
    int64_t now_ms;
};
/* `extra`: one more Workload, or NULL. */
void conf_world_open(struct conf_world *w, const struct conf_case *c, const struct sl_json *extra);
/* As conditions of a Workload that holds quota look in the API; see world.c. */
void conf_form_admitted(struct sl_json *workload);
void conf_form_backoff(struct sl_json *workload);
sl_workload_id conf_workload_id(const struct conf_world *w, const char *key);
sl_qnode_id conf_queue_node(const struct conf_world *w, const char *name);
sl_cell_id conf_cell(const struct conf_world *w, sl_qnode_id node, const char *flavor,
                     const char *resource);
const char *conf_flavor_name(const struct conf_world *w, sl_flavor_id flavor);
const char *conf_resource_name(const struct conf_world *w, sl_resource_id resource);
/* Charge ClusterQueue -> flavor -> resource -> amount. */
void conf_charge(const struct conf_world *w, sl_qnode_id node, const struct sl_json *flavors);
void conf_key(const struct sl_json *object, char out[static 512]);

/* --- suites: run the case, report what differs ------------------------------------------------ */
void conf_run_quota(const struct conf_case *c);
void conf_run_flavors(const struct conf_case *c);
void conf_run_preemption(const struct conf_case *c);
void conf_run_queue(const struct conf_case *c);
void conf_run_cycles(const struct conf_case *c);
void conf_run_topology(const struct conf_case *c);
#endif
