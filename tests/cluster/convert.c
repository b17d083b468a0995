/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A ConversionReview on standard input, its answer on standard output. */
#include <stdio.h>

#include "api/versions/versions.h"

int main(void)
{
    struct sl_buf text = {0};
    struct sl_buf answer = {0};
    char chunk[65536];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, stdin)) > 0;) {
        sl_buf_add(&text, chunk, n);
    }
    struct sl_json *review =
        sl_json_parse_received(text.data != NULL ? text.data : "", text.len, NULL);
    struct sl_json *response = sl_convert_review(review);
    sl_json_print(response, &answer);
    size_t written = fwrite(answer.data, 1, answer.len, stdout);
    int failed = written != answer.len;
    sl_json_free(response);
    sl_json_free(review);
    sl_buf_fini(&answer);
    sl_buf_fini(&text);
    return failed;
}
