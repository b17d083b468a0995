/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Between refute.c and promise.c. */
#ifndef SL_REFUTE_BOARD_H
#define SL_REFUTE_BOARD_H
#include "specs/prove/refute/refute.h"

enum { REFUTE_PROMISES_MAX = 256 };
/* Shared by all copies. */
struct refute_board {
    char why[64];
    unsigned tries, spoilt, hung;
    /* How often it was not found out whether that one is kept. */
    unsigned costly[REFUTE_PROMISES_MAX];
};

/* In a copy: the changed function is refuted. */
_Noreturn void refute_found(const char *why);
/* In a copy: what was before is asked at this end of a connection. */
void refute_promises_open(struct refute_board *shared, int from);
/* In the process that still has it: pages that the copy asks for, until that ends. Closes the connection. */
void refute_promises_serve(int copy);
#endif
