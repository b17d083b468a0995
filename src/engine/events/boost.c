/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading the boost. */
#include "engine/events/boost.h"
#include <stdlib.h>
#include <string.h>

#define ANNOTATION "kueue.x-k8s.io/priority-boost"

int64_t sl_boost_of(const struct sl_json *workload)
{
    const char *text = sl_object_annotation(workload, ANNOTATION);
    const char *digits = text == NULL ? "" : text + (*text == '-' || *text == '+');
    size_t len = strlen(digits);
    if (len == 0 || strspn(digits, "0123456789") != len) {
        return 0;
    }
    int64_t boost = strtoll(text, NULL, 10);
    return boost < INT32_MIN || boost > INT32_MAX ? 0 : boost;
}
