/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The table of sluicectl's commands, and the help that is made of it. */
#include "cli/ctl/ctl.h"
#include "cli/verbs/verb_backup.h"
#include "base/check.h"
#include "base/near.h"
#include <string.h>

#define TABLES (1u << SL_OUTPUT_TABLE | 1u << SL_OUTPUT_WIDE)
#define DATA (1u << SL_OUTPUT_JSON | 1u << SL_OUTPUT_YAML)
#define NAME (1u << SL_OUTPUT_NAME)
#define CSV (1u << SL_OUTPUT_CSV)
#define NAME_WIDTH 21u

static const struct sl_ctl_command table[] = {
    {"apply", sl_ctl_apply, NAME, "-f FILE...",
     "create or merge the objects of a file, directory or - (standard input)",
     "  sluicectl apply -f queues.yaml\n"
     "  sluicectl apply -q -f jobs/                    print only errors and warnings\n"},
    {"create clusterqueue", sl_ctl_create_cluster_queue, DATA | NAME, "NAME",
     "create a ClusterQueue from options",
     "  sluicectl create clusterqueue research --nominal-quota \"spot:cpu=9;memory=36Gi\"\n"
     "  sluicectl create cq vision --cohort science --queuing-strategy StrictFIFO \\\n"
     "      --nominal-quota \"a:cpu=9;nvidia.com/gpu=8,b:cpu=18;nvidia.com/gpu=0\" \\\n"
     "      --borrowing-limit \"a:cpu=4\" --namespace-selector team=vision\n"
     "  sluicectl create cq research --dry-run=client -o yaml\n"},
    {"create localqueue", sl_ctl_create_local_queue, DATA | NAME, "NAME -c CLUSTERQUEUE",
     "create a LocalQueue, by which a namespace uses a ClusterQueue",
     "  sluicectl create localqueue main -c research -n lab\n"
     "  sluicectl create lq main -c research -i        though there is no research yet\n"},
    {"create resourceflavor", sl_ctl_create_flavor, DATA | NAME, "NAME",
     "create a ResourceFlavor from options",
     "  sluicectl create resourceflavor spot\n"
     "  sluicectl create rf arm --node-labels kubernetes.io/arch=arm64 \\\n"
     "      --node-taints spot=true:NoSchedule --tolerations spot=true:NoSchedule\n"},
    {"list clusterqueue", sl_ctl_list_cluster_queues, TABLES | DATA | NAME, "",
     "ClusterQueues and whether they are active",
     "  sluicectl list clusterqueue\n"
     "  sluicectl list cq --active=false               those that admit nothing\n"},
    {"list localqueue", sl_ctl_list_local_queues, TABLES | DATA | NAME, "",
     "LocalQueues, also those of one ClusterQueue",
     "  sluicectl list localqueue -n lab\n"
     "  sluicectl list lq -A -c research\n"},
    {"list resourceflavor", sl_ctl_list_flavors, TABLES | DATA | NAME, "",
     "ResourceFlavors and their node labels", "  sluicectl list resourceflavor\n"},
    {"list workload", sl_ctl_list_workloads, TABLES | DATA | NAME, "",
     "workloads with their jobs, queues, status and position in line",
     "  sluicectl list workload -n lab\n"
     "  sluicectl list wl -A -c research --status pending --status quotareserved\n"
     "  sluicectl list wl --for job/train\n"},
    {"list pod", sl_ctl_list_pods, TABLES | DATA | NAME, "--for KIND/NAME",
     "the pods of a job, or of a pod's group",
     "  sluicectl list pods --for job/train -n lab\n"
     "  sluicectl list pods --for pod/worker-0         with the others of its group\n"},
    {"get", sl_ctl_get, TABLES | DATA | NAME, "KIND[,KIND...] [NAME...] | KIND/NAME...",
     "objects as a table",
     "  sluicectl get cq                               ClusterQueues; also by kind, plural, "
     "singular\n"
     "  sluicectl get cq,lq -A                         several kinds\n"
     "  sluicectl get job a b -n lab -ojson            two objects as data\n"
     "  sluicectl get cq/research lq/main              of several kinds, by name\n"
     "  sluicectl get workloads -n lab -w              and then what changes\n"},
    {"describe", sl_ctl_describe, 1u << SL_OUTPUT_TABLE | DATA | NAME,
     "KIND NAME... | KIND/NAME...", "objects with their events",
     "  sluicectl describe cq research\n"
     "  sluicectl describe job/train -n lab\n"},
    {"delete", sl_ctl_delete, 0, "KIND NAME... | KIND/NAME... | workload --all | -f FILE...",
     "delete objects; a workload with the job that it belongs to",
     "  sluicectl delete job a b -n lab\n"
     "  sluicectl delete workload job-train-1a2b3      asks, and deletes the job as well\n"
     "  sluicectl delete workload --all -n lab -y      those of a namespace, without asking\n"
     "  sluicectl delete -f jobs.yaml\n"},
    {"stop", sl_ctl_stop, DATA | NAME, "clusterqueue|localqueue|workload NAME...",
     "evict what a queue has admitted and admit nothing; or evict a workload",
     "  sluicectl stop clusterqueue research\n"
     "  sluicectl stop lq main -n lab --keep-already-running\n"
     "  sluicectl stop workload job-train-1a2b3 -n lab\n"},
    {"resume", sl_ctl_resume, DATA | NAME, "clusterqueue|localqueue|workload NAME...",
     "undo a stop",
     "  sluicectl resume cq research\n"
     "  sluicectl resume workload job-train-1a2b3 -n lab\n"},
    {"drain", sl_ctl_drain, DATA | NAME, "CLUSTERQUEUE...",
     "stop ClusterQueues, and wait until they are empty",
     "  sluicectl drain research --wait --timeout 10m\n"
     "  sluicectl drain research --keep-already-running --wait    let what runs end\n"
     "  sluicectl resume cq research                   afterwards\n"},
    {"edit", sl_ctl_kubectl, 0, "KIND NAME | KIND/NAME [options of kubectl]",
     "edit objects with kubectl, which has to be installed", "  sluicectl edit cq research\n"},
    {"patch", sl_ctl_kubectl, 0, "KIND NAME... -p PATCH [options of kubectl]",
     "change fields of objects with kubectl, which has to be installed",
     "  sluicectl patch cq research --type merge -p '{\"spec\":{\"cohortName\":\"all\"}}'\n"},
    {"watch", sl_ctl_watch, TABLES | DATA | NAME, "KIND [NAME]",
     "changes of objects, until interrupted", "  sluicectl watch workloads -A\n"},
    {"submit", sl_ctl_submit, DATA | NAME, "--queue NAME [options]", "start Jobs",
     "  sluicectl submit --queue main -n lab --cpu 4 --memory 8Gi --run-for 20s\n"
     "  sluicectl submit --queue main --gpu 1 --parallelism 8 --topology-required "
     "example.com/rack\n"
     "  sluicectl submit --queue main --name sweep --count 50 --label team=vision -q\n"
     "  sluicectl submit --queue main --name train --time-limit 2h --wait && echo done\n"
     "  sluicectl submit --queue main --dry-run -o yaml\n"},
    {"run", sl_ctl_run, DATA | NAME, "[options] -- COMMAND [ARGUMENT...]", "queue a command",
     "  sluicectl run --queue main --cpu 2 -- python train.py\n"
     "  sluicectl run --gpu 1 --memory 16Gi -f -- python train.py --epochs 3\n"
     "  sluicectl run --array 100%8 -- sh -c './part.sh $JOB_COMPLETION_INDEX'\n"
     "  sluicectl run --after $(sluicectl run -- make data) -- python train.py\n"
     "  sluicectl run --wait -- make test || echo failed with $?\n"
     "  sluicectl run --image python:3.13 --namespace lab --queue main -- python train.py\n"},
    {"pending", sl_ctl_pending, 1u << SL_OUTPUT_TABLE | DATA, "[CLUSTERQUEUE...]",
     "pending workloads in their order, and why they wait",
     "  sluicectl pending                              of all queues, and those in no queue\n"
     "  sluicectl pending research --limit 10\n"
     "  sluicectl pending -n lab -o json\n"
     "  sluicectl pending --start                      and when each starts\n"},
    {"why", sl_ctl_why, 1u << SL_OUTPUT_TABLE | DATA, "NAME | KIND NAME... | KIND/NAME...",
     "why a job, Pod, Workload or queue waits, what holds its quota, and what would let it in",
     "  sluicectl why train -n lab                     a Job, else a Workload, Pod or queue of "
     "that "
     "name\n"
     "  sluicectl why job/train lq/main -n lab\n"
     "  sluicectl why cq research                      what is used of its quota, and by what\n"
     "  sluicectl why train -n lab -o json\n"},
    {"what-if", sl_ctl_what_if, 1u << SL_OUTPUT_TABLE | DATA, "-f FILE... | [options]",
     "what would happen, without doing it: who starts, waits longer, is evicted",
     "  sluicectl what-if -f job.yaml -n lab           is it admitted now? where?\n"
     "  sluicectl what-if --quota research:spot:cpu=40\n"
     "  sluicectl what-if --drain r01-n05 --drain r01-n06\n"
     "  sluicectl what-if --add-nodes r01-n05=4 -o json\n"
     "  sluicectl what-if --priority job-train-1a2b3=1000 -n lab\n"
     "  sluicectl what-if -f queues.yaml --horizon 12h\n"
     "  sluicectl what-if --dump dump.json --quota research:spot:cpu=40\n"
     "  sluicectl what-if --journal /var/lib/sluice --stop-queue nightly\n"},
    {"dashboard", sl_ctl_dashboard, 1u << SL_OUTPUT_TABLE | DATA, "",
     "workloads and quotas, redrawn until q or Ctrl-C; arrows scroll, / filters",
     "  sluicectl dashboard\n"
     "  sluicectl dashboard --until-done               for scripts\n"
     "  sluicectl dashboard -o json                    one picture as data\n"},
    {"shares", sl_ctl_shares, 1u << SL_OUTPUT_TABLE | DATA, "",
     "the tree of cohorts: who is entitled to how much, uses, borrows and lends it",
     "  sluicectl shares\n"
     "  sluicectl shares -o json\n"},
    {"status", sl_ctl_status, 1u << SL_OUTPUT_TABLE | DATA, "",
     "health of the scheduler: leader, cycles, queue depth, waiting times",
     "  sluicectl status\n"
     "  sluicectl status >/dev/null || echo it needs a look\n"
     "  sluicectl status --metrics http://127.0.0.1:8080/metrics\n"},
    {"topology", sl_ctl_topology, 1u << SL_OUTPUT_TABLE | DATA, "[FLAVOR]",
     "which workloads have pods where, rack by rack", "  sluicectl topology\n"},
    {"node", sl_ctl_node, 1u << SL_OUTPUT_TABLE | DATA | NAME,
     "list | fail NAME... | recover NAME...",
     "the nodes with what runs on them, and simulated failures",
     "  sluicectl node list\n"
     "  sluicectl node fail r01-n05                    Ready becomes False, with the not-ready "
     "taints\n"
     "  sluicectl node recover r01-n05\n"},
    {"replay", sl_ctl_replay, 0, "FILE | DIR",
     "play a daemon's journal again and compare every decision (needs no server)",
     "  sluicectl replay /var/lib/sluice\n"
     "  sluicectl replay /var/lib/sluice --workload lab/job-train-1a2b3\n"},
    {"compare", sl_ctl_compare, 1u << SL_OUTPUT_TABLE | DATA, "--journal DIR [options]",
     "play yesterday again with other quotas or another configuration (needs no server)",
     "  sluicectl compare --journal /var/lib/sluice -f queues.yaml\n"
     "  sluicectl compare --journal /var/lib/sluice --config now.yaml --with then.yaml -o json\n"
     "  sluicectl compare --journal day/ -f queues.yaml --fail-if 'wait_p95>+10%'\n"
     "  sluicectl compare --journal day/ --fail-if 'otherwise>0'\n"},
    {"history", sl_ctl_history, TABLES | DATA | CSV, "[WORKLOAD | JOB | KIND/NAME]",
     "what happened to which workload and why, by a daemon's journal (needs no server)",
     "  sluicectl history train -n lab                 of a job or workload, with why it waited\n"
     "  sluicectl history -q research --since 2h       of a ClusterQueue, with its preemptions\n"
     "  sluicectl history --journal /var/lib/sluice -o csv > history.csv\n"},
    {"usage", sl_ctl_usage, 1u << SL_OUTPUT_TABLE | DATA | CSV, "",
     "who held how much quota for how long, by a daemon's journal (needs no server)",
     "  sluicectl usage                                by ClusterQueue\n"
     "  sluicectl usage --by namespace --since 30d\n"
     "  sluicectl usage --by namespace,flavor --since 2026-11-01 --until 2026-12-01 -o csv\n"},
    {"backup", sl_ctl_backup, 0, "FILE",
     "copy all objects of a standalone daemon into a file, also while it runs (needs no server)",
     "  sluicectl backup --data /var/lib/sluice sluice-$(date +%F).db\n"},
    {"restore", sl_ctl_restore, 0, "FILE",
     "give a data directory what a backup has, while no daemon uses it",
     "  sluicectl restore --data /var/lib/sluice sluice-2026-11-27.db\n"},
    {"completion", sl_ctl_completion, 0, "bash|zsh|fish",
     "print the script by which a shell completes the words of this program",
     "  sluicectl completion zsh >\"${fpath[1]}/_sluicectl\"\n"
     "  sluicectl completion fish >~/.config/fish/completions/sluicectl.fish\n"
     "  source <(sluicectl completion bash)            in ~/.bashrc\n"},
    {"man", sl_ctl_man, 0, "", "print the manual page (troff)", "  sluicectl man | man -l -\n"},
    {"dump", sl_ctl_dump, 0, "",
     "all that the server knows, without secrets, as one JSON document for support",
     "  sluicectl dump > dump.json\n"},
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

const struct sl_ctl_command *sl_ctl_command_at(size_t index)
{
    return index < TABLE_COUNT ? &table[index] : NULL;
}

/* "create clusterqueue" for "create" and "cq". */
const struct sl_ctl_command *sl_ctl_command_of(const struct sl_flag_list *words, unsigned *used)
{
    SL_PRE(words != NULL && used != NULL);
    struct sl_buf name = {0};
    const struct sl_ctl_command *found = words->count == 0 ? NULL : sl_ctl_command(words->items[0]);
    *used = found == NULL ? 0 : 1;
    if (found == NULL && words->count > 1) {
        enum sl_kind kind = sl_kind_find_name(words->items[1]);
        sl_buf_print(&name, "%s %s", words->items[0],
                     kind == SL_KIND_COUNT ? words->items[1] : sl_kind_info(kind)->singular);
        found = sl_ctl_command(name.data);
        *used = found == NULL ? 0 : 2;
    }
    sl_buf_fini(&name);
    return found;
}

/* The second word of a command that begins with `word`; NULL: it does not. */
static const char *rest_of(const struct sl_ctl_command *command, const char *word)
{
    size_t len = strlen(word);
    return len > 0 && strncmp(command->name, word, len) == 0 && command->name[len] == ' '
               ? command->name + len + 1
               : NULL;
}

static bool add_rests(const char *word, struct sl_buf *out)
{
    bool any = false;
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        const char *rest = rest_of(&table[i], word);
        if (rest != NULL) {
            sl_buf_print(out, "%s%s", any ? ", " : "", rest);
            any = true;
        }
    }
    return any;
}

