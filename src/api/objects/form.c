/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One walk along the schema: what it does not name is not looked at. */
#include "api/objects/form.h"
#include "api/objects/schema.h"
#include "base/check.h"

static bool is_of(enum sl_field_type type, const struct sl_json *v)
{
    enum sl_json_type found = sl_json_type(v);
    switch (type) {
    case SL_TYPE_OBJECT:
    case SL_TYPE_MAP:
    case SL_TYPE_SELECTOR:
        return found == SL_JSON_MAP;
    case SL_TYPE_LIST:
        return found == SL_JSON_LIST;
    case SL_TYPE_TEXT:
    case SL_TYPE_TIME:
        return found == SL_JSON_TEXT;
    case SL_TYPE_BOOL:
        return found == SL_JSON_BOOL;
    case SL_TYPE_INT32:
    case SL_TYPE_INT64:
    case SL_TYPE_QUANTITY:
    case SL_TYPE_ANY:
        break;
    }
    return true;
}

/* As deep as the schema is. */
static const char *misformed(const struct sl_node *node, const struct sl_json *v)
{
    enum sl_json_type type = sl_json_type(v);
    const struct sl_node *first = type == SL_JSON_MAP ? node->first : NULL;
    size_t count = type == SL_JSON_LIST && node->item != NULL ? sl_json_len(v) : 0;
    const char *wrong = v == NULL || is_of(node->field.type, v) ? NULL : node->name;
    for (const struct sl_node *n = first; n != NULL && wrong == NULL; n = n->next) {
        wrong = misformed(n, sl_json_get(v, n->name));
    }
    for (size_t i = 0; i < count && wrong == NULL; i++) {
        wrong = misformed(node->item, sl_json_at(v, i)) == NULL ? NULL : node->name;
    }
    for (struct sl_json_member m = {0};
         type == SL_JSON_MAP && node->item != NULL && wrong == NULL && sl_json_each(v, &m);) {
        wrong = misformed(node->item, m.value) == NULL ? NULL : node->name;
    }
    return wrong;
}

const char *sl_object_misformed(enum sl_kind kind, const struct sl_json *object)
{
    SL_PRE(object != NULL);
    return misformed(sl_schema(kind), object);
}
