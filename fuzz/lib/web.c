/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/lib/check.h"

/* A port that was left has to rest for a minute: in long campaigns one address has not enough of them. */
static void bind_in_turn(int fd)
{
    static uint32_t turn;
    const int on = 1;
    struct sockaddr_in from = {.sin_family = AF_INET};
    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + turn++ % 200);
    CHECK(setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on) == 0);
    CHECK(bind(fd, (struct sockaddr *)&from, sizeof from) == 0);
}

void web_open(struct web *w, unsigned port)
{
    const int on = 1;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *w = (struct web){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .open = true};
    CHECK(w->fd >= 0);
    bind_in_turn(w->fd);
    CHECK(connect(w->fd, (struct sockaddr *)&to, sizeof to) == 0);
    CHECK(setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
}

void web_close(struct web *w, bool abruptly)
{
    const struct linger none = {.l_onoff = 1};
    if (!w->open) {
        return;
    }
    if (abruptly) { /* also leaves no port behind that has to rest */
        CHECK(setsockopt(w->fd, SOL_SOCKET, SO_LINGER, &none, sizeof none) == 0);
    }
    (void)close(w->fd);
    sl_buf_fini(&w->out);
    sl_buf_fini(&w->in);
    sl_buf_fini(&w->body);
    *w = (struct web){.open = false};
}

void web_ask(struct web *w, bool bodiless)
{
    sl_buf_reset(&w->body);
    w->status = 0;
    w->whole = w->chunked = w->sized = w->closes = false;
    w->length = 0;
    w->bodiless = bodiless;
}

void web_send(struct web *w, size_t max)
{
    size_t left = w->out.len - w->out_at;
    size_t size = left < max ? left : max;
    if (!w->open || size == 0) {
        return;
    }
    ssize_t sent = send(w->fd, w->out.data + w->out_at, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    CHECK(sent > 0 || errno == EAGAIN || errno == EPIPE || errno == ECONNRESET);
    w->out_at += sent > 0 ? (size_t)sent : 0;
    w->closed = w->closed || (sent < 0 && errno != EAGAIN);
    if (w->out_at == w->out.len) {
        sl_buf_reset(&w->out);
        w->out_at = 0;
    }
}

/* --- reading --------------------------------------------------------------------------------- */

/* The line at in_at without its end, or NULL when it is not whole. */
static const char *take_line(struct web *w, size_t *len)
{
    const char *at = w->in.data + w->in_at;
    const char *end = memmem(at, w->in.len - w->in_at, "\r\n", 2);
    if (end == NULL) {
        return NULL;
    }
    *len = (size_t)(end - at);
    w->in_at += *len + 2;
    return at;
}

static void read_header(struct web *w, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    CHECK(colon != NULL && colon > line && memchr(line, '\n', len) == NULL);
    size_t name = (size_t)(colon - line);
    const char *value = colon + 1 + (colon[1] == ' ');
    size_t value_len = len - (size_t)(value - line);
    if (name == 14 && strncasecmp(line, "Content-Length", name) == 0) {
        w->sized = true;
        w->length = strtoul(value, NULL, 10);
    } else if (name == 17 && strncasecmp(line, "Transfer-Encoding", name) == 0) {
        CHECK(value_len == 7 && strncmp(value, "chunked", 7) == 0);
        w->chunked = true;
    } else if (name == 12 && strncasecmp(line, "Content-Type", name) == 0) {
        CHECK(value_len < sizeof w->type);
        (void)snprintf(w->type, sizeof w->type, "%.*s", (int)value_len, value);
    } else if (name == 10 && strncasecmp(line, "Connection", name) == 0) {
        w->closes = value_len == 5 && strncasecmp(value, "close", 5) == 0;
    }
}

/* False: it is not whole yet. */
static bool read_head(struct web *w)
{
    size_t len = 0;
    const char *begin = w->in.data + w->in_at;
    if (memmem(begin, w->in.len - w->in_at, "\r\n\r\n", 4) == NULL) {
        return false;
    }
    const char *line = take_line(w, &len);
    CHECK(len > 12 && strncmp(line, "HTTP/1.", 7) == 0 && line[8] == ' ');
    w->status = (int)strtol(line + 9, NULL, 10);
    CHECK(w->status >= 100 && w->status < 600);
    w->type[0] = '\0';
    while ((line = take_line(w, &len)) != NULL && len > 0) {
        read_header(w, line, len);
    }
    if (w->status == 100) {
        w->status = 0;
        return w->in_at < w->in.len && read_head(w);
    }
    w->whole = w->bodiless || w->status == 204 || w->status == 304;
    return true;
}

static void read_sized(struct web *w)
{
    size_t here = w->in.len - w->in_at, missing = w->length - w->body.len;
    size_t size = here < missing ? here : missing;
    sl_buf_add(&w->body, w->in.data + w->in_at, size);
    w->in_at += size;
    w->whole = w->body.len == w->length;
}

/* One chunk, if it is there. */
static bool read_chunk(struct web *w)
{
    size_t begin = w->in_at, len = 0;
    const char *line = w->in.len > begin ? take_line(w, &len) : NULL;
    if (line == NULL) {
        return false;
    }
    char *end = NULL;
    size_t size = strtoul(line, &end, 16);
    CHECK(len > 0 && end == line + len);
    if (w->in.len - w->in_at < size + 2) {
        w->in_at = begin;
        return false;
    }
    sl_buf_add(&w->body, w->in.data + w->in_at, size);
    CHECK(memcmp(w->in.data + w->in_at + size, "\r\n", 2) == 0);
    w->in_at += size + 2;
    w->whole = size == 0;
    return !w->whole;
}

static void read_answer(struct web *w)
{
    if (w->status == 0 && (w->in.len == w->in_at || !read_head(w))) {
        return;
    }
    if (w->whole) {
        return;
    }
    if (w->chunked) {
        while (read_chunk(w)) {
        }
    } else if (w->sized) {
        read_sized(w);
    } else {
        sl_buf_add(&w->body, w->in.data + w->in_at, w->in.len - w->in_at);
        w->in_at = w->in.len;
        w->whole = w->closed;
    }
    if (w->in_at == w->in.len) {
        sl_buf_reset(&w->in);
        w->in_at = 0;
    }
}

bool web_receive(struct web *w)
{
    static char data[1 << 16];
    bool any = false;
    ssize_t got = -1;
    while (w->open && !w->closed && (got = recv(w->fd, data, sizeof data, MSG_DONTWAIT)) > 0) {
        sl_buf_add(&w->in, data, (size_t)got);
        any = true;
    }
    CHECK(got >= 0 || !w->open || w->closed || errno == EAGAIN || errno == ECONNRESET);
    w->closed = w->closed || got == 0 || (got < 0 && w->open && errno == ECONNRESET);
    if (w->open && !w->whole) {
        read_answer(w);
    }
    return any;
}
