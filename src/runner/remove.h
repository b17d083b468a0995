/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Removes a directory that others may still be changing: no link is followed out of it, and nothing that is mounted
 * there is entered. */
#ifndef SL_RUNNER_REMOVE_H
#define SL_RUNNER_REMOVE_H
#include <stdbool.h>

/* `path` itself is ours: others cannot replace it. False: something of it is still there. */
bool sl_dir_remove(const char *path);
#endif
