/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The core's whole state between two inputs: all its objects are linked between state_begin.c and state_end.c, so
 * that what lies between them in memory is the state, and every input can start from a core that was never used. */
#ifndef SL_FUZZ_STATE_H
#define SL_FUZZ_STATE_H

/* As after the program's start. Aborts when the core does not lie where it should. */
void fuzz_state_reset(void);
#endif
