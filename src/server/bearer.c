/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "server/bearer.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"

#define SCHEME "Bearer "
#define TOKEN_MIN 16u
#define TOKEN_MAX 1024u
#define RANDOM_BYTES 32u

static void find_token(void *context, const char *name, const char *value)
{
    const char **token = context;
    if (strcasecmp(name, "Authorization") == 0 && strncasecmp(value, SCHEME, strlen(SCHEME)) == 0) {
        *token = value + strlen(SCHEME);
    }
}

const char *sl_bearer_of(const struct sl_call *call)
{
    SL_PRE(call != NULL);
    const char *token = NULL;
    call->each_header(call, find_token, &token);
    token = token != NULL ? token + strspn(token, " ") : NULL;
    return token != NULL && token[0] != '\0' ? token : NULL;
}

bool sl_bearer_is(const struct sl_call *call, const char *token)
{
    const char *shown = sl_bearer_of(call);
    size_t len = strlen(token);
    return shown != NULL && strlen(shown) == len && gnutls_memcmp(shown, token, len) == 0;
}

static enum sl_code fail(const char *path, const char *what, int error, struct sl_error *e)
{
    return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s %s: %s", path, what, strerror(error));
}

enum sl_code sl_bearer_write(const char *path, const char *text, size_t len, struct sl_error *e)
{
    struct sl_buf fresh = {0};
    sl_buf_print(&fresh, "%s.new", path);
    (void)unlink(fresh.data);
    int fd = open(fresh.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool written = fd >= 0 && write(fd, text, len) == (ssize_t)len && fsync(fd) == 0;
    int error = errno;
    written = fd >= 0 && close(fd) == 0 && written;
    if (written && rename(fresh.data, path) != 0) {
        error = errno;
        written = false;
    }
    sl_buf_fini(&fresh);
    return written ? SL_CODE_OK : fail(path, "cannot be written", error, e);
}

static enum sl_code make(const char *path, char **token, struct sl_error *e)
{
    unsigned char random[RANDOM_BYTES];
    struct sl_buf text = {0};
    int rc = gnutls_rnd(GNUTLS_RND_KEY, random, sizeof random);
    SL_ASSERT(rc == GNUTLS_E_SUCCESS);
    for (size_t i = 0; i < sizeof random; i++) {
        sl_buf_print(&text, "%02x", random[i]);
    }
    *token = sl_mem_text(text.data);
    sl_buf_text(&text, "\n");
    enum sl_code code = sl_bearer_write(path, text.data, text.len, e);
    gnutls_memset(text.data, 0, text.len);
    sl_buf_fini(&text);
    return code;
}

static enum sl_code take(const char *path, char *text, size_t len, char **token, struct sl_error *e)
{
    len -= len > 0 && text[len - 1] == '\n';
    text[len] = '\0';
    for (size_t i = 0; i < len; i++) {
        len = text[i] > ' ' && text[i] <= '~' ? len : 0;
    }
    if (len < TOKEN_MIN || len > TOKEN_MAX) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "%s holds no token: it has to be one line of %u to %u characters "
                            "without blanks; remove it, and a new one is made",
                            path, TOKEN_MIN, TOKEN_MAX);
    }
    *token = sl_mem_text(text);
    return SL_CODE_OK;
}

static enum sl_code read_token(const char *path, int fd, char **token, struct sl_error *e)
{
    char text[TOKEN_MAX + 3];
    struct stat s;
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s is not a file", path);
    }
    if ((s.st_mode & 077u) != 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "%s can be read by others (mode %04o): make it 0600, and change the "
                            "token if they have",
                            path, (unsigned)(s.st_mode & 07777u));
    }
    ssize_t len = read(fd, text, sizeof text - 1);
    if (len < 0) {
        return fail(path, "cannot be read", errno, e);
    }
    enum sl_code code = take(path, text, (size_t)len, token, e);
    gnutls_memset(text, 0, sizeof text);
    return code;
}

enum sl_code sl_bearer_open(const char *path, char **token, struct sl_error *e)
{
    SL_PRE(path != NULL && token != NULL);
    *token = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return errno == ENOENT ? make(path, token, e) : fail(path, "cannot be read", errno, e);
    }
    enum sl_code code = read_token(path, fd, token, e);
    (void)close(fd);
    return code;
}
