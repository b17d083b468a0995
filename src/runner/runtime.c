/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Command lines of container runtimes. */
#include "runner/runtime.h"
#include "base/check.h"
#include "base/mem.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM_PATH "/usr/local/bin:/usr/bin:/bin"

/* --- which one ------------------------------------------------------------------------------------------ */

static bool is_program(const char *path)
{
    struct stat what;
    return stat(path, &what) == 0 && S_ISREG(what.st_mode) && access(path, X_OK) == 0;
}

/* The full path of a program in one of the directories, or NULL. The caller frees it. */
static char *look_up_new(const char *name, const char *path)
{
    for (const char *at = path; *at != '\0';) {
        size_t n = strcspn(at, ":");
        struct sl_buf full = {0};
        sl_buf_print(&full, "%.*s/%s", (int)n, at, name);
        if (at[0] == '/' && is_program(full.data)) { /* not from wherever it was started */
            return sl_buf_take(&full);
        }
        sl_buf_fini(&full);
        at += n + (at[n] == ':');
    }
    return NULL;
}

static enum sl_code find_wanted(const char *wanted, const char *path, struct sl_runtime *out,
                                struct sl_error *e)
{
    bool named = strchr(wanted, '/') == NULL;
    if (!named && wanted[0] != '/') {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--container-runtime: %.200s is neither a name nor an absolute path",
                            wanted);
    }
    out->path = named ? look_up_new(wanted, path) : is_program(wanted) ? sl_mem_text(wanted) : NULL;
    return out->path != NULL
               ? SL_CODE_OK
               : sl_error_set(e, SL_CODE_BAD_REQUEST, "--container-runtime: no program %.200s%s",
                              wanted, named ? " is in PATH" : " can be run");
}

enum sl_code sl_runtime_find(const char *wanted, const char *path, struct sl_runtime *out,
                             struct sl_error *e)
{
    static const char *const known[] = {"podman", "docker"};
    SL_PRE(out != NULL);
    *out = (struct sl_runtime){.path = NULL};
    path = path == NULL || path[0] == '\0' ? SYSTEM_PATH : path;
    if (wanted != NULL && find_wanted(wanted, path, out, e) != SL_CODE_OK) {
        return SL_CODE_BAD_REQUEST;
    }
    for (size_t i = 0; out->path == NULL && i < sizeof known / sizeof known[0]; i++) {
        out->path = look_up_new(known[i], path);
    }
    if (out->path == NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--run containers: neither podman nor docker is in PATH: install one, "
                            "or name another with --container-runtime");
    }
    out->podman = strncmp(strrchr(out->path, '/') + 1, "podman", strlen("podman")) == 0;
    return SL_CODE_OK;
}

void sl_runtime_fini(struct sl_runtime *r)
{
    SL_PRE(r != NULL);
    sl_mem_free(r->path);
    r->path = NULL;
}

/* --- words ---------------------------------------------------------------------------------------------- */

