/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Opening the listening socket, with an error that says what is wrong with the address. */
#include "server/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"

#define BACKLOG 511

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static bool read_port(const char *text, in_port_t *port)
{
    char *end = NULL;
    unsigned long n = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || n > 65535) {
        return false;
    }
    *port = htons((uint16_t)n);
    return true;
}

static bool parse(const char *text, union address *a, socklen_t *size)
{
    char host[64];
    const char *colon = strrchr(text, ':');
    size_t len = colon == NULL ? sizeof host : (size_t)(colon - text);
    *a = (union address){.any = {.sa_family = AF_UNSPEC}};
    if (len >= sizeof host) {
        return false;
    }
    memcpy(host, text, len);
    host[len] = '\0';
    if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = '\0';
        a->v6.sin6_family = AF_INET6;
        *size = sizeof a->v6;
        return inet_pton(AF_INET6, host + 1, &a->v6.sin6_addr) == 1 &&
               read_port(colon + 1, &a->v6.sin6_port);
    }
    const char *name = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    a->v4.sin_family = AF_INET;
    *size = sizeof a->v4;
    return inet_pton(AF_INET, name, &a->v4.sin_addr) == 1 && read_port(colon + 1, &a->v4.sin_port);
}

static bool is_loopback(const union address *a)
{
    if (a->any.sa_family == AF_INET6) {
        return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
    }
    return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
}

static bool bind_socket(int fd, union address *a, socklen_t size)
{
    int on = 1;
    return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
           bind(fd, &a->any, size) == 0 && listen(fd, BACKLOG) == 0 &&
           getsockname(fd, &a->any, &size) == 0;
}

/* --- a socket in the file system ------------------------------------------------------------- */

static int new_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* A daemon that was killed leaves it. */
static void remove_stale(const struct sockaddr_un *a)
{
    struct stat what;
    int fd = lstat(a->sun_path, &what) == 0 && S_ISSOCK(what.st_mode) ? new_socket(AF_UNIX) : -1;
    if (fd >= 0) {
        if (connect(fd, (const struct sockaddr *)(const void *)a, sizeof *a) != 0 &&
            errno == ECONNREFUSED) {
            (void)unlink(a->sun_path);
        }
        (void)close(fd);
    }
}

/* A client is known by name then: so all may. */
static bool bind_path(int fd, const struct sockaddr_un *a)
{
    mode_t before = umask(0111);
    bool ok = bind(fd, (const struct sockaddr *)(const void *)a, sizeof *a) == 0;
    int why = errno;
    (void)umask(before);
    errno = why;
    return ok && listen(fd, BACKLOG) == 0;
}

static enum sl_code open_path(const char *path, int *out, struct sl_error *e)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (path[0] != '/' || strlen(path) >= sizeof a.sun_path) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "socket \"%.120s\" is not an absolute path of up to %zu characters",
                            path, sizeof a.sun_path - 1);
    }
    memcpy(a.sun_path, path, strlen(path));
    remove_stale(&a);
    int fd = new_socket(AF_UNIX);
    if (fd < 0 || !bind_path(fd, &a)) {
        int error = errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot listen on %.120s: %s", path,
                            strerror(error));
    }
    *out = fd;
    return SL_CODE_OK;
}

/* --------------------------------------------------------------------------------------------- */

enum sl_code sl_listen_open(const char *address, bool allow_remote, int *fd, unsigned *port,
                            struct sl_error *e)
{
    union address a;
    socklen_t size = 0;
    SL_PRE(address != NULL && fd != NULL && port != NULL);
    if (strncmp(address, SL_LISTEN_UNIX, strlen(SL_LISTEN_UNIX)) == 0) {
        *port = 0;
        return open_path(address + strlen(SL_LISTEN_UNIX), fd, e);
    }
    if (!parse(address, &a, &size)) {
        return sl_error_set(
            e, SL_CODE_BAD_REQUEST,
            "listen address \"%.100s\" is not ADDR:PORT, as in 127.0.0.1:8088 or [::1]:8088",
            address);
    }
    if (!allow_remote && !is_loopback(&a)) {
        return sl_error_set(
            e, SL_CODE_FORBIDDEN,
            "listen address \"%.100s\" is not a loopback address: remote access has to be allowed "
            "(--allow-remote)",
            address);
    }
    int socket_fd = new_socket(a.any.sa_family);
    if (socket_fd < 0 || !bind_socket(socket_fd, &a, size)) {
        int error = errno;
        if (socket_fd >= 0) {
            (void)close(socket_fd);
        }
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot listen on %.100s: %s", address,
                            strerror(error));
    }
    *fd = socket_fd;
    *port = ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
    return SL_CODE_OK;
}

bool sl_listen_is_loopback_name(const char *host)
{
    char name[80];
    SL_PRE(host != NULL);
    size_t len = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");
    if (len >= sizeof name || len > strlen(host)) {
        return false;
    }
    const char *rest =
        host + len; /* a port, or nothing: "localhost:80@elsewhere" is no name of ours */
    if (*rest == ':') {
        rest += 1 + strspn(rest + 1, "0123456789");
    }
    if (*rest != '\0') {
        return false;
    }
    memcpy(name, host, len);
    name[len] = '\0';
    struct in_addr v4;
    return strcmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0 ||
           (inet_pton(AF_INET, name, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127);
}
