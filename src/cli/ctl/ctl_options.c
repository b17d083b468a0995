/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The one table of sluicectl's options: the parser, the help of each command and what is refused there are made of it. */
#include "cli/ctl/ctl.h"
#include "base/near.h"
#include <stdlib.h>
#include <string.h>

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
#define SWITCH(name, short_name, member, scope, about)                                             \
    {                                                                                              \
        name, short_name, SL_FLAG_SWITCH, offsetof(struct sl_ctl, member), NULL, scope, about      \
    }

static const struct sl_flag table[] = {
    LIST("--filename", "-f", files, "FILE", "apply delete",
         "file or directory with YAML or JSON, - for standard input; may be repeated"),
    TEXT("--namespace", "-n", ns, "NS", "apply get describe delete watch submit",
         "namespace (default: that of the kubeconfig's context, else default)"),
    TEXT("--namespace", "-n", ns, "NS", "pending", "only the workloads of this namespace"),
    SWITCH("--all-namespaces", "-A", all_namespaces, "get watch pending",
           "of all namespaces, which pending does anyway"),
    TEXT("--selector", "-l", selector, "LABELS", "get watch", "such as app=web,tier!=db"),
    SWITCH("--watch", "-w", watch, "get", "then print changes until interrupted, as watch does"),
    TEXT("--output", "-o", output_name, "FORMAT",
         "apply get watch submit pending topology dashboard",
         "in which form it is printed: see below"),
    SWITCH("--quiet", "-q", quiet, "apply delete submit", "print only errors and warnings"),
    TEXT("--queue", NULL, submit.queue, "NAME", "submit", "LocalQueue of the namespace; required"),
    TEXT("--name", NULL, submit.name, "NAME", "submit",
         "name of the Job (default: a generated one); with --count each gets a number"),
    NUMBER("--count", count, "N", "submit", "how many Jobs (default: 1)"),
    NUMBER("--parallelism", submit.parallelism, "N", "submit",
           "pods that run and have to succeed (default: 1)"),
    NUMBER("--min-parallelism", submit.min_parallelism, "N", "submit",
           "start with as few pods as this when there is no quota for all"),
    TEXT("--cpu", NULL, submit.cpu, "QUANTITY", "submit", "of each pod (default: 1)"),
    TEXT("--memory", NULL, submit.memory, "QUANTITY", "submit", "of each pod"),
    TEXT("--gpu", NULL, submit.gpu, "N", "submit", "nvidia.com/gpu of each pod"),
    LIST("--request", NULL, submit.requests, "NAME=QUANTITY", "submit",
         "another resource of each pod; may be repeated"),
    TEXT("--priority-class", NULL, submit.priority_class, "NAME", "submit",
         "WorkloadPriorityClass"),
    TEXT("--time-limit", NULL, submit.time_limit, "DURATION", "submit",
         "deactivate it when it was admitted for so long, such as 90m"),
    TEXT("--topology-required", NULL, submit.topology_required, "LEVEL", "submit",
         "all pods in one domain of this level, such as cloud.provider.com/rack"),
    TEXT("--topology-preferred", NULL, submit.topology_preferred, "LEVEL", "submit",
         "the same where they fit, else in as few domains as possible"),
    LIST("--label", NULL, submit.labels, "NAME=VALUE", "submit", "of the Job; may be repeated"),
    LIST("--annotation", NULL, submit.annotations, "NAME=VALUE", "submit",
         "of the Job; may be repeated"),
    TEXT("--run-for", NULL, submit.run_for, "DURATION", "submit",
         "how long its pods run in standalone mode (default: 1s)"),
    SWITCH("--fail", NULL, submit.fail, "submit", "it fails then, in standalone mode"),
    SWITCH("--dry-run", NULL, dry_run, "submit",
           "let the server check the Job and store nothing; -o yaml shows it"),
    SWITCH("--wait", NULL, wait, "submit", "until the Jobs have ended; exit code 1 if one failed"),
    NUMBER("--limit", limit, "N", "pending", "show only the first N workloads of each list"),
    SWITCH("--until-done", NULL, until_done, "dashboard", "end when all workloads have finished"),
    SWITCH("--plain", NULL, plain, "dashboard topology", "no colors, as for a file"),
    TEXT("--until", NULL, until, "POINT", "replay",
         "stop at N (a record), cN (a cycle), S.cN (a cycle after the S-th start)"),
    TEXT("--workload", NULL, workload, "NS/NAME", "replay", "only its decisions, with reasons"),
    TEXT("--server", "-s", server, "URL", NULL,
         "default: $SLUICE_SERVER, else as in the kubeconfig, else http://127.0.0.1:8088"),
    TEXT("--kubeconfig", NULL, kubeconfig, "FILE", NULL,
         "server, user and namespace, as for kubectl on a cluster, or as written by sluiced into "
         "its "
         "data directory; default: $SLUICE_KUBECONFIG, else none"),
    TEXT("--context", NULL, context, "NAME", NULL,
         "the kubeconfig's context (default: its current one)"),
    SWITCH("--version", NULL, version, NULL, "print the version of this program and exit"),
    SWITCH("--help", "-h", help, NULL, "print help and exit, with a command: of that")};
