/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Completion: shells ask this program what a word may become, so that it is said by the tables of commands and options, and names
 * of objects by the server. */
#include "base/check.h"
#include "base/mem.h"
#include "cli/ctl/ctl.h"
#include "cli/verbs/verb_backup.h"
#include <stdio.h>
#include <string.h>

#define FILES ":files"

/* --- scripts ------------------------------------------------------------------------------------------- */

static const struct {
    const char *shell, *script;
} scripts[] = {
    {"bash", "# Completion of sluicectl for bash, made by: sluicectl completion bash\n"
             "_sluicectl() {\n"
             "    local line IFS=$'\\n'\n"
             "    COMPREPLY=()\n"
             "    for line in $(\"${COMP_WORDS[0]}\" __complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" "
             "2>/dev/null); do\n"
             "        if [ \"$line\" = :files ]; then\n"
             "            COMPREPLY+=($(compgen -f -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
             "        else\n"
             "            COMPREPLY+=(\"${line%%$'\\t'*}\")\n"
             "        fi\n"
             "    done\n"
             "}\n"
             "complete -o filenames -F _sluicectl sluicectl kubectl-sluice\n"},
    {"zsh", "#compdef sluicectl kubectl-sluice\n"
            "# Completion of sluicectl for zsh, made by: sluicectl completion zsh\n"
            "_sluicectl() {\n"
            "    local line\n"
            "    local -a found\n"
            "    for line in ${(f)\"$(${words[1]} __complete \"${(@)words[2,CURRENT]}\" "
            "2>/dev/null)\"}; do\n"
            "        if [[ $line == :files ]]; then\n"
            "            _files\n"
            "        elif [[ $line == *$'\\t'* ]]; then\n"
            "            found+=(\"${${line%%$'\\t'*}/:/\\\\:}:${line#*$'\\t'}\")\n"
            "        else\n"
            "            found+=(\"${line/:/\\\\:}\")\n"
            "        fi\n"
            "    done\n"
            "    _describe sluicectl found\n"
            "}\n"
            "if [[ $funcstack[1] == _sluicectl ]]; then\n"
            "    _sluicectl\n"
            "elif (( $+functions[compdef] )); then\n"
            "    compdef _sluicectl sluicectl kubectl-sluice\n"
            "fi\n"},
    {"fish", "# Completion of sluicectl for fish, made by: sluicectl completion fish\n"
             "function __sluicectl_complete\n"
             "    set -l before (commandline -opc)\n"
             "    set -l word (commandline -ct)\n"
             "    for line in ($before[1] __complete $before[2..-1] \"$word\" 2>/dev/null)\n"
             "        if test \"$line\" = :files\n"
             "            __fish_complete_path \"$word\"\n"
             "        else\n"
             "            echo $line\n"
             "        end\n"
             "    end\n"
             "end\n"
             "complete -c sluicectl -f -a '(__sluicectl_complete)'\n"
             "complete -c kubectl-sluice -f -a '(__sluicectl_complete)'\n"},
};

int sl_ctl_completion(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    const char *shell = c->arguments.count == 1 ? c->arguments.items[0] : "";
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        if (strcmp(scripts[i].shell, shell) == 0) {
            fputs(scripts[i].script, stdout);
            return 0;
        }
    }
    return sl_ctl_misused("completion takes bash, zsh or fish");
}

/* --- what a word may become ---------------------------------------------------------------------------- */

struct completing {
    const char *word; /* unfinished */
    const struct sl_ctl_command *command;
    struct sl_ctl c; /* of the words before, where they can be read */
    bool readable;
};

static void offer(const struct completing *k, const char *word, const char *about)
{
    if (strncmp(word, k->word, strlen(k->word)) == 0) {
        printf("%s%s%s\n", word, about == NULL ? "" : "\t", about == NULL ? "" : about);
    }
}

/* Words between these separators. */
static void offer_each(const struct completing *k, const char *words, const char *separators)
{
    for (const char *at = words; *at != '\0'; at += strspn(at, separators)) {
        char *word = sl_mem_text_n(at, strcspn(at, separators));
        offer(k, word, NULL);
        at += strlen(word);
        sl_mem_free(word);
    }
}

