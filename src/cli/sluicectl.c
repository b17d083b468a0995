/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl: options in, one command run. Exit codes: 0 done, 1 failed, 2 wrong usage. */
#include "cli/ctl/ctl.h"
#include "cli/common/version.h"
#include "base/clock.h"
#include "cli/screen/screen.h"
#include "kube/credentials.h"
#include <string.h>
#include <sys/stat.h>

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

static int print_help(const struct sl_ctl *c)
{
    bool asked = strcmp(c->command, "help") == 0;
    const char *name = asked ? (c->arguments.count > 0 ? c->arguments.items[0] : "") : c->command;
    const struct sl_ctl_command *command = sl_ctl_command(name);
    struct sl_buf text = {0};
    if (name[0] != '\0' && command == NULL) {
        return sl_ctl_no_command(name);
    }
    sl_ctl_print_help(command, &text);
    sl_ctl_print(&text);
    sl_buf_fini(&text);
    return 0;
}

static int run(struct sl_ctl *c)
{
    struct sl_error e = {0};
    const struct sl_ctl_command *command = sl_ctl_command(c->command);
    if (command == NULL) {
        return sl_ctl_no_command(c->command);
    }
    if (!open_remote(c, &e)) {
        return sl_ctl_failed("--kubeconfig", &e);
    }
    int status = command->run(c);
    sl_remote_close(c->remote);
    return status;
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
    if (ctl.version) {
        printf("sluicectl %s\n", SL_VERSION);
        return 0;
    }
    return ctl.help || strcmp(ctl.command, "help") == 0 ? print_help(&ctl) : run(&ctl);
}
