/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Files of pods. */
#include "runner/files.h"
#include "base/mem.h"
#include "base/write_all.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX (4u << 20)

bool sl_pod_uid_good(const char *uid)
{
    size_t n = strlen(uid);
    return n > 0 && n < SL_POD_UID_SIZE && strspn(uid, "0123456789abcdefABCDEF-") == n;
}

char *sl_pod_path_new(const char *data, const char *uid, const char *file)
{
    struct sl_buf path = {0};
    sl_buf_print(&path, "%s/" SL_PODS_DIR "/%s%s%s", data, uid, file[0] == '\0' ? "" : "/", file);
    return sl_buf_take(&path);
}

static bool make_dir(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* A user who knows a name in it can come by, and what is there is closed. */
static bool let_in(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool ok = fd >= 0 && fchmod(fd, 0711) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return ok;
}

bool sl_pod_dir_make(const char *data, const char *uid, bool entered)
{
    char *all = sl_pod_path_new(data, "", "");
    char *own = sl_pod_path_new(data, uid, "");
    char *work = sl_pod_path_new(data, uid, SL_WORK_DIR);
    bool ok = make_dir(data) && make_dir(all) && make_dir(own) && make_dir(work) &&
              (!entered || let_in(own));
    sl_mem_free(all);
    sl_mem_free(own);
    sl_mem_free(work);
    return ok;
}

static bool read_all(int fd, struct sl_buf *out)
{
    char piece[8192];
    ssize_t n;
    while ((n = read(fd, piece, sizeof piece)) > 0 && out->len < FILE_BYTES_MAX) {
        sl_buf_add(out, piece, (size_t)n);
    }
    return n == 0;
}

struct sl_json *sl_file_read_new(const char *path)
{
    struct sl_buf text = {0};
    struct sl_error e = {0};
    struct sl_json *value = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    if (read_all(fd, &text) && text.len > 0) {
        value = sl_json_parse(text.data, text.len, &e);
    }
    (void)close(fd);
    sl_buf_fini(&text);
    return value;
}

bool sl_file_write(const char *path, const struct sl_json *value)
{
    struct sl_buf text = {0}, fresh = {0};
    sl_json_print(value, &text);
    if (text.len > FILE_BYTES_MAX) { /* it could not be read again */
        sl_buf_fini(&text);
        errno = EFBIG;
        return false;
    }
    sl_buf_print(&fresh, "%s.new", path);
    int fd = open(fresh.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && sl_write_all(fd, text.data, text.len);
    ok = fd >= 0 && close(fd) == 0 && ok;
    ok = ok && rename(fresh.data, path) == 0;
    int why = errno;
    if (!ok && fd >= 0) {
        (void)unlink(fresh.data);
    }
    sl_buf_fini(&text);
    sl_buf_fini(&fresh);
    errno = why;
    return ok;
}

bool sl_file_there(const char *path)
{
    struct stat what;
    return lstat(path, &what) == 0;
}

/* Of the open file, not of the process: a copy of the descriptor that a child has for a moment does not let go of it. */
int sl_file_lock(const char *path)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &whole) != 0) {
        int why = errno;
        (void)close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

bool sl_file_locked(const char *path)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    bool locked = fd >= 0 && fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    if (fd >= 0) {
        (void)close(fd);
    }
    return locked;
}
