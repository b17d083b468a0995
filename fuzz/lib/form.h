/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects from forms: JSON with printf's marks. */
#ifndef SL_FUZZ_FORM_H
#define SL_FUZZ_FORM_H
#include "api/json/json.h"

struct sl_json *form_json(const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif
