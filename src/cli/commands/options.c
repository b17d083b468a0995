/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The one table of sluicectl's options: the parser, the help of each command and what is refused there are made of it. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include "base/near.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT(name, short_name, member, value, scope, about)                                        \
    {                                                                                              \
        name, short_name, SL_FLAG_TEXT, offsetof(struct sl_ctl, member), value, scope, about       \
    }
#define LIST(name, short_name, member, value, scope, about)                                        \
    {                                                                                              \
        name, short_name, SL_FLAG_LIST, offsetof(struct sl_ctl, member), value, scope, about       \
    }
#define NUMBER(name, member, value, scope, about)                                                  \
    {                                                                                              \
        name, NULL, SL_FLAG_NUMBER, offsetof(struct sl_ctl, member), value, scope, about           \
    }
#define CHOICE(name, member, scope, about)                                                         \
    {                                                                                              \
        name, NULL, SL_FLAG_CHOICE, offsetof(struct sl_ctl, member), "true|false", scope, about    \
    }
#define WORD(name, member, value, scope, about)                                                    \
    {                                                                                              \
        name, NULL, SL_FLAG_WORD, offsetof(struct sl_ctl, member), value, scope, about             \
    }
#define SWITCH(name, short_name, member, scope, about)                                             \
    {                                                                                              \
        name, short_name, SL_FLAG_SWITCH, offsetof(struct sl_ctl, member), NULL, scope, about      \
    }

#define CREATE "create-clusterqueue create-localqueue create-resourceflavor"
#define LISTS "list-clusterqueue list-localqueue list-resourceflavor list-workload list-pod"
#define QUEUED "list-localqueue list-workload"
#define PAST "history usage"
#define IN_NAMESPACES QUEUED " list-pod"

