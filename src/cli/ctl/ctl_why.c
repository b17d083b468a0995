/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl why: the server's Explanation of a job, Pod, Workload or queue. With the names of all workloads where it
 * may be asked for those. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include "base/clock.h"
#include "cli/screen/explain.h"
#include <string.h>

#define BASE "/apis/visibility.kueue.x-k8s.io/v1beta2"
#define LABEL_JOB_UID "kueue.x-k8s.io/job-uid"

static enum sl_code ask(struct sl_ctl *c, const char *plural, const char *ns, const char *name,
                        struct sl_json **out, struct sl_error *e)
{
    struct sl_buf path = {0};
    sl_buf_text(&path, BASE);
    if (ns[0] != '\0') {
        sl_buf_text(&path, "/namespaces/");
        sl_ctl_escape(ns, &path);
    }
    sl_buf_print(&path, "/%s/", plural);
    sl_ctl_escape(name, &path);
    sl_buf_text(&path, "/why");
    enum sl_code code = sl_remote_get(c->remote, path.data, out, e);
    sl_buf_fini(&path);
    return code;
}

/* --- names of all ------------------------------------------------------------------------------------------------ */

static bool has_unnamed(const struct sl_json *holders)
{
    for (size_t i = 0; i < sl_json_len(holders); i++) {
        if (!sl_json_has(sl_json_at(holders, i), "name")) {
            return true;
        }
    }
    return false;
}

static bool one_lacks_names(const struct sl_json *answer)
{
    const struct sl_json *limits = sl_json_get(answer, "limits");
    bool lacks = has_unnamed(sl_json_path(answer, "nodes.holders"));
    for (size_t i = 0; i < sl_json_len(limits); i++) {
        lacks = lacks || has_unnamed(sl_json_get(sl_json_at(limits, i), "holders"));
    }
    return lacks;
}

static bool lacks_names(const struct sl_json *answer)
{
    const struct sl_json *variants = sl_json_get(answer, "variants");
    bool lacks = one_lacks_names(answer);
    for (size_t i = 0; i < sl_json_len(variants); i++) {
        lacks = lacks || one_lacks_names(sl_json_at(variants, i));
    }
    return lacks;
}

/* The same with all names, of a user who may have them; else it stays as it is. */
static void add_names(struct sl_ctl *c, struct sl_json *answer)
{
    static const char *const members[] = {"limits", "nodes", "summary", "variants"};
    const char *queue = sl_json_path_text(answer, "clusterQueue", "");
    const char *workload = sl_json_path_text(answer, "workload", "");
    struct sl_buf path = {0};
    struct sl_json *named = NULL;
    if (queue[0] == '\0' || !lacks_names(answer)) {
        return;
    }
    sl_buf_text(&path, BASE "/clusterqueues/");
    sl_ctl_escape(queue, &path);
    sl_buf_text(&path, "/why");
    if (workload[0] != '\0') {
        sl_ctl_query(&path, "namespace", sl_json_path_text(answer, "about.namespace", ""));
        sl_ctl_query(&path, "workload", workload);
    }
    if (sl_remote_get(c->remote, path.data, &named, NULL) == SL_CODE_OK) {
        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
            const struct sl_json *value = sl_json_get(named, members[i]);
            if (value != NULL && sl_json_has(answer, members[i])) {
                sl_json_set(answer, members[i], sl_json_clone(value));
            }
        }
    }
    sl_json_free(named);
    sl_buf_fini(&path);
}

/* --- what is asked about ------------------------------------------------------------------------------------------- */

/* Of a kind that the server does not explain itself: the Workload that says it is for this job. */
static enum sl_code ask_by_label(struct sl_ctl *c, const struct sl_ctl_target *t,
                                 struct sl_json **out, struct sl_error *e)
{
    struct sl_buf path = {0}, label = {0};
    struct sl_json *job = NULL, *list = NULL;
    sl_ctl_path(t->kind, c->ns, t->name, &path);
    enum sl_code code = sl_remote_get(c->remote, path.data, &job, e);
    if (code == SL_CODE_OK) {
        sl_buf_reset(&path);
        sl_buf_print(&label, LABEL_JOB_UID "=%s", sl_object_uid(job));
        sl_ctl_path(SL_KIND_WORKLOAD, c->ns, "", &path);
        sl_ctl_query(&path, "labelSelector", label.data);
        code = sl_remote_get(c->remote, path.data, &list, e);
    }
    const struct sl_json *found = sl_json_at(sl_json_get(list, "items"), 0);
    if (code == SL_CODE_OK) {
        code = found != NULL
                   ? ask(c, "workloads", c->ns, sl_object_name(found), out, e)
                   : sl_error_set(e, SL_CODE_NOT_FOUND, "%s %s has no Workload; its events say why",
                                  sl_kind_info(t->kind)->kind, t->name);
    }
    sl_json_free(job);
    sl_json_free(list);
    sl_buf_fini(&path);
    sl_buf_fini(&label);
    return code;
}

