/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Keys while a picture is redrawn: they come one by one and are not echoed. The terminal gets its ways back at the end, also
 * when a signal ends the program. */
#ifndef SL_CLI_KEYS_H
#define SL_CLI_KEYS_H
#include <stdbool.h>

void sl_keys_open(void);  /* nothing, if standard input is not a terminal */
int sl_keys_fd(void);     /* can be read when a key was pressed; -1: there are none */
char sl_keys_take(void);  /* 0: none was pressed */
bool sl_keys_ended(void); /* a signal wants the program to end */
/* After a signal the program ends by it. */
void sl_keys_close(void);
#endif
