/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From the object that was named to its Workload, to what the engine says of that, and what only objects know. */
#include "cli/pages/why.h"
#include "api/kinds/variant.h"
#include "base/check.h"
#include "cli/pages/visibility.h"
#include "controllers/work/slices.h"
#include "engine/why/why.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 254
#define LABEL_POD_GROUP "kueue.x-k8s.io/pod-group-name"
#define OWNERS_MAX 4 /* a Pod of a Job of a JobSet */

const struct sl_why_resource sl_why_resources[] = {{"workloads", true},      {"jobs", true},
                                                   {"pods", true},           {"localqueues", true},
                                                   {"clusterqueues", false}, {NULL, false}};

struct question {
    const struct sl_pages *p;
    const char *version;
    char plural[NAME_SIZE], ns[NAME_SIZE], name[NAME_SIZE];
    char of_ns[NAME_SIZE], of_name[NAME_SIZE]; /* the workload that the query names; "" = none */
};

/* --- paths and queries --------------------------------------------------------------------------------------- */

/* The next segment; false at the end of the path, and when it is too long. */
static bool take(const char **path, char out[static NAME_SIZE])
{
    size_t len = strcspn(*path, "/");
    if (len == 0 || len >= NAME_SIZE) {
        return false;
    }
    memcpy(out, *path, len);
    out[len] = '\0';
    *path += (*path)[len] == '/' ? len + 1 : len;
    return true;
}

bool sl_why_is_path(const char *path)
{
    SL_PRE(path != NULL);
    const char *last = strrchr(path, '/');
    return last != NULL && strcmp(last, "/why") == 0;
}

static bool read_path(const char *path, struct question *q)
{
    char why[NAME_SIZE];
    if (!take(&path, q->plural)) {
        return false;
    }
    bool namespaced = strcmp(q->plural, "namespaces") == 0;
    if (namespaced && (!take(&path, q->ns) || !take(&path, q->plural))) {
        return false;
    }
    for (const struct sl_why_resource *r = sl_why_resources; r->plural != NULL; r++) {
        if (strcmp(r->plural, q->plural) == 0 && r->namespaced == namespaced) {
            return take(&path, q->name) && take(&path, why) && strcmp(why, "why") == 0 &&
                   *path == '\0';
        }
    }
    return false;
}

static int hex_of(char c)
{
    return isdigit((unsigned char)c)    ? c - '0'
           : isxdigit((unsigned char)c) ? tolower(c) - 'a' + 10
                                        : -1;
}

/* With %XX. What is too long ends early, and is no name of anything then. */
static void read_value(const char *text, size_t len, char out[static NAME_SIZE])
{
    size_t count = 0;
    for (size_t i = 0; i < len && count < NAME_SIZE - 1; i++) {
        bool coded =
            text[i] == '%' && i + 2 < len && hex_of(text[i + 1]) >= 0 && hex_of(text[i + 2]) >= 0;
        out[count++] = coded ? (char)(hex_of(text[i + 1]) * 16 + hex_of(text[i + 2])) : text[i];
        i += coded ? 2 : 0;
    }
    out[count] = '\0';
}

static void read_query(const char *query, struct question *q)
{
    static const char ns[] = "namespace=", workload[] = "workload=";
    for (const char *at = query; *at != '\0';) {
        size_t len = strcspn(at, "&");
        if (strncmp(at, ns, sizeof ns - 1) == 0) {
            read_value(at + sizeof ns - 1, len - (sizeof ns - 1), q->of_ns);
        } else if (strncmp(at, workload, sizeof workload - 1) == 0) {
            read_value(at + sizeof workload - 1, len - (sizeof workload - 1), q->of_name);
        }
        at += at[len] == '&' ? len + 1 : len;
    }
}

/* --- what only objects know ------------------------------------------------------------------------------------ */

static struct sl_json *get(const struct sl_pages *p, enum sl_kind kind, const char *ns,
                           const char *name)
{
    struct sl_json *object = NULL;
    struct sl_error e = {0};
    return p->client.get(p->client.self, kind, ns, name, &object, &e) == SL_CODE_OK ? object : NULL;
}

static void copy_text(struct sl_json *to, const char *key, const struct sl_json *from,
                      const char *path)
{
    const char *text = sl_json_path_text(from, path, "");
    if (text[0] != '\0') {
        sl_json_set_text(to, key, text);
    }
}

