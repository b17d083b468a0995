/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The state that the parts of flavor assignment share; its headers say what it means. */
#include "policy/flavors/flavors_scan.h"

struct sl_assignment sl_assignment;
int64_t sl_flavors_assumed[SL_CELLS_MAX];
uint32_t sl_flavors_counts[SL_POD_SETS_MAX];
uint32_t sl_flavors_records[SL_POD_SETS_MAX];
struct sl_want sl_want;
