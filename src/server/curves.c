/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "server/curves.h"
#include "base/check.h"
#include <gnutls/gnutls.h>

static const struct row {
    uint16_t number;
    const char *name, *group; /* in Go, in GnuTLS */
} rows[] = {{23, "CurveP256", "SECP256R1"},
            {24, "CurveP384", "SECP384R1"},
            {25, "CurveP521", "SECP521R1"},
            {29, "X25519", "X25519"},
            {4587, "SecP256r1MLKEM768", "SECP256R1-MLKEM768"},
            {4588, "X25519MLKEM768", "X25519-MLKEM768"},
            {4589, "SecP384r1MLKEM1024", "SECP384R1-MLKEM1024"}};

static const struct row *find(int64_t number)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].number == number) {
            return &rows[i];
        }
    }
    return NULL;
}

const char *sl_curves_name(int64_t number)
{
    const struct row *row = find(number);
    return row != NULL ? row->name : NULL;
}

bool sl_curves_can_speak(int64_t number)
{
    const struct row *row = find(number);
    return row != NULL && gnutls_group_get_id(row->group) != GNUTLS_GROUP_INVALID;
}

void sl_curves_print(struct sl_buf *priorities, const uint16_t *curves, size_t count)
{
    SL_PRE(priorities != NULL && (curves != NULL || count == 0));
    sl_buf_text(priorities, ":-GROUP-ALL");
    for (size_t i = 0; i < count; i++) {
        if (sl_curves_can_speak(curves[i])) {
            sl_buf_print(priorities, ":+GROUP-%s", find(curves[i])->group);
        }
    }
}
