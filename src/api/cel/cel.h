/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Expressions that select devices, in CEL as Kubernetes' DeviceClasses and claims have them. All of CEL's syntax is read. What
 * is evaluated are comparisons of a device's driver, attributes and capacities with each other and with texts, whole
 * numbers, quantities and versions, joined by && || ! ?: and in, and the functions of cel_functions.c; anything else is
 * foreign, and matters only where the answer depends on it. */
#ifndef SL_API_CEL_H
#define SL_API_CEL_H
#include "api/json/json.h"

struct sl_cel;

/* NULL and INVALID with the reason: this is no CEL. */
struct sl_cel *sl_cel_parse_new(const char *text, struct sl_error *e);
void sl_cel_free(struct sl_cel *c);
/* What in it cannot be evaluated ("the function matches"); NULL: nothing. */
const char *sl_cel_foreign(const struct sl_cel *c);

/* A device as a ResourceSlice has it: maps of "name" or "domain/name"; a name without a domain is of the driver's. */
struct sl_cel_device {
    const char *driver;
    bool shared; /* allowMultipleAllocations */
    const struct sl_json *attributes, *capacity;
};
enum sl_cel_answer {
    SL_CEL_NO,
    SL_CEL_YES,
    SL_CEL_FAILED, /* an error by the rules of CEL, such as an attribute that the device does not have */
    SL_CEL_FOREIGN /* it depends on what cannot be evaluated */
};
/* Is the device selected? `why` gets the reason of FAILED and FOREIGN. */
enum sl_cel_answer sl_cel_select(const struct sl_cel *c, const struct sl_cel_device *d,
                                 struct sl_buf *why);
#endif