static const struct sl_flag table[] = {
    LIST("--filename", "-f", files, "FILE", "apply delete what-if compare",
         "file or directory with YAML or JSON, - for standard input; may be repeated"),
    TEXT("--namespace", "-n", ns, "NS",
         "apply get describe delete watch submit run why what-if stop resume "
         "create-localqueue " IN_NAMESPACES,
         "namespace (default: that of the kubeconfig's context, else default)"),
    TEXT("--namespace", "-n", ns, "NS", "pending history usage",
         "only the workloads of this namespace"),
    SWITCH("--all-namespaces", "-A", all_namespaces, "get watch pending delete " IN_NAMESPACES,
           "of all namespaces, which pending does anyway"),
    TEXT("--selector", "-l", selector, "LABELS", "get watch " LISTS, "such as app=web,tier!=db"),
    SWITCH("--watch", "-w", watch, "get", "then print changes until interrupted, as watch does"),
    TEXT(
        "--output", "-o", output_name, "FORMAT",
        "apply get describe watch submit run pending why what-if compare topology dashboard shares "
        "status "
        "node stop resume drain history usage " CREATE " " LISTS,
        "in which form it is printed: see below"),
    SWITCH("--quiet", "-q", quiet, "apply delete submit", "print only errors and warnings"),
    SWITCH("--quiet", "-q", quiet, "run", "print only errors and what it prints"),
    TEXT("--queue", NULL, submit.queue, "NAME", "submit", "LocalQueue of the namespace; required"),
    TEXT("--name", NULL, submit.name, "NAME", "submit",
         "name of the Job (default: a generated one); with --count each gets a number"),
    TEXT("--queue", NULL, submit.queue, "NAME", "run",
         "LocalQueue of the namespace (default: the only one there is)"),
    TEXT("--name", NULL, submit.name, "NAME", "run",
         "name of the Job (default: the program's name and a generated part)"),
    TEXT("--array", NULL, run.array, "N[%K]", "run",
         "run it N times, at most K at a time and as many as there is quota for; "
         "JOB_COMPLETION_INDEX says which one it is, from 0"),
    LIST("--after", NULL, run.after, "JOB", "run",
         "not before this Job is complete; it fails when that one fails; may be repeated; in "
         "standalone mode"),
    LIST("--env", NULL, run.env, "NAME[=VALUE]", "run",
         "environment variable, without a value as it is here; may be repeated"),
    TEXT("--workdir", NULL, run.workdir, "DIR", "run",
         "where it starts (default: this directory, where the server is local)"),
    TEXT("--image", NULL, run.image, "IMAGE", "run", "container image; needed on a cluster"),
    SWITCH("--follow", "-f", logs, "run",
           "print what it prints until it has ended, and exit with its code"),
    NUMBER("--count", count, "N", "submit", "how many Jobs (default: 1)"),
    NUMBER("--parallelism", submit.parallelism, "N", "submit",
           "pods that run and have to succeed (default: 1)"),
    NUMBER("--min-parallelism", submit.min_parallelism, "N", "submit",
           "start with as few pods as this when there is no quota for all"),
    TEXT("--cpu", NULL, submit.cpu, "QUANTITY", "submit run", "of each pod (default: 1)"),
    TEXT("--memory", NULL, submit.memory, "QUANTITY", "submit run", "of each pod"),
    TEXT("--gpu", NULL, submit.gpu, "N", "submit run", "nvidia.com/gpu of each pod"),
    LIST("--request", NULL, submit.requests, "NAME=QUANTITY", "submit run",
         "another resource of each pod; may be repeated"),
    TEXT("--priority-class", NULL, submit.priority_class, "NAME", "submit run",
         "WorkloadPriorityClass"),
    TEXT("--time-limit", NULL, submit.time_limit, "DURATION", "submit run",
         "deactivate it when it was admitted for so long, such as 90m"),
    TEXT("--topology-required", NULL, submit.topology_required, "LEVEL", "submit",
         "all pods in one domain of this level, such as cloud.provider.com/rack"),
    TEXT("--topology-preferred", NULL, submit.topology_preferred, "LEVEL", "submit",
         "the same where they fit, else in as few domains as possible"),
    LIST("--label", NULL, submit.labels, "NAME=VALUE", "submit run", "of the Job; may be repeated"),
    LIST("--annotation", NULL, submit.annotations, "NAME=VALUE", "submit run",
         "of the Job; may be repeated"),
    TEXT("--run-for", NULL, submit.run_for, "DURATION", "submit",
         "how long its pods run in standalone mode (default: 1s)"),
    SWITCH("--fail", NULL, submit.fail, "submit", "it fails then, in standalone mode"),
    WORD("--dry-run", dry_run_name, "none|client|server", "submit run delete stop resume " CREATE,
         "store nothing: let the server check it (also without a value), or send it nothing; -o "
         "yaml "
         "shows what it would be"),
    SWITCH("--wait", NULL, wait, "submit", "until the Jobs have ended; exit code 1 if one failed"),
    SWITCH("--wait", NULL, wait, "run", "until it has ended, and exit with its code"),
    SWITCH("--wait", NULL, wait, "drain", "until no workload holds quota, and say how many do"),
    TEXT("--timeout", NULL, timeout, "DURATION", "drain",
         "with --wait: give up after so long, such as 10m, with exit code 1 (default: never)"),
    SWITCH("--keep-already-running", NULL, keep_running, "stop drain",
           "evict nothing: what is admitted goes on until it ends"),
    SWITCH("--yes", "-y", yes, "delete", "delete workloads and their jobs without asking"),
    SWITCH("--all", NULL, all, "delete", "all workloads of the namespace"),
    TEXT("--cohort", NULL, queue.cohort, "NAME", "create-clusterqueue",
         "Cohort to lend to and borrow from"),
    TEXT("--queuing-strategy", NULL, queue.strategy, "NAME", "create-clusterqueue",
         "BestEffortFIFO (default) or StrictFIFO"),
    LIST("--namespace-selector", NULL, queue.selector, "KEY=VALUE", "create-clusterqueue",
         "labels of the namespaces that may use it (default: all may); may be repeated"),
    TEXT("--reclaim-within-cohort", NULL, queue.reclaim, "POLICY", "create-clusterqueue",
         "Never (default), LowerPriority or Any"),
    TEXT("--preemption-within-cluster-queue", NULL, queue.within, "POLICY", "create-clusterqueue",
         "Never (default), LowerPriority or LowerOrNewerEqualPriority"),
    LIST(
        "--nominal-quota", NULL, queue.nominal, "QUOTAS", "create-clusterqueue",
        "FLAVOR:RESOURCE=QUANTITY;RESOURCE=QUANTITY, more flavors behind a comma; may be repeated"),
    LIST("--borrowing-limit", NULL, queue.borrowing, "QUOTAS", "create-clusterqueue",
         "how much it may borrow, in the same form"),
    LIST("--lending-limit", NULL, queue.lending, "QUOTAS", "create-clusterqueue",
         "how much it may lend, in the same form"),
    TEXT("--clusterqueue", "-c", cluster_queue, "NAME", "create-localqueue",
         "ClusterQueue that it leads to; required"),
    TEXT("--clusterqueue", "-c", cluster_queue, "NAME", QUEUED, "only those of this ClusterQueue"),
    SWITCH("--ignore-unknown-cq", "-i", unknown_is_fine, "create-localqueue",
           "though the ClusterQueue does not exist"),
    LIST("--node-labels", NULL, flavor.labels, "KEY=VALUE", "create-resourceflavor",
         "labels of its nodes; may be repeated"),
    LIST("--node-taints", NULL, flavor.taints, "KEY[=VALUE]:EFFECT", "create-resourceflavor",
         "taints of its nodes; may be repeated"),
    LIST("--tolerations", NULL, flavor.tolerations, "KEY[=VALUE][:EFFECT]", "create-resourceflavor",
         "what its pods tolerate as well; may be repeated"),
    TEXT("--topology", NULL, flavor.topology, "NAME", "create-resourceflavor",
         "Topology of its nodes"),
    TEXT("--field-selector", NULL, filter.fields, "FIELDS", LISTS, "such as metadata.name=a"),
    CHOICE("--active", filter.active, "list-clusterqueue",
           "only those that are active, or are not"),
    TEXT("--localqueue", "-q", filter.local_queue, "NAME", "list-workload",
         "only those of this LocalQueue"),
    LIST("--status", NULL, filter.statuses, "STATUS", "list-workload",
         "all, pending, quotareserved, admitted or finished; may be repeated"),
    TEXT("--for", NULL, filter.owner, "KIND/NAME", "list-workload list-pod",
         "only those of this job"),
    NUMBER("--limit", limit, "N", "pending", "show only the first N workloads of each list"),
    TEXT("--metrics", NULL, metrics, "URL", "status",
         "where the scheduler's metrics are, such as http://127.0.0.1:8080/metrics behind kubectl "
         "port-forward (default: the server's; on a cluster the leader's, by way of the Visibility "
         "API)"),
    SWITCH("--start", NULL, start, "pending", "say when each starts, and on what that rests"),
    LIST("--quota", NULL, simulate.quotas, "QUEUE:FLAVOR:RESOURCE=QUANTITY", "what-if",
         "a ClusterQueue, or cohort/NAME, had this nominal quota; may be repeated"),
    LIST("--drain", NULL, simulate.drained_nodes, "NODE", "what-if",
         "the node and all that runs on it were not there; may be repeated"),
    LIST("--add-nodes", NULL, simulate.added_nodes, "NODE=N", "what-if",
         "there were N more nodes like this one; may be repeated"),
    LIST("--stop-queue", NULL, simulate.held_queues, "QUEUE", "what-if",
         "the ClusterQueue admitted nothing more; may be repeated"),
    LIST("--drain-queue", NULL, simulate.drained_queues, "QUEUE", "what-if",
         "the ClusterQueue were stopped with all that runs in it; may be repeated"),
    LIST("--priority", NULL, simulate.priorities, "WORKLOAD=N", "what-if",
         "the Workload had this priority; may be repeated"),
    TEXT("--horizon", NULL, simulate.horizon, "DURATION", "what-if",
         "how far to look ahead, such as 12h (default: 30 days)"),
    TEXT("--journal", NULL, journal, "DIR", "compare",
         "the journal of what was: the daemon's directory, or one of its files; required"),
    TEXT("--journal", NULL, journal, "DIR", "what-if",
         "ask about where this journal ends, in place of a server"),
    TEXT("--data", NULL, data, "DIR", "backup restore",
         "a standalone daemon's data directory (default: sluice-data)"),
    TEXT("--dump", NULL, dump, "FILE", "what-if",
         "ask about what sluicectl dump has written, or manifests and lists of objects in a file "
         "or directory, in place of a server"),
    TEXT("--config", NULL, compare.config, "FILE", "compare what-if",
         "the configuration that the daemon had (default: what the journal says of it, and else "
         "the defaults)"),
    TEXT("--with", NULL, compare.with, "FILE", "compare", "the configuration that it had instead"),
    LIST("--fail-if", NULL, compare.limits, "LIMIT", "compare",
         "[QUEUE:]METRIC>VALUE or <: exit with 1 if it is so, as in wait_p95>+10%, "
         "research:wait_max>2h, evictions>+5, otherwise>0; may be repeated"),
    SWITCH("--until-done", NULL, until_done, "dashboard", "end when all workloads have finished"),
    SWITCH("--plain", NULL, plain, "dashboard topology", "no colors, as for a file"),
    TEXT("--until", NULL, until, "POINT", "replay",
         "stop at N (a record), cN (a cycle), S.cN (a cycle after the S-th start)"),
    TEXT("--journal", NULL, past.journal, "FILE|DIR", PAST,
         "a daemon's data directory, or a file of its journal (default: sluice-data)"),
    TEXT("--since", NULL, past.since, "TIME", PAST,
         "from then on: a time such as 2026-11-21T03:00:00Z, a day, or how long ago, such as 2h or "
         "30d (default: all that the journal has)"),
    TEXT("--until", NULL, until, "TIME", PAST, "until then, in the same form"),
    TEXT("--queue", "-q", past.queue, "CLUSTERQUEUE", PAST, "only of this ClusterQueue"),
    TEXT(
        "--by", NULL, past.by, "WHAT[,WHAT...]", "usage",
        "a row for each queue (default), namespace, workload or flavor; several: for each of their "
        "combinations"),
    TEXT("--workload", NULL, workload, "NS/NAME", "replay", "only its decisions, with reasons"),
    TEXT("--server", "-s", server, "URL", NULL,
         "or unix:PATH of a socket of sluiced --socket; default: $SLUICE_SERVER, else as in the "
         "kubeconfig, else http://127.0.0.1:8088; with a "
         "server the kubeconfig is read only where it is named as well"),
    TEXT("--kubeconfig", NULL, kubeconfig, "FILE", NULL,
         "server, user and namespace, as for kubectl on a cluster, or as written by sluiced into "
         "its data directory; default: $SLUICE_KUBECONFIG, else the files of $KUBECONFIG, else "
         "~/.kube/config"),
    TEXT("--context", NULL, context, "NAME", NULL,
         "the kubeconfig's context (default: its current one)"),
    SWITCH("--version", NULL, version, NULL, "print the version of this program and exit"),
    SWITCH("--help", "-h", help, NULL, "print help and exit, with a command: of that")};
