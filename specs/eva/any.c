/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Values of which nothing is known, by Frama-C's own sources of them. */
#include "specs/eva/any.h"
#include "__fc_builtin.h"

void any_bytes(void *to, size_t size)
{
    Frama_C_make_unknown(to, size);
}

void any_text(char *to, size_t size)
{
    any_bytes(to, size);
    to[size] = '\0';
}

bool any_bool(void)
{
    return Frama_C_interval_split(0, 1) != 0;
}

int64_t any_int64(void)
{
    int64_t any;
    any_bytes(&any, sizeof any);
    return any;
}

size_t any_size(size_t most)
{
    return (size_t)Frama_C_interval_split(0, (int)most); /* one after the other */
}
