/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Every text of up to three bytes, but for exponents, as a quantity, which needs 128 bits that Frama-C does not know: a
 * number with one letter is worth what the letter says, and a text without a digit is refused. */
#include "api/objects/quantity.h"
#include "specs/cbmc/look.h"
#include <string.h>

static char text[4];

size_t strspn(const char *s, const char *accept)
{
    size_t n = 0;
    for (; s[n] >= '0' && s[n] <= (accept[1] == '\0' ? '0' : '9'); n++) {
    }
    return n;
}

enum sl_code sl_error_set(struct sl_error *e, enum sl_code code, const char *format, ...)
{
    return code;
}

static __int128 unit(char letter)
{
    __int128 nano = 1000000000;
    return letter == 'n'    ? 1
           : letter == 'u'  ? 1000
           : letter == 'm'  ? 1000000
           : letter == '\0' ? nano
           : letter == 'k'  ? nano * 1000
           : letter == 'M'  ? nano * 1000000
           : letter == 'G'  ? nano * 1000000000
                            : 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

void look_quantity(void)
{
    struct sl_quantity q = {0};
    for (uint32_t i = 0; i < 3; i++) {
        text[i] = (char)(nondet_uint8() & 127);
    }
    ASSUME(text[1] != 'e' && text[1] != 'E');
    bool read = sl_quantity_parse(text, &q, NULL) == SL_CODE_OK;
    USAGE(!read || is_digit(text[0]) || is_digit(text[1]) || is_digit(text[2]),
          "a quantity has a digit");
    if (is_digit(text[0]) && is_digit(text[1]) && unit(text[2]) != 0) {
        __int128 number = (text[0] - '0') * 10 + (text[1] - '0');
        USAGE(read && q.nano == number * unit(text[2]),
              "a number with a letter is worth what it says");
    }
    if (text[0] == '-' && is_digit(text[1]) && text[2] == '\0') {
        USAGE(read && sl_quantity_value(q) == -(text[1] - '0'), "a sign counts");
    }
}
