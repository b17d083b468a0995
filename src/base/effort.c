/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "base/effort.h"

uint64_t sl_effort_steps;
