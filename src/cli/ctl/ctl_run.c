/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl run: a command as a Job, as short as sbatch and tsp have it. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include "base/mem.h"
#include "cli/remote/outcome.h"
#include "server/listen.h"
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define WHAT "run"

/* --- where it runs ------------------------------------------------------------------------------------- */

struct place {
    bool standalone; /* else a cluster */
    bool here;       /* where we are */
};

static enum sl_code find_place(struct sl_ctl *c, struct place *out, struct sl_error *e)
{
    struct sl_json *version = NULL;
    const char *server = sl_remote_server(c->remote), *address = strstr(server, "://");
    bool socket = strncmp(server, SL_REMOTE_SOCKET, strlen(SL_REMOTE_SOCKET)) == 0;
    enum sl_code code = sl_remote_get(c->remote, "/version", &version, e);
    out->standalone = strstr(sl_json_path_text(version, "gitVersion", ""), "+sluice-") != NULL;
    out->here =
        out->standalone && (socket || (address != NULL && sl_listen_is_loopback_name(address + 3)));
    sl_json_free(version);
    return code;
}

/* Where the server is here, it starts in our directory; elsewhere there may be no such one. */
static void choose_workdir(struct sl_ctl *c, const struct place *place)
{
    static char here[PATH_MAX];
    if (c->run.workdir == NULL && place->here && getcwd(here, sizeof here) != NULL) {
        c->run.workdir = here;
    }
}

static enum sl_code check_place(const struct sl_ctl *c, const struct place *place,
                                struct sl_error *e)
{
    if (place->standalone) {
        return SL_CODE_OK;
    }
    if (c->run.after.count > 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--after works with Sluice in standalone mode only: on the cluster %s "
                            "nothing would start the job when the other one is complete",
                            sl_remote_server(c->remote));
    }
    if (c->run.image == NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--image: on a cluster commands run in an image; say which one");
    }
    return SL_CODE_OK;
}

/* The only one there is. */
static enum sl_code find_queue(struct sl_ctl *c, struct sl_json **queues, struct sl_error *e)
{
    struct sl_buf path = {0}, names = {0};
    if (c->submit.queue != NULL) {
        return SL_CODE_OK;
    }
    sl_ctl_path(SL_KIND_LOCAL_QUEUE, c->ns, "", &path);
    enum sl_code code = sl_remote_get(c->remote, path.data, queues, e);
    const struct sl_json *items = sl_json_get(*queues, "items");
    for (size_t i = 0; i < sl_json_len(items); i++) {
        sl_buf_print(&names, "%s%s", i > 0 ? ", " : "", sl_object_name(sl_json_at(items, i)));
    }
    if (code == SL_CODE_OK && sl_json_len(items) == 1) {
        c->submit.queue = sl_object_name(sl_json_at(items, 0));
    } else if (code == SL_CODE_OK) {
        code = sl_error_set(
            e, SL_CODE_BAD_REQUEST, "--queue: namespace %s has %s%.300s", c->ns,
            names.len == 0 ? "no LocalQueue" : "several: ", names.len == 0 ? "" : names.data);
    }
    sl_buf_fini(&path);
    sl_buf_fini(&names);
    return code;
}

/* --- after others -------------------------------------------------------------------------------------- */

/* "prep" becomes "prep:UID", so that a later Job of that name is not taken for it. */
static enum sl_code pin(struct sl_ctl *c, const char **item, struct sl_error *e)
{
    struct sl_buf path = {0}, pinned = {0};
    struct sl_json *job = NULL;
    const char *slash = strchr(*item, '/'), *name = slash == NULL ? *item : slash + 1;
    sl_ctl_path(SL_KIND_JOB, c->ns, name, &path);
    enum sl_code code = name[0] == '\0' ? sl_error_set(e, SL_CODE_BAD_REQUEST, "no name")
                                        : sl_remote_get(c->remote, path.data, &job, e);
    if (code != SL_CODE_OK) {
        struct sl_error why = *e;
        (void)sl_error_set(e, code, "--after %.200s: %s", *item, why.text);
    } else if (sl_condition_true(job, "Failed")) {
        code = sl_error_set(e, SL_CODE_BAD_REQUEST, "--after %.200s: that job has failed", *item);
    } else {
        sl_buf_print(&pinned, "%s:%s", name, sl_object_uid(job));
        *item = sl_buf_take(&pinned);
    }
    sl_json_free(job);
    sl_buf_fini(&path);
    return code;
}

