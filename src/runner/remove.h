/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Removes a directory that somebody else may still be changing: no link is followed out of it, and nothing that is mounted
 * there is entered. */
#ifndef SL_RUNNER_REMOVE_H
#define SL_RUNNER_REMOVE_H
#include <stdbool.h>

/* `path` itself is ours: nobody else can replace it. False: something of it is still there. */
bool sl_dir_remove(const char *path);
#endif