#define TABLE_COUNT (sizeof table / sizeof table[0])

/* In the table a command of two words is one: "create-clusterqueue". */
void sl_ctl_scope(const char *command, char out[static SL_CTL_SCOPE_LEN])
{
    (void)snprintf(out, SL_CTL_SCOPE_LEN, "%s", command);
    for (char *at = out; (at = strchr(at, ' ')) != NULL;) {
        *at = '-';
    }
}

const struct sl_flag *sl_ctl_options(size_t *count)
{
    SL_PRE(count != NULL);
    *count = TABLE_COUNT;
    return table;
}

void sl_ctl_print_options(const char *command, struct sl_buf *out)
{
    const struct sl_flags flags = {.table = table, .table_count = TABLE_COUNT};
    char scope[SL_CTL_SCOPE_LEN];
    sl_ctl_scope(command == NULL ? "" : command, scope);
    sl_flags_help(&flags, command == NULL ? NULL : scope, out);
}

/* --- what does not fit --------------------------------------------------------------------------------- */

static const char *const output_names[SL_OUTPUT_COUNT] = {
    [SL_OUTPUT_TABLE] = "table", [SL_OUTPUT_WIDE] = "wide", [SL_OUTPUT_JSON] = "json",
    [SL_OUTPUT_YAML] = "yaml",   [SL_OUTPUT_NAME] = "name", [SL_OUTPUT_CSV] = "csv"};