/* Which job it is for. */
static void add_job(const struct sl_pages *p, struct sl_json *holder)
{
    const char *name = sl_json_path_text(holder, "name", "");
    struct sl_json *workload =
        name[0] == '\0'
            ? NULL
            : get(p, SL_KIND_WORKLOAD, sl_json_path_text(holder, "namespace", ""), name);
    const struct sl_json *owner = sl_json_path(workload, "metadata.ownerReferences.0");
    if (owner != NULL) {
        struct sl_json *job = sl_json_path_make(holder, "job");
        copy_text(job, "kind", owner, "kind");
        copy_text(job, "name", owner, "name");
    }
    sl_json_free(workload);
}

static void add_jobs(const struct sl_pages *p, const struct sl_json *holders)
{
    for (size_t i = 0; i < sl_json_len(holders); i++) {
        add_job(p, sl_json_at(holders, i));
    }
}

static void add_controllers(const struct sl_pages *p, const struct sl_json *answer,
                            const struct sl_json *workload)
{
    const struct sl_json *said = sl_json_path(workload, "status.admissionChecks");
    const struct sl_json *checks = sl_json_get(answer, "checks");
    for (size_t i = 0; i < sl_json_len(checks); i++) {
        struct sl_json *check = sl_json_at(checks, i);
        const char *name = sl_json_path_text(check, "name", "");
        struct sl_json *object = get(p, SL_KIND_ADMISSION_CHECK, "", name);
        copy_text(check, "controller", object, "spec.controllerName");
        copy_text(check, "message", sl_json_find_by(said, "name", name), "message");
        sl_json_free(object);
    }
}

/* What its conditions say of its end, and of its last eviction. */
static void add_past(struct sl_json *answer, const struct sl_json *workload)
{
    const struct sl_json *finished = sl_condition_find(workload, "Finished");
    const struct sl_json *evicted = sl_condition_find(workload, "Evicted");
    bool pending = strcmp(sl_json_path_text(answer, "state", ""), "Pending") == 0;
    if (strcmp(sl_json_path_text(answer, "state", ""), "Finished") == 0) {
        copy_text(answer, "since", finished, "lastTransitionTime");
        copy_text(answer, "message", finished, "message");
        copy_text(answer, "summary", finished, "message");
    } else if (evicted != NULL && pending) {
        struct sl_json *last = sl_json_path_make(answer, "lastEviction");
        copy_text(last, "reason", evicted, "reason");
        copy_text(last, "message", evicted, "message");
        copy_text(last, "endedAt", evicted, "lastTransitionTime");
    }
}

static void complete(const struct sl_pages *p, struct sl_json *answer,
                     const struct sl_json *workload)
{
    const struct sl_json *limits = sl_json_get(answer, "limits");
    for (size_t i = 0; i < sl_json_len(limits); i++) {
        add_jobs(p, sl_json_get(sl_json_at(limits, i), "holders"));
    }
    add_jobs(p, sl_json_path(answer, "nodes.holders"));
    add_controllers(p, answer, workload);
    add_past(answer, workload);
}

/* --- answers --------------------------------------------------------------------------------------------------- */

static void print(struct sl_server_page *page, int status, struct sl_json *value)
{
    page->status = status;
    sl_json_print(value, &page->body);
    sl_json_free(value);
}

static void refuse(struct sl_server_page *page, enum sl_code code, const char *kind,
                   const char *name)
{
    struct sl_error e = {0};
    if (code == SL_CODE_NOT_FOUND) {
        (void)sl_error_set(&e, code, "%s \"%s\" not found", kind, name);
    } else {
        (void)sl_error_set(&e, code, "another instance makes the decisions, or none yet");
    }
    struct sl_json *status = sl_status_new(&e, SL_KIND_COUNT, "");
    if (code == SL_CODE_NOT_FOUND) {
        struct sl_json *details = sl_json_path_make(status, "details");
        sl_json_set_text(details, "name", name);
        sl_json_set_text(details, "kind", kind);
    }
    print(page, sl_code_http(code), status);
}

/* The members of the answer behind what an object has, and what was asked about. */
static void answer_with(const struct question *q, const char *kind, struct sl_json *answer,
                        struct sl_server_page *page)
{
    char version[64];
    struct sl_json *out = sl_json_new_map();
    struct sl_json *about = sl_json_path_make(out, "about");
    (void)snprintf(version, sizeof version, SL_VISIBILITY_GROUP "/%s", q->version);
    sl_json_set_text(out, "kind", SL_WHY_KIND);
    sl_json_set_text(out, "apiVersion", version);
    sl_json_set_text(about, "kind", kind);
    if (q->ns[0] != '\0') {
        sl_json_set_text(about, "namespace", q->ns);
    }
    sl_json_set_text(about, "name", q->name);
    copy_text(out, "workload", answer, "name");
    sl_json_remove(answer, "name");
    sl_json_set_all(out, answer);
    sl_json_free(answer);
    print(page, 200, out);
}