int sl_ctl_no_command(const char *name, const struct sl_flag_list *arguments)
{
    struct sl_buf hint = {0}, rests = {0};
    int code;
    if (add_rests(name, &rests)) {
        code = arguments->count == 0 ? sl_ctl_misused("%s what? %s", name, rests.data)
                                     : sl_ctl_misused("there is no command \"%s %s\", only %s",
                                                      name, arguments->items[0], rests.data);
    } else {
        struct sl_near near;
        sl_near_start(&near, name);
        for (size_t i = 0; i < TABLE_COUNT; i++) {
            sl_near_try(&near, table[i].name);
        }
        sl_near_print(&near, &hint);
        code = sl_ctl_misused("there is no command \"%s\"%s", name,
                              hint.data == NULL ? "" : hint.data);
    }
    sl_buf_fini(&rests);
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

bool sl_ctl_print_group(const char *word, struct sl_buf *out)
{
    struct sl_buf rows = {0};
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (rest_of(&table[i], word) != NULL) {
            sl_flags_help_row(table[i].name, NAME_WIDTH, table[i].about, &rows);
        }
    }
    bool any = rows.len > 0;
    if (any) {
        sl_buf_print(out, "usage: sluicectl %s COMMAND [options]\n\n%s", word, rows.data);
    }
    sl_buf_fini(&rows);
    return any;
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
