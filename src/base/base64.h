/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Base64 of RFC 4648, as Kubernetes has it for bytes in JSON. */
#ifndef SL_BASE_BASE64_H
#define SL_BASE_BASE64_H
#include "base/buf.h"
#include <stdbool.h>

void sl_base64_print(const char *data, size_t len, struct sl_buf *out);
/* Appends what `text` means; false, and nothing appended: it is none. */
bool sl_base64_read(const char *text, struct sl_buf *out);
#endif