static struct sl_json *simple_new(const char *state, const char *reason, const char *message)
{
    struct sl_json *out = sl_json_new_map();
    sl_json_set_text(out, "state", state);
    sl_json_set_text(out, "reason", reason);
    sl_json_set_text(out, "message", message);
    sl_json_set_text(out, "summary", message);
    return out;
}

static void add_remedy(struct sl_json *answer, const char *sentence)
{
    struct sl_json *list = sl_json_new_list();
    sl_json_append(list, sl_json_new_text(sentence));
    sl_json_set(answer, "remedies", list);
}

/* --- jobs without a Workload ------------------------------------------------------------------------------------- */

static bool has_ended(const struct sl_json *job)
{
    const char *phase = sl_json_path_text(job, "status.phase", "");
    return sl_condition_true(job, "Complete") || sl_condition_true(job, "Failed") ||
           strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

static struct sl_json *without_class_new(const char *class)
{
    char text[400];
    (void)snprintf(text, sizeof text, "WorkloadPriorityClass \"%.250s\" does not exist", class);
    struct sl_json *out = simple_new("NoWorkload", "WorkloadPriorityClassNotFound", text);
    (void)snprintf(text, sizeof text,
                   "Create WorkloadPriorityClass %.250s, or name one that exists in the label "
                   "%s.",
                   class, SL_LABEL_PRIORITY_CLASS);
    add_remedy(out, text);
    return out;
}

static struct sl_json *without_workload_new(const struct sl_pages *p, const struct sl_json *job)
{
    const char *class = sl_object_label(job, SL_LABEL_PRIORITY_CLASS);
    const char *prebuilt = sl_job_prebuilt(job);
    struct sl_json *found = class == NULL || class[0] == '\0'
                                ? NULL
                                : get(p, SL_KIND_WORKLOAD_PRIORITY_CLASS, "", class);
    bool missing = class != NULL && class[0] != '\0' && found == NULL;
    sl_json_free(found);
    if (has_ended(job)) {
        return simple_new("Finished", "Finished", "It has ended, and has no Workload any more");
    }
    if (sl_job_queue(job) == NULL) {
        struct sl_json *out =
            simple_new("NotManaged", "NoQueueName",
                       "It names no queue, so it is not managed: it has no label " SL_LABEL_QUEUE);
        add_remedy(out, "Set the label " SL_LABEL_QUEUE
                        " to the name of a LocalQueue of its namespace, while it is suspended.");
        return out;
    }
    if (missing) {
        return without_class_new(class);
    }
    return simple_new("NoWorkload", "NoWorkload",
                      prebuilt != NULL
                          ? "The prebuilt Workload that it names does not exist"
                          : "Its Workload has not been made yet; the events of the job say why");
}

/* --- parents of variants ----------------------------------------------------------------------------------------- */

/* "a: what it says; b: what it says" */
static void add_what_they_say(const struct sl_json *variants, struct sl_buf *text)
{
    for (size_t i = 0; i < sl_json_len(variants); i++) {
        const struct sl_json *one = sl_json_at(variants, i);
        sl_buf_print(text, "%s %s: %s", i == 0 ? ":" : ";", sl_json_path_text(one, "flavor", "?"),
                     sl_json_path_text(one, "summary", ""));
    }
}

static struct sl_json *parent_waits_new(const struct sl_json *variants)
{
    size_t count = sl_json_len(variants);
    if (count == 0) {
        return simple_new("Pending", "NoVariants", "Its variants have not been made yet");
    }
    char text[100];
    (void)snprintf(text, sizeof text, "It waits until one of its %zu variant%s is admitted", count,
                   count == 1 ? "" : "s");
    struct sl_json *out = simple_new("Pending", "WaitingForVariants", text);
    struct sl_buf summary = {0};
    sl_buf_text(&summary, text);
    add_what_they_say(variants, &summary);
    sl_json_set_text(out, "summary", summary.data);
    sl_buf_fini(&summary);
    return out;
}

/* As its conditions say, of which the first that is true counts. */
static struct sl_json *parent_new(const struct sl_json *parent, const struct sl_json *variants)
{
    static const char *const states[] = {"Finished", "Evicted", "Admitted"};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        const struct sl_json *c = sl_condition_find(parent, states[i]);
        if (sl_condition_true(parent, states[i])) {
            struct sl_json *out = simple_new(states[i], sl_json_path_text(c, "reason", ""),
                                             sl_json_path_text(c, "message", ""));
            copy_text(out, "since", c, "lastTransitionTime");
            return out;
        }
    }
    return parent_waits_new(variants);
}