/* Those of the server; none where it cannot be asked. */
static void offer_names(struct completing *k, enum sl_kind kind)
{
    struct sl_credentials *credentials = NULL;
    struct sl_json *list = NULL;
    struct sl_buf path = {0};
    if (k->readable && sl_ctl_open(&k->c, &credentials, NULL)) {
        sl_ctl_path(kind, k->c.all_namespaces ? "" : sl_ctl_namespace(&k->c, kind), "", &path);
        (void)sl_remote_get(k->c.remote, path.data, &list, NULL);
        const struct sl_json *items = sl_json_get(list, "items");
        for (size_t i = 0; i < sl_json_len(items); i++) {
            offer(k, sl_object_name(sl_json_at(items, i)), NULL);
        }
    }
    sl_ctl_close(&k->c, credentials);
    k->c.remote = NULL;
    sl_json_free(list);
    sl_buf_fini(&path);
}

static void offer_kinds(const struct completing *k)
{
    bool queues = k->command->run == sl_ctl_stop || k->command->run == sl_ctl_resume;
    for (size_t i = 0; i < (size_t)sl_kind_end(); i++) {
        const struct sl_kind_info *info = sl_kind_info((enum sl_kind)i);
        if (!queues || i == SL_KIND_CLUSTER_QUEUE || i == SL_KIND_LOCAL_QUEUE ||
            i == SL_KIND_WORKLOAD) {
            offer(k, info->singular, info->kind);
        }
    }
}

/* --- options ------------------------------------------------------------------------------------------- */

static bool is_for(const struct sl_flag *flag, const struct sl_ctl_command *command)
{
    char scope[SL_CTL_SCOPE_LEN];
    sl_ctl_scope(command == NULL ? "" : command->name, scope);
    return flag->scope == NULL || sl_flag_concerns(flag, scope);
}

static void offer_options(const struct completing *k)
{
    size_t count;
    const struct sl_flag *options = sl_ctl_options(&count);
    for (size_t i = 0; i < count; i++) {
        if (is_for(&options[i], k->command)) {
            offer(k, options[i].name, options[i].about);
        }
    }
}

/* The option whose value the word is; NULL: none. */
static const struct sl_flag *option_before(const struct completing *k, const char *before)
{
    size_t count;
    const struct sl_flag *options = sl_ctl_options(&count);
    for (size_t i = 0; i < count; i++) {
        const struct sl_flag *flag = &options[i];
        bool named = strcmp(flag->name, before) == 0 ||
                     (flag->short_name != NULL && strcmp(flag->short_name, before) == 0);
        bool takes = flag->type == SL_FLAG_TEXT || flag->type == SL_FLAG_LIST ||
                     flag->type == SL_FLAG_NUMBER || flag->type == SL_FLAG_WORD;
        if (named && takes && is_for(flag, k->command)) {
            return flag;
        }
    }
    return NULL;
}

static void offer_values(struct completing *k, const struct sl_flag *flag)
{
    static const struct {
        const char *option;
        enum sl_kind kind;
    } names[] = {{"--clusterqueue", SL_KIND_CLUSTER_QUEUE},
                 {"--localqueue", SL_KIND_LOCAL_QUEUE},
                 {"--queue", SL_KIND_LOCAL_QUEUE},
                 {"--namespace", SL_KIND_NAMESPACE},
                 {"--cohort", SL_KIND_COHORT},
                 {"--topology", SL_KIND_TOPOLOGY},
                 {"--priority-class", SL_KIND_WORKLOAD_PRIORITY_CLASS}};
    bool is_cluster_queue = flag->value != NULL && strcmp(flag->value, "CLUSTERQUEUE") == 0;
    if (is_cluster_queue) { /* also where --queue is one */
        offer_names(k, SL_KIND_CLUSTER_QUEUE);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !is_cluster_queue; i++) {
        if (strcmp(names[i].option, flag->name) == 0) {
            offer_names(k, names[i].kind);
        }
    }
    if (strcmp(flag->name, "--filename") == 0 || strcmp(flag->name, "--kubeconfig") == 0 ||
        strcmp(flag->name, "--journal") == 0) {
        puts(FILES);
    } else if (strcmp(flag->name, "--output") == 0 && k->command != NULL) {
        struct sl_buf forms = {0};
        sl_ctl_print_outputs(k->command->outputs, &forms);
        offer_each(k, forms.data, ", ");
        sl_buf_fini(&forms);
    } else if (strcmp(flag->name, "--status") == 0) {
        offer_each(k, "all pending quotareserved admitted finished", " ");
    } else if (strcmp(flag->name, "--by") == 0) {
        offer_each(k, "queue namespace workload flavor", " ");
    } else if (flag->type == SL_FLAG_WORD) {
        offer_each(k, flag->value, "|");
    }
}

