/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Linked before the core: where its state begins, zeroed and initialised. */
#include "fuzz/lib/state_bounds.h"

char fuzz_zeroed_begin[FUZZ_PAGE] __attribute__((aligned(FUZZ_PAGE)));
char fuzz_data_begin[16] __attribute__((aligned(16))) = {1};
