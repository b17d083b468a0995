/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Labels of metrics that the Configuration adds (metrics.customLabels): custom_NAME, with the value of a label or an
 * annotation of the object that a series is about. A value has SL_CUSTOM_VALUE_MAX bytes at most and ends in
 * dots where it was longer, so that a series stays small whatever an annotation holds. */
#ifndef SL_CONTROLLERS_CUSTOM_LABELS_H
#define SL_CONTROLLERS_CUSTOM_LABELS_H
#include "api/objects/object.h"
#include "base/buf.h"

#define SL_CUSTOM_VALUE_MAX 256u
#define SL_CUSTOM_UNTRACKED                                                                        \
    "kueue.x-k8s.io/_UNTRACKED_VALUE_" /* Kueue's, for values that are not listed */

struct sl_custom_label {
    enum sl_kind source;
    const char *name, *label, *annotation; /* the key of one of both; NULL: not that */
    const struct sl_json *tracked; /* the values that are shown as they are; empty or NULL: all */
};
struct sl_custom_labels {
    size_t count;
    const struct sl_custom_label *all; /* lent */
};
/* `,custom_a="x",custom_b=""`: of one source, in the order of the Configuration; `object` NULL: with empty values. */
void sl_custom_labels_print(const struct sl_custom_labels *l, enum sl_kind source,
                            const struct sl_json *object, struct sl_buf *out);
/* Which of the sets of values a Workload has, as a number: its labels tell only values apart that are tracked. */
uint8_t sl_custom_labels_mark(const struct sl_custom_labels *l, const struct sl_json *workload);
uint32_t sl_custom_labels_marks(const struct sl_custom_labels *l); /* so many there are */
/* What sl_custom_labels_print prints for a Workload of that mark. */
void sl_custom_labels_print_mark(const struct sl_custom_labels *l, uint8_t mark,
                                 struct sl_buf *out);
/* Does any label come from such objects? */
bool sl_custom_labels_from(const struct sl_custom_labels *l, enum sl_kind source);
#endif
