/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the harnesses feed: any bytes, any texts, any numbers. Only Frama-C reads these files; nothing of them is
 * linked into a program. */
#ifndef SL_SPECS_EVA_ANY_H
#define SL_SPECS_EVA_ANY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `size` bytes of which nothing is known. */
void any_bytes(void *to, size_t size);
/* The same with a NUL behind them at to[size]: every text of at most `size` bytes. */
void any_text(char *to, size_t size);
bool any_bool(void);
int64_t any_int64(void);
/* 0 .. most */
size_t any_size(size_t most);
#endif
