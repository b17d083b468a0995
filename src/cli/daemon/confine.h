/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the daemon gives up once it has opened what it needs: all capabilities and the way back to them, files outside
 * of its own directories (Landlock), and system calls that it never makes (seccomp). A bug in a parser then cannot do
 * what the program itself never does. It cannot be undone. */
#ifndef SL_CLI_CONFINE_H
#define SL_CLI_CONFINE_H
#include "base/error.h"
#include <stdbool.h>

struct sl_confine_options {
    const char
        *writable; /* a directory that exists, with all below it; NULL = nothing is written */
    const char *readable;     /* one more besides the system's own; NULL = none */
    const char *readable_too; /* and one that need not exist */
    bool unprivileged;        /* sl_confine_privileges was called before */
};
/* The first part of it: capabilities, and the way back to them. What is forked afterwards has none either, but may still run programs
 * and read files: a credential plugin's runner. */
enum sl_code sl_confine_privileges(struct sl_error *e);
/* For this process, before it has other threads. What the kernel does not offer is said in the log and left
 * out; an error (INTERNAL) when it offers it and it could not be done. */
enum sl_code sl_confine(const struct sl_confine_options *o, struct sl_error *e);
#endif
