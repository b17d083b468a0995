/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/kinds/elastic.h"
#include <string.h>

bool sl_is_elastic(const struct sl_json *object)
{
    const char *text = sl_object_annotation(object, SL_ANNOTATION_ELASTIC);
    return text != NULL && strcmp(text, "true") == 0;
}
