/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Made when the explorer is built: the names of sl_core_spans, and variables.txt. */
#ifndef SL_EXPLORE_VARIABLES_H
#define SL_EXPLORE_VARIABLES_H
#include <stdint.h>

extern const char *const variable_names[]; /* "room/file:name" */
struct variable_rule {
    const char *how, *name;
    uint32_t group;
};
extern const struct variable_rule variable_rules[];
extern const uint32_t variable_rule_count;
#endif
