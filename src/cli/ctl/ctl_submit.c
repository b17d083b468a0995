/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl submit and version. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include "cli/ctl/submit.h"
#include "cli/common/version.h"
#include <string.h>

static enum sl_code submit_one(struct sl_ctl *c, const struct sl_submit *s, struct sl_error *e)
{
    struct sl_buf path = {0};
    struct sl_json *result = NULL;
    struct sl_json *job = sl_submit_job_new(s);
    sl_ctl_path(SL_KIND_JOB, s->ns, "", &path);
    struct sl_call call = {.method = "POST", .path = path.data, .body = job};
    enum sl_code code = sl_remote_call(c->remote, &call, &result, e);
    if (code == SL_CODE_OK) {
        printf("job/%s submitted to queue %s in namespace %s\n", sl_object_name(result), s->queue,
               s->ns);
    }
    sl_json_free(result);
    sl_json_free(job);
    sl_buf_fini(&path);
    return code;
}

/* Not an error: it may be made yet, and the Job starts then. */
static void warn_of_queue(struct sl_ctl *c)
{
    struct sl_buf path = {0};
    struct sl_json *queue = NULL;
    struct sl_error e = {0};
    sl_ctl_path(SL_KIND_LOCAL_QUEUE, c->ns, c->queue, &path);
    if (sl_remote_get(c->remote, path.data, &queue, &e) == SL_CODE_NOT_FOUND) {
        fprintf(
            stderr,
            "warning: LocalQueue %s does not exist in namespace %s; the job waits until it does\n",
            c->queue, c->ns);
    }
    sl_json_free(queue);
    sl_buf_fini(&path);
}

int sl_ctl_submit(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_submit s = {.ns = c->ns,
                          .queue = c->queue,
                          .cpu = c->cpu,
                          .memory = c->memory,
                          .priority_class = c->priority_class,
                          .run_for = c->run_for,
                          .name = c->name,
                          .parallelism = c->parallelism,
                          .fail = c->fail};
    struct sl_error e = {0};
    if (c->arguments.count > 0) {
        return sl_ctl_misused("submit takes no arguments, only options");
    }
    if (sl_submit_check(&s, &e) != SL_CODE_OK) {
        return sl_ctl_misused("%s", e.text);
    }
    if (c->count < 1 || c->count > 100000) {
        return sl_ctl_misused("--count must be from 1 to 100000");
    }
    for (int64_t i = 1; i <= c->count; i++) {
        char name[300];
        if (c->name != NULL && c->count > 1) {
            snprintf(name, sizeof name, "%s-%lld", c->name, (long long)i);
            s.name = name;
        }
        if (submit_one(c, &s, &e) != SL_CODE_OK) {
            return sl_ctl_failed("submit", &e);
        }
    }
    warn_of_queue(c);
    return 0;
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
