/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* resource.Quantity, exact: no floating point, rounding only where asked for. */
#ifndef SL_API_QUANTITY_H
#define SL_API_QUANTITY_H
#include <stdbool.h>
#include <stdint.h>
#include "api/json/json.h"

/* value * 10^-scale_down, exact; suffix kind is kept for the canonical form. */
enum sl_quantity_format {
    SL_QUANTITY_DECIMAL_SI,
    SL_QUANTITY_BINARY_SI,
    SL_QUANTITY_DECIMAL_EXPONENT
};
struct sl_quantity {
    __int128 nano;
    enum sl_quantity_format format;
}; /* in 10^-9 units; finer is rounded up, as Kubernetes does */

enum sl_code sl_quantity_parse(const char *text, struct sl_quantity *q, struct sl_error *e);
/* The same for a member of an object: a text or a number. */
enum sl_code sl_quantity_read(const struct sl_json *v, struct sl_quantity *q, struct sl_error *e);
/* Units of 10^-3 / 1, rounded up (away from zero), saturating at the int64 range. */
int64_t sl_quantity_milli(struct sl_quantity q);
int64_t sl_quantity_value(struct sl_quantity q);
/* What the core counts: milli for "cpu", units for everything else. */
int64_t sl_quantity_amount(struct sl_quantity q, const char *resource);
/* Canonical form, as Kubernetes prints it ("1500m", "1Gi", "2e3"). */
void sl_quantity_print(struct sl_quantity q, char out[static 64]);
/* Amounts of this resource are bytes, as the configuration has it: up to sixteen resources, of up to 253 characters. */
void sl_quantity_count_bytes(const char *resource);
/* Are they, or is it memory-like by its name? */
bool sl_quantity_is_bytes(const char *resource);
/* An amount of the core as a quantity text ("1500m", "3", "1Gi" for resources whose amounts are bytes). */
void sl_quantity_print_amount(int64_t amount, const char *resource, char out[static 64]);
#endif
