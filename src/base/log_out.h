/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Log lines go to stderr, without waiting for its reader. What a pipe, a socket or a terminal does
 * not take now is kept, up to a limit, and written later. Lines beyond the limit are lost and
 * counted. Files are written at once. */
#ifndef SL_BASE_LOG_OUT_H
#define SL_BASE_LOG_OUT_H
#include <stdbool.h>
#include <stddef.h>

#define SL_LOG_KEPT_BYTES_MAX (256u << 10)

/* A whole line, with its end. */
void sl_log_out(const char *line, size_t len);
/* Is anything kept? Then sl_log_flush should be called now and then; at exit it is. */
bool sl_log_kept(void);
/* Writes what is kept as far as it is taken, and waits so long for it to be taken at most. The
 * lines that were lost since the last call with which all that was kept went out; the caller has to
 * report it. */
unsigned long sl_log_flush(int patience_ms);
#endif
