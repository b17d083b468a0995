/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reads JSON texts from an API server, one a line, and answers each with a line: the text that the value is printed as,
 * or "!" and why it cannot be read. */
#include "api/json/json.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    for (ssize_t len = getline(&line, &size, stdin); len > 0; len = getline(&line, &size, stdin)) {
        struct sl_error e = {0};
        struct sl_buf out = {0};
        struct sl_json *value = sl_json_parse_received(line, (size_t)len - 1, &e);
        struct sl_json *copy = sl_json_clone(value);
        if (value == NULL) {
            sl_buf_print(&out, "!%s", e.text);
        } else if (sl_json_equal(value, copy)) {
            sl_json_print(copy, &out);
        } else {
            sl_buf_text(&out, "!a copy differs");
        }
        (void)printf("%s\n", out.data);
        (void)fflush(stdout);
        sl_json_free(copy);
        sl_json_free(value);
        sl_buf_fini(&out);
    }
    free(line);
    return 0;
}
