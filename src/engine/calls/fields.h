/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How the fields of calls, items and values go to bytes and back; `v` is the struct that has them. */
#ifndef SL_ENGINE_CALLS_FIELDS_H
#define SL_ENGINE_CALLS_FIELDS_H
#include "engine/journal/pack.h"

#define PACK_FIELD(type, name) pack_number(out, (uint64_t)v->name, sizeof v->name);
#define PACK_ARRAY(type, name, length)                                                             \
    for (uint32_t i = 0; i < (length); i++) {                                                      \
        pack_number(out, (uint64_t)v->name[i], sizeof v->name[i]);                                 \
    }
#define UNPACK_FIELD(type, name) v->name = (type)unpack_number(u, sizeof v->name);
#define UNPACK_ARRAY(type, name, length)                                                           \
    for (uint32_t i = 0; i < (length); i++) {                                                      \
        v->name[i] = (type)unpack_number(u, sizeof v->name[i]);                                    \
    }
#endif