#define TABLE_COUNT (sizeof table / sizeof table[0])

void sl_ctl_print_options(const char *command, struct sl_buf *out)
{
    const struct sl_flags flags = {.table = table, .table_count = TABLE_COUNT};
    sl_flags_help(&flags, command, out);
}

/* --- what does not fit --------------------------------------------------------------------------------- */

static const char *const output_names[SL_OUTPUT_COUNT] = {[SL_OUTPUT_TABLE] = "table",
                                                          [SL_OUTPUT_WIDE] = "wide",
                                                          [SL_OUTPUT_JSON] = "json",
                                                          [SL_OUTPUT_YAML] = "yaml",
                                                          [SL_OUTPUT_NAME] = "name"};

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
    const char *misplaced = sl_flags_misplaced(flags, command);
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

/* What was not said. */
static void complete(struct sl_ctl *c)
{
    if (c->server == NULL && c->kubeconfig == NULL) {
        c->server = "http://127.0.0.1:8088";
    }
    c->ns_said = c->ns != NULL;
    c->ns_given = c->ns != NULL && !c->all_namespaces;
    c->ns = c->ns == NULL ? "default" : c->ns;
    c->submit.ns = c->ns;
}

static enum sl_code take_words(struct sl_ctl *c, const struct sl_flag_list *words,
                               struct sl_error *e)
{
    c->command = words->count > 0 ? words->items[0] : "";
    if (words->count == 0) {
        return c->help || c->version ? SL_CODE_OK
                                     : sl_error_set(e, SL_CODE_BAD_REQUEST, "which command?");
    }
    c->arguments.count = words->count - 1;
    memcpy(c->arguments.items, words->items + 1, c->arguments.count * sizeof words->items[0]);
    return SL_CODE_OK;
}

enum sl_code sl_ctl_parse(int argc, char *const argv[], struct sl_ctl *out, struct sl_error *e)
{
    *out = (struct sl_ctl){.server = environment("SLUICE_SERVER"),
                           .kubeconfig = environment("SLUICE_KUBECONFIG"),
                           .submit = {.cpu = "1", .parallelism = 1},
                           .count = 1};
    struct sl_flags flags = {.table = table, .table_count = TABLE_COUNT, .options = out};
    if (sl_flags_parse(&flags, argc, argv, e) != SL_CODE_OK) {
        return hint(e);
    }
    if (out->context != NULL && out->kubeconfig == NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "--context: only with --kubeconfig");
    }
    complete(out);
    enum sl_code code = take_words(out, &flags.arguments, e);
    if (code != SL_CODE_OK || out->help || out->version) {
        return code;
    }
    const struct sl_ctl_command *command = sl_ctl_command(out->command);
    if (command == NULL) {
        return SL_CODE_OK; /* which is another mistake */
    }
    code = check_scope(&flags, out->command, e);
    return code == SL_CODE_OK ? parse_output(out, command->outputs, e) : code;
}
