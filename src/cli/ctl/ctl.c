/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Options, paths and messages of sluicectl. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char sl_ctl_usage[] =
    "usage: sluicectl COMMAND [options]\n"
    "\n"
    "  apply -f FILE            create or merge the objects of a file, directory or - (standard "
    "input)\n"
    "  get KIND [NAME]          objects as a table\n"
    "  describe KIND NAME       one object with its events\n"
    "  delete KIND NAME         delete an object; or delete -f FILE\n"
    "  watch KIND [NAME]        changes of objects, until interrupted\n"
    "  submit --queue NAME      start a Job: --cpu 1 --memory 1Gi --parallelism 1 --count 1 "
    "--run-for 5s\n"
    "                           --priority-class NAME --name NAME --fail\n"
    "  pending [CLUSTERQUEUE]   pending workloads in their order, and why they wait; -n: of one "
    "namespace\n"
    "  dashboard                workloads and quotas, redrawn; --until-done ends when all have "
    "finished\n"
    "  topology [FLAVOR]        which workloads have pods where, rack by rack\n"
    "  node list                the nodes, and what runs on them\n"
    "  node fail|recover NAME   simulate a failure: Ready becomes False, with the not-ready "
    "taints\n"
    "  replay FILE|DIR          play a daemon's journal again and compare every decision (needs no "
    "server):\n"
    "                           --until N (record), cN (cycle), S.cN (cycle after the S-th "
    "start);\n"
    "                           --workload NS/NAME: only its decisions, with reasons\n"
    "  help                     print this and exit\n"
    "  version                  versions of this program and of the server\n"
    "\n"
    "  --server URL             default: $SLUICE_SERVER, else as in the kubeconfig, else "
    "http://127.0.0.1:8088\n"
    "  --kubeconfig FILE        token and certificate for a server with authentication, as written "
    "by "
    "sluiced into\n"
    "                           its data directory; default: $SLUICE_KUBECONFIG, else none\n"
    "  -n, --namespace NS       default: default\n"
    "  -A, --all-namespaces\n"
    "  -l, --selector LABELS    such as app=web,tier!=db\n"
    "  -o, --output FORMAT      table or wide; get, pending and topology: json or yaml, too\n"
    "  --plain                  dashboard, topology: no colors, as for a file\n";

static enum sl_code parse_output(const char *text, enum sl_output *out, struct sl_error *e)
{
    static const char *const names[] = {[SL_OUTPUT_TABLE] = "table",
                                        [SL_OUTPUT_WIDE] = "wide",
                                        [SL_OUTPUT_JSON] = "json",
                                        [SL_OUTPUT_YAML] = "yaml"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (enum sl_output)i;
            return SL_CODE_OK;
        }
    }
    return sl_error_set(e, SL_CODE_BAD_REQUEST,
                        "--output: \"%.64s\" is not one of table, wide, json, yaml", text);
}

static enum sl_code parse_flags(int argc, char *const argv[], struct sl_ctl *out,
                                const char **output, struct sl_flag_list *words, struct sl_error *e)
{
    const struct sl_flag table[] = {
        {"--server", "-s", SL_FLAG_TEXT, &out->server},
        {"--kubeconfig", NULL, SL_FLAG_TEXT, &out->kubeconfig},
        {"--namespace", "-n", SL_FLAG_TEXT, &out->ns},
        {"--all-namespaces", "-A", SL_FLAG_SWITCH, &out->all_namespaces},
        {"--selector", "-l", SL_FLAG_TEXT, &out->selector},
        {"--output", "-o", SL_FLAG_TEXT, output},
        {"--filename", "-f", SL_FLAG_LIST, &out->files},
        {"--help", "-h", SL_FLAG_SWITCH, &out->help},
        {"--queue", NULL, SL_FLAG_TEXT, &out->queue},
        {"--cpu", NULL, SL_FLAG_TEXT, &out->cpu},
        {"--memory", NULL, SL_FLAG_TEXT, &out->memory},
        {"--priority-class", NULL, SL_FLAG_TEXT, &out->priority_class},
        {"--run-for", NULL, SL_FLAG_TEXT, &out->run_for},
        {"--name", NULL, SL_FLAG_TEXT, &out->name},
        {"--parallelism", NULL, SL_FLAG_NUMBER, &out->parallelism},
        {"--count", NULL, SL_FLAG_NUMBER, &out->count},
        {"--fail", NULL, SL_FLAG_SWITCH, &out->fail},
        {"--until-done", NULL, SL_FLAG_SWITCH, &out->until_done},
        {"--until", NULL, SL_FLAG_TEXT, &out->until},
        {"--workload", NULL, SL_FLAG_TEXT, &out->workload},
        {"--plain", NULL, SL_FLAG_SWITCH, &out->plain}};
    struct sl_flags flags = {.table = table, .table_count = sizeof table / sizeof table[0]};
    enum sl_code code = sl_flags_parse(&flags, argc, argv, e);
    *words = flags.arguments;
    return code;
}

