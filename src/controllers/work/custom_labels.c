/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Values, escaped as Prometheus' text format has it. */
#include "controllers/work/custom_labels.h"
#include "base/check.h"
#include "base/utf8.h"
#include <string.h>

static const char *value_of(const struct sl_custom_label *l, const struct sl_json *object)
{
    const char *value = object == NULL          ? NULL
                        : l->annotation != NULL ? sl_object_annotation(object, l->annotation)
                                                : sl_object_label(object, l->label);
    value = value == NULL ? "" : value;
    bool all = sl_json_len(l->tracked) == 0 || object == NULL;
    return all || sl_json_has_text(l->tracked, value) ? value : SL_CUSTOM_UNTRACKED;
}

static void print_value(const char *value, struct sl_buf *out)
{
    char cut[SL_CUSTOM_VALUE_MAX + 1];
    sl_utf8_print(cut, sizeof cut, "%s", value);
    for (const char *p = cut; *p != '\0'; p++) {
        const char *escaped = *p == '"' ? "\\\"" : *p == '\\' ? "\\\\" : *p == '\n' ? "\\n" : NULL;
        if (escaped != NULL) {
            sl_buf_text(out, escaped);
        } else {
            sl_buf_add(out, p, 1);
        }
    }
}

void sl_custom_labels_print(const struct sl_custom_labels *l, enum sl_kind source,
                            const struct sl_json *object, struct sl_buf *out)
{
    SL_PRE(out != NULL);
    for (size_t i = 0; l != NULL && i < l->count; i++) {
        if (l->all[i].source == source) {
            sl_buf_print(out, ",custom_%s=\"", l->all[i].name);
            print_value(value_of(&l->all[i], object), out);
            sl_buf_text(out, "\"");
        }
    }
}

bool sl_custom_labels_from(const struct sl_custom_labels *l, enum sl_kind source)
{
    for (size_t i = 0; l != NULL && i < l->count; i++) {
        if (l->all[i].source == source) {
            return true;
        }
    }
    return false;
}
