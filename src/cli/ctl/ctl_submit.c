/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl submit and version. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include "cli/common/version.h"
#include <string.h>

#define COUNT_MAX 100000

/* --- submit -------------------------------------------------------------------------------------------- */

static void say(const struct sl_ctl *c, const struct sl_json *job)
{
    const char *name = sl_object_name(job);
    if (c->output == SL_OUTPUT_NAME) {
        printf("job.batch/%s\n", name);
    } else if (!c->quiet && !sl_ctl_is_data(c)) {
        printf("job/%s %s to queue %s in namespace %s\n", name,
               c->dry_run != SL_DRY_RUN_NONE ? "could be submitted" : "submitted", c->submit.queue,
               c->ns);
    }
}

/* What the server made of it is added to `made`. */
static enum sl_code submit_one(struct sl_ctl *c, const struct sl_submit *s, struct sl_json *made,
                               struct sl_error *e)
{
    struct sl_buf path = {0};
    struct sl_json *result = NULL;
    struct sl_json *job = sl_submit_job_new(s);
    sl_ctl_path(SL_KIND_JOB, s->ns, "", &path);
    if (c->dry_run == SL_DRY_RUN_SERVER) {
        sl_ctl_query(&path, "dryRun", "All");
    }
    struct sl_call call = {.method = "POST", .path = path.data, .body = job};
    enum sl_code code = SL_CODE_OK;
    if (c->dry_run == SL_DRY_RUN_CLIENT) {
        result = sl_json_ref(job);
    } else {
        code = sl_remote_call(c->remote, &call, &result, e);
    }
    if (code == SL_CODE_OK) {
        say(c, result);
        sl_json_append(made, sl_json_ref(result));
    }
    sl_json_free(result);
    sl_json_free(job);
    sl_buf_fini(&path);
    return code;
}

static enum sl_code submit_all(struct sl_ctl *c, struct sl_json *made, struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    for (int64_t i = 1; i <= c->count && code == SL_CODE_OK; i++) {
        struct sl_submit s = c->submit;
        char name[300];
        if (s.name != NULL && c->count > 1) {
            snprintf(name, sizeof name, "%s-%lld", c->submit.name, (long long)i);
            s.name = name;
        }
        code = submit_one(c, &s, made, e);
    }
    return code;
}

static int submit(struct sl_ctl *c, struct sl_json *made)
{
    struct sl_error e = {0};
    if (submit_all(c, made, &e) != SL_CODE_OK) {
        return sl_ctl_failed("submit", &e);
    }
    sl_ctl_print_made(c, made);
    if (c->dry_run == SL_DRY_RUN_CLIENT) {
        return 0;
    }
    sl_ctl_warn_missing(c, SL_KIND_LOCAL_QUEUE, c->ns, c->submit.queue, "the job");
    sl_ctl_warn_missing(c, SL_KIND_WORKLOAD_PRIORITY_CLASS, "", c->submit.priority_class,
                        "the job");
    if (!c->wait || c->dry_run != SL_DRY_RUN_NONE) {
        return 0;
    }
    fflush(stdout);
    bool good = sl_ctl_wait(c, made, &e);
    return e.code != SL_CODE_OK ? sl_ctl_failed("submit --wait", &e) : good ? 0 : 1;
}

int sl_ctl_submit(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_error e = {0};
    if (c->arguments.count > 0) {
        return sl_ctl_misused("submit takes no arguments, only options");
    }
    if (sl_submit_check(&c->submit, &e) != SL_CODE_OK) {
        return sl_ctl_misused("%s", e.text);
    }
    if (c->count < 1 || c->count > COUNT_MAX) {
        return sl_ctl_misused("--count must be from 1 to %d", COUNT_MAX);
    }
    struct sl_json *made = sl_json_new_list();
    int status = submit(c, made);
    sl_json_free(made);
    return status;
}

int sl_ctl_version(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_json *version = NULL;
    struct sl_error e = {0};
    printf("sluicectl %s\n", SL_VERSION);
    if (sl_remote_get(c->remote, "/version", &version, &e) != SL_CODE_OK) {
        return sl_ctl_failed("", &e);
    }
    printf("server    %s at %s\n", sl_json_path_text(version, "gitVersion", "?"),
           sl_remote_server(c->remote));
    sl_json_free(version);
    return 0;
}
