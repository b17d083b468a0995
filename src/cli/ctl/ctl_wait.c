/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* submit --wait: follows the Jobs of a namespace until those that were submitted have ended. A watch that ends is begun
 * again with a list, in which a Job that is missing was deleted. */
#include "base/check.h"
#include "base/map.h"
#include "cli/ctl/ctl.h"
#include "controllers/jobs/job.h"
#include <string.h>
#include <unistd.h>

#define PAUSE_US 500000 /* before a server that cannot be reached is tried again */
#define TRIES 60u

struct awaited {
    struct sl_ctl *c;
    struct sl_map
        *left; /* UIDs of those that run or wait, with the round of the list they were last in */
    uint64_t round;
    bool failed;
};

static void end(struct awaited *a, const struct sl_json *job, const char *how, bool good)
{
    if (!a->c->quiet) {
        printf("job/%s %s\n", sl_object_name(job), how);
        fflush(stdout);
    }
    (void)sl_map_remove(a->left, sl_object_uid(job), NULL);
    a->failed = a->failed || !good;
}

static void look(struct awaited *a, const struct sl_json *job, bool deleted)
{
    union sl_map_value seen;
    bool success = false;
    const char *message = "";
    if (!sl_map_get(a->left, sl_object_uid(job), &seen)) {
        return;
    }
    if (sl_job_finished(job, &success, &message)) {
        struct sl_buf how = {0};
        sl_buf_print(&how, "%s%s%s", success ? "complete" : "failed",
                     success || message[0] == '\0' ? "" : ": ", success ? "" : message);
        end(a, job, how.data, success);
        sl_buf_fini(&how);
    } else if (deleted) {
        end(a, job, "was deleted", false);
    } else {
        sl_map_put(a->left, sl_object_uid(job), (union sl_map_value){.number = a->round});
    }
}

/* Those that are not in the list any more. */
static void look_for_deleted(struct awaited *a, const struct sl_json *jobs)
{
    for (size_t i = 0; i < sl_json_len(jobs); i++) {
        union sl_map_value seen;
        const struct sl_json *job = sl_json_at(jobs, i);
        if (sl_map_get(a->left, sl_object_uid(job), &seen) && seen.number != a->round) {
            end(a, job, "was deleted", false);
        }
    }
}

static bool on_line(void *context, const char *line, size_t len)
{
    struct awaited *a = context;
    struct sl_json *event = len == 0 ? NULL : sl_json_parse_received(line, len, NULL);
    const char *type = sl_json_path_text(event, "type", "");
    bool goes_on = strcmp(type, "ERROR") != 0;
    if (goes_on && event != NULL) {
        look(a, sl_json_get(event, "object"), strcmp(type, "DELETED") == 0);
    }
    sl_json_free(event);
    return goes_on && sl_map_count(a->left) > 0;
}

/* A list, and what changes from then on, until the watch ends. */
static enum sl_code list_and_watch(struct awaited *a, const struct sl_json *jobs,
                                   struct sl_error *e)
{
    struct sl_buf path = {0};
    struct sl_json *list = NULL;
    sl_ctl_path(SL_KIND_JOB, a->c->ns, "", &path);
    enum sl_code code = sl_remote_get(a->c->remote, path.data, &list, e);
    const struct sl_json *items = sl_json_get(list, "items");
    a->round++;
    for (size_t i = 0; i < sl_json_len(items); i++) {
        look(a, sl_json_at(items, i), false);
    }
    if (code == SL_CODE_OK) {
        look_for_deleted(a, jobs);
    }
    if (code == SL_CODE_OK && sl_map_count(a->left) > 0) {
        sl_ctl_query(&path, "watch", "true");
        sl_ctl_query(&path, "resourceVersion",
                     sl_json_path_text(list, "metadata.resourceVersion", "0"));
        code = sl_remote_stream(a->c->remote, path.data, on_line, a, e);
    }
    sl_json_free(list);
    sl_buf_fini(&path);
    return code;
}

bool sl_ctl_wait(struct sl_ctl *c, const struct sl_json *jobs, struct sl_error *e)
{
    SL_PRE(c != NULL && e != NULL);
    struct awaited a = {.c = c, .left = sl_map_new()};
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; i < sl_json_len(jobs); i++) {
        sl_map_put(a.left, sl_object_uid(sl_json_at(jobs, i)), (union sl_map_value){.number = 0});
    }
    unsigned tries = 0;
    do {
        sl_error_clear(e);
        code = list_and_watch(&a, jobs, e);
        tries = code == SL_CODE_UNAVAILABLE ? tries + 1 : 0;
        usleep(tries > 0 ? PAUSE_US : 0);
    } while (sl_map_count(a.left) > 0 && (code == SL_CODE_OK || (tries > 0 && tries < TRIES)));
    bool all = sl_map_count(a.left) == 0;
    if (all) {
        sl_error_clear(e);
    }
    sl_map_free(a.left);
    return all && !a.failed;
}
