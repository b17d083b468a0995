/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* In place of the table of the core's variables that other programs are built with: fuzz programs take no images of
 * the core (their journals stay small), but read some into this room. */
#include "engine/journal/journal_image.h"

static unsigned char zeroed[10000];
static unsigned char initialised[20] = {1, 2, 3};

const struct sl_core_span sl_core_spans[] = {{zeroed, sizeof zeroed, false},
                                             {initialised, sizeof initialised, true}};
const uint32_t sl_core_span_count = 2;
const char sl_core_digest[] = "0123456789abcdef";