/* --- arguments ----------------------------------------------------------------------------------------- */

/* The first words of commands, each once. */
static void offer_commands(const struct completing *k)
{
    const struct sl_ctl_command *row;
    const char *last = "";
    for (size_t i = 0; (row = sl_ctl_command_at(i)) != NULL; i++) {
        size_t len = strcspn(row->name, " ");
        char *word = sl_mem_text_n(row->name, len);
        bool again = strncmp(last, row->name, len) == 0 && last[len] == ' ';
        if (!again) {
            offer(k, word, row->name[len] == ' ' ? NULL : row->about);
        }
        last = row->name;
        sl_mem_free(word);
    }
}

static void offer_second_words(const struct completing *k, const char *first)
{
    const struct sl_ctl_command *row;
    size_t len = strlen(first);
    for (size_t i = 0; (row = sl_ctl_command_at(i)) != NULL; i++) {
        if (strncmp(row->name, first, len) == 0 && row->name[len] == ' ') {
            offer(k, row->name + len + 1, row->about);
        }
    }
}

static void offer_node(struct completing *k)
{
    if (k->c.arguments.count == 0) {
        offer_each(k, "list fail recover", " ");
    } else {
        offer_names(k, SL_KIND_NODE);
    }
}

static bool takes_kinds(const struct sl_ctl_command *command)
{
    static const char *const names[] = {"get",  "describe", "delete", "watch",
                                        "stop", "resume",   "edit",   "patch"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], command->name) == 0) {
            return true;
        }
    }
    return false;
}

static void offer_arguments(struct completing *k)
{
    const struct sl_flag_list *before = &k->c.arguments;
    if (takes_kinds(k->command) && before->count == 0) {
        offer_kinds(k);
    } else if (takes_kinds(k->command)) {
        enum sl_kind kind = sl_kind_find_name(before->items[0]);
        if (kind != SL_KIND_COUNT) {
            offer_names(k, kind);
        }
    } else if (k->command->run == sl_ctl_pending || k->command->run == sl_ctl_drain) {
        offer_names(k, SL_KIND_CLUSTER_QUEUE);
    } else if (k->command->run == sl_ctl_topology) {
        offer_names(k, SL_KIND_RESOURCE_FLAVOR);
    } else if (k->command->run == sl_ctl_node) {
        offer_node(k);
    } else if (k->command->run == sl_ctl_completion) {
        offer_each(k, "bash zsh fish", " ");
    } else if (k->command->run == sl_ctl_replay || k->command->run == sl_ctl_backup ||
               k->command->run == sl_ctl_restore) {
        puts(FILES);
    } else if (k->command->run == NULL) { /* help */
        offer_commands(k);
    }
}

int sl_ctl_complete(int argc, char *const argv[])
{
    SL_PRE(argc >= 1);
    struct completing k = {.word = argc > 1 ? argv[argc - 1] : ""};
    int before =
        argc > 1 ? argc - 1 : argc; /* words before the unfinished one, the first included */
    struct sl_error e = {0};
    if (strcmp(k.word, "=") == 0) { /* bash cuts --option=value in three */
        k.word = "";
    } else if (before > 1 && strcmp(argv[before - 1], "=") == 0) {
        before--;
    }
    k.command = sl_ctl_command_in(before, argv);
    k.readable = sl_ctl_parse(before, argv, &k.c, &e) == SL_CODE_OK;
    const struct sl_flag *flag = before > 1 ? option_before(&k, argv[before - 1]) : NULL;
    if (flag != NULL) {
        /* what comes before the option can be read */
        k.readable = sl_ctl_parse(before - 1, argv, &k.c, &e) == SL_CODE_OK;
        offer_values(&k, flag);
    } else if (k.word[0] == '-') {
        offer_options(&k);
    } else if (k.command != NULL) {
        offer_arguments(&k);
    } else if (k.readable && k.c.command[0] != '\0') {
        offer_second_words(&k, k.c.command);
    } else {
        offer_commands(&k);
    }
    return 0;
}
