/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* /api/v1/namespaces/NS/pods/NAME/log, and what else is asked of containers. */
#include "server/rest.h"
#include <stdlib.h>
#include <string.h>

static const char *const parts[] = {"log", "exec", "attach", "portforward"};

bool sl_logs_asked(const struct sl_request *r)
{
    if (r->segment_count != 7 || strcmp(r->segments[0], "api") != 0 ||
        strcmp(r->segments[4], "pods") != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(r->segments[6], parts[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* kubectl looks for the pods of `kubectl logs job/NAME` by itself, and waits 20 s for the first. It says what it is about. */
bool sl_logs_looked_for(const struct sl_request *r)
{
    return r->rest->logs.open == NULL && r->command != NULL && r->route.kind == SL_KIND_POD &&
           r->route.target == SL_TARGET_OBJECTS && r->route.name[0] == '\0' &&
           strcmp(r->command, "kubectl logs") == 0 && strcmp(r->method, "GET") == 0;
}

void sl_logs_refuse(struct sl_request *r)
{
    sl_answer_fail(r, SL_CODE_NOT_FOUND,
                   "there are no logs: standalone mode simulates jobs and starts no containers "
                   "(sluiced --run processes runs them)");
}

/* A number that is not negative; -1 when it is not there. False: it is none. */
static bool number(struct sl_request *r, const char *name, int64_t *out)
{
    const char *text = sl_request_arg(r, name, "");
    size_t n = strlen(text);
    *out = -1;
    if (n > 0 && n < 16 && strspn(text, "0123456789") == n) {
        *out = strtoll(text, NULL, 10);
    } else if (n > 0) {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST, "%s: \"%.64s\" is not a number from 0 on", name,
                       text);
        return false;
    }
    return true;
}

/* What is not kept beside the lines is not guessed. */
static bool asks_for_times(struct sl_request *r)
{
    static const char *const names[] = {"timestamps", "sinceSeconds", "sinceTime"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = sl_request_arg(r, names[i], "");
        if (value[0] != '\0' && strcmp(value, "false") != 0) {
            sl_answer_fail(r, SL_CODE_BAD_REQUEST, "%s: the times of lines are not kept", names[i]);
            return true;
        }
    }
    return false;
}

static void serve_log(struct sl_request *r)
{
    struct sl_error e = {0};
    struct sl_stream *stream = NULL;
    struct sl_log_wish wish = {.ns = r->segments[3],
                               .pod = r->segments[5],
                               .container = sl_request_arg(r, "container", ""),
                               .previous = sl_request_flag(r, "previous"),
                               .follow = sl_request_flag(r, "follow")};
    if (!number(r, "tailLines", &wish.tail_lines) || !number(r, "limitBytes", &wish.limit_bytes) ||
        asks_for_times(r)) {
        return;
    }
    if (r->rest->logs.open(r->rest->logs.context, &wish, &stream, &e) != SL_CODE_OK) {
        sl_answer_fail(r, e.code, "%s", e.text);
        return;
    }
    sl_answer_reset(&r->answer);
    r->answer.status = 200;
    r->answer.content_type = "text/plain; charset=utf-8";
    r->answer.stream = stream;
}

void sl_logs_serve(struct sl_request *r)
{
    bool reads = strcmp(r->method, "GET") == 0;
    bool log = strcmp(r->segments[6], "log") == 0;
    r->route.kind = SL_KIND_COUNT;
    if (r->rest->logs.open == NULL) {
        sl_answer_fail(
            r, SL_CODE_NOT_FOUND,
            "no %s of pod \"%.253s\": without --run processes standalone mode starts no containers",
            r->segments[6], r->segments[5]);
    } else if (!log) {
        sl_answer_fail(
            r, SL_CODE_NOT_FOUND,
            "no %s of pod \"%.253s\": its containers are processes of the machine of the "
            "daemon",
            r->segments[6], r->segments[5]);
    } else if (!reads) {
        sl_answer_fail(r, SL_CODE_METHOD_NOT_ALLOWED,
                       "the server does not allow this method on the requested resource");
        r->answer.allow = "GET";
    } else {
        serve_log(r);
    }
}
