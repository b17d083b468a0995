/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A growing byte string, always NUL-terminated once something was added. Zero-initialise,
 * sl_buf_fini. */
#ifndef SL_BASE_BUF_H
#define SL_BASE_BUF_H
#include <stddef.h>

struct sl_buf {
    char *data;
    size_t len;
    size_t cap;
};
void sl_buf_add(struct sl_buf *b, const char *data, size_t len);
void sl_buf_text(struct sl_buf *b, const char *text);
void sl_buf_print(struct sl_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* So many bytes in all are to come: up to that nothing is copied when it grows. What is not filled takes no memory. */
void sl_buf_expect(struct sl_buf *b, size_t bytes);
void sl_buf_reset(struct sl_buf *b); /* keeps the room */
char *sl_buf_take(struct sl_buf *b); /* caller frees with sl_mem_free; b is empty again */
void sl_buf_fini(struct sl_buf *b);
#endif
