/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl: options in, one command run. Exit codes: 0 done, 1 failed, 2 wrong usage. */
#include "cli/ctl/ctl.h"
#include "cli/common/version.h"
#include "cli/screen/screen.h"
#include "cli/verbs/verb_backup.h"
#include <string.h>
#include <sys/stat.h>

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

static bool needs_server(const struct sl_ctl *c, const struct sl_ctl_command *command)
{
    return !(command->run == sl_ctl_what_if && sl_ctl_is_offline(c)) &&
           command->run != sl_ctl_replay && command->run != sl_ctl_compare &&
           command->run != sl_ctl_history && command->run != sl_ctl_usage &&
           command->run != sl_ctl_backup && command->run != sl_ctl_restore &&
           command->run != sl_ctl_completion && command->run != sl_ctl_man;
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
    if (!needs_server(c, command) || sl_ctl_open(c, &credentials, &e)) {
        status = command->run(c);
    } else {
        status = sl_ctl_failed("kubeconfig", &e);
    }
    sl_ctl_close(c, credentials);
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
    if (argc > 1 && strcmp(argv[1], SL_CTL_COMPLETE) == 0) {
        return sl_ctl_complete(argc - 1, argv + 1);
    }
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
