/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Local users. */
#include "runner/account.h"
#include "api/objects/object.h"
#include "base/check.h"
#include "base/mem.h"
#include "runner/files.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROW_BYTES 16384u /* of a user in the list of all */
#define OTHERS 0077u

/* --- who ------------------------------------------------------------------------------------------------ */

/* False with errno: ENOENT when there is none, else the look-up failed. */
static bool find(const char *name, struct sl_account *out)
{
    char text[ROW_BYTES];
    struct passwd row, *found = NULL;
    int rc = getpwnam_r(name, &row, text, sizeof text, &found);
    if (found == NULL) {
        errno = rc != 0 && rc != ESRCH ? rc : ENOENT;
        return false;
    }
    *out = (struct sl_account){.name = sl_mem_text(row.pw_name),
                               .home = sl_mem_text(row.pw_dir),
                               .shell = sl_mem_text(row.pw_shell),
                               .uid = row.pw_uid,
                               .gid = row.pw_gid};
    return true;
}

void sl_account_fini(struct sl_account *a)
{
    SL_PRE(a != NULL);
    sl_mem_free(a->name);
    sl_mem_free(a->home);
    sl_mem_free(a->shell);
    *a = (struct sl_account){.name = NULL};
}

enum sl_code sl_account_of(const struct sl_json *object, struct sl_account *out, struct sl_error *e)
{
    SL_PRE(object != NULL && out != NULL);
    const char *chosen = sl_object_annotation(object, SL_ANNOTATION_RUN_AS);
    const char *name =
        chosen != NULL ? chosen : sl_object_annotation(object, SL_ANNOTATION_SUBMITTER);
    if (name == NULL || name[0] == '\0') {
        return sl_error_set(
            e, SL_CODE_INVALID,
            "it is not known who has submitted it, at least not since that is guarded: "
            "submit it again, or let an administrator set the annotation " SL_ANNOTATION_RUN_AS);
    }
    if (!find(name, out)) {
        return errno == ENOENT
                   ? sl_error_set(e, SL_CODE_INVALID,
                                  "there is no local user \"%.100s\" to run it as", name)
                   : sl_error_set(e, SL_CODE_UNAVAILABLE,
                                  "the user \"%.100s\" cannot be looked up: %s", name,
                                  strerror(errno));
    }
    if (out->uid == 0 && chosen == NULL) {
        sl_account_fini(out);
        return sl_error_set(e, SL_CODE_INVALID,
                            "it would run as root: only an administrator may say so, by the "
                            "annotation " SL_ANNOTATION_RUN_AS);
    }
    return SL_CODE_OK;
}

struct sl_json *sl_account_say_new(const struct sl_account *a)
{
    SL_PRE(a != NULL);
    struct sl_json *said = sl_json_new_map();
    sl_json_set_text(said, "name", a->name);
    sl_json_set_bool(said, "root", a->uid == 0);
    return said;
}

bool sl_account_read(const struct sl_json *said, struct sl_account *out)
{
    SL_PRE(out != NULL);
    if (!find(sl_json_path_text(said, "name", ""), out)) {
        return false;
    }
    if (out->uid == 0 && !sl_json_path_bool(said, "root", false)) {
        sl_account_fini(out);
        errno = EPERM;
        return false;
    }
    return true;
}

/* --- becoming it ---------------------------------------------------------------------------------------- */

bool sl_account_own(const struct sl_account *a, const char *dir)
{
    SL_PRE(a != NULL);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool ok = fd >= 0 && fchown(fd, a->uid, a->gid) == 0 && fchmod(fd, 0700) == 0;
    int why = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    errno = why;
    return ok;
}

bool sl_account_become(const struct sl_account *a)
{
    SL_PRE(a != NULL);
    if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS &&
        errno != EPERM) {
        return false;
    }
    if (initgroups(a->name, a->gid) != 0 || setresgid(a->gid, a->gid, a->gid) != 0 ||
        setresuid(a->uid, a->uid, a->uid) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return false;
    }
    if (a->uid != 0 && (setuid(0) == 0 || geteuid() != a->uid || getegid() != a->gid)) {
        errno = EPERM;
        return false;
    }
    return true;
}

/* --- the way to its directory --------------------------------------------------------------------------- */

/* What an earlier daemon has left there for others to read. */
static bool close_files(int dir)
{
    DIR *list = fdopendir(dir);
    bool ok = list != NULL;
    for (const struct dirent *d; ok && (d = readdir(list)) != NULL;) {
        struct stat what;
        bool ours = strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
                    strcmp(d->d_name, SL_PODS_DIR) != 0;
        if (ours && fstatat(dir, d->d_name, &what, AT_SYMLINK_NOFOLLOW) == 0 &&
            !S_ISLNK(what.st_mode) && (what.st_mode & OTHERS) != 0) {
            ok = fchmodat(dir, d->d_name, what.st_mode & 07777 & ~OTHERS, 0) == 0;
        }
    }
    int why = errno;
    if (list != NULL) {
        (void)closedir(list);
    } else {
        (void)close(dir);
    }
    errno = why;
    return ok;
}

static enum sl_code check_way(const char *data, struct sl_error *e)
{
    char path[PATH_MAX];
    if (realpath(data, path) == NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: %s", data, strerror(errno));
    }
    for (char *slash = strrchr(path, '/'); slash != NULL && slash != path;
         slash = strrchr(path, '/')) {
        struct stat what;
        *slash = '\0';
        if (stat(path, &what) != 0 || (what.st_mode & S_IXOTH) == 0) {
            return sl_error_set(e, SL_CODE_BAD_REQUEST,
                                "--run-as-submitter: users cannot enter %.200s (mode %04o), and "
                                "their jobs start below it: put --data elsewhere",
                                path, (unsigned)(what.st_mode & 07777u));
        }
    }
    return SL_CODE_OK;
}

enum sl_code sl_account_open_data(const char *data, struct sl_error *e)
{
    SL_PRE(data != NULL);
    struct sl_buf pods = {0};
    sl_buf_print(&pods, "%s/" SL_PODS_DIR, data);
    bool made = (mkdir(data, 0711) == 0 || errno == EEXIST) &&
                (mkdir(pods.data, 0711) == 0 || errno == EEXIST);
    int dir = made ? open(data, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool ok = dir >= 0 && close_files(dir) && chmod(pods.data, 0711) == 0 && chmod(data, 0711) == 0;
    int why = errno;
    sl_buf_fini(&pods);
    return ok ? check_way(data, e)
              : sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: %s", data, strerror(why));
}
