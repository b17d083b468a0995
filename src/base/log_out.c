/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* O_NONBLOCK would affect all processes that share the terminal or pipe. So it is polled for room
 * before. */
#include "base/log_out.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"

#define END_PATIENCE_MS 1000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sl_buf kept;
static size_t kept_from; /* what is before it is out */
static unsigned long lost;

/* A pipe that has room takes so much at once. */
static ssize_t write_piece(const char *data, size_t len)
{
    size_t size = len < PIPE_BUF ? len : PIPE_BUF;
    ssize_t n = send(STDERR_FILENO, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    return n < 0 && errno == ENOTSOCK ? write(STDERR_FILENO, data, size) : n;
}

/* How much of it went out. What cannot be written at all has nowhere to complain to: it counts as out. */
static size_t write_some(const char *data, size_t len, int patience_ms)
{
    size_t done = 0;
    while (done < len) {
        struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
        int ready = poll(&out, 1, patience_ms);
        if (ready == 0 || (ready < 0 && errno == EINTR)) {
            break;
        }
        ssize_t n = write_piece(data + done, len - done);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            break;
        }
        if (n < 0 && errno != EINTR) {
            return len;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return done;
}

static void write_kept(int patience_ms)
{
    if (kept.len > kept_from) {
        kept_from += write_some(kept.data + kept_from, kept.len - kept_from, patience_ms);
    }
    if (kept_from == kept.len) {
        sl_buf_reset(&kept);
        kept_from = 0;
    }
}

static void at_exit(void)
{
    (void)sl_log_flush(END_PATIENCE_MS);
}

static void keep(const char *data, size_t len)
{
    static bool registered;
    if (!registered) {
        registered = true;
        (void)atexit(at_exit);
    }
    if (kept_from > 0) {
        memmove(kept.data, kept.data + kept_from, kept.len - kept_from);
        kept.len -= kept_from;
        kept_from = 0;
    }
    sl_buf_add(&kept, data, len);
}

void sl_log_out(const char *line, size_t len)
{
    (void)pthread_mutex_lock(&mutex);
    write_kept(0);
    size_t done = kept.len == 0 ? write_some(line, len, 0) : 0;
    if (done > 0 || kept.len - kept_from + len <= SL_LOG_KEPT_BYTES_MAX) {
        if (done < len) {
            keep(line + done, len - done);
        }
    } else {
        lost++;
    }
    (void)pthread_mutex_unlock(&mutex);
}

bool sl_log_kept(void)
{
    (void)pthread_mutex_lock(&mutex);
    bool some = kept.len > 0 || lost > 0;
    (void)pthread_mutex_unlock(&mutex);
    return some;
}

unsigned long sl_log_flush(int patience_ms)
{
    (void)pthread_mutex_lock(&mutex);
    write_kept(patience_ms);
    unsigned long told = kept.len == 0 ? lost : 0;
    lost -= told;
    (void)pthread_mutex_unlock(&mutex);
    return told;
}
