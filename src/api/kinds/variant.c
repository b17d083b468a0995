/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/kinds/variant.h"
#include <string.h>

const struct sl_json *sl_variant_parent(const struct sl_json *workload)
{
    const struct sl_json *refs = sl_json_path(workload, "metadata.ownerReferences");
    for (size_t i = 0; i < sl_json_len(refs); i++) {
        if (sl_object_ref_is(sl_json_at(refs, i), SL_KIND_WORKLOAD)) {
            return sl_json_at(refs, i);
        }
    }
    return NULL;
}

bool sl_variant_has_parent_label(const struct sl_json *workload)
{
    const char *label = sl_object_label(workload, SL_LABEL_PARENT);
    return label != NULL && strcmp(label, "true") == 0;
}