/* The names are replaced by texts of ours, `*count` of them. */
static enum sl_code pin_all(struct sl_ctl *c, unsigned *count, struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    for (*count = 0; *count < c->run.after.count && code == SL_CODE_OK;) {
        code = pin(c, &c->run.after.items[*count], e);
        *count += code == SL_CODE_OK;
    }
    return code;
}

/* --- the job ------------------------------------------------------------------------------------------- */

static enum sl_code create(struct sl_ctl *c, struct sl_json **out, struct sl_error *e)
{
    struct sl_buf path = {0};
    struct sl_json *job = sl_run_job_new(&c->run, &c->submit);
    enum sl_code code = SL_CODE_OK;
    sl_ctl_path(SL_KIND_JOB, c->ns, "", &path);
    if (c->dry_run == SL_DRY_RUN_SERVER) {
        sl_ctl_query(&path, "dryRun", "All");
    }
    struct sl_call call = {.method = "POST", .path = path.data, .body = job};
    if (c->dry_run == SL_DRY_RUN_CLIENT) {
        *out = sl_json_ref(job);
    } else {
        code = sl_remote_call(c->remote, &call, out, e);
    }
    sl_json_free(job);
    sl_buf_fini(&path);
    return code;
}

/* Where the program prints to the output, the name does not. */
static void say(struct sl_ctl *c, struct sl_json *job)
{
    if (sl_ctl_is_data(c)) {
        sl_ctl_print_value(c, job);
    } else if (!c->quiet) {
        fprintf(c->logs ? stderr : stdout, "%s%s\n",
                c->output == SL_OUTPUT_NAME ? "job.batch/" : "", sl_object_name(job));
    }
    fflush(stdout);
}

static enum sl_code prepare(struct sl_ctl *c, struct sl_json **queues, unsigned *pinned,
                            struct sl_error *e)
{
    struct place place = {false, false};
    enum sl_code code = find_place(c, &place, e);
    code = code == SL_CODE_OK ? check_place(c, &place, e) : code;
    code = code == SL_CODE_OK ? find_queue(c, queues, e) : code;
    choose_workdir(c, &place);
    return code == SL_CODE_OK ? pin_all(c, pinned, e) : code;
}

static int wait_for_end(struct sl_ctl *c, const struct sl_json *job)
{
    struct sl_error e = {0};
    int status = 1;
    const struct sl_outcome_wish wish = {c->remote, job, c->logs, c->run.array != NULL, c->quiet};
    return sl_outcome_wait(&wish, &status, &e) == SL_CODE_OK ? status : sl_ctl_failed(WHAT, &e);
}

static int run(struct sl_ctl *c)
{
    struct sl_error e = {0};
    struct sl_json *queues = NULL, *job = NULL;
    unsigned pinned = 0;
    int status = 0;
    enum sl_code code = prepare(c, &queues, &pinned, &e);
    code = code == SL_CODE_OK ? create(c, &job, &e) : code;
    if (code != SL_CODE_OK) {
        status = sl_ctl_failed(WHAT, &e);
    } else {
        say(c, job);
        if (c->dry_run != SL_DRY_RUN_CLIENT) {
            sl_ctl_warn_missing(c, SL_KIND_LOCAL_QUEUE, c->ns, c->submit.queue, "the job");
        }
        if (c->dry_run == SL_DRY_RUN_NONE && (c->wait || c->logs)) {
            status = wait_for_end(c, job);
        }
    }
    for (unsigned i = 0; i < pinned; i++) {
        sl_mem_free((char *)(uintptr_t)c->run.after.items[i]);
    }
    sl_json_free(job);
    sl_json_free(queues);
    return status;
}

int sl_ctl_run(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_error e = {0};
    if (sl_run_check(&c->run, &c->submit, &e) != SL_CODE_OK) {
        return sl_ctl_misused("%s", e.text);
    }
    return run(c);
}
