/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "base/fnv1a.h"

#define PRIME 0x100000001b3u

uint64_t sl_fnv1a(uint64_t hash, const void *data, size_t len)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ bytes[i]) * PRIME;
    }
    return hash;
}
