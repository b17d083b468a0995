/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* This machine as a Node: its name, its processors, its memory, its devices. */
#ifndef SL_RUNNER_MACHINE_H
#define SL_RUNNER_MACHINE_H
#include "api/json/json.h"

#define SL_NODE_NAME_SIZE 64u

/* The machine's name as that of an object; "localhost" where it cannot be one. */
void sl_machine_name(const char *hostname, char out[static SL_NODE_NAME_SIZE]);
/* The object; `devices`: resource -> count. The caller frees it. */
struct sl_json *sl_machine_node_new(const char *name, const struct sl_json *devices,
                                    int64_t now_ms);
#endif