void sl_ctl_print_outputs(unsigned outputs, struct sl_buf *out)
{
    const char *between = "";
    for (unsigned i = 0; i < SL_OUTPUT_COUNT; i++) {
        if ((outputs & (1u << i)) != 0) {
            sl_buf_print(out, "%s%s", between, output_names[i]);
            between = ", ";
        }
    }
}

/* Of a command that has --output; without it a table. */
static enum sl_code parse_output(struct sl_ctl *c, unsigned outputs, struct sl_error *e)
{
    for (unsigned i = 0; c->output_name != NULL && i < SL_OUTPUT_COUNT; i++) {
        if ((outputs & (1u << i)) != 0 && strcmp(c->output_name, output_names[i]) == 0) {
            c->output = (enum sl_output)i;
            return SL_CODE_OK;
        }
    }
    if (c->output_name == NULL) {
        return SL_CODE_OK;
    }
    struct sl_buf allowed = {0};
    sl_ctl_print_outputs(outputs, &allowed);
    (void)sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: --output \"%.64s\" is not one of %s",
                       c->command, c->output_name, allowed.data);
    sl_buf_fini(&allowed);
    return SL_CODE_BAD_REQUEST;
}

/* What would have no effect is refused. */
static enum sl_code check_scope(const struct sl_flags *flags, const char *command,
                                struct sl_error *e)
{
    const char *misplaced = sl_flags_misplaced(flags, flags->scope);
    return misplaced == NULL
               ? SL_CODE_OK
               : sl_error_set(e, SL_CODE_BAD_REQUEST, "%s has no option %s", command, misplaced);
}

