/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl: the options that all its commands share, and the commands. Each command returns the process's exit
 * code: 0 done, 1 something failed (and was said on stderr), 2 wrong usage. */
#ifndef SL_CLI_CTL_H
#define SL_CLI_CTL_H
#include "cli/common/make.h"
#include "cli/common/run.h"
#include "cli/remote/remote.h"
#include "cli/remote/simulate.h"
#include <stdio.h>

#define SL_CTL_SERVER "http://127.0.0.1:8088" /* where nothing says which */

struct sl_ctl_command;

enum sl_output {
    SL_OUTPUT_TABLE,
    SL_OUTPUT_WIDE,
    SL_OUTPUT_JSON,
    SL_OUTPUT_YAML,
    SL_OUTPUT_NAME,
    SL_OUTPUT_CSV,
    SL_OUTPUT_COUNT
};

enum sl_dry_run {
    SL_DRY_RUN_NONE,
    SL_DRY_RUN_CLIENT, /* nothing is sent */
    SL_DRY_RUN_SERVER  /* the server checks it and stores nothing */
};

/* What list shows; NULL or none: whatever it is. */
struct sl_ctl_filter {
    const char *local_queue, *owner; /* owner: KIND/NAME */
    const char *fields;
    struct sl_flag_list statuses;
    enum sl_flag_choice active;
};

struct sl_ctl {
    int argc; /* the command line as it was given */
    char *const *argv;
    const char *command;           /* as the table has it: of one word or of two */
    struct sl_flag_list arguments; /* after the command */
    const char *server, *ns, *selector;
    const char *kubeconfig;  /* NULL: none, and nothing is shown to the server */
    bool kubeconfig_is_list; /* of files, any of which may be missing */
    const char *context;     /* of it; NULL: its current one */
    const char *output_name; /* as given; NULL: it was not */
    enum sl_output output;
    struct sl_flag_list files;
    bool all_namespaces, watch, quiet, help, version;
    bool ns_said;  /* else `ns` is a default */
    bool ns_given; /* --namespace was: for commands that look into all namespaces otherwise */
    bool confined; /* may not see the cluster: lists and queues are those of the namespace */
    struct sl_submit submit; /* its namespace is `ns` */
    int64_t count;
    const char *dry_run_name;
    enum sl_dry_run dry_run;
    struct sl_run run; /* beside `submit` */
    bool wait, logs;
    const char *timeout;
    struct sl_make_cluster_queue queue; /* create */
    struct sl_make_flavor flavor;
    const char *cluster_queue; /* of create localqueue and list */
    bool unknown_is_fine;      /* that it does not exist */
    struct sl_ctl_filter filter;
    bool keep_running;   /* stop */
    const char *metrics; /* of status: where they are; NULL: looked for */
    bool yes, all;       /* delete */
    int64_t limit;       /* of pending workloads in one list; 0 = none */
    bool start;          /* pending: when does each start? */
    /* what-if */
    struct sl_simulate simulate;       /* its files are `files` */
    const char *journal, *dump, *data; /* of compare, what-if and backup: where they are */
    struct {
        const char *config, *with; /* configurations: as it was, and as it is to be */
        struct sl_flag_list limits;
    } compare;
    /* dashboard */
    bool until_done, plain;
    /* replay; `until` of history and usage, too */
    const char *until, *workload;
    struct { /* history, usage */
        const char *journal, *since, *queue, *by;
    } past;
    struct sl_remote *remote; /* opened by main */
};
/* BAD_REQUEST with a sentence for the user: also for an option that is another command's. No command is an error, too. */
enum sl_code sl_ctl_parse(int argc, char *const argv[], struct sl_ctl *out, struct sl_error *e);
/* Which command that is, also where its options are not ours; NULL: none. */
const struct sl_ctl_command *sl_ctl_command_in(int argc, char *const argv[]);
/* The options of one command with NULL's for all of them, or those of all commands. */
void sl_ctl_print_options(const char *command, struct sl_buf *out);

/* The rows of the options' table, and the name by which a command is in their scopes. */
const struct sl_flag *sl_ctl_options(size_t *count);
#define SL_CTL_SCOPE_LEN 64u
void sl_ctl_scope(const char *command, char out[static SL_CTL_SCOPE_LEN]);

/* The names of these forms: "table, json". */
void sl_ctl_print_outputs(unsigned outputs, struct sl_buf *out);

