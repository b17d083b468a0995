/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/screen/keys.h"
#include <signal.h>
#include <stddef.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;
static bool is_open;
static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
    signalled = number;
}

static void set_handlers(void (*handler)(int))
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = handler};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        (void)sigaction(numbers[i], &action, NULL);
    }
}

void sl_keys_open(void)
{
    bool ours = tcgetpgrp(STDIN_FILENO) == getpgrp(); /* not in the background */
    if (is_open || !ours || tcgetattr(STDIN_FILENO, &before) != 0) {
        return;
    }
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    set_handlers(on_signal);
    is_open = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

int sl_keys_fd(void)
{
    return is_open ? STDIN_FILENO : -1;
}

char sl_keys_take(void)
{
    char key = 0;
    return is_open && read(STDIN_FILENO, &key, 1) == 1 ? key : '\0';
}

bool sl_keys_ended(void)
{
    return signalled != 0;
}

void sl_keys_close(void)
{
    if (is_open) {
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
        set_handlers(SIG_DFL);
        is_open = false;
    }
    if (signalled != 0) {
        (void)raise(signalled);
    }
}