/* "unknown option --colour", and which one was probably meant. */
static enum sl_code hint(struct sl_error *e)
{
    static const char start[] = "unknown option ";
    if (strncmp(e->text, start, sizeof start - 1) == 0) {
        struct sl_near near;
        struct sl_buf text = {0};
        sl_buf_text(&text, e->text);
        sl_near_start(&near, e->text + sizeof start - 1);
        for (size_t i = 0; i < TABLE_COUNT; i++) {
            sl_near_try(&near, table[i].name);
        }
        sl_near_print(&near, &text);
        (void)sl_error_set(e, SL_CODE_BAD_REQUEST, "%s", text.data);
        sl_buf_fini(&text);
    }
    return SL_CODE_BAD_REQUEST;
}

/* --- parsing ------------------------------------------------------------------------------------------- */

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* As kubectl has it: what $KUBECONFIG lists, else the one in the home directory, if there is one. */
static void find_kubeconfig(struct sl_ctl *c)
{
    static char path[PATH_MAX];
    const char *home = environment("HOME");
    c->kubeconfig = environment("KUBECONFIG");
    c->kubeconfig_is_list = c->kubeconfig != NULL;
    (void)snprintf(path, sizeof path, "%s/.kube/config", home == NULL ? "" : home);
    if (c->kubeconfig == NULL && home != NULL && access(path, F_OK) == 0) {
        c->kubeconfig = path;
        c->kubeconfig_is_list = true; /* an empty one is none */
    }
}

/* What was not said. */
static void complete(struct sl_ctl *c)
{
    if (c->server == NULL && c->kubeconfig == NULL) {
        find_kubeconfig(c);
    }
    if (c->server == NULL && c->kubeconfig == NULL) {
        c->server = SL_CTL_SERVER;
    }
    c->ns_said = c->ns != NULL;
    c->ns_given = c->ns != NULL && !c->all_namespaces;
    c->ns = c->ns == NULL ? "default" : c->ns;
    c->submit.ns = c->ns;
}

