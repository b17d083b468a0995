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

/* The kubeconfig's user. A secret is sent only where nobody can read it on the way. */
static bool identify(const struct sl_ctl *c, struct sl_credentials *credentials, struct sl_error *e)
{
    struct sl_identity who = {0};
    if (sl_credentials_identity(credentials, sl_clock_wall_ms(), false, &who, e) != SL_CODE_OK) {
        return false;
    }
    const char *secret = who.token != NULL ? "token" : who.username != NULL ? "password" : NULL;
    bool open = c->server != NULL && strncmp(c->server, "https://", 8) != 0;
    if (secret != NULL && open) {
        (void)sl_error_set(e, SL_CODE_BAD_REQUEST, "the %s is not sent to %.200s: not https",
                           secret, c->server);
    }
    return secret == NULL || !open;
}

/* What was not said is as in the kubeconfig's context. */
static bool open_remote(struct sl_ctl *c, struct sl_credentials **credentials, struct sl_error *e)
{
    if (c->kubeconfig == NULL) {
        c->remote = sl_remote_open(c->server);
        return true;
    }
    const struct sl_kubeconfig k = {.paths = c->kubeconfig,
                                    .is_list = c->kubeconfig_is_list,
                                    .context = c->context,
                                    .may_be_insecure = true};
    enum sl_code code = sl_credentials_from_files(&k, credentials, e);
    if (code == SL_CODE_NOT_FOUND && c->context == NULL) {
        c->remote = sl_remote_open(SL_CTL_SERVER);
        return true;
    }
    if (code != SL_CODE_OK || !identify(c, *credentials, e)) {
        return false;
    }
    c->remote = sl_remote_open(c->server != NULL ? c->server : sl_credentials_server(*credentials));
    sl_remote_identify(c->remote, *credentials);
    const char *ns = sl_credentials_namespace(*credentials);
    if (!c->ns_said && ns[0] != '\0') {
        c->ns = c->submit.ns = ns;
    }
    return true;
}

static int print_help(const struct sl_ctl *c)
{
    bool asked = strcmp(c->command, "help") == 0;
    struct sl_flag_list words = c->arguments;
    unsigned used = 0;
    const struct sl_ctl_command *command =
        asked ? sl_ctl_command_of(&words, &used) : sl_ctl_command(c->command);
    const char *name = !asked ? c->command : words.count > 0 ? words.items[0] : "";
    struct sl_buf text = {0};
    if (command != NULL || name[0] == '\0') {
        sl_ctl_print_help(command, &text);
    } else if (!sl_ctl_print_group(name, &text)) {
        words.count = 0;
        return sl_ctl_no_command(name, &words);
    }
    sl_ctl_print(&text);
    sl_buf_fini(&text);
    return 0;
}

static int run(struct sl_ctl *c)
{
    struct sl_error e = {0};
    const struct sl_ctl_command *command = sl_ctl_command(c->command);
    if (command == NULL) {
        return sl_ctl_no_command(c->command, &c->arguments);
    }
    struct sl_credentials *credentials = NULL;
    int status = 1;
    if (open_remote(c, &credentials, &e)) {
        status = command->run(c);
        sl_remote_close(c->remote);
    } else {
        status = sl_ctl_failed("kubeconfig", &e);
    }
    if (credentials != NULL) {
        sl_credentials_free(credentials);
    }
    return status;
}

static bool asks_for_help(int argc, char *const argv[])
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

int main(int argc, char *argv[])
{
    struct sl_ctl ctl;
    struct sl_error e = {0};
    (void)umask(077);
    sl_screen_guard();
    const struct sl_ctl_command *command = sl_ctl_command_in(argc, argv);
    if (command != NULL && command->run == sl_ctl_kubectl && !asks_for_help(argc, argv)) {
        ctl = (struct sl_ctl){.argc = argc, .argv = argv};
        return sl_ctl_kubectl(&ctl);
    }
    if (sl_ctl_parse(argc, argv, &ctl, &e) != SL_CODE_OK) {
        return sl_ctl_misused("%s", e.text);
    }
    if (ctl.version) {
        printf("sluicectl %s\n", SL_VERSION);
        return 0;
    }
    return ctl.help || strcmp(ctl.command, "help") == 0 ? print_help(&ctl) : run(&ctl);
}