static enum sl_code ask_target(struct sl_ctl *c, const struct sl_ctl_target *t,
                               struct sl_json **out, struct sl_error *e)
{
    static const enum sl_kind explained[] = {SL_KIND_JOB, SL_KIND_WORKLOAD, SL_KIND_POD,
                                             SL_KIND_LOCAL_QUEUE, SL_KIND_CLUSTER_QUEUE};
    for (size_t i = 0; i < sizeof explained / sizeof explained[0]; i++) {
        if (explained[i] == t->kind) {
            return ask(c, sl_kind_info(t->kind)->plural, sl_ctl_namespace(c, t->kind), t->name, out,
                       e);
        }
    }
    if (!sl_kind_info(t->kind)->namespaced) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: there is nothing to explain about a %s",
                            t->name, sl_kind_info(t->kind)->kind);
    }
    return ask_by_label(c, t, out, e);
}

/* A name alone: of the first kind that has it. */
static enum sl_code ask_name(struct sl_ctl *c, const char *name, struct sl_json **out,
                             struct sl_error *e)
{
    static const enum sl_kind kinds[] = {SL_KIND_JOB, SL_KIND_WORKLOAD, SL_KIND_POD,
                                         SL_KIND_LOCAL_QUEUE, SL_KIND_CLUSTER_QUEUE};
    enum sl_code code = SL_CODE_NOT_FOUND;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && code == SL_CODE_NOT_FOUND; i++) {
        const struct sl_ctl_target t = {kinds[i], name};
        sl_error_clear(e);
        code = ask_target(c, &t, out, e);
    }
    return code == SL_CODE_NOT_FOUND
               ? sl_error_set(e, code,
                              "there is no Job, Workload, Pod or LocalQueue %s in namespace %s, "
                              "and no such ClusterQueue",
                              name, c->ns)
               : code;
}

/* --- output ---------------------------------------------------------------------------------------------------------- */

static void print_text(const struct sl_json *answers)
{
    struct sl_buf text = {0};
    for (size_t i = 0; i < sl_json_len(answers); i++) {
        sl_buf_text(&text, i == 0 ? "" : "\n");
        sl_explain_print(sl_json_at(answers, i), sl_clock_wall_ms(), &text);
    }
    sl_ctl_print(&text);
    sl_buf_fini(&text);
}

/* One document: the answer itself, or a List of them. */
static void print_data(const struct sl_ctl *c, struct sl_json *answers)
{
    struct sl_json *list = sl_json_new_map();
    sl_json_set_text(list, "apiVersion", "v1");
    sl_json_set_text(list, "kind", "List");
    sl_json_set(list, "items", sl_json_ref(answers));
    sl_ctl_print_value(c, sl_json_len(answers) == 1 ? sl_json_at(answers, 0) : list);
    sl_json_free(list);
}

static enum sl_code ask_all(struct sl_ctl *c, const struct sl_ctl_targets *t,
                            struct sl_json *answers, struct sl_error *e)
{
    size_t count = t->count > 0 ? t->count : c->arguments.count;
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; i < count && code == SL_CODE_OK; i++) {
        struct sl_json *answer = NULL;
        code = t->count > 0 ? ask_target(c, &t->items[i], &answer, e)
                            : ask_name(c, c->arguments.items[i], &answer, e);
        if (code == SL_CODE_OK) {
            add_names(c, answer);
            sl_json_append(answers, answer);
        }
    }
    return code;
}

int sl_ctl_why(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_ctl_targets targets = {0};
    struct sl_error e = {0};
    if (c->arguments.count == 0) {
        return sl_ctl_misused("why: of which job, Pod, Workload or queue?");
    }
    bool by_kind = c->arguments.count > 1 || strchr(c->arguments.items[0], '/') != NULL;
    if (by_kind && !sl_ctl_targets(c, &targets)) {
        sl_ctl_targets_fini(&targets);
        return 2;
    }
    struct sl_json *answers = sl_json_new_list();
    enum sl_code code = ask_all(c, &targets, answers, &e);
    if (sl_ctl_is_data(c) && sl_json_len(answers) > 0) {
        print_data(c, answers);
    } else {
        print_text(answers);
    }
    sl_json_free(answers);
    sl_ctl_targets_fini(&targets);
    return code == SL_CODE_OK ? 0 : sl_ctl_failed("", &e);
}