/* What `run` runs: the words behind "--", or all that are not options. */
static enum sl_code take_program(struct sl_ctl *c, int rest_at, struct sl_error *e)
{
    if (rest_at > 0 && c->arguments.count > 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "run: \"%.64s\" before --: the command goes behind it",
                            c->arguments.items[0]);
    }
    c->run.words = rest_at > 0 ? c->argv + rest_at : (char *const *)c->arguments.items;
    c->run.word_count = rest_at > 0 ? (unsigned)(c->argc - rest_at) : c->arguments.count;
    return SL_CODE_OK;
}

static void take_dry_run(struct sl_ctl *c)
{
    const char *name = c->dry_run_name == NULL ? "none" : c->dry_run_name;
    c->dry_run = strcmp(name, "server") == 0   ? SL_DRY_RUN_SERVER
                 : strcmp(name, "client") == 0 ? SL_DRY_RUN_CLIENT
                                               : SL_DRY_RUN_NONE;
}

static enum sl_code take_words(struct sl_ctl *c, const struct sl_flag_list *words,
                               struct sl_error *e)
{
    unsigned used = 0;
    const struct sl_ctl_command *command = sl_ctl_command_of(words, &used);
    used = command == NULL && words->count > 0 ? 1 : used;
    c->command = command != NULL ? command->name : words->count > 0 ? words->items[0] : "";
    if (words->count == 0) {
        return c->help || c->version ? SL_CODE_OK
                                     : sl_error_set(e, SL_CODE_BAD_REQUEST, "which command?");
    }
    c->arguments.count = words->count - used;
    memcpy(c->arguments.items, words->items + used, c->arguments.count * sizeof words->items[0]);
    return SL_CODE_OK;
}

/* As far as words can be told from values without knowing it. */
const struct sl_ctl_command *sl_ctl_command_in(int argc, char *const argv[])
{
    struct sl_ctl scratch = {0};
    struct sl_error e = {0};
    unsigned used;
    struct sl_flags flags = {.table = table, .table_count = TABLE_COUNT, .options = &scratch};
    (void)sl_flags_parse(&flags, argc, argv, &e);
    return sl_ctl_command_of(&flags.arguments, &used);
}

enum sl_code sl_ctl_parse(int argc, char *const argv[], struct sl_ctl *out, struct sl_error *e)
{
    const struct sl_ctl_command *found = sl_ctl_command_in(argc, argv);
    *out = (struct sl_ctl){.argc = argc,
                           .argv = argv,
                           .server = environment("SLUICE_SERVER"),
                           .kubeconfig = environment("SLUICE_KUBECONFIG"),
                           .submit = {.cpu = "1", .parallelism = 1},
                           .count = 1};
    char scope[SL_CTL_SCOPE_LEN];
    sl_ctl_scope(found == NULL ? "" : found->name, scope);
    struct sl_flags flags = {.table = table,
                             .table_count = TABLE_COUNT,
                             .options = out,
                             .scope = scope[0] == '\0' ? NULL : scope,
                             .keeps_rest = found != NULL && found->run == sl_ctl_run};
    if (sl_flags_parse(&flags, argc, argv, e) != SL_CODE_OK) {
        return hint(e);
    }
    complete(out);
    if (out->context != NULL && out->kubeconfig == NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "--context: only with --kubeconfig");
    }
    take_dry_run(out);
    enum sl_code code = take_words(out, &flags.arguments, e);
    if (code != SL_CODE_OK || out->help || out->version) {
        return code;
    }
    const struct sl_ctl_command *command = sl_ctl_command(out->command);
    if (command == NULL) {
        return SL_CODE_OK; /* which is another mistake */
    }
    flags.scope = scope;
    code = check_scope(&flags, out->command, e);
    if (code == SL_CODE_OK && command->run == sl_ctl_run) {
        code = take_program(out, flags.rest_at, e);
    }
    return code == SL_CODE_OK ? parse_output(out, command->outputs, e) : code;
}