static void add(struct sl_json *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(struct sl_json *words, const char *format, ...)
{
    char *text = NULL;
    va_list list;
    va_start(list, format);
    int n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    text = sl_mem_new((size_t)n + 1, 1);
    va_start(list, format);
    (void)vsnprintf(text, (size_t)n + 1, format, list);
    va_end(list);
    sl_json_append(words, sl_json_new_text(text));
    sl_mem_free(text);
}

static void add_texts(struct sl_json *words, const struct sl_json *list, size_t from)
{
    for (size_t i = from; i < sl_json_len(list); i++) {
        add(words, "%s", sl_json_text(sl_json_at(list, i), ""));
    }
}

static const char *pull_of(const char *policy)
{
    return strcmp(policy, "Always") == 0  ? "always"
           : strcmp(policy, "Never") == 0 ? "never"
                                          : "missing";
}

/* What it may be, and what it may do outside. */
static void add_rights(struct sl_json *words, const struct sl_account *account)
{
    add(words, "--network=host"); /* containers of a pod see each other, as its processes do */
    if (account == NULL) {
        return;
    }
    /* With the group, so that the image's list of groups is not asked. */
    add(words, "--user=%u:%u", (unsigned)account->uid, (unsigned)account->gid);
    add(words, "--security-opt=no-new-privileges");
    if (account->uid != 0) {
        add(words, "--cap-drop=all");
    }
}

static void add_limits(struct sl_json *words, const struct sl_runtime_wish *w)
{
    if (w->cpu_milli > 0) {
        add(words, "--cpus=%" PRId64 ".%03" PRId64, w->cpu_milli / 1000, w->cpu_milli % 1000);
    }
    if (w->memory_bytes > 0) {
        add(words, "--memory=%" PRId64, w->memory_bytes);
        add(words, "--memory-swap=%" PRId64, w->memory_bytes); /* together: no swap */
    }
}

/* By their names of the Container Device Interface. */
static void add_devices(struct sl_json *words, const struct sl_json *devices)
{
    for (struct sl_json_member d = {0}; sl_json_each(devices, &d);) {
        for (size_t i = 0; i < sl_json_len(d.value); i++) {
            add(words, "--device=%s=%" PRId64, d.key, sl_json_int(sl_json_at(d.value, i), 0));
        }
    }
}

/* podman reads what begins with [ as a list: so it is given one. */
static void add_entrypoint(struct sl_json *words, const struct sl_runtime *r, const char *program)
{
    if (!r->podman) {
        add(words, "--entrypoint=%s", program);
        return;
    }
    struct sl_buf text = {0};
    struct sl_json *list = sl_json_new_list();
    sl_json_append(list, sl_json_new_text(program));
    sl_json_print(list, &text);
    add(words, "--entrypoint=%s", text.data);
    sl_json_free(list);
    sl_buf_fini(&text);
}

/* --- command lines -------------------------------------------------------------------------------------- */

struct sl_json *sl_runtime_run_new(const struct sl_runtime *r, const struct sl_runtime_wish *w)
{
    SL_PRE(r != NULL && w != NULL);
    struct sl_json *words = sl_json_new_list();
    add(words, "%s", r->path);
    add(words, "run");
    add(words, "--rm");
    add(words, "--name=sluice-%s-%s", w->uid, w->name);
    add(words, "--label=sluice.dev/pod-uid=%s", w->uid);
    add(words, "--pull=%s", pull_of(w->pull));
    add(words, "--log-driver=none"); /* its supervisor keeps them */
    add(words, "--stop-timeout=0");  /* when it is removed, its grace is over */
    add(words, "--no-healthcheck");
    if (r->podman) {
        add(words, "--quiet");
        add(words, "--http-proxy=false"); /* its address may have a password in it */
    }
    add_rights(words, w->account);
    add_limits(words, w);
    add_devices(words, w->devices);
    for (size_t i = 0; i < sl_json_len(w->env); i++) {
        add(words, "--env=%s", sl_json_text(sl_json_at(w->env, i), ""));
    }
    if (w->dir[0] != '\0') {
        add(words, "--workdir=%s", w->dir);
    }
    if (sl_json_len(w->command) > 0) {
        add_entrypoint(words, r, sl_json_text(sl_json_at(w->command, 0), ""));
    }
    add(words, "--");
    add(words, "%s", w->image);
    add_texts(words, w->command, 1);
    add_texts(words, w->args, 0);
    return words;
}

struct sl_json *sl_runtime_end_new(const struct sl_runtime *r, const char *uid, const char *name)
{
    SL_PRE(r != NULL);
    struct sl_json *words = sl_json_new_list();
    add(words, "%s", r->path);
    add(words, "rm");
    add(words, "--force");
    add(words, "--volumes");
    if (r->podman) {
        add(words, "--ignore"); /* one that is not there is no failure */
    }
    add(words, "--");
    add(words, "sluice-%s-%s", uid, name);
    return words;
}
