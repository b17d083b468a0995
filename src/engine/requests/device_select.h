/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which devices the selectors of a mapping's source, of a class and of a request choose together. */
#ifndef SL_ENGINE_DEVICE_SELECT_H
#define SL_ENGINE_DEVICE_SELECT_H
#include "api/cel/cel.h"
#include "engine/requests/device_slices.h"

/* Expressions of a list of selectors that is lent; all that have none are left out. */
struct sl_device_selectors {
    size_t count;
    struct sl_cel **all;
};
/* False: the expression at *wrong is no CEL, for that reason. To be closed either way. */
bool sl_device_selectors_open(struct sl_device_selectors *s, const struct sl_json *list,
                              size_t *wrong, struct sl_error *e);
void sl_device_selectors_close(struct sl_device_selectors *s);

/* YES: all of them do. The first that does not, or is not known, ends it. */
enum sl_cel_answer sl_device_selectors_match(const struct sl_device_selectors *s,
                                             const struct sl_device_row *row, struct sl_buf *why);
#endif
