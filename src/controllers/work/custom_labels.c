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

/* Which of the tracked values it has; behind all of them: another. */
static size_t index_of(const struct sl_custom_label *l, const struct sl_json *object)
{
    const char *value = value_of(l, object);
    size_t i = 0;
    while (i < sl_json_len(l->tracked) &&
           strcmp(sl_json_text(sl_json_at(l->tracked, i), ""), value) != 0) {
        i++;
    }
    return i;
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

static void print_label(const char *name, const char *value, struct sl_buf *out)
{
    sl_buf_print(out, ",custom_%s=\"", name);
    print_value(value, out);
    sl_buf_text(out, "\"");
}

void sl_custom_labels_print(const struct sl_custom_labels *l, enum sl_kind source,
                            const struct sl_json *object, struct sl_buf *out)
{
    SL_PRE(out != NULL);
    for (size_t i = 0; l != NULL && i < l->count; i++) {
        if (l->all[i].source == source) {
            print_label(l->all[i].name, value_of(&l->all[i], object), out);
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

uint32_t sl_custom_labels_marks(const struct sl_custom_labels *l)
{
    uint32_t count = 1;
    for (size_t i = 0; l != NULL && i < l->count; i++) {
        if (l->all[i].source == SL_KIND_WORKLOAD) {
            count *= (uint32_t)sl_json_len(l->all[i].tracked) + 1;
        }
    }
    SL_ASSERT(count <= UINT8_MAX + 1u); /* the Configuration has two at most, with 12 values */
    return count;
}

/* The first label's index counts as one, the next one's as many as the first can have, and so on. */
uint8_t sl_custom_labels_mark(const struct sl_custom_labels *l, const struct sl_json *workload)
{
    size_t mark = 0, weight = 1;
    for (size_t i = 0; l != NULL && i < l->count; i++) {
        if (l->all[i].source == SL_KIND_WORKLOAD) {
            mark += weight * index_of(&l->all[i], workload);
            weight *= sl_json_len(l->all[i].tracked) + 1;
        }
    }
    return (uint8_t)mark;
}

void sl_custom_labels_print_mark(const struct sl_custom_labels *l, uint8_t mark, struct sl_buf *out)
{
    SL_PRE(out != NULL);
    size_t rest = mark;
    for (size_t i = 0; l != NULL && i < l->count; i++) {
        if (l->all[i].source == SL_KIND_WORKLOAD) {
            size_t values = sl_json_len(l->all[i].tracked);
            const struct sl_json *value = sl_json_at(l->all[i].tracked, rest % (values + 1));
            print_label(l->all[i].name, sl_json_text(value, SL_CUSTOM_UNTRACKED), out);
            rest /= values + 1;
        }
    }
}
