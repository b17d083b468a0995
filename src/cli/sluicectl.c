/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl: options in, one command run. Exit codes: 0 done, 1 failed, 2 wrong usage. */
#include "cli/ctl/ctl.h"
#include "base/clock.h"
#include "cli/screen/screen.h"
#include "kube/credentials.h"
#include <string.h>
#include <sys/stat.h>

struct command {
    const char *name;
    int (*run)(struct sl_ctl *c);
    bool prints_objects; /* as JSON or YAML, where asked for */
};
static const struct command commands[] = {
    {"apply", sl_ctl_apply, false},       {"get", sl_ctl_get, true},
    {"describe", sl_ctl_describe, false}, {"delete", sl_ctl_delete, false},
    {"watch", sl_ctl_watch, false},       {"submit", sl_ctl_submit, false},
    {"pending", sl_ctl_pending, true},    {"dashboard", sl_ctl_dashboard, false},
    {"node", sl_ctl_node, false},         {"topology", sl_ctl_topology, true},
    {"replay", sl_ctl_replay, false},     {"version", sl_ctl_version, false},
};

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

/* The server and its credentials. A token is sent only where nobody can read it on the way. */
static bool open_remote(struct sl_ctl *c, struct sl_error *e)
{
    struct sl_credentials *credentials = NULL;
    struct sl_identity who = {0};
    bool good = true;
    if (c->kubeconfig != NULL) {
        good =
            sl_credentials_from_file(c->kubeconfig, NULL, &credentials, e) == SL_CODE_OK &&
            sl_credentials_identity(credentials, sl_clock_wall_ms(), false, &who, e) == SL_CODE_OK;
        if (good && c->server != NULL && who.token != NULL &&
            strncmp(c->server, "https://", 8) != 0) {
            good = false;
            (void)sl_error_set(e, SL_CODE_BAD_REQUEST, "the token is not sent to %.200s: not https",
                               c->server);
        }
    }
    if (good) {
        c->remote =
            sl_remote_open(c->server != NULL ? c->server : sl_credentials_server(credentials));
        sl_remote_trust(c->remote, who.token, who.ca);
    }
    if (credentials != NULL) {
        sl_credentials_free(credentials);
    }
    return good;
}

int main(int argc, char *argv[])
{
    struct sl_ctl ctl;
    struct sl_error e = {0};
    (void)umask(077);
    sl_screen_guard();
    if (sl_ctl_parse(argc, argv, &ctl, &e) != SL_CODE_OK) {
        return sl_ctl_misused("%s", e.text);
    }
    if (ctl.help || strcmp(ctl.command, "help") == 0) {
        fputs(sl_ctl_usage, stdout);
        return 0;
    }
    const struct command *command = find(ctl.command);
    if (command == NULL) {
        return sl_ctl_misused("there is no command \"%s\"", ctl.command);
    }
    if (ctl.output >= SL_OUTPUT_JSON && !command->prints_objects) {
        return sl_ctl_misused("%s does not support --output json or yaml", command->name);
    }
    if (!open_remote(&ctl, &e)) {
        return sl_ctl_failed("--kubeconfig", &e);
    }
    int code = command->run(&ctl);
    sl_remote_close(ctl.remote);
    return code;
}
