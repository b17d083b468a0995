/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* FNV-1a, 64 bits, over texts with sorted keys. Texts that collide can be made, and nothing is won
 * by them: pod sets with the same number still have to be alike in all that the core decides by
 * before they are set aside together, so what finds no place for one finds none for the other. A
 * collision costs the other one its own turn to be told so, and no more. */
#include "engine/requests/fingerprint.h"
#include "api/objects/pod_shape.h"
#include "base/fnv1a.h"

uint64_t sl_fingerprint(const struct sl_json *pod_set, const struct sl_json *pod_spec)
{
    struct sl_json *shape = sl_pod_shape_with_limits_new(pod_spec);
    const struct sl_json *parts[] = {sl_json_get(pod_set, "name"), sl_json_get(pod_set, "minCount"),
                                     sl_json_get(pod_set, "topologyRequest"), shape};
    struct sl_buf text = {0};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        sl_json_print_pretty(parts[i], &text); /* the printer that sorts keys */
    }
    uint64_t hash = sl_fnv1a(SL_FNV1A_BASIS, text.data, text.len);
    sl_buf_fini(&text);
    sl_json_free(shape);
    return hash;
}
