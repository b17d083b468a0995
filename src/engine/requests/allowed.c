/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/requests/allowed.h"
#include "api/kinds/variant.h"
#include "base/check.h"
#include <string.h>

const char *sl_allowed_flavors(const struct sl_engine *g, const struct sl_json *workload)
{
    SL_PRE(g != NULL);
    return g->settings.concurrent_admission
               ? sl_object_annotation(workload, SL_ANNOTATION_ALLOWED_FLAVORS)
               : NULL;
}

bool sl_allowed_has(const char *allowed, const char *flavor)
{
    SL_PRE(flavor != NULL);
    size_t len = strlen(flavor);
    bool found = allowed == NULL;
    for (const char *at = allowed; at != NULL && !found;) {
        at += strspn(at, " ");
        size_t size = strcspn(at, ",");
        const char *end = at + size;
        while (size > 0 && at[size - 1] == ' ') {
            size--;
        }
        found = size == len && strncmp(at, flavor, len) == 0;
        at = *end == ',' ? end + 1 : NULL;
    }
    return found;
}
