/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Values built out of the words of the API, and what holds of every value: what is printed is read as the same. */
#ifndef SL_FUZZ_VALUE_H
#define SL_FUZZ_VALUE_H
#include "api/json/json.h"
#include "fuzz/lib/producer.h"

const char *value_word(struct producer *p); /* a key */
const char *value_text(struct producer *p);
/* At depth 0 a map; the caller frees it. */
struct sl_json *value_build(struct producer *p, unsigned depth);

void value_check_as_json(const struct sl_json *v);
void value_check_printed(const struct sl_json *v); /* also pretty, and cloned */
#endif
