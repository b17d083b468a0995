/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "base/base64.h"
#include "base/check.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void sl_base64_print(const char *data, size_t len, struct sl_buf *out)
{
    SL_PRE(out != NULL && (data != NULL || len == 0));
    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        unsigned word = 0;
        for (size_t k = 0; k < 3; k++) {
            word = word << 8 | (k < n ? (unsigned char)data[i + k] : 0u);
        }
        char four[4];
        for (unsigned k = 0; k < 4; k++) {
            four[k] = k <= n ? digits[word >> (18 - 6 * k) & 63u] : '=';
        }
        sl_buf_add(out, four, sizeof four);
    }
}

/* The values of four digits; how many bytes they are, 0: they are none. */
static size_t read_four(const char *text, char out[static 3])
{
    unsigned word = 0;
    size_t filled = text[3] != '=' ? 4 : text[2] != '=' ? 3 : 2;
    for (size_t k = 0; k < 4; k++) {
        const char *digit = k < filled ? strchr(digits, text[k]) : digits;
        if (digit == NULL) {
            return 0;
        }
        word = word << 6 | (unsigned)(digit - digits);
    }
    for (size_t k = 0; k < 3; k++) {
        out[k] = (char)(word >> (16 - 8 * k) & 255u);
    }
    return filled - 1;
}

bool sl_base64_read(const char *text, struct sl_buf *out)
{
    SL_PRE(text != NULL && out != NULL);
    size_t len = strlen(text), before = out->len;
    char bytes[3];
    for (size_t i = 0; i + 4 <= len; i += 4) {
        size_t n = read_four(text + i, bytes);
        if (n == 0 || (n < 3 && i + 4 < len)) {
            break;
        }
        sl_buf_add(out, bytes, n);
        if (i + 4 == len) {
            return true;
        }
    }
    if (out->data != NULL) {
        out->len = before;
        out->data[before] = '\0';
    }
    return len == 0;
}