/* A row of the table of commands. */
struct sl_ctl_command {
    const char *name;
    int (*run)(struct sl_ctl *c);
    unsigned outputs;     /* what --output may be, as bits of enum sl_output; 0: it has none */
    const char *synopsis; /* what follows its name */
    const char *about;    /* a line for the list of commands */
    const char *examples; /* lines */
};
const struct sl_ctl_command *sl_ctl_command(const char *name); /* NULL: there is none */
/* The command that these words begin with, and how many of them it is: two for `create cq`, whose second may be any name of
 * the kind. NULL: there is none. */
const struct sl_ctl_command *sl_ctl_command_of(const struct sl_flag_list *words, unsigned *used);
/* The rows of the table, up to the NULL. */
const struct sl_ctl_command *sl_ctl_command_at(size_t index);
/* Of the program, or of a command. */
void sl_ctl_print_help(const struct sl_ctl_command *command, struct sl_buf *out);
/* Of those that begin with this word; false: none does. */
bool sl_ctl_print_group(const char *word, struct sl_buf *out);
/* "there is no command X", and which one was probably meant. Returns 2. */
int sl_ctl_no_command(const char *name, const struct sl_flag_list *arguments);

int sl_ctl_apply(struct sl_ctl *c);
int sl_ctl_create_cluster_queue(struct sl_ctl *c);
int sl_ctl_create_local_queue(struct sl_ctl *c);
int sl_ctl_create_flavor(struct sl_ctl *c);
int sl_ctl_list_cluster_queues(struct sl_ctl *c);
int sl_ctl_list_local_queues(struct sl_ctl *c);
int sl_ctl_list_flavors(struct sl_ctl *c);
int sl_ctl_list_workloads(struct sl_ctl *c);
int sl_ctl_list_pods(struct sl_ctl *c);
int sl_ctl_stop(struct sl_ctl *c);
int sl_ctl_resume(struct sl_ctl *c);
int sl_ctl_drain(struct sl_ctl *c);
int sl_ctl_shares(struct sl_ctl *c);
int sl_ctl_status(struct sl_ctl *c);
int sl_ctl_kubectl(struct sl_ctl *c); /* before anything is parsed: the options are kubectl's */
int sl_ctl_delete(struct sl_ctl *c);
int sl_ctl_get(struct sl_ctl *c);
int sl_ctl_describe(struct sl_ctl *c);
int sl_ctl_watch(struct sl_ctl *c);
int sl_ctl_submit(struct sl_ctl *c), sl_ctl_run(struct sl_ctl *c);
int sl_ctl_pending(struct sl_ctl *c);
int sl_ctl_why(struct sl_ctl *c);
int sl_ctl_what_if(struct sl_ctl *c);
int sl_ctl_dashboard(struct sl_ctl *c);
int sl_ctl_node(struct sl_ctl *c);
int sl_ctl_topology(struct sl_ctl *c);
int sl_ctl_replay(struct sl_ctl *c);
int sl_ctl_compare(struct sl_ctl *c);
int sl_ctl_history(struct sl_ctl *c);
int sl_ctl_usage(struct sl_ctl *c);
int sl_ctl_dump(struct sl_ctl *c);
int sl_ctl_version(struct sl_ctl *c);
int sl_ctl_completion(struct sl_ctl *c);
int sl_ctl_man(struct sl_ctl *c);
/* What shells call: the words behind that one, the last of them unfinished. Prints what it may become, a line each with what it
 * is behind a tab, or ":files" where that is a file. Always 0. */
#define SL_CTL_COMPLETE "__complete"
int sl_ctl_complete(int argc, char *const argv[]);

/* --- for the commands ---------------------------------------------------------------------------------- */