static struct sl_json *family_new(const struct sl_pages *p, const struct sl_json *parent,
                                  const char *names_of)
{
    struct sl_json *variants = sl_why_variants_new(p->engine, sl_object_uid(parent), names_of);
    for (size_t i = 0; i < sl_json_len(variants); i++) {
        struct sl_json *one = sl_json_at(variants, i);
        struct sl_json *object = get(p, SL_KIND_WORKLOAD, sl_object_namespace(parent),
                                     sl_json_path_text(one, "name", ""));
        complete(p, one, object);
        sl_json_free(object);
    }
    struct sl_json *out = parent_new(parent, variants);
    sl_json_set_text(out, "name", sl_object_name(parent));
    copy_text(out, "created", parent, "metadata.creationTimestamp");
    copy_text(out, "localQueue", parent, "spec.queueName");
    copy_text(out, "clusterQueue", sl_json_at(variants, 0), "clusterQueue");
    sl_json_set_filled(out, "variants", variants);
    return out;
}

/* --- from a job to its Workload ---------------------------------------------------------------------------------- */

static void name_workload(enum sl_kind kind, const struct sl_json *job, char out[static NAME_SIZE])
{
    const struct sl_framework f = {.kind = kind};
    const char *group = kind == SL_KIND_POD ? sl_object_label(job, LABEL_POD_GROUP) : NULL;
    const char *name = group != NULL ? group : sl_job_prebuilt(job);
    if (name != NULL) {
        (void)snprintf(out, NAME_SIZE, "%.253s", name);
    } else {
        sl_framework_workload_name(&f, sl_object_name(job), sl_object_uid(job), out);
    }
}

struct visit {
    const struct sl_json *job;
    struct sl_slices slices;
};

static void add_slice(void *context, struct sl_json *workload)
{
    struct visit *v = context;
    if (sl_is_elastic(workload) && sl_job_owns(v->job, workload)) {
        sl_slices_add(&v->slices, sl_json_ref(workload));
    }
}

/* Of an elastic job the slice that waits, or else the one that it runs by, or ran. NULL: it has none. */
static struct sl_json *slice_of(const struct sl_pages *p, const struct sl_json *job)
{
    struct sl_error e = {0};
    struct visit v = {.job = job};
    if (!sl_is_elastic(job)) {
        return NULL;
    }
    (void)p->client.list(p->client.self, SL_KIND_WORKLOAD, sl_object_namespace(job), add_slice, &v,
                         &e);
    struct sl_slices *s = &v.slices;
    sl_slices_settle(s);
    struct sl_json *found = s->next != NULL ? s->next : s->holder;
    found = found == NULL && s->ended_count > 0 ? s->ended[s->ended_count - 1] : found;
    found = found == NULL ? NULL : sl_json_ref(found);
    sl_slices_fini(s);
    return found;
}

/* Its own Workload, or that of the job that controls it. NULL: there is none. */
static struct sl_json *workload_of(const struct sl_pages *p, enum sl_kind kind,
                                   const struct sl_json *job)
{
    char name[NAME_SIZE];
    struct sl_json *own = sl_json_clone(job), *workload = NULL;
    for (int i = 0; i < OWNERS_MAX && own != NULL && workload == NULL; i++) {
        const char *ns = sl_object_namespace(own);
        name_workload(kind, own, name);
        workload = slice_of(p, own);
        workload = workload == NULL ? get(p, SL_KIND_WORKLOAD, ns, name) : workload;
        const struct sl_json *owner = sl_object_controller_ref(own);
        kind = owner == NULL ? SL_KIND_COUNT
                             : sl_kind_find_object(sl_json_path_text(owner, "apiVersion", ""),
                                                   sl_json_path_text(owner, "kind", ""));
        struct sl_json *next =
            kind == SL_KIND_COUNT ? NULL : get(p, kind, ns, sl_json_path_text(owner, "name", ""));
        sl_json_free(own);
        own = next;
    }
    sl_json_free(own);
    return workload;
}

/* --- serving ---------------------------------------------------------------------------------------------------- */

