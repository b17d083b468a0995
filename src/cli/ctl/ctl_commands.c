/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The table of sluicectl's commands, and the help that is made of it. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include "base/near.h"
#include <string.h>

#define TABLES (1u << SL_OUTPUT_TABLE | 1u << SL_OUTPUT_WIDE)
#define DATA (1u << SL_OUTPUT_JSON | 1u << SL_OUTPUT_YAML)
#define NAME (1u << SL_OUTPUT_NAME)
#define NAME_WIDTH 10u

static const struct sl_ctl_command table[] = {
    {"apply", sl_ctl_apply, NAME, "-f FILE...",
     "create or merge the objects of a file, directory or - (standard input)",
     "  sluicectl apply -f queues.yaml\n"
     "  sluicectl apply -q -f jobs/                    print only errors and warnings\n"},
    {"get", sl_ctl_get, TABLES | DATA | NAME, "KIND[,KIND...] [NAME...] | KIND/NAME...",
     "objects as a table",
     "  sluicectl get cq                               ClusterQueues; also by kind, plural, "
     "singular\n"
     "  sluicectl get cq,lq -A                         several kinds\n"
     "  sluicectl get job a b -n lab -ojson            two objects as data\n"
     "  sluicectl get cq/research lq/main              of several kinds, by name\n"
     "  sluicectl get workloads -n lab -w              and then what changes\n"},
    {"describe", sl_ctl_describe, 0, "KIND NAME... | KIND/NAME...", "objects with their events",
     "  sluicectl describe cq research\n"
     "  sluicectl describe job/train -n lab\n"},
    {"delete", sl_ctl_delete, 0, "KIND NAME... | KIND/NAME... | -f FILE...", "delete objects",
     "  sluicectl delete job a b -n lab\n"
     "  sluicectl delete -f jobs.yaml\n"},
    {"watch", sl_ctl_watch, TABLES | DATA | NAME, "KIND [NAME]",
     "changes of objects, until interrupted", "  sluicectl watch workloads -A\n"},
    {"submit", sl_ctl_submit, DATA | NAME, "--queue NAME [options]", "start Jobs",
     "  sluicectl submit --queue main -n lab --cpu 4 --memory 8Gi --run-for 20s\n"
     "  sluicectl submit --queue main --gpu 1 --parallelism 8 --topology-required "
     "example.com/rack\n"
     "  sluicectl submit --queue main --name sweep --count 50 --label team=vision -q\n"
     "  sluicectl submit --queue main --name train --time-limit 2h --wait && echo done\n"
     "  sluicectl submit --queue main --dry-run -o yaml\n"},
    {"pending", sl_ctl_pending, 1u << SL_OUTPUT_TABLE | DATA, "[CLUSTERQUEUE...]",
     "pending workloads in their order, and why they wait",
     "  sluicectl pending                              of all queues, and those in no queue\n"
     "  sluicectl pending research --limit 10\n"
     "  sluicectl pending -n lab -o json\n"},
    {"dashboard", sl_ctl_dashboard, 1u << SL_OUTPUT_TABLE | DATA, "",
     "workloads and quotas, redrawn until q or Ctrl-C",
     "  sluicectl dashboard\n"
     "  sluicectl dashboard --until-done               for scripts\n"
     "  sluicectl dashboard -o json                    one picture as data\n"},
    {"topology", sl_ctl_topology, 1u << SL_OUTPUT_TABLE | DATA, "[FLAVOR]",
     "which workloads have pods where, rack by rack", "  sluicectl topology\n"},
    {"node", sl_ctl_node, 0, "list | fail NAME... | recover NAME...",
     "the nodes with what runs on them, and simulated failures",
     "  sluicectl node list\n"
     "  sluicectl node fail r01-n05                    Ready becomes False, with the not-ready "
     "taints\n"
     "  sluicectl node recover r01-n05\n"},
    {"replay", sl_ctl_replay, 0, "FILE | DIR",
     "play a daemon's journal again and compare every decision (needs no server)",
     "  sluicectl replay /var/lib/sluice\n"
     "  sluicectl replay /var/lib/sluice --workload lab/job-train-1a2b3\n"},
    {"version", sl_ctl_version, 0, "", "versions of this program and of the server",
     "  sluicectl version\n"},
    {"help", NULL, 0, "[COMMAND]", "print this, or the help of a command, and exit",
     "  sluicectl help submit\n"},
};
#define TABLE_COUNT (sizeof table / sizeof table[0])

const struct sl_ctl_command *sl_ctl_command(const char *name)
{
    SL_PRE(name != NULL);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

int sl_ctl_no_command(const char *name)
{
    struct sl_near near;
    struct sl_buf hint = {0};
    sl_near_start(&near, name);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        sl_near_try(&near, table[i].name);
    }
    sl_near_print(&near, &hint);
    int code =
        sl_ctl_misused("there is no command \"%s\"%s", name, hint.data == NULL ? "" : hint.data);
    sl_buf_fini(&hint);
    return code;
}

/* --- help ---------------------------------------------------------------------------------------------- */

static void print_all(struct sl_buf *out)
{
    sl_buf_text(out, "usage: sluicectl COMMAND [options]\n\n");
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        sl_flags_help_row(table[i].name, NAME_WIDTH, table[i].about, out);
    }
    sl_buf_text(out, "\nOptions of every command:\n");
    sl_ctl_print_options(NULL, out);
    sl_buf_text(out, "\nsluicectl COMMAND --help lists the command's own, with examples.\n"
                     "Exit codes: 0 done, 1 something failed, 2 wrong usage.\n");
}

static void print_one(const struct sl_ctl_command *c, struct sl_buf *out)
{
    struct sl_buf options = {0};
    sl_buf_print(out, "usage: sluicectl %s%s%s\n\n%s\n", c->name, c->synopsis[0] == '\0' ? "" : " ",
                 c->synopsis, c->about);
    sl_ctl_print_options(c->name, &options);
    if (options.len > 0) {
        sl_buf_print(out, "\nOptions:\n%s", options.data);
    }
    sl_buf_fini(&options);
    if (c->outputs != 0) {
        sl_buf_text(out, "\nForms of --output: ");
        sl_ctl_print_outputs(c->outputs, out);
        sl_buf_text(out, "\n");
    }
    sl_buf_text(out, "\nOptions of every command:\n");
    sl_ctl_print_options(NULL, out);
    sl_buf_print(out, "\nExamples:\n%s", c->examples);
}

void sl_ctl_print_help(const struct sl_ctl_command *command, struct sl_buf *out)
{
    SL_PRE(out != NULL);
    if (command == NULL) {
        print_all(out);
    } else {
        print_one(command, out);
    }
}
