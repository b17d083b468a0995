/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Capabilities, Landlock, seccomp, in this order: each of the later ones needs a call that the next forbids. */
#include "cli/daemon/confine.h"
#include "base/check.h"
#include "base/log.h"
#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static enum sl_code failed(struct sl_error *e, const char *what)
{
    return sl_error_set(e, SL_CODE_INTERNAL, "%s failed: %s (--no-confinement skips it)", what,
                        strerror(errno));
}

/* Memory has tokens, keys and what jobs say in their environment. */
static enum sl_code forbid_cores(struct sl_error *e)
{
    const struct rlimit none = {0, 0};
    return setrlimit(RLIMIT_CORE, &none) == 0 ? SL_CODE_OK : failed(e, "RLIMIT_CORE");
}

/* Not even a set-user-id program that we were made to run gives them back. */
enum sl_code sl_confine_privileges(struct sl_error *e)
{
    if (forbid_cores(e) != SL_CODE_OK) {
        return e->code;
    }
    capng_clear(CAPNG_SELECT_BOTH);
    if (geteuid() == 0 && capng_apply(CAPNG_SELECT_BOTH) < 0) {
        return failed(e, "giving capabilities up");
    }
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? SL_CODE_OK
                                                       : failed(e, "PR_SET_NO_NEW_PRIVS");
}

/* --- files ----------------------------------------------------------------------------------- */

#define READ_RIGHTS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE_RIGHTS                                                                               \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                               \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG)
/* The first version's other rights: this process never has them. */
#define NO_RIGHTS                                                                                  \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_SOCK |    \
     LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

/* Name service, certificates, time zones, libraries that these load, and where a pod finds its secrets. */
static const char *const system_paths[] = {"/etc",     "/usr",           "/lib",
                                           "/lib64",   "/run",           "/proc/self",
                                           "/var/run", "/sys/fs/cgroup", "/dev/urandom"};

static bool allow(int rules, const char *path, uint64_t rights)
{
    struct landlock_path_beneath_attr beneath = {.allowed_access = rights};
    beneath.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (beneath.parent_fd < 0) {
        return errno == ENOENT; /* what is not there needs no right */
    }
    struct stat what;
    if (fstat(beneath.parent_fd, &what) == 0 && !S_ISDIR(what.st_mode)) {
        beneath.allowed_access &= LANDLOCK_ACCESS_FS_READ_FILE;
    }
    bool ok = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0;
    close(beneath.parent_fd);
    return ok;
}

static bool allow_all(int rules, const struct sl_confine_options *o)
{
    bool ok = true;
    for (size_t i = 0; i < sizeof system_paths / sizeof system_paths[0]; i++) {
        ok = ok && allow(rules, system_paths[i], READ_RIGHTS);
    }
    ok = ok && (o->readable == NULL || allow(rules, o->readable, READ_RIGHTS));
    ok = ok && (o->readable_too == NULL || allow(rules, o->readable_too, READ_RIGHTS));
    return ok && (o->writable == NULL || allow(rules, o->writable, READ_RIGHTS | WRITE_RIGHTS));
}

static enum sl_code restrict_files(const struct sl_confine_options *o, struct sl_error *e)
{
    const struct landlock_ruleset_attr all = {.handled_access_fs =
                                                  READ_RIGHTS | WRITE_RIGHTS | NO_RIGHTS};
    int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (rules < 0) {
        sl_log(SL_LOG_WARN, "files are not confined", "why", "this kernel has no Landlock", NULL);
        return SL_CODE_OK;
    }
    bool ok = allow_all(rules, o) && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    enum sl_code code = ok ? SL_CODE_OK : failed(e, "Landlock");
    close(rules);
    return code;
}

/* --- system calls ---------------------------------------------------------------------------- */

static const char *const calls[] = {
#define CALL(name) #name,
#include "cli/daemon/confine_calls.def"
#undef CALL
};

static enum sl_code restrict_calls(struct sl_error *e)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (filter == NULL) {
        return failed(e, "seccomp");
    }
    int result = 0;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0] && result == 0; i++) {
        int number = seccomp_syscall_resolve_name(calls[i]);
        /* a call that this machine's architecture does not have is not made either */
        result = number == __NR_SCMP_ERROR || number < 0
                     ? 0
                     : seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
    }
    result = result == 0 ? seccomp_load(filter) : result;
    seccomp_release(filter);
    if (result == -EINVAL || result == -ENOSYS) {
        sl_log(SL_LOG_WARN, "system calls are not confined", "why", "this kernel has no seccomp",
               NULL);
        return SL_CODE_OK;
    }
    errno = -result;
    return result == 0 ? SL_CODE_OK : failed(e, "seccomp");
}

enum sl_code sl_confine(const struct sl_confine_options *o, struct sl_error *e)
{
    SL_PRE(o != NULL);
    enum sl_code code = o->unprivileged ? SL_CODE_OK : sl_confine_privileges(e);
    code = code == SL_CODE_OK ? restrict_files(o, e) : code;
    return code == SL_CODE_OK ? restrict_calls(e) : code;
}
