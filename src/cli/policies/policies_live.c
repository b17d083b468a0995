/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/policies/policies_live.h"

#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MS_MAX 10000
#define ANSWER_BYTES_MAX (8u << 20)

/* First the version of Kubernetes, then what refuses, then what changes. */
enum step { STEP_VERSION, STEP_VALIDATING, STEP_MUTATING };

struct sl_policies_look {
    struct sl_transport *transport;
    struct sl_exchange *exchange;
    struct sl_policies_wish wish;
    enum step step;
    struct sl_json *live;
};

static void ask(struct sl_policies_look *l);

static void print_path(const struct sl_policies_look *l, struct sl_buf *out)
{
    switch (l->step) {
    case STEP_VERSION:
        sl_buf_text(out, "/version");
        break;
    case STEP_VALIDATING:
        sl_buf_text(out, "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies");
        break;
    case STEP_MUTATING:
        sl_buf_print(out, "/apis/%s/mutatingadmissionpolicies",
                     sl_policies_mutating_version(l->wish.minor));
        break;
    }
}

/* Names are what people look for; of none it is said that there are none. */
static void say(const struct sl_policies_look *l)
{
    struct sl_json *unsuspended, *wanted = sl_policies_make(&l->wish, &unsuspended);
    struct sl_json *names = sl_policies_differing(wanted, l->live);
    char remedy[160];
    (void)snprintf(
        remedy, sizeof remedy,
        "apply what sluiced --print-policies 1.%u%s with --config and --adapters as here prints",
        l->wish.minor, l->wish.webhook ? " --webhook on" : "");
    bool any = false;
    for (size_t i = 0; i < sl_json_len(l->live) && !any; i++) {
        any = sl_policies_is_ours(sl_json_at(l->live, i));
    }
    if (!any) {
        sl_log(SL_LOG_WARN,
               l->wish.webhook
                   ? "no admission policies: mistakes in jobs are not refused, and users "
                     "may start what is queued"
                   : "no admission policies: jobs may start before they are suspended, "
                     "and pods are not gated",
               "remedy", remedy, NULL);
    } else if (sl_json_len(names) > 0) {
        struct sl_buf list = {0};
        for (size_t i = 0; i < sl_json_len(names); i++) {
            sl_buf_print(&list, "%s%s", i == 0 ? "" : ",", sl_json_text(sl_json_at(names, i), ""));
        }
        sl_log(SL_LOG_WARN, "admission policies are not those that the configuration needs",
               "policies", list.data, "remedy", remedy, NULL);
        sl_buf_fini(&list);
    } else {
        sl_log(SL_LOG_INFO, "admission policies are those that the configuration needs", NULL);
    }
    sl_json_free(names);
    sl_json_free(unsuspended);
    sl_json_free(wanted);
}

/* The items of a list do not say their kind. */
static void take_list(struct sl_policies_look *l, const struct sl_json *answer)
{
    const char *kind =
        l->step == STEP_VALIDATING ? "ValidatingAdmissionPolicy" : "MutatingAdmissionPolicy";
    const struct sl_json *items = sl_json_get(answer, "items");
    for (size_t i = 0; i < sl_json_len(items); i++) {
        sl_json_set_text(sl_json_at(items, i), "kind", kind);
        sl_json_append(l->live, sl_json_ref(sl_json_at(items, i)));
    }
}

static void on_answer(void *context, const struct sl_response *r)
{
    struct sl_policies_look *l = context;
    struct sl_json *answer =
        r->code == SL_CODE_OK ? sl_json_parse_received(r->body, r->body_len, NULL) : NULL;
    l->exchange = NULL;
    if (l->step == STEP_MUTATING && r->status == 404) {
        sl_log(SL_LOG_WARN,
               "MutatingAdmissionPolicy is not served: jobs may start before they are suspended, "
               "and pods are not gated",
               NULL);
        say(l);
        return;
    }
    if (answer == NULL) {
        struct sl_buf path = {0};
        print_path(l, &path);
        sl_log(SL_LOG_INFO, "admission policies are not compared with the configuration", "path",
               path.data, "status", sl_log_number(r->status), NULL);
        sl_buf_fini(&path);
        return;
    }
    if (l->step == STEP_VERSION) { /* "36", or "36+" of some providers */
        l->wish.minor = (unsigned)strtoul(sl_json_path_text(answer, "minor", ""), NULL, 10);
    } else {
        take_list(l, answer);
    }
    sl_json_free(answer);
    if (l->step == STEP_MUTATING ||
        (l->step == STEP_VALIDATING &&
         (l->wish.webhook || l->wish.minor < SL_POLICIES_MUTATING_MIN))) {
        say(l);
    } else {
        l->step++;
        ask(l);
    }
}

static void ask(struct sl_policies_look *l)
{
    struct sl_buf path = {0};
    print_path(l, &path);
    const struct sl_request r = {.method = "GET",
                                 .path = path.data,
                                 .timeout_ms = ANSWER_MS_MAX,
                                 .answer_max = ANSWER_BYTES_MAX};
    l->exchange = sl_transport_send(l->transport, &r, NULL, on_answer, l);
    sl_buf_fini(&path);
}

struct sl_policies_look *sl_policies_look(struct sl_transport *transport,
                                          const struct sl_job_rules *jobs,
                                          const struct sl_json *namespaces, bool webhook)
{
    SL_PRE(transport != NULL && jobs != NULL);
    struct sl_policies_look *l = sl_mem_new(1, sizeof *l);
    l->transport = transport;
    l->wish = (struct sl_policies_wish){.jobs = jobs, .namespaces = namespaces, .webhook = webhook};
    l->live = sl_json_new_list();
    ask(l);
    return l;
}

void sl_policies_look_free(struct sl_policies_look *l)
{
    if (l == NULL) {
        return;
    }
    if (l->exchange != NULL) {
        sl_transport_cancel(l->exchange);
    }
    sl_json_free(l->live);
    sl_mem_free(l);
}
