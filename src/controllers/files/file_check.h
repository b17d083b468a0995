/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Does an adapter file make sense? */
#ifndef SL_CONTROLLERS_FILE_CHECK_H
#define SL_CONTROLLERS_FILE_CHECK_H
#include "api/json/json.h"

/* INVALID: *e says "FILE: FIELD: what is wrong", of the first thing that is. */
enum sl_code sl_file_check(const char *file, const struct sl_json *doc, struct sl_error *e);
#endif