/* Opens c->remote at the server that the options or a kubeconfig say. The caller ends it with close, in either case. */
bool sl_ctl_open(struct sl_ctl *c, struct sl_credentials **credentials, struct sl_error *e);
void sl_ctl_close(struct sl_ctl *c, struct sl_credentials *credentials);
/* /apis/GROUP/VERSION/namespaces/NS/PLURAL/NAME; ns "" = all namespaces, name "" = the collection. */
void sl_ctl_path(enum sl_kind kind, const char *ns, const char *name, struct sl_buf *out);
/* Appends text with everything but unreserved characters as %XX. */
void sl_ctl_escape(const char *text, struct sl_buf *out);
/* "sluicectl: WHAT: text", then the causes that the text does not mention, one a line. Returns 1. */
int sl_ctl_failed(const char *what, const struct sl_error *e);
/* "sluicectl: text (see sluicectl --help)". Returns 2. */
int sl_ctl_misused(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What the arguments name: "KIND", "KIND NAME...", "KIND,KIND NAME..." or "KIND/NAME...". */
struct sl_ctl_target {
    enum sl_kind kind;
    const char *name; /* "" = all of them; lent by the arguments */
};
struct sl_ctl_targets {
    struct sl_ctl_target *items;
    size_t count;
    bool several_kinds;
};
/* At least one, or false: said on stderr. The caller ends it with fini, in either case. */
bool sl_ctl_targets(struct sl_ctl *c, struct sl_ctl_targets *out);
void sl_ctl_targets_fini(struct sl_ctl_targets *t);
/* "kind.group/name" */
void sl_ctl_name(enum sl_kind kind, const char *name, struct sl_buf *out);
/* A namespaced kind that the table does not have, as the server's discovery names it, by kind, plural, singular or short name;
 * of this apiVersion, or NULL for any. SL_KIND_COUNT: it has none either, or cannot be asked. */
enum sl_kind sl_ctl_discover(struct sl_ctl *c, const char *api_version, const char *name);
/* The namespace to use for a kind: "" for cluster-scoped ones. */
const char *sl_ctl_namespace(const struct sl_ctl *c, enum sl_kind kind);
/* A name and a value behind a path's question mark. */
void sl_ctl_query(struct sl_buf *path, const char *name, const char *value);
/* Rows of objects of one kind, or their names. */
void sl_ctl_print_table(const struct sl_ctl *c, enum sl_kind kind, const struct sl_json *objects);
void sl_ctl_print_names(enum sl_kind kind, const struct sl_json *objects);
/* The path of a target: an object, or a collection with its selector. */
void sl_ctl_target_path(const struct sl_ctl *c, const struct sl_ctl_target *target,
                        struct sl_buf *path);
void sl_ctl_print(const struct sl_buf *text); /* to stdout */
/* Says what was done with an object, as kubectl does: "clusterqueue.kueue.x-k8s.io/a created". Data is added to `made`
 * (NULL: it comes later). */
void sl_ctl_did(const struct sl_ctl *c, enum sl_kind kind, struct sl_json *object, const char *what,
                struct sl_json *made);
/* One document: the object, or a List of several; nothing unless data is asked for. */
void sl_ctl_print_made(const struct sl_ctl *c, struct sl_json *made);
/* Writes the merge patch, or only says so where --dry-run wants that; *out is what came of it. */
enum sl_code sl_ctl_patch(struct sl_ctl *c, enum sl_kind kind, const char *name,
                          const struct sl_json *patch, struct sl_json **out, struct sl_error *e);
/* Prompts, and reads a y or an n. */
bool sl_ctl_confirm(const char *question);
/* What delete does with workloads: their jobs are deleted, which takes them along. */
int sl_ctl_delete_workloads(struct sl_ctl *c, const struct sl_ctl_targets *targets);
/* Does what-if ask files in place of a server? */
bool sl_ctl_is_offline(const struct sl_ctl *c);
/* The daemon's configuration in that file, which the caller ends with sl_config_free in any case; or *e. */
struct sl_config;
struct sl_config *sl_ctl_config_new(const char *file, struct sl_error *e);
bool sl_ctl_is_data(const struct sl_ctl *c); /* is JSON or YAML asked for? */
void sl_ctl_print_value(const struct sl_ctl *c, const struct sl_json *value); /* as that */
/* Waits until the Jobs of one namespace have ended, and says how each did. False: one has failed or was deleted, or *e. */
bool sl_ctl_wait(struct sl_ctl *c, const struct sl_json *names, struct sl_error *e);
/* Warns that the object with that name (NULL: none) does not exist, though `who` needs it, and of which one was probably
 * meant. Not an error: it may be created yet. */
void sl_ctl_warn_missing(struct sl_ctl *c, enum sl_kind kind, const char *ns, const char *name,
                         const char *who);
/* Every object of the kind, in all namespaces unless it is confined to one, as a List; the caller frees it. */
enum sl_code sl_ctl_fetch_list(struct sl_ctl *c, enum sl_kind kind, struct sl_json **out,
                               struct sl_error *e);
/* Appends the pending workloads of the ClusterQueue, or LocalQueue where it is confined, page by page to the list. */
enum sl_code sl_ctl_fetch_pending(struct sl_ctl *c, const char *queue, struct sl_json *items,
                                  struct sl_error *e);
/* Puts the reasons as they are now into the workloads that go first in these queues, and those workloads first: so many of
 * each queue, until there are `in_all`. */
enum sl_code sl_ctl_freshen(struct sl_ctl *c, struct sl_json *workloads,
                            const struct sl_json *cluster_queues, size_t of_each, size_t in_all,
                            struct sl_error *e);
/* How wide the terminal is; a default when there is none. */
unsigned sl_ctl_width(void);
/* How many lines it has; 0 when there is none. */
unsigned sl_ctl_height(void);
#endif
