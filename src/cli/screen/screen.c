/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/screen/screen.h"
#include "base/check.h"
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* All of it, or false. */
static bool write_out(int fd, const struct sl_buf *text)
{
    for (size_t at = 0; at < text->len;) {
        ssize_t n = write(fd, text->data + at, text->len - at);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool is_control(unsigned char c)
{
    return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
}

/* In UTF-8, U+0080 to U+009F: some terminals take them for escape sequences. */
static bool is_control_pair(const char *text, size_t len)
{
    return len > 1 && (unsigned char)text[0] == 0xc2 && (unsigned char)text[1] >= 0x80 &&
           (unsigned char)text[1] < 0xa0;
}

void sl_screen_show(const char *text, size_t len, struct sl_buf *out)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (is_control(c)) {
            const char shown[2] = {'^', (char)(c ^ 0x40)};
            sl_buf_add(out, shown, sizeof shown);
        } else if (is_control_pair(text + i, len - i)) {
            sl_buf_text(out, "^?");
            i++;
        } else {
            sl_buf_add(out, text + i, 1);
        }
    }
}

/* Of colors, of a clear screen, of its upper left corner; 0: none of them. */
static size_t own_sequence(const char *text, size_t len)
{
    size_t at = 2;
    if (len < 3 || text[0] != '\033' || text[1] != '[') {
        return 0;
    }
    while (at < len && ((text[at] >= '0' && text[at] <= '9') || text[at] == ';')) {
        at++;
    }
    bool mine = at < len && (text[at] == 'm' || (at == 2 && (text[at] == 'H' || text[at] == 'J')));
    return mine ? at + 1 : 0;
}

void sl_screen_paint(const struct sl_buf *text)
{
    SL_PRE(text != NULL);
    struct sl_buf shown = {0};
    for (size_t at = 0; at < text->len;) {
        size_t own = own_sequence(text->data + at, text->len - at);
        const char *next = memchr(text->data + at + 1, '\033', text->len - at - 1);
        size_t end = next == NULL ? text->len : (size_t)(next - text->data);
        sl_buf_add(&shown, text->data + at, own);
        sl_screen_show(text->data + at + own, end - at - own, &shown);
        at = end;
    }
    (void)fflush(stdout);
    (void)write_out(STDOUT_FILENO, &shown);
    sl_buf_fini(&shown);
}

/* A pair may come in two parts only where a buffer of stdio ends: then its second half is no text, and is shown as it is. */
static ssize_t write_shown(void *cookie, const char *data, size_t size)
{
    struct sl_buf shown = {0};
    sl_screen_show(data, size, &shown);
    bool good = write_out(*(const int *)cookie, &shown);
    sl_buf_fini(&shown);
    return good ? (ssize_t)size : 0;
}

static FILE *guarded(const int *fd, int mode)
{
    const cookie_io_functions_t calls = {.write = write_shown};
    FILE *f = fopencookie((void *)(uintptr_t)fd, "w", calls);
    SL_ASSERT(f != NULL);
    (void)setvbuf(f, NULL, mode, BUFSIZ);
    return f;
}

void sl_screen_guard(void)
{
    static const int fds[] = {STDOUT_FILENO, STDERR_FILENO};
    stdout = guarded(&fds[0], isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    stderr = guarded(&fds[1], _IOLBF);
}
