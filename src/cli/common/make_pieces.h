/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Values of options that are lists: pieces between commas, and pairs of a key and a value in them. Inside src/cli/common. */
#ifndef SL_CLI_MAKE_PIECES_H
#define SL_CLI_MAKE_PIECES_H
#include "api/json/json.h"
#include "cli/common/flags.h"

/* Calls `fn` with a copy of each piece that is not empty, of all values of the option, until it fails. The copy may be changed. */
typedef enum sl_code sl_piece_fn(void *context, char *piece, struct sl_error *e);
enum sl_code sl_pieces_each(const struct sl_flag_list *values, char separator, sl_piece_fn *fn,
                            void *context, struct sl_error *e);
/* Cuts the piece at the first separator; what follows it, or NULL where there is none. */
char *sl_piece_cut(char *piece, char separator);
/* A map of KEY=VALUE pairs. */
enum sl_code sl_pieces_map(const struct sl_flag_list *values, const char *option,
                           struct sl_json *map, struct sl_error *e);
#endif
