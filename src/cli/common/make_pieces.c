/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pieces of an option's value. */
#include "cli/common/make_pieces.h"
#include "base/check.h"
#include "base/mem.h"
#include <string.h>

char *sl_piece_cut(char *piece, char separator)
{
    SL_PRE(piece != NULL);
    char *at = strchr(piece, separator);
    if (at == NULL) {
        return NULL;
    }
    *at = '\0';
    return at + 1;
}

enum sl_code sl_pieces_each(const struct sl_flag_list *values, char separator, sl_piece_fn *fn,
                            void *context, struct sl_error *e)
{
    SL_PRE(values != NULL);
    enum sl_code code = SL_CODE_OK;
    for (unsigned i = 0; i < values->count && code == SL_CODE_OK; i++) {
        char *text = sl_mem_text(values->items[i]);
        for (char *at = text, *next; at != NULL && code == SL_CODE_OK; at = next) {
            next = sl_piece_cut(at, separator);
            code = *at == '\0' ? SL_CODE_OK : fn(context, at, e);
        }
        sl_mem_free(text);
    }
    return code;
}

struct pairs {
    struct sl_json *map;
    const char *option;
};

static enum sl_code add_pair(void *context, char *piece, struct sl_error *e)
{
    const struct pairs *p = context;
    char *value = sl_piece_cut(piece, '=');
    if (value == NULL || piece[0] == '\0') {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: \"%.64s\" is not KEY=VALUE", p->option,
                            piece);
    }
    sl_json_set_text(p->map, piece, value);
    return SL_CODE_OK;
}

enum sl_code sl_pieces_map(const struct sl_flag_list *values, const char *option,
                           struct sl_json *map, struct sl_error *e)
{
    struct pairs p = {map, option};
    return sl_pieces_each(values, ',', add_pair, &p, e);
}
