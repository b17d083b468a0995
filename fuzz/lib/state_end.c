/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Linked behind the core: where its state ends. */
#include "fuzz/lib/state_bounds.h"

char fuzz_zeroed_end[FUZZ_PAGE] __attribute__((aligned(FUZZ_PAGE)));
char fuzz_data_end[16] __attribute__((aligned(16))) = {1};