/* Takes the Workload. */
static void serve_workload(const struct question *q, const char *kind, struct sl_json *workload,
                           const char *names_of, struct sl_server_page *page)
{
    const struct sl_why_ask ask = {sl_object_namespace(workload), sl_object_name(workload),
                                   names_of};
    struct sl_json *answer = sl_why_workload_new(q->p->engine, &ask);
    if (answer == NULL && sl_variant_has_parent_label(workload)) {
        answer = family_new(q->p, workload, names_of);
    } else if (answer == NULL) {
        answer = simple_new("Pending", "NotSeen",
                            "Its Workload has just been made, and was not looked at yet");
        sl_json_set_text(answer, "name", ask.name);
    }
    complete(q->p, answer, workload);
    answer_with(q, kind, answer, page);
    sl_json_free(workload);
}

static void serve_job(const struct question *q, enum sl_kind kind, struct sl_server_page *page)
{
    const char *noun = sl_kind_info(kind)->kind;
    struct sl_json *job = get(q->p, kind, q->ns, q->name);
    if (job == NULL) {
        refuse(page, SL_CODE_NOT_FOUND, noun, q->name);
        return;
    }
    struct sl_json *workload =
        kind == SL_KIND_WORKLOAD ? sl_json_ref(job) : workload_of(q->p, kind, job);
    if (workload != NULL) {
        serve_workload(q, noun, workload, q->ns, page);
    } else {
        answer_with(q, noun, without_workload_new(q->p, job), page);
    }
    sl_json_free(job);
}

static void serve_queue(const struct question *q, enum sl_kind kind, const char *names_of,
                        struct sl_server_page *page)
{
    const struct sl_why_ask ask = {q->ns, q->name, names_of};
    struct sl_json *answer = sl_why_queue_new(q->p->engine, kind, &ask);
    if (answer == NULL) {
        refuse(page, SL_CODE_NOT_FOUND, sl_kind_info(kind)->kind, q->name);
        return;
    }
    complete(q->p, answer, NULL);
    sl_json_remove(answer, "name"); /* it is no Workload's */
    answer_with(q, sl_kind_info(kind)->kind, answer, page);
}

/* A workload of this ClusterQueue, to those who may know of all that is in it. */
static void serve_named(struct question *q, struct sl_server_page *page)
{
    struct sl_json *workload = get(q->p, SL_KIND_WORKLOAD, q->of_ns, q->of_name);
    struct sl_json *queue = workload == NULL
                                ? NULL
                                : get(q->p, SL_KIND_LOCAL_QUEUE, q->of_ns,
                                      sl_json_path_text(workload, "spec.queueName", ""));
    const char *held = sl_json_path_text(workload, "status.admission.clusterQueue", "");
    const char *named = sl_json_path_text(queue, "spec.clusterQueue", "");
    bool in_it = strcmp(held[0] != '\0' ? held : named, q->name) == 0;
    sl_json_free(queue);
    if (workload == NULL || !in_it) {
        refuse(page, SL_CODE_NOT_FOUND, "Workload", q->of_name);
        sl_json_free(workload);
        return;
    }
    (void)snprintf(q->ns, sizeof q->ns, "%s", q->of_ns);
    (void)snprintf(q->name, sizeof q->name, "%s", q->of_name);
    serve_workload(q, "Workload", workload, NULL, page);
}

void sl_why_serve(const struct sl_pages *p, const char *version, const char *path,
                  const char *query, struct sl_server_page *page)
{
    SL_PRE(p != NULL && page != NULL);
    struct question q = {.p = p, .version = version};
    if (!read_path(path, &q)) {
        sl_visibility_not_found(page);
        return;
    }
    read_query(query, &q);
    if (p->engine == NULL) {
        refuse(page, SL_CODE_UNAVAILABLE, "", "");
    } else if (strcmp(q.plural, "clusterqueues") == 0) {
        if (q.of_name[0] != '\0') {
            serve_named(&q, page);
        } else {
            serve_queue(&q, SL_KIND_CLUSTER_QUEUE, NULL, page);
        }
    } else if (strcmp(q.plural, "localqueues") == 0) {
        serve_queue(&q, SL_KIND_LOCAL_QUEUE, q.ns, page);
    } else {
        serve_job(&q,
                  strcmp(q.plural, "jobs") == 0   ? SL_KIND_JOB
                  : strcmp(q.plural, "pods") == 0 ? SL_KIND_POD
                                                  : SL_KIND_WORKLOAD,
                  page);
    }
}