enum sl_code sl_ctl_parse(int argc, char *const argv[], struct sl_ctl *out, struct sl_error *e)
{
    const char *output = "table";
    const char *server = getenv("SLUICE_SERVER"), *kubeconfig = getenv("SLUICE_KUBECONFIG");
    bool told = server != NULL && server[0] != '\0';
    struct sl_flag_list words = {0};
    *out = (struct sl_ctl){.server = told ? server : NULL,
                           .kubeconfig =
                               kubeconfig != NULL && kubeconfig[0] != '\0' ? kubeconfig : NULL,
                           .cpu = "1",
                           .parallelism = 1,
                           .count = 1};
    enum sl_code code = parse_flags(argc, argv, out, &output, &words, e);
    if (code == SL_CODE_OK) {
        code = parse_output(output, &out->output, e);
    }
    if (out->server == NULL && out->kubeconfig == NULL) {
        out->server = "http://127.0.0.1:8088";
    }
    out->ns_given = out->ns != NULL && !out->all_namespaces;
    out->ns = out->ns == NULL ? "default" : out->ns;
    if (code != SL_CODE_OK || out->help) {
        return code;
    }
    if (words.count == 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "which command?");
    }
    out->command = words.items[0];
    out->arguments.count = words.count - 1;
    memcpy(out->arguments.items, words.items + 1, out->arguments.count * sizeof words.items[0]);
    return SL_CODE_OK;
}

void sl_ctl_path(enum sl_kind kind, const char *ns, const char *name, struct sl_buf *out)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    sl_buf_print(out, "%s/%s", info->group[0] == '\0' ? "/api" : "/apis", info->api_version);
    if (info->namespaced && ns[0] != '\0') {
        sl_buf_text(out, "/namespaces/");
        sl_ctl_escape(ns, out);
    }
    sl_buf_print(out, "/%s", info->plural);
    if (name[0] != '\0') {
        sl_buf_text(out, "/");
        sl_ctl_escape(name, out);
    }
}

void sl_ctl_escape(const char *text, struct sl_buf *out)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (isalnum((unsigned char)*c) || strchr("-._~", *c) != NULL) {
            sl_buf_add(out, c, 1);
        } else {
            sl_buf_print(out, "%%%02X", (unsigned)(unsigned char)*c);
        }
    }
}

int sl_ctl_failed(const char *what, const struct sl_error *e)
{
    fflush(stdout); /* keeps the order when both go to one place */
    fprintf(stderr, "sluicectl: %s%s%s\n", what, what[0] == '\0' ? "" : ": ", e->text);
    for (unsigned i = 0; i < e->cause_count && i < SL_CAUSES_MAX; i++) {
        if (strstr(e->text, e->causes[i].field) == NULL) {
            fprintf(stderr, "    %s: %s\n", e->causes[i].field, e->causes[i].text);
        }
    }
    return 1;
}

int sl_ctl_misused(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("sluicectl: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs(" (see sluicectl --help)\n", stderr);
    va_end(arguments);
    return 2;
}

bool sl_ctl_target(struct sl_ctl *c, struct sl_ctl_target *out)
{
    SL_PRE(c != NULL);
    if (c->arguments.count == 0) {
        sl_ctl_misused("%s which kind of object?", c->command);
        return false;
    }
    const char *word = c->arguments.items[0];
    const char *slash = strchr(word, '/');
    const char *name = c->arguments.count > 1 ? c->arguments.items[1]
                       : slash != NULL        ? slash + 1
                                              : "";
    char kind[64];
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(word, "/"), word);
    out->kind = sl_kind_find_name(kind);
    if (out->kind == SL_KIND_COUNT) {
        out->kind = sl_ctl_discover(c, NULL, kind);
    }
    if (out->kind == SL_KIND_COUNT) {
        sl_ctl_misused("there is no kind \"%s\"", kind);
        return false;
    }
    if (strlen(name) >= sizeof out->name || c->arguments.count > (slash != NULL ? 1u : 2u)) {
        sl_ctl_misused("%s takes one kind and one name", c->command);
        return false;
    }
    snprintf(out->name, sizeof out->name, "%s", name);
    return true;
}

const char *sl_ctl_namespace(const struct sl_ctl *c, enum sl_kind kind)
{
    return sl_kind_info(kind)->namespaced ? c->ns : "";
}

bool sl_ctl_is_data(const struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    return c->output == SL_OUTPUT_JSON || c->output == SL_OUTPUT_YAML;
}

void sl_ctl_print_value(const struct sl_ctl *c, const struct sl_json *value)
{
    SL_PRE(c != NULL);
    struct sl_buf text = {0};
    (c->output == SL_OUTPUT_JSON ? sl_json_print_pretty : sl_json_print_yaml)(value, &text);
    if (text.len > 0 && text.data[text.len - 1] != '\n') {
        sl_buf_text(&text, "\n");
    }
    sl_ctl_print(&text);
    sl_buf_fini(&text);
}

void sl_ctl_print(const struct sl_buf *text)
{
    SL_PRE(text != NULL);
    if (text->len > 0) {
        fwrite(text->data, 1, text->len, stdout);
    }
}
